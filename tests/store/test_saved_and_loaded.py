"""Whatever can be saved can be loaded: what the reader would refuse, the writer refuses first, in clear words, and writes nothing."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import ElasticNet, Lasso, LinearRegression, LogisticRegression, Ridge, RidgeClassifier, RidgeCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import woodwind
from woodwind import store
from woodwind.base.errors import NotStorableError
from woodwind.store.codec import DEEPEST, MOST_DIGITS, MOST_NESTED

RNG = np.random.default_rng(0)
X = RNG.random((40, 3))
NUMBERS = X[:, 0] + 0.1 * RNG.random(40)
TWO, THREE = np.where(NUMBERS > 0.5, "b", "a"), np.digitize(NUMBERS, [0.4, 0.7])


def saved_and_loaded(path, value):
    """What comes back; None where it cannot be saved, which is then said in one line, and nothing is there."""
    path.unlink(missing_ok=True)
    predicted = ""
    try:
        store.save(path, value)
    except NotStorableError as error:
        predicted = str(error)
    assert path.exists() == (not predicted)
    assert "\n" not in predicted
    return store.load(path) if path.exists() else None


# Estimators in estimators.


def nested_votes(depth, members=2):
    model = DecisionTreeRegressor(max_depth=2, random_state=0)
    for _ in range(depth):
        model = woodwind.VotingRegressor([(f"member{place}", model) for place in range(members)], n_jobs=1)
    return model


def test_votes_that_are_nested_eight_deep_come_back(tmp_path):
    inner = nested_votes(8, members=1)
    model = woodwind.VotingRegressor([("deep", inner), ("tree", DecisionTreeRegressor(max_depth=2))], n_jobs=1).fit(X, NUMBERS)
    model.save(tmp_path / "one.ww")
    assert np.array_equal(woodwind.load(tmp_path / "one.ww").predict(X), model.predict(X))
    wide = nested_votes(5).fit(X, NUMBERS)
    wide.save(tmp_path / "two.ww")
    assert np.array_equal(woodwind.load(tmp_path / "two.ww").predict(X), wide.predict(X))


def test_fitted_members_that_are_nested_eight_deep_come_back(tmp_path):
    """Each is there twice, as it was given and as it is asked."""
    model = DecisionTreeRegressor(max_depth=2, random_state=0).fit(X, NUMBERS)
    for _ in range(8):
        model = woodwind.VotingRegressor([("a", model)], prefit=True, n_jobs=1).fit(X, NUMBERS)
    model.save(tmp_path / "one.ww")
    assert np.array_equal(woodwind.load(tmp_path / "one.ww").predict(X), model.predict(X))


@pytest.mark.parametrize("depth", [MOST_NESTED, 300])
def test_models_that_are_nested_too_deep_are_refused_when_they_are_saved(depth, tmp_path):
    model = nested_votes(depth, members=1)
    with pytest.raises(NotStorableError, match=f"nested more than {MOST_NESTED} deep"):
        model.save(tmp_path / "one.ww")
    assert list(tmp_path.iterdir()) == []


def wrapped(inner):
    """An estimator, not fitted, that has others as its parameters."""
    pairs = st.lists(inner, min_size=1, max_size=3).map(lambda found: [(f"m{place}", one) for place, one in enumerate(found)])
    return st.one_of(
        pairs.map(woodwind.VotingRegressor),
        pairs.map(lambda found: woodwind.StackingRegressor(found, cv=2)),
        pairs.map(lambda found: woodwind.DynamicSelectionRegressor(dict(found))),
        inner.map(lambda one: woodwind.BaggingRegressor(one, n_estimators=2)),
        inner.map(lambda one: make_pipeline(StandardScaler(), one)),
        inner.map(lambda one: woodwind.GradientBoostingRegressor(init=one)),
        st.tuples(inner, st.integers(1, 90)).map(lambda both: _deeper(*both)),
    )


def _deeper(model, times):
    for _ in range(times):
        model = woodwind.VotingRegressor([("a", model), ("b", model)])
    return model


LEAVES = st.sampled_from([LinearRegression(), Ridge(2.0), DecisionTreeRegressor(), woodwind.DecisionTreeRegressor(), None, "drop"])


@settings(max_examples=40)
@given(model=wrapped(st.recursive(LEAVES, wrapped, max_leaves=6)))
def test_whatever_is_in_each_other_comes_back_or_is_refused(tmp_path_factory, model):
    path = tmp_path_factory.getbasetemp() / "nested.ww"
    back = saved_and_loaded(path, model)
    if back is not None:
        store.save(path.with_suffix(".again"), back)
        assert path.read_bytes() == path.with_suffix(".again").read_bytes()


# Plain values.


def _objects(value):
    out = np.empty(2, object)
    out[0] = value
    return out


WRAPPERS = {
    "list": lambda value: [value],
    "tuple": lambda value: (1, value),
    "dict": lambda value: {"a": value},
    "pairs": lambda value: {1: value},
    "objects": _objects,
}


@settings(max_examples=150)
@given(path=st.lists(st.sampled_from(sorted(WRAPPERS)), max_size=DEEPEST + 5), leaf=st.sampled_from([0, "a", None, 2**60, b"x"]))
def test_values_at_any_depth_come_back_or_are_refused(tmp_path_factory, path, leaf):
    value = leaf
    for name in path:
        value = WRAPPERS[name](value)
    back = saved_and_loaded(tmp_path_factory.getbasetemp() / "deep.ww", value)
    if len(path) <= DEEPEST // 3 - 1:
        assert back is not None or leaf is None
    if back is not None:
        assert repr(back) == repr(value)


@pytest.mark.parametrize(
    "value",
    [
        16**MOST_DIGITS - 1, -(16**MOST_DIGITS) + 1, 16**MOST_DIGITS, np.zeros((2**29, 0)), np.zeros((0, 2**40), np.int8),
        np.zeros(3, "U0"), np.zeros((2, 0), "S0"), np.array([], "M8[D]"), np.asfortranarray(np.zeros((0, 3))), {float("nan"), 1.0},
        {(1, 2): {3: {4}}}, np.zeros((1,) * 8), [[]] * 1000, "x" * 100_000, {"a" * 5000: 1},
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_values_at_the_ends_come_back_or_are_refused(value, tmp_path):
    saved_and_loaded(tmp_path / "one.ww", value)


def test_a_number_that_can_be_saved_can_be_shown(tmp_path):
    store.save(tmp_path / "one.ww", 16**MOST_DIGITS - 1)
    assert str(store.load(tmp_path / "one.ww"))


# Models of scikit-learn in all the forms that their training gives.

CLASSIFIERS = [
    LogisticRegression(), LogisticRegression(fit_intercept=False), RidgeClassifier(), RidgeClassifier(fit_intercept=False), GaussianNB(),
    DummyClassifier(),
    DummyClassifier(strategy="most_frequent"), DummyClassifier(strategy="stratified", random_state=0),
    DummyClassifier(strategy="uniform", random_state=0), KNeighborsClassifier(),
    KNeighborsClassifier(algorithm="ball_tree", weights="distance"), MLPClassifier((2,), max_iter=5),
    MLPClassifier((), max_iter=5, early_stopping=True), MLPClassifier((2,), max_iter=5, solver="lbfgs"), DecisionTreeClassifier(),
    DecisionTreeClassifier(criterion="entropy", max_depth=2), make_pipeline(StandardScaler(with_mean=False), LogisticRegression()),
    make_pipeline(RobustScaler(with_centering=False), MinMaxScaler(), "passthrough", GaussianNB()),
]  # fmt: skip
OF_TWO = [
    LogisticRegression(solver="liblinear"), GaussianNB(priors=[0.5, 0.5]), DummyClassifier(strategy="constant", constant="a"),
]  # fmt: skip
REGRESSORS = [
    LinearRegression(), LinearRegression(fit_intercept=False), LinearRegression(positive=True), Ridge(), Ridge(solver="sag"), RidgeCV(),
    RidgeCV(store_cv_results=True), Lasso(), ElasticNet(fit_intercept=False), DummyRegressor(),
    DummyRegressor(strategy="constant", constant=3), DummyRegressor(strategy="quantile", quantile=0.3), KNeighborsRegressor(),
    KNeighborsRegressor(algorithm="kd_tree", p=1), KNeighborsRegressor(metric="minkowski", p=1.5, metric_params={"w": np.ones(3)}),
    KNeighborsRegressor(algorithm="brute", metric="seuclidean", metric_params={"V": np.ones(3)}), KNeighborsRegressor(metric="cosine"),
    KNeighborsRegressor(metric="nan_euclidean"), MLPRegressor(hidden_layer_sizes=(2,), max_iter=5),
    MLPRegressor(hidden_layer_sizes=(2,), max_iter=5, solver="sgd"), DecisionTreeRegressor(),
    DecisionTreeRegressor(criterion="absolute_error", max_leaf_nodes=5),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("model", "labels"),
    [(model, TWO) for model in CLASSIFIERS + OF_TWO] + [(model, THREE) for model in CLASSIFIERS],
    ids=lambda given: type(given).__name__,
)
def test_classifiers_of_scikit_learn_come_back(model, labels, tmp_path):
    fitted = clone(model).fit(X, labels)
    store.save(tmp_path / "one.ww", fitted)
    back = store.load(tmp_path / "one.ww")
    assert np.array_equal(back.predict(X), fitted.predict(X))
    if hasattr(fitted, "predict_proba"):
        assert np.array_equal(back.predict_proba(X), fitted.predict_proba(X))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", REGRESSORS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("columns", [0, 1], ids=["flat", "column"])
def test_regressors_of_scikit_learn_come_back(model, columns, tmp_path):
    target = NUMBERS[:, None] if columns else NUMBERS
    given = np.where(X < 0.05, np.nan, X) if getattr(model, "metric", "") == "nan_euclidean" else X
    fitted = clone(model).fit(given, target)
    store.save(tmp_path / "one.ww", fitted)
    assert np.array_equal(store.load(tmp_path / "one.ww").predict(X), fitted.predict(X))


@pytest.mark.filterwarnings("ignore")
def test_a_net_of_counts_and_distances_that_were_measured_before_come_back(tmp_path):
    apart = np.abs(X[:, :1] - X[:, :1].T)
    near = KNeighborsRegressor(metric="precomputed").fit(apart, NUMBERS)
    store.save(tmp_path / "one.ww", near)
    assert np.array_equal(store.load(tmp_path / "one.ww").predict(apart), near.predict(apart))
    if "loss" not in MLPRegressor().get_params():
        pytest.skip("this scikit-learn has no nets of counts")
    net = MLPRegressor(loss="poisson", hidden_layer_sizes=(2,), max_iter=5).fit(X, NUMBERS)
    store.save(tmp_path / "two.ww", net)
    assert np.array_equal(store.load(tmp_path / "two.ww").predict(X), net.predict(X))
