"""Ensembles of members of any kind for several targets: one ensemble for each target, side by side.

Members need not take several targets themselves, and whatever an ensemble finds (weights of members, blenders, scores out of the bag) it
finds for each target by itself. docs/algorithms/several-targets.md.
"""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from woodwind.base.errors import ParameterError, WoodwindError
from woodwind.estimators.base.several_targets import SeveralTargetsMixin, has_several_targets, named_columns, one_target_only

# For the docstrings of the estimators.
TARGETS = """
target_names_, target_ensembles_ : lists
    Names of the targets, and an ensemble like this one for each. Where y has several columns; other attributes are those of each.
"""


class PerTargetMixin(SeveralTargetsMixin):
    """An ensemble that becomes one for each target where y has several columns: then `target_ensembles_` are there, and nothing else."""

    _optional_state: ClassVar[dict[str, Any]] = {"target_ensembles_": list[Any]}

    target_ensembles_: list[Any]
    classes_: Any  # of classifiers: labels, or a list of those of each target

    @property
    def _takes_several(self) -> bool:
        return not (getattr(self, "prefit", False) is True or getattr(self, "warm_start", False))

    def _fits_each(self, X: Any, y: Any, **more: Any) -> bool:
        """Train an ensemble for each column of y, if it has several; says whether it has."""
        if not has_several_targets(y):
            for name in ("target_names_", "target_ensembles_"):
                vars(self).pop(name, None)
            return False
        owner = type(self).__name__
        for name in ("prefit", "warm_start"):
            if getattr(self, name, False) is True:
                raise ParameterError(f"{owner}: {name}=True is for one target. Set {name}=False, or fit one model for each column of y.")
        names, columns = named_columns(y, owner)
        found = [self._of_target(name, X, column, more) for name, column in zip(names, columns, strict=True)]
        kept = {*self.get_params(deep=False), "_sklearn_output_config"}  # type: ignore[attr-defined]
        for name in [name for name in vars(self) if name not in kept]:
            delattr(self, name)
        self.target_names_, self.target_ensembles_ = list(names), found
        for name in ("n_features_in_", "feature_names_in_"):
            if name in vars(found[0]):
                setattr(self, name, vars(found[0])[name])
        if hasattr(found[0], "classes_"):
            self.classes_ = [one.classes_ for one in found]
        return True

    def _of_target(self, name: str, X: Any, y: Any, more: dict[str, Any]) -> Any:
        """An ensemble for one target; an error in it names the target."""
        try:
            return clone(self).fit(X, y, **{key: value for key, value in more.items() if value is not None})
        except WoodwindError as error:
            raise type(error)(f"target {name!r}: {error}") from error

    def _each(self, method: str, X: Any) -> Any:
        """What the ensembles of all targets predict: side by side (n_rows, n_targets), or a list of probabilities."""
        answers = [getattr(one, method)(X) for one in self.target_ensembles_]
        if method != "predict":
            return answers
        if len({answer.dtype.kind for answer in answers}) == 1:
            return np.stack(answers, axis=1)
        out = np.empty((len(answers[0]), len(answers)), object)
        for k, answer in enumerate(answers):
            out[:, k] = answer
        return out

    def _require_one_target(self) -> None:
        """Raise where there are several: what was asked is of one of the `target_ensembles_`."""
        if self._has_several:
            raise one_target_only("what is asked for", type(self).__name__, "Ask one of target_ensembles_.")
