"""What all ensembles of different models have in common: how they are trained, and which tables they take."""

from collections.abc import Iterable, Mapping
from typing import Any, Self

from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import Bunch, get_tags
from sklearn.utils._repr_html.estimator import _VisualBlock

from woodwind.estimators.base.matrix import TableToMatrix
from woodwind.estimators.base.model import BaseGroupedModel
from woodwind.estimators.pools.member_list import (
    DROP,
    NamedMember,
    Pairs,
    deep_parameters,
    default_pool,
    is_fitted,
    named_members,
    pairs_of,
)

# ----------------------------------------------------------------------------------------------------
# Ensembles whose members have names: parameters of members are parameters of the ensemble, as in scikit-learn.


TAKEN = ("allow_nan", "sparse", "categorical", "string")


def narrow_tags(tags: Any, members: Iterable[Any]) -> None:
    """An ensemble takes the tables that all of its members take; what is no estimator is said so by fit, not by whoever asks for tags."""
    known = [input_tags_of(one) for one in members if hasattr(one, "__sklearn_tags__") and not isinstance(one, type)]
    for name in TAKEN:
        setattr(tags.input_tags, name, all(getattr(of_member, name) for of_member in known))


def input_tags_of(estimator: Any) -> Any:
    """Which tables an estimator takes. scikit-learn says of no pipeline that it takes missing values, not even of one that fills them."""
    first = estimator.steps[0][1] if isinstance(estimator, Pipeline) and estimator.steps else None
    return get_tags(first if isinstance(first, TableToMatrix) else estimator).input_tags


class BaseComposition:
    """An estimator whose parameter `estimators` holds members. To be named before scikit-learn's own bases.

    A member is a parameter by its name, and each of its parameters by `name__parameter`. `_classifies` says what members are.
    """

    estimators: Any
    _classifies: bool

    def _pairs(self) -> Pairs:
        """The members as they were given, by name; those of the default pool where none were."""
        return default_pool(self._classifies) if self.estimators is None else pairs_of(self.estimators)

    def _named(self) -> list[NamedMember]:
        """The members that are not dropped, checked."""
        own = super().get_params(deep=False)  # type: ignore[misc]
        return named_members(self.estimators, type(self).__name__, self._classifies, reserved=own)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            With members by their names, and their parameters as name__parameter.
        """
        out: dict[str, Any] = super().get_params(deep=deep)  # type: ignore[misc]
        return out | deep_parameters(pairs_of(self.estimators)) if deep else out

    def set_params(self, **params: Any) -> Self:
        """Set parameters; a member by its name, of which 'drop' leaves it out, and its parameters by name__parameter.

        Parameters
        ----------
        **params : anything
            Values by name.
        """
        if "estimators" in params:
            self.estimators = params.pop("estimators")
        if self.estimators is None and any(name.split("__")[0] in dict(self._pairs()) for name in params):
            self.estimators = self._pairs()  # the default pool, from now on with changes
        names = [name for name, _ in pairs_of(self.estimators)]
        for name in [name for name in params if name in names]:
            self._replace(names.index(name), name, params.pop(name))
        super().set_params(**params)  # type: ignore[misc]
        return self

    def _replace(self, position: int, name: str, estimator: Any) -> None:
        """Another member in the place of one; what the user holds in hand is not changed."""
        if isinstance(self.estimators, Mapping):
            self.estimators = {**self.estimators, name: estimator}
            return
        changed = list(self.estimators)
        changed[position] = (name, estimator)
        self.estimators = changed

    @property
    def named_estimators(self) -> Bunch:
        """The members as they were given, by name."""
        return Bunch(**dict(self._pairs()))

    def _name_trained(self, trained: list[Any]) -> None:
        """Keep trained members under their names; a dropped one is called 'drop', as in scikit-learn."""
        rest = iter(trained)
        pairs = self._pairs() or [(member.name, member.estimator) for member in self._named()]
        self.named_estimators_ = Bunch(**{name: DROP if isinstance(one, str) else next(rest) for name, one in pairs})

    def _keeps_members(self) -> bool:
        """Whether members are taken as they are, so that a clone must not forget what they have learned."""
        prefit = getattr(self, "prefit", False)
        if prefit == "auto":
            members = [one for _, one in pairs_of(self.estimators) if not isinstance(one, str)]
            prefit = hasattr(self.estimators, "estimators_") or (bool(members) and all(map(is_fitted, members)))
        return bool(prefit)

    def __sklearn_clone__(self) -> Any:
        copy = super().__sklearn_clone__()  # type: ignore[misc]
        if self._keeps_members():
            copy.estimators = self.estimators
        elif isinstance(self.estimators, Mapping):
            copy.estimators = {name: clone(one, safe=False) for name, one in self.estimators.items()}
        return copy

    def _sk_visual_block_(self) -> Any:
        pairs = self._pairs()
        if not pairs:  # members of a fitted ensemble: shown as that
            pairs = [("estimators", self.estimators)]
        return _VisualBlock("parallel", [one for _, one in pairs], names=[name for name, _ in pairs])


class BasePool(BaseComposition, BaseGroupedModel):
    """An ensemble whose members are estimators of any kind; rows of one group stay together where rows are held out."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Members of a fitted ensemble take what it takes.
        narrow_tags(tags, [one for _, one in self._pairs()] or [self.estimators])
        return tags
