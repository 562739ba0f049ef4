"""The parameters of ensembles whose members are different models."""

from typing import Annotated, Any, Literal

from woodwind.params.knobs import between, first, knobs, spelled

# Parameters of more than one group, declared once.
Folds = Annotated[
    Any,
    spelled("an integer of at least 2, a splitter of scikit-learn, or an iterable of (training rows, held-out rows)"),
    "How rows are held out, so that no member is asked about rows that it has learned. An integer is a number of folds, shuffled by "
    "random_state, in which each class has its share; rows in the order of time take a splitter, such as TimeSeriesSplit.",
]


@knobs
class PoolParams:
    """Of which members an ensemble is made."""

    estimators: Annotated[
        Any,
        first(),
        spelled("None, a list of estimators or of (name, estimator), a dict of them, or a fitted ensemble with estimators_"),
        "The members: any estimators of scikit-learn's kind; 'drop' in the place of one leaves it out. None is a pool for any table: "
        "gradient boosting, random forest and extra-trees of Woodwind, and a regularised linear model.",
    ] = None


@knobs
class PrefitParams:
    """Whether members are trained here."""

    prefit: Annotated[
        bool,
        "Take the members as they are, already trained; X and y are then rows that they have not seen. A clone keeps such members.",
    ] = False


# ----------------------------------------------------------------------------------------------------
# The parameters of voting.


Weights = Annotated[
    Any,
    spelled("None, one number for each member, 'score' or 'optimal'"),
    "How much each member counts; None for all alike. 'score' weighs members by how good each is alone on rows that it has not been "
    "trained on, "
    "'optimal' such that all together lose least on these rows.",
]
Averaging = Annotated[
    Literal["mean", "median", "trimmed", "geometric"],
    "How answers are averaged: 'median' and 'trimmed' do not mind a few members that are far off, 'geometric' multiplies.",
]
Trim = Annotated[float, between(0, 0.49), "Share of the members that 'trimmed' leaves out on either side."]


@knobs
class ClassifierVotingParams:
    """How members of a classifier are counted."""

    voting: Annotated[
        Literal["soft", "hard", "ranked"],
        "'soft' averages probabilities; 'hard' counts the classes that members predict; 'ranked' gives a class a "
        "point for each class that a member finds less likely (Borda).",
    ] = "soft"
    ties: Annotated[
        Literal["first", "random"],
        "Who wins among classes of as many votes with voting='hard': the first, or one drawn by random_state, the same for the same votes.",
    ] = "first"
    averaging: Averaging = "mean"
    trim: Trim = 0.1
    weights: Weights = None


@knobs
class RegressorVotingParams:
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
