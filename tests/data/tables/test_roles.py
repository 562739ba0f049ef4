"""The parts of a table."""

import numpy as np
import pyarrow as pa
import pytest

from woodwind.base.errors import TargetError
from woodwind.data.tables.roles import nearest_name, split_roles


def table(**more):
    return pa.table({"size": [1.0, 2.0, 3.0, 4.0], "late": ["no", "yes", "no", "yes"], **more})


def test_a_weight_is_not_learnt_from_and_rows_of_weight_zero_are_absent():
    roles = split_roles(table(w=[1, 0, 2, 0.5], shop=[1, 2, 3, 4]), "late", weight="w")
    assert roles.X.column_names == ["size", "shop"]
    assert roles.X["size"].to_pylist() == [1.0, 3.0, 4.0]
    assert roles.weight.tolist() == [1.0, 2.0, 0.5]
    assert roles.target.y.tolist() == [0, 0, 1]
    assert "w" in roles.beside
    assert roles.dropped == 0


def test_a_truth_value_is_a_weight():
    assert split_roles(table(w=[True, True, False, True]), "late", weight="w").weight.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1.0, -1.0, 1.0, 1.0], r"negative in 1 of 4 rows \(rows 2\)"),
        ([1.0, np.nan, 1.0, 1.0], "missing in 1 of 4 rows"),
        ([1.0, None, None, 1.0], r"missing in 2 of 4 rows \(rows 2, 3\)"),
        ([1.0, np.inf, 1.0, 1.0], "infinite in 1 of 4 rows"),
        (["a", "b", "c", "d"], "is of type string"),
        ([0, 0, 0, 0], "zero in all 4 rows"),
    ],
)
def test_a_weight_that_no_row_can_count_by_is_refused(weights, words):
    with pytest.raises(TargetError, match=f"WW-T012: the weight column 'w' .*{words}"):
        split_roles(table(w=weights), "late", weight="w")


@pytest.mark.parametrize("role", ["group", "time_column", "weight"])
def test_a_column_that_is_nearly_named_is_told_whatever_its_capitals(role):
    with pytest.raises(TargetError, match=r"no column 'SIZE'\. Did you mean 'size'\?"):
        split_roles(table(), "late", **{role: "SIZE"})
    with pytest.raises(TargetError, match=r"Did you mean 'late'\?"):
        split_roles(table(), "LATE")
    with pytest.raises(TargetError, match=r"Did you mean 'size'\?"):
        split_roles(table(), "late", ignore=["sise"])


def test_a_name_that_is_like_none_has_no_neighbour():
    assert nearest_name("X1", ["x1", "x2"]) == "x1"
    assert nearest_name("zebra", ["x1", "x2"]) is None
