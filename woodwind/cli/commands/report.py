"""woodwind report: the page about a model."""

import sys
import webbrowser
from pathlib import Path

import click

from woodwind.base.atomic import write_file
from woodwind.cli.command import BAD_MODEL, FINE, UNEXPECTED, WRONG_CALL, command
from woodwind.cli.model_files import open_models
from woodwind.cli.options import force_option, model_argument
from woodwind.cli.outputs import check_page
from woodwind.cli.streams import data_stream, is_closed
from woodwind.report.page import page_of_several

EXAMPLES = ("woodwind report model.ww", "woodwind report model.ww -o report.html --open")


@command("report", EXAMPLES, exits=[FINE, UNEXPECTED, WRONG_CALL, BAD_MODEL])
@model_argument()
@click.option("-o", "--output", type=click.Path(path_type=Path), help="The page to write; next to the model unless given.")
@click.option("--open", "show", is_flag=True, help="Show it in the browser.")
@force_option()
def run(model: Path, output: Path | None, show: bool, force: bool) -> None:
    """Write the report of a model as a page to read in a browser.

    One file that needs no network: what the data is, the leaderboard, what the ensemble looks at, how far it can be
    believed. Several targets stand one after another.
    """
    output = model.with_suffix(".html") if output is None else output
    check_page(output, force)
    write_file(output, [page_of_several([one.facts for one in open_models(model)], model.name).encode()])
    if not is_closed(sys.stdout):
        data_stream().write(f"{output}\n")
    if show:
        webbrowser.open(output.resolve().as_uri())
