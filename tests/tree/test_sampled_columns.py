"""Trees that see few columns of a wide table are grown from copies of these, and are the same."""

from dataclasses import fields

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from reference.coded import SCALES, random_codes, random_stats
from woodwind import GradientBoostingClassifier, GradientBoostingRegressor
from woodwind.tree import sampled_columns
from woodwind.tree.histogram_grower import HistogramGrower
from woodwind.tree.sampled_columns import SampledColumnsGrower, grower_for
from woodwind.tree.settings import TreeSettings

LEVELS = (0, 0, 5, 0, 30, 0, 0, 9, 0, 0, 0, 0)


def trees(make, codes, outputs=1, rows=None):
    """Three trees, one after another in the same memory."""
    grower = make()
    for seed in range(3):
        if outputs > 1:
            gradients = [np.where(codes.by_column[seed + k] < 4 + k, 2**28, -(2**28)) for k in range(outputs)]
            grower.fill(np.stack([*gradients, np.full(codes.n_rows, 2**29)], axis=1).astype(np.int32))
        else:
            grower.stats_to_fill()[:] = random_stats(seed, codes)
        grower.renew_columns()
        tree = grower.grow(SCALES, seed, rows)
        yield {field.name: np.array(getattr(tree, field.name)) for field in fields(tree)}


@pytest.mark.parametrize(
    ("options", "outputs"),
    [
        ({"growth": "best_first"}, 1),
        ({"growth": "level"}, 1),
        ({"growth": "symmetric"}, 1),
        ({"growth": "best_first"}, 3),
        ({"growth": "best_first", "features_per_node": 3}, 1),
        ({"growth": "level", "features_per_level": 4, "features_per_node": 2}, 1),
        ({"growth": "best_first", "gradient_noise": 0.5}, 1),
        ({"growth": "best_first", "monotonic": np.array([1, -1, 0, 1, 0, 0, 1, 0, -1, -1, 1, 0])}, 1),
    ],
)
def test_a_tree_is_the_same_from_copies_of_its_columns(options, outputs):
    codes = random_codes(3, 500, LEVELS, bins=12)
    settings = TreeSettings(min_rows=3, max_leaves=20, max_depth=4, features_per_tree=5, **options)
    rows = np.flatnonzero(np.random.default_rng(0).random(500) < 0.7).astype(np.int32)
    for given in (None, rows):
        whole = list(trees(lambda: HistogramGrower(codes, settings, 1, outputs=outputs), codes, outputs, given))
        some = list(trees(lambda: SampledColumnsGrower(codes, settings, 1, 500, outputs), codes, outputs, given))
        assert len({tuple(tree["feature"]) for tree in whole}) > 1
        for one, other in zip(whole, some, strict=True):
            trained = slice(None) if given is None else given
            one["leaf_of_row"], other["leaf_of_row"] = one["leaf_of_row"][trained], other["leaf_of_row"][trained]
            for name in one:
                assert_array_equal(one[name], other[name], err_msg=name)


@pytest.mark.compiled
@pytest.mark.parametrize("options", [{}, {"multiclass": "one_per_class", "n_jobs": 3}, {"subsample": 0.6, "early_stopping": True}])
def test_a_model_of_a_wide_table_does_not_depend_on_it(options, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 1500)).round(2)
    X[rng.random(X.shape) < 0.02] = np.nan
    y = np.digitize(np.nansum(X[:, :6], axis=1) + rng.normal(size=120), (-2.0, 2.0))
    used = []
    grower = sampled_columns.SampledColumnsGrower.__init__
    monkeypatch.setattr(SampledColumnsGrower, "__init__", lambda self, *args: (used.append(self), grower(self, *args))[1])

    def predicted():
        model = GradientBoostingClassifier(**({"n_estimators": 6, "early_stopping": False, "random_state": 0} | options)).fit(X, y)
        return model.predict_proba(X).tobytes()

    copied = predicted()
    assert used
    monkeypatch.setattr(sampled_columns, "MOST_SEEN_OF_WIDE", 0.0)
    used.clear()
    assert predicted() == copied
    assert not used


def test_columns_are_copied_only_where_most_of_them_would_be_idle():
    def kind(n_rows, n_columns, **options):
        return type(grower_for(random_codes(0, n_rows, (0,) * n_columns), TreeSettings(**options), 1, n_rows, 1, None))

    assert kind(60, 300, features_per_tree=180) is SampledColumnsGrower
    assert kind(60, 300, features_per_tree=181) is HistogramGrower
    assert kind(400, 300, features_per_tree=75) is SampledColumnsGrower
    assert kind(400, 300, features_per_tree=76) is HistogramGrower
    assert kind(60, 300) is HistogramGrower
    assert kind(60, 300, features_per_tree=20, groups=((0, 1), (2, 3))) is HistogramGrower
    assert kind(60, 12, features_per_tree=2) is HistogramGrower


def test_histograms_have_room_for_the_columns_of_a_tree_alone():
    codes = random_codes(0, 60, (0,) * 400)
    grower = grower_for(codes, TreeSettings(features_per_tree=10), 1, 60, 1, None)
    assert grower._space["tables"].shape[1] == 10 * codes.width


@pytest.mark.compiled
def test_a_wide_table_of_categories_and_constraints_is_boosted():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 9, (90, 700)).astype(float)
    y = X[:, 0] + rng.normal(size=90)
    signs = np.zeros(700, int)
    signs[:300] = 1
    model = GradientBoostingRegressor(
        n_estimators=30, max_features=0.1, monotonic_cst=signs, categorical_features=range(300, 700), early_stopping=False, random_state=0
    ).fit(X, y)
    up = X[:20].copy()
    up[:, :300] += 1.0
    assert (model.predict(up) >= model.predict(X[:20])).all()
