"""What the library predicts for parameters, for somebody who types commands."""

import pytest

from woodwind.base.formatting import counted
from woodwind.cli.console import in_options


@pytest.mark.parametrize(
    ("predicted", "spoken"),
    [
        ('read as classes; say task="regression" for numbers.', "read as classes; give --task regression for numbers."),
        ('Fix: leave task="regression" out, or mend', "Fix: leave --task regression out, or mend"),
        ("leave them out with drop_missing_target=True (--drop-missing-target), or", "leave them out with --drop-missing-target, or"),
        ("put a line with names above it, or say header=False.", "put a line with names above it."),
        ("Put names above it; or, if these are names, say header=True.", "Put names above it."),
        (
            "rename its columns, or read only the columns that all files have with columns=[...].",
            "rename its columns.",
        ),
        ("It is written as it is; guard_formulas=True puts an apostrophe before it.", "It is written as it is."),
        ("Give what was given then, or start anew without resume.", "Give what was given then, or start anew without --resume."),
        ("AutoEnsembleClassifier: exclude names all families", "exclude names all families"),
        ("Leave it out with ignore='id'.", "Leave it out with --ignore id."),
        ("""leave it out with ignore="the customer's".""", """leave it out with --ignore 'the customer'"'"'s'."""),
        ("are split; say group='family name'.", "are split; give --group 'family name'."),
        ("scored by what came later: say time_column='when'.", "scored by what came later: give --time-column when."),
        ("or say so in a written schema (schema=...): x", "or say so in a written schema (--schema): x"),
        ("out of time after 1 rounds", "out of time after 1 round"),
        ("out of time after 11 rounds, 0.1 rows", "out of time after 11 rounds, 0.1 rows"),
    ],
)
def test_parameters_become_options(predicted, spoken):
    assert in_options(predicted) == spoken


def test_one_of_something_is_one():
    assert (counted(0, "row"), counted(1, "row"), counted(2500, "row")) == ("0 rows", "1 row", "2,500 rows")
