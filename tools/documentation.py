"""The documentation site: `make docs`, or `python tools/documentation.py`. It is written to docs/_build/html.

Sphinx reads docs/_build/source, which is laid out here: the pages of docs as they are; README, CHANGELOG, CONTRIBUTING and other pages from
the top of the repository; results of the benchmarks; and the API reference (`tools/api_reference.py`). Links of a page are those of the
repository and are turned to where the page stands on the site. A page that is new in a folder is found without naming it anywhere: the
navigation has the links of the folder's README in their order, then all others.
"""

import argparse
import html
import os
import re
import shutil
import subprocess
import sys
import urllib.parse
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import api_reference

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "docs" / "_build"
RESULTS = "benchmarks/results"
# Pages from the top of the repository that have another place on the site; any other one stands there under its name.
PLACES = {
    "README.md": "readme.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing/README.md",
    "examples/data/README.md": "example-data.md",
}
# The sections of the site, in their order; those that are not here are found below "More".
SECTIONS = ("quick-start", "guide/README", "how-to/README", "gallery/index", "reference/README", "algorithms/README")
MORE = ("benchmarks", "architecture", "contributing/README", "decisions/README", "glossary", "messages", "changelog", "readme")
LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\]\()([^)\s]+)(\))")
FENCE = re.compile(r"^( *```.*?^ *```)", re.DOTALL | re.MULTILINE)


def place_of(path: Path, root: Path = ROOT) -> str | None:
    """Where a file of the repository stands on the site; None for what is no page."""
    name = path.relative_to(root).as_posix()
    if name in PLACES:
        return PLACES[name]
    if name == RESULTS:
        return f"{RESULTS}/README.md"
    if path.is_dir():
        return place_of(path / "README.md", root) if (path / "README.md").exists() else None
    if path.suffix in (".md", ".png", ".svg"):
        return name.removeprefix("docs/") if "/" in name else name.lower()
    return None


def turned(text: str, page: Path, place: str, files: dict[str, Path], root: Path = ROOT) -> str:
    """A page with links for its place on the site. A link to a file that is no page becomes one to a copy: `files` collects them."""

    def turn(found: re.Match[str]) -> str:
        target, _, anchor = found[2].partition("#")
        if not target or "://" in target or target.startswith("mailto:"):
            return found[0]
        path = Path(os.path.normpath(page.parent / target))
        if not path.exists() or root not in (path, *path.parents):
            return found[0]
        where = place_of(path, root)
        if where is None:
            where = f"files/{path.relative_to(root).as_posix()}"
            files[where] = path
        return f"{found[1]}{os.path.relpath(where, Path(place).parent)}{'#' + anchor if anchor else ''}{found[3]}"

    text = re.sub(r"\n\n```$", "\n```", text, flags=re.MULTILINE)  # doctest wants the empty line at the end of a block, readers do not
    parts = FENCE.split(text)
    return "".join(part if FENCE.match(part) else LINK.sub(turn, part) for part in parts)


def sources(root: Path = ROOT) -> dict[str, str]:
    """The text of every page of the site by its place, but for the gallery, which Sphinx makes; and files to copy, by theirs."""
    built = root / "docs" / "_build"
    paths = [*root.glob("*.md"), *(root / "benchmarks").rglob("*.md"), *(root / "docs").rglob("*.md"), *(root / "examples").rglob("*.md")]
    files: dict[str, Path] = {}
    texts: dict[str, str] = {}
    for path in sorted(path for path in paths if built not in path.parents):
        place = str(place_of(path, root))
        text = turned(path.read_text(encoding="utf-8"), path, place, files, root)
        texts[place] = text if text.startswith("# ") or "\n# " in text else f"# {path.stem.replace('_', ' ')}\n\n{text}"
    texts |= {f"reference/{name}.md": text for name, text in api_reference.pages().items()}
    texts[f"{RESULTS}/README.md"] = "# Results of the benchmarks\n\nAs they were written by the scripts in `benchmarks`.\n"
    for place in [place for place in texts if place.endswith("/README.md") and not place.startswith("reference/")]:
        texts[place] += toctree(order(place, texts))
    texts["benchmarks.md"] += toctree(["benchmarks/README", f"{RESULTS}/README"])
    texts["index.md"] += front(texts)
    return texts | {place: str(path) for place, path in files.items()}


def order(place: str, texts: dict[str, str]) -> list[str]:
    """Names of the pages in the folder of a README: those that it links to, in that order, and then the others."""
    folder = Path(place).parent
    beside = sorted(Path(one).stem for one in texts if Path(one).parent == folder and one != place)
    linked = [Path(target).stem for _, target, _ in LINK.findall(texts[place]) if Path(target).parent == Path() and target.endswith(".md")]
    return list(dict.fromkeys([name for name in linked if name in beside] + beside))


def toctree(names: list[str]) -> str:
    """Pages for the navigation."""
    return "\n\n```{toctree}\n:hidden:\n\n" + "\n".join(names) + "\n```\n"


def front(texts: dict[str, str]) -> str:
    """The navigation of the whole site: sections, then every other page at the top."""
    there = [name for name in SECTIONS if f"{name}.md" in texts or name == "gallery/index"]
    top = sorted(Path(place).stem for place in texts if "/" not in place and place.endswith(".md"))
    rest = [name for name in (*MORE, *top) if f"{name}.md" in texts and name not in ("index", *there)]
    return toctree(list(dict.fromkeys([*there, *rest])))


def lay_out(folder: Path, root: Path = ROOT) -> int:
    """Write the sources; a file that is as it should be is left alone, and Sphinx reads only what is new. Gives their number."""
    wanted = sources(root)
    for path in [path for path in (root / "docs").rglob("*") if path.suffix in (".png", ".svg") and BUILD not in path.parents]:
        wanted[path.relative_to(root / "docs").as_posix()] = str(path)
    for place, content in wanted.items():
        target = folder / place
        data = content.encode() if place.endswith(".md") and not place.startswith("files/") else Path(content).read_bytes()
        if not target.exists() or target.read_bytes() != data:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
    for path in [path for path in folder.rglob("*.md") if path.relative_to(folder).as_posix() not in wanted]:
        path.unlink()
    for path in folder.glob("gallery/plot_*.rst"):  # of examples that are gone
        if not (root / "examples" / "gallery" / f"{path.stem}.py").exists():
            path.unlink()
    return len(wanted)


def broken_links(site: Path) -> list[str]:
    """Links of the built site that lead to no page of it, or to no place in one, as 'page: link'. Links elsewhere are not followed."""
    texts = {path: path.read_text(encoding="utf-8") for path in site.rglob("*.html") if site / "_static" not in path.parents}
    anchors = {path: {*re.findall(r'\bid="([^"]+)"', text), "", "top"} for path, text in texts.items()}
    wrong = []
    for page, text in texts.items():
        for link in sorted(set(re.findall(r'\b(?:href|src)="([^"]*)"', text))):
            target, _, anchor = html.unescape(link).partition("#")
            if re.match(r"[a-z]+:|//", target):
                continue
            path = Path(os.path.normpath(page.parent / urllib.parse.unquote(target.partition("?")[0]))) if target else page
            if not path.exists() or (path in anchors and urllib.parse.unquote(anchor) not in anchors[path]):
                wrong.append(f"{page.relative_to(site)}: {link}")
    return wrong


def main() -> int:
    """Build the site and follow its links; the status is that of Sphinx, for which a warning is an error, or 1 for a broken link."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fresh", action="store_true", help="remove what an earlier build has left")
    parser.add_argument("--no-gallery", action="store_true", help="without running the examples of the gallery")
    given = parser.parse_args()
    if given.fresh and BUILD.exists():
        shutil.rmtree(BUILD)
    lay_out(BUILD / "source")
    more = ["-D", "sphinx_gallery_conf.plot_gallery=0"] if given.no_gallery else []
    # -n is not given: types of other libraries that signatures name have no page here.
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-j", "2", "-b", "html", "-c", "docs", *more]
    status = subprocess.run([*command, "docs/_build/source", "docs/_build/html"], cwd=ROOT, check=False).returncode
    wrong = broken_links(BUILD / "html") if status == 0 else []
    print("\n".join(["links that lead nowhere:", *wrong]) if wrong else "all links lead somewhere")
    return status or bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
