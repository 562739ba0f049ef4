"""Bad inputs: each gives an error of the right kind that names what is wrong and what to do; none is accepted silently."""

import datetime as dt
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron

from woodwind import DataError, GradientBoostingClassifier, GradientBoostingRegressor, ParameterError, WoodwindError, losses
from woodwind.base.errors import ConstantTargetWarning, TableError, TargetError, WeightError, WoodwindWarning

N = 40
INF, NAN = float("inf"), float("nan")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
LABELS = np.where(X[:, 0] > 0, "a", "b")
NUMBERS = X[:, 0] + 1.0
FRAME = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": np.where(X[:, 2] > 0, "u", "v")})
DATES = pd.date_range("2024-01-01", periods=N)


def changed(values, position, value, dtype=None):
    out = np.array(values, dtype=dtype or np.asarray(values).dtype)
    out[position] = value
    return out


def classify(X=X, y=LABELS, **more):
    options = {name: more.pop(name) for name in list(more) if name not in ("sample_weight", "groups", "eval_set")}
    return lambda: GradientBoostingClassifier(**{"n_estimators": 3, **options}).fit(X, y, **more)


def regress(X=X, y=NUMBERS, **more):
    options = {name: more.pop(name) for name in list(more) if name not in ("sample_weight", "groups", "eval_set")}
    return lambda: GradientBoostingRegressor(**{"n_estimators": 3, **options}).fit(X, y, **more)


def predict(X_new, X_old=FRAME, method="predict"):
    return lambda: getattr(GradientBoostingRegressor(n_estimators=3).fit(X_old, NUMBERS), method)(X_new)


class NoTable:
    """Nothing that a table could be made of."""


def chart():
    return pl.DataFrame({"x": list(range(N))}).lazy()


def wide(n):
    return pd.DataFrame(np.zeros((N, 2)), columns=["twice", "twice"]) if n == 2 else None


# Each case: the call, the error, what its message must name, and the remedy that it must offer.
TABLES = {
    "None": (regress(None), TableError, "NoneType", "give a NumPy array"),
    "text": (regress("table.csv"), TableError, "str was given", "give a NumPy array"),
    "a number": (regress(3.0), TableError, "scalar array|float was given", "Reshape|give a NumPy array"),
    "a dict": (regress({"x": list(NUMBERS)}), TableError, "dict was given", r"pandas.DataFrame\(X\)"),
    "a set": (regress({1, 2}), TableError, "set was given", "give a NumPy array"),
    "an object": (regress(NoTable()), TableError, "NoTable", "give a NumPy array"),
    "a function": (regress(len), TableError, "builtin_function_or_method", "give a NumPy array"),
    "one dimension": (regress(NUMBERS), TableError, "Expected 2D array, got 1D", "Reshape your data"),
    "a list of numbers": (regress(list(NUMBERS)), TableError, "Expected 2D array, got 1D", "Reshape your data"),
    "a column of pandas": (regress(FRAME["a"]), TableError, "Expected 2D array, got 1D", "Reshape your data"),
    "a column of polars": (regress(pl.Series(NUMBERS)), TableError, "Expected 2D array, got 1D", "Reshape your data"),
    "a column of Arrow": (regress(pa.array(NUMBERS)), TableError, "Expected 2D array, got 1D", "Reshape your data"),
    "three dimensions": (regress(np.zeros((N, 2, 2))), TableError, "dim 3", "reshape"),
    "no rows": (regress(np.zeros((0, 3)), []), DataError, "0 sample|empty", "filter|Give one value"),
    "no rows but a target": (regress(np.zeros((0, 3))), DataError, "0 sample", "filter"),
    "no columns": (regress(np.zeros((N, 0))), TableError, "0 feature", "selection"),
    "no columns in a frame": (regress(pd.DataFrame(index=range(N))), TableError, "0 (feature|sample)", "selection|filter"),
    "no columns in polars": (regress(pl.DataFrame()), TableError, "0 (feature|sample)", "selection|filter"),
    "complex numbers": (regress(X.astype(complex)), TableError, "Complex data not supported", "real and the imaginary part"),
    "a complex column": (regress(FRAME.assign(z=X[:, 0] * 1j)), TableError, "column 'z'.*complex", "real and the imaginary part"),
    "complex sparse": (regress(sp.csr_array(X.astype(complex))), TableError, "Complex data not supported", "astype"),
    "a structured array": (regress(np.zeros(N, [("p", float), ("q", int)])), TableError, "fields p, q", "structured_to_unstructured"),
    "ragged lists": (regress([[1.0, 2.0]] * (N - 1) + [[1.0]]), TableError, f"row {N - 1} has 1", "fill the gaps"),
    "repeated names": (regress(wide(2)), TableError, "names are repeated: 'twice'", "rename or drop"),
    "repeated names in Arrow": (
        regress(pa.table([pa.array(X[:, 0]), pa.array(X[:, 1])], names=["p", "p"])),
        TableError,
        "names are repeated: 'p'",
        "rename or drop",
    ),
    "numbers and text": (
        regress(FRAME.assign(m=pd.Series(["x", 1.5] * (N // 2), dtype=object))),
        TableError,
        r"column 'm' mixes.*rows 2, 4, 6|column 'm' mixes.*rows 1, 3, 5",
        "astype\\(str\\)",
    ),
    "one word among numbers": (
        regress(changed(X, (7, 1), "oops", object)),
        TableError,
        r"column 1 mixes.*rows 8: 'oops'",
        "to_numeric",
    ),
    "dates and numbers": (
        regress(FRAME.assign(m=pd.Series([dt.date(2024, 1, 1), 5] * (N // 2), dtype=object))),
        TableError,
        "column 'm' mixes",
        "convert the column",
    ),
    "lists in cells": (regress(FRAME.assign(m=[[1, 2]] * N)), TableError, "column 'm'.*list", "drop the column"),
    "dicts in cells": (regress(FRAME.assign(m=[{"k": 1}] * N)), TableError, "column 'm'.*dict", "drop the column"),
    "bytes": (regress(FRAME.assign(m=[b"x"] * N)), TableError, "column 'm'.*bytes", "drop the column|decode"),
    "an array of bytes": (regress(np.array([[b"x", b"y"]] * N)), TableError, "column 0 is of type", "decode"),
    "polars lists": (regress(pl.DataFrame({"m": [[1, 2]] * N})), TableError, "column 'm' is of type.*list", "drop the column"),
    "polars structs": (regress(pl.DataFrame({"m": [{"k": 1}] * N})), TableError, "column 'm' is of type.*struct", "drop the column"),
    "polars bytes": (regress(pl.DataFrame({"m": [b"x"] * N})), TableError, "column 'm' is of type.*binary", "drop the column"),
    "Arrow maps": (
        regress(pa.table({"m": pa.array([[("k", 1)]] * N, pa.map_(pa.string(), pa.int64()))})),
        TableError,
        "column 'm' is of type",
        "drop the column",
    ),
    "a lazy frame": (regress(chart()), TableError, "lazy frame", r"\.collect\(\)"),
    "fewer rows than targets": (regress(X[:30]), DataError, "X has 30 rows, y has 40 values", "one value of y for each row"),
    "more rows than targets": (regress(X, NUMBERS[:30]), DataError, "X has 40 rows, y has 30 values", "one value of y for each row"),
    "weights and other rows": (
        regress(X[:30], sample_weight=np.arange(N)),
        DataError,
        "X has 30 rows, y has 40 values",
        "one value of y for each row",
    ),
    "too many mask values": (
        regress(categorical_features=[True] * 5),
        TableError,
        "categorical_features.*5 truth values",
        "one truth value",
    ),
    "an unknown category": (regress(FRAME, categorical_features=["d"]), TableError, "no column 'd'", "the columns are 'a', 'b', 'c'"),
    "a position beyond the end": (
        regress(categorical_features=[3]),
        TableError,
        "3 is neither a name nor a position",
        "give names or positions",
    ),
    "names without names": (regress(categorical_features=["a"]), TableError, "no column 'a'", "give names or positions"),
}

TARGETS = {
    "no target": (classify(y=None), TargetError, "requires y to be passed", r"fit\(X, y\)"),
    "no target of numbers": (regress(y=None), TargetError, "requires y to be passed", r"fit\(X, y\)"),
    "a word": (classify(y="ababab"), TargetError, "1d array, got a str", "Give a list"),
    "a dict of labels": (classify(y={"y": LABELS}), TargetError, "1d array, got a dict", "Give a list"),
    "a single number": (regress(y=5.0), TargetError, r"shape \(\)", "one value for each row"),
    "a sparse target": (regress(y=sp.csr_array(NUMBERS.reshape(-1, 1))), TargetError, "sparse", "Give a list"),
    "two targets": (regress(y=np.zeros((N, 2))), TargetError, r"shape \(40, 2\)", "one model for each column"),
    "two label columns": (classify(y=np.stack([LABELS, LABELS], 1)), TargetError, r"shape \(40, 2\)", "one model for each column"),
    "a frame of two columns": (regress(y=FRAME[["a", "b"]]), TargetError, r"shape \(40, 2\)", "one model for each column"),
    "one-hot labels": (classify(y=np.eye(2)[(LABELS == "b").astype(int)]), TargetError, r"shape \(40, 2\)", "one value for each row"),
    "ragged targets": (regress(y=[[1.0], [1.0, 2.0]] * 20), TargetError, "1d array", "one value for each row"),
    "empty target": (regress(y=[]), TargetError, "y is empty", "one value for each row"),
    "one class": (classify(y=["a"] * N), TargetError, "one class only.*'a'", "at least 2 classes"),
    "one class of numbers": (classify(y=np.ones(N)), TargetError, "one class only.*1.0", "at least 2 classes"),
    "one class with weight": (
        classify(sample_weight=(LABELS == "a").astype(float)),
        TargetError,
        "one class only: every row with a weight above zero is of class.*'a'",
        "weights were chosen",
    ),
    "classes of no weight": (
        classify(class_weight={"a": 0, "b": 0}),
        TargetError,
        "no row with a weight above zero",
        "weights were chosen",
    ),
    "one row": (classify(X[:1], ["a"]), TargetError, "one class only", "at least 2 classes"),
    "a quantity": (classify(y=NUMBERS), TargetError, r"Unknown label type: continuous.*y\[0\] = ", "use a regressor"),
    "one fraction": (classify(y=changed(np.arange(N) % 2.0, 5, 0.5)), TargetError, r"in 1 of 40 rows: y\[5\] = 0.5", "use a regressor"),
    "an infinite label": (classify(y=changed(np.arange(N) % 2.0, 5, INF)), TargetError, r"y\[5\] = inf", "regressor|Drop"),
    "a missing label": (classify(y=changed(np.arange(N) % 2.0, 5, NAN)), TargetError, r"NaN.*in 1 of 40 rows: y\[5\]", "Drop those rows"),
    "None among labels": (classify(y=changed(LABELS, 5, None, object)), TargetError, r"in 1 of 40 rows: y\[5\] = None", "Drop those rows"),
    "NaN among text": (
        classify(y=changed(LABELS, [5, 6, 7, 8], NAN, object)),
        TargetError,
        "in 4 of 40 rows.* and 1 more",
        "Drop those rows",
    ),
    "NA of pandas": (classify(y=pd.Series(changed(LABELS, 5, None, object), dtype="string")), TargetError, r"y\[5\]", "Drop those rows"),
    "a missing category": (classify(y=pd.Categorical(changed(LABELS, 5, None, object))), TargetError, r"y\[5\] = nan", "Drop those rows"),
    "a null of polars": (classify(y=pl.Series([None, *LABELS[1:]])), TargetError, r"y\[0\] = None", "Drop those rows"),
    "a null of Arrow": (classify(y=pa.array([None, *LABELS[1:]])), TargetError, r"y\[0\] = None", "Drop those rows"),
    "a masked label": (classify(y=np.ma.masked_equal(np.arange(N) % 3, 2)), TargetError, r"in 13 of 40 rows: y\[2\]", "Drop those rows"),
    "a missing date": (classify(y=changed(DATES.to_numpy(), 3, np.datetime64("NaT"))), TargetError, r"y\[3\] = NaT", "Drop those rows"),
    "text and numbers": (classify(y=["a", 1] * 20), TargetError, r"mixes y\[0\] = 'a' \(str\), y\[1\] = 1 \(int\)", "str\\(label\\)"),
    "truth and text": (classify(y=[True, "a"] * 20), TargetError, r"mixes y\[0\] = True \(bool\)", "str\\(label\\)"),
    "lists as labels": (classify(y=np.fromiter(([k % 2] for k in range(N)), object, N)), TargetError, "Unknown label type", "convert them"),
    "complex labels": (classify(y=X[:, 0] * 1j), TargetError, "Complex data not supported", "convert them"),
    "records as labels": (classify(y=np.zeros(N, [("p", int)])), TargetError, "Unknown label type", "convert them"),
    "NaN among numbers": (
        regress(y=changed(NUMBERS, [3, 9], NAN)),
        TargetError,
        r"NaN in 2 of 40 rows: y\[3\] = nan, y\[9\]",
        "Drop those rows",
    ),
    "None among numbers": (regress(y=changed(NUMBERS, 3, None, object)), TargetError, r"NaN in 1 of 40 rows: y\[3\]", "Drop those rows"),
    "a null among numbers": (regress(y=pl.Series([None, *NUMBERS[1:]])), TargetError, r"NaN in 1 of 40 rows: y\[0\]", "Drop those rows"),
    "NA among numbers": (regress(y=pd.Series([None, *range(1, N)], dtype="Int64")), TargetError, r"NaN in 1 of 40 rows", "Drop those rows"),
    "infinity": (
        regress(y=changed(NUMBERS, 3, INF)),
        TargetError,
        r"infinity in 1 of 40 rows: y\[3\] = inf",
        "Drop those rows, or replace",
    ),
    "minus infinity": (regress(y=changed(NUMBERS, 3, -INF)), TargetError, r"y\[3\] = -inf", "Drop those rows, or replace"),
    "text for numbers": (regress(y=LABELS), TargetError, "real numbers", "use a classifier"),
    "text of numbers": (regress(y=[str(v) for v in NUMBERS]), TargetError, r"y\[0\] = '.*' is of type str", r"astype\(float\)"),
    "one word": (regress(y=changed(NUMBERS, 4, "x", object)), TargetError, r"y\[4\] = 'x' is of type str", r"astype\(float\)"),
    "dates for numbers": (regress(y=DATES), TargetError, "datetime64", "days since"),
    "complex target": (regress(y=X[:, 0] * 1j), TargetError, "Complex data not supported", "astype"),
    "negative counts": (
        regress(y=NUMBERS - 5, loss="poisson"),
        TargetError,
        r"'poisson' must not be negative, but y\[0\]",
        "squared_error",
    ),
    "zeros for gamma": (regress(y=np.abs(changed(NUMBERS, 2, 0.0)), loss="gamma"), TargetError, r"positive, but y\[2\] = 0", "tweedie"),
    "all zero counts": (regress(y=np.zeros(N), loss="tweedie"), TargetError, "zero in every row", "logarithm"),
}

WEIGHTS = {
    "negative weights": (
        regress(sample_weight=changed(np.ones(N), 4, -1)),
        WeightError,
        r"negative.*1 of 40 rows: sample_weight\[4\] = -1",
        "Give 0",
    ),
    "missing weights": (
        regress(sample_weight=changed(np.ones(N), 4, NAN)),
        WeightError,
        r"finite.*sample_weight\[4\] = nan",
        "Set unknown",
    ),
    "infinite weights": (regress(sample_weight=changed(np.ones(N), 4, INF)), WeightError, r"sample_weight\[4\] = inf", "Set unknown"),
    "None among weights": (regress(sample_weight=[None] + [1.0] * (N - 1)), WeightError, r"sample_weight\[0\] = nan", "Set unknown"),
    "zero weights": (regress(sample_weight=np.zeros(N)), WeightError, "zero in every row", "positive weight"),
    "a weight of zero": (classify(sample_weight=0), WeightError, "zero in every row", "positive weight"),
    "too few weights": (regress(sample_weight=np.ones(N - 1)), WeightError, r"sample_weight.shape == \(39,\)", "one weight for each row"),
    "too many weights": (regress(sample_weight=np.ones(N + 1)), WeightError, r"expected \(40,\)", "one weight for each row"),
    "weights in columns": (regress(sample_weight=np.ones((N, 2))), WeightError, "must be 1D", "one for each row"),
    "weights as a column": (regress(sample_weight=np.ones((N, 1))), WeightError, "must be 1D", "one for each row"),
    "text weights": (regress(sample_weight=["heavy"] * N), WeightError, "must hold numbers", "Convert it first"),
    "a word for weights": (regress(sample_weight="balanced"), DataError, "sample_weight should be a 1d array, got a str", "Give a list"),
    "a dict of weights": (classify(sample_weight={"a": 2}), DataError, "sample_weight should be a 1d array, got a dict", "Give a list"),
    "complex weights": (regress(sample_weight=np.ones(N) * 1j), WeightError, "complex", "Convert it first"),
    "an unknown class": (
        classify(class_weight={"c": 2}),
        ParameterError,
        "class_weight names the class 'c'",
        r"classes of y are \['a', 'b'\]",
    ),
    "a negative class": (classify(class_weight={"a": -1}), ParameterError, r"class_weight\['a'\]", "at least 0"),
    "a class of text": (classify(class_weight={"a": "2"}), ParameterError, r"class_weight\['a'\]", "at least 0"),
    "a class of NaN": (classify(class_weight={"a": NAN}), ParameterError, r"class_weight\['a'\]", "at least 0"),
    "class weights by list": (classify(class_weight=[1, 2]), ParameterError, "class_weight must be", "default"),
    "another word": (classify(class_weight="equal"), ParameterError, "class_weight must be.*'equal'", "'balanced'"),
}

VALIDATION = {
    "too few groups": (regress(groups=[1, 2]), DataError, "groups has 2 values, and X has 40", "one group for each row"),
    "a missing group": (
        regress(groups=[None, *range(1, N)]),
        DataError,
        "groups is missing in 1 rows, first in row 0",
        "Give each row a group",
    ),
    "one group": (regress(groups=np.zeros(N), early_stopping=True), DataError, "one group only", "early_stopping=False or give eval_set"),
    "groups of classes": (
        classify(groups=LABELS, early_stopping=True),
        DataError,
        "no group can be held out without losing a class",
        "early_stopping=False or give eval_set",
    ),
    "one row to stop by": (regress(X[:1], [1.0], early_stopping=True), DataError, "at least two rows", "early_stopping=False"),
    "a class for every row": (
        lambda: GradientBoostingClassifier(early_stopping=True).fit(X[:3], ["a", "b", "c"]),
        DataError,
        "every class has one row only",
        "early_stopping=False",
    ),
    "a validation table only": (regress(eval_set=X), DataError, "eval_set must be.*ndarray", r"\(X, y\) or \(X, y, sample_weight\)"),
    "four parts": (regress(eval_set=(X, NUMBERS, None, None)), DataError, "eval_set must be.*4 values", r"\(X, y\)"),
    "a validation table without a target among others": (
        regress(eval_set=[(X, NUMBERS), X]),
        DataError,
        "eval_set must be",
        "several such tuples in a list",
    ),
    "a metric twice": (regress(scoring=["rmse", "mae", "rmse"]), ParameterError, "scoring has 'rmse' twice", "each metric once"),
    "no metric": (regress(scoring=[]), ParameterError, "scoring is an empty list", "None for the loss"),
    "other columns": (regress(eval_set=(X[:, :2], NUMBERS)), TableError, "X has 2 features", "3 features"),
    "other names": (regress(FRAME, eval_set=(FRAME[["a", "b"]], NUMBERS)), TableError, "column 'c'", "filled with missing values"),
    "other rows": (regress(eval_set=(X, NUMBERS[:5])), DataError, "eval_set.*X has 40 rows, y has 5", "one value of y for each row"),
    "another class": (classify(eval_set=(X, ["z"] * N)), TargetError, r"labels \['z'\] are not among the classes", r"\['a', 'b'\]"),
    "a missing validation target": (regress(eval_set=(X, changed(NUMBERS, 1, NAN))), TargetError, r"y\[1\] = nan", "Drop those rows"),
    "negative validation weights": (regress(eval_set=(X, NUMBERS, -np.ones(N))), WeightError, "eval_set.*negative", "Give 0"),
    "no such metric": (classify(early_stopping=True, scoring="accurate"), ParameterError, "scoring='accurate'", "get_scorer_names"),
    "a scorer of text": (
        classify(early_stopping=True, scoring=lambda m, X, y: "good"),
        ParameterError,
        "returned 'good'",
        "must return a number",
    ),
    "a number as scorer": (classify(early_stopping=True, scoring=3), ParameterError, "scoring must be", "default"),
}

INIT = {
    "scores of other rows": (regress(init=np.zeros(5)), ParameterError, r"shape \(40,\).*\(5,\)", "one row for each row of X"),
    "scores of other classes": (
        classify(y=np.arange(N) % 3, init=np.zeros((N, 2))),
        ParameterError,
        r"shape \(40, 3\)",
        "one row for each row",
    ),
    "missing scores": (regress(init=changed(np.zeros(N), 7, NAN)), ParameterError, "init must be finite.*row 7", "finite"),
    "text scores": (regress(init="zero"), ParameterError, "init must be None, scores, an estimator or a function", "str"),
    "a class of estimators": (regress(init=LinearRegression), ParameterError, "init is the class LinearRegression", "an instance"),
    "no probabilities": (classify(init=Perceptron()), ParameterError, "Perceptron has not", "predict_proba"),
    "other labels": (
        classify(init=LogisticRegression().fit(X, np.where(LABELS == "a", "a", "z"))),
        ParameterError,
        "class 'z' that y has not",
        "same labels",
    ),
    "not positive": (
        regress(y=np.exp(NUMBERS), loss="poisson", init=LinearRegression().fit(X, -np.exp(NUMBERS))),
        ParameterError,
        "not positive",
        "another init",
    ),
    "scores and validation data": (
        regress(init=np.zeros(N), eval_set=(X, NUMBERS)),
        DataError,
        "eval_set: init has scores",
        "Give an estimator",
    ),
}

PARAMETERS = {
    "no rounds": (regress(n_estimators=0), ParameterError, "n_estimators must be an integer of at least 1", "default"),
    "half a round": (regress(n_estimators=1.5), ParameterError, r"n_estimators must be.*1.5 \(float\)", "default"),
    "rounds as text": (regress(n_estimators="100"), ParameterError, "n_estimators must be.*'100'", "Write n_estimators=100"),
    "truth as rounds": (regress(n_estimators=True), ParameterError, "n_estimators must be.*True", "default"),
    "no learning": (regress(learning_rate=0), ParameterError, "learning_rate must be a number above 0", "default"),
    "negative learning": (regress(learning_rate=-0.1), ParameterError, "learning_rate must be a number above 0", "default"),
    "infinite learning": (regress(learning_rate=INF), ParameterError, "learning_rate", "default"),
    "missing learning": (regress(learning_rate=NAN), ParameterError, "learning_rate", "default"),
    "one leaf": (regress(max_leaf_nodes=1), ParameterError, "max_leaf_nodes must be an integer of at least 2", "default"),
    "no depth": (regress(max_depth=0), ParameterError, "max_depth must be an integer of at least 1", "default"),
    "no rows in a leaf": (regress(min_samples_leaf=0), ParameterError, "min_samples_leaf must be", "default"),
    "negative penalty": (regress(l2_regularization=-1), ParameterError, "l2_regularization must be a number of at least 0", "default"),
    "negative gain": (regress(min_gain=-1.0), ParameterError, "min_gain must be", "default"),
    "negative noise": (regress(gradient_noise=-0.1), ParameterError, "gradient_noise must be a number from 0 to 10", "default"),
    "missing noise": (regress(gradient_noise=NAN), ParameterError, "gradient_noise must be", "default"),
    "infinite noise": (regress(gradient_noise=INF), ParameterError, "gradient_noise must be", "default"),
    "noise without bins": (regress(gradient_noise=0.5, max_bins=None), ParameterError, "gradient_noise=0.5 needs bins", "Set max_bins=255"),
    "one bin": (regress(max_bins=1), ParameterError, "max_bins must be an integer from 2 to 255", "default"),
    "too many bins": (regress(max_bins=256), ParameterError, "max_bins must be an integer from 2 to 255", "default"),
    "another order": (regress(growth="best-first"), ParameterError, "growth must be 'best_first'", "Did you mean 'best_first'"),
    "no share": (regress(subsample=0.0), ParameterError, "subsample must be a number above 0 and at most 1", "default"),
    "more than all": (regress(subsample=1.5), ParameterError, "subsample must be", "default"),
    "features beyond all": (regress(max_features=4), ParameterError, "max_features=4, but the table has 3 features", "Give a share"),
    "a share beyond one": (regress(max_features=1.5), ParameterError, "max_features must be", "default"),
    "a rule of no name": (regress(max_features="all"), ParameterError, "max_features must be", "default"),
    "no threads": (regress(n_jobs=0), ParameterError, "n_jobs must be an integer other than 0", "default"),
    "a negative seed": (regress(random_state=-1), ParameterError, "random_state must be", "default"),
    "a seed of text": (regress(random_state="seed"), ParameterError, "random_state must be", "default"),
    "all held out": (regress(validation_fraction=1.0), ParameterError, "validation_fraction must be", "default"),
    "no patience": (regress(n_iter_no_change=0), ParameterError, "n_iter_no_change must be", "default"),
    "sometimes stopping": (regress(early_stopping="sometimes"), ParameterError, "early_stopping must be True, False or 'auto'", "default"),
    "a loss of no name": (regress(loss="squared"), ParameterError, "loss must be one of.*'squared'", "Did you mean 'squared_error'"),
    "a loss for numbers": (
        classify(loss="squared_error"),
        ParameterError,
        "loss must be one of 'log_loss', 'exponential'",
        "object of your own",
    ),
    "half a loss": (regress(loss=NoTable()), ParameterError, "start, derivatives and value", "lacks"),
    "many scores": (regress(loss=losses.Multinomial(3)), ParameterError, "is not for numbers", "woodwind.losses"),
    "many classes": (classify(y=np.arange(N) % 3, loss="exponential"), ParameterError, "Only binary classification", "loss='log_loss'"),
    "other classes": (classify(loss=losses.Multinomial(3)), ParameterError, "is not for 2 classes", "loss='log_loss'"),
    "too few signs": (regress(monotonic_cst=[1, 0]), ParameterError, "monotonic_cst must be.*2 values", "each of the 3 columns"),
    "a sign of two": (regress(monotonic_cst=[2, 0, 0]), ParameterError, "for column 0 it is 2", "-1, 0 or 1"),
    "a sign of text": (regress(FRAME, monotonic_cst={"a": "+"}), ParameterError, "for column 'a' it is '\\+'", "-1, 0 or 1"),
    "a sign for no column": (regress(FRAME, monotonic_cst={"d": 1}), ParameterError, "monotonic_cst names the column 'd'", "'a', 'b', 'c'"),
    "a sign for text": (regress(FRAME, monotonic_cst={"c": 1}), ParameterError, "column 'c' is a category", "Make it a number"),
    "a sign for dates": (
        regress(FRAME.assign(t=DATES), monotonic_cst={"t": 1}),
        ParameterError,
        "column 't' is a date",
        "Make it a number",
    ),
    "a word for signs": (regress(monotonic_cst="up"), ParameterError, "monotonic_cst must be a dict", "'up'"),
    "groups of no name": (regress(interaction_cst="none"), ParameterError, "interaction_cst must be", "'no_interactions'"),
    "groups of numbers": (regress(interaction_cst=[0, 1]), ParameterError, "interaction_cst must be", "such as"),
    "groups of no column": (
        regress(interaction_cst=[{0, 9}]),
        ParameterError,
        "interaction_cst names the column 9",
        "Give a name or a position",
    ),
    "a callback of text": (regress(callbacks="print"), ParameterError, "callbacks must be", "default"),
    "callbacks of text": (regress(callbacks=["print"]), ParameterError, "callbacks must be functions.*'print' is none", "finished round"),
    "loud in words": (regress(verbose="loud"), ParameterError, "verbose must be", "default"),
    "one split for a level without bins": (
        regress(max_bins=None, growth="symmetric"),
        ParameterError,
        "growth='symmetric' needs bins",
        "Set max_bins=255",
    ),
    "candidates by no name": (regress(candidates="sketch"), ParameterError, "candidates must be 'global', 'local' or None", "default"),
    "a share of all": (regress(candidates="global", sketch_eps=1.0), ParameterError, "sketch_eps must be", "below 1"),
    "a share without candidates": (regress(sketch_eps=0.1), ParameterError, "sketch_eps=0.1 is for proposed", "Set candidates='global'"),
    "candidates without bins": (
        regress(candidates="local", max_bins=None),
        ParameterError,
        "candidates='local' proposes thresholds, and max_bins=None considers all",
        "Set max_bins=255 or candidates=None",
    ),
    "more candidates than a byte has room for": (
        regress(candidates="global", sketch_eps=0.001),
        ParameterError,
        "sketch_eps=0.001 asks for 1,000 bins",
        "or candidates='local'",
    ),
    "one split for a level with candidates of nodes": (
        regress(candidates="local", growth="symmetric"),
        ParameterError,
        "growth='symmetric' needs bins: with candidates='local'",
        "Set candidates='global'",
    ),
    "noise with candidates of nodes": (
        regress(candidates="local", gradient_noise=0.5),
        ParameterError,
        "gradient_noise=0.5 needs bins: with candidates='local'",
        "Set candidates='global'",
    ),
}

PREDICTION = {
    "fewer columns": (predict(X[:, :2], X), TableError, "X has 2 features", "expecting 3 features"),
    "more columns": (predict(np.zeros((5, 4)), X), TableError, "X has 4 features", "expecting 3 features"),
    "a missing column": (
        predict(FRAME[["a", "c"]]),
        TableError,
        "the column 'b', which GradientBoostingRegressor was trained with",
        "filled",
    ),
    "a renamed column": (
        predict(FRAME.rename(columns={"a": "A1"})),
        TableError,
        "'a'.*training never saw: 'A1'",
        "filled with missing values",
    ),
    "a column nearly named": (predict(FRAME.rename(columns={"b": "b "})), TableError, "'b '", "may be 'b'|filled"),
    "one row without brackets": (predict(X[0], X), TableError, "Expected 2D array, got 1D", r"reshape\(1, -1\)"),
    "no rows to predict": (predict(X[:0], X), TableError, "0 sample", "filter"),
    "nothing to predict": (predict(None, X), TableError, "NoneType", "give a NumPy array"),
    "text where numbers were": (predict(FRAME.assign(a="x")), TableError, "column 'a' was a number in training", "convert the column"),
    "dates where numbers were": (predict(FRAME.assign(a=DATES)), TableError, "column 'a' was a number in training", "convert the column"),
    "lists where numbers were": (predict(FRAME.assign(a=[[1]] * N)), TableError, "column 'a'", "drop the column"),
    "complex where numbers were": (predict(FRAME.assign(a=1j)), TableError, "column 'a'.*complex", "real and the imaginary part"),
    "mixtures where text was": (
        predict(FRAME.assign(c=pd.Series(["u", 1] * (N // 2), dtype=object))),
        TableError,
        "column 'c' mixes",
        "convert the column",
    ),
    "numbers where dates were": (
        predict(FRAME.assign(t=1.5), FRAME.assign(t=DATES)),
        TableError,
        "column 't' was a date in training and is a number now",
        "convert the column",
    ),
    "words where dates were": (
        predict(FRAME.assign(t="soon"), FRAME.assign(t=DATES)),
        TableError,
        "column 't' was a date in training",
        "convert the column",
    ),
    "repeated names to predict": (predict(FRAME[["a", "a", "b", "c"]]), TableError, "names are repeated: 'a'", "rename or drop"),
    "a lazy frame to predict": (predict(chart()), TableError, "lazy frame", r"\.collect\(\)"),
    "leaves of fewer columns": (predict(X[:, :2], X, "apply"), TableError, "X has 2 features", "expecting 3 features"),
    "three dimensions to predict": (predict(np.zeros((2, 3, 2)), X), TableError, "dim 3", "reshape"),
    "scores for other rows": (
        lambda: GradientBoostingRegressor(n_estimators=3).fit(X, NUMBERS).predict(X, init=np.zeros(3)),
        ParameterError,
        r"init must hold scores of shape \(40,\)",
        "one row for each row of X",
    ),
    "a row of other length": (
        lambda: GradientBoostingRegressor(n_estimators=3).fit(X, NUMBERS).predictor()([1.0]),
        TableError,
        "not 1",
        "3 features",
    ),
    "a tree that is not there": (
        lambda: GradientBoostingRegressor(n_estimators=3).fit(X, NUMBERS).export_text(3),
        ParameterError,
        "3 was given",
        "one of the 3 trees",
    ),
}

ALL = {**TABLES, **TARGETS, **WEIGHTS, **VALIDATION, **INIT, **PARAMETERS, **PREDICTION}


def test_there_are_enough_of_them():
    assert len(ALL) == sum(map(len, (TABLES, TARGETS, WEIGHTS, VALIDATION, INIT, PARAMETERS, PREDICTION))) > 150


@pytest.mark.parametrize("case", ALL)
def test_a_bad_input_is_named_with_its_remedy(case):
    call, error, named, remedy = ALL[case]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WoodwindWarning)
        with pytest.raises(WoodwindError) as caught:
            call()
    assert isinstance(caught.value, error), repr(caught.value)
    assert isinstance(caught.value, ValueError | TypeError)
    text = " ".join(str(caught.value).split())
    assert re.search(named, text), f"{named!r} is not in: {text}"
    assert re.search(remedy, text), f"{remedy!r} is not in: {text}"
    assert len(text) < 1000


@pytest.mark.parametrize("case", [*TARGETS, *WEIGHTS, *PARAMETERS])
def test_the_owner_is_named(case):
    call, *_ = ALL[case]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WoodwindWarning)
        with pytest.raises(WoodwindError) as caught:
            call()
    assert "GradientBoosting" in str(caught.value)


# ------------------------------------------------------------------------------------- accepted, but not in silence


def test_a_constant_target_is_warned_of():
    with pytest.warns(ConstantTargetWarning, match="y is 2.5 in every row.*the model predicts this number"):
        model = GradientBoostingRegressor(n_estimators=3).fit(X, np.full(N, 2.5))
    assert (model.predict(X) == 2.5).all()


def test_as_many_classes_as_rows_are_warned_of():
    many = np.arange(100)
    with pytest.warns(WoodwindWarning, match="100 different classes in 100 rows. If it is a quantity, use a regressor"):
        GradientBoostingClassifier(n_estimators=1).fit(many.reshape(-1, 1), many)


def test_a_column_as_target_is_warned_of():
    with pytest.warns(match="column-vector y was passed"):
        GradientBoostingRegressor(n_estimators=3).fit(X, NUMBERS.reshape(-1, 1))


def test_what_is_fit_is_not_changed_by_a_failure():
    model = GradientBoostingRegressor(n_estimators=3).fit(X, NUMBERS)
    before = model.predict(X)
    with pytest.raises(DataError):
        model.fit(X[:5], NUMBERS)
    assert np.array_equal(model.predict(X), before)


def test_inputs_are_left_as_they_were():
    table, target, weight = FRAME.copy(), NUMBERS.copy(), np.ones(N)
    for values in (target, weight):
        values.flags.writeable = False
    GradientBoostingRegressor(n_estimators=3).fit(table, target, sample_weight=weight).predict(table)
    assert table.equals(FRAME)
    assert np.array_equal(target, NUMBERS)


def test_the_comparison_is_fair():
    """The same bad target, given to scikit-learn, is refused there too: the catalogue is not made of straw."""
    with pytest.raises(ValueError, match="Unknown label type"):
        HistGradientBoostingClassifier().fit(X, NUMBERS)
