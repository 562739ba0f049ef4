import pickle
import time
import warnings

import numpy as np
import pytest
from sklearn.metrics import get_scorer_names

from woodwind.base.errors import DataError, ParameterError, TargetError, UndefinedMeasureWarning, WeightError
from woodwind.metrics.named import METRICS, NONE_OF_OURS, SYNONYMS, TASKS, default_metric, metric_named, names_for

RNG = np.random.default_rng(0)
# Those of rankings are of queries, not of rows: tests/auto/test_ranking.py.
OF_ROWS = [name for name, metric in METRICS.items() if metric.needs != "rank"]


def example(metric, n=400, task=None, seed=3):
    """Truth and a fair prediction of it."""
    rng = np.random.default_rng(seed)
    task = task or metric.tasks[-1]
    if task == "regression":
        y = rng.gamma(2.0, size=n)
        return y, np.maximum(y + rng.normal(size=n), 0.01)
    n_classes = 2 if task == "binary" else 4
    y = rng.choice(n_classes, n, p=np.arange(1, n_classes + 1) / (n_classes * (n_classes + 1) / 2))
    raw = rng.gamma(1.0, size=(n, n_classes)) + 0.7 * (np.arange(n_classes) == y[:, None])
    p = raw / raw.sum(axis=1, keepdims=True)
    return y, p


@pytest.mark.parametrize("task", TASKS)
def test_a_task_has_a_default_which_is_its_first_metric(task):
    assert default_metric(task).name == {"regression": "rmse", "ranking": "ndcg@10"}.get(task, "log_loss") == names_for(task)[0]
    assert metric_named("auto", task) is default_metric(task)
    assert all(task in METRICS[name].tasks for name in names_for(task))


def test_names_of_scikit_learn_are_understood():
    there = set(get_scorer_names())
    for name in ("neg_log_loss", "roc_auc", "neg_root_mean_squared_error", "matthews_corrcoef", "r2", "f1_macro"):
        assert name in there
        assert metric_named(name).name in METRICS
    assert metric_named("ROC-AUC", "binary").name == "auc"
    assert set(SYNONYMS.values()) <= set(METRICS)
    assert not set(SYNONYMS) & set(METRICS)


@pytest.mark.parametrize(
    ("names", "ours"),
    [
        ("logloss Logloss mlogloss MultiClass binary_logloss multi_logloss CrossEntropy", "log_loss"),
        ("error merror binary_error multi_error ZeroOneLoss", "error_rate"),
        ("AUC roc_auc", "auc"),
        ("l1 MAE regression_l1 mean_absolute_error", "mae"),
        ("l2 mean_squared_error", "mse"),
        ("RMSE l2_root root_mean_squared_error", "rmse"),
        ("Accuracy acc", "accuracy"),
        ("BalancedAccuracy", "balanced_accuracy"),
    ],
)
def test_names_of_other_libraries_are_understood_where_they_mean_the_same(names, ours):
    assert {metric_named(name).name for name in names.split()} == {ours}


@pytest.mark.parametrize("name", NONE_OF_OURS)
def test_a_metric_that_is_none_of_ours_is_answered_by_what_comes_nearest(name):
    with pytest.raises(ParameterError, match=r"The nearest is '\w+'") as caught:
        metric_named(name)
    assert str(caught.value).split("The nearest is '")[1].split("'")[0] in METRICS


def test_an_unknown_name_gets_the_nearest():
    with pytest.raises(ParameterError, match=r"'log_los'.*Did you mean 'log_loss'"):
        metric_named("log_los")
    with pytest.raises(ParameterError, match=r"'rmse' is for numbers, and the task is 'binary'.*log_loss, "):
        metric_named("rmse", "binary")
    with pytest.raises(ParameterError, match="A task is one of"):
        default_metric("sorting")


@pytest.mark.parametrize("name", OF_ROWS)
def test_a_loss_falls_as_predictions_get_better(name):
    metric = METRICS[name]
    y, predicted = example(metric)
    if metric.needs == "number":
        better = y + 0.3 * (predicted - y)
        better = better + 1e-3 * np.arange(len(y)) % 7
    else:
        better = 0.3 * predicted + 0.7 * (np.arange(predicted.shape[1]) == y[:, None])
    assert metric.loss(y, better) < metric.loss(y, predicted)
    assert metric.loss(y, predicted) == metric.loss_of(metric.value(y, predicted))
    assert (metric.value(y, better) > metric.value(y, predicted)) == metric.larger_is_better


@pytest.mark.parametrize("name", OF_ROWS)
def test_a_weight_is_so_many_copies(name):
    metric = METRICS[name]
    y, predicted = example(metric)
    counts = RNG.integers(0, 4, len(y))
    copies = np.repeat(np.arange(len(y)), counts)
    assert metric.value(y, predicted, counts) == pytest.approx(metric.value(y[copies], predicted[copies]), rel=1e-12, abs=1e-12)
    assert metric.standard_error(y, predicted, np.full(len(y), 3.0)) == pytest.approx(metric.standard_error(y, predicted), rel=1e-9)
    zero = np.where(np.arange(len(y)) < 300, 1.0, 0.0)
    assert metric.standard_error(y, predicted, zero) == pytest.approx(metric.standard_error(y[:300], predicted[:300]), rel=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("name", "task"), [(name, task) for name in OF_ROWS for task in METRICS[name].tasks])
def test_standard_errors_are_those_of_the_bootstrap(name, task, weighted):
    metric = METRICS[name]
    y, predicted = example(metric, 600, task)
    rng = np.random.default_rng(9)
    weight = rng.gamma(2.0, size=len(y)) if weighted else None
    drawn = [rng.integers(0, len(y), len(y)) for _ in range(300)]
    spread = np.std([metric.value(y[rows], predicted[rows], None if weight is None else weight[rows]) for rows in drawn])
    # 300 draws know a spread to 4 %; the median of a bootstrap is rough.
    assert metric.standard_error(y, predicted, weight) == pytest.approx(spread, rel=0.3 if name == "median_absolute_error" else 0.17)


def test_delong_by_hand():
    y, score = np.array([0, 0, 1, 1, 1]), np.array([0.1, 0.4, 0.35, 0.8, 0.4])
    # Placements of the class: 1/2, 1, 3/4; of the others: 1, 1/2 (one ahead, one level, one behind).
    assert METRICS["auc"].value(y, score) == pytest.approx(0.75)
    wanted = np.sqrt(np.var([0.5, 1, 0.75], ddof=1) / 3 + np.var([1, 0.5], ddof=1) / 2)
    assert METRICS["auc"].standard_error(y, score) == pytest.approx(wanted)


def test_a_column_is_the_second_class_and_probabilities_are_labels_too():
    y, p = example(METRICS["auc"], task="binary")
    for name in ("log_loss", "brier", "auc", "average_precision", "f1"):
        assert METRICS[name].value(y, p[:, 1:]) == pytest.approx(METRICS[name].value(y, p), rel=1e-12)
    assert METRICS["accuracy"].value(y, p) == METRICS["accuracy"].value(y, p.argmax(axis=1)) == np.mean(y == p.argmax(axis=1))


def test_rows_of_one_class_have_no_order():
    with pytest.warns(UndefinedMeasureWarning, match="all rows are of one class"):
        assert np.isnan(METRICS["auc"].value(np.zeros(4, int), np.full((4, 2), 0.5)))
    with pytest.warns(UndefinedMeasureWarning, match="no row is of the positive class"):
        assert np.isnan(METRICS["average_precision"].value(np.zeros(4, int), np.full((4, 2), 0.5)))
    # A class without rows does not count.
    assert METRICS["auc"].value(np.array([0, 2, 0, 2]), np.eye(3)[[0, 2, 0, 2]]) == 1.0
    assert METRICS["average_precision"].value(np.array([0, 2, 0, 2]), np.eye(3)[[0, 2, 0, 2]]) == 1.0
    for name in ("f1", "mcc", "cohen_kappa"):
        assert METRICS[name].value(np.zeros(4, int), np.zeros(4, int)) == 0.0
        assert METRICS[name].standard_error(np.zeros(4, int), np.zeros(4, int)) == 0.0


def test_what_is_wrong_is_said():
    log_loss, rmse = METRICS["log_loss"], METRICS["rmse"]
    with pytest.raises(DataError, match="one prediction for each"):
        rmse.value([1.0, 2.0], [1.0])
    with pytest.raises(DataError, match="row 1"):
        rmse.value([1.0, 2.0], [1.0, np.nan])
    with pytest.raises(DataError, match="3 at least"):
        log_loss.value([0, 2], [[0.5, 0.5], [0.5, 0.5]])
    with pytest.raises(TargetError, match="class numbers"):
        log_loss.value([0.5, 1.0], [0.5, 0.5])
    with pytest.raises(WeightError, match="2 finite numbers"):
        rmse.value([1.0, 2.0], [1.0, 2.0], [1.0, -1.0])
    with pytest.raises(TargetError, match="negative"):
        METRICS["rmsle"].value([-1.0, 2.0], [1.0, 2.0])
    with pytest.raises(DataError, match="class numbers or probabilities"):
        METRICS["accuracy"].value([0, 1], [0.4, 0.6])
    assert METRICS["rmsle"].value([0.0, 1.0], [-5.0, 1.0]) == 0.0
    assert np.isnan(rmse.standard_error([1.0], [1.0]))


def test_a_metric_that_cannot_be_had_for_a_target_says_so_before_anything_is_predicted():
    y = np.array([1.0, 2.0, -3.0, 0.0])
    with pytest.raises(TargetError, match=r"'rmsle' cannot .* negative in 1 of 4 rows \(down to -3\).* 'rmse'"):
        METRICS["rmsle"].check(y)
    with pytest.raises(TargetError, match=r"'mape' cannot .* zero in 1 of 4 rows.* 'rmse'"):
        METRICS["mape"].check(y)
    with pytest.raises(TargetError, match="'log_loss' is for classes, and the target is float64"):
        METRICS["log_loss"].check(y)
    with pytest.raises(TargetError, match="'rmse' is for numbers"):
        METRICS["rmse"].check(np.array(["a", "b"]))
    for metric in METRICS.values():
        assert metric.check(np.array([1, 2, 1])) is metric


@pytest.mark.parametrize("name", OF_ROWS)
def test_a_standard_error_is_never_what_rounding_has_left(name):
    """Of predictions that are all the same, all right, or all off by the same."""
    metric = METRICS[name]
    rng = np.random.default_rng(4)
    for n in range(3, 60):
        weight = rng.integers(1, 4, n) / 3.0
        if metric.needs == "number":
            y = rng.gamma(2.0, size=n) * 1e-3
            predictions = [y, y + 0.1, np.full(n, 0.7)]
        else:
            y = np.append([0, 1], rng.integers(0, 2, n - 2))
            predictions = [np.tile([0.3, 0.7], (n, 1)), np.eye(2)[y] * 0.8 + 0.1, np.full((n, 2), 0.5)]
        for prediction in predictions:
            for heavy in (None, weight):
                spread = metric.standard_error(y, prediction, heavy)
                assert np.isnan(spread) or spread == 0.0 or spread > 1e-10


def test_a_metric_that_rows_say_nothing_about_gives_its_reason():
    one, two = np.zeros(5, int), np.array([0, 1, 0])
    for name in ("auc", "mcc", "cohen_kappa"):
        assert METRICS[name].undefined(one) == "all rows are of one class"
        assert METRICS[name].undefined(two) == ""
    for name in ("f1", "average_precision"):
        assert METRICS[name].undefined(one) == "no row is of the positive class"
        assert METRICS[name].undefined(one, 3) == ""
    for name in ("r2", "spearman"):
        assert METRICS[name].undefined([2.5]) == "the target is the same in every row"
    assert METRICS["mape"].undefined([1e-3, 5.0, 9.0]) == ""
    assert METRICS["mape"].undefined([1e-7, 5.0, 9.0]).startswith("the target is next to zero in 1 of 3 rows")


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_is_data(name):
    assert pickle.loads(pickle.dumps(METRICS[name])) == METRICS[name]
    assert METRICS[name].words
    assert "\n" not in METRICS[name].words


def test_a_million_rows_take_less_than_a_few_seconds():
    for name in ("log_loss", "auc", "average_precision", "mcc", "median_absolute_error", "spearman"):
        metric = METRICS[name]
        y, predicted = example(metric, 1_000_000, metric.tasks[0])
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert 0.0 < metric.standard_error(y, predicted) < 0.01
            metric.value(y, predicted)
        assert time.process_time() - began < 5.0, name
