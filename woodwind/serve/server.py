"""The server: a socket, signals, and an end that loses no request."""

import asyncio
import contextlib
import ipaddress
import logging
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import uvicorn

from woodwind.base.errors import ParameterError, WoodwindError
from woodwind.base.formatting import one_line
from woodwind.serve.application import Limits, Service, application
from woodwind.serve.served_models import ModelShelf

Say = Callable[[str], None]

# Connections that may be open at once, and seconds that a silent one stays open.
MOST_CONNECTIONS = 1000
KEEP_ALIVE = 30
# Threads change places after so many seconds, in place of five thousandths: a row waits for no longer.
SWITCH_SECONDS = 0.0005


class QuietServer(uvicorn.Server):  # type: ignore[misc]  # it has no types here
    """uvicorn's server, with signals left to us: an end that was asked for is no failure."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals as they are."""
        yield


def open_socket(host: str, port: int) -> socket.socket:
    """A socket that listens at an address. Raises ParameterError where that cannot be had."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        return socket.create_server(address[:2], family=family, backlog=256)
    except OSError as error:
        raise ParameterError(
            f"serve cannot listen at {host} port {port}: {error.strerror or error}. Choose another with --host or --port."
        ) from error


def is_local(host: str) -> bool:
    """Whether nobody but this machine reaches an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def serve(files: dict[str, Path], host: str, port: int, limits: Limits, threads: int, say: Say) -> None:
    """Load models, and answer requests until SIGTERM or SIGINT. SIGHUP loads the files again."""
    shelf = ModelShelf(files)
    with open_socket(host, port) as listening:
        real = listening.getsockname()[1]
        service = Service(shelf, limits, threads)
        before = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_SECONDS)
        try:
            asyncio.run(run(service, listening, limits, lambda: greet(service, host, real, say), say))
        finally:
            sys.setswitchinterval(before)
            service.batcher.end()


def greet(service: Service, host: str, port: int, say: Say) -> None:
    """Say what is served where."""
    where = f"[{host}]" if ":" in host else host
    for model in service.shelf.models.values():
        say(f"model {model.name}, version {model.version}: {model.task} from {len(model.columns)} columns")
    if not is_local(host):
        say("Whoever reaches this address may ask: there are no passwords here. Put a proxy that asks for them in front.")
    say(f"serving at http://{where}:{port}/ until Ctrl-C or SIGTERM" + ("; SIGHUP loads models again" if hasattr(signal, "SIGHUP") else ""))


async def run(service: Service, listening: socket.socket, limits: Limits, started: Callable[[], None], say: Say) -> None:
    """Answer until asked to end."""
    logging.getLogger("uvicorn.error").addHandler(_Told(say))
    config = uvicorn.Config(
        application(service), lifespan="off", access_log=False, log_config=None, log_level="warning", server_header=False, ws="none",
        limit_concurrency=MOST_CONNECTIONS, timeout_keep_alive=KEEP_ALIVE, timeout_graceful_shutdown=int(limits.seconds) + 1,
    )  # fmt: skip
    server = QuietServer(config)
    loop = asyncio.get_running_loop()
    tasks: set[asyncio.Task[None]] = set()

    def end() -> None:
        if service.ending:
            server.force_exit = True
        else:
            say("ending: requests that are under way are answered")
        service.ending = server.should_exit = True

    def reload() -> None:
        task = loop.create_task(reload_all(service, say))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    handlers = {"SIGTERM": end, "SIGINT": end, "SIGHUP": reload}
    for name, handler in handlers.items():
        if hasattr(signal, name):
            _on_signal(loop, getattr(signal, name), handler)
    started()
    await server.serve(sockets=[listening])


def _on_signal(loop: asyncio.AbstractEventLoop, number: signal.Signals, handler: Callable[[], None]) -> None:
    """Have a signal handled, on systems with and without signals in the loop."""
    try:
        loop.add_signal_handler(number, handler)
    except NotImplementedError:
        signal.signal(number, lambda *_: loop.call_soon_threadsafe(handler))


async def reload_all(service: Service, say: Say) -> None:
    """Load all files again, beside what is being answered; a damaged one changes nothing but a line of the log."""
    for name in service.shelf.files:
        before = service.shelf.models[name]
        try:
            model = await asyncio.to_thread(service.shelf.reload, name)
        except (WoodwindError, MemoryError) as error:
            service.metrics.reloads.add(model=name, result="failed")
            say(f"model {name} stays at version {before.version}: {one_line(error)}")
            continue
        service.metrics.reloads.add(model=name, result="loaded")
        changed = " with other columns" if [c.name for c in model.columns] != [c.name for c in before.columns] else ""
        say(f"model {name} is now version {model.version}{changed}" if model.version != before.version else f"model {name} is unchanged")


class _Told(logging.Handler):
    """What uvicorn has to say, in our lines: errors with the exception behind them."""

    def __init__(self, say: Say) -> None:
        super().__init__(logging.WARNING)
        self.say = say

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line."""
        error = record.exc_info[1] if record.exc_info else None
        self.say(one_line(record.getMessage()) + (f" {type(error).__name__}: {one_line(error)}" if error else ""))
