"""Measures of pairs against DESlib: tests/data/diversity/README.md."""

from pathlib import Path

import numpy as np
import pytest

from woodwind.diversity import agreement, correlation, disagreement, double_fault, q_statistic, ratio_of_errors

ANSWERS = Path(__file__).parent.parent / "data" / "diversity" / "answers.npz"
OURS = {
    "q": q_statistic,
    "correlation": correlation,
    "disagreement": disagreement,
    "agreement": agreement,
    "double_fault": double_fault,
    "ratio_of_errors": ratio_of_errors,
}


@pytest.mark.parametrize("name", OURS)
def test_measures_of_pairs_are_those_of_deslib(name):
    with np.load(ANSWERS) as file:
        hits, theirs = file["labels"] == file["truth"][:, None], file[name]
    pairs = ~np.eye(len(theirs), dtype=bool)
    assert OURS[name](hits)[pairs] == pytest.approx(theirs[pairs], rel=1e-12, abs=1e-12)
