"""What a job has found: the model, the leaderboard, and what was seen on the way."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.decision import DecisionRule
from woodwind.auto.model import AutoModel

Floats = NDArray[np.float64]

ENSEMBLE = "ensemble"


@dataclass(frozen=True)
class Entry:
    """A row of the leaderboard."""

    name: str
    family: str  # "boosting", "forest", "linear", "neighbours", "net", or "ensemble" for all together
    score: float  # the metric as people know it, of rows out of fold; NaN where there is none
    standard_error: float
    loss: float  # smaller is better
    weight: float  # in the ensemble; 0 where not chosen
    seconds: float  # of training, all folds together
    row_microseconds: float  # of predicting one row among many
    folds: int  # that were trained
    note: str = ""  # why something is missing
    also: dict[str, float] | None = None  # further metrics of the same rows, by name

    YOUNGER: ClassVar[tuple[str, ...]] = ("also",)  # files from before it have its default


@dataclass(frozen=True, eq=False)
class Outcome:
    """The end of a job."""

    model: AutoModel
    leaderboard: tuple[Entry, ...]  # best first; the ensemble is its first entry
    X: Any  # the table that was learned, without the target
    y: NDArray[Any]  # class numbers, or numbers
    weight: Floats | None
    groups: NDArray[np.int64] | None
    names: tuple[str, ...]  # of all members that finished
    out_of_fold: Floats  # (n, M, width) their scores; NaN where a row was never held out
    blend_out_of_fold: Floats  # (n, width): the weights that a row was scored by were chosen without its fold
    scored: NDArray[np.bool_]  # (n,) rows that were held out
    curves: dict[str, dict[str, list[float]]]  # losses by round of members that are trained in rounds: "train" and "valid"
    suspicions: tuple[Any, ...]
    notes: tuple[str, ...]
    seconds: float
    seed: int
    ordered: bool = False  # whether each block was scored by what came before it
    rule: DecisionRule | None = None  # that the threshold of the model was chosen by
    split_columns: dict[str, str] = field(default_factory=dict)  # the columns by which rows were held out: "group", "time"
    clusters: NDArray[np.int64] | None = None  # (n,) rows of one are not independent of each other
    queries: NDArray[np.int64] | None = None  # (n,) the number of the query of each row, where rows are ranked
    fold: NDArray[np.int64] | None = None  # (n,) in which each row was held out; -1 for rows that never were
