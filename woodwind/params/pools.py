"""The parameters of ensembles whose members are different models."""

from typing import Annotated, Any

from woodwind.params.knobs import first, knobs, spelled

# Parameters of more than one group, declared once.
Folds = Annotated[
    Any,
    spelled("an integer of at least 2, a splitter of scikit-learn, or an iterable of (training rows, held-out rows)"),
    "How rows are held out, so that no member is asked about rows that it has learnt. An integer is a number of folds, shuffled by "
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
