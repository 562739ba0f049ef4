"""What is done with a table grows with its columns, not with their square."""

import sys
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import woodwind
from reference.coded import coded
from woodwind.auto.facts.importance import inputs
from woodwind.data.reading.files import _common_names
from woodwind.data.tables.schema import Header, Schema
from woodwind.data.tables.table_errors import repeated_names
from woodwind.estimators.boosting.plan import interactions, monotonic
from woodwind.tree.code_layouts import SharedBytes

FEW, MANY = 40, 160  # columns


class Name(str):
    """A name that counts how often it is compared with another, or looked up."""

    __slots__ = ()
    compared = 0

    def __eq__(self, other):
        Name.compared += 1
        return str.__eq__(self, other)

    def __hash__(self):
        Name.compared += 1
        return str.__hash__(self)


def named(count):
    return tuple(Name(f"column {number}") for number in range(count))


def schema_of(names):
    trained, _ = Schema.learn(np.zeros((3, len(names))) + np.arange(3.0)[:, None])
    fields = tuple(replace(field, name=name) for field, name in zip(trained.fields, names, strict=True))
    return Schema(names, fields)


def place_columns(count):
    Header(named(count), count).positions(SimpleNamespace(names=named(count)[::-1], n_columns=count), "fit", named(count)[:9])


def find_inputs(count):
    model = SimpleNamespace(schema=schema_of(named(count)))
    inputs(SimpleNamespace(model=model, X=SimpleNamespace(column_names=named(count)[::-1])))


def constrain(count):
    names = named(count)
    schema = schema_of(named(count))
    monotonic(dict.fromkeys(names, 1), schema, "fit")
    interactions([list(names[: count // 2])], schema, "fit")


def mark(count):
    Schema.learn(pa.table(dict(zip(named(count), [pa.array([1, 2])] * count, strict=True))), named(count))


def join_files(count):
    parts = [SimpleNamespace(names=list(named(count))), SimpleNamespace(names=list(named(count)[::-1]))]
    _common_names(parts, None)


@pytest.mark.parametrize("work", [place_columns, find_inputs, constrain, mark, join_files, lambda count: repeated_names(named(count) * 2)])
def test_names_are_compared_a_few_times_for_each_column(work):
    """A list that is searched once for each name compares all pairs: 800 names for 40 columns, 13,000 for 160."""
    found = {}
    for count in (FEW, MANY):
        Name.compared = 0
        work(count)
        found[count] = Name.compared
    assert found[MANY] <= 20 * MANY
    assert found[MANY] <= 4.5 * max(found[FEW], FEW)


def calls_of(work):
    """How many calls of functions, in Python and compiled ones, some work takes."""
    count = Counter()
    sys.setprofile(lambda frame, event, arg: count.update([event]))
    try:
        work()
    finally:
        sys.setprofile(None)
    return count["call"] + count["c_call"]


def wide(columns, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, columns)).round(2)
    X[:, ::7] = rng.integers(0, 3, (30, len(range(0, columns, 7))))
    return X, (X[:, 0] + X[:, 1] > 0).astype(int)


def table_of(columns):
    X, y = wide(columns)
    return {**{f"x{number}": values for number, values in enumerate(X.T)}, "y": y}


def boost(columns):
    X, y = wide(columns)
    model = woodwind.GradientBoostingClassifier(n_estimators=2, early_stopping=False, n_jobs=1).fit(X, y)
    return model, X


@pytest.mark.parametrize(
    "work",
    [
        lambda columns: woodwind.RandomForestClassifier(n_estimators=2, n_jobs=1).fit(*wide(columns)),
        lambda columns: woodwind.ExtraTreesClassifier(n_estimators=2, n_jobs=1).fit(*wide(columns)),
        lambda columns: boost(columns)[0].predict_proba(boost(columns)[1]),
        lambda columns: boost(columns)[0].explain(boost(columns)[1][:2]),
        lambda columns: woodwind.fit(table_of(columns), "y", models=2, threads=1),
    ],
)
def test_calls_grow_no_faster_than_columns(work):
    work(FEW)  # what is imported and loaded on first use
    few, many = calls_of(lambda: work(FEW)), calls_of(lambda: work(MANY))
    assert many <= 4.4 * few


def test_the_steps_in_which_a_row_is_added_are_made_without_a_loop_over_its_words():
    def steps(columns):
        by_column = np.random.default_rng(0).integers(0, 40, (columns, 20)).astype(np.uint8)
        codes = coded(by_column, np.full(columns, 40, np.int32), np.zeros(columns, np.bool_))
        return lambda: SharedBytes(codes, np.arange(columns + 1) * codes.width, [], 1)

    steps(8)()
    assert calls_of(steps(4000)) <= calls_of(steps(40)) + 10
