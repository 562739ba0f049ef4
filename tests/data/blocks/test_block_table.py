"""Tables in blocks: schema, cuts and codes are those of the table in memory; what goes wrong leaves nothing that is used."""

import errno
import json
import os
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset
import pyarrow.feather
import pytest
from numpy.testing import assert_array_equal

import woodwind
from woodwind.base import atomic
from woodwind.base.errors import DataError, ParameterError
from woodwind.data.binning.cuts import Cuts
from woodwind.data.blocks import batches, block_files
from woodwind.data.reading.files import read_table
from woodwind.data.tables.schema import Schema


def table(n=900, seed=0):
    """Columns of every kind, with gaps; a target of words."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "a": rng.normal(size=n), "whole": rng.integers(-30, 30, n), "single": rng.normal(size=n).astype(np.float32),
        "colour": rng.choice(["red", "green", "blue", None], n), "town": [f"town {int(400 * u * u)}" for u in rng.random(n)],
        "flag": rng.random(n) < 0.5, "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 10**7, n), unit="s"),
        "w": rng.uniform(0.5, 2.0, n).round(2), "g": rng.integers(0, 50, n),
    })  # fmt: skip
    frame.loc[rng.random(n) < 0.1, "a"] = np.nan
    frame["y"] = np.where(np.nan_to_num(frame.a) + (frame.colour == "red") + rng.normal(size=n) > 0.5, "yes", "no")
    return frame


def codes_of(blocks):
    return np.concatenate([blocks.codes(number)[:, blocks.layout.places] for number in range(len(blocks.blocks))])


def in_memory(X, weight=None, max_bins=255):
    schema, read = Schema.learn(X, weight=weight)
    cuts = Cuts.fit(read, max_bins, weight)
    codes = cuts.encode(read)
    return schema, cuts, codes.by_row[:, codes.places]


def assert_same(blocks, X, weight=None, max_bins=255):
    schema, cuts, codes = in_memory(X, weight, max_bins)
    assert blocks.schema.to_dict() == schema.to_dict()
    assert all(np.array_equal(one, other) for one, other in zip(blocks.cuts.edges, cuts.edges, strict=True))
    assert_array_equal(codes_of(blocks), codes)


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(batches, "FEWEST_ROWS", 7)
    monkeypatch.setattr(batches, "BATCH_VALUES", 1000)


def sources(frame, folder):
    """The same rows in every way in which they may be given."""
    frame.to_parquet(folder / "all.parquet", row_group_size=100)
    cuts = [0, 250, 251, len(frame)]
    for number, (begin, end) in enumerate(pairwise(cuts)):
        frame.iloc[begin:end].to_parquet(folder / f"part{number}.parquet")
    arrow = pa.Table.from_pandas(frame, preserve_index=False)
    pa.feather.write_feather(arrow, folder / "all.arrow", compression="uncompressed")
    return {
        "parquet": folder / "all.parquet",
        "pattern": f"{folder}/part*.parquet",
        "list": [folder / f"part{number}.parquet" for number in range(3)],
        "arrow file": folder / "all.arrow",
        "dataset": pa.dataset.dataset(folder / "all.parquet"),
        "pandas": frame,
        "arrow": arrow,
        "iterator": (frame.iloc[begin : begin + 77] for begin in range(0, len(frame), 77)),
        "function": lambda: (frame.iloc[begin : begin + 300] for begin in range(0, len(frame), 300)),
        "frames": [frame.iloc[:400], frame.iloc[400:]],
    }


@pytest.mark.parametrize(
    "kind", ["parquet", "pattern", "list", "arrow file", "dataset", "pandas", "arrow", "iterator", "function", "frames"]
)
def test_schema_cuts_and_codes_are_those_of_the_table_in_memory(tmp_path, small_batches, kind):
    frame = table()
    source = sources(frame, tmp_path)[kind]
    blocks = woodwind.BlockTable.write(tmp_path / "cache", source, target="y", block_bytes=1000)
    assert len(blocks.blocks) > 5
    assert_same(blocks, frame.drop(columns="y"))
    assert_array_equal(blocks.target, frame["y"])
    assert blocks.shape == (900, blocks.n_features)
    left = {path.name for path in (tmp_path / "cache").iterdir()}
    assert left == {block_files.MANIFEST, *(one.name for one in blocks.blocks), blocks._rows_file.name}


def test_a_text_file_has_the_types_that_reading_it_at_once_finds(tmp_path, small_batches):
    frame = table().drop(columns="single")
    frame["late"] = ["1"] * 899 + ["x"]  # text in the last row only
    frame["comma"] = [f"{number},{number:03d}" for number in range(1, 901)]
    frame["empty"] = ""
    frame["fraction"] = [*range(899), 0.5]
    frame["truth"] = np.where(frame.flag, "True", "false")
    frame.to_csv(tmp_path / "all.csv", index=False)
    with pytest.warns(woodwind.WoodwindWarning, match="comma"):
        blocks = woodwind.BlockTable.write(tmp_path / "cache", tmp_path / "all.csv", target="y", block_bytes=3000)
    with pytest.warns(woodwind.WoodwindWarning, match="comma"):
        known = read_table(tmp_path / "all.csv")
    assert_same(blocks, known.drop(["y"]))


def test_cuts_do_not_depend_on_batches_where_values_are_more_than_a_sketch_has_cells(tmp_path):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"x": np.exp(rng.normal(size=150_000) * 4), "y": rng.random(150_000)})
    blocks = woodwind.BlockTable.write(tmp_path / "cache", frame, target="y")
    assert_same(blocks, frame[["x"]])


def test_weights_move_cuts_and_rows_of_weight_zero_are_absent(tmp_path, small_batches):
    frame = table()
    frame.loc[::7, "w"] = 0.0
    blocks = woodwind.BlockTable.write(tmp_path / "cache", frame, target="y", weight="w", group="g", max_bins=20)
    left = frame[frame.w > 0].reset_index(drop=True)
    assert_same(blocks, left.drop(columns=["y", "w", "g"]), left.w.to_numpy(), 20)
    assert_array_equal(blocks.weight, left.w)
    assert_array_equal(blocks.groups, left.g)


def test_rows_without_a_target_are_refused_or_left_out(tmp_path):
    frame = table()
    frame.loc[3:5, "y"] = None
    with pytest.raises(DataError, match="missing in 3 of 900 rows"):
        woodwind.BlockTable.write(tmp_path / "cache", frame, target="y")
    assert not (tmp_path / "cache").exists()
    blocks = woodwind.BlockTable.write(tmp_path / "cache", frame, target="y", drop_missing_target=True)
    assert blocks.n_rows == 897
    assert_same(blocks, frame.drop(index=[3, 4, 5], columns="y"))


def test_categories_keep_the_order_that_the_user_gave(tmp_path, small_batches):
    frame = table()[["a", "colour", "whole", "y"]]
    frame["colour"] = pd.Categorical(frame.colour, ["red", "none", "green", "blue"])
    frame["whole"] = frame.whole % 5
    blocks = woodwind.BlockTable.write(tmp_path / "cache", frame, target="y", categorical_features="whole", ignore="a")
    schema, read = Schema.learn(frame[["colour", "whole"]], ["whole"])
    assert blocks.schema.to_dict() == schema.to_dict()
    codes = Cuts.fit(read).encode(read)
    assert_array_equal(codes_of(blocks), codes.by_row[:, codes.places])


def test_blocks_may_be_in_several_folders(tmp_path):
    folders = [tmp_path / "one", tmp_path / "two", tmp_path / "three"]
    blocks = woodwind.BlockTable.write(folders, table(), target="y", block_bytes=1000)
    assert {one.folder for one in blocks.blocks} == {0, 1, 2}
    assert_same(woodwind.BlockTable(tmp_path / "one"), table().drop(columns="y"))
    woodwind.BlockTable.write(folders, table(50), target="y", overwrite=True)
    assert len([path for folder in folders for path in folder.iterdir()]) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "z"}, "no column 'z'"),
        ({"target": "colou"}, "Did you mean 'colour'"),
        ({"target": "y", "max_bins": 1}, "max_bins must be an integer from 2 to 255"),
        ({"target": "y", "block_bytes": 0}, "block_bytes"),
        ({"target": "y", "categorical_features": ["nobody"]}, "'nobody'"),
        ({"target": "y", "ignore": [name for name in table(3).columns if name != "y"]}, "no column is left"),
        ({"target": "y", "ignore": ["nowhere"]}, "no column 'nowhere'"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_written(tmp_path, options, message):
    with pytest.raises((DataError, ParameterError), match=message):
        woodwind.BlockTable.write(tmp_path / "cache", table(60), **options)
    assert not (tmp_path / "cache").exists()


def test_a_folder_with_something_else_in_it_is_refused_and_stays_as_it_is(tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(DataError, match=r"letter\.txt"):
        woodwind.BlockTable.write(tmp_path, table(60), target="y", overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_a_table_is_written_over_only_when_that_is_said(tmp_path):
    first = woodwind.BlockTable.write(tmp_path / "cache", table(60), target="y")
    (tmp_path / "cache" / "note.txt").write_text("mine")
    with pytest.raises(DataError, match="overwrite=True"):
        woodwind.BlockTable.write(tmp_path / "cache", table(70), target="y")
    assert first.verify().n_rows == 60
    second = woodwind.BlockTable.write(tmp_path / "cache", table(70), target="y", overwrite=True)
    assert second.n_rows == 70
    assert len(list((tmp_path / "cache").iterdir())) == 4
    assert (tmp_path / "cache" / "note.txt").read_text() == "mine"


def test_a_full_disk_leaves_the_old_table_and_no_files_of_the_new(tmp_path, monkeypatch):
    old = woodwind.BlockTable.write(tmp_path / "cache", table(60), target="y")
    before = sorted(path.name for path in old.path.iterdir())
    calls, write = [], atomic._write_all

    def full(descriptor, piece):
        calls.append(1)
        if len(calls) == 4:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(descriptor, piece)

    monkeypatch.setattr(atomic, "_write_all", full)
    with pytest.raises(OSError, match="No space left"):
        woodwind.BlockTable.write(tmp_path / "cache", table(), target="y", overwrite=True, block_bytes=1000)
    assert sorted(path.name for path in old.path.iterdir()) == before
    assert woodwind.BlockTable(old.path).verify().n_rows == 60
    monkeypatch.undo()
    calls.clear()
    monkeypatch.setattr(atomic, "_write_all", full)
    with pytest.raises(OSError, match="No space left"):
        woodwind.BlockTable.write(tmp_path / "new" / "cache", table(), target="y", block_bytes=1000)
    assert not (tmp_path / "new").exists()


def test_an_iterator_that_fails_leaves_nothing(tmp_path):
    def frames():
        yield table(100)
        raise RuntimeError("the network is gone")

    with pytest.raises(RuntimeError, match="network"):
        woodwind.BlockTable.write(tmp_path / "cache", frames(), target="y")
    assert not (tmp_path / "cache").exists()


def test_frames_of_other_types_or_columns_are_named(tmp_path):
    with pytest.raises(DataError, match=r"column 'a' is of type .*string in frame 2"):
        woodwind.BlockTable.write(tmp_path / "cache", iter([table(50), table(50).assign(a="x")]), target="y")
    with pytest.raises(DataError, match="frame 2 has other columns"):
        woodwind.BlockTable.write(tmp_path / "cache", iter([table(50), table(50).assign(b=1)]), target="y")
    with pytest.raises(DataError, match="not a single frame"):
        woodwind.BlockTable.write(tmp_path / "cache", iter([]), target="y")


def test_a_source_that_changes_while_it_is_read_is_an_error(tmp_path, monkeypatch):
    path = tmp_path / "all.parquet"
    table().to_parquet(path)
    add_block = block_files.BlockWriter.add_block

    def changing(self, codes):
        add_block(self, codes)
        os.utime(path, ns=(1, 1))

    monkeypatch.setattr(block_files.BlockWriter, "add_block", changing)
    with pytest.raises(DataError, match="has changed while it was read"):
        woodwind.BlockTable.write(tmp_path / "cache", path, target="y")
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("damage", ["flipped", "short", "gone"])
def test_a_damaged_block_is_named_and_not_trained_on(tmp_path, damage):
    blocks = woodwind.BlockTable.write(tmp_path / "cache", table().drop(columns="town"), target="y", block_bytes=1000)
    path = blocks.path / blocks.blocks[3].name
    raw = bytearray(path.read_bytes())
    raw[5] ^= 1
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(bytes(raw) if damage == "flipped" else bytes(raw[:-1]))
    model = woodwind.GradientBoostingClassifier(n_estimators=2, categorical_encoding="sets")
    for attempt in (blocks.verify, lambda: model.fit(woodwind.BlockTable(blocks.path))):
        with pytest.raises(DataError, match=blocks.blocks[3].name):
            attempt()
    assert not hasattr(model, "forest_")


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "something else"}, {"rows": 7}, {"rows": "many"}, {"files": []}, {"files": [{"name": "../../x"}]}, {"edges": []},
        {"edges": [["0x1p0", "0x1p-1"]] * 12}, {"schema": {}}, {"folders": []}, {"roles": 3},
    ],
)  # fmt: skip
def test_a_forged_manifest_is_refused(tmp_path, change):
    blocks = woodwind.BlockTable.write(tmp_path / "cache", table(60), target="y")
    manifest = json.loads((blocks.path / block_files.MANIFEST).read_text())
    (blocks.path / block_files.MANIFEST).write_text(json.dumps({**manifest, **change}))
    with pytest.raises(DataError, match="BlockTable"):
        woodwind.BlockTable(blocks.path)


def test_preparation_that_was_killed_begins_anew_and_what_it_left_is_gone(tmp_path):
    script = f"""
import os, signal
import numpy as np, pandas as pd
import woodwind
from woodwind.data.blocks import block_files
add = block_files.BlockWriter.add_block
def killed(self, codes):
    add(self, codes)
    if len(self.files) == 3:
        open(self.folders[0] / (".block-" + self.token + "-000003.codes.0123456789ab.part"), "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
block_files.BlockWriter.add_block = killed
frame = pd.DataFrame({{"x": np.arange(900.0), "y": np.arange(900.0)}})
woodwind.BlockTable.write({str(tmp_path / "cache")!r}, frame, target="y", block_bytes=1000)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == -9, done.stderr
    assert len(list((tmp_path / "cache").glob("block-*"))) == 3
    with pytest.raises(DataError, match="was interrupted"):
        woodwind.BlockTable(tmp_path / "cache")
    blocks = woodwind.BlockTable.write(tmp_path / "cache", table(60), target="y")
    kept = {path.name for path in blocks.path.iterdir()}
    assert kept == {block_files.MANIFEST, *(one.name for one in blocks.blocks), blocks._rows_file.name}


def test_columns_of_text_files_are_ignored_by_name(tmp_path):
    (tmp_path / "a.csv").write_text("id,x,y\n1,2,no\n2,3,yes\n3,2,no\n")
    blocks = woodwind.BlockTable.write(tmp_path / "cache", tmp_path / "a.csv", target="y", ignore=["id"])
    assert blocks.schema.names == ("x",)
    assert blocks.ignored == ("id",)
    with pytest.raises(DataError, match="no column 'ix'"):
        woodwind.BlockTable.write(tmp_path / "other", tmp_path / "a.csv", target="y", ignore=["ix"])


def test_a_table_is_removed_by_the_names_of_its_files_alone(tmp_path):
    table = pa.table({"x": [1.0, 2.0, 3.0], "y": [0, 1, 0]})
    woodwind.BlockTable.write([tmp_path / "one", tmp_path / "two"], table, target="y", values=True, block_bytes=8)
    (tmp_path / "two" / "mine.txt").write_text("mine")
    woodwind.BlockTable.remove(tmp_path / "one")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["mine.txt", "two"]
    (tmp_path / "strange").mkdir()
    (tmp_path / "strange" / "block-000000000000-000000.codes").write_text("of somebody")
    woodwind.BlockTable.remove(tmp_path / "strange")
    assert (tmp_path / "strange" / "block-000000000000-000000.codes").exists()


def test_a_table_has_the_fingerprint_of_what_is_in_it(tmp_path):
    table = pa.table({"x": np.arange(50.0), "word": ["a", "b"] * 25, "y": [0, 1] * 25})
    one, two = (woodwind.BlockTable.write(tmp_path / name, table, target="y") for name in ("one", "two"))
    other = woodwind.BlockTable.write(tmp_path / "three", table.set_column(0, "x", pa.array(np.arange(50.0)[::-1])), target="y")
    assert one.fingerprint == two.fingerprint != other.fingerprint


def test_a_listener_hears_of_every_row_and_may_end_the_writing(tmp_path):
    table, heard = pa.table({"x": np.arange(50.0), "y": [0, 1] * 25}), []
    woodwind.BlockTable.write(tmp_path / "cache", table, target="y", listener=heard.append)
    assert sum(heard) == 3 * 50

    def stop(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        woodwind.BlockTable.write(tmp_path / "other", table, target="y", listener=stop)
    assert not (tmp_path / "other").exists()
