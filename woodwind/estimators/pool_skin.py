"""What all ensembles of different models have in common: how they are trained, and which tables they take."""

from typing import Any, Self

from woodwind.base.told import told
from woodwind.estimators.composed import Composed, narrow_tags
from woodwind.estimators.skin import TRAINING_DATA, Skin, all_or_nothing
from woodwind.params.check import check
from woodwind.params.unknown import known_arguments


class PoolSkin(Composed, Skin):
    """An ensemble whose members are estimators of any kind; rows of one group stay together where rows are held out."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Members of a fitted ensemble take what it takes.
        narrow_tags(tags, [one for _, one in self._pairs()] or [self.estimators])
        return tags

    @known_arguments
    @told(data=TRAINING_DATA)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Train the members, unless they are trained, and what puts them together.

        Parameters
        ----------
        {data}
        groups : sequence of labels, one for each row, default=None
            Rows of one group are held out together, where rows are held out.

        Returns
        -------
        self
        """
        values = check(self)
        with all_or_nothing(self):
            self._fit(values, X, y, sample_weight, groups)
        return self

    def _fit(self, values: dict[str, Any], X: Any, y: Any, sample_weight: Any, groups: Any = None) -> None:
        """Train by checked parameters; what fails leaves the model as it was."""
        raise NotImplementedError
