"""The libraries, each told the same thing in its own words.

A contestant prepares the table as it likes it best (untimed), fits from that (timed: binning and data structures included),
and predicts. XGBoost and LightGBM are called through their native functions, which are quicker than their scikit-learn base classes.
Libraries are imported on first use, so that a missing one only drops out and a memory or start-up figure is of one library alone.

What cannot be made the same:
- XGBoost has no smallest number of rows per leaf, only of hessian: the number of rows for squared error, and 1 for log losses if others are
  asked for a number of rows.
- CatBoost and YDF have no smallest hessian; scikit-learn's is fixed at 0.001.
- CatBoost grows at most 16 levels.
- scikit-learn takes categories of at most 255 levels; a column with more is given to it as numbers.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

LIBRARY = {"woodwind": "woodwind", "xgboost": "xgboost", "lightgbm": "lightgbm", "sklearn": "sklearn", "catboost": "catboost", "ydf": "ydf"}


@dataclass(frozen=True)
class Settings:
    """What every contestant is asked for."""

    task: str = "binary"  # "binary", "classes", "regression"
    trees: int = 100
    learning_rate: float = 0.1
    growth: str = "best_first"  # "best_first": by `leaves`; "level" and "symmetric": by `depth`
    leaves: int = 31
    depth: int | None = None
    bins: int = 255
    min_rows: int = 20
    min_hessian: float = 1e-3
    l2: float = 1.0
    classes: int = 2
    threads: int = 2
    seed: int = 0

    def first(self, trees: int) -> Settings:
        return replace(self, trees=trees)


@dataclass(frozen=True)
class Contestant:
    """One way to train and predict."""

    name: str
    fit: Callable[[Any, Any, Settings], Any]
    predict: Callable[[Any, Any, Settings], Any]
    prepare: Callable[[Any], Any] = field(default=lambda X: X)

    @property
    def library(self) -> str:
        return LIBRARY[self.name.split("-")[0]]

    def here(self) -> bool:
        return importlib.util.find_spec(self.library) is not None


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns")


def _categories(X: Any) -> list[str]:
    return [name for name in X.columns if X[name].dtype.name == "category"] if _is_frame(X) else []


# ---------------------------------------------------------------- Woodwind


def _woodwind(**more: Any) -> Callable[[Any, Any, Settings], Any]:
    def fit(X: Any, y: Any, s: Settings) -> Any:
        import woodwind

        kind = woodwind.GradientBoostingRegressor if s.task == "regression" else woodwind.GradientBoostingClassifier
        best_first = s.growth == "best_first"
        options = {
            "n_estimators": s.trees,
            "learning_rate": s.learning_rate,
            "growth": s.growth,
            "max_leaf_nodes": s.leaves if best_first else None,
            "max_depth": s.depth,
            "min_samples_leaf": s.min_rows,
            "min_hessian_leaf": s.min_hessian,
            "l2_regularization": s.l2,
            "max_bins": s.bins,
            "subsample": 1.0,
            "max_features": 1.0,
            "max_features_tree": 1.0,
            "early_stopping": False,
            "n_jobs": s.threads,
            "random_state": s.seed,
        }
        return kind(**{**options, **more}).fit(X, y)

    return fit


def _scikit_predict(model: Any, X: Any, s: Settings) -> Any:
    return model.predict(X) if s.task == "regression" else model.predict_proba(X)


# ---------------------------------------------------------------- XGBoost


def _xgboost(**more: Any) -> Callable[[Any, Any, Settings], Any]:
    def fit(X: Any, y: Any, s: Settings) -> Any:
        import xgboost

        objective = {"binary": "binary:logistic", "classes": "multi:softprob", "regression": "reg:squarederror"}[s.task]
        params: dict[str, Any] = {
            "objective": objective,
            "tree_method": "hist",
            "eta": s.learning_rate,
            "max_bin": s.bins,
            "reg_lambda": s.l2,
            "min_child_weight": s.min_rows if s.task == "regression" else max(s.min_hessian, 1.0),
            "nthread": s.threads,
            "seed": s.seed,
            "verbosity": 0,
        }
        if s.task == "classes":
            params["num_class"] = s.classes
        if s.growth == "best_first":
            params |= {"grow_policy": "lossguide", "max_leaves": s.leaves, "max_depth": s.depth or 0}
        else:
            params |= {"grow_policy": "depthwise", "max_depth": s.depth}
        data = xgboost.QuantileDMatrix(X, y, max_bin=s.bins, nthread=s.threads, enable_categorical=True)
        return xgboost.train({**params, **more}, data, s.trees)

    return fit


def _xgboost_predict(model: Any, X: Any, s: Settings) -> Any:
    model.set_param({"nthread": s.threads})
    return model.inplace_predict(X)


# ---------------------------------------------------------------- LightGBM


def _lightgbm(**more: Any) -> Callable[[Any, Any, Settings], Any]:
    def fit(X: Any, y: Any, s: Settings) -> Any:
        import lightgbm

        objective = {"binary": "binary", "classes": "multiclass", "regression": "l2"}[s.task]
        params: dict[str, Any] = {
            "objective": objective,
            "learning_rate": s.learning_rate,
            "max_bin": s.bins,
            # LightGBM always grows best first; with 2**depth leaves and that depth the full tree is the same.
            "num_leaves": s.leaves if s.growth == "best_first" else 2 ** (s.depth or 8),
            "max_depth": s.depth or -1,
            "min_data_in_leaf": s.min_rows,
            "min_sum_hessian_in_leaf": s.min_hessian,
            "lambda_l2": s.l2,
            "num_threads": s.threads,
            "seed": s.seed,
            "verbosity": -1,
        }
        if s.task == "classes":
            params["num_class"] = s.classes
        params |= more
        return lightgbm.train(params, lightgbm.Dataset(X, y, params=params), s.trees)

    return fit


def _lightgbm_predict(model: Any, X: Any, s: Settings) -> Any:
    return model.predict(X, num_threads=s.threads)


# ---------------------------------------------------------------- scikit-learn


def few_levels(X: Any) -> Any:
    """Categories of more than 255 levels as numbers: scikit-learn refuses them."""
    if not _is_frame(X):
        return X
    X = X.copy()
    for name in _categories(X):
        if len(X[name].cat.categories) > 255:
            code = X[name].cat.codes.astype(np.float64)
            X[name] = code.where(code >= 0)
    return X


def _sklearn(X: Any, y: Any, s: Settings) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    kind = HistGradientBoostingRegressor if s.task == "regression" else HistGradientBoostingClassifier
    return kind(
        max_iter=s.trees,
        learning_rate=s.learning_rate,
        max_leaf_nodes=s.leaves if s.growth == "best_first" else 2 ** (s.depth or 8),
        max_depth=s.depth,
        min_samples_leaf=s.min_rows,
        l2_regularization=s.l2,
        max_bins=s.bins,
        early_stopping=False,
        categorical_features="from_dtype",
        random_state=s.seed,
    ).fit(X, y)


# ---------------------------------------------------------------- CatBoost


def filled(X: Any) -> Any:
    """Missing categories as a level of their own: CatBoost refuses missing ones."""
    if not _is_frame(X):
        return X
    X = X.copy()
    for name in _categories(X):
        X[name] = X[name].cat.rename_categories(X[name].cat.categories.astype(str))
        if X[name].isna().any():
            X[name] = X[name].cat.add_categories("(missing)").fillna("(missing)")
    return X


def _catboost(symmetric: bool) -> Callable[[Any, Any, Settings], Any]:
    def fit(X: Any, y: Any, s: Settings) -> Any:
        import catboost

        kind = catboost.CatBoostRegressor if s.task == "regression" else catboost.CatBoostClassifier
        options: dict[str, Any] = {
            "loss_function": {"binary": "Logloss", "classes": "MultiClass", "regression": "RMSE"}[s.task],
            "iterations": s.trees,
            "learning_rate": s.learning_rate,
            "border_count": s.bins - 1,
            "l2_leaf_reg": s.l2,
            "bootstrap_type": "No",
            "random_strength": 0,
            "leaf_estimation_iterations": 1,
            "boosting_type": "Plain",
            "thread_count": s.threads,
            "random_seed": s.seed,
            "verbose": False,
            "allow_writing_files": False,
        }
        if symmetric:
            options |= {"grow_policy": "SymmetricTree", "depth": s.depth or max(1, round(np.log2(s.leaves)))}
        elif s.growth == "best_first":
            options |= {
                "grow_policy": "Lossguide",
                "max_leaves": s.leaves,
                "depth": s.depth or 16,
                "min_data_in_leaf": s.min_rows,
                "score_function": "L2",
            }
        else:
            options |= {"grow_policy": "Depthwise", "depth": s.depth, "min_data_in_leaf": s.min_rows, "score_function": "L2"}
        return kind(**options).fit(X, y, cat_features=_categories(X) or None)

    return fit


def _catboost_predict(model: Any, X: Any, s: Settings) -> Any:
    if s.task == "regression":
        return model.predict(X, thread_count=s.threads)
    return model.predict_proba(X, thread_count=s.threads)


# ---------------------------------------------------------------- YDF


def columns(X: Any) -> dict[str, Any]:
    """YDF wants a dictionary; strings as NumPy strings, a missing one empty."""
    if not _is_frame(X):
        return {"x": X}
    out: dict[str, Any] = {}
    for name in X.columns:
        if X[name].dtype.name == "category":
            out[name] = X[name].astype(object).where(X[name].notna(), "").to_numpy().astype(str)
        else:
            out[name] = X[name].to_numpy(np.float32)
    return out


def _ydf(X: Any, y: Any, s: Settings) -> Any:
    import ydf

    ydf.verbose(0)
    best_first = s.growth == "best_first"
    learner = ydf.GradientBoostedTreesLearner(
        label="target",
        task=ydf.Task.REGRESSION if s.task == "regression" else ydf.Task.CLASSIFICATION,
        num_trees=s.trees,
        shrinkage=s.learning_rate,
        growing_strategy="BEST_FIRST_GLOBAL" if best_first else "LOCAL",
        max_num_nodes=s.leaves if best_first else None,
        max_depth=s.depth + 1 if s.depth else -1,  # YDF counts the levels of nodes, not of splits
        min_examples=s.min_rows,
        l2_regularization=s.l2,
        use_hessian_gain=True,
        discretize_numerical_columns=True,  # its exact splits would be slower still
        num_discretized_numerical_bins=s.bins,
        validation_ratio=0.0,
        early_stopping="NONE",
        num_threads=s.threads,
        random_seed=s.seed,
    )
    return learner.train({**X, "target": y})


def _ydf_predict(model: Any, X: Any, s: Settings) -> Any:
    return model.predict(X, num_threads=s.threads)


# ---------------------------------------------------------------- all of them

ALL = {
    contestant.name: contestant
    for contestant in (
        Contestant("woodwind", _woodwind(), _scikit_predict),
        Contestant("woodwind-symmetric", _woodwind(growth="symmetric", max_leaf_nodes=None), _scikit_predict),
        Contestant("woodwind-per-class", _woodwind(multiclass="one_per_class"), _scikit_predict),
        # LightGBM's quantised gradients are rounded up or down at random, which is noise: this is what has noise here.
        Contestant("woodwind-noise", _woodwind(gradient_noise=0.75), _scikit_predict),
        Contestant("woodwind-mvs", _woodwind(sampling="mvs", subsample=0.2), _scikit_predict),
        Contestant("woodwind-goss", _woodwind(sampling="goss"), _scikit_predict),
        Contestant("xgboost", _xgboost(), _xgboost_predict),
        Contestant("xgboost-vector", _xgboost(multi_strategy="multi_output_tree"), _xgboost_predict),
        Contestant("lightgbm", _lightgbm(), _lightgbm_predict),
        Contestant("lightgbm-quantised", _lightgbm(use_quantized_grad=True, quant_train_renew_leaf=True), _lightgbm_predict),
        Contestant("sklearn", _sklearn, _scikit_predict, few_levels),
        Contestant("catboost", _catboost(symmetric=False), _catboost_predict, filled),
        Contestant("catboost-symmetric", _catboost(symmetric=True), _catboost_predict, filled),
        Contestant("ydf", _ydf, _ydf_predict, columns),
    )
}

# Without the ones that answer a different question (symmetric trees, vector leaves, noise).
PLAIN = ("woodwind", "xgboost", "lightgbm", "lightgbm-quantised", "sklearn", "catboost", "ydf")
