"""Plain words about facts: how good a model is, what it looks at, and what to watch out for."""

from typing import Any

from markupsafe import Markup, escape

from woodwind.metrics.named import METRICS
from woodwind.report.text import called, count, decimals_for, fixed, listing, number, percent, shown

TITLES = {metric.name: metric.title for metric in METRICS.values() if metric.title}
PARTS = {
    "leaderboard": "the leaderboard",
    "suspicions": "what is odd about the data",
    "made": "how it was made",
    "split": "how rows were held out",
    "use": "how to use it",
    "curves": "learning curves",
    "mistakes": "the worst mistakes",
    "metrics": "further metrics",
    "comparison": "the comparison with the baseline",
    "quality": "how good it is",
    "intervals": "how sure it is",
    "data": "the columns of the data",
    "members": "what each member is worth",
    "margins": "margins",
    "diversity": "the diversity of the members",
    "importance": "the importance of columns",
    "dependence": "partial dependence",
    "shap": "SHAP values",
}
GUESSING = {"regression": "always saying the mean", "ranking": "any order of the documents"}  # all others are of classes
FEW_QUERIES = 50
CLEAR = 2.0  # standard errors from which on a difference is called clear
SLIGHT = 0.01  # of the loss, below which a difference is slight, however clear
FEW_ROWS = 500
RARE = 0.05  # share of a class that is called rare
MISCALIBRATED = 0.05
MOST_WARNINGS = 4
LEAST = 0.01  # of the importance of the first column, from which on another one is said to matter
PILLAR = 0.6  # share of all importance from which on a model is said to rest on one column


def metric_title(facts: dict[str, Any]) -> str:
    """The metric as people call it."""
    name = str(facts["metric"]["name"])
    return TITLES.get(name, shown(name.replace("_", " "), 40))


def strong(text: Any) -> Markup:
    """A name, set off and kept apart from the direction of the text around it."""
    return Markup("<bdi>{}</bdi>").format(shown(text, 40))


def joined(parts: list[Markup]) -> Markup:
    """Names as a list in a sentence."""
    if len(parts) <= 1:
        return parts[0] if parts else Markup("")
    return Markup("{} and {}").format(Markup(", ").join(parts[:-1]), parts[-1])


def how_good(facts: dict[str, Any]) -> list[Markup]:
    """Sentences about the quality, with uncertainty, against the best single model and against the baseline."""
    out = [*_quality(facts), *_expected(facts)]
    comparison = facts.get("comparison", {})
    guess, best, unit = comparison.get("guess"), comparison.get("best"), comparison.get("unit", "loss")
    if guess and guess.get("skill") is not None:
        if guess["more"] > CLEAR * (guess["standard_error"] or 0.0):
            words = "Its {1} is <b>{0}</b> smaller than that of {2}."
            measure = "squared error" if unit == "root mean squared error" else unit
            guessing = GUESSING.get(facts["task"], "always saying the class probabilities")
            out.append(Markup(words).format(percent(guess["skill"], 0), measure, guessing))
        else:
            words = "It is <b>not clearly better than the baseline</b>: the columns say little about the target, or the rows are too few."
            out.append(Markup(words))
    if best:
        out.append(against_best(best, unit, comparison.get("loss")))
    return out


def _expected(facts: dict[str, Any]) -> list[Markup]:
    """What to expect of the model where it is the mean of several, each of which predicted the rows of a fold."""
    found = facts.get("estimate") or {}
    if found.get("score") is None or found.get("out_of_fold") is None:
        return []
    error = found.get("standard_error") or 0.0
    after = decimals_for(error) if error > 0.0 else 4
    words = (
        "With what the mean of the models of {} folds gains in {} of {} members, {} is estimated to be <b>{} ± {}</b>; on rows held out, "
        "each predicted by one of these models, it is {}."
    )
    numbers = fixed(found["score"], after), fixed(error, after), fixed(found["out_of_fold"], after)
    return [Markup(words).format(found.get("folds"), len(found.get("members", ())), found.get("means"), metric_title(facts), *numbers)]


def against_best(best: dict[str, Any], unit: str, loss: float | None = None) -> Markup:
    """The ensemble against its best member."""
    more, error = best["more"], best["standard_error"] or 0.0
    after = decimals_for(error) if error > 0.0 else 4
    difference = f"{fixed(abs(more), after)}\u00a0±\u00a0{fixed(error, after)}"
    name = strong(best["name"])
    if loss and CLEAR * error < abs(more) < SLIGHT * loss:
        words = "It is <b>slightly {}</b> than the best single model, {}: its {} is {} by {}, which is not chance, but little ({})."
        how = ("better", "smaller") if more > 0.0 else ("worse", "larger")
        return Markup(words).format(how[0], name, unit, how[1], difference, percent(abs(more) / loss))
    if more > CLEAR * error:
        return Markup("It is <b>clearly better</b> than the best single model, {}: its {} is smaller by {}.").format(name, unit, difference)
    if more < -CLEAR * error:
        return Markup("The best single model, {}, is <b>better</b>: the {} of the ensemble is larger by {}.").format(name, unit, difference)
    return Markup("It is <b>about as good</b> as the best single model, {}: the {} differs by {}.").format(name, unit, difference)


def how_split(facts: dict[str, Any]) -> Markup:
    """How rows were held out, with how many; nothing where the facts do not say."""
    found = facts.get("split")
    if not found:
        return Markup("")
    rows, held, folds = found["rows"], found["held_out"], found["folds"]
    columns = {role: strong(name) for role, name in found["columns"].items()}
    some = Markup("{} of {} rows").format(count(held), count(rows))
    each = some if held < rows else Markup("each of the {} rows once").format(count(rows))
    parts = "in one part" if folds == 1 else f"in {folds} folds"
    if "time" in found["by"]:
        along = Markup(" along {}").format(columns["time"]) if "time" in columns else Markup("")
        together = " A group counts from its first row on." if "groups" in found["by"] else ""
        words = "Scored by later rows: {}, in {} {} of time{}, each by models that had learned what came before it.{}{}"
        scored = found.get("scored", held)
        first = f" The first {count(held - scored)} of them only serve to weigh members: scores are of the {count(scored)} after them."
        return Markup(words).format(some, folds, "block" if folds == 1 else "blocks", along, together, first if scored < held else "")
    if "groups" in found["by"]:
        of = Markup(" of {}").format(columns["group"]) if "group" in columns else Markup("")
        if "query" in columns:
            words = "Scored by other queries, as {} says: {}, {}, and none of the {} queries was on both sides of a split."
            return Markup(words).format(columns["query"], each, parts, count(found["groups"]))
        words = "Scored by other groups{}: {}, {}, and none of the {} groups was on both sides of a split."
        return Markup(words).format(of, each, parts, count(found["groups"]))
    return Markup("Scored by rows held out at random: {}, {}.").format(each, parts)


def _quality(facts: dict[str, Any]) -> list[Markup]:
    quality = facts.get("quality")
    if not quality:
        return []
    if facts["task"] == "ranking":
        words = "In <b>{}</b> of {} queries that it had not been trained on, the first document is relevant."
        return [Markup(words).format(percent(quality["first_is_relevant"]), count(quality["queries"]))]
    if facts["task"] == "regression":
        target = strong(facts["target"] or "the target")
        half = "Half of all predictions of {} are off by less than <b>{}</b>"
        deviation = facts.get("data", {}).get("target", {}).get("deviation")
        if deviation is None:
            return [Markup(f"{half}.").format(target, number(quality["median"]))]
        words = f"{half}; the mean absolute error is {{}}, and the target itself varies by {{}}."
        return [Markup(words).format(target, number(quality["median"]), number(quality["mae"]), number(deviation))]
    out = [Markup("On rows that it had not been trained on, <b>{}</b> of its answers are right.").format(percent(quality["accuracy"]))]
    common = commonest(facts)
    if common is not None:
        out[0] += Markup(" Always saying {} would be right in {}.").format(strong(called(facts["target"], common[0])), percent(common[1]))
    ranking = quality.get("ranking")
    if ranking:
        words = "Of two rows, of which one is {}, it finds that one in <b>{}</b> of the cases (AUC {} ± {})."
        roc = ranking["roc"]
        after = decimals_for(roc["standard_error"] or 0.0)
        area = fixed(roc["area"], after), fixed(roc["standard_error"] or 0.0, after)
        out.append(Markup(words).format(strong(called(facts["target"], ranking["positive"])), percent(roc["area"]), *area))
    return out


def commonest(facts: dict[str, Any]) -> tuple[str, float] | None:
    """The class with the most rows, and its share."""
    classes = facts.get("data", {}).get("target", {}).get("classes")
    if not classes:
        return None
    best = max(classes, key=lambda one: one["count"])
    return best["name"], best["count"] / max(facts["n_rows"], 1)


def looks_at(facts: dict[str, Any]) -> list[Markup]:
    """Sentences about the columns that matter."""
    importance = facts.get("importance")
    if not importance:
        missing = [one for one in facts.get("left_out", ()) if one["part"] == "importance"]
        if any(has_failed(one) for one in missing):
            return [Markup("What it looks at is not known: measuring it failed.")]
        return [Markup("There was no time to measure what it looks at.")] if missing else []
    columns = importance["columns"]
    most, clear = max((one["more"] for one in columns), default=0.0), clear_columns(importance)
    if not clear:
        return [Markup("No single column makes a clear difference: many of them say the same, or none says much.")]
    total = sum(max(one["more"], 0.0) for one in columns)
    out = [Markup("Mostly at {}.").format(joined([strong(one["name"]) for one in clear[:3]]))]
    share = sum(one["more"] for one in clear[:3]) / total if total > 0.0 else 0.0
    if len(clear) > 3:
        words = "These three make up {} of the importance of all columns; it uses {} of {} columns to a clear extent."
        out.append(Markup(words).format(percent(share, 0), len(clear), importance["n_columns"]))
    else:
        out.append(Markup("It uses {} of {} columns to a clear extent.").format(len(clear), importance["n_columns"]))
    out.append(Markup("That is measured on rows that it has learned: what it uses, not what helps with new rows."))
    idle = importance["n_columns"] - sum(1 for one in columns if one["more"] > max(one["standard_error"] or 0.0, LEAST * most))
    if idle and not importance["screened"]:
        out.append(Markup("{} of the columns {} no clear difference.").format(count(idle), "makes" if idle == 1 else "make"))
    doubtful = [one for one in clear if one["name"] in _namers(facts)]
    if doubtful:
        words = "It has learned {} by heart, which {} the rows rather than {} them: no help with new rows, however important here."
        names, one = joined([strong(column["name"]) for column in doubtful[:3]]), len(doubtful) == 1
        out.append(Markup(words).format(names, "names" if one else "name", "describes" if one else "describe"))
    return out


def clear_columns(importance: dict[str, Any]) -> list[dict[str, Any]]:
    """The columns whose shuffling makes a difference that probability does not make, and that is not tiny."""
    columns = importance["columns"]
    most = max((one["more"] for one in columns), default=0.0)
    return [one for one in columns if one["more"] > max(CLEAR * (one["standard_error"] or 0.0), LEAST * most)]


def _namers(facts: dict[str, Any]) -> set[str]:
    """Columns that are suspected to name the rows."""
    kinds = ("identifier", "free text")
    return {name for one in facts.get("suspicions", ()) if one.get("kind") in kinds for name in one.get("columns", ())}


def watch_out(facts: dict[str, Any]) -> list[Markup]:
    """Sentences about what may go wrong."""
    out = [escape(sentence(one["words"])) for one in facts.get("suspicions", ()) if severity(one) == "bad"]
    out += [escape(sentence(one["words"])) for one in facts.get("suspicions", ()) if severity(one) == "warn"][:3]
    if len(out) > MOST_WARNINGS:
        out = [*out[:MOST_WARNINGS], Markup("More is listed under <a href='#data'>the data</a>.")]
    if facts["n_rows"] < FEW_ROWS:
        out.append(Markup("There are only {} rows: another sample may give another picture.").format(count(facts["n_rows"])))
    about = {"regression": _about_regression, "ranking": _about_rankings}
    out += about.get(facts["task"], _about_classes)(facts)
    importance = facts.get("importance")
    if importance and importance["columns"]:
        total = sum(max(one["more"], 0.0) for one in importance["columns"])
        first = importance["columns"][0]
        if total > 0.0 and first["more"] > PILLAR * total and importance["n_columns"] > 2 and first in clear_columns(importance):
            words = "It rests on {}: make sure that this column is known, and means the same, when you predict."
            out.append(Markup(words).format(strong(first["name"])))
    missing = facts.get("left_out") or []
    for one in missing:
        if has_failed(one):
            words = "This report is not complete. It failed to measure {}, which is a fault of Woodwind and not of the data: {}."
            out.append(Markup(words).format(part_name(one), shown(one["why"], 300).removeprefix("it failed: ").rstrip(".")))
    late = [part_name(one) for one in missing if not has_failed(one)]
    if late:
        out.append(Markup("This report is not complete: there was no time for {}.").format(listing(late, 9)))
    return out or [Markup("Nothing suspicious was found. Rows from another time or place than these may still be predicted worse.")]


def has_failed(left_out: dict[str, Any]) -> bool:
    """Whether a part is missing because it failed, not for want of time. Facts of older models say so in words alone."""
    return bool(left_out.get("failed", str(left_out["why"]).startswith("it failed")))


def part_name(left_out: dict[str, Any]) -> str:
    """A part of the facts, as a reader knows it."""
    return PARTS.get(left_out["part"], shown(left_out["part"], 40))


def _about_rankings(facts: dict[str, Any]) -> list[Markup]:
    quality, out = facts.get("quality", {}), []
    if 0 < quality.get("queries", 0) < FEW_QUERIES:
        out.append(Markup("There are only {} queries: another sample may give another picture.").format(count(quality["queries"])))
    if quality.get("without_relevant"):
        words = "{} of {} queries have no relevant document: each counts 0 in metrics, whatever the order."
        out.append(Markup(words).format(count(quality["without_relevant"]), count(quality["queries"])))
    if quality.get("single"):
        queries = "1 query has" if quality["single"] == 1 else f"{count(quality['single'])} queries have"
        out.append(Markup("{} one document, and nothing to rank.").format(queries))
    return out


def _about_classes(facts: dict[str, Any]) -> list[Markup]:
    quality, out = facts.get("quality", {}), []
    classes = quality.get("classes", [])
    rare = [one for one in classes if one["count"] < RARE * sum(each["count"] for each in classes)]
    if rare and len(classes) <= 10:
        out.append(
            Markup("{} {} rare: look at its own figures, not at the accuracy.").format(
                joined([strong(called(facts["target"], one["name"])) for one in rare[:3]]), "is" if len(rare) == 1 else "are"
            )
        )
    found = [one for one in classes if one["recall"] is not None and one["count"] >= 10]
    if found:
        worst = min(found, key=lambda one: one["recall"])
        best = max(found, key=lambda one: one["recall"])
        if worst["recall"] < 0.8 * best["recall"]:
            words = "Only {} of the rows of {} are recognised (of {}: {})."
            names = [strong(called(facts["target"], one["name"])) for one in (worst, best)]
            out.append(Markup(words).format(percent(worst["recall"]), *names, percent(best["recall"])))
    calibration = quality.get("calibration")
    if calibration and calibration["error"] > MISCALIBRATED:
        words = "Its probabilities are off by {} on average: take them as a ranking, not as probabilities."
        out.append(Markup(words).format(percent(calibration["error"])))
    return out


def _about_regression(facts: dict[str, Any]) -> list[Markup]:
    quality, out = facts.get("quality"), []
    if not quality:
        return []
    bands = quality["bands"]
    if len(bands) > 2:
        first, last = (one["high"] - one["low"] for one in (bands[0], bands[-1]))
        if first > 0.0 and last > 2.5 * first:
            out.append(
                Markup("Errors grow with the prediction: large values are predicted {} times less exactly than small ones.").format(
                    number(last / first, 2)
                )
            )
    if quality["median"] > 0.0 and quality["rmse"] > 3.0 * quality["median"]:
        out.append(Markup("A few rows are predicted much worse than most: the worst are listed below."))
    return out


def sentence(words: Any) -> str:
    """A sentence from elsewhere, of bounded length, with a capital at its beginning."""
    text = shown(words, 600)
    return text[:1].upper() + text[1:]


def severity(suspicion: dict[str, Any]) -> str:
    """How a suspicion is shown: "bad", "warn" or as a mere note."""
    predicted = str(suspicion.get("severity", "")).lower()
    if predicted in ("high", "severe", "error", "serious", "critical", "3"):
        return "bad"
    return "warn" if predicted in ("warning", "medium", "warn", "2") else "note"
