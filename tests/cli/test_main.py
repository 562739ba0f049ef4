"""How calls end: codes, one line that helps, no trace unless asked for."""

import shlex
import subprocess
import sys
import warnings

import pytest

import woodwind
from woodwind.base.errors import DataError, ExtraColumnWarning, JobError, ModelFileError, ParameterError, WoodwindError
from woodwind.cli import command
from woodwind.cli.main import COMMANDS, commands

NAMES = list(COMMANDS)


def command_of(name):
    return commands.get_command(None, name)


def test_without_a_command_it_says_how_to_begin(run):
    for call in ([], ["--help"], ["-h"]):
        done = run(*call)
        assert done.code == 0
        assert all(name in done.out for name in NAMES)
        assert "woodwind fit train.csv --target y" in done.out
        assert done.err == ""


@pytest.mark.parametrize("name", NAMES)
def test_every_command_helps_with_examples_and_exit_codes(run, name):
    done = run(name, "--help")
    assert done.code == 0
    assert "Examples:\n  woodwind " in done.out
    assert "Exit codes:\n  0 " in done.out
    assert max(map(len, done.out.splitlines())) <= 100


@pytest.mark.parametrize("name", NAMES)
def test_the_list_of_commands_says_what_the_commands_say_of_themselves(name):
    assert command_of(name).help.splitlines()[0] == COMMANDS[name][1]


@pytest.mark.parametrize("name", NAMES)
def test_examples_can_be_called_as_they_are_written(folder, name):
    (folder / "parts").mkdir()
    for file in ("model.ww", "new.csv", "new.parquet", "test.csv", "row.csv", "model.schema.json", "parts/one.parquet"):
        (folder / file).write_text("", encoding="utf-8")
    examples = command_of(name).examples
    assert examples
    for example in examples:
        line = example.split(" | ")[0].split(" > ")[0]
        program, called, *arguments = shlex.split(line)
        assert (program, called) == ("woodwind", name)
        command_of(name).make_context(name, arguments)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ParameterError("p"), command.WRONG_CALL),
        (DataError("d"), command.BAD_DATA),
        (ModelFileError("m"), command.BAD_MODEL),
        (JobError("j"), command.WITHOUT_MODEL),
        (WoodwindError("w"), command.UNEXPECTED),
        (ZeroDivisionError("z"), command.UNEXPECTED),
        (MemoryError(), command.UNEXPECTED),
        (KeyboardInterrupt(), command.INTERRUPTED),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else str(value),
)
def test_errors_become_a_line_and_a_code(folder, job, run, error, code):
    job.trouble = error
    done = run("fit", "train.csv", "--target", "late")
    assert done.code == code
    assert done.out == ""
    (line,) = done.err.strip().splitlines()
    assert line.startswith("woodwind")
    assert ("WOODWIND_DEBUG=1" in done.err) == (code == command.UNEXPECTED)


def test_a_full_disk_is_no_surprise(folder, job, run):
    job.trouble = OSError(28, "No space left on device", "model.ww")
    done = run("fit", "train.csv", "--target", "late")
    assert done.code == command.UNEXPECTED
    assert done.err == "woodwind: No space left on device: 'model.ww'. Make room, or choose another place.\n"


def test_an_error_of_several_lines_is_told_in_one(folder, job, run):
    job.trouble = DataError("WW-D012: the target has 17 missing values.\nNothing can be learned from them.\nFix: drop them.")
    assert run("fit", "train.csv", "--target", "late").err.endswith("missing values. Nothing can be learned from them. Fix: drop them.\n")


def test_the_trace_is_shown_to_those_who_ask(folder, job, run, monkeypatch):
    job.trouble = ZeroDivisionError("oh")
    monkeypatch.setenv("WOODWIND_DEBUG", "1")
    done = run("fit", "train.csv", "--target", "late")
    assert done.code == command.UNEXPECTED
    assert "Traceback" in done.err
    assert done.err.splitlines()[-1] == "woodwind: unexpected ZeroDivisionError: oh"


def test_warnings_become_one_line_each(folder, run, monkeypatch):
    def noisy(*args, **kwargs):
        for _ in range(3):
            warnings.warn("the columns\nare extra", ExtraColumnWarning, stacklevel=1)
        warnings.warn("of somebody else", DeprecationWarning, stacklevel=1)
        raise DataError("enough")

    monkeypatch.setattr(woodwind, "fit", noisy, raising=False)
    assert run("fit", "train.csv", "--target", "late").err == "warning: the columns are extra\nwoodwind: enough\n"


WRONG = [
    (["fti"], "Did you mean 'fit'?"),
    (["zzz"], "There are 'fit', '"),
    (["--vresion"], "--version"),
    (["fit", "train.csv", "--tagret", "late"], "Did you mean '--target'"),
    (["fit", "train.csv", "--target"], "'--target' requires an argument"),
    (["fit", "train.csv"], "which column is to be predicted? Give --target."),
    (["fit", "train.csv", "--target", "late", "--task", "regresion"], "Did you mean 'regression'?"),
    (["fit", "train.csv", "--target", "late", "--metric", "acuracy"], "Did you mean 'accuracy'?"),
    (["fit", "train.csv", "--target", "late", "--exclude", "nets"], "Did you mean 'net'?"),
    (["fit", "--target", "late"], "Missing argument 'TABLE...'"),
    (["fit", "trian.csv", "--target", "late"], "Did you mean 'train.csv'?"),
    (["fit", "nowhere/train.csv", "--target", "late"], "There is no folder 'nowhere' either"),
    (["fit", "x*.csv", "--target", "late"], "no file matches 'x*.csv'"),
    (["fit", "train.csv", "--target", "late", "--time", "soon"], "Write 60 for seconds, 10m, 1h or 1h30m."),
    (["fit", "train.csv", "--target", "late", "--time", "0"], "longer than nothing"),
    (["fit", "train.csv", "--target", "late", "--time", "60", "--models", "3"], "exclude each other"),
    (["fit", "train.csv", "--target", "late", "--models", "0"], "a whole number, 1 at least"),
    (["fit", "train.csv", "--target", "late", "--models", "many"], "a whole number, 1 at least, but it is 'many'"),
    (["fit", "train.csv", "--target", "late", "--threads", "-1"], "a whole number, 1 at least"),
    (["fit", "train.csv", "--target", "late", "--seed", "x"], "a whole number, 0 at least"),
    (["fit", "train.csv", "--target", "late", "--group", "late"], "--group and --target name the same column"),
    (["fit", "train.csv", "--target", "late", "--time-column", "late"], "--time-column and --target name the same column"),
    (["fit", "train.csv", "--target", "late", "--weight", "late"], "--weight and --target name the same column"),
    (["fit", "train.csv", "--target", "late", "--weight", "id", "--group", "id"], "has another role already"),
    (["fit", "train.csv", "--target", "late", "--weight", "id", "--ignore", "id"], "--ignore names the weight"),
    (["fit", "train.csv", "--target", "late", "--ignore", "late"], "--ignore names the target"),
    (["fit", "train.csv", "--target", "late", "--schema", "s.json"], "there is no file 's.json'"),
    (["fit", "train.csv", "--target", "late", "--report", "r.html", "--no-report"], "exclude each other"),
    (["fit", "train.csv", "--target", "late", "--quiet", "--json"], "exclude each other"),
    (["fit", "train.csv", "--target", "late", "-o", "train.csv"], "is not a model file"),
    (["fit", "train.csv", "--target", "late", "-o", "train.csv", "--force"], "is read by this call"),
    (["fit", "train.csv", "--target", "late", "-o", "m.onnx"], "'m.onnx' says a model in ONNX, and a model file would be written"),
    (["fit", "train.csv", "--target", "late", "-o", "m.PKL", "--force"], "says a pickle"),
    (["fit", "train.csv", "--target", "late", "--report", "r.pdf"], "and a page for the browser would be written. Let it end in .html."),
    (["fit", "train.csv", "--target", "late", "-o", "nowhere/m.ww"], "there is no folder 'nowhere'"),
    (["fit", "train.csv", "--target", "late", "-o", "."], "is a folder"),
    (["fit", "train.csv", "--target", "late", "--report", "train.csv"], "is not a report of Woodwind"),
    (["fit", "train.csv", "--target", "late", "--report", "m.ww", "-o", "m.ww"], "name the same file"),
    (["fit", "train.csv", "--target", "late", "--group", "id", "--group", "id"], "--group is given 2 times, and takes one value"),
    (["fit", "train.csv", "--target=late", "--time", "1", "--time=2"], "--time is given 2 times"),
    (["version", "more"], "unexpected extra argument"),
]


@pytest.mark.parametrize(("arguments", "words"), WRONG, ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_a_wrong_call_ends_with_one_line_that_says_what_to_do(folder, job, run, arguments, words):
    before = sorted(path.name for path in folder.iterdir())
    done = run(*arguments)
    assert done.code == command.WRONG_CALL
    assert done.out == ""
    assert len(done.err.splitlines()) == 1
    assert words in done.err
    assert job.calls == []
    assert sorted(path.name for path in folder.iterdir()) == before


def test_the_module_is_the_command():
    done = subprocess.run([sys.executable, "-m", "woodwind", "--version"], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == f"woodwind {woodwind.__version__}\n"


def test_help_and_wrong_calls_load_nothing_heavy():
    code = "import sys; from woodwind.cli.main import call; call([]); call(['fti']); print(sorted({heavy} & set(sys.modules)))"
    code = code.replace("{heavy}", "{'numpy', 'numba', 'pyarrow', 'rich'}")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
