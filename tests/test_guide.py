"""The guide, the answers by question and the quick start do what they say: their code is run, and it has made their pictures."""

import doctest
import re
import shutil
from pathlib import Path

import matplotlib as mpl
import pytest
from matplotlib import image
from matplotlib import pyplot as plt

mpl.use("Agg")

ROOT = Path(__file__).parent.parent
GUIDE = ROOT / "docs" / "guide"
DOCS = ROOT / "docs"
PAGES = sorted(path for folder in (GUIDE, DOCS / "how-to") for path in folder.glob("*.md") if path.name != "README.md")
PAGES += [DOCS / "index.md", DOCS / "quick-start.md"]
LARGEST_PICTURE = 60_000
# Numbers with a fraction may differ by so much, and whole ones by such a share: solvers of other versions stop elsewhere.
NEAR, SHARE = 0.03, 0.05
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])")


class Near(doctest.OutputChecker):
    """The same text with about the same numbers."""

    def check_output(self, want, got, optionflags):
        if super().check_output(want, got, optionflags):
            return True
        if NUMBER.sub("#", want).split() != NUMBER.sub("#", got).split():
            return False
        pairs = zip(NUMBER.findall(want), NUMBER.findall(got), strict=True)
        return all(abs(float(one) - float(other)) <= (NEAR if "." in one else SHARE * abs(float(one))) for one, other in pairs)


def test_numbers_of_the_guide_may_differ_by_little():
    near = Near()
    assert near.check_output("AUC 0.812, 334 rows\n", "AUC 0.805,  336 rows\n", 0)
    assert not near.check_output("AUC 0.812\n", "AUC 0.850\n", 0)
    assert not near.check_output("(666, 5, 2)\n", "(666, 6, 2)\n", 0)
    assert not near.check_output("AUC 0.812\n", "AUC 0.812 and more\n", 0)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_the_guide_does_what_it_says(page, tmp_path, monkeypatch):
    text = page.read_text(encoding="utf-8")
    (tmp_path / "examples" / "data").mkdir(parents=True)
    (tmp_path / "docs" / "guide" / "pictures").mkdir(parents=True)
    for name in set(re.findall(r"examples/data/([\w.]+\.(?:csv|parquet))", text)):
        shutil.copy(ROOT / "examples" / "data" / name, tmp_path / "examples" / "data" / name)
    monkeypatch.chdir(tmp_path)
    test = doctest.DocTestParser().get_doctest(text, {"__name__": "__main__"}, page.name, str(page), 0)
    runner = doctest.DocTestRunner(checker=Near(), verbose=False)
    runner.run(test)
    plt.close("all")
    assert runner.tries > 0
    assert runner.failures == 0
    shown = set(re.findall(r"\]\(pictures/([\w.]+)\)", text))
    made = {path.name: image.imread(path).shape for path in (tmp_path / "docs" / "guide" / "pictures").iterdir()}
    assert set(made) == shown
    assert made == {name: image.imread(GUIDE / "pictures" / name).shape for name in shown}


def test_pictures_of_the_guide_are_shown_and_small():
    shown = {
        name for page in PAGES if page.parent == GUIDE for name in re.findall(r"\]\(pictures/([\w.]+)\)", page.read_text(encoding="utf-8"))
    }
    assert {path.name for path in (GUIDE / "pictures").iterdir()} == shown
    assert [path.name for path in (GUIDE / "pictures").iterdir() if path.stat().st_size > LARGEST_PICTURE] == []
