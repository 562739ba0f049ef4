"""META-DES: learn from the selection rows how to tell whether a member will be right.

A pair of a row and a member is described by five groups of facts; whether the member is right there is what a meta-classifier learns, from
all selection rows and members. At a query its probability of "right" is the competence: R. M. O. Cruz, R. Sabourin, G. D. C. Cavalcanti &
T. I. Ren, "META-DES: a dynamic ensemble selection framework using meta-learning", Pattern Recognition 48 (2015).
The page is docs/algorithms/dynamic-selection-meta.md.

    f1  was it right on the nearest rows (k)               f4  was it right on the rows with similar output profiles (p)
    f2  what did it give to the true class there (k)       f5  how sure is it of its vote now (1)
    f3  its share of hits there (1)
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import DataError
from woodwind.base.validate import require, require_array
from woodwind.kernels.neighbours.regions import meta_odds
from woodwind.selection.facts import Floats, Integers, Mask, Region, SelectionFacts

# The meta-classifier of the framework is a multinomial naive Bayes on facts cut into so many steps: 0 below 0.1, ..., 10 for 1.
EDGES = np.linspace(0.1, 1.0, 10)
STEPS = len(EDGES)
# Pairs of which the facts are written out at a time where a meta-classifier of the user is asked: 21 facts of 200,000 are 34 MB.
BLOCK_PAIRS = 200_000

MetaPredictor = Callable[[Floats], Floats]  # facts (n, f) -> probability of being right (n,)
Train = Callable[[Floats, Mask], MetaPredictor]  # facts (n, f), whether right (n,) -> score


@dataclass(frozen=True, eq=False)
class NaiveBayes:
    """Logarithm of the odds of being right: linear in the steps of the facts."""

    constant: float
    hit: Floats  # (k,) what a hit on the j-th nearest row adds
    share: Floats  # (k,) what each step of the probability of the true class there adds
    accuracy: float  # what each step of the share of hits adds
    similar: Floats  # (p,) what a hit on the j-th row with a similar profile adds
    sure: float  # what each step of sureness adds

    def check(self) -> "NaiveBayes":
        """A near row adds by its hit and by its share; returns self, or raises DataError."""
        require(self.hit.ndim == 1 and self.hit.size > 0 and self.similar.ndim == 1, "nothing is learned of near rows")
        for name in ("hit", "share"):
            require_array(getattr(self, name), self.hit.shape, f"{name} of near rows")
        require(np.isfinite(self.similar), "similar rows add something endless")
        # Where members are always right, or never, the constant is endless.
        require(not np.isnan(self.constant) and np.isfinite([self.accuracy, self.sure]).all(), "what a step adds is no number")
        return self


@dataclass(frozen=True, eq=False)
class MetaModel:
    """What META-DES keeps of the selection rows."""

    codes: NDArray[np.uint8]  # (r, m) a hit as 16, plus the probability of the true class in steps
    bayes: NaiveBayes | None
    meta_classifier: MetaPredictor | None  # of a meta-classifier that was given instead

    def check(self) -> "MetaModel":
        """Codes are as they are made: kernels count by them. Returns self, or raises DataError."""
        require(self.codes.ndim == 2 and (self.codes < 32).all() and ((self.codes & 15) <= STEPS).all(), "what is known of members is none")
        require((self.bayes is None) != (self.meta_classifier is None), "nobody knows how members are scored")
        return self


def train_meta_model(
    facts: SelectionFacts, region: Region, similar: Region, *, max_consensus: float = 1.0, meta_train: Train | None = None
) -> MetaModel:
    """Train the meta-classifier on the selection rows; `region` and `similar` hold the rows that are like each of them, itself left out.

    Rows on which more than `max_consensus` of the members vote alike teach little, and are left out.
    """
    used = np.flatnonzero(consensus(facts.votes, facts.n_classes) <= max_consensus)
    if used.size == 0:
        raise DataError(f"On every selection row more than max_consensus={max_consensus} of the members vote alike. Give more.")
    codes = (facts.hits.astype(np.uint8) << np.uint8(4)) | in_steps(facts.true_class_probabilities)
    at, near, like = used, region.at(used), similar.at(used)
    sure = sureness(_probabilities(facts.probabilities)[at])
    if meta_train is not None:
        meta_classifier = meta_train(described(facts, near, like, sure), facts.hits[at].reshape(-1))
        return MetaModel(codes, None, meta_classifier)
    return MetaModel(codes, bayes_of(facts, near, like, sure, facts.hits[at]), None)


def probability_of_being_right(facts: SelectionFacts, region: Region, similar: Region, probabilities: Floats) -> Floats:
    """What the meta-classifier predicts for each member at each query (q, m)."""
    trained: MetaModel = facts.trained
    if trained.meta_classifier is not None:
        return _scored(trained.meta_classifier, facts, region, similar, sureness(_probabilities(probabilities)))
    if trained.bayes is None:
        raise DataError("META-DES has learned nothing yet.")
    odds = log_odds(trained.bayes, trained.codes, region.rows(), similar.rows(), _probabilities(probabilities))
    np.negative(odds, out=odds)
    with np.errstate(over="ignore"):  # exp of much is infinite, and the probability then zero
        np.exp(odds, out=odds)
    odds += 1.0
    return np.asarray(np.reciprocal(odds, out=odds))


def likely_right(scores: Floats, *, selection_threshold: float = 0.5) -> Mask:
    """Members with a larger probability than the threshold; all where there is none."""
    mask = scores > selection_threshold
    return np.asarray(mask | ~mask.any(axis=1, keepdims=True))


# Facts about a row and a member.


def consensus(votes: Integers, n_classes: int) -> Floats:
    """The share of members that vote for the class with the most votes (r,)."""
    return np.asarray(np.max([(votes == label).mean(axis=1) for label in range(n_classes)], axis=0))


def sureness(probabilities: Floats) -> Floats:
    """What a member gives to the class it votes for (q, m)."""
    return np.asarray(probabilities.max(axis=2))


def in_steps(values: Floats) -> NDArray[np.uint8]:
    """Values in steps 0 .. 10."""
    return np.digitize(values, EDGES).astype(np.uint8)


def described(facts: SelectionFacts, region: Region, similar: Region, sure: Floats) -> Floats:
    """The facts of all pairs of a row and a member (q * m, 2 k + p + 2): f1 to f5, members of the first row first."""
    near, like = region.rows(), similar.rows()
    hits = facts.hits[near].swapaxes(1, 2).astype(np.float64)
    parts = (
        hits,
        facts.true_class_probabilities[near].swapaxes(1, 2),
        hits.mean(axis=2, keepdims=True),
        facts.hits[like].swapaxes(1, 2).astype(np.float64),
        sure[:, :, None],
    )
    return np.concatenate(parts, axis=2).reshape(sure.size, -1)


# The naive Bayes, in closed form.


def bayes_of(facts: SelectionFacts, region: Region, similar: Region, sure: Floats, right: Mask) -> NaiveBayes:
    """Multinomial naive Bayes with one count added to each fact, as odds.

    The probability of fact j in a class is its share of all steps in that class; a pair with x_j steps of each has the odds
    (prior odds) * product of (probability if right / probability if wrong) ** x_j.
    """
    steps = in_steps(facts.true_class_probabilities)
    near, like = region.rows(), similar.rows()
    hits = [facts.hits[near[:, j]] for j in range(region.k)]
    counts = sum((np.asarray(hit, np.int64) for hit in hits), np.zeros(right.shape, np.int64))
    found: list[NDArray[np.integer]] = [STEPS * hit.astype(np.int64) for hit in hits]
    found += [steps[near[:, j]].astype(np.int64) for j in range(region.k)]
    found += [_accuracy_steps(region.k)[counts]]
    found += [STEPS * facts.hits[like[:, j]].astype(np.int64) for j in range(similar.k)]
    found += [in_steps(sure).astype(np.int64)]
    of_right = np.array([part[right].sum() for part in found], np.float64) + 1.0
    of_wrong = np.array([part[~right].sum() for part in found], np.float64) + 1.0
    ratio = np.log(of_right / of_right.sum()) - np.log(of_wrong / of_wrong.sum())
    n_right = int(right.sum())
    with np.errstate(divide="ignore"):  # members that are always right, or never: the odds are infinite
        prior = float(np.log(n_right) - np.log(right.size - n_right))
    k, p = region.k, similar.k
    return NaiveBayes(prior, STEPS * ratio[:k], ratio[k : 2 * k], float(ratio[2 * k]), STEPS * ratio[2 * k + 1 :][:p], float(ratio[-1]))


def log_odds(bayes: NaiveBayes, codes: NDArray[np.uint8], near: Integers, like: Integers, probabilities: Floats) -> Floats:
    """What all facts say (q, m), neighbour by neighbour, without writing them out."""
    # Classes with few rows may give other numbers of neighbours to a query than to the selection rows that were trained on.
    near, like = near[:, : len(bayes.hit)], like[:, : len(bayes.similar)]
    positions = np.zeros((near.shape[1] + like.shape[1], 2))
    positions[:, 0] = np.concatenate([bayes.hit[: near.shape[1]], bayes.similar[: like.shape[1]]])
    positions[: near.shape[1], 1] = bayes.share[: near.shape[1]]
    accuracy = bayes.constant + bayes.accuracy * _accuracy_steps(near.shape[1])
    sure = np.stack([np.append(EDGES, np.inf), bayes.sure * np.arange(STEPS + 1)])
    out = np.empty(probabilities.shape[:2])
    meta_odds(
        codes, np.ascontiguousarray(near), np.ascontiguousarray(like), np.ascontiguousarray(probabilities), positions, accuracy, sure, out
    )
    return out


def _accuracy_steps(k: int) -> NDArray[np.int64]:
    """Steps of the share of hits, by their number 0 .. k."""
    return np.digitize(np.arange(k + 1) / k, EDGES).astype(np.int64)


def _scored(meta_classifier: MetaPredictor, facts: SelectionFacts, region: Region, similar: Region, sure: Floats) -> Floats:
    out = np.empty(sure.shape)
    block = max(1, BLOCK_PAIRS // facts.n_members)
    for first in range(0, len(sure), block):
        some = slice(first, first + block)
        told = described(facts, region.at(some), similar.at(some), sure[some])
        out[some] = meta_classifier(told).reshape(-1, facts.n_members)
    return out


def _probabilities(probabilities: Floats | None) -> Floats:
    if probabilities is None:
        raise DataError("META-DES needs probabilities of all members, and there are votes only.")
    return probabilities
