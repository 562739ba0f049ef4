"""The size of a model: what was asked for holds for the file, and what has no room is left out by name."""

import numpy as np
import pandas as pd
import pytest

import woodwind
from woodwind.auto.size import members_that_fit, stored_bytes


def table(n=1500, classes=0):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n, 6)), columns=list("abcdef"))
    target = frame.a * 2 + frame.b * frame.c + (frame.d > 0) + 0.5 * rng.normal(size=n)
    frame["y"] = target if classes == 0 else pd.qcut(target, classes, labels=[f"c{k}" for k in range(classes)]).astype(str)
    return frame


@pytest.mark.parametrize("classes", [0, 2, 4])
def test_a_model_has_no_more_megabytes_than_were_asked_for(classes, tmp_path):
    frame = table(classes=classes)
    sizes = {}
    for most in (None, 1.0):
        model = woodwind.fit(frame, "y", models=3, max_size=most, threads=1)
        model.save(tmp_path / "model.ww")
        sizes[most] = (tmp_path / "model.ww").stat().st_size / 1e6
        assert model.score_ == model.leaderboard_[0].score
    assert sizes[1.0] <= 1.0 < sizes[None]


def test_what_has_no_room_is_named(tmp_path):
    # Neighbours are their rows, which cannot be fewer.
    frame = table(20_000)
    model = woodwind.fit(frame, "y", models=2, max_size=0.8, threads=1, exclude=["boosting", "forest", "net"])
    model.save(tmp_path / "model.ww")
    assert [entry.name for entry in model.leaderboard_ if entry.weight > 0.0] == ["ensemble", "linear"]
    assert any("no room for neighbours" in note for note in model.facts_["made"]["notes"])
    assert (tmp_path / "model.ww").stat().st_size <= 0.8e6


def test_the_best_that_fit_go_in_and_the_smallest_if_none_does():
    assert members_that_fit([5, 3, 4], [0.1, 0.3, 0.2], 9) == [0, 2]
    assert members_that_fit([5, 3, 4], [0.1, 0.3, 0.2], 8) == [0, 1]
    assert members_that_fit([5, 3, 4], [0.1, 0.3, 0.2], 1) == [1]


def test_bytes_are_those_of_arrays_however_deep():
    assert stored_bytes((np.zeros(3), [np.zeros((2, 2), np.float32)], "text", 5)) == 24 + 16
