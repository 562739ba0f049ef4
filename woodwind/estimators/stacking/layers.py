"""The layers of a stack: members that are trained and asked, and the table that the next layer gets from them."""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, issparse
from sklearn.base import clone

from woodwind.base.errors import DataError, FoldWarning, ParameterError
from woodwind.base.random_streams import integers, key
from woodwind.base.validate import require
from woodwind.data.tables.matrix_form import MatrixForm
from woodwind.ensemble.held_out import hold_out
from woodwind.ensemble.layers import LayerColumns, as_probabilities, columns_of, members_mean, telling_columns
from woodwind.estimators.base.splits import Fold, SplitRequest, read_folds
from woodwind.estimators.base.target import Target
from woodwind.estimators.pools.members import AnyTable
from woodwind.estimators.pools.out_of_fold import out_of_fold
from woodwind.estimators.pools.pool import NamedMember, Pool, Response, open_table_of, trained_pool
from woodwind.estimators.stacking.stacking_scores import Score

# ----------------------------------------------------------------------------------------------------
# Which rows the members of a layer learn, and which of them the next layer learns from what these members say.


Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# A bootstrap sample that lacks a class, or leaves no row out, is drawn again so often.
DRAWS = 50
# Folds above members that are taken as they are.
FOLDS_ABOVE = 5


@dataclass(frozen=True, eq=False)
class LayerRows:
    """The rows that a layer has, by their numbers in the table that `fit` was given."""

    number: Integers  # (n,)
    target: Target
    weight: Floats | None
    groups: Integers | None

    def __len__(self) -> int:
        return len(self.number)

    def at(self, positions: Integers | NDArray[np.bool_]) -> "LayerRows":
        """Some of them."""
        chosen = np.flatnonzero(positions) if positions.dtype == np.bool_ else positions
        of_these = None if self.weight is None else self.weight[chosen]
        return LayerRows(self.number[chosen], self.target.at(chosen), of_these, None if self.groups is None else self.groups[chosen])


@dataclass(frozen=True, eq=False)
class HoldoutPlan:
    """How rows are held out, for every layer alike."""

    blending: str
    cv: Any
    share: float
    seed: int
    owner: str
    nested: bool = True

    @classmethod
    def of(cls, values: dict[str, Any], seed: int, owner: str) -> "HoldoutPlan":
        """Read the parameters; what cannot be is refused here."""
        cv, blending = values["cv"], values["blending"]
        if blending == "bootstrap" and (isinstance(cv, bool) or not isinstance(cv, int | np.integer) or cv < 1):
            raise ParameterError(f"{owner}: with blending='bootstrap', cv is the number of samples, at least 1, but it is {cv!r}.")
        if isinstance(cv, str):
            if cv != "prefit":
                raise ParameterError(f"{owner}: cv must be a number, a splitter, an iterable of splits or 'prefit', but it is {cv!r}.")
            if blending != "folds":
                raise ParameterError(f"{owner}: cv='prefit' takes members as they are, so that blending={blending!r} has nothing to train.")
        elif isinstance(cv, Iterable) and not hasattr(cv, "split"):
            cv = list(cv)  # whoever gives a generator is asked once
        return cls(blending, cv, values["validation_fraction"], seed, owner, values["nested_folds"])

    @property
    def prefit(self) -> bool:
        """Whether members of the first layer are taken as they are."""
        return isinstance(self.cv, str)

    @property
    def nests(self) -> bool:
        """Whether layers are trained again without each fold; where rows are held out once, what is held out is new to all below."""
        return self.nested and self.blending != "holdout" and not (self.blending == "bootstrap" and self.cv == 1)

    def above(self) -> "HoldoutPlan":
        """The same for layers whose members are trained here in any case."""
        return replace(self, cv=FOLDS_ABOVE) if self.prefit else self

    def folds(self, X: Any, rows: LayerRows) -> tuple[Fold, ...]:
        """(Learned, held out) for each fold, as positions among the rows. X is for splitters that look at it."""
        if self.blending == "holdout":
            classes = None if rows.target.classes is None else rows.target.y
            held = hold_out(key(self.seed, "blending"), len(rows), self.share, classes, rows.groups, self.owner)
            return ((np.flatnonzero(~held), np.flatnonzero(held)),)
        if self.blending == "bootstrap":
            return tuple(bootstrap_fold(key(self.seed, "bootstrap", number), rows, self.owner) for number in range(self.cv))
        cv = _among(self.cv, rows.number) if isinstance(self.cv, list) else _with_seed(self.cv, self.seed)
        return read_folds(cv, X, SplitRequest(self.owner, rows.target, rows.groups, self.seed))

    def folds_of_blender(self, X: Any, rows: LayerRows) -> tuple[Fold, ...] | None:
        """Folds by which a blender may be scored; None where it is to make its own."""
        if self.blending != "folds" or self.prefit:
            return None
        try:
            return self.folds(X, rows)
        except (DataError, ParameterError):  # too few rows are left for that
            return None


def _among(splits: list[Any], present: Integers) -> list[Fold]:
    """Splits that name rows of the whole table, for the rows that are present: those of others are left out."""
    position = {int(number): at for at, number in enumerate(present)}
    out = []
    for train_rows, held in splits:
        parts = [np.flatnonzero(part) if part.dtype == np.bool_ else part for part in (np.asarray(train_rows), np.asarray(held))]
        train_rows_here, held_here = (np.array([position[int(row)] for row in part if int(row) in position], np.int64) for part in parts)
        if train_rows_here.size and held_here.size:
            out.append((train_rows_here, held_here))
    return out


def _with_seed(cv: Any, seed: int) -> Any:
    """A splitter that shuffles without a seed of its own gets one, so that all layers are split alike and again."""
    if not hasattr(cv, "split") or getattr(cv, "random_state", 0) is not None or getattr(cv, "shuffle", True) is False:
        return cv
    cv = clone(cv, safe=False)
    cv.random_state = key(seed, "shuffle") % (1 << 31)
    return cv


def bootstrap_fold(name: int, rows: LayerRows, owner: str) -> Fold:
    """A bootstrap sample, of whole groups if there are groups, and the rows that it leaves out; every class is in the sample."""
    n_rows, target = len(rows), rows.target
    groups = np.arange(n_rows) if rows.groups is None else np.unique(rows.groups, return_inverse=True)[1].reshape(-1)
    n_groups = int(groups.max()) + 1
    members = np.split(np.argsort(groups, kind="stable"), np.cumsum(np.bincount(groups))[:-1])
    wanted = 0 if target.classes is None else len(np.unique(target.y))
    for trial in range(DRAWS):
        drawn = np.sort(integers(key(name, trial), n_groups, n_groups))
        train_rows = np.concatenate([members[group] for group in drawn])
        held = np.setdiff1d(np.arange(n_rows), train_rows)
        if held.size and (target.classes is None or len(np.unique(target.y[train_rows])) == wanted):
            return train_rows, held
    what = "groups" if rows.groups is not None else "rows"
    raise DataError(
        f"{owner}: of {n_groups} {what}, no bootstrap sample was found that has every class and leaves something out. Use blending='folds'."
    )


RESPONSES: dict[str, Response] = {"predict_proba": "probabilities", "decision_function": "scores", "predict": "votes"}


def predictions_of(named: Sequence[NamedMember], stack_method: str | None, owner: str) -> tuple[Response, ...]:
    """What each member is asked for; None for numbers."""
    return tuple("numbers" if stack_method is None else RESPONSES[_method_of(member, stack_method, owner)] for member in named)


def _method_of(member: NamedMember, stack_method: str, owner: str) -> str:
    wanted = list(RESPONSES) if stack_method == "auto" else [stack_method]
    for method in wanted:
        if hasattr(member.estimator, method):
            return method
    raise ParameterError(
        f"{owner}: Underlying estimator {member.name} ({type(member.estimator).__name__}) does not implement the method {stack_method}. "
        "Set stack_method='auto', which takes what each member has."
    )


@dataclass(frozen=True, eq=False)
class LayerWork:
    """What all layers need to be trained."""

    holding: HoldoutPlan
    refit: bool
    seed: int
    threads: int
    owner: str
    verbose: int | bool


@dataclass(frozen=True, eq=False)
class StackingLayer:
    """The trained members of one layer."""

    pools: tuple[Pool, ...]  # one of members that were trained on all rows; or those of folds, of which the mean is taken
    responses: tuple[Response, ...]
    link: bool = False
    kept: Integers | None = None  # columns that are passed on; None for all

    def check(self) -> "StackingLayer":
        """All folds have the same members; returns self, or raises DataError."""
        require(len(self.pools) > 0 and all(pool.names == self.names for pool in self.pools), "folds have different members")
        require(len(self.responses) == len(self.names), "it is not known what members are asked for")
        of_task = all((response == "numbers") == (self.n_classes == 0) for response in self.responses)
        require(of_task, "members are asked for what is not their task")
        width = sum(self.widths())
        inside = self.kept is None or (self.kept.ndim == 1 and self.kept.size > 0 and ((self.kept >= 0) & (self.kept < width)).all())
        require(inside, "a column is passed on that is not there")
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """What the members are called."""
        return self.pools[0].names

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 for numbers."""
        return self.pools[0].n_classes

    def blocks(self, X: Any, owner: str, threads: int) -> list[LayerColumns]:
        """What the members predict for the rows of a table."""
        answers = [_asked(pool, self.responses, X, owner, threads) for pool in self.pools]
        if len(answers) == 1:
            return answers[0]
        return [mean_of(of_member, self.n_classes) for of_member in zip(*answers, strict=True)]

    def columns(self, blocks: Sequence[LayerColumns]) -> Floats:
        """What is passed on of that."""
        whole = np.hstack([columns_of(block, self.n_classes, self.link) for block in blocks])
        return whole if self.kept is None else whole[:, self.kept]

    def widths(self) -> list[int]:
        """Columns of each member, before any is left out."""
        return [1 if response == "numbers" or self.n_classes == 2 else self.n_classes for response in self.responses]


def _asked(pool: Pool, responses: Sequence[Response], X: Any, owner: str, threads: int) -> list[LayerColumns]:
    """What members predict, those that are asked for the same thing together."""
    out: list[LayerColumns] = []
    for response in dict.fromkeys(responses):
        positions = [position for position, one in enumerate(responses) if one == response]
        predicted = pool.only(positions).predicted(X, response, owner, threads)
        out += [LayerColumns(pool.names[position], response, predicted[:, at]) for at, position in enumerate(positions)]
    order = {name: position for position, name in enumerate(pool.names)}
    return sorted(out, key=lambda block: order[block.name])


def mean_of(blocks: Sequence[LayerColumns], n_classes: int) -> LayerColumns:
    """What several models of one member say together: of votes, shares."""
    first = blocks[0]
    if len(blocks) == 1:
        return first
    if first.predicted == "votes":
        return LayerColumns(first.name, "probabilities", np.mean([as_probabilities(block, n_classes) for block in blocks], axis=0))
    return first._replace(values=np.mean([block.values for block in blocks], axis=0))


@dataclass(frozen=True, eq=False)
class TrainedLayer:
    """A layer, and what it predicts for rows that its members have not been trained on."""

    layer: StackingLayer
    blocks: list[LayerColumns]  # of the scored rows
    scored: NDArray[np.bool_]  # among the rows of the layer
    folds: tuple[Fold, ...]  # as positions among the rows of the layer; none where members are taken as they are


def train_layer(
    named: Sequence[NamedMember], responses: tuple[Response, ...], table: AnyTable, rows: LayerRows, work: LayerWork, depth: int
) -> TrainedLayer:
    """Train a layer: copies of the members in folds, for the next layer to learn from; then once more on all rows."""
    folds = work.holding.folds(table.X, rows)
    seed = key(work.seed, "layer", depth)
    asked: dict[str, LayerColumns] = {}
    pools: list[list[NamedMember]] = [[] for _ in folds]
    scored = np.zeros(len(rows), np.bool_)
    for _, held in folds:
        scored[held] = True
    for response in dict.fromkeys(responses):
        some = [member for member, one in zip(named, responses, strict=True) if one == response]
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
                kind=response,
                seed=seed,
                threads=work.threads,
                owner=work.owner,
                keep=not work.refit,
                verbose=work.verbose,
            )
        asked |= {
            member.name: LayerColumns(member.name, response, found.predicted[scored, position]) for position, member in enumerate(some)
        }
        for position, pool in enumerate(found.pools):
            pools[position] += pool.named()
    order = [member.name for member in named]
    if work.refit:
        done: tuple[Pool, ...] = (_refitted(named, table, rows, work, seed),)
    else:
        done = tuple(_in_order(pool, order, table, rows, work.owner) for pool in pools)
    return TrainedLayer(StackingLayer(done, responses), [asked[name] for name in order], scored, folds)


def _refitted(named: Sequence[NamedMember], table: AnyTable, rows: LayerRows, work: LayerWork, seed: int) -> Pool:
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


def _in_order(members: list[NamedMember], order: list[str], table: AnyTable, rows: LayerRows, owner: str) -> Pool:
    """Models of one fold that were trained in several goes, in the order of the members."""
    by_name = {member.name: member for member in members}
    return Pool.of_fitted([by_name[name] for name in order], table.header, rows.target.classes, owner)


def taken_layer(
    named: Sequence[NamedMember], responses: tuple[Response, ...], table: AnyTable, rows: LayerRows, work: LayerWork
) -> TrainedLayer:
    """A layer of members that somebody has trained: all rows are new to them."""
    pool = Pool.of_fitted(named, table.header, rows.target.classes, work.owner)
    layer = StackingLayer((pool,), responses)
    return TrainedLayer(layer, layer.blocks(table, work.owner, work.threads), np.ones(len(rows), np.bool_), ())


def meta_features(layer: StackingLayer, blocks: Sequence[LayerColumns]) -> Integers:
    """The columns of a layer that say anything that no other says."""
    return telling_columns(layer.columns(blocks))


@dataclass(frozen=True, eq=False)
class Passthrough:
    """How the table itself is passed on, above the first layer."""

    form: MatrixForm | None  # None where a sparse matrix stays one

    @classmethod
    def learn(cls, table: AnyTable, owner: str) -> "Passthrough":
        """Look at the training table. Numbers stay as they are; gaps are filled and marked, and categories become indicators."""
        return cls(None if issparse(table.X) else MatrixForm.learn(table.X, scale=False, owner=owner))

    def of(self, table: AnyTable, owner: str) -> Any:
        """A table as numbers (n, c)."""
        return csr_array(table.X) if self.form is None else self.form.of(table.X, owner)

    def names(self, table_names: Sequence[str]) -> list[str]:
        """What its columns are called."""
        return list(table_names) if self.form is None else list(self.form.names)


def joined(columns: Floats, passed: Any, owner: str) -> AnyTable:
    """The table of the next layer: what members predict, then the table that is passed through, if it is."""
    if passed is None:
        return open_table_of(columns, None, owner)
    both = hstack([csr_array(columns), passed], format="csr") if issparse(passed) else np.hstack([columns, passed])
    return open_table_of(both, None, owner)


# ----------------------------------------------------------------------------------------------------
# What is written down while the layers of a stack are trained.


class StackingPlan(NamedTuple):
    """What is to be trained, and where results are written down."""

    layers: list[tuple[list[NamedMember], tuple[Response, ...]]]
    values: dict[str, Any]
    score: Score
    kept: "TrainingRecord"


class TrainingRecord:
    """What is written down while layers are trained, by the numbers that rows have in the table of `fit`."""

    def __init__(self, n_rows: int, wanted: bool) -> None:
        self.n_rows, self.wanted = n_rows, wanted
        self.folds: list[list[Fold]] = []
        self.member_scores: list[dict[str, float]] = []
        self.layer_scores: list[float] = []
        self.predictions: list[Floats] = []
        self.probabilities: list[Floats] = []  # what each layer predicts together, and last the blender

    def layer(self, trained: TrainedLayer, layer: StackingLayer, columns: Floats, rows: LayerRows, score: Score) -> None:
        """A layer was trained on such rows."""
        scored, n_classes = rows.at(trained.scored), layer.n_classes
        self.folds.append([(rows.number[train_rows], rows.number[held]) for train_rows, held in trained.folds])
        scores = {block.name: score(as_probabilities(block, n_classes), scored.target, scored.weight) for block in trained.blocks}
        self.member_scores.append(scores)
        together = members_mean(trained.blocks, n_classes)
        self.layer_scores.append(score(together, scored.target, scored.weight))
        if self.wanted:
            self.probabilities.append(self._spread(together, scored.number))
            self.predictions.append(self._spread(columns, scored.number))

    def blender(self, predicted: Floats, rows: LayerRows, score: Score) -> None:
        """The blender was scored."""
        scored: NDArray[np.bool_] = np.asarray(~np.isnan(predicted).any(axis=1))
        seen = rows.at(scored)
        self.layer_scores.append(score(predicted[scored], seen.target, seen.weight))
        out = self._spread(predicted, rows.number)
        self.probabilities.append(out)
        self.predictions.append(out if rows.target.classes is not None else out[:, 0])

    def _spread(self, values: Floats, numbers: Integers) -> Floats:
        out = np.full((self.n_rows, values.shape[1]), np.nan)
        out[numbers] = values
        return out
