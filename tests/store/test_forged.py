"""Files that somebody has forged: sums hold, and what stands in them is not what training makes. None crashes, hangs or takes memory."""

import json
import random
import subprocess
import sys
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.tree import DecisionTreeClassifier as TheirClassifier
from sklearn.tree import DecisionTreeRegressor as TheirTree
from sklearn.utils import get_tags

import woodwind
from reference.forged_files import BAD, batch, keep
from reference.forging import forged
from reference.model_files import save_unproved
from reference.model_graph import Array, Graph, Thing
from reference.stored_models import stored_models
from woodwind import ModelFileError, store
from woodwind.base.errors import DataError, NotStorableError, ParameterError
from woodwind.estimators.base.matrix import TableToMatrix
from woodwind.store.kinds import KINDS

RNG = np.random.default_rng(0)
NUMBERS = RNG.random((60, 3))
TARGET = NUMBERS[:, 0] + 0.1 * RNG.random(60)
LABELS = np.array(["no", "yes", "maybe"])[np.digitize(TARGET, [0.4, 0.7])]
# Jobs of the main sort take the longest to train, and one of them has what all have.
SLOW = ("main job, two classes", "main job, numbers")


def graph_of(model, tmp_path):
    store.save(tmp_path / "one.ww", model)
    return Graph.of((tmp_path / "one.ww").read_bytes())


def written(graph, tmp_path):
    (tmp_path / "forged.ww").write_bytes(graph.data())
    return tmp_path / "forged.ww"


def refusal(graph, tmp_path):
    with pytest.raises(ModelFileError) as caught:
        woodwind.load(written(graph, tmp_path))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def of_kind(graph, kind):
    return next(thing for thing in graph.things if thing.kind == kind)


def trained(graph, kind):
    return next(thing for thing in graph.things if thing.kind == kind and thing.parts["trained"]["dict"]).parts["trained"]["dict"]


@cache
def stored(name):
    """One of the models that are forged."""
    return stored_models(pd.DataFrame, lambda one: one == name)[name].model


# Everything at once.


@pytest.mark.timeout(300)
def test_forged_files_of_every_kind_neither_crash_nor_hang_nor_take_memory(tmp_path):
    """In a process of its own, so that a crash is a failure of this test and not the end of all."""
    models = stored_models(pd.DataFrame, lambda name: name not in SLOW)
    for name, (model, rows) in models.items():
        keep(tmp_path, name, model, rows)
    kinds = {thing.kind for name in models for thing in Graph.of((tmp_path / f"{name}.ww").read_bytes()).things}
    assert set(KINDS) - kinds == {"AutoEnsembleRegressor"}
    found = batch(tmp_path, list(models), 0, 8)
    assert [one for one in found if one.sort in BAD] == []
    assert len(found) == 8 * len(models)
    assert len({one.name for one in found if one.sort == "answered"}) > len(models) / 2, "changes that are always refused test little"


@pytest.mark.parametrize("name", ["voting, numbers", "dynamic, fast", "not fitted"])
def test_a_file_that_was_taken_apart_and_put_together_says_the_same(name, tmp_path):
    store.save(tmp_path / "two.ww", woodwind.load(written(graph_of(stored(name), tmp_path), tmp_path)))
    assert (tmp_path / "two.ww").read_bytes() == (tmp_path / "one.ww").read_bytes()


def test_forgeries_are_the_same_for_the_same_seed(tmp_path):
    data = graph_of(stored("tree, classes"), tmp_path).data()
    one, two = (forged(data, random.Random("seed")) for _ in range(2))
    assert one == two
    assert one[1] != data


# Trees of scikit-learn, whose compiled walks trust every number.


def test_a_tree_of_others_without_columns_and_with_features_far_away_is_refused(tmp_path):
    model = woodwind.VotingRegressor([("tree", TheirTree(max_depth=3))]).fit(NUMBERS, TARGET)
    for dropped in (True, False):
        graph = graph_of(model, tmp_path)
        own = trained(graph, "sklearn.DecisionTreeRegressor")
        tree = own["tree_"]["dict"]
        feature = tree["feature"].values
        tree["feature"] = Array(np.where(feature >= 0, 2**36, feature))
        tree["n_features"] = 2**40
        if dropped:
            del own["n_features_in_"]
        else:
            own["n_features_in_"] = 2**40
        assert ("has no n_features_in_" if dropped else "columns") in refusal(graph, tmp_path)


@pytest.mark.parametrize("depth", [0, 2, 4, 2**40, -1])
def test_a_tree_of_others_that_says_another_depth_is_refused(depth, tmp_path):
    """The path of a row is written into room for so many nodes, and nobody looks where it ends."""
    model = woodwind.VotingClassifier([("tree", TheirClassifier(max_depth=3))]).fit(NUMBERS, LABELS)
    graph = graph_of(model, tmp_path)
    tree = trained(graph, "sklearn.DecisionTreeClassifier")["tree_"]["dict"]
    assert tree["max_depth"] == 3
    tree["max_depth"] = depth
    assert "depth" in refusal(graph, tmp_path)


@pytest.mark.parametrize("part", ["n_features_in_", "n_outputs_", "tree_", "classes_", "n_classes_"])
def test_what_a_tree_of_others_needs_must_be_there(part, tmp_path):
    graph = graph_of(woodwind.VotingClassifier([("tree", TheirClassifier(max_depth=3))]).fit(NUMBERS, LABELS), tmp_path)
    del trained(graph, "sklearn.DecisionTreeClassifier")[part]
    assert f"has no {part}" in refusal(graph, tmp_path)


def test_threads_that_nobody_has_are_refused(tmp_path):
    graph = graph_of(woodwind.VotingRegressor([("near", KNeighborsRegressor())]).fit(NUMBERS, TARGET), tmp_path)
    for thing in graph.things:
        if thing.kind == "sklearn.KNeighborsRegressor":
            thing.parts["parameters"]["dict"]["n_jobs"] = 2**31
    assert "threads" in refusal(graph, tmp_path)


def test_a_place_to_keep_files_in_is_not_taken_from_a_file(tmp_path):
    pipeline = make_pipeline(TableToMatrix(), Ridge(), memory=str(tmp_path / "cache"))
    graph = graph_of(woodwind.VotingRegressor([("one", pipeline)]), tmp_path)
    assert of_kind(graph, "sklearn.Pipeline").parts["parameters"]["dict"]["memory"] is None
    of_kind(graph, "sklearn.Pipeline").parts["parameters"]["dict"]["memory"] = "somewhere"
    assert woodwind.load(written(graph, tmp_path)).estimators[0][1].memory is None


# Sizes that lead to allocations.


def test_classes_that_no_array_is_of_are_refused(tmp_path):
    """A file of a few kilobytes took gigabytes to predict two rows."""
    graph = graph_of(woodwind.RandomForestClassifier(n_estimators=3).fit(NUMBERS, LABELS), tmp_path)
    compact_forest = of_kind(graph, "CompactForest")
    compact_forest.parts["n_classes"] = 2**28
    compact_forest.parts["leaf"] = Array(np.zeros_like(compact_forest.parts["leaf"].values))
    compact_forest.parts["mixed"] = Array(np.zeros((0, 2**28 - 1)))
    assert "other classes" in refusal(graph, tmp_path)


def test_columns_that_nothing_tells_of_are_bounded(tmp_path):
    model = woodwind.BaggingRegressor(TheirTree(max_depth=2), n_estimators=2, max_features=2).fit(NUMBERS, TARGET)
    graph = graph_of(model, tmp_path)
    for place in graph.places():
        if place.value == 3 and place.name in ("n_columns", "n_features_in_"):
            place.set(2**30)
    assert "columns" in refusal(graph, tmp_path)


def test_a_model_that_is_its_own_part_over_and_over_is_refused(tmp_path):
    """Two of two of two: a thousand bytes that would take for ever to ask."""
    for depth, predicted in ((20, "too often"), (70, "nested more than")):
        graph = graph_of(stored("main job, by hand"), tmp_path)
        member = of_kind(graph, "MeanMember")
        for _ in range(depth):
            member = Thing("MeanMember", {"members": {"tuple": [member, member] if depth == 20 else [member]}})
        of_kind(graph, "AutoModel").parts["members"]["tuple"][1] = member
        assert predicted in refusal(graph, tmp_path)
    vote = woodwind.VotingRegressor([("a", TheirTree(max_depth=2)), ("b", Ridge())]).fit(NUMBERS, TARGET)
    graph = graph_of(vote, tmp_path)
    whole, pool = of_kind(graph, "VotingRegressor"), of_kind(graph, "Pool")
    for _ in range(20):
        inner = Thing("Pool", pool.parts | {"members": {"tuple": [whole, whole]}})
        whole = Thing("VotingRegressor", whole.parts | {"_pool": inner, "estimators_": [whole], "named_estimators_": whole})
    graph.root[0] = whole
    refusal(graph, tmp_path)


def test_pipelines_in_each_other_that_would_be_asked_for_ever_are_refused(tmp_path):
    """Each asks its only step three times what it takes."""
    model = Ridge()
    for depth in range(1, 31):
        model = Pipeline([("only", model)])
        if depth == 5:
            store.save(tmp_path / "one.ww", model)
            assert get_tags(woodwind.load(tmp_path / "one.ww")).input_tags.sparse
    with pytest.raises(NotStorableError, match="too often"):
        store.save(tmp_path / "one.ww", model)
    save_unproved(tmp_path / "one.ww", model)
    with pytest.raises(ModelFileError, match="too often"):
        woodwind.load(tmp_path / "one.ww")


@pytest.mark.parametrize(("model", "name"), [(LogisticRegression(), "solver"), (KNeighborsRegressor(), "metric")])
def test_a_parameter_that_breaks_whoever_asks_what_a_model_takes_is_refused(model, name, tmp_path):
    """Before `fit` nobody checks it, and scikit-learn compares it with words."""
    for value in (Array(np.array(["a", "b"])), Array(np.arange(3))):
        graph = graph_of(woodwind.StackingClassifier([("a", model)]), tmp_path)
        of_kind(graph, f"sklearn.{type(model).__name__}").parts["parameters"]["dict"][name] = value
        assert type(model).__name__ in refusal(graph, tmp_path)
        graph = graph_of(woodwind.ConformalRegressor(), tmp_path)
        of_kind(graph, "ConformalRegressor").parts["method"] = value
        assert "ConformalRegressor" in refusal(graph, tmp_path)


# Parts that may be anything.


def boosted_from(init):
    return woodwind.GradientBoostingClassifier(n_estimators=2, init=init).fit(NUMBERS, LABELS)


@pytest.mark.parametrize("init", ["text", 5, [], {"dict": {}}, Array(np.zeros(3)), True])
def test_a_start_that_is_no_model_is_refused(init, tmp_path):
    graph = graph_of(boosted_from(LogisticRegression()), tmp_path)
    of_kind(graph, "GradientBoostingClassifier").parts["init_"] = init
    assert "init_ is no model" in refusal(graph, tmp_path)


def test_a_start_that_is_not_trained_or_of_another_task_is_refused(tmp_path):
    graph = graph_of(boosted_from(LogisticRegression()), tmp_path)
    learnt_of = next(thing for thing in graph.things if thing.kind == "sklearn.LogisticRegression" and thing.parts["trained"]["dict"])
    kept, learnt_of.parts["trained"] = learnt_of.parts["trained"], {"dict": {}}
    assert "init_ is not trained" in refusal(graph, tmp_path)
    kept["dict"]["classes_"] = Array(np.array(["a", "b", "c"]))
    learnt_of.parts["trained"] = kept
    assert "classes that its owner does not know" in refusal(graph, tmp_path)


@pytest.mark.parametrize(
    ("name", "kind", "part"),
    [
        ("voting, classes", "VotingClassifier", "estimators_"),
        ("voting, classes", "VotingClassifier", "named_estimators_"),
        ("stacking, layers", "StackingClassifier", "layers_"),
        ("stacking, layers", "StackingClassifier", "final_estimator_"),
        ("mixture of experts, numbers", "MixtureOfExpertsRegressor", "experts_"),
        ("experts that are given", "MixtureOfExpertsRegressor", "gate_"),
        ("bagging of Bayes", "BaggingClassifier", "estimator_"),
        ("AdaBoost, second level", "AdaBoostClassifier", "final_estimator_"),
        ("selection of trees", "EnsembleSelectionClassifier", "_given"),
        ("dynamic, META-DES of a model", "MetaClassifier", "model"),
        ("dynamic, potential", "SelectionFacts", "trained"),
        ("additive, numbers of estimators", "AdditiveMember", "trained"),
        ("AdaBoost, second level", "SecondLevel", "final"),
        ("bagging, trees", "BagTask", "base"),
    ],
)
@pytest.mark.parametrize("value", [True, "text", [5], Array(np.zeros((2, 2)))])
def test_no_part_may_be_anything(name, kind, part, value, tmp_path):
    graph = graph_of(stored(name), tmp_path)
    assert part in of_kind(graph, kind).parts
    of_kind(graph, kind).parts[part] = value
    refusal(graph, tmp_path)


# Values that are finite and impossible all the same.


@pytest.mark.parametrize("name", ["tree, classes", "bagging, trees"])
@pytest.mark.parametrize("factor", [-1.0, 0.0, 2.0, 1e300])
def test_values_of_trees_that_are_no_probabilities_are_refused(name, factor, tmp_path):
    """Their logarithms were no numbers."""
    graph = graph_of(stored(name), tmp_path)
    forest = of_kind(graph, "Forest")
    forest.parts["value"] = Array(factor * forest.parts["value"].values)
    assert "no probability" in refusal(graph, tmp_path)


@pytest.mark.parametrize("name", ["tree, classes", "bagging, trees"])
def test_probabilities_that_do_not_start_from_zero_are_refused(name, tmp_path):
    graph = graph_of(stored(name), tmp_path)
    forest = of_kind(graph, "Forest")
    forest.parts["start"] = Array(forest.parts["start"].values - 1.0)
    assert "start from zero" in refusal(graph, tmp_path)


def test_class_probabilities_of_learners_that_are_none_are_refused(tmp_path):
    graph = graph_of(woodwind.AdaBoostClassifier(n_estimators=3).fit(NUMBERS, LABELS), tmp_path)
    model = of_kind(graph, "AdaptiveModel")
    model.parts["probabilities"] = Array(-model.parts["probabilities"].values)
    assert "the class probabilities are none" in refusal(graph, tmp_path)


def test_values_of_a_tree_of_others_that_are_no_probabilities_are_neither_loaded_nor_saved(tmp_path):
    graph = graph_of(woodwind.VotingClassifier([("tree", TheirClassifier(max_depth=3))]).fit(NUMBERS, LABELS), tmp_path)
    tree = trained(graph, "sklearn.DecisionTreeClassifier")["tree_"]["dict"]
    tree["values"] = Array(-tree["values"].values)
    assert "no probability" in refusal(graph, tmp_path)
    weight = np.where(np.arange(60) % 7 == 0, -0.5, 1.0)
    odd = TheirClassifier(max_depth=3).fit(NUMBERS, LABELS, sample_weight=weight)
    assert odd.predict_proba(NUMBERS).min() < 0.0
    with pytest.raises(NotStorableError, match="Train it with weights of at least 0"):
        store.save(tmp_path / "odd.ww", odd)


def test_weights_of_members_whose_sum_is_infinite_are_refused(tmp_path):
    members = [("tree", TheirClassifier(max_depth=3)), ("other", TheirClassifier(max_depth=1))]
    vote = woodwind.VotingClassifier(members, voting="hard", weights=[1.0, 2.0]).fit(NUMBERS, LABELS)
    graph = graph_of(vote, tmp_path)
    of_kind(graph, "VotingClassifier").parts["_member_weights"] = Array(np.full(2, 1.7e308))
    assert "members have no weights" in refusal(graph, tmp_path)
    with pytest.raises(ParameterError, match="with a finite sum"):
        vote.set_params(weights=[1.7e308, 1.7e308]).fit(NUMBERS, LABELS)


@pytest.mark.parametrize("part", ["prior", "sums"])
def test_statistics_of_categories_whose_means_are_not_finite_are_refused(part, tmp_path):
    graph = graph_of(stored("encoder"), tmp_path)
    parts = of_kind(graph, "TargetStatistics").parts
    parts["strength"] = Array(np.full_like(parts["strength"].values, 1e-300 if part == "sums" else 120.0))
    parts["counts"] = Array(np.where(parts["counts"].values > 0.0, 1e-300, 0.0))
    parts[part] = Array(np.where(parts[part].values > 0.0, 1.7e308, 0.0))
    assert "mean of a category" in refusal(graph, tmp_path)


def test_a_dictionary_to_draw_parameters_from_is_refused_by_a_file_and_by_fit(tmp_path):
    bag = woodwind.BaggingRegressor(n_estimators=2, param_distributions={"max_depth": [2, 3]}).fit(NUMBERS, TARGET)
    graph = graph_of(bag, tmp_path)
    of_kind(graph, "BagTask").parts["distributions"] = {"dict": {"max_depth": {"dict": {"a": [2, 3]}}}}
    assert "must be a list of values" in refusal(graph, tmp_path)
    for odd in ({"a": 2}, np.array(2), b"23"):
        with pytest.raises(ParameterError, match="must be a list of values"):
            clone(bag).set_params(param_distributions={"max_depth": odd}).fit(NUMBERS, TARGET)


def test_a_threshold_beyond_all_dates_is_written_as_a_number(tmp_path):
    when = np.datetime64("2020-01-01", "s") + np.arange(60).astype("m8[D]")
    graph = graph_of(woodwind.DecisionTreeRegressor(max_depth=1).fit(pd.DataFrame({"when": when}), np.arange(60.0)), tmp_path)
    forest = of_kind(graph, "Forest")
    for far, shown in ((1.7e308, "1699"), (-(2.0**63), "-9223372036854775808"), (np.inf, "inf"), (9e18, "285")):
        forest.parts["threshold"] = Array(np.where(forest.parts["feature"].values >= 0, far, forest.parts["threshold"].values))
        assert f"<= {shown}" in woodwind.load(written(graph, tmp_path)).export_text()


# What is predicted.


def test_predictions_that_are_not_finite_are_an_error_and_no_prediction():
    model = woodwind.GradientBoostingRegressor(n_estimators=3, early_stopping=False).fit(NUMBERS, TARGET)
    model.forest_ = replace(model.forest_, value=np.full_like(model.forest_.value, 1.7e308))
    with pytest.raises(DataError, match=r"GradientBoostingRegressor: what it predicts is not a finite number for 60 of 60 rows, .* row 0"):
        model.predict(NUMBERS)
    for rows in (NUMBERS, NUMBERS[0]):
        with pytest.raises(DataError, match="not a finite number"):
            model.predictor()(rows)
    forest = woodwind.RandomForestRegressor(n_estimators=3).fit(NUMBERS, TARGET)
    forest.compact_forest_ = replace(forest.compact_forest_, mixed=np.full_like(forest.compact_forest_.mixed, 1.7e308), _stops=[])
    for ask in (forest.predict, forest.explain):
        with pytest.raises(DataError, match="not a finite number"):
            ask(NUMBERS)
    with pytest.raises(DataError, match="not finite"):
        forest.predictor()


def test_quantiles_of_a_mixture_that_are_not_finite_are_an_error():
    model = woodwind.MixtureOfExpertsRegressor(n_experts=2, n_init=1, random_state=0).fit(NUMBERS, TARGET)
    assert np.isinf(model.predict_quantiles(NUMBERS, (0.0, 1.0))).all()
    for expert in model.experts_:
        expert.intercept_ = 1.7e308
    with pytest.raises(DataError, match="not a finite number"):
        model.predict_quantiles(NUMBERS, (0.0, 0.5))


SCALED = """
import json, sys, warnings
import numpy as np
import woodwind
warnings.simplefilter("ignore")
np.seterr(all="ignore")
found = {}
for path in sys.argv[2:]:
    model, X = woodwind.load(path), np.array(json.loads(sys.argv[1]))
    try:
        found[path] = bool(np.isfinite(model.predict(X)).all())
    except woodwind.WoodwindError:
        found[path] = True
print(json.dumps(found))
"""


@pytest.mark.filterwarnings("ignore")
def test_numbers_near_the_largest_never_become_predictions_that_are_none(tmp_path):
    """Each of these is finite in the file; what they add up to is not."""
    members = [("line", Ridge()), ("near", KNeighborsRegressor(3))]
    made = [
        woodwind.VotingRegressor(members), woodwind.StackingRegressor(members, cv=2), woodwind.BaggingRegressor(Ridge(), n_estimators=3),
        woodwind.AdditiveRegressor(Ridge(), n_estimators=3), woodwind.AdaBoostRegressor(Ridge(), n_estimators=3),
        woodwind.MixtureOfExpertsRegressor(n_init=1, max_iter=2), woodwind.BayesianLinearAveragingRegressor(n_steps=100),
        woodwind.DynamicSelectionRegressor(members, cv=2), woodwind.EnsembleSelectionRegressor(members, cv=2),
        woodwind.NonNegativeBlender(), woodwind.DecisionTreeRegressor(),
    ]  # fmt: skip
    paths = []
    for number, model in enumerate(made):
        graph = graph_of(model.fit(NUMBERS, TARGET), tmp_path)
        for place in graph.places():
            named = place.name in ("trained", "value", "weights", "coefficients", "coef_", "mixed")
            if named and isinstance(place.value, Array) and place.value.values.dtype.kind == "f":
                place.set(Array(np.where(place.value.values != 0.0, 1.7e308, 0.0), place.value.turned))
        path = tmp_path / f"{number}.ww"
        path.write_bytes(graph.data())
        try:
            woodwind.load(path)
        except ModelFileError:
            continue
        paths.append(str(path))
    assert len(paths) >= 6
    command = [sys.executable, "-c", SCALED, json.dumps(NUMBERS[:4].tolist()), *paths]
    found = json.loads(subprocess.check_output(command, timeout=100))
    assert [path for path, finite in found.items() if not finite] == []


@pytest.mark.parametrize("kind", [woodwind.GradientBoostingRegressor, woodwind.AdaBoostRegressor])
def test_curves_that_a_training_could_not_go_on_with_are_refused(kind, tmp_path):
    model = kind(warm_start=True, n_estimators=2, random_state=0).fit(NUMBERS, TARGET, eval_set=(NUMBERS, TARGET))
    model.evals_result_ = {table: {name: curve[:, None] for name, curve in curves.items()} for table, curves in model.evals_result_.items()}
    with pytest.raises(woodwind.WoodwindError, match="the curve of a metric is none"):
        model.save(tmp_path / "model.ww")
