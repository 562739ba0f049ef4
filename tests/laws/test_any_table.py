"""Any table in: every estimator takes every kind of table, of columns and of labels, as it comes."""

import datetime as dt
import decimal
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from woodwind import GradientBoostingClassifier, GradientBoostingRegressor
from woodwind.base.errors import ExtraColumnWarning, ManyCategoriesWarning, NamelessTableWarning, PrecisionWarning, UnseenCategoryWarning
from woodwind.base.formatting import printable

N = 120
QUICK = {"n_estimators": 5, "learning_rate": 0.5, "min_samples_leaf": 3, "early_stopping": False, "random_state": 0}
BOTH = [GradientBoostingClassifier(**QUICK), GradientBoostingRegressor(**QUICK)]


def numbers(seed=0):
    return np.random.default_rng(seed).normal(size=(N, 3))


def answer(model, X):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


def fitted(estimator, X, y=None):
    """A model of a column that says something: it must be used."""
    if y is None:
        y = (np.arange(N) % 4 < 2).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return clone(estimator).fit(X, y)


# ----------------------------------------------------------------------------------------------------------- tables

RECIPES = {
    "C order": np.ascontiguousarray,
    "Fortran order": np.asfortranarray,
    "strides": lambda X: np.repeat(X, 2, axis=0)[::2],
    "backwards": lambda X: X[::-1][::-1],
    "read only": lambda X: np.frombuffer(X.tobytes()).reshape(X.shape),
    "other byte order": lambda X: X.astype(X.dtype.newbyteorder()),
    "objects": lambda X: X.astype(object),
    "lists": lambda X: X.tolist(),
    "tuples": lambda X: [tuple(row) for row in X],
    "masked": np.ma.masked_invalid,
    "matrix": lambda X: X.view(np.matrix),
    "csr matrix": sp.csr_matrix,
    "csc array": sp.csc_array,
    "coo array": sp.coo_array,
    "lil matrix": sp.lil_matrix,
    "dok array": sp.dok_array,
    "pandas": pd.DataFrame,
    "pandas, nullable": lambda X: pd.DataFrame(X).convert_dtypes(),
    "pandas, Arrow": lambda X: pd.DataFrame(X).convert_dtypes(dtype_backend="pyarrow"),
    "pandas, sparse": lambda X: pd.DataFrame({k: pd.arrays.SparseArray(X[:, k]) for k in range(X.shape[1])}),
}

NAMED = {
    "pandas": lambda X: pd.DataFrame(X, columns=["a", "b", "c"]),
    "polars": lambda X: pl.DataFrame(X, schema=["a", "b", "c"]),
    "Arrow table": lambda X: pa.table({name: X[:, k] for k, name in enumerate("abc")}),
    "Arrow batch": lambda X: pa.record_batch({name: X[:, k] for k, name in enumerate("abc")}),
    "Arrow in chunks": lambda X: pa.concat_tables([pa.table({n: X[a : a + 7, k] for k, n in enumerate("abc")}) for a in range(0, N, 7)]),
}


class Capsule:
    """A table that offers nothing but the interface of Arrow."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


NAMED["Arrow capsule"] = lambda X: Capsule(NAMED["Arrow table"](X))


@pytest.mark.parametrize("estimator", BOTH, ids=["classes", "numbers"])
@pytest.mark.parametrize("recipe", RECIPES)
def test_every_kind_of_array_gives_the_same_model(estimator, recipe):
    X = numbers()
    y = (X[:, 0] > 0).astype(float)
    made = RECIPES[recipe](X)
    model, plain = fitted(estimator, made, y), fitted(estimator, X, y)
    assert model.forest_.digest() == plain.forest_.digest()
    assert np.array_equal(answer(model, made), answer(plain, X))
    assert np.array_equal(answer(model, X), answer(plain, made))


@pytest.mark.parametrize("estimator", BOTH, ids=["classes", "numbers"])
@pytest.mark.parametrize("recipe", NAMED)
def test_every_kind_of_frame_gives_the_same_model(estimator, recipe):
    X = numbers()
    y = (X[:, 0] > 0).astype(float)
    model, plain = fitted(estimator, NAMED[recipe](X), y), fitted(estimator, X, y)
    assert model.forest_.digest() == plain.forest_.digest()
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    for other in NAMED.values():
        assert np.array_equal(answer(model, other(X)), answer(plain, X))


DTYPES = ["float16", "float32", "float64", "longdouble", "int8", "uint8", "int16", "int32", "uint64", "int64", "bool"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type_of_number(dtype):
    X = np.round(numbers() * 3).clip(0, 5).astype(dtype)
    y = X[:, 0].astype(float)
    model = fitted(BOTH[1], X, y)
    assert np.corrcoef(model.predict(X), y)[0, 1] > 0.9
    assert np.array_equal(model.predict(X.astype(float)), model.predict(X))


# ---------------------------------------------------------------------------------------------------------- columns

DAY = dt.datetime(2024, 1, 1)  # noqa: DTZ001  (frames without a zone are the usual case)
CELLS = {
    "text": ["left", "right"],
    "text with gaps": ["left", None],
    "truth values": [True, False],
    "whole numbers": [3, 7],
    "numbers with gaps": [0.5, None],
    "decimals": [decimal.Decimal("1.5"), decimal.Decimal("2.5")],
    "dates": [DAY.date(), (DAY + dt.timedelta(days=40)).date()],
    "moments": [DAY, DAY + dt.timedelta(hours=30)],
    "moments with gaps": [DAY, None],
    "durations": [dt.timedelta(hours=1), dt.timedelta(hours=2)],
    "times of day": [dt.time(8), dt.time(20)],
    "infinities": [float("inf"), float("-inf")],
    "huge numbers": [1e300, -1e300],
    "tiny numbers": [5e-324, 0.0],
    "signed zero and one": [-0.0, 1.0],
    "empty text": ["", " "],
    "text in many scripts": ["жёлудь", "橡子"],
}


def column(name):
    """A column that tells the classes apart: rows 0, 1 of every four have one value, rows 2, 3 the other."""
    first, second = CELLS[name]
    return [first if k % 4 < 2 else second for k in range(N)]


FRAMES = {
    "pandas": lambda cells: pd.DataFrame({"c": cells, "noise": numbers()[:, 0]}),
    "pandas of objects": lambda cells: pd.DataFrame({"c": pd.Series(cells, dtype=object), "noise": numbers()[:, 0]}),
    "polars": lambda cells: pl.DataFrame({"c": cells, "noise": numbers()[:, 0]}),
    "Arrow": lambda cells: pa.table({"c": pa.array(cells), "noise": numbers()[:, 0]}),
    "list of rows": lambda cells: [[cell, 0.5] for cell in cells],
}


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("cells", CELLS)
def test_every_kind_of_column_tells_the_classes_apart(frame, cells):
    X = FRAMES[frame](column(cells))
    y = np.arange(N) % 4 < 2
    assert (fitted(BOTH[0], X, y).predict(X) == y).all()


CATEGORIES = {
    "pandas category": lambda cells: pd.DataFrame({"c": pd.Categorical(cells)}),
    "pandas category in order": lambda cells: pd.DataFrame({"c": pd.Categorical(cells, ["x", "y"], ordered=True)}),
    "pandas category of numbers": lambda cells: pd.DataFrame({"c": pd.Categorical([ord(c) if c else None for c in cells])}),
    "pandas string": lambda cells: pd.DataFrame({"c": pd.Series(cells, dtype="string")}),
    "polars String": lambda cells: pl.DataFrame({"c": pl.Series(cells, dtype=pl.String)}),
    "polars Categorical": lambda cells: pl.DataFrame({"c": pl.Series(cells, dtype=pl.Categorical)}),
    "polars Enum": lambda cells: pl.DataFrame({"c": pl.Series(cells, dtype=pl.Enum(["x", "y"]))}),
    "Arrow dictionary": lambda cells: pa.table({"c": pa.array(cells).dictionary_encode()}),
    "Arrow large string": lambda cells: pa.table({"c": pa.array(cells, pa.large_string())}),
    "Arrow string view": lambda cells: pa.table({"c": pa.array(cells, pa.string_view())}),
}


@pytest.mark.parametrize("gap", [False, True])
@pytest.mark.parametrize("recipe", CATEGORIES)
def test_every_kind_of_category_with_and_without_gaps(recipe, gap):
    cells = ["x", "x", None if gap else "y", None if gap else "y"] * (N // 4)
    X, y = CATEGORIES[recipe](cells), np.arange(N) % 4 < 2
    assert (fitted(BOTH[0], X, y).predict(X) == y).all()


@pytest.mark.parametrize("name", ["a[1]:{x}", "a[1]<2", 'say "a"', "a,b", "", " ", "über", "a\nb", "1", "__class__", "x" * 500])
def test_any_column_name(name):
    X = pd.DataFrame({name: numbers()[:, 0], "other": numbers()[:, 1]})
    y = (X[name] > 0).to_numpy()
    model = fitted(BOTH[0], X, y)
    assert (model.predict(X) == y).mean() > 0.9
    assert model.feature_names_in_[0] == name
    assert printable(name) in model.export_text()


def test_names_that_are_numbers_are_places():
    X = pd.DataFrame(numbers())
    model = fitted(BOTH[1], X, X[0].to_numpy())
    assert not hasattr(model, "feature_names_in_")
    assert np.array_equal(model.predict(X.to_numpy()), model.predict(X))


@pytest.mark.parametrize(
    "value", [0.0, np.nan, None, "same", True, DAY, np.inf], ids=["zero", "NaN", "None", "text", "truth", "date", "infinity"]
)
def test_a_constant_or_empty_column_does_no_harm(value):
    frame = pd.DataFrame({"x": numbers()[:, 0], "constant": pd.Series([value] * N)})
    model = fitted(BOTH[1], frame, frame["x"].to_numpy())
    plain = fitted(BOTH[1], frame[["x"]], frame["x"].to_numpy())
    assert np.array_equal(model.predict(frame), plain.predict(frame[["x"]]))
    assert model.feature_importances_[1] == 0.0


def test_a_table_of_missing_values_only_gives_the_prior():
    y = np.arange(N) % 3 == 0
    share = fitted(BOTH[0], np.full((N, 2), np.nan), y).predict_proba([[np.nan, 1.0]])
    assert share[0] == pytest.approx([2 / 3, 1 / 3])


def test_a_column_of_very_many_levels():
    """A quarter of the rows has a common level; every other row has one of its own."""
    n = 20_000
    categories = np.where(np.arange(n) % 4 == 0, "common", [f"id-{k}" for k in range(n)])
    y = np.arange(n) % 4 == 0
    with pytest.warns(ManyCategoriesWarning, match="column 'id' has 15,001 categories"):
        sets = clone(BOTH[0]).set_params(categorical_encoding="sets").fit(pd.DataFrame({"id": categories}), y)
    assert (sets.predict(pd.DataFrame({"id": categories})) == y).all()
    model = clone(BOTH[0]).fit(pd.DataFrame({"id": categories}), y)
    assert (model.predict(pd.DataFrame({"id": categories})) == y).all()


def test_more_columns_than_rows():
    X = np.random.default_rng(0).normal(size=(30, 400))
    y = X[:, 7]
    # A tree of a wide table sees a share of its features: a third here.
    model = GradientBoostingRegressor(n_estimators=100, random_state=0).fit(X, y)
    assert model.feature_importances_.argmax() == 7


def test_one_row_and_two_rows():
    model = GradientBoostingRegressor().fit([[1.0, 2.0]], [3.0])
    assert model.predict([[5.0, 5.0]]) == [3.0]
    two = GradientBoostingClassifier().fit([[1.0], [2.0]], ["a", "b"])
    assert set(two.predict([[1.0], [2.0]])) <= {"a", "b"}


# ----------------------------------------------------------------------------------------------------------- labels

LABELS = {
    "text": lambda k: ["cat", "dog"][k],
    "gapped": lambda k: [0, 2][k],
    "negative": lambda k: [-1, 1][k],
    "truth": bool,
    "whole floats": lambda k: float(k + 1),
    "large": lambda k: [10**12, 10**12 + 1][k],
    "dates": lambda k: [dt.date(2024, 1, 1), dt.date(2025, 1, 1)][k],
    "pairs": lambda k: [(0, "a"), (1, "b")][k],
}

VESSELS = {
    "list": list,
    "tuple": tuple,
    "array": np.array,
    "objects": lambda y: np.fromiter(y, object, len(y)),
    "pandas": lambda y: pd.Series(y, index=np.arange(len(y))[::-1]),
    "pandas category": lambda y: pd.Series(pd.Categorical(y)),
    "pandas index": lambda y: pd.Index(y, tupleize_cols=False),
    "polars": lambda y: pl.Series(y) if not isinstance(y[0], tuple) else y,
    "polars category": lambda y: pl.Series(y, dtype=pl.Categorical) if isinstance(y[0], str) else y,
    "Arrow": lambda y: pa.array(y) if not isinstance(y[0], tuple) else y,
    "Arrow chunks": lambda y: pa.chunked_array([y[:50], y[50:]]) if not isinstance(y[0], tuple) else y,
    "Arrow dictionary": lambda y: pa.array(y).dictionary_encode() if isinstance(y[0], str) else y,
}


@pytest.mark.parametrize("vessel", VESSELS)
@pytest.mark.parametrize("label", LABELS)
def test_any_labels_in_any_vessel(vessel, label):
    X = numbers()
    labels = [LABELS[label](int(x > 0)) for x in X[:, 0]]
    y = VESSELS[vessel](labels)
    if label == "pairs" and not vessel.startswith("pandas"):
        y = np.fromiter(labels, object, N)  # a list of pairs would be a table with two columns
    model = fitted(BOTH[0], X, y)
    assert model.classes_.tolist() == [LABELS[label](0), LABELS[label](1)]
    assert np.mean([a == b for a, b in zip(model.predict(X).tolist(), list(labels), strict=True)]) > 0.9


def test_text_and_truth_labels_keep_their_type():
    X = numbers()
    assert fitted(BOTH[0], X, X[:, 0] > 0).predict(X).dtype == bool
    assert fitted(BOTH[0], X, np.where(X[:, 0] > 0, "yes", "no")).predict(X).dtype.kind == "U"
    assert fitted(BOTH[0], X, (X[:, 0] > 0).astype(np.int8)).predict(X).dtype == np.int8


@pytest.mark.parametrize("vessel", [v for v in VESSELS if "category" not in v and "dictionary" not in v])
@pytest.mark.parametrize("cast", [float, int, bool, decimal.Decimal], ids=lambda cast: cast.__name__)
def test_any_numbers_as_a_target(vessel, cast):
    X = numbers()
    y = [cast(int(3 * x)) for x in X[:, 0]]
    if cast is decimal.Decimal:
        y = [value + decimal.Decimal("0.25") for value in y]
        y[0] = y[50] = decimal.Decimal("-10.25")  # Arrow takes the number of digits from the first
    model = fitted(BOTH[1], X, VESSELS[vessel](y))
    assert np.corrcoef(model.predict(X), np.array(y, float))[0, 1] > 0.8


# ------------------------------------------------------------------------------------------------------- prediction


def test_an_unseen_category_gets_what_the_node_knows():
    """One column x, y, z of positive rates 0.9, 0.5, 0.1: a new category is none of them, and predicts about 0.5."""
    X = pd.DataFrame({"c": np.repeat(["x", "y", "z"], 200)})
    y = np.concatenate([np.arange(200) < count for count in (180, 100, 20)])
    for options in ({}, {"early_stopping": True}, {"growth": "level"}, {"growth": "symmetric"}):
        model = GradientBoostingClassifier(random_state=0, **options).fit(X, y)
        assert model.predict_proba(pd.DataFrame({"c": ["x", "y", "z"]}))[:, 1] == pytest.approx([0.9, 0.5, 0.1], abs=0.05)
        with pytest.warns(UnseenCategoryWarning, match=r"column 'c' has 2 rows of 1 category that training never saw \('NEW'\)"):
            share = model.predict_proba(pd.DataFrame({"c": ["NEW", "NEW"]}))[:, 1]
        assert share == pytest.approx([0.5, 0.5], abs=0.05)


def test_a_missing_value_where_training_met_none_gets_what_the_node_knows():
    X = np.repeat([[0.0], [1.0]], 100, axis=0)
    y = np.repeat([0.0, 10.0], 100)
    model = GradientBoostingRegressor(random_state=0, early_stopping=False).fit(X, y)
    assert model.predict([[np.nan]])[0] == pytest.approx(5.0, abs=0.1)


def test_columns_are_matched_by_name():
    X = pd.DataFrame(numbers(), columns=["a", "b", "c"])
    model = fitted(BOTH[1], X, X["a"].to_numpy())
    expected = model.predict(X)
    assert np.array_equal(model.predict(X[["c", "a", "b"]]), expected)
    with pytest.warns(ExtraColumnWarning, match="GradientBoostingRegressor ignores 1 column that training never saw: 'more'"):
        assert np.array_equal(model.predict(X.assign(more="?")), expected)
    with pytest.warns(NamelessTableWarning, match="X does not have valid feature names"):
        assert np.array_equal(model.predict(X.to_numpy()), expected)


def test_numbers_too_large_for_a_double_are_warned_of():
    X = np.array([[2**60 + k] for k in range(N)])
    with pytest.warns(PrecisionWarning, match=r"2\*\*53"):
        GradientBoostingRegressor(**QUICK).fit(X, np.arange(N))


def test_category_columns_by_name_survive_cloning_and_searching():
    """A parameter that holds a list must not be changed by fitting, or cloning breaks, and with it every search."""
    X = pd.DataFrame({"code": np.arange(N) % 6, "x": numbers()[:, 0]})
    y = np.isin(X["code"], [0, 2, 5])
    model = GradientBoostingClassifier(categorical_features=["code"], **QUICK)
    assert clone(model.fit(X, y)).categorical_features == ["code"]
    assert cross_val_score(model, X, y, cv=3).min() > 0.95
    assert GridSearchCV(model, {"max_depth": [1, 2]}, cv=2).fit(X, y).best_score_ > 0.95
    assert model.forest_.sets.max() >= 0


def test_rows_of_one_table_do_not_depend_on_each_other():
    frame = pd.DataFrame({"x": numbers()[:, 0], "c": ["u", "v", None] * (N // 3)})
    model = fitted(BOTH[0], frame, frame["x"].to_numpy() > 0)
    whole = model.predict_proba(frame)
    assert np.array_equal(np.vstack([model.predict_proba(frame.iloc[k : k + 1]) for k in range(20)]), whole[:20])
