"""What one layer of a stack passes on to the next: columns made of what its members predict. See docs/algorithms/stacking.md.

Columns stand member by member. Probabilities of two classes are one column, that of the second class, because the other says nothing new;
of K classes they are K columns. Labels are columns of zeros and ones in the same way, and scores stand as they came.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
PredictionKind = Literal["probabilities", "scores", "votes", "numbers"]

# Smaller probabilities are taken as this before logarithms are: a member that has counted a few votes and is certain may say no more
# than one that is almost certain.
LEAST_PROBABILITY = 1e-4


class LayerColumns(NamedTuple):
    """What one member passes on."""

    name: str
    predicted: PredictionKind
    values: Floats  # (n, width): K probabilities or scores, class numbers or numbers in one column


def columns_of(block: LayerColumns, n_classes: int, link: bool = False) -> Floats:
    """The columns (n, c) of one member; `link` gives log-odds in the place of probabilities."""
    values = block.values
    if block.predicted == "votes":
        return label_columns(values[:, 0].astype(np.int64), n_classes)
    if block.predicted != "probabilities":
        return values
    return log_odds(values) if link else probability_columns(values)


def probability_columns(probabilities: Floats) -> Floats:
    """Probabilities (n, K) without what follows from the others: of two classes the second one."""
    return probabilities[:, 1:] if probabilities.shape[1] == 2 else probabilities


def label_columns(votes: Integers, n_classes: int) -> Floats:
    """Votes (n,) for classes as columns of zeros and ones; of two classes the second one."""
    return probability_columns(np.asarray(votes[:, None] == np.arange(n_classes), np.float64))


def log_odds(probabilities: Floats, least: float = LEAST_PROBABILITY) -> Floats:
    """Log-odds of two classes (n, 1), or of K classes logarithms about their mean (n, K): what a logistic model adds up."""
    logs = log_ratios(probabilities, least)
    return logs[:, 1:] - logs[:, :1] if probabilities.shape[-1] == 2 else logs


def log_ratios(probabilities: Floats, least: float = LEAST_PROBABILITY) -> Floats:
    """Logarithms of probabilities (..., K) about their mean over the classes: softmax gives the probabilities back."""
    logs = np.log(np.maximum(probabilities, least))
    return np.asarray(logs - logs.mean(axis=-1, keepdims=True))


def telling_columns(columns: Floats) -> Integers:
    """The positions of the columns that are neither constant nor the same as one before them; at least the first."""
    seen: set[bytes] = set()
    positions = []
    for position in range(columns.shape[1]):
        column = np.ascontiguousarray(columns[:, position]) + 0.0  # there are two zeros
        if (column == column[0]).all() or column.tobytes() in seen:
            continue
        seen.add(column.tobytes())
        positions.append(position)
    return np.array(positions or [0], np.int64)


def column_names(blocks: Sequence[tuple[str, int]], prefix: str) -> list[str]:
    """Names of the columns of members, given as (name, width): as in scikit-learn, with a number where there are several."""
    return [f"{prefix}_{name}" if width == 1 else f"{prefix}_{name}{k}" for name, width in blocks for k in range(width)]


def members_mean(blocks: Sequence[LayerColumns], n_classes: int) -> Floats:
    """What the members of a layer say together: mean probabilities or shares of votes (n, K), or mean numbers (n, 1).

    Scores have no common scale: a member that has only these votes for the class of its largest score.
    """
    return np.asarray(np.mean([as_probabilities(block, n_classes) for block in blocks], axis=0))


def as_probabilities(block: LayerColumns, n_classes: int) -> Floats:
    """What a member predicts as probabilities (n, K), of which a vote is the simplest; numbers stay as they are."""
    if block.predicted in ("numbers", "probabilities"):
        return block.values
    if block.predicted == "scores":
        best = block.values.argmax(axis=1) if block.values.shape[1] > 1 else (block.values[:, 0] > 0.0).astype(np.int64)
    else:
        best = block.values[:, 0].astype(np.int64)
    return np.asarray(best[:, None] == np.arange(n_classes), np.float64)
