"""Pictures of what is inside: the columns that matter, the members, the data."""

from dataclasses import replace
from typing import Any

from markupsafe import Markup

from woodwind.report.chart import Axis, in_percent, share_axis
from woodwind.report.download import csv_link
from woodwind.report.figures import (
    KINDS,
    BinCounts,
    ChartBand,
    ChartLine,
    PointGroup,
    ScatterPoints,
    columns,
    histogram,
    levels,
    lines,
    scatter,
    strips,
)
from woodwind.report.pictures import columns_of, figure
from woodwind.report.scales import span, widened
from woodwind.report.sections import bars, members, suspicions
from woodwind.report.sections import columns as column_rows
from woodwind.report.text import called, count, fixed, number, percent, shown

Facts = dict[str, Any]

MOST_CURVES = 4
MOST_BARS = 20


def importance(facts: Facts) -> Facts | None:
    """Bars of importance, and how the first columns matter."""
    found, dependence = facts.get("importance"), facts.get("dependence")
    if not found:
        return None
    shown_rows, rows = found["columns"][:MOST_BARS], f"{count(found['rows'])} {found.get('of', 'rows')}"
    caption = (
        f"By how much the {found['unit']} grows when a column is shuffled among rows, so that it says nothing any more; whiskers are two "
        f"standard errors over {rows}, and paler bars may be chance. Columns that predict the same can replace each "
        "other: each alone then looks unimportant."
    )
    if len(found["columns"]) < found["n_columns"] or len(shown_rows) < len(found["columns"]):
        caption += f" The first {len(shown_rows)} of {count(found['n_columns'])} columns are shown."
    if found["screened"]:
        caption += " Columns were shuffled in groups first, and only the groups that matter one by one."
    drawn = [dependence_figure(one, facts) for one in dependence or []]
    predicted = "probability" if facts["classes"] else "score" if facts["task"] == "ranking" else "predicted number"
    words = f"The mean {predicted} if the column had this value in every row, all else unchanged (partial dependence). "
    if facts["task"] == "multiclass":
        words += "There is a line for each of the classes that it moves most."
    else:
        words += "Thin lines are single rows: where they are not parallel, it depends on other columns."
    trained = (
        f"Measured on {rows} that it has learned, not on rows held out: it says what the model uses. A column that "
        "names the rows, as an identifier does, looks important here, and is of no use for new rows."
    )
    numbers = columns_of(found["columns"], ("name", "more", "standard_error"))
    return {
        "rows": bars(shown_rows),
        "unit": f"Change of the {found['unit']}",
        "trained": trained,
        "caption": caption,
        "csv": csv_link("Permutation importance", numbers),
        "figures": drawn,
        "dependence": words,
        "shap": shap_figures(facts),
        "shap_words": shap_words(facts),
    }


def shap_words(facts: Facts) -> str:
    """What SHAP values are of."""
    found = facts.get("shap") or {}
    target = facts["target"]
    what = "the predicted value"
    if facts["task"] == "binary":
        what = f"the log-odds of {called(target, facts.get('positive'), 24)}"
    elif facts["classes"]:
        what = "the score of the class that is predicted for the row"
    elif facts["task"] == "ranking":
        what = "the ranking score"
    words = f"What each column adds to {what}, in {count(found.get('rows', 0))} rows drawn at random: each point is a row."
    return words if found.get("exact", 1.0) >= 1.0 else f"{words} {percent(1.0 - found['exact'], 0)} of the ensemble is sampled, not exact."


def shap_figures(facts: Facts) -> list[Facts]:
    """Mean size of SHAP values, and a swarm of points for each column."""
    found = facts.get("shap")
    if not found or not found["columns"]:
        return []
    columns_found = found["columns"]
    values = [value for one in columns_found for value in one["values"]]
    low, high = span(values, 0.04)
    groups = [PointGroup(one["name"], one["values"], ranks=one["ranks"] or [None] * len(one["values"])) for one in columns_found]
    swarm = strips(
        "SHAP values",
        "A point for each row and column: how far the column moves the prediction of the row, coloured by the value of the column.",
        Axis("SHAP value", low, high),
        groups,
        seed=facts.get("made", {}).get("seed", 0),
        key_names=(("low value", "dot rank-0"), ("high value", "dot rank-4"), ("no order", "dot faint")),
    )
    track = [ChartBand(one["name"], one["mean"], f"{shown(one['name'])}: {number(one['mean'])}") for one in columns_found]
    sizes = levels(
        "Mean absolute SHAP value",
        "Mean size of the SHAP values of each column.",
        Axis("Mean |SHAP value|", 0.0, track[0].value * 1.05),
        track,
    )
    rows = {one["name"]: one["values"] for one in columns_found}
    question = "Which values push predictions up, and which down?"
    return [
        figure("SHAP beeswarm", "Points to the right push the prediction up.", swarm, question, rows),
        figure(
            "Mean absolute SHAP value", "How far a column moves predictions on average.", sizes, "Which columns move predictions most?",
            columns_of(columns_found, ("name", "mean")),
        ),
    ]  # fmt: skip


def dependence_figure(one: Facts, facts: Facts) -> Facts:
    """What is predicted over the values of one column."""
    name, shares = shown(one["name"], 40), bool(facts["classes"])
    values = [value for line in one["lines"] for value in line["mean"]] + [value for row in one.get("single", []) for value in row]
    # A few single rows may lie far away: the mean sets the scale, and what is around it.
    means = [value for line in one["lines"] for value in line["mean"]]
    low, high = span(values, 0.03) if not shares else (0.0, 1.0)
    if shares:
        spare = 1.6 if "single" in one else 1.05
        high = min(1.0, max(max(means) * spare, sorted(values)[int(0.97 * (len(values) - 1))], 0.05))
    low, high = widened(low, high)
    of = f" of {called(facts['target'], one['lines'][0]['name'], 20)}" if len(one["lines"]) == 1 else ""
    up = in_percent(Axis(f"Probability{of}, mean", low, high)) if shares else Axis("Predicted, mean", low, high)
    description = f"Partial dependence on {name}: from {number(min(means))} to {number(max(means))}."
    ends_of = [percent(value) if shares else number(value) for value in (min(means), max(means))]
    words = f"It moves the mean between {ends_of[0]} and {ends_of[1]}."
    if "levels" in one:
        return figure(name, words, _levels(one, name, up, description, shares=shares))
    x = one["values"]
    ends = span(x, 0.0)
    across = Axis(name, *ends, whole=all(value == round(value) for value in x))
    if "written" in one:
        some = [0, len(x) // 2, len(x) - 1]
        across = Axis(name, *ends, at=[x[position] for position in some], written=[one["written"][position] for position in some])
    single = [ChartLine("", x, row, "single") for row in one.get("single", [])]
    named = len(one["lines"]) > 1
    kept = [
        ChartLine(shown(line["name"], 14) if named else "", x, line["mean"], KINDS[position]) for position, line in enumerate(one["lines"])
    ]
    return figure(name, words, lines(f"Dependence on {name}", description, across, up, [*single, *kept]))


def _levels(one: Facts, name: str, up: Axis, description: str, *, shares: bool) -> Markup:
    """Points over levels: one line of points from the largest to the smallest, or a line for each class."""
    if len(one["lines"]) == 1:
        mean = one["lines"][0]["mean"]
        predicted = [percent(value) if shares else number(value) for value in mean]
        drawn = [
            ChartBand(level, value, f"{shown(level)}: {text}") for level, value, text in zip(one["levels"], mean, predicted, strict=True)
        ]
        low, high = span(mean, 0.12, 0.02 if shares else 0.0)
        across = in_percent(Axis(up.label, max(low, 0.0), high)) if shares else Axis(up.label, low, high)
        return levels(f"Dependence on {name}", description, across, sorted(drawn, key=lambda level: -level.value))
    positions = list(range(len(one["levels"])))
    across = Axis(name, -0.4, len(positions) - 0.6, names=one["levels"])
    kept = [
        ChartLine(shown(line["name"], 14), positions, line["mean"], KINDS[position], dots=True)
        for position, line in enumerate(one["lines"])
    ]
    return lines(f"Dependence on {name}", description, across, up, kept)


def inside(facts: Facts) -> Facts | None:
    """Members, strength and diversity, margins, learning curves."""
    drawn = []
    if facts.get("diversity"):
        drawn.append(diversity_figure(facts["diversity"]))
    if facts.get("margins"):
        drawn.append(margin_figure(facts["margins"]))
    drawn += [curve_figure(one, facts["task"]) for one in facts.get("curves", [])[:MOST_CURVES]]
    table = members(facts)
    return {**table, "figures": drawn} if table or drawn else None


def diversity_figure(found: Facts) -> Facts:
    """A point for each member: how alike it is to the others, and how often it is wrong."""
    points = found["members"]
    shares = found["measure"] == "kappa"
    x, y = [one["alike"] for one in points], [one["error"] for one in points]
    across = Axis(f"Mean {found['measure']} with the others (left: more different)", *span(x, 0.12, 0.01))
    up = Axis(found["error"].capitalize(), *span([*y, found["together"]], 0.12))
    if shares:
        up = in_percent(Axis(up.label, max(up.low, 0.0), up.high))
    ours = percent(found["together"]) if shares else number(found["together"])
    chosen, others = [one for one in points if one["weight"] > 0.0], [one for one in points if one["weight"] <= 0.0]
    kept = []
    for sort, kind, some in (("in the ensemble", "one", chosen), ("not in it", "faint", others)):
        if some:
            tips = [f"{shown(one['name'])}: error {number(one['error'])}, {found['measure']} {number(one['alike'], 2)}" for one in some]
            names, called_so = [one["name"] for one in some], sort if others and chosen else ""
            positions = [one["alike"] for one in some], [one["error"] for one in some]
            kept.append(ScatterPoints(*positions, kind, called_so, names, tips=tips, radius=5.0))
    level = ChartLine(f"the ensemble: {ours}", (across.low, across.high), (found["together"], found["together"]), "two")
    description = f"Error of each member over how alike it is to the others. The ensemble's error is {ours}."
    drawn = scatter("Strength and diversity", description, across, up, kept, reference=level)
    words = "Low is good; far to the left is wrong in other places than the rest. A mixture of both puts the ensemble below its members."
    numbers = columns_of(points, ("name", "alike", "error", "weight"))
    return figure(f"Error and diversity ({found['measure']})", words, drawn, "How good, and how different?", numbers)


def margin_figure(found: Facts) -> Facts:
    """The cumulative distribution of margins."""
    kept = [ChartLine("the ensemble", found["margin"], found["ensemble"], "one")]
    if found.get("member"):
        kept.append(ChartLine(shown(found["member"]["name"], 30), found["margin"], found["member"]["share"], "two"))
    at = (-1.0, -0.5, 0.0, 0.5, 1.0)
    drawn = lines(
        "Margins",
        f"Share of rows up to each margin. {percent(found['wrong'])} of the rows are wrong, the mean margin is {fixed(found['mean'], 2)}.",
        Axis("Margin: probability of the truth less that of the best other", -1.0, 1.0, at=at, written=("−1", "−0.5", "0", "0.5", "1")),
        share_axis("Rows up to this margin"),
        kept,
        reference=ChartLine("", (0.0, 0.0), (0.0, 1.0)),
    )
    words = f"Left of the dashed line rows are wrong ({percent(found['wrong'])}); the further right a row, the clearer it is decided."
    numbers = {"margin": found["margin"], "share_of_rows": found["ensemble"]}
    return figure("Margin distribution", words, drawn, "How clearly does it decide?", numbers)


def curve_figure(one: Facts, task: str) -> Facts:
    """Loss by round."""
    # Models of earlier versions have no unit: of numbers they hold what boosting counts.
    unit = one.get("unit") or ("half of the squared error" if task == "regression" else "log loss")
    called = {"train": "training", "valid": "validation"}
    kept = [
        ChartLine(called.get(sort, shown(sort, 14)), line["round"], line["loss"], "two" if sort == "train" else "one")
        for sort, line in sorted(one["lines"].items(), reverse=True)
    ]
    # What happens in the first rounds would push the rest together.
    later = [value for line in kept for value in line.y[len(line.y) // 12 :]]
    low, high = span(later, 0.06)
    kept = [_below(line, high) for line in kept]
    label = unit[:1].upper() + unit[1:]
    if len(kept) == 1:
        label, kept = f"{label}, {kept[0].name}", [replace(kept[0], name="")]
    last = max(line.x[-1] for line in kept)
    axes = Axis("Rounds", 1.0, float(last)), Axis(label, low, high)
    drawn = lines(f"Learning curve of {shown(one['name'], 40)}", f"{unit[:1].upper() + unit[1:]} by round, to round {last}.", *axes, kept)
    return figure(f"Learning curve: {shown(one['name'], 40)}", _curve_words(one), drawn)


def _below(line: ChartLine, high: float) -> ChartLine:
    """The line from where it comes down to the picture."""
    first = next((position for position, value in enumerate(line.y) if value <= high), 0)
    return replace(line, x=line.x[first:], y=line.y[first:])


def _curve_words(one: Facts) -> str:
    """Where held-out rows were predicted best."""
    held = one["lines"].get("valid")
    if not held:
        return "Training loss by round."
    best = held["round"][min(range(len(held["loss"])), key=lambda position: held["loss"][position])]
    last = held["round"][-1]
    if best == last:
        return f"The validation loss is smallest after the last of {count(last)} rounds: more rounds may help."
    return f"The validation loss is smallest after {count(best)} of {count(last)} rounds."


def data(facts: Facts) -> Facts | None:
    """What the data is."""
    found = facts.get("data")
    if not found:
        return None
    caption = "Histograms of numbers and dates leave half a per cent out on both sides; bars of categories are their commonest categories."
    if found["sampled"]:
        caption += f" Distributions are of {count(found['sampled'])} rows drawn at random."
    if found["described"] < found["n_columns"]:
        caption += f" The first {count(found['described'])} of {count(found['n_columns'])} columns are shown."
    pairs = found.get("correlated", [])
    nothing = "Nothing suspicious was found: no constants, identifiers, duplicates or columns that tell the target."
    return {
        "suspicions": suspicions(facts),
        "nothing": nothing,
        "figures": [target_figure(found["target"])],
        "pairs": glance(found),
        "columns": column_rows(facts),
        "caption": caption,
        "correlated": [
            {"one": shown(one["one"]), "other": shown(one["other"]), "value": one["rho"], "written": fixed(one["rho"], 3)} for one in pairs
        ],
        "correlated_csv": csv_link("Correlated columns", columns_of(pairs, ("one", "other", "rho"))) if pairs else "",
    }


def glance(found: Facts) -> list[tuple[str, str]]:
    """The table in a few numbers."""
    kinds = ", ".join(f"{count(held)} {kind if held == 1 else _several(kind)}" for kind, held in found["kinds"].items())
    described = found["columns"]
    gaps = sum(one["missing"] for one in described) / max(len(described), 1)
    holed = sum(1 for one in described if one["missing"] > 0.0)
    out = [
        ("Rows", count(found["n_rows"])),
        ("Columns", f"{count(found['n_columns'])}, and the target"),
        ("Kinds", kinds),
        ("Missing", "no cell" if not holed else f"{percent(gaps)} of the cells, in {count(holed)} columns"),
        ("Held out", "every row, once" if found["scored"] == found["n_rows"] else f"{count(found['scored'])} rows"),
    ]
    if found["groups"]:
        out.append(("Groups", count(found["groups"])))
    if found["weighted"]:
        out.append(("Weights", "rows count by their weights"))
    return out


def _several(kind: str) -> str:
    return {"category": "categories", "other": "others"}.get(kind, f"{kind}s")


def target_figure(found: Facts) -> Facts:
    """The distribution of the target."""
    name = shown(found["name"] or "the target", 40)
    if "classes" not in found:
        held = found.get("histogram", {"edges": [], "counts": [1], "below": 0, "above": 0})
        edges = held["edges"] or [-0.5, 0.5]
        drawn = histogram(f"Distribution of {name}", f"How often each value of {name} occurs.", name, edges, [BinCounts(held["counts"])])
        beyond = held["below"] + held["above"]
        words = f"{number(found.get('low'))} to {number(found.get('high'))}, mean {number(found['mean'])}."
        if beyond:
            words += f" The outer bars hold {count(beyond)} rows beyond the axis."
        return figure(f"The target: {name}", words, drawn)
    classes = found["classes"]
    total = sum(one["count"] for one in classes)
    up = Axis("Rows", 0.0, max(one["count"] for one in classes) * 1.08)
    tips = [f"{shown(one['name'])}: {count(one['count'])} rows, {percent(one['count'] / total)}" for one in classes]
    bars_of = [ChartBand(one["name"], one["count"], words, percent(one["count"] / total)) for one, words in zip(classes, tips, strict=True)]
    drawn = columns(f"Classes of {name}", f"Rows of each of {len(classes)} classes.", up, bars_of)
    return figure(f"The target: {name}", f"{count(found['n_classes'])} classes in {count(total)} rows.", drawn)
