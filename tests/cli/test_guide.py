"""What the guide shows can be typed: its calls are made, and what is said begins as it does there."""

import re
import shlex
import shutil
from pathlib import Path

from woodwind.cli import command

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "guide" / "command-line.md"


def calls():
    """Each call of the page, with the first line that it shows."""
    text = PAGE.read_text(encoding="utf-8")
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, *shown = part.splitlines()
            yield shlex.split(line.split(" | ")[0])[1:], shown[0]


def test_calls_of_the_guide_can_be_made(tmp_path, monkeypatch, run):
    (tmp_path / "examples" / "data").mkdir(parents=True)
    shutil.copy(ROOT / "examples" / "data" / "credit.csv", tmp_path / "examples" / "data")
    monkeypatch.chdir(tmp_path)
    found = list(calls())
    assert [arguments[0] for arguments, _ in found] == ["fit", "predict", "explain", "predict", "evaluate"]
    for arguments, shown in found:
        done = run(*arguments)
        assert done.code == 0, done.err
        assert re.sub(r"[-\d.]+", "#", done.out.splitlines()[0]).split() == re.sub(r"[-\d.]+", "#", shown).split()


def test_exit_codes_of_the_guide_are_those_of_the_command():
    rows = re.findall(r"^\| (\d+) \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert [int(code) for code, _ in rows] == sorted(command.MEANING)
    for code, words in rows:
        assert words.replace("`", "").replace(" it arose", "") == command.MEANING[int(code)]
