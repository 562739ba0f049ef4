"""Many small forests as one, with other values."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.tree.forest import Forest

NAMES = ("feature", "threshold", "child", "missing", "words", "cover", "gain")


def joined(forests: Sequence[Forest], values: Sequence[NDArray[np.float64]], output: Sequence[int], n_outputs: int) -> Forest:
    """The trees of all forests, of at least one; `values` are those of the nodes of each forest, `output` the column of each tree.

    Starting scores are zero. Inner nodes take the mean of the leaves below them.
    """
    arrays: dict[str, Any] = {name: np.concatenate([getattr(forest, name) for forest in forests]) for name in NAMES}
    words = np.concatenate([[0], np.cumsum([forest.words.size for forest in forests])])
    sets = [np.where(forest.sets >= 0, forest.sets + begin, -1) for forest, begin in zip(forests, words[:-1], strict=True)]
    sizes = np.concatenate([np.diff(forest.roots) for forest in forests])
    return Forest(
        **arrays,
        roots=np.concatenate([[0], np.cumsum(sizes)]),
        sets=np.concatenate(sets),
        set_words=forests[0].set_words,
        value=np.concatenate(values),
        output=np.array(output),
        n_outputs=n_outputs,
        start=np.zeros(n_outputs),
    ).with_node_values()
