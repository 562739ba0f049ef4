"""The server as a whole: batches, limits, figures, reloading, signals, the page."""

import asyncio
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import ClassVar

import pytest

from tests.serve.conftest import ROW, classifier, served, table
from woodwind import DataError, GradientBoostingClassifier, ModelFileError, store
from woodwind.cli.main import call
from woodwind.serve import server as server_module
from woodwind.serve.batching import Batcher
from woodwind.serve.bodies import RequestError
from woodwind.serve.served_models import ModelShelf, ServedModel, names_of

ROOT = Path(__file__).parents[2]


# Batches.


class Slow(ServedModel):
    """A model that takes its time and notes what it was asked."""

    asked: ClassVar[list[int]] = []

    def _predict_one(self, row):
        return None

    def predict(self, rows, threads=1):
        from woodwind.serve.served_models import Predicted

        self.asked.append(len(rows))
        time.sleep(0.05)
        if any(row == ["bad"] for row in rows):
            raise DataError("a bad row.")
        return Predicted([row[0] for row in rows])


def slow():
    Slow.asked = []
    return Slow("slow", "1", (), "regression", ())


def test_rows_that_wait_together_are_predicted_together():
    async def ask():
        return await asyncio.gather(*(batcher.ask(model, [[number]], time.monotonic() + 10) for number in range(20)))

    batches, model = [], slow()
    batcher = Batcher(1, 8, 0.0, 100, batches.append)
    try:
        found = asyncio.run(ask())
    finally:
        batcher.end()
    assert [one.values for one in found] == [[number] for number in range(20)]
    assert sum(batches) == 20
    assert max(batches) <= 8
    assert len(batches) <= 5


def test_a_lonely_row_waits_for_others_no_longer_than_it_is_told():
    async def ask():
        first = asyncio.create_task(batcher.ask(model, [[1]], time.monotonic() + 10))
        await asyncio.sleep(0.05)
        return await asyncio.gather(first, batcher.ask(model, [[2]], time.monotonic() + 10))

    batches, model = [], slow()
    batcher = Batcher(1, 8, 0.5, 100, batches.append)
    try:
        asyncio.run(ask())
    finally:
        batcher.end()
    assert batches == [2]


def test_one_bad_request_of_a_batch_fails_alone():
    async def ask():
        jobs = (batcher.ask(model, [[row]], time.monotonic() + 10) for row in ("good", "bad", "fine"))
        return await asyncio.gather(*jobs, return_exceptions=True)

    model = slow()
    batcher = Batcher(1, 8, 0.1, 100, lambda _: None)
    try:
        first, second, third = asyncio.run(ask())
    finally:
        batcher.end()
    assert (first.values, third.values) == (["good"], ["fine"])
    assert isinstance(second, DataError)


def test_requests_beyond_the_limits_of_time_and_number_are_told_so():
    async def ask():
        jobs = (batcher.ask(model, [[number]], time.monotonic() + 0.12) for number in range(30))
        return await asyncio.gather(*jobs, return_exceptions=True)

    model = slow()
    batcher = Batcher(1, 1, 0.0, 10, lambda _: None)
    try:
        found = asyncio.run(ask())
    finally:
        batcher.end()
    words = [str(one) for one in found if isinstance(one, RequestError)]
    assert {one.status for one in found if isinstance(one, RequestError)} == {503}
    assert any("too many requests wait" in one for one in words)
    assert any("took longer" in one for one in words)
    assert len(Slow.asked) < 10  # what nobody waits for is not predicted


def test_many_at_once_have_the_answers_of_each_alone(one):
    rows = table(40).to_pylist()
    alone = [one.post("/predict", json=row).json() for row in rows]
    assert [answer.json() for answer in one.post_all("/predict", rows)] == alone


# Figures and headers.


def test_figures_are_in_the_format_of_prometheus(one):
    one.post("/predict", json=ROW)
    one.post("/predict", json={**ROW, "plan": "silver"})
    one.post("/predict", json={})
    one.get('/nowhere"}%0A')
    answer = one.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = answer.text.splitlines()
    assert 'woodwind_requests_total{endpoint="/predict",status="200"} 2' in lines
    assert 'woodwind_requests_total{endpoint="/predict",status="400"} 1' in lines
    assert 'woodwind_requests_total{endpoint="other",status="404"} 1' in lines
    assert 'woodwind_rows_total{model="estimator"} 2' in lines
    assert 'woodwind_unseen_categories_total{model="estimator"} 1' in lines
    assert 'woodwind_request_seconds_count{endpoint="/predict"} 3' in lines
    sample = re.compile(r'[a-z_]+(\{[a-z_]+="[^"\n]*"(,[a-z_]+="[^"\n]*")*\})? [0-9.e+-]+')
    assert [line for line in lines if not line.startswith("# ") and not sample.fullmatch(line)] == []
    assert len({line.split()[2] for line in lines if line.startswith("# TYPE")}) == sum(line.startswith("# TYPE") for line in lines)


@pytest.mark.parametrize("path", ["/", "/schema", "/nowhere/<script>alert(1)</script>", "/v2/models/<b>"])
def test_no_answer_can_be_taken_for_something_else(one, path):
    answer = one.get(path)
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"
    if path != "/":
        assert answer.headers["content-type"] == "application/json"


def test_the_page_has_nothing_of_the_request_and_nothing_from_elsewhere(one):
    page = one.get("/?model=<script>alert(1)</script>")
    assert page.text == one.get("/").text
    assert "alert(" not in page.text
    assert re.findall(r"(?:src|href)=\"(?!data:,)", page.text) == []
    assert re.findall(r"https?://(?!www\.w3\.org/2000/svg)", page.text) == []
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    script = (ROOT / "woodwind" / "serve" / "web" / "page.js").read_text(encoding="utf-8")
    assert re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", script) == []


@pytest.mark.parametrize(("method", "path", "status"), [("get", "/predict", 405), ("post", "/schema", 405), ("get", "/predict/", 404)])
def test_paths_and_methods_that_there_are_not(one, method, path, status):
    answer = getattr(one, method)(path)
    assert answer.status_code == status
    assert answer.json()["error"].endswith(".")


def test_an_error_of_ours_is_answered_without_its_details(one, monkeypatch):
    monkeypatch.setattr("woodwind.serve.plain_json.schema_of", lambda _: 1 / 0)
    answer = one.get("/schema")
    assert answer.status_code == 500
    assert "ZeroDivisionError" not in answer.text


# Names and files.


def test_models_are_called_by_their_files_or_as_one_says(tmp_path):
    (tmp_path / "a=b.ww").touch()
    here = str(tmp_path / "a=b.ww")
    assert names_of(["x/loans.ww", "prices=other.ww", here]) == {"loans": Path("x/loans.ww"), "prices": Path("other.ww"), "a=b": Path(here)}
    with pytest.raises(DataError, match="two models are called 'm'"):
        names_of(["x/m.ww", "y/m.ww"])
    with pytest.raises(DataError, match="without a slash"):
        names_of(["a/b=m.ww"])


def test_a_damaged_file_leaves_the_old_model_and_says_so(tmp_path):
    path = tmp_path / "m.ww"
    classifier().save(path)
    with served({"m": path}) as client:
        before = client.get("/schema").json()["version"]
        path.write_bytes(path.read_bytes()[:-100])
        told = []
        client.run(server_module.reload_all(client.service, told.append))
        assert told[0].startswith(f"model m stays at version {before}: ")
        assert client.get("/schema").json()["version"] == before
        assert client.post("/predict", json=ROW).status_code == 200
        path.unlink()
        client.run(server_module.reload_all(client.service, told.append))
        assert "cannot be read" in told[1]
        GradientBoostingClassifier(n_estimators=3, early_stopping=False).fit(table(), ["a", "b"] * 60).save(path)
        client.run(server_module.reload_all(client.service, told.append))
        assert re.fullmatch(r"model m is now version [0-9a-f]{12}", told[2])
        assert client.post("/predict", json=ROW).json()["prediction"] in ("a", "b")
        client.run(server_module.reload_all(client.service, told.append))
        assert told[3] == "model m is unchanged"
        text = client.get("/metrics").text
    assert 'woodwind_reloads_total{model="m",result="failed"} 2' in text
    assert 'woodwind_reloads_total{model="m",result="loaded"} 2' in text


def test_a_damaged_file_at_the_start_is_an_error(tmp_path):
    (tmp_path / "m.ww").write_bytes(b"nothing")
    with pytest.raises(ModelFileError, match=r"m\.ww"):
        ModelShelf({"m": tmp_path / "m.ww"})


def test_without_the_extra_the_command_says_what_to_install(tmp_path, monkeypatch, capsys):
    for name in [name for name in sys.modules if name.partition(".")[0] in ("starlette", "uvicorn") or name.startswith("woodwind.serve")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert call(["serve", "m.ww"]) == 2
    assert "pip install 'woodwind[serve]'" in capsys.readouterr().err


@pytest.mark.parametrize(("arguments", "words"), [
    (["nothing.ww"], "there is no file 'nothing.ww'"), (["nothing.ww", "--port", "70000"], "ports end at 65535"), ([], "Missing argument"),
])  # fmt: skip
def test_a_wrong_call_is_told(arguments, words, capsys):
    assert call(["serve", *arguments]) == 2
    assert words in capsys.readouterr().err


def test_a_port_in_use_is_told(tmp_path, capsys):
    classifier().save(tmp_path / "m.ww")
    with server_module.open_socket("127.0.0.1", 0) as taken:
        assert call(["serve", str(tmp_path / "m.ww"), "--port", str(taken.getsockname()[1])]) == 2
    assert "cannot listen at 127.0.0.1" in capsys.readouterr().err


# A process of its own.


class Running:
    """`woodwind serve` in a process of its own."""

    def __init__(self, path, log, *more):
        self.log = log
        command = [sys.executable, "-m", "woodwind", "serve", f"m={path}", "--port", "0", *more]
        with log.open("w") as file:
            self.process = subprocess.Popen(command, stderr=file, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": str(ROOT)})
        self.port = int(self.wait_for(r"http://127\.0\.0\.1:(\d+)/").group(1))

    def wait_for(self, pattern, seconds=60.0):
        ends = time.monotonic() + seconds
        while (found := re.search(pattern, self.log.read_text())) is None:
            assert time.monotonic() < ends, self.log.read_text()
            assert self.process.poll() is None, self.log.read_text()
            time.sleep(0.02)
        return found

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(timeout=10)


def test_models_change_under_load_without_a_lost_request_and_the_end_is_graceful(tmp_path):
    path = tmp_path / "m.ww"
    classifier().save(path)
    whole = path.read_bytes()
    statuses, stop = [], threading.Event()

    def ask():
        connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=20)
        while not stop.is_set():
            connection.request("POST", "/predict", json.dumps(ROW), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            statuses.append(answer.status)
        connection.close()

    with Running(path, tmp_path / "log") as running:
        threads = [threading.Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        store.save(tmp_path / "new.ww", GradientBoostingClassifier(n_estimators=2, early_stopping=False).fit(table(), ["a", "b"] * 60))
        for number, content in enumerate([whole[: len(whole) // 2], (tmp_path / "new.ww").read_bytes()]):
            (tmp_path / "beside").write_bytes(content)
            (tmp_path / "beside").replace(path)
            running.process.send_signal(signal.SIGHUP)
            running.wait_for(["stays at version", "is now version"][number])
        before = len(statuses)
        while len(statuses) < before + 20:
            time.sleep(0.01)
        stop.set()
        for thread in threads:
            thread.join(timeout=30)
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(timeout=30) == 0
    assert set(statuses) == {200}


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="the system has no such signals")
def test_a_request_under_way_is_answered_after_sigterm_and_a_slow_one_is_told(tmp_path):
    path = tmp_path / "m.ww"
    classifier().save(path)
    body = json.dumps(ROW).encode()
    with Running(path, tmp_path / "log", "--timeout", "2") as running:
        slow, late = (http.client.HTTPConnection("127.0.0.1", running.port, timeout=20) for _ in range(2))
        for connection in (slow, late):
            connection.putrequest("POST", "/predict")
            connection.putheader("Content-Type", "application/json")
            connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body[:5])
        time.sleep(0.3)
        running.process.send_signal(signal.SIGTERM)
        running.wait_for("ending: requests that are under way are answered")
        slow.send(body[5:])
        assert slow.getresponse().status == 200
        answer = late.getresponse()
        assert answer.status == 408
        assert "did not arrive within 2 seconds" in json.loads(answer.read())["error"]
        slow.close()
        late.close()
        assert running.process.wait(timeout=30) == 0
