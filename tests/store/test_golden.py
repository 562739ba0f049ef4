"""Files that were written by earlier versions open, and their models say what they said."""

import importlib.util
import warnings
from pathlib import Path

import numpy as np
import pytest

from woodwind import ModelFileError, store
from woodwind.store.container import FIRST, START, VERSION

FOLDER = Path(__file__).parent / "golden"
FILES = sorted(path for path in FOLDER.glob(f"v{VERSION}-*.ww") if not path.stem.endswith("answers"))


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
        predicted = make().answers(store.load(path))
    assert predicted.keys() == expected.keys()
    for what, values in expected.items():
        if values.dtype.kind != "f":
            assert np.array_equal(predicted[what], values)
        elif name == "main-job":  # products of matrices may be rounded elsewhere by another machine
            assert np.allclose(predicted[what], values, rtol=0, atol=1e-9)
        else:
            assert np.array_equal(predicted[what], values)


def test_there_are_files_and_they_are_small():
    assert len(FILES) >= 9
    assert max(path.stat().st_size for path in FILES) < 60_000


def test_a_file_from_before_the_first_release_is_refused_in_one_clear_line(tmp_path):
    content = FILES[0].read_bytes()
    magic, _, *rest = FIRST.unpack_from(content)
    old = FIRST.pack(magic, 1, *rest)
    (tmp_path / "old.ww").write_bytes(old + content[len(old) :])
    with pytest.raises(ModelFileError, match="version 1 of the format, from before the first release") as caught:
        store.load(tmp_path / "old.ww")
    assert "\n" not in str(caught.value)
    assert len(old) <= START
