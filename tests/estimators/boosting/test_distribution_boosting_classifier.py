"""Natural-gradient boosting of classes."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.metrics import log_loss

import woodwind
from woodwind import DistributionBoostingClassifier, GradientBoostingClassifier
from woodwind.base.errors import ParameterError
from woodwind.distributions import CategoricalDistribution


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_the_natural_gradient_of_classes_is_that_of_the_whole_information(n_classes):
    family, rng = CategoricalDistribution(n_classes), np.random.default_rng(0)
    raw = rng.normal(size=(50, n_classes - 1))
    gradient = family.gradient(rng.integers(0, n_classes, 50).astype(float), raw)
    information = family.information(raw).reshape(50, n_classes - 1, n_classes - 1)
    np.testing.assert_allclose(
        family.natural_gradient(gradient, raw), np.linalg.solve(information, gradient[:, :, None])[:, :, 0], atol=1e-12, rtol=1e-12
    )
    np.testing.assert_allclose(family.information_diagonal(raw), np.einsum("nkk->nk", information), rtol=1e-12)


def test_a_row_of_two_classes_worked_by_hand():
    # p = 1/4 for the second class: the gradient of a row of it is -3/4, its information 3/16, the natural gradient -4.
    family, raw = CategoricalDistribution(), np.array([[-np.log(3.0)]])
    gradient = family.gradient(np.array([1.0]), raw)
    np.testing.assert_allclose([gradient[0, 0], family.information(raw)[0, 0]], [-0.75, 0.1875], rtol=1e-14)
    np.testing.assert_allclose(family.natural_gradient(gradient, raw), [[-4.0]], rtol=1e-14)


@pytest.mark.parametrize(
    "options", [{}, {"natural_gradient": False}, {"multi_output": "one_per_parameter"}, {"line_search": True}, {"max_bins": None}]
)
def test_classes_are_learned(options):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = DistributionBoostingClassifier(n_estimators=100, learning_rate=0.1, random_state=0, **options).fit(X[::2], names[::2])
    p = model.predict_proba(X[1::2])
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert log_loss(names[1::2], p) < 0.35
    assert model.score(X[1::2], names[1::2]) > 0.9
    assert (model.classes_[model.decision_function(X).argmax(axis=1)] == model.predict(X)).all()
    assert model.decision_function(X).shape == (150, 3)


def test_two_classes_are_predicted_about_as_well_as_by_newton_steps():
    X, y = make_classification(2_000, 8, n_informative=5, flip_y=0.1, random_state=0)
    ours = DistributionBoostingClassifier(random_state=0).fit(X[:1000], y[:1000])
    newton = GradientBoostingClassifier(random_state=0).fit(X[:1000], y[:1000])
    scores = [log_loss(y[1000:], model.predict_proba(X[1000:])) for model in (ours, newton)]
    assert scores[0] < 1.15 * scores[1]
    assert ours.decision_function(X).shape == (2_000,)
    assert ((ours.decision_function(X) > 0.0) == (ours.predict(X) == 1)).all()


def test_a_model_of_classes_comes_back_from_its_file(tmp_path):
    X, y = load_iris(return_X_y=True)
    model = DistributionBoostingClassifier(n_estimators=5, random_state=0).fit(X, y)
    model.save(tmp_path / "m.ww")
    assert (woodwind.load(tmp_path / "m.ww").predict_proba(X) == model.predict_proba(X)).all()


def test_what_is_not_for_distributions_is_refused_for_classes_too():
    X, y = load_iris(return_X_y=True)
    for options, words in [
        ({"boosting": "ordered"}, "ordered"),
        ({"linear_leaves": True}, "linear_leaves"),
    ]:
        with pytest.raises(ParameterError, match=words):
            DistributionBoostingClassifier(**options).fit(X, y)
