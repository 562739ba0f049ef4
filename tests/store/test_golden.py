"""Files that were written by earlier versions open, and their models say what they said."""

import importlib.util
import warnings
from pathlib import Path

import numpy as np
import pytest

from woodwind import store

FOLDER = Path(__file__).parent / "golden"
FILES = sorted(path for path in FOLDER.glob("v*.ww") if not path.stem.endswith("answers"))


def make():
    spec = importlib.util.spec_from_file_location("make_golden", FOLDER / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_old_file_opens_and_says_what_it_said(path):
    version, name = path.stem.split("-", 1)
    expected = store.load(FOLDER / f"{version}-answers.ww")[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        said = make().answers(store.load(path))
    assert said.keys() == expected.keys()
    for what, values in expected.items():
        if values.dtype.kind != "f":
            assert np.array_equal(said[what], values)
        elif name == "main-job":  # products of matrices may be rounded elsewhere by another machine
            assert np.allclose(said[what], values, rtol=0, atol=1e-9)
        else:
            assert np.array_equal(said[what], values)


def test_there_are_files_and_they_are_small():
    assert len(FILES) >= 9
    assert max(path.stat().st_size for path in FILES) < 60_000
