"""A folder with a table in it, and the command as a function."""

import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import woodwind

sys.path.append(str(Path(__file__).parent))  # for fakes.py, which is run as a script as well

from fakes import FakeJob
from models import model

from woodwind import store
from woodwind.cli.main import call

ROWS = [f"{i},{20 + i % 40},{'ab'[i % 2]},{i * 7 % 100},{'no' if i % 3 else 'yes'}" for i in range(60)]
TABLE = "\n".join(["id,age,plan,paid,late", *ROWS, ""])


class Called(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working folder of a user."""
    (tmp_path / "train.csv").write_text(TABLE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def job(monkeypatch):
    """The fake in the place of the job."""
    fake = FakeJob()
    monkeypatch.setattr(woodwind, "fit", fake, raising=False)
    return fake


@pytest.fixture
def stored(folder, request):
    """A model in a file of that folder; of two classes unless the test says otherwise."""
    made = model(getattr(request, "param", "binary"))
    store.save(folder / "model.ww", made)
    return made


@pytest.fixture
def run(capsys):
    """Call the command in this process."""

    def run(*arguments):
        code = call(arguments)
        return Called(code, *capsys.readouterr())

    return run
