"""Exit codes: what they mean, and which error leads to which."""

from typing import NoReturn

import click

from woodwind.base.errors import DataError, JobError, ModelFileError, ParameterError

FINE, UNEXPECTED, WRONG_CALL, BAD_DATA, BAD_MODEL, WITHOUT_MODEL, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130

MEANING = {
    FINE: "all is well",
    UNEXPECTED: "something unexpected; WOODWIND_DEBUG=1 shows where",
    WRONG_CALL: "a wrong call: an option, an argument, a file that is not there",
    BAD_DATA: "something is wrong with the data",
    BAD_MODEL: "not a model file, or a damaged one",
    WITHOUT_MODEL: "ended without a model: out of time, or no member could be trained",
    INTERRUPTED: "interrupted by Ctrl-C or SIGTERM, before there was a model",
}


def code_of(error: BaseException) -> int:
    """The exit code for an error."""
    for kind, code in _CODES:
        if isinstance(error, kind):
            return code
    return UNEXPECTED


class WrongCall(click.UsageError):
    """A wrong call whose words say what to do."""


def wrong(words: str) -> NoReturn:
    """End with a wrong call, and say what to do."""
    raise WrongCall(words)


_CODES: tuple[tuple[type[BaseException], int], ...] = (
    (click.ClickException, WRONG_CALL),
    (KeyboardInterrupt, INTERRUPTED),
    (click.Abort, INTERRUPTED),
    (ParameterError, WRONG_CALL),
    (ModelFileError, BAD_MODEL),
    (JobError, WITHOUT_MODEL),
    (DataError, BAD_DATA),
)
