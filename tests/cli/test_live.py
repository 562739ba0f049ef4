"""The table on a terminal: a real one, as the system makes it."""

import os
import subprocess
import time

import pytest
from fakes import LEADERBOARD, MEMBERS, FakeJob, fake

from woodwind.cli.live import LiveTable
from woodwind.cli.standing import Standing

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


def test_how_the_table_was_read_and_what_is_suspicious_stays_on_the_screen(folder):
    sent, code = on_terminal("train.csv", "--target", "late", columns=60)
    assert code == 0
    seen = " ".join(sent.split())
    read = ("binary: 1,000 rows, 1 column", "give --task regression for numbers.")
    for words in (*read, "serious: 'paid' says the same", "and 3 more in the report"):
        assert seen.count(words) == 1  # above the table: it is written once, and not wiped away


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
    standing = Standing()
    FakeJob()("train.csv", "late", listener=standing.add)
    assert [line.name for line in standing.ordered(10)] == ["boosting", "random forest", "extra boosting", "linear"]
    assert [line.name for line in standing.ordered(2)] == ["boosting", "random forest"]
    assert standing.ordered(0) == []


def test_drawing_costs_little():
    live = LiveTable("train.csv", time.perf_counter())
    FakeJob()("train.csv", "late", listener=live.standing.add)
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
