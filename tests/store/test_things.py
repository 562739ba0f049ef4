"""Things of the kinds that a file can hold: they come back whole, or not at all."""

import importlib
from dataclasses import fields, is_dataclass, replace

import numpy as np
import pandas as pd
import pytest

from reference.model_files import OpenFile, save_unproved
from woodwind import store
from woodwind.base.errors import DataError, ManyCategoriesWarning, ModelFileError, NotStorableError
from woodwind.data.binning.cuts import Cuts
from woodwind.data.binning.ranks import Ranking
from woodwind.data.tables.matrix_form import MatrixForm
from woodwind.data.tables.schema import Schema
from woodwind.estimators.boosting.gradient_boosting import GradientBoostingClassifier
from woodwind.estimators.forests.forests import RandomForestClassifier, RandomForestRegressor
from woodwind.losses import ALL
from woodwind.store import decoding
from woodwind.store.kinds import KINDS, class_of, hints_of


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    n = 300
    return pd.DataFrame(
        {
            "number": rng.random(n).astype(np.float32),
            "gaps": np.where(rng.random(n) < 0.2, np.nan, rng.random(n)),
            "level": rng.choice(["ü", "v", ""], n),
            "many": rng.choice([f"level {k}" for k in range(1000)], n),
            "code": pd.Categorical(rng.integers(0, 5, n)),
            "when": pd.date_range("2020-01-01", periods=n, freq="37h", tz="Europe/Berlin"),
            "empty": pd.Series([None] * n, dtype="float64"),
        }
    )


@pytest.fixture(scope="module")
def target(table):
    return table["number"].to_numpy() + (table["level"] == "v")


@pytest.fixture(scope="module")
def things(table, target):
    labels = np.digitize(target, [0.5, 1.0])
    with pytest.warns(ManyCategoriesWarning, match="column 'many'"):
        boosted = GradientBoostingClassifier(n_estimators=5, random_state=0, categorical_encoding="sets").fit(table, labels)
    with pytest.warns(ManyCategoriesWarning, match="column 'many'"):
        classes = RandomForestClassifier(n_estimators=5, random_state=0, min_samples_leaf=5, categorical_encoding="sets").fit(table, labels)
    with pytest.warns(ManyCategoriesWarning, match="column 'many'"):
        numbers = RandomForestRegressor(n_estimators=5, random_state=0, quantiles=True, categorical_encoding="sets").fit(table, target)
    schema, read = Schema.learn(table)
    return {
        "Forest": boosted.forest_,
        "CompactForest": classes.compact_forest_,
        "numbers": numbers.compact_forest_,
        "LeafRows": numbers.leaf_rows_,
        "Schema": schema,
        "Header": schema.header,
        "MatrixForm": MatrixForm.learn(table),
        "Cuts": Cuts.fit(read, 32),
        "Ranking": Ranking.fit(read),
    }


def test_things_come_back_and_are_written_the_same_again(things, table, tmp_path):
    one, two = tmp_path / "one.ww", tmp_path / "two.ww"
    store.save(one, things)
    back = store.load(one)
    store.save(two, back)
    assert one.read_bytes() == two.read_bytes()
    read, again = things["Schema"].read(table), back["Schema"].read(table)
    assert back["Forest"].digest() == things["Forest"].digest()
    assert np.array_equal(back["Forest"].raw(again), things["Forest"].raw(read))
    for name in ("CompactForest", "numbers"):
        assert np.array_equal(back[name].mean(again), things[name].mean(read))
    wanted = np.array([0.1, 0.9])
    assert np.array_equal(
        back["LeafRows"].quantiles(back["numbers"], again, wanted), things["LeafRows"].quantiles(things["numbers"], read, wanted)
    )
    assert np.array_equal(back["MatrixForm"].of(table), things["MatrixForm"].of(table))
    assert np.array_equal(back["Cuts"].encode(again).by_row, things["Cuts"].encode(read).by_row)
    assert back["Schema"].to_dict() == things["Schema"].to_dict()


def test_a_thing_that_is_part_of_two_is_there_once(things, tmp_path):
    store.save(tmp_path / "one.ww", [things["Forest"], {"again": things["Forest"]}, (things["Schema"],)])
    back = store.load(tmp_path / "one.ww")
    assert back[0] is back[1]["again"]
    assert back[2][0] is not back[0]


@pytest.mark.parametrize("loss", ALL, ids=repr)
def test_losses_come_back(loss, tmp_path):
    store.save(tmp_path / "one.ww", loss)
    assert store.load(tmp_path / "one.ww") == loss


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_says_what_its_parts_are(name):
    cls = class_of(name)
    assert isinstance(cls, type)
    if KINDS[name].persister:
        module, persister = KINDS[name].persister.split(":")
        found = getattr(importlib.import_module(module), persister)
        assert callable(found.parts)
        assert callable(found.whole)
    else:
        assert is_dataclass(cls) or hasattr(cls, "_fields")
        assert [part for part, hint in hints_of(cls).items() if isinstance(hint, str)] == [], "annotations that are text cannot be checked"


def forge(things, name, tmp_path, change):
    """A file of one thing, changed before it is put together with sums that hold."""
    path = tmp_path / "one.ww"
    store.save(path, things[name])
    opened = OpenFile.of(path.read_bytes())
    change(opened.header)
    path.write_bytes(opened.data())
    return path


def refused(path, predicted="damaged"):
    with pytest.raises(ModelFileError, match=predicted):
        store.load(path)


def test_parts_that_are_missing_unknown_or_of_another_type_are_refused(things, tmp_path):
    def dropped(header):
        del header["things"][-1]["parts"]["n_outputs"]

    def added(header):
        header["things"][-1]["parts"]["extra"] = 1

    def changed(header):
        header["things"][-1]["parts"]["n_outputs"] = "3"

    def renamed(header):
        header["things"][-1]["kind"] = "CompactForest"

    def unknown(header):
        header["things"][-1]["kind"] = "os:system"

    def swapped(header):
        parts = header["things"][-1]["parts"]
        parts["feature"], parts["threshold"] = parts["threshold"], parts["feature"]

    for change, predicted in (
        (dropped, "Forest has no n_outputs"),
        (added, "should not have: extra"),
        (changed, "n_outputs of Forest is not what it should be"),
        (renamed, "CompactForest has no"),
        (unknown, "'os:system', which this version of Woodwind does not know"),
        (swapped, "feature of Forest"),
    ):
        refused(forge(things, "Forest", tmp_path, change), predicted)


def test_a_thing_cannot_be_part_of_itself_or_of_a_later_one(things, tmp_path):
    def itself(header):
        header["things"][0]["parts"]["name"] = {"thing": 0}

    def reversed_things(header):
        header["things"].reverse()

    def unused(header):
        header["things"].insert(0, {"kind": "NumberField", "parts": {"name": "spare"}})
        header["value"] = {"thing": len(header["things"]) - 1}

    for change in (itself, reversed_things, unused):
        refused(forge(things, "Schema", tmp_path, change))


def test_things_are_not_part_of_each_other_without_end(things, tmp_path, monkeypatch):
    store.save(tmp_path / "one.ww", things["Schema"])
    assert store.load(tmp_path / "one.ww").n_inputs == 7
    monkeypatch.setattr(decoding, "MOST_TIMES", 0)
    monkeypatch.setattr(decoding, "MOST_MORE", 7)
    refused(tmp_path / "one.ww", "part of each other too often")
    with pytest.raises(NotStorableError, match="part of each other too often"):
        store.save(tmp_path / "two.ww", things["Schema"])


FORGERIES = {
    "Forest": {
        "child": [lambda a: a - 1, lambda a: a + 1, lambda a: a * 0],
        "feature": [lambda a: a + 100, lambda a: a * 0, lambda a: a - 1],
        "roots": [lambda a: a[::-1], lambda a: a + 1, lambda a: a[:-1]],
        "value": [lambda a: a * np.nan, lambda a: a[:-1], lambda a: np.concatenate([a, a], axis=1)],
        "missing": [lambda a: a + 3],
        "sets": [lambda a: a + 1, lambda a: a + 2**40],
        "threshold": [lambda a: a * np.nan],
        "output": [lambda a: a + 5],
    },
    "CompactForest": {
        "nodes": [lambda a: a + np.uint64(1), lambda a: a[:-2], lambda a: a[:-1], lambda a: a | np.uint64(1 << 63), lambda a: ~a],
        "roots": [lambda a: a[::-1], lambda a: a + 1, lambda a: a[:-1], lambda a: a - 1],
        "leaf": [lambda a: a + 3, lambda a: a - 10**6, lambda a: a[:-1]],
        "mixed": [lambda a: -a, lambda a: a * np.nan, lambda a: a * 1000, lambda a: a[:, :-1], lambda a: a[:-1]],
        "cover": [lambda a: a * 0, lambda a: -a, lambda a: a[:-1], lambda a: a / 1000, lambda a: a * np.inf],
        "n_categories": [lambda a: a[:-1], lambda a: a + 300, lambda a: a * 0],
        "importance": [lambda a: a - 5.0],
        "n_classes": [lambda a: 2, lambda a: 0, lambda a: -1],
    },
    "numbers": {
        "mixed": [lambda a: a * np.nan, lambda a: a[:-1]],
        "n_classes": [lambda a: 3],
        "words": [lambda a: a[:3], lambda a: ~(a * 0)],
    },
    "LeafRows": {
        "rank": [lambda a: a + 10**6, lambda a: a - 1, lambda a: a[:-1]],
        "weight": [lambda a: a * 0, lambda a: -a, lambda a: a[:-1]],
        "span": [lambda a: a + 1, lambda a: a[::-1], lambda a: a[:-1]],
        "values": [lambda a: a[::-1], lambda a: a[:3], lambda a: a * np.nan],
        "levels": [lambda a: a + 2.0, lambda a: a[:-1]],
    },
    "Schema": {"names": [lambda a: a[:-1], lambda a: (*a[:-1], a[0])]},
    "Header": {"n_columns": [lambda a: a + 1, lambda a: 0, lambda a: -1]},
    "MatrixForm": {"parts": [lambda a: a[:-1], lambda a: a[::-1], lambda a: ()]},
    "Cuts": {
        "edges": [lambda a: a[:-1], lambda a: (a[0][::-1], *a[1:]), lambda a: (a[0] * np.nan, *a[1:])],
        "n_bins": [lambda a: a + 1, lambda a: a[:-1], lambda a: a * 0],
        "width": [lambda a: 512, lambda a: 4, lambda a: 0],
        "is_category": [lambda a: ~a, lambda a: a[:-1]],
    },
    "Ranking": {"n_categories": [lambda a: a - 1, lambda a: a + 300]},
}
CASES = [(name, part, number) for name, parts in FORGERIES.items() for part, changes in parts.items() for number in range(len(changes))]


@pytest.mark.parametrize(("name", "part", "number"), CASES)
def test_arrays_that_would_lead_astray_are_refused(things, tmp_path, name, part, number):
    thing = things[name]
    value = FORGERIES[name][part][number](getattr(thing, part))
    value = value.astype(getattr(thing, part).dtype) if isinstance(value, np.ndarray) else value
    forged = replace(thing, **{part: value}, **({"_stops": []} if "_stops" in [one.name for one in fields(thing)] else {}))
    with pytest.raises(DataError):
        forged.check()
    with pytest.raises(NotStorableError, match="could not be opened again"):
        store.save(tmp_path / "one.ww", forged)
    save_unproved(tmp_path / "one.ww", forged)
    refused(tmp_path / "one.ww", "is damaged")


def test_leaves_of_another_forest_are_refused(things):
    with pytest.raises(DataError, match="one list of targets each"):
        things["LeafRows"].check_for(things["CompactForest"])


def test_levels_that_nobody_learns_are_refused(things, tmp_path):
    path = tmp_path / "one.ww"
    (field,) = (field for field in things["Schema"].fields if field.name == "many")
    size = len(field.categories.values)
    assert size > 253
    for change in (
        lambda parts: parts.__setitem__("begins", {"small": ["<i8", [1], "00" * 8]}),
        lambda parts: parts.__setitem__("text", {"small": ["|u1", [0], ""]}),
        lambda parts: parts.pop("begins"),
        lambda parts: parts.__setitem__("numbers", parts.pop("text")),
    ):
        store.save(path, field.categories)
        opened = OpenFile.of(path.read_bytes())
        change(opened.header["things"][0]["parts"])
        path.write_bytes(opened.data())
        refused(path)
    for codes in (
        field.categories.codes + 1,
        np.zeros(size, np.int32),
        field.categories.codes[::-1].copy(),
        np.arange(size, dtype=np.int32),
    ):
        save_unproved(path, replace(field.categories, codes=codes))
        refused(path, "code|levels")
    store.save(path, field.categories)
    opened = OpenFile.of(path.read_bytes())
    opened.blocks[0] = b"\xff" + opened.blocks[0][1:]
    path.write_bytes(opened.data())
    refused(path)
