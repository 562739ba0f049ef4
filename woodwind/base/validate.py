"""Validation: what a model must hold to before anybody walks through it. Models that come from files are asked; trained ones need not
be."""

from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import DataError

Array = TypeVar("Array", bound=NDArray[Any])


def require(holds: Any, what: str) -> None:
    """Raise DataError unless the statement holds, everywhere if it is an array."""
    if not np.all(holds):
        raise DataError(f"what is there is damaged: {what}")


def require_array(array: NDArray[Any], shape: tuple[int | None, ...], what: str) -> None:
    """The array has this shape; None stands for any length. Floats in it are finite."""
    right = array.ndim == len(shape) and all(wanted is None or wanted == given for wanted, given in zip(shape, array.shape, strict=True))
    require(right, f"{what} has the shape {array.shape}")
    if array.dtype.kind == "f":
        require(np.isfinite(array), f"{what} is not finite")


def require_shapes(owner: str, shapes: dict[str, tuple[Any, str]], **lengths: int) -> dict[str, int]:
    """Arrays by name with the letters of their axes: a letter has one length wherever it stands. Floats are finite.

    Lengths of letters that are known may be given; those of all are returned. None stands for an array that need not be there.

    >>> require_shapes("a pool", {"weights": (np.ones(3), "m"), "coefficients": (np.ones((3, 2)), "m k")})
    {'m': 3, 'k': 2}
    """
    for name, (array, letters) in shapes.items():
        if array is None:
            continue
        axes = letters.split()
        require(isinstance(array, np.ndarray) and array.ndim == len(axes), f"{name} of {owner} is no array of {len(axes)} dimensions")
        for letter, length in zip(axes, array.shape, strict=True):
            require(lengths.setdefault(letter, length) == length, f"{name} of {owner} has the shape {array.shape}")
        if array.dtype.kind == "f":
            require(np.isfinite(array), f"{name} of {owner} is not finite")
    return lengths


def require_children(split: NDArray[Any], left: NDArray[Any], right: NDArray[Any], end: NDArray[Any], roots: NDArray[Any]) -> None:
    """The nodes of some trees, one tree after another, are such that every walk from a root ends at a leaf of its tree.

    `split` (N,) tells which nodes have children; of each of these, `left` and `right` are the positions of the children, and `end` is the
    position behind the last node of the tree. `roots` (T,) are the first nodes of the trees.
    """
    node = np.flatnonzero(split)
    require(roots < len(split), "a tree has no nodes")
    for child in (left, right):
        require((child > node) & (child < end), "a child is not behind its parent in the same tree")
    parents = np.bincount(np.concatenate([left, right]), minlength=len(split))
    parents[roots] += 1  # so that all have one
    require(parents == 1, "a node has no parent, or two")


def require_labels(labels: Any, owner: str) -> None:
    """Labels are a list of values, one at least, all different and in order, as training makes them."""
    require(isinstance(labels, np.ndarray) and labels.ndim == 1 and labels.size > 0, f"{owner} has no classes")
    require(labels.dtype.kind in "biufUSOTmM", f"classes of {owner} are no labels")
    try:
        values = labels.tolist()
        in_order = len(set(values)) == len(values) and all(one < other for one, other in pairwise(values))
    except TypeError:
        in_order = False
    require(in_order, f"classes of {owner} are not in order, or one comes twice")


def require_finite(answer: Array, owner: str) -> Array:
    """The answer of a model, all of whose numbers are finite; raises DataError where one is not, so that none is taken for a prediction."""
    if answer.dtype.kind == "f" and not np.isfinite(answer).all():
        odd = np.flatnonzero(~np.isfinite(answer.reshape(len(answer), -1)).all(axis=1))
        raise DataError(
            f"{owner}: what it predicts is not a finite number for {odd.size:,} of {len(answer):,} rows, the first of them row {odd[0]}. "
            "Either numbers of these rows are too large for the model, or the model itself is damaged: look at the rows, or train it again."
        )
    return answer
