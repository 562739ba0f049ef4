"""Generated text files: each is read as a plain reading of its cells says, or refused with a clear error; none is a crash.

WOODWIND_FUZZ=5000 reads as many files of each kind.
"""

import csv
import gzip
import io
import os
import random
import re
import tempfile
import warnings
from pathlib import Path
from unittest import mock

import pyarrow as pa
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from woodwind.base.errors import ReadingWarning, WoodwindError
from woodwind.data.quality.suspicions import suspicions
from woodwind.data.reading import csv_file
from woodwind.data.reading.files import read_table
from woodwind.data.tables.target_column import read_target
from woodwind.data.tables.text_types import marks

FILES = int(os.environ.get("WOODWIND_FUZZ", "80"))
NUMBER = re.compile(r"[+-]?((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]?inf", re.ASCII)
KNOWN_MARKS = set(marks().to_pylist())

# Cells are made from a seed, because drawing each of them would take most of the time; so a smaller failing file is not looked for.
SETTINGS = settings(max_examples=FILES, phases=[Phase.generate])
SIGNS = "abcXYZ 019.,;|\t\"'\n\r=+-@#%/:_üß€日\u00a0\u2028😀\x01"
WORDS = ["x", "New York", 'say "hi"', "a,b;c|d\te", "line\nbreak", "=cmd()", "=1+1", "007", "0x1F", "12:30", "ü€", "true", "1,234"]
WORDS += ["1_000", " 5 ", "5 %"]


def number(draw):
    wide = draw.choice([1, 100, 10**6, 10**15])
    return draw.choice([str(draw.randint(-wide, wide)), repr(draw.uniform(-wide, wide)), "1e+05", "+3", ".5", "inf", "0", "1E-300"])


CELLS = {
    "numbers": number,
    "whole": lambda draw: str(draw.randint(-99, 99)),
    "words": lambda draw: draw.choice(WORDS),
    "signs": lambda draw: "".join(draw.choice(SIGNS) for _ in range(draw.randint(0, 8))),
    "long": lambda draw: draw.choice(WORDS) * draw.choice([1, 1, 20_000]),
    "dates": lambda draw: f"{draw.randint(1900, 2100)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}",
    "days": lambda draw: f"{draw.randint(1, 31)}/{draw.randint(1, 12)}/{draw.randint(1900, 2100)}",
    "truth": lambda draw: draw.choice(["true", "False", "TRUE"]),
    "marks": lambda draw: draw.choice(sorted(KNOWN_MARKS)),
    "codes": lambda draw: f"{draw.randint(0, 9999):05}",
}


def make_columns(seed):
    """Columns of one kind each, with some cells of another, often the last one."""
    draw = random.Random(seed)
    n_rows = draw.choice([1, 2, 5, 30])
    out = []
    for _ in range(draw.randint(2, 5)):
        usual, other = (CELLS[name] for name in draw.choices(sorted(CELLS), k=2))
        cells = [usual(draw) for _ in range(n_rows)]
        for position in draw.choice([(), (), (-1,), (0,), (0, -1)]):
            cells[position] = other(draw)
        out.append(cells)
    return out


columns = st.integers(0, 2**60).map(make_columns)


def written(cells, separator, line_end, quoting):
    out = io.StringIO()
    writer = csv.writer(out, delimiter=separator, lineterminator=line_end, quoting=quoting)
    writer.writerow([f"column {position} name" for position in range(len(cells))])
    writer.writerows(zip(*cells, strict=True))
    return out.getvalue()


def read(content, **how):
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadingWarning)
        path = Path(folder) / "table.csv"
        path.write_bytes(content)
        return read_table(path, **how)


def read_or_refused(action):
    """What comes of it, or None if it is refused with an error of ours that says what to do; any other exception fails the test."""
    try:
        return action()
    except WoodwindError as error:
        predicted = str(error)
    assert re.match(r"(?s)WW-[FT]\d{3}: .*\nFix: ", predicted)
    return None


def plainly(cells):
    """A slow and obvious reading of a column: its numbers, or None if it is text or something else."""
    stripped = [cell.strip() for cell in cells]
    present = [cell for cell in stripped if cell not in KNOWN_MARKS]
    if not all(NUMBER.fullmatch(cell) for cell in present):
        return None
    return [None if cell in KNOWN_MARKS else float(cell) for cell in stripped]


@SETTINGS
@given(columns, st.sampled_from(",;\t|"), st.sampled_from(["\n", "\r\n"]), st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
def test_well_formed_files_are_read_as_a_plain_reading_says(cells, separator, line_end, quoting):
    if quoting == csv.QUOTE_MINIMAL:  # Python's writer does not quote a return that is not its own
        cells = [[cell.replace("\r", "") for cell in column] for column in cells]
    table = read(written(cells, separator, line_end, quoting).encode(), separator=separator)
    assert table.num_columns == len(cells)
    assert table.num_rows == len(cells[0])
    for column, told in zip(table.columns, cells, strict=True):
        numbers = plainly(told)
        if numbers is not None:
            assert pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_null(column.type)
            assert [None if one is None else float(one) for one in column.to_pylist()] == numbers
        elif pa.types.is_string(column.type):
            assert column.to_pylist() == [cell or None for cell in told]
        else:  # dates, times of day, truth values, numbers with commas: nothing is lost but marks of absence
            assert column.null_count == sum(cell.strip() in KNOWN_MARKS for cell in told)


@SETTINGS
@given(columns, st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]), st.booleans(), st.integers(1, 60))
def test_encodings_packing_and_late_changes_make_no_difference(cells, encoding, packed, times):
    """All rows but the last many times over, so that the last comes in another block."""
    cells = [[cell[:20].replace("\r", "") for cell in column[:-1] * times + column[-1:]] for column in cells]
    text = written(cells, ",", "\n", csv.QUOTE_ALL)
    expected = read(text.encode("cp1252", "replace").decode("cp1252").encode() if encoding == "cp1252" else text.encode())
    raw = text.encode(encoding, "replace") if encoding == "cp1252" else text.encode(encoding)
    with mock.patch.object(csv_file, "_BLOCK", 4096):
        assert read(gzip.compress(raw, 1) if packed else raw).equals(expected)


DAMAGE = st.one_of(
    st.binary(max_size=6),
    st.sampled_from([b'"', b'"\n', b"\n\n", b",", b"\r", b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b",,,\n", b'""', b"\xc3"]),
    st.sampled_from([b"LONG", b'"LONG']),  # stands for a hundred thousand letters
)


@SETTINGS
@given(columns, st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), DAMAGE), min_size=1, max_size=3), st.booleans())
def test_damaged_files_are_read_or_refused_with_a_clear_error(cells, damages, packed):
    raw = written(cells, ",", "\n", csv.QUOTE_MINIMAL).encode()
    raw = gzip.compress(raw) if packed else raw
    for where, length, put in damages:
        begin = int(where * len(raw))
        raw = raw[:begin] + put.replace(b"LONG", b"x" * 100_000) + raw[begin + int(length**4 * 20) :]
    table = read_or_refused(lambda: read(raw))
    if table is not None:
        assert table.num_rows > 0
        table.validate(full=True)


@settings(max_examples=FILES)
@given(st.binary(max_size=400))
def test_any_bytes_are_read_or_refused(raw):
    table = read_or_refused(lambda: read(raw))
    assert table is None or table.num_rows > 0


@SETTINGS
@given(columns)
def test_whatever_is_read_can_be_asked_about(cells):
    table = read(written([[cell[:100] for cell in column] for column in cells], ",", "\n", csv.QUOTE_ALL).encode())
    for name in table.column_names:
        target = read_or_refused(lambda name=name: read_target(table[name], name=name))
        if target is not None:
            suspicions(table, name, target.y, target.task != "regression")
