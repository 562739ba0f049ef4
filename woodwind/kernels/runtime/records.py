"""Named access to the memory that a tree is grown in.

A tree needs some sixty arrays while it grows. Handed from kernel to kernel one by one or as a tuple, they made the compiler spend two
minutes on passing arguments, and every call count sixty references. So Python keeps the arrays (`Memory`) and hands over one array of
integers, `tree`: address, rows and columns of each array, and behind them numbers that kernels read.

A kernel never sees an address. `Layout` declares the arrays of an engine, one line for each, and every line gives functions that kernels
call by name; `MemoryTable` does the same for the columns of an array whose rows are records:

    LAYOUT = Layout()
    n_bins, n_bins_of = LAYOUT.list("n_bins", np.int64)  # n_bins(tree): the array; n_bins_of(tree, feature): one of its numbers
    NODES = LAYOUT.table("nodes", np.int64)
    depth, set_depth = NODES.column("depth")              # depth(tree, node); set_depth(tree, node, value)

Each is compiled to a few instructions without a call, without counting references and without bounds checks.
With the compiler off they are Python functions that check their bounds.
"""

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic as eager_intrinsic
from numba.extending import typeof_impl
from numpy.typing import NDArray

FIELDS = 3  # address, rows, columns

Tree = NDArray[np.int64]  # what kernels are given
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]
Getter = Callable[[Any], Any]
ItemGetter = Callable[[Any, Any], Any]
ItemSetter = Callable[[Any, Any, Any], Any]

_I64 = ir.IntType(64)

if config.DISABLE_JIT:

    def _not_negative(place: int) -> int:
        """Compiled code does not count from the end: neither may this."""
        if place < 0:
            raise IndexError(f"place {place} of an array of a tree")
        return int(place)

    def _whole(entry: int, dtype: type, flat: bool) -> Getter:
        def whole(tree: Any) -> Any:
            address, rows, columns = (int(number) for number in tree[FIELDS * entry : FIELDS * entry + FIELDS])
            shape = (rows,) if flat else (rows, columns)
            size = int(np.prod(shape)) * np.dtype(dtype).itemsize
            memory: Any = (ctypes.c_char * size).from_address(address)
            return np.frombuffer(memory, dtype).reshape(shape)

        return whole

    def _row(entry: int, dtype: type) -> ItemGetter:
        whole = _whole(entry, dtype, flat=False)

        def row(tree: Any, place: int) -> Any:
            return whole(tree)[_not_negative(place)]

        return row

    def _row_of_either(entry: int, other: int, dtype: type) -> ItemSetter:
        first, second = _row(entry, dtype), _row(other, dtype)

        def row(tree: Any, of_second: Any, place: int) -> Any:
            return second(tree, place) if of_second else first(tree, place)

        return row

    def _part(entry: int, dtype: type) -> Callable[[Any, Any, Any], Any]:
        whole = _whole(entry, dtype, flat=True)

        def part(tree: Any, which: int, length: int) -> Any:
            return whole(tree)[_not_negative(which) * length : (which + 1) * length]

        return part

    def _item(entry: int, dtype: type) -> tuple[ItemGetter, ItemSetter]:
        whole = _whole(entry, dtype, flat=True)

        def read(tree: Any, place: int) -> Any:
            return whole(tree)[_not_negative(place)]

        def write(tree: Any, place: int, value: Any) -> None:
            whole(tree)[_not_negative(place)] = value

        return read, write

    def _fixed(entry: int, dtype: type, place: int) -> tuple[Getter, ItemGetter]:
        whole = _whole(entry, dtype, flat=True)

        def read(tree: Any) -> Any:
            return whole(tree)[place]

        def write(tree: Any, value: Any) -> None:
            whole(tree)[place] = value

        return read, write

    def _cell(entry: int, dtype: type) -> tuple[Any, Any]:
        whole = _whole(entry, dtype, flat=False)

        def read(tree: Any, row: int, column: int) -> Any:
            return whole(tree)[_not_negative(row), _not_negative(column)]

        def write(tree: Any, row: int, column: int, value: Any) -> None:
            whole(tree)[_not_negative(row), _not_negative(column)] = value

        return read, write

    def _column(entry: int, dtype: type, column: int) -> tuple[ItemGetter, ItemSetter]:
        whole = _whole(entry, dtype, flat=False)

        def read(tree: Any, row: int) -> Any:
            return whole(tree)[_not_negative(row), column]

        def write(tree: Any, row: int, value: Any) -> None:
            whole(tree)[_not_negative(row), column] = value

        return read, write

    def _number(place: int) -> Getter:
        def read(tree: Any) -> Any:
            return tree[place]

        return read

else:
    try:  # semi-private
        from numba.core.typing.templates import make_intrinsic_template
    except ImportError:  # pragma: no cover: every tested version has it
        make_intrinsic_template = None

    class Accessor:
        """What `intrinsic` makes of a function, but made when a kernel that uses it is compiled.

        There are some three hundred, and a process that loads compiled kernels needs none: made at once they took 12 ms.
        """

        def __init__(self, define: Callable[..., Any]) -> None:
            self._define = define
            self._type: Any = None

        def numba_type(self) -> Any:
            """The type that Numba gives a function of this kind."""
            if self._type is None:
                self._type = types.Function(make_intrinsic_template(self, self._define, self._define.__name__))
            return self._type

    @typeof_impl.register(Accessor)
    def _accessor_type(accessor: Any, _context: Any) -> Any:
        return accessor.numba_type()

    intrinsic: Any = eager_intrinsic if make_intrinsic_template is None else Accessor

    def _item_type(dtype: type) -> Any:
        return getattr(types, np.dtype(dtype).name)

    def _load(context: Any, builder: Any, signature: Any, args: Any, place: int) -> Any:
        """One of the integers of a tree."""
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.load(builder.gep(data, [ir.Constant(_I64, place)]))

    def _given(context: Any, builder: Any, signature: Any, args: Any, k: int) -> Any:
        """An argument as a 64-bit integer."""
        return context.cast(builder, args[k], signature.args[k], types.int64)

    def _array_at(context: Any, builder: Any, array_type: Any, address: Any, shape: Any, strides: Any) -> Any:
        """An array that nobody owns. Numba's own function for this comes with its array library: 0.04 s in every process."""
        out = context.make_array(array_type)(context, builder)  # what is not set here is zero
        out.data, out.itemsize = builder.inttoptr(address, out.data.type), strides[-1]
        out.shape, out.strides = cgutils.pack_array(builder, shape), cgutils.pack_array(builder, strides)
        out.nitems = shape[0] if len(shape) == 1 else builder.mul(*shape)
        return out._getvalue()

    def _whole(entry: int, dtype: type, flat: bool) -> Getter:
        array_type = types.Array(_item_type(dtype), 1 if flat else 2, "C")
        size = ir.Constant(_I64, np.dtype(dtype).itemsize)

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            address = _load(context, builder, signature, args, FIELDS * entry)
            rows = _load(context, builder, signature, args, FIELDS * entry + 1)
            if flat:
                return _array_at(context, builder, array_type, address, [rows], [size])
            columns = _load(context, builder, signature, args, FIELDS * entry + 2)
            return _array_at(context, builder, array_type, address, [rows, columns], [builder.mul(columns, size), size])

        @intrinsic
        def whole(_typing: Any, tree: Any) -> Any:
            return array_type(tree), code

        return whole

    def _piece(context: Any, builder: Any, array_type: Any, address: Any, which: Any, length: Any) -> Any:
        """One of the parts of equal length of an array."""
        size = ir.Constant(_I64, array_type.dtype.bitwidth // 8)
        address = builder.add(address, builder.mul(builder.mul(which, length), size))
        return _array_at(context, builder, array_type, address, [length], [size])

    def _row(entry: int, dtype: type) -> ItemGetter:
        array_type = types.Array(_item_type(dtype), 1, "C")

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            address = _load(context, builder, signature, args, FIELDS * entry)
            columns = _load(context, builder, signature, args, FIELDS * entry + 2)
            return _piece(context, builder, array_type, address, _given(context, builder, signature, args, 1), columns)

        @intrinsic
        def row(_typing: Any, tree: Any, place: Any) -> Any:
            return array_type(tree, place), code

        return row

    def _row_of_either(entry: int, other: int, dtype: type) -> ItemSetter:
        array_type = types.Array(_item_type(dtype), 1, "C")

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            of_second = builder.icmp_signed("!=", _given(context, builder, signature, args, 1), ir.Constant(_I64, 0))
            address, columns = (
                builder.select(of_second, *(_load(context, builder, signature, args, FIELDS * one + k) for one in (other, entry)))
                for k in (0, 2)
            )
            return _piece(context, builder, array_type, address, _given(context, builder, signature, args, 2), columns)

        @intrinsic
        def row(_typing: Any, tree: Any, of_second: Any, place: Any) -> Any:
            return array_type(tree, of_second, place), code

        return row

    def _part(entry: int, dtype: type) -> Callable[[Any, Any, Any], Any]:
        array_type = types.Array(_item_type(dtype), 1, "C")

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            address = _load(context, builder, signature, args, FIELDS * entry)
            which, length = (_given(context, builder, signature, args, k) for k in (1, 2))
            return _piece(context, builder, array_type, address, which, length)

        @intrinsic
        def part(_typing: Any, tree: Any, which: Any, length: Any) -> Any:
            return array_type(tree, which, length), code

        return part

    def _access(entry: int, dtype: type, offset: Any) -> tuple[Any, Any]:
        """The code that reads and that writes the number at an offset, which a function of the arguments gives."""

        def place_of(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            address = _load(context, builder, signature, args, FIELDS * entry)
            data = builder.inttoptr(address, context.get_data_type(_item_type(dtype)).as_pointer())
            return builder.gep(data, [offset(context, builder, signature, args)])

        def read(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.load(place_of(context, builder, signature, args))

        def write(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            builder.store(args[-1], place_of(context, builder, signature, args))
            return context.get_dummy_value()

        return read, write

    def _item(entry: int, dtype: type) -> tuple[ItemGetter, ItemSetter]:
        item = _item_type(dtype)
        read, write = _access(entry, dtype, lambda context, builder, signature, args: _given(context, builder, signature, args, 1))

        @intrinsic
        def get(_typing: Any, tree: Any, place: Any) -> Any:
            return item(tree, place), read

        @intrinsic
        def put(_typing: Any, tree: Any, place: Any, value: Any) -> Any:
            return types.void(tree, place, item), write

        return get, put

    def _fixed(entry: int, dtype: type, place: int) -> tuple[Getter, ItemGetter]:
        item = _item_type(dtype)
        read, write = _access(entry, dtype, lambda *_given: ir.Constant(_I64, place))

        @intrinsic
        def get(_typing: Any, tree: Any) -> Any:
            return item(tree), read

        @intrinsic
        def put(_typing: Any, tree: Any, value: Any) -> Any:
            return types.void(tree, item), write

        return get, put

    def _in_row(entry: int, column: Any) -> Any:
        """The offset of a column of the row that the first argument names."""

        def offset(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            columns = _load(context, builder, signature, args, FIELDS * entry + 2)
            start = builder.mul(_given(context, builder, signature, args, 1), columns)
            return builder.add(start, column(context, builder, signature, args))

        return offset

    def _cell(entry: int, dtype: type) -> tuple[Any, Any]:
        item = _item_type(dtype)
        read, write = _access(
            entry, dtype, _in_row(entry, lambda context, builder, signature, args: _given(context, builder, signature, args, 2))
        )

        @intrinsic
        def get(_typing: Any, tree: Any, row: Any, column: Any) -> Any:
            return item(tree, row, column), read

        @intrinsic
        def put(_typing: Any, tree: Any, row: Any, column: Any, value: Any) -> Any:
            return types.void(tree, row, column, item), write

        return get, put

    def _column(entry: int, dtype: type, column: int) -> tuple[ItemGetter, ItemSetter]:
        item = _item_type(dtype)
        read, write = _access(entry, dtype, _in_row(entry, lambda *_given: ir.Constant(_I64, column)))

        @intrinsic
        def get(_typing: Any, tree: Any, row: Any) -> Any:
            return item(tree, row), read

        @intrinsic
        def put(_typing: Any, tree: Any, row: Any, value: Any) -> Any:
            return types.void(tree, row, item), write

        return get, put

    def _number(place: int) -> Getter:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return _load(context, builder, signature, args, place)

        @intrinsic
        def read(_typing: Any, tree: Any) -> Any:
            return types.int64(tree), code

        return read


class MemoryTable:
    """Declares the columns of an array whose rows are records."""

    def __init__(self, entry: int, dtype: type, before: "MemoryTable | None" = None) -> None:
        self._entry, self._dtype = entry, dtype
        self.at: dict[str, int] = {} if before is None else dict(before.at)  # for Python: the place of each column
        self.row: ItemGetter = _row(entry, dtype) if before is None else before.row

    @property
    def width(self) -> int:
        """Columns so far."""
        return len(self.at)

    def column(self, name: str) -> tuple[ItemGetter, ItemSetter]:
        """The next column: what reads it, (tree, row), and what writes it, (tree, row, value)."""
        self.at[name] = len(self.at)
        return _column(self._entry, self._dtype, self.at[name])

    def going_on(self) -> "MemoryTable":
        """The same array, with more columns behind these: those of one engine behind those of all."""
        return MemoryTable(self._entry, self._dtype, self)


class Counters:
    """Declares the numbers of a short list."""

    def __init__(self, entry: int, dtype: type, first: int, before: "Counters | None" = None) -> None:
        self._entry, self._dtype, self._first = entry, dtype, first
        self.at: dict[str, int] = {} if before is None else dict(before.at)  # for Python: the place of each
        self.all: Getter = _whole(entry, dtype, flat=True) if before is None else before.all

    def counter(self, name: str) -> tuple[Getter, ItemGetter]:
        """The next number: what reads it, (tree), and what writes it, (tree, value)."""
        self.at[name] = self._first + len(self.at)
        return _fixed(self._entry, self._dtype, self.at[name])

    def going_on(self) -> "Counters":
        """The same list, with more numbers behind these."""
        return Counters(self._entry, self._dtype, self._first, self)


class Layout:
    """Declares the arrays of an engine, and the numbers behind their addresses."""

    def __init__(self, before: "Layout | None" = None) -> None:
        self.entries: dict[str, int] = {} if before is None else dict(before.entries)
        self.numbers: list[str] = []

    def _next(self, name: str) -> int:
        if name in self.entries or self.numbers:
            raise ValueError(f"{name}: an array has one name, and comes before the numbers")
        self.entries[name] = len(self.entries)
        return self.entries[name]

    def array(self, name: str, dtype: type) -> Getter:
        """A flat array: (tree)."""
        return _whole(self._next(name), dtype, flat=True)

    def list(self, name: str, dtype: type) -> tuple[Getter, ItemGetter]:
        """A flat array, and one of its numbers: (tree), (tree, place)."""
        entry = self._next(name)
        return _whole(entry, dtype, flat=True), _item(entry, dtype)[0]

    def items(self, name: str, dtype: type) -> tuple[Getter, ItemGetter, ItemSetter]:
        """A flat array, and what reads and writes one of its numbers: (tree), (tree, place), (tree, place, value)."""
        entry = self._next(name)
        return _whole(entry, dtype, flat=True), *_item(entry, dtype)

    def parts(self, name: str, dtype: type) -> tuple[Getter, Callable[[Any, Any, Any], Any]]:
        """A flat array, and one of its parts of equal length: (tree), (tree, which, length)."""
        entry = self._next(name)
        return _whole(entry, dtype, flat=True), _part(entry, dtype)

    def matrix(self, name: str, dtype: type) -> tuple[Getter, ItemGetter]:
        """An array of rows, and one of its rows: (tree), (tree, row)."""
        entry = self._next(name)
        return _whole(entry, dtype, flat=False), _row(entry, dtype)

    def cells(self, name: str, dtype: type) -> tuple[Getter, Any, Any]:
        """An array of rows, and what reads and writes one of its numbers: (tree), (tree, row, column), (tree, row, column, value)."""
        entry = self._next(name)
        return _whole(entry, dtype, flat=False), *_cell(entry, dtype)

    def seen_as(self, name: str, dtype: type) -> tuple[Getter, ItemGetter]:
        """An array that was declared, as if it had another type: a flat array, and one of its rows."""
        return _whole(self.entries[name], dtype, flat=True), _row(self.entries[name], dtype)

    def row_of_either(self, name: str, other: str, dtype: type) -> ItemSetter:
        """A row of one of two arrays that were declared: (tree, whether of the second, row). No function of a kernel could return it."""
        return _row_of_either(self.entries[name], self.entries[other], dtype)

    def table(self, name: str, dtype: type) -> MemoryTable:
        """An array whose rows are records."""
        return MemoryTable(self._next(name), dtype)

    def counters(self, name: str, first: int = 0, dtype: type = np.int64) -> Counters:
        """A short list of numbers; those before the first are somebody else's."""
        return Counters(self._next(name), dtype, first)

    def number(self, name: str) -> Getter:
        """A number behind the addresses: (tree)."""
        self.numbers.append(name)
        return _number(FIELDS * len(self.entries) + len(self.numbers) - 1)


class Memory:
    """Named arrays, and the integers by which kernels find them."""

    def __init__(self, layout: Layout, **arrays: NDArray[Any]) -> None:
        self._layout = layout
        self.arrays: dict[str, NDArray[Any]] = {}
        self.directory: Tree = np.zeros(FIELDS * len(layout.entries) + len(layout.numbers), np.int64)
        for name, array in arrays.items():
            self.put(name, array)

    def put(self, name: str, array: NDArray[Any]) -> None:
        """Keep an array and note its address."""
        if not array.flags.c_contiguous:
            raise ValueError(f"{name} must be contiguous")
        start = FIELDS * self._layout.entries[name]
        self.arrays[name] = array
        self.directory[start : start + FIELDS] = (array.ctypes.data, len(array), array.shape[-1])

    def set_numbers(self, **numbers: int) -> None:
        """Write numbers behind the addresses."""
        for name, number in numbers.items():
            self.directory[FIELDS * len(self._layout.entries) + self._layout.numbers.index(name)] = number

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.arrays[name]
