"""Each recipe of docs/contributing, applied to a copy of the package, and the result used: the code of a page is the code that works.

A step of a recipe is a line that ends in a colon, and the block of code below it. The line says where the code goes: above, below or in the
place of a line of a file, or into a new file. Blocks that follow "Then this runs" are run in the copy, in a process of their own.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = ROOT / "docs" / "contributing"
# How many files of the package a recipe may touch.
MOST_FILES = {
    "add-a-class-metric": 1,
    "add-a-classifier": 5,
    "add-a-loss": 2,
    "add-a-metric": 1,
    "add-a-split-criterion": 2,
    "add-an-estimator": 5,
}

BLOCK = re.compile(r"^([^\n]+):\n\n?```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
EDIT = re.compile(r"In `(?P<path>[\w/.]+)`, (?P<where>above|below|in place of) the line `(?P<line>[^`]+)`$")
NEW = re.compile(r"A new file, (?P<path>woodwind/[\w/.]+)$")


def blocks(name):
    """What stands before each block of code, and the block."""
    return BLOCK.findall((PAGES / f"{name}.md").read_text(encoding="utf-8"))


def apply(name, root):
    """Carry out the steps; gives the files that were touched."""
    touched = set()
    for before, code in blocks(name):
        if edit := EDIT.search(before):
            path = root / edit["path"]
            path.write_text(edited(path.read_text(encoding="utf-8"), edit["where"], edit["line"], code), encoding="utf-8")
        elif edit := NEW.search(before):
            path = root / edit["path"]
            assert not path.exists()
            path.write_text(code, encoding="utf-8")
        else:
            assert before.startswith("Then this runs"), f"{name}: nobody knows where this goes: {before}"
            continue
        touched.add(edit["path"])
    return touched


def edited(text, where, line, code):
    """The text with the code above, below or in place of a line that it has once. The code is given without the indent of a list."""
    lines = text.split("\n")
    found = [position for position, one in enumerate(lines) if one.strip() == line]
    assert len(found) == 1, f"{line!r} stands there {len(found)} times"
    position = found[0]
    new = code.rstrip("\n").split("\n")
    first, last = {"above": (position, position), "below": (position + 1, position + 1), "in place of": (position, position + 1)}[where]
    return "\n".join([*lines[:first], *new, *lines[last:]])


@pytest.fixture(params=sorted(MOST_FILES))
def recipe(request, tmp_path):
    """A recipe, the copy of the package that it was applied to, and what it touched."""
    shutil.copytree(ROOT / "woodwind", tmp_path / "woodwind", ignore=shutil.ignore_patterns("__pycache__"))
    return request.param, tmp_path, apply(request.param, tmp_path)


def run(root, code):
    """Run code with the copy, in a folder of its own. Without the compiler, which would need a minute for changed kernels.

    Warnings are errors, but that of hashes, which overflow, and which NumPy warns of.
    """
    (root / "work").mkdir(exist_ok=True)
    environment = os.environ | {"PYTHONPATH": str(root), "NUMBA_DISABLE_JIT": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    code = f"import woodwind\nassert woodwind.__file__.startswith({str(root)!r})\n{code}"
    command = [sys.executable, "-W", "error", "-W", "ignore:overflow:RuntimeWarning", "-c", code]
    return subprocess.run(command, cwd=root / "work", env=environment, capture_output=True, text=True, timeout=120, check=False)


def test_a_recipe_works_and_touches_few_files(recipe):
    name, root, touched = recipe
    assert 0 < len(touched) <= MOST_FILES[name]
    uses = [code for before, code in blocks(name) if before.startswith("Then this runs")]
    assert uses
    for code in uses:
        done = run(root, code)
        assert done.returncode == 0, done.stdout + done.stderr


def test_every_page_of_recipes_is_tried():
    assert {path.stem for path in PAGES.glob("add-*.md")} == set(MOST_FILES)
