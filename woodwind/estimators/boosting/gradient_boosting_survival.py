"""Gradient boosting for survival times."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from woodwind.base.did_you_mean import did_you_mean, spelling
from woodwind.base.docstrings import fill_docstring
from woodwind.base.errors import CensoringWarning, DataError, ParameterError
from woodwind.base.notice import notice
from woodwind.base.validate import require
from woodwind.data.binning.cuts import Cuts
from woodwind.data.binning.ranks import Ranking
from woodwind.data.tables.survival_times import at_times, is_event, nelson_aalen, read_survival_times
from woodwind.distributions.survival_functions import (
    CumulativeHazardFunctions,
    FailureTimes,
    PredictedTimes,
    ProportionalHazards,
    SurvivalFunctions,
    aft_distribution,
)
from woodwind.ensemble.boosting.boost_plan import BoostPlan
from woodwind.ensemble.boosting.early_stopping import Evaluator, add_trees
from woodwind.ensemble.boosting.held_out_spread import BestScores
from woodwind.ensemble.boosting.training import StoppingRule, TrainedBoosting, WatchedRows
from woodwind.ensemble.boosting.training_rows import TrainingRows
from woodwind.estimators.base.model import all_or_nothing, check_lengths, named_owner
from woodwind.estimators.base.scoring import WatchedMetric
from woodwind.estimators.base.target import Target
from woodwind.estimators.base.weights import read_weight
from woodwind.estimators.boosting.block_input import opened_input
from woodwind.estimators.boosting.boosted_model import Floats
from woodwind.estimators.boosting.encoded_table import EncodedTable
from woodwind.estimators.boosting.gradient_boosting_base import BaseGradientBoosting
from woodwind.estimators.boosting.init_scores import is_model
from woodwind.estimators.boosting.like import parameters_like
from woodwind.estimators.boosting.plan import Values
from woodwind.estimators.boosting.training_input import BoostingInput, EvaluatedRows, ValidationSet, ValidationSplit
from woodwind.estimators.boosting.warm_start import WarmStartState
from woodwind.losses.base import Loss
from woodwind.losses.survival import AcceleratedFailureTime, CoxPartialLikelihood, SurvivalLoss, survival_loss
from woodwind.metrics.survival import NAME, SYNONYMS, Concordance
from woodwind.params.check import check
from woodwind.params.describe import declared
from woodwind.params.groups import BinParams, BoostParams, ClusterParams, ConstraintParams, RunParams, SampleParams, StopParams, TreeParams
from woodwind.params.knobs import knobs, spelled
from woodwind.params.survival import SurvivalParams
from woodwind.params.unknown import known_arguments

TIMES = """
y : structured array, frame of two columns, or array of shape (n_rows, 2)
    What is known of the time of each row's event. Events with times, as in scikit-survival: a field or column of truth values, True where
    the event was seen, and one of times, that of the event or the last at which one looked. Or the lower and the upper bound of each time,
    as in XGBoost: both the same for an event, an upper bound of infinity where none was seen, a lower bound of 0 where it came before one
    looked. One column of times is one of events that were all seen.
"""
SURVIVAL_DATA = f"""
X : table
    Rows to learn from: a NumPy array, a SciPy sparse matrix, a frame of pandas or polars, an Arrow table, a list of rows; numbers, text,
    categories, dates and missing values as they come.
{TIMES.strip()}
sample_weight : sequence of numbers, one for each row, default=None
    How much each row counts, in sums over rows at risk as well. A row of weight zero is absent, one of weight two is there twice.
"""
# Of fewer events none are held out where nobody asked for it: what is left would say nothing about either.
LEAST_EVENTS_TO_STOP = 20


@knobs
class GradientBoostingSurvivalAnalysis(
    BoostParams,
    SurvivalParams,
    TreeParams,
    BinParams,
    SampleParams,
    ConstraintParams,
    StopParams,
    ClusterParams,
    RunParams,
    BaseGradientBoosting,
    BaseEstimator,
):
    """Gradient boosting for survival times, some of which are censored: Cox's proportional hazards, or accelerated failure time.

    It has the name that scikit-survival gave to it, so that who knows that library finds it. With loss='cox', `predict` gives logarithms
    of hazard ratios: the higher, the earlier the event is expected. With loss='aft' it gives median times: the higher, the later.
    `predict_survival_function` gives the probability of no event up to any time, and `score` the concordance.

    {parameters}

    Attributes
    ----------
    unique_times_ : array of shape (n_times,)
        With loss='cox', the times of events; else empty.
    cum_baseline_hazard_ : array of shape (n_times,)
        With loss='cox', the cumulative hazard from each of these times on of a row whose score is 0, by Breslow.
    {model}
    {columns}

    Notes
    -----
    {auto}

    Examples
    --------
    >>> import numpy as np
    >>> from woodwind import GradientBoostingSurvivalAnalysis
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((300, 2))
    >>> time, end = rng.exponential(np.exp(2.0 - 3.0 * X[:, 0])), rng.exponential(10.0, 300)
    >>> y = np.array(list(zip(time <= end, np.minimum(time, end))), dtype=[("event", bool), ("time", float)])
    >>> model = GradientBoostingSurvivalAnalysis(n_estimators=50, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.7)
    True
    >>> model.predict_survival_function(X[:4])([1.0, 5.0]).shape
    (4, 2)
    """

    _state: ClassVar[dict[str, Any]] = {"unique_times_": Floats, "cum_baseline_hazard_": Floats}

    loss: Annotated[
        Any,
        spelled("'cox', 'aft' or a loss object"),
        "What is minimised: 'cox' is minus the logarithm of Cox's partial likelihood, in which hazards of rows are proportional and times "
        "count by their order alone; 'aft', accelerated failure time, minus that of the times themselves, and takes times within bounds. "
        "Other libraries' names for it, such as 'survival:cox' and 'coxph', are understood.",
    ] = "cox"
    scoring: Annotated[
        str | list | tuple | None,
        "What is watched: 'concordance_index', or None for the loss. Of several in a list, the first is stopped by, and `evals_result_` "
        "has the curves of all.",
    ] = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.positive_only = True
        return tags

    @classmethod
    def like(cls, library: str, /, **parameters: Any) -> Self:
        """An estimator with the defaults and the conventions of another library's survival boosting.

        Parameters
        ----------
        library : str
            'xgboost', or 'catboost', whose names and defaults are understood; their losses are Breslow's, and their AFT has a scale of 1.
        **parameters
            Values by their names there, such as objective='survival:aft' and aft_loss_distribution='logistic'.

        Returns
        -------
        estimator
            Not trained yet.
        """
        return cls(**survival_parameters_like(library, parameters, [knob.name for knob in declared(cls)]))

    @known_arguments
    @fill_docstring(data=SURVIVAL_DATA)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None, eval_set: Any = None) -> Self:
        """Train.

        Parameters
        ----------
        {data}
        groups : sequence of labels, one for each row, default=None
            Rows of one group are held out together for early stopping, such as those of one patient.
        eval_set : (X, y) or (X, y, sample_weight), or several of them in a list or, by name, in a dict; default=None
            Data to stop by, instead of a share of the rows. Of several tables the last one is stopped by, and the others are watched.

        Returns
        -------
        self
        """
        values = check(self)
        with all_or_nothing(self):
            self._fit(values, *opened_input(X, y, sample_weight, groups, values, self._owner), eval_set)
        return self

    # What survival times do in their own way.

    def _read_target(self, y: Any, known: NDArray[Any] | None = None) -> Target:
        bounds, told = read_survival_times(y, self._owner)
        if not told:
            notice(f"{self._owner}: y has times and no events, so that every row is taken to have its event at its time.", CensoringWarning)
        return Target(bounds)

    def _make_loss(self, target: Target) -> Loss:
        return self._loss_of(self.loss, self.ties, self.distribution, self.scale)

    @staticmethod
    def _loss_of(loss: Any, ties: str, distribution: Any, scale: Any) -> SurvivalLoss:
        return survival_loss(loss, ties, distribution, None if scale == "auto" else float(scale))

    def _given(self, X: Any, y: Any, sample_weight: Any, groups: Any, values: Values, earlier: WarmStartState | None) -> BoostingInput:
        with named_owner(self._owner):
            loss = self._loss_of(*(values[name] for name in ("loss", "ties", "distribution", "scale")))
        if values["boosting"] == "ordered" and isinstance(loss, CoxPartialLikelihood):
            raise ParameterError(
                f"{self._owner}: boosting='ordered' takes gradients of some of the rows, and Cox's are of all rows together. "
                "Set boosting='plain' or loss='aft'."
            )
        if is_model(values["init"]) and hasattr(values["init"], "predict"):
            raise ParameterError(
                f"{self._owner}: init must be None, a number, scores of the rows or a function of X that gives scores; predictions of "
                f"{type(values['init']).__name__} are not on the scale of this loss."
            )
        given = super()._given(X, y, sample_weight, groups, values, earlier)
        with named_owner(self._owner):
            loss.check_target(given.weighing.at(given.target.y))
        return given

    def _encoded(self, given: BoostingInput, values: Values, earlier: WarmStartState | None, seed: int) -> EncodedTable:
        # Categories that are read as means of the target are read as means of martingale residuals: events less those expected.
        residual = Target(martingale_residuals(given.target.y, given.weighing.given))
        return super()._encoded(replace(given, target=residual), values, earlier, seed)

    def _bound_loss(self, given: BoostingInput, training: Target) -> Loss:
        assert isinstance(self.loss_, SurvivalLoss)
        return self.loss_.bound(training.y)

    def _split(self, given: BoostingInput, eval_set: Any, values: Values, seed: int) -> ValidationSplit:
        """Rows are held out with events and without in their shares."""
        happened = is_event(given.target.y)
        events = int(given.weighing.at(happened).sum())
        if values["early_stopping"] == "auto" and events < LEAST_EVENTS_TO_STOP:
            return ValidationSplit()
        by_event = Target(happened.astype(np.uint8), np.array([False, True]))
        split = super()._split(replace(given, target=by_event), eval_set, values, seed)
        if split.held is not None and not happened[split.held].any():
            raise DataError(
                f"{self._owner}: none of the rows held out has an event, so that they say nothing. Set early_stopping=False, or hold more "
                "out with validation_fraction."
            )
        return split

    def _outside(self, eval_set: Any, cuts: Cuts | Ranking, target: Target, values: Values) -> list[ValidationSet]:
        tables = super()._outside(eval_set, cuts, target, values)
        for table in tables:
            with named_owner(f"{self._owner}, eval_set"):
                self.loss_.check_target(table.rows.y)
        return tables

    def _metrics(self, values: Values) -> list[WatchedMetric]:
        scoring = values["scoring"]
        listed = list(scoring) if isinstance(scoring, list | tuple) else [scoring]
        found = [self._metric(one) for one in listed]
        names = [metric.name for metric in found]
        if not names or len(set(names)) < len(names):
            raise ParameterError(f"{self._owner}: scoring must name at least one metric, and each once, but it is {scoring!r}.")
        return found

    def _metric(self, scoring: Any) -> WatchedMetric:
        plain = spelling(scoring) if isinstance(scoring, str) else ""
        if scoring is None or plain in (self.loss_.name, *self.loss_.aliases):
            return WatchedMetric(self.loss_.name, None)
        if plain == NAME or plain in SYNONYMS:
            return WatchedMetric(NAME, Concordance)
        hint = did_you_mean(plain, (NAME, self.loss_.name)) if plain else ""
        raise ParameterError(
            f"{self._owner}: scoring must be {NAME!r}, or None for the loss, or both in a list, not {scoring!r}. {hint}".rstrip()
        )

    def _evaluator(self, metric: WatchedMetric, loss: Loss, rows: EvaluatedRows) -> Evaluator:
        assert isinstance(self.loss_, SurvivalLoss)
        if metric.scorer is None:
            return self.loss_.evaluator(rows.y, rows.weight, self._threads)
        ordered, sign = Concordance(rows.y, rows.weight), self._sign
        return lambda raw: -_half_for_none(ordered(sign * np.ascontiguousarray(raw)))

    @property
    def _sign(self) -> float:
        """What turns scores into risks."""
        return 1.0 if isinstance(self.loss_, CoxPartialLikelihood) else -1.0

    def _train(
        self, rows: TrainingRows, plan: BoostPlan, stop: StoppingRule, watched: WatchedRows, earlier: TrainedBoosting | None, values: Values
    ) -> TrainedBoosting:
        best = BestScores()
        trained = super()._train(rows, plan, stop, noting_best(watched, best), earlier, values)
        raw = rows.raw(trained.start)
        add_trees(raw, trained.trees, rows.codes, plan.threads, rows.numbers)
        if isinstance(self.loss_, AcceleratedFailureTime) and self.loss_.scale is None:
            # Rows that were learned from are nearer to their scores than others will be.
            held = rows if not watched.outside else watched.outside[-1][0]
            some, scores = (best.positions, best.raw) if len(best.raw) else (np.arange(len(raw)), raw)
            weight = None if held.weight is None else held.weight[some]
            self.loss_ = replace(self.loss_, scale=self.loss_.fitted_scale(held.y[some], scores, weight))
        self._set_baseline(rows.y, raw, rows.weight)
        return trained

    def _set_baseline(self, y: Floats, raw: Floats, weight: Floats | None) -> None:
        self.unique_times_, self.cum_baseline_hazard_ = np.zeros(0), np.zeros(0)
        if isinstance(self.loss_, CoxPartialLikelihood):
            self.unique_times_, self.cum_baseline_hazard_ = self.loss_.baseline(y, raw, weight)

    def refit_leaves(self, X: Any, y: Any, sample_weight: Any = None, decay_rate: float = 0.0, init: Any = None) -> Self:
        """A model with the same splits, whose leaf values and baseline are learned from other rows, such as those of a new month.

        A leaf that none of these rows reaches keeps its value. This model stays as it is.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.
        y : survival times, as in `fit`
            What is known of the time of each row's event.
        sample_weight : sequence of numbers, one for each row, default=None
            Weights, as in `fit`.
        decay_rate : float from 0 to 1, default=0.0
            Share of the old leaf values that stays: 0 takes the new ones, 0.9 goes a tenth of the way.
        init : scores, default=None
            Scores of these rows to start from, for a model that was trained with an array as `init`.

        Returns
        -------
        estimator
            A new one of the same class. Its scores of rounds are those of the training of this one.
        """

        def bound(loss: Loss, target: Target, rows: NDArray[np.int64]) -> Loss:
            assert isinstance(loss, SurvivalLoss)
            return loss.bound(target.y[rows])

        model = self._with_new_leaves(X, y, sample_weight, decay_rate, init, bound)
        bounds = read_survival_times(y, self._owner)[0]
        model._set_baseline(bounds, model._raw(X, init), read_weight(sample_weight, len(bounds), self._owner))
        return model

    # Prediction.

    def predict(self, X: Any, init: Any = None, n_rounds: int | None = None) -> Floats:
        """With loss='cox' the logarithm of each row's hazard ratio, higher for earlier events; with loss='aft' its median time.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.
        init : scores, default=None
            Scores to add to those of the model, for a model that was trained with an array as `init`.
        n_rounds : int, default=None
            Predict with the first so many rounds; None for all `n_iter_` of them.
        """
        return self._predicted(self._raw(X, init, n_rounds))

    def predict_survival_function(self, X: Any, init: Any = None, n_rounds: int | None = None) -> SurvivalFunctions:
        """Survival functions of the rows: to be called with times, for the probability of no event up to each.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.
        init : scores, default=None
            Scores to add to those of the model, for a model that was trained with an array as `init`.
        n_rounds : int, default=None
            Predict with the first so many rounds; None for all `n_iter_` of them.

        Returns
        -------
        SurvivalFunctions
            `functions(times)` is an array (n_rows, n_times); `functions[i]` is the function of one row; `functions.median()` are times.
        """
        return SurvivalFunctions(self._predicted_times(X, init, n_rounds))

    def predict_cumulative_hazard_function(self, X: Any, init: Any = None, n_rounds: int | None = None) -> CumulativeHazardFunctions:
        """Cumulative hazards of the rows, minus the logarithms of their survival functions; parameters as there.

        Returns
        -------
        CumulativeHazardFunctions
            `functions(times)` is an array (n_rows, n_times).
        """
        return CumulativeHazardFunctions(self._predicted_times(X, init, n_rounds))

    def _predicted_times(self, X: Any, init: Any, n_rounds: int | None) -> PredictedTimes:
        raw, loss = self._raw(X, init, n_rounds), self.loss_
        if isinstance(loss, AcceleratedFailureTime):
            assert loss.scale is not None
            return FailureTimes(loss.distribution, loss.scale, raw)
        return ProportionalHazards(self.unique_times_, self.cum_baseline_hazard_, raw)

    @fill_docstring(times=TIMES)
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Harrell's concordance: the share of pairs, of those of which it is known, whose events come in the order that is predicted.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.
        {times}
        sample_weight : sequence of numbers, one for each row, default=None
            A pair counts by the product of the weights of its rows.

        Returns
        -------
        float
        """
        raw = self._raw(X)
        bounds = read_survival_times(y, self._owner)[0]
        check_lengths(self._owner, len(raw), len(bounds))
        return Concordance(bounds, read_weight(sample_weight, len(bounds), self._owner))(self._sign * raw)

    @property
    def _scale(self) -> str:
        return "log hazard ratio" if isinstance(self.loss_, CoxPartialLikelihood) else "logarithm of the time"

    def _check_state(self) -> None:
        """The baseline is one, and the scale is known."""
        require(isinstance(self.loss_, SurvivalLoss), "the loss is of another task")
        require(self.forest_.n_outputs == 1, "there are several scores")
        self.loss_.check()  # type: ignore[attr-defined]
        times, hazard = self.unique_times_, self.cum_baseline_hazard_
        require(times.ndim == 1 and times.shape == hazard.shape, "the baseline has other times than hazards")
        require(bool((np.diff(times) > 0.0).all() and (np.diff(hazard, prepend=0.0) >= 0.0).all()), "the baseline does not rise")
        is_cox = isinstance(self.loss_, CoxPartialLikelihood)
        require((len(times) > 0) == is_cox, "there is a baseline where none should be, or none")
        require(is_cox or getattr(self.loss_, "scale", None) is not None, "there is no scale")


def martingale_residuals(bounds: Floats, weight: Floats | None) -> Floats:
    """Event less the cumulative hazard of all rows at its time: what a row died more than expected."""
    happened = is_event(bounds)
    when = np.where(happened, bounds[:, 1], bounds[:, 0])
    present = slice(None) if weight is None else weight > 0.0
    times, hazard = nelson_aalen(bounds[present], None if weight is None else weight[present])
    return np.asarray(happened - at_times(times, hazard, when, 0.0))


def noting_best(watched: WatchedRows, best: BestScores) -> WatchedRows:
    """What is watched, with a note of the scores of the validation rows in their best round."""

    def inside(positions: NDArray[np.int64], loss: Loss, is_held: bool) -> Evaluator:
        found = watched.evaluate_inside(positions, loss, is_held)
        return best.watching(found, positions) if is_held else found

    outside = list(watched.outside)
    if outside:
        last, evaluate = outside[-1]
        outside[-1] = (last, lambda loss: best.watching(evaluate(loss), np.arange(len(last.y))))
    return replace(watched, evaluate_inside=inside, outside=outside)


def _half_for_none(concordance: float) -> float:
    """Chance, where there is no pair to tell."""
    return 0.5 if np.isnan(concordance) else concordance


def survival_parameters_like(library: str, given: Mapping[str, Any], names: list[str]) -> dict[str, Any]:
    """Our parameters for survival boosting of another library."""
    rest = dict(given)
    named = next((rest.pop(name) for name in ("objective", "loss_function", "loss") if name in rest), "survival:cox")
    text = str(named)
    own: dict[str, Any] = {}
    if spelling(library) in ("catboost", "cat", "cb") and ":" in text and not text.startswith("survival:"):
        text, _, numbers = text.partition(":")
        told = dict(part.split("=", 1) for part in numbers.split(";") if "=" in part)
        own = {"distribution": told.get("dist", "normal"), "scale": float(told.get("scale", 1.0))}
    loss = survival_loss(text, "breslow", "normal", None).name
    if loss == "aft":
        own.setdefault("distribution", rest.pop("aft_loss_distribution", "normal"))
        own.setdefault("scale", float(rest.pop("aft_loss_distribution_scale", 1.0)))
        own["distribution"] = aft_distribution(own["distribution"])
    else:
        own = {"ties": "breslow"}
    found = parameters_like(library, rest, "regression")
    return {name: value for name, value in found.items() if name in names and name != "loss"} | {"loss": loss} | own
