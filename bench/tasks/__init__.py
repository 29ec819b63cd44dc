"""Every task of the benchmark, one file a subject. A new file's name goes into the list here."""

from tasks import bayes, kmeans, knn, reading, ridge, text

TASKS = [task for subject in (knn, kmeans, ridge, bayes, reading, text) for task in subject.TASKS]
