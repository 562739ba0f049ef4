"""What additive models for classification and regression share: from a table and a target to rounds, and from rounds to scores."""

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from woodwind.base.errors import ParameterError
from woodwind.base.random_streams import seed_of
from woodwind.base.validate import require_finite
from woodwind.data.tables.schema import Schema
from woodwind.ensemble.additive import AdditiveMember, AdditivePlan, AdditiveRound, AdditiveRows, additive_rounds, mean_loss
from woodwind.ensemble.boosting.boost import BoostingRound
from woodwind.ensemble.boosting.early_stopping import TrainingStep, best_of, scored, until_no_better
from woodwind.ensemble.held_out import hold_out
from woodwind.ensemble.progress import gather_until_interrupted, with_progress
from woodwind.estimators.adaptive.adaboost_base import BaseAdaBoost, LearnerSource
from woodwind.estimators.base.base_learner import check_estimator, leaf_answers, regression_answers
from woodwind.estimators.base.model import named_owner
from woodwind.estimators.base.target import Target
from woodwind.estimators.base.tree_base import scale_of
from woodwind.estimators.base.weights import Weighing, read_weight
from woodwind.estimators.forests.decision_tree import DecisionTreeRegressor
from woodwind.losses.base import Loss
from woodwind.losses.check import check_loss
from woodwind.losses.classification import Exponential
from woodwind.losses.own import OwnLoss
from woodwind.tree.forest import Forest, joined, with_scores

Floats = NDArray[np.float64]
Values = dict[str, Any]
EXPONENTIAL = ("exponential", Exponential())

ROUNDS = """
estimators_ : list of lists of regressors
    The learners of every round, one for each score of a row.
steps_ : array of shape (n_iter_,)
    How often what the learners of a round say is added; NaN where every leaf has a step of its own.
start_ : array of shape (n_scores,)
    The scores before the first round.
n_iter_ : int
    Number of rounds; with n_iter_no_change up to the best one.
train_score_, validation_score_ : arrays
    The loss after every round: of the rows that it was fitted to, and of the rows held out, if there are any.
oob_improvement_ : array
    With subsample below 1, by how much the loss fell in every round for rows that it was not fitted to.
loss_ : Loss
    The loss that was minimised.
"""


class BaseAdditiveModel(BaseAdaBoost):
    """An additive model."""

    _state: ClassVar[dict[str, Any]] = {
        "_rounds": tuple[tuple[AdditiveMember, ...], ...],
        "_seed": int,
        "loss_": Loss,
        "n_iter_": int,
        "start_": Floats,
        "steps_": Floats,
        "train_score_": Floats,
        "validation_score_": Floats,
        "oob_improvement_": Floats,
    }
    _optional_state: ClassVar[dict[str, Any]] = {"forest_": Forest, "schema_": Schema}

    loss_: Loss
    max_depth: int | None
    max_bins: int | None
    _rounds: tuple[tuple[AdditiveMember, ...], ...]
    _seed: int

    # What each task does in its own way.

    def _read_target(self, y: Any, known: NDArray[Any] | None) -> Target:
        raise NotImplementedError

    def _weighed(self, target: Target, weight: Floats | None) -> tuple[Target, Weighing]:
        """The target and the weights as they are trained on."""
        return target, Weighing.of(weight)

    def _make_loss(self, target: Target) -> Loss:
        raise NotImplementedError

    # Training.

    def _check_learner(self, values: Values) -> None:
        """Refuse what cannot be done, before any work."""
        base = values["estimator"]
        if base is not None and is_classifier(base) and is_classifier(self):
            self._check_classifier(values)
        elif base is not None:
            check_estimator(base, self._owner, classifies=False)
        if base is not None and values["step"] == "leaf" and not hasattr(base, "apply"):
            raise ParameterError(
                f"{self._owner}: step='leaf' is for learners with leaves, and {type(base).__name__} has no `apply`. "
                "Set step='line_search', or give a tree."
            )
        there = len(getattr(self, "_rounds", ())) if values["warm_start"] else 0
        if values["n_estimators"] < there:
            raise ParameterError(
                f"{self._owner}: n_estimators={values['n_estimators']} is less than the {there} rounds that are there already, "
                "and warm_start=True only adds to them. Raise n_estimators, or set warm_start=False."
            )

    def _check_classifier(self, values: Values) -> None:
        """A classifier says -1 or 1, which are the Newton residuals of the exponential loss and of no other."""
        check_estimator(values["estimator"], self._owner, classifies=True)
        if values["loss"] not in EXPONENTIAL or values["residuals"] != "newton" or values["step"] == "leaf":
            raise ParameterError(
                f"{self._owner}: {type(values['estimator']).__name__} is a classifier, and learners are fitted to numbers. With "
                "loss='exponential', residuals='newton' and step='line_search' these are -1 and 1, and a classifier will do: that is "
                "AdaBoost. Otherwise give a regressor."
            )

    def _fit(self, values: Values, X: Any, y: Any, sample_weight: Any) -> None:
        self._check_learner(values)
        warm = values["warm_start"] and hasattr(self, "_rounds")
        if warm and (values["estimator"] is None) != hasattr(self, "schema_"):
            raise ParameterError(
                f"{self._owner}: warm_start=True goes on with learners of one kind: estimator=None as before, or an estimator as "
                "before. Set warm_start=False to begin anew."
            )
        target = self._read_target(y, getattr(self, "classes_", None) if warm else None)
        target, weighing = self._weighed(target, read_weight(sample_weight, target.n_rows, self._owner))
        raw = self._raw(X) if warm else None
        before = self._rounds if warm else ()
        if not warm:
            self._forget(("forest_", "schema_"))
            self._seed = seed_of(values["random_state"])
        source, kept = self._opened(X, target.n_rows, weighing, values, getattr(self, "schema_", None))
        target = target.at(kept)
        rows = self._rows(source, target, values)
        self._resolve_loss(rows, target, values)
        if raw is None:
            raw = np.tile(self.start_, (len(target.y), 1)) if self.loss_.width > 1 else np.full(len(target.y), self.start_[0])
        elif kept is not None:
            raw = raw[kept]
        self._boost(values, source, rows, raw, before)

    def _rows(self, source: LearnerSource, target: Target, values: Values) -> AdditiveRows:
        """The rows, of which some are held out to stop by."""
        n = len(target.y)
        if values["n_iter_no_change"] is None:
            return AdditiveRows(target.y, source.weight, source.count)
        present = np.arange(n) if source.count is None else np.flatnonzero(source.count)
        classes = target.y[present] if target.classes is not None else None
        learn = np.ones(n, np.bool_)
        learn[present] = ~hold_out(self._seed, len(present), values["validation_fraction"], classes, None, self._owner)
        return AdditiveRows(target.y, source.weight, source.count, learn)

    def _resolve_loss(self, rows: AdditiveRows, target: Target, values: Values) -> None:
        """The loss, proved where it is the user's own, and the scores to start from."""
        learn, total = rows.positions, rows.total
        with named_owner(self._owner):
            self.loss_ = self._make_loss(target.at(learn))
            self.loss_.check_target(target.y[learn])
            y = self.loss_.as_target(target.y[learn])
            if isinstance(self.loss_, OwnLoss):
                check_loss(self.loss_, y)
        if not hasattr(self, "start_") or not values["warm_start"]:
            start = self.loss_.start(y, None if total is None else total[learn])
            self.start_: Floats = np.zeros(self.loss_.width) if values["init"] == "zero" else start

    def _boost(
        self, values: Values, source: LearnerSource, rows: AdditiveRows, raw: Floats, before: tuple[tuple[AdditiveMember, ...], ...]
    ) -> None:
        """Add rounds to those that are there."""
        rows = AdditiveRows(self.loss_.as_target(rows.y), rows.weight, rows.count, rows.learn)
        plan = AdditivePlan(self.loss_, values["learning_rate"], values["residuals"], values["step"], values["subsample"], self._seed)
        count, patience = values["n_estimators"], values["n_iter_no_change"]
        held = None if rows.learn is None else np.setdiff1d(np.flatnonzero(self._there(rows)), rows.positions)

        def watch(finished: BoostingRound) -> tuple[float | None, float | None]:
            assert isinstance(finished, AdditiveRound)
            return finished.train, None if held is None else mean_loss(self.loss_, rows, finished.raw, held)

        steps: Any = scored(additive_rounds(rows, source.weak_regressor(values), plan, raw, count - len(before), len(before)), watch)
        if patience is not None:
            steps = until_no_better(steps, patience, values["tol"])
        if values["verbose"]:
            steps = with_progress(steps, count, self._owner)
        done, _ = gather_until_interrupted(steps, count, self._owner)
        if patience is not None and done:
            done = done[: best_of([float(step.valid or 0.0) for step in done]) + 1]
        self._set_fitted(done, before, len(before) > 0)

    def _there(self, rows: AdditiveRows) -> NDArray[np.bool_]:
        return np.ones(len(rows.y), np.bool_) if rows.count is None else rows.count > 0

    def _set_fitted(self, done: list[TrainingStep], before: tuple[tuple[AdditiveMember, ...], ...], more: bool) -> None:
        """The results, as attributes."""
        rounds: list[Any] = [step.round for step in done]
        self._rounds = before + tuple(one.members for one in rounds)
        new = {
            "train_score_": [one.train for one in rounds],
            "validation_score_": [step.valid for step in done if step.valid is not None],
            "oob_improvement_": [one.out_of_bag for one in rounds if not np.isnan(one.out_of_bag)],
        }
        for name, numbers in new.items():
            earlier = getattr(self, name) if more else np.zeros(0)
            setattr(self, name, np.concatenate([earlier, numbers]))
        self.n_iter_ = len(self._rounds)
        members = [one for members in self._rounds for one in members]
        self.steps_ = np.array([np.nan if group[0].values is not None else group[0].step for group in self._rounds])
        if hasattr(self, "schema_"):
            self.forest_ = self._forest(members)

    def _forest(self, members: list[AdditiveMember]) -> Forest:
        """All trees of the engine as one forest."""
        width = self.loss_.width
        if not members:
            return Forest.empty(np.zeros(len(self.schema_.feature_names), np.int32), self.start_, 1)
        values = [member.trained.value * member.step if member.values is None else padded(member) for member in members]
        forest = joined([member.trained for member in members])
        output = [position % width for position in range(len(members))]
        return replace(with_scores(forest, values, output, width), start=self.start_)

    # What the learners are like.

    @property
    def estimators_(self) -> list[list[Any]]:
        """The learners of every round, one for each score of a row."""
        check_is_fitted(self)
        return [[self._regressor(member.trained) for member in members] for members in self._rounds]

    def _regressor(self, trained: Any) -> Any:
        if not isinstance(trained, Forest):
            return trained
        tree = DecisionTreeRegressor(max_depth=self.max_depth, max_bins=self.max_bins)
        tree._set_schema(self.schema_)
        tree.forest_ = trained
        return tree

    @property
    def feature_importances_(self) -> Floats:
        """The share of the total gain that each column brought; of other learners than trees of Woodwind's own, the mean of theirs."""
        check_is_fitted(self)
        if hasattr(self, "schema_"):
            return super().feature_importances_
        members = [member.trained for members in self._rounds for member in members]
        if not members:  # such as of a target without any spread
            return np.zeros(self.n_features_in_)
        return self._shares_of_columns(members, np.ones(len(members)))

    @property
    def _scale(self) -> str:
        return scale_of(self.loss_)

    # Scores.

    def _raw(self, X: Any) -> Floats:
        """Scores (n,), or (n, K) for K scores per row."""
        table = self._opened_for_prediction(X)
        if hasattr(self, "schema_"):
            raw = require_finite(self.forest_.raw(table, self._threads), self._owner)
            return raw.reshape(-1) if raw.shape[1] == 1 else raw
        stages = deque(self._sums(table), maxlen=1)
        return require_finite(stages[0], self._owner)

    def _staged(self, X: Any) -> Iterator[Floats]:
        """Scores after every round."""
        table = self._opened_for_prediction(X)
        if hasattr(self, "schema_"):
            for raw in self.forest_.staged_raw(table, self._threads, self.loss_.width):
                yield require_finite(raw.reshape(-1) if raw.shape[1] == 1 else raw, self._owner)
            return
        stages = self._sums(table)
        next(stages)
        yield from (require_finite(one, self._owner) for one in stages)

    def _sums(self, X: Any) -> Iterator[Floats]:
        """Scores before the first round and after every one, from estimators."""
        n, width = int(X.shape[0]), self.loss_.width
        total = np.tile(self.start_, (n, 1))
        yield total.reshape(-1) if width == 1 else total
        for members in self._rounds:
            change = [
                member.step * regression_answers(member.trained, X)
                if member.values is None
                else padded(member)[leaf_answers(member.trained, X)]
                for member in members
            ]
            total = total + np.column_stack([one.reshape(n) for one in change])
            yield total.reshape(-1) if width == 1 else total


def padded(member: AdditiveMember) -> Floats:
    """The values of the leaves of a learner, with one for every node; none is asked for but those of leaves."""
    assert member.values is not None
    if isinstance(member.trained, Forest):
        out = np.zeros((member.trained.n_nodes, 1))
        out[: len(member.values), 0] = member.values
        return out
    return member.values
