"""Which rows the members of a layer learn, and which of them the next layer learns from what these members say."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from woodwind.base.errors import DataError, ParameterError
from woodwind.base.streams import integers, key
from woodwind.ensemble.held_out import hold_out
from woodwind.estimators.splits import Asking, Fold, read_folds
from woodwind.estimators.target import Target

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# A bootstrap sample that lacks a class, or leaves no row out, is drawn again so often.
DRAWS = 50
# Folds above members that are taken as they are.
FOLDS_ABOVE = 5


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows that a layer has, by their numbers in the table that `fit` was given."""

    number: Integers  # (n,)
    target: Target
    weight: Floats | None
    groups: Integers | None

    def __len__(self) -> int:
        return len(self.number)

    def at(self, places: Integers | NDArray[np.bool_]) -> "Rows":
        """Some of them."""
        chosen = np.flatnonzero(places) if places.dtype == np.bool_ else places
        of_these = None if self.weight is None else self.weight[chosen]
        return Rows(self.number[chosen], self.target.at(chosen), of_these, None if self.groups is None else self.groups[chosen])


@dataclass(frozen=True, eq=False)
class Holding:
    """How rows are held out, for every layer alike."""

    blending: str
    cv: Any
    share: float
    seed: int
    owner: str
    nested: bool = True

    @classmethod
    def of(cls, values: dict[str, Any], seed: int, owner: str) -> "Holding":
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

    def above(self) -> "Holding":
        """The same for layers whose members are trained here in any case."""
        return replace(self, cv=FOLDS_ABOVE) if self.prefit else self

    def folds(self, X: Any, rows: Rows) -> tuple[Fold, ...]:
        """(Learnt, held out) for each fold, as places among the rows. X is for splitters that look at it."""
        if self.blending == "holdout":
            classes = None if rows.target.classes is None else rows.target.y
            held = hold_out(key(self.seed, "blending"), len(rows), self.share, classes, rows.groups, self.owner)
            return ((np.flatnonzero(~held), np.flatnonzero(held)),)
        if self.blending == "bootstrap":
            return tuple(bootstrap_fold(key(self.seed, "bootstrap", number), rows, self.owner) for number in range(self.cv))
        cv = _among(self.cv, rows.number) if isinstance(self.cv, list) else _with_seed(self.cv, self.seed)
        return read_folds(cv, X, Asking(self.owner, rows.target, rows.groups, self.seed))

    def folds_of_blender(self, X: Any, rows: Rows) -> tuple[Fold, ...] | None:
        """Folds by which a blender may be judged; None where it is to make its own."""
        if self.blending != "folds" or self.prefit:
            return None
        try:
            return self.folds(X, rows)
        except (DataError, ParameterError):  # too few rows are left for that
            return None


def _among(splits: list[Any], present: Integers) -> list[Fold]:
    """Splits that name rows of the whole table, for the rows that are present: those of others are left out."""
    place = {int(number): at for at, number in enumerate(present)}
    out = []
    for learnt, held in splits:
        parts = [np.flatnonzero(part) if part.dtype == np.bool_ else part for part in (np.asarray(learnt), np.asarray(held))]
        learnt_here, held_here = (np.array([place[int(row)] for row in part if int(row) in place], np.int64) for part in parts)
        if learnt_here.size and held_here.size:
            out.append((learnt_here, held_here))
    return out


def _with_seed(cv: Any, seed: int) -> Any:
    """A splitter that shuffles without a seed of its own gets one, so that all layers are split alike and again."""
    if not hasattr(cv, "split") or getattr(cv, "random_state", 0) is not None or getattr(cv, "shuffle", True) is False:
        return cv
    cv = clone(cv, safe=False)
    cv.random_state = key(seed, "shuffle") % (1 << 31)
    return cv


def bootstrap_fold(name: int, rows: Rows, owner: str) -> Fold:
    """A bootstrap sample, of whole groups if there are groups, and the rows that it leaves out; every class is in the sample."""
    n_rows, target = len(rows), rows.target
    groups = np.arange(n_rows) if rows.groups is None else np.unique(rows.groups, return_inverse=True)[1].reshape(-1)
    n_groups = int(groups.max()) + 1
    members = np.split(np.argsort(groups, kind="stable"), np.cumsum(np.bincount(groups))[:-1])
    wanted = 0 if target.classes is None else len(np.unique(target.y))
    for trial in range(DRAWS):
        drawn = np.sort(integers(key(name, trial), n_groups, n_groups))
        learnt = np.concatenate([members[group] for group in drawn])
        held = np.setdiff1d(np.arange(n_rows), learnt)
        if held.size and (target.classes is None or len(np.unique(target.y[learnt])) == wanted):
            return learnt, held
    what = "groups" if rows.groups is not None else "rows"
    raise DataError(
        f"{owner}: of {n_groups} {what}, no bootstrap sample was found that has every class and leaves something out. Use blending='folds'."
    )
