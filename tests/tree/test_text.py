"""A tree as text, letter by letter."""

import numpy as np
import pytest

from reference.forests import random_forest
from woodwind.base.errors import ParameterError
from woodwind.tree.forest import LEFT, RIGHT, STOP, Forest
from woodwind.tree.text import Detail, export_text


def small(**more) -> Forest:
    """Age, then city on the left and age again on the right."""
    parts = {
        "roots": [0, 7], "feature": [0, 1, 0, -1, -1, -1, -1], "threshold": [30, 0, 55.5, 0, 0, 0, 0], "child": [1, 3, 5, 0, 0, 0, 0],
        "missing": [RIGHT, STOP, STOP, STOP, STOP, STOP, STOP], "sets": [-1, 0, -1, -1, -1, -1, -1],
        "words": [0b101, 0b010], "set_words": [0, 1],
        "value": [[0], [0], [0], [1], [2], [3], [4.125]], "cover": [8, 4, 4, 3, 1, 2, 2], "gain": np.zeros(7), "output": [0],
        "n_outputs": 1, "start": [0.0],
    }  # fmt: skip
    return Forest(**{**parts, **more}).with_node_values().check()


def test_a_tree_shows_sets_stops_covers_and_values():
    text = export_text(small(), feature_names=["age", "city"], categories=[None, ["Oslo", "Paris", "Rome"]])
    assert text == (
        "|--- age <= 30.00\n"
        "|   |--- city in {Oslo, Rome}\n"
        "|   |   |--- value: 1.00 (cover 3.00)\n"
        "|   |--- city in {Paris}\n"
        "|   |   |--- value: 2.00 (cover 1.00)\n"
        "|   |--- city is missing or another category: value: 1.25\n"
        "|--- age >  30.00 or missing\n"
        "|   |--- age <= 55.50\n"
        "|   |   |--- value: 3.00 (cover 2.00)\n"
        "|   |--- age >  55.50\n"
        "|   |   |--- value: 4.12 (cover 2.00)\n"
        "|   |--- age is missing: value: 3.56\n"
    )


def test_names_levels_and_digits_have_defaults():
    text = export_text(small(missing=[LEFT, RIGHT, STOP, STOP, STOP, STOP, STOP]), detail=Detail(decimals=0, max_depth=1))
    assert text == (
        "|--- feature_0 <= 30 or missing\n"
        "|   |--- ... value: 1 (cover 4)\n"
        "|--- feature_0 >  30\n"
        "|   |--- ... value: 4 (cover 4)\n"
    )  # fmt: skip
    text = export_text(small(missing=[LEFT, RIGHT, STOP, STOP, STOP, STOP, STOP]))
    assert "|   |--- feature_1 in {0, 2}\n" in text
    assert "|   |--- feature_1 in {1} or missing\n" in text
    assert "|   |--- feature_1 is another category: value: 1.25\n" in text


def test_outputs_are_named():
    vector = small(value=np.arange(14.0).reshape(7, 2), output=[-1], n_outputs=2, start=[0.0, 0.0])
    assert "value: output_0 6.00, output_1 7.00 (cover 3.00)\n" in export_text(vector)
    assert "value: no 6.00, yes 7.00 (cover 3.00)\n" in export_text(vector, output_names=["no", "yes"])
    one = small(output=[1], n_outputs=2, start=[0.0, 0.0])
    assert "value: yes 1.00 (cover 3.00)\n" in export_text(one, output_names=["no", "yes"])


def test_a_single_leaf_is_one_line():
    forest = random_forest(1, max_leaves=1)
    assert export_text(forest, tree=-1).count("\n") == 1


def test_every_node_is_drawn_once():
    forest = random_forest(2, (0, 5, 0), 1, 200)
    text = export_text(forest)
    assert text.count("(cover") == (forest.feature < 0).sum()
    split = forest.feature >= 0
    assert text.count("<=") == (split & (forest.sets < 0)).sum()
    assert text.count(" in {") == 2 * (forest.sets >= 0).sum()


def test_wrong_arguments_are_refused_by_name():
    with pytest.raises(ParameterError, match="tree must be one of the 1 trees"):
        export_text(small(), tree=1)
    with pytest.raises(ParameterError, match="feature_names must have 2 names, 1 were given"):
        export_text(small(), feature_names=["age"])
    with pytest.raises(ParameterError, match="output_names must have 1 names, 2 were given"):
        export_text(small(), output_names=["a", "b"])


def test_long_sets_are_counted_and_dates_are_written_as_such():
    categories, moments = [None, ["Oslo", "Paris", "Rome"]], ["Z", None]
    text = export_text(small(), feature_names=["when", "city"], categories=categories, moments=moments, detail=Detail(max_categories=1))
    assert "when <= 1970-01-01 00:00:30Z\n" in text
    assert "when >  1970-01-01 00:00:55Z\n" in text
    assert "city in {Oslo and 1 more}\n" in text
    assert "city in {Paris}\n" in text
