"""The main job as estimators: give them a table and a time, and they try members of all families and blend them."""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from woodwind.auto.checkpoint import Checkpoint, digest_of
from woodwind.auto.clock import SUSPICION_SHARE, Clock, ending_on_interrupt
from woodwind.auto.decision import DecisionRule, rarer_class
from woodwind.auto.events import Event, JobBegan, JobEnded, MemberDone
from woodwind.auto.job import JobSpec, run
from woodwind.auto.leaderboard import Leaderboard
from woodwind.auto.members.link import probabilities
from woodwind.auto.messages import SuspicionsFound, stored_suspicions, write_on_error_stream
from woodwind.auto.model import AutoModel
from woodwind.auto.outcome import Entry, Outcome
from woodwind.auto.portfolio import FAMILIES, Portfolio
from woodwind.auto.shap import explain_model
from woodwind.auto.table_rows import table_of
from woodwind.auto.training.boosting import BoostingFamily
from woodwind.auto.training.forests import ForestFamily
from woodwind.auto.training.knn_training import train_knn
from woodwind.auto.training.matrix_family import MatrixFamily
from woodwind.auto.training.mlp_training import train_mlp
from woodwind.auto.training.recipe import Family
from woodwind.auto.training.splits import fold_of_rows
from woodwind.base.atomic import write_file
from woodwind.base.errors import ParameterError
from woodwind.base.file_endings import PAGE, meaning_of
from woodwind.base.random_streams import seed_of
from woodwind.data.blocks.block_table import BlockTable
from woodwind.data.quality.suspicions import Suspicion, suspicions
from woodwind.data.tables.frames import as_arrow, fingerprint
from woodwind.estimators.auto.linear_training import train_linear
from woodwind.estimators.base.model import COLUMNS, BaseGroupedModel, check_lengths, row_count
from woodwind.estimators.base.scoring import rows_of_table
from woodwind.estimators.base.splits import read_groups
from woodwind.estimators.base.target import Target, read_labels, read_regression_target, warn_constant
from woodwind.estimators.base.weights import read_weight, weighed_classes
from woodwind.metrics.clusters import clusters_of_groups, clusters_of_time
from woodwind.metrics.metric import Metric
from woodwind.metrics.named import metric_named
from woodwind.params.auto import AutoParams
from woodwind.params.knobs import knobs
from woodwind.report import page
from woodwind.tree.shap_result import Explanation

# ----------------------------------------------------------------------------------------------------
# What the two estimators of the main job share: from a table and a target to a question, the job, and its model.


Floats = NDArray[np.float64]

FAMILY: dict[str, Family] = {
    "boosting": BoostingFamily(),
    "forest": ForestFamily(),
    "linear": MatrixFamily(train_linear),
    "neighbours": MatrixFamily(train_knn, is_its_rows=True),
    "net": MatrixFamily(train_mlp),
}

ABOUT = """
Boosted trees of several shapes, random forests, extra-trees, a linear model, neighbours and a small net are trained in folds, one after
another in the order that pays most. What they predict for rows that they have not been trained on decides how they are weighed, and weights
are scored by rows that they were not found from. On a terminal there is `woodwind fit`, which does the same from a file.
"""
MODEL = """
model_ : AutoModel
    The blend: arrays and plain values, which predict without scikit-learn.
leaderboard_ : Leaderboard
    The ensemble, then every member that was tried: score out of fold with its standard error, weight, seconds. A tuple of entries that
    shows itself as a table.
score_ : float
    The score of the ensemble, of rows that neither its members nor its weights have seen.
facts_ : dict
    What the report shows.
suspicions_ : tuple of Suspicion
    What is odd about the data: columns that tell the target, copies, identifiers and the like, the gravest first. `verbose` tells them too.
"""


class BaseAutoEnsemble(BaseGroupedModel):
    """The main job as an estimator."""

    _state: ClassVar[dict[str, Any]] = {"model_": AutoModel, "leaderboard_": tuple[Entry, ...]}
    _optional_state: ClassVar[dict[str, Any]] = {"facts_": dict[str, Any], "score_": float}

    _docstring_parts: ClassVar[dict[str, str]] = {"about": ABOUT, "model": MODEL, "columns": COLUMNS}
    model_: AutoModel
    leaderboard_: Leaderboard

    # What each task does in its own way.

    def _read_target(self, y: Any, sample_weight: Any) -> tuple[Target, Floats | None]:
        """The target, and the weights of rows."""
        raise NotImplementedError

    def _set_classes(self, target: Target) -> None:
        """Remember the labels, if there are any."""

    def _fit(self, values: dict[str, Any], X: Any, y: Any, sample_weight: Any, groups: Any = None) -> None:
        """Try members, and blend them."""
        clock = clock_of(values)
        check_checkpoint(values)
        target, weight = self._read_target(y, sample_weight)
        check_lengths(self._owner, row_count(X), target.n_rows)
        grouped = read_groups(groups, target.n_rows, self._owner)
        if weight is not None and not weight.all():
            present = np.flatnonzero(weight)
            X, target, weight = rows_of_table(X, present), target.at(present), weight[present]
            grouped = None if grouped is None else grouped[present]
        is_time = clock.is_time(SUSPICION_SHARE)
        found = suspicions(as_arrow(X), None, target.y, target.classes is not None, grouped, is_time=is_time)
        self._train(values, clock, X, target, weight=weight, groups=grouped, suspicions=found)

    def _train(self, values: dict[str, Any], clock: Clock, X: Any, truth: Target, *, moments: Floats | None = None, **asked: Any) -> None:
        """Do the job by checked parameters, for rows that all count. `asked` are further fields of the `JobSpec`."""
        in_blocks = isinstance(X, BlockTable)
        families = _families(values["exclude"], self._owner)
        if in_blocks and "boosting" not in families:
            raise ParameterError(
                f"{self._owner}: of a table in blocks only boosting is trained, and exclude names it. Leave it out of that."
            )
        seed = seed_of(values["random_state"])
        ranks = asked.get("queries") is not None
        task = _task(truth, ranks)
        labels = None if truth.classes is None else truth.y.astype(np.int64)
        positive = _positive(values["positive"], truth, self._owner)
        asked["notes"] = (*asked.get("notes", ()), *_positive_note(values["positive"], positive, truth))
        fold = fold_of_rows(seed, truth.n_rows, labels, asked.get("groups"), moments)
        spec = JobSpec(
            X=X, y=truth.y if labels is None else labels.astype(np.int32), task=task,
            classes=() if truth.classes is None else tuple(truth.classes.tolist()),
            metric=metric_named(values["metric"], task).for_positive(positive), ordered=moments is not None,
            fold=fold, clusters=None if ranks else _clusters(asked.get("groups"), moments, fold),
            categorical_features=values["categorical_features"], seed=seed, threads=self._threads, models=values["models"],
            max_size=values["max_size"],
            positive=positive, rule=_rule(values["threshold"], task, self._owner), also=_also(values["also"], task, positive), **asked,
        )  # fmt: skip
        self._set_classes(truth)
        with _checkpoint(values, spec, clock) as checkpoint, ending_on_interrupt(clock):
            for event in run(spec, FAMILY, Portfolio(truth.n_classes, families, ranks=ranks, in_blocks=in_blocks), clock, checkpoint):
                self._warn(event, values)
                if isinstance(event, JobBegan) and spec.suspicions:
                    self._warn(SuspicionsFound(seconds=event.seconds, suspicions=spec.suspicions), values)
                if checkpoint is not None and isinstance(event, MemberDone):
                    checkpoint.spend(event.seconds)
                if isinstance(event, JobEnded):
                    self._set_fitted(event.outcome)

    def _warn(self, event: Event, values: dict[str, Any]) -> None:
        if values["verbose"]:
            write_on_error_stream(event, int(values["verbose"]))
        if values["listener"] is not None:
            values["listener"](event)

    def _set_fitted(self, outcome: Outcome) -> None:
        """The results, as attributes."""
        self.model_ = outcome.model
        self.leaderboard_ = Leaderboard(outcome.leaderboard)
        self.score_ = outcome.leaderboard[0].score
        self.facts_ = outcome.model.facts
        self._set_header(outcome.model.schema.header)

    @property
    def suspicions_(self) -> tuple[Suspicion, ...]:
        """What is odd about the data, the gravest first."""
        if not hasattr(self, "model_"):
            raise AttributeError(f"{self._owner} has no suspicions before it has seen data. Call fit.")
        return stored_suspicions(self.model_.facts)

    def report(self, path: Any, model_file: str = "model.ww") -> None:
        """Write the report as one page of HTML that needs nothing else.

        Parameters
        ----------
        path : str or path
            The file. One that is there is replaced in one step.
        model_file : str, default="model.ww"
            What the file of the model is called, for the commands that the page shows.
        """
        check_is_fitted(self)
        if meaning_of(path) not in ("", PAGE):
            told = f"{self._owner}: the ending of {str(path)!r} says {meaning_of(path)}, and {PAGE} would be written."
            raise ParameterError(f"{told} Let it end in .html.")
        write_file(path, [page(self.facts_, model_file).encode()])

    def explain(self, X: Any) -> Explanation:
        """What each column brings to the score of each row: Shapley values, which add up to it.

        Explained is what the blend adds up: the number itself, for two classes the log-odds of the second, for more a score of each.
        Trees and linear members are explained exactly; neighbours and nets by sampled orders of the columns, which takes long for many
        rows. `exact_share` of the result says how much of the weight is exact.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name. A file, or a dictionary of columns, will do.
        """
        check_is_fitted(self)
        return explain_model(self.model_, table_of(self.model_, X), self._threads)

    def _scores(self, X: Any) -> Floats:
        check_is_fitted(self)
        return self.model_.blend(self.model_.view(table_of(self.model_, X), self._owner), self._threads)


def clock_of(values: dict[str, Any]) -> Clock:
    """A clock that begins now: with a number of models there is always time."""
    return Clock(values["time"] if values["models"] is None else None)


def _task(truth: Target, ranks: bool) -> str:
    """What is asked."""
    if truth.classes is None:
        return "ranking" if ranks else "regression"
    return "binary" if truth.n_classes == 2 else "multiclass"


def _clusters(groups: NDArray[np.int64] | None, moments: Floats | None, fold: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Rows that are not independent of each other, for standard errors; None where all are."""
    if groups is not None:
        return clusters_of_groups(groups)
    return None if moments is None else clusters_of_time(moments, fold >= 0)


def _families(exclude: Any, owner: str) -> tuple[str, ...]:
    """Families that are tried."""
    given = [exclude] if isinstance(exclude, str) else list(exclude)
    for name in given:
        if name not in FAMILIES:
            raise ParameterError(f"{owner}: exclude names {name!r}, which is no family. Those are {', '.join(map(repr, FAMILIES))}.")
    left = tuple(name for name in FAMILIES if name not in given)
    if not left:
        raise ParameterError(f"{owner}: exclude names all families, so that nothing is left to try. Leave one of them out of it.")
    return left


def _positive(given: Any, truth: Target, owner: str) -> int:
    """The number of the positive class: the one that was named, else the rarer of two."""
    if truth.classes is None or truth.n_classes != 2:
        if given is not None:
            what = "the target is numbers" if truth.classes is None else f"there are {truth.n_classes}"
            raise ParameterError(f"{owner}: positive is for two classes, and {what}. Leave it out.")
        return 1
    if given is None:
        return rarer_class(truth.y)
    labels = truth.classes.tolist()
    # A label that came as text, as from a command line, may stand for a number or a truth value.
    for same in (lambda label: label == given, lambda label: str(label) == str(given)):
        found = [position for position, label in enumerate(labels) if same(label)]
        if len(found) == 1:
            return found[0]
    raise ParameterError(f"{owner}: positive must be one of the classes, {labels[0]!r} or {labels[1]!r}, but it is {given!r}.")


def _positive_note(given: Any, positive: int, truth: Target) -> tuple[str, ...]:
    """Which class is the positive one, and why, for the user."""
    if truth.classes is None or truth.n_classes != 2:
        return ()
    label, share = truth.classes.tolist()[positive], float(np.mean(truth.y == positive))
    why = "as was said" if given is not None else "the rarer one" if share < 0.5 else "the second of two"
    return (f"The positive class is {label!r}, {share:.1%} of the rows: {why}.",)


def _rule(given: Any, task: str, owner: str) -> DecisionRule | None:
    """How the threshold is chosen."""
    rule = DecisionRule.read(given, owner)
    if rule is not None and task != "binary":
        raise ParameterError(f"{owner}: threshold is for two classes, and the task is {task!r}. Leave it out.")
    return rule


def _also(given: Any, task: str, positive: int) -> tuple[Metric, ...]:
    """Further metrics, each once."""
    names = [given] if isinstance(given, str) else list(given)
    found = {metric.name: metric for metric in (metric_named(name, task) for name in names)}
    return tuple(metric.for_positive(positive) for metric in found.values())


def check_for_target(values: dict[str, Any], truth: Target, ranks: bool, owner: str) -> None:
    """Raise where parameters are not for such a target: before anything is trained."""
    task = _task(truth, ranks)
    positive = _positive(values["positive"], truth, owner)
    metric_named(values["metric"], task)
    _rule(values["threshold"], task, owner)
    _also(values["also"], task, positive)


def check_checkpoint(values: dict[str, Any]) -> None:
    """Raise where no checkpoints can be kept: before a table is read for minutes."""
    folder = values.get("checkpoint")
    if folder is None and values.get("resume"):
        raise ParameterError("resume=True needs the folder of the checkpoints. Give checkpoint.")
    if folder is not None and not isinstance(folder, Checkpoint):
        Checkpoint.claim(folder).close()


@contextmanager
def _checkpoint(values: dict[str, Any], spec: JobSpec, clock: Clock) -> Iterator[Checkpoint | None]:
    """Where checkpoints are kept; the time that was spent before counts."""
    given = values["checkpoint"]
    if given is None:
        yield None
        return
    # Whoever has claimed the folder already goes on with it afterwards, and closes it.
    with nullcontext(given) if isinstance(given, Checkpoint) else Checkpoint.claim(given) as checkpoint:
        spent = checkpoint.begin(_job(values, spec), values["resume"])
        if clock.started is not None:
            clock.started -= spent
        yield checkpoint


def _job(values: dict[str, Any], spec: JobSpec) -> dict[str, Any]:
    """What decides the result of a job, by names for people: the same things for every job."""
    truth, folds = (np.ascontiguousarray(part).tobytes() for part in (spec.y, spec.fold))
    weight = spec.weight
    return {
        "the seed": spec.seed,
        "the task": spec.task,
        "the metric": spec.metric.name,
        "the number of models": spec.models,
        "the largest size of the model": spec.max_size,
        "what is excluded": sorted([values["exclude"]] if isinstance(values["exclude"], str) else values["exclude"]),
        "what is taken as categories": repr(np.asarray(spec.categorical_features).tolist()),
        "the data": digest_of(
            (spec.X.fingerprint if isinstance(spec.X, BlockTable) else fingerprint(spec.X)).encode(), truth, repr(spec.classes).encode()
        ),
        "how rows are held out": digest_of(folds, repr(spec.ordered).encode()),
        "the queries": None if spec.queries is None else digest_of(np.ascontiguousarray(spec.queries).tobytes()),
        "the weights of rows": None if weight is None else digest_of(np.ascontiguousarray(weight).tobytes()),
        "the version of Woodwind": importlib.import_module("woodwind").__version__,
    }


@knobs
class AutoEnsembleClassifier(AutoParams, BaseAutoEnsemble, ClassifierMixin, BaseEstimator):
    """The best blend of members of many kinds that a given time allows, for classes.

    {about}

    {parameters}

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in order.
    positive_ : label or None
        The positive one of two classes.
    threshold_ : float or None
        The probability from which on it is predicted; None: the likelier class is.
    {model}
    {columns}

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from woodwind import AutoEnsembleClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AutoEnsembleClassifier(models=2).fit(X, y)
    >>> bool(model.score_ < 0.15)
    True
    >>> [entry.name for entry in model.leaderboard_][0]
    'ensemble'
    """

    def _read_target(self, y: Any, sample_weight: Any) -> tuple[Target, Floats | None]:
        target = read_labels(y, self._owner)
        weight = read_weight(sample_weight, target.n_rows, self._owner)
        return weighed_classes(target, weight, None, self._owner)[0], weight

    def _set_classes(self, target: Target) -> None:
        self.classes_ = target.classes

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class, (n_rows, n_classes), in the order of `classes_`.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name. A file, or a dictionary of columns, will do.
        """
        return probabilities(self._scores(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest class of each row; with a `threshold` the positive class where its probability is at least that.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name. A file, or a dictionary of columns, will do.
        """
        proba = self.predict_proba(X)  # first: it says so where nothing was fitted
        labels: NDArray[Any] = np.asarray(self.classes_)[self.model_.decide(proba)]
        return labels

    def predict_set(self, X: Any, coverage: float = 0.9) -> NDArray[np.bool_]:
        """Labels among which the truth is for a share `coverage` of new rows, from errors on rows held out.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name. A file, or a dictionary of columns, will do.
        coverage : float between 0 and 1, default=0.9
            The share. `model_.intervals.promise` says what is promised of it, and `woodwind evaluate` tries it on new rows.

        Returns
        -------
        array of shape (n_rows, n_classes)
            True where a label of `classes_` is in the set. The one that is predicted always is.
        """
        proba = self.predict_proba(X)
        known = self.model_.require_intervals()
        return known.sets(proba, known.coverage(coverage, self._owner), self.model_.decide(proba))

    @property
    def positive_(self) -> Any:
        """The label of the positive one of two classes; None where there are more."""
        check_is_fitted(self)
        return np.asarray(self.classes_)[self.model_.positive] if self.model_.task == "binary" else None

    @property
    def threshold_(self) -> float | None:
        """The probability from which on the positive class is predicted; None: the likelier class is."""
        check_is_fitted(self)
        return self.model_.threshold


@knobs
class AutoEnsembleRegressor(AutoParams, BaseAutoEnsemble, RegressorMixin, BaseEstimator):
    """The best blend of members of many kinds that a given time allows, for numbers.

    {about}

    {parameters}

    Attributes
    ----------
    {model}
    {columns}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from woodwind import AutoEnsembleRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = AutoEnsembleRegressor(models=2).fit(X, y)
    >>> bool(model.score_ < 60)
    True
    """

    def _read_target(self, y: Any, sample_weight: Any) -> tuple[Target, Floats | None]:
        target = read_regression_target(y, self._owner)
        weight = read_weight(sample_weight, target.n_rows, self._owner)
        warn_constant(target.y if weight is None else target.y[weight > 0.0], self._owner)
        return target, weight

    def predict(self, X: Any) -> Floats:
        """The number that is expected for each row.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name. A file, or a dictionary of columns, will do.
        """
        return np.asarray(self._scores(X)[:, 0])

    def predict_interval(self, X: Any, coverage: float = 0.9) -> tuple[Floats, Floats]:
        """Bounds between which the truth lies for a share `coverage` of new rows, from errors on rows held out.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name. A file, or a dictionary of columns, will do.
        coverage : float between 0 and 1, default=0.9
            The share. `model_.intervals.promise` says what is promised of it, and `woodwind evaluate` tries it on new rows.

        Returns
        -------
        low, high : arrays of shape (n_rows,)
            Infinite where too few rows were held out for such a share, which a warning says.
        """
        predicted = self.predict(X)
        known = self.model_.require_intervals()
        return known.bounds(predicted, known.coverage(coverage, self._owner))
