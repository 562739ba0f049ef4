"""The worst mistakes: rows with the largest loss out of fold, as they stand in the table."""

from typing import Any

import numpy as np

from woodwind.auto.facts_judged import Judged
from woodwind.auto.facts_plain import brief
from woodwind.auto.outcome import Outcome

MOST = 10
MOST_COLUMNS = 12


def mistake_facts(outcome: Outcome, judged: Judged, importance: dict[str, Any] | None) -> dict[str, Any] | None:
    """Truth, prediction and the most telling columns of the rows that the ensemble was most wrong about."""
    if len(judged.rows) == 0:
        return None
    losses = judged.losses(judged.scores)
    worst = np.lexsort((judged.rows, -losses))[:MOST]
    names = list(outcome.X.column_names)
    first = [one["column"] for one in importance["columns"]] if importance else []
    columns = list(dict.fromkeys([*first, *range(min(len(names), MOST_COLUMNS))]))[:MOST_COLUMNS]
    cells = [outcome.X.column(column).take(judged.rows[worst]).to_pylist() for column in columns]
    classes = outcome.model.classes
    out = []
    for place, row in enumerate(worst):
        values = ["" if column[place] is None else brief(column[place]) for column in cells]
        facts: dict[str, Any] = {"row": int(judged.rows[row]) + 1, "loss": losses[row], "values": values}
        if judged.task == "regression":
            facts.update(truth=float(judged.y[row]), said=float(judged.said[row]))
        else:
            truth, said = int(judged.y[row]), int(judged.said[row])
            facts.update(truth=brief(classes[truth]), said=brief(classes[said]))
            facts.update(chance=judged.proba[row, said], chance_of_truth=judged.proba[row, truth])
        out.append(facts)
    return {"columns": [brief(names[column]) for column in columns], "hidden": len(names) - len(columns), "rows": out}
