"""The parameters of survival models."""

from typing import Annotated, Any, Literal

from woodwind.params.knobs import above, knobs, spelled


@knobs
class SurvivalParams:
    """What is assumed of survival times."""

    ties: Annotated[
        Literal["efron", "breslow"],
        "With loss='cox', how events of one time are counted: 'breslow', as XGBoost and scikit-survival do, has all of them at risk to the "
        "last; 'efron', which is nearer to what is true of times that were rounded, lets them leave one after the other.",
    ] = "efron"
    distribution: Annotated[
        Any,
        spelled("'normal', 'logistic' or 'extreme'"),
        "With loss='aft', the distribution around the logarithm of the time: times are log-normal, log-logistic or Weibull's.",
    ] = "normal"
    scale: Annotated[
        float | Literal["auto"],
        above(0),
        "With loss='aft', how wide that distribution is. 'auto' fits it in every round, and in the end by rows held out, if any are.",
    ] = "auto"
