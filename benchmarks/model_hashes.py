"""Are models what they were? Hashes of many small models, to be compared before and after a change that must change no number.

A hash is of the predictions, and of the numeric arrays of all trees that can be reached from the model. It does not know names of classes,
attributes or files, so that those may be renamed.

    python benchmarks/model_hashes.py --write benchmarks/results/model_hashes.json
    python benchmarks/model_hashes.py --compare benchmarks/results/model_hashes.json

One difference is a failure, and the script ends with an error.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import same_bits

ROWS = 6_000
TREE_ARRAYS = 5  # a dataclass of at least so many numeric arrays holds trees

Case = Callable[[], tuple[Any, Any]]  # a fitted model, and the rows that it predicts


def array_hash(array: Any) -> str:
    """Shape and content; float64, int32 and the like are told apart by their sizes, bytes are little-endian."""
    array = np.ascontiguousarray(array)
    total = hashlib.sha256(f"{array.dtype.kind}{array.dtype.itemsize}{array.shape}".encode())
    total.update(array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes())
    return total.hexdigest()


def numeric(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "iufb"


def tree_arrays(model: Any, seen: set[int] | None = None) -> Iterator[str]:
    """Hashes of the arrays of every object that holds trees, however deep in the model."""
    seen = set() if seen is None else seen
    if id(model) in seen or isinstance(model, (str, bytes, int, float, type, np.ndarray)) or model is None:
        return
    seen.add(id(model))
    if isinstance(model, dict):
        inside: list[Any] = list(model.values())
    elif isinstance(model, (list, tuple, set)):
        inside = list(model)
    elif dataclasses.is_dataclass(model):
        inside = [getattr(model, part.name, None) for part in dataclasses.fields(model) if part.init]
        arrays = [value for value in inside if numeric(value)]
        if len(arrays) >= TREE_ARRAYS:
            yield from map(array_hash, arrays)
    else:
        inside = list(vars(model).values()) if hasattr(model, "__dict__") else []
    for value in inside:
        yield from tree_arrays(value, seen)


def model_hash(model: Any, X: Any) -> str:
    """One hash for a model: its predictions and its trees, in no order."""
    predicted = model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)
    total = hashlib.sha256(array_hash(np.asarray(predicted, np.float64)).encode())
    for part in sorted(tree_arrays(model)):
        total.update(part.encode())
    return total.hexdigest()[:24]


def fitted(kind: Any, X: Any, y: Any, weight: Any = None, **settings: Any) -> Case:
    def fit() -> tuple[Any, Any]:
        known = kind().get_params()
        common = {name: value for name, value in (("random_state", 3), ("n_jobs", 2)) if name in known}
        model = kind(**common, **settings)
        return (model.fit(X, y) if weight is None else model.fit(X, y, sample_weight=weight)), X

    return fit


def boosting_cases(tables: dict[str, Any]) -> dict[str, Case]:
    """The combinations of `same_bits`."""
    import woodwind

    kinds = {"classifier": woodwind.GradientBoostingClassifier, "regressor": woodwind.GradientBoostingRegressor}
    cases: dict[str, Case] = {}
    for name, changes in same_bits.COMBINATIONS:
        kind, X, y, weight = tables[name]
        settings = {"n_estimators": 8, "early_stopping": False} | changes
        words = ", ".join(f"{key}={'...' if isinstance(value, list) else value}" for key, value in changes.items())
        cases[f"boosting {name}: {words}"] = fitted(kinds[kind], X, y, weight, **settings)
    return cases


def exact_cases(tables: dict[str, Any]) -> dict[str, Case]:
    """The exact engine: boosting without bins, single trees, AdaBoost."""
    import woodwind as w

    _, X, y, weight = tables["weighted"]
    lost, lost_y = tables["missing"][1:3]
    few, labels = tables["classes"][1:3]
    frame, journeys = tables["categories"][1:3]
    wide, target = tables["target"][1:3]
    some = {"n_estimators": 5, "max_bins": None, "early_stopping": False}
    cases = {
        "exact boosting, weighted": fitted(w.GradientBoostingClassifier, X, y, weight, **some),
        "exact boosting, missing": fitted(w.GradientBoostingClassifier, lost, lost_y, **some),
        "exact boosting, monotonic": fitted(w.GradientBoostingClassifier, X, y, monotonic_cst=[0] * 6 + [1, -1] + [0] * 20, **some),
        "exact boosting, interactions": fitted(
            w.GradientBoostingRegressor, wide, target, interaction_cst=[[0, 1, 2], [3, 4, 5, 6]], **some
        ),
        "interactions": fitted(w.GradientBoostingRegressor, wide, target, n_estimators=5, interaction_cst=[[0, 1, 2], [3, 4, 5, 6]]),
        "adaboost, stumps": fitted(w.AdaBoostClassifier, X, y, weight, n_estimators=10),
        "adaboost, classes": fitted(w.AdaBoostClassifier, few, labels, n_estimators=10),
        "adaboost, depth 3": fitted(w.AdaBoostClassifier, few, labels, n_estimators=5, max_depth=3),
        "adaboost, categories": fitted(w.AdaBoostClassifier, frame, journeys, n_estimators=5),
        "adaboost, regression": fitted(w.AdaBoostRegressor, wide, target, n_estimators=5),
        "tree, squared_error": fitted(w.DecisionTreeRegressor, wide, target),
        "tree, leaves": fitted(w.DecisionTreeRegressor, wide, target, max_leaf_nodes=20),
    }
    for criterion in ("gini", "entropy", "gain_ratio"):
        cases[f"tree, {criterion}"] = fitted(w.DecisionTreeClassifier, few, labels, criterion=criterion)
        cases[f"tree, {criterion}, weighted"] = fitted(w.DecisionTreeClassifier, X, y, weight, criterion=criterion, max_depth=6)
        cases[f"tree, {criterion}, categories"] = fitted(w.DecisionTreeClassifier, frame, journeys, criterion=criterion, max_depth=5)
    return cases


def forest_cases(tables: dict[str, Any]) -> dict[str, Case]:
    """The forest engine."""
    import woodwind as w

    _, X, y, weight = tables["weighted"]
    lost, lost_y = tables["missing"][1:3]
    few, labels = tables["classes"][1:3]
    frame, journeys = tables["categories"][1:3]
    wide, target = tables["target"][1:3]
    cases: dict[str, Case] = {}
    pairs = (
        ("random forest", w.RandomForestClassifier, w.RandomForestRegressor),
        ("extra-trees", w.ExtraTreesClassifier, w.ExtraTreesRegressor),
    )
    for words, classifier, regressor in pairs:
        some: dict[str, Any] = {"n_estimators": 4}
        cases |= {
            f"{words}, two classes": fitted(classifier, tables["numbers"][1], tables["numbers"][2], **some),
            f"{words}, tiny": fitted(classifier, *tables["tiny"][1:3], **some),
            f"{words}, weighted": fitted(classifier, X, y, weight, **some),
            f"{words}, missing": fitted(classifier, lost, lost_y, **some),
            f"{words}, categories": fitted(classifier, frame, journeys, **some),
            f"{words}, five classes": fitted(classifier, few, labels, **some),
            f"{words}, entropy": fitted(classifier, few, labels, criterion="entropy", **some),
            f"{words}, regression": fitted(regressor, wide, target, **some),
            f"{words}, bootstrap": fitted(regressor, wide, target, bootstrap=True, max_features=0.3, **some),
            f"{words}, no bootstrap": fitted(regressor, wide, target, bootstrap=False, max_features=0.3, **some),
            f"{words}, leaves": fitted(regressor, wide, target, max_leaf_nodes=30, **some),
            f"{words}, limits": fitted(classifier, X, y, min_samples_leaf=5, max_depth=8, max_features=None, **some),
            f"{words}, all features": fitted(regressor, wide, target, max_features=None, **some),
        }
    return cases


def ensemble_cases(tables: dict[str, Any]) -> dict[str, Case]:
    """What is made of members, with its defaults, and the main job."""
    import woodwind as w

    X, y = tables["tiny"][1:3]
    wide, target = tables["target"][1][:600], tables["target"][2][:600]

    def automatic() -> tuple[Any, Any]:
        import pandas as pd

        frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])])
        return w.fit(frame.assign(y=y), "y", models=6, seed=3, threads=2), frame

    return {
        "multi-output leaves": fitted(w.GradientBoostingClassifier, *tables["classes"][1:3], n_estimators=5, multiclass="vector"),
        "stacking": fitted(w.StackingClassifier, X, y),
        "stacking, regression": fitted(w.StackingRegressor, wide, target),
        "voting": fitted(w.VotingClassifier, X, y),
        "voting, regression": fitted(w.VotingRegressor, wide, target),
        "bagging": fitted(w.BaggingClassifier, X, y, n_estimators=5),
        "bagging, regression": fitted(w.BaggingRegressor, wide, target, n_estimators=5),
        "random structure": fitted(w.RandomStructureForestClassifier, X, y, n_estimators=20),
        "random structure, regression": fitted(w.RandomStructureForestRegressor, wide, target, n_estimators=20),
        "fit, six models": automatic,
    }


def hashes(only: str) -> dict[str, str]:
    """The hash of every case whose name has `only` in it."""
    tables = {name: make() for name, make in same_bits.data(ROWS).items()}
    cases: dict[str, Case] = {}
    for make in (boosting_cases, exact_cases, forest_cases, ensemble_cases):
        cases |= make(tables)
    found = {}
    for name, case in cases.items():
        if only in name:
            began = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found[name] = model_hash(*case())
            print(f"  {found[name]}  {time.perf_counter() - began:6.2f} s  {name}", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, help="write the hashes to this file")
    parser.add_argument("--compare", type=Path, help="compare them with those of this file")
    parser.add_argument("--only", default="", help="cases with this in their name")
    options = parser.parse_args()
    found = hashes(options.only)
    print(f"{len(found)} models")
    if options.write:
        options.write.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if options.compare:
        before = json.loads(options.compare.read_text(encoding="utf-8"))
        wanted = {name for name in before if options.only in name}
        different = sorted(name for name in wanted | set(found) if before.get(name) != found.get(name))
        print(f"{sum(before[name] == found.get(name) for name in wanted)} of {len(wanted)} are the same")
        if different:
            sys.exit("not the same: " + "; ".join(different))


if __name__ == "__main__":
    main()
