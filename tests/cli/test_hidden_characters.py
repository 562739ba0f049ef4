"""Names, labels and levels of a hostile table: whatever command shows them, nothing in them steers the terminal."""

import csv
import html
import io
import json
import random
import re
import sys
from pathlib import Path

import pytest

import woodwind.cli
from woodwind.cli.main import call

TITLE, CLEAR, STYLE = "\x1b]0;owned\x07", "\x1b[2J", "\x1b[31;5;45m"
COLUMNS = [f"a{TITLE}", f"b{CLEAR}\u202e", "c\x9b2J\x7f\b", "[/x]", "[bold]e[/bold]:bomb:", "f\nwoodwind: all is well", "g\tg", f"h{STYLE}"]
TARGET = f"late{CLEAR}{TITLE}"
LABELS = [f"no{STYLE}\x07", "yes\nno\u2066"]
LEVELS = [f"one{STYLE}", "two\r\n", "three\x9b"]
TABLE, MODEL = f"t{CLEAR}.csv", f"m{TITLE}.ww"
# What the live table and styles of ours are made of; of a hostile name nothing but its plain characters may be left.
OURS = re.compile(r"\x1b\[(\?25[lh]|\d*[AK]|[01234567;]{1,4}m)|[\r\n]")


class Terminal(io.StringIO):
    """A stream that somebody looks at."""

    encoding = "utf-8"

    def isatty(self):
        return True


@pytest.fixture
def on_terminal(monkeypatch):
    """Call the command as on a terminal: its exit code, and all that was sent."""

    def run(*arguments):
        with monkeypatch.context() as patched:
            out, err = Terminal(), Terminal()
            patched.setattr(sys, "stdout", out)
            patched.setattr(sys, "stderr", err)
            patched.setenv("TERM", "xterm-256color")
            code = call(arguments)
        return code, out.getvalue(), err.getvalue()

    return run


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with the table and the model that was made of it."""
    folder = tmp_path_factory.mktemp("hostile")
    draw = random.Random(0)
    with (folder / TABLE).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*COLUMNS, TARGET])
        for number in range(120):
            level = draw.choice(LEVELS)
            cells = [draw.random() for _ in COLUMNS[1:]]
            writer.writerow([level, *cells, LABELS[(level == LEVELS[0]) ^ (number % 7 == 0)]])
    assert call(["fit", str(folder / TABLE), "--target", TARGET, "--models", "2", "-o", str(folder / MODEL), "-q"]) == 0
    return folder


@pytest.fixture
def here(home, monkeypatch):
    monkeypatch.chdir(home)
    return home


def hidden(sent):
    """Characters of what was sent that steer a terminal and are not ours."""
    left = re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", OURS.sub("", sent))
    return left + [sequence for sequence in (STYLE, CLEAR) if sequence in sent]


SHOWN = [
    ["fit", TABLE, "--target", TARGET, "--models", "1", "--force", "-o", f"other{MODEL}"],
    ["inspect", MODEL],
    ["leaderboard", MODEL],
    ["leaderboard", MODEL, "--csv"],
    ["evaluate", MODEL, TABLE],
    ["explain", MODEL, TABLE],
    ["explain", MODEL, TABLE, "--row", "2"],
    ["predict", MODEL, TABLE],
    ["predict", MODEL, TABLE, "--proba", "--keep", COLUMNS[0]],
    ["report", MODEL, "-o", f"r{CLEAR}.html"],
]


@pytest.mark.parametrize("arguments", SHOWN, ids=lambda arguments: " ".join(arguments[::3]).encode("unicode_escape").decode())
def test_no_command_hands_them_to_the_terminal(here, on_terminal, arguments):
    code, out, err = on_terminal(*arguments)
    assert code == 0, err
    assert hidden(out) == []
    assert hidden(err) == []
    assert "\nwoodwind: all is well" not in out + err
    assert "💣" not in out + err  # nor is a name taken for a sign


def test_columns_are_shown_by_their_names(here, on_terminal):
    _, out, _ = on_terminal("inspect", MODEL)
    for words in (r"a\x1b]0;owned\x07", "[/x]", "[bold]e[/bold]:bomb:", r"f\nwoodwind: all is well", r"late\x1b[2J\x1b]0;owned\x07"):
        assert words in out


WRONG = [
    ["fit", TABLE, "--target", f"lat{CLEAR}"],
    ["fit", f"nowhere{CLEAR}.csv", "--target", "y"],
    ["predict", MODEL, TABLE, "--keep", f"x{TITLE}"],
    ["inspect", TABLE],
    ["predict", MODEL, MODEL],
    ["fit", TABLE, "--target", COLUMNS[5], "--metric", f"x{CLEAR}"],
    [f"fit{CLEAR}"],
    ["fit", f"--x{CLEAR}"],
]


@pytest.mark.parametrize("debug", ["", "1"])
@pytest.mark.parametrize("arguments", WRONG, ids=lambda arguments: " ".join(arguments).encode("unicode_escape").decode())
def test_no_error_does(here, on_terminal, arguments, debug, monkeypatch):
    monkeypatch.setenv("WOODWIND_DEBUG", debug)
    code, out, err = on_terminal(*arguments)
    assert code in (2, 3, 4)
    assert hidden(out + err) == []


@pytest.mark.parametrize("arguments", [["inspect", MODEL], ["evaluate", MODEL, TABLE], ["explain", MODEL, TABLE], ["leaderboard", MODEL]])
def test_machines_get_valid_json_with_the_names_as_they_are(here, run, arguments):
    done = run(*arguments, "--json")
    assert done.code == 0
    assert done.out.isprintable() or done.out.rstrip("\n").isprintable()
    found = json.loads(done.out, parse_constant=pytest.fail)
    if arguments[0] == "inspect":
        assert [column["name"] for column in found["columns"]] == COLUMNS
        assert (found["target"], found["classes"]) == (TARGET, sorted(LABELS))


def test_predictions_for_machines_have_the_labels_as_they_are(here, run):
    rows = [json.loads(line) for line in run("predict", MODEL, TABLE, "--json").out.splitlines()]
    assert {row["prediction"] for row in rows} == set(LABELS)
    rows = list(csv.DictReader(io.StringIO(run("predict", MODEL, TABLE).out, newline="")))
    assert {row["prediction"] for row in rows} <= set(LABELS)


def test_a_gap_among_copied_cells_is_null(here, run, tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pa.table({**{name: [0.5, 0.5] for name in COLUMNS[1:]}, COLUMNS[0]: LEVELS[:2], "mine": [float("nan"), float("inf")]})
    parquet.write_table(table, tmp_path / "new.parquet")
    done = run("predict", MODEL, str(tmp_path / "new.parquet"), "--keep", "mine", "--json")
    assert [json.loads(line, parse_constant=pytest.fail)["mine"] for line in done.out.splitlines()] == [None, None]


def test_the_report_has_them_as_text(here):
    page = html.unescape((here / MODEL).with_suffix(".html").read_text(encoding="utf-8"))
    assert "[bold]e[/bold]:bomb:" in page
    assert re.findall("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", page) == []


def test_commands_write_through_one_place():
    """Whoever calls click.echo, or writes to a stream, is a hole."""
    folder = Path(woodwind.cli.__file__).parent
    writes = re.compile(r"click\.s?echo\(|std(out|err)\.write\(|console\.print\(")
    holes = {path.name for path in folder.glob("*.py") if writes.search(path.read_text("utf-8"))}
    assert holes == {"console.py", "main.py", "streams.py", "terminal.py"}
