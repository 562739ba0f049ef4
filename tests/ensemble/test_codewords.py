"""Output codes: words far apart, and bits corrected."""

import numpy as np
import pytest

from woodwind.ensemble.codewords import code_for, decode, distance, drawn, exhaustive


@pytest.mark.parametrize("n_classes", [3, 4, 5])
def test_the_exhaustive_code_has_every_way_to_part_the_classes_once(n_classes):
    code = exhaustive(n_classes)
    assert code.shape == (n_classes, 2 ** (n_classes - 1) - 1)
    assert len({tuple(bit) for bit in code.T.tolist()}) == code.shape[1]
    assert (np.abs(code.sum(axis=0)) < n_classes).all()
    assert distance(code) == 2 ** (n_classes - 2)


def test_as_many_wrong_bits_as_the_distance_allows_are_corrected():
    code = code_for(4, "auto", 0)
    assert code.shape == (4, 7)
    correctable = (distance(code) - 1) // 2
    assert correctable == 1
    for k in range(4):
        for bit in range(7):
            predicted = code[k].astype(float)
            predicted[bit] *= -1
            assert decode(predicted[None], code).argmax() == k


@pytest.mark.parametrize("n_classes", [6, 10, 26])
def test_codes_that_are_drawn_are_repeatable_and_part_the_classes_in_every_bit(n_classes):
    code = code_for(n_classes, "auto", 7)
    assert (code == code_for(n_classes, "auto", 7)).all()
    assert (np.abs(code.sum(axis=0)) < n_classes).all()
    assert code.shape[1] == np.ceil(10 * np.log2(n_classes))
    assert distance(code) >= code.shape[1] // 5


def test_the_size_counts_bits_for_each_class():
    assert code_for(6, 1.5, 0).shape == (6, 9)
    assert drawn(3, 1, 0).shape == (3, 1)
