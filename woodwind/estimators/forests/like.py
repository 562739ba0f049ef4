"""Forests by the name of another library: the defaults and the conventions of scikit-learn's, as parameters of ours."""

from typing import Any, Self

from woodwind.base.did_you_mean import did_you_mean
from woodwind.base.errors import ParameterError, ParameterNameError
from woodwind.params.describe import declared

SCIKIT_LEARN = ("scikit-learn", "sklearn", "scikit_learn")
# What is there and not here, the value with which it does nothing, and what there is instead.
ABSENT = {
    "ccp_alpha": (
        0.0,
        "Trees of a forest are not pruned. Give max_depth or min_samples_leaf; DecisionTree* has ccp_alpha.",
    ),
    "monotonic_cst": (None, "Forests have no monotonic constraints: GradientBoosting* and DecisionTree* do."),
}
CRITERIA = {"log_loss": "entropy", "mse": "squared_error", "mae": "absolute_error"}
# Ours alone: scikit-learn's forests have no such parameters.
OWN = {"max_bins", "categorical_features", "categorical_encoding", "voting", "quantiles"}


class LikeScikitLearnMixin:
    """Forests that can be made by the name of scikit-learn."""

    @classmethod
    def like(cls, library: str, /, **parameters: Any) -> Self:
        """A forest with the defaults and the conventions of scikit-learn's: every threshold is considered, at all nodes.

        Where nothing is drawn (all features, no bootstrap), trees are those of scikit-learn; else they are drawn by other random numbers.

        Parameters
        ----------
        library : {'scikit-learn'}
            The only one of the four whose forests have parameters of their own; XGBoost and LightGBM make forests of boosted trees:
            `n_parallel_trees` of `GradientBoostingClassifier`.
        **parameters
            Values by their names there. One that has no counterpart is refused, by name.

        Returns
        -------
        estimator
            Not trained yet.
        """
        owner = f"{cls.__name__}.like"
        if not isinstance(library, str) or library.lower() not in SCIKIT_LEARN:
            raise ParameterError(
                f"{owner}: library must be 'scikit-learn' for forests, but it is {library!r}. XGBoost and LightGBM make forests of "
                "boosted trees: GradientBoostingClassifier(n_parallel_trees=...), or GradientBoostingRegressor."
            )
        ours = [knob.name for knob in declared(cls)]
        names = [name for name in ours if name not in OWN]
        # All other defaults are the same.
        found: dict[str, Any] = {"max_bins": None} if "max_bins" in ours else {}
        for name, value in parameters.items():
            if name in ABSENT:
                if value != ABSENT[name][0]:
                    raise ParameterNameError(f"{owner}: {name} of scikit-learn has no counterpart. {ABSENT[name][1]}")
                continue
            if name not in names:
                raise ParameterNameError(f"{owner}: scikit-learn has no parameter {name!r} here. {did_you_mean(name, names)}".rstrip())
            found[name] = CRITERIA.get(value, value) if name == "criterion" and isinstance(value, str) else value
        return cls(**found)
