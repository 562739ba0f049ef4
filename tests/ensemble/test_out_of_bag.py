"""What members predict for rows that they have not seen."""

import numpy as np

from woodwind.ensemble.resampling import out_of_bag


def test_out_of_bag_answers_add_up_by_row():
    answers = [(np.array([0, 2]), np.array([[1.0], [2.0]])), (np.array([2]), np.array([[5.0]]))]
    found = out_of_bag(answers, 4, 1)
    assert found.total[:, 0].tolist() == [1.0, 0.0, 7.0, 0.0]
    assert found.voters.tolist() == [1, 0, 2, 0]
    assert found.silent.tolist() == [1, 3]
    np.testing.assert_array_equal(found.mean()[:, 0], [1.0, np.nan, 3.5, np.nan])
