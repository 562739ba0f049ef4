"""Figures about how much there is to read: `make figures`, or `python tools/figures.py [CHECKOUT]`.

Prints: files and lines of the package; the largest and smallest files; files and lines in the import closure of the boosting loop, alone
and with the histogram learner; functions of the package that a row crosses in `fit` and in `predict`; class names that are defined twice;
packages with more than 25 files; words of the old dialect in public text.
"""

import argparse
import ast
import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

MOST_FILES = 25
LOOP = "woodwind.ensemble.boosting.boost"
LEARNER = "woodwind.ensemble.boosting.histogram_learner"  # what the loop is given to grow its trees with, by default
# Words that stood for terms of the field, as whole words in public text: names, docstrings, messages, pages. `docs/glossary.md` has what is
# left.
DIALECT = {
    *(
        "skin",
        "grove",
        "groves",
        "bin_ground",
        "exact_ground",
        "lesson",
        "lessons",
        "taught",
        "learnt",
        "judge",
        "judges",
        "judged",
        "judging",
    ),
    *("judgement", "unjudged", "roster", "laboratory", "slopes", "bends", "sayings", "sift", "sweeping", "plain_members", "kept_theirs"),
    *("adaboost_numbers", "settled", "grades"),
}

CROSSED = """
import sys
import numpy as np
import woodwind
root = sys.argv[1]
rng = np.random.default_rng(0)
X = rng.random((400, 6))
y = (X[:, 0] + X[:, 1] > 1).astype(int)
woodwind.GradientBoostingClassifier(n_estimators=3, n_jobs=1, random_state=0).fit(X, y).predict_proba(X)  # compiles what has to be
seen = set()
def note(frame, event, argument):
    if event == "call" and frame.f_code.co_filename.startswith(root) and "/kernels/" not in frame.f_code.co_filename:
        if not frame.f_code.co_name.startswith("<"):
            seen.add((frame.f_code.co_filename, frame.f_code.co_qualname))
def crossed(call):
    seen.clear()
    sys.setprofile(note)
    try:
        found = call()
    finally:
        sys.setprofile(None)
    return found, len(seen), len({name for name, _ in seen})
model, *fit = crossed(lambda: woodwind.GradientBoostingClassifier(n_estimators=3, n_jobs=1, random_state=0).fit(X, y))
_, *predict = crossed(lambda: model.predict_proba(X))
print(*fit, *predict)
"""


def modules_of(package: Path) -> dict[str, Path]:
    """Every module by its dotted name."""
    out = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        out[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return out


def imported(path: Path, modules: dict[str, Path]) -> set[str]:
    """Modules of the package that a file imports."""
    out = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                out.add(full if full in modules else node.module)
        elif isinstance(node, ast.Import):
            out |= {alias.name for alias in node.names}
    return out & modules.keys()


def closure(start: str, modules: dict[str, Path]) -> list[Path]:
    """The files that have to be opened to follow one module, itself among them."""
    seen: set[str] = set()
    left = [start]
    while left:
        module = left.pop()
        if module not in seen:
            seen.add(module)
            left += imported(modules[module], modules)
    return [modules[module] for module in sorted(seen)]


def lines_of(path: Path) -> int:
    """Lines of a file."""
    return len(path.read_text(encoding="utf-8").splitlines())


def defined_twice(paths: list[Path]) -> dict[str, int]:
    """Class names that stand in several files, and in how many."""
    homes = defaultdict(set)
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                homes[node.name].add(path)
    return {name: len(files) for name, files in sorted(homes.items()) if len(files) > 1}


def public_text(root: Path) -> dict[Path, str]:
    """What readers see: pages, templates, and docstrings, messages and names of the package without the kernels."""
    texts = {}
    for path in [*root.glob("*.md"), *(root / "docs").rglob("*.md"), *(root / "woodwind").rglob("*.html")]:
        if path.name not in ("CHANGELOG.md", "glossary.md") and not {"decisions", "_build"} & set(path.parts):
            texts[path] = path.read_text(encoding="utf-8")
    for path in sorted((root / "woodwind").rglob("*.py")):
        if "kernels" in path.parts:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        # Parts of the names of random streams are read by nobody, and other words would be other draws.
        streams = {id(part) for node in ast.walk(tree) if is_stream(node) for part in node.args}
        texts_of = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        strings = [node.value for node in texts_of if id(node) not in streams]
        names = [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef | ast.FunctionDef)]
        texts[path] = " ".join([path.stem, *strings, *names])
    return texts


def is_stream(node: ast.AST) -> bool:
    """Whether this names a random stream: `key(seed, "rows", tree)`."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "key"


def dialect(root: Path) -> dict[str, int]:
    """How often each word of the old dialect is met in public text."""
    found: dict[str, int] = defaultdict(int)
    for text in public_text(root).values():
        for word in re.findall(r"[A-Za-z_]+", text):
            if word.lower() in DIALECT:
                found[word.lower()] += 1
    return dict(sorted(found.items()))


def main() -> None:
    """Print the figures of a checkout."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", nargs="?", default=Path(__file__).resolve().parent.parent, type=Path)
    root = parser.parse_args().checkout.resolve()
    modules = modules_of(root / "woodwind")
    sizes = sorted(((lines_of(path), path.relative_to(root).as_posix()) for path in modules.values()), reverse=True)
    print(f"files {len(sizes)}, lines {sum(size for size, _ in sizes):,}, below 50 lines {sum(size < 50 for size, _ in sizes)}")
    print("largest:", ", ".join(f"{name} {size}" for size, name in sizes[:5]))
    print("smallest:", ", ".join(f"{name} {size}" for size, name in [one for one in sizes if "__init__" not in one[1]][-5:]))
    loop = set(closure(LOOP, modules))
    for name, inside in ((LOOP, loop), (f"{LOOP} and {LEARNER}", loop | set(closure(LEARNER, modules)))):
        ours = [path for path in inside if "kernels" not in path.parts]
        print(
            f"import closure of {name}: files {len(inside)}, lines {sum(map(lines_of, inside)):,}"
            f" (without kernels {len(ours)}, {sum(map(lines_of, ours)):,})"
        )
    environment = os.environ | {"PYTHONPATH": str(root)}
    done = subprocess.run(
        [sys.executable, "-c", CROSSED, str(root / "woodwind")],
        cwd=root,
        env=environment,
        text=True,
        capture_output=True,
        timeout=900,
        check=False,
    )
    if done.returncode:
        print("functions crossed by a row: failed,", done.stderr.strip().splitlines()[-1])
    else:
        fit, fit_files, predict, predict_files = done.stdout.split()
        print(f"functions crossed by a row, kernels aside: fit {fit} in {fit_files} files, predict {predict} in {predict_files} files")
    twice = defined_twice(list(modules.values()))
    print(f"class names defined twice: {len(twice)}", ", ".join(twice))
    packages = defaultdict(int)
    for path in modules.values():
        packages[path.parent.relative_to(root).as_posix()] += 1
    crowded = {name: count for name, count in packages.items() if count > MOST_FILES}
    print(f"packages with more than {MOST_FILES} files: {len(crowded)}", ", ".join(f"{name} {count}" for name, count in crowded.items()))
    words = dialect(root)
    print(f"words of the old dialect in public text: {sum(words.values())}", ", ".join(f"{word} {count}" for word, count in words.items()))


if __name__ == "__main__":
    main()
