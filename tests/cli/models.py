"""A small model as the job makes them, with facts that commands show."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
from fakes import LEADERBOARD

from woodwind import GradientBoostingClassifier, GradientBoostingRegressor
from woodwind.auto.facts.scored_rows import metric_facts
from woodwind.auto.members.tree_members import ForestMember
from woodwind.auto.model import AutoModel
from woodwind.cli.console import plain
from woodwind.data.tables.matrix_form import MatrixForm
from woodwind.data.tables.schema import Schema


def table(rows=120):
    position = np.arange(rows)
    age = (20 + position * 7 % 50).astype(float)
    age[::11] = np.nan
    plans = np.array(["basic", "gold", "plus"])
    return pa.table({"age": pa.array(age, from_pandas=True), "plan": plans[position % 3], "paid": position * 13 % 90})


def model(task="binary", intervals=None):
    """A model of a task; one of a ranking is that of a regression, with "plan" as its query."""
    if task == "ranking":
        ranks = model("regression")
        facts = {**ranks.facts, "task": task, "metric": metric_facts("ndcg@10")}
        return replace(ranks, task=task, metric="ndcg@10", facts=facts, query="who")
    X = table()
    number = X["paid"].to_numpy() + 30.0 * (X["plan"].to_numpy(zero_copy_only=False) == "gold")
    settings = {"n_estimators": 5, "early_stopping": False, "random_state": 0, "n_jobs": 1}
    if task == "regression":
        classes, forest = (), GradientBoostingRegressor(**settings).fit(X, number).forest_
    else:
        classes = ("no", "yes") if task == "binary" else ("high", "low", "middle")
        edges = [60.0] if task == "binary" else [40.0, 80.0]
        forest = GradientBoostingClassifier(**settings).fit(X, np.array(classes)[np.digitize(number, edges)]).forest_
    schema, read = Schema.learn(X)
    metric = "rmse" if task == "regression" else "log_loss"
    facts = {
        "version": 1, "task": task, "target": "late", "classes": list(classes), "metric": metric_facts(metric), "n_rows": X.num_rows,
        "n_columns": X.num_columns, "left_out": [], "part_seconds": {},
        "leaderboard": plain(LEADERBOARD),
    }  # fmt: skip
    return AutoModel(
        task=task, target="late", classes=classes, schema=schema, form=MatrixForm.of_table(schema, read), names=("boosting",),
        members=(ForestMember(forest),), weights=np.ones(1), shift=np.zeros(len(classes) if task == "multiclass" else 1),
        metric=metric, facts=facts, intervals=intervals,
    )  # fmt: skip
