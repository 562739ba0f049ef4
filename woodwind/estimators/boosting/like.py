"""Boosting by the name of another library: its defaults and its conventions, as parameters of ours.

A convention is what a library does without a parameter for it: where scores start, what the hessian of several classes is, whether rows
are held out. Versions are those of tests/compare: XGBoost 3, LightGBM 4, CatBoost 1.2 and scikit-learn 1.9.
"""

from collections.abc import Mapping
from typing import Any, Self

from woodwind.base.errors import ParameterNameError
from woodwind.estimators.boosting.translate import NAMES, known_library, names_of, translation_of
from woodwind.params.no_counterpart import AUTOMATIC, LIBRARIES, STORAGE

# All rows and features for every tree, and no rows held out.
NOTHING_DRAWN = {"subsample": 1.0, "max_features_tree": None, "early_stopping": False, "tol": 0.0}
XGBOOST = {
    "n_estimators": 100,
    "learning_rate": 0.3,
    "growth": "level",
    "max_leaf_nodes": None,
    "max_depth": 6,
    "min_samples_leaf": 1,
    "min_hessian_leaf": 1.0,
    "l2_regularization": 1.0,
    "multiclass": "one_per_class",
    "multi_output": "one_per_target",
    "softmax_hessian": "xgboost",
    "categorical_encoding": "sets",
}
LIGHTGBM = {
    "n_estimators": 100,
    "learning_rate": 0.1,
    "max_leaf_nodes": 31,
    "min_samples_leaf": 20,
    "min_hessian_leaf": 1e-3,
    "l2_regularization": 0.0,
    "multiclass": "one_per_class",
    "softmax_hessian": "lightgbm",
    "categorical_encoding": "sets",
}
CATBOOST = {
    "n_estimators": 1000,
    "learning_rate": 0.03,
    "growth": "symmetric",
    "max_leaf_nodes": None,
    "max_depth": 6,
    "min_samples_leaf": 1,
    "min_hessian_leaf": 0.0,
    "l2_regularization": 3.0,
    "sampling": "mvs",
    "subsample": 0.8,
    "categorical_encoding": "ordered",
}
HISTOGRAMS = {
    "n_estimators": 100,
    "learning_rate": 0.1,
    "max_leaf_nodes": 31,
    "min_samples_leaf": 20,
    "min_hessian_leaf": 1e-3,
    "l2_regularization": 0.0,
    "multiclass": "one_per_class",
    "softmax_hessian": "sklearn",
    "categorical_encoding": "sets",
    "n_iter_no_change": 10,
    "tol": 1e-7,
    "refit": False,
}
CLASSIC = {
    "n_estimators": 100,
    "learning_rate": 0.1,
    "growth": "level",
    "max_leaf_nodes": None,
    "max_depth": 3,
    "min_samples_leaf": 1,
    "min_hessian_leaf": 0.0,
    "l2_regularization": 0.0,
    "max_bins": None,
    "multiclass": "one_per_class",
    "tol": 1e-4,
    "refit": False,
}
DEFAULTS: dict[str, dict[str, Any]] = {"xgboost": XGBOOST, "lightgbm": LIGHTGBM, "catboost": CATBOOST, "sklearn": HISTOGRAMS}
# Parameters that of scikit-learn's two gradient boostings only the classic one has.
ONLY_CLASSIC = {
    "n_estimators", "subsample", "criterion", "min_samples_split", "min_weight_fraction_leaf", "min_impurity_decrease", "init", "alpha",
    "ccp_alpha",
}  # fmt: skip


class LikeLibraryMixin:
    """Estimators that can be made by the name of another library."""

    @classmethod
    def like(cls, library: str, /, **parameters: Any) -> Self:
        """An estimator with the defaults and the conventions of another library.

        Where both can do the same (splits that all are seen, nothing drawn), its predictions are those of the other library. The page
        docs/guide/coming-from-other-libraries.md says for which settings that is so, and what remains different.

        Parameters
        ----------
        library : {'xgboost', 'lightgbm', 'catboost', 'scikit-learn'}
            Of scikit-learn, its histogram boosting; its classic boosting where a parameter is given that only this one has, such as
            `n_estimators`, `subsample` or `init`.
        **parameters
            Values by their names there, aliases included. One that has no counterpart is refused, by name.

        Returns
        -------
        estimator
            Not trained yet.
        """
        return cls(**parameters_like(library, parameters, "classification" if hasattr(cls, "predict_proba") else "regression"))


def parameters_like(library: str, given: Mapping[str, Any], task: str) -> dict[str, Any]:
    """Our parameters for a call of another library; raises ParameterNameError for what has no counterpart, one line for each."""
    owner = f"{NAMES[task]}.like"
    library = known_library(library, owner)
    (params, notes), missing = translation_of(library, given, task)
    # What is about storage or found in the data changes no model.
    refused = [name for name in missing if not notes[name].startswith(AUTOMATIC) and notes[name] != STORAGE]
    if refused:
        lines = [f"{name} of {LIBRARIES[library]} has no counterpart. {notes[name]}" for name in refused]
        raise ParameterNameError(f"{owner}: " + "\n".join(lines))
    defaults = CLASSIC if library == "sklearn" and ONLY_CLASSIC.intersection(given) else DEFAULTS[library]
    found = {**NOTHING_DRAWN, **defaults, **_of_loss(library, params, task), **params}
    if library == "xgboost" and found.get("max_bins", 255) is None:
        found["prune"] = True  # exact growth takes splits below gamma away afterwards; histograms do not make them
    if library == "xgboost" and found["growth"] == "best_first" and "max_depth" not in params:
        found["max_depth"] = 6  # leaves by their gain, and still no deeper
    if library == "catboost" and "sampling" not in params and ("bootstrap" in params or found["subsample"] == 1.0):
        found["sampling"] = "uniform"  # another way to draw was named, or all rows
    valid = set(names_of(task))
    return {name: value for name, value in found.items() if name in valid}


def _of_loss(library: str, params: Mapping[str, Any], task: str) -> dict[str, Any]:
    """CatBoost starts from zero, but for squared error."""
    is_squared = task == "regression" and params.get("loss", "squared_error") == "squared_error"
    return {"init": 0.0} if library == "catboost" and not is_squared else {}
