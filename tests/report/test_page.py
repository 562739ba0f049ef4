"""The page: every section for every task, nothing unescaped, nothing from elsewhere."""

import copy
import json
import re
from functools import cache
from html.parser import HTMLParser

import numpy as np
import pyarrow as pa
import pytest

import woodwind
from tests.auto.fake_outcome import fake, table_of
from woodwind import AutoEnsembleRegressor
from woodwind.auto.facts.collection import collect
from woodwind.base.errors import DataError, ParameterError
from woodwind.report import page
from woodwind.report.page import SECTIONS
from woodwind.report.sections import leaderboard, mistakes, tiles, use

PARTS = ("comparison", "quality", "data", "members", "curves", "margins", "diversity", "importance", "mistakes", "dependence")
TASKS = ("binary", "multiclass", "regression")
EVIL = "<script>alert('x')</script>\"'&\u202eevil\u2066\x00\x1b" + "y" * 100_000


@cache
def facts_text(task):
    return json.dumps(collect(fake(task, n=240, rounds=15), 60.0), allow_nan=False)


def facts_of(task):
    return json.loads(facts_text(task))


class Reader(HTMLParser):
    """What a browser makes of the page: tags with attributes, and text outside of style and script."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.words, self.open = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag in ("style", "script"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if self.open and self.open[-1] == tag:
            self.open.pop()

    def handle_data(self, data):
        if not self.open:
            self.words.append(data)

    @property
    def text(self):
        return "".join(self.words)


@pytest.mark.parametrize("task", TASKS)
def test_every_section_is_there_and_in_the_table_of_contents(task):
    read = Reader(page(facts_of(task)))
    ids = [attrs["id"] for tag, attrs in read.tags if tag == "section"]
    assert ids == [section.id for section in SECTIONS]
    links = [attrs["href"] for tag, attrs in read.tags if tag == "a" and attrs.get("class") not in ("skip", "csv")]
    assert links == [f"#{one}" for one in ids]
    assert "undefined" not in read.text.lower()
    assert "None" not in read.text
    assert "nan" not in read.text.lower().split()


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("part", PARTS)
def test_a_part_that_is_missing_leaves_the_rest_of_the_page(task, part):
    facts = facts_of(task)
    if part not in facts:
        pytest.skip("this task has no such part")
    del facts[part]
    facts["left_out"] = [{"part": part, "why": "no time was left for it"}]
    text = page(facts)
    assert "no time was left for it" in text
    assert text.count("<section ") >= len(SECTIONS) - 2


def test_the_least_that_can_be_known_is_a_page():
    facts = {name: facts_of("binary")[name] for name in ("version", "task", "target", "classes", "metric", "n_rows", "n_columns")}
    assert "How well can" in page(facts)


@pytest.mark.parametrize("wrong", [{}, {"version": 99}, None])
def test_a_model_without_facts_is_told_so(wrong):
    with pytest.raises(DataError, match="woodwind fit"):
        page(wrong)


WRONG = [("leaderboard", [{}]), ("quality", 5), ("data", {"columns": 1}), ("importance", {"columns": "x"})]


@pytest.mark.parametrize(("part", "wrong"), WRONG)
def test_facts_that_do_not_fit_together_are_an_error_in_words(part, wrong):
    with pytest.raises(DataError, match="do not fit together"):
        page({**facts_of("binary"), part: wrong})


def poisoned(value):
    """Every text of the facts with something dangerous in it."""
    if isinstance(value, dict):
        return {name: poisoned(one) if name not in KEPT else one for name, one in value.items()}
    if isinstance(value, list):
        return [poisoned(one) for one in value]
    return value[:20] + EVIL if isinstance(value, str) else value


KEPT = ("task", "version", "family", "kind", "measure", "unit", "severity", "low", "high", "median")


@pytest.mark.parametrize("task", TASKS)
def test_text_from_the_table_is_never_markup(task):
    clean, facts = facts_of(task), facts_of(task)
    evil = poisoned(facts)
    evil["use"]["example"] = {EVIL: EVIL}
    text = page(evil)
    before, after = Reader(page(clean)), Reader(text)
    # One script and one style, ours; the text of the table makes no tag at all.
    assert [tag for tag, _ in after.tags].count("script") == 1
    assert {tag for tag, _ in after.tags} <= {tag for tag, _ in before.tags} | {"br", "small"}
    assert not any(name.startswith("on") for _, attrs in after.tags for name in attrs)
    assert "<script>alert" in after.text  # shown as what it is
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00\x1b]", text)
    assert len(text) < 2_000_000  # a name of 100,000 characters is not written out
    text.encode("utf-8")


@pytest.mark.parametrize("task", TASKS)
def test_nothing_is_loaded_from_anywhere(task):
    text = page(facts_of(task))
    assert not re.search(r"https?:|url\(|@import|<iframe|<object|<embed|<img|fetch\(|XMLHttp", text)
    for tag, attrs in Reader(text).tags:
        assert "src" not in attrs, tag
        assert "style" not in attrs, tag  # the policy would not allow it
        assert attrs.get("href", "#").startswith(("#", "data:,", "data:text/csv;")), attrs
    (rule,) = [attrs["content"] for tag, attrs in Reader(text).tags if attrs.get("http-equiv") == "Content-Security-Policy"]
    assert rule.startswith("default-src 'none'")
    assert "unsafe" not in rule


def test_the_script_is_small():
    text = page(facts_of("binary"))
    script = text.split("<script>")[1].split("</script>")[0]
    assert len(script.splitlines()) <= 50


def test_names_that_are_right_to_left_are_kept_apart():
    facts = facts_of("binary")
    facts["target"] = "שכר"
    assert "<bdi>שכר</bdi>" in page(facts)


@pytest.mark.parametrize("name", ["auc", "accuracy"])
def test_a_metric_is_told_once_and_the_best_is_at_the_left_if_larger_is_better(name):
    facts = facts_of("binary")
    facts["metric"] = {"name": name, "words": "", "larger_is_better": True}
    for position, entry in enumerate(facts["leaderboard"][:-1]):
        entry["score"], entry["standard_error"] = 0.9 - 0.01 * position, 0.004
    assert [tile["name"] for tile in tiles(facts)].count({"auc": "AUC", "accuracy": "Accuracy"}[name]) == 1
    assert len(tiles(facts)) == 3
    positions = [float(found) for row in leaderboard(facts)["rows"] for found in re.findall(r'cx="([\d.]+)%"', str(row.get("drawing", "")))]
    assert positions[:4] == sorted(positions[:4])


def test_facts_are_not_changed():
    facts = facts_of("multiclass")
    before = copy.deepcopy(facts)
    page(facts)
    assert facts == before


@pytest.mark.parametrize("task", TASKS)
def test_every_chart_says_what_it_shows(task):
    text = page(facts_of(task))
    charts = re.findall(r'<svg class="chart[^"]*".*?</svg>', text, re.DOTALL)
    assert len(charts) >= 6
    for chart in charts:
        assert 'role="img"' in chart
        assert re.search(r"<title>[^<]+</title>", chart)
        assert re.search(r"<desc>[^<]+</desc>", chart)


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ({}, "Scored by rows held out at random: each of the 150 rows once, in 8 folds."),
        ({"time_column": "since"}, r"Scored by later rows: 7\d of 150 rows, in 4 blocks of time along since, "),
        ({"group": "rooms"}, r"Scored by other groups of rooms: each of the 150 rows once, in \d folds, and none of the 5 groups "),
    ],
)
def test_the_header_says_how_rows_were_split_and_nobody_is_told_to_do_what_was_done(named, words):
    table, signal = table_of(150)
    whole = table.append_column("goal", pa.array(signal)).sort_by("since")
    predicted = []
    model = woodwind.fit(whole, "goal", models=1, listener=predicted.append, **named)
    text = Reader(page(model.facts_)).text
    assert re.search(words, text)
    notes = " ".join(predicted[0].notes)
    assert ("Rows are held out in the order of 'since'" in notes) == ("time_column" in named)
    assert ("Rows of one 'rooms' are held out together" in notes) == ("group" in named)
    assert ("time order" in {one.kind for one in model.suspicions_}) == ("time_column" not in named)
    assert ("say time_column='since'" in text) == ("time_column" not in named)


def test_errors_are_called_and_signed_alike_wherever_they_are_shown():
    facts = facts_of("regression")
    names = [tile["name"] for tile in tiles(facts)]
    assert "Mean absolute error" in names
    assert "Mean error" not in names
    found = mistakes(facts)
    assert found["how_sure"] == "Residual"
    for row, one in zip(found["rows"], facts["mistakes"]["rows"], strict=True):
        assert row["sure_value"] == one["truth"] - one["predicted"]  # as the pictures have it: truth less prediction
    text = page(facts)
    assert "Residual (true − predicted)" in text
    assert "Off by" not in text


def test_learning_curves_are_in_the_unit_of_the_score(tmp_path):
    table, signal = table_of(300)
    model = AutoEnsembleRegressor(models=1, random_state=1).fit(table, signal)
    (curve,) = model.facts_["curves"]
    assert curve["unit"] == "root mean squared error"
    assert min(curve["lines"]["valid"]["loss"]) == pytest.approx(model.leaderboard_[1].score, rel=0.05)
    assert "Root mean squared error, validation" in page(model.facts_)
    del curve["unit"]
    assert "Half of the squared error, validation" in page(model.facts_)  # what earlier versions have kept
    with pytest.raises(ParameterError, match=r"says a picture or a document, and a page for the browser would be written"):
        model.report(tmp_path / "report.pdf")


def test_years_are_written_as_years():
    table, signal = table_of(300)
    table = table.append_column("year", pa.array(2000 + np.arange(300) % 20)).append_column("goal", pa.array(signal + np.arange(300) % 20))
    text = page(woodwind.fit(table, "goal", models=1).facts_)
    assert "2000 to 2019" in text
    assert "2\u202f0" not in text


@pytest.mark.parametrize("kind", [woodwind.AutoEnsembleClassifier, woodwind.AutoEnsembleRegressor])
def test_a_job_gives_a_page_with_every_section(kind, tmp_path):
    table, signal = table_of(150)
    goal = np.where(signal > 0.5, "good", "bad") if kind is woodwind.AutoEnsembleClassifier else signal
    model = kind(models=2, random_state=1).fit(table, goal)
    assert model.facts_["left_out"] == []
    model.report(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert [attrs["id"] for tag, attrs in Reader(text).tags if tag == "section"] == [section.id for section in SECTIONS]


@pytest.mark.parametrize("task", TASKS)
def test_the_python_that_is_shown_runs(task, monkeypatch):
    outcome = fake(task, n=240, rounds=15)
    monkeypatch.setattr(woodwind, "load", lambda path: outcome.model)
    code = use(facts_of(task))["python"]
    names = {}
    exec(code, names)
    assert list(names["table"].columns) == outcome.X.column_names
    predicted = names["model"].predict(names["table"])
    assert predicted.shape == (1,)
    assert predicted[0] == outcome.model.predict(outcome.X.take([0]))[0]
