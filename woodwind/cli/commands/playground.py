"""woodwind playground: one page on which ensembles build their decision surface, round by round."""

import sys
from pathlib import Path

import click

from woodwind.base.atomic import write_file
from woodwind.cli.command import FINE, UNEXPECTED, WRONG_CALL, command
from woodwind.cli.console import say
from woodwind.cli.options import force_option
from woodwind.cli.outputs import check_page
from woodwind.playground.page import page
from woodwind.playground.surfaces import runs

EXAMPLES = ("woodwind playground -o playground.html",)


@command("playground", EXAMPLES, exits=[FINE, UNEXPECTED, WRONG_CALL])
@click.option("-o", "--output", type=click.Path(path_type=Path), default="playground.html", show_default=True, help="The page to write.")
@force_option("a file that is not a page of Woodwind")
def run(output: Path, force: bool) -> None:
    """Write a page on which ensembles build their decision surface.

    Bagging, a random forest, AdaBoost and gradient boosting are trained on tables of two features, with several depths, learning rates and
    shares of noise. The page shows what each predicts after every round, its error and its margins. It needs no network.
    """
    check_page(output, force)

    def tell(done: int, total: int) -> None:
        if done % 24 == 0 and sys.stderr.isatty():
            say(f"{done} of {total} ensembles are trained")

    text = page(runs(tell=tell)).encode()
    write_file(output, [text])
    say(f"page in {output} ({len(text) / 1e6:.1f} MB)")
