"""Explanations as text and as a page: every column told once, numbers that add up, nothing unescaped, nothing from elsewhere."""

import re
import shutil
import subprocess
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from tests.estimators.test_explain import table, target
from tests.report.test_page import EVIL, Reader
from woodwind import GradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from woodwind.report.shap_page import FEW_ROWS, MANY_ROWS, MOST_COLUMNS, MOST_POINTS, MOST_ROWS, as_html, as_text, signed
from woodwind.tree.shap_result import SCORE

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@cache
def wording(task, n=40):
    X = table()
    y = target(X)
    if task == "regression":
        return RandomForestRegressor(n_estimators=5, random_state=0).fit(X, y).explain(X[:n])
    if task == "binary":
        return GradientBoostingClassifier(n_estimators=15, random_state=0).fit(X, np.where(y > 2, "yes", "no")).explain(X[:n])
    return RandomForestClassifier(n_estimators=5, random_state=0).fit(X, np.digitize(y, [1.0, 2.0])).explain(X[:n])


TASKS = ("binary", "multiclass", "regression")


def numbers_in(text):
    return [float(one.replace("−", "-").replace("+", "").replace("\u202f", "")) for one in text]


@pytest.mark.parametrize("task", TASKS)
def test_text_tells_rows_in_order_after_what_columns_bring_on_average(task):
    text = as_text(wording(task))
    assert text.startswith("mean size of what a column brings, over 40 rows:\n")
    assert re.findall(r"^row (\d+): ", text, re.MULTILINE) == [str(row) for row in range(FEW_ROWS)]
    assert f"... and {40 - FEW_ROWS} more rows" in text
    assert as_text(wording(task), rows=[7], first=1).startswith("row 8: ")
    assert "<b>Row 8</b>" in as_html(wording(task), rows=[7], first=1)
    assert as_text(wording(task), rows=[7]) == f"row 7: {wording(task).to_text(7)}"


def test_one_row_is_told_without_its_number():
    assert as_text(wording("binary", 1)) == wording("binary", 1).to_text(0)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("n", [1, MANY_ROWS - 1, 40])
def test_the_page_has_a_picture_of_each_row_and_one_of_all_if_there_are_many(task, n):
    one = wording(task, n)
    read = Reader(as_html(one, "Why?"))
    pictures = [attrs for tag, attrs in read.tags if tag == "svg"]
    swarms = 0 if n < MANY_ROWS else one.scores.shape[1]
    assert len(pictures) == min(n, MOST_ROWS) + swarms
    assert all(attrs["role"] == "img" and attrs["aria-label"] for attrs in pictures)
    assert "Why?" in read.text
    assert "nan" not in read.text.lower().split()
    points = [attrs for tag, attrs in read.tags if tag == "circle"]
    assert bool(points) == (n >= MANY_ROWS)


def test_bars_of_a_row_lead_from_the_base_to_the_score():
    one = wording("regression")
    text = as_html(one, rows=[3])
    tips = re.findall(r"<title>[^<]*: ([+−][\d.]+), from ([−\d.]+) to ([−\d.]+)</title>", text)
    steps = np.array([numbers_in(parts) for parts in tips])
    assert len(steps) == (one.values[3, :, 0] != 0).sum()
    np.testing.assert_allclose(steps[:, 1] + steps[:, 0], steps[:, 2], atol=0.02)
    np.testing.assert_allclose([steps[0, 1], steps[-1, 2]], [one.base[0], one.scores[3, 0]], atol=0.02)


def test_many_columns_are_added_up_and_many_rows_drawn_by_key():
    one = wording("regression")
    names = tuple(f"column {position}" for position in range(30))
    values = np.tile(np.linspace(1.0, 2.0, 30)[:, None], (500, 1, 1))
    wide = replace(one, values=values, names=names, scores=np.full((500, 1), one.base[0] + values[0].sum()), cells=None)
    text = as_html(wide, rows=[0])
    assert f"{30 - MOST_COLUMNS} other columns" in text
    assert text.count("<circle") == MOST_COLUMNS * MOST_POINTS
    assert "column 29" in text
    assert as_html(wide, rows=[0]) == text


def test_what_is_sampled_is_said():
    one = replace(wording("binary", 1), exact_share=0.75)
    assert "75" in Reader(as_html(one)).text
    assert "sampled" in as_html(one)
    assert "sampled" in as_text(one)
    assert "exact" in as_html(wording("binary", 1))
    assert "sampled" not in as_html(wording("binary", 1))


def test_a_row_to_which_nothing_matters_is_a_page_too():
    one = wording("regression")
    flat = replace(one, values=np.zeros_like(one.values), scores=np.tile(one.base, (len(one), 1)))
    assert "this row" in as_html(flat)
    assert as_text(flat)


def test_text_from_the_table_is_never_markup_and_never_steers_a_terminal():
    one = wording("binary")

    class Evil:
        def row(self, _number):
            return (EVIL,) * 5

        def numbers(self, _column):
            return None

    evil = replace(one, names=tuple(EVIL + str(position) for position in range(5)), outputs=(EVIL,), cells=Evil())
    text = as_html(evil, EVIL)
    before, after = Reader(as_html(one)), Reader(text)
    assert {tag for tag, _ in after.tags} == {tag for tag, _ in before.tags}
    assert "script" not in {tag for tag, _ in after.tags}
    assert not any(name.startswith("on") for _, attrs in after.tags for name in attrs)
    for predicted in (text, as_text(evil)):
        assert not re.search("[\u202a-\u202e\u2066-\u2069\x00\x1b]", predicted)
        assert len(predicted) < 500_000


def test_nothing_is_loaded_from_anywhere():
    text = as_html(wording("multiclass"))
    assert not re.search(r"https?:|url\(|@import|<iframe|<object|<embed|<img|<script", text)
    for tag, attrs in Reader(text).tags:
        assert "src" not in attrs, tag
        assert "style" not in attrs, tag
    (rule,) = [attrs["content"] for _, attrs in Reader(text).tags if attrs.get("http-equiv") == "Content-Security-Policy"]
    assert rule.startswith("default-src 'none'")
    assert "unsafe" not in rule


def test_signs_are_written():
    assert (signed(1.5), signed(-1.5), signed(0.0)) == ("+1.50", "−1.50", "+0")


@pytest.mark.skipif(BROWSER is None, reason="there is no browser")
def test_a_browser_applies_the_style_of_the_page(tmp_path):
    """The policy allows the style by its digest alone: a wrong digest would leave a page without colours."""
    page, shot = tmp_path / "page.html", tmp_path / "page.html.txt"
    page.write_text(as_html(wording("binary", 1)), encoding="utf-8")
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path)
    shot.write_text(done.stdout, encoding="utf-8")
    assert "What brings it there" in done.stdout
    assert "Content Security Policy" not in done.stderr


def test_the_name_of_a_column_is_left_as_it_is():
    page = as_html(replace(wording("regression"), scale="y"))
    assert "Y:" not in page
    assert "y: " in page
    assert "Log-odds of yes: " in as_html(wording("binary"))


def test_one_of_several_classes_has_a_probability():
    one = replace(wording("multiclass", 1), scale=SCORE)
    raised = np.exp(one.scores[0] - one.scores[0].max())
    k = one.highest(0)
    chance = raised[k] / raised.sum()
    assert as_text(one).startswith(f"score of {one.outputs[k]}: ")
    assert f"(a probability of {chance:.3g}), on average" in as_text(one)
    assert f"a probability of {100 * chance:.1f}" in as_html(one)


def test_numbers_that_stand_below_each_other_are_written_in_one_way():
    one = wording("regression", 1)
    large = replace(one, values=one.values * 1e4, base=one.base * 1e4, scores=one.scores * 1e4)
    assert "e+" not in as_text(large)
    written = re.findall(r'class="[^"]*end value[^"]*"[^>]*>([^<]+)<', as_html(large))
    assert len(written) > 2
    assert len({len(text.partition(".")[2]) for text in written}) == 1
