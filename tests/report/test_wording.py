"""What is predicted for facts: no sentence contradicts another, and none says more than was measured."""

import pytest

from woodwind.report.sections import FACTORS, commands, leaderboard, members, use
from woodwind.report.wording import against_best, how_good, how_split, looks_at, watch_out

BEST = {"name": "boosting", "loss": 0.5, "score": 0.5}


def importance(*columns, n_columns=None):
    found = [
        {"name": name, "column": position, "more": more, "standard_error": error} for position, (name, more, error) in enumerate(columns)
    ]
    return {"columns": found, "n_columns": n_columns or len(columns), "screened": False, "unit": "log loss", "rows": 100}


def facts(found, suspicions=()):
    return {"task": "regression", "target": "y", "n_rows": 1000, "importance": found, "suspicions": list(suspicions)}


def predicted(sentences):
    return " ".join(str(one) for one in sentences)


def test_a_model_does_not_rest_on_a_column_that_makes_no_clear_difference():
    unclear = facts(importance(("x1", 0.3, 0.2), ("x2", 0.01, 0.2), ("x3", 0.0, 0.2)))
    assert "No single column makes a clear difference" in predicted(looks_at(unclear))
    assert "It rests on" not in predicted(watch_out(unclear))
    clear = facts(importance(("x1", 0.3, 0.01), ("x2", 0.01, 0.01), ("x3", 0.0, 0.01)))
    assert "It rests on <bdi>x1</bdi>" in predicted(watch_out(clear))


def test_importance_is_said_to_be_of_rows_that_were_learnt():
    found = importance(("a", 0.4, 0.01), ("b", 0.3, 0.01), ("note", 0.2, 0.01), ("c", 0.1, 0.01))
    words = predicted(looks_at(facts(found)))
    assert "matter clearly" not in words
    assert "measured on rows that it has learned" in words
    assert "by heart" not in words
    suspicion = {"kind": "identifier", "columns": ["note"], "words": "'note' names rows.", "severity": "warning"}
    assert "It has learned <bdi>note</bdi> by heart" in predicted(looks_at(facts(found, [suspicion])))


@pytest.mark.parametrize(
    ("more", "error", "loss", "words"),
    [
        (0.05, 0.01, 0.5, "clearly better"),
        (0.0002, 0.00005, 0.5, "slightly better"),
        (-0.0002, 0.00005, 0.5, "slightly worse"),
        (-0.05, 0.01, 0.5, "is <b>better</b>: the log loss of the ensemble is larger"),
        (0.0002, 0.0005, 0.5, "about as good"),
        (0.0002, 0.00005, None, "clearly better"),
    ],
)
def test_a_slight_difference_is_called_slight_however_clear(more, error, loss, words):
    assert words in str(against_best({**BEST, "more": more, "standard_error": error}, "log loss", loss))


def entry(name, weight, family="boosting"):
    given = {"name": name, "family": family, "score": 0.5, "standard_error": 0.01, "weight": weight, "seconds": 1.0, "note": ""}
    return {**given, "row_microseconds": 1.0}


@pytest.mark.parametrize(("weights", "written"), [((0.63, 0.37), ("63\u202f%", "37\u202f%")), ((0.63, 0.62), ("0.63", "0.62"))])
def test_weights_that_are_no_shares_are_no_per_cents(weights, written):
    entries = [entry("ensemble", 1.0, "ensemble"), *(entry(f"m{position}", weight) for position, weight in enumerate(weights))]
    board = leaderboard({"task": "regression", "metric": {"name": "rmse", "larger_is_better": False}, "leaderboard": entries})
    assert tuple(row["share"] for row in board["rows"][1:]) == written
    worth = [{"name": one["name"], "weight": one["weight"], "more": 0.1, "standard_error": 0.01} for one in entries[1:]]
    inside = members({"members": {"unit": "log loss", "members": worth}})
    assert tuple(row["share"] for row in inside["rows"]) == written
    assert (FACTORS in board["caption"]) == (FACTORS in inside["caption"]) == (written[0] == "0.63")


def test_commands_name_the_file_of_the_model():
    wording = use({"task": "regression", "file": "loans.ww", "use": {"example": {"a": 1}, "columns": ["a"], "n_columns": 1}})
    assert "woodwind predict loans.ww new.csv" in wording["commands"]
    assert "woodwind.load('loans.ww')" in wording["python"]
    assert "model.ww" not in wording["commands"] + wording["python"]
    assert "woodwind report 'my loans.ww'" in commands("my loans.ww")


LATER = (
    "Scored by later rows: 500 of 1000 rows, in 4 blocks of time along <bdi>Date</bdi>, each by models that had learned what came before "
    "it."
)
OTHERS = (
    "Scored by other groups of <bdi>who</bdi>: each of the 1000 rows once, in 6 folds, "
    "and none of the 40 groups was on both sides of a split."
)
SPLITS = [
    (["random"], 8, 1000, {}, None, "Scored by rows held out at random: each of the 1000 rows once, in 8 folds."),
    (["random"], 1, 200, {}, None, "Scored by rows held out at random: 200 of 1000 rows, in one part."),
    (["groups"], 6, 1000, {"group": "who"}, 40, OTHERS),
    (["time"], 4, 500, {"time": "Date"}, None, LATER),
    (["time", "groups"], 4, 500, {"time": "Date", "group": "who"}, 40, f"{LATER} A group counts from its first row on."),
]


@pytest.mark.parametrize(("by", "folds", "held", "columns", "groups", "words"), SPLITS)
def test_how_rows_were_split_is_said_with_how_many(by, folds, held, columns, groups, words):
    found = {"by": by, "folds": folds, "rows": 1000, "held_out": held, "columns": columns, "groups": groups}
    assert how_split({"split": found}) == words
    assert how_split({}) == ""


def test_the_estimate_for_means_of_folds_is_told_beside_the_score_of_rows_held_out():
    estimate = {"score": 0.1727, "standard_error": 0.0074, "out_of_fold": 0.178, "folds": 6, "means": 2, "members": ["boosting"]}
    given = {**facts(None), "metric": {"name": "log_loss", "larger_is_better": False}}
    assert predicted(how_good({**given, "estimate": estimate})) == (
        "With what the mean of the models of 6 folds gains in 1 of 2 members, Log loss is estimated to be <b>0.1727 ± 0.0074</b>; on rows "
        "held out, each predicted by one of these models, it is 0.1780."
    )
    assert how_good({**given, "estimate": {"why": "there was no time"}}) == how_good(given) == []
