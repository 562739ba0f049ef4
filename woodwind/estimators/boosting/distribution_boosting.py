"""Natural-gradient boosting: a predictive distribution for every row (NGBoost, Duan et al. 2020)."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin

from woodwind.base.docstrings import fill_docstring
from woodwind.base.errors import ParameterError
from woodwind.base.validate import require
from woodwind.data.tables.survival_times import is_bounds, read_bounds
from woodwind.distributions.base import Distribution
from woodwind.distributions.censored import CensoredDistribution
from woodwind.distributions.named import NAMED, distribution_for
from woodwind.distributions.predicted import PredictedDistribution
from woodwind.ensemble.boosting import auto_defaults, precompile
from woodwind.ensemble.boosting.boost_plan import BoostPlan
from woodwind.ensemble.boosting.held_out_spread import spread_trees, train_calibrated, train_in_stages
from woodwind.ensemble.boosting.training import StoppingRule, TrainedBoosting, WatchedRows
from woodwind.ensemble.boosting.training_rows import TrainingRows
from woodwind.estimators.base.model import named_owner, row_count
from woodwind.estimators.base.target import Target, read_regression_target, warn_constant
from woodwind.estimators.boosting.boosted_model import PREDICTED_ROWS, Floats
from woodwind.estimators.boosting.encoded_table import EncodedTable
from woodwind.estimators.boosting.gradient_boosting_base import BaseGradientBoosting
from woodwind.estimators.boosting.init_scores import constant_of, is_model
from woodwind.estimators.boosting.plan import Values, given_options, has_own_thresholds
from woodwind.estimators.boosting.training_input import BoostingInput
from woodwind.estimators.boosting.warm_start import WarmStartState
from woodwind.losses.base import Loss
from woodwind.losses.distribution_score import DistributionScore
from woodwind.params.groups import BinParams, BoostParams, ClusterParams, ConstraintParams, RunParams, SampleParams, StopParams, TreeParams
from woodwind.params.knobs import knobs, spelled
from woodwind.tree.shap_result import PARAMETER

# Larger tables are not boosted in folds: there a share of the rows tells enough, and time counts.
MOST_ROWS_IN_FOLDS, MOST_VALUES_IN_FOLDS = 20_000, 400_000
# Of very few rows, a fifth less makes locations so much worse that the spread around them would be too large for the model of all rows.
FEW_ROWS, MORE_FOLDS = 500, 10
LEAST_ROWS_IN_FOLDS = 20


@knobs
class NaturalGradientParams:
    """How the parameters of distributions are learned."""

    natural_gradient: Annotated[
        bool,
        "Trees are fitted to natural gradients, for which it does not matter how the distribution is parametrised; False: to gradients.",
    ] = True
    multi_output: Annotated[
        Literal["vector", "one_per_parameter"],
        "'vector' grows one tree in each round, whose leaves hold a value for every parameter; 'one_per_parameter' grows one for each.",
    ] = "vector"
    line_search: Annotated[
        bool,
        "Stretch or shorten the trees of a round as long as the score of the training rows improves, before the learning rate, as the "
        "paper does. Leaves are not fitted once more then.",
    ] = False


@knobs
class DistributionParams(NaturalGradientParams):
    """Which distribution is learned, and how."""

    distribution: Annotated[
        Any,
        spelled(f"{', '.join(map(repr, NAMED))} or a distribution object"),
        "What every row is given: a distribution of this family. An object carries its own numbers, as in "
        "distribution=woodwind.distributions.StudentTDistribution(df=4); your own is derived from woodwind.distributions.Distribution.",
    ] = "normal"
    scoring_rule: Annotated[
        Literal["log_score", "crps"],
        "What is minimised: minus the log density, or the continuous ranked probability score, which outliers move less.",
    ] = "log_score"
    spread: Annotated[
        Literal["auto", "joint", "held_out"],
        "How parameters beyond the location are learned: 'joint', in the same rounds; 'held_out', after it, from rows whose location was "
        "predicted by a model that did not see them, in folds. 'auto' is 'held_out' for small tables, which are boosted in folds; in "
        "larger ones the spread that was learned with the location is shifted by what suits the rows held out.",
    ] = "auto"


class BaseDistributionBoosting(BaseGradientBoosting):
    """What natural-gradient boosting of numbers and of classes share."""

    @property
    def distribution_(self) -> Distribution:
        """The family that was learned."""
        family: Distribution = self.loss_.distribution  # type: ignore[attr-defined]
        return family.of if isinstance(family, CensoredDistribution) else family

    def _fit(self, values: Values, X: Any, y: Any, sample_weight: Any, groups: Any = None, eval_set: Any = None) -> None:
        if values["learning_rate"] == "auto":
            values = values | {"learning_rate": auto_defaults.learning_rate(row_count(X) or 1)}
        one_each = values["multi_output"] == "one_per_parameter"
        values = values | {"multiclass": "one_per_class" if one_each else "vector"}
        super()._fit(values, X, y, sample_weight, groups, eval_set)

    def _check_options(self, values: Values, family: Distribution) -> None:
        """Refuse what does not go together, before any work is done."""
        owner = self._owner
        if values["monotonic_cst"] is not None and family.width > 1:
            raise ParameterError(
                f"{owner}: monotonic_cst is for distributions of one parameter, and {family.title} has {family.width}. "
                "Set monotonic_cst=None."
            )
        if is_model(values["init"]) or constant_of(values["init"], owner) is not None:
            raise ParameterError(
                f"{owner}: init must be an array of scores, (n_rows, {family.width}), or None; a model predicts means alone, and one "
                "number is not a start for all parameters."
            )
        if values["boosting"] == "ordered":
            raise ParameterError(
                f"{owner}: boosting='ordered' is not for distributions: models of one or two rows have no spread to start from. "
                "Set boosting='plain'."
            )
        for name, default in given_options(values).items():
            if name != "n_parallel_trees":
                raise ParameterError(f"{owner}: {name}={values[name]!r} is not for parameters of distributions. Set {name}={default!r}.")
        if values["line_search"] and values["boosting"] == "dart":
            raise ParameterError(f"{owner}: line_search=True is not for boosting='dart', which shrinks trees again. Set line_search=False.")

    def _train(
        self, rows: TrainingRows, plan: BoostPlan, stop: StoppingRule, watched: WatchedRows, earlier: TrainedBoosting | None, values: Values
    ) -> TrainedBoosting:
        if values["line_search"]:
            # How far a round goes was found with its own leaves.
            plan, stop = replace(plan, line_search=True), replace(stop, refit=False)
        return super()._train(rows, plan, stop, watched, earlier, values)

    @property
    def _scale(self) -> str:
        return PARAMETER

    def _score_names(self, width: int) -> tuple[str, ...]:
        return tuple(self.distribution_.parameters)


@knobs
class DistributionBoostingRegressor(
    DistributionParams,
    BoostParams,
    TreeParams,
    BinParams,
    SampleParams,
    ConstraintParams,
    StopParams,
    ClusterParams,
    RunParams,
    BaseDistributionBoosting,
    RegressorMixin,
    BaseEstimator,
):
    """Natural-gradient boosting: a predictive distribution for every row.

    `predict` gives means; `predict_distribution` gives distributions, with quantiles, intervals, densities and samples. Targets may be
    censored: `y` is then (n_rows, 2), lower and upper bounds, infinite where there are none; or a structured array of event and time.

    {parameters}

    Attributes
    ----------
    distribution_ : Distribution
        The family that was learned.
    spread_ : str
        How its spread was learned: 'joint', 'held_out', or 'shifted', which is joint and then shifted by what suits the rows held out.
    {model}
    {columns}

    Notes
    -----
    {auto}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from woodwind import DistributionBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = DistributionBoostingRegressor(n_estimators=100, random_state=0).fit(X, y)
    >>> low, high = model.predict_distribution(X).interval(0.9)
    >>> bool(((low <= y) & (y <= high)).mean() > 0.8)
    True
    """

    _state: ClassVar[dict[str, Any]] = {"spread_": str}

    def _read_target(self, y: Any, known: NDArray[Any] | None = None) -> Target:
        bounds = read_bounds(y, self._owner) if is_bounds(y) else None
        return read_regression_target(y, self._owner) if bounds is None else Target(bounds)

    def _given(self, X: Any, y: Any, sample_weight: Any, groups: Any, values: Values, earlier: WarmStartState | None) -> BoostingInput:
        given = super()._given(X, y, sample_weight, groups, values, earlier)
        if given.target.y.ndim == 2:
            self._check_censored(values, given.weighing.at(given.target.y))
        return given

    def _check_censored(self, values: Values, bounds: Floats) -> None:
        """Refuse what is not for targets that are known within bounds, before any work is done."""
        needs = {"scoring_rule": "log_score", "scoring": None}
        for name, value in needs.items():
            if values[name] != value:
                raise ParameterError(
                    f"{self._owner}: {name}={values[name]!r} is not for targets that are known within bounds. Set {name}={value!r}."
                )
        if values["spread"] == "held_out":
            raise ParameterError(
                f"{self._owner}: spread='held_out' is not for targets that are known within bounds. Set spread='auto' or spread='joint'."
            )
        with named_owner(self._owner):
            CensoredDistribution(distribution_for(values["distribution"])).check_bounds(bounds)

    def _encoded(self, given: BoostingInput, values: Values, earlier: WarmStartState | None, seed: int) -> EncodedTable:
        if given.target.y.ndim == 2:  # means of categories are those of one number for each row
            given = replace(given, target=Target(CensoredDistribution.middle(given.target.y)))
        return super()._encoded(given, values, earlier, seed)

    def _make_loss(self, target: Target) -> Loss:
        family = distribution_for(self.distribution)
        if target.y.ndim == 2:
            family = CensoredDistribution(family)
        else:
            warn_constant(target.y, self._owner)
        loss = DistributionScore(family, self.scoring_rule, self.natural_gradient)
        loss.check_target(target.y)
        return loss if self.line_search else loss.for_target(target.y, None)

    def _fit(self, values: Values, X: Any, y: Any, sample_weight: Any, groups: Any = None, eval_set: Any = None) -> None:
        family = distribution_for(values["distribution"])
        if values["scoring_rule"] == "crps" and not family.has_crps:
            raise ParameterError(
                f"{self._owner}: scoring_rule='crps' is not for {family}, whose CRPS is infinite. Set scoring_rule='log_score'."
            )
        self._check_options(values, family)
        if values["spread"] == "held_out":
            self._check_held_out(values, family, row_count(X) or 0, eval_set is not None)
            values = values | {"early_stopping": "auto"}
        super()._fit(values, X, y, sample_weight, groups, eval_set)

    def _check_held_out(self, values: Values, family: Distribution, n_rows: int, has_eval_set: bool) -> None:
        """Refuse spread='held_out' where nothing can be held out, or nothing be learned after the location."""
        needs = {
            "warm_start=False": not values["warm_start"],
            "line_search=False": not values["line_search"],
            "natural_gradient=True": values["natural_gradient"],
            "boosting='plain'": values["boosting"] == "plain",
            "early_stopping='auto' or True": values["early_stopping"] is not False,
            "a distribution with a location and a spread around it": family.has_spread,
            "folds, and no eval_set": not has_eval_set,
            f"{LEAST_ROWS_IN_FOLDS} rows": n_rows >= LEAST_ROWS_IN_FOLDS,
        }
        lacking = [need for need, met in needs.items() if not met]
        if lacking:
            raise ParameterError(f"{self._owner}: spread='held_out' needs {lacking[0]}. Set that, or spread='joint'.")

    def _train(
        self, rows: TrainingRows, plan: BoostPlan, stop: StoppingRule, watched: WatchedRows, earlier: TrainedBoosting | None, values: Values
    ) -> TrainedBoosting:
        if watched.folds is not None and self._may_be_staged(values):
            self.spread_ = "held_out"
            leaves, least = (values[name] == "auto" for name in ("max_leaf_nodes", "min_samples_leaf"))
            return train_in_stages(rows, plan, spread_trees(plan.tree, leaves, least, rows.codes.n_rows), stop, watched, self._owner)
        if values["spread"] == "auto" and watched.held is not None and stop.early and self._may_be_staged(values):
            self.spread_ = "shifted"
            return train_calibrated(rows, plan, stop, watched, self._owner)
        self.spread_ = "joint"
        return super()._train(rows, plan, stop, watched, earlier, values)

    def _may_be_staged(self, values: Values) -> bool:
        """Whether the spread can be learned after the location."""
        alone = values["warm_start"] or values["line_search"] or not values["natural_gradient"] or values["spread"] == "joint"
        return self.loss_.distribution.has_spread and not alone  # type: ignore[attr-defined]

    def _check_refit(self, values: Values, decay_rate: Any, init: Any) -> None:
        super()._check_refit(values, decay_rate, init)
        if self.spread_ != "joint":
            raise ParameterError(
                f"{self._owner}: refit_leaves goes through the rounds one by one, and the spread of this model is of rows held out. "
                "Train anew, or with spread='joint'."
            )

    def _how_held_out(self, n_rows: int, values: Values) -> str:
        if values["spread"] == "held_out":
            return "folds"
        found = super()._how_held_out(n_rows, values)
        few = n_rows * len(self.schema_.feature_names) <= MOST_VALUES_IN_FOLDS and n_rows <= MOST_ROWS_IN_FOLDS
        return "folds" if found == "share" and few and self._may_be_staged(values) else found

    def _n_folds(self, n_rows: int) -> int:
        return MORE_FOLDS if n_rows < FEW_ROWS else super()._n_folds(n_rows)

    def _precompile(self, values: Values, n_classes: int) -> None:
        if not has_own_thresholds(values):
            width = distribution_for(values["distribution"]).width
            together = values["multi_output"] == "vector" and values["growth"] != "symmetric"
            precompile.start(width if together else 1, values["growth"])

    @fill_docstring(rows=PREDICTED_ROWS)
    def predict_distribution(self, X: Any, init: Any = None, n_rounds: int | None = None) -> PredictedDistribution:
        """The distribution of each row.

        Parameters
        ----------
        {rows}

        Returns
        -------
        PredictedDistribution
            With `mean`, `std`, `median`, `quantile`, `interval`, `cdf`, `pdf`, `logpdf`, `crps` and `sample`, in the shapes of SciPy.
        """
        raw = self._raw(X, init, n_rounds)
        return PredictedDistribution(self.distribution_, raw.reshape(len(raw), -1))

    def staged_predict_distribution(self, X: Any, init: Any = None) -> Iterator[PredictedDistribution]:
        """The distributions after every round."""
        for raw in self._staged(X, init):
            yield PredictedDistribution(self.distribution_, raw.reshape(len(raw), -1).copy())

    def _check_state(self) -> None:
        """There is a score for each parameter of the distribution."""
        require(self.spread_ in ("joint", "held_out", "shifted"), "the spread was learned in no known way")
        require(isinstance(self.loss_, DistributionScore), "the loss is of another task")
        require(self.forest_.n_outputs == self.loss_.width, "there are other scores than parameters of the distribution")
