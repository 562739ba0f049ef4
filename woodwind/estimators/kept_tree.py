"""Trees of scikit-learn as arrays, for the model file. Their compiled walks trust every number, so that each is looked at first."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree._tree import NODE_DTYPE, Tree

from woodwind.base.sound import sound
from woodwind.store.hints import fits


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
    sound(fits(n_features, int) and n_features == learnt["n_features_in_"] >= 1, "a tree has other columns than its model")
    n_classes = len(learnt["classes_"]) if "classes_" in learnt else 1
    sound(learnt.get("n_classes_", 1) == n_classes, "a tree has other classes than it says")
    sound(learnt["n_outputs_"] == 1 and values.shape[1:] == (1, n_classes), "a tree has other scores than its model")
    sound(np.isfinite(values), "a value of a tree is not finite")
    nodes = np.zeros(len(values), NODE_DTYPE)
    for field in fields:
        column = given[field]
        right = isinstance(column, np.ndarray) and column.shape == (len(values),) and column.dtype == NODE_DTYPE[field]
        sound(right, f"{field} of a tree is not what it should be")
        nodes[field] = column
    depth = check_walks(nodes, n_features)
    # Whoever asks for the path of a row is given room for so many nodes.
    sound(fits(given["max_depth"], int) and given["max_depth"] == depth, "a tree is of another depth than it says")
    tree = Tree(n_features, np.array([n_classes], np.intp), 1)
    tree.__setstate__({"max_depth": depth, "node_count": len(nodes), "nodes": nodes, "values": np.ascontiguousarray(values)})
    return tree


def check_walks(nodes: NDArray[Any], n_features: int) -> int:
    """Children stand behind their parents, each node but the root has one parent, and splits ask features that are there; the depth."""
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
    weight = nodes["weighted_n_node_samples"]
    sound(np.isfinite(weight) & (weight >= 0.0) & (nodes["n_node_samples"] >= 0), "a node has an impossible number of rows")
    sound(np.isfinite(nodes["impurity"]), "an impurity is not finite")
    depth, level = 0, here[:1]
    while (level := level[split[level]]).size:
        level = np.concatenate([left[level], right[level]])
        depth += 1
    return depth
