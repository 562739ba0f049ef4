"""The table of the worst mistakes."""

from typing import Any

from woodwind.report.text import count, number, percent, shown

Facts = dict[str, Any]


def mistakes(facts: Facts) -> Facts | None:
    """Rows with truth, prediction and values."""
    found = facts.get("mistakes")
    if not found or not found["rows"]:
        return None
    numbers = facts["task"] == "regression"
    rows = []
    for one in found["rows"]:
        sure = one["truth"] - one["said"] if numbers else one["chance_of_truth"]
        rows.append({
            "row": count(one["row"]),
            "row_value": one["row"],
            "truth": number(one["truth"], 4) if numbers else shown(one["truth"]),
            "said": number(one["said"], 4) if numbers else shown(one["said"]),
            "sure": number(sure, 3) if numbers else percent(sure),
            "sure_value": sure,
            "values": [shown(value) for value in one["values"]],
        })
    caption = "Rows are counted from 1 in the table that was learnt, without its head."
    if numbers:
        caption += " The residual is the truth less the prediction, as in the pictures above."
    if found["hidden"] > 0:
        n_shown, hidden = count(len(found["columns"])), count(found["hidden"])
        which = f"The {n_shown} most important columns" if facts.get("importance") else f"The first {n_shown} columns of the table"
        caption += f" {which} are shown; {hidden} more are not."
    return {
        "numbers": numbers,
        "how_sure": "Residual" if numbers else "Chance of the truth",
        "columns": [shown(name, 30) for name in found["columns"]],
        "rows": rows,
        "caption": caption,
    }
