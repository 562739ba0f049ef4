"""The container takes what the writer writes, and nothing else."""

import json
import os
import resource
import stat
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from reference.model_files import OpenFile, put_together
from woodwind import store
from woodwind.base.errors import ModelFileError, NotStorableError
from woodwind.store import container

THING = {"a": np.arange(30.0), "b": [1, 2.5, "text"], "c": np.arange(40, dtype=np.int32).reshape(5, 8)}


@pytest.fixture
def path(tmp_path):
    place = tmp_path / "model.ww"
    store.save(place, THING)
    return place


def refusal(path, data):
    path.write_bytes(data)
    with pytest.raises(ModelFileError) as caught:
        store.load(path)
    predicted = str(caught.value)
    assert predicted.startswith(f"{path}: ")
    assert "\n" not in predicted
    return predicted


def test_a_file_is_what_the_documentation_says(path):
    data = path.read_bytes()
    assert data[:8] == b"WOODWIND"
    length = int.from_bytes(data[16:24], "little")
    assert int.from_bytes(data[24:32], "little") == len(data)
    header = json.loads(data[64 : 64 + length])
    assert set(header) == {"writer", "value", "things", "blocks"}
    first = header["blocks"][0]
    assert first["at"] % 64 == 0
    assert first["at"] == 64 + length
    assert np.array_equal(np.frombuffer(data, first["dtype"], 30, first["at"]), THING["a"])


def test_every_prefix_is_refused(path):
    data = path.read_bytes()
    assert len(data) < 4096
    for size in range(len(data)):
        predicted = refusal(path, data[:size])
        assert "empty" in predicted if size == 0 else "not a Woodwind" in predicted or "cut off" in predicted


def test_every_byte_counts(path):
    data = bytearray(path.read_bytes())
    for place in range(len(data)):
        data[place] ^= 1 << (place % 8)
        refusal(path, bytes(data))
        data[place] ^= 1 << (place % 8)
    path.write_bytes(bytes(data))
    assert np.array_equal(store.load(path)["a"], THING["a"])


def test_bytes_at_the_end_are_refused(path):
    data = path.read_bytes()
    assert "were added at its end" in refusal(path, data + b"\0" * 64)
    assert "were added at its end" in refusal(path, data + data)


def test_other_things_than_model_files_have_errors_of_their_own(tmp_path):
    def predicted(name):
        with pytest.raises(ModelFileError) as caught:
            store.load(tmp_path / name)
        return str(caught.value)

    assert predicted("absent").endswith("there is no such file.")
    (tmp_path / "folder").mkdir()
    assert predicted("folder").endswith("it is a folder, not a model file.")
    os.mkfifo(tmp_path / "pipe")
    assert predicted("pipe").endswith("it is a device or a pipe, not a model file.")
    assert "no such file" in predicted("model.ww\0more") or "cannot be opened" in predicted("model.ww\0more")
    (tmp_path / "text").write_text("name,age\nAda,36\n")
    assert predicted("text").endswith("it is not a Woodwind model file.")
    (tmp_path / "empty").touch()
    assert predicted("empty").endswith("the file is empty.")


def test_a_newer_version_is_named(path):
    header = json.dumps(OpenFile.of(path.read_bytes()).header).encode()
    assert "version 7 of the format, which is newer" in refusal(path, put_together(header, [], version=7))
    assert "damaged" in refusal(path, put_together(header, [], version=0))


def test_what_is_no_json_is_refused(path):
    for header in (b"{", b"\xff\xfe", b"[1]", b"{}", b'{"value":1,"things":[],"blocks":[],"writer":"w","more":1}'):
        assert "header" in refusal(path, put_together(header, []))
    for value in (b"NaN", b"Infinity", b"-Infinity", b"1e999", b'{"dict":{"a":1,"a":2}}', b"[" * 100_000, b"9" * 10_000):
        refusal(path, put_together(b'{"writer":"w","things":[],"blocks":[],"value":' + value + b"}", []))
    assert store.load(written(path, b'{"writer":"w","things":[],"blocks":[],"value":[1,"\\u00e9"]}')) == [1, "é"]


def written(path, header):
    path.write_bytes(put_together(header, []))
    return path


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("at", 0), ("at", 64), ("at", -64), ("at", 2**63), ("at", "64"), ("at", True), ("at", 1.0),
        ("shape", [29]), ("shape", [31]), ("shape", [2**62, 2**62]), ("shape", [-30]), ("shape", [30, 0]), ("shape", 30), ("shape", [True]),
        ("shape", [1] * 9), ("shape", [30.0]), ("shape", []), ("dtype", "<f4"), ("dtype", "|O"), ("dtype", "<f16"), ("dtype", "<c16"),
        ("dtype", ">f8"), ("dtype", "<f8,<f8"), ("dtype", 8), ("dtype", "<U999999999"), ("dtype", "<M8[xx]"),
        ("sha256", "0" * 64), ("sha256", 5),
    ],
)  # fmt: skip
def test_lies_about_an_array_are_refused(path, key, value):
    forged = OpenFile.of(path.read_bytes())
    assert store.load(saved(path, forged.data())) is not None
    forged.data()
    forged.header["blocks"][0][key] = value
    refusal(path, forged.data(sums=False, places=False))


def saved(path, data):
    path.write_bytes(data)
    return path


def test_arrays_that_overlap_repeat_or_leave_gaps_are_refused(path):
    data = path.read_bytes()
    forged = OpenFile.of(data)
    forged.header["blocks"].reverse()
    refusal(path, forged.data(sums=False, places=False))
    forged = OpenFile.of(data)
    forged.header["blocks"].append(dict(forged.header["blocks"][0]))
    refusal(path, forged.data(sums=False, places=False))
    forged = OpenFile.of(data)
    forged.data()
    forged.blocks.insert(1, bytes(64))
    forged.header["blocks"][1]["at"] += 64
    assert "not where the one before ends" in refusal(path, forged.data(sums=False, places=False))
    forged = OpenFile.of(data)
    forged.blocks[0] = forged.blocks[0][:-1] + b"x"  # in what fills it up
    assert "between two arrays" in refusal(path, forged.data())


def test_truth_values_and_characters_must_exist(path):
    store.save(path, {"flags": np.ones(100, np.bool_), "words": np.array(["abcdefgh"] * 10)})
    forged = OpenFile.of(path.read_bytes())
    forged.blocks[0] = b"\2" + forged.blocks[0][1:]
    assert "neither true nor false" in refusal(path, forged.data())
    store.save(path, {"flags": np.ones(100, np.bool_), "words": np.array(["abcdefgh"] * 10)})
    forged = OpenFile.of(path.read_bytes())
    forged.blocks[1] = b"\xff\xff\xff\x7f" + forged.blocks[1][4:]
    assert "characters that do not exist" in refusal(path, forged.data())


@pytest.mark.parametrize("claim", [{"shape": [2**40]}, {"shape": [2**20, 2**20], "dtype": "<f8"}, {"shape": [2**31], "dtype": "<U999999"}])
def test_a_small_file_with_a_large_claim_costs_nothing(path, claim):
    forged = OpenFile.of(path.read_bytes())
    forged.header["blocks"][0] |= claim
    path.write_bytes(forged.data(sums=False))
    tracemalloc.start()
    began = time.process_time()
    with pytest.raises(ModelFileError):
        store.load(path)
    seconds, (_, peak) = time.process_time() - began, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert seconds < 0.1
    assert peak < 1e6


def test_a_header_of_impossible_length_is_refused_before_it_is_read(path):
    data = bytearray(path.read_bytes())
    for length in (0, 1, 65, 2**28 + 64, 2**62, 2**64 - 64):
        data[16:24] = length.to_bytes(8, "little")
        assert "length of its header" in refusal(path, bytes(data))


def test_more_words_than_there_is_room_for_are_not_written(path, monkeypatch):
    monkeypatch.setattr(container, "MOST_HEADER", 1000)
    with pytest.raises(NotStorableError, match="room for 1,000"):
        store.save(path, "a" * 2000)


def test_a_device_is_neither_read_nor_replaced(tmp_path):
    with pytest.raises(OSError, match="device or a pipe"):
        store.save("/dev/null", [1])
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    with pytest.raises(ModelFileError, match="device or a pipe"):
        store.load("/dev/zero")
    with pytest.raises(IsADirectoryError):
        store.save(tmp_path, [1])


def test_a_file_that_shrinks_while_it_is_read_is_refused(path, monkeypatch):
    whole = container.read_header

    def shrinking(file, size):
        found = whole(file, size)
        os.truncate(path, found[1] + 10)
        return found

    monkeypatch.setattr(container, "read_header", shrinking)
    with pytest.raises(ModelFileError, match="shorter while it was read"):
        store.load(path)


FULL = """
import resource, sys
from woodwind import store
import numpy as np
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store.save(sys.argv[1], {"large": np.zeros(1_000_000)})
"""


def test_a_file_that_may_not_grow_leaves_the_old_one_whole(path):
    assert resource.RLIMIT_FSIZE
    before = path.read_bytes()
    done = subprocess.run([sys.executable, "-c", FULL, str(path)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0
    assert "File too large. Nothing was written" in done.stderr
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]
