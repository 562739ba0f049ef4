"""The parameters of conformal prediction."""

from typing import Annotated, Any, Literal

from woodwind.params.groups import Jobs, RandomState
from woodwind.params.knobs import first, inside, knobs, spelled
from woodwind.params.pools import Folds

ABOUT_METHOD = (
    "'cv_plus' trains a model for each fold, and every row is held out once; 'split' trains one and holds out a share of the rows; "
    "'prefit' takes the estimator as it is, already trained, and X and y are rows that it has not seen"
)
Estimator = Annotated[
    Any, first(), spelled("None or an estimator with fit and predict"), "The model. None is gradient boosting of Woodwind."
]
Coverage = Annotated[float, inside(0, 1), "Share of new rows that shall lie inside, unless a prediction asks for another one."]
Share = Annotated[float, inside(0, 1), "Share of the rows that method='split' holds out."]


@knobs
class ConformalRegressorParams:
    """How intervals are found."""

    estimator: Estimator = None
    method: Annotated[
        Literal["cv_plus", "split", "prefit", "jackknife_plus_after_bootstrap"],
        f"{ABOUT_METHOD}; 'jackknife_plus_after_bootstrap' trains one bag or forest, whose members have not seen some of the rows.",
    ] = "cv_plus"
    conformity_score: Annotated[
        Literal["auto", "absolute", "normalized", "quantile"],
        "How far a row is off: 'absolute' by the distance to the prediction, so that all intervals are about as wide; 'normalized' by the "
        "distance in units of a spread that is predicted; 'quantile' by the distance to the quantiles that are predicted. 'auto' is what "
        "the estimator can do: quantiles, a distribution, or numbers. Without an estimator it is 'quantile'.",
    ] = "auto"
    coverage: Coverage = 0.9
    cv: Folds = 5
    validation_fraction: Share = 0.25
    n_jobs: Jobs = None
    random_state: RandomState = None


@knobs
class ConformalClassifierParams:
    """How sets of labels are found."""

    estimator: Estimator = None
    method: Annotated[Literal["cv_plus", "split", "prefit"], f"{ABOUT_METHOD}."] = "cv_plus"
    conformity_score: Annotated[
        Literal["least_ambiguous", "adaptive"],
        "How far a label is off: 'least_ambiguous' by what its probability lacks to 1, which gives the smallest sets; 'adaptive' by the "
        "probability of all labels that are as probable or more, which gives larger sets where it is harder to tell.",
    ] = "least_ambiguous"
    coverage: Coverage = 0.9
    cv: Folds = 5
    validation_fraction: Share = 0.25
    n_jobs: Jobs = None
    random_state: RandomState = None
