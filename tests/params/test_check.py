"""Values are checked once, in one wording."""

import contextlib
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from woodwind.base.errors import ParameterError, WoodwindError
from woodwind.params.check import check, pick
from woodwind.params.groups import BoostParams, RunParams, SampleParams, StopParams, TreeParams
from woodwind.params.knobs import above, at_least, between, count_or_share, inside, knobs, not_zero, one_of, share


class Loss:
    """Something that a parameter may be an instance of."""


@knobs
class Everything:
    """One parameter of each kind."""

    count: Annotated[int, at_least(1), ""] = 1
    few: Annotated[int | None, between(2, 255), ""] = None
    rate: Annotated[float | Literal["auto"], above(0), ""] = "auto"
    part: Annotated[float, inside(0, 1), ""] = 0.5
    portion: Annotated[float, share(), ""] = 1.0
    features: Annotated[int | float | Literal["sqrt"], count_or_share(), ""] = 1.0
    jobs: Annotated[int | None, not_zero(), ""] = None
    flag: Annotated[bool, ""] = False
    switch: Annotated[bool | Literal["auto"], ""] = "auto"
    order: Annotated[Literal["best_first", "level", "symmetric"], ""] = "best_first"
    loss: Annotated[str | Loss, one_of("squared_error", "log_loss"), ""] = "squared_error"
    call: Annotated[Callable | None, ""] = None
    several: Annotated[Sequence | None, ""] = None
    anything: Annotated[Any, ""] = None


GOOD = [
    ("count", 1), ("count", 10**30), ("few", 2), ("few", 255), ("few", None), ("rate", "auto"), ("rate", 0.1), ("rate", 3),
    ("part", 0.5), ("portion", 1), ("portion", 1e-9), ("features", 1), ("features", 1.0), ("features", 0.3), ("features", 12),
    ("features", "sqrt"), ("jobs", -1), ("jobs", 4), ("flag", True), ("switch", False), ("switch", "auto"), ("order", "level"),
    ("loss", "log_loss"), ("loss", Loss()), ("call", len), ("several", [1]), ("several", ()), ("anything", object()),
]  # fmt: skip

BAD = [
    ("count", 0, "count must be an integer of at least 1, but it is 0 (int). The default is count=1."),
    ("count", True, "count must be an integer of at least 1, but it is True (bool)."),
    ("count", None, "but it is None. The default is count=1."),
    ("count", 2.0, "but it is 2.0 (float). Write count=2."),
    ("count", "100", "but it is '100' (str). Write count=100."),
    ("count", 2.5, "but it is 2.5 (float). The default is count=1."),
    ("count", float("inf"), "but it is inf (float)."),
    ("few", 1, "few must be an integer from 2 to 255 or None, but it is 1 (int)."),
    ("few", 256, "few must be an integer from 2 to 255 or None, but it is 256 (int)."),
    ("few", "none", "but it is 'none' (str)."),
    ("rate", 0, "rate must be a number above 0 or 'auto', but it is 0 (int)."),
    ("rate", float("nan"), "rate must be a number above 0 or 'auto', but it is nan (float)."),
    ("rate", float("inf"), "but it is inf (float)."),
    ("rate", "Auto", "Did you mean 'auto'?"),
    ("rate", "0.1", "Write rate=0.1."),
    ("rate", False, "but it is False (bool)."),
    ("part", 1.0, "part must be a number above 0 and below 1, but it is 1.0 (float)."),
    ("portion", 0.0, "portion must be a number above 0 and at most 1, but it is 0.0 (float)."),
    ("features", 0, "an integer of at least 1 (a count), a number above 0 and at most 1 (a share) or 'sqrt', but it is 0 (int)."),
    ("features", 1.5, "but it is 1.5 (float)."),
    ("features", 3.0, "but it is 3.0 (float). Write features=3."),
    ("jobs", 0, "jobs must be an integer other than 0 or None, but it is 0 (int)."),
    ("flag", 1, "flag must be True or False, but it is 1 (int)."),
    ("flag", None, "flag must be True or False, but it is None."),
    ("switch", "yes", "switch must be True, False or 'auto', but it is 'yes' (str)."),
    ("order", "best-first", "order must be 'best_first', 'level' or 'symmetric', but it is 'best-first' (str). Did you mean 'best_first'?"),
    ("order", "Symetric", "Did you mean 'symmetric'?"),
    ("order", "xyz", "The default is order='best_first'."),
    ("order", ["level"], "but it is ['level'] (list)."),
    ("loss", "squared", "'squared_error', 'log_loss' or an instance of Loss, but it is 'squared' (str). Did you mean 'squared_error'?"),
    ("loss", Loss, "Loss'> (type). The default is loss='squared_error'."),
    ("call", 3, "call must be a function or None, but it is 3 (int)."),
    ("several", "abc", "several must be a sequence or None, but it is 'abc' (str)."),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), GOOD)
def test_allowed_values_pass(name, value):
    assert check(Everything(**{name: value}))[name] == value


@pytest.mark.parametrize(("name", "value", "text"), BAD)
def test_an_error_names_owner_parameter_allowed_came_and_what_to_do(name, value, text):
    with pytest.raises(ParameterError) as caught:
        check(Everything(**{name: value}))
    message = str(caught.value)
    assert message.startswith(f"Everything: {name} must be ")
    assert text in message
    assert "\n" not in message


def test_a_parameter_error_is_a_value_error():
    with pytest.raises(ValueError, match="count") as caught:
        check(Everything(count=-3))
    assert isinstance(caught.value, WoodwindError)


def test_a_long_value_is_cut():
    with pytest.raises(ParameterError) as caught:
        check(Everything(count="x" * 10_000))
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("name", "given_value", "expected"),
    [
        ("count", np.int8(3), 3),
        ("count", np.uint64(3), 3),
        ("rate", np.float32(0.5), 0.5),
        ("flag", np.bool_(True), True),
        ("order", np.str_("level"), "level"),
        ("rate", 1, 1.0),
        ("rate", np.int32(2), 2.0),
        ("features", np.int16(2), 2),
        ("features", np.float64(1.0), 1.0),
    ],
)
def test_numpy_scalars_count_as_their_python_kinds(name, given_value, expected):
    value = check(Everything(**{name: given_value}))[name]
    assert value == expected
    assert type(value) is type(expected)


def test_numpy_bool_is_not_a_count():
    with pytest.raises(ParameterError, match="count"):
        check(Everything(count=np.bool_(True)))


def test_the_owner_is_left_as_it_was():
    made = Everything(count=np.int64(5))
    check(made)
    assert type(made.count) is np.int64


@pytest.mark.parametrize("group", [BoostParams, TreeParams, SampleParams, StopParams, RunParams, Everything])
def test_every_default_is_allowed(group):
    assert check(group()) == vars(group())


def test_a_group_is_picked_from_checked_values():
    @knobs
    class Both(TreeParams, RunParams):
        """Two groups."""

    tree = pick(TreeParams, check(Both(max_depth=np.int64(4), n_jobs=2)))
    assert type(tree) is TreeParams
    assert (tree.max_depth, tree.growth) == (4, "best_first")
    assert type(tree.max_depth) is int


KINDS = (st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.integers()), st.binary(), st.complex_numbers())


@given(st.one_of(*KINDS))
def test_no_value_whatever_is_met_by_another_kind_of_error(value):
    for name in vars(Everything()):
        with contextlib.suppress(ParameterError):
            check(Everything(**{name: value}))
