"""Parameters to plans: counts of features, signs and groups of columns."""

import numpy as np
import pandas as pd
import pytest

from woodwind.data.tables.schema import Schema
from woodwind.estimators.boosting.plan import feature_counts, interactions, monotonic

FRAME = pd.DataFrame({"a": np.arange(50.0), "when": pd.date_range("2024-01-01", periods=50, freq="29h"), "b": np.arange(50.0)})
SCHEMA, _ = Schema.learn(FRAME)
WHEN = tuple(np.flatnonzero(SCHEMA.source == 1).tolist())
LAST = WHEN[-1] + 1


def counts(tree=1.0, level=1.0, node=1.0, n=16):
    return feature_counts({"max_features_tree": tree, "max_features_level": level, "max_features": node}, n, "Oboe")


def test_all_features_are_none_drawn():
    assert counts() == counts(None, None, None) == counts(16, 16, 16) == (None, None, None)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((0.5, 1.0, 1.0), (8, None, None)),
        ((0.5, 0.5, 0.5), (8, 4, 2)),
        ((1.0, 1.0, "sqrt"), (None, None, 4)),
        ((8, 1.0, "log2"), (8, None, 3)),
        ((0.001, 1.0, 1.0), (1, None, None)),
        ((4, 1.0, 9), (4, None, None)),
    ],
)
def test_each_draw_is_from_the_one_before(given, expected):
    assert counts(*given) == expected


def test_auto_draws_of_wide_tables_unless_something_else_draws():
    assert counts(tree="auto", n=8) == (None, None, None)
    assert counts(tree="auto", n=128) == (64, None, None)
    assert counts(tree="auto", node=None, n=128) == (64, None, None)
    assert counts(tree="auto", node=0.5, n=64) == (None, None, 32)
    assert counts(tree="auto", level=1, n=64) == (None, 1, None)


def test_a_sign_belongs_to_a_column_not_to_a_feature():
    signs = monotonic({"b": -1}, SCHEMA, "Oboe")
    assert signs.tolist() == [0] * LAST + [-1]
    assert monotonic([0, 0, -1], SCHEMA, "Oboe").tolist() == signs.tolist()
    assert monotonic(np.array([0, 0, 0]), SCHEMA, "Oboe") is None
    assert monotonic(None, SCHEMA, "Oboe") is None


def test_a_group_has_all_features_of_its_columns():
    assert interactions([["a", "when"]], SCHEMA, "Oboe") == ((0, *WHEN), (LAST,))
    assert interactions("no_interactions", SCHEMA, "Oboe") == ((0,), WHEN, (LAST,))
    assert interactions("pairwise", SCHEMA, "Oboe") == ((0, *WHEN), (0, LAST), (*WHEN, LAST))
    assert interactions(None, SCHEMA, "Oboe") is None


def test_columns_that_no_group_names_form_one_more():
    assert interactions([{0}], SCHEMA, "Oboe") == ((0,), (*WHEN, LAST))
