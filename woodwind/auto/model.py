"""AutoModel: what the main job makes, in arrays and plain values alone. It predicts from raw columns, without scikit-learn."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.decision import decided
from woodwind.auto.intervals import PredictionIntervals, no_intervals
from woodwind.auto.members.link import probabilities
from woodwind.auto.members.tree_members import Member
from woodwind.auto.members.view import View
from woodwind.base.errors import DataError
from woodwind.base.validate import require, require_finite, require_labels
from woodwind.data.tables.matrix_form import MatrixForm
from woodwind.data.tables.schema import Schema
from woodwind.metrics.named import METRICS

Floats = NDArray[np.float64]

TASKS = ("binary", "multiclass", "regression", "ranking")


@dataclass(frozen=True, eq=False)
class AutoModel:
    """A weighted sum of members, and how a table becomes what they read."""

    task: str  # one of TASKS
    target: str  # name of the target column; "" where it had none
    classes: tuple[Any, ...]  # labels in order; none for numbers
    schema: Schema
    form: MatrixForm
    names: tuple[str, ...]  # of the members
    members: tuple[Member, ...]
    weights: Floats  # (M,)
    shift: Floats  # (width,) added to the sum
    metric: str
    facts: dict[str, Any]  # what JSON can hold: the leaderboard, and what the report shows
    beside: tuple[str, ...] = ()  # columns of the training table that were not trained on: a table may have them, or not
    positive: int = 1  # of two classes the one that metrics such as F1 are of, and that the threshold is for
    threshold: float | None = None  # the probability from which on the positive class is predicted; None: the likelier class
    intervals: PredictionIntervals | None = None  # what it knows of its errors out of fold; None where it knows nothing

    query: str = ""  # of a ranking, the column that says which rows are of one query; "" where it had no name

    YOUNGER: ClassVar[tuple[str, ...]] = ("positive", "threshold", "intervals", "query")  # files from before them have their defaults

    @property
    def classifies(self) -> bool:
        """Whether it predicts classes; else it predicts numbers, or scores that rank."""
        return bool(self.classes)

    @property
    def width(self) -> int:
        """Scores of a row."""
        return len(self.classes) if self.task == "multiclass" else 1

    def view(self, X: Any, owner: str = "The model") -> View:
        """The rows of any table whose columns have the names of those of the training."""
        return View(self.schema.read(X, owner=owner, beside=self.beside), self.form)

    def scores(self, X: Any, threads: int = 1) -> Floats:
        """The score of the blend (n, width)."""
        return self.blend(self.view(X), threads)

    def blend(self, view: View, threads: int = 1) -> Floats:
        """The same for rows that were read already."""
        out = np.tile(self.shift, (view.n_rows, 1))
        for weight, member in zip(self.weights, self.members, strict=True):
            out += weight * member.scores(view, threads)
        return require_finite(out, "The model")

    def member_scores(self, view: View, threads: int = 1) -> Floats:
        """What each member predicts, (n, M, width)."""
        out = np.empty((view.n_rows, len(self.members), self.width))
        for position, member in enumerate(self.members):
            out[:, position] = member.scores(view, threads)
        return out

    def predict_proba(self, X: Any, threads: int = 1) -> Floats:
        """The probability of each class, (n, classes)."""
        if not self.classifies:
            what = f"predicts the number {self.target!r}" if self.task == "regression" else "ranks the rows of queries"
            raise DataError(f"The model {what}: it has no classes to give probabilities of. Ask for predict.")
        return probabilities(self.scores(X, threads))

    def predict(self, X: Any, threads: int = 1) -> NDArray[Any]:
        """Labels, numbers, or scores: of two rows of a query the one with the higher score comes first."""
        if not self.classifies:
            return self.scores(X, threads)[:, 0]
        return np.asarray(np.array(self.classes)[self.decide(self.predict_proba(X, threads))])

    def decide(self, proba: Floats) -> NDArray[np.int64]:
        """The class number (n,) that is predicted where classes have these probabilities (n, classes)."""
        return decided(proba, self.positive, self.threshold)

    def require_intervals(self) -> PredictionIntervals:
        """What it knows of its errors. Raises DataError where that is nothing."""
        if self.task == "ranking":
            raise DataError("The model ranks rows, and intervals are for numbers and classes. Leave them out.")
        if self.intervals is None:
            raise no_intervals()
        return self.intervals

    def check(self) -> "AutoModel":
        """Raise DataError where parts do not fit together."""
        n_classes = {"binary": len(self.classes) == 2, "multiclass": len(self.classes) > 2}
        if self.task not in TASKS or not n_classes.get(self.task, not self.classes):
            raise DataError(f"a model of {len(self.classes)} classes cannot have the task {self.task!r}")
        if not len(self.names) == len(self.members) > 0 or self.weights.shape != (len(self.members),):
            raise DataError("a model needs a name and a weight for each member, and one member at least")
        if self.shift.shape != (self.width,) or not (np.isfinite(self.weights).all() and np.isfinite(self.shift).all()):
            raise DataError("the weights of a model are not finite, or its shift has another width")
        if self.classes:
            require_labels(as_labels(self.classes), "a model")
        require(self.metric in METRICS, "the metric of a model is not known")
        require((self.task == "ranking") == (METRICS[self.metric].needs == "rank"), "the metric of a model is of another task")
        require(self.positive in (0, 1), "the positive class of a model is none")
        require(self.threshold is None or 0.0 < self.threshold < 1.0, "the threshold of a model is not between 0 and 1")
        if self.intervals is not None and self.task != "regression":
            require(not len(self.intervals.knots), "sets of labels have knots")
            require(self.intervals.known.scores <= 1.0, "a conformity score of a label is above one")
        self.form.check_for(self.schema)
        for member in self.members:
            require(member.width == self.width, "a member has other scores than the model")
            member.check_for(self.schema, self.form)
        return self


def as_labels(classes: tuple[Any, ...]) -> NDArray[Any]:
    """Labels as an array of objects, one each."""
    out = np.empty(len(classes), object)
    out[:] = classes
    return out
