"""Several layers without a leak: whatever judges a row, in any layer, was trained without its fold, and so was all that it was trained on.

A second layer that learns from what the first says out of fold learns from models that knew the rows that it is then judged by: their
labels shine through, and noise looks like knowledge. So here the layers below are trained again for every fold that is held out, without
it. What is left after holding out folds g and h is the same in either order and is trained once: of K folds and L layers, members of the
first layer are trained 1 + K + K(K - 1)/2 + ... times, L + 1 terms. See docs/algorithms/stacking.md.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import DataError
from woodwind.base.streams import key
from woodwind.ensemble.layers import Block, as_shares
from woodwind.estimators.members import TableOfAny
from woodwind.estimators.pool import Named, Saying, open_table_of, trained_pool
from woodwind.estimators.splits import Fold, check_apart
from woodwind.estimators.stacking_layers import Layer, Trained, Work, joined
from woodwind.estimators.stacking_rows import Rows

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Context:
    """Rows that are learnt from while some folds are held out, and the layers that are trained on nothing else."""

    def __init__(self, rows: Integers, depth: int) -> None:
        self.rows, self.depth = rows, depth  # places of rows, ascending, drawn ones several times; how many folds are held out
        self.parts: list[tuple[Context, Integers]] = []  # with one more fold held out, and the rows of it that are here
        self.asked: Integers = np.zeros(0, np.int64)  # rows that its layers are asked about
        self.layers: list[Layer] = []
        self.learnt: Integers | None = rows  # rows that the next layer learns; None where there are none
        self.learn: TableOfAny | None = None  # the table of these
        self.ask: TableOfAny | None = None  # that of the rows that are asked about
        self.blocks: list[Block] = []  # what the highest layer says of these


def contexts_of(folds: Sequence[Fold], n_rows: int, deepest: int) -> list[Context]:
    """All rows, and what is left of them while up to `deepest` folds are held out; the first is all."""
    top = Context(np.arange(n_rows), 0)
    known, level = {top.rows.tobytes(): top}, [top]
    for depth in range(1, deepest + 1):
        found = []
        for context in level:
            there = np.zeros(n_rows, np.bool_)
            there[context.rows] = True
            for learnt, held in folds:
                rows, out = np.sort(learnt[there[learnt]]), np.sort(held[there[held]])
                if not rows.size or not out.size:
                    continue
                part = known.get(rows.tobytes())
                if part is None:
                    part = known[rows.tobytes()] = Context(rows, depth)
                    found.append(part)
                part.asked = np.union1d(part.asked, out)
                context.parts.append((part, out))
        level = found
    return list(known.values())


class Nest:
    """The contexts of a stack, and their layers, trained from the first up."""

    def __init__(self, table: TableOfAny, passed: Any, rows: Rows, folds: Sequence[Fold], work: Work, deepest: int) -> None:
        self.passed, self.rows, self.work, self.deepest, self.height = passed, rows, work, deepest, 0
        self.contexts = contexts_of(folds, len(rows), deepest)
        self.top = self.contexts[0]
        for number, context in enumerate(self.contexts[1:]):
            check_apart(number, context.rows, context.asked, rows.groups, work.owner)
        for context in self.contexts:
            context.learn = _part(table, context.rows, work.owner)
            context.ask = _part(table, context.asked, work.owner) if context.asked.size else None

    def layer(self, named: Sequence[Named], sayings: tuple[Saying, ...], shaped: Callable[[Trained], Layer], depth: int) -> Trained:
        """Train one more layer in every context that has one, and tell what it says of all rows, out of fold.

        `shaped` says, from that, what is passed on of the layer.
        """
        self.height += 1
        for number, context in enumerate(self.contexts):
            context.blocks = []
            if context.learnt is None or context.depth > self.deepest - self.height + 1:
                continue
            if context is self.top and not self.work.refit:
                continue
            layer = self._trained(named, sayings, context, key(self.work.seed, "layer", depth, "part", number))
            if context.ask is not None:
                context.blocks = layer.blocks(context.ask, self.work.owner, self.work.threads)
            context.layers.append(layer)
        whole = self._layer_of_all(depth)
        wanted = shaped(whole)
        for context in self.contexts:
            self._go_on(context, wanted)
        return whole

    def _trained(self, named: Sequence[Named], sayings: tuple[Saying, ...], context: Context, seed: int) -> Layer:
        work, learnt = self.work, self.rows.at(np.asarray(context.learnt))
        pool = trained_pool(
            named,
            context.learn,
            learnt.target,
            learnt.weight,
            seed=seed,
            threads=work.threads,
            owner=work.owner,
            verbose=work.verbose,
        )
        return Layer((pool,), sayings)

    def _layer_of_all(self, depth: int) -> Trained:
        """What the layer says of all rows; its members as they were trained on all of them, or else in folds."""
        judged, blocks = self._gathered(self.top)
        if not judged.any():
            raise DataError(
                f"{self.work.owner}: no row is left from which layer {depth + 2} could learn: every layer holds a fold out, and there are "
                "too few. Give more folds by cv, fewer layers, or nested_folds=False."
            )
        parts = [(part, out) for part, out in self.top.parts if len(part.layers) == self.height]
        layer = self.top.layers[-1] if self.work.refit else parts[0][0].layers[-1]
        return Trained(layer, blocks, judged, tuple((part.rows, out) for part, out in parts))

    def _gathered(self, context: Context) -> tuple[NDArray[np.bool_], list[Block]]:
        """Which rows of a context its parts have judged, and what they say of these, ascending: the mean where there are several."""
        times, found = np.zeros(len(self.rows), np.int64), []
        for part, out in context.parts:
            if part.blocks:
                times[out] += 1
                places = np.searchsorted(part.asked, out)
                found.append((out, [block._replace(values=block.values[places]) for block in part.blocks]))
        judged = times > 0
        if not found:
            return judged, []
        n_classes, several = self.rows.target.n_classes, bool((times > 1).any())
        blocks = []
        for place, first in enumerate(found[0][1]):
            counts = several and first.said == "votes"
            width = n_classes if counts else first.values.shape[1]
            total = np.zeros((len(times), width))
            for out, said in found:
                total[out] += as_shares(said[place], n_classes) if counts else said[place].values
            mean = total[judged] / times[judged, None]
            blocks.append(Block(first.name, "probabilities" if counts else first.said, mean))
        return judged, blocks

    def _go_on(self, context: Context, wanted: Layer) -> None:
        """From what the layer says to the tables that the next one learns from and is asked about."""
        owner = self.work.owner
        judged, blocks = self._gathered(context)
        if context.learnt is not None and context.layers and len(context.layers) == self.height:
            own = context.layers[-1]
            context.layers[-1] = Layer(own.pools, own.sayings, wanted.link, wanted.kept)
            if context.blocks:
                columns = wanted.columns(context.blocks)
                context.ask = joined(columns, self._passed(context.asked), owner)
        if not judged.any():
            context.learnt = context.learn = None
            return
        assert context.learnt is not None
        context.learnt = context.learnt[judged[context.learnt]]
        places = np.searchsorted(np.flatnonzero(judged), context.learnt)
        context.learn = joined(wanted.columns(blocks)[places], self._passed(context.learnt), owner)

    def _passed(self, rows: Integers) -> Any:
        return None if self.passed is None else self.passed[rows]

    def chains(self) -> list[list[Layer]]:
        """The layers that predict: those of all rows, or of every fold that has all of them."""
        if self.work.refit:
            return [self.top.layers]
        return [part.layers for part, _ in self.top.parts if len(part.layers) == self.height]

    def of_blender(self) -> tuple[TableOfAny, Integers]:
        """The table that the blender learns from, and the rows that it is of."""
        assert self.top.learn is not None
        return self.top.learn, np.asarray(self.top.learnt)

    def blender_folds(self) -> Iterator[tuple[TableOfAny, Integers, TableOfAny, Integers]]:
        """To judge the blender: what it learns without a fold, and what it is then asked: (table, its rows, table, its rows)."""
        for part, out in self.top.parts:
            if part.learn is not None and part.learnt is not None and len(part.layers) == self.height and part.ask is not None:
                places = np.searchsorted(part.asked, out)
                yield part.learn, part.learnt, _part(part.ask, places, self.work.owner), out


def _part(table: TableOfAny, rows: Integers, owner: str) -> TableOfAny:
    """Some rows of a table, as one of their own."""
    return open_table_of(table.take(None, rows), None, owner)
