"""The parameters of adaptive boosting and of additive models, in groups."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from woodwind.params.groups import Categorical, MaxBins, MaxDepth, Tol, WarmStart
from woodwind.params.knobs import above, at_least, first, inside, knobs, share, spelled

Estimator = Annotated[
    Any,
    first(),
    spelled("None or an estimator of scikit-learn's kind"),
    "The learner, of which a copy is trained in every round. None is a tree of Woodwind's own. One that takes no sample_weight is trained "
    "on rows that are drawn by weight.",
]
Rounds = Annotated[int, at_least(1), "Most rounds; it may end sooner."]


@knobs
class AdaptiveParams:
    """How learners are added up."""

    estimator: Estimator = None
    n_estimators: Rounds = 50
    learning_rate: Annotated[float, above(0), "The weight of every learner is multiplied by it."] = 1.0


@knobs
class AdaptiveClassifierParams:
    """Which adaptive boosting it is."""

    algorithm: Annotated[
        Literal["discrete", "samme", "samme.r", "m2", "mh"],
        "'samme' weighs learners by their error, and takes any that is better than guessing among all classes; 'discrete' is AdaBoost.M1, "
        "which takes those that err on less than half of the weight; 'samme.r' adds up logarithms of probabilities; 'm2' weighs pairs of "
        "a row and a wrong class; 'mh' has a learner for each class in every round, and weighs pairs of a row and a class.",
    ] = "samme"
    multiclass: Annotated[
        Literal["native", "output_code", "second_level"],
        "With three classes or more: 'native' leaves them to the algorithm; 'output_code' gives each class a word of bits and boosts one "
        "model for each bit; 'second_level' boosts one model for each class against the rest, and trains `final_estimator` on what they "
        "say and the features.",
    ] = "native"
    bootstrap: Annotated[
        bool, "True draws the rows of every round by weight, as AdaBoost by resampling; False gives the weights to learners that take them."
    ] = False
    negative_weights: Annotated[
        bool,
        "True keeps a learner that is worse than chance, with a negative weight: its votes count against what it says. False discards it, "
        "and boosting ends. With algorithm='samme' and 'discrete'.",
    ] = False
    code_size: Annotated[
        float | Literal["auto"],
        above(0),
        "Bits of a word, as a multiple of the number of classes. 'auto' takes all ways to part up to five classes in two, and of more "
        "classes ten times the binary logarithm.",
    ] = "auto"
    final_estimator: Annotated[
        Any, spelled("None or a classifier"), "The learner of the second level. None is Woodwind's gradient boosting."
    ] = None


@knobs
class AdaptiveRegressorParams:
    """How errors of numbers are scored."""

    loss: Annotated[Literal["linear", "square", "exponential"], "How the error of a row, as a share of the largest, becomes its loss."] = (
        "linear"
    )
    bootstrap: Annotated[
        bool, "True draws the rows of every round by weight, as the paper has it; False gives the weights to the learner."
    ] = True


@knobs
class AdaptiveStopParams:
    """When to stop, and whether to go on."""

    early_stopping: Annotated[bool, "Stop when the score on rows held out, or on `eval_set` of fit, no longer improves."] = False
    validation_fraction: Annotated[float, inside(0, 1), "Share of rows to hold out, unless validation data are given to fit."] = 0.1
    n_iter_no_change: Annotated[int, at_least(1), "Rounds without improvement before stopping, at the best round."] = 10
    tol: Tol = 1e-7
    scoring: Annotated[
        str | Callable | list | tuple | None,
        spelled("None, the name of a metric, a scorer, or a list of them"),
        "What is watched: the name of a metric, such as 'log_loss' or 'mae', or a scorer. None means the accuracy, or the root mean "
        "squared error. Of several in a list, the first is stopped by, and `evals_result_` has the curves of all.",
    ] = None
    warm_start: WarmStart = False


@knobs
class OwnTreeParams:
    """The trees that are grown where no estimator is given."""

    max_depth: MaxDepth = 1
    max_bins: MaxBins = 255
    categorical_features: Categorical = None


@knobs
class AdditiveParams:
    """How learners are fitted stage by stage."""

    estimator: Annotated[
        Any,
        first(),
        spelled("None or a regressor of scikit-learn's kind"),
        "The learner, of which a copy is trained in every round, for classes too. None is a tree of Woodwind's own.",
    ] = None
    n_estimators: Rounds = 100
    learning_rate: Annotated[float, above(0), "Share of each step that is taken."] = 0.1
    residuals: Annotated[
        Literal["gradient", "newton"],
        "What learners are fitted to: 'gradient' is minus the derivative of the loss; 'newton' divides it by the second derivative, by "
        "which rows are weighed.",
    ] = "gradient"
    step: Annotated[
        Literal["line_search", "fixed", "leaf"],
        "How far to go: 'line_search' as far as the loss falls; 'fixed' as far as the learner says; 'leaf' goes its own way in every leaf, "
        "for learners that have `apply`.",
    ] = "line_search"
    subsample: Annotated[float, share(), "Share of rows drawn for each round; 1.0 for all."] = 1.0
    init: Annotated[Literal["zero"] | None, "Where to begin: None at the best constant, 'zero' at a score of zero."] = None


@knobs
class AdditiveStopParams:
    """When to stop."""

    validation_fraction: Annotated[float, inside(0, 1), "Share of rows to hold out, if n_iter_no_change is given."] = 0.1
    n_iter_no_change: Annotated[
        int | None, at_least(1), "Rounds without improvement on rows held out before stopping, at the best round. None: no early stopping."
    ] = None
    tol: Tol = 1e-4
    warm_start: WarmStart = False
