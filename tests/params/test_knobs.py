"""An estimator declared with knobs is an ordinary scikit-learn estimator."""

import dataclasses
import inspect
import pickle
from typing import Annotated, Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone

import woodwind
from woodwind.params.groups import BinParams, BoostParams, RunParams, StopParams, TreeParams
from woodwind.params.knobs import at_least, first, knobs, one_of


@knobs
class Example(BoostParams, TreeParams, BinParams, StopParams, RunParams, RegressorMixin, BaseEstimator):
    """An example.

    {parameters}
    """

    loss: Annotated[str, one_of("squared_error", "huber"), "What is minimised."] = "squared_error"
    max_bins = 63
    n_estimators: Annotated[int, at_least(10), "Another declaration."] = 20

    def fit(self, X, y):
        return self


def test_signature_shows_every_parameter_with_its_real_default():
    parameters = inspect.signature(Example).parameters
    assert len(parameters) == sum(len(dataclasses.fields(g)) for g in (BoostParams, TreeParams, BinParams, StopParams, RunParams)) + 1
    assert {p.kind for p in parameters.values()} == {inspect.Parameter.KEYWORD_ONLY}
    made = Example()
    assert all(getattr(made, name) is p.default for name, p in parameters.items())
    assert parameters["max_depth"].annotation == int | None  # without the bounds and words, which the docstring has


def test_parameters_stand_in_reading_order():
    names = list(inspect.signature(Example).parameters)
    assert names[:4] == ["loss", "n_estimators", "learning_rate", "init"]
    assert names[-5:] == ["n_jobs", "random_state", "verbose", "warm_start", "callbacks"]
    assert names.index("max_bins") == names.index("candidates") - 1  # a changed default keeps its place


def test_a_subclass_changes_a_default_by_naming_it():
    assert Example().max_bins == 63
    assert BinParams().max_bins == 255
    assert inspect.signature(Example).parameters["max_bins"].default == 63
    assert "max_bins : an integer from 2 to 255 or None, default=63" in Example.__doc__


def test_a_subclass_may_declare_anew():
    assert Example().n_estimators == 20
    assert "n_estimators : an integer of at least 10, default=20\n    Another declaration.\n" in Example.__doc__
    assert BoostParams().n_estimators == 1000


def test_get_params_set_params_and_clone():
    made = Example(max_depth=3, random_state=7)
    assert set(made.get_params()) == set(inspect.signature(Example).parameters)
    copy = clone(made)
    assert copy is not made
    assert copy.get_params() == made.get_params()
    assert made.set_params(max_depth=5) is made
    assert (made.max_depth, copy.max_depth) == (5, 3)
    with pytest.raises(ValueError, match="max_dept"):
        made.set_params(max_dept=5)


def test_constructor_stores_what_it_is_given_and_checks_nothing():
    odd = object()
    assert Example(max_depth=odd).max_depth is odd
    with pytest.raises(TypeError, match="max_dept"):
        Example(max_dept=3)
    with pytest.raises(TypeError):
        Example(3)


def test_pickle_and_repr():
    made = Example(max_depth=3, learning_rate=0.5)
    assert pickle.loads(pickle.dumps(made)).get_params() == made.get_params()
    assert repr(made) == "Example(learning_rate=0.5, max_depth=3)"
    assert "max_depth" in made._repr_html_()


def test_estimators_are_compared_by_identity():
    assert Example() != Example()
    assert len({Example(), Example()}) == 2


def test_arrays_are_kept_as_they_are():
    categories = np.arange(3)
    assert Example(categorical_features=categories).categorical_features is categories
    assert clone(Example(categorical_features=categories)).categorical_features is not categories


def test_docstring_has_one_entry_for_each_parameter():
    for name in inspect.signature(Example).parameters:
        assert f"\n{name} : " in Example.__doc__
    assert "{parameters}" not in Example.__doc__
    assert "loss : 'squared_error' or 'huber', default='squared_error'\n    What is minimised." in Example.__doc__


def test_a_plain_subclass_keeps_the_parameters():
    class Special(Example):
        """Without the decorator."""

    assert clone(Special(max_depth=2)).max_depth == 2
    assert inspect.signature(Special) == inspect.signature(Example)


def test_only_a_parameter_that_is_declared_first_may_come_without_its_name():
    @knobs
    class Members:
        estimators: Annotated[Any, first(), "Who."] = None

    @knobs
    class Work:
        n_jobs: Annotated[int | None, "Threads."] = None

    @knobs
    class Ensemble(Work, Members):
        estimators = ()

    made = Ensemble([1, 2])
    assert (made.estimators, made.n_jobs) == ([1, 2], None)
    assert Ensemble().estimators == ()
    kinds = {name: parameter.kind.name for name, parameter in inspect.signature(Ensemble).parameters.items()}
    assert kinds == {"estimators": "POSITIONAL_OR_KEYWORD", "n_jobs": "KEYWORD_ONLY"}
    with pytest.raises(TypeError):
        Ensemble([1, 2], 3)


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [("VotingClassifier", "estimators", ["a"]), ("BaggingRegressor", "estimator", "a"), ("RandomForestClassifier", "n_estimators", 7)],
)
def test_what_scikit_learn_takes_without_a_name_is_taken_without_a_name(kind, name, value):
    assert getattr(getattr(woodwind, kind)(value), name) == value
