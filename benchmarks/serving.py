"""How long does one row take over HTTP at 200 requests a second, and is every request answered: malformed ones, and while models change?

A server is started on this machine and asked through connections that stay open. Requests are sent by the clock, whether earlier ones were
answered or not, and the time of each is counted from when it was due: a server that stops for a moment is not flattered. While it answers,
the model file is replaced and SIGHUP sent, whole and damaged in turn. Then 1,000 malformed requests must each be answered by 4xx and a
sentence. Client and server share the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from common import Report, arguments, short

ROOT = Path(__file__).parent.parent
TABLE = ROOT / "examples" / "data" / "credit.csv"
TARGET = "credit"
LONGEST = 120.0  # seconds until a server has started


def more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=float, default=300.0, help="how long the load is held (300)")
    parser.add_argument("--rate", type=float, default=200.0, help="requests a second (200)")
    parser.add_argument("--connections", type=int, default=16, help="that stay open (16)")
    parser.add_argument("--reload-every", type=float, default=5.0, help="seconds between two SIGHUP (5); 0 for none")
    parser.add_argument("--malformed", type=int, default=1000, help="malformed requests (1000)")
    parser.add_argument("--model", default="", help="a model file whose columns are those of examples/data/credit.csv")


def rows() -> list[dict[str, Any]]:
    with TABLE.open(encoding="utf-8") as file:
        found = list(csv.DictReader(file))
    for row in found:
        row.pop(TARGET)
    numbers = {name for name in found[0] if all(re.fullmatch(r"-?\d+(\.\d+)?", row[name]) for row in found)}
    return [{name: float(value) if name in numbers else value for name, value in row.items()} for row in found]


def train(path: Path) -> None:
    from woodwind import GradientBoostingClassifier
    from woodwind.data.reading.files import read_table

    table = read_table(TABLE)
    GradientBoostingClassifier(random_state=0).fit(table.drop_columns([TARGET]), table[TARGET].to_pylist()).save(path)


class Server:
    """A server in a process of its own."""

    def __init__(self, model: Path, log: Path) -> None:
        self.log = log
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "woodwind", "serve", f"model={model}", "--port", "0"]
        with log.open("w") as file:
            self.process = subprocess.Popen(command, stderr=file, stdout=subprocess.DEVNULL, env=environment)
        ends = time.monotonic() + LONGEST
        while (found := re.search(r"http://127\.0\.0\.1:(\d+)/", log.read_text())) is None:
            if time.monotonic() > ends or self.process.poll() is not None:
                raise SystemExit(f"the server has not started: {log.read_text()}")
            time.sleep(0.05)
        self.port = int(found.group(1))

    def memory(self) -> float:
        """Megabytes that it holds."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", text).group(1)) / 1024

    def processor(self) -> float:
        """Seconds of processors that it has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)


class Connection:
    """One that stays open; asked one thing after another."""

    def __init__(self, port: int) -> None:
        self.port, self.reader, self.writer = port, None, None

    async def ask(self, body: bytes, path: str = "/predict", kind: str = "application/json") -> tuple[int, bytes]:
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
        self.writer.write(head.encode("latin-1") + body)
        status = int((await self.reader.readline()).split()[1])
        length, close = 0, False
        while (line := await self.reader.readline()) not in (b"\r\n", b""):
            name, _, value = line.decode("latin-1").lower().partition(":")
            length = int(value) if name == "content-length" else length
            close = close or (name == "connection" and "close" in value)
        found = await self.reader.readexactly(length)
        if close:
            self.close()
        return status, found

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()
        self.reader = self.writer = None


async def load(server: Server, bodies: list[bytes], options: argparse.Namespace, tick: Any) -> tuple[list[float], list[str]]:
    """Seconds of each request from when it was due, and what went wrong."""
    free: asyncio.Queue[Connection] = asyncio.Queue()
    for _ in range(options.connections):
        free.put_nowait(Connection(server.port))
    times, errors, tasks = [], [], set()

    async def one(number: int, due: float) -> None:
        connection = await free.get()
        try:
            status, found = await asyncio.wait_for(connection.ask(bodies[number % len(bodies)]), 30.0)
            if status != 200:
                errors.append(f"{status} {found[:200]!r}")
        except Exception as error:
            errors.append(repr(error))
            connection.close()
        finally:
            free.put_nowait(connection)
        times.append(time.perf_counter() - due)

    began = time.perf_counter()
    for number in range(int(options.seconds * options.rate)):
        due = began + number / options.rate
        if (wait := due - time.perf_counter()) > 0:
            await asyncio.sleep(wait)
        task = asyncio.create_task(one(number, due))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        tick(time.perf_counter() - began)
    await asyncio.gather(*tasks)
    return times, errors


def malformed(row: dict[str, Any], draw: random.Random) -> tuple[bytes, str, str]:
    """Body, path and type of a request that cannot be answered."""
    name = draw.choice(list(row))
    junk = draw.choice([[], {}, [[row]], {"a": {"b": []}}, [1], {name: [1]}])
    wrong = [7, True] if isinstance(row[name], str) else ["7", "many", "NaN"]
    whole = json.dumps(row).encode()
    inputs = [
        {"name": key, "shape": [1], "datatype": "BYTES" if isinstance(value, str) else "FP64", "data": [value]}
        for key, value in row.items()
    ]
    tensor = draw.choice(inputs)
    infer = "/v2/models/model/infer"
    plain = [
        json.dumps({**row, name: draw.choice(wrong)}).encode(),
        json.dumps({**row, name: junk}).encode(),
        json.dumps({**row, name + "x": 1}).encode(),
        json.dumps({key: value for key, value in row.items() if key != name}).encode(),
        json.dumps({"rows": [row, {**row, name: draw.choice(wrong)}]}).encode(),
        json.dumps({"columns": {key: [value] * (2 if key == name else 1) for key, value in row.items()}}).encode(),
        json.dumps({"rows": []}).encode(),
        json.dumps({"row": row, "explain": "perhaps"}).encode(),
        json.dumps({"row": row, "interval": draw.choice([2, -1, "x", None, [0.9]]) or 5}).encode(),
        json.dumps({**row, "amount": draw.choice([float("nan"), float("inf"), -float("inf")])}).encode(),
        b"[1, 2]",
        b'{"amount": 1e999}', b"[" * draw.randrange(1000, 200_000), b'{"a":' * 50_000, b"", b"null", b"17", b'"text"', b"\xff\xfe{}",
        whole[: draw.randrange(1, len(whole))], whole + b"}", whole.replace(b'"', b"'"), b"\x80" + whole,
        b'{"amount": ' + b"9" * 5000 + b"}", b'{"rows": ' + b"[{}]" + b"}", bytes(draw.randrange(256) for _ in range(50)), b" " * (9 << 20),
    ]  # fmt: skip
    tensors = [
        {"inputs": [one for one in inputs if one is not tensor]},
        {"inputs": [*inputs, tensor]},
        {"inputs": [{**one, "shape": [2]} if one is tensor else one for one in inputs]},
        {"inputs": [{**one, "shape": draw.choice([[], [-1], ["1"], 1, [1, 2, 3], [10**12]])} if one is tensor else one for one in inputs]},
        {"inputs": [{**one, "datatype": draw.choice(["FP8", "float", 3, None, "INT8"])} if one is tensor else one for one in inputs]},
        {"inputs": [{**one, "data": draw.choice([[[]], "x", None, [{}], [[[1]]]])} if one is tensor else one for one in inputs]},
        {"inputs": draw.choice([[], {}, "x", [3], None])},
        {"inputs": inputs, "outputs": [{"name": "weather"}]},
        {"inputs": inputs, "parameters": draw.choice([3, {"explain": 9}, {"interval": "x"}])},
        {"inputs": inputs, "id": 3},
        {"rows": [row]},
    ]
    if draw.random() < 0.4:
        return json.dumps(draw.choice(tensors)).encode(), infer, "application/json"
    if draw.random() < 0.1:
        return (
            whole,
            draw.choice(["/predicts", "/v2/models/other/infer", "/v2/models/model/versions/9/infer", "/schema", "/"]),
            "application/json",
        )
    if draw.random() < 0.1:
        return whole, "/predict", draw.choice(["text/plain", "application/x-www-form-urlencoded", ""])
    return draw.choice(plain), "/predict", "application/json"


async def ask_malformed(server: Server, row: dict[str, Any], count: int) -> list[str]:
    """What was not answered by 4xx and a sentence."""
    draw, wrong = random.Random(0), []
    connection = Connection(server.port)
    for _ in range(count):
        body, path, kind = malformed(row, draw)
        try:
            status, found = await asyncio.wait_for(connection.ask(body, path, kind), 30.0)
            words = json.loads(found).get("error", "")
            if not 400 <= status < 500 or not words.endswith((".", "?")) or "\n" in words:
                wrong.append(f"{status} {found[:200]!r} to {path} {body[:120]!r}")
        except (OSError, asyncio.IncompleteReadError, IndexError, ValueError) as error:
            wrong.append(f"{error!r} to {path} {body[:80]!r}")
            connection.close()
    connection.close()
    return wrong


def main() -> None:
    options = arguments(__doc__, more)
    if options.quick:
        options.seconds, options.malformed = min(options.seconds, 5.0), min(options.malformed, 200)
    report = Report("serving", "One row over HTTP", options)
    asked = rows()
    bodies = [json.dumps(row).encode() for row in asked]
    with tempfile.TemporaryDirectory() as folder:
        path, log = Path(folder) / "model.ww", Path(folder) / "log"
        if options.model:
            path.write_bytes(Path(options.model).read_bytes())
        else:
            train(path)
        whole = path.read_bytes()
        server = Server(path, log)
        memory, reloads = [], 0
        next_reload, next_look = options.reload_every or np.inf, 1.0

        def tick(now: float) -> None:
            nonlocal reloads, next_reload, next_look
            if now > next_reload:
                beside = path.with_suffix(".new")
                beside.write_bytes(whole if reloads % 2 else whole[: len(whole) // 2])
                beside.replace(path)
                server.process.send_signal(signal.SIGHUP)
                reloads += 1
                next_reload += options.reload_every
            if now > next_look:
                memory.append(server.memory())
                next_look += 1.0

        before = server.processor()
        times, errors = asyncio.run(load(server, bodies, options, tick))
        used = (server.processor() - before) / len(times) * 1e3
        path.write_bytes(whole)
        wrong = asyncio.run(ask_malformed(server, asked[0], options.malformed))
        code = server.end()
        kept = len(re.findall(r"stays at version", log.read_text()))
    p50, p99, worst = (float(np.percentile(times, share)) * 1e3 for share in (50, 99, 100))
    third = max(len(memory) // 3, 1)
    growth = float(np.mean(memory[-third:]) - np.mean(memory[third : 2 * third] or memory)) if memory else 0.0
    columns = [
        "requests",
        "rate",
        "p50 ms",
        "p99 ms",
        "worst ms",
        "CPU ms",
        "errors",
        "reloads",
        "of a damaged file",
        "memory MB",
        "growth MB",
    ]
    report.table(columns, [[len(times), f"{options.rate:g}/s", short(p50), short(p99), short(worst), short(used), len(errors), reloads,
                            kept, short(max(memory, default=0.0)), short(growth)]])  # fmt: skip
    for words in [*errors[:5], *wrong[:10]]:
        report.say(f"- {words}")
    report.goal("time of one row, 99 of 100 requests", p99, 5.0, " ms", less=True)
    report.goal("requests under load that failed", len(errors), 0, "", at_most=True)
    report.goal(f"of {options.malformed:,} malformed requests, those without 4xx and a sentence", len(wrong), 0, "", at_most=True)
    report.goal("growth of memory from the second third to the last", growth, 5.0, " MB", at_most=True)
    report.goal("exit code after SIGTERM", code, 0, "", at_most=True)
    report.save()


if __name__ == "__main__":
    main()
