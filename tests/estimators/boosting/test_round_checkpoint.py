"""A training that is killed goes on from its checkpoint, and ends with the same model, byte for byte."""

import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import pytest

import woodwind
from woodwind.base.errors import ParameterError, WoodwindWarning
from woodwind.ensemble.boosting import recorded_rounds

CASES = {
    "early stopping": (woodwind.GradientBoostingClassifier, {"early_stopping": True, "n_iter_no_change": 3, "learning_rate": 0.9}),
    "drawn": (woodwind.GradientBoostingClassifier, {"early_stopping": False, "subsample": 0.5, "max_features": 0.5, "growth": "level"}),
    "classes": (woodwind.GradientBoostingClassifier, {"early_stopping": True}),
    "parallel": (woodwind.GradientBoostingClassifier, {"early_stopping": False, "n_parallel_trees": 2, "bootstrap": True}),
    "huber": (woodwind.GradientBoostingRegressor, {"loss": "huber", "early_stopping": True}),
    "quantile": (woodwind.GradientBoostingRegressor, {"loss": "quantile", "early_stopping": False}),
}


def written(folder, case):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(1200, 4)), columns=list("abcd"))
    score = table.a + table.b * table.c + 0.5 * rng.normal(size=1200)
    y = (
        score
        if CASES[case][0] is woodwind.GradientBoostingRegressor
        else np.digitize(score, [-0.5, 0.5])
        if case == "classes"
        else score > 0
    )
    return woodwind.BlockTable.write(folder, table.assign(y=y), target="y", block_bytes=8 * 100)


class Killed(BaseException):
    pass


def killed_after(number):
    def call(step):
        if step.number == number:
            raise Killed

    return call


def saved(model, path):
    model.set_params(callbacks=None).save(path)
    return path.read_bytes()


@pytest.mark.parametrize("case", CASES)
def test_the_model_is_that_of_a_training_that_was_not_killed(tmp_path, monkeypatch, case):
    monkeypatch.setattr(recorded_rounds, "SECONDS", 0.0)
    make, options = CASES[case]
    blocks, options = written(tmp_path / "cache", case), {"n_estimators": 30, "random_state": 3, **options}
    known = saved(make(**options).fit(blocks), tmp_path / "known.ww")
    file = tmp_path / "rounds.ww"
    for number in (2, 5):
        with pytest.raises(Killed):
            make(**options, checkpoint=file, callbacks=[killed_after(number)]).fit(blocks)
        assert file.exists()
    grown = []
    monkeypatch.setattr(recorded_rounds, "add_trees", lambda *given, to=recorded_rounds.add_trees: grown.append(1) or to(*given))
    model = make(**options, checkpoint=str(file)).fit(blocks)
    assert len(grown) >= 5  # rounds that were not grown again
    assert saved(model, tmp_path / "found.ww") == known
    assert not file.exists()
    assert woodwind.load(tmp_path / "found.ww").checkpoint is None


def test_other_data_and_other_parameters_begin_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(recorded_rounds, "SECONDS", 0.0)
    make, options = CASES["drawn"]
    blocks, file = written(tmp_path / "cache", "drawn"), tmp_path / "rounds.ww"
    options = {"n_estimators": 8, "random_state": 3, **options}
    with pytest.raises(Killed):
        make(**options, checkpoint=file, callbacks=[killed_after(4)]).fit(blocks)
    other = {**options, "l2_regularization": 2.0}
    with pytest.warns(WoodwindWarning, match="other data or other parameters"):
        found = make(**other, checkpoint=file).fit(blocks)
    assert found.forest_.digest() == make(**other).fit(blocks).forest_.digest()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"checkpoint": 3}, "the path of a file"),
        ({"random_state": None}, "Set random_state=0"),
        ({"boosting": "dart"}, "checkpoint is for boosting='plain'"),
    ],
)
def test_what_a_checkpoint_cannot_be_for_is_refused(tmp_path, options, message):
    blocks = written(tmp_path / "cache", "drawn")
    with pytest.raises(ParameterError, match=message):
        woodwind.GradientBoostingClassifier(**{"checkpoint": tmp_path / "rounds.ww", "random_state": 0, **options}).fit(blocks)


def test_a_checkpoint_is_for_blocks_and_for_rounds(tmp_path):
    x = np.random.default_rng(0).normal(size=(50, 2))
    with pytest.raises(ParameterError, match="checkpoint is for tables in blocks"):
        woodwind.GradientBoostingRegressor(checkpoint=tmp_path / "rounds.ww", random_state=0).fit(x, x[:, 0])
    blocks, file = written(tmp_path / "cache", "drawn"), tmp_path / "rounds.ww"
    model = woodwind.GradientBoostingClassifier(n_estimators=2, random_state=0, early_stopping=False).fit(blocks)
    model.save(file)
    with pytest.raises(ParameterError, match="holds something else"):
        model.set_params(checkpoint=file).fit(blocks)
    file.write_bytes(b"?")
    with pytest.raises(ParameterError, match="Name another file, or remove it"):
        model.fit(blocks)


def test_a_process_that_is_killed_leaves_a_checkpoint(tmp_path):
    blocks, file = written(tmp_path / "cache", "drawn"), tmp_path / "rounds.ww"
    program = textwrap.dedent(f"""
        import os, signal, woodwind
        from woodwind.ensemble.boosting import recorded_rounds
        recorded_rounds.SECONDS = 0.0
        kill = lambda step: step.number == 6 and os.kill(os.getpid(), signal.SIGKILL)
        options = dict(n_estimators=12, random_state=1, early_stopping=False, callbacks=[kill], checkpoint={str(file)!r})
        woodwind.GradientBoostingClassifier(**options).fit(woodwind.BlockTable({str(tmp_path / "cache")!r}))
    """)
    ended = subprocess.run([sys.executable, "-c", program], check=False, env={**os.environ})
    assert ended.returncode == -signal.SIGKILL
    options = {"n_estimators": 12, "random_state": 1, "early_stopping": False}
    known = saved(woodwind.GradientBoostingClassifier(**options).fit(blocks), tmp_path / "known.ww")
    assert file.exists()
    assert saved(woodwind.GradientBoostingClassifier(**options, checkpoint=file).fit(blocks), tmp_path / "found.ww") == known
