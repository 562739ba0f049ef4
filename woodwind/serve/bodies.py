"""Bodies of requests: JSON without surprises, and errors that are answered by a sentence."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any, NoReturn

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from woodwind.data.tables.json_values import short

JSON = "application/json"
# Bytes of a body beyond the limit that are read and thrown away.
MOST_DROPPED = 64 << 20


class RequestError(Exception):
    """A request that cannot be answered: the status, and one sentence that says what is wrong with it."""

    def __init__(self, sentence: str, status: int = 400, headers: dict[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.sentence, self.status, self.headers = sentence, status, headers


def answer(content: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """JSON in plain ASCII, so that no text of a request can be anything but text; numbers that are not finite are an error of ours."""
    return Response(json.dumps(content, allow_nan=False), status, headers, JSON)


async def json_body(request: Request, most_bytes: int, seconds: float) -> Any:
    """What the body holds. Raises RequestError where it is too large, too slow, or no JSON."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != JSON:
        raise RequestError(f"the header Content-Type must be {JSON}, but it is {short(kind) if kind else 'missing'}.", 415)
    if request.headers.get("content-encoding", "identity") != "identity":
        raise RequestError("the header Content-Encoding must be left out: bodies are read as they are.", 415)
    pieces, size, stream = [], 0, request.stream()
    said = request.headers.get("content-length", "")
    try:
        async with asyncio.timeout(seconds):
            if said.isdecimal() and (len(said) > 18 or int(said) > most_bytes):
                raise await too_large(stream, most_bytes)
            async for piece in stream:
                size += len(piece)
                if size > most_bytes:
                    raise await too_large(stream, most_bytes)
                pieces.append(piece)
    except TimeoutError:
        raise RequestError(f"the body did not arrive within {seconds:g} seconds.", 408) from None
    except ClientDisconnect:
        raise RequestError("the body ended before it was whole.") from None
    return read_json(b"".join(pieces))


async def too_large(stream: AsyncIterator[bytes], most_bytes: int) -> RequestError:
    """The error for a body beyond the limit. Some of the rest is read and thrown away: who is still sending would not see the answer."""
    dropped = 0
    async for piece in stream:
        dropped += len(piece)
        if dropped > MOST_DROPPED:
            break
    return RequestError(f"the body must have at most {most_bytes:,} bytes.", 413, {"Connection": "close"})


def read_json(body: bytes) -> Any:
    """JSON as its standard has it: no NaN, no Infinity, no key twice, UTF-8."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RequestError(f"the body is not UTF-8: byte {error.start} cannot be read.") from None
    if not text.strip():
        raise RequestError("the body is empty: JSON with a row is expected.")
    try:
        return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_without_repeats)
    except json.JSONDecodeError as error:
        raise RequestError(f"the body is no JSON: {error.msg} at line {error.lineno}, column {error.colno}.") from None
    except RecursionError:
        raise RequestError("the body is nested too deeply: rows hold values, not lists of lists.") from None
    except ValueError as error:  # a whole number of thousands of digits
        raise RequestError(f"the body holds a number that cannot be read: {error}.") from None


def _refuse_constant(name: str) -> NoReturn:
    raise RequestError(f"the body holds {name}, which is no JSON: write null where a value is missing.")


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise RequestError(f"the key {short(twice)} comes twice in one object.")
    return found


def keys_of(given: dict[str, Any], allowed: tuple[str, ...], where: str) -> None:
    """Raise RequestError where an object has a key that means nothing."""
    for name in given:
        if name not in allowed:
            raise RequestError(f"{where} has a field {short(name)} that is not known: there are {', '.join(allowed)}.")


def truth(given: Any, name: str) -> bool:
    """A field that is true or false."""
    if isinstance(given, bool):
        return given
    if given in ("true", "false", "1", "0"):  # in an address
        return given in ("true", "1")
    raise RequestError(f"the field {name} must be true or false, but it is {short(given)}.")
