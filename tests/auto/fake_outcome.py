"""An honest outcome without the job: two boosters and a line, trained on all folds but one, blended by fixed weights."""

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from woodwind import GradientBoostingClassifier, GradientBoostingRegressor
from woodwind.auto.calibration import IntervalEvidence, conformal_intervals
from woodwind.auto.members.link import probabilities
from woodwind.auto.members.tree_members import ForestMember
from woodwind.auto.model import AutoModel
from woodwind.auto.outcome import Entry, Outcome
from woodwind.data.tables.matrix_form import MatrixForm
from woodwind.data.tables.schema import Schema

NAMES = ("boosting", "stumps", "line")
WEIGHTS = (0.6, 0.25, 0.15)


@dataclass(frozen=True)
class Suspicion:
    kind: str
    columns: tuple[str, ...]
    words: str
    severity: str


@dataclass(frozen=True, eq=False)
class LineMember:
    """Ridge regression of the score, in a few lines."""

    coef: np.ndarray  # (d + 1, width)

    @classmethod
    def fit(cls, matrix, y, task, n_classes):
        goal = np.asarray(y, float)[:, None] if task == "regression" else 2.0 * (np.eye(n_classes)[np.asarray(y, int)] * 2.0 - 1.0)
        goal = goal[:, 1:] if task == "binary" else goal
        ones = np.column_stack([matrix, np.ones(len(matrix))])
        return cls(np.linalg.solve(ones.T @ ones + np.eye(ones.shape[1]), ones.T @ goal))

    def scores(self, view, threads=1):
        return self.scores_of(view.matrix)

    def scores_of(self, matrix, threads=1):
        return np.column_stack([matrix, np.ones(len(matrix))]) @ self.coef


def table_of(n=400, seed=0):
    """Numbers with gaps, levels, truth values, dates; what they say is known."""
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n)
    colour = rng.choice(["red", "green", "blue", None], n, p=[0.5, 0.3, 0.15, 0.05])
    income = np.exp(rng.normal(10.0, 0.5, n))
    days = np.datetime64("2024-01-01") + rng.integers(0, 700, n)
    columns = {
        "size": pa.array(np.where(rng.random(n) < 0.1, np.nan, size), from_pandas=True),
        "colour": pa.array(list(colour)),
        "income": pa.array(income),
        "member": pa.array(rng.random(n) < 0.5),
        "since": pa.array(days),
        "rooms": pa.array(rng.integers(1, 6, n)),
    }
    signal = 1.5 * size + 1.2 * (colour == "red") - 1.0 * (colour == "blue") + 0.8 * np.log(income / np.exp(10.0))
    return pa.table(columns), signal + 0.5 * rng.normal(size=n)


def outcome_of(table, target, task, classes=(), *, target_name="goal", seed=0, folds=4, rounds=40, suspicions=()):
    """The outcome of a table, and class numbers or numbers."""
    y = np.asarray(target, np.float64 if task == "regression" else np.int32)
    schema, read = Schema.learn(table)
    form = MatrixForm.of_table(schema, read)
    fold = np.random.default_rng(seed).integers(0, folds, len(y))

    def members(rows):
        kind = GradientBoostingRegressor if task == "regression" else GradientBoostingClassifier
        some, goal = table.take(rows), y[rows]
        sorts = ({"max_leaf_nodes": 8}, {"max_leaf_nodes": 2, "learning_rate": 0.3})
        common = {"n_estimators": rounds, "min_samples_leaf": 5, "early_stopping": False, "random_state": seed}
        fitted = [kind(**common, **one).fit(some, goal) for one in sorts]
        return fitted, LineMember.fit(form.of(some), goal, task, len(classes))

    width = len(classes) if task == "multiclass" else 1
    predicted = np.full((len(y), 3, width), np.nan)
    curves, counted = {}, 0.5 if task == "regression" else 1.0  # boosting counts half of the squared error
    for held in range(folds):
        outside = np.flatnonzero(fold == held)
        fitted, line = members(np.flatnonzero(fold != held))
        for position, model in enumerate(fitted):
            predicted[outside, position] = model._raw(table.take(outside)).reshape(len(outside), width)
            curves.setdefault(NAMES[position], []).append(
                [
                    [
                        counted * float(losses_of(task, y[rows], raw.reshape(len(rows), width)).mean())
                        for raw in model._staged(table.take(rows))
                    ]
                    for rows in (np.flatnonzero(fold != held), outside)
                ]
            )
        predicted[outside, 2] = np.column_stack([form.of(table.take(outside)), np.ones(len(outside))]) @ line.coef
    means = {name: np.mean(several, axis=0).tolist() for name, several in curves.items()}
    curves = {name: {"train": train, "valid": valid} for name, (train, valid) in means.items()}
    fitted, line = members(np.arange(len(y)))
    weights = np.array(WEIGHTS)
    kept = (*(ForestMember(one.forest_) for one in fitted), line)
    metric = "rmse" if task == "regression" else "log_loss"
    model = AutoModel(task, target_name, tuple(classes), fitted[0].schema_, form, NAMES, kept, weights, np.zeros(width), metric, {})
    blended = np.einsum("m,nmw->nw", weights, predicted)
    entries = [entry("ensemble", "ensemble", losses_of(task, y, blended), 1.0, folds, task == "regression")]
    families = ("boosting", "boosting", "linear")
    for position, name in enumerate(NAMES):
        entries.append(
            entry(name, families[position], losses_of(task, y, predicted[:, position]), WEIGHTS[position], folds, task == "regression")
        )
    entries = [entries[0], *sorted(entries[1:], key=lambda one: one.loss)]
    failed = Entry("net", "net", np.nan, np.nan, np.nan, 0.0, 1.0, np.nan, 0, "out of time before its first fold")
    rest = (tuple(suspicions), ("a note",), 12.5, seed)
    model = replace(model, intervals=conformal_intervals(IntervalEvidence(y, blended, None, fold, task != "regression", "random")))
    held = np.ones(len(y), bool)
    return Outcome(model, (*entries, failed), table, y, None, None, NAMES, predicted, blended, held, curves, *rest, fold=fold)


def losses_of(task, y, scores):
    if task == "regression":
        return (scores[:, 0] - y) ** 2
    return -np.log(np.maximum(probabilities(scores)[np.arange(len(y)), y], 1e-12))


def entry(name, family, losses, weight, folds, rooted=False):
    mean, error = float(losses.mean()), float(losses.std() / np.sqrt(len(losses)))
    score, error = (mean**0.5, error / (2.0 * mean**0.5)) if rooted else (mean, error)
    return Entry(name, family, score, error, mean, weight, 1.25, 3.5, folds)


def fake(task, n=400, seed=0, **more):
    """An outcome of each task."""
    table, signal = table_of(n, seed)
    warned = (Suspicion("identifier", ("income",), "income has a different value in every row: it may be an identifier.", "warning"),)
    if task == "regression":
        return outcome_of(table, signal, task, seed=seed, suspicions=warned, **more)
    cuts = [0.5] if task == "binary" else [-0.5, 1.0]
    classes = ("no", "yes") if task == "binary" else ("low", "middle", "high")
    return outcome_of(table, np.digitize(signal, cuts), task, classes, seed=seed, suspicions=warned, **more)
