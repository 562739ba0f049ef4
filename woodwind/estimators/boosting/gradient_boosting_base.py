"""Gradient boosting for both tasks: from a table and a target to a forest, and from a forest to scores."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from woodwind.base.docstrings import fill_docstring
from woodwind.base.errors import DataError, ParameterError
from woodwind.base.random_streams import seed_of
from woodwind.base.validate import require, require_array, require_finite
from woodwind.data.binning.codes import Codes
from woodwind.data.binning.cuts import Cuts
from woodwind.data.binning.ranks import Ranking, Ranks
from woodwind.data.tables.schema import Schema
from woodwind.data.tables.table import Table
from woodwind.ensemble import auto_defaults, precompile
from woodwind.ensemble.boost import BoostPlan
from woodwind.ensemble.early_stopping import Evaluator
from woodwind.ensemble.held_out import fold_numbers, hold_out
from woodwind.ensemble.training import StoppingRule, TrainedBoosting, TrainingRows, WatchedRows, train
from woodwind.estimators.base.model import COLUMNS, TRAINING_DATA, all_or_nothing, check_lengths, named_owner, row_count
from woodwind.estimators.base.row_predictor import RowPredictor
from woodwind.estimators.base.scoring import loss_evaluator, read_scorer, rows_of_table, scorer_evaluator
from woodwind.estimators.base.splits import read_eval_set, read_groups
from woodwind.estimators.base.target import Target
from woodwind.estimators.base.tree_base import BaseTreeModel, scale_of
from woodwind.estimators.base.weights import Weighing, read_weight
from woodwind.estimators.boosting.category_statistics import (
    KnownTarget,
    StatisticsTable,
    has_statistics,
    statistics_columns,
    with_statistics,
)
from woodwind.estimators.boosting.init_scores import fitted_init, is_model, model_scores, read_scores
from woodwind.estimators.boosting.plan import Values, boost_plan, check_exact, one_per_class
from woodwind.losses.base import Loss
from woodwind.params.check import check
from woodwind.params.unknown import known_arguments
from woodwind.tree.assemble import assemble
from woodwind.tree.forest import Forest

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class WarmStartState:
    """What another fit needs in order to go on from this one."""

    schema: Schema
    cuts: Cuts | Ranking
    seed: int
    trained: TrainedBoosting

    def check(self) -> "WarmStartState":
        """The trees are of the features that the cuts are of; returns self, or raises DataError."""
        # Codes are counted by kernels: a level more than the cuts have room for would be counted elsewhere.
        fewest = 1 if isinstance(self.cuts, Cuts) else 0
        categories = [0 if names is None else max(len(names), fewest) for names in self.schema.categories]
        require(self.cuts.n_categories.tolist() == categories, "the cuts are of other features than the schema")
        for tree in (*self.trained.trees, *(tree for trees in self.trained.rounds for tree in trees)):
            tree.check_for(self.cuts)
            n_scores, width = self.trained.first.size, tree.value.shape[1]
            fits = width == n_scores if tree.output < 0 else width == 1 and tree.output < n_scores
            require(fits and tree.output >= -1, "a tree adds to a score that is not there")
        require_array(self.trained.first, (None,), "the first scores")
        return self


@dataclass(frozen=True, eq=False)
class BoostingInput:
    """What fit was given, read and checked."""

    X: Any
    target: Target
    weighing: Weighing
    groups: NDArray[np.int64] | None

    @property
    def n_rows(self) -> int:
        """Rows that are trained on."""
        return self.target.n_rows if self.weighing.take is None else len(self.weighing.take)


@dataclass(frozen=True, eq=False)
class ValidationSplit:
    """Which rows of the table are held out: a share of them, or each in its fold; none where both are None."""

    held: NDArray[np.bool_] | None = None
    folds: NDArray[np.int64] | None = None


@dataclass(frozen=True, eq=False)
class ValidationSet:
    """Validation data that the caller gives: as they came, and as the engine wants them."""

    X: Any
    labels: NDArray[Any]
    rows: TrainingRows


@dataclass(frozen=True, eq=False)
class EncodedTable:
    """A table that has been read and coded: several models can be trained from it, in the place of the table itself."""

    schema: Schema
    cuts: Cuts | Ranking
    codes: Codes | Ranks
    statistics: StatisticsTable | None = None  # where some columns are read as statistics of the target

    @classmethod
    def of(
        cls, X: Any, values: Values, weight: Floats | None, threads: int, owner: str, known: KnownTarget | None = None
    ) -> "EncodedTable | None":
        """Read a table, and code it as the parameters of boosting say; `weight` is how much each row counts for bins and levels.

        None where some columns are to be read as statistics of a target that is not given: then each model needs codes of its own.
        """
        schema, table = Schema.learn(X, values["categorical_features"], weight=weight, owner=owner)
        statistics, columns = None, statistics_columns(schema, values["categorical_encoding"], table.n_rows)
        if columns:
            if known is None:
                return None
            check_lengths(owner, table.n_rows, len(known.target.y))
            schema, table = with_statistics(schema, table, columns, known)
            statistics = StatisticsTable(schema, table, known)
            table = statistics.for_training()
        schema.warn_merged(owner)
        bins = values["max_bins"]
        cuts = Ranking.fit(table) if bins is None else Cuts.fit(table, bins, weight, threads)
        return cls(schema, cuts, cuts.encode(table, threads), statistics)

    @classmethod
    def again(cls, X: Any, schema: Schema, cuts: Cuts | Ranking, threads: int, owner: str, known: KnownTarget) -> "EncodedTable":
        """Read another table by a schema and cuts that are there."""
        table, statistics = schema.read(X, owner=owner), None
        check_lengths(owner, table.n_rows, len(known.target.y))
        if has_statistics(schema):
            statistics = StatisticsTable(schema, table, known)
            table = statistics.for_training()
        return cls(schema, cuts, cuts.encode(table, threads), statistics)

    def codes_for(self, take: NDArray[np.int64] | None) -> Callable[[NDArray[np.int32], int], Codes | Ranks] | None:
        """Codes of the rows that are trained on, for a training on some of them; None where they are the same for all trainings."""
        statistics = self.statistics
        if statistics is None:
            return None

        def codes_for(learn: NDArray[np.int32], number: int) -> Codes | Ranks:
            rows = learn.astype(np.int64) if take is None else np.unique(take[learn])
            codes = statistics.codes_for(self.cuts, self.codes, rows, number)
            return codes if take is None else codes.take(take)

        return codes_for


# For the docstrings of the estimators.
MODEL = """
n_iter_ : int
    Rounds of the model.
n_trees_per_iteration_ : int
    Trees of a round: one, or one for each class, times the folds whose models are averaged.
best_iteration_ : int
    The round with the best validation score; `n_iter_` where nothing was held out.
train_score_, validation_score_ : arrays
    Scores before the first round and after each: the loss, of which less is better, or what `scoring` gives, of which more is better.
    The first is of the training rows, or of 10,000 of them drawn at random; the second of the validation rows, and empty where nothing
    was held out.
feature_importances_ : array of shape (n_features_in_,)
    The share of the total gain that each column brought.
forest_ : Forest
    The trees, as arrays.
"""
AUTO = """
What 'auto' means is written in woodwind/ensemble/auto_defaults.py, rule by rule. In short: larger tables take larger steps, grow more
leaves and draw a share of the rows for each tree; wide tables draw features; of a large table a share is held out to stop by, while a small
one is boosted in folds, in which every row is held out once, and the model is the mean of the models of the folds, so that a round has a
tree of each; a table of very few rows is boosted for all `n_estimators`. With `warm_start` the folds only tell the number of rounds.
"""


class BaseGradientBoosting(BaseTreeModel):
    """What the estimators of gradient boosting share."""

    _state: ClassVar[dict[str, Any]] = {
        "schema_": Schema,
        "forest_": Forest,
        "loss_": Loss,
        "init_": Any,
        "_earlier": WarmStartState | None,
        "n_iter_": int,
        "best_iteration_": int,
        "n_trees_per_iteration_": int,
        "train_score_": Floats,
        "validation_score_": Floats,
    }

    _docstring_parts: ClassVar[dict[str, str]] = {"model": MODEL, "columns": COLUMNS, "auto": AUTO}
    loss_: Loss
    init_: Any
    _earlier: WarmStartState | None

    # What each task does in its own way.

    def _read_target(self, y: Any, known: NDArray[Any] | None = None) -> Target:
        raise NotImplementedError

    def _weighed(self, target: Target, weight: Floats | None, values: Values) -> tuple[Target, Weighing]:
        """The target and the weights as they are trained on."""
        return target, Weighing.of(weight)

    def _make_loss(self, target: Target) -> Loss:
        raise NotImplementedError

    def _predicted(self, raw: Floats) -> NDArray[Any]:
        """Predictions from scores."""
        raise NotImplementedError

    # Training.

    @known_arguments
    @fill_docstring(data=TRAINING_DATA)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, eval_set: Any = None) -> Self:
        """Train.

        Parameters
        ----------
        {data}
        groups : sequence of labels, one for each row, default=None
            Rows of one group are held out together for early stopping, such as those of one patient.
        eval_set : (X, y) or (X, y, sample_weight), default=None
            Data to stop by, instead of a share of the rows.

        Returns
        -------
        self
        """
        values = check(self)
        with all_or_nothing(self):
            self._fit(values, X, y, sample_weight, groups, eval_set)
        return self

    def _fit(self, values: Values, X: Any, y: Any, sample_weight: Any, groups: Any = None, eval_set: Any = None) -> None:
        earlier: WarmStartState | None = getattr(self, "_earlier", None) if values["warm_start"] else None
        self._check_rounds(earlier, values)
        given = self._given(X, y, sample_weight, groups, values, earlier)
        check_exact(values, given.target.n_classes, self._owner)
        self._precompile(values, given.target.n_classes)
        seed = seed_of(values["random_state"]) if earlier is None else earlier.seed
        encoded = self._encoded(given, values, earlier, seed)
        schema, cuts, take = encoded.schema, encoded.cuts, given.weighing.take
        codes = encoded.codes if take is None else encoded.codes.take(take)
        training = given.target.at(take)
        self._set_schema(schema)
        with named_owner(self._owner):
            self.loss_, self.init_ = self._make_loss(training), None
            self.loss_.check_target(training.y)
        plan = boost_plan(values, self.loss_, schema, codes.n_rows, training.classes is not None, seed, self._threads, self._owner)

        split = self._split(given, eval_set, values, seed)
        offset = self._offset(given, split.held, values)
        rows = TrainingRows(codes, self.loss_.as_target(training.y), given.weighing.weight, offset, encoded.codes_for(take))
        outside = None if eval_set is None else self._outside(eval_set, cuts, given.target, values)
        watched = self._watched(given, rows, split, outside, values)
        stop = self._stop(values, plan, watched)
        trained = train(rows, plan, stop, watched, None if earlier is None else earlier.trained, self._owner)
        self._set_fitted(trained, cuts, values)
        self._earlier = WarmStartState(schema, cuts, seed, replace(trained, trees=())) if values["warm_start"] else None

    def _precompile(self, values: Values, n_classes: int) -> None:
        """The first training on a machine compiles on two processors."""
        if values["max_bins"] is not None:
            together = n_classes > 2 and not one_per_class(values)
            precompile.start(n_classes if together else 1, values["growth"])

    def _check_rounds(self, earlier: WarmStartState | None, values: Values) -> None:
        there = 0 if earlier is None else len(earlier.trained.rounds)
        if values["n_estimators"] < there:
            raise ParameterError(
                f"{self._owner}: n_estimators={values['n_estimators']} is less than the {there} rounds that are there already, "
                "and warm_start=True only adds to them. Raise n_estimators, or set warm_start=False."
            )

    def _given(self, X: Any, y: Any, sample_weight: Any, groups: Any, values: Values, earlier: WarmStartState | None) -> BoostingInput:
        """The arguments of fit, read and checked."""
        target = self._read_target(y, None if earlier is None else getattr(self, "classes_", None))
        weight = read_weight(sample_weight, target.n_rows, self._owner)
        target, weighing = self._weighed(target, weight, values)
        return BoostingInput(X, target, weighing, read_groups(groups, target.n_rows, self._owner))

    def _encoded(self, given: BoostingInput, values: Values, earlier: WarmStartState | None, seed: int) -> EncodedTable:
        """How the table is read and cut, and its codes."""
        X, weight, threads = given.X, given.weighing.given, self._threads
        if weight is not None:
            check_lengths(self._owner, row_count(X), given.target.n_rows)
        known = KnownTarget.of(given.target, given.weighing, given.groups, values["categorical_encoding"], seed, threads)
        if earlier is None:
            encoded = X if isinstance(X, EncodedTable) else EncodedTable.of(X, values, weight, threads, self._owner, known)
        else:
            schema, cuts = earlier.schema, earlier.cuts
            if (values["max_bins"] is None) != isinstance(cuts, Ranking):
                how = "without bins" if isinstance(cuts, Ranking) else "on bins"
                raise ParameterError(
                    f"{self._owner}: max_bins={values['max_bins']}, but warm_start=True goes on from trees that were grown {how}. "
                    "Set max_bins as it was, or warm_start=False."
                )
            encoded = EncodedTable.again(X, schema, cuts, threads, self._owner, known)
        assert encoded is not None  # the target is known
        check_lengths(self._owner, encoded.codes.n_rows, given.target.n_rows)
        return encoded

    def _split(self, given: BoostingInput, eval_set: Any, values: Values, seed: int) -> ValidationSplit:
        """Which rows of the table are held out. Copies of a row are held out together."""
        target, weight, early = given.target, given.weighing.given, values["early_stopping"]
        how = "share" if early else "none"
        if early == "auto":
            how = auto_defaults.early_stopping(
                given.n_rows, len(self.schema_.feature_names), self.loss_.width, has_statistics(self.schema_)
            )
        if eval_set is not None or how == "none":
            return ValidationSplit()
        present = np.arange(target.n_rows) if weight is None else np.flatnonzero(weight)
        classes = target.y[present] if target.classes is not None else None
        groups = None if given.groups is None else given.groups[present]
        if how == "folds" and not is_model(values["init"]):
            folds = np.full(target.n_rows, -1)
            folds[present] = fold_numbers(seed, len(present), auto_defaults.FOLDS, classes, groups)
            return ValidationSplit(folds=folds) if (folds >= 0).any() else ValidationSplit()
        held = np.zeros(target.n_rows, np.bool_)
        held[present] = hold_out(seed, len(present), values["validation_fraction"], classes, groups, self._owner)
        return ValidationSplit(held=held)

    def _offset(self, given: BoostingInput, held: NDArray[np.bool_] | None, values: Values) -> Floats | None:
        """Starting scores of the rows trained on, where `init` says so."""
        init, target, weight = values["init"], given.target, given.weighing.given
        if init is None:
            return None
        if not is_model(init):
            return given.weighing.at(read_scores(init, target.n_rows, self.loss_.width, self._owner))
        # A model that is trained here must not see the rows that are held out, or they would look too easy.
        learn = None if held is None else np.flatnonzero(~held)
        part = given.X if learn is None else rows_of_table(given.X, learn)
        weight = weight if weight is None or learn is None else weight[learn]
        self.init_ = fitted_init(init, part, target.at(learn).labels(), weight, self._owner)
        return given.weighing.at(model_scores(self.init_, given.X, target.n_rows, self.loss_, target.classes, self._owner))

    def _outside(self, eval_set: Any, cuts: Cuts | Ranking, target: Target, values: Values) -> ValidationSet:
        """Validation data that the caller gives, read as the training data were."""
        owner = f"{self._owner}, eval_set"
        X, y, sample_weight = read_eval_set(eval_set, self._owner)
        other = self._read_target(y, target.classes)
        weight = read_weight(sample_weight, other.n_rows, owner)
        table = self.schema_.read(X, owner=owner)
        check_lengths(owner, table.n_rows, other.n_rows)
        if values["init"] is not None and self.init_ is None:
            raise DataError(f"{owner}: init has scores for the rows of X only. Give an estimator or a function as init.")
        offset = None if self.init_ is None else model_scores(self.init_, X, other.n_rows, self.loss_, target.classes, self._owner)
        return ValidationSet(
            X, other.labels(), TrainingRows(cuts.encode(table, self._threads), self.loss_.as_target(other.y), weight, offset)
        )

    def _watched(
        self, given: BoostingInput, rows: TrainingRows, split: ValidationSplit, outside: ValidationSet | None, values: Values
    ) -> WatchedRows:
        """Which rows are watched, and how they are scored: some of those trained on always."""
        scorer = None if values["scoring"] is None else read_scorer(values["scoring"], self, self._owner)

        def evaluate_inside(positions: NDArray[np.int64], loss: Loss) -> Evaluator:
            weight = None if rows.weight is None else rows.weight[positions]
            if scorer is None:
                return loss_evaluator(loss, rows.y[positions], weight, self._threads)
            in_table = positions if given.weighing.take is None else given.weighing.take[positions]
            return scorer_evaluator(scorer, self, rows_of_table(given.X, in_table), given.target.at(in_table).labels(), weight)

        def evaluate_outside(loss: Loss) -> Evaluator:
            assert outside is not None
            if scorer is None:
                return loss_evaluator(loss, outside.rows.y, outside.rows.weight, self._threads)
            return scorer_evaluator(scorer, self, outside.X, outside.labels, outside.rows.weight)

        held = None if split.held is None else given.weighing.at(split.held)
        folds = None if split.folds is None else given.weighing.at(split.folds)
        return WatchedRows(evaluate_inside, evaluate_outside, held, folds, None if outside is None else outside.rows)

    def _stop(self, values: Values, plan: BoostPlan, watched: WatchedRows) -> StoppingRule:
        patience, callbacks = values["n_iter_no_change"], values["callbacks"] or ()
        for call in callbacks:
            if not callable(call):
                raise ParameterError(f"{self._owner}: callbacks must be functions that take a finished round, but {call!r} is none.")
        return StoppingRule(
            count=values["n_estimators"],
            split_patience=auto_defaults.split_patience(plan.tree, plan.subsample, plan.bootstrap),
            early=watched.has_validation and values["early_stopping"] is not False,
            patience=auto_defaults.patience(plan.learning_rate) if patience == "auto" else patience,
            tol=values["tol"],
            refit=values["refit"],
            # Another fit can go on from one model, not from a mean of several.
            average=None if values["warm_start"] else auto_defaults.MEAN_ROUNDS,
            callbacks=callbacks,
            verbose=bool(values["verbose"]),
        )

    def _set_fitted(self, trained: TrainedBoosting, cuts: Cuts | Ranking, values: Values) -> None:
        """The results, as attributes."""
        sign = 1.0 if values["scoring"] is None else -1.0
        width = 1 if not trained.trees else trained.trees[0].value.shape[1]
        self.forest_ = assemble(trained.trees, cuts, trained.start, width)
        self.n_iter_ = len(trained.rounds)
        self.best_iteration_ = trained.best
        self.n_trees_per_iteration_ = len(trained.rounds[0]) if trained.rounds else 1
        self.train_score_ = sign * np.array(trained.train)
        self.validation_score_ = sign * np.array(trained.valid)

    # Prediction.

    def _raw(self, X: Any, init: Any = None) -> Floats:
        """Scores (n,), or (n, K) for K scores per row."""
        table = self._read(X)
        raw = self.forest_.raw(table, self._threads)
        raw = raw.reshape(-1) if raw.shape[1] == 1 else raw
        return self._with_init(raw, X, init)

    def _staged(self, X: Any, init: Any = None) -> Iterator[Floats]:
        """Scores after every round."""
        table = self._read(X)
        for raw in self.forest_.staged_raw(table, self._threads, self.n_trees_per_iteration_):
            yield self._with_init(raw.reshape(-1) if raw.shape[1] == 1 else raw, X, init)

    def _with_init(self, raw: Floats, X: Any, init: Any) -> Floats:
        if self.init_ is not None:
            raw = raw + model_scores(self.init_, X, len(raw), self.loss_, getattr(self, "classes_", None), self._owner)
        return require_finite(raw if init is None else raw + read_scores(init, len(raw), self.loss_.width, self._owner), self._owner)

    def _shapley(self, table: Table) -> tuple[Floats, Floats, Floats]:
        if self.init_ is not None:
            raise ParameterError(f"{self._owner}: explain() adds up trees, and init is another model. Train without init to use it.")
        return super()._shapley(table)

    @property
    def _scale(self) -> str:
        return scale_of(self.loss_)

    def predictor(self) -> RowPredictor:
        """A small callable that predicts for one row, or for a block of rows, given as numbers; or for one row as it is.

        It is for serving: of numbers, nothing is converted or matched by name. Rows hold the features of the model in the order of
        its `feature_names`; a date column has several, and a category is the number of its level in `categories`. A dict of values by
        column, or a tuple of them where there are categories, is one row of the table as it is.
        """
        check_is_fitted(self)
        if self.init_ is not None:
            raise ParameterError(f"{self._owner}: predictor() reads numbers, and init reads the table. Train without init to use it.")
        return RowPredictor(self.forest_, self.loss_, self.schema_)
