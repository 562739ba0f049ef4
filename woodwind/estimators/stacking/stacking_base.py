"""Stacking for both tasks: from a table and a target through the layers to a blender, and back. See docs/algorithms/stacking.md."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch
from sklearn.utils._repr_html.estimator import _VisualBlock
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from woodwind.base.errors import DataError
from woodwind.base.random_streams import key, seed_of
from woodwind.base.validate import require_finite
from woodwind.data.tables.schema import Header
from woodwind.ensemble.layers import LayerColumns, column_names, members_mean
from woodwind.estimators.base.base_learner import with_open_seeds
from woodwind.estimators.base.model import COLUMNS, check_lengths
from woodwind.estimators.base.model_checks import ask_model
from woodwind.estimators.base.per_target import TARGETS, PerTargetMixin
from woodwind.estimators.base.several_targets import has_one_target
from woodwind.estimators.base.splits import Fold, read_groups
from woodwind.estimators.base.target import Target
from woodwind.estimators.base.weights import read_weight
from woodwind.estimators.pools.fitting import check_weights_are_taken, named_error, weight_name
from woodwind.estimators.pools.members import AnyTable
from woodwind.estimators.pools.pool import NamedMember, class_indices, open_table_of
from woodwind.estimators.pools.pool_base import BasePool
from woodwind.estimators.stacking.blenders import BaseBlender
from woodwind.estimators.stacking.layers import (
    HoldoutPlan,
    LayerRows,
    LayerWork,
    Passthrough,
    StackingLayer,
    StackingPlan,
    TrainedLayer,
    TrainingRecord,
    joined,
    mean_of,
    meta_features,
    predictions_of,
    taken_layer,
    train_layer,
)
from woodwind.estimators.stacking.nested import NestedStack
from woodwind.estimators.stacking.stacking_parts import StackingParts
from woodwind.estimators.stacking.stacking_scores import ErrorEstimate, estimate_error, read_score
from woodwind.params.check import check

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Values = dict[str, Any]

# For the docstrings of the estimators.
ABOUT = """
Members are trained in folds, and a blender learns from what they predict for rows that they have not seen. Then members are trained once
more, on all rows. There may be several layers: the members of each learn from what the layer below says, out of fold again. Rows can also
be held out once, or left out by bootstrap samples; any splitter may say which, in time order or by groups; and members that are
trained already are taken as they are. An audit makes sure that no row was scored by a model that has learned it.

Open seeds of members are named by the seed, the layer and the name of the member: the stack is the same for any number of threads.
"""
MODEL = """
estimators_ : list
    The members of the first layer, trained on all rows; with refit=False those of each fold, one after another.
named_estimators_ : Bunch
    The same by name; with refit=False lists of them.
final_estimator_ : estimator
    The blender, trained.
layers_ : list of lists
    The members of every layer, as in `estimators_`.
stack_method_ : list of str
    What each member of the first layer passes on.
folds_ : list of lists
    For each layer, which rows its members have learned and which they were asked about, (learned, held out) for each fold.
member_scores_ : list of dicts
    For each layer, the score of each member on rows that it has not seen.
layer_scores_ : list of float
    The score of the mean of the members of each layer on such rows; if `oof_score` asks for it, last that of the blender.
oof_predictions_ : list of arrays
    If `oof_score` asks for it: for each layer what it passes on, out of fold, (n_rows, n_columns), and last what the blender says; NaN
    where no member could score a row.
weights_ : array
    How much each member counts, or the coefficients of the blender, where it is linear.
{targets}
"""


def final_has(method: str) -> Any:
    """Whether the blender of a stack has a method: a question for `available_if`."""

    def check_final(stack: Any) -> bool:
        final = getattr(stack, "final_estimator_", None)
        if method == "decision_function" and not has_one_target(stack):
            return False
        return hasattr(stack._blender() if final is None else final, method)

    return check_final


def final_classes(final: Any, classes: NDArray[Any]) -> Integers:
    """The numbers of the classes that a blender knows, among all."""
    return class_indices(np.asarray(getattr(final, "classes_", classes)), classes)


class BaseStacking(PerTargetMixin, StackingParts, BasePool):
    """What both kinds of stack share. To be named before scikit-learn's own bases."""

    _state: ClassVar[dict[str, Any]] = {
        "_chains": list[list[StackingLayer]],
        "_header": Header,
        "_labels": NDArray[Any] | None,
        "_own_blender": bool,
        "_passage": Passthrough | None,
        "final_estimator_": Any,
        "estimators_": list[Any],
        "layers_": list[list[Any]],
        "folds_": list[list[tuple[Integers, Integers]]],
        "layer_scores_": list[float],
        "member_scores_": list[dict[str, float]],
        "named_estimators_": Bunch,
    }
    _optional_state: ClassVar[dict[str, Any]] = {"_oof_probabilities": list[Floats], "oof_predictions_": list[NDArray[Any]]}

    _docstring_parts: ClassVar[dict[str, str]] = {"about": ABOUT, "model": MODEL.format(targets=TARGETS.strip()), "columns": COLUMNS}
    cv: Any
    final_estimator_: Any
    _chains: list[list[StackingLayer]]  # which predict: one, or with refit=False one for each fold, whose mean is taken
    _passage: Passthrough | None
    _header: Header
    _labels: NDArray[Any] | None

    # What each task does in its own way.

    def _read_target(self, y: Any) -> Target:
        raise NotImplementedError

    def _final_probabilities(self, final: Any, X: Any) -> Floats:
        """What a blender predicts for rows: probabilities (n, K), votes as such, or numbers (n, 1)."""
        raise NotImplementedError

    # Training.

    def _fit(self, values: Values, X: Any, y: Any, sample_weight: Any, groups: Any = None) -> None:
        if self._fits_each(X, y, sample_weight=sample_weight, groups=groups):
            return
        owner, method = self._owner, values.get("stack_method") if self._classifies else None
        layers, blender = self._layers_of(values), self._checked_blender()
        responses = [predictions_of(named, method, owner) for named in layers]
        seed = seed_of(values["random_state"])
        holding = HoldoutPlan.of(values, seed, owner)
        target = self._read_target(y)
        rows, present = self._rows_of(target, sample_weight, groups)
        table = open_table_of(X, None, owner)
        check_lengths(owner, table.n_rows, target.n_rows)
        for named in [*layers, [NamedMember("final_estimator", blender)]]:
            check_weights_are_taken(named if not (holding.prefit and named is layers[0]) else [], rows.weight, owner)
        soft = all(one == "probabilities" for layer in responses for one in layer)
        score = read_score(values["scoring"], rows.target, soft, owner)
        self._set_header(table.header)
        self._header, self._labels, self._passage = table.header, rows.target.classes, None
        table = table if present is None else open_table_of(table.take(None, present), None, owner)
        if values["passthrough"]:
            self._passage = Passthrough.learn(table, owner)
        passed = None if self._passage is None else self._passage.of(table, owner)

        work = LayerWork(holding, values["refit"], seed, self._threads, owner, values["verbose"])
        kept = TrainingRecord(target.n_rows, values["oof_score"])
        self._own_blender = isinstance(blender, BaseBlender)
        plan = StackingPlan(list(zip(layers, responses, strict=True)), values, score, kept)
        build = self._build_nested if holding.nests and (len(layers) > 1 or kept.wanted) else self._build_plain
        build(plan, blender, table, passed, rows, work)
        self._show(kept)

    def _build_plain(self, plan: StackingPlan, blender: Any, table: AnyTable, passed: Any, rows: LayerRows, work: LayerWork) -> None:
        """Each layer learns from what the one below says out of fold."""
        chain: list[StackingLayer] = []
        for depth, (named, asked) in enumerate(plan.layers):
            trained = self._one_layer(named, asked, table, rows, work, depth)
            layer = self._as_wanted(trained, plan, depth)
            columns = layer.columns(trained.blocks)
            plan.kept.layer(trained, layer, columns, rows, plan.score)
            chain.append(layer)
            rows = rows.at(trained.scored)
            passed = None if passed is None else passed[np.flatnonzero(trained.scored)]
            table = joined(columns, passed, work.owner)
        self._chains = [chain]
        folds = work.holding.above().folds_of_blender(table.X, rows)
        self.final_estimator_ = self._blended(blender, table.X, rows, work, folds)
        if plan.kept.wanted:
            folds = work.holding.above().folds(table.X, rows) if folds is None else folds
            predicted = np.full((len(rows), max(rows.target.n_classes, 1)), np.nan)
            for train_rows, held in folds:
                part = self._blended(blender, table.take(None, train_rows), rows.at(train_rows), work, None)
                predicted[held] = self._final_probabilities(part, table.take(None, held))
            plan.kept.blender(predicted, rows, plan.score)

    def _build_nested(self, plan: StackingPlan, blender: Any, table: AnyTable, passed: Any, rows: LayerRows, work: LayerWork) -> None:
        """The same, with the layers below trained again without each fold that is held out."""
        taken: list[StackingLayer] = []
        rest = list(enumerate(plan.layers))
        if work.holding.prefit:
            depth, (named, asked) = rest.pop(0)
            trained = taken_layer(named, asked, table, rows, work)
            taken = [self._as_wanted(trained, plan, depth)]
            columns = taken[0].columns(trained.blocks)
            plan.kept.layer(trained, taken[0], columns, rows, plan.score)
            table = joined(columns, passed, work.owner)
        folds = work.holding.above().folds(table.X, rows)
        nest = NestedStack(table, passed, rows, folds, work, len(rest) + int(plan.kept.wanted))
        for depth, (named, asked) in rest:
            trained = nest.layer(named, asked, partial(self._as_wanted, plan=plan, depth=depth), depth)
            layer = self._as_wanted(trained, plan, depth)
            plan.kept.layer(trained, layer, layer.columns(trained.blocks), rows, plan.score)
        self._chains = [[*taken, *chain] for chain in nest.chains()]
        learn, train_rows = nest.of_blender()
        own = rows.at(train_rows)
        self.final_estimator_ = self._blended(blender, learn.X, own, work, work.holding.above().folds_of_blender(learn.X, own))
        if plan.kept.wanted:
            predicted, times = np.zeros((len(rows), max(rows.target.n_classes, 1))), np.zeros((len(rows), 1))
            for seen, of_seen, asked_of, out in nest.blender_folds():
                part = self._blended(blender, seen.X, rows.at(of_seen), work, None)
                predicted[out] += self._final_probabilities(part, asked_of.X)
                times[out] += 1.0
            if not times.any():
                raise DataError(
                    f"{work.owner}: no fold is left to score the blender by: every layer holds one out, and so does oof_score. Give more "
                    "folds by cv, fewer layers, or nested_folds=False."
                )
            plan.kept.blender(np.where(times > 0.0, predicted / np.maximum(times, 1.0), np.nan), rows, plan.score)

    def _rows_of(self, target: Target, sample_weight: Any, groups: Any) -> tuple[LayerRows, Integers | None]:
        """The rows that weigh anything, and their numbers; None where that is all of them."""
        weight = read_weight(sample_weight, target.n_rows, self._owner)
        numbers = read_groups(groups, target.n_rows, self._owner)
        if target.n_rows < 2:
            raise DataError(f"{self._owner}: there is one sample (n_samples = 1): no row is left to score members by. Give more rows.")
        target = self._present_classes(target, weight)
        rows = LayerRows(np.arange(target.n_rows), target, weight, numbers)
        if weight is None or weight.all():
            return rows, None
        present = np.flatnonzero(weight)
        return rows.at(present), present

    def _present_classes(self, target: Target, weight: Floats | None) -> Target:
        """The target without classes of which all rows weigh nothing."""
        return target

    def _one_layer(
        self, named: Sequence[NamedMember], asked: Any, table: AnyTable, rows: LayerRows, work: LayerWork, depth: int
    ) -> TrainedLayer:
        if work.holding.prefit and depth == 0:
            return taken_layer(named, asked, table, rows, work)
        above = LayerWork(work.holding.above(), work.refit, work.seed, work.threads, work.owner, work.verbose)
        return train_layer(named, asked, table, rows, above, depth)

    def _as_wanted(self, trained: TrainedLayer, plan: StackingPlan, depth: int) -> StackingLayer:
        """The layer with a link and with columns left out, if that is asked for. Our own blenders take what members predict as it is."""
        layer, last = trained.layer, depth == len(plan.layers) - 1
        if last and self._own_blender:
            return layer
        layer = StackingLayer(layer.pools, layer.responses, plan.values.get("link") == "logit")
        kept = meta_features(layer, trained.blocks) if plan.values["drop_redundant"] else None
        return StackingLayer(layer.pools, layer.responses, layer.link, kept)

    def _blended(self, blender: Any, X: Any, rows: LayerRows, work: LayerWork, folds: tuple[Fold, ...] | None) -> Any:
        """A copy of the blender, trained."""
        copy = with_open_seeds(blender, key(work.seed, "blender"))
        labels, member = rows.target.labels(), NamedMember("final_estimator", blender)
        if isinstance(copy, BaseBlender):
            positions = self._member_positions()
            return named_error(self._owner, member, lambda: copy.fit_in_stack(X, labels, rows.weight, positions, folds))
        more = {} if rows.weight is None else {str(weight_name(copy)): rows.weight}
        return named_error(self._owner, member, lambda: copy.fit(X, labels, **more))

    def _member_positions(self) -> Integers:
        """Where in the columns of the last layer the probabilities or numbers of members stand, (m, width)."""
        layer = self._chains[0][-1]
        first = np.cumsum([0, *layer.widths()])
        wanted = "probabilities" if self._classifies else "numbers"
        width = 1 if layer.n_classes <= 2 else layer.n_classes
        found = [first[position] + np.arange(width) for position, response in enumerate(layer.responses) if response == wanted]
        return np.array(found, np.int64).reshape(-1, width)

    def _show(self, kept: TrainingRecord) -> None:
        """What was learned, as attributes."""
        by_layer = [[pool for layer in same for pool in layer.pools] for same in zip(*self._chains, strict=True)]
        self.layers_ = [[one for pool in pools for one in pool.members] for pools in by_layer]
        self.estimators_, first = self.layers_[0], by_layer[0]
        if len(first) == 1:
            self._name_trained(self.estimators_)
        else:
            self._name_trained([[pool.members[position] for pool in first] for position in range(len(first[0]))])
        self.folds_, self.member_scores_, self.layer_scores_ = kept.folds, kept.member_scores, kept.layer_scores
        if kept.wanted:
            self.oof_predictions_, self._oof_probabilities = kept.predictions, kept.probabilities
        elif hasattr(self, "oof_predictions_"):
            del self.oof_predictions_, self._oof_probabilities

    # Prediction.

    def _tables(self, X: Any) -> Iterator[tuple[list[LayerColumns], AnyTable]]:
        """For each layer what its members predict, and the table that it passes on; the mean of chains where there are several."""
        check_is_fitted(self)
        self._require_one_target()
        table = open_table_of(X, self._header, self._owner)
        passed = None if self._passage is None else self._passage.of(table, self._owner)
        tables = [table] * len(self._chains)
        for same in zip(*self._chains, strict=True):
            blocks = [layer.blocks(one, self._owner, self._threads) for layer, one in zip(same, tables, strict=True)]
            columns = [layer.columns(predicted) for layer, predicted in zip(same, blocks, strict=True)]
            tables = [joined(one, passed, self._owner) for one in columns]
            whole = [mean_of(predicted, same[0].n_classes) for predicted in zip(*blocks, strict=True)]
            yield whole, joined(np.mean(columns, axis=0), passed, self._owner)

    def transform(self, X: Any) -> Any:
        """What the blender gets: what the members of the last layer say, and the table if it is passed through.

        Parameters
        ----------
        X : table
            Rows of the columns that the stack was trained with; columns are matched by name.
        """
        *_, (_, table) = self._tables(X)
        return table.X

    @available_if(final_has("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: Any, **predict_params: Any) -> Any:
        """What the blender predicts from what the members predict.

        Parameters
        ----------
        X : table
            Rows of the columns that the stack was trained with; columns are matched by name.
        **predict_params : anything
            Handed to the `predict` of the blender.
        """
        if self._has_several:
            return self._each("predict", X)
        columns = self.transform(X)
        predicted = ask_model(self.final_estimator_, lambda: self.final_estimator_.predict(columns, **predict_params))
        return require_finite(predicted, self._owner) if isinstance(predicted, np.ndarray) else predicted

    def _staged_probabilities(self, X: Any) -> Iterator[Floats]:
        """What each layer predicts together, and last what the blender says, (n, K) or (n, 1)."""
        steps = list(self._tables(X))
        for layer, (blocks, _) in zip(self._chains[0], steps, strict=True):
            yield members_mean(blocks, layer.n_classes)
        yield self._final_probabilities(self.final_estimator_, steps[-1][1].X)

    def estimate_error(
        self, X: Any, y: Any, *, cv: Any = None, sample_weight: Any = None, groups: Any = None, scoring: Any = None
    ) -> ErrorEstimate:
        """How good the stack is on new rows: copies of it are trained without each of some outer folds and scored by that fold.

        Scores of members and layers that `fit` leaves behind are out of fold as well, but members and layers were chosen, and a blender was
        trained, by those same rows. Here nothing that is scored has seen the rows that score it.

        Parameters
        ----------
        X, y, sample_weight, groups
            As in `fit`.
        cv : int, splitter or iterable, default=None
            The outer folds; None for folds as the stack makes them for itself.
        scoring : str or callable, default=None
            What is measured; None for the `scoring` of the stack.

        Returns
        -------
        ErrorEstimate
            With `names`, `scores` (folds, names), `mean` and `standard_error`, of each member, of each layer and of the stack; it prints
            as a table, and `estimate["stack"]` is (mean, standard error).
        """
        check(self)
        return estimate_error(self, X, y, cv=cv, sample_weight=sample_weight, groups=groups, scoring=scoring)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of the columns that `transform` gives: the stack's, the member's, and a number where there are several."""
        check_is_fitted(self)
        layer = self._chains[0][-1]
        names = column_names(list(zip(layer.names, layer.widths(), strict=True)), type(self).__name__.lower())
        names = names if layer.kept is None else [names[position] for position in layer.kept]
        if self._passage is not None:
            given = self._header.names or [f"x{position}" for position in range(self.n_features_in_)]
            names += self._passage.names(given)
        return np.array(names, object)

    @property
    def stack_method_(self) -> list[str]:
        """What each member of the first layer passes on."""
        check_is_fitted(self)
        methods = {"probabilities": "predict_proba", "scores": "decision_function"}
        return [methods.get(response, "predict") for response in self._chains[0][0].responses]

    @property
    def weights_(self) -> Any:
        """How much each member counts, or the coefficients of the blender."""
        check_is_fitted(self)
        for name in ("weights_", "coef_"):
            if hasattr(self.final_estimator_, name):
                return getattr(self.final_estimator_, name)
        raise AttributeError(f"The blender is a {type(self.final_estimator_).__name__}, which has no weights.")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "final_estimator_") or self._has_several

    def _sk_visual_block_(self) -> Any:
        blocks = [_VisualBlock("parallel", *_shown(pairs), dash_wrapped=False) for pairs in self._pairs_of_layers()]
        final = _VisualBlock("parallel", [self._blender()], names=["final_estimator"], dash_wrapped=False)
        return _VisualBlock("serial", (*blocks, final), dash_wrapped=False)


def _shown(pairs: Sequence[tuple[str, Any]]) -> tuple[list[Any], list[str]]:
    return [one for _, one in pairs], [name for name, _ in pairs]
