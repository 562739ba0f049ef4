"""woodwind fit --memory: what is decided, what is written in blocks meanwhile, and that nothing of them stays."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

import woodwind
from woodwind import store
from woodwind.base.errors import DataError
from woodwind.cli import memory_budget
from woodwind.cli.memory_budget import UNITS, MemorySize
from woodwind.data.blocks.block_files import BlockWriter
from woodwind.data.blocks.file_sizes import rows_and_columns

MEMBERS = ("forest", "linear", "neighbours", "net")


@pytest.fixture
def tiny(monkeypatch):
    """A cell takes so much memory that no table fits."""
    monkeypatch.setattr(memory_budget, "OF_A_CELL", 1 << 30)


@pytest.fixture
def watched(job, monkeypatch):
    """The fake job, which looks at the blocks while they are there."""

    class Watching:
        seen = None

        def __call__(self, table, target, **settings):
            if isinstance(table, woodwind.BlockTable):
                self.seen = (table.shape, table.roles, table.ignored, sorted(os.listdir(".")))
                table.verify()
            return job(table, target, **settings)

    watching = Watching()
    monkeypatch.setattr(woodwind, "fit", watching, raising=False)
    return watching


@pytest.mark.parametrize(
    ("text", "size"), [("2G", 2 << 30), ("1.5g", 3 << 29), ("900M", 900 << 20), ("900MB", 900 << 20), ("1GiB", 1 << 30), ("1T", 1 << 40)]
)
def test_sizes_can_be_written_as_people_write_them(text, size):
    assert MemorySize().convert(text, None, None) == size


@pytest.mark.parametrize("text", ["", "2", "G", "-1G", "2 GB more", "1e9", "inf", "2X"])
def test_other_sizes_are_refused(folder, job, run, text):
    done = run("fit", "train.csv", "--target", "late", "--memory", text)
    assert done.code == 2
    assert "no amount of memory. Write 500M or 2G" in done.err
    assert job.calls == []


def test_less_than_the_program_takes_is_refused(folder, job, run):
    assert "takes some 500 MB" in run("fit", "train.csv", "--target", "late", "--memory", "20M").err


def test_the_size_of_a_table_is_known_before_it_is_read(folder):
    rows = pa.csv.read_csv(folder / "train.csv")
    pa.parquet.write_table(rows, folder / "a.parquet")
    assert rows_and_columns(["train.csv"]) == (61, 5)  # the line of names counts
    assert rows_and_columns(["train.csv", "train.csv"]) == (122, 5)
    assert rows_and_columns(["*.parquet"]) == (60, 5)
    pa.feather.write_feather(rows, folder / "a.arrow")
    assert rows_and_columns(["a.arrow"]) == (60, 5)
    many = pa.table({"x": np.arange(200_000), "y": np.arange(200_000) % 7})
    pa.csv.write_csv(many, folder / "many.csv")
    assert rows_and_columns(["many.csv"])[0] == pytest.approx(200_000, rel=0.1)


def test_a_table_that_fits_is_trained_in_memory(folder, job, run):
    done = run("fit", "train.csv", "--target", "late", "--memory", "2G")
    assert done.code == 0
    assert job.calls[-1][0] == ("train.csv", "late")
    assert "About 61 rows of 5 columns: some 350M in memory, which fits into 2.0G." in done.err


def test_one_that_does_not_fit_is_trained_from_blocks_which_are_gone_afterwards(folder, watched, tiny, run):
    (folder / "parts").mkdir()
    lines = (folder / "train.csv").read_text().splitlines()
    for part in range(2):
        (folder / "parts" / f"{part}.csv").write_text("\n".join([lines[0], *lines[1 + 30 * part : 31 + 30 * part], ""]))
    done = run("fit", "parts/*.csv", "--target", "late", "--memory", "600M", "--ignore", "id", "--group", "plan", "--weight", "age")
    assert done.code == 0, done.err
    shape, roles, ignored, there = watched.seen
    assert (shape, roles, ignored) == ((60, 1), {"target": "late", "weight": "age", "group": "plan"}, ("id",))
    assert "model.ww.blocks" in there
    assert "does not fit into 600M: it is written in blocks, and boosting is trained on them." in done.err
    assert "60 rows in 1 block" in done.err
    assert not (folder / "model.ww.blocks").exists()
    assert (folder / "model.ww").exists()


def test_blocks_are_gone_after_errors_and_a_full_disk_is_told(folder, job, tiny, run, monkeypatch):
    def fails(*_, **__):
        raise DataError("it would not")

    monkeypatch.setattr(woodwind, "fit", fails, raising=False)
    assert run("fit", "train.csv", "--target", "late", "--memory", "600M").code == 3
    assert not (folder / "model.ww.blocks").exists()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(BlockWriter, "add_block", full)
    done = run("fit", "train.csv", "--target", "late", "--memory", "600M")
    assert done.code == 3
    assert "There is no room for the blocks of the table in 'model.ww.blocks': No space left on device." in done.err
    assert not (folder / "model.ww.blocks").exists()


@pytest.mark.parametrize(("options", "words"), [(("--time-column", "paid"), "--time-column is not for blocks"), ((), "no column 'lat'")])
def test_what_is_not_for_blocks_is_refused(folder, job, tiny, run, options, words):
    done = run("fit", "train.csv", "--target", "late" if options else "lat", "--memory", "600M", *options)
    assert done.code in (2, 3)
    assert words in done.err
    assert job.calls == []
    assert not (folder / "model.ww.blocks").exists()


def test_standard_input_has_no_size(folder, job, run):
    assert "standard input has none" in run("fit", "-", "--target", "late", "--memory", "600M").err


def test_somebody_elses_folder_stays_as_it_is(folder, job, tiny, run):
    place = folder / "model.ww.blocks"
    place.mkdir()
    (place / "mine.txt").write_text("mine")
    assert "holds something else" in run("fit", "train.csv", "--target", "late", "--memory", "600M").err
    assert (place / "mine.txt").read_text() == "mine"
    (place / "mine.txt").unlink()
    woodwind.BlockTable.write(place, pa.table({"a": [1, 2], "y": [0, 1]}), target="y")
    assert "holds something else" in run("fit", "train.csv", "--target", "late", "--memory", "600M").err
    assert woodwind.BlockTable(place).verify().n_rows == 2


def test_what_a_killed_run_has_left_is_written_over_and_removed(folder, watched, tiny, run):
    place = folder / "model.ww.blocks"
    woodwind.BlockTable.write(place, pa.table({"a": [1, 2], "y": [0, 1]}), target="y", temporary=True)
    assert run("fit", "train.csv", "--target", "late", "--memory", "600M").code == 0
    assert watched.seen[0] == (60, 4)
    assert not place.exists()


COMMAND = """
import sys
from woodwind.cli import memory_budget
memory_budget.OF_A_CELL = 1 << 30
from woodwind.cli.main import call
sys.exit(call(sys.argv[1:]))
"""


def started(*arguments):
    return subprocess.Popen([sys.executable, "-c", COMMAND, "fit", *arguments], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_a_real_run_has_the_members_of_one_in_memory_and_goes_on_after_a_kill(folder):
    """The model of blocks predicts what the model of memory does, also where the first run was killed while it trained."""
    exclude = [part for name in MEMBERS for part in ("--exclude", name)]
    call = ("train.csv", "--target", "late", "--models", "2", "--ignore", "id", "--seed", "3")
    first = started(*call, "--memory", "600M", "-o", "blocks.ww")
    end = time.monotonic() + 120.0
    while not list(folder.glob("blocks.ww.checkpoint/boosting.*.ww")):
        assert time.monotonic() < end
        assert first.poll() is None
        time.sleep(0.02)
    first.kill()
    first.communicate()
    again = started(*call, "--memory", "600M", "-o", "blocks.ww", "--resume")
    told = again.communicate(timeout=300)[1]
    assert again.returncode == 0, told
    assert "from the checkpoint" in told
    memory = started(*call, *exclude, "-o", "memory.ww")
    assert memory.communicate(timeout=300)
    assert memory.returncode == 0
    found, known = (store.load(folder / name) for name in ("blocks.ww", "memory.ww"))
    assert [member.forest.digest() for member in found.members] == [member.forest.digest() for member in known.members]
    assert np.array_equal(found.weights, known.weights)
    assert {one["part"] for one in found.facts["left_out"]} >= {"data", "importance", "mistakes", "dependence"}
    assert "in blocks on disk" in (folder / "blocks.html").read_text()
    assert sorted(os.listdir(".")) == ["blocks.html", "blocks.ww", "memory.html", "memory.ww", "train.csv"]


def test_an_interrupt_removes_the_blocks(folder):
    running = started("train.csv", "--target", "late", "--models", "40", "--memory", "600M", "-o", "blocks.ww")
    end = time.monotonic() + 120.0
    while not os.path.exists("blocks.ww.blocks/manifest.json"):
        assert time.monotonic() < end
        assert running.poll() is None
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    time.sleep(0.3)
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=60)
    # A second signal gives a second to leave in; what that was too short for, the next run removes.
    assert not os.path.exists("blocks.ww.blocks") or woodwind.BlockTable.is_temporary("blocks.ww.blocks")


def test_units_are_those_of_memory():
    assert UNITS["M"] == 1 << 20
