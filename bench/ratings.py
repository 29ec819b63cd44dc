"""Imputation: ratings of films that were held out, by mixtures of multinomials and of categories.

    python bench/ratings.py FOLDER

prints the root mean squared error of a tenth of the ratings, drawn at random, against that of the user's mean and the film's mean.
The guide's page on mixtures shows the outcome. The folder is the one that `QUINCE_DATA` names in the other benchmarks.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import quince


def main(folder: str) -> None:
    warnings.simplefilter("ignore")
    table = pd.read_csv(Path(folder) / "movielens_latest_small_ratings.csv.gz")
    user, film = (np.unique(table[name], return_inverse=True)[1] for name in ("userId", "movieId"))
    rating = table["rating"].to_numpy()
    held = np.random.default_rng(0).random(len(rating)) < 0.1
    known = np.full((user.max() + 1, film.max() + 1), np.nan)
    known[user[~held], film[~held]] = rating[~held]
    users, films = np.nanmean(known, axis=1), np.nanmean(known, axis=0)
    films = np.where(np.isnan(films), np.nanmean(known), films)

    def error(filled: np.ndarray) -> float:
        said = filled[user[held], film[held]]
        said = np.where(np.isnan(said), users[user[held]], said)
        return float(np.sqrt(np.mean((said - rating[held]) ** 2)))

    print(f"the user's mean {error(np.broadcast_to(users[:, None], known.shape)):.4f}")
    print(f"the film's mean {error(np.broadcast_to(films[None, :], known.shape)):.4f}")
    # A film that nobody has rated says nothing.
    rated = ~np.isnan(known).all(axis=0)

    def imputed(model: quince.MixedMixture | quince.MultinomialMixture, scale: float, shift: float) -> np.ndarray:
        rows = known[:, rated] * scale - shift
        filled = np.full(known.shape, np.nan)
        filled[:, rated] = (model.fit(rows).impute(rows) + shift) / scale
        return filled

    for k in (1, 2, 4):
        model = quince.MultinomialMixture(k, alpha=5.0, tol=1e-3, random_state=0)
        print(f"{k} multinomial components {error(imputed(model, 1.0, 0.0)):.4f}", flush=True)
    for k in (1, 4, 8):
        # Ratings from 0.5 to 5 in halves are the categories 0 to 9.
        model = quince.MixedMixture(k, family="categorical", alpha=0.2, n_init=1, tol=1e-4, random_state=0)
        print(f"{k} categorical components {error(imputed(model, 2.0, 1.0)):.4f}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
