"""META-DES. Against DESlib: test_against_deslib.py."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB

from woodwind.base.errors import DataError
from woodwind.selection.competence_meta import (
    EDGES,
    consensus,
    described,
    likely_right,
    probability_of_being_right,
    sureness,
    train_meta_model,
)
from woodwind.selection.facts import Region, SelectionFacts


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(0)
    probabilities = rng.dirichlet([1.5, 1.0, 0.7], (50, 6))
    facts = SelectionFacts.of(probabilities.argmax(axis=2), rng.integers(0, 3, 50), 3, probabilities)
    own = [Region(np.array([rng.permutation(50)[:k] for _ in range(50)]), np.ones((50, k))) for k in (4, 3)]
    asked = [Region(rng.integers(0, 50, (20, k)), np.ones((20, k))) for k in (4, 3)]
    return facts, own, asked, rng.dirichlet([1.0, 1.0, 1.0], (20, 6))


def test_facts_of_a_pair_are_what_they_are_called(case):
    facts, _, (region, similar), probabilities = case
    told = described(facts, region, similar, sureness(probabilities)).reshape(20, 6, -1)
    near, like = region.neighbours[7], similar.neighbours[7]
    hits, given = facts.hits[near, 2].astype(float), facts.probabilities[near, 2, facts.truth[near]]
    assert told[7, 2] == pytest.approx([*hits, *given, hits.mean(), *facts.hits[like, 2].astype(float), probabilities[7, 2].max()])


def test_the_bayes_is_the_multinomial_one_of_scikit_learn(case):
    facts, (near, like), (region, similar), probabilities = case
    trained = facts.learning(train_meta_model(facts, near, like))
    theirs = MultinomialNB()
    theirs.fit(np.digitize(described(facts, near, like, sureness(facts.probabilities)), EDGES), facts.hits.reshape(-1))
    asked = np.digitize(described(facts, region, similar, sureness(probabilities)), EDGES)
    wanted = theirs.predict_proba(asked)[:, 1].reshape(20, 6)
    assert probability_of_being_right(trained, region, similar, probabilities) == pytest.approx(wanted, abs=1e-12)


def test_another_meta_classifier_may_be_given(case, monkeypatch):
    facts, (near, like), (region, similar), probabilities = case

    def train(told, right):
        model = LogisticRegression().fit(told, right)
        return lambda asked: model.predict_proba(asked)[:, 1]

    trained = facts.learning(train_meta_model(facts, near, like, meta_train=train))
    whole = probability_of_being_right(trained, region, similar, probabilities)
    direct = train(described(facts, near, like, sureness(facts.probabilities)), facts.hits.reshape(-1))
    assert whole == pytest.approx(direct(described(facts, region, similar, sureness(probabilities))).reshape(20, 6))
    monkeypatch.setattr("woodwind.selection.competence_meta.BLOCK_PAIRS", 40)
    assert probability_of_being_right(trained, region, similar, probabilities) == pytest.approx(whole)


def test_rows_of_much_consensus_may_be_left_out(case):
    facts, (near, like), _, _ = case
    alike = consensus(facts.votes, 3)
    assert alike[0] == np.bincount(facts.votes[0]).max() / 6
    seen = []
    train_meta_model(facts, near, like, max_consensus=0.5, meta_train=lambda told, right: seen.append(len(right)))
    assert seen == [6 * (alike <= 0.5).sum()]
    with pytest.raises(DataError, match=r"max_consensus=0\.1"):
        train_meta_model(facts, near, like, max_consensus=0.1)


def test_members_that_are_always_right_are_chosen_for_sure(case):
    facts, (near, like), (region, similar), probabilities = case
    sure = SelectionFacts.of(facts.truth[:, None].repeat(6, axis=1), facts.truth, 3, facts.probabilities)
    sure = sure.learning(train_meta_model(sure, near, like))
    assert (probability_of_being_right(sure, region, similar, probabilities) == 1.0).all()


def test_all_are_asked_where_nobody_is_likely_to_be_right():
    scores = np.array([[0.4, 0.5, 0.6], [0.1, 0.2, 0.5]])
    assert likely_right(scores).tolist() == [[False, False, True], [True, True, True]]
    assert likely_right(scores, selection_threshold=0.45).tolist() == [[False, True, True], [False, False, True]]
