"""What a model file keeps of estimators of scikit-learn: only of classes whose fitted state is arrays and plain values, each with its type.

A model is made anew by its constructor, which only stores parameters, and then given what it had learned. What is there only to go on with
a training, such as the optimiser of a net, is left behind; what can be made again, such as the tree of a neighbour search, is made again.

Code that is not ours trusts what it is given. So each attribute is declared once: its type, and the letters of its axes, of which each has
one length in all of a model. What a model of the class needs to be asked must be there.
"""

import inspect
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import VALID_METRICS, BallTree, KDTree
from sklearn.tree._tree import NODE_DTYPE, Tree

from woodwind.base.errors import NotStorableError
from woodwind.base.validate import require, require_array, require_children, require_labels, require_shapes
from woodwind.estimators.base.model_checks import check_tags
from woodwind.store.annotations import fits, spelt
from woodwind.tree.forest import are_probabilities

# ----------------------------------------------------------------------------------------------------
# Trees of scikit-learn as arrays, for the model file. Their compiled walks trust every number, so that each is looked at first.


def taken_apart(tree: Any) -> dict[str, Any]:
    """The arrays of a tree."""
    state = tree.__getstate__()
    if tree.n_classes[0] > 1 and not are_probabilities(state["values"]):
        raise NotStorableError(
            "A classification tree of scikit-learn says what are no probabilities, as after training with weights below zero: a model file "
            "cannot hold it. Train it with weights of at least 0."
        )
    nodes = state["nodes"]
    columns = {field: np.ascontiguousarray(nodes[field]) for field in nodes.dtype.names}
    return {"n_features": int(tree.n_features), "max_depth": int(state["max_depth"]), "values": state["values"], **columns}


def put_together(state: dict[str, Any]) -> Any:
    """The tree, after it is proved that no walk can leave it or go on for ever; or DataError."""
    given = state["tree_"]
    fields = NODE_DTYPE.names
    require(given.keys() == {"n_features", "max_depth", "values", *fields}, "a tree has other parts than it should")
    values, n_features = given["values"], given["n_features"]
    require(isinstance(values, np.ndarray) and values.dtype == np.float64 and values.ndim == 3 and len(values) > 0, "a tree has no values")
    require(fits(n_features, int) and n_features == state["n_features_in_"] >= 1, "a tree has other columns than its model")
    n_classes = len(state["classes_"]) if "classes_" in state else 1
    require(state.get("n_classes_", 1) == n_classes, "a tree has other classes than it says")
    require(state["n_outputs_"] == 1 and values.shape[1:] == (1, n_classes), "a tree has other scores than its model")
    require(np.isfinite(values), "a value of a tree is not finite")
    require("classes_" not in state or are_probabilities(values), "a value of a tree is no probability, or they do not add up to one")
    nodes = np.zeros(len(values), NODE_DTYPE)
    for field in fields:
        column = given[field]
        right = isinstance(column, np.ndarray) and column.shape == (len(values),) and column.dtype == NODE_DTYPE[field]
        require(right, f"{field} of a tree is not what it should be")
        nodes[field] = column
    depth = check_walks(nodes, n_features)
    # Whoever asks for the path of a row is given room for so many nodes.
    require(fits(given["max_depth"], int) and given["max_depth"] == depth, "a tree is of another depth than it says")
    tree = Tree(n_features, np.array([n_classes], np.intp), 1)
    tree.__setstate__({"max_depth": depth, "node_count": len(nodes), "nodes": nodes, "values": np.ascontiguousarray(values)})
    return tree


def check_walks(nodes: NDArray[Any], n_features: int) -> int:
    """Children stand behind their parents, each node but the root has one parent, and splits ask features that are there; the depth."""
    root, left, right = np.array([0]), nodes["left_child"], nodes["right_child"]
    split = left != -1
    require(split == (right != -1), "a node has one child")
    require_children(split, left[split], right[split], np.full(int(split.sum()), len(nodes)), root)
    require(~split | ((nodes["feature"] >= 0) & (nodes["feature"] < n_features)), "a split uses a feature that does not exist")
    require(~np.isnan(nodes["threshold"]), "a threshold is not a number")
    weight = nodes["weighted_n_node_samples"]
    require(np.isfinite(weight) & (weight >= 0.0) & (nodes["n_node_samples"] >= 0), "a node has an impossible number of rows")
    require(np.isfinite(nodes["impurity"]), "an impurity is not finite")
    depth, level = 0, root
    while (level := level[split[level]]).size:
        level = np.concatenate([left[level], right[level]])
        depth += 1
    return depth


Floats = NDArray[np.float32] | NDArray[np.float64]
Number = float | int
Labels = NDArray[Any]


class Attribute(NamedTuple):
    """A fitted attribute."""

    hint: Any
    axes: str = ""  # letters of an array, one for each axis; alternatives by the number of axes are parted by |
    needed: bool = True


def _aside(hint: Any, axes: str = "") -> Attribute:
    """One that need not be there: scikit-learn sets it in some versions or settings only, or nobody asks for it."""
    return Attribute(hint, axes, needed=False)


# p columns, k classes, s scores (one for two classes, else k), t targets, n rows, r anything.
COLUMNS = {"n_features_in_": Attribute(int), "feature_names_in_": _aside(NDArray[np.object_], "p")}
BLIND = COLUMNS | {"n_features_in_": _aside(int)}
CLASSES = {"classes_": Attribute(Labels, "k")}
LINEAR = {
    **COLUMNS, "coef_": Attribute(Floats, "p | t p"), "intercept_": Attribute(Floats | Number, "t"), "n_iter_": _aside(Any),
    "solver_": _aside(str),
}  # fmt: skip
OF_CLASSES = {**LINEAR, **CLASSES, "coef_": Attribute(Floats, "p | s p"), "intercept_": Attribute(Floats | Number, "s")}
NET = {
    **COLUMNS, "n_outputs_": Attribute(int), "n_layers_": Attribute(int), "out_activation_": Attribute(str),
    "coefs_": Attribute(list[Floats]), "intercepts_": Attribute(list[Floats]), "n_iter_": _aside(int), "t_": _aside(int),
    "loss_curve_": _aside(list[Number]), "loss_": _aside(Number), "best_loss_": _aside(Number | None),
    "validation_scores_": _aside(list[Number] | None), "best_validation_score_": _aside(Number | None),
}  # fmt: skip
NEAR = {
    **COLUMNS, "effective_metric_": Attribute(str), "effective_metric_params_": Attribute(dict[str, Any]), "_fit_method": Attribute(str),
    "_fit_X": Attribute(Floats), "n_samples_fit_": Attribute(int), "_y": Attribute(NDArray[np.number], "n | n t"),
}  # fmt: skip
TREE = {**COLUMNS, "tree_": Attribute(dict[str, Any]), "n_outputs_": Attribute(int), "max_features_": _aside(int)}

PERSISTED: dict[str, dict[str, Attribute]] = {
    "LogisticRegression": {**OF_CLASSES, "coef_": Attribute(Floats, "s p"), "intercept_": Attribute(Floats, "s")},
    "LinearRegression": {**LINEAR, "rank_": _aside(int), "singular_": _aside(Floats, "r")},
    "Ridge": LINEAR,
    "RidgeCV": {
        **LINEAR, "alpha_": _aside(Number | Floats, "t"), "best_score_": _aside(Number | Floats, "t"),
        "cv_results_": _aside(Floats, "n r | n t r"),
    },
    "RidgeClassifier": {**OF_CLASSES, "_label_binarizer": Attribute(Any)},
    "Lasso": {**LINEAR, "dual_gap_": _aside(Number | Floats, "t")},
    "ElasticNet": {**LINEAR, "dual_gap_": _aside(Number | Floats, "t")},
    "StandardScaler": {
        **COLUMNS, "mean_": Attribute(Floats | None, "p"), "scale_": Attribute(Floats | None, "p"), "var_": _aside(Floats | None, "p"),
        "n_samples_seen_": _aside(Number | NDArray[np.number], "p"),
    },
    "MinMaxScaler": {
        **COLUMNS, "min_": Attribute(Floats, "p"), "scale_": Attribute(Floats, "p"), "data_min_": Attribute(Floats, "p"),
        "data_max_": Attribute(Floats, "p"), "data_range_": Attribute(Floats, "p"), "n_samples_seen_": _aside(int),
    },
    "RobustScaler": {**COLUMNS, "center_": Attribute(Floats | None, "p"), "scale_": Attribute(Floats | None, "p")},
    "LabelBinarizer": {**CLASSES, "y_type_": Attribute(str), "sparse_input_": Attribute(bool)},
    "MLPClassifier": {**NET, **CLASSES, "_label_binarizer": Attribute(Any)},
    "MLPRegressor": NET,
    "DummyClassifier": {
        **BLIND, **CLASSES, "_strategy": Attribute(str), "class_prior_": Attribute(Floats, "k"), "n_classes_": Attribute(int),
        "n_outputs_": Attribute(int), "sparse_output_": Attribute(bool),
    },
    "DummyRegressor": {**BLIND, "constant_": Attribute(NDArray[np.number], "r t"), "n_outputs_": Attribute(int)},
    "GaussianNB": {
        **COLUMNS, **CLASSES, "theta_": Attribute(Floats, "k p"), "var_": Attribute(Floats, "k p"), "class_prior_": Attribute(Floats, "k"),
        "class_count_": _aside(Floats, "k"), "epsilon_": _aside(Number),
    },
    "Pipeline": {},
    "KNeighborsClassifier": {**NEAR, **CLASSES, "_y": Attribute(NDArray[np.integer], "n"), "outputs_2d_": Attribute(bool)},
    "KNeighborsRegressor": NEAR,
    "DecisionTreeClassifier": {**TREE, **CLASSES, "n_classes_": Attribute(int)},
    "DecisionTreeRegressor": TREE,
}  # fmt: skip
# What is left behind, and what is made again.
LEFT = {
    "_optimizer", "_random_state", "_best_coefs", "_best_intercepts", "_no_improvement_count", "_coef_indptr", "_intercept_indptr", "_tree",
}  # fmt: skip
# Parameters that name places of the machine where the model was trained: nobody who opens a file wants something written there.
LEFT_OUT = {"Pipeline": ("memory",)}
# Threads that a file may ask for: some searches make a list of as many parts.
MOST_JOBS = 1024
# How the last layer of a net ends, for numbers and for classes; how a model says the same of all rows.
ENDINGS = {"MLPRegressor": ("identity", "exp"), "MLPClassifier": ("logistic", "softmax")}
STRATEGIES = ("most_frequent", "prior", "stratified", "uniform", "constant")
# Parameters of distances, by the axes of arrays.
METRIC_PARAMETERS = {"p": "", "w": "p", "V": "p", "VI": "p p"}


class SklearnPersister:
    """Keeps estimators of scikit-learn, fitted or not."""

    @staticmethod
    def parts(model: Any) -> dict[str, Any]:
        """Parameters, then what was learned; other attributes are refused."""
        name = type(model).__name__
        known = PERSISTED[name]
        parameters = model.get_params(deep=False) | dict.fromkeys(LEFT_OUT.get(name, ()))
        # Some constructors set more than their parameters.
        given = vars(type(model)(**parameters))
        state = {part: value for part, value in vars(model).items() if part not in given and part not in LEFT}
        if "tree_" in state:
            state["tree_"] = taken_apart(state["tree_"])
        for part, value in state.items():
            if part not in known or not fits(value, known[part].hint):
                what = f"is a {type(value).__name__}" if part in known else "is not known to this version of Woodwind"
                raise NotStorableError(f"{part} of a {name} {what}: a model file cannot hold it.")
        return {"parameters": parameters, "trained": state}

    @staticmethod
    def whole(kind: Any, parts: dict[str, Any]) -> Any:
        """The model, checked."""
        name, known = kind.__name__, PERSISTED[kind.__name__]
        require(
            parts.keys() == {"parameters", "trained"} and all(type(part) is dict for part in parts.values()), f"a {name} has other parts"
        )
        parameters, state = parts["parameters"] | dict.fromkeys(LEFT_OUT.get(name, ())), parts["trained"]
        names = set(kind._get_param_names())
        require(parameters.keys() <= names, f"a {name} has parameters that the scikit-learn of this machine does not know")
        for part, value in state.items():
            require(part in known and fits(value, known[part].hint), f"{part} of a {name} is not what it should be{_wanted(known, part)}")
        model = kind(**parameters)
        if name == "Pipeline":
            check_steps(model)
        elif not state:
            check_tags(model)
        if state:
            missing = [part for part, attribute in known.items() if attribute.needed and part not in state]
            require(not missing, f"a fitted {name} has no {', '.join(missing)}")
            model._validate_params()
            check_jobs(name, parameters)
            check_fitted_state(name, state, parameters)
            if "tree_" in state:
                state = state | {"tree_": put_together(state)}
            vars(model).update(state)
            if "_fit_X" in state:
                model._tree = tree_of(model)
        return model


def _wanted(known: dict[str, Attribute], part: str) -> str:
    return f" ({spelt(known[part].hint)})" if part in known else ""


def check_steps(pipeline: Any) -> None:
    """The steps are pairs of a name and an estimator."""
    steps = pipeline.steps
    right = isinstance(steps, list | tuple) and len(steps) > 0 and all(isinstance(pair, tuple) and len(pair) == 2 for pair in steps)
    require(right, "a Pipeline has no steps")
    names = [name for name, _ in steps]
    require(
        all(isinstance(name, str) for name in names) and len(set(names)) == len(names), "the steps of a Pipeline have not one name each"
    )
    allowed = all(step is None or step == "passthrough" or (hasattr(step, "fit") and not isinstance(step, type)) for _, step in steps)
    require(allowed, "a step of a Pipeline is no estimator")


def check_jobs(name: str, parameters: dict[str, Any]) -> None:
    """Threads are as many as there can be."""
    require(abs(parameters.get("n_jobs") or 1) <= MOST_JOBS, f"a {name} asks for {parameters.get('n_jobs')} threads")


def check_fitted_state(name: str, state: dict[str, Any], parameters: dict[str, Any]) -> None:
    """Numbers are finite, and shapes fit each other; or DataError."""
    lengths = {}
    if "n_features_in_" in state:
        lengths["p"] = int(state["n_features_in_"])
        require(lengths["p"] >= 1, f"a {name} has no columns")
    if "classes_" in state:
        require_labels(state["classes_"], f"a {name}")
        lengths["k"] = len(state["classes_"])
        lengths["s"] = 1 if lengths["k"] <= 2 else lengths["k"]
    if "coef_" in state and "s" not in lengths:
        lengths["t"] = 1 if state["coef_"].ndim == 1 else len(state["coef_"])
    shapes = {}
    for part, value in state.items():
        if isinstance(value, np.ndarray) and PERSISTED[name][part].axes:
            ways = [way.strip() for way in PERSISTED[name][part].axes.split("|")]
            shapes[part] = value, next((way for way in ways if len(way.split()) == value.ndim), ways[0])
        elif isinstance(value, float | np.floating):
            require(math.isfinite(value) or not PERSISTED[name][part].needed, f"{part} of a {name} is not finite")
    require_shapes(f"a {name}", shapes, **lengths)
    if "feature_names_in_" in state:
        require(all(isinstance(one, str) for one in state["feature_names_in_"]), f"a column of a {name} has a name that is no text")
    for check in CHECKS.get(name, ()):
        check(name, state, parameters)


def check_binary(name: str, state: dict[str, Any], _parameters: dict[str, Any]) -> None:
    """The labels that scores are turned into are those of the model."""
    binary, n_classes = state["_label_binarizer"], len(state["classes_"])
    right = type(binary).__name__ == "LabelBinarizer" and hasattr(binary, "classes_")
    require(right and binary.classes_.tolist() == state["classes_"].tolist(), f"a {name} has other labels than classes")
    require(binary.y_type_ == ("binary" if n_classes <= 2 else "multiclass"), f"a {name} has labels of another kind than classes")


def check_labels(name: str, state: dict[str, Any], _parameters: dict[str, Any]) -> None:
    """Labels of one target."""
    require(state["y_type_"] in ("binary", "multiclass"), f"a {name} is of several targets")
    require(not state["sparse_input_"], f"a {name} is of sparse labels")


def check_moments(name: str, state: dict[str, Any], _parameters: dict[str, Any]) -> None:
    """Spreads are above zero, and shares are shares."""
    require((state["var_"] > 0.0).all(), f"a {name} has impossible moments")
    require((state["class_prior_"] >= 0.0).all() and (state["class_prior_"] > 0.0).any(), f"a {name} has impossible shares")


def check_dummy(name: str, state: dict[str, Any], parameters: dict[str, Any]) -> None:
    """What is predicted for all rows can be said."""
    require(state["n_outputs_"] == 1, f"a {name} is of several targets")
    if name == "DummyRegressor":
        require_array(state["constant_"], (1, 1), f"constant_ of a {name}")
        return
    labels, prior = state["classes_"].tolist(), state["class_prior_"]
    require(state["n_classes_"] == len(labels) and not state["sparse_output_"], f"a {name} has other classes than it says")
    require(state["_strategy"] in STRATEGIES, f"a {name} speaks in an unknown way")
    constant = np.ravel(np.asarray(parameters.get("constant"))).tolist()
    require(state["_strategy"] != "constant" or (len(constant) == 1 and constant[0] in labels), f"a {name} says what is no class")
    require((prior >= 0.0).all() and abs(float(prior.sum()) - 1.0) < 1e-6, f"a {name} has impossible shares")


def check_net(name: str, state: dict[str, Any], _parameters: dict[str, Any]) -> None:
    """Each layer takes what the one before gives."""
    coefs, intercepts = state["coefs_"], state["intercepts_"]
    require(len(coefs) == len(intercepts) == state["n_layers_"] - 1 >= 1, f"a {name} has other layers than it should")
    width = state["n_features_in_"]
    for coef, intercept in zip(coefs, intercepts, strict=True):
        require_array(coef, (width, None), f"coefs_ of a {name}")
        width = coef.shape[1]
        require_array(intercept, (width,), f"intercepts_ of a {name}")
    require(state["out_activation_"] in ENDINGS[name], f"a {name} ends in an unknown way")
    require(width == state["n_outputs_"] >= 1, f"a {name} has other scores than it says")
    if "classes_" in state:
        require(width == (1 if len(state["classes_"]) == 2 else len(state["classes_"])), f"a {name} has other scores than classes")


def check_near(name: str, state: dict[str, Any], parameters: dict[str, Any]) -> None:
    """There is a target for each row, enough rows, and the distance is one that scikit-learn has a name for."""
    rows, target, metric = state["_fit_X"], state["_y"], state["effective_metric_"]
    width = state["n_features_in_"]
    require(rows.ndim == 2 and rows.shape[1] == width and len(rows) > 0, f"a {name} has no rows")
    require(len(target) == len(rows) == state["n_samples_fit_"], f"a {name} has not one target for each row")
    require(np.isfinite(rows) | (metric == "nan_euclidean"), f"a row of a {name} is not finite")
    require(1 <= parameters.get("n_neighbors", 5) <= len(rows), f"a {name} looks for more rows than there are")
    require(state["_fit_method"] in ("brute", "kd_tree", "ball_tree"), f"a {name} searches in an unknown way")
    require(metric in VALID_METRICS[state["_fit_method"]], f"a {name} has an unknown distance")
    require(metric != "precomputed" or len(rows) == width, f"a {name} has distances of other rows")
    for part, value in state["effective_metric_params_"].items():
        require(part in METRIC_PARAMETERS, f"a distance of a {name} has the parameter {part[:40]!r}, which is not known")
        require_shapes(f"a distance of a {name}", {part: (np.asarray(value, np.float64), METRIC_PARAMETERS[part])}, p=width)
    if "classes_" in state:
        inside = target.min() >= 0 and target.max() < len(state["classes_"])
        require(not state["outputs_2d_"] and inside, f"a {name} has impossible classes")


CHECKS: dict[str, tuple[Any, ...]] = {
    "RidgeClassifier": (check_binary,),
    "LabelBinarizer": (check_labels,),
    "MLPClassifier": (check_net, check_binary),
    "MLPRegressor": (check_net,),
    "DummyClassifier": (check_dummy,),
    "DummyRegressor": (check_dummy,),
    "GaussianNB": (check_moments,),
    "KNeighborsClassifier": (check_near,),
    "KNeighborsRegressor": (check_near,),
}


def tree_of(model: Any) -> Any:
    """The tree of a search for neighbours, made again from the rows: it depends on nothing else."""
    if model._fit_method == "brute":
        return None
    kind = KDTree if model._fit_method == "kd_tree" else BallTree
    return kind(model._fit_X, model.leaf_size, metric=model.effective_metric_, **model.effective_metric_params_)


class SplitterPersister:
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


class BunchPersister:
    """Keeps dictionaries whose items are attributes as well."""

    @staticmethod
    def parts(bunch: Any) -> dict[str, Any]:
        """The items."""
        return dict(bunch)

    @staticmethod
    def whole(kind: Any, parts: dict[str, Any]) -> Any:
        """The same."""
        return kind(**parts)


class RandomStatePersister:
    """Keeps NumPy's older generator, where a user has given one as random_state."""

    @staticmethod
    def parts(state: Any) -> dict[str, Any]:
        """Its numbers."""
        name, keys, position, has_gauss, gauss = state.get_state()
        return {"name": name, "keys": keys, "position": int(position), "has_gauss": int(has_gauss), "gauss": float(gauss)}

    @staticmethod
    def whole(kind: Any, parts: dict[str, Any]) -> Any:
        """The generator, where it was."""
        require(
            parts.keys() == {"name", "keys", "position", "has_gauss", "gauss"} and parts["name"] == "MT19937", "a generator is not known"
        )
        require(fits(parts["keys"], NDArray[np.uint32]) and parts["keys"].shape == (624,), "a generator has no numbers")
        require(fits(parts["position"], int) and 0 <= parts["position"] <= 624 and parts["has_gauss"] in (0, 1), "a generator is nowhere")
        require(fits(parts["gauss"], float) and math.isfinite(parts["gauss"]), "a generator has no numbers")
        made = kind(0)
        made.set_state(tuple(parts[name] for name in ("name", "keys", "position", "has_gauss", "gauss")))
        return made
