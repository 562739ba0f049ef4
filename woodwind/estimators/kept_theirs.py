"""What a model file keeps of estimators of scikit-learn: only of classes whose fitted state is arrays and plain values, each with its type.

A model is made anew by its constructor, which only stores parameters, and then given what it had learnt. What is there only to go on with
a training, such as the optimiser of a net, is left behind; what can be made again, such as the tree of a neighbour search, is made again.
"""

import inspect
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import VALID_METRICS, BallTree, KDTree
from sklearn.tree._tree import NODE_DTYPE, Tree

from woodwind.base.errors import NotStorableError
from woodwind.base.sound import sound, sound_array
from woodwind.store.hints import fits, spelt

Floats = NDArray[np.floating]
Number = float | int
Labels = NDArray[Any]

# Every fitted attribute that is kept, by class; a letter for each axis, where lengths must agree: p columns, k scores.
COLUMNS: dict[str, Any] = {"n_features_in_": int, "feature_names_in_": NDArray[np.object_]}
LINEAR: dict[str, Any] = {"coef_": Floats, "intercept_": Floats | Number, "n_iter_": Any}
RIDGE = {**LINEAR, "solver_": str}
NET: dict[str, Any] = {
    "n_outputs_": int, "n_iter_": int, "t_": int, "n_layers_": int, "out_activation_": str, "coefs_": list[Floats],
    "intercepts_": list[Floats], "loss_curve_": list[Number], "loss_": Number, "best_loss_": Number | None,
    "validation_scores_": list[Number] | None, "best_validation_score_": Number | None,
}  # fmt: skip
NEAR: dict[str, Any] = {
    "effective_metric_": str, "effective_metric_params_": dict[str, Any], "_fit_method": str, "_fit_X": Floats, "n_samples_fit_": int,
    "_y": NDArray[np.number],
}  # fmt: skip
TREE: dict[str, Any] = {"tree_": dict[str, Any], "n_outputs_": int, "max_features_": int}
DUMMY: dict[str, Any] = {"_strategy": str, "n_outputs_": int, "constant_": Any}

KEPT: dict[str, dict[str, Any]] = {
    "LogisticRegression": {**LINEAR, "classes_": Labels},
    "LinearRegression": {**LINEAR, "rank_": int, "singular_": Floats},
    "Ridge": RIDGE,
    "RidgeCV": {**RIDGE, "alpha_": Number | Floats, "best_score_": Number | Floats, "cv_results_": Floats},
    "RidgeClassifier": {**RIDGE, "_label_binarizer": Any, "classes_": Labels},
    "Lasso": {**LINEAR, "dual_gap_": Number | Floats},
    "ElasticNet": {**LINEAR, "dual_gap_": Number | Floats},
    "StandardScaler": {"n_samples_seen_": Any, "mean_": Floats | None, "var_": Floats | None, "scale_": Floats | None},
    "MinMaxScaler": {
        "n_samples_seen_": int, "scale_": Floats, "min_": Floats, "data_min_": Floats, "data_max_": Floats, "data_range_": Floats,
    },
    "RobustScaler": {"center_": Floats | None, "scale_": Floats | None},
    "LabelBinarizer": {"classes_": Labels, "y_type_": str, "sparse_input_": bool},
    "MLPClassifier": {**NET, "_label_binarizer": Any, "classes_": Labels},
    "MLPRegressor": NET,
    "DummyClassifier": {**DUMMY, "classes_": Labels, "class_prior_": Floats, "n_classes_": int, "sparse_output_": bool},
    "DummyRegressor": DUMMY,
    "GaussianNB": {
        "classes_": Labels, "theta_": Floats, "var_": Floats, "class_prior_": Floats, "class_count_": Floats, "epsilon_": Number,
    },
    "Pipeline": {},
    "KNeighborsClassifier": {**NEAR, "classes_": Labels, "outputs_2d_": bool},
    "KNeighborsRegressor": NEAR,
    "DecisionTreeClassifier": {**TREE, "classes_": Labels, "n_classes_": int},
    "DecisionTreeRegressor": TREE,
}  # fmt: skip
# What is left behind, and what is made again.
LEFT = {"_optimizer", "_random_state", "_best_coefs", "_best_intercepts", "_no_improvement_count", "_tree"}
# Without these a fitted model of the class cannot be asked.
NEEDED = {
    "MLPClassifier": ("coefs_", "intercepts_", "n_layers_", "out_activation_", "_label_binarizer"),
    "MLPRegressor": ("coefs_", "intercepts_", "n_layers_", "out_activation_"),
    "StandardScaler": ("mean_", "scale_"),
    "MinMaxScaler": ("min_", "scale_"),
    "RobustScaler": ("center_", "scale_"),
    "DummyClassifier": ("_strategy", "classes_", "class_prior_", "n_classes_", "n_outputs_", "sparse_output_"),
    "DummyRegressor": ("_strategy", "constant_", "n_outputs_"),
    "GaussianNB": ("classes_", "theta_", "var_", "class_prior_"),
    "LabelBinarizer": ("classes_", "y_type_", "sparse_input_"),
    "KNeighborsClassifier": ("_fit_X", "_y", "_fit_method", "effective_metric_", "effective_metric_params_", "classes_", "outputs_2d_"),
    "KNeighborsRegressor": ("_fit_X", "_y", "_fit_method", "effective_metric_", "effective_metric_params_"),
    "DecisionTreeClassifier": ("tree_", "classes_", "n_classes_", "n_outputs_"),
    "DecisionTreeRegressor": ("tree_", "n_outputs_"),
    **dict.fromkeys(("LinearRegression", "Ridge", "RidgeCV", "Lasso", "ElasticNet"), ("coef_", "intercept_")),
    **dict.fromkeys(("LogisticRegression", "RidgeClassifier"), ("coef_", "intercept_", "classes_")),
}


class TheirKeeper:
    """Keeps estimators of scikit-learn, fitted or not."""

    @staticmethod
    def parts(model: Any) -> dict[str, Any]:
        """Parameters, then what was learnt; other attributes are refused."""
        name = type(model).__name__
        known = KEPT[name] | COLUMNS
        parameters = without_folders(model.get_params(deep=False))
        # Some constructors set more than their parameters.
        given = vars(type(model)(**parameters))
        learnt = {part: value for part, value in vars(model).items() if part not in given and part not in LEFT}
        if "tree_" in learnt:
            learnt["tree_"] = taken_apart(learnt["tree_"])
        for part, value in learnt.items():
            if part not in known or not fits(value, known[part]):
                what = f"is a {type(value).__name__}" if part in known else "is not known to this version of Woodwind"
                raise NotStorableError(f"{part} of a {name} {what}: a model file cannot hold it.")
        return {"parameters": parameters, "learnt": learnt}

    @staticmethod
    def whole(kind: Any, parts: dict[str, Any]) -> Any:
        """The model, checked."""
        name, known = kind.__name__, KEPT[kind.__name__] | COLUMNS
        sound(parts.keys() == {"parameters", "learnt"} and all(type(part) is dict for part in parts.values()), f"a {name} has other parts")
        parameters, learnt = parts["parameters"], parts["learnt"]
        names = set(kind._get_param_names())
        sound(parameters.keys() <= names, f"a {name} has parameters that the scikit-learn of this machine does not know")
        for part, value in learnt.items():
            sound(part in known and fits(value, known[part]), f"{part} of a {name} is not what it should be ({spelt(known.get(part))})")
        model = kind(**without_folders(parameters))
        if learnt:
            sound(all(part in learnt for part in NEEDED.get(name, ())), f"a fitted {name} has not all that it needs")
            model._validate_params()
            check_learnt(name, learnt)
            if "tree_" in learnt:
                learnt = learnt | {"tree_": put_together(learnt)}
            vars(model).update(learnt)
            if "_fit_X" in learnt:
                model._tree = tree_of(model)
        return model


def without_folders(parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters without the folder that a pipeline keeps transformers in: training it would write there, and unpickle what it finds."""
    return parameters | {"memory": None} if "memory" in parameters else parameters


def check_learnt(name: str, learnt: dict[str, Any]) -> None:
    """Numbers are finite, and shapes fit each other; or DataError."""
    for part, value in learnt.items():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            sound(np.isfinite(value), f"{part} of a {name} is not finite")
    width = learnt.get("n_features_in_")
    if "coef_" in learnt:
        sound(width is None or learnt["coef_"].shape[-1:] == (width,), f"coef_ of a {name} has the wrong shape")
        intercept = np.asarray(learnt["intercept_"])
        sound(np.isfinite(intercept), f"intercept_ of a {name} is not finite")
        sound(intercept.ndim == 0 or intercept.shape == learnt["coef_"].shape[:1], f"intercept_ of a {name} has the wrong shape")
    for part in ("mean_", "scale_", "min_", "center_"):
        if learnt.get(part) is not None:
            sound_array(learnt[part], (width,), f"{part} of a {name}")
    if "classes_" in learnt:
        sound(learnt["classes_"].ndim == 1 and learnt["classes_"].size > 0, f"a {name} has no classes")
    if "theta_" in learnt:
        shape = (learnt["classes_"].size, width)
        sound(learnt["theta_"].shape == learnt["var_"].shape == shape and (learnt["var_"] > 0.0).all(), f"a {name} has impossible moments")
        sound(learnt["class_prior_"].shape == shape[:1] and (learnt["class_prior_"] > 0.0).all(), f"a {name} has impossible shares")
    if "coefs_" in learnt:
        check_net(name, learnt)
    if "_fit_X" in learnt:
        check_near(name, learnt)


def check_net(name: str, learnt: dict[str, Any]) -> None:
    """Each layer takes what the one before gives."""
    coefs, intercepts = learnt["coefs_"], learnt["intercepts_"]
    sound(len(coefs) == len(intercepts) == learnt["n_layers_"] - 1 >= 1, f"a {name} has other layers than it should")
    width = learnt.get("n_features_in_")
    for coef, intercept in zip(coefs, intercepts, strict=True):
        sound_array(coef, (width, None), f"coefs_ of a {name}")
        width = coef.shape[1]
        sound_array(intercept, (width,), f"intercepts_ of a {name}")
    sound(learnt["out_activation_"] in ("identity", "logistic", "softmax"), f"a {name} ends in an unknown way")
    if "classes_" in learnt:
        binary = learnt["_label_binarizer"]
        sound(type(binary).__name__ == "LabelBinarizer" and hasattr(binary, "classes_"), f"a {name} has no labels")
        sound(width == (1 if learnt["classes_"].size == 2 else learnt["classes_"].size), f"a {name} has other scores than classes")


def check_near(name: str, learnt: dict[str, Any]) -> None:
    """There is a target for each row, and the distance is one that scikit-learn has a name for."""
    rows, target = learnt["_fit_X"], learnt["_y"]
    sound(rows.ndim == 2 and rows.shape[1] == learnt.get("n_features_in_", rows.shape[1]) and len(rows) > 0, f"a {name} has no rows")
    sound(len(target) == len(rows) == learnt.get("n_samples_fit_", len(rows)), f"a {name} has not one target for each row")
    sound(learnt["_fit_method"] in ("brute", "kd_tree", "ball_tree"), f"a {name} searches in an unknown way")
    sound(learnt["effective_metric_"] in VALID_METRICS[learnt["_fit_method"]], f"a {name} has an unknown distance")
    sound("classes_" not in learnt or (target.dtype.kind == "i" and target.min() >= 0), f"a {name} has impossible classes")
    sound("classes_" not in learnt or target.max() < learnt["classes_"].size, f"a {name} has impossible classes")


def tree_of(model: Any) -> Any:
    """The tree of a search for neighbours, made again from the rows: it depends on nothing else."""
    if model._fit_method == "brute":
        return None
    kind = KDTree if model._fit_method == "kd_tree" else BallTree
    return kind(model._fit_X, model.leaf_size, metric=model.effective_metric_, **model.effective_metric_params_)


# Trees of scikit-learn: their walks trust every number, so that each is looked at first.


def taken_apart(tree: Any) -> dict[str, Any]:
    """The arrays of a tree."""
    state = tree.__getstate__()
    nodes = state["nodes"]
    columns = {field: np.ascontiguousarray(nodes[field]) for field in nodes.dtype.names}
    return {"n_features": int(tree.n_features), "max_depth": int(state["max_depth"]), "values": state["values"], **columns}


def put_together(learnt: dict[str, Any]) -> Any:
    """The tree, after it is proved that no walk can leave it or go on for ever; or DataError."""
    given = learnt["tree_"]
    fields = NODE_DTYPE.names
    sound(given.keys() == {"n_features", "max_depth", "values", *fields}, "a tree has other parts than it should")
    values, n_features = given["values"], given["n_features"]
    sound(isinstance(values, np.ndarray) and values.dtype == np.float64 and values.ndim == 3 and len(values) > 0, "a tree has no values")
    sound(fits(n_features, int) and n_features >= 1 and fits(given["max_depth"], int) and given["max_depth"] >= 0, "a tree has no features")
    sound(n_features == learnt.get("n_features_in_", n_features), "a tree has other columns than its model")
    n_classes = learnt["classes_"].size if "classes_" in learnt else 1
    sound(learnt["n_outputs_"] == 1 and values.shape[1:] == (1, n_classes), "a tree has other scores than its model")
    sound(np.isfinite(values), "a value of a tree is not finite")
    nodes = np.zeros(len(values), NODE_DTYPE)
    for field in fields:
        column = given[field]
        right = isinstance(column, np.ndarray) and column.shape == (len(values),) and column.dtype == NODE_DTYPE[field]
        sound(right, f"{field} of a tree is not what it should be")
        nodes[field] = column
    check_walks(nodes, n_features)
    tree = Tree(n_features, np.array([n_classes], np.intp), 1)
    tree.__setstate__({"max_depth": given["max_depth"], "node_count": len(nodes), "nodes": nodes, "values": np.ascontiguousarray(values)})
    return tree


def check_walks(nodes: NDArray[Any], n_features: int) -> None:
    """Children stand behind their parents, each node but the root has one parent, and splits ask features that are there."""
    here = np.arange(len(nodes))
    left, right = nodes["left_child"], nodes["right_child"]
    split = left != -1
    sound(split == (right != -1), "a node has one child")
    inside = (left > here) & (right > here) & (left < len(nodes)) & (right < len(nodes))
    sound(~split | inside, "a child is not behind its parent")
    parents = np.bincount(np.concatenate([left[split], right[split]]), minlength=len(nodes))
    sound(parents == (here > 0), "a node has no parent, or two")
    sound(~split | ((nodes["feature"] >= 0) & (nodes["feature"] < n_features)), "a split uses a feature that does not exist")
    sound(~np.isnan(nodes["threshold"]), "a threshold is not a number")


class SplitterKeeper:
    """Keeps splitters of rows, which are their parameters."""

    @staticmethod
    def parts(splitter: Any) -> dict[str, Any]:
        """What the constructor takes."""
        names = inspect.signature(type(splitter)).parameters
        return {name: getattr(splitter, name, getattr(splitter, f"_{name}", None)) for name in names}

    @staticmethod
    def whole(kind: Any, parts: dict[str, Any]) -> Any:
        """The splitter; the constructor refuses what it does not know."""
        return kind(**parts)


class BunchKeeper:
    """Keeps dictionaries whose items are attributes as well."""

    @staticmethod
    def parts(bunch: Any) -> dict[str, Any]:
        """The items."""
        return dict(bunch)

    @staticmethod
    def whole(kind: Any, parts: dict[str, Any]) -> Any:
        """The same."""
        return kind(**parts)


class RandomStateKeeper:
    """Keeps NumPy's older generator, where a user has given one as random_state."""

    @staticmethod
    def parts(state: Any) -> dict[str, Any]:
        """Its numbers."""
        name, keys, place, has_gauss, gauss = state.get_state()
        return {"name": name, "keys": keys, "place": int(place), "has_gauss": int(has_gauss), "gauss": float(gauss)}

    @staticmethod
    def whole(kind: Any, parts: dict[str, Any]) -> Any:
        """The generator, where it was."""
        sound(parts.keys() == {"name", "keys", "place", "has_gauss", "gauss"} and parts["name"] == "MT19937", "a generator is not known")
        sound(fits(parts["keys"], NDArray[np.uint32]) and parts["keys"].shape == (624,), "a generator has no numbers")
        sound(fits(parts["place"], int) and 0 <= parts["place"] <= 624 and parts["has_gauss"] in (0, 1), "a generator is nowhere")
        sound(fits(parts["gauss"], float) and math.isfinite(parts["gauss"]), "a generator has no numbers")
        made = kind(0)
        made.set_state(tuple(parts[name] for name in ("name", "keys", "place", "has_gauss", "gauss")))
        return made
