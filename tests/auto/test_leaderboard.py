"""The leaderboard as people see it."""

import copy
import pickle

from woodwind.auto.leaderboard import Leaderboard
from woodwind.auto.outcome import Entry

BOARD = Leaderboard(
    [
        Entry("ensemble", "ensemble", 0.123456, 0.01, 0.1, 1.0, 12.34, 56.78, 5, "stacking"),
        Entry("boosting", "boosting", 0.2, 0.02, 0.2, 0.75, 3.0, float("nan"), 5, ""),
        Entry("<odd>", "net", float("nan"), float("nan"), float("inf"), 0.0, 1.0, float("nan"), 0, "failed: a & b"),
    ]
)


def test_it_is_a_tuple_that_shows_itself_as_a_table():
    assert repr(BOARD).splitlines() == [
        "member     score       ±  weight  seconds  us/row  note",
        "ensemble  0.1235  0.0100             12.3    56.8  stacking",
        "boosting  0.2000  0.0200    0.75      3.0       -",
        "<odd>          -       -              1.0       -  failed: a & b",
    ]
    assert tuple(BOARD) == BOARD
    assert BOARD[0].name == "ensemble"


def test_a_notebook_shows_a_table_whose_cells_are_no_html():
    shown = BOARD._repr_html_()
    assert shown.count("<tr>") == 4
    assert "&lt;odd&gt;" in shown
    assert "<odd>" not in shown


def test_it_survives_copies():
    for again in (copy.deepcopy(BOARD), pickle.loads(pickle.dumps(BOARD))):
        assert type(again) is Leaderboard
        assert repr(again) == repr(BOARD)
    assert repr(Leaderboard()) == "member  score  ±  weight  seconds  us/row  note"
