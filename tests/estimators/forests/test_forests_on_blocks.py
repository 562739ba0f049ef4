"""Forests trained on tables in blocks: the model file is that of a training in memory, byte for byte."""

import os

import numpy as np
import pandas as pd
import pytest

import woodwind
from woodwind.base.errors import DataError, ParameterError
from woodwind.base.mapped import MappedRoom
from woodwind.data.binning.forest_codes import ForestCodes, mapped_forest_codes
from woodwind.data.tables.schema import Schema

FOREST, NUMBERS = woodwind.RandomForestClassifier, woodwind.RandomForestRegressor
EXTRA, EXTRA_NUMBERS = woodwind.ExtraTreesClassifier, woodwind.ExtraTreesRegressor
COLUMNS = [*"abcd", "few", "word", "many"]


def frame(kind, n=1500, seed=0):
    """Numbers with gaps, infinities and two zeros, few values, words, many words and a target of the kind."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    table["b"] = table.b.round(1)
    table["c"] = table.c.astype(np.float32)
    table.loc[:5, "d"] = [np.inf, -np.inf, -0.0, 0.0, 1e300, np.nan]
    table["few"] = rng.integers(0, 4, n)
    table["word"] = rng.choice(["x", "y", "z", None], n)
    table["many"] = rng.integers(0, 400, n).astype(str)
    table.iloc[rng.random(n) < 0.2, 0] = np.nan
    score = np.nan_to_num(table.a) + table.b * table.c + (table.word == "x") + 0.3 * rng.normal(size=n)
    targets = {"number": score, "two": np.where(score > 0.3, "yes", "no"), "three": np.digitize(score, [-0.7, 0.7])}
    return table.assign(y=targets[kind], w=rng.uniform(0.2, 3.0, n), times=rng.integers(1, 4, n))


# Estimator, target, options, weights; forests that draw few rows grow trees on copies of them.
CASES = {
    "two classes": (FOREST, "two", {}, None),
    "copies": (FOREST, "two", {"max_samples": 0.1, "oob_score": True}, None),
    "three classes": (FOREST, "three", {"oob_score": True}, "w"),
    "entropy, copies": (FOREST, "three", {"max_samples": 0.15, "criterion": "entropy"}, "w"),
    "going on": (FOREST, "two", {"warm_start": True, "max_samples": 0.1, "categorical_encoding": "ordered"}, "times"),
    "numbers": (NUMBERS, "number", {"oob_score": True}, "times"),
    "numbers, copies": (NUMBERS, "number", {"max_samples": 0.1, "quantiles": True}, "w"),
    "medians, copies": (NUMBERS, "number", {"criterion": "absolute_error", "max_depth": 4, "max_samples": 0.2}, None),
    "every threshold": (NUMBERS, "number", {"max_bins": None, "max_depth": 5}, None),
    "best first, few bins": (NUMBERS, "number", {"max_leaf_nodes": 12, "max_bins": 10}, "w"),
    "random cuts": (EXTRA, "two", {}, None),
    "random cuts, going on": (EXTRA, "three", {"warm_start": True}, None),
    "random cuts, copies": (EXTRA_NUMBERS, "number", {"bootstrap": True, "max_samples": 0.2}, None),
    "random cuts, numbers": (EXTRA_NUMBERS, "number", {}, "w"),
}

SMALL = ("copies", "numbers, copies", "random cuts, copies")  # small tables consider every threshold


def saved(model, path):
    model.save(path)
    return path.read_bytes()


@pytest.mark.parametrize(("case", "n"), [*((case, 1500) for case in CASES), *((case, 700) for case in SMALL)])
@pytest.mark.filterwarnings("ignore::woodwind.base.errors.OutOfBagWarning")
def test_a_forest_of_blocks_is_the_forest_of_memory(tmp_path, case, n):
    make, kind, options, weight = CASES[case]
    options = {"n_estimators": 3, "random_state": 3, "n_jobs": 2, **options}
    table = frame(kind, n)
    X, y = table[COLUMNS], table["y"].to_numpy()
    beside = {} if weight is None else {"sample_weight": table[weight].to_numpy()}
    chosen = table[[*COLUMNS, "y", *([] if weight is None else [weight])]]
    blocks = woodwind.BlockTable.write(tmp_path / "cache", chosen, target="y", weight=weight, values=True, block_bytes=9000)
    before = sorted(os.listdir(tmp_path / "cache"))
    in_memory, found = make(**options).fit(X, y, **beside), make(**options).fit(blocks)
    if options.get("warm_start"):
        in_memory.set_params(n_estimators=5).fit(X, y, **beside)
        found.set_params(n_estimators=5).fit(blocks)
    assert saved(found, tmp_path / "blocks.ww") == saved(in_memory, tmp_path / "memory.ww")
    assert np.array_equal(found.predict(blocks), in_memory.predict(X))
    assert sorted(os.listdir(tmp_path / "cache")) == before


def test_mapped_codes_are_those_of_memory(tmp_path):
    table = frame("two", 3000)
    _, read = Schema.learn(table[COLUMNS])
    weight = table["w"].to_numpy()
    for max_bins, weights in ((255, None), (20, weight)):
        known = ForestCodes.of(read, max_bins, weights)
        found = mapped_forest_codes(read, MappedRoom(tmp_path, "a test"), max_bins, weights, 2, numbers=True)
        for name in ("coarse", "fine", "span", "n_categories", "coarse_rows", "columns", "numbers", "real"):
            assert np.array_equal(getattr(found, name), getattr(known, name), equal_nan=name == "real"), name
        assert not np.signbit(found.values[3][found.values[3] == 0.0]).any()
    assert os.listdir(tmp_path) == []


def test_forests_need_numbers_and_say_so(tmp_path):
    table = frame("two", 200)[[*COLUMNS, "y"]]
    binned = woodwind.BlockTable.write(tmp_path / "bins", table, target="y")
    with pytest.raises(DataError, match="values=True"):
        FOREST().fit(binned)
    blocks = woodwind.BlockTable.write(tmp_path / "values", table, target="y", values=True)
    with pytest.raises(ParameterError, match="decided when blocks are written"):
        FOREST(categorical_features=["few"]).fit(blocks)
    model = FOREST(n_estimators=2).fit(blocks)
    with pytest.raises(DataError, match="values=True"):
        model.predict(binned)
    with pytest.raises(DataError, match="BlockTable was given as the table"):
        woodwind.RandomStructureForestClassifier().fit(blocks)
    with pytest.raises(DataError, match="BlockTable was given as the table"):
        woodwind.DecisionTreeClassifier().fit(blocks, blocks.target)


def test_numbers_that_are_damaged_are_not_trained_on(tmp_path):
    blocks = woodwind.BlockTable.write(tmp_path / "cache", frame("two", 300)[[*COLUMNS, "y"]], target="y", values=True, block_bytes=4000)
    path = tmp_path / "cache" / blocks.value_files[1].name
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(content)
    with pytest.raises(DataError, match="checksum"):
        FOREST(n_estimators=2).fit(woodwind.BlockTable(tmp_path / "cache"))


def test_a_disk_without_room_for_codes_is_an_error(tmp_path, monkeypatch):
    blocks = woodwind.BlockTable.write(tmp_path / "cache", frame("two", 300)[[*COLUMNS, "y"]], target="y", values=True)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    with pytest.raises(DataError, match=r"No space left on device\. Make room"):
        FOREST(n_estimators=2).fit(blocks)
    assert not [name for name in os.listdir(tmp_path / "cache") if name.startswith(".")]
