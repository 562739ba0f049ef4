"""Pictures of the quality of a model: from facts to figures with a title and a sentence each."""

from typing import Any

from markupsafe import Markup

from woodwind.report.chart import Axis, share_axis
from woodwind.report.figures import BinCounts, ChartLine, PointGroup, ScatterPoints, heat, histogram, lines, scatter, strips
from woodwind.report.rows import Track, bar_row
from woodwind.report.scales import span, widened
from woodwind.report.text import called, count, number, percent, shown

Facts = dict[str, Any]


def figure(title: str, words: Any, drawing: Markup) -> Facts:
    """What the template of figures shows."""
    return {"title": title, "words": words, "drawing": drawing}


def quality(facts: Facts) -> Facts | None:
    """The pictures of the task, or None where there are none."""
    found = facts.get("quality")
    if not found:
        return None
    if not facts["classes"]:
        return {"figures": ranking_figures(found) if facts["task"] == "ranking" else regression_figures(found)}
    return {
        "figures": classification_figures(found, facts),
        "classes": classification_rows(found),
        "thresholds": threshold_table(found, facts),
    }


def classification_figures(found: Facts, facts: Facts) -> list[Facts]:
    """Ranking, calibration, confusion and probabilities."""
    out = []
    if "ranking" in found:
        out += roc_figures(found["ranking"], facts["target"])
    if found.get("calibration"):
        out.append(calibration_figure(found["calibration"], facts["target"]))
    if "separation" in found:
        out.append(separation_figure(found["separation"], facts["target"]))
    if found.get("confusion"):
        out.append(confusion_figure(found["confusion"]))
    if found.get("mixups"):
        out.append(mixup_figure(found["mixups"]))
    if found.get("chances"):
        out.append(probabilities_figure(found["chances"], facts))
    return out


def roc_figures(found: Facts, target: str) -> list[Facts]:
    """The two curves of ranking."""
    roc, curve, positive = found["roc"], found["precision_recall"], called(target, found["positive"], 24)
    area = number(roc["area"])
    first = lines(
        "ROC curve",
        f"Share of the rows of {positive} that are found over the share of false alarms. The area below the curve is {area}.",
        share_axis("False alarms (share of all other rows)"),
        share_axis(f"Found (share of {positive})"),
        [ChartLine("", roc["false"], roc["true"])],
        reference=ChartLine("", (0.0, 1.0), (0.0, 1.0)),
    )
    second = lines(
        "Precision and recall",
        f"Share of right alarms over the share of the rows of {positive} that are found. The mean precision is {number(curve['average'])}.",
        share_axis(f"Found (share of {positive})"),
        share_axis("Right alarms (share of all alarms)"),
        [ChartLine("", curve["recall"], curve["precision"])],
        reference=ChartLine("", (0.0, 1.0), (found["share"], found["share"])),
    )
    words = f"Area {area} ± {number(roc['standard_error'], 2)}. Guessing is the dashed line."
    at_random = f"Alarms at random would be right in {percent(found['share'])} of the cases: the dashed line."
    mean = f"Mean precision {number(curve['average'])}. {at_random}"
    return [figure(f"Finding {positive}", words, first), figure("Alarms that are right", mean, second)]


def calibration_figure(found: Facts, target: str) -> Facts:
    """Predicted probabilities against what happened."""
    bins = found["bins"]
    tips = [f"predicted {percent(one['predicted'])}, happened {percent(one['happened'])} of {count(one['count'])} rows" for one in bins]
    line = ChartLine(
        "",
        [one["predicted"] for one in bins],
        [one["happened"] for one in bins],
        low=[one["low"] for one in bins],
        high=[one["high"] for one in bins],
        dots=True,
        tips=tips,
    )
    of = f" of {called(target, found['of'], 20)}" if found["of"] else ""
    drawn = lines(
        "Calibration",
        f"Share of rows for which it came true over the predicted probability, in {len(bins)} groups of rows. "
        f"The mean distance is {percent(found['error'])}.",
        share_axis(f"Predicted probability{of}" if of else "Probability of the predicted class"),
        share_axis("Came true (share of rows)"),
        [line],
        reference=ChartLine("", (0.0, 1.0), (0.0, 1.0)),
    )
    words = (
        f"Groups of {count(bins[0]['count'])} rows each, with 95\u202f% intervals; on the dashed line probabilities are exact. "
        f"Mean distance {percent(found['error'])}."
    )
    return figure("Can its probabilities be trusted?", words, drawn)


def separation_figure(found: Facts, target: str) -> Facts:
    """Histograms of the probability by class."""
    names = [called(target, name, 20) for name in found["names"]]
    drawn = histogram(
        "Probabilities by class",
        f"How often each probability of {names[1]} was predicted, for rows of {names[0]} and of {names[1]}.",
        f"Predicted probability of {names[1]}",
        found["edges"],
        [BinCounts(found["counts"][0], "one", names[0]), BinCounts(found["counts"][1], "two", names[1])],
    )
    return figure("How far apart are the classes?", "The less the two overlap, the better.", drawn)


def confusion_figure(found: Facts) -> Facts:
    """The confusion matrix, shaded by row."""
    counts = found["counts"]
    shares = [[one / max(sum(row), 1) for one in row] for row in counts]
    small = len(counts) > 8
    written = [[count(one) if one or not small else "" for one in row] for row in counts]
    names = found["names"], found["names"]
    words = "Rows of the table by true and by predicted class."
    drawn = heat("Confusion matrix", words, names, shares, written, ("Truth", "Predicted"))
    return figure("What is taken for what?", "Counts of rows; shades are shares of each true class.", drawn)


def mixup_figure(found: list[Facts]) -> Facts:
    """The commonest mix-ups as lines with bars."""
    track = Track(0.0, max(one["count"] for one in found))
    rows = []
    for one in found:
        truth, predicted = shown(one["truth"], 24), shown(one["predicted"], 24)
        bar = bar_row(track, one["count"], 0.0, f"{truth} taken for {predicted}: {percent(one['count'] / one['of'])}")
        line = "<tr><th scope='row'><bdi>{}</bdi> taken for <bdi>{}</bdi></th><td class='wide'>{}</td><td class='n'>{} of {}</td></tr>"
        rows.append(Markup(line).format(truth, predicted, bar, count(one["count"]), count(one["of"])))
    table = Markup("<div class='inner'><table><tbody>{}</tbody></table></div>").format(Markup("").join(rows))
    words = "Rows of a class that were called by the name of another one."
    return figure("What is mixed up most often?", words, table)


def probabilities_figure(found: list[Facts], facts: Facts) -> Facts:
    """Strips of the probability of the true class."""
    groups = [PointGroup(one["name"], one["values"], one["median"]) for one in found]
    drawn = strips(
        "Probability of the true class",
        "Each point is a row: the probability that it gave to the class that was right. Marks are medians.",
        share_axis("Predicted probability of the true class"),
        groups,
        seed=facts.get("made", {}).get("seed", 0),
    )
    return figure("How sure is it of the truth?", "Each point is a row; the marks are medians. To the right is better.", drawn)


def classification_rows(found: Facts) -> list[Facts]:
    """A row for each class, where there are more than two or where it matters."""
    track = Track(0.0, 1.0)
    out = []
    for one in found.get("classes", []):
        recall = one["recall"]
        name = shown(one["name"])
        half = 0.0 if recall is None else max(one["high"] - recall, recall - one["low"])
        out.append(
            {
                "name": name,
                "count": one["count"],
                "rows": count(one["count"]),
                "recall_value": "" if recall is None else recall,
                "recall": percent(recall),
                "drawing": "" if recall is None else bar_row(track, recall, half, f"{name}: {percent(recall)} found"),
                "precision_value": "" if one["precision"] is None else one["precision"],
                "precision": percent(one["precision"]),
            }
        )
    return out


def threshold_table(found: Facts, facts: Facts) -> Facts | None:
    """Precision, recall and F1 by threshold."""
    table = found.get("thresholds")
    if not table:
        return None
    rows = [
        {
            "threshold": f"{one['threshold']:.3g}" + (" (used)" if one["used"] else ""), "threshold_value": one["threshold"],
            **{name: percent(one[name]) for name in ("precision", "recall", "predicted")}, "f1": number(one["f1"]), "used": one["used"],
        }
        for one in table["rows"]
    ]  # fmt: skip
    positive = called(facts["target"], table["positive"], 24)
    caption = (
        f"If {positive} were predicted from this probability on, of rows held out: precision is the share of such predictions that are "
        f"right, recall the share of the rows of {positive} that is found. Another threshold: woodwind fit --threshold."
    )
    return {"rows": rows, "positive": positive, "caption": caption}


def regression_figures(found: Facts) -> list[Facts]:
    """Truth over prediction, what is left over, its histogram, its quantiles."""
    predicted, true = found["points"]["predicted"], found["points"]["true"]
    low, high = span([*predicted, *true], 0.03)
    tips = [f"predicted {number(a)}, true {number(b)}" for a, b in zip(predicted, true, strict=True)]
    first = scatter(
        "Truth and prediction",
        f"{len(predicted)} rows: the true number over the predicted one. R squared is {number(found['r2'])}.",
        Axis("Predicted", low, high),
        Axis("True", low, high),
        [ScatterPoints(predicted, true, tips=tips)],
        reference=ChartLine("", (low, high), (low, high), "faint"),
    )
    r2 = "" if found["r2"] is None else f"R² is {number(found['r2'])}. "
    words = f"{r2}Each point is one of {count(len(predicted))} rows drawn at random; on the dashed line a prediction is exact."
    return [figure("Truth and prediction", words, first), residual_figure(found), left_figure(found), quantile_figure(found)]


def residual_figure(found: Facts) -> Facts:
    """What is left over by size of the prediction."""
    bands = found["bands"]
    x = [one["predicted"] for one in bands]
    low, high = span([one["low"] for one in bands] + [one["high"] for one in bands] + [0.0], 0.1)
    left, right = span(x, 0.02)
    line = ChartLine(
        "", x, [one["middle"] for one in bands], low=[one["low"] for one in bands], high=[one["high"] for one in bands], dots=True
    )
    drawn = lines(
        "Errors by size of the prediction",
        "Median of the errors, and the range of the middle 80 per cent of them, over the predicted number.",
        Axis("Predicted", left, right),
        Axis("Truth less prediction", low, high),
        [line],
        reference=ChartLine("", (left, right), (0.0, 0.0)),
    )
    words = "Median error, and the band that holds 80 % of the errors. At best it is level, and even around nought."
    return figure("Are errors alike everywhere?", words, drawn)


def left_figure(found: Facts) -> Facts:
    """Histogram of the errors."""
    held = found["histogram"]
    edges = held["edges"] or [-0.5, 0.5]
    beyond = held["below"] + held["above"]
    drawn = histogram(
        "Errors", "How often errors of each size occur.", "Truth less prediction", edges, [BinCounts(held["counts"])], zero=True
    )
    even = abs(found["bias"]) < 0.05 * found["rmse"]
    words = f"Their mean is {number(found['bias'], 2)}: predictions lean to {'neither' if even else 'one'} side."
    if beyond:
        words += f" The outer bars hold {count(beyond)} rows beyond the axis."
    return figure("How large are errors?", words, drawn)


def quantile_figure(found: Facts) -> Facts:
    """Quantiles of the errors against those of a normal distribution."""
    normal, held = found["quantiles"]["normal"], found["quantiles"]["found"]
    ends = min(*normal, *held), max(*normal, *held)
    low, high = widened(*span(ends, 0.02))
    side = min(normal), max(normal)
    drawn = scatter(
        "Quantiles of errors",
        "Quantiles of the errors in standard deviations over those of a normal distribution.",
        Axis("Normal distribution (standard deviations)", *span(side, 0.04)),
        Axis("Errors (standard deviations)", low, high),
        [ScatterPoints(normal, held, radius=3.0)],
        reference=ChartLine("", side, side, "faint"),
    )
    words = "On the dashed line errors are normal; ends that bend away from it are heavy tails."
    return figure("Are there many large errors?", words, drawn)


def ranking_figures(found: Facts) -> list[Facts]:
    """What the section shows of a ranking."""
    out = [cutoff_figure(found), query_figure(found)]
    if len(found["by_size"]) > 1:
        out.append(size_figure(found["by_size"]))
    return out


def cutoff_figure(found: Facts) -> Facts:
    """NDCG by cut-off."""
    places = found["cutoffs"]
    drawn = []
    for kind, one in zip(("one", "two", "faint"), found["lines"], strict=False):
        bands = {}
        if kind == "one":
            errors = [2.0 * (error or 0.0) for error in one["error"]]
            pairs = list(zip(one["value"], errors, strict=True))
            bands = {
                "low": [max(value - error, 0.0) for value, error in pairs],
                "high": [min(value + error, 1.0) for value, error in pairs],
            }
        tips = [f"{shown(one['name'], 40)}: NDCG@{place} {number(value)}" for place, value in zip(places, one["value"], strict=True)]
        drawn.append(ChartLine(shown(one["name"], 24), list(map(float, places)), one["value"], kind, dots=True, tips=tips, **bands))
    low = min(value for one in found["lines"] for value in one["value"])
    chart = lines(
        "NDCG by cut-off",
        "Normalised discounted cumulative gain of the first ranks, by cut-off.",
        Axis("Cut-off", float(places[0]), float(max(places[-1], places[0] + 1)), whole=True),
        Axis("NDCG", max(0.0, low - 0.05), 1.0),
        drawn,
    )
    mean = f"Mean over {count(found['queries'])} queries held out, with two standard errors for the ensemble"
    words = f"{mean}. Any order is what chance gives."
    return figure("NDCG by cut-off", words, chart)


def query_figure(found: Facts) -> Facts:
    """How NDCG differs between queries."""
    held = found["histogram"]
    chart = histogram(
        "NDCG of queries", "How many queries have each NDCG@10.", "NDCG@10 of a query", held["edges"],
        [BinCounts(held["counts"])], things="Queries",
    )  # fmt: skip
    words = "Queries with a relevant document; 1 is the best order."
    if found["without_relevant"]:
        words += f" {count(found['without_relevant'])} more have none, and count 0 in metrics."
    return figure("NDCG of queries", words, chart)


def size_figure(parts: list[Facts]) -> Facts:
    """NDCG by the number of documents."""
    names = [f"{one['least']}" if one["least"] == one["most"] else f"{one['least']}–{one['most']}" for one in parts]
    errors = [2.0 * (one["error"] or 0.0) for one in parts]
    values = [one["value"] for one in parts]
    line = ChartLine(
        "", [float(position) for position in range(len(parts))], values, dots=True,
        low=[max(value - error, 0.0) for value, error in zip(values, errors, strict=True)],
        high=[min(value + error, 1.0) for value, error in zip(values, errors, strict=True)],
        tips=[
            f"{name} documents: {number(one['value'])} in {count(one['count'])} queries" for name, one in zip(names, parts, strict=True)
        ],
    )  # fmt: skip
    chart = lines(
        "NDCG by number of documents",
        "NDCG@10 over the number of documents of a query.",
        Axis("Documents of a query", -0.3, len(parts) - 0.7, names=names),
        Axis("NDCG@10", max(0.0, min(values) - 0.1), 1.0),
        [line],
    )
    return figure("NDCG by number of documents", "Parts of about as many queries each, with two standard errors.", chart)
