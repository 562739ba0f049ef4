"""What the documentation shows is what happens, and what it names is there.

Names in a page, in backticks and outside of blocks of code, are looked up in the source; nothing is imported for that:

- a path with a folder, such as `kernels/histogram/loop.py` or `tests/reference`: from the top of the repository, or from the package;
- a file without a folder, `loop.py`: somewhere in the repository;
- a dotted name, such as `Booster.rounds` or `woodwind.tree.forest`: it begins with a class, a module or a package of ours, and each part is
  defined in the one before;
- a name with its file, "`grow` in `kernels/histogram/loop.py`", or in a table with the columns file and function: defined in that file;
- a name in parentheses, the function that takes a step: defined somewhere;
- any other name of one word: a name or a word of a text in the source, so that one that was renamed everywhere is found.

A name of another library, or of nothing in the source, belongs to ELSEWHERE.
"""

import ast
import builtins
import doctest
import io
import re
import tokenize
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from woodwind import GradientBoostingClassifier, ParameterError
from woodwind.base import errors

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "woodwind"
BUILT = ROOT / "docs" / "_build"  # the site, and copies of pages
PAGES = sorted(path for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")] if BUILT not in path.parents)
ALGORITHMS = sorted((ROOT / "docs" / "algorithms").glob("*.md"))
# The changelog speaks of what was; the others of what is.
PRESENT = [page for page in PAGES if page.name != "CHANGELOG.md"]
FOLDERS = ("woodwind", "tests", "benchmarks", "tools", "examples")
ENDINGS = r"(?:py|md|toml|json|yaml)"
# Names that stand in backticks and are of no file here.
ELSEWHERE = {
    "NUMBA_CACHE_DIR", "NUMBA_OPT", "LogisticRegressionCV", "bicreg", "xfail", "narwhals", "gc", "joblib", "np", "numpy", "sklearn", "shap",
    "x", "job.ww", "samme.r", "SMAPE", "sudo", "TunedThresholdClassifierCV", "load_context", "mlflow", "calibrate_decision_threshold",
}  # fmt: skip


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


# What pages name.


def text_of(page):
    """A page without its blocks of code."""
    return re.sub(r"^ *```.*?^ *```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def quoted(page):
    return re.findall(r"(?<!`)`([^`\n]+)`(?!`)", text_of(page))


@cache
def sources():
    return {path: ast.parse(path.read_text(encoding="utf-8")) for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))}


def targets(node):
    """The names that a statement binds."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Assign):
        return {name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)}
    if isinstance(node, ast.AnnAssign):
        return {node.target.id} if isinstance(node.target, ast.Name) else set()
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name for alias in node.names}
    return set()


@cache
def defined_in(path):
    """The names at the top of a file, and below its ifs."""
    found = set()
    for node in sources()[path].body:
        found |= set().union(*map(targets, ast.walk(node))) if isinstance(node, ast.If | ast.Try) else targets(node)
    return found


@cache
def classes():
    """Class -> (names that it defines, names of its bases)."""
    found = {}
    for tree in sources().values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                own = set().union(*map(targets, node.body))
                own |= {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute) and getattr(part.value, "id", "") == "self"}
                bases = [base.id for base in node.bases if isinstance(base, ast.Name)]
                found.setdefault(node.name, []).append((own, bases))
    return found


def members_of(name):
    """What a class defines or inherits from ours; what it has from other libraries is not known here."""
    found = set()
    for own, bases in classes().get(name, []):
        found |= own.union(*map(members_of, bases))
    return found


@cache
def modules():
    """Names of modules and packages, by any of their endings: `histogram.loop` as well as `woodwind.kernels.histogram.loop`."""
    found = {}
    for path in sources():
        parts = path.relative_to(ROOT).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        for first in range(len(parts)):
            found.setdefault(".".join(parts[first:]), []).append(path)
    return found


@cache
def words():
    """Every name of the source, and every word of its texts but docstrings: those may name what is gone as well."""
    found = set(dir(builtins))
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*.py"):
            if path == Path(__file__):
                continue
            for token in tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline):
                if token.type == tokenize.NAME:
                    found.add(token.string)
                elif token.type in (tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", -1)) and '"""' not in token.string:
                    found |= set(re.findall(r"\w+", token.string))
    for other in ("Makefile", "pyproject.toml"):
        found |= set(re.findall(r"[\w-]+", (ROOT / other).read_text(encoding="utf-8")))
    return found


@cache
def defined():
    """Everything that is defined anywhere in the package: functions, classes, arguments, variables, attributes, values with names."""
    found = set()
    for path, tree in sources().items():
        if PACKAGE in path.parents:
            for node in ast.walk(tree):
                found |= targets(node)
                found |= {node.arg} if isinstance(node, ast.arg) else set()
                found |= {node.value} if isinstance(node, ast.Constant) and isinstance(node.value, str) else set()
                found |= {node.attr} if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) else set()
    return found


@cache
def file_names():
    """Names of all files, without their folders."""
    found = {path.name for folder in (*FOLDERS, "docs") for path in (ROOT / folder).rglob("*")}
    return found | {path.name for path in ROOT.glob("*")}


def is_there(path):
    """Whether a path of a page leads somewhere; it may have stars."""
    return any(next(folder.glob(path.rstrip("/")), None) for folder in (ROOT, PACKAGE))


def file_at(path):
    """The source file of a path in a page."""
    return next((folder / path for folder in (ROOT, PACKAGE) if (folder / path) in sources()), None)


def leads_somewhere(dotted):
    """Whether a dotted name can be followed; one that begins with something unknown cannot."""
    parts = dotted.split(".")
    if parts[0] in classes():
        return parts[1] in members_of(parts[0])
    for cut in range(len(parts), 0, -1):
        for path in modules().get(".".join(parts[:cut]), []):
            rest = parts[cut:]
            if not rest or (rest[0] in defined_in(path) and (len(rest) == 1 or rest[1] in members_of(rest[0]))):
                return True
            if path.name == "__init__.py" and len(rest) == 1 and rest[0] in defined():  # public names are looked up when they are used
                return True
    return False


def problem(name, plain_words=True):
    """What is wrong with a name in backticks; None where nothing is, or where it is no name."""
    name = re.sub(r"\(.*\)$", "", name)
    if name in ELSEWHERE or name.split(".")[0] in ELSEWHERE:
        return None
    if re.fullmatch(rf"(?:[\w.-]+/)+(?:[\w*-]+\.{ENDINGS})?|(?:[\w-]+/)+[\w-]+", name):
        ours = is_there(name.split("/")[0]) or name.endswith((".py", ".md"))
        return "no such file" if ours and not is_there(name) else None
    if re.fullmatch(rf"\w+\.{ENDINGS}", name):
        return None if name in file_names() or not name.endswith((".py", ".md")) else "no such file"
    if re.fullmatch(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+", name):
        return None if leads_somewhere(name) else "no such name"
    if re.fullmatch(r"[A-Za-z_]\w+", name) and (plain_words or re.search(r"[_A-Z]", name)):
        return None if name in words() else "no such name"
    return None


@pytest.mark.parametrize("page", PRESENT, ids=name_of)
def test_what_a_page_names_is_there(page):
    # In the guide, a plain word may be a value or a column of somebody's table, and a name with a point a variable of the example.
    guide = page.parent.name in ("guide", "how-to") or page.parent == ROOT or page.name in ("index.md", "quick-start.md")
    named = [name for name in quoted(page) if not (guide and re.match(r"(?!woodwind)[a-z]\w*\.", name))]
    assert {name: what for name in named if (what := problem(name, plain_words=not guide))} == {}


def test_the_twin_of_growth_names_kernels_that_are_there():
    twin = ROOT / "tests" / "reference" / "naive_growth.py"
    rows = [re.split(r"  +", line.strip()) for line in (ast.get_docstring(sources()[twin]) or "").splitlines() if line.startswith("    ")]
    head, *rows = rows
    assert head == ["twin", "kernel", "file"]
    for method, kernels, files in rows:
        assert is_defined(method, name_of(twin)), method
        paths = [f"{file if '/' in file else f'kernels/histogram/{file}'}.py" for file in files.split(", ")]
        wrong = [kernel for kernel in kernels.split(", ") if not any(is_defined(kernel, path) for path in paths)]
        unused = [path for path in paths if not any(is_defined(kernel, path) for kernel in kernels.split(", "))]
        assert (wrong, unused) == ([], []), method
    methods = {
        f"{node.name}.{part.name}"
        for node in sources()[twin].body
        if isinstance(node, ast.ClassDef) and node.name.endswith("Growth")
        for part in node.body
        if isinstance(part, ast.FunctionDef) and part.name != "__init__"
    }
    missing = methods - {method for method, _, _ in rows} - {"VectorGrowth.layout", "VectorGrowth.units"}  # constants there
    assert missing == set()


@pytest.mark.parametrize("page", PRESENT, ids=name_of)
def test_what_a_page_names_with_its_file_is_in_that_file(page):
    text = text_of(page)
    # `a` and `b` in `file.py`; `a`, in `file.py`
    pairs = [
        (name, [path])
        for names, path in re.findall(r"((?:`[\w.]+`(?:, | and )?)+),? ?in `((?:\w+/)+\w+\.py)`", text)
        for name in re.findall(r"`([\w.]+)`", names)
    ]
    for head, *rows in tables(text):
        if "file" in head and "function" in head:
            for row in rows:
                paths = re.findall(r"`((?:\w+/)+\w+\.py)`", row[head.index("file")])
                assert paths, row
                pairs += [(name, paths) for name in re.findall(r"`([\w.]+)`", row[head.index("function")])]
    assert [(name, paths) for name, paths in pairs if not any(is_defined(name, path) for path in paths)] == []


@pytest.mark.parametrize("page", ALGORITHMS, ids=name_of)
def test_functions_that_take_a_step_are_defined(page):
    named = [name for names in re.findall(r"\(((?:`\w+`(?:, | and )?)+)\)", text_of(page)) for name in re.findall(r"`(\w+)`", names)]
    assert [name for name in named if name not in defined() and name not in ELSEWHERE] == []


def is_defined(name, path):
    """Whether a function, a class or a method of one is defined in a file."""
    found = file_at(path)
    first, _, rest = name.partition(".")
    return found is not None and first in defined_in(found) and (not rest or rest in members_of(first))


def tables(text):
    """The tables of a page: rows of cells, the head first."""
    for block in re.findall(r"(?:^\|.*\n)+", text + "\n", re.MULTILINE):
        rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in block.splitlines()]
        yield [rows[0], *rows[2:]]


def test_names_are_really_followed():
    assert problem("kernels/histogram/loop.py") is None
    assert problem("kernels/histogram/lop.py") == "no such file"
    assert problem("tests/reference") is None
    assert problem("tests/refference") == "no such file"
    assert problem("loop.py") is None
    assert problem("lop.py") == "no such file"
    assert problem("Booster.rounds") is None
    assert problem("Booster.turns") == "no such name"
    assert problem("woodwind.tree.forest.Forest.raw") is None
    assert problem("woodwind.tree.forest.Forest.said") == "no such name"
    assert problem("GradientBoostingClassifier.fit") is None
    assert problem("find_splits()") is None
    assert problem("find_" + "splitz") == "no such name"
    assert is_defined("next_phase", "kernels/histogram/loop.py")
    assert not is_defined("plan", "kernels/histogram/verbs.py")
    assert is_defined("Loss.start", "losses/base.py")


@pytest.mark.parametrize("folder", ["woodwind", "tests/reference"])
def test_files_that_the_source_names_are_there(folder):
    """In docstrings and comments: with a folder from the top, from the package or from a folder above; without one, anywhere."""
    wrong = []
    for path in (path for path in sources() if ROOT / folder in path.parents):
        for name in re.findall(r"(?<![\w/.*-])(?:[\w-]+/)*[\w-]+\.(?:py|md)\b", path.read_text(encoding="utf-8")):
            beside = any((above / name).exists() for above in path.parents)
            if not (beside or is_there(name) if "/" in name else name in file_names()):
                wrong.append((name_of(path), name))
    assert wrong == []


# The drawing of errors and warnings.


def test_the_drawing_of_errors_is_what_is_there():
    drawn = {}
    above = []
    for line in errors.__doc__.splitlines():
        found = re.match(r"^([│├└─ ]*)(\w+(?:Error|Warning))(?:\((\w+)\))?(?:  |$)", line)
        if found:
            depth = len(found[1]) // 4
            above[depth:] = [found[2]]
            drawn[found[2]] = {above[depth - 1]} if depth else set()
            drawn[found[2]] |= {found[3]} - {None}
    there = {
        name: {base.__name__ for base in kind.__bases__} - {"Exception"}
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and kind.__module__ == errors.__name__
    }
    assert drawn == there


# The drawing of packages, figures, and the checks before a commit.


def test_the_drawing_of_packages_is_the_contract():
    contract = re.search(r"\nlayers = \[\n(.*?)\n\]", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.DOTALL)[1]
    drawing = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").split("```")[1]
    drawn = [re.findall(r"\w+", line[:34]) for line in drawing.strip("\n").splitlines()]
    assert drawn == [re.findall(r"\w+", line) for line in contract.splitlines() if "__main__" not in line]


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "docs" / "benchmarks.md"], ids=name_of)
def test_every_table_and_paragraph_of_figures_has_its_results(page):
    """What says how fast or how good it is links to what was measured, in the same paragraph or the one before the table."""
    paragraphs = re.split(r"\n\n+", text_of(page))
    for before, paragraph in zip(["", *paragraphs], paragraphs, strict=False):
        measured = re.search(r"\d (?:ms|s|MB|microseconds)\b|mean rank", paragraph)
        if measured:
            assert re.search(r"\]\((?:\.\./)?(?:benchmarks/results/|docs/decisions/|decisions/)", before + paragraph), paragraph


def test_hooks_and_make_lint_run_the_same():
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    commands = re.findall(r"entry: \.venv/bin/(.*)", hooks)
    lint = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\nlint:")[2].partition("\n\n")[0]
    made = [line.removesuffix(" .") for line in re.findall(r"@\$\(BIN\)/(.*)", lint)]
    assert commands == made
    assert len(made) == 4
    assert "make lint" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
