"""woodwind explain: which columns made a prediction what it is."""

from pathlib import Path
from typing import Any

import click

from woodwind.auto.shap import explain_model
from woodwind.auto.table_rows import inputs_of, read_rows
from woodwind.base.atomic import write_file
from woodwind.base.pool import usable_threads
from woodwind.cli.command import BAD_DATA, BAD_MODEL, FINE, UNEXPECTED, WRONG_CALL, command, wrong
from woodwind.cli.console import plain, say, show, show_json
from woodwind.cli.model_files import open_model
from woodwind.cli.options import OneTable, WholeNumber, force_option, json_option, model_argument
from woodwind.cli.outputs import check_new, check_not_an_input, check_table
from woodwind.report.shap_page import MOST_COLUMNS, as_html, as_text, shown_rows
from woodwind.tree.shap_result import Explanation

EXAMPLES = (
    "woodwind explain model.ww row.csv",
    "woodwind explain model.ww new.csv --row 3 --top 5",
    "woodwind explain model.ww new.csv --row 3 -o picture.html",
    "woodwind explain model.ww new.csv --target rent",
)
# Members that are no trees are asked many questions for each row.
MOST_ROWS = 200
ENDINGS = (".html", ".htm")


@command("explain", EXAMPLES, exits=[FINE, UNEXPECTED, WRONG_CALL, BAD_DATA, BAD_MODEL])
@model_argument()
@click.argument("table", type=OneTable())
@click.option("--target", metavar="COLUMN", help="Of a model of several targets the one that is explained.")
@click.option("--row", type=WholeNumber(1), metavar="N", help="Explain this row of the table alone, counted from 1.")
@click.option("--top", type=WholeNumber(1), default=MOST_COLUMNS, show_default=True, metavar="K", help="How many columns to name.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Draw it, as a page for the browser.")
@json_option("what every column brings to every row")
@force_option("a file that is there")
def run(model: Path, table: Path, target: str | None, row: int | None, top: int, output: Path | None, as_json: bool, force: bool) -> None:
    """Say which columns made a prediction what it is.

    What a column brings to the score of a row is its Shapley value, exact for trees and linear members. Together with the mean of all
    rows that were trained on they add up to the score: a number, the log-odds of the second of two classes, or a score for each class.
    """
    check_table(table)
    if output is not None:
        check_picture(output, force)
        check_not_an_input(output, [model, table])
    opened = open_model(model, target)
    rows = read_rows(opened, table)
    inputs, first = chosen(inputs_of(opened, rows), table, row)
    explanation = explain_model(opened, inputs, usable_threads(None))
    if as_json:
        show_json(record(explanation, opened.target, first))
    else:
        for line in as_text(explanation, most=top, first=first).splitlines():
            show(line)
        if shown_rows(len(explanation)) < len(explanation) == rows.num_rows:
            say("--row N tells of one row alone, --json of all.")
    if output is not None:
        write_file(output, [as_html(explanation, f"What makes {opened.target}", first=first).encode()])
        say(f"picture in {output}")


def check_picture(output: Path, force: bool) -> None:
    """End the call where the page would not be taken for one, or would overwrite something."""
    if output.suffix.lower() not in ENDINGS:
        wrong(f"a page for the browser is written, and {str(output)!r} does not end in {' or '.join(ENDINGS)}. Let it, or give --json.")
    check_new(output, force)


def chosen(rows: Any, table: Path, row: int | None) -> tuple[Any, int]:
    """The rows to explain, and the number of the first."""
    if row is None:
        if rows.num_rows > MOST_ROWS:
            say(f"The first {MOST_ROWS} of {rows.num_rows:,} rows are explained; --row N explains another.")
        return rows.slice(0, MOST_ROWS), 1
    if row > rows.num_rows:
        wrong(f"--row {row}: {str(table)!r} has {rows.num_rows:,} {'row' if rows.num_rows == 1 else 'rows'}. Give one of them.")
    return rows.slice(row - 1, 1), row


def record(explanation: Explanation, target: str, first: int) -> dict[str, Any]:
    """An explanation for machines: for each row what every column brings to each of its scores."""
    told = [
        {
            "row": first + position,
            "score": explanation.scores[position],
            "columns": dict(zip(explanation.names, explanation.values[position], strict=True)),
        }
        for position in range(len(explanation))
    ]
    facts = {"target": target, "scale": explanation.scale, "outputs": explanation.outputs, "exact_share": explanation.exact_share}
    found: dict[str, Any] = plain({**facts, "base": explanation.base, "rows": told})
    return found
