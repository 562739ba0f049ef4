"""What the documentation shows is what happens, and what it names is there."""

import doctest
import re
from pathlib import Path

import numpy as np
import pytest

from woodwind import GradientBoostingClassifier, ParameterError

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
ALGORITHMS = sorted((ROOT / "docs" / "algorithms").glob("*.md"))


def name_of(path):
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", ALGORITHMS, ids=name_of)
def test_cases_worked_by_hand_are_true(path):
    found = doctest.testfile(str(path), module_relative=False, encoding="utf-8")
    assert found.failed == 0
    assert found.attempted > 0 or path.name == "README.md"


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_links_lead_somewhere(path):
    targets = re.findall(r"\]\(([^)#]+)[^)]*\)", path.read_text(encoding="utf-8"))
    assert [target for target in targets if "://" not in target and not (path.parent / target).exists()] == []


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_files_that_are_named_are_there(path):
    """Names with a folder are of the checkout, or of the package."""
    named = re.findall(r"`((?:\w+/)+\w+\.(?:py|md|toml))`", path.read_text(encoding="utf-8"))
    assert [name for name in named if not (ROOT / name).exists() and not (ROOT / "woodwind" / name).exists()] == []


def test_the_first_model_of_the_readme_can_be_trained(monkeypatch):
    monkeypatch.chdir(ROOT)
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    names = {}
    exec(code, names)  # as a reader would paste it
    assert names["model"].predict_proba(names["columns"]).shape == (20000, 2)


def test_the_error_of_the_readme_is_what_is_said():
    with pytest.raises(ParameterError) as caught:
        GradientBoostingClassifier(growth="best-first").fit(np.eye(4), [0, 1, 0, 1])
    assert f"\n{caught.value}\n" in (ROOT / "README.md").read_text(encoding="utf-8")
