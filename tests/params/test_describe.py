"""The same declarations as words."""

import re

import pytest

import woodwind
from woodwind.base.docstrings import fill_docstring, filled_text
from woodwind.params import groups
from woodwind.params.describe import declared, section, table
from woodwind.params.groups import TreeParams

GROUPS = [value for value in vars(groups).values() if isinstance(value, type) and value.__name__.endswith("Params")]


@pytest.mark.parametrize("group", GROUPS)
def test_every_parameter_has_a_sentence_and_a_default(group):
    for knob in declared(group):
        assert knob.words.endswith("."), knob.name
        assert knob.words[0].isupper() or knob.words[0].isdigit(), knob.name
        assert hasattr(group(), knob.name)


@pytest.mark.parametrize("group", GROUPS)
def test_groups_are_vocabulary_without_behaviour(group):
    own = {name for name, value in vars(group).items() if callable(value)}
    assert {name for name in own if not name.startswith("__")} == set()


def test_one_name_means_one_thing_in_all_groups():
    seen = {}
    for group in GROUPS:
        for knob in declared(group):
            if knob.name not in ("criterion", "max_features", "max_leaf_nodes", "min_samples_leaf"):  # narrower in single trees
                assert seen.setdefault(knob.name, knob.words) == knob.words, knob.name


def test_section_is_in_the_manner_of_numpy():
    text = section(TreeParams).splitlines()
    assert text[:2] == ["Parameters", "----------"]
    assert "growth : 'best_first', 'level' or 'symmetric', default='best_first'" in text
    assert "max_depth : an integer of at least 1 or None, default=None" in text
    assert max(map(len, text)) <= 100


def test_table_has_one_row_for_each_parameter():
    rows = table(TreeParams).splitlines()
    assert len(rows) == 2 + len(declared(TreeParams))
    assert "| `max_depth` | an integer of at least 1 or None | `None` | Deepest level; None for no limit. |" in rows


def test_texts_in_common_stand_where_a_docstring_names_them_as_deep_as_their_line():
    parts = {"data": "\n    X : table\n        Rows.\n    "}
    assert filled_text("Fit.\n\n    {data}\nkept {data} {other}", parts) == "Fit.\n\n    X : table\n        Rows.\nkept {data} {other}"

    @fill_docstring(**parts)
    def fit():
        """Train.

        {data}
        """

    assert fit.__doc__ == "Train.\n\nX : table\n    Rows."


def test_no_public_docstring_has_a_place_left_to_fill():
    for name in woodwind.__all__:
        kind = getattr(woodwind, name)
        texts = [kind.__doc__, *(getattr(value, "__doc__", None) for value in vars(kind).values())] if isinstance(kind, type) else []
        assert not [text for text in texts if text and re.search(r"^\s*\{\w+\}\s*$", text, re.MULTILINE)], name
