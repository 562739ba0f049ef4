"""Survival times in every form that people give them, and what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from woodwind.base.errors import TargetError
from woodwind.data.tables.survival_times import read_survival_times

INF = np.inf
EVENT, TIME = [True, False, True], [5.0, 7.0, 2.5]
BOUNDS = [[5.0, 5.0], [7.0, INF], [2.5, 2.5]]


def structured(event=EVENT, time=TIME, names=("event", "time"), kinds=(bool, float)):
    return np.array(list(zip(event, time, strict=True)), dtype=list(zip(names, kinds, strict=True)))


def forms():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    swapped = np.array(list(zip(TIME, EVENT, strict=True)), dtype=[("Survival_in_days", float), ("Status", bool)])
    return {
        "structured": structured(),
        "time first": swapped,
        "whole events": structured(kinds=(int, float)),
        "other names": structured(names=("cens", "futime"), kinds=(np.int8, np.int32), time=[5, 7, 2]),
        "pandas": pd.DataFrame({"time": TIME, "event": EVENT}),
        "pandas, 0 and 1": pd.DataFrame({"duration": TIME, "status": [1, 0, 1]}),
        "pandas, bounds": pd.DataFrame({"upper": [5.0, INF, 2.5], "lower": TIME}),
        "polars": pl.DataFrame({"event": EVENT, "t": TIME}),
        "bounds": np.array(BOUNDS),
        "list of bounds": BOUNDS,
    }


def test_every_form_is_the_same_bounds():
    for name, given in forms().items():
        found, told = read_survival_times(given, "Model")
        expected = np.array(BOUNDS) if name != "other names" else [[5, 5], [7, INF], [2, 2]]
        assert_array_equal(found, expected, err_msg=name)
        assert told


def test_times_alone_are_events_that_were_all_seen():
    found, told = read_survival_times(TIME, "Model")
    assert_array_equal(found, np.column_stack([TIME, TIME]))
    assert not told


BAD = {
    "negative": (structured(time=[5.0, -1.0, -2.0]), r"time must not be negative, but there is -1 in row 1, -2 in row 2"),
    "missing": (structured(time=[np.nan, 1.0, 2.0]), r"time must not be missing \(NaN\), but there is nan in row 0"),
    "infinite": (structured(time=[INF, 1.0, 2.0]), "time must not be infinity"),
    "large": (structured(time=[1e200, 1.0, 2.0]), "larger than 1e100"),
    "event of 2": (structured(event=[0, 1, 2], kinds=(int, float)), "event must be 0 or 1, or False or True, but there is 2 in row 2"),
    "event missing": (structured(event=[0, 1, np.nan], kinds=(float, float)), "event must be 0 or 1.*nan in row 2"),
    "crossed": ([[1.0, 2.0], [3.0, 2.5]], r"y\[:, 1\] must not be below the lower bound, but there is 2.5 in row 1"),
    "upper missing": ([[1.0, 2.0], [3.0, np.nan]], r"y\[:, 1\] must not be missing \(NaN\)"),
    "signed": ([1.0, -2.0, 3.0], "must not be negative.*told by an event of False"),
    "pairs": (list(zip(EVENT, TIME, strict=True)), "holds nothing but 0 and 1, as an event does. Give events with times as a structured"),
    "three columns": (np.ones((4, 3)), "y has 3 columns, and survival times have two"),
    "cube": (np.ones((2, 2, 2)), r"y has the shape \(2, 2, 2\)"),
    "nothing": (None, "requires y to be passed"),
    "empty": ([], "y is empty"),
    "text": ("time", "y is a str"),
    "words": (["a", "b"], "y must hold numbers"),
    "dates": (np.array(["2020-01-01"], "M8[D]"), "holds dates or durations"),
    "complex": (np.array([1j]), "Complex data not supported"),
    "unnamed roles": (structured(names=("a", "b"), kinds=(int, float)), "'a' and 'b', do not tell which is the event"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_survival_time_is_refused_in_one_line(name):
    given, words = BAD[name]
    with pytest.raises(TargetError, match=words) as caught:
        read_survival_times(given, "Model")
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("Model")
