"""Numbers as CSV inside the page."""

import base64
import csv
import io
import re

from woodwind.report.download import csv_link, csv_text


def test_what_is_saved_is_read_back_as_it_was():
    text = csv_text({"name": ["a,b", 'say "x"', "two\nlines"], "value": [1.5, None, -2]})
    assert list(csv.reader(io.StringIO(text))) == [["name", "value"], ["a,b", "1.5"], ['say "x"', ""], ["two\nlines", "-2"]]


def test_text_is_no_formula():
    assert csv_text({"=cmd()": ["@x", "+1", "-1", "plain"]}).splitlines() == ["'=cmd()", "'@x", "'+1", "'-1", "plain"]


def test_the_link_holds_the_numbers_and_escapes_its_title():
    link = str(csv_link('ROC <curve> "x"', {"a": [1, 2]}))
    assert "<curve>" not in link
    assert 'download="roc-curve-x.csv"' in link
    assert base64.b64decode(re.search(r"base64,([^\"]+)", link).group(1)).decode() == "a\n1\n2\n"
