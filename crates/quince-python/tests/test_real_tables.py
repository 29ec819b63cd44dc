"""Real tables as data frames: labels keep their types, arrays and frames agree, polars' own types are taken."""

from __future__ import annotations

import subprocess
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import quince

DATA = Path(__file__).resolve().parents[3] / "examples" / "data"
#: As floats all numbers that begin so and have one more digit would be the same.
LONG = 900_719_925_474_099_300


def read(name: str) -> pd.DataFrame:
    return pd.read_csv(DATA / name, na_values="?")


def heart() -> pd.DataFrame:
    frame = read("heart.csv")
    return frame.assign(num=np.where(frame["num"] == 0, "healthy", "sick"))


def log_loss(truth, probabilities, classes) -> float:
    """The mean of -ln p(class of the row), by its definition."""
    codes = [list(classes).index(label) for label in truth]
    return float(-np.log(np.asarray(probabilities)[np.arange(len(codes)), codes]).mean())


def baseline(truth) -> float:
    """The log loss of the frequencies of the classes."""
    frequencies = pd.Series(truth).value_counts(normalize=True)
    return float(-np.log(frequencies[list(truth)]).mean())


LABELS = {
    "whole numbers": (lambda y: y, np.dtype(np.int64)),
    "whole numbers of pandas": (lambda y: y.astype("Int64"), np.dtype(np.int64)),
    "small whole numbers": (lambda y: y.astype("int8"), np.dtype(np.int64)),
    "floats": (lambda y: y.astype(float), np.dtype(np.float64)),
    "words": (lambda y: y.astype(str), np.dtype("<U1")),
    "codes": (lambda y: "00" + y.astype(str), np.dtype("<U3")),
    "Booleans": (lambda y: y == 1, np.dtype(np.bool_)),
    "words of Booleans": (lambda y: (y == 1).astype(str), np.dtype("<U5")),
    "categories of numbers": (lambda y: y.astype("category"), np.dtype(np.int64)),
    "categories of words": (lambda y: y.astype(str).astype("category"), np.dtype("<U1")),
    "long keys": (lambda y: y + LONG, np.dtype(np.int64)),
    "long categories": (lambda y: (y + LONG).astype("category"), np.dtype(np.int64)),
    "keys beyond the sign": (lambda y: y.astype("uint64") + np.uint64(2**64 - 10), np.dtype(np.uint64)),
}


@pytest.mark.parametrize("change, dtype", LABELS.values(), ids=LABELS)
def test_labels_of_a_frame_come_back_as_they_went_in(change, dtype, tmp_path):
    glass = read("glass.csv")
    frame = glass.assign(Type=change(glass["Type"]))
    model = quince.train(frame, "Type", "knn", {"k": 1}, task="classification")
    model.save(tmp_path / "m.quince")
    for one in (model, quince.load(tmp_path / "m.quince")):
        labels = one.predict(frame)  # a row is its own nearest
        assert labels.dtype == dtype
        assert labels.tolist() == frame["Type"].tolist()
        assert one.evaluate(frame)["accuracy"] == 1.0


def test_labels_of_a_polars_frame_come_back_as_they_went_in():
    glass = pl.from_pandas(read("glass.csv"))
    for kind, dtype in ((pl.Int128, np.int64), (pl.UInt8, np.int64), (pl.String, "<U1"), (pl.Categorical, "<U1")):
        y = pl.col("Type").cast(pl.String) if kind in (pl.String, pl.Categorical) else pl.col("Type")
        frame = glass.with_columns(y.cast(kind))
        for data in (frame, frame.lazy()):
            labels = quince.train(data, "Type", "knn", {"k": 1}).predict(data)
            assert labels.dtype == dtype and labels.tolist() == frame["Type"].to_list(), kind


def test_keys_of_many_digits_are_told_and_kept_apart():
    glass = read("glass.csv")[["Type"]]
    frame = glass.assign(batch=LONG + glass["Type"])
    with pytest.warns(UserWarning, match="'batch' is read as category: '900719925474099301' has more digits than a number"):
        model = quince.train(frame, "Type", "naive-bayes")
    assert model.columns["batch"] == "category"
    assert (model.predict(frame) == frame["Type"]).all()  # the batch is the class
    assert_array_equal(model.predict_proba(frame.iloc[[9]]), model.predict_proba(frame)[[9]])


@pytest.mark.parametrize("kind", ["MixedNB", "GaussianClassifier", "SemiSupervisedNB"])
@pytest.mark.parametrize("name", ["glass", "auto_mpg"])
def test_an_array_and_a_frame_are_learnt_alike(kind, name):
    frame = read(f"{name}.csv").select_dtypes("number")
    y = frame.pop({"glass": "Type", "auto_mpg": "origin"}[name]).to_numpy()
    settings = {"shrinkage": "auto"} if kind == "GaussianClassifier" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        of_array = getattr(quince, kind)(**settings).fit(frame.to_numpy(float), y)
        of_frame = getattr(quince, kind)(**settings).fit(frame, y)
        of_plan = getattr(quince, kind)(**settings).fit(pl.from_pandas(frame).lazy(), y)
    expected = of_frame.predict_proba(frame)
    assert_allclose(of_array.predict_proba(frame.to_numpy(float)), expected, rtol=1e-9, atol=1e-12)
    assert_array_equal(of_plan.predict_proba(pl.from_pandas(frame).lazy()), expected)


def test_a_lazy_frame_is_a_table_wherever_one_is():
    frame = pl.read_csv(DATA / "credit.csv", null_values="?")
    table, lazy = quince.Table(frame), frame.lazy()
    assert quince.Table(lazy).kinds == table.kinds and quince.Table(lazy).shape == (690, 16)
    boards = [quince.compare(data, "A16", ["ridge", "baseline"], folds=3) for data in (frame, lazy, table)]
    scores = [[row["log-loss"] for row in board] for board in boards]
    assert scores[0] == scores[1] == scores[2]
    expected = quince.train(frame, "A16", "naive-bayes")
    assert_array_equal(quince.train(lazy, "A16", "naive-bayes").predict_proba(lazy), expected.predict_proba(frame))
    assert expected.evaluate(lazy) == expected.evaluate(frame)
    encoder = quince.TableEncoder().fit(lazy.drop("A16"))
    assert_array_equal(encoder.transform(lazy), quince.TableEncoder().fit(frame.drop("A16")).transform(frame))


def test_wide_numbers_and_empty_columns_of_polars_are_trained_on():
    frame = pl.from_pandas(read("auto_mpg.csv").drop(columns="car_name"))
    expected = quince.train(frame, "origin", "naive-bayes")
    wide = frame.with_columns(pl.col("weight", "model_year", "origin").cast(pl.Int128), pl.lit(None).alias("owner"))
    with pytest.warns(UserWarning, match="'owner' is ignored: empty"):
        model = quince.train(wide, "origin", "naive-bayes")
    assert_array_equal(model.predict_proba(wide), expected.predict_proba(frame))
    assert_array_equal(model.predict(wide), expected.predict(frame))
    one = frame.head(1).with_columns(pl.lit(None).alias("horsepower"))  # its only value is not known
    typed = one.with_columns(pl.col("horsepower").cast(pl.Float64))
    assert_array_equal(model.predict_proba(one), model.predict_proba(typed))
    # Numbers beyond the largest decimal are rounded, as numbers are.
    huge = frame.with_columns(pl.lit(2**126).cast(pl.Int128).alias("weight") + pl.col("weight").cast(pl.Int128))
    assert np.isfinite(expected.predict_proba(huge)).all()


@pytest.mark.parametrize("name", ["heart", "credit", "ionosphere"])
def test_rows_without_a_label_do_no_harm(name):
    frame = heart() if name == "heart" else read(f"{name}.csv")
    y = frame.pop({"heart": "num", "credit": "A16", "ionosphere": "Class"}[name]).to_numpy(object)
    known = np.arange(len(y)) % (len(y) // 40) == 0
    few = np.where(known, y, None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = quince.SemiSupervisedNB().fit(frame, few)
        alone = quince.SemiSupervisedNB().fit(frame[known], y[known])
    new = frame[~known]
    with_all, by_labels = (
        log_loss(y[~known], one.predict_proba(new), one.classes_.tolist()) for one in (model, alone)
    )
    accuracies = [(one.predict(new) == y[~known]).mean() for one in (model, alone)]
    chance = 2 * np.sqrt(2 * accuracies[1] * (1 - accuracies[1]) / len(new))  # two standard errors of a difference
    assert with_all < by_labels + 0.03 and accuracies[0] > accuracies[1] - chance
    assert with_all < baseline(y[~known])


def test_a_gaussian_of_many_missing_values_predicts_no_worse_than_the_baseline():
    frame = heart()
    y = frame.pop("num").to_numpy()
    random = np.random.default_rng(0)
    frame = frame.mask(random.random(frame.shape) < 0.4)
    folds, losses, guesses = np.arange(len(y)) % 5, [], []
    for fold in range(5):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = quince.GaussianClassifier().fit(frame[folds != fold], y[folds != fold])
        truth = y[folds == fold]
        losses.append(log_loss(truth, model.predict_proba(frame[folds == fold]), model.classes_))
        guesses.append(baseline(truth))
    assert np.mean(losses) < np.mean(guesses)


def test_what_is_not_learnt_from_is_named():
    zoo = read("zoo.csv").assign(seen=pd.Timestamp("2020-01-01"), number=np.arange(101), legs=lambda t: t["legs"].astype(str))
    encoder = quince.TableEncoder().fit(zoo.drop(columns="type"))
    assert encoder.left_out_["name"] == "most rows have a value of their own"
    assert "neither numbers nor words" in encoder.left_out_["seen"]
    assert encoder.left_out_["number"] == "row numbers"
    assert encoder.kinds_["legs"] == "category"
    with pytest.warns(UserWarning, match="'legs' is read as category: its cells are strings"):
        quince.train(zoo, "type", "naive-bayes")


def test_the_command_writes_arrow_that_others_read(command, tmp_path):
    subprocess.run([command, "train", DATA / "zoo.csv", "-t", "type", "-m", "naive-bayes", "-o", "m.quince"], cwd=tmp_path, check=True)
    for name in ("p.csv", "p.arrow", "p.parquet"):
        subprocess.run([command, "predict", "m.quince", DATA / "zoo.csv", "-o", name], cwd=tmp_path, check=True)
    expected = pl.read_csv(tmp_path / "p.csv")
    for found in (pl.read_ipc(tmp_path / "p.arrow"), pl.read_parquet(tmp_path / "p.parquet")):
        assert found.columns == expected.columns and found.height == 101
        for name in expected.columns:
            assert found[name].cast(expected[name].dtype).to_list() == expected[name].to_list(), name
