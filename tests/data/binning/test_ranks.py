"""Exact codes."""
# ruff: noqa: PLR0124  a number that differs from itself is missing

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from woodwind.data.binning.ranks import Ranks
from woodwind.data.tables.schema import Schema

values = st.one_of(st.floats(width=32), st.sampled_from([0.0, -0.0, 1.0, 2.0, np.nan, np.inf, -np.inf]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(data=st.data())
def test_ranks_are_places_among_the_sorted_distinct_values(dtype, data):
    X = data.draw(hnp.arrays(dtype, st.tuples(st.integers(1, 60), st.integers(1, 3)), elements=values))
    ranks = Ranks.of(Schema.learn(X)[1])
    for feature in range(X.shape[1]):
        column = X[:, feature].astype(float).tolist()
        distinct = sorted({value + 0.0 for value in column if value == value})
        assert ranks.values[feature].tolist() == distinct
        assert ranks.n_codes[feature] == len(distinct)
        assert ranks.by_column[feature].tolist() == [distinct.index(v) if v == v else -1 for v in column]
        key = [len(distinct) if v != v else distinct.index(v) for v in column]
        assert ranks.order[feature].tolist() == sorted(range(len(column)), key=lambda row: (key[row], row))


def test_categories_have_the_codes_of_their_levels():
    frame = pd.DataFrame({"c": ["b", None, "a", "b"], "x": [3.0, 1.0, np.nan, 3.0]})
    ranks = Ranks.of(Schema.learn(frame)[1], threads=2)
    assert ranks.by_column.tolist() == [[1, -1, 0, 1], [1, 0, -1, 1]]
    assert ranks.order.tolist() == [[2, 0, 3, 1], [1, 0, 3, 2]]
    assert ranks.n_codes.tolist() == [2, 2]
    assert ranks.is_category.tolist() == [True, False]
    assert (ranks.n_rows, ranks.n_features) == (4, 2)


def test_threads_have_no_influence():
    X = np.random.default_rng(0).integers(0, 1000, (60_000, 4)).astype(float)
    one, two = Ranks.of(Schema.learn(X)[1]), Ranks.of(Schema.learn(X)[1], threads=2)
    assert (one.by_column == two.by_column).all()
    assert (one.order == two.order).all()
