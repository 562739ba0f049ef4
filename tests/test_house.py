"""The rules of the house, read from the source: how long, how light, and what stays out."""

import ast
import importlib.util
import io
import json
import re
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest

import woodwind

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "woodwind"
SOURCES = sorted(PACKAGE.rglob("*.py"))
KERNELS = sorted((PACKAGE / "kernels").rglob("*.py"))
LONGEST_FILE = 600
LONGEST_FUNCTION = 60
MOST_FILES = 25


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def module_of(path):
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def names_in(path):
    """The names that the code uses, without strings and comments."""
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline)
    return {token.string for token in tokens if token.type == tokenize.NAME}


def functions(path):
    return [node for node in ast.walk(tree_of(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def is_kernel(function):
    return any(isinstance(mark, ast.Name) and mark.id == "kernel" for mark in function.decorator_list)


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_no_file_is_two_rooms_behind_one_door(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_FILE


def test_no_package_of_kernels_has_more_files_than_a_reader_can_keep_in_mind():
    packages = {path.parent for path in KERNELS}
    assert {name_of(package): count for package in packages if (count := len(list(package.glob("*.py")))) > MOST_FILES} == {}


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_no_function_is_longer_than_a_page(path):
    long = {f.name: f.end_lineno - f.lineno + 1 for f in functions(path) if f.end_lineno - f.lineno + 1 > LONGEST_FUNCTION}
    assert long == {}


def test_python_calls_no_function_that_has_no_entrance():
    def is_inner(function):
        return any(isinstance(mark, ast.Name) and mark.id in ("inner", "inlined") for mark in function.decorator_list)

    inner = {module_of(path): {f.name for f in functions(path) if is_inner(f)} for path in KERNELS}
    assert "accumulate" in inner["woodwind.kernels.histogram.build_histograms"]
    for path in set(SOURCES) - set(KERNELS):
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ImportFrom) and node.module in inner:
                assert not {alias.name for alias in node.names} & inner[node.module], name_of(path)


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_nothing_is_printed(path):
    calls = [node.func.id for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    assert "print" not in calls


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_no_tree_of_files_is_removed(path):
    """Only files that were written here are removed, one by one, by their names."""
    assert names_in(path) & {"rmtree", "removedirs"} == set()


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_imports_stand_at_the_top(path):
    inside = [node.lineno for f in functions(path) for node in ast.walk(f) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert inside == []


# No other package may import Numba: the contracts of import-linter see to that.
@pytest.mark.parametrize("path", KERNELS, ids=name_of)
def test_only_the_house_decorator_compiles(path):
    forbidden = {"parallel", "fastmath", "prange", "jitclass", "cfunc", "guvectorize", "vectorize"}
    if path.name != "jit.py":
        forbidden |= {"njit", "jit_module"}
        marks = [ast.unparse(mark) for f in functions(path) for mark in f.decorator_list]
        assert [mark for mark in marks if re.search(r"\bjit\b", mark)] == []
    assert names_in(path) & forbidden == set()


@pytest.mark.parametrize("path", KERNELS, ids=name_of)
def test_a_kernel_has_at_most_eight_arguments_and_no_defaults(path):
    for function in filter(is_kernel, functions(path)):
        given = function.args
        assert len(given.args) <= 8, function.name
        assert [given.vararg, given.kwarg, given.kwonlyargs, given.defaults] == [None, None, [], []], function.name


@pytest.mark.parametrize("path", KERNELS, ids=name_of)
def test_no_kernel_calls_what_it_was_given_or_is_made_inside_a_function(path):
    """A function among the arguments, or closed over, would compile again in every process."""
    for function in functions(path):
        inner = [f.name for f in ast.walk(function) if f is not function and isinstance(f, ast.FunctionDef) and is_kernel(f)]
        assert inner == [], function.name
        if is_kernel(function):
            given = {argument.arg for argument in function.args.args}
            called = {node.func.id for node in ast.walk(function) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
            assert given & called == set(), function.name


@pytest.mark.parametrize("path", [path for path in KERNELS if path.parent.name in ("histogram", "exact", "forest", "tree")], ids=name_of)
def test_kernels_read_the_memory_of_a_tree_by_name(path):
    """Addresses and their numbers stand in records.py alone."""
    numbered = [
        node.lineno
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == "tree"
    ]
    assert numbered == []


def test_rooms_import_only_what_the_plan_allows():
    """The contracts are in pyproject.toml, without a list of exceptions."""
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"]
    done = subprocess.run([*command, "--no-cache", "--no-logo"], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert "ignore_imports" not in text
    assert "skip_descendants" not in text


@pytest.mark.parametrize("package", ["numba", "sklearn", "pandas", "matplotlib"])
def test_every_room_is_in_the_contract_about(package):
    """A new package is either allowed to import a package, or forbidden to: nobody forgets to say."""
    contracts = (ROOT / "pyproject.toml").read_text(encoding="utf-8").split("[[tool.importlinter.contracts]]")
    contract = next(text for text in contracts if re.search(rf'forbidden_modules = \[[^]]*"{package}"', text))
    allowed = {"numba": {"kernels"}, "sklearn": {"estimators"}, "pandas": {"data"}, "matplotlib": {"plots"}}[package]
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert set(re.findall(r'"woodwind\.(\w+)"', contract)) == rooms - allowed


LIGHT = """
import json, sys, time
began = time.perf_counter()
import woodwind
seconds = time.perf_counter() - began
names = dir(woodwind)
packages = ("numba", "llvmlite", "sklearn", "scipy", "pandas", "polars", "pyarrow", "narwhals", "joblib", "matplotlib")
heavy = [n for n in packages if n in sys.modules]
print(json.dumps([seconds, heavy, names]))
"""


def test_importing_the_package_is_light():
    seconds, heavy, names = json.loads(subprocess.check_output([sys.executable, "-c", LIGHT], cwd=ROOT, timeout=60))
    assert heavy == []
    assert seconds < 0.2
    assert set(names) == set(woodwind.__all__)


@pytest.mark.parametrize("name", woodwind.__all__)
def test_every_public_name_is_there(name):
    assert getattr(woodwind, name) is not None


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Oboe'"):
        woodwind.Oboe  # noqa: B018


@pytest.mark.parametrize("path", [path for path in SOURCES if path.name != "__init__.py"], ids=name_of)
def test_all_is_true(path):
    module = importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    assert [name for name in getattr(module, "__all__", []) if not hasattr(module, name)] == []


LAYER = """
import numba
import numpy as np
from woodwind import GradientBoostingRegressor
X = np.random.default_rng(0).random((300, 4))
GradientBoostingRegressor(n_estimators=3, n_jobs=2).fit(X, X[:, 0]).predict(X)
try:
    print(numba.threading_layer())
except ValueError:
    print("none")
"""


def test_training_starts_no_threading_layer():
    """The layers of Numba clash with other libraries and with fork; threads are Python threads."""
    assert subprocess.check_output([sys.executable, "-c", LAYER], cwd=ROOT, timeout=300, text=True).strip() == "none"


def written():
    """Every text of the project that a reader may see."""
    wanted = ("*.py", "*.md", "*.toml", "Makefile")
    rooms = ("woodwind", "tests", "docs", "examples", "benchmarks")
    found = [path for room in rooms for pattern in wanted for path in (ROOT / room).rglob(pattern)]
    found = [path for path in found if "_build" not in path.parts]
    return [path for path in [*found, *ROOT.glob("*.md"), *ROOT.glob("*.toml"), ROOT / "Makefile"] if path != Path(__file__)]


def test_texts_speak_of_the_project_alone():
    """No paths of somebody's machine, no unfinished notes."""
    forbidden = re.compile(r"/home/\w|/work/|/root/|/Users/|\bTODO\b|\bFIXME\b|\bXXX\b")
    assert [name_of(path) for path in written() if forbidden.search(path.read_text(encoding="utf-8"))] == []


PACKAGES = sorted(path.parent for path in PACKAGE.rglob("__init__.py"))


@pytest.mark.parametrize("folder", PACKAGES, ids=name_of)
def test_no_package_is_crowded(folder):
    assert len(list(folder.glob("*.py"))) <= MOST_FILES


@pytest.mark.parametrize("folder", [folder for folder in PACKAGES if folder != PACKAGE], ids=name_of)
def test_a_package_begins_with_a_map_of_what_is_inside(folder):
    words = ast.get_docstring(tree_of(folder / "__init__.py")) or ""
    inside = {path.stem for path in folder.glob("*.py")} | {path.parent.name for path in folder.glob("*/__init__.py")}
    assert [name for name in sorted(inside - {"__init__"}) if not re.search(rf"\b{name}\b", words)] == []


def test_no_class_name_is_defined_twice():
    homes = {}
    for path in SOURCES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(name_of(path))
    assert {name: positions for name, positions in homes.items() if len(positions) > 1} == {}


def test_public_text_has_words_of_the_field():
    """Those that stood for them are counted by `make figures`."""
    spec = importlib.util.spec_from_file_location("figures", ROOT / "tools" / "figures.py")
    figures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(figures)
    assert figures.dialect(ROOT) == {}
