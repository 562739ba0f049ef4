"""Every estimator of trees explains itself: values add up, dates are one column, and the words are right."""

import numpy as np
import pandas as pd
import pytest

import woodwind as w
from reference.naive_shap import explained
from woodwind.base.errors import ParameterError, UnseenCategoryWarning
from woodwind.data.tables.cells import Cells
from woodwind.tree.shap_result import aligned

CLASSIFIERS = {
    "boosting": lambda: w.GradientBoostingClassifier(n_estimators=8, random_state=0),
    "boosting, exponential": lambda: w.GradientBoostingClassifier(n_estimators=8, loss="exponential", random_state=0),
    "forest": lambda: w.RandomForestClassifier(n_estimators=8, random_state=0),
    "forest, votes": lambda: w.RandomForestClassifier(n_estimators=8, voting="hard", random_state=0),
    "extra-trees": lambda: w.ExtraTreesClassifier(n_estimators=8, random_state=0),
    "structure": lambda: w.RandomStructureForestClassifier(n_estimators=8, random_state=0),
    "tree": lambda: w.DecisionTreeClassifier(max_depth=4),
    "adaboost": lambda: w.AdaBoostClassifier(n_estimators=8, max_depth=2),
    "additive": lambda: w.AdditiveClassifier(n_estimators=8),
}
REGRESSORS = {
    "boosting": lambda: w.GradientBoostingRegressor(n_estimators=8, random_state=0),
    "boosting, poisson": lambda: w.GradientBoostingRegressor(n_estimators=8, loss="poisson", random_state=0),
    "forest": lambda: w.RandomForestRegressor(n_estimators=8, random_state=0),
    "extra-trees": lambda: w.ExtraTreesRegressor(n_estimators=8, random_state=0),
    "structure": lambda: w.RandomStructureForestRegressor(n_estimators=8, random_state=0),
    "tree": lambda: w.DecisionTreeRegressor(max_depth=4),
    "additive": lambda: w.AdditiveRegressor(n_estimators=8),
}


def table(n=300, seed=0):
    """Two numbers with gaps, a date, levels, and a number that tells nothing."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame({
        "size": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
        "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D"),
        "town": rng.choice(["Ulm", "Bonn", "Jena"], n),
        "noise": rng.normal(size=n),
        "constant": 1.0,
    })  # fmt: skip


def target(X, seed=1):
    rng = np.random.default_rng(seed)
    return np.nan_to_num(X["size"]) + X["day"].dt.month / 4 + (X["town"] == "Ulm") + 0.1 * rng.normal(size=len(X))


def new_rows():
    X = table(40, 5)
    X.loc[3, "town"] = "Rome"
    X.loc[4, "town"] = None
    X.loc[5, "day"] = pd.NaT
    return X


def decision(model, X):
    """What the model itself says on the explained scale, (n, width)."""
    for name in ("decision_function", "predict_proba"):
        if hasattr(model, name) and not (name == "decision_function" and isinstance(model, w.RandomForestClassifier)):
            scores = getattr(model, name)(X)
            return scores.reshape(len(X), -1)
    raw = model.predict(X)
    poisson = getattr(model, "loss", None) == "poisson"
    return (np.log(raw) if poisson else raw).reshape(len(X), 1)


@pytest.mark.filterwarnings("ignore::woodwind.base.errors.UnseenCategoryWarning")
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers_add_up(name, n_classes):
    if n_classes > 2 and name == "boosting, exponential":
        pytest.skip("this loss is for two classes")
    X = table()
    y = np.array(["a", "b", "c"])[np.digitize(target(X), np.quantile(target(X), np.arange(1, n_classes) / n_classes))]
    model = CLASSIFIERS[name]().fit(X, y)
    told = model.explain(new_rows())
    assert told.values.shape[:2] == (40, 5)
    assert told.names == ("size", "day", "town", "noise", "constant")
    np.testing.assert_allclose(told.base + told.values.sum(axis=1), told.scores, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(told.scores, decision(model, new_rows()), rtol=0.0, atol=1e-9)
    assert name == "structure" or not told.values[:, 4].any()  # its leaves without rows count by rows of others
    assert told.exact
    assert told.outputs == (("b",) if told.scores.shape[1] == 1 else ("a", "b", "c")[:n_classes])


@pytest.mark.filterwarnings("ignore::woodwind.base.errors.UnseenCategoryWarning")
@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors_add_up(name):
    X = table()
    y = target(X)
    model = REGRESSORS[name]().fit(X, y - y.min())
    told = model.explain(new_rows())
    np.testing.assert_allclose(told.base + told.values.sum(axis=1), told.scores, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(told.scores, decision(model, new_rows()), rtol=0.0, atol=1e-9)
    assert name == "structure" or not told.values[:, 4].any()  # its leaves without rows count by rows of others
    assert told.outputs == ("",)
    assert told.scale == ("logarithm of the prediction" if "poisson" in name else "prediction")


def test_parts_of_a_date_are_one_column():
    X = table()
    model = w.DecisionTreeRegressor(max_depth=3).fit(X[["day", "size"]], target(X))
    assert len(model.schema_.feature_names) > 2
    told = model.explain(X[["day", "size"]][:5])
    read = model._read(X[["day", "size"]][:5])
    rows = np.column_stack([np.asarray(column.block(0, 5), np.float64) for column in read.columns])
    by_feature = explained(model.forest_, rows)
    np.testing.assert_allclose(told.values[:, 0], by_feature[:, :-1].sum(axis=1), rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(told.values[:, 1], by_feature[:, -1], rtol=0.0, atol=1e-9)


def test_threads_make_no_difference():
    X = table(3000)
    for kind in (w.GradientBoostingRegressor, w.RandomForestRegressor):
        one, two = (kind(n_estimators=30, random_state=0, n_jobs=jobs).fit(X, target(X)).explain(X).values for jobs in (1, 2))
        np.testing.assert_array_equal(one, two)


def test_the_words_of_a_row():
    X = table()
    model = w.GradientBoostingClassifier(n_estimators=20, random_state=0).fit(X, np.where(target(X) > 2, "yes", "no"))
    told = model.explain(X[:3])
    lines = told.to_text(1).splitlines()
    score, base = told.scores[1, 0], told.base[0]
    chances = [f"{1 / (1 + np.exp(-one)):.3g}" for one in (score, base)]
    assert lines[0] == (
        f"log-odds of yes: {score:.4g} (a probability of {chances[0]}), on average {base:.4g} (a probability of {chances[1]})"
    )
    brought = told.contributions(1)
    assert [abs(one.value) for one in brought] == sorted((abs(one.value) for one in brought), reverse=True)
    assert lines[1].split() == [f"{brought[0].value:+.2f}", brought[0].name, "=", brought[0].cell]
    assert aligned([120.0, -3.25, 0.001]) == ["+120", "  -3", "  +0"]
    assert aligned([-0.0123, 0.5]) == ["-0.012", "+0.500"]
    assert aligned([]) == []
    cells = {one.name: one.cell for one in brought}
    assert (cells["town"], cells["day"]) == (X["town"][1], str(X["day"][1].date()))
    assert "constant" not in told.to_text(1)
    short = told.to_text(1, most=1).splitlines()
    assert short[2].endswith("other columns")
    np.testing.assert_allclose(told.importance(), np.abs(told.values).mean(axis=0))


def test_several_scores_have_a_highest_one():
    X = table()
    y = np.digitize(target(X), [1.0, 2.0])
    told = w.RandomForestClassifier(n_estimators=5, random_state=0).fit(X, y).explain(X[:4])
    top = told.highest(0)
    assert told.to_text(0) == told.to_text(0, output=top)
    assert told.to_text(0).startswith(f"probability of {top}: ")
    assert told.to_text(0, output=(top + 1) % 3) != told.to_text(0)


def test_cells_say_what_a_table_holds():
    X = table()
    model = w.DecisionTreeRegressor(max_depth=3).fit(X, target(X))
    new = new_rows()
    new["day"] = new["day"] + pd.to_timedelta(90, unit="s")
    with pytest.warns(UnseenCategoryWarning):
        cells = Cells(model.schema_, model._read(new))
    assert cells.row(3)[2] == "a category never seen"
    assert cells.row(4)[2] == "missing"
    assert cells.row(5)[1] == "missing"
    assert cells.row(6)[1] == str(new["day"][6])
    assert cells.row(6)[4] == "1"
    gap = int(np.flatnonzero(new["size"].isna())[0])
    assert cells.row(gap)[0] == "missing"
    assert cells.numbers(2) is None
    np.testing.assert_array_equal(cells.numbers(0), new["size"])


def test_what_is_no_sum_of_trees_says_so():
    X, y = np.arange(60.0).reshape(30, 2), np.arange(30) % 3
    with pytest.raises(ParameterError, match="weighted median"):
        w.AdaBoostRegressor(n_estimators=3).fit(X, y).explain(X)
    with pytest.raises(ParameterError, match="multiclass"):
        w.AdaBoostClassifier(n_estimators=3, max_depth=4, multiclass="output_code", random_state=0).fit(X, y).explain(X)
    start = w.DecisionTreeRegressor(max_depth=1).fit(X, y)
    with pytest.raises(ParameterError, match="init"):
        w.GradientBoostingRegressor(n_estimators=3, init=start).fit(X, y).explain(X)


def test_a_row_or_a_score_that_is_not_there_is_refused():
    X = np.arange(20.0).reshape(10, 2)
    told = w.DecisionTreeRegressor().fit(X, X[:, 0]).explain(X[:3])
    assert len(told) == 3
    with pytest.raises(ParameterError, match="row must be"):
        told.to_text(3)
    with pytest.raises(ParameterError, match="output must be"):
        told.to_text(0, output=1)
