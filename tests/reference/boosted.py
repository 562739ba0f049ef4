"""Boosting from a table to a forest in one call, without the ceremony of an estimator."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from woodwind.data.binning.codes import Codes
from woodwind.data.binning.cuts import Cuts
from woodwind.data.binning.ranks import Ranking, Ranks
from woodwind.data.tables.schema import Schema
from woodwind.data.tables.table import Table
from woodwind.ensemble.boosting.boost import Booster
from woodwind.ensemble.boosting.boost_plan import BoostPlan
from woodwind.ensemble.boosting.training_rows import TrainingRows
from woodwind.shards.shards import Shards
from woodwind.tree.assemble import assemble
from woodwind.tree.forest import Forest
from woodwind.tree.grown_tree import ValuedTree


class Boosted(NamedTuple):
    """A finished training and all that it was made of."""

    table: Table
    cuts: Cuts | Ranking
    codes: Codes | Ranks
    booster: Booster
    trees: list[ValuedTree]
    start: NDArray[np.float64]
    forest: Forest


def boosted(
    x: Any,
    y: NDArray[Any],
    plan: BoostPlan,
    rounds: int = 4,
    weight: NDArray[np.float64] | None = None,
    rows: NDArray[np.int32] | None = None,
    max_bins: int | None = 255,
    divided: Callable[[Codes], Shards] | None = None,
) -> Boosted:
    """Train; with `rows`, cuts, start and trees are trained on those rows, a row as often as it is given.

    `divided` divides the coded rows into shards.
    """
    _schema, table = Schema.learn(x)
    often = weight
    if rows is not None:
        often = np.bincount(rows, minlength=len(y)).astype(np.float64)
        often = often if weight is None else often * weight
    cuts = Ranking.fit(table) if max_bins is None else Cuts.fit(table, max_bins, often, plan.threads)
    codes = cuts.encode(table, plan.threads)
    coded = codes if divided is None else divided(codes)
    chosen = np.arange(len(y)) if rows is None else rows
    start = plan.loss.start(y[chosen], None if weight is None else weight[chosen])
    booster = TrainingRows(coded, y, weight, None).booster(plan, fresh_scores(start, len(y)), rows)
    trees = [tree for finished in booster.rounds(rounds) for tree in finished.trees]
    width = plan.loss.width if plan.loss.width > 1 and not plan.one_per_class else 1
    return Boosted(table, cuts, codes, booster, trees, start, assemble(trees, cuts, start, width))


def fresh_scores(start: NDArray[np.float64], n_rows: int) -> NDArray[np.float64]:
    """Scores before the first round: (n,) for one score per row, (n, K) for K."""
    return np.full(n_rows, start[0]) if len(start) == 1 else np.tile(start, (n_rows, 1))
