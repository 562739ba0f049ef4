"""Training of gradient boosting, for all tasks: from a table and a target to a forest."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from woodwind.base.docstrings import fill_docstring
from woodwind.base.errors import DataError, ParameterError
from woodwind.base.random_streams import seed_of
from woodwind.data.binning.cuts import Cuts
from woodwind.data.binning.ranks import Ranking
from woodwind.data.blocks.block_table import BlockTable
from woodwind.ensemble.boosting import auto_defaults, precompile
from woodwind.ensemble.boosting.boost_plan import BoostPlan
from woodwind.ensemble.boosting.early_stopping import Evaluator
from woodwind.ensemble.boosting.training import StoppingRule, TrainedBoosting, WatchedRows, train
from woodwind.ensemble.boosting.training_rows import TrainingRows
from woodwind.ensemble.held_out import fold_numbers, hold_out
from woodwind.estimators.base.category_statistics import KnownTarget, has_statistics
from woodwind.estimators.base.model import TRAINING_DATA, all_or_nothing, check_lengths, named_owner, row_count
from woodwind.estimators.base.scoring import EvaluationCurves, WatchedMetric, loss_evaluator, read_metrics, rows_of_table, scorer_evaluator
from woodwind.estimators.base.several_targets import SeveralTargetsMixin
from woodwind.estimators.base.splits import TRAINING, VALIDATION, read_eval_sets, read_groups
from woodwind.estimators.base.target import Target
from woodwind.estimators.base.weights import Weighing, read_weight
from woodwind.estimators.boosting.block_input import encoded_blocks, opened_input
from woodwind.estimators.boosting.boosted_model import BaseBoostedModel, Floats
from woodwind.estimators.boosting.encoded_table import EncodedTable, coded, linear_inputs
from woodwind.estimators.boosting.init_scores import constant_of, fitted_init, is_model, model_scores, read_scores
from woodwind.estimators.boosting.plan import Values, boost_plan, check_dropout, check_exact, has_own_thresholds, one_per_class
from woodwind.estimators.boosting.round_checkpoint import RoundCheckpoint
from woodwind.estimators.boosting.several_boosting import check_as_many, check_same_width, check_several_options
from woodwind.estimators.boosting.training_input import BoostingInput, EvaluatedRows, ValidationSet, ValidationSplit
from woodwind.estimators.boosting.warm_start import WarmStartState
from woodwind.losses.base import Loss
from woodwind.params.check import check
from woodwind.params.unknown import known_arguments
from woodwind.tree.assemble import assemble


class BaseGradientBoosting(SeveralTargetsMixin, BaseBoostedModel):
    """What the estimators of gradient boosting share: how they are trained."""

    classes_: Any  # of classifiers: labels, or a list of those of each target

    # What each task does in its own way.

    def _weighed(self, target: Any, weight: Floats | None, values: Values) -> tuple[Any, Weighing]:
        """The target and the weights as they are trained on."""
        return target, Weighing.of(weight)

    @property
    def _takes_several(self) -> bool:
        return False

    def _make_loss(self, target: Any) -> Loss:
        raise NotImplementedError

    def _bound_loss(self, given: BoostingInput, training: Any) -> Loss:
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
        """Train. A `woodwind.BlockTable` may be given as X: target, weights and groups are those inside, unless others are given.

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
        if earlier is not None:
            earlier.check_goes_on(values, self._owner)
        given = self._given(X, y, sample_weight, groups, values, earlier)
        check_several_options(values, given.target, self._owner)
        if earlier is not None:
            check_as_many(given.target, self.n_outputs_, self._owner)
        check_exact(values, self._owner)
        check_dropout(values, self._owner)
        self._precompile(values, given.target.n_classes)
        seed = seed_of(values["random_state"]) if earlier is None else earlier.seed
        encoded = self._encoded(given, values, earlier, seed)
        schema, cuts, take = encoded.schema, encoded.cuts, given.weighing.take
        training = given.target.at(take)
        self._set_schema(schema)
        self._set_targets(given.target)
        with named_owner(self._owner):
            self.loss_, self.init_ = self._make_loss(training), None
            self.loss_.check_target(training.y)
        loss = self._bound_loss(given, training)
        plan = boost_plan(values, loss, schema, given.n_rows, training.classes is not None, seed, self._threads, self._owner)

        self.learning_rate_ = plan.learning_rate
        split = self._split(given, eval_set, values, seed)
        offset = self._offset(given, split.held, values)
        constant = constant_of(values["init"], self._owner)
        rows = encoded.training_rows(take, self.loss_.as_target(training.y), given.weighing.weight, offset, constant)
        outside = [] if eval_set is None else self._outside(eval_set, cuts, given.target, values)
        curves = EvaluationCurves(self._metrics(values))
        watched = self._watched(given, rows, split, outside, curves)
        stop = self._stop(values, plan, watched)
        held = None if split.held is None else given.weighing.at(split.held)
        decisive = (rows.y, rows.weight, rows.offset, take, held)
        checkpoint = RoundCheckpoint.of(values, encoded, seed, decisive, self._owner)
        if checkpoint is not None:
            stop = replace(stop, record=checkpoint.record(np.zeros(plan.loss.width)))
        trained = self._train(rows, plan, stop, watched, None if earlier is None else earlier.trained, values)
        self._set_fitted(trained, cuts, 1.0 if curves.metrics[0].scorer is None else -1.0)
        self._set_curves(curves, earlier, split)
        if checkpoint is not None:
            checkpoint.remove()
        self._earlier = WarmStartState(schema, cuts, seed, replace(trained, trees=())) if values["warm_start"] else None

    def _train(
        self, rows: TrainingRows, plan: BoostPlan, stop: StoppingRule, watched: WatchedRows, earlier: TrainedBoosting | None, values: Values
    ) -> TrainedBoosting:
        """The rounds of a training, going on from an earlier one if there is one."""
        return train(rows, plan, stop, watched, earlier, self._owner)

    def _precompile(self, values: Values, n_classes: int) -> None:
        """The first training on a machine compiles on two processors."""
        if not has_own_thresholds(values):
            together = n_classes > 2 and not one_per_class(values)
            precompile.start(n_classes if together else 1, values["growth"])

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
        if isinstance(X, BlockTable):
            encoded: EncodedTable | None = encoded_blocks(X, values, weight, threads, self._owner, known, earlier)
        elif earlier is None:
            encoded = X if isinstance(X, EncodedTable) else EncodedTable.of(X, values, weight, threads, self._owner, known)
        else:
            encoded = EncodedTable.read_by(X, (earlier.schema, earlier.cuts), values, weight, threads, self._owner, known)
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
        classes = target.y[present] if isinstance(target, Target) and target.classes is not None else None
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
        classes: Any = target.classes
        return given.weighing.at(model_scores(self.init_, given.X, target.n_rows, self.loss_, classes, self._owner))

    def _outside(self, eval_set: Any, cuts: Cuts | Ranking, target: Any, values: Values) -> list[ValidationSet]:
        """Validation data that the caller gives, read as the training data were; the last table decides."""
        return [self._outside_table(name, given, cuts, target, values) for name, given in read_eval_sets(eval_set, self._owner).items()]

    def _outside_table(self, name: str, given: Any, cuts: Cuts | Ranking, target: Any, values: Values) -> ValidationSet:
        owner = f"{self._owner}, eval_set"
        X, y, sample_weight = given
        other = self._read_target(y, target.classes)
        check_same_width(target, other, owner)
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

        def evaluator(name: str, loss: Loss, some: EvaluatedRows) -> Evaluator:
            return curves.evaluator(name, [self._evaluator(metric, loss, some) for metric in curves.metrics])

        def evaluate_inside(positions: NDArray[np.int64], loss: Loss, is_held: bool) -> Evaluator:
            return evaluator(f"{VALIDATION}_0" if is_held else TRAINING, loss, given.evaluated(rows, positions))

        def evaluate_outside(one: ValidationSet) -> Callable[[Loss], Evaluator]:
            return lambda loss: evaluator(one.name, loss, one.evaluated)

        held = None if split.held is None else given.weighing.at(split.held)
        folds = None if split.folds is None else given.weighing.at(split.folds)
        return WatchedRows(evaluate_inside, held, folds, [(one.rows, evaluate_outside(one)) for one in outside])

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
