"""The parameters of mixtures of experts."""

from typing import Annotated, Any

from woodwind.params.groups import Auto, Categorical, Jobs, RandomState
from woodwind.params.knobs import at_least, between, knobs, spelled


@knobs
class ExpertParams:
    """Which experts there are, who is asked, and how both are trained."""

    experts: Annotated[
        Any,
        spelled("None, an estimator, or a list of estimators"),
        "What experts are: any estimators that take sample_weight, one for all or one each; of classes they must give probabilities. None: "
        "linear regression for numbers, softmax regression for classes, on any table.",
    ] = None
    n_experts: Annotated[
        int | Auto | None,
        at_least(1),
        "Number of experts. None: two, or as many as the list of experts has. 'auto': the number up to max_experts with the best BIC.",
    ] = None
    gate_depth: Annotated[
        int,
        between(1, 16),
        "Levels of gates. 1: one gate chooses among all experts. More: gates in a tree, each with n_experts branches, and "
        "n_experts ** gate_depth experts.",
    ] = 1
    max_experts: Annotated[int, at_least(1), "Most experts that 'auto' tries."] = 5
    gate: Annotated[
        Any,
        spelled("'softmax', 'constant' or a classifier"),
        "Who foresees which expert is right. 'softmax': a softmax regression on the columns. 'constant': nobody, experts have the same "
        "part everywhere (a mixture of regressions). Or any classifier with predict_proba that takes sample_weight.",
    ] = "softmax"
    l2_regularization: Annotated[
        float, at_least(0), "Shrinks the coefficients of a softmax gate, which refer to columns in standard deviations."
    ] = 0.01
    n_init: Annotated[int, at_least(1), "Starts, of which the one that ends with the largest likelihood is kept."] = 5
    max_iter: Annotated[int, at_least(1), "Most rounds of training from each start."] = 300
    tol: Annotated[float, at_least(0), "Training ends when a round raises the mean log-likelihood of a row by no more than this."] = 1e-6
    categorical_features: Categorical = None
    n_jobs: Jobs = None
    random_state: RandomState = None


@knobs
class ExpertRegressorParams:
    """What experts of numbers believe of their errors."""

    min_variance: Annotated[
        float,
        at_least(0),
        "Smallest error variance of an expert, as a share of the variance of the target. Without it an expert could fit a few rows "
        "exactly, which would be infinitely likely.",
    ] = 1e-4
