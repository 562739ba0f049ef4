"""Gradient boosting for survival times: every form of a target, weights, stopping, files, functions, and what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import woodwind
from woodwind import DataError, GradientBoostingSurvivalAnalysis, ParameterError
from woodwind.base.errors import CensoringWarning, TargetError
from woodwind.distributions.survival_functions import ProportionalHazards
from woodwind.losses import AcceleratedFailureTime, CoxPartialLikelihood
from woodwind.metrics.survival import concordance_index, integrated_brier_score

SMALL = {"n_estimators": 12, "max_leaf_nodes": 6, "min_samples_leaf": 5, "random_state": 0, "n_jobs": 1}
FIXED = {**SMALL, "early_stopping": False, "subsample": 1.0, "max_features_tree": None}
KINDS = {
    "cox": {"loss": "cox"},
    "cox, breslow": {"loss": "cox", "ties": "breslow"},
    "aft, normal": {"loss": "aft"},
    "aft, logistic": {"loss": "aft", "distribution": "logistic", "scale": 0.8},
    "aft, extreme": {"loss": "aft", "distribution": "extreme"},
}
EVERY_KIND = pytest.mark.parametrize("kind", KINDS)
RECORD = [("event", bool), ("time", float)]


def surv(event, time):
    return np.array(list(zip(event, time, strict=True)), RECORD)


def patients(n=300, seed=0, whole=False):
    """Weibull times whose hazard rises with the first column, and falls with the second."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    time = rng.weibull(1.5, n) * np.exp(1.0 - 0.8 * X[:, 0] + 0.4 * X[:, 1]) * 5.0
    end = rng.exponential(20.0, n)
    seen = np.minimum(time, end)
    return X, surv(time <= end, np.ceil(seen) if whole else seen)


def model(kind, **more):
    return GradientBoostingSurvivalAnalysis(**{**FIXED, **KINDS[kind], **more})


@EVERY_KIND
def test_it_tells_who_has_the_event_sooner(kind):
    X, y = patients()
    new, times = patients(seed=1)
    found = model(kind, n_estimators=40).fit(X, y)
    assert found.score(new, times) > 0.68
    risk = found.predict(new) * (1.0 if kind.startswith("cox") else -1.0)
    assert found.score(new, times) == concordance_index(times, risk)


@EVERY_KIND
def test_survival_functions_fall_from_one_and_are_better_than_one_curve_for_all(kind):
    X, y = patients(600)
    new, times = patients(300, seed=1)
    found = model(kind, n_estimators=40).fit(X, y)
    survival, hazard = found.predict_survival_function(new), found.predict_cumulative_hazard_function(new)
    asked = np.linspace(0.0, 30.0, 31)
    values = survival(asked)
    assert values.shape == (300, 31)
    assert (values[:, 0] == 1.0).all()
    assert (np.diff(values, axis=1) <= 0.0).all()
    assert_allclose(np.exp(-hazard(asked)), values, rtol=1e-9, atol=1e-300)
    assert_array_equal(survival[3](asked), values[3])
    assert_array_equal(survival(5.0), values[:, 5])
    grid = np.quantile(y["time"], [0.1, 0.3, 0.5, 0.7])
    same = np.tile(survival(grid).mean(axis=0), (300, 1))
    assert integrated_brier_score(y, times, survival, grid) < integrated_brier_score(y, times, same, grid) - 0.01


@EVERY_KIND
def test_medians_are_where_survival_is_one_half(kind):
    X, y = patients()
    survival = model(kind).fit(X, y).predict_survival_function(X[:20])
    medians = survival.median()
    assert all(one(at) <= 0.5 + 1e-9 for one, at in zip(survival, medians, strict=True))
    before = np.nextafter(medians, 0.0) * (1.0 - 1e-9)
    assert all(one(at) >= 0.5 - 1e-6 for one, at in zip(survival, before, strict=True))
    assert_allclose(survival.quantile(0.0), 0.0 if kind.startswith("aft") else y["time"][y["event"]].min())


def test_the_largest_risk_makes_no_hazard_before_the_first_event():
    found = ProportionalHazards(np.array([1.0, 2.0]), np.array([0.0, 0.5]), np.array([1e6, 0.0, -1e6]))
    times = np.array([0.5, 1.0, 2.0])
    np.testing.assert_allclose(found.survival(times), [[1.0, 1.0, 0.0], [1.0, 1.0, np.exp(-0.5)], [1.0, 1.0, 1.0]])
    assert np.isfinite(found.cumulative_hazard(times)).all()


def test_the_scale_of_failure_times_is_found():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2))
    time = np.exp(X[:, 0] + 0.5 * rng.normal(size=2000))
    end = rng.exponential(5.0, 2000)
    y = surv(time <= end, np.minimum(time, end))
    found = GradientBoostingSurvivalAnalysis(loss="aft", n_estimators=100, random_state=0, early_stopping=True).fit(X, y)
    assert_allclose(found.loss_.scale, 0.5, rtol=0.15)
    assert_allclose(found.predict_survival_function(X)(2.0).mean(), stats.norm.sf((np.log(2.0) - X[:, 0]) / 0.5).mean(), atol=0.03)


def test_cox_reads_the_order_of_times_alone():
    X, y = patients()
    other = y.copy()
    other["time"] = np.log1p(y["time"])
    assert_array_equal(model("cox").fit(X, y).predict(X), model("cox").fit(X, other).predict(X))


def test_structured_arrays_and_bounds_are_the_same_target():
    X, y = patients()
    bounds = np.column_stack([y["time"], np.where(y["event"], y["time"], np.inf)])
    for kind in KINDS:
        assert_array_equal(model(kind).fit(X, y).predict(X), model(kind).fit(X, bounds).predict(X))


def test_times_within_bounds_tell_failure_times():
    X, y = patients(500)
    width = np.random.default_rng(5).uniform(0.5, 1.0, 500)
    low, high = y["time"] * width, y["time"] / width
    bounds = np.column_stack([np.where(y["event"], low, y["time"]), np.where(y["event"], high, np.inf)])
    bounds[:50, 0] = 0.0
    found = GradientBoostingSurvivalAnalysis(loss="aft", **FIXED).fit(X, bounds)
    assert found.score(*patients(seed=1)) > 0.68


@EVERY_KIND
def test_any_number_of_threads_gives_the_same_bits(kind):
    X, y = patients(3000)
    one, three = (model(kind, n_jobs=jobs, early_stopping="auto").fit(X, y) for jobs in (1, 3))
    assert_array_equal(one.predict(X), three.predict(X))
    assert_array_equal(one.predict_survival_function(X)([2.0, 8.0]), three.predict_survival_function(X)([2.0, 8.0]))


@pytest.mark.parametrize("kind", ["cox", "aft, normal"])
def test_a_model_of_blocks_is_the_model_of_memory(kind, tmp_path):
    pd = pytest.importorskip("pandas")
    X, y = patients()
    frame = pd.DataFrame(X, columns=list("abcd"))
    blocks = woodwind.BlockTable.write(tmp_path / "cache", frame.assign(time=y["time"]), target="time", block_bytes=500)
    found, known = model(kind, early_stopping=True).fit(blocks, y), model(kind, early_stopping=True).fit(frame, y)
    assert_array_equal(found.predict(frame), known.predict(frame))
    assert_array_equal(found.predict_survival_function(frame)(5.0), known.predict_survival_function(frame)(5.0))


@EVERY_KIND
def test_the_order_of_rows_changes_no_bit_of_a_prediction(kind):
    X, y = patients(whole=True)
    order = np.random.default_rng(3).permutation(len(y))
    assert_array_equal(model(kind).fit(X[order], y[order]).predict(X), model(kind).fit(X, y).predict(X))


@EVERY_KIND
def test_a_weight_of_two_is_a_row_given_twice(kind):
    X, y = patients(whole=True)
    weight = np.random.default_rng(1).integers(0, 3, len(y))
    again = np.repeat(np.arange(len(y)), weight)
    weighed, repeated = model(kind).fit(X, y, sample_weight=weight), model(kind).fit(X[again], y[again])
    assert_array_equal(weighed.predict(X), repeated.predict(X))
    assert_array_equal(weighed.predict_survival_function(X)([2.0, 8.0]), repeated.predict_survival_function(X)([2.0, 8.0]))


@pytest.mark.parametrize("kind", ["cox, breslow", "aft, normal", "aft, extreme"])
def test_weights_that_are_almost_whole_are_almost_repetitions(kind):
    """They go another way: sums by weight in the place of rows that are there twice."""
    X, y = patients()
    weight = np.random.default_rng(1).integers(1, 4, len(y))
    settings = {"min_samples_leaf": 1, "max_leaf_nodes": 4, "max_bins": None, "n_estimators": 5}
    whole, almost = (model(kind, **settings).fit(X, y, sample_weight=weight + more) for more in (0.0, 1e-9))
    assert_allclose(almost.predict(X), whole.predict(X), rtol=1e-5, atol=1e-5)
    assert_allclose(almost.predict_survival_function(X)(8.0), whole.predict_survival_function(X)(8.0), atol=1e-5)


@EVERY_KIND
@pytest.mark.parametrize("bins", [255, None])
def test_a_model_is_the_same_after_a_file(kind, bins, tmp_path):
    X, y = patients()
    found = model(kind, max_bins=bins).fit(X, y)
    found.save(tmp_path / "model.ww")
    loaded = woodwind.load(tmp_path / "model.ww")
    assert_array_equal(loaded.predict(X), found.predict(X))
    assert_array_equal(loaded.predict_survival_function(X)([1.0, 9.0]), found.predict_survival_function(X)([1.0, 9.0]))
    assert loaded.loss_ == found.loss_
    assert loaded.get_params() == found.get_params()
    row = loaded.predictor()(X[0])
    assert_allclose(row, found.predict(X[:1])[0])


@pytest.mark.parametrize("scoring", [None, "concordance_index", ["concordance_index", None], "c-index"])
@pytest.mark.parametrize("kind", ["cox", "aft, normal"])
def test_it_stops_by_the_validation_table(kind, scoring):
    X, y = patients()
    Xv, yv = patients(200, seed=1)
    settings = {"n_estimators": 300, "n_iter_no_change": 5, "refit": False, "early_stopping": "auto", "scoring": scoring}
    found = model(kind, **settings).fit(X, y, eval_set=(Xv, yv))
    assert found.n_iter_ == found.best_iteration_ < 300
    curves = found.evals_result_["validation_0"]
    if scoring is not None:
        assert_allclose(curves["concordance_index"][found.n_iter_ - 1], found.score(Xv, yv))
    if scoring is None and kind == "cox":
        bounds = np.column_stack([yv["time"], np.where(yv["event"], yv["time"], np.inf)])
        assert_allclose(curves["cox"][found.n_iter_ - 1], CoxPartialLikelihood().value(bounds, found.predict(Xv)))


@EVERY_KIND
@pytest.mark.parametrize("n", [300, 4000])
def test_rows_are_held_out_with_events_in_their_share(kind, n):
    X, y = patients(n)
    seen = {}

    class Recorder(GradientBoostingSurvivalAnalysis):
        def _split(self, given, eval_set, values, seed):
            seen["split"] = super()._split(given, eval_set, values, seed)
            return seen["split"]

    Recorder(**SMALL, **KINDS[kind], early_stopping=True).fit(X, y)
    held = seen["split"].held
    assert_allclose(y["event"][held].mean(), y["event"].mean(), atol=0.05)


def test_rows_held_out_are_not_at_risk_while_trees_are_grown():
    """Their times, moved about without a change of order against each other, change no tree that was grown without them."""
    X, y = patients()
    moved = y.copy()
    settings = {**SMALL, "early_stopping": True, "refit": False, "n_iter_no_change": 100}
    seen = {}

    class Recorder(GradientBoostingSurvivalAnalysis):
        def _split(self, given, eval_set, values, seed):
            seen["split"] = super()._split(given, eval_set, values, seed)
            return seen["split"]

    first = Recorder(**settings).fit(X, y)
    moved["time"][seen["split"].held] *= 100.0
    second = Recorder(**settings).fit(X, moved)
    rounds = min(first.n_iter_, second.n_iter_)
    assert rounds > 0
    assert_array_equal(first.predict(X, n_rounds=rounds), second.predict(X, n_rounds=rounds))


def test_few_events_are_not_held_out_unless_it_is_asked_for():
    X, y = patients(400)
    y["event"] = np.arange(400) < 10
    assert len(GradientBoostingSurvivalAnalysis(**SMALL).fit(X, y).validation_score_) == 0
    y["event"] = np.arange(400) < 1
    with pytest.raises(DataError, match="none of the rows held out has an event"):
        GradientBoostingSurvivalAnalysis(**SMALL, early_stopping=True).fit(X, y)


def test_searches_and_pipelines_take_structured_targets():
    X, y = patients()
    search = GridSearchCV(model("cox"), {"max_leaf_nodes": [2, 6]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.6
    assert (cross_val_score(make_pipeline(StandardScaler(), model("aft, normal")), X, y, cv=3) > 0.6).all()


def test_times_alone_are_told_to_be_events():
    X, y = patients()
    with pytest.warns(CensoringWarning, match="every row is taken to have its event"):
        found = model("cox").fit(X, y["time"])
    assert_array_equal(found.predict(X), model("cox").fit(X, surv(np.ones(300, bool), y["time"])).predict(X))


def test_categories_and_gaps_come_as_they_are():
    pd = pytest.importorskip("pandas")
    X, y = patients(600)
    frame = pd.DataFrame(
        {"kind": pd.Series(np.digitize(X[:, 0], [-1, 0, 1])).map("k{}".format), "b": np.where(X[:, 1] > 1, np.nan, X[:, 1])}
    )
    target = pd.DataFrame({"event": y["event"], "time": y["time"]})
    for encoding in ("sets", "out_of_fold", "ordered"):
        found = model("cox", categorical_encoding=encoding).fit(frame, target)
        assert found.score(frame, target) > 0.65


@pytest.mark.parametrize("kind", ["cox", "aft, extreme"])
def test_constraints_hold(kind):
    X, y = patients()
    found = model(kind, monotonic_cst=[-1, 0, 0, 0]).fit(X, y)
    grid = np.tile(X[:10], (20, 1))
    grid[:, 0] = np.repeat(np.linspace(-3, 3, 20), 10)
    steps = np.diff(found.predict(grid).reshape(20, 10), axis=0)
    assert (steps <= 1e-12).all()


@pytest.mark.parametrize(
    "options",
    [
        {"boosting": "dart", "early_stopping": False},
        {"sampling": "goss"},
        {"sampling": "mvs"},
        {"growth": "symmetric"},
        {"growth": "level", "max_bins": None},
        {"bootstrap": True, "subsample": 0.7},
        {"subsample": 0.5, "n_parallel_trees": 3},
        {"leaf_estimation": "gradient"},
        {"path_smooth": 2.0},
        {"max_delta_step": 0.5},
        {"linear_leaves": True},
        {"init": 0.5},
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", ["cox", "aft, normal"])
def test_options_of_boosting_work_for_survival_times(kind, options):
    X, y = patients()
    assert model(kind, **options).fit(X, y).score(X, y) > 0.7


def test_ordered_boosting_is_for_failure_times():
    X, y = patients(100)
    with pytest.raises(ParameterError, match="Cox's are of all rows together"):
        model("cox", boosting="ordered").fit(X, y)
    assert model("aft, normal", boosting="ordered").fit(X, y).score(X, y) > 0.6


@EVERY_KIND
def test_more_rounds_go_on_from_those_that_are_there(kind):
    X, y = patients()
    whole = model(kind).fit(X, y)
    part = model(kind, n_estimators=5, warm_start=True).fit(X, y)
    assert_array_equal(part.set_params(n_estimators=12).fit(X, y).predict(X), whole.predict(X))


@EVERY_KIND
def test_leaves_learned_again_from_the_same_rows_are_the_same(kind):
    X, y = patients()
    found = model(kind, scale=0.7).fit(X, y)
    again = found.refit_leaves(X, y)
    assert_allclose(again.predict(X), found.predict(X), rtol=1e-5, atol=1e-5)
    assert_allclose(again.predict_survival_function(X)(5.0), found.predict_survival_function(X)(5.0), atol=1e-5)
    other, times = patients(seed=4)
    assert not np.array_equal(found.refit_leaves(other, times).predict_survival_function(X)(5.0), found.predict_survival_function(X)(5.0))


def test_what_is_explained_is_the_score():
    X, y = patients()
    found = model("cox").fit(X, y)
    explanation = found.explain(X[:5])
    assert explanation.scale == "log hazard ratio"
    assert_allclose(explanation.values.sum(axis=1)[:, 0] + explanation.base[0], found.predict(X[:5]), atol=1e-9)
    assert found.feature_importances_.argmax() == 0
    failure = model("aft, normal").fit(X, y)
    parts = failure.explain(X[:5])
    assert_allclose(np.exp(parts.values.sum(axis=1)[:, 0] + parts.base[0]), failure.predict(X[:5]), rtol=1e-9)


def test_stages_end_with_the_model():
    X, y = patients()
    found = model("aft, extreme").fit(X, y)
    assert_array_equal(list(found.staged_predict(X))[-1], found.predict(X))


def test_the_tree_of_the_page_has_the_leaves_of_xgboost():
    """docs/algorithms/survival.md: events at 1, 2 and 4, one row censored at 3; XGBoost's leaves with lambda 1 and eta 1."""
    X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), surv([True, True, False, True], [1.0, 2.0, 3.0, 4.0])
    found = GradientBoostingSurvivalAnalysis(
        ties="breslow", n_estimators=1, learning_rate=1.0, l2_regularization=1.0, min_samples_leaf=1, early_stopping=False
    ).fit(X, y)
    assert_allclose(found.predict(X), [0.73043, 0.73043, -0.64122, -0.64122], atol=1e-5)


def test_names_of_other_libraries_are_understood():
    cox = GradientBoostingSurvivalAnalysis.like("xgboost", objective="survival:cox", eta=0.1, max_depth=3)
    assert (cox.loss, cox.ties, cox.learning_rate, cox.max_depth) == ("cox", "breslow", 0.1, 3)
    aft = GradientBoostingSurvivalAnalysis.like("xgboost", objective="survival:aft", aft_loss_distribution="extreme")
    assert (aft.loss, aft.distribution, aft.scale) == ("aft", "extreme", 1.0)
    theirs = GradientBoostingSurvivalAnalysis.like("catboost", loss_function="SurvivalAft:dist=Logistic;scale=2", iterations=7)
    assert (theirs.loss, theirs.distribution, theirs.scale, theirs.n_estimators) == ("aft", "logistic", 2.0, 7)
    with pytest.raises(ParameterError, match=r"aft_loss_distribution.*distribution"):
        GradientBoostingSurvivalAnalysis(aft_loss_distribution="normal")
    X, y = patients()
    assert isinstance(GradientBoostingSurvivalAnalysis(loss="coxph", **SMALL).fit(X, y).loss_, CoxPartialLikelihood)
    assert isinstance(GradientBoostingSurvivalAnalysis(loss="survival:aft", **SMALL).fit(X, y).loss_, AcceleratedFailureTime)


BAD_TARGETS = [
    ("cox", {"time": -1.0}, "time must not be negative, but there is -1 in row 0"),
    ("cox", {"time": np.nan}, r"time must not be missing \(NaN\)"),
    ("cox", {"event": False}, "no event in any row"),
    ("aft, normal", {"event": False}, "no event in any row"),
    ("aft, normal", {"time": 0.0}, "which takes logarithms.*first row 0"),
]


@pytest.mark.parametrize(("kind", "change", "words"), BAD_TARGETS)
def test_bad_targets_are_refused_in_one_line_before_any_work(kind, change, words):
    X, y = patients()
    name, value = next(iter(change.items()))
    if name == "time":
        y["time"][0], y["event"][0] = value, True
    else:
        y["event"] = value
    found = model(kind)
    found._encoded = None  # work begins with the codes of the table
    with pytest.raises(TargetError, match=words) as caught:
        found.fit(X, y)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("GradientBoostingSurvivalAnalysis")


def test_bounds_are_for_failure_times():
    X, _ = patients(4)
    with pytest.raises(TargetError, match="lower bound"):
        model("aft, normal").fit(X, [[1.0, 2.0], [3.0, 2.0], [1.0, 1.0], [2.0, np.inf]])
    with pytest.raises(TargetError, match="Use loss='aft'"):
        model("cox").fit(X, [[1.0, 2.0], [3.0, 4.0], [1.0, 1.0], [2.0, np.inf]])


def test_validation_tables_that_tell_nothing_are_refused():
    X, y = patients()
    with pytest.raises(TargetError, match="eval_set: The target has no event"):
        model("cox").fit(X, y, eval_set=(X, surv(np.zeros(300, bool), y["time"])))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"loss": "squared_error"}, "loss must be 'cox' or 'aft'"),
        ({"loss": "aft", "distribution": "poisson"}, "distribution must be one of 'normal'"),
        ({"ties": "exact"}, "ties"),
        ({"scale": -1.0}, "scale"),
        ({"scoring": "rmse"}, "scoring must be 'concordance_index'"),
        ({"scoring": []}, "at least one metric"),
        ({"init": StandardScaler()}, None),
    ],
    ids=str,
)
def test_parameters_that_mean_nothing_are_refused(given, words):
    X, y = patients()
    with pytest.raises(ParameterError, match=words):
        GradientBoostingSurvivalAnalysis(**{**SMALL, **given}).fit(X, y)


def test_another_model_is_no_start():
    X, y = patients()
    with pytest.raises(ParameterError, match="not on the scale of this loss"):
        model("aft, normal", init=model("cox").fit(X, y)).fit(X, y)
    assert model("cox", init=lambda table: table[:, 0]).fit(X, y).score(X, y) > 0.7
