"""The methods of dynamic selection: a table of compositions.

A method is a competence, a choice and a mode; the region that a competence looks at comes with the queries, and the combination is the same
for all. Functions name what they want to know, in any order, and are given that by name:

    competence   of facts, region, similar, votes, shares     -> scores (q, m), larger is better
    choose       of these and scores                          -> mask (q, m) of the members that are chosen
    learn        of facts, region, similar, clusters          -> anything, kept as facts.learned

Regions that `learn` is given are those of the selection rows themselves, each without itself. What follows a bare * in signatures are
options of the method, with their defaults. Mode: 'selection' lets the chosen members vote alike, 'weighting' lets all members vote by
their scores, 'hybrid' the chosen ones by their scores.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import DataError, NotStorableError
from woodwind.base.validate import require
from woodwind.selection.choice import above_chance, above_nothing, accuracy_everywhere, all_best, best_share, most_accurate, one_best
from woodwind.selection.choice_competent import competent_and_diverse
from woodwind.selection.choice_diverse import good_and_apart, good_and_apart_in_cluster, hits_of_cluster, learn_clusters
from woodwind.selection.combination import or_alike
from woodwind.selection.competence import (
    behaviour_accuracy,
    class_accuracy,
    close_class_accuracy,
    count_of_hits,
    frienemy_mask,
    hits_of_similar,
    local_accuracy,
    minority_accuracy,
    posterior_accuracy,
    prior_accuracy,
    run_of_hits,
)
from woodwind.selection.competence_confidence import learn_weights_and_size, surest, weighted_confidence
from woodwind.selection.competence_meta import likely_right, probability_of_being_right, train_meta_model
from woodwind.selection.competence_probabilistic import (
    by_potential,
    chance_of_reference,
    entropy_and_hit,
    exponential,
    least_lead,
    logarithmic,
    signed_divergence,
)
from woodwind.selection.competence_regression import (
    better_half,
    count_of_good,
    inverse_error,
    run_of_good,
    small_error,
    softmax_of_error,
)
from woodwind.selection.facts import Floats, Mask, Queries, Region, RegressionFacts, SelectionFacts

Mode = Literal["selection", "weighting", "hybrid"]
Facts = SelectionFacts | RegressionFacts
Options = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Method:
    """One row of the table."""

    title: str
    paper: str
    competence: Callable[..., Any]
    choose: Callable[..., Any] = all_best
    mode: Mode = "selection"
    k: int | None = 7  # rows in a region unless the user says otherwise; None for all selection rows, in no order
    needs_probabilities: bool = False  # members are asked for probabilities
    similar: int | None = None  # so many rows with similar output profiles are looked for; 0 for as many as k
    clusters: int | None = None  # regions are so many clusters of selection rows, not neighbours
    local: bool = True  # whether a region is looked at
    learn: Callable[..., Any] | None = None
    defaults: Options = field(default_factory=dict)  # of options, where they are not those of the functions

    @property
    def options(self) -> dict[str, Any]:
        """The options that the functions of the method have, and their defaults."""
        parts = (self.competence, self.choose, self.learn)
        found = {name: default for part in parts if part is not None for name, default in options_of(part).items()}
        if self.similar:
            found["n_similar"] = self.similar
        if self.clusters:
            found["n_clusters"] = self.clusters
        return found | {name: value for name, value in self.defaults.items() if name in found}

    @property
    def chooses_one(self) -> bool:
        """Whether one member alone is asked, unless several are equally good and all of these are wanted."""
        return self.choose is one_best


@lru_cache(maxsize=256)
def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(function).parameters)


def options_of(function: Callable[..., Any]) -> dict[str, Any]:
    """What follows the bare * in the signature of a function, with the defaults."""
    return {p.name: p.default for p in _parameters(function).values() if p.kind is p.KEYWORD_ONLY}


def with_known(function: Callable[..., Any], known: Mapping[str, Any]) -> Any:
    """What a function gives when it is told all that it names of what is known."""
    return function(**{name: known[name] for name in _parameters(function) if name in known})


def scores_of(method: Method, facts: Facts, queries: Queries, options: Options) -> Floats:
    """How good members are near each query (q, m)."""
    scores = np.asarray(with_known(method.competence, _known(facts, queries, options)))
    wanted = (len(queries), facts.n_members)
    if scores.shape != wanted or scores.dtype.kind not in "biuf" or not _is_finite(scores):
        name = getattr(method.competence, "__name__", repr(method.competence))
        came = "there is NaN or infinity among them" if scores.shape == wanted else f"an array of shape {scores.shape} came"
        raise DataError(f"The competence {name} must give one number for each query and member, {wanted}, but {came}.")
    return scores.astype(np.float64, copy=False)


def _is_finite(predictions: NDArray[Any]) -> bool:
    """Whether there is neither NaN nor infinity. Their sum tells it in a third of the time, unless it is too large itself."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(predictions.sum()) or np.isfinite(predictions).all())


def chosen(method: Method, scores: Floats, facts: Facts, queries: Queries, options: Options) -> Mask:
    """Who is chosen for each query (q, m)."""
    mask: Mask = np.asarray(with_known(method.choose, {**_known(facts, queries, options), "scores": scores}))
    if mask.shape != scores.shape or mask.dtype.kind not in "biuf":
        name, came = getattr(method.choose, "__name__", repr(method.choose)), f"an array of shape {mask.shape} of {mask.dtype} came"
        raise DataError(f"The choice {name} must say for each query and member whether it is asked, {scores.shape}, but {came}.")
    return mask


def _known(facts: Facts, queries: Queries, options: Options) -> dict[str, Any]:
    about = {name: getattr(queries, name) for name in ("region", "similar", "votes", "probabilities")}
    return {"facts": facts} | about | dict(options)


@dataclass(frozen=True, eq=False)
class CompetenceWeights:
    """How good members are near the queries, and how much each one counts."""

    scores: Floats  # (q, m)
    weights: NDArray[Any]  # (q, m) floats, or who is chosen where all those count alike


def competence_weights(
    method: Method, mode: Mode, facts: Facts, queries: Queries, options: Options, prune: bool = False
) -> CompetenceWeights:
    """Score the members, choose among them, and weigh them; `prune` is dynamic frienemy pruning."""
    scores = scores_of(method, facts, queries, options)
    if prune and isinstance(facts, SelectionFacts):
        scores = scores * frienemy_mask(facts, queries.region)
    if mode == "weighting":
        return CompetenceWeights(scores, or_alike(scores))
    mask = chosen(method, scores, facts, queries, options)
    if mode == "selection":
        return CompetenceWeights(scores, mask)
    return CompetenceWeights(scores, np.where((scores * mask != 0.0).any(axis=1, keepdims=True), scores * mask, mask))


def rehearse(method: Method, facts: Facts, options: Options) -> None:
    """Go through a method on some made-up rows: options that cannot be are found before any member is trained."""
    rows = np.arange(facts.n_rows)
    region = Region(np.stack([rows, rows[::-1]], axis=1) if method.clusters is None else rows[:, None] % 2, np.ones((len(rows), 2)))
    clusters = {"clusters": rows % 2}
    probabilities = facts.probabilities if isinstance(facts, SelectionFacts) else None
    if method.learn is not None and isinstance(facts, SelectionFacts):
        facts = facts.learning(with_known(method.learn, {"facts": facts, "region": region, "similar": region, **clusters, **options}))
    votes = facts.votes if isinstance(facts, SelectionFacts) else facts.predictions
    competence_weights(method, method.mode, facts, Queries(votes, probabilities, region, region), {**options})


def rehearse_small(method: Method, n_members: int, n_classes: int, options: Options) -> None:
    """The same for so many members, on four rows that are made up here; no classes for numbers."""
    rows, members = np.arange(4)[:, None], np.arange(n_members)
    facts: Facts = RegressionFacts((rows + members).astype(np.float64), np.zeros(4))
    if n_classes:
        votes = (rows + members) % 2
        facts = SelectionFacts.of(votes, rows[:, 0] // 2, n_classes, np.eye(n_classes)[votes])
    # A meta-classifier of the user would be trained.
    rehearse(method, facts, {name: value for name, value in options.items() if name != "meta_train"})


_LOCAL = "Woods, Kegelmeyer & Bowyer 1997"
_PRIOR = "Giacinto & Roli 1999"
_KNORA = "Ko, Sabourin & Britto 2008"
_POTENTIAL = partial(Method, competence=by_potential, k=None, needs_probabilities=True)
_DRAWN = {"selection_method": "diff"}

METHODS: dict[str, Method] = {
    "ola": Method("Overall local accuracy", _LOCAL, local_accuracy, one_best),
    "lca": Method("Local class accuracy", _LOCAL, class_accuracy, one_best),
    "mla": Method("Modified local accuracy", "Smits 2002", close_class_accuracy, one_best),
    "mcb": Method("Multiple classifier behaviour", "Giacinto & Roli 2001", behaviour_accuracy, one_best, defaults=_DRAWN),
    "rank": Method("Modified classifier rank", "Sabourin et al. 1993; " + _LOCAL, run_of_hits, one_best),
    "a_priori": Method("A priori", _PRIOR, prior_accuracy, one_best, needs_probabilities=True, defaults=_DRAWN),
    "a_posteriori": Method("A posteriori", _PRIOR, posterior_accuracy, one_best, needs_probabilities=True, defaults=_DRAWN),
    "knora_e": Method("KNORA-Eliminate", _KNORA, run_of_hits, all_best),
    "knora_u": Method("KNORA-Union", _KNORA, count_of_hits, above_nothing, mode="weighting"),
    "knop": Method(
        "k-nearest output profiles",
        "Cavalin, Sabourin & Suen 2013",
        hits_of_similar,
        above_nothing,
        mode="weighting",
        needs_probabilities=True,
        similar=0,
    ),
    "meta_des": Method(
        "META-DES",
        "Cruz, Sabourin, Cavalcanti & Ren 2015",
        probability_of_being_right,
        likely_right,
        needs_probabilities=True,
        similar=5,
        learn=train_meta_model,
    ),
    "des_p": Method("DES performance", "Woloszynski et al. 2012", local_accuracy, above_chance),
    "des_kl": _POTENTIAL("DES Kullback-Leibler, as in DESlib", "Woloszynski et al. 2012", choose=above_nothing, learn=entropy_and_hit),
    "kl_divergence": _POTENTIAL("Kullback-Leibler divergence", "Woloszynski et al. 2012", choose=above_nothing, learn=signed_divergence),
    "des_mi": Method("DES for imbalanced classes", "García et al. 2018", minority_accuracy, most_accurate),
    "des_rrc": _POTENTIAL(
        "Randomized reference classifier", "Woloszynski & Kurzynski 2011", choose=above_chance, learn=chance_of_reference
    ),
    "des_knn": Method("DES-KNN", "Soares et al. 2006", local_accuracy, good_and_apart),
    "des_clustering": Method(
        "DES-clustering", "Soares et al. 2006", hits_of_cluster, good_and_apart_in_cluster, clusters=5, learn=learn_clusters
    ),
    "exponential": _POTENTIAL("Exponential", "Antosik & Kurzynski 2011", choose=above_nothing, learn=exponential),
    "logarithmic": _POTENTIAL("Logarithmic", "Antosik & Kurzynski 2011", choose=above_chance, learn=logarithmic),
    "minimum_difference": _POTENTIAL("Minimum difference", "Antosik & Kurzynski 2011", choose=above_nothing, learn=least_lead),
    "confidence": Method(
        "Classification confidence",
        "Li et al. 2013",
        weighted_confidence,
        surest,
        mode="hybrid",
        needs_probabilities=True,
        local=False,
        learn=learn_weights_and_size,
    ),
    "competent_diverse": _POTENTIAL(
        "Competence and diversity", "Lysiak, Kurzynski & Woloszynski 2014", choose=competent_and_diverse, k=20, learn=chance_of_reference
    ),
    "single_best": Method("The best on all selection rows", "", accuracy_everywhere, one_best, local=False),
    "static_selection": Method("The better half on all selection rows", "", accuracy_everywhere, best_share, local=False),
}

_ROONEY = "Rooney et al. 2004"

REGRESSION_METHODS: dict[str, Method] = {
    "local_best": Method("Dynamic selection", _ROONEY, small_error, one_best),
    "weighting": Method("Dynamic weighting", _ROONEY, inverse_error, all_best, mode="weighting"),
    "weighting_selection": Method("Dynamic weighting with selection", _ROONEY, inverse_error, better_half, mode="hybrid"),
    "softmax": Method("Softmax of local errors", "", softmax_of_error, all_best, mode="weighting"),
    "knora_e": Method("KNORA-Eliminate within a tolerance", _KNORA, run_of_good, all_best),
    "knora_u": Method("KNORA-Union within a tolerance", _KNORA, count_of_good, above_nothing, mode="weighting"),
}


class MethodPersister:
    """Methods by name, for the model file: a method of the user's own has none, for it is code."""

    @staticmethod
    def parts(method: Method) -> dict[str, Any]:
        """Its name, and for which task it is."""
        for task, methods in (("classes", METHODS), ("predictions", REGRESSION_METHODS)):
            for name, known in methods.items():
                if known is method:
                    return {"task": task, "name": name}
        raise NotStorableError(f"the method {method.title!r} is your own, and code cannot be kept in a model file.")

    @staticmethod
    def whole(kind: type, parts: dict[str, Any]) -> Method:
        """The method of that name."""
        del kind
        known = {("classes", name): method for name, method in METHODS.items()}
        known |= {("predictions", name): method for name, method in REGRESSION_METHODS.items()}
        name = (parts.get("task"), parts.get("name"))
        require(parts.keys() == {"task", "name"} and all(isinstance(part, str) for part in name) and name in known, "a method is not known")
        return known[name]  # type: ignore[index]
