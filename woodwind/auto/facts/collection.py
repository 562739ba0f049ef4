"""Facts of a job: everything that the report shows, as a dictionary that JSON can hold.

Each part has a name and is made by one function. They go in the order of their worth; a part for which no time is left, or that
fails, is left out, and `left_out` says which of the two and why: a report with a gap is better than none. A failure is a warning, too.
Sizes are bounded by samples that are drawn by key, so a million rows take no longer than a hundred thousand, and the same seed gives the
same facts as long as the time suffices.
"""

import time
import warnings
from collections.abc import Callable
from typing import Any

from woodwind.auto.clock import Countdown, OutOfTimeError
from woodwind.auto.facts.coverage import coverage_facts
from woodwind.auto.facts.data import data_facts
from woodwind.auto.facts.dependence import dependence_facts
from woodwind.auto.facts.importance import importance_facts
from woodwind.auto.facts.json_values import brief, plain
from woodwind.auto.facts.members import (
    comparison_facts,
    curve_facts,
    diversity_facts,
    leaderboard_facts,
    margin_facts,
    member_facts,
    mistake_facts,
)
from woodwind.auto.facts.quality import classification_facts, regression_facts
from woodwind.auto.facts.ranking import ranking_facts
from woodwind.auto.facts.scored_rows import ScoredRows, all_metric_facts, metric_facts
from woodwind.auto.facts.shap import shap_facts
from woodwind.auto.facts.usage import made_facts, split_facts, suspicion_facts, use_facts
from woodwind.auto.outcome import Outcome
from woodwind.base.errors import ReportWarning

VERSION = 1
NEVER_DROPPED = ("leaderboard", "made", "split", "use", "suspicions", "curves", "mistakes")  # milliseconds, for a table of any size

# How good it is, by task; all others are of classes.
QUALITY: dict[str, Callable[[Outcome, ScoredRows], dict[str, Any] | None]] = {"regression": regression_facts, "ranking": ranking_facts}
NEED_ROWS = ("data", "importance", "mistakes", "dependence", "shap")
NEEDS = {"dependence": "importance"}  # parts that are made of another
FAILED = "it failed: "


def collect(outcome: Outcome, seconds: float, threads: int = 1, without_rows: str = "") -> dict[str, Any]:
    """Facts of a job that has ended, within so many seconds.

    Parameters
    ----------
    outcome : Outcome
        What the job has found.
    seconds : float
        Time for everything. Parts for which none is left are named in `left_out`.
    threads : int, default=1
        Of the model, when it is asked; they do not change the facts.
    without_rows : str, default=""
        Why there are no rows of the table to look at, where there are none: parts that need them are left out.
    """
    clock = Countdown(seconds)
    model = outcome.model
    facts: dict[str, Any] = {
        "version": VERSION,
        "task": model.task,
        "target": brief(model.target),
        "classes": [brief(label) for label in model.classes],
        "metric": metric_facts(model.metric),
        "positive": brief(model.classes[model.positive]) if model.task == "binary" else None,
        "threshold": model.threshold,
        "n_rows": len(outcome.y),
        "n_columns": int(outcome.X.num_columns),
        "left_out": [],
        "part_seconds": {},
    }
    scored = ScoredRows.of(outcome)
    parts: dict[str, Callable[[], Any]] = {
        "leaderboard": lambda: leaderboard_facts(outcome),
        "suspicions": lambda: suspicion_facts(outcome),
        "made": lambda: made_facts(outcome),
        "split": lambda: split_facts(outcome),
        "use": lambda: use_facts(outcome),
        "metrics": lambda: all_metric_facts(outcome, scored),
        "comparison": lambda: comparison_facts(outcome, scored),
        "quality": lambda: QUALITY.get(model.task, classification_facts)(outcome, scored),
        "intervals": lambda: coverage_facts(outcome, scored),
        "data": lambda: data_facts(outcome, clock),
        "members": lambda: member_facts(outcome, scored),
        "curves": lambda: curve_facts(outcome),
        "margins": lambda: margin_facts(outcome, scored),
        "diversity": lambda: diversity_facts(outcome, scored),
        "importance": lambda: importance_facts(outcome, scored, clock.share(0.5), threads),
        "mistakes": lambda: mistake_facts(outcome, scored, facts.get("importance")),
        "dependence": lambda: dependence_facts(outcome, facts["importance"], clock.share(0.7), threads),
        "shap": lambda: shap_facts(outcome, clock.share(0.9), threads),
    }
    for name, part in parts.items():
        if without_rows and name in NEED_ROWS:
            _left_out(facts, name, without_rows)
            continue
        _collect_one(facts, name, part, clock)
    failed = [f"{one['part']} ({one['why'].removeprefix(FAILED)})" for one in facts["left_out"] if one["failed"]]
    if failed:
        warnings.warn(f"Not in the report, because measuring failed: {'; '.join(failed)}.", ReportWarning, stacklevel=2)
    return dict(plain(facts))


def _left_out(facts: dict[str, Any], name: str, why: str, failed: bool = False) -> None:
    facts["left_out"].append({"part": name, "why": why, "failed": failed})


def _collect_one(facts: dict[str, Any], name: str, part: Callable[[], Any], clock: Countdown) -> None:
    """Add one part, or the reason why it is not there."""
    if clock.left <= 0.0 and name not in NEVER_DROPPED:
        _left_out(facts, name, "no time was left for it")
        return
    missing = next((one for one in facts["left_out"] if one["part"] == NEEDS.get(name)), None)
    if missing is not None:
        _left_out(facts, name, f"it needs the {missing['part']} of columns, and of that: {missing['why']}", missing["failed"])
        return
    began = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of measures that are nought divided by nought: the report shows what they were given
            found = part()
    except OutOfTimeError:
        _left_out(facts, name, "it would have taken longer than there was time for")
        return
    except Exception as error:  # noqa: BLE001  a job of an hour must not end without a model because a picture cannot be drawn
        _left_out(facts, name, f"{FAILED}{brief(f'{type(error).__name__}: {error}', 300)}", failed=True)
        return
    facts["part_seconds"][name] = round(time.perf_counter() - began, 3)
    if found is not None:
        facts[name] = found
