"""Numbers of classes are kept in bytes, and nothing can be told from it but the memory."""

import subprocess
import sys

import numpy as np
import pytest

import woodwind
from woodwind.ensemble.boosting.boost import Booster
from woodwind.ensemble.held_out import fold_numbers, hold_out
from woodwind.estimators.base import target as targets

N = 360
X = np.random.default_rng(0).normal(size=(N, 4))
SCORE = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * np.random.default_rng(1).normal(size=N)
TWO = (SCORE > 0).astype(int)
# So many that what is multiplied by a number of folds, say, is beyond a byte.
MANY = np.random.default_rng(2).permutation(np.arange(N) % 60)

TRAINED = {
    "boosting": lambda: woodwind.GradientBoostingClassifier(n_estimators=5, random_state=0),
    "boosting, a share held out": lambda: woodwind.GradientBoostingClassifier(n_estimators=5, early_stopping=True, random_state=0),
    "boosting, one tree for each class": lambda: woodwind.GradientBoostingClassifier(
        n_estimators=3, multiclass="one_per_class", class_weight="balanced", random_state=0
    ),
    "additive": lambda: woodwind.AdditiveClassifier(n_estimators=3, n_iter_no_change=2, random_state=0),
    "adaboost": lambda: woodwind.AdaBoostClassifier(n_estimators=3, max_depth=4, random_state=0),
    "bagging": lambda: woodwind.BaggingClassifier(n_estimators=3, flip_rate=0.1, random_state=0),
    "forest": lambda: woodwind.RandomForestClassifier(n_estimators=3, class_weight="balanced", random_state=0),
    "structure": lambda: woodwind.RandomStructureForestClassifier(n_estimators=3, random_state=0),
    "tree": lambda: woodwind.DecisionTreeClassifier(random_state=0),
}


def probabilities(make, y, monkeypatch, kind=None):
    with monkeypatch.context() as patch:
        if kind is not None:
            patch.setattr(targets, "class_type", lambda _n_classes: kind)
        return make().fit(X, y).predict_proba(X)


@pytest.mark.parametrize("y", [TWO, MANY], ids=["two classes", "60 classes"])
@pytest.mark.parametrize("name", TRAINED)
def test_models_are_the_same_for_class_numbers_of_any_type(name, y, monkeypatch):
    small, large = (probabilities(TRAINED[name], y, monkeypatch, kind) for kind in (None, np.int32))
    np.testing.assert_array_equal(small, large)


@pytest.mark.parametrize("options", [{"loss": "exponential"}, {"loss": "exponential", "max_bins": None}, {"max_bins": None}], ids=str)
def test_losses_of_two_classes_are_the_same_for_bytes_and_for_numbers(options, monkeypatch):
    # A target that is not in bytes is handed to kernels as float64.
    small, large = (
        probabilities(lambda: woodwind.GradientBoostingClassifier(n_estimators=5, random_state=0, **options), TWO, monkeypatch, kind)
        for kind in (None, np.int32)
    )
    np.testing.assert_array_equal(small, large)


@pytest.mark.parametrize(("y", "kind"), [(TWO, np.uint8), (MANY, np.int32)], ids=["two classes", "60 classes"])
def test_what_is_kept_while_boosting_is_what_kernels_take(y, kind, monkeypatch):
    kept, begin = [], Booster.__init__

    def spied(self, codes, y, *more):
        kept.append(y)
        begin(self, codes, y, *more)

    monkeypatch.setattr(Booster, "__init__", spied)
    woodwind.GradientBoostingClassifier(n_estimators=2, early_stopping=True).fit(X, y)
    assert len(kept) == 2  # for the rows not held out, and once more for all
    assert all(y.dtype == kind for y in kept)
    assert kept[0] is kept[1]


def test_three_hundred_classes_are_told_apart():
    x = np.repeat(np.arange(300), 4)
    model = woodwind.DecisionTreeClassifier().fit(x[:, None], x)
    assert (model.predict(x[:, None]) == x).all()
    boosted = woodwind.GradientBoostingClassifier(n_estimators=1, learning_rate=1.0, max_leaf_nodes=None, min_samples_leaf=1)
    predicted = boosted.fit(x[:, None], x).predict(x[:, None])
    assert (predicted == x).mean() > 0.8  # there are 255 bins
    assert (predicted == x)[x > 255].any()


class Signs:
    """Exponential loss as a user would write it; in bytes, 2 * 0 - 1 is 255."""

    def start(self, y, weight):
        return 0.0

    def derivatives(self, y, raw, weight):
        sign = 2 * y - 1
        loss = np.exp(-sign * raw) * (1.0 if weight is None else weight)
        return -sign * loss, loss

    def value(self, y, raw, weight):
        return np.average(np.exp(-(2 * y - 1) * raw), weights=weight)

    def check_target(self, y):
        assert set(np.unique(2 * y - 1).tolist()) == {-1, 1}


@pytest.mark.parametrize("kind", ["GradientBoostingClassifier", "AdditiveClassifier"])
def test_a_loss_of_ones_own_never_sees_bytes(kind):
    made = getattr(woodwind, kind)
    own = made(n_estimators=3, random_state=0, loss=Signs()).fit(X, TWO)
    ours = made(n_estimators=3, random_state=0, loss=woodwind.losses.Exponential()).fit(X, TWO)
    assert np.corrcoef(own.decision_function(X), ours.decision_function(X))[0, 1] > 0.99


def test_rows_are_held_out_alike_for_any_type():
    groups = np.arange(N) % 50
    for classes in (TWO, MANY):
        small = classes.astype(np.uint8)
        for some in (None, groups):
            np.testing.assert_array_equal(fold_numbers(0, N, 8, small, some), fold_numbers(0, N, 8, classes, some))
            np.testing.assert_array_equal(hold_out(0, N, 0.2, small, some), hold_out(0, N, 0.2, classes, some))


@pytest.mark.compiled
def test_kernels_are_compiled_for_one_type_of_two_classes():
    code = (
        "import numpy as np, woodwind; from woodwind.kernels.losses.derivatives import derivatives, loss_sums, quantise;"
        "X = np.random.default_rng(0).normal(size=(300, 3)); y = X[:, 0] > 0;"
        "woodwind.GradientBoostingClassifier(n_estimators=2).fit(X, y);"
        "woodwind.GradientBoostingClassifier(n_estimators=2, early_stopping=True).fit(X, y, eval_set=(X, y));"
        "woodwind.AdditiveClassifier(n_estimators=2).fit(X, y);"
        "print([str(kinds[1].dtype) for kernel in (derivatives, loss_sums, quantise) for kinds in kernel.overloads])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "['uint8', 'uint8', 'uint8']"
