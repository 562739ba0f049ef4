"""Values of leaves: one compiled call says the same as the steps that it replaces."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from reference.coded import SCALES, random_codes, random_stats
from woodwind.tree.grown_tree import fill_empty, newton_tree, newton_values, within_bounds
from woodwind.tree.histogram_grower import HistogramGrower
from woodwind.tree.settings import TreeSettings


@pytest.mark.parametrize("l1", [0.0, 3.0])
@pytest.mark.parametrize(
    "options",
    [{}, {"monotonic": np.array([1, -1, 0])}, {"growth": "symmetric", "max_depth": 6}],
    ids=["free", "within bounds", "leaves without rows"],
)
def test_one_call_values_a_tree_as_the_steps_do(options, l1):
    codes = random_codes(3, 200, (0, 0, 0), bins=7, missing=0.1)
    grower = HistogramGrower(codes, TreeSettings(**{"min_rows": 3, "max_leaves": 40, "l1": l1, **options}))
    grower.stats_to_fill()[:] = random_stats(3, codes)
    tree = grower.grow(SCALES, 0)
    assert (tree.count == 0).any() == ("growth" in options)
    steps = fill_empty(tree, within_bounds(tree, newton_values(tree.gradient, tree.hessian, l1, 1.0)))
    found = newton_tree(tree, tree.hessian, (l1, 1.0, 0.0))
    assert_array_equal(found, steps)
    assert not np.signbit(found[found == 0.0]).any()  # one zero, so that models have one digest
