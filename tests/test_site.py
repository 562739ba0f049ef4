"""The sources of the documentation site: every public name has its reference, every page its place, every link its page.

The site itself is built by `make docs`, for which a warning of Sphinx is an error; here nothing but its sources is laid out.
"""

import inspect
import re
import sys
from pathlib import Path

import pytest

import woodwind
from woodwind.params.describe import declared

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import api_reference  # noqa: E402
import documentation  # noqa: E402

OBJECT = re.compile(r"^::::\{py:\w+\} (\w+)(?:\.\w+)?[^\n]*\n:module: ([\w.]+)$", re.MULTILINE)
HOW_TO = ROOT / "docs" / "how-to"
TOCTREE = re.compile(r"```\{toctree\}\n:hidden:\n\n(.*?)\n```", re.DOTALL)


@pytest.fixture(scope="module")
def texts():
    return documentation.sources()


def test_every_public_name_has_its_reference(texts):
    described = {f"{module}.{name}" for text in texts.values() for name, module in OBJECT.findall(text)}
    modules = [thing for name in woodwind.__all__ if inspect.ismodule(thing := getattr(woodwind, name))] + [woodwind.plots]
    public = {f"woodwind.{name}" for name in woodwind.__all__} - {module.__name__ for module in modules} - {"woodwind.__version__"}
    public |= {f"{module.__name__}.{name}" for module in modules for name in module.__all__ if callable(getattr(module, name))}
    assert public - described == set()
    assert {module.__name__.rpartition(".")[2] for module in modules} == set(api_reference.MODULES)


@pytest.mark.parametrize("name", ["GradientBoostingClassifier", "RandomForestRegressor", "VotingClassifier", "AutoEnsembleRanker"])
def test_a_reference_page_has_every_declared_parameter_and_public_method(texts, name):
    cls = getattr(woodwind, name)
    page = texts[f"reference/woodwind.{name}.md"]
    for knob in declared(cls):
        assert f"\n`{knob.name}` : {knob.allowed()}, default `{knob.default!r}`\n: {knob.words}" in page
    for method in ("fit", "predict", "save", "set_params"):
        assert f"{{py:method}} {name}.{method}(" in page
    assert "## Example\n\n```python\n>>> " in page


def test_every_page_is_in_the_navigation_once(texts):
    listed = []
    for place, text in texts.items():
        for names in TOCTREE.findall(text) if place.endswith(".md") else ():
            entries = [re.sub(r".*<(.*)>", r"\1", line) for line in names.splitlines()]
            listed += [(Path(place).parent / entry).as_posix() + ".md" for entry in entries]
    pages = {place for place in texts if place.endswith(".md")} - {"index.md"}
    assert pages - set(listed) == set()
    assert set(listed) - pages <= {"gallery/index.md"}
    assert len(listed) == len(set(listed))


def test_links_of_pages_lead_to_pages(texts):
    pictures = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.png")}
    wrong = []
    for place, text in texts.items():
        if not place.endswith(".md"):
            continue
        plain = documentation.FENCE.sub("", text)
        for _, target, _ in documentation.LINK.findall(plain):
            path = target.partition("#")[0]
            where = Path(place).parent / path
            parts = list(where.parts)
            while ".." in parts:
                at = parts.index("..")
                del parts[at - 1 : at + 1]
            if path and "://" not in path and "/".join(parts) not in texts and "/".join(parts) not in pictures:
                wrong.append((place, target))
    assert wrong == []


def test_links_are_turned_to_the_places_of_the_site(tmp_path):
    for name in ("README.md", "CONTRIBUTING.md", "LICENSE", "docs/guide/a.md", "docs/guide/README.md", "benchmarks/results/speed.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("", encoding="utf-8")
    files = {}
    page = tmp_path / "docs" / "guide" / "a.md"
    text = "[a](README.md#top) [b](../../CONTRIBUTING.md) [c](../../benchmarks/results/speed.md)\n"
    text += "[d](https://x.org) [e](#here) [f](../../LICENSE)\n"
    text += "```\n[g](../../CONTRIBUTING.md)\n```\n"
    found = documentation.turned(text, page, "guide/a.md", files, tmp_path)
    wanted = "[a](README.md#top) [b](../contributing/README.md) [c](../benchmarks/results/speed.md)\n"
    wanted += "[d](https://x.org) [e](#here) [f](../files/LICENSE)\n"
    assert found == wanted + "```\n[g](../../CONTRIBUTING.md)\n```\n"
    assert files == {"files/LICENSE": tmp_path / "LICENSE"}
    assert documentation.place_of(tmp_path / "docs" / "guide", tmp_path) == "guide/README.md"


def test_links_that_lead_nowhere_are_found(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "a.html").write_text(
        '<a href="deep/b.html#here">b</a> <a href="https://x.org">x</a> <img src="gone.png">', encoding="utf-8"
    )
    (tmp_path / "deep" / "b.html").write_text('<p id="here"><a href="../a.html">a</a> <a href="#nowhere">n</a></p>', encoding="utf-8")
    assert sorted(documentation.broken_links(tmp_path)) == ["a.html: gone.png", "deep/b.html: #nowhere"]


def test_a_new_page_is_found_without_naming_it():
    texts = {"guide/README.md": "[b](b.md) [elsewhere](../x.md)", "guide/a.md": "", "guide/b.md": "", "guide/deep/c.md": "", "x.md": ""}
    assert documentation.order("guide/README.md", texts) == ["b", "a"]


def test_docstrings_become_markdown():
    text = "Train.\n\nParameters\n----------\nX : table\n    The rows.\ndepth : int, default=3\n    How deep.\n\nReturns\n-------\nself\n\n"
    found = api_reference.body(api_reference.sections(text + "Examples\n--------\n>>> 1 + 1\n2"))
    wanted = "Train.\n\n**Parameters**\n\n`X` : table\n: The rows.\n\n`depth` : int, default `3`\n: How deep.\n\n**Returns**\n\nself\n\n"
    assert found == wanted + "**Example**\n\n```python\n>>> 1 + 1\n2\n```"


def test_there_are_answers_for_the_questions_of_a_new_user():
    pages = {path.name for path in HOW_TO.glob("*.md")} - {"README.md"}
    assert len(pages) > 20
    text = (HOW_TO / "README.md").read_text(encoding="utf-8")
    assert [name for name in sorted(pages) if f"]({name})" not in text] == []
