"""The table on a terminal: a real one, as the system makes it."""

import os
import re
import subprocess
import time

import pytest
from fakes import LEADERBOARD, MEMBERS, FakeJob, fake

from woodwind.cli.live import JobState, LiveTable

pty = pytest.importorskip("pty", reason="pseudo-terminals are a matter of POSIX")


def on_terminal(*arguments, columns=80, lines=24, pause=0.03, keys=0, **environment):
    """What a terminal is sent by the command with the fake, and the exit code; Ctrl-C is pressed so often once the table is there."""
    import fcntl
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    process = fake(
        pause, *arguments, stdout=theirs, stderr=theirs, stdin=theirs, env={"TERM": "xterm-256color"} | environment,
        start_new_session=True, preexec_fn=lambda: fcntl.ioctl(theirs, termios.TIOCSCTTY, 0),
    )  # fmt: skip
    os.close(theirs)
    sent, pressed = b"", 0
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        sent += part
        if keys and b"boosting" in sent and (keys > 1 or b"finishing" in sent or pressed == 0):
            os.write(ours, b"\x03")
            keys, pressed = keys - 1, pressed + 1
            time.sleep(0.3)
    os.close(ours)
    return sent.decode("utf-8"), process.wait(60)


def test_the_table_grows_and_is_wiped_away_before_the_leaderboard(folder):
    sent, code = on_terminal("train.csv", "--target", "late")
    assert code == 0
    assert "left" in sent
    assert all(name in sent for name in MEMBERS)
    assert "●" in sent
    assert "\x1b[2K" in sent  # lines are written over
    assert sent.index("\x1b[?25l") < sent.rindex("\x1b[?25h")  # the cursor is hidden, and comes back
    end = sent[sent.rindex("\x1b[2K") :]
    assert all(entry.name in end for entry in LEADERBOARD)
    assert "report  model.html" in end


def test_colours_can_be_switched_off(folder):
    sent, code = on_terminal("train.csv", "--target", "late", NO_COLOR="1")
    assert code == 0
    assert "\x1b[36m" not in sent
    assert "\x1b[32m" not in sent
    assert "\x1b[1m" not in sent  # nor is anything bold


def screen(sent, columns):
    """What is on a terminal in the end, with what has left it at the top: lines without the blanks at their ends."""
    lines, row, column = [[]], 0, 0
    for sequence, number, final, sign in re.findall(r"(\x1b\[(\??[0-9;]*)([A-Za-z]))|([^\x1b])", sent):
        if sequence:
            if final == "A":
                row = max(row - int(number or 1), 0)
            elif final == "K":
                assert number == "2"
                lines[row] = []
            else:
                assert final in "mlh"  # styles, and the cursor hidden and shown
        elif sign == "\r":
            column = 0
        elif sign == "\n":
            row += 1
        else:
            if column == columns:
                row, column = row + 1, 0
            lines += [[] for _ in range(len(lines), row + 1)]
            lines[row] += [" "] * (column - len(lines[row]) + 1)
            lines[row][column] = sign
            column += 1
        lines += [[] for _ in range(len(lines), row + 1)]
    return ["".join(line).rstrip() for line in lines]


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_how_the_table_was_read_and_what_is_suspicious_stays_on_the_screen(folder, columns):
    sent, code = on_terminal("train.csv", "--target", "late", columns=columns)
    assert code == 0
    left = screen(sent, columns)
    seen = " ".join(" ".join(left).split())
    read = ("binary: 1,000 rows, 1 column; log_loss in 3 folds; 60 s", "classes (0, 1); give --task regression for numbers.")
    suspicious = [f"warning: 'id{number}' looks like an identifier." for number in range(6)]
    predicted = "the column 'id' looks like an identifier and more"
    for words in (
        *read,
        "serious: 'paid' says the same as the target. Will it be known?",
        *suspicious,
        "and 3 more in the report",
        predicted,
    ):
        assert seen.count(words) == 1  # above the table: it is written once, not wiped away, and no word is cut in two
    assert not any(name in line for line in left for name in ("left", "reading the table", "●", "━"))  # but the table is


def test_a_warning_in_the_middle_of_a_job_stays_on_the_screen(folder):
    sent, code = on_terminal("train.csv", "--target", "late", FAKE_WARNING="the column 'id' holds whole numbers above 2**53")
    assert code == 0
    assert "warning: the column 'id' holds whole numbers above 2**53" in screen(sent, 80)


def test_a_narrow_and_low_terminal_has_room_for_the_most_important(folder):
    sent, code = on_terminal("train.csv", "--target", "late", columns=30, lines=9)
    assert code == 0
    assert "score" in sent
    assert "0.4500" in sent


def test_a_terminal_that_cannot_move_its_cursor_gets_lines(folder):
    sent, code = on_terminal("train.csv", "--target", "late", TERM="dumb")
    assert code == 0
    assert "\x1b[2K" not in sent
    assert "boosting: fold 1 of 3" in sent


def test_a_terminal_without_signs_gets_letters(folder):
    sent, code = on_terminal("train.csv", "--target", "late", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert code == 0
    assert sent.isascii()
    assert "###" in sent


def test_the_best_members_stay_where_there_is_no_room_for_all():
    state = JobState()
    FakeJob()("train.csv", "late", listener=state.add)
    assert [line.name for line in state.ordered(10)] == ["boosting", "random forest", "extra boosting", "linear"]
    assert [line.name for line in state.ordered(2)] == ["boosting", "random forest"]
    assert state.ordered(0) == []


def test_drawing_costs_little():
    live = LiveTable("train.csv", time.perf_counter())
    FakeJob()("train.csv", "late", listener=live.state.add)
    started = time.perf_counter()
    for _ in range(20):
        live.console.render_lines(live.picture())
    assert (time.perf_counter() - started) / 20 < 0.05


def test_what_is_shown_elsewhere_is_not_drawn(folder):
    process = fake(0, "train.csv", "--target", "late", stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={"FORCE_COLOR": "1"})
    _, err = process.communicate(timeout=60)
    assert "\x1b[2K" not in err


def test_ctrl_c_finishes_with_what_there_is(folder):
    sent, code = on_terminal("train.csv", "--target", "late", pause=0.1, keys=1)
    assert code == 0
    assert "finishing with the best so far" in sent
    assert "report  model.html" in sent[sent.rindex("\x1b[?25h") :]


def test_ctrl_c_twice_leaves_and_brings_the_cursor_back(folder):
    sent, code = on_terminal("train.csv", "--target", "late", pause=0.3, keys=2)
    assert code == 130
    assert sent.rindex("\x1b[?25h") > sent.rindex("\x1b[?25l")
    assert not (folder / "model.ww").exists()
