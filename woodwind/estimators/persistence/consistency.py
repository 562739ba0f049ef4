"""Do the parts of a fitted estimator that come from a file fit each other? Each of them has been asked by itself already.

One function for each family, by the names of the classes that an estimator is made of, or the method `_check_state` of a class. What it
declares are the lengths that arrays share: whoever predicts follows them without another look, and allocates by them.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.validate import require, require_labels, require_shapes
from woodwind.data.tables.schema import Schema
from woodwind.distributions.classes import CategoricalDistribution
from woodwind.ensemble.mixture_of_experts import LinearGate
from woodwind.estimators.adaptive.adaboost_base import AdaptiveModel
from woodwind.estimators.bagging.tree_members import TreeMembers
from woodwind.estimators.base.model_checks import require_model
from woodwind.estimators.base.several_targets import divided, require_several
from woodwind.estimators.forests.forest_base import BaseForestModel
from woodwind.estimators.pools.member_list import DROP
from woodwind.losses.classification import Multinomial, TwoClasses
from woodwind.losses.distribution_score import DistributionScore
from woodwind.losses.several_targets import SeveralTargetsLoss
from woodwind.tree.forest import Forest, are_probabilities, check_probabilities

Labels = NDArray[Any] | None
# What adding up shares may lose.
NEARLY = 1e-6


def check_fit(model: Any) -> None:
    """Parts of a fitted estimator fit each other; or DataError."""
    if "target_ensembles_" in vars(model):
        check_each_target(model)
        return
    check_columns(model)
    check_curves(model)
    for cls in type(model).__mro__:
        if cls.__name__ in CHECKS:
            CHECKS[cls.__name__](model)
        if "_check_state" in vars(cls):
            vars(cls)["_check_state"](model)


def check_each_target(model: Any) -> None:
    """There is a trained ensemble like the model for each target, of the same columns."""
    has, owner = vars(model), type(model).__name__
    ensembles, classes = model.target_ensembles_, has.get("classes_")
    require_several(has.get("target_names_"), classes, None, owner)
    require(len(ensembles) == len(model.target_names_), f"{owner} has not one ensemble for each target")
    for position, one in enumerate(ensembles):
        require(type(one) is type(model) and "target_ensembles_" not in vars(one), f"an ensemble of {owner} is of another kind")
        require("n_features_in_" in vars(one) and one.n_features_in_ == model.n_features_in_, f"an ensemble of {owner} has other columns")
        require(same_labels(classes_of(one), None if classes is None else classes[position]), f"an ensemble of {owner} has other classes")
    check_names(model)


def classes_of(model: Any) -> Labels:
    """The labels of a classifier; None for numbers."""
    found: Labels = vars(model).get("classes_")
    return found


def same_labels(one: Labels, other: Labels) -> bool:
    """Whether two lists of labels are one, or there are none."""
    if one is None or other is None:
        return one is other
    return one.shape == other.shape and bool(np.all(one == other))


def check_columns(model: Any) -> None:
    """Columns, their names and the classes are there."""
    has = vars(model)
    owner = type(model).__name__
    classifies = any(cls.__name__ == "ClassifierMixin" for cls in type(model).__mro__)
    classifies |= has.get("target_type_", "continuous") != "continuous"  # encoders are of both kinds
    require(classifies == ("classes_" in has), f"{owner} has classes and needs none, or needs some and has none")
    if "target_names_" in has:
        trees = model.compact_forest_ if "compact_forest_" in has else model.forest_
        require_several(model.target_names_, has.get("classes_"), None if "loss_" in has else trees.n_outputs, owner)
    elif classifies:
        require_labels(model.classes_, owner)
        require(has.get("n_classes_", len(model.classes_)) == len(model.classes_), f"{owner} has other classes than it says")
    if "n_features_in_" in has:
        require(model.n_features_in_ >= 1, f"{owner} has no columns")
    if "schema_" in has:
        check_trees(model, model.schema_)
    check_names(model)


def check_names(model: Any) -> None:
    """Columns have one name each, if any."""
    if "feature_names_in_" in vars(model):
        names = model.feature_names_in_
        require(names.shape == (model.n_features_in_,) and all(isinstance(name, str) for name in names), "columns have not one name each")


def check_trees(model: Any, schema: Schema) -> None:
    """Trees ask for the features that the schema makes."""
    has = vars(model)
    require(model.n_features_in_ == schema.n_inputs, "the model has another number of columns than its schema")
    if "forest_" in has:
        check_forest(model.forest_, schema)
    if "compact_forest_" in has:
        expected = [0 if names is None else len(names) for names in schema.categories]
        require(model.compact_forest_.n_categories.tolist() == expected, "the trees have other features than the schema")
        one_target = "classes_" in has and "target_names_" not in has
        require(
            model.compact_forest_.n_classes == (len(model.classes_) if one_target else 0),
            "the trees have other classes than the model",
        )
        if "target_names_" in has and "classes_" in has:
            for part in divided(model.compact_forest_.mixed, model.classes_):
                require(are_probabilities(part), "a value is no probability, or those of a target do not add up to one")
        else:
            require(
                one_target or "target_names_" in has or model.compact_forest_.n_outputs == 1, "the trees have other targets than the model"
            )
        require(model.compact_forest_.n_trees >= 1, "there are no trees")
    if "leaf_rows_" in has:
        model.leaf_rows_.check_for(model.compact_forest_)


def check_forest(forest: Forest, schema: Schema) -> None:
    """A forest has the features of the schema, and sets have room for all of their categories: kernels look them up."""
    require(forest.n_features == len(schema.categories), "the trees have other features than the schema")
    words = -(-schema.code_counts // 64)
    require(forest.n_nodes == 0 or np.array_equal(forest.set_words, words), "the trees have other categories than the schema")


def check_pool(pool: Any, classes: Labels, n_columns: int | None) -> int:
    """A pool answers for these classes, from tables of so many columns; how many members it has."""
    require(same_labels(pool.classes, classes), "the members are of other classes than the model")
    header = getattr(pool, "header", None)
    right = header is None or n_columns is None or header.n_columns == n_columns
    require(right, "the members were trained with other columns than the model")
    return len(pool)


def check_shown(model: Any, members: Iterable[Any]) -> None:
    """Members that an estimator shows, in a list, in lists for each layer or by name, are those that it asks."""
    known = {id(member) for member in members}
    for name in ("estimators_", "named_estimators_", "layers_", "experts_"):
        shown = vars(model).get(name, [])
        waiting = list(shown.values()) if isinstance(shown, dict) else list(shown)
        waiting = [inner for one in waiting for inner in (one if isinstance(one, list) else [one])]
        require(all(id(one) in known or (isinstance(one, str) and one == DROP) for one in waiting), f"{name} are not the members")


def check_loss(model: Any) -> None:
    """The loss is of the task and has as many scores as the trees."""
    loss, classes = model.loss_, classes_of(model)
    several = "target_names_" in vars(model)
    require(several == isinstance(loss, SeveralTargetsLoss), "the loss is of another number of targets")
    if isinstance(loss, SeveralTargetsLoss):
        check_several_loss(loss, model)
    elif classes is None:
        require(not isinstance(loss, TwoClasses | Multinomial), "the loss is of another task")
    else:
        # The loss of many classes has one score too many for two, and nobody trains that.
        wanted = 2 if isinstance(loss, TwoClasses) else max(loss.n_classes, 3) if isinstance(loss, Multinomial) else 0
        if isinstance(loss, DistributionScore) and isinstance(loss.distribution, CategoricalDistribution):
            wanted = loss.distribution.n_classes
        require(wanted == len(classes), "the loss is of other classes than the model")
    if "forest_" in vars(model):
        require(model.forest_.n_outputs == loss.width, "the trees have other scores than the loss")


def check_several_loss(loss: SeveralTargetsLoss, model: Any) -> None:
    """There is a loss of the task for each target."""
    require(len(loss.each) == len(model.target_names_), "the loss is of other targets than the model")
    for one, labels in zip(loss.each, vars(model).get("classes_") or [None] * len(loss.each), strict=True):
        if labels is None:
            require(one.width == 1 and not isinstance(one, TwoClasses | Multinomial | SeveralTargetsLoss), "the loss is of another task")
        else:
            wanted = 2 if isinstance(one, TwoClasses) else max(one.n_classes, 3) if isinstance(one, Multinomial) else 0
            require(wanted == max(len(labels), 2), "the loss is of other classes than the model")


def check_curves(model: Any) -> None:
    """A curve has a number for each round, so that a training can go on with it."""
    curves = [values for table in vars(model).get("evals_result_", {}).values() for values in table.values()]
    require(all(values.ndim == 1 for values in curves), "the curve of a metric is none")


def check_boosting(model: Any) -> None:
    """Rounds are such, and the model that it began from, if there is one, is one."""
    check_loss(model)
    require(model.n_trees_per_iteration_ >= 1 and model.n_iter_ >= 0, "there are no rounds")
    if model._earlier is not None:
        require(model._earlier.schema is model.schema_, "it goes on with other columns than it has")
        require(model._earlier.trained.first.size == model.loss_.width, "it goes on with other scores than the loss has")
    if model.init_ is not None:
        require_model(model.init_, "init_", classes=classes_of(model), n_columns=model.n_features_in_, soft=True)


def check_tree(model: Any) -> None:
    """One tree with a value for each class."""
    forest, classes = model.forest_, classes_of(model)
    require(forest.n_trees == 1, "there is another number of trees than one")
    if "target_names_" in vars(model):  # as many values as targets, or as classes of targets: `check_columns`
        require(classes is None or not forest.start.any(), "probabilities do not start from zero")
        for part in [] if classes is None else divided(forest.value, model.classes_):
            require(are_probabilities(part), "a value is no probability, or those of a target do not add up to one")
        return
    require(forest.n_outputs == (1 if classes is None else len(classes)), "the tree has other scores than there are classes")
    if classes is not None:
        check_probabilities(forest)


def check_adaptive_model(one: AdaptiveModel, model: Any) -> None:
    """The learners of one vote."""
    require(
        (one.forest is None) != ("schema_" in vars(model)), "learners are trees where they should not be, or are none where they should"
    )
    if one.forest is not None:
        check_forest(one.forest, model.schema_)
    for learner in one.estimators:
        require_model(learner, "a learner", classes=one.labels, n_columns=model.n_features_in_, soft=one.is_soft)


def check_adaboost(model: Any) -> None:
    """Votes are of the classes, or of the bits that tell them apart."""
    n_classes, models = len(model.classes_), model._models
    require(len(models) >= 1 and "n_classes_" in vars(model), "there are no learners")
    for one in models:
        check_adaptive_model(one, model)
    if model._second is not None:
        second, n_features = model._second, len(model.schema_.categories) if "schema_" in vars(model) else None
        n_features = len(second.schema.categories) if second.schema is not None else n_features
        require(n_features is not None and len(models) == n_classes and all(one.n_labels == 2 for one in models), "a class has no model")
        require_model(second.final, "the second level", classes=model.classes_, n_columns=n_classes + int(n_features or 0), soft=True)
        positions = np.searchsorted(model.classes_, second.final.classes_)
        require(second.positions.tolist() == positions.tolist(), "the second level knows other classes")
        require(getattr(model, "final_estimator_", None) is second.final, "the second level is another one than is shown")
        require(second.schema is None or second.schema.n_inputs == model.n_features_in_, "the second level has other columns")
    elif len(models) == 1:
        require(models[0].n_labels == n_classes, "learners vote for other classes than the model has")
        same = models[0].forest is None or getattr(model, "forest_", None) is models[0].forest
        require(same, "the trees are not those that vote")
    else:
        require(hasattr(model, "code_") and model.code_.shape == (n_classes, len(models)), "the words of the classes have another length")
        require(all(one.n_labels == 2 for one in models) and np.isin(model.code_, (-1, 0, 1)).all(), "a bit has more than two ends")


def check_adaboost_regressor(model: Any) -> None:
    """Every learner has a weight."""
    learners = model._estimators
    trees = "forest_" in vars(model)
    require(bool(learners) != trees and trees == ("schema_" in vars(model)), "learners are mixed up")
    for learner in learners:
        require_model(learner, "a learner", classes=None, n_columns=model.n_features_in_)
    count = len(learners) or model.forest_.n_trees
    require(learners or model.forest_.n_outputs == 1, "the trees have other scores than one number")
    require_shapes(type(model).__name__, {"estimator_weights_": (model.estimator_weights_, "m")}, m=count)
    require(model.estimator_weights_ >= 0.0, "a learner has a weight below zero")


def check_additive(model: Any) -> None:
    """Every round has a learner for each score."""
    check_loss(model)
    width, own = model.loss_.width, "schema_" in vars(model)
    require_shapes(type(model).__name__, {"start_": (model.start_, "w")}, w=width)
    require(own == ("forest_" in vars(model)), "there are trees without columns, or columns without trees")
    for members in model._rounds:
        require(len(members) == width, "a round has not one learner for each score")
        for member in members:
            require(isinstance(member.trained, Forest) == own and np.isfinite(member.step), "a learner is of another kind than the others")
            if isinstance(member.trained, Forest):
                check_forest(member.trained, model.schema_)
                require(member.trained.n_trees == 1 and member.trained.n_outputs == 1, "a learner has more than one tree")
            else:
                require_model(member.trained, "a learner", classes=None, n_columns=model.n_features_in_)
            if member.values is not None:
                require_shapes("a learner", {"values": (member.values, "n")}, **_nodes_of(member.trained))


def _nodes_of(trained: Any) -> dict[str, int]:
    """Nodes of a learner whose leaves have values of their own."""
    if isinstance(trained, Forest):
        return {}  # there may be fewer values than nodes: the others are leaves that no row has reached
    require(callable(getattr(trained, "apply", None)), "a learner has no leaves")
    tree = getattr(trained, "tree_", None)
    return {"n": int(tree.node_count) if tree is not None else int(trained.forest_.n_nodes)}


def check_bagging(model: Any) -> None:
    """Members see the columns of the model and know its classes."""
    members = model._members
    schema_or_header = members.schema.header if isinstance(members, TreeMembers) else members.header
    known = members.task.target.classes if isinstance(members, TreeMembers) else members.classes
    require(
        schema_or_header.n_columns == model.n_features_in_ and len(members) >= 1, "members see other columns than the model, or are none"
    )
    require(same_labels(known, classes_of(model)), "members are of other classes than the model")
    require(hasattr(model.estimator_, "fit") and hasattr(model.estimator_, "get_params"), "estimator_ is no estimator")
    for resampling in (members.resampling, model._resampling):
        require(resampling.n_columns == model.n_features_in_, "columns are drawn from others than there are")


def check_weighed(model: Any) -> None:
    """Every member has a weight."""
    has, count = vars(model), check_pool(model._pool, classes_of(model), model.n_features_in_)
    check_shown(model, model._pool.members)
    shapes = {"weights_": "m", "weights_covariance_": "m m", "error_variances_": "m", "combinations_": "c m", "probabilities_": "c"}
    require(has.get("weights_") is not None, "members have no weights")
    require_shapes(type(model).__name__, {name: (has[name], axes) for name, axes in shapes.items() if name in has}, m=count)
    require((model.weights_ >= 0.0).all() and abs(float(model.weights_.sum()) - 1.0) < NEARLY, "the weights of members are no shares")
    require(has.get("error_variances_", np.zeros(1)) >= 0.0, "a variance is below zero")
    require(np.isfinite(has.get("error_variance_", 0.0)) & (has.get("error_variance_", 0.0) >= 0.0), "a variance is below zero")


def check_voting(model: Any) -> None:
    """The same for votes."""
    count = check_pool(model._pool, classes_of(model), model.n_features_in_)
    check_shown(model, model._pool.members)
    shapes = {name: (getattr(model, name), "m") for name in ("weights_", "_member_weights")}
    require(model.weights_ is not None, "members have no weights")
    require_shapes(type(model).__name__, shapes, m=count)
    given = model._member_weights
    require(given is None or ((given >= 0.0).all() and 0.0 < given.sum() < np.inf), "members have no weights")


def check_selection(model: Any) -> None:
    """Members that were chosen count."""
    count = check_pool(model._pool, classes_of(model), model.n_features_in_)
    require_shapes(type(model).__name__, {"_counts": (model._counts, "m"), "selected_": (model.selected_, "m")}, m=count)
    require((model._counts >= 0.0).all() and 0.0 < model._counts.sum() < np.inf, "members do not count")
    inside = (model.selected_ >= 0) & (model.selected_ < len(model.member_names_))
    require(inside.all() and np.unique(model.selected_).size == count, "a member is chosen that is not there, or twice")
    given = model._given
    trees = (
        isinstance(given, BaseForestModel)
        and hasattr(given, "compact_forest_")
        and given.compact_forest_.n_trees == len(model.member_names_)
    )
    require(given is None or trees, "the ensemble that members were chosen from is none")


def check_dynamic(model: Any) -> None:
    """Members are of the task."""
    check_pool(model._model.pool, classes_of(model), model.n_features_in_)
    require(model._model.space.form.schema.n_inputs == model.n_features_in_, "distances are of other columns than the model has")
    require(model._model.selector.method in model._methods.values(), "the method is of another task")
    selector = model._model.selector
    require(model.method_ is selector.method and model.n_neighbors_ == selector.k, "the method is another one than is shown")
    check_shown(model, model._model.pool.members)


def check_linear_averaging(model: Any) -> None:
    """There is a coefficient for each column of numbers."""
    require(model._form.schema.n_inputs == model.n_features_in_, "the model has another number of columns than its form")
    shapes = {
        "coef_": (model.coef_, "d"), "coef_std_": (model.coef_std_, "d"), "coef_covariance_": (model.coef_covariance_, "d d"),
        "_center": (model._center, "d"), "inclusion_probabilities_": (model.inclusion_probabilities_, "d"),
    }  # fmt: skip
    require_shapes(type(model).__name__, shapes, d=model._form.width)
    numbers = (model.intercept_, model.error_variance_, model._mean_variance)
    require(all(isinstance(one, float | int) and np.isfinite(one) for one in numbers), "a number is not finite")
    require(model._kept.included.shape[1] == len(model.terms_) == model._form.width, "subsets are of other columns")


def check_experts(model: Any) -> None:
    """Gate and experts see what they were trained with."""
    parts, form = model._parts, model._columns.form
    require(form.schema.n_inputs == model.n_features_in_, "the model has another number of columns than its form")
    own = model.experts is None
    check_shown(model, parts.experts.members)
    gate = None if isinstance(parts.gate, LinearGate) else parts.gate.members[0]
    require(model.gate_ is gate, "the gate is another one than is shown")
    count = check_pool(parts.experts, classes_of(model), form.width if own else model.n_features_in_)
    if isinstance(parts.gate, LinearGate):
        require(parts.gate.n_columns in (0, form.width), "the gate reads other columns than there are")
    else:
        require(check_pool(parts.gate, np.arange(count), model.n_features_in_) == 1, "there are several gates")
    if classes_of(model) is None:
        require("error_variances_" in vars(model), "experts have no variances")
        require_shapes(type(model).__name__, {"error_variances_": (model.error_variances_, "k")}, k=count)
        require(model.error_variances_ >= 0.0, "a variance is below zero")


def check_stacking(model: Any) -> None:
    """Each layer reads what the one below passes on."""
    classes, chains = classes_of(model), model._chains
    require(same_labels(model._labels, classes), "the stack has other labels than classes")
    require(model._header.n_columns == model.n_features_in_, "the stack has other columns than its header")
    passage = 0
    if model._passage is not None:
        form = model._passage.form
        require(form is None or form.schema.n_inputs == model.n_features_in_, "other columns are passed through than there are")
        passage = model.n_features_in_ if form is None else form.width
    require(len(chains) >= 1 and len(chains[0]) >= 1 and len({len(chain) for chain in chains}) == 1, "there are no layers")
    widths = set()
    for chain in chains:
        width = model.n_features_in_
        for layer in chain:
            for pool in layer.pools:
                check_pool(pool, classes, width)
            width = passage + (sum(layer.widths()) if layer.kept is None else len(layer.kept))
        widths.add(width)
    require(len(widths) == 1, "chains of layers end in different columns")
    check_shown(model, [one for chain in chains for layer in chain for pool in layer.pools for one in pool.members])
    for same in zip(*chains, strict=True):
        require(
            all(layer.names == same[0].names and layer.responses == same[0].responses for layer in same), "chains have different layers"
        )
    require_model(model.final_estimator_, "final_estimator_", classes=classes, n_columns=widths.pop())


def check_blender(model: Any) -> None:
    """Columns of members and others are all that there are."""
    n_columns, positions, pool = model.n_features_in_, model._positions, model._pool
    taken = positions.ravel()
    require(((taken >= 0) & (taken < n_columns)).all() and np.unique(taken).size == taken.size, "a member has a column that is not there")
    n_others, classes = n_columns - taken.size, classes_of(model)
    mean = {"mean": (model._scale.mean, "c"), "spread": (model._scale.spread, "c")}
    require_shapes("a blender", mean, c=n_others)
    require(model._scale.spread > 0.0, "a spread is none")
    if classes is None:
        require(not hasattr(pool, "intercepts") and positions.ndim == 1, "a blender of numbers is one of classes")
        require_shapes(
            "a blender", {"weights": (pool.weights, "m"), "coefficients": (pool.coefficients, "c")}, m=len(positions), c=n_others
        )
        return
    require(hasattr(pool, "intercepts"), "a blender of classes is one of numbers")
    width = 1 if len(classes) == 2 else len(classes)
    shapes = {
        "positions": (positions, "m w"), "weights": (pool.weights, "m"), "intercepts": (pool.intercepts, "k"),
        "coefficients": (pool.coefficients, "c k"), "frequencies": (model._frequency, "k"),
    }  # fmt: skip
    require_shapes("a blender", shapes, w=width, k=len(classes), c=n_others)
    require((model._frequency >= 0.0) & (model._frequency <= 1.0), "a class is more frequent than can be")


def check_auto(model: Any) -> None:
    """The estimator says of itself what its model says."""
    inside, classes = model.model_, classes_of(model)
    require((classes is not None) == inside.classifies, "the model is of another task")
    require((inside.task == "ranking") == type(model).__name__.endswith("Ranker"), "the model is of another task")
    require(classes is None or classes.tolist() == list(inside.classes), "the model is of other classes")


def check_softmax(model: Any) -> None:
    """There are coefficients for each class."""
    shapes = {"coef_": (model.coef_, "k p"), "intercept_": (model.intercept_, "k")}
    require_shapes(type(model).__name__, shapes, k=len(model.classes_), p=model.n_features_in_)


def check_matrix(model: Any) -> None:
    """The columns are those of its form."""
    require(model.form_.schema.n_inputs == model.n_features_in_, "the form is of another number of columns")


CHECKS: dict[str, Callable[[Any], None]] = {
    "BaseGradientBoosting": check_boosting, "BaseDecisionTree": check_tree, "AdaBoostClassifier": check_adaboost,
    "AdaBoostRegressor": check_adaboost_regressor, "BaseAdditiveModel": check_additive, "BaseBagging": check_bagging,
    "BaseWeightedPool": check_weighed,
    "BaseDynamicSelection": check_dynamic, "BaseEnsembleSelection": check_selection, "BaseStacking": check_stacking,
    "BaseVoting": check_voting, "BaseMixtureOfExperts": check_experts,
    "BaseBlender": check_blender, "BayesianLinearAveragingRegressor": check_linear_averaging, "BaseAutoEnsemble": check_auto,
    "SoftmaxRegression": check_softmax, "TableToMatrix": check_matrix,
}  # fmt: skip
