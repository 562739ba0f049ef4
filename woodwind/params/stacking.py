"""The parameters of stacks and of blenders."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

from woodwind.params.groups import Auto
from woodwind.params.knobs import at_least, inside, knobs, spelled

# Parameters of more than one group, declared once.
COUNT_OF_MEMBERS = (
    "How many members the first columns are of; what follows is something else. A stack tells its blender, if this is 'auto'. Without a "
    "stack, 'auto' means"
)
FoldsOfBlender = Annotated[
    Any,
    spelled("None, an integer of at least 2, a splitter of scikit-learn, or an iterable of (training rows, held-out rows)"),
    "Folds by which the penalty is chosen. None for those by which the members were scored, which a stack tells its blender; else five.",
]


@knobs
class StackParams:
    """How a stack is built."""

    final_estimator: Annotated[
        Any,
        spelled("None, an estimator, or a list of estimators or of (name, estimator)"),
        "The blender: it learns from what the members predict. Several are combined as `combine` says. None is a LogisticBlender for "
        "classes "
        "and a NonNegativeBlender for numbers.",
    ] = None
    layers: Annotated[
        int | Sequence,
        at_least(1),
        "How many layers of members there are, all made of `estimators`; or a list of what stands above the first layer: for each layer "
        "its members, given as in `estimators`, or 'same' for those of the first.",
    ] = 1
    blending: Annotated[
        Literal["folds", "holdout", "bootstrap"],
        "Of which rows the next layer learns: 'folds': all, each scored by members that have not seen it; 'holdout': a share of the rows, "
        "held out from members; 'bootstrap': rows that members trained on a bootstrap sample have not drawn.",
    ] = "folds"
    cv: Annotated[
        Any,
        spelled("an integer of at least 2, a splitter of scikit-learn, an iterable of (training rows, held-out rows), or 'prefit'"),
        "How rows are held out for 'folds'; for 'bootstrap' an integer: the number of samples. A number of folds is shuffled by "
        "random_state, in which each class has its share; with groups, of whole groups. Rows in the order of time take a splitter, such as "
        "TimeSeriesSplit. 'prefit': members of the first layer are trained, and X are rows that they have not seen.",
    ] = 5
    nested_folds: Annotated[
        bool,
        "With several layers, train the layers below once more without each fold that is held out, so that no layer is scored by rows that "
        "what it has been trained on knew. False takes their out-of-fold answers as they are, as a stack within a stack of scikit-learn "
        "does: "
        "fewer trainings, but what is then said out of fold above the first layer is too good.",
    ] = True
    validation_fraction: Annotated[float, inside(0, 1), "Share of the rows that 'holdout' holds out."] = 0.25
    passthrough: Annotated[
        bool,
        "Give the layers above the first, and the blender, the table as well as what the members predict. Text and categories become "
        "columns "
        "of zeros and ones.",
    ] = False
    refit: Annotated[
        bool,
        "Train the members once more, on all rows. False keeps those of the folds, or of the part that was not held out, and takes the "
        "mean of what they say.",
    ] = True
    drop_redundant: Annotated[
        bool, "Leave out columns that are constant or the same as another before the next layer learns from them."
    ] = False
    combine: Annotated[
        Literal["mean", "weights"],
        "How several blenders are combined: by their mean, or by weights that add up to one and make the out-of-fold loss least.",
    ] = "mean"
    oof_score: Annotated[
        bool,
        "Keep out-of-fold predictions of every layer as oof_predictions_, and score the blender by its own, which is trained in folds for "
        "that; with nested_folds, so are the layers below it.",
    ] = False
    scoring: Annotated[
        str | Callable | None,
        "By what members and layers are scored: the name of a metric, or a scorer. None for minus the log-loss, or the accuracy where a "
        "member has no probabilities; for numbers minus the root of the mean squared error.",
    ] = None


@knobs
class StackClassifierParams:
    """What classifiers pass on."""

    stack_method: Annotated[
        Literal["auto", "predict_proba", "decision_function", "predict"],
        "What members pass on: probabilities (of two classes one column), scores, or labels as columns of zeros and ones. 'auto': of "
        "each the first that it has.",
    ] = "auto"
    link: Annotated[
        Literal["identity", "logit"],
        "'logit' passes on log-odds in the place of probabilities. The default blender takes them by itself.",
    ] = "identity"


@knobs
class LogisticBlenderParams:
    """How a logistic pool is learned."""

    penalty: Annotated[
        float | Auto,
        at_least(0),
        "Price of the squared distance of the weights from their mean, in rows. 'auto' takes the one with the least loss in folds.",
    ] = "auto"
    n_members: Annotated[
        int | Auto, at_least(0), COUNT_OF_MEMBERS + " every column, or of K classes K in a row, that can be probabilities."
    ] = "auto"
    cv: FoldsOfBlender = None


@knobs
class NonNegativeBlenderParams:
    """How a weighted sum of numbers is learned."""

    weights: Annotated[
        Literal["shrunk", "free", "simplex"],
        "None is below zero; 'shrunk': drawn to equal weights, as much as is best in folds; 'free': by least squares alone; "
        "'simplex': adding up to one.",
    ] = "shrunk"
    fit_intercept: Annotated[bool, "Add a constant; weights that add up to one have none."] = True
    n_members: Annotated[int | Auto, at_least(0), COUNT_OF_MEMBERS + " every column."] = "auto"
    cv: FoldsOfBlender = None
