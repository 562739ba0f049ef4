"""Explanation: what each column of a table brings to the score of each row, to be read, added up and drawn."""

import importlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import ParameterError
from woodwind.base.formatting import printable
from woodwind.data.tables.cells import Cells
from woodwind.data.tables.schema import Schema

Floats = NDArray[np.float64]

LOG_ODDS = "log-odds"  # the scale on which a score has a probability
SCORE = "score"  # the scale on which the scores of all classes have probabilities together, by softmax
PARAMETER = "value"  # the scale of a parameter of a distribution: its scores are of different things, the first of them the location
# Columns that a text names at most; the others are added up.
MOST_NAMED = 10
# Rows that a notebook shows.
MOST_SHOWN = 3


class Contribution(NamedTuple):
    """What one column brings to one score of one row."""

    name: str
    cell: str  # what the row holds there; "" where that is not known
    value: float


@dataclass(frozen=True, eq=False)
class Explanation:
    """Shapley values of n rows: for every score, the base and the values of the C columns add up to the score."""

    values: Floats  # (n, C, width)
    base: Floats  # (width,) the score when nothing is known of a row: the mean of the training rows
    scores: Floats  # (n, width)
    names: tuple[str, ...]  # of the columns
    outputs: tuple[str, ...]  # of the scores: classes; "" for numbers
    scale: str  # what the scores are, in words
    cells: Cells | None = None  # what the rows hold
    exact_share: float = 1.0  # of the weight of a blend, that of the members whose values are exact and not sampled

    @property
    def exact(self) -> bool:
        """Whether the values are the Shapley values themselves, and not estimates of some of them."""
        return self.exact_share >= 1.0

    def __len__(self) -> int:
        return len(self.values)

    def importance(self) -> Floats:
        """Mean size of the values of each column for each score, (C, width)."""
        return np.abs(self.values).mean(axis=0) if len(self) else np.zeros(self.values.shape[1:])

    def highest(self, row: int) -> int:
        """The place of the highest score of a row: the class that is predicted; of a distribution, the location."""
        return 0 if self.scale == PARAMETER else int(self.scores[row].argmax())

    def contributions(self, row: int, output: int | None = None) -> list[Contribution]:
        """What each column brings to one score of a row, the largest first; to the highest score, unless another is asked for."""
        self._check(row, output)
        k = self.highest(row) if output is None else output
        cells = self.cells.row(row) if self.cells is not None else ("",) * len(self.names)
        brought = self.values[row, :, k]
        return [Contribution(self.names[c], cells[c], float(brought[c])) for c in np.argsort(-np.abs(brought), kind="stable").tolist()]

    def to_text(self, row: int = 0, output: int | None = None, most: int = MOST_NAMED) -> str:
        """One row in words: its score, the base, and the columns that push the score up and down.

        Parameters
        ----------
        row : int, default=0
            Number of the row.
        output : int or None, default=None
            Number of the score, for instance of the class; None for the highest one of the row.
        most : int, default=10
            Columns that are named; what the others bring is added up.
        """
        brought = [one for one in self.contributions(row, output) if one.value]
        k = self.highest(row) if output is None else output
        lines = [f"{self.title(k)}: {self.worded(self.scores[row], k)}, on average {self.worded(self.base, k)}"]
        told = [(one.value, one.name + (f" = {one.cell}" if one.cell else "")) for one in brought[:most]]
        if rest := brought[most:]:
            told.append((sum(one.value for one in rest), f"{len(rest)} other column{'s' if len(rest) > 1 else ''}"))
        numbers = aligned([value for value, _ in told])
        lines += [f"  {written}  {name}" for written, (_, name) in zip(numbers, told, strict=True)]
        if not self.exact:
            lines.append(f"  ({self.exact_share:.0%} of the weight of the model is explained exactly, the rest by sampled orders)")
        return "\n".join(map(printable, lines)) + "\n"

    def _repr_html_(self) -> str:
        """The first rows as tables for a notebook, each column with a bar of what it brings."""
        return "".join(html_of_row(self, row) for row in range(min(len(self), MOST_SHOWN))) + (
            f"<p>and {len(self) - MOST_SHOWN:,} more rows</p>" if len(self) > MOST_SHOWN else ""
        )

    def to_shap(self) -> Any:
        """The same as a shap.Explanation, for the pictures of the shap library, which must be installed.

        Its `data` are numbers, and codes for categories; what the rows hold in words is its `display_data`.

        Returns
        -------
        shap.Explanation
            Of one score (n_rows, n_columns), of several (n_rows, n_columns, n_scores).
        """
        try:
            shap = importlib.import_module("shap")
        except ImportError as error:
            raise ImportError("to_shap makes an object of the shap library, which is not installed: pip install shap.") from error
        one = self.values.shape[2] == 1
        base = np.tile(self.base, (len(self), 1))
        cells = self.cells
        return shap.Explanation(
            values=self.values[:, :, 0] if one else self.values,
            base_values=base[:, 0] if one else base,
            data=None if cells is None else cells.first_features(),
            display_data=None if cells is None else np.array([cells.row(row) for row in range(len(self))], object),
            feature_names=list(self.names),
            output_names=None if one else list(self.outputs),
        )

    def title(self, output: int) -> str:
        """What a score is, in words."""
        return f"{self.scale} of {self.outputs[output]}" if self.outputs[output] else self.scale

    def probability(self, scores: Floats, output: int) -> float | None:
        """The probability that belongs to one of the scores of a row; None where the scale is another one."""
        if self.scale == LOG_ODDS:
            return 1.0 / (1.0 + math.exp(-min(max(float(scores[output]), -700.0), 700.0)))
        if self.scale == SCORE and len(scores) > 1:
            raised = np.exp(scores - scores.max())
            return float(raised[output] / raised.sum())
        return None

    def worded(self, scores: Floats, output: int) -> str:
        """One of the scores of a row, and the probability that belongs to it."""
        score, probability = rounded(float(scores[output])), self.probability(scores, output)
        return score if probability is None else f"{score} (a probability of {probability:.3g})"

    def _check(self, row: int, output: int | None) -> None:
        if not -len(self) <= row < len(self):
            raise ParameterError(f"Explanation: row must be one of the {len(self):,} rows, counted from 0; {row} was given")
        if output is not None and not 0 <= output < len(self.outputs):
            raise ParameterError(f"Explanation: output must be one of the {len(self.outputs)} scores, counted from 0; {output} was given")


def html_of_row(explanation: Explanation, row: int, most: int = MOST_NAMED) -> str:
    """One row as a table of HTML: its score, the base, and the columns that push the score up and down. All text is escaped."""
    k = explanation.highest(row)
    brought = [one for one in explanation.contributions(row, k) if one.value]
    told = [(one.name, one.cell, one.value) for one in brought[:most]]
    if rest := brought[most:]:
        told.append((f"{len(rest)} other column{'s' if len(rest) > 1 else ''}", "", sum(one.value for one in rest)))
    largest = max((abs(value) for _, _, value in told), default=1.0) or 1.0
    head = f"{explanation.title(k)}: {explanation.worded(explanation.scores[row], k)}, on average {explanation.worded(explanation.base, k)}"
    lines = [f"<table><caption>{escape(printable(head))}</caption><tr><th>column</th><th>value</th><th>contribution</th><th></th></tr>"]
    for (name, cell, value), number in zip(told, aligned([value for _, _, value in told]), strict=True):
        colour = "#D55E00" if value > 0 else "#0072B2"
        bar = f'<div style="background:{colour};height:0.8em;width:{100 * abs(value) / largest:.0f}px"></div>'
        words = "".join(f"<td>{escape(printable(text))}</td>" for text in (name, cell, number.strip()))
        lines.append(f"<tr>{words}<td>{bar}</td></tr>")
    return "".join(lines) + "</table>"


def rounded(value: float) -> str:
    """A number with the four digits that count, at least all those before the point: no power of ten beside numbers that have none."""
    text = f"{value:.4g}"
    return f"{value:.0f}" if "e+" in text and abs(value) < 1e12 else text


def aligned(values: Sequence[float]) -> list[str]:
    """Numbers with their signs, as many digits after the point for all as give the largest three that count, and equally wide."""
    largest = max((abs(value) for value in values), default=0.0)
    digits = min(max(2 - math.floor(math.log10(largest)), 0), 12) if largest > 0.0 else 0
    written = [f"{value:+.{digits}f}" for value in values]
    return [text.rjust(max(map(len, written))) for text in written]


def by_column(values: Floats, schema: Schema) -> Floats:
    """Values of features (n, F, width) as those of the input columns (n, C, width): the parts of a date are added up."""
    if len(schema.source) == schema.n_inputs:
        return values
    first = np.flatnonzero(np.diff(schema.source, prepend=-1))
    return np.asarray(np.add.reduceat(values, first, axis=1))
