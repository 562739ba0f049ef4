"""What each column brings to the scores of a blend: the sum of what it brings to the members, by their weights.

Trees are explained exactly by their covers, linear members exactly by their coefficients, each column against the mean of the training
rows. Other members are explained by orders of the columns that are drawn by key: the columns of the row replace those of a background row
one by one, and each gets what that changes, on average. All three add up to the score of the row.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.members.linear_member import REACH, LinearMember
from woodwind.auto.members.target_encoding import EncodedMember
from woodwind.auto.members.tree_members import CompactForestMember, ForestMember, MeanMember, Member
from woodwind.auto.members.view import View
from woodwind.auto.model import AutoModel
from woodwind.base.errors import DataError
from woodwind.base.random_streams import choose, key, permutation
from woodwind.base.validate import require_finite
from woodwind.data.tables.cells import Cells
from woodwind.tree.shap import explain
from woodwind.tree.shap_result import LOG_ODDS, SCORE, Explanation, by_column

# ----------------------------------------------------------------------------------------------------
# Background: what rows of the training table are like on average, for explaining members that are no trees.
#
# Trees know by their covers what is typical. Members that read a matrix do not, so that a model keeps the mean of the matrix and some of
# its rows among its facts.


Floats = NDArray[np.float64]

NAME = "background"  # among the facts of a model
# Rows that are kept, and numbers in all of them: some 300 kB of JSON.
MOST_ROWS = 16
MOST_NUMBERS = 20_000
DIGITS = 6


@dataclass(frozen=True, eq=False)
class Background:
    """A row that stands for nothing known, and rows that do so together."""

    mean: Floats  # (d,)
    rows: Floats  # (b, d)

    @classmethod
    def learn(cls, view: View, seed: int) -> "Background":
        """The mean of the training rows, and some of them drawn by key."""
        n, d = view.matrix.shape
        count = min(n, MOST_ROWS, max(MOST_NUMBERS // max(d, 1), 1))
        return cls(view.matrix.mean(axis=0).round(DIGITS), view.matrix[choose(key(seed, NAME), n, count)].round(DIGITS))

    @classmethod
    def of(cls, facts: dict[str, Any], d: int) -> "Background":
        """What a model has kept; without that, the row of which all columns are zero: the mean of numbers, and none of the categories."""
        kept = facts.get(NAME)
        if isinstance(kept, dict):
            try:
                mean, rows = np.asarray(kept.get("mean", ()), np.float64), np.asarray(kept.get("rows", ()), np.float64)
            except (TypeError, ValueError) as error:
                raise DataError("The model cannot be explained: what it has kept of its training rows is damaged.") from error
            whole = mean.shape == (d,) and rows.ndim == 2 and len(rows) > 0 and rows.shape[1] == d
            if whole and np.isfinite(rows).all() and np.isfinite(mean).all():
                return cls(mean, rows)
        return cls(np.zeros(d), np.zeros((1, d)))

    def to_facts(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {"mean": self.mean.tolist(), "rows": self.rows.tolist()}


def background_facts(members: Sequence[Member], view: View, seed: int) -> dict[str, Any]:
    """What a model of these members keeps of its training rows among its facts: nothing, if all of them are trees."""
    return {NAME: Background.learn(view, seed).to_facts()} if any(reads_matrix(member) for member in members) else {}


def reads_matrix(member: Member) -> bool:
    """Whether a member, or one of those that it is the mean of, is no forest."""
    if isinstance(member, MeanMember):
        return any(reads_matrix(one) for one in member.members)
    return not isinstance(member, ForestMember | EncodedMember | CompactForestMember)


Integers = NDArray[np.int64]

SCALES = {"binary": LOG_ODDS, "multiclass": SCORE, "ranking": "ranking score"}
# Orders of the columns that are drawn for a row; each counts together with its reverse. Of many columns fewer, so that members are asked
# about no more rows than these for each row: the nets of five folds took 26 s for 2**15 of them on a busy machine. Never fewer for many
# rows: what a row is told would change with the rows beside it, by up to 0.019.
ORDERS = 16
MOST_QUESTIONS = 1 << 8
# Numbers of the rows that sampled members are asked about at a time.
ASKED = 1 << 21


@runtime_checkable
class MatrixMember(Protocol):
    """A member that reads the rows as numbers."""

    def scores_of(self, matrix: Floats, threads: int = 1) -> Floats:
        """Scores (n, width)."""


def explain_model(model: AutoModel, X: Any, threads: int = 1, seed: int = 0) -> Explanation:
    """Shapley values of the input columns for the score of every row of a table: `values`, `base` and `scores` of the blend.

    `exact_share` of the result is the share of the weights that trees and linear members have. The values of the others are means over
    orders drawn by `seed`, as are those of linear members for rows whose scores are cut off: of ORDERS orders and their reverse for each
    row, or of fewer where there are many columns. They are drawn by what the row holds, so that rows beside it change nothing.
    """
    view = model.view(X)
    n, width = view.n_rows, model.width
    values, base = np.zeros((n, model.schema.n_inputs, width)), np.array(model.shift)
    sampled: list[tuple[float, MatrixMember]] = []
    guessed = 0.0
    for name, weight, member in parts_of(model):
        if isinstance(member, ForestMember | EncodedMember | CompactForestMember):
            found, mean, exact = *tree_values(model, member, view, threads), True
        elif isinstance(member, LinearMember):
            found, mean, exact = linear_values(model, member, view, seed)
        elif isinstance(member, MatrixMember):
            sampled.append((weight, member))
            guessed += abs(weight)
            continue
        else:
            raise DataError(f"The model cannot be explained: nothing is known of how its member {name!r} comes to its scores.")
        values += weight * found
        base += weight * mean
        guessed += 0.0 if exact else abs(weight)
    if sampled:
        found, mean = sampled_values(model, sampled, view, seed, threads)
        values += found
        base += mean
    names = tuple(field.name for field in model.schema.fields)
    outputs = tuple(str(label) for label in model.classes[-width:]) if model.classes else ("",)
    scale = SCALES.get(model.task) or model.target or "prediction"
    share = 1.0 - guessed / float(np.abs(model.weights).sum()) if guessed else 1.0
    scores = model.blend(view, threads)
    return Explanation(require_finite(values, "The model"), base, scores, names, outputs, scale, Cells(model.schema, view.table), share)


def is_explainable(model: AutoModel) -> bool:
    """Whether it is known of all members how they come to their scores."""
    kinds = ForestMember | EncodedMember | CompactForestMember | LinearMember | MatrixMember
    return all(isinstance(member, kinds) for _, _, member in parts_of(model))


def parts_of(model: AutoModel) -> Iterator[tuple[str, float, Member]]:
    """Name, weight and member of all that have a weight; those of a mean one by one."""
    waiting = [part for part in zip(model.names, model.weights.tolist(), model.members, strict=True) if part[1] != 0.0]
    while waiting:
        name, weight, member = waiting.pop(0)
        if isinstance(member, MeanMember):
            waiting[:0] = [(name, weight / len(member.members), one) for one in member.members]
        else:
            yield name, weight, member


def tree_values(
    model: AutoModel, member: ForestMember | EncodedMember | CompactForestMember, view: View, threads: int
) -> tuple[Floats, Floats]:
    """Values (n, C, width) and base (width,) of a forest."""
    if isinstance(member, ForestMember | EncodedMember):
        table = member.table(view) if isinstance(member, EncodedMember) else view.table
        values, base = explain(member.forest, table, threads)
        return by_column(values, model.schema), base
    values, base = explain(member.compact_forest, view.table, threads)
    if len(base) == 2:
        values, base = values[:, :, 1:], base[1:]
    return member.slope * by_column(values, model.schema), member.slope * base + member.shift


def matrix_source(model: AutoModel) -> Integers:
    """The input column of each column of the matrix."""
    return np.repeat(model.schema.source, [len(part.names) for part in model.form.parts])


def linear_values(model: AutoModel, member: LinearMember, view: View, seed: int) -> tuple[Floats, Floats, bool]:
    """Coefficients times the distance from the mean row, added up for each input column; the base; whether that is exact.

    Scores end at `low` and `high`. Where some part of the columns would lead beyond, what is cut off is shared out by sampled orders.
    """
    mean = np.clip(Background.of(model.facts, member.n_columns).mean, -REACH, REACH)
    away = np.clip(view.matrix, -REACH, REACH) - mean
    values = np.zeros((view.n_rows, model.schema.n_inputs, member.coef.shape[1]))
    for position, column in enumerate(matrix_source(model)):
        values[:, column] += away[:, position, None] * member.coef[position]
    base = member.start + mean @ member.coef
    # The highest and the lowest score that any part of the columns has.
    high, low = base + np.maximum(values, 0.0).sum(axis=1), base + np.minimum(values, 0.0).sum(axis=1)
    beyond = np.flatnonzero(((high > member.high) | (low < member.low)).any(axis=1))
    if beyond.size:
        orders, cut = drawn_orders(model.schema.n_inputs, 1, ORDERS, seed), np.zeros((beyond.size, *values.shape[1:]))
        for order in orders:
            steps = base + np.cumsum(values[beyond][:, order], axis=1)
            start = np.broadcast_to(base, (beyond.size, 1, len(base)))
            cut[:, order] += np.diff(np.clip(np.concatenate([start, steps], axis=1), member.low, member.high), axis=1)
        values[beyond] = cut / len(orders)
    return values, np.clip(base, member.low, member.high), not beyond.size


def sampled_values(
    model: AutoModel, members: list[tuple[float, MatrixMember]], view: View, seed: int, threads: int = 1
) -> tuple[Floats, Floats]:
    """Values (n, C, width) and base (width,) of the weighted sum of some members, by orders of the columns drawn by key."""
    source, matrix = matrix_source(model), view.matrix
    n_columns = model.schema.n_inputs
    wanted = min(max(MOST_QUESTIONS // (2 * (n_columns + 1)), 1), ORDERS)
    background = Background.of(model.facts, matrix.shape[1]).rows[:wanted]
    starts = background[np.arange(2 * orders_drawn(len(background), wanted)) % len(background)]
    at_once = max(ASKED // ((n_columns + 1) * max(matrix.shape[1], 1)), 1)

    def ask(rows: Floats) -> Floats:
        return np.asarray(sum(weight * member.scores_of(rows, threads) for weight, member in members))

    base = ask(background)
    values = np.zeros((view.n_rows, n_columns, base.shape[1]))
    for row in range(view.n_rows):
        orders = drawn_orders(n_columns, len(background), wanted, key(seed, "row", content_of(matrix[row])))
        for first in range(0, len(orders), at_once):
            some = orders[first : first + at_once]
            # Step k has the first k columns of an order from the row, and those after them from the background.
            known = np.argsort(some, axis=1)[:, source][:, None, :] < np.arange(n_columns + 1)[:, None]
            rows = np.where(known, matrix[row], starts[first : first + at_once, None])
            steps = ask(rows.reshape(-1, matrix.shape[1])).reshape(len(some), n_columns + 1, -1)
            for order, brought in zip(some, np.diff(steps, axis=1), strict=True):
                values[row, order] += brought
    return values / len(starts), base.mean(axis=0)


def content_of(row: Floats) -> int:
    """A number for what a row holds, the same wherever the row stands; 0.0 and -0.0 are one value."""
    return int.from_bytes(hashlib.blake2b((row + 0.0).tobytes(), digest_size=8).digest(), "little")


def orders_drawn(n_background: int, wanted: int) -> int:
    """How many orders are drawn, reverses not counted: as many from every background row."""
    return n_background * max(round(wanted / n_background), 1)


def drawn_orders(n_columns: int, n_background: int, wanted: int, seed: int) -> Integers:
    """Orders of the columns (o, C), about as many as wanted and then their reverse: every background row is begun from as often."""
    half = orders_drawn(n_background, wanted)
    orders = np.array([permutation(key(seed, "order", number), n_columns) for number in range(half)])
    return np.concatenate([orders, orders[:, ::-1]])
