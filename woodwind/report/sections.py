"""Sections of the page that are tables: the summary, the leaderboard, the members, the columns, how to use it, how it was made.

Each function takes the facts and gives what its template shows, or None where the facts are not there.
"""

import re
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from woodwind.report.download import csv_link
from woodwind.report.figures import spark
from woodwind.report.rows import Track, bar_row, point_row
from woodwind.report.text import count, decimals_for, duration, fixed, listing, number, percent, shown, trimmed
from woodwind.report.wording import TITLES, how_good, looks_at, metric_title, part_name, sentence, severity, watch_out

Facts = dict[str, Any]

COMMANDS = (
    ("woodwind predict {} new.csv -o predictions.csv", ""),
    ("woodwind explain {} new.csv", "why it says what it says"),
    ("woodwind leaderboard {}", ""),
    ("woodwind report {}", "this page again"),
)
FACTORS = (
    "Weights are factors, not shares: the members are stacked, the score of each is multiplied by its weight, and the weights need not add "
    "up to one."
)
KINDS = {"binary": "two classes", "multiclass": "classes", "regression": "numbers", "ranking": "rankings"}
GUESSES = {"regression": "always the mean", "ranking": "any order"}  # all others are of classes


def summary(facts: Facts) -> Facts:
    """Numbers at a glance, and three questions answered in words."""
    answers = [
        {"question": "How good is it?", "lines": how_good(facts)},
        {"question": "What does it look at?", "lines": looks_at(facts)},
        {"question": "What should I watch out for?", "lines": watch_out(facts)},
    ]
    return {"tiles": tiles(facts), "answers": [answer for answer in answers if answer["lines"]]}


def tiles(facts: Facts) -> list[Facts]:
    """The score, what it is against the baseline and against the best single model, and a measure that everybody knows."""
    out = []
    better = "larger is better" if facts["metric"]["larger_is_better"] else "smaller is better"
    entry = facts["leaderboard"][0] if facts.get("leaderboard") else None
    if entry and entry["score"] is not None:
        error = entry["standard_error"] or 0.0
        after = decimals_for(error) if error else 4
        score = fixed(entry["score"], after) if error else number(entry["score"], 4)
        spread = fixed(error, after) if error else ""
        out.append({"name": metric_title(facts), "value": score, "error": spread, "note": f"on rows held out; {better}"})
    comparison = facts.get("comparison", {})
    if comparison.get("guess") and comparison["guess"]["skill"] is not None:
        squared = comparison["unit"] == "root mean squared error"
        guessed = f"the {number(comparison['guess']['loss'])} of the baseline"
        less = "less squared error than by always saying the mean" if squared else f"less {comparison['unit']} than {guessed}"
        out.append({"name": "Better than the baseline", "value": percent(max(comparison["guess"]["skill"], 0.0), 0), "note": less})
    quality = facts.get("quality", {})
    metric = facts["metric"]["name"]
    if "ranking" in quality and metric != "auc":
        roc = quality["ranking"]["roc"]
        after = min(decimals_for(roc["standard_error"] or 0.0), 4)
        area, error = fixed(roc["area"], after), fixed(roc["standard_error"] or 0.0, after)
        out.append({"name": "Area under the ROC curve", "value": area, "error": error, "note": "0.5 by guessing, 1 at best"})
    if "accuracy" in quality and metric != "accuracy":
        out.append({"name": "Accuracy", "value": percent(quality["accuracy"]), "note": "of the answers are right"})
    if quality.get("first_is_relevant") is not None:
        out.append({"name": "First is relevant", "value": percent(quality["first_is_relevant"]), "note": "of the queries held out"})
    if "median" in quality:
        out.append({"name": "Typical error", "value": number(quality["median"]), "note": "half of the predictions are closer"})
        if metric != "mae":
            out.append({"name": "Mean absolute error", "value": number(quality["mae"]), "note": "mean size of the errors"})
    return out[:4]


def leaderboard(facts: Facts) -> Facts | None:
    """A row for each model, with its score as a point on a common scale."""
    entries = facts.get("leaderboard")
    if not entries:
        return None
    scored = [one for one in entries if one["score"] is not None]
    larger = facts["metric"]["larger_is_better"]
    ends = [one["score"] + sign * 2.0 * (one["standard_error"] or 0.0) for one in scored for sign in (-1.0, 1.0)]
    # One model that is far behind must not push all others together: those beyond stand at the edge.
    scores = sorted((one["score"] for one in scored), reverse=larger)
    if not scored:
        low, high = 0.0, 1.0
    else:
        reach = 3.0 * abs(scores[len(scores) // 2] - scores[0]) + 4.0 * (scored[0]["standard_error"] or 0.0)
        low, high = (max(min(ends), scores[0] - reach), max(ends)) if larger else (min(ends), min(max(ends), scores[0] + reach))
    # The best is at the left, whichever way is better.
    track = Track(high, low) if larger else Track(low, high)
    if low == high:
        track = Track(low - 0.5, high + 0.5)
    level = scored[0]["score"] if scored else None
    are_shares = weights_are_shares(entries)
    errors = sorted(one["standard_error"] or 0.0 for one in scored)
    usual = errors[len(errors) // 2] if errors else 0.0
    further = list(entries[0].get("also") or ())
    rows = [{**_entry_row(one, track, level, are_shares, usual), "also": _further(one, further)} for one in entries]
    guess = facts.get("comparison", {}).get("guess", {}).get("score")
    if guess is not None:
        what = GUESSES.get(facts["task"], "always the class probabilities")
        rows.append({**_guess_row(guess, track, level, what), "also": _further({}, further)})
    caption = (
        "Scores are of rows that were held out, so no model had learned them; for the ensemble its weights were chosen without them, too. "
        "Points have whiskers of two standard errors: models whose whiskers overlap widely may have changed positions by chance. "
        "The last column is the time to predict one row among many."
    )
    caption += "" if are_shares else f" {FACTORS}"
    also = [TITLES.get(one, shown(one, 40)) for one in further]
    names = ("name", "score", "standard_error", "weight", "seconds", "row_microseconds")
    numbers = csv_link("Leaderboard", {name: [one.get(name) for one in entries] for name in names})
    return {"metric": metric_title(facts), "arrow": "Better is to the left", "rows": rows, "caption": caption, "also": also, "csv": numbers}


def _further(entry: Facts, names: Sequence[str]) -> list[Facts]:
    """The cells of further metrics."""
    found = [(entry.get("also") or {}).get(name) for name in names]
    return [{"value": "" if one is None else one, "written": "–" if one is None else number(one, 4)} for one in found]


def weights_are_shares(members: Sequence[Facts]) -> bool:
    """Whether the weights of members add up to one, as shares do; those of stacking are factors."""
    total = sum(one["weight"] or 0.0 for one in members if one.get("family") != "ensemble")
    return abs(total - 1.0) < 0.005 or total == 0.0


def written_weight(weight: float, are_shares: bool) -> str:
    """A share in per cent, or a factor as a number."""
    return percent(weight, 0) if are_shares else fixed(weight, 2)


def _entry_row(one: Facts, track: Track, level: float | None, are_shares: bool, usual: float) -> Facts:
    ensemble = one["family"] == "ensemble"
    out = {"name": shown(one["name"]), "seconds": one["seconds"], "training": duration(one["seconds"] or 0.0)}
    if one["score"] is None:
        return {**out, "kind": "gone", "note": shown(one["note"] or "no score", 120)}
    error = one["standard_error"] or 0.0
    # As many digits for all as the usual error leaves: numbers that stand below each other are compared.
    after = decimals_for(usual)
    written = f"{fixed(one['score'], after)}\u00a0±\u00a0{fixed(error, after)}" if error > 0.0 else number(one["score"], 4)
    micro, wording = one["row_microseconds"], f"{shown(one['name'])}: {written}"
    return {
        **out,
        "kind": "ensemble" if ensemble else "",
        "family": "" if ensemble or one["family"] in one["name"] else shown(one["family"], 20),
        "note": "" if ensemble else shown(one["note"], 120),
        "score": one["score"],
        "written": written,
        "drawing": point_row(track, one["score"], 2.0 * error, wording, kind="one" if ensemble else "faint", level=level),
        "weight": one["weight"],
        "share": "" if ensemble else written_weight(one["weight"], are_shares) if one["weight"] else "–",
        "microseconds": "" if micro is None else micro,
        "prediction": "–" if micro is None else f"{number(micro, 2)} µs" if micro < 1000.0 else f"{number(micro / 1000.0, 2)} ms",
    }


def _guess_row(score: float, track: Track, level: float | None, what: str) -> Facts:
    """What one would have without any model."""
    nothing = {"seconds": "", "training": "–", "weight": "", "share": "–", "microseconds": "", "prediction": "–"}
    drawing = point_row(track, score, 0.0, f"baseline: {number(score, 4)}", kind="faint", level=level)
    return {"name": "baseline", "kind": "guess", "note": what, "score": score, "written": number(score, 4), "drawing": drawing, **nothing}


def bars(rows: list[Facts], kinds: tuple[str, str] = ("one", "soft")) -> list[Facts]:
    """Rows with bars on a common scale: of a change, with whiskers of two standard errors; what is not clear is paler."""
    ends = [one["more"] + sign * 2.0 * (one["standard_error"] or 0.0) for one in rows for sign in (-1.0, 1.0)]
    low, high = min(0.0, *ends), max(0.0, *ends)
    # Whiskers to the left of nought need no more than a third of the width.
    track = Track(max(low, -0.5 * high) if high > 0.0 else low, high if high > low else low + 1.0)
    errors = sorted(one["standard_error"] or 0.0 for one in rows)
    after = decimals_for(errors[len(errors) // 2])
    out = []
    for one in rows:
        error = one["standard_error"] or 0.0
        written = f"{fixed(one['more'], after)} ± {fixed(error, after)}"
        kind = kinds[0] if one["more"] > 2.0 * error else kinds[1]
        drawing = bar_row(track, one["more"], 2.0 * error, f"{shown(one['name'])}: {written}", kind=kind)
        out.append({"name": shown(one["name"]), "drawing": drawing, "value": one["more"], "written": written})
    return out


def members(facts: Facts) -> Facts:
    """Weights, and what the ensemble would lose without each."""
    found = facts.get("members")
    if not found or not all("more" in one for one in found["members"]) or len(found["members"]) < 2:
        return {}
    are_shares = weights_are_shares(found["members"])
    rows = [
        {**bar, "weight": one["weight"], "share": written_weight(one["weight"], are_shares)}
        for one, bar in zip(found["members"], bars(found["members"]), strict=True)
    ]
    caption = (
        f"By how much the {found['unit']} would grow if the member were not there and the others took over its weight. "
        "Members that say nearly the same can replace each other: each of them alone is then worth little."
    )
    caption += "" if are_shares else f" {FACTORS}"
    numbers = csv_link(
        "Members", {name: [one.get(name) for one in found["members"]] for name in ("name", "weight", "more", "standard_error")}
    )
    return {"rows": rows, "unit": f"Change of the {found['unit']} without it", "caption": caption, "csv": numbers}


def columns(facts: Facts) -> list[Facts]:
    """A row for each column of the table."""
    return [_column_row(one) for one in facts.get("data", {}).get("columns", [])]


def _column_row(one: Facts) -> Facts:
    distinct = one.get("distinct")
    out: Facts = {
        "name": shown(one["name"]),
        "kind": one["kind"],
        "missing": percent(one["missing"]) if one["missing"] else "–",
        "missing_value": one["missing"],
        "distinct": "–" if distinct is None else count(distinct),
        "distinct_value": "" if distinct is None else distinct,
        "drawing": "",
        "words": "",
    }
    if "histogram" in one:
        words = f"{_short(one['low'])} to {_short(one['high'])}, median {_short(one['median'])}"
        return {**out, "drawing": spark(f"{shown(one['name'], 40)}: {words}", one["histogram"]["counts"]), "words": words}
    if one.get("levels"):
        total = sum(level["count"] for level in one["levels"]) + one["others"]["count"]
        some = [f"{shown(level['name'], 24)} ({percent(level['count'] / total, 0)})" for level in one["levels"][:3]]
        rest = distinct - len(some) if distinct is not None else 0
        words = ", ".join(some) + (f" and {count(rest)} more" if rest > 0 else "")
        bars_of = [level["count"] for level in one["levels"]]
        return {**out, "drawing": spark(f"{shown(one['name'], 40)}: {words}", bars_of + [0.0] * (12 - len(bars_of))), "words": words}
    return out


def _short(value: Any) -> str:
    return value if isinstance(value, str) else trimmed(value)


def suspicions(facts: Facts) -> list[Facts]:
    """What is odd about the data, the worst first."""
    tags = {"bad": "Serious", "warn": "Look at this", "note": "Note"}
    found = [{"kind": severity(one), "tag": tags[severity(one)], "words": sentence(one["words"])} for one in facts.get("suspicions", ())]
    return sorted(found, key=lambda one: ("bad", "warn", "note").index(one["kind"]))


def use(facts: Facts) -> Facts | None:
    """Commands, and Python with the names of the table."""
    found = facts.get("use")
    if not found:
        return None
    file = facts.get("file", "model.ww")
    pairs = list(found["example"].items())
    row = [f"    {literal(name)}: [{literal(value)}]," for name, value in pairs[:12]]
    if found["n_columns"] > len(row):
        row.append(f"    # and so on: {count(found['n_columns'])} columns in all")
    ask = ["model.predict(table)", *(["model.predict_proba(table)"] if facts.get("classes") else [])]
    opened = ["import pandas as pd", "import woodwind", "", f"model = woodwind.load({literal(file)})"]
    code = [*opened, "table = pd.DataFrame({", *row, "})", *ask]
    names = [shown(name) for name in found["columns"]]
    more = found["n_columns"] - len(names)
    return {
        "commands": commands(file),
        "python": "\n".join(code),
        "columns": names,
        "needed": f"The {count(found['n_columns'])} columns that it reads",
        "more": f" and {count(more)} more" if more > 0 else "",
        "caption": "Any table will do: CSV, Parquet, Arrow, pandas, polars. Columns are found by name, further ones are ignored, "
        "and missing values are allowed.",
    }


def commands(file: str) -> str:
    """What to type, with what it is for beside it."""
    named = file if re.fullmatch(r"[\w.+-][\w./+-]*", file) else "'" + file.replace("'", "'\\''") + "'"
    lines = [(command.format(named), why) for command, why in COMMANDS]
    wide = max(len(command) for command, why in lines if why)
    return "\n".join(f"{command:{wide}}  # {why}" if why else command for command, why in lines)


def literal(value: Any) -> str:
    """A value as it is written in Python, on one line."""
    if isinstance(value, str):
        return repr(shown(value, 60))
    return repr(value)


def made(facts: Facts) -> Facts | None:
    """Time, seed, folds and versions."""
    found = facts.get("made")
    if not found:
        return None
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    data = facts.get("data", {})
    scored = data.get("scored")
    pairs = [
        ("Table", f"{count(facts['n_rows'])} rows, {count(facts['n_columns'])} columns"),
        ("Task", f"predict {KINDS[facts['task']]}; scored by {metric_title(facts)}"),
        ("Models", f"{found['tried']} tried, {found['finished']} finished, {found['chosen']} in the ensemble"),
        ("Folds", f"{found['folds']}" + ("" if scored is None else f"; {count(scored)} rows were held out once")),
        ("Time", duration(found["seconds"])),
        ("Seed", str(found["seed"])),
        ("Versions", versions),
        ("Machine", shown(found["platform"])),
    ]
    if data.get("groups"):
        pairs.insert(4, ("Groups", f"{count(data['groups'])}; no group was on both sides of a split"))
    notes = [shown(note, 600) for note in found["notes"]]
    notes += [f"Left out of this report: {part_name(one)}, because {shown(one['why'], 300)}." for one in facts.get("left_out", ())]
    return {"pairs": pairs, "notes": notes}


def headline(facts: Facts) -> tuple[Markup, str]:
    """What the page is about, and a line of facts under it."""
    target = facts["target"] or "the target"
    n_members = facts.get("made", {}).get("chosen")
    parts = [f"{count(facts['n_rows'])} rows", f"{count(facts['n_columns'])} columns"]
    if facts["task"] == "ranking":
        queries = facts.get("quality", {}).get("queries")
        parts.insert(0, "a ranking" if queries is None else f"a ranking of the rows of queries, {count(queries)} of them held out")
    elif facts["task"] == "regression":
        parts.insert(0, "a number")
    else:
        names = f" ({listing([shown(one, 24) for one in facts['classes']])})" if len(facts["classes"]) <= 5 else ""
        parts.insert(0, f"{len(facts['classes'])} classes{names}")
    if n_members:
        parts.append("1 model" if n_members == 1 else f"an ensemble of {n_members} models")
    if facts.get("made"):
        parts.append(f"made in {duration(facts['made']['seconds'])}")
    return Markup("How well can <bdi>{}</bdi> be predicted?").format(shown(target, 60)), " · ".join(parts)


# ----------------------------------------------------------------------------------------------------
# The table of the worst mistakes.


def mistakes(facts: Facts) -> Facts | None:
    """Rows with truth, prediction and values."""
    found = facts.get("mistakes")
    if not found or not found["rows"]:
        return None
    numbers = facts["task"] == "regression"
    rows = []
    for one in found["rows"]:
        sure = one["truth"] - one["predicted"] if numbers else one["chance_of_truth"]
        rows.append(
            {
                "row": count(one["row"]),
                "row_value": one["row"],
                "truth": number(one["truth"], 4) if numbers else shown(one["truth"]),
                "predicted": number(one["predicted"], 4) if numbers else shown(one["predicted"]),
                "sure": number(sure, 3) if numbers else percent(sure),
                "sure_value": sure,
                "values": [shown(value) for value in one["values"]],
            }
        )
    caption = "Rows are counted from 1 in the table that was learned, without its head."
    if numbers:
        caption += " The residual is the truth less the prediction, as in the pictures above."
    if found["hidden"] > 0:
        n_shown, hidden = count(len(found["columns"])), count(found["hidden"])
        which = f"The {n_shown} most important columns" if facts.get("importance") else f"The first {n_shown} columns of the table"
        caption += f" {which} are shown; {hidden} more are not."
    return {
        "numbers": numbers,
        "how_sure": "Residual" if numbers else "Probability of the truth",
        "columns": [shown(name, 30) for name in found["columns"]],
        "rows": rows,
        "caption": caption,
    }
