"""The parameters of voting."""

from typing import Annotated, Any, Literal

from woodwind.params.knobs import between, knobs, spelled
from woodwind.params.pools import Folds

Weights = Annotated[
    Any,
    spelled("None, one number for each member, 'score' or 'optimal'"),
    "How much each member counts; None for all alike. 'score' weighs members by how good each is alone on rows that it has not learnt, "
    "'optimal' such that all together lose least on these rows.",
]
Averaging = Annotated[
    Literal["mean", "median", "trimmed", "geometric"],
    "How answers are averaged: 'median' and 'trimmed' do not mind a few members that are far off, 'geometric' multiplies.",
]
Trim = Annotated[float, between(0, 0.49), "Share of the members that 'trimmed' leaves out on either side."]


@knobs
class ClassVotingParams:
    """How members of a classifier are counted."""

    voting: Annotated[
        Literal["soft", "hard", "ranked"],
        "'soft' averages probabilities; 'hard' counts the classes that members predict, of equals the first wins; 'ranked' gives a class a "
        "point for each class that a member finds less likely (Borda).",
    ] = "soft"
    averaging: Averaging = "mean"
    trim: Trim = 0.1
    weights: Weights = None


@knobs
class NumberVotingParams:
    """How members of a regressor are averaged."""

    averaging: Averaging = "mean"
    trim: Trim = 0.1
    weights: Weights = None
    loss: Annotated[
        Any,
        spelled("the name of a loss, or a loss of woodwind.losses"),
        "What weights='optimal' makes smallest. Losses with a logarithmic link, such as 'poisson', need averaging='geometric'.",
    ] = "squared_error"


@knobs
class WeighingParams:
    """By which rows members are weighed."""

    cv: Folds = 5


@knobs
class TransformParams:
    """What transform gives."""

    flatten_transform: Annotated[
        bool, "Whether probabilities of all members are put side by side; else transform gives an array (members, rows, classes)."
    ] = True
