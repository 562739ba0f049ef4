"""AdaBoost for classes: as scikit-learn has it, as the papers have it, and as the house has it."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_hastie_10_2
from sklearn.ensemble import AdaBoostClassifier as Theirs
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.multiclass import OutputCodeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier as TheirTree

import woodwind.estimators.adaptive.adaboost as module
from woodwind import AdaBoostClassifier, DataError, DecisionTreeClassifier, ParameterError, WoodwindWarning

ALGORITHMS = ("discrete", "samme", "samme.r", "m2", "mh")


def blobs(seed=0, n=300, n_classes=3, columns=4, decimals=None, apart=1.0):
    rng = np.random.default_rng(seed)
    centres = apart * rng.normal(size=(n_classes, columns))
    y = rng.integers(0, n_classes, n)
    X = centres[y] + rng.normal(size=(n, columns))
    return (X if decimals is None else X.round(decimals)), y


# As scikit-learn has it.


@pytest.mark.parametrize("rate", [1.0, 0.5])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("depth", [1, 2])
def test_samme_with_the_same_trees_is_that_of_scikit_learn(n_classes, depth, rate):
    # Where two splits tie, scikit-learn draws one: classes that overlap leave no node pure.
    X, y = blobs(n=600, n_classes=n_classes, apart=0.5)
    tree = TheirTree(max_depth=depth)
    theirs = Theirs(tree, n_estimators=25, learning_rate=rate, random_state=0).fit(X, y)
    ours = AdaBoostClassifier(estimator=tree, n_estimators=25, learning_rate=rate, random_state=0).fit(X, y)
    n = len(ours.estimator_weights_)
    assert n == len(theirs.estimators_) == len(ours.estimators_)
    assert_allclose(ours.estimator_weights_, theirs.estimator_weights_[:n], rtol=1e-12)
    assert_allclose(ours.estimator_errors_, theirs.estimator_errors_[:n], rtol=1e-12)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-13)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-13)
    assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-12)
    for mine, other in zip(ours.staged_predict(X), theirs.staged_predict(X), strict=True):
        assert_array_equal(mine, other)


@pytest.mark.parametrize(("max_bins", "depth", "rows"), [(255, 1, 250), (None, 1, 700), (None, 2, 700)])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_trees_of_the_engine_are_those_of_scikit_learn_where_every_value_has_a_code(n_classes, max_bins, depth, rows):
    X, y = blobs(seed=3, n=rows, n_classes=n_classes, apart=0.5)
    theirs = Theirs(TheirTree(max_depth=depth), n_estimators=30, random_state=0).fit(X, y)
    ours = AdaBoostClassifier(n_estimators=30, max_bins=max_bins, max_depth=depth).fit(X, y)
    n = len(ours.estimator_weights_)
    assert_allclose(ours.estimator_weights_, theirs.estimator_weights_[:n], rtol=1e-9)
    assert_allclose(ours.estimator_errors_, theirs.estimator_errors_[:n], rtol=1e-9)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-9)
    if depth == 1:  # deeper, two features may part few rows alike: rounding, which differs between processors, decides which one is taken
        other, _ = blobs(seed=4, n=500, n_classes=n_classes)
        assert_allclose(ours.decision_function(other), theirs.decision_function(other), atol=1e-9)
        assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-9)


def test_output_codes_with_the_words_of_scikit_learn_are_its_output_codes(monkeypatch):
    X, y = blobs(n_classes=4, n=250)
    base = Theirs(TheirTree(max_depth=1), n_estimators=10, random_state=0)
    theirs = OutputCodeClassifier(base, code_size=2.0, random_state=1).fit(X, y)
    words = np.where(theirs.code_book_ > 0, 1, -1).astype(np.int8)
    monkeypatch.setattr(module, "code_for", lambda *_: words)
    ours = AdaBoostClassifier(estimator=TheirTree(max_depth=1), n_estimators=10, multiclass="output_code", random_state=0).fit(X, y)
    assert_array_equal(ours.predict(X), theirs.predict(X))


# As the papers have it.


def samme_r(X, y, rounds, depth, rate=1.0):
    """Zhu, Zou, Rosset & Hastie 2009, algorithm 4, line by line."""
    classes, label = np.unique(y, return_inverse=True)
    n, K = len(y), len(classes)
    code = np.where(label[:, None] == np.arange(K), 1.0, -1.0 / (K - 1))
    w, total = np.full(n, 1 / n), np.zeros((n, K))
    for _ in range(rounds):
        tree = TheirTree(max_depth=depth, random_state=0).fit(X, y, sample_weight=w)
        p = np.clip(tree.predict_proba(X), np.finfo(float).eps, None)
        total += (K - 1) * (np.log(p) - np.log(p).mean(axis=1, keepdims=True))
        w = w * np.exp(-rate * (K - 1) / K * (code * np.log(p)).sum(axis=1))
        w /= w.sum()
    return total / rounds


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("own", [False, True])
def test_samme_r_is_what_the_paper_says(n_classes, own):
    X, y = blobs(n_classes=n_classes, n=240)
    expected = samme_r(X, y, 8, 2)
    learner = {"max_bins": None, "max_depth": 2} if own else {"estimator": TheirTree(max_depth=2)}
    model = AdaBoostClassifier(algorithm="samme.r", n_estimators=8, random_state=0, **learner).fit(X, y)
    assert len(model.estimator_weights_) == 8
    if n_classes == 2:
        expected = expected[:, 1] - expected[:, 0]
    assert_allclose(model.decision_function(X), expected, rtol=1e-9, atol=1e-9)


def m2(X, y, rounds):
    """Freund & Schapire 1997, figure 5, with the probabilities of trees as plausibilities."""
    n, K = len(y), y.max() + 1
    w = np.full((n, K), 1 / (n * (K - 1)))
    w[np.arange(n), y] = 0.0
    total, betas = np.zeros((n, K)), []
    for _ in range(rounds):
        weight = w.sum(axis=1)
        h = TheirTree(max_depth=2, random_state=0).fit(X, y, sample_weight=weight / weight.sum()).predict_proba(X)
        right = h[np.arange(n), y][:, None]
        loss = 0.5 * (w / w.sum() * (1 - right + h)).sum()
        beta = loss / (1 - loss)
        betas.append(beta)
        total += np.log(1 / beta) * h
        w = w * beta ** (0.5 * (1 + right - h))
        w[np.arange(n), y] = 0.0
    return total, np.array(betas)


def test_m2_is_what_the_paper_says():
    X, y = blobs(n=240)
    expected, betas = m2(X, y, 6)
    model = AdaBoostClassifier(estimator=TheirTree(max_depth=2), algorithm="m2", n_estimators=6, random_state=0).fit(X, y)
    assert_allclose(model.estimator_weights_, np.log(1 / betas), rtol=1e-9)
    assert_allclose(model.decision_function(X) * np.log(1 / betas).sum(), expected, rtol=1e-9)


def test_mh_is_one_problem_for_each_class_with_shared_weights():
    X, y = blobs(n=240)
    n, K = len(y), 3
    sign = np.where(y[:, None] == np.arange(K), 1.0, -1.0)
    w, total = np.full((n, K), 1 / (n * K)), np.zeros((n, K))
    for _ in range(6):
        trees = [TheirTree(max_depth=1, random_state=0).fit(X, sign[:, k], sample_weight=w[:, k]) for k in range(K)]
        h = np.stack([tree.predict(X) for tree in trees], axis=1)
        error = w[h != sign].sum()
        alpha = 0.5 * np.log((1 - error) / error)  # the paper's, with the factor one half
        total += 2 * alpha * h
        w = w * np.exp(-alpha * sign * h)
        w /= w.sum()
    model = AdaBoostClassifier(algorithm="mh", max_bins=None, n_estimators=6).fit(X, y)
    assert_allclose(model.decision_function(X) * model.estimator_weights_.sum(), total, rtol=1e-9)
    assert len(model.estimators_) == 18


TABLES = {
    "iris": load_iris,
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
    "digits": load_digits,
    "noise": lambda return_X_y: (np.random.default_rng(0).normal(size=(200, 3)), np.random.default_rng(1).integers(0, 2, 200)),
    "blobs": lambda return_X_y: blobs(5, 400, 5),
    "hastie": lambda return_X_y: make_hastie_10_2(800, random_state=0),
}


@pytest.mark.filterwarnings("ignore:SAMME.R has gone astray")
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("rate", [1.0, 0.3])
def test_the_training_error_is_never_above_its_bound(table, algorithm, rate):
    X, y = TABLES[table](return_X_y=True)
    if algorithm == "discrete" and len(np.unique(y)) > 3:
        pytest.skip("a stump errs on more than half of many classes")
    weight = np.random.default_rng(2).integers(1, 4, len(y))
    model = AdaBoostClassifier(algorithm=algorithm, n_estimators=15, learning_rate=rate).fit(X, y, weight)
    if algorithm == "samme.r" and len(model.classes_) > 2:
        assert np.isnan(model.training_bound_).all()
        return
    for predicted, bound in zip(model.staged_predict(X), model.training_bound_, strict=True):
        assert np.average(predicted != y, weights=weight) <= bound + 1e-9


def test_samme_r_tells_of_a_vote_that_is_worse_than_its_first_learner():
    """Stumps with pure sides, of three classes: their logarithms outvote everything."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 6))
    y = rng.integers(0, 3, 90)
    with pytest.warns(WoodwindWarning, match=r"SAMME\.R has gone astray"):
        AdaBoostClassifier(algorithm="samme.r", n_estimators=30, learning_rate=3.0).fit(X, y)


def test_boosted_stumps_learn_the_sum_of_squares_that_one_stump_cannot():
    """Hastie, Tibshirani & Friedman 2009, figure 10.2."""
    X, y = make_hastie_10_2(12000, random_state=1)
    model = AdaBoostClassifier(n_estimators=400).fit(X[:2000], y[:2000])
    errors = [np.mean(predicted != y[2000:]) for predicted in model.staged_predict(X[2000:])]
    assert errors[0] > 0.4
    assert errors[-1] < 0.13


# As the house has it.


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_same_bits_for_any_number_of_threads(algorithm):
    X, y = blobs(n=100_000, n_classes=2, columns=16)  # enough for eight threads to have a part each
    forests = [AdaBoostClassifier(algorithm=algorithm, n_estimators=4, n_jobs=jobs).fit(X, y).forest_.digest() for jobs in (1, 2, 3, 4, 8)]
    assert len(set(forests)) == 1


@pytest.mark.parametrize("options", [{}, {"max_depth": 2}, {"algorithm": "mh"}, {"algorithm": "samme.r"}])
def test_a_weight_of_two_is_a_row_given_twice_and_of_zero_none(options):
    X, y = blobs(n=200, decimals=1)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    order = np.random.default_rng(1).permutation(np.repeat(np.arange(len(y)), weight))
    by_weight = AdaBoostClassifier(n_estimators=20, **options).fit(X, y, weight)
    repeated = AdaBoostClassifier(n_estimators=20, **options).fit(X[order], y[order])
    assert_allclose(by_weight.decision_function(X), repeated.decision_function(X), rtol=1e-9, atol=1e-12)


BASES = [KNeighborsClassifier(5), make_pipeline(StandardScaler(), LogisticRegression()), GaussianNB(), RidgeClassifier()]


@pytest.mark.parametrize("base", BASES)
def test_any_classifier_may_be_the_learner(base):
    X, y = blobs(n_classes=3)
    model = AdaBoostClassifier(estimator=base, n_estimators=5, random_state=0).fit(X, y)
    again = AdaBoostClassifier(estimator=base, n_estimators=5, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.6
    assert_array_equal(model.predict(X), again.predict(X))


def test_the_trees_of_the_engine_can_be_the_learner_too():
    X, y = blobs()
    model = AdaBoostClassifier(estimator=DecisionTreeClassifier(max_depth=1), n_estimators=20).fit(X, y)
    own = AdaBoostClassifier(n_estimators=20, max_bins=None).fit(X, y)
    assert_allclose(model.decision_function(X), own.decision_function(X), atol=1e-12)
    assert_allclose(model.feature_importances_, own.feature_importances_, atol=1e-12)


def test_a_resample_is_drawn_by_the_weights():
    """Rows of weight zero are never drawn, and the classes are those of the others."""
    X, y = blobs(n_classes=3)
    weight = (y != 2).astype(float)
    model = AdaBoostClassifier(estimator=KNeighborsClassifier(5), n_estimators=3, random_state=0).fit(X, y, weight)
    assert model.classes_.tolist() == [0, 1]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_labels_of_any_kind_are_told_back(algorithm, n_classes):
    X, y = blobs(n_classes=n_classes)
    names = np.array(["clarinet", "oboe", "flute"])[y]
    for estimator in (None, TheirTree(max_depth=1)):
        model = AdaBoostClassifier(estimator=estimator, algorithm=algorithm, n_estimators=4, random_state=0).fit(X, names)
        assert set(model.predict(X)) <= set(names)
        assert model.score(X, names) > 0.5
        assert model.estimators_[0].predict(X).shape == (300,)


@pytest.mark.parametrize("multiclass", ["output_code", "second_level"])
@pytest.mark.parametrize("estimator", [None, TheirTree(max_depth=1)])
def test_models_of_two_classes_serve_many(multiclass, estimator):
    X, y = blobs(n_classes=4, n=400)
    names = np.array(["clarinet", "oboe", "flute", "bassoon"])[y]
    model = AdaBoostClassifier(
        estimator=estimator, n_estimators=10, multiclass=multiclass, final_estimator=LogisticRegression(max_iter=1000), random_state=0
    ).fit(X, names)
    share = model.predict_proba(X)
    assert_allclose(share.sum(axis=1), 1.0)
    assert_array_equal(model.classes_[share.argmax(axis=1)], model.predict(X))
    assert_array_equal(model.decision_function(X).argmax(axis=1), share.argmax(axis=1))
    assert model.score(X, names) > 0.7
    assert len(model.estimators_) == len(model.estimator_weights_) == (7 if multiclass == "output_code" else 4)
    assert model.feature_importances_.sum() == pytest.approx(1.0)


def test_the_second_level_takes_any_table():
    pd = pytest.importorskip("pandas")
    X, y = blobs(n=300)
    table = pd.DataFrame(X[:, :2], columns=["a", "b"]).assign(reed=np.where(X[:, 2] > 0, "single", "double"))
    model = AdaBoostClassifier(n_estimators=5, multiclass="second_level", random_state=0).fit(table, y)
    assert model.score(table, y) > 0.7
    with pytest.raises(ParameterError, match="no stages"):
        next(model.staged_predict(table))


def test_any_table_may_be_given():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"reed": rng.choice(["single", "double", None], 200), "keys": rng.integers(5, 20, 200).astype(float)})
    table.loc[::9, "keys"] = np.nan
    y = np.where((table["reed"] == "double") | (table["keys"] > 15), "oboe", "other")
    model = AdaBoostClassifier(n_estimators=10).fit(table, y)
    assert model.score(table, y) > 0.95
    assert [tree.predict(table).shape for tree in model.estimators_[:2]] == [(200,)] * 2
    assert "reed in" in model.export_text(0) or "keys <=" in model.export_text(0)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_stages_end_at_the_model(algorithm):
    X, y = blobs(n_classes=3)
    model = AdaBoostClassifier(algorithm=algorithm, n_estimators=7).fit(X, y)
    *_, last = model.staged_decision_function(X)
    assert_array_equal(last, model.decision_function(X))
    *_, last = model.staged_predict_proba(X)
    assert_array_equal(last, model.predict_proba(X))


# Bad inputs.


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"algorithm": "SAMME"}, "Did you mean 'samme'"),
        ({"n_estimators": 0}, "n_estimators must be"),
        ({"estimator": TheirTree}, "Give an instance of it"),
        ({"estimator": 3}, "has no fit"),
        ({"estimator": RidgeClassifier(), "algorithm": "samme.r"}, "no predict_proba"),
        ({"final_estimator": RidgeClassifier(), "multiclass": "second_level"}, "no predict_proba"),
        ({"multiclass": "codes"}, "multiclass must be"),
    ],
)
def test_what_is_wrong_is_said_before_any_work(options, words):
    X, y = blobs()
    with pytest.raises(ParameterError, match=re.escape(words)):
        AdaBoostClassifier(**options).fit(X, y)


def test_columns_that_say_nothing_give_an_error_that_says_so():
    with pytest.raises(DataError, match="no better than chance"):
        AdaBoostClassifier().fit(np.zeros((10, 2)), [0, 1] * 5)


def test_what_is_for_trees_says_so_for_other_learners():
    X, y = blobs()
    model = AdaBoostClassifier(estimator=GaussianNB(), n_estimators=2).fit(X, y)
    with pytest.raises(AttributeError, match="Woodwind's own trees"):
        model.apply(X)


def test_progress_is_shown(capsys):
    X, y = blobs()
    AdaBoostClassifier(n_estimators=3, verbose=1).fit(X, y)
    assert "AdaBoostClassifier: round 3 of 3" in capsys.readouterr().err
