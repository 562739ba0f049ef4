"""The words of errors."""

import re
from pathlib import Path

import pytest

from woodwind.base.errors import ColumnTypeError, TableError
from woodwind.data.tables import table_errors
from woodwind.data.tables.table_errors import MEANINGS, listed, table_error

ROOM = Path(table_errors.__file__).parent.parent


def test_every_code_that_is_used_has_a_meaning_and_every_meaning_is_used():
    used = {code for path in ROOM.rglob("*.py") for code in re.findall(r'"([DFT]\d{3})"(?!:)', path.read_text(encoding="utf-8"))}
    assert used == set(MEANINGS)


def test_the_page_of_messages_has_every_code():
    page = (ROOM.parent.parent / "docs" / "messages.md").read_text(encoding="utf-8")
    assert re.findall(r"\| WW-(\w+) \| (.*) \|", page) == list(MEANINGS.items())


def test_an_error_says_what_why_and_how_to_mend_it():
    assert str(table_error("D004", "What.", "Why.", "do this.")) == "WW-D004: What.\nWhy.\nFix: do this."
    assert type(table_error("D004", "", "", "")) is TableError
    assert type(table_error("D011", "", "", "")) is ColumnTypeError


@pytest.mark.parametrize(
    ("items", "text"),
    [([], ""), (["a"], "'a'"), ([1, 2, 3], "1, 2, 3"), (range(1004), "0, 1, 2 and 1,001 more"), (["x" * 100], "'" + "x" * 56 + "...")],
)
def test_lists_are_short(items, text):
    assert listed(items) == text
