"""Several jobs at once in one folder, each on its own data: no leaderboard is mixed, the second one is told, and no file is half."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import woodwind
from woodwind import ParameterError, store
from woodwind.auto.model import AutoModel

OPTIONS = {"models": 1, "exclude": ("boosting", "forest", "net", "neighbours")}
COMMAND = ("--target", "y", "--models", "1", "--exclude", "boosting", "--exclude", "forest", "--exclude", "net", "--exclude", "neighbours")
JOBS = 4


def table(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 3))
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": X @ rng.normal(size=3) + (0.1 + seed) * rng.normal(size=150)})


def scores(model):
    return [(entry.name, entry.score) for entry in model.leaderboard_]


@pytest.fixture(scope="module")
def truth():
    """What each job gives when it is alone."""
    return [scores(woodwind.fit(table(seed), "y", **OPTIONS)) for seed in range(JOBS)]


def test_threads_with_one_folder_of_checkpoints(tmp_path, truth):
    found, refused, at_once = [], [], threading.Barrier(JOBS)

    def work(seed):
        at_once.wait()
        for _ in range(3):
            try:
                model = woodwind.fit(table(seed), "y", checkpoint=tmp_path / "kept", **OPTIONS)
                found.append((seed, scores(model)))
            except ParameterError as error:
                refused.append(str(error))

    threads = [threading.Thread(target=work, args=[seed]) for seed in range(JOBS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found
    assert [one for one in found if one[1] != truth[one[0]]] == []
    assert [words for words in refused if f"is in use by process {os.getpid()} since" not in words] == []


def start(folder, table, output):
    root = str(Path(__file__).parent.parent.parent)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-m", "woodwind", "fit", table, *COMMAND, "-o", output, "--json", "--threads", "1"]
    return subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_calls_with_one_model_file_and_calls_beside_them(tmp_path, truth):
    """The first three write to one file, the fourth to another."""
    for seed in range(JOBS):
        table(seed).to_parquet(tmp_path / f"{seed}.parquet")
    outputs = ["model.ww"] * (JOBS - 1) + ["other.ww"]
    processes = [start(tmp_path, f"{seed}.parquet", output) for seed, output in enumerate(outputs)]
    ended = {}
    for seed, process in enumerate(processes):
        out, err = process.communicate(timeout=120)
        if process.returncode == 2:
            assert "is in use by process" in err
            assert out == ""
            continue
        assert process.returncode == 0, err
        (event,) = (event for event in map(json.loads, out.splitlines()) if event["event"] == "job_ended")
        ended[seed] = [(entry["name"], entry["score"]) for entry in event["leaderboard"]]
    assert JOBS - 1 in ended
    assert ended.keys() - {JOBS - 1}
    assert ended == {seed: truth[seed] for seed in ended}
    boards = []
    for output in ("model.ww", "other.ww"):
        model = store.load(tmp_path / output, AutoModel)
        boards.append([(entry["name"], entry["score"]) for entry in model.facts["leaderboard"]])
        assert (tmp_path / output).with_suffix(".html").exists()
    assert boards[0] in [ended[seed] for seed in ended if seed < JOBS - 1]
    assert boards[1] == ended[JOBS - 1]
    left = {path.name for path in tmp_path.iterdir() if path.suffix != ".parquet"}
    assert left == {"model.html", "model.ww", "other.html", "other.ww"}
