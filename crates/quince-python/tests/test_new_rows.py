"""New rows are read by the kinds that a model knows, wherever they come from; what a model cannot say or save is refused."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import quince


def test_a_code_means_the_same_in_one_row_and_in_two_from_wherever_it_comes(tmp_path):
    codes, labels = ["007", "7", "12"] * 20, ["no", "yes", "yes"] * 20
    (tmp_path / "t.csv").write_text("zip,y\n" + "".join(f"{a},{b}\n" for a, b in zip(codes, labels, strict=True)))
    for data in (pd.DataFrame({"zip": codes, "y": labels}), pl.DataFrame({"zip": codes, "y": labels}), tmp_path / "t.csv"):
        model = quince.train(data, "y", "naive-bayes")
        assert model.columns == {"zip": "category"}
        expected = model.predict_proba(pd.DataFrame({"zip": ["007", "7"]}))
        assert expected[0, 1] < 0.1 and expected[1, 1] > 0.9
        for rows in (["007"], ["007", "7"]):
            frame = {"zip": rows}
            (tmp_path / "n.csv").write_text("zip\n" + "\n".join(rows) + "\n")
            (tmp_path / "n.jsonl").write_text("".join(f'{{"zip": "{row}"}}\n' for row in rows))
            new = [pd.DataFrame(frame), pl.DataFrame(frame), pl.DataFrame(frame).lazy(), quince.Table(pd.DataFrame(frame))]
            new += [read(tmp_path / name) for name in ("n.csv", "n.jsonl") for read in (str, quince.read)]
            for table in new:
                assert_array_equal(model.predict_proba(table), expected[: len(rows)])


def test_an_empty_text_is_a_document_and_none_is_missing():
    texts = ["good film", "good", "bad film", "", "bad", "good plot", "", "bad plot"] * 3
    frame = pd.DataFrame({"t": texts, "y": ["u", "u", "v", "v", "v", "u", "v", "v"] * 3})
    table = quince.Table(frame, kinds={"t": "text"}, encode={"t": "presence,least=1"})
    model = quince.train(table, "y", "naive-bayes", {"family": "bernoulli", "calibrate": False})
    silent, unknown, missing = (model.predict_proba(pd.DataFrame({"t": [t]}))[0] for t in ("", "zebra", None))
    assert_array_equal(silent, unknown)
    assert_allclose(missing, [9 / 24, 15 / 24], rtol=1e-6)
    assert silent[1] > missing[1]


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("ridge", {"probabilities": False}),
        ("least-squares", {"probabilities": False}),
        ("svm", {"probabilities": False}),
        ("linear-svm", {"probabilities": False}),
        ("nearest-centroid", {"metric": "manhattan"}),
    ],
)
def test_a_model_that_is_not_calibrated_shows_no_probabilities(method, settings, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=80), "y": ["a", "b"] * 40})
    frame["x"] += (frame["y"] == "b") * 4.0
    model = quince.train(frame, "y", method, settings)
    model.save(tmp_path / "m.quince")
    for one in (model, quince.load(tmp_path / "m.quince"), pickle.loads(pickle.dumps(model))):
        assert (one.predict(frame) == frame["y"]).mean() > 0.9
        with pytest.raises(ValueError, match="has scores but no probabilities"):
            one.predict_proba(frame)
        found = one.evaluate(frame)
        assert found["log_loss"] is None and found["accuracy"] > 0.9 and found["area"] > 0.9


def test_polars_columns_without_a_value_are_missing_values_in_every_call():
    frame = pl.DataFrame({"a": [1.0, 2.0, None, 4.0] * 10, "c": ["s", None, "t", "t"] * 10, "y": ["u", "v"] * 20})
    null = pl.DataFrame({"a": [None], "c": [None], "y": ["u"]})
    typed = pl.DataFrame({"a": [None], "c": [None], "y": ["u"]}, schema={"a": pl.Float64, "c": pl.String, "y": pl.String})
    for method in ("naive-bayes", "knn", "ridge", "gaussian"):
        model = quince.train(frame, "y", method)
        assert_array_equal(model.predict_proba(null), model.predict_proba(typed))
        assert model.evaluate(null) == model.evaluate(typed)
        assert_array_equal(model.predict_proba(null.lazy()), model.predict_proba(typed))
    encoder = quince.TableEncoder().fit(frame.drop("y"))
    assert_array_equal(encoder.transform(null.drop("y")), encoder.transform(typed.drop("y")))
    assert quince.Table(null).kinds["a"] == "ignored"


def test_a_model_of_extreme_numbers_is_pickled_and_saved_or_refused_before_the_file_is_touched(tmp_path):
    path = tmp_path / "m.quince"
    quince.train(pd.DataFrame({"x": [1.5, 2.5, 3.0, 0.5] * 5, "y": ["a", "b"] * 10}), "y", "naive-bayes").save(path)
    good = path.read_bytes()
    for extreme in (1e308, 1e160, 1e-308):
        frame = pd.DataFrame({"x": [extreme, 1.0, 2.0, 3.0] * 5, "z": np.arange(20) % 7, "y": ["a", "b"] * 10})
        for method, settings in (("naive-bayes", {"family": "kernel-density"}), ("knn", {}), ("gaussian", {}), ("ridge", {})):
            try:
                model = quince.train(frame, "y", method, settings)
            except ValueError:
                continue
            path.write_bytes(good)
            try:
                model.save(path)
            except ValueError:
                assert path.read_bytes() == good
                with pytest.raises(ValueError, match="NaN or infinity"):
                    pickle.dumps(model)
            else:
                assert_array_equal(quince.load(path).predict(frame), model.predict(frame))
                assert_array_equal(pickle.loads(pickle.dumps(model)).predict(frame), model.predict(frame))
    mixture = quince.GaussianMixture(1).fit(np.array([[0.0, 0.0], [0.0, 2.0], [0.0, 0.0]]))
    assert_array_equal(pickle.loads(pickle.dumps(mixture)).predict(np.zeros((1, 2))), [0])
