"""Values come back as they were: type, bits and order."""

import datetime as dt
import decimal
import math
import zoneinfo

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from reference.model_files import OpenFile
from woodwind import store
from woodwind.base.errors import ModelFileError, NotStorableError
from woodwind.store.codec import DEEPEST


def same(one, other):  # noqa: PLR0911
    """Equal in type and bits, all the way down."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        if one.dtype != other.dtype or one.shape != other.shape or one.flags.fnc != other.flags.fnc:
            return False
        return all(map(same, one.ravel().tolist(), other.ravel().tolist())) if one.dtype.kind in "OT" else one.tobytes() == other.tobytes()
    if isinstance(one, np.generic):
        return one.dtype == other.dtype and one.tobytes() == other.tobytes()
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(map(repr, one)) == list(map(repr, other)) and all(map(same, one.values(), other.values()))
    if isinstance(one, float):
        return (math.isnan(one) and math.isnan(other)) or (one == other and math.copysign(1, one) == math.copysign(1, other))
    return one == other


# With lone surrogates, which no encoding has.
texts = st.text(st.characters(codec=None))
SHAPES = hnp.array_shapes(min_dims=0, min_side=0)
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=-(2**200), max_value=2**200),
    st.floats(),
    texts,
    st.binary(),
    st.dates(),
    st.datetimes(),
    st.datetimes(timezones=st.just(dt.UTC)),
    st.decimals(allow_nan=False),
    hnp.arrays(st.sampled_from(["b1", "i1", "u2", "i4", ">u8", "f2", "f4", "f8", "M8[s]", "m8[D]"]), SHAPES),
    hnp.arrays(st.sampled_from(["<U5", "S3", "<f8", ">f4", "u1"]), hnp.array_shapes(min_dims=1, min_side=0)),
    st.floats().map(np.float64),
    st.integers(-128, 127).map(np.int8),
    texts.map(np.str_),
)
keys = st.one_of(st.text(), st.integers(), st.booleans(), st.floats(allow_nan=False), st.none(), st.tuples(st.integers(), st.text()))
values = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=5),
        st.lists(inner, max_size=5).map(tuple),
        st.dictionaries(st.text(), inner, max_size=5),
        st.dictionaries(keys, inner, max_size=5),
    ),
    max_leaves=20,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("values")


def native(value):
    """Arrays of the other byte order come back in this machine's."""
    if isinstance(value, np.ndarray) and value.dtype.kind not in "OT":
        return value.astype(value.dtype.newbyteorder("="), order="A")
    if isinstance(value, list | tuple):
        return type(value)(map(native, value))
    return {key: native(item) for key, item in value.items()} if isinstance(value, dict) else value


@settings(max_examples=100)
@given(value=values)
def test_plain_values_come_back_and_are_written_the_same_again(folder, value):
    store.save(folder / "one.ww", value)
    back = store.load(folder / "one.ww")
    assert same(native(value), back)
    store.save(folder / "two.ww", back)
    assert (folder / "one.ww").read_bytes() == (folder / "two.ww").read_bytes()


@pytest.mark.parametrize(
    "value",
    [
        {1, 2, "three"},
        frozenset({"a", (1, 2)}),
        np.array(["a", None, 3, 2.5, decimal.Decimal("1.10"), dt.date(2020, 1, 2)], object),
        np.array([["a", "bcd"], ["", "ü"]], np.dtypes.StringDType()),
        np.asfortranarray(np.arange(60.0).reshape(6, 10)),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(100.0)[::3],
        np.array(["2020-01-01", "NaT"], "M8[D]"),
        dt.datetime(2020, 10, 25, 2, 30, fold=1),  # noqa: DTZ001
        decimal.Decimal("Infinity"),
        -(2**53),
        2**53 + 1,
        10**300,
        "\ud83d\ude00",
        {"\ud800": 1, "plain": 2},
        {True: 1, "a": None, 2.5: [], (1, "b"): {}},
        np.float64("nan"),
        np.bool_(True),
        np.datetime64("2020-01-01"),
    ],
    ids=lambda value: type(value).__name__,  # the order of a set is another one in each process
)
def test_special_values_come_back(folder, value):
    store.save(folder / "one.ww", value)
    assert same(value, store.load(folder / "one.ww"))


def nested(depth):
    value = 0
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("value", [nested(DEEPEST), {"a": (nested(DEEPEST - 5),)}])
def test_what_can_be_written_can_be_read(folder, value):
    store.save(folder / "one.ww", value)
    assert store.load(folder / "one.ww") == value


class Own:
    pass


class Derived(float):
    pass


@pytest.mark.parametrize(
    ("value", "predicted"),
    [
        (nested(DEEPEST + 1), "nested more than"),
        ({"loss": Own()}, r"dict\['loss'\] is a Own of .*, which a model file cannot hold"),
        ([1, lambda: 0], r"list\[1\] is the function '<lambda>'"),
        ([Own], r"list\[0\] is the class 'Own'"),
        ([Derived(1.0)], "is a Derived of"),
        (np.zeros(3, np.complex128), "is an array of complex128"),
        (np.zeros(3, [("a", "f8")]), "is an array of"),
        (np.zeros((1,) * 9), "has 9 dimensions"),
        (np.array([Own()], object), "is a Own"),
        (range(3), "is a range"),
        (1j, "is a complex"),
        ([1 << 20_000], "hexadecimals"),
        (dt.datetime(2020, 1, 1, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin")), "has the time zone Europe/Berlin"),
        (np.random.default_rng(0), "is a Generator"),
    ],
)
def test_what_cannot_be_kept_is_named_and_nothing_is_written(tmp_path, value, predicted):
    with pytest.raises(NotStorableError, match=predicted):
        store.save(tmp_path / "one.ww", value)
    assert list(tmp_path.iterdir()) == []


def forged(path, value):
    """A file that says this value, with sums that hold."""
    store.save(path, 0)
    opened = OpenFile.of(path.read_bytes())
    opened.header["value"] = value
    path.write_bytes(opened.data())
    return path


@pytest.mark.parametrize(
    "value",
    [
        {"tuple": 3}, {"tuple": [1], "list": [2]}, {}, {"unknown": 1}, {"dict": []}, {"dict": {"a": {"none": 1}}}, {"pairs": [[1]]},
        {"pairs": [[[], 1]]}, {"pairs": [[1, 2], [1, 3]]}, {"set": [1, 1]}, {"set": [[]]}, {"int": 5}, {"int": "z"}, {"int": "f" * 5000},
        {"float": "1.5"}, {"float": 1.5}, {"float": "infinity"}, {"str": "a"}, {"str": [-1]}, {"str": [1114112]}, {"str": [1.0]},
        {"bytes": "a"}, {"bytes": "zz"}, {"bytes": 5}, {"decimal": "x"}, {"decimal": "1é"}, {"date": "2020"}, {"date": "yesterday"},
        {"datetime": 5}, {"array": 0}, {"array": -1}, {"turned": 0}, {"thing": 0}, {"thing": -1}, {"thing": "0"}, {"thing": True},
        {"small": []}, {"small": ["<f8", [1], "00"]}, {"small": ["<f8", [2], "00" * 8]}, {"small": ["|O8", [1], "00" * 8]},
        {"small": ["<f8", [9], "00" * 72]}, {"small": ["<f8", [-1, 0], ""]}, {"small": ["<f8", [2**28, 2**28, 0], ""]},
        {"small": ["|b1", [1], "02"]}, {"small": ["<U1", [1], "ffffffff"]}, {"small": [5, [1], "00"]}, {"small": ["<f8", 1, "00"]},
        {"scalar": ["<f8", "00"]}, {"scalar": ["<f8"]}, {"scalar": 5}, {"objects": [[2], [1]]}, {"objects": [[1, 0], [1]]}, {"objects": 1},
        {"text": 5}, {"text": {"int": "f"}},
        {"objects": [[2**28, 0, 2**28], []]}, {"texts": [[1], [5]]}, 2**53 + 1, -(2**60), nested(2 * DEEPEST),
    ],
    ids=repr,
)  # fmt: skip
def test_values_that_nobody_writes_are_refused(tmp_path, value):
    with pytest.raises(ModelFileError):
        store.load(forged(tmp_path / "one.ww", value))


def test_every_array_belongs_to_one_place(tmp_path):
    path = tmp_path / "one.ww"
    store.save(path, [np.arange(20.0), np.arange(30.0)])
    for value in ([{"array": 0}], [{"array": 0}, {"array": 0}], [{"array": 0}, {"array": 1}, {"turned": 1}], [{"array": 1}, {"array": 2}]):
        opened = OpenFile.of(path.read_bytes())
        opened.header["value"] = value
        (tmp_path / "two.ww").write_bytes(opened.data())
        with pytest.raises(ModelFileError):
            store.load(tmp_path / "two.ww")


def test_what_is_expected_is_asked_for(tmp_path):
    store.save(tmp_path / "one.ww", [1])
    assert store.load(tmp_path / "one.ww", expect=list) == [1]
    with pytest.raises(ModelFileError, match="it holds a list, not a dict or str"):
        store.load(tmp_path / "one.ww", expect=(dict, str))
