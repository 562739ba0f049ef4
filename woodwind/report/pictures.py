"""Pictures of the quality of a model: from facts to figures with a title and a sentence each."""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from woodwind.report.chart import Axis, share_axis
from woodwind.report.download import csv_link
from woodwind.report.figures import KINDS, BinCounts, ChartLine, PointGroup, ScatterPoints, heat, histogram, lines, scatter, strips
from woodwind.report.rows import Track, bar_row
from woodwind.report.scales import span, widened
from woodwind.report.text import called, count, fixed, number, percent, shown
from woodwind.report.wording import TITLES

Facts = dict[str, Any]


def figure(title: str, words: Any, drawing: Markup, question: str = "", numbers: Mapping[str, Sequence[Any]] | None = None) -> Facts:
    """What the template of figures shows; `question` is what the figure answers, and `numbers` are its columns as CSV."""
    return {
        "title": title,
        "question": question,
        "words": words,
        "drawing": drawing,
        "csv": "" if numbers is None else csv_link(title, numbers),
    }


def columns_of(rows: Sequence[Facts], names: Sequence[str]) -> dict[str, list[Any]]:
    """Facts of rows as columns, by these names."""
    return {name: [one.get(name) for one in rows] for name in names}


def quality(facts: Facts) -> Facts | None:
    """The pictures of the task, or None where there are none."""
    found = facts.get("quality")
    if not found:
        return None
    metrics = metric_table(facts)
    if not facts["classes"]:
        return {"figures": ranking_figures(found) if facts["task"] == "ranking" else regression_figures(found), "metrics": metrics}
    return {
        "figures": classification_figures(found, facts),
        "metrics": metrics,
        "classes": classification_table(found),
        "thresholds": threshold_table(found, facts),
        "lift": lift_table(found, facts),
    }


def metric_table(facts: Facts) -> Facts | None:
    """All metrics of the task, of rows held out."""
    found = facts.get("metrics")
    if not found or not found.get("scores"):
        return None
    rows = []
    for name, one in found["scores"].items():
        score, error = one["score"], one["standard_error"]
        if score is not None:
            title, spread = TITLES.get(name, shown(name, 40)), "" if not error else f"± {number(error, 2)}"
            rows.append({"name": title, "score": score, "error": error, "written": number(score, 4), "spread": spread})
    caption = f"Of {count(found['rows'])} rows held out, with standard errors."
    return {"rows": rows, "csv": csv_link("Metrics", columns_of(rows, ("name", "score", "error"))), "caption": caption}


def classification_figures(found: Facts, facts: Facts) -> list[Facts]:
    """Ranking, calibration, confusion and probabilities."""
    out = []
    if "ranking" in found:
        out += roc_figures(found["ranking"], facts["target"])
        if "gains" in found["ranking"]:
            out.append(gain_figure(found["ranking"], facts["target"]))
    if found.get("class_curves"):
        out.append(class_roc_figure(found))
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
    """ROC curve and precision-recall curve."""
    roc, curve, positive = found["roc"], found["precision_recall"], called(target, found["positive"], 24)
    area = number(roc["area"])
    first = lines(
        "ROC curve",
        f"True positive rate over false positive rate of {positive}. The area below the curve is {area}.",
        share_axis("False positive rate"),
        share_axis(f"True positive rate (recall of {positive})"),
        [ChartLine("", roc["false"], roc["true"])],
        reference=ChartLine("", (0.0, 1.0), (0.0, 1.0)),
    )
    second = lines(
        "Precision-recall curve",
        f"Precision over recall of {positive}. The average precision is {number(curve['average'])}.",
        share_axis(f"Recall of {positive}"),
        share_axis("Precision"),
        [ChartLine("", curve["recall"], curve["precision"])],
        reference=ChartLine("", (0.0, 1.0), (found["share"], found["share"])),
    )
    words = f"AUC {area} ± {number(roc['standard_error'], 2)}. The dashed line is guessing."
    mean = f"Average precision {number(curve['average'])}. The dashed line is guessing: {percent(found['share'])}."
    return [
        figure(
            "ROC curve", words, first, f"How well is {positive} told from the rest?",
            {"false_positive_rate": roc["false"], "true_positive_rate": roc["true"]},
        ),
        figure(
            "Precision-recall curve", mean, second, f"How many predictions of {positive} are right?",
            {"recall": curve["recall"], "precision": curve["precision"]},
        ),
    ]  # fmt: skip


def gain_figure(found: Facts, target: str) -> Facts:
    """Cumulative gains: recall over the share of rows that are looked at."""
    gains, positive = found["gains"], called(target, found["positive"], 24)
    best = ChartLine("", (0.0, found["share"], 1.0), (0.0, 1.0, 1.0), "faint")
    drawn = lines(
        "Cumulative gains",
        f"Recall of {positive} over the share of all rows, those of the highest probability first.",
        share_axis("Share of all rows, highest probability first"),
        share_axis(f"Recall of {positive}"),
        [ChartLine("", gains["rows"], gains["found"]), best],
        reference=ChartLine("", (0.0, 1.0), (0.0, 1.0)),
    )
    words = "The diagonal is rows at random, the upper dashed line a perfect order."
    question = f"How much of {positive} is found by looking at some of the rows?"
    return figure("Cumulative gains", words, drawn, question, {"share_of_rows": gains["rows"], "recall": gains["found"]})


def class_roc_figure(found: Facts) -> Facts:
    """ROC curves of the commonest classes, each against all others."""
    curves, averages = found["class_curves"], {one["name"]: one["area"] for one in found.get("averages", ())}
    drawn = lines(
        "ROC curves by class",
        "True positive rate over false positive rate of each class against all others.",
        share_axis("False positive rate"),
        share_axis("True positive rate (recall)"),
        [
            ChartLine(f"{shown(one['name'], 14)}: {fixed(one['area'], 3)}", one["false"], one["true"], KINDS[position])
            for position, one in enumerate(curves)
        ],
        reference=ChartLine("", (0.0, 1.0), (0.0, 1.0)),
    )
    words = "One class against the rest, with its AUC. The dashed line is guessing."
    if averages.get("macro") is not None:
        words += f" The macro average of all classes is {number(averages['macro'])}."
    numbers = {
        "class": [one["name"] for one in curves for _ in one["false"]],
        "false_positive_rate": [value for one in curves for value in one["false"]],
        "true_positive_rate": [value for one in curves for value in one["true"]],
    }
    return figure("ROC curves by class", words, drawn, "How well is each class told from the rest?", numbers)


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
        f"Observed frequency over the predicted probability, in {len(bins)} groups of rows. "
        f"The mean distance is {percent(found['error'])}.",
        share_axis(f"Predicted probability{of}" if of else "Probability of the predicted class"),
        share_axis("Observed frequency"),
        [line],
        reference=ChartLine("", (0.0, 1.0), (0.0, 1.0)),
    )
    words = (
        f"Groups of {count(bins[0]['count'])} rows each, with 95\u202f% intervals; on the dashed line probabilities are exact. "
        f"Mean distance {percent(found['error'])}."
    )
    numbers = columns_of(bins, ("predicted", "happened", "low", "high", "count"))
    return figure("Calibration", words, drawn, "Can its probabilities be trusted?", numbers)


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
    numbers = {"from": found["edges"][:-1], "to": found["edges"][1:], names[0]: found["counts"][0], names[1]: found["counts"][1]}
    question = "How far apart are the classes?"
    return figure("Predicted probability by class", "The less the two overlap, the better.", drawn, question, numbers)


def confusion_figure(found: Facts) -> Facts:
    """The confusion matrix, shaded by row."""
    counts = found["counts"]
    shares = [[one / max(sum(row), 1) for one in row] for row in counts]
    small = len(counts) > 8
    written = [[count(one) if one or not small else "" for one in row] for row in counts]
    names = found["names"], found["names"]
    words = "Rows of the table by true and by predicted class."
    drawn = heat("Confusion matrix", words, names, shares, written, ("Truth", "Predicted"))
    numbers = {"true class": found["names"], **{f"predicted {name}": [row[at] for row in counts] for at, name in enumerate(found["names"])}}
    return figure("Confusion matrix", "Counts of rows; shades are shares of each true class.", drawn, "What is taken for what?", numbers)


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
    words = "Rows of a true class for which another one was predicted."
    numbers = columns_of(found, ("truth", "predicted", "count", "of"))
    return figure("Most frequent confusions", words, table, "What is mixed up most often?", numbers)


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
    words = "Each point is a row; the marks are medians. To the right is better."
    return figure("Probability of the true class", words, drawn, "How sure is it of the truth?")


CLASS_MEASURES = (("precision", "Precision"), ("f1", "F1"), ("area", "ROC AUC"), ("average", "Average precision"))


def classification_table(found: Facts) -> Facts | None:
    """Recall, precision, F1 and areas of each class, and their averages."""
    classes = found.get("classes")
    if not classes:
        return None
    measures = [(name, title) for name, title in CLASS_MEASURES if any(one.get(name) is not None for one in classes)]
    rows = [class_row(one, measures) for one in classes]
    averages = [
        {
            "name": f"{one['name']} average",
            "recall": percent(one["recall"]),
            "others": [{"value": one.get(name), "written": written_measure(name, one.get(name))} for name, _ in measures],
        }
        for one in found.get("averages", ())
    ]
    numbers = columns_of(
        [*classes, *found.get("averages", ())], ("name", "count", "recall", "low", "high", *(name for name, _ in measures))
    )
    return {"rows": rows, "averages": averages, "measures": [title for _, title in measures], "csv": csv_link("Metrics by class", numbers)}


def class_row(one: Facts, measures: Sequence[tuple[str, str]]) -> Facts:
    """The cells of one class."""
    recall, name = one["recall"], shown(one["name"])
    half = 0.0 if recall is None else max(one["high"] - recall, recall - one["low"])
    return {
        "name": name,
        "count": one["count"],
        "rows": count(one["count"]),
        "recall_value": "" if recall is None else recall,
        "recall": percent(recall),
        "drawing": "" if recall is None else bar_row(Track(0.0, 1.0), recall, half, f"{name}: recall {percent(recall)}"),
        "others": [
            {"value": "" if one.get(key) is None else one[key], "written": written_measure(key, one.get(key))} for key, _ in measures
        ],
    }


def written_measure(name: str, value: float | None) -> str:
    """Precision is a share, all others are numbers."""
    return percent(value) if name == "precision" else number(value)


def lift_table(found: Facts, facts: Facts) -> Facts | None:
    """Recall and lift of the rows of the highest probability."""
    ranking = found.get("ranking") or {}
    held = ranking.get("gains", {}).get("lift")
    if not held:
        return None
    rows = [{"rows": percent(one["rows"], 0), "recall": percent(one["recall"]), "lift": fixed(one["lift"], 2)} for one in held]
    positive = called(facts["target"], ranking["positive"], 24)
    caption = (
        f"Of the rows with the highest probability of {positive}: the share of all its rows that is among them, and how many times that of "
        "as many rows at random it is."
    )
    return {"rows": rows, "caption": caption, "csv": csv_link("Lift", columns_of(held, ("rows", "recall", "lift")))}


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
    numbers = columns_of(table["rows"], ("threshold", "precision", "recall", "f1", "predicted"))
    return {"rows": rows, "positive": positive, "caption": caption, "csv": csv_link("Thresholds", numbers)}


def regression_figures(found: Facts) -> list[Facts]:
    """Truth over prediction, what is left over, its histogram, its quantiles."""
    predicted, true = found["points"]["predicted"], found["points"]["true"]
    low, high = span([*predicted, *true], 0.03)
    tips = [f"predicted {number(a)}, true {number(b)}" for a, b in zip(predicted, true, strict=True)]
    first = scatter(
        "True and predicted values",
        f"{len(predicted)} rows: the true value over the predicted one. R squared is {number(found['r2'])}.",
        Axis("Predicted", low, high),
        Axis("True", low, high),
        [ScatterPoints(predicted, true, tips=tips)],
        reference=ChartLine("", (low, high), (low, high), "faint"),
    )
    r2 = "" if found["r2"] is None else f"R² is {number(found['r2'])}. "
    words = f"{r2}Each point is one of {count(len(predicted))} rows drawn at random; on the dashed line a prediction is exact."
    pairs = figure("True and predicted values", words, first, "How close are predictions?", {"predicted": predicted, "true": true})
    return [pairs, residual_figure(found), left_figure(found), quantile_figure(found)]


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
        "Residuals by predicted value",
        "Median of the residuals, and the range of the middle 80 per cent of them, over the predicted value.",
        Axis("Predicted", left, right),
        Axis("Residual (true − predicted)", low, high),
        [line],
        reference=ChartLine("", (left, right), (0.0, 0.0)),
    )
    words = "Median residual, and the band that holds 80 % of them. At best it is level, and even around zero."
    numbers = columns_of(bands, ("predicted", "low", "middle", "high", "count"))
    return figure("Residuals by predicted value", words, drawn, "Are errors alike everywhere?", numbers)


def left_figure(found: Facts) -> Facts:
    """Histogram of the errors."""
    held = found["histogram"]
    edges = held["edges"] or [-0.5, 0.5]
    beyond = held["below"] + held["above"]
    drawn = histogram(
        "Distribution of residuals",
        "How often residuals of each size occur.",
        "Residual (true − predicted)",
        edges,
        [BinCounts(held["counts"])],
        zero=True,
    )
    even = abs(found["bias"]) < 0.05 * found["rmse"]
    words = f"Their mean is {number(found['bias'], 2)}: predictions lean to {'neither' if even else 'one'} side."
    if beyond:
        words += f" The outer bars hold {count(beyond)} rows beyond the axis."
    numbers = {"from": edges[:-1], "to": edges[1:], "count": held["counts"]}
    return figure("Distribution of residuals", words, drawn, "How large are errors?", numbers)


def quantile_figure(found: Facts) -> Facts:
    """Quantiles of the errors against those of a normal distribution."""
    normal, held = found["quantiles"]["normal"], found["quantiles"]["found"]
    ends = min(*normal, *held), max(*normal, *held)
    low, high = widened(*span(ends, 0.02))
    side = min(normal), max(normal)
    drawn = scatter(
        "Normal Q-Q plot of residuals",
        "Quantiles of the residuals in standard deviations over those of a normal distribution.",
        Axis("Normal distribution (standard deviations)", *span(side, 0.04)),
        Axis("Residuals (standard deviations)", low, high),
        [ScatterPoints(normal, held, radius=3.0)],
        reference=ChartLine("", side, side, "faint"),
    )
    words = "On the dashed line residuals are normal; ends that bend away from it are heavy tails."
    return figure("Normal Q-Q plot of residuals", words, drawn, "Are there many large errors?", {"normal": normal, "residuals": held})


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
