"""Examples in docstrings are run, and say what they say."""

import doctest
import importlib
import importlib.util
import pkgutil
from pathlib import Path

import pytest

import woodwind

# Sub-packages too; kernels have no examples.
NAMES = [
    info.name
    for info in pkgutil.walk_packages(woodwind.__path__, "woodwind.")
    if not info.name.startswith(("woodwind.kernels", "woodwind.__main__"))
]
WITH_EXAMPLES = [name for name in NAMES if ">>> " in Path(importlib.util.find_spec(name).origin).read_text(encoding="utf-8")]


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_in_docstrings(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


def test_examples_of_sub_packages_are_among_them():
    assert "woodwind.estimators.boosting.gradient_boosting" in WITH_EXAMPLES


ESTIMATORS = [name for name in woodwind.__all__ if hasattr(getattr(woodwind, name), "get_params")]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_have_an_example_and_all_their_parameters(name):
    estimator = getattr(woodwind, name)
    assert ">>> " in estimator.__doc__
    assert "{parameters}" not in estimator.__doc__
    assert [name for name in estimator().get_params(deep=False) if f"\n{name} : " not in estimator.__doc__] == []
