"""Tables as people have them: data frames of every library, with numbers, counts, categories, texts and missing values."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import quince

WORDS = ["good", "bad", "plain", "long", "short"]


def columns(rows=200) -> dict[str, list]:
    rng = np.random.default_rng(0)
    age = rng.integers(18, 80, rows).astype(float)
    city = rng.choice(["Oslo", "Rome", "Paris"], rows)
    text = [" ".join(rng.choice(WORDS, 4)) + f" w{i}" for i in range(rows)]
    size = rng.normal(size=rows)
    member = rng.uniform(size=rows) < 0.4
    score = size + (city == "Rome") + 0.02 * age + np.array(["good" in t for t in text]) - 2
    return {
        "age": [None if i % 17 == 3 else int(a) for i, a in enumerate(age)],
        "city": [None if i % 29 == 5 else str(c) for i, c in enumerate(city)],
        "size": [None if i % 23 == 7 else float(s) for i, s in enumerate(size)],
        "member": [bool(m) for m in member],
        "review": text,
        "price": [float(s) for s in 10 * score + rng.normal(size=rows)],
        "sold": ["yes" if s > 0.5 else "no" for s in score],
    }


FRAMES = {
    "pandas": lambda data: pd.DataFrame(data),
    "pandas, categories": lambda data: pd.DataFrame(data).astype({"city": "category"}),
    "pandas, arrow types": lambda data: pd.DataFrame(data).convert_dtypes(dtype_backend="pyarrow"),
    "pandas, other index": lambda data: pd.DataFrame(data, index=pd.Index(np.arange(len(data["age"])) * 7, name="id")),
    "polars": pl.DataFrame,
    "polars, categories": lambda data: pl.DataFrame(data).with_columns(pl.col("city").cast(pl.Categorical)),
    "pyarrow": pa.table,
    "pyarrow, chunks": lambda data: pa.concat_tables([pa.table(data).slice(0, 50), pa.table(data).slice(50)]),
    "pyarrow, batch": lambda data: pa.RecordBatch.from_pydict(data),
}
frames = pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)


@frames
@pytest.mark.parametrize("target", ["sold", "price"])
def test_every_data_frame_gives_the_same_model(make, target):
    data = columns()
    table = quince.Table(make(data))
    expected = {"age": "count", "city": "category", "size": "number", "member": "yes/no", "review": "text"}
    assert {name: table.kinds[name] for name in expected} == expected
    assert table.shape == (200, 7) and len(table) == 200
    model = quince.train(make(data), target)
    first = quince.train(pa.table(data), target)
    assert_array_equal(model.predict(make(data)), first.predict(pa.table(data)))
    assert model.rows == 200 and model.target == target and model.method == "ridge"
    assert set(model.columns) == set(data) - {target}


@frames
def test_columns_are_found_by_name(make):
    data = columns()
    model = quince.train(make(data), "sold")
    reordered = {name: data[name] for name in reversed(data) if name != "sold"}
    assert_array_equal(model.predict(make(reordered)), model.predict(make(data)))
    with pytest.raises(ValueError, match="the column 'size' that the model was trained on is missing"):
        model.predict(make({name: data[name] for name in data if name != "size"}))


def test_a_row_taken_from_a_pandas_frame_is_predicted_as_in_the_whole():
    frame = pd.DataFrame(columns())
    model = quince.train(frame, "price")
    some = frame.sample(50, random_state=0)
    assert_allclose(model.predict(some), model.predict(frame)[some.index], rtol=1e-12)
    assert list(model.columns) == ["age", "city", "size", "member", "review", "sold"]


def test_a_classifier_gives_labels_and_probabilities():
    frame = pd.DataFrame(columns())
    model = quince.train(frame, "sold")
    chances, labels = model.predict_proba(frame), model.predict(frame)
    assert list(model.classes) == ["no", "yes"] and model.task == "classification"
    assert_allclose(chances.sum(axis=1), 1)
    assert_array_equal(labels, model.classes[chances.argmax(axis=1)])
    assert (labels == frame["sold"]).mean() > 0.8
    found = model.evaluate(frame)
    assert found["accuracy"] == (labels == frame["sold"]).mean()
    assert found["rows"] == 200 and found["confusion"]["classes"] == ["no", "yes"]


def test_a_regression_gives_numbers():
    frame = pl.DataFrame(columns())
    model = quince.train(frame, "price", "ridge", {"alpha": 0.5})
    expected = {"alpha": 0.5, "class_weights": "none", "intercept": True, "positive": False, "probabilities": True}
    assert model.settings == expected
    predicted = model.predict(frame)
    found = model.evaluate(frame)
    assert_allclose(found["rmse"], np.sqrt(((predicted - frame["price"].to_numpy()) ** 2).mean()))
    assert model.classes is None
    with pytest.raises(ValueError, match="the model predicts numbers, which have no classes"):
        model.predict_proba(frame)


@pytest.mark.parametrize(
    ("labels", "dtype"),
    [
        ([0, 1], np.int64), ([3, 1, 2], np.int64), ([True, False], np.bool_), (["a", "b"], np.dtype("<U1")),
        (["1", "2"], np.dtype("<U1")), (["True", "False"], np.dtype("<U5")), (["007", "7"], np.dtype("<U3")),
        ([1.0, 2.0], np.float64), ([0.5, 1.5], np.float64),
    ],
)  # fmt: skip
@pytest.mark.parametrize("categorical", [False, True])
def test_labels_come_back_as_what_they_were(labels, dtype, categorical, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=90), "y": (labels * 90)[:90]})
    frame["x"] += frame["y"].map({label: k for k, label in enumerate(labels)}) * 5.0
    if categorical:
        frame["y"] = frame["y"].astype("category")
    model = quince.train(frame, "y", task="classification")
    model.save(tmp_path / "m.quince")
    for one in (model, quince.load(tmp_path / "m.quince")):
        assert one.predict(frame).dtype == dtype
        assert (one.predict(frame) == frame["y"]).mean() > 0.6
        assert set(one.classes.tolist()) == set(labels)
        assert one.evaluate(frame)["accuracy"] > 0.6


def test_labels_of_a_file_are_spelled_as_there(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n" + "".join(f"{k % 2 * 9 + k / 100},00{k % 2}\n" for k in range(40)))
    model = quince.train(tmp_path / "t.csv", "y")
    assert model.classes.tolist() == ["000", "001"]
    assert model.predict(pd.DataFrame({"x": [0.0, 9.5]})).tolist() == ["000", "001"]


def test_evaluating_on_rows_of_one_class_or_with_missing_values_works():
    frame = pd.DataFrame(columns())
    model = quince.train(frame, "sold")
    only = frame[frame["sold"] == "yes"]
    assert model.evaluate(only)["rows"] == len(only)
    incomplete = frame.assign(sold=frame["sold"].where(frame.index > 20))
    assert model.evaluate(incomplete)["rows"] == 179
    with pytest.raises(ValueError, match="the model does not know the label 'maybe'"):
        model.evaluate(frame.assign(sold="maybe"))
    with pytest.raises(ValueError, match="there is no column called 'sold'"):
        model.evaluate(frame.drop(columns="sold"))


def test_rows_without_a_target_are_left_out_with_a_warning():
    frame = pd.DataFrame(columns())
    frame.loc[:9, "sold"] = None
    with pytest.warns(UserWarning, match="10 rows have no 'sold' and are left out"):
        assert quince.train(frame, "sold").rows == 190


def test_a_model_is_pickled_and_saved(tmp_path):
    frame = pd.DataFrame(columns())
    model = quince.train(frame, "sold", seed=5)
    for again in (pickle.loads(pickle.dumps(model)), quince.Model.from_bytes(model.to_bytes())):
        assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))
        assert again.seed == 5 and again.report == model.report
    model.save(tmp_path / "m.quince")
    assert_array_equal(quince.load(tmp_path / "m.quince").predict(frame), model.predict(frame))
    assert repr(model) == "Model(ridge: 'sold' (2 classes) from 6 columns, 200 rows)"
    assert "city=Rome" in model.feature_names and "review: good" in model.feature_names
    assert model.parameter("coefficients").shape == (len(model.feature_names), 1)
    with pytest.raises(ValueError, match="a model of the method 'ridge' has no parameter called 'x'"):
        model.parameter("x")


def test_csv_files_are_read_and_predicted_for(iris_csv, tmp_path):
    table = quince.read_csv(iris_csv)
    assert table.shape == (150, 5) and table.kinds["species"] == "category"
    model = quince.train(table, "species")
    assert_array_equal(model.predict(iris_csv), model.predict(table))
    assert_array_equal(model.predict(str(iris_csv)), model.predict(pd.read_csv(iris_csv)))
    assert model.evaluate(iris_csv) == model.evaluate(table)
    (tmp_path / "semi.csv").write_text("a;b\n1;x\n2;y\n3;x\n4;y\n")
    given = quince.read_csv(tmp_path / "semi.csv", kinds={"a": "category"}, drop=["b"])
    assert given.kinds == {"a": "category", "b": "ignored"}
    assert quince.read_csv(tmp_path / "semi.csv", header=False).shape == (5, 2)
    with pytest.raises(FileNotFoundError, match="nowhere.csv: there is no such file"):
        quince.read_csv(tmp_path / "nowhere.csv")
    with pytest.raises(ValueError, match=r"there is no kind called 'words'. The kinds are number, count"):
        quince.read_csv(iris_csv, kinds={"species": "words"})


def test_kinds_of_a_frame_can_be_given():
    table = quince.Table(pd.DataFrame(columns()), kinds={"age": "category"}, drop=["review", "price"])
    assert table.kinds["age"] == "category" and table.kinds["review"] == "ignored"
    assert "price" not in quince.train(table, "sold").columns
    with pytest.raises(ValueError, match="there is no column called 'agee'. Did you mean 'age'?"):
        quince.Table(pd.DataFrame(columns()), kinds={"agee": "category"})
    shown = repr(table)
    assert "Table of 200 rows and 7 columns" in shown and "size    number, 9 missing" in shown
    assert table.describe()["rows"] == 200


def test_models_are_compared():
    frame = pl.DataFrame(columns())
    leaderboard = quince.compare(frame, "sold", folds=5)
    capabilities = {name: about["capabilities"] for name, about in quince.models().items()}
    # What is compared on request alone has to be asked for.
    able = {name for name, can in capabilities.items() if "classes" in can and "on request" not in can}
    assert {row["model"] for row in leaderboard} == able
    assert leaderboard.best == leaderboard.rows[0]["model"] and leaderboard.rows[-1]["model"] == "baseline"
    losses = [row["log-loss"] for row in leaderboard.rows]
    assert losses == sorted(losses)
    shown = repr(leaderboard)
    assert shown.startswith("sold from 200 rows, by log-loss (5 folds, mean ± sd)\n")
    assert all(name in shown for name in able)
    assert leaderboard.to_dict()["folds"] == 5 and len(leaderboard) == len(able)
    assert "<table>" in leaderboard._repr_html_()
    assert quince.compare(frame, "sold", folds=5).rows[0]["accuracy"] == leaderboard.rows[0]["accuracy"]
    assert quince.compare(frame, "sold", folds=5, seed=1).rows[0]["log-loss"] != leaderboard.rows[0]["log-loss"]


def test_a_comparison_takes_methods_settings_folds_and_metrics():
    frame = pd.DataFrame(columns(80))
    loo = quince.compare(frame, "price", ["ridge", "baseline"], folds="loo", by="r2")
    assert loo.best == "ridge" and "leave-one-out" in repr(loo)
    given = quince.compare(frame, "price", {"ridge": {"alpha": 5}, "baseline": None}, folds=3)
    assert {row["model"]: row["settings"] for row in given}["ridge"]["alpha"] == 5
    assert len(quince.compare(frame, "price", "ridge", folds=3)) == 1
    for wrong in (1, 0, "all", 2.5, True):
        with pytest.raises(ValueError, match="folds cannot be"):
            quince.compare(frame, "price", folds=wrong)
    with pytest.raises(ValueError, match="cannot be accuracy for a target of numbers. It takes rmse, r2."):
        quince.compare(frame, "price", by="accuracy")


def test_wrong_words_get_a_sentence_that_helps():
    frame = pd.DataFrame(columns())
    sentences = [
        (lambda: quince.train(frame, "sol"), "there is no column called 'sol'. Did you mean 'sold'?"),
        (lambda: quince.train(frame, "sold", "rigde"), "there is no method called 'rigde'. Did you mean 'ridge'?"),
        (
            lambda: quince.train(frame, "sold", settings={"alhpa": 1}),
            "setting 'alhpa' is not a setting of 'ridge'. Did you mean 'alpha'?",
        ),
        (
            lambda: quince.train(frame, "sold", settings={"alpha": -1}),
            "setting 'alpha' cannot be -1. It takes a number of at least 0.",
        ),
        (lambda: quince.train(frame, "sold", seed=-1), "seed cannot be -1. It takes a whole number of at least 0."),
        (
            lambda: quince.train(frame[["sold"]], "sold"),
            "Give another kind to a column that should count, for example kinds={'name': 'number'}.",
        ),
        (lambda: quince.train(frame, "sold", task="ranking"), "a task cannot be 'ranking'. Use classification or"),
        (lambda: quince.train([1, 2], "sold"), "a table cannot be made from a list. Give a data frame"),
        (lambda: quince.Table({"a": [1]}), "a table cannot be made from a dict. Give a data frame"),
        (
            lambda: quince.train(frame, "sold").predict(np.zeros((2, 3))),
            "the model was trained on a table and cannot predict for a ndarray. Give a data frame",
        ),
    ]
    for call, sentence in sentences:
        with pytest.raises(ValueError) as error:
            call()
        assert sentence in str(error.value)
    types = [
        (lambda: quince.train(frame, frame["sold"]), "A column is given by its name, and this is a Series. Put it into the table"),
        (lambda: quince.compare(frame, ["sold"]), "A column is given by its name, and this is a list."),
        (lambda: quince.train(frame, "sold", quince.Ridge()), "A method is given by its name, one of quince.models(), and this is a Ridge."),
        (lambda: quince.compare(frame, "sold", [quince.Ridge]), "A method is given by its name"),
        (lambda: quince.train(frame, "sold", "ridge", [1]), "Settings are a dict of names and values, and these are a list."),
    ]
    for call, sentence in types:
        with pytest.raises(TypeError) as error:
            call()
        assert sentence in str(error.value)
    with pytest.raises(ValueError, match="models is empty. Name at least one method"):
        quince.compare(frame, "sold", [])
    with pytest.raises(TypeError, match="a setting is a number, a word, True or False, not a object"):
        quince.train(frame, "sold", settings={"alpha": object()})


def test_what_is_decided_for_the_user_comes_as_a_warning():
    frame = pd.DataFrame(columns())
    with pytest.warns(UserWarning, match="'when' is ignored: Timestamp.* is neither numbers nor words"):
        quince.train(frame.assign(when=pd.Timestamp("2020-01-01")), "sold")
    with pytest.warns(UserWarning, match="'same' is ignored: constant"):
        quince.compare(frame.assign(same=1), "sold", folds=2)


def test_whoever_trains_estimators_on_frames_can():
    data = columns()
    numbers = pd.DataFrame({name: data[name] for name in ("size", "age", "price")}).fillna(0.0)
    expected = quince.Ridge().fit(numbers.to_numpy(), np.array(data["price"])).coef_
    for frame in (numbers, pl.from_pandas(numbers), pa.Table.from_pandas(numbers)):
        assert_allclose(quince.Ridge().fit(frame, data["price"]).coef_, expected)
        assert list(quince.Ridge().fit(frame, data["price"]).feature_names_in_) == ["size", "age", "price"]


def test_a_model_of_a_matrix_predicts_for_matrices_and_for_tables(rng):
    X, y = rng.normal(size=(50, 3)), rng.normal(size=50)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    ridge = quince.Ridge().fit(frame, y)
    model = ridge._model.annotated(None, ["a", "b", "c"])
    assert_allclose(model.predict(X), ridge.predict(frame))
    assert_allclose(model.predict(X.astype(np.float32)), ridge.predict(frame), rtol=1e-4, atol=1e-5)
    assert_allclose(model.predict(X.tolist()), ridge.predict(frame))
    assert_allclose(model.predict(frame[["c", "a", "b"]]), ridge.predict(frame))
    frame.loc[3, "b"] = None
    with pytest.raises(ValueError, match="row 4, column 'b': a missing value where the model needs a number. Impute it"):
        model.predict(frame)
    with pytest.raises(ValueError, match="the rows have 2 features, the model has 3"):
        model.predict(X[:, :2])


def test_weights_groups_and_hold_out_are_understood():
    frame = pd.DataFrame(
        {
            "x": [(7 * i) % 13 for i in range(40)],
            "who": [f"p{i % 8}" for i in range(40)],
            "w": [1 + i % 3 for i in range(40)],
            "y": ["ab"[i // 2 % 2] for i in range(40)],
        }
    )
    assert quince.compare(frame, "y", group="who", weight="w", folds=4).to_dict()["folds"] == 4
    assert "tested once" in repr(quince.compare(frame, "y", hold_out=0.25))
    # A weight of two is a row twice, and the weight is no feature.
    twice = pd.concat([frame, frame[frame.w == 2], frame[frame.w == 3], frame[frame.w == 3]])
    weighted = quince.train(frame.drop(columns="who"), "y", weight="w", settings={"alpha": 0.0}, model="ridge")
    doubled = quince.train(twice.drop(columns=["who", "w"]), "y", settings={"alpha": 0.0}, model="ridge")
    assert set(weighted.columns) == {"x"}
    np.testing.assert_allclose(weighted.predict_proba(frame)[:, 1] > 0.5, doubled.predict_proba(frame)[:, 1] > 0.5)
    with pytest.raises(ValueError, match="no column called 'weight'"):
        quince.train(frame, "y", weight="weight")


@frames
def test_clusters_of_a_table_are_found_without_a_target(make):
    data = {name: values for name, values in columns().items() if name != "review"}
    model = quince.train(make(data), settings={"k": 3}, seed=1)
    assert model.method == "kmeans" and model.task == "clustering" and model.rows == 200
    labels = model.predict(make(data))
    assert labels.dtype == np.int32 and set(labels) == {0, 1, 2}
    assert_array_equal(labels, quince.train(pa.table(data), None, "kmeans", {"k": 3}, seed=1).predict(pa.table(data)))
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(make(data)), labels)
    assert repr(model) == "Model(kmeans: clusters from 6 columns, 200 rows)"
    assert model.classes is None and model.parameter("centres").shape == (3, len(model.feature_names))


def test_what_clusters_cannot_do_gets_a_sentence(tmp_path):
    frame = pd.DataFrame(columns()).drop(columns="review")
    model = quince.train(frame, settings={"k": 2})
    sentences = [
        (lambda: model.predict_proba(frame), "the model predicts clusters, which have no classes. Use predict."),
        (lambda: model.evaluate(frame), "clusters have no target to be evaluated by. Use quince.silhouette_score."),
        (lambda: quince.train(frame, model="ridge"), "'ridge' does not learn clusters"),
        (lambda: quince.train(frame, "sold", "kmeans"), "'kmeans' does not learn classes"),
        (lambda: quince.train(frame, task="regression"), "there is no target to learn. Name the column"),
    ]
    for call, sentence in sentences:
        with pytest.raises(ValueError) as error:
            call()
        assert sentence in str(error.value)
    model.save(tmp_path / "m.quince")
    assert_array_equal(quince.load(tmp_path / "m.quince").predict(frame), model.predict(frame))
    weighted = quince.train(frame.assign(often=1 + np.arange(200) % 3), settings={"k": 2}, weight="often")
    assert set(weighted.columns) == set(frame.columns)
    assert weighted.parameter("sizes").sum() == (1 + np.arange(200) % 3).sum()


def test_neighbours_learn_from_a_table_with_missing_values():
    frame = pd.DataFrame(columns())
    model = quince.train(frame, "sold", "knn", {"k": 7, "feature_weights": "size=3,city=2"})
    assert (model.predict(frame) == frame["sold"]).mean() > 0.7
    assert (model.predict_proba(frame) > 0).all()
    chosen = quince.train(frame, "price", "knn")
    assert chosen.report["facts"]["k"] >= 1
    assert "knn" in {row["model"] for row in quince.compare(frame, "sold", folds=3)}


def test_every_format_is_read_as_the_same_table(iris_csv, tmp_path):
    frame = pd.read_csv(iris_csv)
    frame.to_json(tmp_path / "iris.jsonl", orient="records", lines=True)
    frame.to_parquet(tmp_path / "iris.parquet")
    expected = quince.read(iris_csv)
    for name in ["iris.jsonl", "iris.parquet"]:
        table = quince.read(tmp_path / name)
        assert (table.shape, table.kinds) == (expected.shape, expected.kinds), name
        model = quince.train(tmp_path / name, "species", "ridge")
        assert_array_equal(model.predict(frame), quince.train(frame, "species", "ridge").predict(frame))
    (tmp_path / "t.libsvm").write_text("1 1:2 3:1\n-1 2:1\n1 1:1\n-1 2:3\n")
    assert quince.read(tmp_path / "t.libsvm").kinds == {"label": "category", "features": "vector"}
    with pytest.raises(ValueError, match="excel"):
        quince.read(iris_csv, format="excel")


def test_a_folder_is_a_table(tmp_path):
    for label, text in [("good", "a fine film"), ("bad", "a dull film")]:
        (tmp_path / label).mkdir()
        (tmp_path / label / "1.txt").write_text(text)
    table = quince.read(tmp_path)
    assert table.kinds == {"text": "text", "label": "category", "file": "ignored"}


def test_a_leaderboard_names_the_methods_that_it_leaves_out_and_why():
    frame = pd.DataFrame({"x": np.arange(60) % 7 + 0.5, "y": ["a", "b", "c"] * 20})
    board = quince.compare(frame, "y", folds=3)
    assert "svm learns two classes, and the target has 3" in board.left_out
    assert "note: nearest-centroid is compared on request" in repr(board)
    compared = {row["model"] for row in board}
    named = {reason.split()[0] for reason in board.left_out}
    able = {name for name, about in quince.models().items() if "classes" in about["capabilities"]}
    assert compared | named == able and not compared & named
    assert quince.compare(frame, "y", folds=3, models=["ridge"]).left_out == []


def test_polars_frames_of_any_type_are_taken():
    frame = pl.DataFrame({"a": [1.0, 2.0, 3.0, 4.0] * 10, "b": [0.5, 0.25] * 20, "y": ["u", "v"] * 20})
    model = quince.train(frame, "y", "naive-bayes")
    one = pl.DataFrame({"a": [1.0], "b": [None]})  # a row whose value is not known has a column without any type
    assert_array_equal(model.predict_proba(one), model.predict_proba(pd.DataFrame({"a": [1.0], "b": [np.nan]})))
    empty = frame.with_columns(pl.lit(None).alias("n"))
    with pytest.warns(UserWarning, match="'n' is ignored: empty"):
        assert_array_equal(quince.train(empty, "y", "naive-bayes").predict_proba(frame), model.predict_proba(frame))
    assert_array_equal(model.predict_proba(frame.lazy()), model.predict_proba(frame))
    assert_array_equal(quince.train(frame.lazy(), "y", "naive-bayes").predict(frame), model.predict(frame))
    wide = frame.with_columns(pl.col("a").cast(pl.Int128))
    assert_array_equal(model.predict_proba(wide), model.predict_proba(frame))


def test_columns_may_be_called_by_whole_numbers_and_tuples():
    values = np.random.default_rng(0).normal(size=(40, 2))
    frame = pd.DataFrame(values).assign(**{"2": ["u", "v"] * 20}).rename(columns={"2": 2})
    assert quince.train(frame, 2, "naive-bayes").target == "2"
    assert quince.compare(frame, 2, ["baseline"], folds=3).best == "baseline"
    pairs = pd.DataFrame(values, columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")]))
    assert quince.train(pairs, ("a", "b"), "ridge").target == "('a', 'b')"


def test_two_columns_of_one_name_are_refused_by_that_name():
    frame = pd.DataFrame(np.ones((4, 3)), columns=["a", "b", "a"])
    with pytest.raises(ValueError, match="the data frame has two columns called 'a'. Give every column a name"):
        quince.train(frame, "b")


def test_a_leaderboard_warns_of_small_classes_and_refuses_groups_that_it_would_tear_apart():
    frame = pd.DataFrame({"x": np.arange(60) % 7 + 0.5, "y": ["a"] * 58 + ["b"] * 2, "who": np.arange(60) // 6})
    with pytest.warns(UserWarning, match="the class 'b' has 2 rows, and is tested in 2 of 10 folds"):
        board = quince.compare(frame.drop(columns="who"), "y", ["baseline"])
    assert board.to_dict()["folds"] == 10
    for ways in ({"folds": "loo"}, {"hold_out": 0.25}):
        with pytest.raises(ValueError, match="'group' cannot be kept together"):
            quince.compare(frame, "y", ["baseline"], group="who", **ways)
