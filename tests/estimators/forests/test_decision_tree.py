"""Decision trees as estimators."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.tree import DecisionTreeClassifier as TheirClassifier
from sklearn.tree import DecisionTreeRegressor as TheirRegressor

from woodwind import DataError, DecisionTreeClassifier, DecisionTreeRegressor, ParameterError
from woodwind.base.errors import ConstantTargetWarning, UnseenCategoryWarning


def continuous(seed, n=300, n_features=4):
    """Features without ties that both libraries see alike, a rough target, and weights that tie rarely but add up exactly in doubles:
    otherwise scikit-learn takes rounding errors of pure nodes for impurity, and splits them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features)).astype(np.float32)
    y = 3 * X[:, 0] + np.sin(4 * X[:, 1]) * X[:, 2] + rng.normal(size=n)
    return X, y, rng.integers(500, 2000, n) / 1024


LIMITS = [
    {},
    {"max_depth": 3},
    {"max_depth": 7},
    {"min_samples_leaf": 5},
    {"min_samples_split": 20},
    {"max_leaf_nodes": 12},
    {"min_weight_fraction_leaf": 0.03},
    {"max_leaf_nodes": 40, "max_depth": 6, "min_samples_leaf": 3},
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("limits", LIMITS, ids=str)
def test_a_regressor_predicts_its_training_rows_as_scikit_learn_does(limits, weighted):
    """Only training rows: new ones may fall between two values, where float32 thresholds differ in the last bit."""
    X, y, weight = continuous(1)
    weight = weight if weighted else None
    ours = DecisionTreeRegressor(**limits).fit(X, y, weight)
    theirs = TheirRegressor(**limits, random_state=0).fit(X, y, weight)
    assert ours.get_n_leaves() == theirs.get_n_leaves()
    assert ours.get_depth() == theirs.get_depth()
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=0, atol=1e-12)
    if limits == {"max_depth": 3}:  # in small nodes several features part the rows alike, and one is chosen at random there
        np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, rtol=0, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("limits", LIMITS, ids=str)
def test_a_classifier_gives_the_probabilities_of_scikit_learn(limits, criterion, n_classes):
    """With weights, because counts of classes tie often, and ties are broken at random there."""
    X, y, weight = continuous(2)
    labels = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    ours = DecisionTreeClassifier(criterion=criterion, **limits).fit(X, labels, weight)
    theirs = TheirClassifier(criterion=criterion, **limits, random_state=0).fit(X, labels, weight)
    assert ours.get_n_leaves() == theirs.get_n_leaves()
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=1e-12)
    if limits == {"max_depth": 3} and n_classes == 2:
        np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, rtol=0, atol=1e-12)


def test_thresholds_are_those_of_scikit_learn():
    X, y, weight = continuous(3)
    ours = DecisionTreeRegressor(max_leaf_nodes=8).fit(X, y, weight).forest_
    theirs = TheirRegressor(max_leaf_nodes=8, random_state=0).fit(X, y, weight).tree_
    inner = theirs.children_left >= 0
    np.testing.assert_allclose(np.sort(ours.threshold[ours.feature >= 0]), np.sort(theirs.threshold[inner]), rtol=1e-6)


def test_missing_values_go_where_scikit_learn_sends_them():
    X, y, weight = continuous(4)
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    for limits in ({"max_depth": 4}, {"max_leaf_nodes": 15}):
        ours = DecisionTreeRegressor(**limits).fit(X, y, weight)
        theirs = TheirRegressor(**limits, random_state=0).fit(X, y, weight)
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=0, atol=1e-12)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_the_pruning_path_of_a_classifier_is_that_of_scikit_learn(criterion):
    X, y, weight = continuous(5)
    ours = DecisionTreeClassifier(criterion=criterion).cost_complexity_pruning_path(X, y > 0, weight)
    theirs = TheirClassifier(criterion=criterion, random_state=0).cost_complexity_pruning_path(X, y > 0, weight)
    np.testing.assert_allclose(ours.ccp_alphas, theirs.ccp_alphas, rtol=0, atol=1e-12)
    np.testing.assert_allclose(ours.impurities, theirs.impurities, rtol=0, atol=1e-12)


def test_pruning_a_regressor_is_that_of_scikit_learn():
    X, y, weight = continuous(6)
    path = DecisionTreeRegressor().cost_complexity_pruning_path(X, y, weight)
    theirs = TheirRegressor(random_state=0).cost_complexity_pruning_path(X, y, weight)
    np.testing.assert_allclose(path.ccp_alphas, theirs.ccp_alphas, rtol=0, atol=1e-12)
    np.testing.assert_allclose(path.impurities, theirs.impurities, rtol=0, atol=1e-12)
    for alpha in (1e-4, 0.01, 0.1, 1.0, 1e9):
        ours = DecisionTreeRegressor(ccp_alpha=alpha).fit(X, y, weight)
        other = TheirRegressor(ccp_alpha=alpha, random_state=0).fit(X, y, weight)
        assert ours.get_n_leaves() == other.get_n_leaves()
        np.testing.assert_allclose(ours.predict(X), other.predict(X), rtol=0, atol=1e-12)
        ours.forest_.check()


def test_a_pruning_path_leaves_no_trace():
    X, y, _ = continuous(7)
    tree = DecisionTreeClassifier()
    tree.cost_complexity_pruning_path(X, y > 0)
    assert vars(tree) == vars(DecisionTreeClassifier())
    tree.fit(X, np.where(y > 0, "b", "a")).cost_complexity_pruning_path(X, y > 0)
    assert tree.classes_.tolist() == ["a", "b"]


def test_a_full_tree_says_the_targets_themselves():
    X, y, _ = continuous(8)
    np.testing.assert_array_equal(DecisionTreeRegressor().fit(X, y).predict(X), y)


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1.0, 1e9, 1e300])
@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_a_tree_does_not_depend_on_the_units_of_the_target(scale, shift):
    X, y, _ = continuous(9)
    y = np.round(y * 64) / 64
    plain = DecisionTreeRegressor(max_depth=5).fit(X, y)
    other = DecisionTreeRegressor(max_depth=5).fit(X, (y + shift) * scale)
    np.testing.assert_array_equal(other.forest_.feature, plain.forest_.feature)
    np.testing.assert_allclose(other.predict(X), (plain.predict(X) + shift) * scale, rtol=1e-12)
    other.forest_.check()


@pytest.mark.parametrize("tree", [DecisionTreeClassifier, DecisionTreeRegressor])
@pytest.mark.parametrize("options", [{}, {"min_samples_leaf": 4}, {"max_leaf_nodes": 9}, {"max_bins": 16}, {"ccp_alpha": 0.01}], ids=str)
def test_a_weight_of_two_is_a_row_given_twice(tree, options):
    X, y, _ = continuous(10, 120)
    y = y if tree is DecisionTreeRegressor else np.digitize(y, [-1, 1])
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = tree(**options).fit(X, y, weight)
    repeated = tree(**options).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert weighted.forest_.digest() == repeated.forest_.digest()


def test_rows_of_weight_zero_are_absent():
    X, y, weight = continuous(11, 200)
    weight[::3] = 0.0
    X[::3], present = np.inf, weight > 0
    weighted = DecisionTreeRegressor(max_depth=6).fit(X, y, weight)
    without = DecisionTreeRegressor(max_depth=6).fit(X[present], y[present], weight[present])
    assert weighted.forest_.digest() == without.forest_.digest()


def test_class_weights_are_those_of_scikit_learn():
    """Balanced weights without others: ours give each class the same weight, scikit-learn's do so only if rows weigh the same."""
    X, y, given = continuous(12)
    labels = np.array(["low", "middle", "high"])[np.digitize(y, [-1, 2])]
    for class_weight, weight in (("balanced", None), ({"low": 2.5, "high": 0.25}, given)):
        ours = DecisionTreeClassifier(class_weight=class_weight, max_depth=3).fit(X, labels, weight)
        theirs = TheirClassifier(class_weight=class_weight, max_depth=3, random_state=0).fit(X, labels, weight)
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=1e-12)


@pytest.mark.parametrize("direction", [1, -1])
def test_predictions_follow_monotonic_constraints(direction):
    rng = np.random.default_rng(13)
    X = rng.normal(size=(400, 3))
    y = np.sin(3 * X[:, 0]) + X[:, 1] + rng.normal(size=400)
    grid = np.repeat(X[:50], 40, axis=0)
    grid[:, 0] = np.tile(np.linspace(-3, 3, 40), 50)
    constraints = [direction, 0, 0]
    regressor = DecisionTreeRegressor(monotonic_cst=constraints, min_samples_leaf=3).fit(X, y)
    options = {"monotonic_cst": constraints, "min_samples_leaf": 3}
    classifiers = [DecisionTreeClassifier(criterion=criterion, **options).fit(X, y > 0) for criterion in ("gini", "entropy")]
    for predicted in (regressor.predict(grid), *(tree.predict_proba(grid)[:, 1] for tree in classifiers)):
        steps = np.diff(predicted.reshape(50, 40), axis=1) * direction
        assert steps.min() >= 0.0
        assert steps.max() > 0.0


def test_monotonic_constraints_on_classes_are_those_of_scikit_learn():
    X, y, weight = continuous(14)
    ours = DecisionTreeClassifier(monotonic_cst=[1, 0, -1, 0], max_depth=6).fit(X, y > 0, weight)
    theirs = TheirClassifier(monotonic_cst=[1, 0, -1, 0], max_depth=6, random_state=0).fit(X, y > 0, weight)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=1e-12)


def test_levels_are_split_into_sets_and_unseen_ones_stop():
    frame = pd.DataFrame({"town": ["x"] * 10 + ["y"] * 10 + ["z"] * 10})
    rate = [1] * 9 + [0] + [1] * 5 + [0] * 5 + [1] + [0] * 9
    tree = DecisionTreeClassifier().fit(frame, rate)
    with pytest.warns(UnseenCategoryWarning):
        predicted = tree.predict_proba(pd.DataFrame({"town": ["x", "y", "z", "new", None]}))[:, 1]
    np.testing.assert_allclose(predicted, [0.9, 0.5, 0.1, 0.5, 0.5])


def test_sets_of_levels_are_the_best_of_all_sets():
    """For numbers and for two classes: Fisher 1958, Breiman et al. 1984, section 4.2.2."""
    rng = np.random.default_rng(15)
    level = rng.integers(0, 6, 200)
    y = rng.normal(size=6)[level] + rng.normal(size=200)
    frame = pd.DataFrame({"level": pd.Categorical([f"l{code}" for code in level])})
    found = DecisionTreeRegressor(max_depth=1).fit(frame, y).forest_.gain[0]

    def error(values):
        return ((values - values.mean()) ** 2).sum() if len(values) else 0.0

    masks = [(chosen >> level & 1).astype(bool) for chosen in range(1, 63)]
    assert found == pytest.approx(max(error(y) - error(y[mask]) - error(y[~mask]) for mask in masks), rel=1e-12)


def test_paths_lead_from_the_root_to_where_rows_end():
    X, y = load_iris(return_X_y=True)
    tree = DecisionTreeClassifier(max_depth=3).fit(X, y)
    path, ends = tree.decision_path(X), tree.apply(X)
    assert ends.shape == (150,)
    assert path.shape == (150, tree.forest_.n_nodes)
    assert (path[:, 0].toarray() == 1).all()
    np.testing.assert_array_equal(np.asarray(path.sum(axis=1)).ravel() - 1, tree.forest_.depth[ends])
    for row in range(0, 150, 30):
        assert path[row].indices[-1] == ends[row]


def test_the_tree_of_iris_reads_as_in_the_books():
    X, y = load_iris(return_X_y=True, as_frame=True)
    text = DecisionTreeClassifier(max_depth=2).fit(X, y).export_text()
    assert text.startswith("|--- petal length (cm) <= 2.45\n|   |--- value: 0 1.00, 1 0.00, 2 0.00 (cover 50.00)\n")
    assert "petal width (cm) <= 1.75" in text


def test_bins_grow_nearly_the_same_tree():
    X, y = load_diabetes(return_X_y=True)
    exact = DecisionTreeRegressor(max_leaf_nodes=12).fit(X, y)
    binned = DecisionTreeRegressor(max_leaf_nodes=12, max_bins=255).fit(X, y)
    assert binned.score(X, y) == pytest.approx(exact.score(X, y), abs=0.02)
    assert DecisionTreeRegressor(max_leaf_nodes=12, max_bins=4).fit(X, y).score(X, y) < exact.score(X, y)


def test_drawn_features_depend_on_the_seed_alone():
    X, y = load_breast_cancer(return_X_y=True)

    def digest(seed):
        return DecisionTreeClassifier(max_features="sqrt", random_state=seed).fit(X, y).forest_.digest()

    assert digest(0) == digest(0)
    assert digest(0) != digest(1)
    assert DecisionTreeClassifier(max_features=1, random_state=0).fit(X, y).score(X, y) == 1.0


def test_min_gain_is_a_sum_over_rows():
    X, y, _ = continuous(16)
    tree = DecisionTreeRegressor(min_gain=5.0).fit(X, y)
    gain = tree.forest_.gain[tree.forest_.feature >= 0]
    assert gain.min() >= 5.0
    assert tree.get_n_leaves() < DecisionTreeRegressor().fit(X, y).get_n_leaves()


def test_a_table_of_all_kinds_is_read():
    rng = np.random.default_rng(17)
    frame = pd.DataFrame(
        {
            "when": pd.date_range("2024-01-01", periods=200, freq="h"),
            "what": rng.choice(["a", "b", None], 200),
            "flag": rng.random(200) < 0.5,
            "amount": np.where(rng.random(200) < 0.1, np.nan, rng.normal(size=200)),
        }
    )
    y = (frame["what"] == "a").to_numpy() ^ frame["flag"].to_numpy()
    tree = DecisionTreeClassifier().fit(frame, y)
    assert tree.score(frame, y) == 1.0
    assert tree.score(frame[frame.columns[::-1]], y) == 1.0
    assert tree.feature_importances_.shape == (4,)


def test_constant_targets_are_told_and_predicted():
    with pytest.warns(ConstantTargetWarning):
        tree = DecisionTreeRegressor().fit([[0.0], [1.0]], [3.0, 3.0])
    assert tree.predict([[5.0]]).tolist() == [3.0]
    assert tree.get_depth() == 0


@pytest.mark.parametrize(
    ("tree", "y", "options", "words"),
    [
        (DecisionTreeClassifier, [0, 0, 0], {}, "one class only"),
        (DecisionTreeClassifier, [0, 1, 2], {"monotonic_cst": [1]}, "two classes"),
        (DecisionTreeClassifier, [0, 1, 1], {"criterion": "variance"}, "criterion must be"),
        (DecisionTreeRegressor, [0, 1, np.nan], {}, "NaN"),
        (DecisionTreeRegressor, [0, 1, 2], {"max_depth": 0}, "max_depth must be"),
        (DecisionTreeRegressor, [0, 1, 2], {"max_features": 7}, "max_features=7"),
        (DecisionTreeRegressor, [0, 1], {}, "inconsistent numbers of samples"),
    ],
)
def test_what_is_wrong_is_named(tree, y, options, words):
    with pytest.raises((DataError, ParameterError), match=words):
        tree(**options).fit([[0.0], [1.0], [2.0]], y)


def test_trees_are_the_same_for_any_number_of_threads():
    rng = np.random.default_rng(18)
    X = rng.normal(size=(6000, 20)).round(2)
    X[rng.random(X.shape) < 0.05] = np.nan
    y = X[:, 0] > np.nan_to_num(X[:, 1]) + rng.normal(size=6000)
    digests = set()
    for threads in (1, 2, 3, 4, 8):
        tree = DecisionTreeClassifier(max_leaf_nodes=200)
        tree.n_jobs = threads  # not a parameter of single trees, but what decides the number of threads
        digests.add(tree.fit(X, y).forest_.digest())
    assert len(digests) == 1
