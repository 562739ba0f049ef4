"""woodwind leaderboard: how good the ensemble is, and each of its members."""

import csv
from dataclasses import fields
from pathlib import Path

import click

from woodwind.auto.averaging import estimate_words
from woodwind.auto.outcome import Entry
from woodwind.cli.command import BAD_MODEL, FINE, UNEXPECTED, WRONG_CALL, command, wrong
from woodwind.cli.console import in_command_words, plain, show, show_json
from woodwind.cli.leaderboard_table import show_leaderboard
from woodwind.cli.model_files import entries_of, metric_words, open_model
from woodwind.cli.options import json_option, model_argument
from woodwind.cli.streams import data_stream

EXAMPLES = ("woodwind leaderboard model.ww", "woodwind leaderboard model.ww --csv > leaderboard.csv")


@command("leaderboard", EXAMPLES, exits=[FINE, UNEXPECTED, WRONG_CALL, BAD_MODEL])
@model_argument()
@click.option("--csv", "as_csv", is_flag=True, help="Write the leaderboard as CSV.")
@json_option("the leaderboard")
def run(model: Path, as_csv: bool, as_json: bool) -> None:
    """Show how good the ensemble is, and each of its members.

    Scores are of rows that the models had not been trained on; weights are those of the ensemble.
    """
    if as_csv and as_json:
        wrong("--csv and --json exclude each other. Give one of them.")
    opened = open_model(model)
    entries = entries_of(opened)
    if as_json:
        show_json({"metric": opened.metric, "leaderboard": in_command_words(plain(entries))})
    elif as_csv:
        names = [field.name for field in fields(Entry)]
        table = csv.writer(data_stream(), lineterminator="\n")
        table.writerow(names)
        table.writerows([getattr(entry, name) for name in names] for entry in entries)
    else:
        show_leaderboard(entries)
        show()
        show(f"{metric_words(opened.metric)}")
        if words := estimate_words(opened.facts, opened.metric):
            show(words)
