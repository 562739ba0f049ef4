"""Text files as records of cells: which separator, is there a header, and where is the line that does not fit."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, pairwise

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}

_FEED, _RETURN, _QUOTE = b'\n\r"'
# Records that say which separator it is.
_LOOKED_AT = 200
_WHOLE = re.compile(r"\d{1,18}")


@dataclass(frozen=True)
class Record:
    """One record of a text file."""

    line: int  # on which it begins, from 1
    cells: int
    closed: bool  # False when a quote is open at the end


def records(data: bytes, separator: str) -> Iterator[Record]:
    """The records of a text, blank lines left out, by the rules of Arrow's reader.

    A quote counts at the beginning of a cell only; inside of quotes two quotes are one, and line ends are text.
    """
    sign = separator.encode()[0]
    line = first_line = cells = 1
    start = begin = 0  # of the cell and of the record
    quoted, closed_at = False, -2
    for found in re.finditer(rb'["\r\n' + re.escape(separator.encode()) + rb"]", data):
        position = found.start()
        byte = data[position]
        if byte == _QUOTE:
            if quoted:
                quoted, closed_at = False, position
            elif position == start or position == closed_at + 1:
                quoted = True
        elif byte == sign:
            if not quoted:
                cells, start = cells + 1, position + 1
        elif byte == _FEED and position > 0 and data[position - 1] == _RETURN:
            if not quoted:
                start = begin = position + 1
        else:
            line += 1
            if not quoted:
                if position > begin:
                    yield Record(first_line, cells, closed=True)
                first_line, cells, start, begin = line, 1, position + 1, position + 1
    if begin < len(data):
        yield Record(first_line, cells, not quoted)


def find_separator(head: bytes, complete: bool) -> tuple[str, int]:
    """The separator of a text of which this is the beginning, and the number of cells in its first record.

    That one wins by which most records have as many cells as the first; then the one with the most cells.
    """
    best, answer = (-1.0, 0), (",", 1)
    for separator in SEPARATORS:
        found = list(islice(records(head, separator), _LOOKED_AT))
        if not complete and 1 < len(found) < _LOOKED_AT:
            found = found[:-1]  # it may be cut
        if not found:
            continue
        first = found[0].cells
        alike = sum(record.cells == first for record in found) / len(found)
        score = (alike if first > 1 else 0.0, first)
        if score > best:
            best, answer = score, (separator, first)
    return answer


def is_header(cells: list[str | None]) -> bool:
    """Whether the first record names the columns.

    Names are hardly ever numbers. Years and places (2019, 2020 or 0, 1, 2) are: whole numbers that grow from left to right. Any other
    number says that the first record is data already.
    """
    numbers = [cell.strip() for cell in cells if cell is not None and is_number(cell)]
    if not all(_WHOLE.fullmatch(number) for number in numbers):
        return False
    wholes = [int(number) for number in numbers]
    return all(one < other for one, other in pairwise(wholes))


def is_number(cell: str) -> bool:
    """Whether a cell says a number."""
    if cell.strip().lower().lstrip("+-") in ("nan", "inf", "infinity", "") or "_" in cell:
        return False
    try:
        float(cell)
    except ValueError:
        return False
    return True
