"""Several layers without a leak: whatever scores a row, in any layer, was trained without its fold, and so was all that it was trained on.

A second layer that learns from what the first says out of fold learns from models that knew the rows that it is then scored by: their
labels shine through, and noise looks like knowledge. So here the layers below are trained again for every fold that is held out, without
it. What is left after holding out folds g and h is the same in either order and is trained once: of K folds and L layers, members of the
first layer are trained 1 + K + K(K - 1)/2 + ... times, L + 1 terms. See docs/algorithms/stacking.md.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import DataError
from woodwind.base.random_streams import key
from woodwind.ensemble.layers import LayerColumns, as_probabilities
from woodwind.estimators.base.splits import Fold, check_apart
from woodwind.estimators.pools.members import AnyTable
from woodwind.estimators.pools.pool import NamedMember, Response, open_table_of, trained_pool
from woodwind.estimators.stacking.layers import LayerRows, LayerWork, StackingLayer, TrainedLayer, joined

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class NestedContext:
    """Rows that are trained on while some folds are held out, and the layers that are trained on nothing else."""

    def __init__(self, rows: Integers, depth: int) -> None:
        self.rows, self.depth = rows, depth  # positions of rows, ascending, drawn ones several times; how many folds are held out
        self.parts: list[tuple[NestedContext, Integers]] = []  # with one more fold held out, and the rows of it that are here
        self.asked: Integers = np.zeros(0, np.int64)  # rows that its layers are asked about
        self.layers: list[StackingLayer] = []
        self.train_rows: Integers | None = rows  # rows that the next layer learns; None where there are none
        self.learn: AnyTable | None = None  # the table of these
        self.ask: AnyTable | None = None  # that of the rows that are asked about
        self.blocks: list[LayerColumns] = []  # what the highest layer predicts for these


def contexts_of(folds: Sequence[Fold], n_rows: int, deepest: int) -> list[NestedContext]:
    """All rows, and what is left of them while up to `deepest` folds are held out; the first is all."""
    top = NestedContext(np.arange(n_rows), 0)
    known, level = {top.rows.tobytes(): top}, [top]
    for depth in range(1, deepest + 1):
        found = []
        for context in level:
            there = np.zeros(n_rows, np.bool_)
            there[context.rows] = True
            for train_rows, held in folds:
                rows, out = np.sort(train_rows[there[train_rows]]), np.sort(held[there[held]])
                if not rows.size or not out.size:
                    continue
                part = known.get(rows.tobytes())
                if part is None:
                    part = known[rows.tobytes()] = NestedContext(rows, depth)
                    found.append(part)
                part.asked = np.union1d(part.asked, out)
                context.parts.append((part, out))
        level = found
    return list(known.values())


class NestedStack:
    """The contexts of a stack, and their layers, trained from the first up."""

    def __init__(self, table: AnyTable, passed: Any, rows: LayerRows, folds: Sequence[Fold], work: LayerWork, deepest: int) -> None:
        self.passed, self.rows, self.work, self.deepest, self.height = passed, rows, work, deepest, 0
        self.contexts = contexts_of(folds, len(rows), deepest)
        self.top = self.contexts[0]
        for number, context in enumerate(self.contexts[1:]):
            check_apart(number, context.rows, context.asked, rows.groups, work.owner)
        for context in self.contexts:
            context.learn = _part(table, context.rows, work.owner)
            context.ask = _part(table, context.asked, work.owner) if context.asked.size else None

    def layer(
        self, named: Sequence[NamedMember], responses: tuple[Response, ...], shaped: Callable[[TrainedLayer], StackingLayer], depth: int
    ) -> TrainedLayer:
        """Train one more layer in every context that has one, and tell what it predicts for all rows, out of fold.

        `shaped` says, from that, what is passed on of the layer.
        """
        self.height += 1
        for number, context in enumerate(self.contexts):
            context.blocks = []
            if context.train_rows is None or context.depth > self.deepest - self.height + 1:
                continue
            if context is self.top and not self.work.refit:
                continue
            layer = self._trained(named, responses, context, key(self.work.seed, "layer", depth, "part", number))
            if context.ask is not None:
                context.blocks = layer.blocks(context.ask, self.work.owner, self.work.threads)
            context.layers.append(layer)
        whole = self._layer_of_all(depth)
        wanted = shaped(whole)
        for context in self.contexts:
            self._go_on(context, wanted)
        return whole

    def _trained(self, named: Sequence[NamedMember], responses: tuple[Response, ...], context: NestedContext, seed: int) -> StackingLayer:
        work, train_rows = self.work, self.rows.at(np.asarray(context.train_rows))
        pool = trained_pool(
            named,
            context.learn,
            train_rows.target,
            train_rows.weight,
            seed=seed,
            threads=work.threads,
            owner=work.owner,
            verbose=work.verbose,
        )
        return StackingLayer((pool,), responses)

    def _layer_of_all(self, depth: int) -> TrainedLayer:
        """What the layer predicts for all rows; its members as they were trained on all of them, or else in folds."""
        scored, blocks = self._gathered(self.top)
        if not scored.any():
            raise DataError(
                f"{self.work.owner}: no row is left from which layer {depth + 2} could learn: every layer holds a fold out, and there are "
                "too few. Give more folds by cv, fewer layers, or nested_folds=False."
            )
        parts = [(part, out) for part, out in self.top.parts if len(part.layers) == self.height]
        layer = self.top.layers[-1] if self.work.refit else parts[0][0].layers[-1]
        return TrainedLayer(layer, blocks, scored, tuple((part.rows, out) for part, out in parts))

    def _gathered(self, context: NestedContext) -> tuple[NDArray[np.bool_], list[LayerColumns]]:
        """Which rows of a context its parts have scored, and what they predict for these, ascending: the mean where there are several."""
        times, found = np.zeros(len(self.rows), np.int64), []
        for part, out in context.parts:
            if part.blocks:
                times[out] += 1
                positions = np.searchsorted(part.asked, out)
                found.append((out, [block._replace(values=block.values[positions]) for block in part.blocks]))
        scored = times > 0
        if not found:
            return scored, []
        n_classes, several = self.rows.target.n_classes, bool((times > 1).any())
        blocks = []
        for position, first in enumerate(found[0][1]):
            counts = several and first.predicted == "votes"
            width = n_classes if counts else first.values.shape[1]
            total = np.zeros((len(times), width))
            for out, predicted in found:
                total[out] += as_probabilities(predicted[position], n_classes) if counts else predicted[position].values
            mean = total[scored] / times[scored, None]
            blocks.append(LayerColumns(first.name, "probabilities" if counts else first.predicted, mean))
        return scored, blocks

    def _go_on(self, context: NestedContext, wanted: StackingLayer) -> None:
        """From what the layer says to the tables that the next one learns from and is asked about."""
        owner = self.work.owner
        scored, blocks = self._gathered(context)
        if context.train_rows is not None and context.layers and len(context.layers) == self.height:
            own = context.layers[-1]
            context.layers[-1] = StackingLayer(own.pools, own.responses, wanted.link, wanted.kept)
            if context.blocks:
                columns = wanted.columns(context.blocks)
                context.ask = joined(columns, self._passed(context.asked), owner)
        if not scored.any():
            context.train_rows = context.learn = None
            return
        assert context.train_rows is not None
        context.train_rows = context.train_rows[scored[context.train_rows]]
        positions = np.searchsorted(np.flatnonzero(scored), context.train_rows)
        context.learn = joined(wanted.columns(blocks)[positions], self._passed(context.train_rows), owner)

    def _passed(self, rows: Integers) -> Any:
        return None if self.passed is None else self.passed[rows]

    def chains(self) -> list[list[StackingLayer]]:
        """The layers that predict: those of all rows, or of every fold that has all of them."""
        if self.work.refit:
            return [self.top.layers]
        return [part.layers for part, _ in self.top.parts if len(part.layers) == self.height]

    def of_blender(self) -> tuple[AnyTable, Integers]:
        """The table that the blender learns from, and the rows that it is of."""
        assert self.top.learn is not None
        return self.top.learn, np.asarray(self.top.train_rows)

    def blender_folds(self) -> Iterator[tuple[AnyTable, Integers, AnyTable, Integers]]:
        """To score the blender: what it learns without a fold, and what it is then asked: (table, its rows, table, its rows)."""
        for part, out in self.top.parts:
            if part.learn is not None and part.train_rows is not None and len(part.layers) == self.height and part.ask is not None:
                positions = np.searchsorted(part.asked, out)
                yield part.learn, part.train_rows, _part(part.ask, positions, self.work.owner), out


def _part(table: AnyTable, rows: Integers, owner: str) -> AnyTable:
    """Some rows of a table, as one of their own."""
    return open_table_of(table.take(None, rows), None, owner)
