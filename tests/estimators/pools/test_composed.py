"""Parameters of members by name."""

import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from woodwind.estimators.pools.pool_base import BaseComposition
from woodwind.params.knobs import knobs
from woodwind.params.pools import PoolParams, PrefitParams

X, Y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]


@knobs
class Trio(PoolParams, PrefitParams, BaseComposition, BaseEstimator):
    """A thing with members."""

    _classifies = True


@pytest.mark.parametrize("kind", [dict, list], ids=["dict", "list"])
def test_parameters_of_members_are_parameters_by_name(kind):
    pairs = [("nb", GaussianNB()), ("linear", LogisticRegression(C=3.0))]
    given = kind(pairs)
    model = Trio(estimators=given)
    params = model.get_params()
    assert params["nb"] is pairs[0][1]
    assert params["linear__C"] == 3.0
    assert set(model.get_params(deep=False)) == {"estimators", "prefit"}
    model.set_params(linear__C=5.0, nb="drop")
    assert model.get_params()["linear__C"] == pairs[1][1].C == 5.0
    assert [member.name for member in model._named()] == ["linear"]
    assert given == kind(pairs)  # the list in the user's hand still has its members
    with pytest.raises(ValueError, match="Invalid parameter 'oboe'"):
        model.set_params(oboe=1)


def test_a_member_and_its_parameter_can_be_set_together_and_lists_need_no_names():
    model = Trio(estimators=[GaussianNB(), LogisticRegression()])
    model.set_params(gaussiannb=LogisticRegression(), gaussiannb__C=7.0, logisticregression__C=2.0)
    assert [member.estimator.C for member in model._named()] == [7.0, 2.0]
    model.set_params(estimators=[("b", GaussianNB())], b__var_smoothing=0.5)
    assert model.named_estimators.b.var_smoothing == 0.5


def test_members_of_the_default_pool_can_be_set_by_name():
    model = Trio().set_params(random_forest__n_estimators=7, gradient_boosting="drop")
    assert model.get_params()["random_forest__n_estimators"] == 7
    assert "gradient_boosting" not in [member.name for member in model._named()]
    assert Trio().estimators is None


@pytest.mark.parametrize("kind", [dict, list], ids=["dict", "list"])
def test_a_clone_forgets_what_members_learnt_unless_they_are_taken_as_they_are(kind):
    trained = GaussianNB().fit(X, Y)
    fresh = clone(Trio(estimators=kind([("nb", trained)]))).named_estimators.nb
    assert fresh is not trained
    assert not hasattr(fresh, "classes_")
    for prefit in (True, "auto"):
        assert clone(Trio(estimators=kind([("nb", trained)]), prefit=prefit)).named_estimators.nb is trained
    assert clone(Trio(estimators=kind([("nb", GaussianNB())]), prefit="auto")).named_estimators.nb is not trained


def test_a_notebook_shows_the_members():
    model = Trio(estimators=[("reed", GaussianNB()), ("left", "drop")])
    assert "reed" in model._repr_html_()
    assert "random_forest" in Trio()._repr_html_()
    assert repr(model) == "Trio(estimators=[('reed', GaussianNB()), ('left', 'drop')])"
