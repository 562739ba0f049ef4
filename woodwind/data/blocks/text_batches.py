"""Text files a batch at a time, with the types that reading them at once would find.

Types hold for every cell to the last line, so the files are read twice at most before the first batch is given: of a column that is not
numbers throughout, its different texts are gathered, and what they all are (truth values, dates, numbers with commas, or text) is what the
column is. A batch is then looked up among them.
"""

from collections.abc import Callable, Collection, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from woodwind.base.errors import DataError, ReadingWarning
from woodwind.base.notice import notice
from woodwind.base.pool import side_by_side, usable_threads
from woodwind.data.blocks.batches import FileStamps, batch_rows
from woodwind.data.reading.csv_file import TextFile, open_text, text_batches
from woodwind.data.reading.sources import Source
from woodwind.data.tables.table_errors import listed
from woodwind.data.tables.text_types import as_numbers, resolve_type

# Different texts of one column that are gathered; some 100 MB.
MOST_TEXTS = 1_000_000


class _SeenColumn:
    """What has been seen of one column."""

    def __init__(self) -> None:
        self.kind: pa.DataType | None = pa.null()  # of numbers; None for text
        self.texts: pa.Array | None = None  # different ones, where it is text

    def add(self, block: pa.Array) -> None:
        """The next block, as long as all before were numbers."""
        if self.kind is None:
            return
        numbers = as_numbers(block, whole=self.kind != pa.float64())
        if numbers is None:
            self.kind = None
        elif numbers.null_count < len(numbers) and self.kind != pa.float64():
            self.kind = numbers.type

    def gather(self, block: pa.Array, name: str) -> None:
        """The next block of a column of text."""
        found = pc.unique(block).drop_null()
        self.texts = found if self.texts is None else pc.unique(pa.concat_arrays([self.texts, found]))
        if len(self.texts) > MOST_TEXTS:
            raise DataError(
                f"BlockTable: column {name!r} has more than {MOST_TEXTS:,} different texts. Identifiers and free text teach trees nothing: "
                f"leave it out with ignore=[{name!r}]."
            )


class TextSource:
    """Text files, read one below another."""

    def __init__(
        self,
        sources: Sequence[Source],
        wanted: Collection[str] | None = None,
        left_out: Collection[str] = (),
        as_text: Collection[str] = (),
        as_written: Collection[str] = (),
        watch: Callable[[int], None] = lambda _: None,
    ) -> None:
        """All columns, or those wanted, without those left out; `as_text` are text in any case, `as_written` unless they are numbers.

        `watch` is called with the number of rows of every part that is looked at before the first batch.
        """
        self._watch = watch
        self._stamps = FileStamps([one.path for one in sources if one.path is not None])
        self._files = [open_text(one) for one in sources]
        first = self._files[0]
        for file in self._files[1:]:
            if set(file.names) != set(first.names):
                raise DataError(f"BlockTable: {file.source.name} has other columns than {first.source.name}. Give files of one table.")
        self._names = [name for name in first.names if name not in left_out and (wanted is None or name in wanted)]
        self.left_out = [name for name in first.names if name in left_out]
        self._seen = {name: _SeenColumn() for name in self._names}
        self._as_written = {*as_written, *as_text}
        for name in as_text:
            if name in self._seen:
                self._seen[name].kind = None
        self.n_rows = 0
        self._read_types()

    def _read_types(self) -> None:
        threads = usable_threads(None)
        for batch in self._texts(self._names):
            side_by_side(lambda _, name: self._seen[name].add(batch[name]), self._names, threads)  # noqa: B023  done before the next
            self.n_rows += len(next(iter(batch.values())))
            self._watch(len(next(iter(batch.values()))))
        texts = [name for name in self._names if self._seen[name].kind is None and name not in self._as_written]
        if texts:
            for batch in self._texts(texts):
                side_by_side(lambda _, name: self._seen[name].gather(batch[name], name), texts, threads)  # noqa: B023
                self._watch(len(batch[texts[0]]))
        self._found: dict[str, pa.Array] = {}
        fields, notes = [], []
        for name in self._names:
            seen = self._seen[name]
            if seen.kind is not None or name in self._as_written:
                fields.append(pa.field(name, seen.kind or pa.string()))
                continue
            texts_of = seen.texts if seen.texts is not None else pa.array([], pa.string())
            found, note = resolve_type(pa.chunked_array([texts_of]), self._files[0].separator)
            notes += [f"column {name!r} {note}"] if note else []
            values = found.combine_chunks()
            self._found[name] = values if isinstance(values, pa.Array) else pa.concat_arrays(values.chunks)
            fields.append(pa.field(name, found.type))
        if notes:
            notice(f"{self._files[0].source.name}: {listed(notes, 5)}.", ReadingWarning)
        self.schema = pa.schema(fields)

    def _texts(self, names: Sequence[str]) -> Iterator[dict[str, pa.Array]]:
        """All rows of some columns, as text with nulls for empty cells."""
        for file in self._files:
            yield from self._texts_of(file, names)

    def _texts_of(self, file: TextFile, names: Sequence[str]) -> Iterator[dict[str, pa.Array]]:
        where = {name: position for position, name in enumerate(file.names)}
        skip = int(file.header)
        for batch in text_batches(file, [where[name] for name in names]):
            columns = [column.slice(skip) for column in batch.columns]
            skip = 0
            if columns and len(columns[0]):
                yield dict(zip(names, columns, strict=True))

    def batches(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """All rows of some columns, in order."""
        size = batch_rows(len(columns))
        for texts in self._texts(columns):
            n_rows = len(next(iter(texts.values())))
            for begin in range(0, n_rows, size):
                yield pa.table({name: self._typed(name, texts[name].slice(begin, size)) for name in columns})

    def _typed(self, name: str, block: pa.Array) -> pa.Array:
        """A block of a column, of the type of the column."""
        seen = self._seen[name]
        if seen.kind is None and name in self._as_written:
            return block
        if seen.kind is None:
            texts, found = seen.texts, self._found[name]
            if texts is None or found.type == pa.string():
                return block if texts is not None else pa.nulls(len(block), found.type)
            return found.take(pc.index_in(block, value_set=texts))
        numbers = as_numbers(block, whole=seen.kind != pa.float64())
        if numbers is None:
            self.check_unchanged()
            raise DataError(f"BlockTable: column {name!r} is no longer numbers. Write the table again when nobody writes to its source.")
        return numbers if numbers.type == seen.kind else numbers.cast(seen.kind, safe=False)

    def check_unchanged(self) -> None:
        """Raise DataError if a file is not what it was."""
        self._stamps.check()
