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
from woodwind.cli.model_files import entries_of, metric_words, open_models, show_target
from woodwind.cli.options import json_option, model_argument
from woodwind.cli.streams import data_stream

EXAMPLES = ("woodwind leaderboard model.ww", "woodwind leaderboard model.ww --csv > leaderboard.csv")


@command("leaderboard", EXAMPLES, exits=[FINE, UNEXPECTED, WRONG_CALL, BAD_MODEL])
@model_argument()
@click.option("--csv", "as_csv", is_flag=True, help="Write the leaderboard as CSV.")
@json_option("the leaderboard")
def run(model: Path, as_csv: bool, as_json: bool) -> None:
    """Show how good the ensemble is, and each of its members.

    Scores are of rows that the models had not been trained on; weights are those of the ensemble. Every target of several has its own.
    """
    if as_csv and as_json:
        wrong("--csv and --json exclude each other. Give one of them.")
    opened = open_models(model)
    several = len(opened) > 1
    boards = {one.target: entries_of(one) for one in opened}
    if as_json:
        found = [{"metric": one.metric, "leaderboard": in_command_words(plain(boards[one.target]))} for one in opened]
        show_json({"targets": dict(zip(boards, found, strict=True))} if several else found[0])
    elif as_csv:
        names = [field.name for field in fields(Entry)]
        table = csv.writer(data_stream(), lineterminator="\n")
        table.writerow(["target", *names] if several else names)
        for target, entries in boards.items():
            table.writerows([*([target] if several else []), *(getattr(entry, name) for name in names)] for entry in entries)
    else:
        for number, one in enumerate(opened):
            show_target(one, number, several)
            show_leaderboard(boards[one.target])
            show()
            show(f"{metric_words(one.metric)}")
            if words := estimate_words(one.facts, one.metric):
                show(words)
