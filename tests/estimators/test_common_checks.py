"""Every public estimator passes every common check of scikit-learn; no failure is expected."""

import inspect

import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier as TheirTreeClassifier
from sklearn.tree import DecisionTreeRegressor as TheirTree
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import woodwind
from woodwind import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    AdditiveClassifier,
    AdditiveRegressor,
    AutoEnsembleClassifier,
    AutoEnsembleRanker,
    AutoEnsembleRegressor,
    BaggingClassifier,
    BaggingRegressor,
    BayesianLinearAveragingRegressor,
    BayesianModelAveragingClassifier,
    BayesianModelAveragingRegressor,
    BayesianModelCombinationClassifier,
    BayesianModelCombinationRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    DynamicSelectionClassifier,
    DynamicSelectionRegressor,
    EnsembleSelectionClassifier,
    EnsembleSelectionRegressor,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRanker,
    GradientBoostingRegressor,
    GradientBoostingSurvivalAnalysis,
    MixtureOfExpertsClassifier,
    MixtureOfExpertsRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRanker,
    VotingRegressor,
)
from woodwind.estimators.base.matrix import TableToMatrix
from woodwind.estimators.pools import member_list, pool_base
from woodwind.estimators.pools.member_list import default_pool

# Taken from what the package shows, so that none can be forgotten.
NAMES = [getattr(woodwind, name) for name in woodwind.__all__]
PUBLIC = [named for named in NAMES if inspect.isclass(named) and issubclass(named, BaseEstimator)]

# Estimators whose default members are many and large are checked with two small ones.
CLASSIFIERS = [("linear", LogisticRegression(max_iter=1000)), ("bayes", GaussianNB())]
REGRESSORS = [("linear", LinearRegression()), ("tree", TheirTree(max_depth=4))]
SMALL = {
    "AutoEnsembleClassifier": AutoEnsembleClassifier(models=1, exclude=("boosting", "forest", "neighbours", "net")),
    "AutoEnsembleRanker": AutoEnsembleRanker(models=1, exclude=("boosting", "forest", "neighbours", "net")),
    "AutoEnsembleRegressor": AutoEnsembleRegressor(models=1, exclude=("boosting", "forest", "neighbours", "net")),
    "EnsembleSelectionClassifier": EnsembleSelectionClassifier(estimators=CLASSIFIERS, cv=2),
    "EnsembleSelectionRegressor": EnsembleSelectionRegressor(estimators=REGRESSORS, cv=2),
    "DynamicSelectionClassifier": DynamicSelectionClassifier(estimators=CLASSIFIERS),
    "DynamicSelectionRegressor": DynamicSelectionRegressor(estimators=REGRESSORS),
    "BayesianLinearAveragingRegressor": BayesianLinearAveragingRegressor(n_steps=300),
    "BayesianModelAveragingClassifier": BayesianModelAveragingClassifier(estimators=CLASSIFIERS, cv=2),
    "BayesianModelAveragingRegressor": BayesianModelAveragingRegressor(estimators=REGRESSORS, cv=2),
    "BayesianModelCombinationClassifier": BayesianModelCombinationClassifier(estimators=CLASSIFIERS, cv=2, n_combinations=200),
    "BayesianModelCombinationRegressor": BayesianModelCombinationRegressor(estimators=REGRESSORS, cv=2, n_combinations=200),
    "MixtureOfExpertsClassifier": MixtureOfExpertsClassifier(n_init=1, max_iter=20),
    "MixtureOfExpertsRegressor": MixtureOfExpertsRegressor(n_init=1, max_iter=20),
    "StackingClassifier": StackingClassifier(estimators=CLASSIFIERS, cv=3),
    "StackingRegressor": StackingRegressor(estimators=REGRESSORS, cv=3),
    "VotingClassifier": VotingClassifier(estimators=CLASSIFIERS),
    "VotingRanker": VotingRanker([GradientBoostingRanker(n_estimators=5), GradientBoostingRanker(n_estimators=5, loss="listwise_softmax")]),
    "VotingRegressor": VotingRegressor(estimators=REGRESSORS),
}

# As they come, those have a pool of their own, of which the fixture below makes a small one.
POOLS = [named for named in PUBLIC if "estimators" in inspect.signature(named).parameters and not named.__name__.endswith("Ranker")]
AS_THEY_COME = [named() for named in POOLS if named.__name__ in SMALL]

# Other ways through the engines.
VARIANTS = [
    GradientBoostingClassifier(n_estimators=20, loss="exponential", growth="symmetric", early_stopping=False),
    GradientBoostingRegressor(n_estimators=20, loss="huber", growth="level", early_stopping=False),
    GradientBoostingClassifier(n_estimators=20, max_bins=None, multiclass="one_per_class"),
    GradientBoostingRegressor(n_estimators=20, max_bins=None),
    GradientBoostingClassifier(n_estimators=20, max_bins=None, early_stopping=False),
    GradientBoostingClassifier(n_estimators=20, candidates="global", sketch_eps=0.1, early_stopping=False),
    GradientBoostingRegressor(n_estimators=20, candidates="local", sketch_eps=0.1, early_stopping=False),
    GradientBoostingClassifier(n_estimators=20, boosting="ordered", growth="symmetric", early_stopping=False),
    GradientBoostingRegressor(n_estimators=20, boosting="ordered", early_stopping=False),
    GradientBoostingRanker(n_estimators=10, loss="pairwise_logistic", growth="level"),
    GradientBoostingSurvivalAnalysis(n_estimators=10, ties="breslow", max_bins=None),
    GradientBoostingSurvivalAnalysis(n_estimators=10, loss="aft", distribution="extreme"),
    DecisionTreeClassifier(criterion="gain_ratio", max_leaf_nodes=9, max_bins=32),
    DecisionTreeRegressor(max_depth=6, max_features=0.8, ccp_alpha=1e-4, random_state=0),
    AdaBoostClassifier(n_estimators=5, algorithm="samme.r", max_depth=2),
    AdaBoostClassifier(n_estimators=5, algorithm="m2", max_bins=None),
    AdaBoostClassifier(n_estimators=5, algorithm="mh"),
    AdaBoostClassifier(n_estimators=5, multiclass="output_code", random_state=0),
    AdaBoostClassifier(n_estimators=5, estimator=LogisticRegression()),
    AdaBoostRegressor(n_estimators=5, bootstrap=False, loss="square"),
    AdaBoostRegressor(n_estimators=5, estimator=LinearRegression(), loss="exponential"),
    AdditiveClassifier(n_estimators=5, residuals="newton", step="leaf"),
    AdditiveRegressor(n_estimators=5, estimator=LinearRegression(), loss="huber"),
    AdditiveClassifier(n_estimators=5, loss="exponential", learning_rate=1.0),
    BaggingClassifier(n_estimators=9, voting="hard", max_samples=0.8, flip_rate=0.1, n_jobs=2),
    BaggingClassifier(n_estimators=9, max_features=0.7, smear=0.1, n_jobs=2),
    BaggingRegressor(n_estimators=9, smear=0.1, bootstrap_features=True, param_distributions={"max_depth": [3, 4, None]}, n_jobs=2),
    BaggingClassifier(n_estimators=5, estimator=GaussianNB(), max_features=0.7),
    BaggingClassifier(n_estimators=5, estimator=KNeighborsClassifier(1), voting="hard"),
    BaggingRegressor(n_estimators=5, estimator=TheirTree(max_depth=4), smear=0.1),
    BaggingRegressor(n_estimators=5, estimator=KNeighborsRegressor(2), max_features=0.7, bootstrap=False),
    BaggingRegressor(n_estimators=5, estimator=LinearRegression(), max_samples=0.7),
    RandomForestClassifier(n_estimators=20, bootstrap=False, criterion="entropy", voting="hard", max_bins=None),
    RandomForestRegressor(n_estimators=20, oob_score=True, quantiles=True, max_leaf_nodes=50),
    StackingClassifier(estimators=CLASSIFIERS, layers=2, cv=3, passthrough=True),
    StackingRegressor(estimators=REGRESSORS, cv=3, refit=False, final_estimator=LinearRegression()),
    ExtraTreesRegressor(n_estimators=20, max_features="sqrt", min_samples_leaf=2),
    VotingClassifier(estimators=dict(CLASSIFIERS), voting="hard", weights=[2, 1], n_jobs=2),
    VotingRegressor(estimators=[*REGRESSORS, Ridge(alpha=3.0)], averaging="median"),
    EnsembleSelectionClassifier(estimators=CLASSIFIERS, cv=3, method="ordering", order="kappa", voting="hard", n_selected=1.0),
    DynamicSelectionClassifier(estimators=[("tree", TheirTreeClassifier(max_depth=3)), ("bayes", GaussianNB())], method="meta_des", k=3),
    DynamicSelectionRegressor(estimators=REGRESSORS, method="knora_e", metric="manhattan", n_jobs=2),
    VotingClassifier(estimators=[*CLASSIFIERS, DecisionTreeClassifier(max_depth=3)], voting="hard", weights=[2, 1, 1]),
    VotingClassifier(estimators=dict(CLASSIFIERS), averaging="geometric", n_jobs=2),
    VotingRegressor(estimators=[*REGRESSORS, DecisionTreeRegressor(max_depth=3)], averaging="median"),
    BayesianModelAveragingClassifier(estimators=CLASSIFIERS, evidence="bic"),
    MixtureOfExpertsClassifier(experts=[LogisticRegression(), GaussianNB()], gate=LogisticRegression(), n_init=1, max_iter=3),
]


def test_the_list_of_public_estimators_is_not_empty():
    assert {"GradientBoostingClassifier", "DecisionTreeRegressor"} <= {estimator.__name__ for estimator in PUBLIC}


def test_every_estimator_that_brings_a_pool_takes_what_the_pool_takes():
    assert len(AS_THEY_COME) == 12
    for estimator in AS_THEY_COME:
        taken = get_tags(estimator).input_tags
        assert (taken.allow_nan, taken.sparse, taken.categorical, taken.string) == (True, True, True, True), estimator
    for estimator in (*AS_THEY_COME, BaggingClassifier()):
        given = {"estimators": CLASSIFIERS} if hasattr(estimator, "estimators") else {"estimator": GaussianNB()}
        assert not get_tags(clone(estimator).set_params(**given)).input_tags.allow_nan, estimator


@pytest.mark.parametrize("fits", ["gaps", "fills"])
def test_a_pipeline_takes_gaps_only_where_it_begins_by_filling_them(fits):
    first = TableToMatrix() if fits == "fills" else StandardScaler()  # a scaler takes gaps, and hands them on
    linear = make_pipeline(first, LogisticRegression())
    for estimator in (VotingClassifier(estimators=[linear]), BaggingClassifier(estimator=linear), AdaBoostClassifier(estimator=linear)):
        assert get_tags(estimator).input_tags.allow_nan == (fits == "fills"), estimator


# Where rows are drawn at random, a weight of two equals a row given twice in distribution, not in bits: for these there is a test of that.
DRAWN = {
    "AutoEnsembleClassifier": "tests/estimators/auto/test_auto_ensemble.py",
    "AutoEnsembleRanker": "tests/auto/test_ranking.py",
    "AutoEnsembleRegressor": "tests/estimators/auto/test_auto_ensemble.py",
    "AdaBoostRegressor": "tests/estimators/adaptive/test_adaboost_regression.py",
    "BaggingClassifier": "tests/laws/test_bagging_weights.py",
    "BaggingRegressor": "tests/laws/test_bagging_weights.py",
    "GradientBoostingClassifier": "tests/estimators/boosting/test_ordered.py",
    "GradientBoostingRegressor": "tests/estimators/boosting/test_ordered.py",
    "RandomForestClassifier": "tests/estimators/forests/test_forests.py",
    "RandomForestRegressor": "tests/estimators/forests/test_forests.py",
}
ABOUT_WEIGHTS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")


@pytest.fixture
def small_default_pool(monkeypatch):
    """Of the default pool the trees and the linear model, and few trees: the whole of it would take minutes."""

    def small(classifies):
        members = dict(default_pool(classifies))
        return [("gradient_boosting", members["gradient_boosting"].set_params(n_estimators=2)), ("linear", members["linear"])]

    monkeypatch.setattr(pool_base, "default_pool", small)
    monkeypatch.setattr(member_list, "default_pool", small)


def draws_rows(estimator):
    drawn = getattr(estimator, "bootstrap", True) or getattr(estimator, "max_samples", None) not in (None, 1.0)
    return drawn or getattr(estimator, "boosting", "plain") == "ordered"


# Checks feed tables on which warnings are due: constant targets, many classes, columns without names.
@pytest.mark.filterwarnings("ignore::woodwind.WoodwindWarning")
@parametrize_with_checks([SMALL[named.__name__] if named.__name__ in SMALL else named() for named in PUBLIC] + VARIANTS)
def test_the_common_check(estimator, check):
    name = getattr(check, "func", check).__name__
    if name in ABOUT_WEIGHTS and type(estimator).__name__ in DRAWN and draws_rows(estimator):
        pytest.skip(f"replaced by a test of distributions in {DRAWN[type(estimator).__name__]}")
    check(estimator)


@pytest.mark.filterwarnings("ignore::woodwind.WoodwindWarning")
@pytest.mark.usefixtures("small_default_pool")
@parametrize_with_checks(AS_THEY_COME)
def test_the_common_check_with_the_default_pool(estimator, check):
    if getattr(check, "func", check).__name__ in ABOUT_WEIGHTS:
        pytest.skip("the default pool draws rows: its forests have a test of distributions in tests/estimators/forests/test_forests.py")
    check(estimator)
