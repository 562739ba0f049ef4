"""The layers of a stack: members that are trained and asked, and the table that the next layer gets from them."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, issparse

from woodwind.base.errors import FoldWarning, ParameterError
from woodwind.base.sound import sound
from woodwind.base.streams import key
from woodwind.data.matrix_form import MatrixForm
from woodwind.ensemble.layers import Block, as_shares, columns_of, telling_columns
from woodwind.estimators.members import TableOfAny
from woodwind.estimators.out_of_fold import out_of_fold
from woodwind.estimators.pool import Named, Pool, Saying, open_table_of, trained_pool
from woodwind.estimators.splits import Fold
from woodwind.estimators.stacking_rows import Holding, Rows

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SAYINGS: dict[str, Saying] = {"predict_proba": "probabilities", "decision_function": "scores", "predict": "votes"}


def sayings_of(named: Sequence[Named], stack_method: str | None, owner: str) -> tuple[Saying, ...]:
    """What each member is asked for; None for numbers."""
    return tuple("numbers" if stack_method is None else SAYINGS[_method_of(member, stack_method, owner)] for member in named)


def _method_of(member: Named, stack_method: str, owner: str) -> str:
    wanted = list(SAYINGS) if stack_method == "auto" else [stack_method]
    for method in wanted:
        if hasattr(member.estimator, method):
            return method
    raise ParameterError(
        f"{owner}: Underlying estimator {member.name} ({type(member.estimator).__name__}) does not implement the method {stack_method}. "
        "Set stack_method='auto', which takes what each member has."
    )


@dataclass(frozen=True, eq=False)
class Work:
    """What all layers need to be trained."""

    holding: Holding
    refit: bool
    seed: int
    threads: int
    owner: str
    verbose: int | bool


@dataclass(frozen=True, eq=False)
class Layer:
    """The trained members of one layer."""

    pools: tuple[Pool, ...]  # one of members that were trained on all rows; or those of folds, of which the mean is taken
    sayings: tuple[Saying, ...]
    link: bool = False
    kept: Integers | None = None  # columns that are passed on; None for all

    def check(self) -> "Layer":
        """All folds have the same members; gives itself, or raises DataError."""
        sound(len(self.pools) > 0 and all(pool.names == self.names for pool in self.pools), "folds have different members")
        sound(len(self.sayings) == len(self.names), "it is not known what members are asked for")
        of_task = all((saying == "numbers") == (self.n_classes == 0) for saying in self.sayings)
        sound(of_task, "members are asked for what is not their task")
        width = sum(self.widths())
        inside = self.kept is None or (self.kept.ndim == 1 and self.kept.size > 0 and ((self.kept >= 0) & (self.kept < width)).all())
        sound(inside, "a column is passed on that is not there")
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """What the members are called."""
        return self.pools[0].names

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 for numbers."""
        return self.pools[0].n_classes

    def blocks(self, X: Any, owner: str, threads: int) -> list[Block]:
        """What the members say of the rows of a table."""
        answers = [_asked(pool, self.sayings, X, owner, threads) for pool in self.pools]
        if len(answers) == 1:
            return answers[0]
        return [mean_of(of_member, self.n_classes) for of_member in zip(*answers, strict=True)]

    def columns(self, blocks: Sequence[Block]) -> Floats:
        """What is passed on of that."""
        whole = np.hstack([columns_of(block, self.n_classes, self.link) for block in blocks])
        return whole if self.kept is None else whole[:, self.kept]

    def widths(self) -> list[int]:
        """Columns of each member, before any is left out."""
        return [1 if saying == "numbers" or self.n_classes == 2 else self.n_classes for saying in self.sayings]


def _asked(pool: Pool, sayings: Sequence[Saying], X: Any, owner: str, threads: int) -> list[Block]:
    """What members say, those that are asked for the same thing together."""
    out: list[Block] = []
    for saying in dict.fromkeys(sayings):
        places = [place for place, one in enumerate(sayings) if one == saying]
        said = pool.only(places).said(X, saying, owner, threads)
        out += [Block(pool.names[place], saying, said[:, at]) for at, place in enumerate(places)]
    order = {name: place for place, name in enumerate(pool.names)}
    return sorted(out, key=lambda block: order[block.name])


def mean_of(blocks: Sequence[Block], n_classes: int) -> Block:
    """What several models of one member say together: of votes, shares."""
    first = blocks[0]
    if len(blocks) == 1:
        return first
    if first.said == "votes":
        return Block(first.name, "probabilities", np.mean([as_shares(block, n_classes) for block in blocks], axis=0))
    return first._replace(values=np.mean([block.values for block in blocks], axis=0))


@dataclass(frozen=True, eq=False)
class Trained:
    """A layer, and what it says of rows that its members have not learnt."""

    layer: Layer
    blocks: list[Block]  # of the judged rows
    judged: NDArray[np.bool_]  # among the rows of the layer
    folds: tuple[Fold, ...]  # as places among the rows of the layer; none where members are taken as they are


def train_layer(named: Sequence[Named], sayings: tuple[Saying, ...], table: TableOfAny, rows: Rows, work: Work, depth: int) -> Trained:
    """Train a layer: copies of the members in folds, for the next layer to learn from; then once more on all rows."""
    folds = work.holding.folds(table.X, rows)
    seed = key(work.seed, "layer", depth)
    asked: dict[str, Block] = {}
    pools: list[list[Named]] = [[] for _ in folds]
    judged = np.zeros(len(rows), np.bool_)
    for _, held in folds:
        judged[held] = True
    for saying in dict.fromkeys(sayings):
        some = [member for member, one in zip(named, sayings, strict=True) if one == saying]
        with warnings.catch_warnings():
            # A stack that holds out some rows only, or heeds time, is meant to do so.
            warnings.filterwarnings("ignore", message=".*held out by no fold", category=FoldWarning)
            found = out_of_fold(
                some,
                table,
                rows.target,
                cv=folds,
                groups=rows.groups,
                weight=rows.weight,
                kind=saying,
                seed=seed,
                threads=work.threads,
                owner=work.owner,
                keep=not work.refit,
                verbose=work.verbose,
            )
        asked |= {member.name: Block(member.name, saying, found.said[judged, place]) for place, member in enumerate(some)}
        for place, pool in enumerate(found.pools):
            pools[place] += pool.named()
    order = [member.name for member in named]
    if work.refit:
        done: tuple[Pool, ...] = (_refitted(named, table, rows, work, seed),)
    else:
        done = tuple(_in_order(pool, order, table, rows, work.owner) for pool in pools)
    return Trained(Layer(done, sayings), [asked[name] for name in order], judged, folds)


def _refitted(named: Sequence[Named], table: TableOfAny, rows: Rows, work: Work, seed: int) -> Pool:
    return trained_pool(
        named,
        table,
        rows.target,
        rows.weight,
        seed=seed,
        threads=work.threads,
        owner=work.owner,
        verbose=work.verbose,
    )


def _in_order(members: list[Named], order: list[str], table: TableOfAny, rows: Rows, owner: str) -> Pool:
    """Models of one fold that were trained in several goes, in the order of the members."""
    by_name = {member.name: member for member in members}
    return Pool.of_fitted([by_name[name] for name in order], table.header, rows.target.classes, owner)


def taken_layer(named: Sequence[Named], sayings: tuple[Saying, ...], table: TableOfAny, rows: Rows, work: Work) -> Trained:
    """A layer of members that somebody has trained: all rows are new to them."""
    pool = Pool.of_fitted(named, table.header, rows.target.classes, work.owner)
    layer = Layer((pool,), sayings)
    return Trained(layer, layer.blocks(table, work.owner, work.threads), np.ones(len(rows), np.bool_), ())


def telling(layer: Layer, blocks: Sequence[Block]) -> Integers:
    """The columns of a layer that say anything that no other says."""
    return telling_columns(layer.columns(blocks))


@dataclass(frozen=True, eq=False)
class Passage:
    """How the table itself is passed on, above the first layer."""

    form: MatrixForm | None  # None where a sparse matrix stays one

    @classmethod
    def learn(cls, table: TableOfAny, owner: str) -> "Passage":
        """Look at the training table. Numbers stay as they are; gaps are filled and marked, and levels become indicators."""
        return cls(None if issparse(table.X) else MatrixForm.learn(table.X, scale=False, owner=owner))

    def of(self, table: TableOfAny, owner: str) -> Any:
        """A table as numbers (n, c)."""
        return csr_array(table.X) if self.form is None else self.form.of(table.X, owner)

    def names(self, table_names: Sequence[str]) -> list[str]:
        """What its columns are called."""
        return list(table_names) if self.form is None else list(self.form.names)


def joined(columns: Floats, passed: Any, owner: str) -> TableOfAny:
    """The table of the next layer: what members say, then the table that is passed through, if it is."""
    if passed is None:
        return open_table_of(columns, None, owner)
    both = hstack([csr_array(columns), passed], format="csr") if issparse(passed) else np.hstack([columns, passed])
    return open_table_of(both, None, owner)
