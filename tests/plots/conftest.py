"""Pictures are drawn without a screen, and none is left open."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt

mpl.use("Agg")


@pytest.fixture(autouse=True)
def nothing_is_left_behind():
    """No picture changes a setting of matplotlib."""
    before = dict(mpl.rcParams)
    yield
    assert dict(mpl.rcParams) == before
    plt.close("all")


@pytest.fixture
def votes():
    """The truth of 40 rows, and what four members say: right with other probabilities."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 40)
    predicted = np.column_stack([np.where(rng.random(40) < chance, truth, 1 - truth) for chance in (0.9, 0.8, 0.7, 0.6)])
    return truth, predicted
