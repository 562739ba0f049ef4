"""Clusters of members."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score

from woodwind.base.errors import ParameterError
from woodwind.selection.clusters import MemberClusters, clustered, k_means, numbers_to_try, silhouette
from woodwind.selection.member_selection import single_scores
from woodwind.selection.objectives import objective_of, squared_distances


def three_kinds(seed=0, n=60):
    """Eight members of three kinds, which differ by a little."""
    rng = np.random.default_rng(seed)
    kinds = rng.normal(size=(n, 3)) * 2
    labels = np.array([0, 1, 0, 2, 1, 1, 2, 0])
    return kinds[:, labels] + rng.normal(size=(n, 8)) * 0.2, kinds.mean(axis=1), labels


@pytest.mark.parametrize("linkage", ["average", "kmeans"])
@pytest.mark.parametrize("how_many", ["silhouette", 3])
def test_members_of_a_kind_are_found(linkage, how_many):
    predicted, truth, labels = three_kinds()
    squared = squared_distances(predicted)
    parting = MemberClusters(squared, linkage)
    assert (parting.into(3) if how_many == 3 else parting.by_silhouette()).tolist() == labels.tolist()
    objective = objective_of(predicted, truth, "squared_error")
    found = clustered(objective, squared, how_many, linkage=linkage)
    alone = single_scores(objective)
    wanted = {int(members[alone[members].argmax()]) for members in (np.flatnonzero(labels == kind) for kind in range(3))}
    assert set(found.order.tolist()) == wanted
    assert (np.diff(alone[found.order]) <= 0.0).all()
    assert found.weights[found.order] == pytest.approx([1 / 3] * 3)


def test_by_hand():
    """Of 0, 1, 10 and 12 the closest two are 0 and 1, then 10 and 12. Silhouettes are 1 - 1/11, 1 - 1/10, 1 - 2/9.5 and 1 - 2/11.5."""
    squared = squared_distances(np.array([[0.0, 1.0, 10.0, 12.0]]))
    assert np.sqrt(squared[0]).tolist() == pytest.approx([0, 1, 10, 12])
    labels = MemberClusters(squared).into(2)
    assert labels.tolist() == [0, 0, 1, 1]
    assert silhouette(np.sqrt(squared), labels) == pytest.approx(1 - (1 / 11 + 1 / 10 + 2 / 9.5 + 2 / 11.5) / 4)
    assert k_means(squared, 2, 0)[0] == k_means(squared, 2, 0)[1]


@pytest.mark.parametrize("k", [2, 4, 7])
def test_clusters_of_k_means_are_as_tight_as_those_of_scikit_learn(k):
    rng = np.random.default_rng(k)
    points = rng.normal(size=(2, 40)) * np.geomspace(0.1, 3, 40) + np.linspace(0, 4, 40)  # some close together, some far apart
    labels = k_means(squared_distances(points), k, seed=0)
    means = np.stack([points[:, labels == cluster].mean(axis=1) for cluster in range(k)], axis=1)
    to_means = ((points[:, :, None] - means[:, None, :]) ** 2).sum(axis=0)
    assert np.array_equal(to_means.argmin(axis=1), labels)
    theirs = KMeans(k, n_init=8, random_state=0).fit(points.T)
    assert to_means.min(axis=1).sum() <= 1.05 * theirs.inertia_


def test_the_silhouette_is_that_of_scikit_learn():
    predicted, _, labels = three_kinds()
    labels = np.append(labels[:-1], 3)  # one alone
    distances = np.sqrt(squared_distances(predicted))
    assert silhouette(distances, labels) == pytest.approx(silhouette_score(distances, labels, metric="precomputed"))


@pytest.mark.parametrize("linkage", ["average", "kmeans"])
def test_any_number_of_clusters_can_be_asked_for(linkage):
    predicted, truth, _ = three_kinds()
    squared = squared_distances(predicted)
    objective = objective_of(predicted, truth, "squared_error")
    for how_many in range(1, 9):
        assert len(clustered(objective, squared, how_many, linkage=linkage).order) == how_many
    assert clustered(objective, squared, 1).order.tolist() == [single_scores(objective).argmax()]
    assert sorted(clustered(objective, squared, 8).order.tolist()) == list(range(8))
    with pytest.raises(ParameterError, match="1 to 8 clusters, not into 9"):
        MemberClusters(squared).into(9)


@pytest.mark.parametrize("linkage", ["average", "kmeans"])
def test_as_many_clusters_as_score_best(linkage):
    predicted, truth, _ = three_kinds()
    squared = squared_distances(predicted)
    objective = objective_of(predicted, truth, "squared_error")
    scores = [clustered(objective, squared, how_many, linkage=linkage).score for how_many in range(1, 9)]
    found = clustered(objective, squared, linkage=linkage)
    assert found.path.tolist() == scores
    assert found.score == max(scores)
    assert len(found.order) == 3


def test_not_all_numbers_of_many_clusters_are_tried():
    assert numbers_to_try(64).tolist() == list(range(1, 65))
    some = numbers_to_try(500)
    assert (some[0], some[-1]) == (1, 500)
    assert len(some) <= 64


@pytest.mark.parametrize("linkage", ["average", "kmeans"])
def test_copies_are_one_cluster(linkage):
    assert MemberClusters(np.zeros((4, 4)), linkage).by_silhouette().tolist() == [0, 0, 0, 0]
    assert MemberClusters(np.zeros((1, 1)), linkage).by_silhouette().tolist() == [0]
    assert MemberClusters(1.0 - np.eye(2), linkage).by_silhouette().tolist() == [0, 1]
    assert MemberClusters(np.zeros((1, 1)), linkage).into(1).tolist() == [0]
    assert len(set(MemberClusters(np.zeros((4, 4)), linkage).into(3).tolist())) == 3
