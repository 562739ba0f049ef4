"""The parameters of Bayesian averaging and combination of models."""

from typing import Annotated, Any, Literal

from woodwind.params.groups import Categorical, RandomState
from woodwind.params.knobs import above, at_least, between, knobs, spelled
from woodwind.params.pools import Folds

Criterion = Literal["bic", "aic", "aicc"]


@knobs
class AveragingParams:
    """How members of a pool are weighed."""

    evidence: Annotated[
        Literal["out_of_fold"] | Criterion,
        "How probable the rows are under a member. 'out_of_fold': their likelihood where other rows trained the member. 'bic', 'aic', "
        "'aicc': that of rows it has learned, less a price for its free parameters. Members that are taken as they are (prefit) are always "
        "scored by the likelihood of the rows they are given.",
    ] = "out_of_fold"
    prior: Annotated[
        Any,
        spelled("None, one number for each member, or a dict from names of members to numbers"),
        "How probable members are beforehand; only ratios count. A member that a dict does not name has 1. None: all alike.",
    ] = None
    n_parameters: Annotated[
        Any,
        spelled("None, one number for each member, a dict from names of members to numbers, or a function of a trained member"),
        "The free parameters of members, for a criterion. None asks the attribute n_parameters_ of a trained member, and else counts "
        "coefficients of linear models, leaves of trees, and the mean number of leaves in the trees of a forest.",
    ] = None
    cv: Folds = 5


@knobs
class CombinationParams:
    """How combinations of members are drawn and weighed."""

    n_combinations: Annotated[int, at_least(2), "Combinations drawn in all."] = 2000
    n_rounds: Annotated[
        int, at_least(1), "Rounds of drawing, each from where those before have found the likely combinations. 1: all from the prior."
    ] = 10
    concentration: Annotated[
        float,
        above(0),
        "Of the prior, a symmetric Dirichlet distribution: at 1 all combinations are alike, above it even ones are likelier, below it "
        "those of few members.",
    ] = 1.0
    cv: Folds = 5


@knobs
class LinearAveragingParams:
    """How linear regressions on subsets of columns are weighed, and which are looked at."""

    evidence: Annotated[
        Criterion | Literal["g"],
        "How probable the rows are under a subset: by least squares and a criterion, or 'g': exactly, under Zellner's g prior.",
    ] = "bic"
    g: Annotated[
        float | Literal["unit", "risk", "benchmark"],
        above(0),
        "The g of that prior: a number, 'unit' for the number of rows n (unit information), 'risk' for the square of the number of columns "
        "p, 'benchmark' for the larger of these.",
    ] = "benchmark"
    model_prior: Annotated[
        Any,
        spelled("'uniform', 'beta_binomial', a number from 0 to 1 or two numbers above 0"),
        "'uniform': all subsets alike. 'beta_binomial': all sizes alike. A number: each column is in with this probability. Two numbers "
        "(a, b): that probability has a beta distribution of these parameters.",
    ] = "uniform"
    max_enumerated: Annotated[
        int, between(0, 20), "With up to so many columns all subsets are looked at, beyond that those that a Markov chain meets."
    ] = 15
    n_steps: Annotated[int, at_least(100), "Steps of that chain, after a tenth more to get started."] = 20_000
    occam_window: Annotated[
        float | None, at_least(1), "Leave out models that are less probable than the best by more than this factor; None leaves out none."
    ] = None
    categorical_features: Categorical = None
    random_state: RandomState = None
