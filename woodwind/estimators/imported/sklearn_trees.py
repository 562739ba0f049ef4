"""Trees, forests and gradient boosting of scikit-learn as fitted estimators: docs/guide/importing-models.md.

Trees of scikit-learn compare values of 32 bits with thresholds of 64; those of HistGradientBoosting compare 64 bits.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import ensemble, tree
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from woodwind.base.errors import ParameterError
from woodwind.data.tables.categories import AllCategories
from woodwind.ensemble.resampling import Resampling
from woodwind.estimators.forests.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
from woodwind.estimators.forests.forests import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from woodwind.estimators.imported.libraries import estimator_of
from woodwind.estimators.persistence.consistency import check_fit
from woodwind.kernels.forest.layout import FEATURE_SHIFT, LEFT_LEAF_SHIFT, MISSING_SHIFT, RIGHT_LEAF_SHIFT
from woodwind.kernels.tree.layout import LEFT, RIGHT
from woodwind.losses.base import Loss
from woodwind.losses.classification import Exponential, LogLoss, Multinomial
from woodwind.store.imported.contents import demand, refusing
from woodwind.store.imported.layout import CategorySplit, ParsedTree, assemble_forest, at_most_as_float32
from woodwind.store.imported.objectives import regression_objective
from woodwind.store.imported.read_model import CLASSIFICATION, REGRESSION, Columns, ReadModel
from woodwind.tree.compact_forest import CompactForest
from woodwind.tree.compact_forest_grower import CompactTree

Floats = NDArray[np.float64]
U = np.uint64


def from_sklearn(model: Any) -> Any:
    """A fitted tree model of scikit-learn as an estimator of Woodwind: predictions are the same, and everything here works on it.

    Parameters
    ----------
    model : fitted estimator
        A classifier or regressor of scikit-learn: DecisionTree, ExtraTree, RandomForest, ExtraTrees, GradientBoosting or
        HistGradientBoosting.

    Returns
    -------
    estimator
        Of the class of the same name here; HistGradientBoosting becomes GradientBoosting, and a single ExtraTree a DecisionTree.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> import woodwind
    >>> X, y = load_iris(return_X_y=True)
    >>> theirs = RandomForestClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> ours = woodwind.from_sklearn(theirs)
    >>> bool(abs(ours.predict_proba(X) - theirs.predict_proba(X)).max() < 1e-12)
    True
    """
    convert = next((how for kinds, how in CONVERSIONS if isinstance(model, kinds)), None)
    if convert is None:
        raise ParameterError(
            "from_sklearn takes a fitted DecisionTree, ExtraTree, RandomForest, ExtraTrees, GradientBoosting or HistGradientBoosting of "
            f"scikit-learn, not {type(model).__name__}."
        )
    try:
        check_is_fitted(model)
    except NotFittedError as error:
        raise ParameterError(f"from_sklearn: the {type(model).__name__} is not trained. Call its fit first.") from error
    with refusing(f"the given {type(model).__name__}", "scikit-learn"):
        return convert(model)


def _columns(model: Any, categories: dict[int, AllCategories] | None = None) -> Columns:
    """The columns of the training table; names that are no text are none to scikit-learn."""
    names = getattr(model, "feature_names_in_", None)
    return Columns(None if names is None else tuple(map(str, names)), int(model.n_features_in_), categories or {})


def _parsed(arrays: Any, value: Floats) -> ParsedTree:
    """A tree of scikit-learn with these values (n, L)."""
    left, right = arrays.children_left.astype(np.int64), arrays.children_right.astype(np.int64)
    cover, impurity = arrays.weighted_n_node_samples.astype(np.float64), arrays.impurity
    split = left >= 0
    gain = np.zeros(len(left))
    pair = left[split], right[split]
    gain[split] = cover[split] * impurity[split] - sum(cover[side] * impurity[side] for side in pair)
    goes_left = getattr(arrays, "missing_go_to_left", np.zeros(len(left), np.bool_))
    return ParsedTree(
        left=np.where(split, left, -1),
        right=np.where(split, right, -1),
        feature=np.where(split, arrays.feature, -1).astype(np.int64),
        threshold=at_most_as_float32(np.where(split, arrays.threshold, 0.0)),
        missing=np.where(goes_left, LEFT, RIGHT).astype(np.uint8),
        value=value,
        cover=cover,
        gain=np.maximum(gain, 0.0),
    )


# ----------------------------------------------------------------------------------------------------
# Trees and forests, whose values are means or class probabilities.


def _values(model: Any, arrays: Any) -> Floats:
    """Values of all nodes (n, L): means of the targets, or probabilities of the classes of each target side by side."""
    if not hasattr(model, "classes_"):
        return np.asarray(arrays.value[:, :, 0], np.float64)
    counts = np.atleast_1d(model.n_classes_)
    parts = [arrays.value[:, target, :count] for target, count in enumerate(counts)]
    totals = [part.sum(axis=1, keepdims=True) for part in parts]
    return np.hstack([part / np.where(total > 0.0, total, 1.0) for part, total in zip(parts, totals, strict=True)])


def _finished(made: Any, model: Any) -> Any:
    """What every estimator of trees has, and the check that one of a model file goes through."""
    made._set_schema(_columns(model).schema())
    if hasattr(model, "classes_"):
        made.classes_ = model.classes_ if isinstance(model.classes_, list) else np.asarray(model.classes_)
    if model.n_outputs_ > 1:
        made.target_names_ = [f"y{number}" for number in range(model.n_outputs_)]
    check_fit(made)
    return made


def _decision_tree(model: Any) -> Any:
    made: Any = DecisionTreeClassifier() if hasattr(model, "classes_") else DecisionTreeRegressor()
    parsed = _parsed(model.tree_, _values(model, model.tree_))
    width = parsed.value.shape[1]
    one_number = not hasattr(model, "classes_") and width == 1
    made.forest_ = assemble_forest([parsed], np.zeros(model.n_features_in_, np.int64), [0 if one_number else -1], np.zeros(width))
    return _finished(made, model)


FORESTS: tuple[tuple[type, type], ...] = (
    (ensemble.RandomForestClassifier, RandomForestClassifier),
    (ensemble.RandomForestRegressor, RandomForestRegressor),
    (ensemble.ExtraTreesClassifier, ExtraTreesClassifier),
    (ensemble.ExtraTreesRegressor, ExtraTreesRegressor),
)


def _forest(model: Any) -> Any:
    kind: Any = next(ours for theirs, ours in FORESTS if isinstance(model, theirs))
    made = kind(n_estimators=len(model.estimators_), bootstrap=bool(model.bootstrap))
    one_target = hasattr(model, "classes_") and model.n_outputs_ == 1
    trees = [_compact_tree(_parsed(one.tree_, _values(one, one.tree_)), one_target) for one in model.estimators_]
    n_classes = len(model.classes_) if one_target else 0
    made.compact_forest_ = CompactForest.of(trees, np.zeros(model.n_features_in_, np.int32), n_classes).check()
    # Which rows a tree has seen is not known: nobody can ask for those that it has not.
    made._resampling, made._seed = Resampling(0, 0, 0, replace=False), 0
    return _finished(made, model)


def _compact_tree(parsed: ParsedTree, has_classes: bool) -> CompactTree:
    """The tree as a forest has it: inner nodes and leaves, each numbered as they are met from the left, a parent before its children."""
    order = _preorder(parsed.left, parsed.right)
    split = parsed.left[order] >= 0
    number = np.empty(len(parsed.left), np.int64)
    number[order[split]], number[order[~split]] = np.arange(split.sum()), np.arange((~split).sum())
    inner, leaves = order[split], order[~split]
    left, right = parsed.left[inner], parsed.right[inner]
    left_leaf, right_leaf = parsed.left[left] < 0, parsed.left[right] < 0
    refers = np.where(left_leaf, number[left], number[right])
    word = refers.astype(U) | parsed.feature[inner].astype(U) << U(FEATURE_SHIFT) | parsed.missing[inner].astype(U) << U(MISSING_SHIFT)
    word |= left_leaf.astype(U) << U(LEFT_LEAF_SHIFT) | right_leaf.astype(U) << U(RIGHT_LEAF_SHIFT)
    nodes = np.stack([word, np.ascontiguousarray(parsed.threshold[inner]).view(U)], axis=1).reshape(-1)
    cover = parsed.cover[leaves]
    value = parsed.value[leaves]
    if has_classes:
        pure = value.max(axis=1) == 1.0
        value = np.where(pure[:, None], np.where(value == 1.0, cover[:, None], 0.0), value * cover[:, None])
    return CompactTree(nodes, parsed.gain[inner], np.zeros(0, U), value, cover, None, None)


def _preorder(left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int64]:
    """The nodes from the root on, the left branch of each before the right one."""
    split = np.flatnonzero(left >= 0)
    if (left[split] == split + 1).all():  # as scikit-learn grows trees without max_leaf_nodes
        return np.arange(len(left))
    order, waiting = [], [0]
    left_list, right_list = left.tolist(), right.tolist()
    while waiting:
        node = waiting.pop()
        order.append(node)
        if left_list[node] >= 0:
            waiting += [right_list[node], left_list[node]]
    return np.array(order, np.int64)


# ----------------------------------------------------------------------------------------------------
# Boosting, whose values are added up.


def _gradient_boosting(model: Any) -> Any:
    given = model.init_
    plain = isinstance(given, str) or type(given).__name__.startswith("Dummy")
    demand(plain, f"it starts from the predictions of another model ({type(given).__name__}), and only constants can be read")
    raw = model._raw_predict_init(np.zeros((1, model.n_features_in_), np.float32))
    start = np.asarray(raw, np.float64).reshape(-1)
    width = start.size
    trees = [
        _parsed(one.tree_, model.learning_rate * one.tree_.value[:, 0, :1])
        for row in model.estimators_[: model.n_estimators_]
        for one in row
    ]
    columns = _columns(model)
    forest = assemble_forest(trees, columns.n_codes, list(range(width)) * model.n_estimators_, start)
    numbers = {"quantile": model.alpha, "huber": None}
    return estimator_of(_read(model, forest, columns, numbers.get(model.loss), float(model.learning_rate)))


def _read(model: Any, forest: Any, columns: Columns, number: float | None, rate: float) -> ReadModel:
    """The model with its loss."""
    classes = getattr(model, "classes_", None)
    loss: Loss
    if classes is None:
        loss = regression_objective(model.loss, number)
    elif model.loss == "exponential":
        loss = Exponential()
    else:
        loss = LogLoss() if len(classes) == 2 else Multinomial(len(classes))
    task = REGRESSION if classes is None else CLASSIFICATION
    params = {"loss": "exponential"} if isinstance(loss, Exponential) else {}
    labels = None if classes is None else np.asarray(classes)
    return ReadModel("scikit-learn", task, forest, columns.schema(), loss, labels, forest.n_outputs, 1, rate, params).check()


def _hist_gradient_boosting(model: Any) -> Any:
    position, categories = _hist_columns(model)
    trees = [_hist_tree(one, position, categories) for row in model._predictors for one in row]
    columns = _columns(model, categories)
    width = len(model._predictors[0]) if model._predictors else 1
    start = np.asarray(model._baseline_prediction, np.float64).reshape(-1)
    forest = assemble_forest(trees, columns.n_codes, list(range(width)) * len(model._predictors), start)
    return estimator_of(_read(model, forest, columns, getattr(model, "quantile", None), float(model.learning_rate)))


def _hist_columns(model: Any) -> tuple[NDArray[np.int64], dict[int, AllCategories]]:
    """The input column of each column of the trees, which have those of categories first, and the categories of columns."""
    encoder = getattr(model, "_preprocessor", None)
    if encoder is None:
        return np.arange(model.n_features_in_), {}
    mask = np.asarray(model.is_categorical_)
    own = np.flatnonzero(mask)
    found = {}
    for column, values in zip(own.tolist(), encoder.named_transformers_["encoder"].categories_, strict=True):
        known = [value for value in values.tolist() if value is not None and value == value]  # noqa: PLR0124
        is_text = all(isinstance(value, str) for value in known)
        found[column] = AllCategories.of(known if is_text else [float(value) for value in known])
    return np.concatenate([own, np.flatnonzero(~mask)]), found


def _hist_tree(predictor: Any, position: NDArray[np.int64], categories: dict[int, AllCategories]) -> ParsedTree:
    """A tree of HistGradientBoosting; a category that training never saw goes where missing values go."""
    nodes = predictor.nodes
    leaf = nodes["is_leaf"].astype(np.bool_)
    feature = np.where(leaf, -1, position[np.where(leaf, 0, nodes["feature_idx"])])
    made = ParsedTree(
        left=np.where(leaf, -1, nodes["left"].astype(np.int64)),
        right=np.where(leaf, -1, nodes["right"].astype(np.int64)),
        feature=feature,
        threshold=np.where(leaf, 0.0, nodes["num_threshold"]),
        missing=np.where(nodes["missing_go_to_left"], LEFT, RIGHT).astype(np.uint8),
        value=nodes["value"].astype(np.float64)[:, None],
        cover=nodes["count"].astype(np.float64),
        gain=np.maximum(nodes["gain"].astype(np.float64), 0.0),
    )
    for node in np.flatnonzero(nodes["is_categorical"].astype(np.bool_) & ~leaf).tolist():
        bits = predictor.raw_left_cat_bitsets[nodes["bitset_idx"][node]].astype("<u4")
        members = np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little"))
        known = members[members < len(categories[int(feature[node])].values)]
        made.sets[node] = CategorySplit(known, LEFT, int(made.missing[node]))
    return made


CONVERSIONS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (tuple(theirs for theirs, _ in FORESTS), _forest),
    ((tree.DecisionTreeClassifier, tree.DecisionTreeRegressor), _decision_tree),
    ((ensemble.GradientBoostingClassifier, ensemble.GradientBoostingRegressor), _gradient_boosting),
    ((ensemble.HistGradientBoostingClassifier, ensemble.HistGradientBoostingRegressor), _hist_gradient_boosting),
)
