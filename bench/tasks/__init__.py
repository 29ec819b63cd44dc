"""Every task of the benchmark, one file a subject. A new file's name goes into the list here."""

from tasks import bayes, kmeans, knn, margin, mixture, reading, ridge, text

TASKS = [task for subject in (knn, kmeans, mixture, ridge, margin, bayes, reading, text) for task in subject.TASKS]
