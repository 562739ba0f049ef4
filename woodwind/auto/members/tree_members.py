"""Members of trees: what each of them adds to the score of a row.

All members of a model speak on one scale, on which they are added up: for numbers that of the target, for two classes the log-odds of the
second one, for more classes a score for each, of which the softmax is taken. A sum of trees is linear in its trees and a blend is linear in
its members, so that explanations of a blend are exact sums of explanations of trees.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.members.view import View
from woodwind.base.errors import DataError
from woodwind.base.validate import require
from woodwind.data.tables.matrix_form import MatrixForm
from woodwind.data.tables.schema import Schema
from woodwind.tree.compact_forest import CompactForest
from woodwind.tree.forest import Forest

Floats = NDArray[np.float64]


class Member(Protocol):
    """A trained model that scores rows."""

    def scores(self, view: View, threads: int = 1) -> Floats:
        """Scores (n, width), on the scale on which members are added up."""

    @property
    def width(self) -> int:
        """Scores of a row."""

    def check_for(self, schema: Schema, form: MatrixForm) -> None:
        """Raise DataError unless it reads tables of this schema, or their matrix."""


@dataclass(frozen=True, eq=False)
class ForestMember:
    """Boosted trees: their raw score."""

    forest: Forest

    @property
    def width(self) -> int:
        """Scores of a row."""
        return self.forest.n_outputs

    def scores(self, view: View, threads: int = 1) -> Floats:
        """Start and trees, added up."""
        return self.forest.raw(view.table, threads)

    def check(self) -> "ForestMember":
        """Raise DataError where something does not fit."""
        self.forest.check()
        return self

    def check_for(self, schema: Schema, form: MatrixForm) -> None:
        """Raise DataError unless the features are those of the schema."""
        del form
        counts = schema.code_counts
        require(self.forest.n_features == len(counts), "trees read another number of features than there are")
        require(self.forest.set_words == -(-counts // 64), "trees part categories that are not those of the columns")


@dataclass(frozen=True, eq=False)
class CompactForestMember:
    """A random forest: the mean of its trees, times a slope, plus a shift.

    In regression slope and shift are 1 and 0. In classification trees give vote fractions, and both are trained on rows out of fold, as
    Platt 1999 did for support vector machines: a forest knows which row is likelier, but not how likely.
    """

    compact_forest: CompactForest
    slope: float
    shift: Floats  # (width,)

    @property
    def width(self) -> int:
        """Scores of a row."""
        return 1 if self.compact_forest.n_classes == 2 else self.compact_forest.n_outputs

    def scores(self, view: View, threads: int = 1) -> Floats:
        """Scores of the mean of the trees."""
        return calibrated_scores(self.compact_forest.mean(view.table, threads), self.slope, self.shift)

    def check(self) -> "CompactForestMember":
        """Raise DataError where something does not fit."""
        if (
            self.shift.shape != (self.width,)
            or self.compact_forest.n_outputs != max(self.compact_forest.n_classes, 1)  # of several targets
            or self.compact_forest.n_trees < 1
            or not np.isfinite(self.shift).all()
            or not np.isfinite(self.slope)
        ):
            raise DataError("the slope and shift of a forest do not fit its classes")
        return self

    def check_for(self, schema: Schema, form: MatrixForm) -> None:
        """Raise DataError unless the features are those of the schema."""
        del form
        categories = self.compact_forest.n_categories
        require(categories.shape == schema.code_counts.shape, "trees read another number of features than there are")
        require((categories > 0) == (schema.code_counts > 0), "trees part categories where there are numbers, or the reverse")


def calibrated_scores(mean: Floats, slope: float, shift: Floats) -> Floats:
    """Scores of what a forest gives: of two classes the fraction of the second counts alone."""
    return slope * (mean[:, 1:] if mean.shape[1] == 2 else mean) + shift


@dataclass(frozen=True, eq=False)
class MeanMember:
    """The mean of several members of one kind, such as those of all folds."""

    members: tuple[Member, ...]

    @property
    def width(self) -> int:
        """Scores of a row."""
        return self.members[0].width

    def scores(self, view: View, threads: int = 1) -> Floats:
        """The mean of their scores, added up in their order."""
        total = self.members[0].scores(view, threads)
        for member in self.members[1:]:
            total = total + member.scores(view, threads)
        return np.asarray(total / len(self.members))

    def check(self) -> "MeanMember":
        """Raise DataError where something does not fit."""
        if not self.members:
            raise DataError("a mean of members needs one at least")
        require(all(member.width == self.width for member in self.members), "a mean is of members of different widths")
        return self

    def check_for(self, schema: Schema, form: MatrixForm) -> None:
        """Raise DataError unless all of them read such tables."""
        for member in self.members:
            member.check_for(schema, form)
