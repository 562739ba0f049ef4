"""What is drawn for each member of a bag or a forest: rows and columns by bootstrap, pasting, random subspaces and random patches; targets.

Breiman 1996 and 1999 draw rows, with and without replacement; Ho 1998 draws columns; Louppe & Geurts 2012 draw both. A draw is named by
(seed, member), so that it depends neither on the other members nor on the order in which they are trained, and need not be stored.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from woodwind.base.random_streams import choose, hashes, integers, key, uniform
from woodwind.base.validate import require, require_array
from woodwind.kernels.runtime.keys import count_bootstrap, draw_exact

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Counts = NDArray[np.int32]  # as kernels take them
Classes = NDArray[np.int32]
# Rows are numbered by 32 bits.
MOST = 1 << 31


@dataclass(frozen=True, eq=False)
class Resampling:
    """How rows and columns are drawn.

    A row may stand for several (a whole weight), and then it is drawn as often as those would be; one that stands for none is
    never drawn. With `probability` rows are drawn in proportion to it instead.
    """

    YOUNGER: ClassVar[tuple[str, ...]] = ("n_fragments",)  # files of earlier versions have none

    seed: int
    n_rows: int
    n_draws: int  # rows drawn for each member
    replace: bool
    n_columns: int = 0
    n_drawn_columns: int = 0
    replace_columns: bool = False
    units: Integers | None = None  # (n_rows,) how many rows each stands for; None for one each
    probability: Floats | None = None  # (n_rows,) how likely each of those is drawn; None: all alike
    n_fragments: int = 0  # with so many members, each sees a part of the rows that no other one sees; 0: parts overlap

    def check(self) -> "Resampling":
        """Numbers of rows and columns are such, and can be drawn; returns self, or raises DataError."""
        counts = (self.n_rows, self.n_draws, self.n_columns, self.n_drawn_columns)
        require(all(0 <= count < MOST for count in counts), "there are too many rows to draw from")
        # Also with replacement: whoever asks which columns a member sees is given a list of so many.
        require(self.n_drawn_columns <= self.n_columns, "more columns are drawn than there are")
        require(self.n_drawn_columns > 0 or self.n_columns == 0, "no columns are drawn")
        require(not self.replace_columns or self.n_columns > 0, "columns are drawn where there are none")
        if self.units is not None:
            require_array(self.units, (self.n_rows,), "the units of rows")
            require((self.units >= 0) & (self.units < MOST), "a row stands for an impossible number of rows")
            require(int(self.units.sum()) < MOST, "there are too many rows to draw from")
        if self.probability is not None:
            require_array(self.probability, (self.n_rows,), "the probabilities of rows")
            require(self.probability >= 0.0, "a probability is below zero")
        require(self.replace or self.n_draws <= self.n_units, "more rows are drawn than there are")
        require(0 <= self.n_fragments <= self.n_units, "there are more fragments than rows")
        return self

    @property
    def n_units(self) -> int:
        """Number of rows, each as often as it stands for one."""
        return self.n_rows if self.units is None else int(self._ends[-1])

    @property
    def all_columns(self) -> bool:
        """Whether every member sees every column once."""
        return not self.replace_columns and self.n_drawn_columns == self.n_columns

    @property
    def leaves_rows_out(self) -> bool:
        """Whether a member may miss rows."""
        return self.replace or self.n_draws < self.n_units

    def counts(self, member: int) -> Counts:
        """How often each row was drawn (n_rows,)."""
        name = key(self.seed, "rows", member)
        drawn = self._alike(name, member) if self.probability is None else self._by_chance(name)
        if self.units is None:
            return drawn
        up_to = np.concatenate([[0], np.cumsum(drawn)])[self._ends]
        return np.diff(up_to, prepend=0).astype(np.int32)

    def rows(self, member: int) -> Integers:
        """The rows of a member, ascending, a row as often as it was drawn."""
        return np.repeat(np.arange(self.n_rows), self.counts(member))

    def unseen(self, member: int) -> NDArray[np.int32]:
        """The rows that could be drawn for a member, but were not: out of its bag."""
        out = self.counts(member) == 0
        if self.units is not None:
            out &= self.units > 0
        return np.flatnonzero(out).astype(np.int32)

    def columns(self, member: int) -> Integers:
        """The columns of a member, ascending, a column as often as it was drawn."""
        name = key(self.seed, "columns", member)
        if not self.replace_columns:
            return choose(name, self.n_columns, self.n_drawn_columns)
        return np.sort(integers(name, self.n_columns, self.n_drawn_columns))

    def _alike(self, name: int, member: int) -> Counts:
        """How often each unit was drawn, where all are as likely."""
        drawn = np.ones(self.n_units, np.int32)
        if self.n_fragments:
            return np.asarray(drawn * (self._fragment == member), np.int32)
        if self.replace:
            count_bootstrap(name, self.n_units, self.n_draws, drawn)
        elif self.n_draws < self.n_units:
            chosen = np.empty(self.n_draws, np.int32)
            draw_exact(name, self.n_units, self.n_draws, chosen)
            drawn[:] = 0
            drawn[chosen] = 1
        return drawn

    def _by_chance(self, name: int) -> Counts:
        """The same where each has a probability of its own."""
        if self.replace:
            where = uniform(name, self.n_draws) * self._probability_ends[-1]
            # Rounding must not lead behind the last row that has a probability.
            positions = np.minimum(np.searchsorted(self._probability_ends, where, side="right"), np.flatnonzero(self._unit_probability)[-1])
        else:
            # Efraimidis & Spirakis 2006: those with the largest u**(1/probability) are a draw in proportion to the probabilities, one after
            # another.
            with np.errstate(divide="ignore"):
                rank = np.log(uniform(name, self.n_units)) / self._unit_probability
            positions = np.argpartition(-rank, self.n_draws - 1)[: self.n_draws]
        return np.bincount(positions, minlength=self.n_units).astype(np.int32)

    @cached_property
    def _fragment(self) -> Counts:
        """The fragment of every unit: those in the order of their hashes are dealt out like cards, so that sizes differ by one at most."""
        fragment = np.empty(self.n_units, np.int32)
        order = np.argsort(hashes(key(self.seed, "fragments"), self.n_units), kind="stable")
        fragment[order] = np.arange(self.n_units) % self.n_fragments
        return fragment

    @cached_property
    def _ends(self) -> Integers:
        """How many rows there are up to each."""
        assert self.units is not None
        return np.cumsum(self.units)

    @cached_property
    def _unit_probability(self) -> Floats:
        assert self.probability is not None
        return self.probability if self.units is None else np.repeat(self.probability, self.units)

    @cached_property
    def _probability_ends(self) -> Floats:
        return np.cumsum(self._unit_probability)


# ----------------------------------------------------------------------------------------------------
# Out of the bag: what the members of an ensemble predict for rows that they have not seen (Breiman 1996, "Out-of-bag estimation").


@dataclass(frozen=True, eq=False)
class OutOfBag:
    """What the members that have not seen a row say of it."""

    total: Floats  # (n, ...) sum of what they predict
    voters: Integers  # (n,) how many they are

    @classmethod
    def nobody(cls, n_rows: int, width: int) -> "OutOfBag":
        """Before the first member, of which each says so many numbers of a row."""
        return cls(np.zeros((n_rows, width)), np.zeros(n_rows, np.int64))

    @property
    def silent(self) -> Integers:
        """Rows that every member has seen."""
        return np.flatnonzero(self.voters == 0)

    def mean(self) -> Floats:
        """The mean of what they predict (n, ...); NaN for rows that every member has seen."""
        out = self.total / np.maximum(self.voters, 1)[:, None]
        out[self.silent] = np.nan
        return out


class OutOfBagError(NamedTuple):
    """Estimates of the squared error of a bag, from rows out of the bag."""

    error: float  # of the members that have not seen a row, which are fewer than all
    corrected: float  # of all members: see `out_of_bag_error`
    standard_error: float  # of the corrected one


def out_of_bag_error(answers: Iterable[tuple[Integers, Floats]], truth: Floats, weight: Floats | None, n_members: int) -> OutOfBagError:
    """The squared error of the mean of all members, estimated by the members that have not seen a row.

    The idea is that of Wolpert & Macready (1999); docs/algorithms/bagging.md says what of it is theirs, and derives the correction.
    For a row of which m of the M members are asked, the squared error of their mean has the variance of a member over m where that of all
    has it over M. The variance is estimated from the m answers, and s² (1/m - 1/M) is taken away. Rows that fewer than two members have
    not seen do not count. `truth` is (n, width): numbers, or indicators of the classes.
    """
    total, squares, voters = np.zeros_like(truth), np.zeros_like(truth), np.zeros(len(truth), np.int64)
    for rows, answer in answers:
        shifted = answer - truth[rows]  # small numbers: sums of their squares lose little
        total[rows] += shifted
        squares[rows] += shifted**2
        voters[rows] += 1
    some = np.flatnonzero((voters > 1) & (np.ones(len(truth), np.bool_) if weight is None else weight > 0.0))
    if some.size == 0:
        return OutOfBagError(np.nan, np.nan, np.nan)
    m, mean = voters[some, None], total[some] / voters[some, None]
    variance = np.maximum(squares[some] - m * mean**2, 0.0) / (m - 1)
    plain = (mean**2).sum(axis=1)
    corrected = plain - (variance * (1.0 / m - 1.0 / n_members)).sum(axis=1)
    share = np.full(some.size, 1.0 / some.size) if weight is None else weight[some] / weight[some].sum()
    estimate = float(share @ corrected)
    # Of a mean by weights, with as many rows as weights as uneven as these are worth.
    rows_worth = 1.0 / float((share**2).sum())
    spread = float(share @ (corrected - estimate) ** 2) * rows_worth / max(rows_worth - 1.0, 1.0)
    return OutOfBagError(float(share @ plain), estimate, float(np.sqrt(spread / rows_worth)))


def out_of_bag(answers: Iterable[tuple[Integers, Floats]], n_rows: int, width: int) -> OutOfBag:
    """Add up answers: for each member the rows that it has not seen, and what it predicts for them (rows, width)."""
    found = OutOfBag.nobody(n_rows, width)
    for rows, answer in answers:
        found.total[rows] += answer
        found.voters[rows] += 1
    return found


# ----------------------------------------------------------------------------------------------------
# Diversity from the side of the outputs: each member learns from a target of its own (Breiman 2000, "Randomizing outputs to increase
# prediction accuracy"), or with parameters of its own.


def class_probabilities(classes: NDArray[Any], weight: Floats | None, n_classes: int) -> Floats:
    """The share of each class."""
    totals = np.bincount(classes, weights=weight, minlength=n_classes).astype(np.float64)
    return np.asarray(totals / totals.sum())


def flip_probabilities(frequencies: Floats, rate: float) -> Floats:
    """The probability (K, K) of a row of class i to become one of class j: w p_j, where w makes `rate` of all rows change their class.

    sum over i of p_i w p_j = w p_j (1 - p_j) for i other than j is also what class j loses, so the class probabilities are kept on
    average. At w = 1, which is a rate of 1 - sum p_j ** 2, labels no longer depend on the rows: there is no larger rate.
    """
    w = min(rate / largest_rate(frequencies), 1.0)
    probabilities = w * np.tile(frequencies, (len(frequencies), 1))
    np.fill_diagonal(probabilities, 1.0 - w * (1.0 - frequencies))
    return probabilities


def largest_rate(frequencies: Floats) -> float:
    """The share of rows that change their class when labels are dealt out anew."""
    return float(1.0 - (frequencies * frequencies).sum())


def flipped(classes: Classes, frequencies: Floats, rate: float, seed: int, member: int) -> Classes:
    """Labels of which about `rate` have become another class."""
    ends = np.cumsum(flip_probabilities(frequencies, rate), axis=1)
    return picked(ends[classes], uniform(key(seed, "flip", member), len(classes)))


def smeared_targets(y: Floats, spread: float, smear: float, seed: int, member: int) -> Floats:
    """Numbers with noise of a normal law, of `smear` times the standard deviation `spread`."""
    return y + smear * spread * normal(key(seed, "smear", member), len(y))


def smeared_classes(classes: Classes, frequencies: Floats, smear: float, seed: int, member: int) -> Classes:
    """Labels drawn from smeared indicators of the classes.

    Each class has a column that is one in its rows and zero in others, of standard deviation sqrt(p (1 - p)). To it comes noise of a
    normal law, of `smear` times that; what is below zero becomes zero, and the columns of a row are divided by their sum. These are
    the probabilities from which the label is drawn. A row without any probability keeps its label.
    """
    spread = np.sqrt(frequencies * (1.0 - frequencies))
    indicator = np.zeros((len(classes), len(frequencies)))
    indicator[np.arange(len(classes)), classes] = 1.0
    for k in range(len(frequencies)):
        indicator[:, k] += smear * spread[k] * normal(key(seed, "smear", member, k), len(classes))
    np.maximum(indicator, 0.0, out=indicator)
    ends = np.cumsum(indicator, axis=1)
    drawn = picked(ends, uniform(key(seed, "smeared label", member), len(classes)) * ends[:, -1])
    return np.where(ends[:, -1] > 0.0, drawn, classes).astype(np.int32)


def picked(ends: Floats, where: Floats) -> Classes:
    """The first position of each row whose running sum is above a number."""
    last = ends.shape[1] - 1
    return np.asarray(np.minimum((ends <= where[:, None]).sum(axis=1), last), np.int32)


def normal(name: int, count: int) -> Floats:
    """Numbers of the standard normal law, one per item, by Box & Muller 1958: two uniform numbers give one."""
    radius = np.sqrt(-2.0 * np.log1p(-uniform(key(name, "radius"), count)))
    return np.asarray(radius * np.cos(2.0 * np.pi * uniform(key(name, "angle"), count)))


def drawn_parameters(distributions: Mapping[str, Any], seed: int, member: int) -> dict[str, Any]:
    """Parameters of a member: one of a list, or what the `rvs` of a distribution gives."""
    return {name: _drawn(options, key(seed, "parameter", name, member)) for name, options in distributions.items()}


def _drawn(options: Any, name: int) -> Any:
    if hasattr(options, "rvs"):
        # Distributions of SciPy take a generator of NumPy: one that is made for this draw alone.
        value = options.rvs(random_state=np.random.RandomState(name % (1 << 32)))
        return value.item() if isinstance(value, np.generic) or getattr(value, "ndim", None) == 0 else value
    # A column of a table has labels of its own, by which it would be asked.
    value = getattr(options, "iloc", options)[int(integers(name, len(options), 1)[0])]
    return value.item() if isinstance(value, np.generic) else value
