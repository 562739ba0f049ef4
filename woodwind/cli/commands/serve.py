"""woodwind serve: predictions of models over HTTP, until it is ended."""

import importlib
from pathlib import Path
from typing import Any

import click

from woodwind.base.pool import usable_threads
from woodwind.cli.command import BAD_MODEL, FINE, UNEXPECTED, WRONG_CALL, command, nearest_file, wrong
from woodwind.cli.console import say
from woodwind.cli.options import Duration, WholeNumber, threads_option

EXAMPLES = (
    "woodwind serve model.ww",
    "woodwind serve loans=model.ww prices=other.ww --port 9000",
    'curl -H "Content-Type: application/json" -d \'{"age": 41, "plan": "basic"}\' http://127.0.0.1:8000/predict',
)


@command("serve", EXAMPLES, exits=[FINE, UNEXPECTED, WRONG_CALL, BAD_MODEL])
@click.argument("models", metavar="MODEL...", nargs=-1, required=True)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at; 0.0.0.0 for all, reached from everywhere.")
@click.option("--port", type=WholeNumber(0), default=8000, show_default=True, help="The port; 0 for any that is free.")
@click.option("--max-bytes", type=WholeNumber(1), default=8 << 20, show_default=True, help="Bytes that the body of a request may have.")
@click.option("--max-rows", type=WholeNumber(1), default=10_000, show_default=True, help="Rows that a request may have.")
@click.option("--max-explained", type=WholeNumber(1), default=100, show_default=True, help="Rows of a request that asks for explanations.")
@click.option("--timeout", type=Duration(), default="30s", show_default=True, help="How long a request may take.")
@click.option("--batch-wait", type=WholeNumber(0), default=0, show_default=True, metavar="MS", help="Milliseconds a row waits for others.")
@threads_option()
def run(models: tuple[str, ...], host: str, port: int, timeout: float, **given: Any) -> None:
    """Answer requests for predictions over HTTP.

    A model is a file, or name=file; without a name it is called as its file. There is the Open Inference Protocol below /v2, plain JSON
    at /predict, the columns at /schema, figures for Prometheus at /metrics, and a page to try it at /. SIGHUP loads the files again.
    """
    if port > 65535:
        wrong(f"--port {port}: ports end at 65535. Choose a smaller one.")
    try:
        served_models = importlib.import_module("woodwind.serve.served_models")
    except ImportError as error:
        wrong(str(error))
    files: dict[str, Path] = served_models.names_of(models)
    for path in files.values():
        if not path.is_file():
            wrong(f"there is no file {str(path)!r}. {nearest_file(path)}")
    limits = importlib.import_module("woodwind.serve.application").Limits(
        max_bytes=given["max_bytes"], max_rows=given["max_rows"], max_explained=given["max_explained"], seconds=timeout,
        batch_wait=given["batch_wait"] / 1000.0,
    )  # fmt: skip
    server = importlib.import_module("woodwind.serve.server")
    server.serve(files, host, port, limits, usable_threads(given["threads"]), say)
