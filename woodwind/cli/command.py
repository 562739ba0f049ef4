"""A command with examples: what its help shows below the options."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import click

from woodwind.base.did_you_mean import did_you_mean
from woodwind.base.did_you_mean import nearest as closest
from woodwind.base.errors import DataError, JobError, ModelFileError, NotExportableError, ParameterError

# ----------------------------------------------------------------------------------------------------
# Exit codes: what they mean, and which error leads to which.


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
    (NotExportableError, WRONG_CALL),
    (ModelFileError, BAD_MODEL),
    (JobError, WITHOUT_MODEL),
    (DataError, BAD_DATA),
)


# ----------------------------------------------------------------------------------------------------
# What may have been meant by a name that is not there.


def nearest(name: str, there: Sequence[str]) -> str:
    """What may have been meant by a name that is not there, or what there is."""
    meant = did_you_mean(name, there, most=3)
    return meant or f"There are {', '.join(repr(one) for one in there[:8])}{' and more' if len(there) > 8 else ''}."


def nearest_file(path: Path) -> str:
    """What may have been meant by a path that leads nowhere."""
    if not path.parent.is_dir():
        return f"There is no folder {str(path.parent)!r} either."
    names = [other.name for other in path.parent.iterdir() if other.is_file()]
    near = closest(path.name, names, alike=0.6)
    return f"Did you mean {str(path.parent / near[0])!r}?" if near else "Check the name and the folder."


SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class Command(click.Command):
    """A command that shows examples and exit codes at the end of its help."""

    def __init__(self, *arguments: Any, examples: Sequence[str] = (), exits: Sequence[int] = (), **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.examples, self.exits = tuple(examples), tuple(exits)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; what is wrong with them is told in the name of this command, with the option that was meant."""
        try:
            self._refuse_repeated(ctx, args)
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            there = [name for param in self.get_params(ctx) for name in param.opts if name.startswith("--")]
            raise WrongCall(f"there is no option {error.option_name!r}. {nearest(error.option_name, there)}", ctx) from None
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise

    def _refuse_repeated(self, ctx: click.Context, args: list[str]) -> None:
        """Refuse an option that takes one value and is given several times: the last one would count, and nobody would be told."""
        given = args[: args.index("--")] if "--" in args else args
        for param in self.get_params(ctx):
            if isinstance(param, click.Option) and not (param.multiple or param.is_flag or param.count):
                times = sum(part.split("=")[0] in param.opts for part in given if part.startswith("-"))
                if times > 1:
                    raise WrongCall(f"{param.opts[0]} is given {times} times, and takes one value. Give it once.", ctx)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Lines as they are typed: a shell does not wrap them either."""
        formatter.write("\nExamples:\n" + "".join(f"  {example}\n" for example in self.examples))
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), MEANING[code]) for code in self.exits])


def command(name: str, examples: Sequence[str], exits: Sequence[int]) -> Callable[[Callable[..., Any]], Command]:
    """Make a function the command of this name; its docstring is the help."""
    return click.command(name, cls=Command, context_settings=SETTINGS, examples=examples, exits=exits)
