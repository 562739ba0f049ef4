"""The command `woodwind`: which commands there are, and how a call ends.

A command is a file of its own that is imported when it is called: predicting must not wait for what training needs.
"""

import importlib
import os
import sys
import time
import traceback
from collections.abc import Sequence
from typing import NoReturn

import click

from woodwind import __version__
from woodwind.base.formatting import one_line
from woodwind.cli import STARTED, memory_limits
from woodwind.cli.command import FINE, INTERRUPTED, SETTINGS, UNEXPECTED, WrongCall, code_of, nearest
from woodwind.cli.console import DEBUG, is_debugging, no_collecting, say, tidy_warnings
from woodwind.cli.streams import failure_of, prepare_streams

# Where a command lives, and what it does in a few words: the first sentence of its help.
COMMANDS = {
    "fit": ("woodwind.cli.commands.fit", "Learn an ensemble from a table."),
    "predict": ("woodwind.cli.commands.predict", "Predict the rows of a table."),
    "evaluate": ("woodwind.cli.commands.evaluate", "Try a model on rows whose target is known."),
    "leaderboard": ("woodwind.cli.commands.leaderboard", "Show how good the ensemble is, and each of its members."),
    "report": ("woodwind.cli.commands.report", "Write the report of a model as a page to read in a browser."),
    "explain": ("woodwind.cli.commands.explain", "Say which columns made a prediction what it is."),
    "serve": ("woodwind.cli.commands.serve", "Answer requests for predictions over HTTP."),
    "export": ("woodwind.cli.commands.export", "Write a model for other programs, as ONNX or as C."),
    "inspect": ("woodwind.cli.commands.inspect", "Show what is in a model file."),
    "warm": ("woodwind.cli.commands.warm", "Compile all that is compiled, so that nobody waits later."),
    "version": ("woodwind.cli.commands.version", "Show the versions of Woodwind and of what it stands on."),
}
WITHOUT_TABLES = ("version",)


class Commands(click.Group):
    """The commands, each imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names, in the order in which people meet them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, with all that it imports."""
        if cmd_name not in COMMANDS:
            return None
        with no_collecting():
            if cmd_name not in WITHOUT_TABLES:
                memory_limits.prepare(cmd_name)
                importlib.import_module("woodwind.data.reading.without_pandas").keep_pandas_out()
            found: click.Command = importlib.import_module(COMMANDS[cmd_name][0]).run
        return found

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is called, or a word about the one that was meant."""
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            raise WrongCall(f"there is no command {args[0]!r}. {nearest(args[0], list(COMMANDS))}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands: from the table here, so that help imports none of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, words) for name, (_, words) in COMMANDS.items()])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """How to begin."""
        formatter.write(
            "\nExamples:\n"
            "  woodwind fit train.csv --target y\n"
            "  woodwind predict model.ww new.csv -o predictions.csv\n"
            "\nwoodwind COMMAND --help says more of each.\n"
        )


@click.group(cls=Commands, context_settings=SETTINGS, no_args_is_help=False, invoke_without_command=True)
@click.version_option(__version__, prog_name="woodwind", message="%(prog)s %(version)s")
@click.pass_context
def commands(ctx: click.Context) -> None:
    """From a table and a column to predict, to an ensemble, a leaderboard, a report and a model file."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def call(arguments: Sequence[str] | None = None, started: float | None = None) -> int:
    """Run one call, say in a line what is wrong with it if something is, and give its exit code.

    `started` is when it began, by time.perf_counter, if that was not now: deadlines count from there.
    """
    given = None if arguments is None else list(arguments)
    began = time.perf_counter() if started is None else started
    with tidy_warnings():
        try:
            code = commands.main(given, prog_name="woodwind", standalone_mode=False, obj=began)
        except (KeyboardInterrupt, click.Abort):
            say("woodwind: interrupted; nothing was written.")
            return INTERRUPTED
        except SystemExit as leaving:  # of a command that has said all
            return leaving.code if isinstance(leaving.code, int) else UNEXPECTED
        except Exception as error:  # noqa: BLE001 - whatever it is, the user gets a line and a code
            return failed(error)
    return code if isinstance(code, int) else FINE


def failed(error: Exception) -> int:
    """Say what went wrong, and give the exit code."""
    code = code_of(error)
    if is_debugging():
        for line in "".join(traceback.format_exception(error)).splitlines():
            say(line)
    say(sentence(error, code))
    return code


def sentence(error: Exception, code: int) -> str:
    """One line: who speaks, what is wrong, what to do."""
    who = "woodwind"
    if isinstance(error, click.ClickException):
        ctx = getattr(error, "ctx", None)
        who = ctx.command_path if ctx is not None else who
        words = one_line(error.format_message())
        return f"{who}: {words}" if isinstance(error, WrongCall) else f"{who}: {words} See {who} --help."
    if isinstance(error, OSError) and error.strerror:  # a full disk, a folder that may not be written to
        return f"{who}: {one_line(error.strerror)}{f': {error.filename!r}' if error.filename else ''}. Make room, or choose another place."
    if code == UNEXPECTED:
        advice = "" if is_debugging() else f" Set {DEBUG}=1 to see where it arose."
        return f"{who}: unexpected {type(error).__name__}: {one_line(error)}{advice}{memory_limits.hint()}"
    return f"{who}: {one_line(error)}"


def main() -> NoReturn:
    """The entry point of the command."""
    prepare_streams()
    leave(call(started=STARTED))


def leave(code: int) -> NoReturn:
    """End the process, without taking apart what it has imported: that would take a fifth of a second."""
    why = failure_of(sys.stdout)
    if why is not None:
        say(f"woodwind: standard output: {why.strerror}. What was to be shown there is lost; files are as they should be.")
        code = code or UNEXPECTED
    failure_of(sys.stderr)  # which flushes it; there is nobody to tell
    os._exit(code)
