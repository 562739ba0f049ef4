"""Real processes: a local cluster whose workers are killed, stopped and added while a model is trained."""

import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import woodwind
from woodwind.base.errors import ClusterError, ParameterError
from woodwind.shards.cluster import advice, as_cluster
from woodwind.shards.remote_rows import RemoteRows

pytest.importorskip("distributed")

OPTIONS = {"n_estimators": 8, "random_state": 0, "early_stopping": False}


def frame(n=4000):
    rng = np.random.default_rng(5)
    table = pd.DataFrame(rng.normal(size=(n, 5)), columns=list("abcde"))
    table["word"] = rng.choice(["x", "y", "z", None], n)
    table["y"] = np.where(table.a + table.b * table.c + (table.word == "x") > 0.4, "yes", "no")
    return table


@pytest.fixture(scope="module")
def blocks(tmp_path_factory):
    return woodwind.BlockTable.write(tmp_path_factory.mktemp("blocks") / "cache", frame(), target="y", block_bytes=8 * 450)


@pytest.fixture(scope="module")
def cluster():
    with woodwind.local_cluster(workers=3, timeout=1.0) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def known(blocks, tmp_path_factory):
    return saved(
        woodwind.GradientBoostingClassifier(**OPTIONS).fit(frame().drop(columns="y"), frame()["y"]), tmp_path_factory.mktemp("known")
    )


def saved(model, folder):
    model.save(folder / "model.ww")
    return (folder / "model.ww").read_bytes()


def pids(cluster):
    return cluster.client.run(os.getpid)


def wait_until(condition, seconds=20):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_the_model_file_is_that_of_memory(cluster, blocks, known, tmp_path):
    assert cluster.n_workers == 3
    model = clone(woodwind.GradientBoostingClassifier(cluster=cluster, **OPTIONS)).fit(blocks)
    assert model.cluster is cluster
    assert saved(model, tmp_path) == known
    assert pickle.loads(pickle.dumps(model)).cluster is None
    assert woodwind.load(tmp_path / "model.ww").cluster is None


def test_a_client_of_dask_will_do(cluster, blocks, known, tmp_path):
    model = clone(woodwind.GradientBoostingClassifier(cluster=cluster.client, **OPTIONS)).fit(blocks)
    assert model.cluster is cluster.client
    assert saved(model, tmp_path) == known


def test_an_address_will_do_and_two_tables_may_be_trained_on_at_once(cluster, blocks, known, tmp_path):
    other = woodwind.BlockTable.write(tmp_path / "other", frame(900), target="y", block_bytes=8 * 100)
    model = woodwind.GradientBoostingClassifier(cluster=cluster.client.scheduler.address, **OPTIONS)
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda table: clone(model).fit(table), [blocks, other]))
    assert saved(found[0], tmp_path) == known
    assert found[1].forest_.digest() == woodwind.GradientBoostingClassifier(**OPTIONS).fit(other).forest_.digest()
    as_cluster(model.cluster, "X").close()


@pytest.mark.parametrize("round_number", [1, 4])
def test_a_worker_is_killed(cluster, blocks, known, tmp_path, round_number):
    victim = min(pids(cluster).values())
    killed = []

    def kill(step):
        if step.number == round_number and not killed:
            killed.append(victim)
            os.kill(victim, signal.SIGKILL)

    model = woodwind.GradientBoostingClassifier(cluster=cluster, callbacks=[kill], **OPTIONS).fit(blocks)
    assert killed
    assert saved(model.set_params(callbacks=None), tmp_path) == known
    wait_until(lambda: cluster.n_workers == 3)  # Dask starts another one


def test_a_worker_is_stopped_and_goes_on_later(cluster, blocks, known, tmp_path):
    victim = max(pids(cluster).values())

    def stop(step):
        if step.number == 2:
            os.kill(victim, signal.SIGSTOP)
        if step.number == 6:
            os.kill(victim, signal.SIGCONT)

    began = time.monotonic()
    try:
        model = woodwind.GradientBoostingClassifier(cluster=cluster, callbacks=[stop], **OPTIONS).fit(blocks)
    finally:
        os.kill(victim, signal.SIGCONT)
    assert time.monotonic() - began < 20
    assert saved(model.set_params(callbacks=None), tmp_path) == known


def test_the_driver_is_killed_and_another_goes_on(cluster, blocks, known, tmp_path):
    file = tmp_path / "rounds.ww"
    program = textwrap.dedent(f"""
        import os, signal, woodwind
        from woodwind.ensemble.boosting import recorded_rounds
        recorded_rounds.SECONDS = 0.0
        kill = lambda step: step.number == 5 and os.kill(os.getpid(), signal.SIGKILL)
        cluster = woodwind.connect({cluster.client.scheduler.address!r})
        model = woodwind.GradientBoostingClassifier(cluster=cluster, callbacks=[kill], checkpoint={str(file)!r}, **{OPTIONS!r})
        model.fit(woodwind.BlockTable({str(blocks.path)!r}))
    """)
    ended = subprocess.run([sys.executable, "-c", program], check=False, timeout=60)
    assert ended.returncode == -signal.SIGKILL
    assert file.exists()
    model = woodwind.GradientBoostingClassifier(cluster=cluster, checkpoint=file, **OPTIONS).fit(blocks)
    assert saved(model, tmp_path) == known


def test_a_data_frame_of_dask_becomes_blocks(blocks, known, tmp_path):
    dask = pytest.importorskip("dask.dataframe")
    parts = dask.from_pandas(frame(), npartitions=7)
    made = woodwind.BlockTable.write(tmp_path / "cache", parts, target="y", block_bytes=8 * 450)
    assert [one.crc for one in made.blocks] == [one.crc for one in blocks.blocks]


def test_what_a_cluster_cannot_do_is_said(cluster, blocks, monkeypatch):
    table = frame(50)
    with pytest.raises(ParameterError, match=r"cluster is for a table in blocks.*BlockTable\.write"):
        woodwind.GradientBoostingClassifier(cluster=cluster).fit(table.drop(columns="y"), table["y"])
    with pytest.raises(ParameterError, match="cluster must be what"):
        woodwind.GradientBoostingClassifier(cluster=3).fit(blocks)
    with pytest.raises(ParameterError, match="address must be one like"):
        woodwind.connect("nowhere")
    with pytest.raises(ParameterError, match="workers must be an integer"), woodwind.local_cluster(workers=0):
        pass
    monkeypatch.setattr("woodwind.shards.cluster.CONNECTING_SECONDS", 0.3)
    with pytest.raises(ClusterError, match="there is no scheduler at tcp"):
        woodwind.connect("tcp://127.0.0.1:9")


def test_a_block_that_is_damaged_or_absent_is_named_by_the_worker_that_reads_it(cluster, tmp_path):
    blocks = woodwind.BlockTable.write(tmp_path / "here", frame(100), target="y")
    (tmp_path / "here" / blocks.blocks[0].name).write_bytes(b"?")
    with pytest.raises(ClusterError, match=r"the worker tcp://.* reports: BlockTable: .*\.codes' is damaged"):
        woodwind.GradientBoostingClassifier(cluster=cluster, **OPTIONS).fit(blocks)


def test_a_folder_that_workers_do_not_see_is_named(tmp_path):
    call = {"kind": "ask", "folder": str(tmp_path / "nowhere"), "token": "abc"}
    assert "Write the blocks to a folder that all workers see" in RemoteRows().answer(call)["error"]


def test_a_table_that_fits_into_memory_is_told_so(blocks, monkeypatch):
    monkeypatch.setattr("woodwind.shards.cluster.free_memory", lambda: 1 << 30)
    assert "4,000 x 6 takes about 0.1 MB while it is trained, and 1,074 MB are free here: this machine alone would be faster" in advice(
        blocks, "X"
    )
    monkeypatch.setattr("woodwind.shards.cluster.free_memory", lambda: 1 << 17)
    assert advice(blocks, "X") == ""


def test_without_dask_the_error_says_what_to_install():
    code = "import sys; sys.modules['distributed'] = None; import woodwind; woodwind.connect('tcp://127.0.0.1:1')"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "Install it with: pip install woodwind[dask]" in found.stderr


def test_training_on_this_machine_imports_no_dask():
    code = (
        "import sys, woodwind; woodwind.GradientBoostingClassifier; assert 'distributed' not in sys.modules and 'dask' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
