"""Texts as a terminal may show them."""

import pickle
import unicodedata

import pandas as pd
import pytest

from woodwind import DecisionTreeClassifier, GradientBoostingRegressor
from woodwind.base.errors import TableError
from woodwind.base.formatting import printable
from woodwind.base.notice import notice, write_error_stream

HIDDEN = "".join(map(chr, [*range(32), *range(0x7F, 0xA0), 0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A), 0xFEFF]))


def test_what_steers_a_terminal_becomes_its_escape():
    assert printable("a\x1b[2J\nb\x9b\x7f\u202e") == r"a\x1b[2J\nb\x9b\x7f\u202e"
    for sign in HIDDEN:
        assert printable(sign).isascii()
        assert printable(f"a{sign}b").isprintable()
    assert printable("a\nb\x1b", keep="\n") == "a\nb\\x1b"


def test_what_people_write_stays():
    for words in ("straße 3\u00a0km", "می\u200cخواهم", "👩\u200d🔬", "नमस्ते", "価格（円）", "עברית", "é"):
        assert printable(words) == words
    assert printable(3.5) == "3.5"


def test_letters_marks_numbers_and_signs_stay():
    for sign in filter(lambda sign: unicodedata.category(sign)[0] in "LMNPS", map(chr, range(0, 0x30000, 37))):
        assert printable(sign) == sign


def test_errors_and_warnings_show_names_and_nothing_else():
    error = TableError("the column x\x1b[2J\u202e is odd\nFix: rename it")
    assert str(error) == "the column x\\x1b[2J\\u202e is odd\nFix: rename it"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    with pytest.warns(UserWarning, match=r"the column x\\x1b\[2J\\n"):
        notice("the column x\x1b[2J\n", UserWarning)


def test_texts_of_trees_show_names_and_nothing_else():
    table = pd.DataFrame({"x\x1b[2J": range(40), "y\u202e\n": ["a\x07", "b\x9b"] * 20})
    tree = DecisionTreeClassifier().fit(table, [f"k{i % 2}\x1b]0;\x07" for i in range(40)])
    boosted = GradientBoostingRegressor(n_estimators=3, min_samples_leaf=2).fit(table, [float(i % 2) + i for i in range(40)])
    texts = [text for model in (tree, boosted) for text in (model.export_text(), model.explain(table.head(2)).to_text())]
    for text in texts:
        assert all(line.isprintable() for line in text.splitlines())
        assert r"\u202e" in text or r"\x1b" in text


def test_a_closed_error_stream_is_no_reason_to_fail(monkeypatch):
    class Full:
        closed = False

        def write(self, text):
            raise OSError(28, "No space left on device")

        def isatty(self):
            return False

    for stream in (None, Full()):
        monkeypatch.setattr("sys.stderr", stream)
        write_error_stream("so far\n")
        GradientBoostingRegressor(n_estimators=3, verbose=1).fit([[1.0], [2.0], [3.0]] * 10, [1.0, 2.0, 3.0] * 10)
