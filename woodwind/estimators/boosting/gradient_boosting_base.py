"""Gradient boosting for both tasks: from a table and a target to a forest, and from a forest to scores."""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from woodwind.base.docstrings import fill_docstring
from woodwind.base.errors import DataError, ParameterError, TargetError
from woodwind.base.random_streams import seed_of
from woodwind.base.validate import require, require_array, require_finite
from woodwind.data.binning.cuts import Cuts
from woodwind.data.binning.ranks import Ranking
from woodwind.data.tables.schema import Schema
from woodwind.data.tables.table import Table
from woodwind.ensemble.boosting import auto_defaults, precompile
from woodwind.ensemble.boosting.boost import BoostPlan
from woodwind.ensemble.boosting.early_stopping import Evaluator
from woodwind.ensemble.boosting.training import RefitPlan, StoppingRule, TrainedBoosting, TrainingRows, WatchedRows, refit_leaves, train
from woodwind.ensemble.held_out import fold_numbers, hold_out
from woodwind.estimators.base.model import COLUMNS, TRAINING_DATA, all_or_nothing, check_lengths, named_owner, row_count
from woodwind.estimators.base.row_predictor import RowPredictor
from woodwind.estimators.base.scoring import EvaluationCurves, WatchedMetric, loss_evaluator, read_metrics, rows_of_table, scorer_evaluator
from woodwind.estimators.base.splits import TRAINING, VALIDATION, read_eval_sets, read_groups
from woodwind.estimators.base.target import Target
from woodwind.estimators.base.tree_base import BaseTreeModel, scale_of
from woodwind.estimators.base.weights import Weighing, class_factors, read_weight
from woodwind.estimators.boosting.block_input import opened_input
from woodwind.estimators.boosting.category_statistics import KnownTarget, has_statistics
from woodwind.estimators.boosting.encoded_table import EncodedTable, coded, linear_inputs
from woodwind.estimators.boosting.init_scores import constant_of, fitted_init, is_model, model_scores, read_scores
from woodwind.estimators.boosting.plan import Values, boost_plan, check_dropout, check_exact, one_per_class, trained_loss
from woodwind.losses.base import Loss
from woodwind.params.check import check
from woodwind.params.unknown import known_arguments
from woodwind.tree.assemble import assemble, check_tree_for
from woodwind.tree.forest import Forest
from woodwind.tree.grown_tree import ValuedTree

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
            check_tree_for(tree, self.cuts)
            n_scores, width = self.trained.first.size, tree.value.shape[1]
            fits = width == n_scores if tree.output < 0 else width == 1 and tree.output < n_scores
            require(fits and tree.output >= -1, "a tree adds to a score that is not there")
        require_array(self.trained.first, (None,), "the first scores")
        return self

    def with_values(self, forest: Forest) -> "WarmStartState":
        """The same rounds with the values and the start of a forest that has their trees."""
        nodes = (slice(*forest.roots[tree : tree + 2]) for tree in range(forest.n_trees))

        def renewed(tree: ValuedTree, at: slice) -> ValuedTree:
            linear = None if tree.linear is None or forest.linear is None else forest.linear.part(at.start, at.stop)
            return replace(tree, value=np.array(forest.value[at]), cover=np.array(forest.cover[at]), linear=linear)

        rounds = tuple(tuple(renewed(tree, at) for tree, at in zip(trees, nodes, strict=False)) for trees in self.trained.rounds)
        return replace(self, trained=replace(self.trained, rounds=rounds, first=np.array(forest.start)))


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

    name: str
    X: Any
    labels: NDArray[Any]
    rows: TrainingRows
    groups: NDArray[np.int64] | None = None


@dataclass(frozen=True, eq=False)
class EvaluatedRows:
    """Rows that are watched: as losses take them, and as scorers do, made when one asks."""

    y: NDArray[Any]
    weight: Floats | None
    table: Callable[[], Any]
    labels: Callable[[], NDArray[Any]]
    groups: NDArray[np.int64] | None


# For the docstrings of the estimators.
MODEL = """
n_iter_ : int
    Rounds of the model.
n_trees_per_iteration_ : int
    Trees of a round: one, or one for each class, times `n_parallel_trees`, times the folds whose models are averaged.
learning_rate_ : float
    The learning rate that was trained with, where 'auto' stands for one.
best_iteration_ : int
    The round with the best validation score; `n_iter_` where nothing was held out.
train_score_, validation_score_ : arrays
    Scores before the first round and after each: the loss, of which less is better, or what `scoring` gives, of which more is better.
    The first is of the training rows, or of 10,000 of them drawn at random; the second of the validation rows, and empty where nothing
    was held out.
evals_result_ : dict of dicts of arrays
    What was watched in every round: by table ('training', and 'validation_0' for the rows held out; tables of `eval_set` by their names, or
    'validation_0', 'validation_1' and so on), then by metric, the value after each round that was trained, those after the best one
    included. Metrics have their own sign: less is better for 'rmse'.
feature_importances_ : array of shape (n_features_in_,)
    The share of the total gain that each column brought.
forest_ : Forest
    The trees, as arrays.
"""
AUTO = """
What 'auto' means is written in woodwind/ensemble/boosting/auto_defaults.py, rule by rule. In short: larger tables take larger steps, grow
more leaves and draw a share of the rows for each tree; wide tables draw features; of a large table a share is held out to stop by, while a
small one is boosted in folds, in which every row is held out once, and the model is the mean of the models of the folds, so that a round
has a tree of each; a table of very few rows is boosted for all `n_estimators`. With `warm_start` the folds only tell the number of rounds.
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

    _optional_state: ClassVar[dict[str, Any]] = {  # files of earlier versions have none
        "evals_result_": dict[str, dict[str, Floats]],
        "learning_rate_": float,
    }

    _docstring_parts: ClassVar[dict[str, str]] = {"model": MODEL, "columns": COLUMNS, "auto": AUTO}
    _scores_queries: ClassVar[bool] = False  # groups are queries, and rows of a part of one say nothing
    loss_: Loss
    init_: Any
    _earlier: WarmStartState | None
    evals_result_: dict[str, dict[str, Floats]]
    learning_rate_: float

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

    def _bound_loss(self, given: BoostingInput, training: Target) -> Loss:
        """The loss as boosting minimises it on the rows that are trained on."""
        return self.loss_

    def _metrics(self, values: Values) -> list[WatchedMetric]:
        """What is watched; the first is stopped by."""
        return read_metrics(values["scoring"], self, self.loss_, self._owner)

    def _evaluator(self, metric: WatchedMetric, loss: Loss, rows: EvaluatedRows) -> Evaluator:
        """How some rows are scored by one of the metrics."""
        if metric.scorer is None:
            return loss_evaluator(loss, rows.y, rows.weight, self._threads)
        return scorer_evaluator(metric.scorer, self, rows.table(), rows.labels(), rows.weight)

    # Training.

    @known_arguments
    @fill_docstring(data=TRAINING_DATA)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None, eval_set: Any = None) -> Self:
        """Train.

        Parameters
        ----------
        {data}
        groups : sequence of labels, one for each row, default=None
            Rows of one group are held out together for early stopping, such as those of one patient.
        eval_set : (X, y) or (X, y, sample_weight), or several of them in a list or, by name, in a dict; default=None
            Data to stop by, instead of a share of the rows. Of several tables the last one is stopped by, as in XGBoost, and the others
            are watched: `evals_result_` has the curves of all.

        Returns
        -------
        self
        """
        values = check(self)
        with all_or_nothing(self):
            self._fit(values, *opened_input(X, y, sample_weight, groups, values, self._owner), eval_set)
        return self

    def _fit(self, values: Values, X: Any, y: Any, sample_weight: Any, groups: Any = None, eval_set: Any = None) -> None:
        earlier: WarmStartState | None = getattr(self, "_earlier", None) if values["warm_start"] else None
        self._check_rounds(earlier, values)
        given = self._given(X, y, sample_weight, groups, values, earlier)
        check_exact(values, given.target.n_classes, self._owner)
        check_dropout(values, self._owner)
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
        loss = self._bound_loss(given, training)
        plan = boost_plan(values, loss, schema, codes.n_rows, training.classes is not None, seed, self._threads, self._owner)

        self.learning_rate_ = plan.learning_rate
        split = self._split(given, eval_set, values, seed)
        offset = self._offset(given, split.held, values)
        inputs = encoded.inputs if encoded.inputs is None or take is None else encoded.inputs.take(take)
        made_for = encoded.codes_for(take), encoded.codes_in(take)
        constant = constant_of(values["init"], self._owner)
        rows = TrainingRows(codes, self.loss_.as_target(training.y), given.weighing.weight, offset, *made_for, constant, inputs)
        outside = [] if eval_set is None else self._outside(eval_set, cuts, given.target, values)
        curves = EvaluationCurves(self._metrics(values))
        watched = self._watched(given, rows, split, outside, curves)
        stop = self._stop(values, plan, watched)
        trained = self._train(rows, plan, stop, watched, None if earlier is None else earlier.trained, values)
        self._set_fitted(trained, cuts, 1.0 if curves.metrics[0].scorer is None else -1.0)
        self._set_curves(curves, earlier, split)
        self._earlier = WarmStartState(schema, cuts, seed, replace(trained, trees=())) if values["warm_start"] else None

    def _train(
        self, rows: TrainingRows, plan: BoostPlan, stop: StoppingRule, watched: WatchedRows, earlier: TrainedBoosting | None, values: Values
    ) -> TrainedBoosting:
        """The rounds of a training, going on from an earlier one if there is one."""
        return train(rows, plan, stop, watched, earlier, self._owner)

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
            encoded = EncodedTable.read_by(X, (schema, cuts), values, weight, threads, self._owner, known)
        assert encoded is not None  # the target is known
        check_lengths(self._owner, encoded.codes.n_rows, given.target.n_rows)
        return encoded

    def _split(self, given: BoostingInput, eval_set: Any, values: Values, seed: int) -> ValidationSplit:
        """Which rows of the table are held out. Copies of a row are held out together."""
        target, weight, early = given.target, given.weighing.given, values["early_stopping"]
        how = "share" if early else "none"
        if early == "auto":
            how = self._how_held_out(given.n_rows, values)
        if eval_set is not None or how == "none" or values["boosting"] == "dart":
            return ValidationSplit()
        present = np.arange(target.n_rows) if weight is None else np.flatnonzero(weight)
        classes = target.y[present] if target.classes is not None else None
        groups = None if given.groups is None else given.groups[present]
        if how == "folds" and not is_model(values["init"]):
            folds = np.full(target.n_rows, -1)
            folds[present] = fold_numbers(seed, len(present), self._n_folds(given.n_rows), classes, groups)
            return ValidationSplit(folds=folds) if (folds >= 0).any() else ValidationSplit()
        held = np.zeros(target.n_rows, np.bool_)
        held[present] = hold_out(seed, len(present), values["validation_fraction"], classes, groups, self._owner)
        return ValidationSplit(held=held)

    def _how_held_out(self, n_rows: int, values: Values) -> str:
        """What early_stopping='auto' holds out of so many rows: a 'share', every row in its turn in 'folds', or 'none'."""
        return auto_defaults.early_stopping(n_rows, len(self.schema_.feature_names), self.loss_.width, has_statistics(self.schema_))

    def _n_folds(self, n_rows: int) -> int:
        """Folds of a table of so many rows."""
        return auto_defaults.FOLDS

    def _offset(self, given: BoostingInput, held: NDArray[np.bool_] | None, values: Values) -> Floats | None:
        """Starting scores of the rows trained on, where `init` says so."""
        init, target, weight = values["init"], given.target, given.weighing.given
        if init is None or constant_of(init, self._owner) is not None:
            return None
        if not is_model(init):
            return given.weighing.at(read_scores(init, target.n_rows, self.loss_.width, self._owner))
        # A model that is trained here must not see the rows that are held out, or they would look too easy.
        learn = None if held is None else np.flatnonzero(~held)
        part = given.X if learn is None else rows_of_table(given.X, learn)
        weight = weight if weight is None or learn is None else weight[learn]
        self.init_ = fitted_init(init, part, target.at(learn).labels(), weight, self._owner)
        return given.weighing.at(model_scores(self.init_, given.X, target.n_rows, self.loss_, target.classes, self._owner))

    def _outside(self, eval_set: Any, cuts: Cuts | Ranking, target: Target, values: Values) -> list[ValidationSet]:
        """Validation data that the caller gives, read as the training data were; the last table decides."""
        return [self._outside_table(name, given, cuts, target, values) for name, given in read_eval_sets(eval_set, self._owner).items()]

    def _outside_table(self, name: str, given: Any, cuts: Cuts | Ranking, target: Target, values: Values) -> ValidationSet:
        owner = f"{self._owner}, eval_set"
        X, y, sample_weight = given
        other = self._read_target(y, target.classes)
        weight = read_weight(sample_weight, other.n_rows, owner)
        table = self.schema_.read(X, owner=owner)
        check_lengths(owner, table.n_rows, other.n_rows)
        if values["init"] is not None and self.init_ is None and constant_of(values["init"], owner) is None:
            raise DataError(f"{owner}: init has scores for the rows of X only. Give an estimator or a function as init.")
        offset = None if self.init_ is None else model_scores(self.init_, X, other.n_rows, self.loss_, target.classes, self._owner)
        inputs = linear_inputs(table, self.schema_, weight, values)
        rows = TrainingRows(coded(cuts, table, self._threads), self.loss_.as_target(other.y), weight, offset, inputs=inputs)
        return ValidationSet(name, X, other.labels(), rows)

    def _watched(
        self, given: BoostingInput, rows: TrainingRows, split: ValidationSplit, outside: list[ValidationSet], curves: EvaluationCurves
    ) -> WatchedRows:
        """Which rows are watched, and how they are scored: some of those trained on always."""

        def evaluate_inside(positions: NDArray[np.int64], loss: Loss, is_held: bool) -> Evaluator:
            in_table = positions if given.weighing.take is None else given.weighing.take[positions]
            some = EvaluatedRows(
                rows.y[positions],
                None if rows.weight is None else rows.weight[positions],
                lambda: rows_of_table(given.X, in_table),
                lambda: given.target.at(in_table).labels(),
                None if given.groups is None else given.groups[in_table],
            )
            name = f"{VALIDATION}_0" if is_held else TRAINING
            return curves.evaluator(name, [self._evaluator(metric, loss, some) for metric in curves.metrics])

        def evaluate_outside(one: ValidationSet) -> Callable[[Loss], Evaluator]:
            some = EvaluatedRows(one.rows.y, one.rows.weight, lambda: one.X, lambda: one.labels, one.groups)
            return lambda loss: curves.evaluator(one.name, [self._evaluator(metric, loss, some) for metric in curves.metrics])

        held = None if split.held is None else given.weighing.at(split.held)
        folds = None if split.folds is None else given.weighing.at(split.folds)
        queries = None if given.groups is None or not self._scores_queries else given.weighing.at(given.groups)
        return WatchedRows(evaluate_inside, held, folds, [(one.rows, evaluate_outside(one)) for one in outside], queries)

    def _set_curves(self, curves: EvaluationCurves, earlier: WarmStartState | None, split: ValidationSplit) -> None:
        """The values of all metrics after every round; of earlier rounds too, if they were watched alike."""
        before = {} if earlier is None else dict(getattr(self, "evals_result_", {}))
        if split.folds is not None:
            before.pop(f"{VALIDATION}_0", None)  # folds begin anew
        self.evals_result_ = curves.result(before, 0 if earlier is None else len(earlier.trained.rounds))

    def _stop(self, values: Values, plan: BoostPlan, watched: WatchedRows) -> StoppingRule:
        patience, callbacks = values["n_iter_no_change"], values["callbacks"] or ()
        for call in callbacks:
            if not callable(call):
                raise ParameterError(f"{self._owner}: callbacks must be functions that take a finished round, but {call!r} is none.")
        return StoppingRule(
            count=values["n_estimators"],
            split_patience=auto_defaults.split_patience(plan.tree, plan.subsample, plan.bootstrap, plan.permutations),
            early=watched.has_validation and values["early_stopping"] is not False and plan.dropout is None,
            patience=auto_defaults.patience(plan.learning_rate) if patience == "auto" else patience,
            tol=values["tol"],
            refit=values["refit"],
            # Another fit can go on from one model, not from a mean of several.
            average=None if values["warm_start"] else auto_defaults.MEAN_ROUNDS,
            callbacks=callbacks,
            verbose=bool(values["verbose"]),
        )

    def _set_fitted(self, trained: TrainedBoosting, cuts: Cuts | Ranking, sign: float) -> None:
        """The results, as attributes; `sign` turns losses that were watched into scores."""
        width = 1 if not trained.trees else trained.trees[0].value.shape[1]
        self.forest_ = assemble(trained.trees, cuts, trained.start, width)
        self.n_iter_ = len(trained.rounds)
        self.best_iteration_ = trained.best
        self.n_trees_per_iteration_ = len(trained.rounds[0]) if trained.rounds else 1
        self.train_score_ = sign * np.array(trained.train)
        self.validation_score_ = sign * np.array(trained.valid)

    def refit_leaves(self, X: Any, y: Any, sample_weight: Any = None, decay_rate: float = 0.0, init: Any = None) -> Self:
        """A model with the same splits, whose starting score and leaf values are learned from other rows, such as those of a new month.

        A leaf that none of these rows reaches keeps its value. This model stays as it is.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.
        y : sequence of values, one for each row
            Labels that the model knows, or numbers.
        sample_weight : sequence of numbers, one for each row, default=None
            Weights, as in `fit`.
        decay_rate : float from 0 to 1, default=0.0
            Share of the old leaf values that stays: 0 takes the new ones, 0.9 goes a tenth of the way. The starting score is always new.
        init : scores, default=None
            Scores of these rows to start from, for a model that was trained with an array as `init`.

        Returns
        -------
        estimator
            A new one of the same class. Its scores of rounds are those of the training of this one.
        """
        return self._with_new_leaves(X, y, sample_weight, decay_rate, init, lambda loss, *_: loss)

    def _with_new_leaves(
        self, X: Any, y: Any, sample_weight: Any, decay_rate: float, init: Any, bound: Callable[[Loss, Target, NDArray[np.int64]], Loss]
    ) -> Self:
        """See `refit_leaves`; `bound` makes of a loss, a target and the rows of it that count the loss of those rows."""
        check_is_fitted(self)
        values = check(self)
        self._check_refit(values, decay_rate, init)
        table = self._read(X)
        target = self._read_target(y, getattr(self, "classes_", None))
        check_lengths(self._owner, table.n_rows, target.n_rows)
        weight = read_weight(sample_weight, target.n_rows, self._owner)
        factor = class_factors(values.get("class_weight"), weight, target, self._owner)
        weight = weight if factor is None else factor if weight is None else factor * weight
        rows = np.arange(target.n_rows) if weight is None else np.flatnonzero(weight)
        trained = target.at(rows)
        self._check_refit_target(trained)
        offset = None
        if self.init_ is not None or init is not None:
            width = self.loss_.width
            offset = self._with_init(np.zeros(table.n_rows if width == 1 else (table.n_rows, width)), X, init)[rows]
        size = 1 if self.forest_.n_trees == 0 or self.forest_.output[0] < 0 else self.loss_.width
        size *= values["n_parallel_trees"]
        plan = RefitPlan(
            loss=trained_loss(values, bound(self.loss_, target, rows)),
            penalties=(values["l1_regularization"], values["l2_regularization"], float(values["path_smooth"])),
            longest_step=np.inf if values["max_delta_step"] is None else values["max_delta_step"],
            learning_rate=self._trained_rate(values),
            members=self.n_trees_per_iteration_ // size,
            trees_per_round=size,
            constant=constant_of(values["init"], self._owner),
            softmax_hessian=values.get("softmax_hessian", "friedman"),
            parallel_trees=values["n_parallel_trees"],
            linear_l2=float(values["linear_l2"]),
            decay=float(decay_rate),
            threads=self._threads,
        )
        model = copy.copy(self)
        some = None if weight is None else weight[rows]
        model.forest_ = refit_leaves(self.forest_, (table, rows), self.loss_.as_target(trained.y), some, offset, plan)
        model._earlier = None if self._earlier is None else self._earlier.with_values(model.forest_)
        return model

    def _check_refit(self, values: Values, decay_rate: Any, init: Any) -> None:
        if not isinstance(decay_rate, int | float | np.number) or isinstance(decay_rate, bool) or not 0 <= decay_rate <= 1:
            raise ParameterError(f"{self._owner}: decay_rate must be a number from 0 to 1, but it is {decay_rate!r}.")
        if values["monotonic_cst"] is not None:
            raise ParameterError(
                f"{self._owner}: refit_leaves cannot keep monotonic_cst, whose bounds come from the rows that trees are grown from. "
                "Train anew, or without monotonic_cst."
            )
        if values["boosting"] == "dart":
            raise ParameterError(
                f"{self._owner}: refit_leaves goes through the rounds one by one, and with boosting='dart' each was trained without some "
                "of those before it. Train anew."
            )
        if values["init"] is not None and self.init_ is None and init is None and constant_of(values["init"], self._owner) is None:
            raise DataError(
                f"{self._owner}: init had scores for the rows of the training. Give those of these rows to refit_leaves as init."
            )

    def _check_refit_target(self, target: Target) -> None:
        """Every class has rows: without, its leaves would have nothing to say."""
        if target.classes is not None:
            absent = np.flatnonzero(np.bincount(target.y, minlength=target.n_classes) == 0)
            if absent.size:
                raise TargetError(
                    f"{self._owner}: refit_leaves needs rows of every class, and there is none of {target.classes.tolist()[absent[0]]!r}. "
                    "Add rows of it, with a small weight if they are old ones."
                )
        with named_owner(self._owner):
            self.loss_.check_target(target.y)

    def _trained_rate(self, values: Values) -> float:
        """The learning rate of the training."""
        rate: Any = getattr(self, "learning_rate_", values["learning_rate"])
        if rate == "auto":
            raise ParameterError(
                f"{self._owner}: the model is of an earlier version, which did not write down the learning rate that 'auto' chose. "
                "Give it with set_params(learning_rate=...), or train anew."
            )
        return float(rate)

    # Prediction.

    def _raw(self, X: Any, init: Any = None, n_rounds: int | None = None) -> Floats:
        """Scores (n,), or (n, K) for K scores per row; by all rounds, or by the first `n_rounds`."""
        table = self._read(X)
        raw = self.forest_.raw(table, self._threads, None if n_rounds is None else self._trees_of_rounds(n_rounds))
        raw = raw.reshape(-1) if raw.shape[1] == 1 else raw
        return self._with_init(raw, X, init)

    def _trees_of_rounds(self, n_rounds: Any) -> int:
        """The number of trees of the first rounds."""
        if isinstance(n_rounds, bool) or not isinstance(n_rounds, int | np.integer) or not 0 <= n_rounds <= self.n_iter_:
            raise ParameterError(
                f"{self._owner}: n_rounds must be None or an integer from 0 to {self.n_iter_:,}, the rounds of the model (n_iter_), "
                f"but it is {n_rounds!r}."
            )
        return int(n_rounds) * self.n_trees_per_iteration_

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
