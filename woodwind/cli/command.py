"""A command with examples: what its help shows below the options."""

from collections.abc import Callable, Sequence
from typing import Any

import click

from woodwind.cli.exits import MEANING, WrongCall
from woodwind.cli.nearest import nearest

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class Command(click.Command):
    """A command that shows examples and exit codes at the end of its help."""

    def __init__(self, *arguments: Any, examples: Sequence[str] = (), exits: Sequence[int] = (), **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.examples, self.exits = tuple(examples), tuple(exits)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; what is wrong with them is told in the name of this command, with the option that was meant."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            there = [name for param in self.get_params(ctx) for name in param.opts if name.startswith("--")]
            raise WrongCall(f"there is no option {error.option_name!r}. {nearest(error.option_name, there)}", ctx) from None
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Lines as they are typed: a shell does not wrap them either."""
        formatter.write("\nExamples:\n" + "".join(f"  {example}\n" for example in self.examples))
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), MEANING[code]) for code in self.exits])


def command(name: str, examples: Sequence[str], exits: Sequence[int]) -> Callable[[Callable[..., Any]], Command]:
    """Make a function the command of this name; its docstring is the help."""
    return click.command(name, cls=Command, context_settings=SETTINGS, examples=examples, exits=exits)
