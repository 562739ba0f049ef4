"""What is suspicious about a table."""

import datetime as dt
import time

import numpy as np
import pyarrow as pa
import pytest

from woodwind.data.quality.suspicions import Suspicion, suspicions
from woodwind.data.reading.written_schema import WrittenSchema

N = 1_000
RNG = np.random.default_rng(0)
PLAIN = {"height": RNG.normal(size=N).round(6), "width": RNG.normal(size=N).round(6), "colour": RNG.choice(["red", "green", "blue"], N)}
CLASSES = RNG.integers(0, 2, N)
NUMBERS = RNG.normal(size=N)


def found(extra=None, y=CLASSES, is_class=True, kind=None, **how):
    """The suspicions about a plain table with further columns; of one kind, or all."""
    table = pa.table({**PLAIN, **(extra or {})})
    all_found = suspicions(table, None, y, is_class, **how)
    # Frames bring text of another type than files do.
    large = [pa.field(one.name, pa.large_string()) if one.type == pa.string() else one for one in table.schema]
    assert suspicions(table.cast(pa.schema(large)), None, y, is_class, **how) == all_found
    for suspicion in all_found:
        assert isinstance(suspicion, Suspicion)
        assert suspicion.severity in ("serious", "warning", "info")
        assert suspicion.words.endswith((".", "?"))
        assert all(repr(name) in suspicion.words for name in suspicion.columns[:5])
    return [suspicion for suspicion in all_found if kind is None or suspicion.kind == kind]


def columns(*given, **how):
    return [suspicion.columns for suspicion in found(*given, **how)]


def test_a_plain_table_is_above_suspicion():
    assert found() == []
    assert found(y=NUMBERS, is_class=False) == []
    assert found({"y": NUMBERS}, y=NUMBERS, is_class=False, kind="leak") != []
    assert suspicions(pa.table({**PLAIN, "y": NUMBERS}), "y", NUMBERS, False) == ()


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("x", np.arange(N)),
        ("x", 5 * np.arange(N)[::-1]),
        ("x", RNG.permutation(N) + 17),
        ("customer_id", RNG.choice(10**9, N, replace=False)),
        ("customerId", RNG.choice(10**9, N, replace=False)),
        ("x", [f"row {number}" for number in range(N)]),
        ("x", np.arange(N).astype(float)),
    ],
)
def test_identifiers(name, values):
    assert columns({name: values}, kind="identifier") == [(name,)]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("salary", RNG.choice(10**6, N, replace=False)),
        ("x", np.sort(RNG.normal(size=N))),
        ("x", np.arange(N) // 2),
        ("humid", RNG.choice(10**6, N, replace=False)),
        ("x", [f"row {number % 500}" for number in range(N)]),
    ],
)
def test_what_is_no_identifier(name, values):
    assert columns({name: values}, kind="identifier") == []


def test_sentences_are_free_text():
    sentences = [f"the quick brown fox number {number} jumps over the lazy dog of the house" for number in range(N)]
    assert columns({"note": sentences}, kind="free text") == [("note",)]
    assert columns({"note": sentences}, kind="identifier") == []


def test_constants_and_nearly():
    rare = np.zeros(N)
    rare[:2] = 1
    assert columns({"same": [5] * N, "rare": rare}, kind="constant") == [("same",)]
    assert columns({"same": [5] * N, "rare": rare}, kind="nearly constant") == [("rare",)]


def test_columns_that_are_nearly_all_missing():
    few = [None] * (N - 3) + [1.0, 2.0, 3.0]
    assert columns({"few": few, "none": pa.nulls(N), "nan": np.full(N, np.nan)}, kind="missing") == [("few",), ("nan",)]


def test_columns_that_say_the_same():
    other = np.array(["one", "two", "three"])[np.unique(PLAIN["colour"], return_inverse=True)[1]]
    alike = found({"height2": PLAIN["height"], "number": other, "shuffled": RNG.permutation(PLAIN["colour"])}, kind="duplicate columns")
    assert [one.columns for one in alike] == [("height", "height2"), ("colour", "number")]
    assert "are equal" in alike[0].words
    assert "in other words" in alike[1].words


def test_rows_that_are_copies():
    table = pa.table(PLAIN).slice(0, N - 100)
    copied = pa.concat_tables([table, table.slice(0, 100)]).append_column("id", pa.array(np.arange(N)))
    y = CLASSES.copy()
    y[N - 100 :] = y[:100]
    y[N - 7 :] = 1 - y[93:100]
    one = [suspicion for suspicion in suspicions(copied, None, y, True) if suspicion.kind == "duplicate rows"]
    assert len(one) == 1
    assert "10 % of the rows (100) are copies" in one[0].words
    assert "7 of those that are copied have different targets" in one[0].words


def test_copies_by_necessity_are_not_suspicious():
    table = pa.table({"a": RNG.integers(0, 2, N), "b": RNG.integers(0, 3, N)})
    assert suspicions(table, None, CLASSES, True) == ()


def noisy(noise):
    return CLASSES + noise * RNG.normal(size=N)


def test_leaks_of_two_classes():
    assert columns({"clear": noisy(0.1), "vague": noisy(0.5)}, kind="leak") == [("clear",)]
    assert columns({"copy": np.array(["n", "y"])[CLASSES]}, kind="leak") == [("copy",)]
    assert found({"clear": noisy(0.1)})[0].severity == "serious"
    assert "too good alone" in found({"clear": noisy(0.1)})[0].words
    assert "easy" in found({f"clear{position}": noisy(0.1) for position in range(3)})[0].words


def test_leaks_of_several_classes_and_of_numbers():
    y = RNG.integers(0, 4, N)
    assert columns({"clear": y + 0.05 * RNG.normal(size=N), "vague": y + 0.4 * RNG.normal(size=N)}, y=y, kind="leak") == [("clear",)]
    extra = {"line": 3 - 2 * NUMBERS, "curve": NUMBERS**3, "vague": NUMBERS + 0.3 * RNG.normal(size=N)}
    leaks = found(extra, y=NUMBERS, is_class=False, kind="leak")
    assert {one.columns[0] for one in leaks} == {"line", "curve"}
    assert "says the same as the target" in leaks[0].words


@pytest.mark.parametrize("parts", [2, 3, 6])
def test_a_copy_of_a_number_that_was_cut_into_parts_is_a_leak(parts):
    cut = np.searchsorted(np.quantile(NUMBERS, np.arange(1, parts) / parts), NUMBERS)
    words = np.array([f"part {7 * part % 11}" for part in range(parts)])[cut]
    blurred = np.where(np.arange(N) % 50 == 0, (cut + 1) % parts, cut)
    extra = {"as numbers": cut, "as words": words, "blurred": blurred, "top": (np.sort(NUMBERS)[-3] <= NUMBERS).astype(int)}
    leaks = found(extra, y=NUMBERS, is_class=False, kind="leak")
    assert {one.columns[0] for one in leaks} == {"as numbers", "as words"}
    assert f"the {parts} values of 'as numbers' stand for ranges of the target that do not overlap" in leaks[0].words


def test_small_tables_and_rare_classes_are_given_the_benefit_of_the_doubt():
    few = np.zeros(N, int)
    few[:8] = 1
    assert columns({"clear": few + 0.01 * RNG.normal(size=N)}, y=few, kind="leak") == []
    table = pa.table({"clear": noisy(0.1)[:60]})
    assert suspicions(table, None, CLASSES[:60], True) == ()


def test_an_identifier_is_no_leak():
    assert columns({"id": [f"c{number}" for number in range(N)]}, kind="leak") == []


def test_gaps_that_tell():
    told = np.where(CLASSES == 1, np.nan, PLAIN["height"])
    half = np.where((CLASSES == 1) & (RNG.random(N) < 0.6), np.nan, PLAIN["width"])
    free = np.where(RNG.random(N) < 0.3, np.nan, PLAIN["width"])
    gaps = found({"told": told, "half": half, "free": free}, kind="telling gaps")
    assert [(one.columns, one.severity) for one in gaps] == [(("told",), "serious"), (("half",), "warning")]
    by_number = np.where(NUMBERS > 0.5, np.nan, PLAIN["height"])
    assert columns({"gap": by_number}, y=NUMBERS, is_class=False, kind="telling gaps") == [("gap",)]


def test_numbers_among_text():
    cells = [str(value) for value in PLAIN["height"]]
    cells[7], cells[9] = "unknown", "see note"
    (one,) = found({"mixed": cells}, kind="mixed")
    assert "2 cells" in one.words
    assert "'unknown', 'see note'" in one.words
    assert "row 8" in one.words
    assert columns({"code": [f"{number:06d}" for number in range(N)]}, kind="mixed") == []


@pytest.mark.parametrize("form", ["${:,}", "{} %", "{}kg", "€ {}"])
def test_numbers_with_units(form):
    cells = [form.format(number % 700 + 1_000) for number in range(N)]
    assert columns({"price": cells}, kind="numbers with units") == [("price",)]
    assert columns({"room": [f"{number % 700}A{number % 3}" for number in range(N)]}, kind="numbers with units") == []


def test_rows_in_the_order_of_time():
    days = [dt.date(2020, 1, 1) + dt.timedelta(days=number // 3) for number in range(N)]
    assert columns({"when": days}, kind="time order") == [("when",)]
    assert columns({"when": days[::-1]}, kind="time order") == [("when",)]
    assert columns({"when": RNG.permutation(np.array(days)).tolist()}, kind="time order") == []
    assert columns({"year": 1900 + np.arange(N) // 10}, kind="time order") == [("year",)]
    assert columns({"day": np.arange(N) // 2 % 31}, kind="time order") == []
    assert columns({"price": np.arange(N) // 10}, kind="time order") == []
    y = RNG.normal(size=N)
    assert "time order" not in {one.kind for one in suspicions(pa.table({"when": days}), None, y, False, ordered=True)}


def test_rows_that_belong_together():
    who = RNG.integers(0, 100, N)
    assert columns({"patient": who}, kind="group") == [("patient",)]
    assert columns({"userId": who}, kind="group") == [("userId",)]
    assert columns({"who": [f"p{number // 10}" for number in range(N)]}, kind="group") == [("who",)]
    assert columns({"who": [f"p{number}" for number in who]}, kind="group") == []
    assert columns({"patient": who}, kind="group", groups=who) == []


def test_categories_of_many_levels():
    assert columns({"many": [f"l{number}" for number in RNG.integers(0, 300, N)]}, kind="many categories") == [("many",)]
    assert columns({"some": [f"l{number}" for number in RNG.integers(0, 90, N)]}, kind="many categories") == []
    (one,) = found({"many": [f"l{number % 254}" for number in range(N)]}, kind="many categories")
    assert one.severity == "warning"
    assert "tell the 252 most frequent apart and take the others as one" in one.words
    (one,) = found({"many": [f"l{number % 253}" for number in range(N)]}, kind="many categories")
    assert "little can be learned" in one.words


def test_classes_with_few_rows():
    y = CLASSES.copy()
    y[:3] = 2
    (one,) = found(y=y, kind="rare class")
    assert "the rarest 3" in one.words
    rare = np.zeros(100 * N, int)
    rare[:500] = 1
    table = pa.table({"x": RNG.normal(size=rare.size)})
    assert [one.severity for one in suspicions(table, None, rare, True)] == ["info"]


def test_targets_with_heavy_tails():
    assert [one.kind for one in found(y=np.exp(2 * NUMBERS), is_class=False)] == ["heavy tail"]
    assert found(y=np.abs(NUMBERS), is_class=False) == []


def test_of_large_tables_a_sample_is_looked_at_and_said(monkeypatch):
    monkeypatch.setattr("woodwind.data.quality.suspicions.MOST_ROWS", 500)
    n = 5_000
    table = pa.table({"id": np.arange(n), "x": RNG.normal(size=n)})
    y = RNG.normal(size=n)
    (one,) = suspicions(table, None, y, False)
    assert one.kind == "identifier"
    assert "of 500 rows drawn from 5,000" in one.words
    assert suspicions(table, None, y, False) == (one,)


def test_of_many_columns_fewer_rows_are_looked_at():
    n = 4_000
    numbers = RNG.normal(size=n)
    table = pa.table({"copy": numbers, **{f"column {position}": np.zeros(n) for position in range(2_000)}})
    (one,) = (suspicion for suspicion in suspicions(table, None, numbers, False) if suspicion.kind == "leak")
    assert "of 2,000 rows drawn from 4,000" in one.words
    assert not any("drawn from" in suspicion.words for suspicion in suspicions(table.select(range(1_000)), None, numbers, False))


def test_columns_of_different_numbers_are_copies_only_if_all_are_equal():
    other = PLAIN["height"].copy()
    other[-1] += 1.0
    assert found({"height2": other}, kind="duplicate columns") == []
    whole = RNG.permutation(N)
    (one,) = found({"whole": whole, "float": whole.astype(np.float64), "other": other}, kind="duplicate columns")
    assert one.columns == ("whole", "float")


@pytest.mark.parametrize("n", [0, 1, 2, 3, 25])
def test_tiny_and_odd_tables_are_no_trouble(n):
    table = pa.table(
        {
            "empty": pa.nulls(n),
            "nested": pa.array([[1]] * n, pa.list_(pa.int64())),
            "level": pa.array(["a"] * n).dictionary_encode(),
            "infinite": pa.array([float("inf")] * n, pa.float64()),
            "nano": pa.array([1] * n, pa.timestamp("ns")),
            "far": pa.array([2**31 - 1] * n, pa.int32()).cast(pa.date32()),
            "bool": pa.array([True] * n, pa.bool_()),
            "time": pa.array([dt.time(1)] * n, pa.time64("us")),
            "decimal": pa.array([1] * n, pa.int64()).cast(pa.decimal128(22, 1)),
        }
    )
    assert len(WrittenSchema.of(table).columns) == table.num_columns
    suspicions(table, None, np.zeros(n), False)
    suspicions(table, None, np.arange(n) % 2, True)


def test_a_hundred_thousand_rows_take_about_a_second():
    n = 100_000
    draw = np.random.default_rng(1)
    table = pa.table({f"x{position}": draw.normal(size=n) if position % 3 else draw.integers(0, 50, n) for position in range(30)})
    began = time.perf_counter()
    suspicions(table, None, draw.integers(0, 2, n), True)
    assert time.perf_counter() - began < 10  # one second where nothing else runs


OTHER = np.random.default_rng(1)
DAYS = [dt.date(2020, 1, 1) + dt.timedelta(days=int(day)) for day in OTHER.permutation(2 * N)[:N]]
AMOUNTS = OTHER.permutation(90_000)[:N].tolist()


@pytest.mark.parametrize(
    "cells",
    [
        [f"${amount:,}" for amount in AMOUNTS],
        [f"(${amount:,})" if amount % 2 else f"${amount:,}" for amount in AMOUNTS],
        [f"USD {amount}" for amount in AMOUNTS],
        [f"{amount / 10} %" for amount in AMOUNTS],
        [f"{amount + 1000:,}" for amount in AMOUNTS],
    ],
)
def test_amounts_are_no_identifiers(cells):
    assert [(one.kind, one.columns) for one in found({"usd": cells})] == [("numbers with units", ("usd",))]


@pytest.mark.parametrize(
    ("layout", "predicted"),
    [
        ("%m/%d/%y", '"format": "%m/%d/%y"'),
        ("%d.%m.%y", '"format": "%d.%m.%y"'),
        ("%B %d, %Y", '"type": "date".'),
        ("%d %b %y", "Make dates of it first: "),
        ("%Y%m%d", '"format": "%Y%m%d"'),
        ("%Y-%m-%d", '"type": "date".'),
        ("%Y-%m-%dT12:30:00Z", '"type": "date".'),
        ("%d/%m/%Y", '"type": "date".'),
    ],
)
def test_dates_as_text_are_no_identifiers(layout, predicted):
    (one,) = found({"when": [day.strftime(layout) for day in DAYS]})
    assert (one.kind, one.columns) == ("dates as text", ("when",))
    assert predicted in one.words


def test_dates_of_which_day_and_month_cannot_be_told_apart_are_said_both_ways():
    (one,) = found({"when": [f"{1 + row % 12}/{1 + row % 11}/{1000 + row}" for row in range(N)]})
    assert '"format": "%d/%m/%Y" (or "%m/%d/%Y")' in one.words


def test_dates_but_for_some_cells():
    cells = [day.isoformat() for day in DAYS]
    cells[7] = "unknown"
    (one,) = found({"when": cells})
    assert one.kind == "dates as text"
    assert "but for 1 cell such as 'unknown' (first in row 8)" in one.words
    assert '"missing": [...]' in one.words


def test_days_as_whole_numbers_are_no_identifiers():
    days = sorted(int(day.strftime("%Y%m%d")) for day in DAYS)
    assert [one.kind for one in found({"x": days})] == ["dates as numbers"]
    assert [one.kind for one in found({"year": np.arange(N)})] == ["time order"]


def test_numbers_as_text():
    sizes = [str(size) for size in PLAIN["height"] + 1]
    assert [(one.kind, one.severity) for one in found({"x": sizes})] == [("numbers as text", "info")]
    assert [one.kind for one in found({"x": [str(row) for row in range(N)]})] == ["identifier"]
    assert [one.kind for one in found({"x": [f"{row:06d}" for row in range(N)]})] == ["identifier"]


TEXTS = {
    "string": lambda cells: pa.array(cells, pa.string()),
    "large_string": lambda cells: pa.array(cells, pa.large_string()),
    "string_view": lambda cells: pa.array(cells, pa.string_view()),
    "dictionary": lambda cells: pa.array(cells, pa.string()).dictionary_encode(),
    "large dictionary": lambda cells: pa.array(cells, pa.large_string()).dictionary_encode(),
    "chunks": lambda cells: pa.chunked_array([pa.array(cells[:7], pa.string_view()), pa.array(cells[7:], pa.string_view())]),
}


def test_whatever_way_text_is_stored_the_same_is_suspicious():
    cells = {
        "id": [f"c{row}" for row in range(N)],
        "usd": [f"${amount:,}" for amount in AMOUNTS],
        "when": [day.strftime("%m/%d/%y") for day in DAYS],
        "iso": [day.isoformat() for day in DAYS],
        "mixed": ["unknown", *map(str, PLAIN["width"][1:])],
        "numbers": [str(size) for size in PLAIN["height"] + 1],
        "note": [f"the quick brown fox number {row} jumps over the lazy dog of the house" for row in range(N)],
        "leak": np.array(["n", "y"])[CLASSES].tolist(),
        "same": ["a"] * N,
        "few": [None] * (N - 3) + ["a", "b", "c"],
        "gap": [None if label else f"l{row % 3}" for row, label in enumerate(CLASSES)],
        "patient": [f"p{row // 10}" for row in range(N)],
        "twin": [f"p{row // 10}" for row in range(N)],
        "many": [f"l{number}" for number in OTHER.integers(0, 300, N)],
    }
    answers = {}
    for name, stored in TEXTS.items():
        answers[name] = suspicions(pa.table({column: stored(values) for column, values in cells.items()}), None, CLASSES, True)
    kinds = {one.kind for one in answers["string"]}
    assert kinds >= {"identifier", "numbers with units", "dates as text", "mixed", "numbers as text", "free text", "leak", "constant"}
    assert kinds >= {"missing", "telling gaps", "group", "duplicate columns", "many categories"}
    assert all(answer == answers["string"] for answer in answers.values())


def test_columns_of_text_that_are_stored_in_two_ways_are_equal_all_the_same():
    cells = [f"l{row % 7}" for row in range(N)]
    (one,) = found({"one": pa.array(cells, pa.string()), "two": pa.array(cells, pa.large_string())}, kind="duplicate columns")
    assert "are equal" in one.words


def test_labels_that_are_spelt_in_several_ways():
    labels = ["NO", "Yes", "maybe", "no ", "yes"]
    y = np.arange(N) % len(labels)
    alike = found(y=y, classes=labels, kind="labels alike")
    assert [one.severity for one in alike] == ["serious", "serious"]
    assert "'NO' (200 rows), 'no ' (200 rows)" in alike[0].words
    assert "'Yes' (200 rows), 'yes' (200 rows)" in alike[1].words
    assert found(y=y, classes=["a", "b", "c", 1, 2], kind="labels alike") == []


def test_what_goes_for_several_columns_is_said_once():
    same = {f"c{number}": np.full(N, number) for number in range(7)}
    (one,) = found(same, kind="constant")
    assert one.columns == tuple(same)
    assert one.words == "'c0', 'c1', 'c2', 'c3', 'c4' and 2 more have one value each, the same in every row: they say nothing."
    nearly = {f"n{number}": np.r_[np.zeros(N - number), np.ones(number)] for number in (1, 2, 3)}
    (one,) = found(nearly, kind="nearly constant")
    assert one.words == "'n1', 'n2', 'n3' have the same value in all but at most 3 of 1,000 rows: they say hardly anything."
    gaps = {f"g{number}": np.r_[np.full(N - number, np.nan), RNG.normal(size=number)] for number in (10, 20, 30)}
    (one,) = found(gaps, kind="missing")
    assert one.words == "'g10', 'g20', 'g30' are missing in 97 % of the rows or more."
    names = {f"id{number}": [f"{number}-{row}" for row in range(N)] for number in range(4)}
    (one,) = found(names, kind="identifier")
    assert one.columns == tuple(names)
    assert one.words.endswith("Leave it out with ignore='id0'. Much the same goes for 'id1', 'id2', 'id3'.")
    categories = {f"l{number}": [f"x{row % (200 + number)}x" for row in range(N)] for number in range(3)}
    (one,) = found(categories, kind="many categories")
    assert one.words.startswith("'l0' has 200 categories in 1,000 rows")


def test_two_columns_are_two_suspicions_and_serious_ones_are_never_joined():
    assert columns({"a": np.ones(N), "b": np.full(N, 2)}, kind="constant") == [("a",), ("b",)]
    days = [dt.date(2024, 1, 1) + dt.timedelta(days=row // 3) for row in range(N)]
    written = {"iso": "%Y-%m-%d", "american": "%m/%d/%Y", "german": "%d.%m.%Y"}
    dates = {name: [day.strftime(layout) for day in days] for name, layout in written.items()}
    assert {one.columns for one in found(dates, kind="dates as text")} == {("iso",), ("american",), ("german",)}  # each has another remedy
    leaks = {f"l{number}": CLASSES + number for number in range(4)}
    assert columns(leaks, kind="leak") == [("l0",), ("l1",), ("l2",), ("l3",)]


class Looks:
    """Time for so many looks at the clock."""

    def __init__(self, count):
        self.count = count

    def __call__(self):
        self.count -= 1
        return self.count >= 0


def wide(columns=100):
    draw = np.random.default_rng(4)
    values = {f"x{number}": draw.normal(size=N).round(3) for number in range(columns)}
    return pa.table({**values, "x5": CLASSES * 2.0, "x90": CLASSES * 3.0})


def test_where_there_is_no_time_it_is_said_what_was_not_looked_for():
    whole = suspicions(wide(), None, CLASSES, True)
    assert [one.columns for one in whole if one.kind == "leak"] == [("x5",), ("x90",)]
    none = suspicions(wide(), None, CLASSES, True, is_time=Looks(0))
    assert [one.kind for one in none] == ["not looked for"]
    assert none[0].words.startswith("there was no time to look for leaks, telling gaps, identifiers, groups")
    assert "rare classes" not in none[0].words  # which needs no column
    some = suspicions(wide(), None, CLASSES, True, is_time=Looks(2))
    assert [one.columns for one in some if one.kind == "leak"] == [("x5",)]
    assert "leaks in 36 of 100 columns, telling gaps," in some[-1].words


@pytest.mark.parametrize("count", range(0, 60, 3))
def test_what_is_said_for_want_of_time_is_true(count):
    """Whatever is found in a part of the columns is found in all of them too: rows are no copies because they are alike in some columns."""
    rows = np.random.default_rng(2).integers(0, 100, (N, 40)) * np.array([1, *[0] * 38, 1])
    table = pa.table({f"x{number}": values for number, values in enumerate(rows.T)} | {"key": NUMBERS.round(3)})
    whole = suspicions(table, None, CLASSES, True)
    some = suspicions(table, None, CLASSES, True, is_time=Looks(count))
    assert {(one.kind, one.columns) for one in some if one.kind not in ("not looked for", "duplicate columns")} <= {
        (one.kind, one.columns) for one in whole
    }
    assert (some == whole) == (some[-1].kind != "not looked for")
