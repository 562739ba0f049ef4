"""Any table with any text gives a page on which its text is text."""

import json
import re
import warnings
from html.parser import HTMLParser

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.auto.fake_outcome import outcome_of
from woodwind.auto.facts.collection import collect
from woodwind.report import page

NASTY = ["<script>", "</script>", "</style>", "<!--", "]]>", "&lt;", "{{ 7 * 7 }}", "{% raw %}", "=cmd()",
          "\u202e", "\x00", "\ufeff", "'\"", "javascript:", "${x}"]  # fmt: skip
text = st.lists(st.one_of(st.sampled_from(NASTY), st.text(max_size=6)), min_size=1, max_size=4).map("".join)
names = st.lists(text, min_size=3, max_size=5, unique=True)
ROWS = 36
TASKS = ("binary", "multiclass", "regression")


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found.append(tag)
        assert not any(name.startswith("on") or name == "style" for name, _ in attrs)


@settings(max_examples=12)
@given(names, st.lists(text, min_size=2, max_size=5, unique=True), st.sampled_from(TASKS), st.integers(0, 99))
def test_text_of_a_table_is_text_on_its_page(columns, values, task, seed):
    rng = np.random.default_rng(seed)
    held = [pa.array([values[position] for position in rng.integers(0, len(values), ROWS)]), pa.array(rng.normal(size=ROWS))]
    table = pa.table({name: held[position % 2] for position, name in enumerate(columns)})
    classes = {"binary": ("a<b", values[0] + "!"), "multiclass": ("x", values[0] + "?", values[1] + "?!"), "regression": ()}[task]
    y = rng.normal(size=ROWS) if task == "regression" else np.arange(ROWS) % len(classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of categories that a fold has not seen
        facts = collect(outcome_of(table, y, task, classes, target_name=columns[0], folds=2, rounds=2), 60.0)
    assert facts["left_out"] == []
    written = page(json.loads(json.dumps(facts, allow_nan=False)))
    tags = Tags()
    tags.feed(written)
    assert tags.found.count("script") == tags.found.count("style") == 1
    assert tags.found.count("html") == tags.found.count("body") == tags.found.count("main") == 1
    assert not set(tags.found) & {"img", "iframe", "object", "embed", "form", "input", "base"}
    assert not re.search("[\x00-\x08\x0b\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069\ufeff]", written)
    written.encode("utf-8")
