"""Survival times as a target: what is known of the time of each row's event, as bounds (lower, upper].

An event at time t is (t, t); one that had not come by t, a row censored on the right, is (t, inf); one that came by t is (0, t).
Bounds are what every form in which people give survival times becomes.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import TargetError

Floats = NDArray[np.float64]

# Names of columns that tell what they are, where their type does not.
ROLES = {
    "event": ("event", "events", "status", "observed", "event_observed", "event_indicator", "death", "died", "dead", "fustat", "cens"),
    "time": ("time", "times", "duration", "durations", "survival_time", "event_time", "days", "months", "years", "t", "futime"),
    "lower": ("lower", "lower_bound", "label_lower_bound", "y_lower", "left", "low"),
    "upper": ("upper", "upper_bound", "label_upper_bound", "y_upper", "right", "high"),
}
FORMS = (
    "Give a structured array or a frame with an event (True or False) and a time, or two columns of numbers, the lower and the upper bound "
    "of the time, with infinity above where no event was seen"
)


def is_bounds(y: Any) -> bool:
    """Whether a target has two columns or fields: bounds, or event and time."""
    if hasattr(y, "columns"):
        return len(y.columns) == 2
    names = getattr(getattr(y, "dtype", None), "names", None)
    if names is not None:
        return len(names) == 2
    shape = getattr(y, "shape", None)
    if shape is None and isinstance(y, list | tuple) and len(y) and isinstance(y[0], list | tuple | np.ndarray):
        return all(isinstance(row, list | tuple | np.ndarray) and len(row) == 2 for row in y)
    return shape is not None and len(shape) == 2 and shape[1] == 2 and not hasattr(y, "tocsc")


def read_bounds(y: Any, owner: str) -> Floats | None:
    """Bounds (n, 2) of any numbers, negative ones and minus infinity included; None where y has one column."""
    columns = _columns(y, owner)
    if len(columns) == 1:
        return None
    if len(columns) != 2:
        raise TargetError(f"{owner}: y should be a 1d array, or two columns of bounds, but it has {len(columns)} columns.")
    roles = _roles(columns, owner)
    if "event" in roles:
        return _from_events(columns[roles["event"]], columns[roles["time"]], owner)
    return _from_bounds(columns[roles["lower"]], columns[roles["upper"]], owner, signed=True)


def read_survival_times(y: Any, owner: str) -> tuple[Floats, bool]:
    """Bounds (n, 2), and whether events were told; where they are not, a list of times is one of events that were all seen.

    Raises TargetError in one line that names the first rows which are wrong.
    """
    columns = _columns(y, owner)
    if len(columns) == 1:
        time = _numbers(columns[0][1], owner, "y")
        _check_times(time, "y", owner)
        return np.column_stack([time, time]), False
    if len(columns) != 2:
        raise TargetError(f"{owner}: y has {len(columns)} columns, and survival times have two. {FORMS}.")
    roles = _roles(columns, owner)
    if "event" in roles:
        return _from_events(columns[roles["event"]], columns[roles["time"]], owner), True
    return _from_bounds(columns[roles["lower"]], columns[roles["upper"]], owner), True


def _columns(y: Any, owner: str) -> list[tuple[str, NDArray[Any]]]:
    """The columns of a target with their names, "" for none."""
    if y is None:
        raise TargetError(f"{owner} requires y to be passed, but the target y is None. {FORMS}.")
    if hasattr(y, "tocsc") or isinstance(y, str | bytes | dict | set | frozenset) or callable(y):
        kind = "sparse matrix" if hasattr(y, "tocsc") else type(y).__name__
        raise TargetError(f"{owner}: y is a {kind}, which holds no survival times. {FORMS}.")
    if hasattr(y, "columns") and hasattr(y, "__getitem__"):
        names = [str(name) for name in y.columns]
        columns = [(name, np.asarray(y[key])) for name, key in zip(names, y.columns, strict=True)]
    else:
        try:
            array = np.asarray(y)
        except (ValueError, TypeError) as error:
            raise TargetError(f"{owner}: y cannot be read as survival times: {error}. {FORMS}.") from error
        if array.dtype.names is not None:
            columns = [(name, array[name].reshape(-1)) for name in array.dtype.names]
        elif array.ndim == 1:
            columns = [("", array)]
        elif array.ndim == 2:
            columns = [("", array[:, k]) for k in range(array.shape[1])]
        else:
            raise TargetError(f"{owner}: y has the shape {array.shape}. {FORMS}.")
    if not columns or not len(columns[0][1]):
        raise TargetError(f"{owner}: y is empty. Give one time for each row of X.")
    return columns


def _roles(columns: list[tuple[str, NDArray[Any]]], owner: str) -> dict[str, int]:
    """Which of two columns is the event and which the time, or which the lower and which the upper bound."""
    names = [name.lower() for name, _ in columns]
    by_type = [k for k, (_, values) in enumerate(columns) if values.dtype.kind == "b"]
    if len(by_type) == 1:
        return {"event": by_type[0], "time": 1 - by_type[0]}
    told = [next((role for role, known in ROLES.items() if name in known), "") for name in names]
    for role, other in (("event", "time"), ("time", "event"), ("lower", "upper"), ("upper", "lower")):
        for k in (0, 1):
            if told[k] == role and told[1 - k] in (other, ""):
                return {role: k, other: 1 - k}
    if any(names):
        raise TargetError(
            f"{owner}: the columns of y, {columns[0][0]!r} and {columns[1][0]!r}, do not tell which is the event. Make it True or False, "
            "or name them 'event' and 'time', or 'lower' and 'upper'."
        )
    _refuse_events_as_bounds(columns[0][1], columns[1][1], owner)
    return {"lower": 0, "upper": 1}


def _refuse_events_as_bounds(first: NDArray[Any], second: NDArray[Any], owner: str) -> None:
    """Two columns of numbers of which one is 0 or 1 and nothing is infinite are events with times, not bounds."""
    lower, upper = _numbers(first, owner, "y[:, 0]"), _numbers(second, owner, "y[:, 1]")
    bounded = bool(np.isfinite(lower).all() and np.isfinite(upper).all())
    for name, column, other in (("first", lower, upper), ("second", upper, lower)):
        if bounded and np.isin(column, (0.0, 1.0)).all() and not np.isin(other, (0.0, 1.0)).all():
            raise TargetError(
                f"{owner}: two columns of numbers are the lower and the upper bound of a time, and the {name} one holds nothing but 0 and "
                "1, as an event does. Give events with times as a structured array, "
                "numpy.array([(True, 5.0), (False, 7.0)], dtype=[('event', bool), ('time', float)])."
            )


def _from_events(event: tuple[str, NDArray[Any]], time: tuple[str, NDArray[Any]], owner: str) -> Floats:
    happened, when = _numbers(event[1], owner, event[0]), _numbers(time[1], owner, time[0])
    _refuse(~np.isin(happened, (0.0, 1.0)), happened, event[0], owner, "must be 0 or 1, or False or True", "1 is an event that was seen.")
    _check_times(when, time[0], owner)
    return np.column_stack([when, np.where(happened == 1.0, when, np.inf)])


def _from_bounds(lower: tuple[str, NDArray[Any]], upper: tuple[str, NDArray[Any]], owner: str, signed: bool = False) -> Floats:
    names = (lower[0] or "y[:, 0]", upper[0] or "y[:, 1]")
    low, high = _numbers(lower[1], owner, names[0]), _numbers(upper[1], owner, names[1])
    if signed:
        _refuse(np.isnan(low), low, names[0], owner, "must not be missing (NaN)", "Where nothing is known below, it is minus infinity.")
        _refuse(low == np.inf, low, names[0], owner, "must not be infinity", "Nothing is above it.")
    else:
        _check_times(low, names[0], owner)
    _refuse(np.isnan(high), high, names[1], owner, "must not be missing (NaN)", "Where no event was seen, it is infinity.")
    _refuse(high < low, high, names[1], owner, "must not be below the lower bound", "Give (lower, upper] of each time.")
    return np.column_stack([low, high])


def _check_times(time: Floats, name: str, owner: str) -> None:
    _refuse(np.isnan(time), time, name, owner, "must not be missing (NaN)", "Drop those rows: nothing is known of them.")
    _refuse(np.isinf(time), time, name, owner, "must not be infinity", "An event that was not seen has the last time at which one looked.")
    advice = "Times are not negative; a row without an event is told by an event of False, or by an upper bound of infinity."
    _refuse(time < 0.0, time, name, owner, "must not be negative", advice)
    _refuse(time > 1e100, time, name, owner, "must not be larger than 1e100", "Give times in a larger unit.")


def _numbers(values: NDArray[Any], owner: str, name: str) -> Floats:
    if values.dtype.kind == "c":
        raise TargetError(f"{owner}: Complex data not supported: {name} is of type {values.dtype}. {FORMS}.")
    if values.dtype.kind in "mM":
        raise TargetError(f"{owner}: {name} holds dates or durations. Turn them into numbers first, such as days.")
    try:
        return np.array([np.nan if value is None else value for value in values] if values.dtype.kind == "O" else values, np.float64)
    except (ValueError, TypeError) as error:
        raise TargetError(f"{owner}: {name} must hold numbers, but it is of type {values.dtype} ({error}). {FORMS}.") from error


def _refuse(wrong: NDArray[np.bool_], values: Floats, name: str, owner: str, demand: str, advice: str) -> None:
    rows = np.flatnonzero(wrong)
    if rows.size:
        shown = ", ".join(f"{values[row]:g} in row {row}" for row in rows[:3])
        more = f" and {rows.size - 3:,} more" if rows.size > 3 else ""
        raise TargetError(f"{owner}: {name or 'y'} {demand}, but there is {shown}{more}. {advice}")


def check_right_censored(bounds: Floats, owner: str, what: str) -> None:
    """Refuse bounds of times that are neither an event nor censored on the right."""
    between = (bounds[:, 1] > bounds[:, 0]) & np.isfinite(bounds[:, 1])
    rows = np.flatnonzero(between)
    if rows.size:
        low, high = bounds[rows[0]]
        raise TargetError(
            f"{owner}: {what} is for events and for rows that are censored on the right, but {rows.size:,} times are known within bounds, "
            f"first in row {rows[0]}, from {low:g} to {high:g}. Use loss='aft', or give them one time."
        )


def is_event(bounds: Floats) -> NDArray[np.bool_]:
    """Rows whose event was seen: at a time, or by a time."""
    return np.isfinite(bounds[:, 1])


def nelson_aalen(bounds: Floats, weight: Floats | None = None) -> tuple[Floats, Floats]:
    """Times at which something happened, and the cumulative hazard after each: deaths over rows at risk, added up.

    A time within bounds counts as an event at its upper bound.
    """
    times, deaths, at_risk = life_table(bounds, weight)
    return times, np.asarray(np.cumsum(deaths / at_risk))


def kaplan_meier(bounds: Floats, weight: Floats | None = None) -> tuple[Floats, Floats]:
    """Times at which something happened, and the share that survives each: the product of what deaths leave."""
    times, deaths, at_risk = life_table(bounds, weight)
    return times, np.asarray(np.cumprod(1.0 - deaths / at_risk))


def life_table(bounds: Floats, weight: Floats | None = None) -> tuple[Floats, Floats, Floats]:
    """Times at which a row had its event or left, the weight of events at each, and the weight of the rows at risk just before."""
    event = is_event(bounds)
    when = np.where(event, bounds[:, 1], bounds[:, 0])
    times, group = np.unique(when, return_inverse=True)
    count = np.ones(len(when)) if weight is None else weight
    gone = np.asarray(np.bincount(group, count, minlength=len(times)), np.float64)
    deaths = np.asarray(np.bincount(group, count * event, minlength=len(times)), np.float64)
    return times, deaths, np.asarray(np.cumsum(gone[::-1])[::-1])


def at_times(times: Floats, values: Floats, asked: Any, before: float) -> Floats:
    """A step function that has `values` from `times` on, and `before` earlier, at the times asked."""
    place = np.searchsorted(times, np.asarray(asked, np.float64), side="right") - 1
    return np.where(place >= 0, values[np.maximum(place, 0)], before)
