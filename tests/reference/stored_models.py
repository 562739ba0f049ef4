"""Small trained models that hold, between them, everything of which a model file can be made."""

import json
import re
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import ElasticNet, Lasso, LinearRegression, LogisticRegression, Ridge, RidgeClassifier, RidgeCV
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import woodwind
from woodwind.auto.clock import Clock
from woodwind.auto.intervals import PredictionIntervals
from woodwind.auto.members.tree_members import CompactForestMember, ForestMember, MeanMember
from woodwind.auto.model import AutoModel
from woodwind.auto.several_targets import SeveralTargetsModel
from woodwind.auto.training.boosting import BoostingFamily
from woodwind.auto.training.knn_training import train_knn
from woodwind.auto.training.mlp_training import train_mlp
from woodwind.auto.training.recipe import Recipe
from woodwind.auto.training.training_set import TrainingSet
from woodwind.data.tables.matrix_form import MatrixForm
from woodwind.distributions.named import NAMED
from woodwind.ensemble.conformal import ConformityScores
from woodwind.estimators.auto.linear_training import train_linear
from woodwind.estimators.base.matrix import TableToMatrix
from woodwind.losses.ranking import RANKING

Frame = Callable[[dict[str, Any]], Any]  # makes a table of columns, such as pandas.DataFrame

ROWS, ASKED = 120, 12
FOREIGN = Path(__file__).parent.parent / "store" / "foreign"
FEW: dict[str, Any] = {"n_estimators": 4, "random_state": 0}


class Stored(NamedTuple):
    """A trained model, and rows to ask it about."""

    model: Any
    X: Any  # a matrix, or columns by name


# Distributions of whole numbers.
COUNTS = ("poisson", "negative_binomial", "zero_inflated_poisson")


class Given(NamedTuple):
    """What models are trained on."""

    table: Any  # numbers with gaps, levels, many categories, dates
    numbers: NDArray[np.float64]
    amount: NDArray[np.float64]
    labels: NDArray[Any]  # of three classes
    asked: dict[str, Any]  # columns of another table like the first, with categories that training never saw
    asked_numbers: NDArray[np.float64]

    @classmethod
    def of(cls, frame: Frame) -> "Given":
        """Drawn by one seed."""
        rng = np.random.default_rng(0)
        columns, others = columns_of(rng, ROWS), columns_of(rng, ASKED)
        others["level"][:2] = "unknown"
        others["number"][2:5] = np.nan, np.inf, -np.inf
        numbers, asked = (np.nan_to_num(np.column_stack([one["number"], one["gaps"]]), posinf=1.0, neginf=0.0) for one in (columns, others))
        amount = columns["number"] + (columns["level"] == "b") + 0.3 * rng.random(ROWS)
        labels = np.array(["no", "yes", "maybe"])[np.digitize(amount, [0.5, 1.0])]
        return cls(frame(columns), numbers, amount, labels, others, asked)


def columns_of(rng: np.random.Generator, rows: int) -> dict[str, Any]:
    """Columns of every kind."""
    return {
        "number": rng.random(rows),
        "gaps": np.where(rng.random(rows) < 0.2, np.nan, rng.normal(size=rows)),
        "level": rng.choice(np.array(["a", "b", "c", "d"], object), rows),
        "many": np.array([f"level {k}" for k in rng.integers(0, 300, rows)], object),
        "empty": np.full(rows, None, object),
        "when": np.datetime64("2020-01-01", "s") + rng.integers(0, 10**8, rows).astype("m8[s]"),
    }


def table_model(estimator: Any) -> Any:
    """An estimator of numbers that takes tables."""
    return make_pipeline(TableToMatrix(), estimator)


def stored_models(frame: Frame, wanted: Callable[[str], bool] = lambda _: True) -> dict[str, Stored]:
    """One trained model of each sort, by a name for people; those whose names are wanted."""
    given = Given.of(frame)
    two = given._replace(labels=given.labels == "no")
    makers: dict[str, Callable[[], Stored]] = {}
    for name, model in {**of_trees(), **of_members(), **of_pools()}.items():
        makers[name] = partial(stored, model, given.table, given, given.asked)
    for name, model in of_numbers().items():
        makers[name] = partial(stored, model, given.numbers, given, given.asked_numbers)
    for name, model in of_distributions().items():
        suited = given._replace(amount=np.floor(3.0 * given.amount) if model.distribution in COUNTS else given.amount / 3.0)
        makers[name] = partial(stored, model, given.table, suited, given.asked)
    for name, model in of_two_classes().items():
        makers[name] = partial(stored, model, given.table, two, given.asked)
    for name, model in of_several_targets().items():
        makers[name] = partial(several, model, given)
    for name, make in of_wholes().items():
        makers[name] = partial(whole, make, given)
    for name, read in of_other_libraries().items():
        makers[name] = partial(taken_over, read)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: make() for name, make in makers.items() if wanted(name)}


def stored(model: Any, X: Any, given: Given, asked: Any) -> Stored:
    """The model, trained."""
    return Stored(trained(model, X, given), asked)


def several(model: Any, given: Given) -> Stored:
    """The same for several targets."""
    numbers = np.column_stack([given.amount, given.amount**2])
    target = np.column_stack([given.labels, given.labels == "no"]) if is_classifier(model) else numbers
    return Stored(model.fit(given.table, target), given.asked)


def whole(make: Callable[[Given], Any], given: Given) -> Stored:
    """The same for one that is made otherwise than by `fit`."""
    return Stored(make(given), given.asked)


def trained(model: Any, X: Any, given: Given) -> Any:
    """The model, trained on one thread, so that whoever loads it starts no others."""
    if "n_jobs" in model.get_params(deep=False):
        model.set_params(n_jobs=1)
    return model.fit(X, given.labels if is_classifier(model) else given.amount)


def of_trees() -> dict[str, Any]:
    """Trees, forests and boosting."""
    boosting, numbers = woodwind.GradientBoostingClassifier, woodwind.GradientBoostingRegressor
    drawn = {"random_state": np.random.RandomState(3)}
    losses = ("absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie")
    return {
        "boosting, classes, warm": boosting(warm_start=True, **FEW),
        "boosting, one tree per class": boosting(multiclass="one_per_class", **FEW),
        "boosting, from a model": boosting(init=table_model(LogisticRegression()), **FEW),
        "boosting, linear leaves, warm": numbers(warm_start=True, linear_leaves=True, **FEW),
        "boosting, exact, warm": numbers(warm_start=True, max_bins=None, **FEW),
        "boosting, numbers, from a model": numbers(init=table_model(Ridge()), **FEW),
        **{f"boosting, {loss}": numbers(loss=loss, **FEW) for loss in losses},
        **{f"ranker, {loss}": woodwind.GradientBoostingRanker(loss=loss, **FEW) for loss in RANKING},
        "survival, cox": woodwind.GradientBoostingSurvivalAnalysis(**FEW),
        "survival, aft, warm": woodwind.GradientBoostingSurvivalAnalysis(loss="aft", distribution="extreme", warm_start=True, **FEW),
        "boosting, several quantiles": numbers(loss="quantile", quantile=[0.9, 0.1], **FEW),
        "rankers": woodwind.VotingRanker([woodwind.GradientBoostingRanker(loss=loss, **FEW) for loss in RANKING], fusion="borda"),
        "tree, classes": woodwind.DecisionTreeClassifier(),
        "tree, numbers": woodwind.DecisionTreeRegressor(max_leaf_nodes=9),
        "forest, classes": woodwind.RandomForestClassifier(voting="hard", **FEW),
        "forest, quantiles": woodwind.RandomForestRegressor(**FEW | drawn, quantiles=True, oob_score=True),
        "extra-trees, classes": woodwind.ExtraTreesClassifier(warm_start=True, **FEW),
        "extra-trees, numbers": woodwind.ExtraTreesRegressor(**FEW),
        "random structure, classes": woodwind.RandomStructureForestClassifier(max_depth=4, **FEW),
        "random structure, numbers": woodwind.RandomStructureForestRegressor(max_depth=4, **FEW),
    }


def of_several_targets() -> dict[str, Any]:
    """Two targets, of numbers or of labels."""
    return {
        "tree, several numbers": woodwind.DecisionTreeRegressor(max_leaf_nodes=9),
        "tree, several labels": woodwind.DecisionTreeClassifier(),
        "forest, several numbers": woodwind.RandomForestRegressor(oob_score=True, n_jobs=1, **FEW),
        "forest, several labels": woodwind.ExtraTreesClassifier(n_jobs=1, **FEW),
        "boosting, several numbers": woodwind.GradientBoostingRegressor(n_jobs=1, warm_start=True, **FEW),
        "voting, several numbers": woodwind.VotingRegressor([("line", table_model(Ridge()))], n_jobs=1),
        "bagging, several labels": woodwind.BaggingClassifier(n_jobs=1, **FEW),
        "boosting, several labels": woodwind.GradientBoostingClassifier(multiclass="one_per_class", n_jobs=1, **FEW),
    }


def of_members() -> dict[str, Any]:
    """Bagging, adaptive and additive models."""
    linear = table_model(LogisticRegression())
    return {
        "AdaBoost, trees": woodwind.AdaBoostClassifier(**FEW),
        "AdaBoost, to go on with": woodwind.AdaBoostClassifier(**FEW, warm_start=True),
        "AdaBoost, MH": woodwind.AdaBoostClassifier(algorithm="mh", **FEW),
        "AdaBoost, estimators": woodwind.AdaBoostClassifier(estimator=linear, algorithm="samme.r", **FEW),
        "AdaBoost, second level": woodwind.AdaBoostClassifier(multiclass="second_level", n_estimators=2, random_state=0),
        "AdaBoost, output code": woodwind.AdaBoostClassifier(multiclass="output_code", n_estimators=2, random_state=0),
        "AdaBoost, numbers": woodwind.AdaBoostRegressor(**FEW),
        "AdaBoost, numbers of estimators": woodwind.AdaBoostRegressor(estimator=table_model(LinearRegression()), **FEW),
        "additive, classes": woodwind.AdditiveClassifier(subsample=0.5, **FEW),
        "additive, numbers of estimators": woodwind.AdditiveRegressor(estimator=table_model(Ridge()), **FEW),
        "bagging, trees": woodwind.BaggingClassifier(max_features=0.7, oob_score=True, warm_start=True, **FEW),
        "bagging, numbers": woodwind.BaggingRegressor(param_distributions={"max_depth": [3, 4, None]}, **FEW),
        "bagging of boosting": woodwind.BaggingClassifier(woodwind.GradientBoostingClassifier(**FEW), n_estimators=2, voting="hard"),
        "conformal, quantiles": woodwind.ConformalRegressor(cv=2, random_state=0),
        "conformal, normalized": woodwind.ConformalRegressor(
            table_model(Ridge()), method="split", conformity_score="normalized", random_state=0
        ),
        "conformal, forest": woodwind.ConformalRegressor(
            woodwind.RandomForestRegressor(n_estimators=3, random_state=0), method="jackknife_plus_after_bootstrap", random_state=0
        ),
        "conformal, classes": woodwind.ConformalClassifier(table_model(LogisticRegression()), cv=2, random_state=0),
        "mixture of experts, classes": woodwind.MixtureOfExpertsClassifier(n_init=1, max_iter=3, random_state=0),
        "mixture of experts, numbers": woodwind.MixtureOfExpertsRegressor(n_init=1, max_iter=3, random_state=0),
        "mixture of experts, gates in a tree": woodwind.MixtureOfExpertsRegressor(gate_depth=2, n_init=1, max_iter=3, random_state=0),
        "linear averaging": woodwind.BayesianLinearAveragingRegressor(n_steps=100, random_state=0),
    }


def of_pools() -> dict[str, Any]:
    """Voting, stacking, selection and averaging over members of every library."""
    classifiers = [
        ("linear", table_model(LogisticRegression())),
        ("bayes", make_pipeline(TableToMatrix(), StandardScaler(), GaussianNB())),
        ("near", table_model(KNeighborsClassifier(3))),
        ("net", make_pipeline(TableToMatrix(), MinMaxScaler(), MLPClassifier((4,), max_iter=20, random_state=0))),
        ("tree", table_model(DecisionTreeClassifier(max_depth=4, random_state=0))),
        ("dummy", DummyClassifier()),
        ("ours", woodwind.DecisionTreeClassifier(max_depth=3)),
    ]
    regressors = [
        ("line", table_model(LinearRegression())),
        ("ridge", make_pipeline(TableToMatrix(), RobustScaler(), Ridge())),
        ("chosen", table_model(RidgeCV())),
        ("lasso", table_model(Lasso(0.1))),
        ("elastic", table_model(ElasticNet(0.1))),
        ("near", table_model(KNeighborsRegressor(3, weights="distance"))),
        ("net", table_model(MLPRegressor(hidden_layer_sizes=(4,), max_iter=20, random_state=0, early_stopping=True))),
        ("tree", table_model(DecisionTreeRegressor(max_depth=4, random_state=0))),
        ("dummy", DummyRegressor()),
        ("ours", woodwind.DecisionTreeRegressor(max_depth=3)),
    ]
    two, both = classifiers[:2], [regressors[0], regressors[7]]
    hard = [*classifiers[:3], ("ridge", table_model(RidgeClassifier()))]
    dynamic = woodwind.DynamicSelectionClassifier
    return {
        "voting, classes": woodwind.VotingClassifier(classifiers),
        "voting, hard": woodwind.VotingClassifier(hard, voting="hard", weights=[2, 1, 1, 1]),
        "voting, numbers": woodwind.VotingRegressor(regressors, averaging="median"),
        "voting, nested": woodwind.VotingRegressor([("one", woodwind.VotingRegressor([("two", woodwind.VotingRegressor(both))]))]),
        "stacking, layers": woodwind.StackingClassifier(two, layers=2, cv=StratifiedKFold(4), passthrough=True, oof_score=True),
        "stacking, folds kept": woodwind.StackingRegressor(both, cv=ShuffleSplit(2, random_state=0), refit=False, final_estimator=Ridge()),
        "stacking, numbers": woodwind.StackingRegressor(both, cv=KFold(2, shuffle=True, random_state=1)),
        "selection, classes": woodwind.EnsembleSelectionClassifier(two, cv=StratifiedShuffleSplit(2, random_state=0)),
        "selection, numbers": woodwind.EnsembleSelectionRegressor(both, cv=TimeSeriesSplit(2)),
        "averaging, classes": woodwind.BayesianModelAveragingClassifier(two, cv=2),
        "averaging, numbers": woodwind.BayesianModelAveragingRegressor(both, evidence="bic"),
        "combination, classes": woodwind.BayesianModelCombinationClassifier(two, cv=2, n_combinations=20),
        "combination, numbers": woodwind.BayesianModelCombinationRegressor(both, cv=2, n_combinations=20),
        "dynamic, META-DES": dynamic(two, method="meta_des", cv=2),
        "dynamic, META-DES of a model": dynamic(two, method="meta_des", method_options={"meta_classifier": GaussianNB()}, cv=2),
        "dynamic, clusters": dynamic(two, method="des_clustering", method_options={"pct_accuracy": 1.0, "pct_diversity": 0.5}, cv=2),
        "dynamic, confidence": dynamic(two, method="confidence", cv=2),
        "dynamic, fast": dynamic(two, method="knora_u", search="fast", cv=2),
        "dynamic, equal classes": dynamic(two, method="knop", knne=True, cv=2),
        "dynamic, potential": dynamic(two, method="des_rrc", voting="soft", metric="mahalanobis", cv=2),
        "dynamic, numbers": woodwind.DynamicSelectionRegressor(both, method="knora_e", metric="manhattan", cv=2),
        "experts that are given": woodwind.MixtureOfExpertsRegressor(
            experts=[table_model(LinearRegression()), table_model(Ridge())], gate=table_model(LogisticRegression()), n_init=1, max_iter=2
        ),
    }  # fmt: skip


def of_numbers() -> dict[str, Any]:
    """Those that take numbers alone, and members that see a matrix as it is."""
    theirs = [("tree", DecisionTreeClassifier(max_depth=3)), ("near", KNeighborsClassifier(3, algorithm="ball_tree"))]
    return {
        "blender of classes": woodwind.LogisticBlender(cv=2),
        "distribution, classes": woodwind.DistributionBoostingClassifier(**FEW),
        "blender of numbers": woodwind.NonNegativeBlender(cv=2),
        "encoder": woodwind.OrderedTargetEncoder(counts=True),
        "bagging of Bayes": woodwind.BaggingClassifier(GaussianNB(), max_features=0.7, **FEW),
        "bagging of trees of others": woodwind.BaggingRegressor(DecisionTreeRegressor(max_depth=3), max_features=0.7, n_estimators=2),
        "members of others": woodwind.VotingClassifier(theirs),
        "bagging of neighbours": woodwind.BaggingRegressor(KNeighborsRegressor(2, algorithm="brute"), n_estimators=2),
    }


def of_distributions() -> dict[str, Any]:
    """Natural-gradient boosting, for every distribution."""
    boosting = woodwind.DistributionBoostingRegressor
    few = {"n_estimators": 2, "random_state": 0}
    models: dict[str, Any] = {f"distribution, {name}": boosting(distribution=name, spread="joint", **few) for name in NAMED}
    return models | {"distribution, held out": boosting(spread="held_out", **few)}


def of_two_classes() -> dict[str, Any]:
    """Losses and scores that there are for two classes only."""
    one = [("one", table_model(LogisticRegression()))]
    return {
        "boosting, two classes": woodwind.GradientBoostingClassifier(**FEW),
        "boosting, exponential": woodwind.GradientBoostingClassifier(loss="exponential", **FEW),
        "distribution, two classes": woodwind.DistributionBoostingClassifier(**FEW),
        "additive, two classes": woodwind.AdditiveClassifier(loss="exponential", **FEW),
        "LogitBoost": woodwind.LogitBoostClassifier(**FEW),
        "Gentle AdaBoost": woodwind.GentleAdaBoostClassifier(**FEW),
        "stacking, two classes": woodwind.StackingClassifier(one, cv=2, stack_method="decision_function"),
        "voting, two classes": woodwind.VotingClassifier([("one", table_model(RidgeClassifier()))], voting="hard"),
    }


def of_wholes() -> dict[str, Callable[[Given], Any]]:
    """One that is not trained; trees of a forest; and what the main job makes, for two and three classes and for numbers, with members of
    all families, with its estimator and without.
    """
    options: dict[str, Any] = {"models": 7, "random_state": 0, "n_jobs": 1}
    classes, numbers = woodwind.AutoEnsembleClassifier, woodwind.AutoEnsembleRegressor
    return {
        "not fitted": not_fitted,
        "selection of trees": selected_trees,
        "distribution, within bounds": lambda given: woodwind.DistributionBoostingRegressor(n_jobs=1, **FEW).fit(
            given.table, np.column_stack([given.amount, given.amount + 0.1])
        ),
        "main job, three classes": lambda given: classes(**options).fit(given.table, given.labels),
        "main job, two classes": lambda given: classes(**options).fit(given.table, given.labels == "no"),
        "main job, numbers": lambda given: numbers(**options).fit(given.table, given.amount),
        "main job, ranking": ranked,
        "ranker, positions": shown_at_positions,
        "main job, by hand": by_hand,
        "main job, several targets": lambda given: several_targets(by_hand(given)),
        "main job, levels as numbers": encoded,
    }


def of_other_libraries() -> dict[str, Callable[[], Any]]:
    """Models that were read from files of other libraries."""
    # To LightGBM, zero is a missing value in all splits by numbers.
    zeros = partial(
        re.sub, r"(?m)^decision_type=.*$", lambda line: re.sub(r"\b(2|8|10)\b", lambda bits: str(int(bits[0]) & 3 | 4), line[0])
    )
    return {
        "taken over, categories": lambda: woodwind.from_xgboost(FOREIGN / "xgboost.json"),
        "taken over, hashes": lambda: woodwind.from_catboost(FOREIGN / "catboost.json"),
        "taken over, zeros": lambda: woodwind.from_lightgbm(zeros((FOREIGN / "lightgbm.txt").read_text()).encode()),
    }


def taken_over(read: Callable[[], Any]) -> Stored:
    """One of them, and rows of its columns."""
    model = read().set_params(n_jobs=1)
    rows = json.loads((FOREIGN / "answers.json").read_text())["rows"]
    columns: dict[str, Any] = {name: np.array([row[name] for row in rows], object if name == "colour" else float) for name in rows[0]}
    columns["colour"][0] = "violet"
    return Stored(model, columns)


def not_fitted(given: Given) -> Any:
    """Parameters alone."""
    del given
    parts = [("a", woodwind.StackingClassifier([("b", LogisticRegression())], cv=GroupKFold(3)))]
    return woodwind.StackingClassifier(parts, cv=StratifiedGroupKFold(3))


def selected_trees(given: Given) -> Any:
    """Some of the trees of a forest."""
    forest = woodwind.RandomForestClassifier(oob_score=True, **FEW).fit(given.table, given.labels)
    return trained(woodwind.EnsembleSelectionClassifier(forest), given.table, given)


def by_hand(given: Given) -> AutoModel:
    """A model of the main job with a member of every kind."""
    boosted = woodwind.GradientBoostingClassifier(categorical_encoding="sets", **FEW).fit(given.table, given.labels)
    grown = woodwind.RandomForestClassifier(**FEW).fit(given.table, given.labels)
    form = MatrixForm.learn(given.table)
    y = np.searchsorted(boosted.classes_, given.labels)
    told = (form.of(given.table), y, None, 3, 0, lambda: 10.0)
    plain = [train(*told) for train in (train_linear, train_knn, train_mlp)]
    members = (ForestMember(boosted.forest_), MeanMember((CompactForestMember(grown.compact_forest_, 2.0, np.zeros(3)),)), *plain)
    return AutoModel(
        task="multiclass", target="y", classes=tuple(boosted.classes_.tolist()), schema=boosted.schema_, form=form,
        names=tuple("abcde"), members=members, weights=np.full(5, 0.2), shift=np.zeros(3), metric="log_loss", facts={},
        intervals=PredictionIntervals(scores_of(np.linspace(0.0, 1.0, 40)), np.empty(0), np.empty(0), "random"),
    )  # fmt: skip


def several_targets(model: AutoModel) -> SeveralTargetsModel:
    """What the main job makes of two targets: here one of them twice."""
    return SeveralTargetsModel((model, replace(model, target="z")))


def ranked(given: Given) -> Any:
    """What the main job makes of queries, with one member."""
    model = woodwind.AutoEnsembleRanker(models=1, exclude=["boosting", "forest", "net", "neighbours"], random_state=0, n_jobs=1)
    return model.fit(given.table, np.arange(ROWS) % 3, group=np.arange(ROWS) // 6)


def shown_at_positions(given: Given) -> Any:
    """A ranker of clicks on documents that were shown at some position."""
    rows = np.arange(ROWS)
    return woodwind.GradientBoostingRanker(**FEW).fit(given.table, rows % 3, group=rows // 6, position=rows % 6)


def scores_of(values: np.ndarray) -> ConformityScores:
    """Conformity scores of one fold, of rows of weight one."""
    return ConformityScores.of([(values, np.ones(len(values)))])


def encoded(given: Given) -> AutoModel:
    """A model of the main job whose members read categories as means of the target."""
    simple = woodwind.GradientBoostingRegressor(early_stopping=False, categorical_encoding="sets", **FEW).fit(given.table, given.amount)
    training_set = TrainingSet(simple.schema_, simple.schema_.read(given.table), given.amount, None, 0, np.arange(ROWS) % 2, 0, 1)
    recipe, family = Recipe("encoded", "boosting", {"encode_from": 2, "rate": 10.0}), BoostingFamily()
    member = family.finish(training_set, recipe, list(family.fits(training_set, recipe, Clock(), []))).member
    return AutoModel(
        task="regression", target="y", classes=(), schema=simple.schema_, form=training_set.form, names=("encoded",), members=(member,),
        weights=np.ones(1), shift=np.zeros(1), metric="rmse", facts={},
        intervals=PredictionIntervals(scores_of(np.linspace(0.0, 3.0, 40)), np.array([-1.0, 0.0, 2.0]), np.array([1.0, 2.0, 4.0]), "time"),
    )  # fmt: skip
