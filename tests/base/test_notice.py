"""A warning points at the line that the user wrote."""

import warnings

import numpy as np
import pandas as pd
import pytest

from woodwind import DecisionTreeRegressor, GradientBoostingRegressor, WoodwindWarning
from woodwind.base.notice import notice


def test_without_a_line_of_ours_it_is_the_line_of_the_call():
    with pytest.warns(UserWarning, match="mind the gap") as caught:
        notice("mind the gap", UserWarning)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("model", [GradientBoostingRegressor(n_estimators=2), DecisionTreeRegressor()])
def test_training_and_predicting_warn_at_the_line_of_the_user(model):
    frame = pd.DataFrame({"c": list("ab") * 10})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", WoodwindWarning)
        model.fit(frame, np.ones(20))
        model.fit(frame, np.arange(20.0)).predict(frame.assign(c="z"))
    assert [warning.category.__name__ for warning in caught] == ["ConstantTargetWarning", "UnseenCategoryWarning"]
    assert {warning.filename for warning in caught} == {__file__}
