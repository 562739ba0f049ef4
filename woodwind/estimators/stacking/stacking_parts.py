"""What a stack is put together from: its layers and its blender as they are given, and their parameters by name."""

from collections.abc import Sequence
from typing import Any, Self

from sklearn.base import clone

from woodwind.base.errors import ParameterError
from woodwind.estimators.base.base_learner import check_estimator
from woodwind.estimators.pools.member_list import deep_parameters
from woodwind.estimators.pools.pool import NamedMember, named_members, pairs_of

SAME = "same"


class StackingParts:
    """Parameters of members above the first layer, and of several blenders, by names that begin with their place.

    A member `tree` of the second layer is `layer2_tree`, and one of several blenders is `final_tree`. To be named before `BaseComposition`.
    """

    layers: Any
    final_estimator: Any
    combine: Any
    estimators: Any
    cv: Any
    random_state: Any
    _classifies: bool
    _pairs: Any
    _named: Any

    def _default_blender(self) -> Any:
        raise NotImplementedError

    def _voting(self, blenders: list[tuple[str, Any]]) -> Any:
        """Several blenders as one."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.transformer_tags.preserves_dtype = []
        return tags

    # What there is.

    def _blender(self) -> Any:
        """The blender that is meant, not checked."""
        if self.final_estimator is None:
            return self._default_blender()
        if isinstance(self.final_estimator, list | tuple):
            return self._voting(pairs_of(list(self.final_estimator)))
        return self.final_estimator

    def _checked_blender(self) -> Any:
        owner = type(self).__name__
        if isinstance(self.final_estimator, list | tuple):
            for name, one in pairs_of(list(self.final_estimator)):
                check_estimator(one, owner, self._classifies, name=f"blender {name!r} of final_estimator")
            if not self.final_estimator:
                raise ParameterError(f"{owner}: final_estimator is an empty list. Give blenders, or None for the default.")
        blender = self._blender()
        check_estimator(blender, owner, self._classifies, name="final_estimator")
        return blender

    def _layers_of(self, values: dict[str, Any]) -> list[list[NamedMember]]:
        """The members of every layer, checked."""
        first = self._named()
        layers = values["layers"]
        if isinstance(layers, int):
            return [first] * layers
        owner, out = type(self).__name__, [first]
        for depth, given in enumerate(layers, 2):
            if isinstance(given, str):
                if given != SAME:
                    raise ParameterError(f"{owner}: layer {depth} of layers is {given!r}. Give a list of members, or 'same'.")
                out.append(first)
                continue
            out.append(named_members(given, f"{owner}, layer {depth}", self._classifies))
        return out

    def _pairs_of_layers(self) -> list[list[tuple[str, Any]]]:
        """The members of every layer as they were given."""
        first = self._pairs() or [("estimators", self.estimators)]
        if not isinstance(self.layers, list | tuple):
            return [first] * (self.layers if isinstance(self.layers, int) and self.layers > 0 else 1)
        return [first, *(first if isinstance(one, str) else pairs_of(one) for one in self.layers)]

    # Parameters by name.

    def _placed(self) -> dict[str, Any]:
        """Members above the first layer, and several blenders, by name."""
        out: dict[str, Any] = {}
        for depth, given in enumerate(self.layers if isinstance(self.layers, list | tuple) else [], 2):
            out |= {f"layer{depth}_{name}": one for name, one in ([] if isinstance(given, str) else pairs_of(given))}
        if isinstance(self.final_estimator, list | tuple):
            out |= {f"final_{name}": one for name, one in pairs_of(list(self.final_estimator))}
        return out

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            With members by their names, and their parameters as name__parameter; members of higher layers as layer2_name, and one of
            several blenders as final_name.
        """
        out: dict[str, Any] = super().get_params(deep=deep)  # type: ignore[misc]
        return out | deep_parameters(self._placed().items()) if deep else out

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of members, by the names that `get_params` gives.

        Parameters
        ----------
        **params : anything
            Values by name.
        """
        for name in ("layers", "final_estimator"):
            if name in params:
                setattr(self, name, params.pop(name))
        for name in [name for name in params if name in self._placed()]:
            self._put(name, params.pop(name))
        super().set_params(**params)  # type: ignore[misc]
        return self

    def _put(self, name: str, estimator: Any) -> None:
        """Another member in the place of one; what the user holds in hand is not changed."""
        if name.startswith("final_"):
            self.final_estimator = _replaced(self.final_estimator, name.removeprefix("final_"), estimator)
            return
        layers = list(self.layers)
        for depth, given in enumerate(layers, 2):
            own = f"layer{depth}_"
            if name.startswith(own) and not isinstance(given, str) and name.removeprefix(own) in dict(pairs_of(given)):
                layers[depth - 2] = _replaced(given, name.removeprefix(own), estimator)
        self.layers = layers

    def _keeps_members(self) -> bool:
        """Whether members are taken as they are, so that a clone must not forget what they have learned."""
        return isinstance(self.cv, str) and self.cv == "prefit"

    def __sklearn_clone__(self) -> Any:
        copy = super().__sklearn_clone__()  # type: ignore[misc]
        if isinstance(self.layers, list | tuple):
            copy.layers = [_cloned(given, mine) for given, mine in zip(self.layers, copy.layers, strict=True)]
        return copy


def _cloned(given: Any, copied: Any) -> Any:
    """A copy of a layer: scikit-learn copies lists member by member, but a dict as a whole, with all that was learned."""
    return {name: clone(one, safe=False) for name, one in given.items()} if isinstance(given, dict) else copied


def _replaced(given: Any, name: str, estimator: Any) -> Any:
    """Members with another one under a name."""
    pairs: Sequence[tuple[str, Any]] = pairs_of(given)
    changed = [(own, estimator if own == name else one) for own, one in pairs]
    return dict(changed) if isinstance(given, dict) else changed
