"""Every method against the frozen answers of DESlib on fixed pools: tests/data/dynamic_selection/README.md.

Labels are compared on all queries but those where luck or the last digit decides; where a lot is drawn, the answer must be one of those
that the lot could give. Where DESlib turns the order of the classes around, the class with the largest sum must win.
"""

import numpy as np
import pytest

from tests.selection.deslib_answers import cases
from woodwind.selection.choice import (
    above_chance,
    above_nothing,
    accuracy_everywhere,
    all_best,
    best_share,
    most_accurate,
    one_best,
    oracle_labels,
)
from woodwind.selection.choice_diverse import apartness, good_and_apart, good_and_apart_in_cluster, hits_of_cluster, learn_clusters
from woodwind.selection.combination import class_totals, probability_totals
from woodwind.selection.competence import (
    behaviour_accuracy,
    class_accuracy,
    class_counts,
    close_class_accuracy,
    count_of_hits,
    frienemy_mask,
    hardness,
    hits_of_similar,
    local_accuracy,
    minority_accuracy,
    posterior_accuracy,
    prior_accuracy,
    run_of_hits,
)
from woodwind.selection.competence_meta import likely_right, probability_of_being_right, train_meta_model
from woodwind.selection.competence_probabilistic import (
    by_potential,
    chance_of_reference,
    entropy_and_hit,
    exponential,
    least_lead,
    logarithmic,
)
from woodwind.selection.facts import Queries, Region, SelectionFacts
from woodwind.selection.methods import Method, chosen, scores_of, with_known

SOURCES = {
    "RRC": (chance_of_reference, above_chance),
    "DESKL": (entropy_and_hit, above_nothing),
    "Logarithmic": (logarithmic, above_chance),
    "Exponential": (exponential, above_nothing),
    "MinimumDifference": (least_lead, above_nothing),
}
METHODS = {
    "OLA": Method("", "", local_accuracy, one_best),
    "LCA": Method("", "", class_accuracy, one_best),
    "MLA": Method("", "", close_class_accuracy, one_best),
    "MCB": Method("", "", behaviour_accuracy, one_best),
    "Rank": Method("", "", run_of_hits, one_best),
    "APriori": Method("", "", prior_accuracy, one_best),
    "APosteriori": Method("", "", posterior_accuracy, one_best),
    "KNORAE": Method("", "", run_of_hits, all_best),
    "KNORAU": Method("", "", count_of_hits, above_nothing, mode="weighting"),
    "KNOP": Method("", "", hits_of_similar, above_nothing, mode="weighting"),
    "DESP": Method("", "", local_accuracy, above_chance),
    "DESMI": Method("", "", minority_accuracy, most_accurate),
    "METADES": Method("", "", probability_of_being_right, likely_right, learn=train_meta_model),
    "DESKNN": Method("", "", local_accuracy, good_and_apart),
    "DESClustering": Method("", "", hits_of_cluster, good_and_apart_in_cluster, learn=learn_clusters),
    **{name: Method("", "", by_potential, choose, k=None, learn=learn) for name, (learn, choose) in SOURCES.items()},
}
LISTS = {"DF": "double_fault", "Q": "q", "ratio": "ratio_of_errors"}


# Regions by brute force: the plainest way there is.


def distances(queries, rows):
    return np.sqrt(((queries[:, None, :] - rows[None, :, :]) ** 2).sum(axis=2))


def nearest(table, far, k, alike):
    """The k nearest of the columns of `far`; `alike`: as many of each class as can be, the rest by distance (KNN-E)."""
    if not alike:
        rows = np.argsort(far, axis=1, kind="stable")[:, :k]
        return Region(rows, np.take_along_axis(far, rows, axis=1))
    each, rest = divmod(k, table.n_classes)
    first, last = [], []
    for label in range(table.n_classes):
        of_class = np.flatnonzero(table.y_selection == label)
        order = of_class[np.argsort(far[:, of_class], axis=1, kind="stable")]
        first.append(order[:, :each])
        last.append(order[:, each : each + 1])
    rows = in_order(np.concatenate(first, axis=1), far)
    if rest:
        rows = np.concatenate([rows, in_order(np.concatenate(last, axis=1), far)[:, :rest]], axis=1)
    return Region(rows, np.take_along_axis(far, rows, axis=1))


def in_order(rows, far):
    return np.take_along_axis(rows, np.argsort(np.take_along_axis(far, rows, axis=1), axis=1, kind="stable"), axis=1)


def profiles(probabilities):
    """Two classes: what is given to the first; more: what is given to all."""
    return probabilities[:, :, 0] if probabilities.shape[2] == 2 else probabilities.reshape(len(probabilities), -1)


def without_itself(region):
    """Regions of the selection rows themselves: each is its own nearest row."""
    assert (region.neighbours[:, 0] == np.arange(len(region))).all()
    return Region(region.neighbours[:, 1:], region.distances[:, 1:])


# A case, from facts to answers.


def facts_of(table):
    return SelectionFacts.of(table.votes_selection, table.y_selection, table.n_classes, table.shares_selection)


def queries_of(case, k):
    """What is known of the queries; and of the selection rows, for methods that learn from their neighbours."""
    table, alike = case.table, case.params.get("knne", False)
    far = distances(table.X_query, table.X_selection)
    if case.kind == "DESClustering":
        positions = case.clusters[len(table.y_selection) :][:, None]
        return Queries(table.votes_query, table.shares_query, Region(positions, np.zeros(positions.shape))), {
            "clusters": case.clusters[: len(table.y_selection)]
        }
    if k is None:
        region, own = Region(None, far), None
    else:
        region = nearest(table, far, k, alike)
        own = lambda: without_itself(nearest(table, distances(table.X_selection, table.X_selection), k + 1, alike))  # noqa: E731
    if case.kind not in ("KNOP", "METADES"):
        return Queries(table.votes_query, table.shares_query, region), {}
    p = k if case.kind == "KNOP" else case.params.get("Kp", 5)
    predicted, asked = profiles(table.shares_selection), profiles(table.shares_query)
    similar = nearest(table, distances(asked, predicted), p, alike)
    learning = {}
    if case.kind == "METADES":
        learning = {"region": own(), "similar": without_itself(nearest(table, distances(predicted, predicted), p + 1, alike))}
    return Queries(table.votes_query, table.shares_query, region, similar), learning


def options_of(case):
    """The parameters of DESlib in our words."""
    kept = ("selection_method", "similarity_threshold", "selection_threshold", "alpha", "pct_accuracy", "pct_diversity", "more_diverse")
    options = {name: case.params[name] for name in kept if name in case.params}
    metric = case.params.get("metric", case.params.get("metric_diversity"))
    if metric is not None:
        options["diversity"] = LISTS[metric]
    if metric == "Q":
        # DESlib takes the highest Q for the most diverse, which is the least diverse.
        options["more_diverse"] = not options.get("more_diverse", True)
    return options


def scored(case):
    """The queries, facts and scores before pruning."""
    method = METHODS[case.kind]
    facts, options = facts_of(case.table), options_of(case)
    queries, learning = queries_of(case, case.params.get("k", method.k))
    if method.learn is not None:
        facts = facts.learning(with_known(method.learn, {"facts": facts} | learning | options))
    return method, facts, queries, options, scores_of(method, facts, queries, options)


def answered(case):
    """Labels of all queries, who came to selection, the scores that decided, and who was chosen."""
    table = case.table
    method, facts, queries, options, scores = scored(case)
    labels = table.votes_query[:, 0].copy()
    asked = (table.votes_query != labels[:, None]).any(axis=1)
    if case.params.get("with_IH"):
        near = nearest(table, distances(table.X_query, table.X_selection), case.params.get("safe_k", 7), False)
        counts = class_counts(facts.truth, near.rows(), facts.n_classes)
        easy = asked & (hardness(counts) < case.params["IH_rate"])
        labels[easy] = counts.argmax(axis=1)[easy]
        asked &= ~easy
    if case.params.get("DFP"):
        scores = scores * frienemy_mask(facts, queries.region)
    mask = chosen(method, scores, facts, queries, options)
    mode = case.params.get("mode", method.mode)
    weights = scores if mode == "weighting" else mask if mode == "selection" else mask * scores
    if case.params.get("voting", "hard") == "hard":
        totals = class_totals(queries.votes, weights, facts.n_classes)
    else:
        totals = probability_totals(queries.probabilities, weights)
    labels[asked] = totals.argmax(axis=1)[asked]
    return labels, asked, scores, mask, totals


STATIC = ("SingleBest", "StaticSelection", "Oracle", "StackedClassifier")
DYNAMIC = [name for name, case in cases().items() if case.kind not in STATIC]
LOTS = ("diff", "random")
DRAWN = [name for name in DYNAMIC if cases()[name].params.get("selection_method") in LOTS and cases()[name].chance.any()]
SCORED = [name for name in DYNAMIC if cases()[name].competence is not None]


@pytest.mark.parametrize("name", ["two", "three"])
def test_regions_are_those_of_deslib(name):
    table = next(case.table for key, case in cases().items() if key.endswith(f"on {name}"))
    far = distances(table.X_query, table.X_selection)
    assert (nearest(table, far, 7, False).neighbours == table.neighbours).all()
    assert (nearest(table, far, 7, True).neighbours == table.neighbours_knne).all()


@pytest.mark.parametrize("name", SCORED)
def test_competences_are_those_of_deslib(name):
    case = cases()[name]
    _, facts, queries, options, scores = scored(case)
    if case.kind == "DESClustering":
        assert facts.trained.accuracy == pytest.approx(case.competence, abs=1e-6)
        assert facts.trained.diversity == pytest.approx(case.diversity, abs=1e-5)
        return
    found = scores[case.asked]
    if case.kind == "DESMI":
        # DESlib does not bring weights as small as these to a sum of one.
        found, theirs = (part / part.max(axis=1, keepdims=True) for part in (found, case.competence))
        assert found == pytest.approx(theirs, abs=1e-5)
        return
    assert found == pytest.approx(case.competence, rel=1e-5, abs=1e-6)
    if case.kind == "DESKNN":
        hits = facts.hits[queries.region.rows()[case.asked]]
        assert apartness(hits, options.get("diversity", "double_fault")) == pytest.approx(case.diversity, abs=1e-5)


@pytest.mark.parametrize("name", DYNAMIC)
def test_answers_are_those_of_deslib(name):
    case = cases()[name]
    labels, asked, _, mask, totals = answered(case)
    assert (asked == case.asked).all()
    sure = ~case.chance & ~case.turned
    assert (labels == case.labels)[sure].all()
    if case.selected is not None:
        drawn = case.params.get("selection_method") in LOTS
        assert drawn or (mask == case.selected)[asked & sure].all()
    for position in np.flatnonzero(case.turned):
        assert totals[position, labels[position]] == totals[position].max()
        assert totals[position].sum() < 0.0


@pytest.mark.parametrize("name", DRAWN)
def test_what_is_drawn_could_have_been_drawn_by_deslib(name):
    case = cases()[name]
    labels, _, scores, _, _ = answered(case)
    gap = scores.max(axis=1, keepdims=True) - scores
    candidates = gap < 0.1 if case.params["selection_method"] == "diff" else gap < 1e-9
    for position in np.flatnonzero(case.chance):
        could = set(case.table.votes_query[position, candidates[position]])
        assert {labels[position], case.labels[position]} <= could


def test_all_classes_of_deslib_are_there():
    assert {case.kind for case in cases().values()} == set(METHODS) | set(STATIC)
    assert len(set(METHODS) | set(STATIC)) == 24


@pytest.mark.parametrize("name", [name for name in cases() if cases()[name].kind in ("SingleBest", "StaticSelection")])
def test_choices_for_all_queries_are_those_of_deslib(name):
    case = cases()[name]
    facts = facts_of(case.table)
    scores = accuracy_everywhere(facts, case.table.votes_query)
    mask = best_share(scores, **(case.params if case.kind == "StaticSelection" else {"pct_classifiers": 0.1}))
    labels = class_totals(case.table.votes_query, mask, facts.n_classes).argmax(axis=1)
    assert (labels == case.labels)[~case.chance].all()


@pytest.mark.parametrize("name", [name for name in cases() if cases()[name].kind == "Oracle"])
def test_the_oracle_is_that_of_deslib(name):
    case = cases()[name]
    labels = oracle_labels(case.table.votes_query, case.table.y_query)
    assert (labels == case.labels).all()
    best = (labels == case.table.y_query).mean()
    others = [(other.labels == case.table.y_query).mean() for other in cases().values() if other.table is case.table]
    assert best == max(others)
