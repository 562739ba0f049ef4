"""An exported model as one file of C99 that needs nothing but a compiler and its mathematical library.

Trees are arrays that a few lines walk, as the kernels do; sums are added in the same order, and the exponential and the logarithm of
links are those of `kernels/losses/exponential.py`, so that raw scores and the predictions of losses have the same bits.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import NotExportableError
from woodwind.store.export.c_parts import HELPERS, TOP
from woodwind.store.export.columns import NO_TEXT
from woodwind.store.export.graph import TEXT, Graph, Operation, Output, TreeSum, category_rows

# What an operation does to each column, with A, B and C its inputs.
COLUMNWISE = {
    "add": "A + B", "sub": "A - B", "mul": "A * B", "div": "A / B", "max": "A > B ? A : B", "min": "A < B ? A : B", "neg": "-A",
    "greater": "A > B ? 1.0 : 0.0", "greater_equal": "A >= B ? 1.0 : 0.0", "is_missing": "A != A ? 1.0 : 0.0",
    "where": "A != 0.0 ? B : C", "sqrt": "sqrt(A)", "library_exp": "exp(A)", "library_log": "log(A)", "exp": "ww_exp(A)",
    "log": "ww_log(A)", "expit": "ww_expit(A)",
}  # fmt: skip
# What a function of a whole row is called.
ROW_WISE = {
    "softmax": "ww_softmax", "sort": "ww_sort", "row_sum": "ww_sum", "row_max": "ww_largest", "row_min": "ww_smallest",
    "argmax": "ww_argmax",
}  # fmt: skip
# Numbers on a line.
ON_A_LINE = 12


def to_c(graph: Graph) -> str:
    """The text of the file."""
    return CWriter(graph).text()


def number(value: float) -> str:
    """A number that is read as exactly this one."""
    if np.isnan(value):
        return "NAN"
    return repr(float(value)) if np.isfinite(value) else ("HUGE_VAL" if value > 0 else "-HUGE_VAL")


def quoted(text: str) -> str:
    """Text between quotation marks, all that is not plain as octal numbers of its bytes."""
    plain = "".join(chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}" for byte in text.encode())
    return f'"{plain}"'


def remark(text: str) -> str:
    """Text inside of a comment."""
    return text.encode("ascii", "backslashreplace").decode().replace("*/", "* /").replace("\n", " ")


class CWriter:
    """Writes one graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.arrays: list[str] = []
        self.lines: list[str] = []
        self.names: dict[int, str] = {}
        self.known: dict[Any, str] = {}
        self.keys = graph.keys()
        self.slot = {(one.position, one.part): slot for slot, one in enumerate(graph.inputs)}

    def text(self) -> str:
        """The whole file."""
        for operation in self.graph.operations():
            name = f"v{len(self.names)}"
            self.names[id(operation)] = name
            self.lines.append(f"double {name}[{operation.width}];")
            self._write(operation, name)
        categories = self._categories()
        labels, gives = self._outputs()
        body = "\n".join(f"    {line}" for line in self.lines)
        head = TOP.format(model=remark(self.graph.about["model"]), reads="\n".join(self._reads()), gives="\n".join(gives))
        sizes = f"enum {{ WOODWIND_INPUTS = {len(self.graph.inputs)}, WOODWIND_OUTPUTS = {sum(map(_width, self.graph.outputs))} }};"
        arrays = "\n".join(self.arrays)
        call = f"void woodwind_predict(const double *x, double *out)\n{{\n{body}\n}}\n"
        return "\n".join([head, sizes, HELPERS, arrays, *categories, *labels, call])

    # Arrays.

    def array(self, values: Any, kind: str = "double") -> str:
        """A constant array; its name."""
        made: NDArray[Any] = np.ascontiguousarray(values).reshape(-1)
        key = (kind, made.dtype.str, made.shape, made.tobytes())
        if key not in self.known:
            name = f"c{len(self.known)}"
            end = "ULL" if kind == "uint64_t" else ""
            texts = [number(value) if kind == "double" else f"{value}{end}" for value in made.tolist()] or ["0"]
            rows = [", ".join(texts[first : first + ON_A_LINE]) for first in range(0, len(texts), ON_A_LINE)]
            self.arrays.append(f"static const {kind} {name}[{len(texts)}] = {{\n" + ",\n".join(rows) + "};")
            self.known[key] = name
        return self.known[key]

    def _reads(self) -> list[str]:
        found = []
        for slot, one in enumerate(self.graph.inputs):
            kind = "a number; NAN where it is missing"
            if one.moment is not None:
                kind = "a feature of a date, as a number; NAN where it is missing"
            elif self.graph.columns.kind(one.position) == TEXT:
                kind = f"text: x[{slot}] = woodwind_category({slot}, text)"
            found.append(f"     x[{slot}]  {remark(one.name)}: {kind}")
        return found

    def _outputs(self) -> tuple[list[str], list[str]]:
        labels, gives, first = [], [], 0
        for output in self.graph.outputs:
            width, name = _width(output), self.names[id(output.operation)]
            self.lines.append(f"for (int i = 0; i < {width}; i++) out[{first} + i] = {name}[i];")
            where = f"out[{first}]" if width == 1 else f"out[{first}] to out[{first + width - 1}]"
            what = remark(output.name)
            if output.labels is not None:
                texts = ", ".join(quoted(str(label)) for label in output.labels.tolist())
                array = f"woodwind_{_identifier(output.name)}"
                labels.append(f"const char *const {array}[{len(output.labels)}] = {{{texts}}};")
                what += f": the number of the class in {array}"
            gives.append(f"     {where}  {what}")
            first += width
        return labels, gives

    def _categories(self) -> list[str]:
        """The function that turns text into the numbers of categories."""
        cases, arrays = [], []
        for position, keys in self.keys.items():
            if self.graph.columns.kind(position) != TEXT:
                continue
            if any("\0" in key for key in keys):
                name = self.graph.columns.name(position)
                raise NotExportableError(f"{self.graph.columns.owner}: a category of {name!r} holds a zero byte, which ends a text in C.")
            order = sorted(range(len(keys)), key=lambda row: keys[row].encode())
            slot, size = self.slot[(position, 0)], max(len(keys), 1)
            texts = ",\n".join(quoted(keys[row]) for row in order) or '""'
            arrays.append(f"static const char *const k{slot}[{size}] = {{\n{texts}}};")
            arrays.append(f"static const int32_t n{slot}[{size}] = {{{', '.join(map(str, order)) or '0'}}};")
            empty = "" if NO_TEXT in keys else " || !*text"
            cases.append(f"    if (column == {slot}) return !text{empty} ? -1.0 : ww_find(text, k{slot}, n{slot}, {len(keys)});")
        lines = "\n".join(cases)
        call = f"double woodwind_category(int column, const char *text)\n{{\n{lines}\n    (void)column; (void)text;\n    return -2.0;\n}}\n"
        return [*arrays, call]

    # Operations.

    def _write(self, operation: Operation, out: str) -> None:
        inputs = [self.names[id(one)] for one in operation.inputs]
        if operation.op in COLUMNWISE:
            self._columnwise(operation, inputs, out)
        elif operation.op in ROW_WISE:
            self.lines.append(f"{ROW_WISE[operation.op]}({inputs[0]}, {operation.inputs[0].width}, {out});")
        else:
            writer: Callable[[Operation, list[str], str], None] = getattr(self, f"_{operation.op}")
            writer(operation, inputs, out)

    def _columnwise(self, operation: Operation, inputs: list[str], out: str) -> None:
        formula = COLUMNWISE[operation.op]
        names = [f"{name}[{'i' if one.width > 1 else '0'}]" for name, one in zip(inputs, operation.inputs, strict=True)]
        parts = dict(zip("ABC"[: len(names)], names, strict=True))
        text = "".join(parts.get(letter, letter) if letter in "ABC" else letter for letter in formula)
        self.lines.append(f"for (int i = 0; i < {operation.width}; i++) {out}[i] = {text};")

    def _number(self, operation: Operation, _: list[str], out: str) -> None:
        self.lines.append(f"{out}[0] = x[{self.slot[operation.data.position, operation.data.part]}];")

    def _category(self, operation: Operation, _: list[str], out: str) -> None:
        position = operation.data.column.position
        keys, slot = self.keys[position], self.slot[position, 0]
        rows = self.array(category_rows(operation.data, keys))
        place = f"x[{slot}]"
        if self.graph.columns.kind(position) != TEXT:
            order = np.argsort(np.array(keys, np.float64))
            sorted_keys = self.array(np.array(keys, np.float64)[order])
            place = f"ww_find_number(x[{slot}], {sorted_keys}, {self.array(order, 'int32_t')}, {len(keys)})"
        self.lines.append(f"ww_row({rows}, ww_category_row({place}, {len(keys)}), {operation.width}, {out});")

    def _constant(self, operation: Operation, _: list[str], out: str) -> None:
        self.lines.append(f"ww_row({self.array(operation.data)}, 0, {operation.width}, {out});")

    def _concat(self, operation: Operation, inputs: list[str], out: str) -> None:
        first = 0
        for name, one in zip(inputs, operation.inputs, strict=True):
            self.lines.append(f"ww_row({name}, 0, {one.width}, {out} + {first});")
            first += one.width

    def _take(self, operation: Operation, inputs: list[str], out: str) -> None:
        if operation.width == 1:
            self.lines.append(f"{out}[0] = {inputs[0]}[{operation.data[0]}];")
            return
        self.lines.append(f"ww_take({inputs[0]}, {self.array(operation.data, 'int32_t')}, {operation.width}, {out});")

    def _matmul(self, operation: Operation, inputs: list[str], out: str) -> None:
        rows, columns = operation.data.shape
        self.lines.append(f"ww_matmul({inputs[0]}, {self.array(operation.data)}, {rows}, {columns}, {out});")

    def _lookup(self, operation: Operation, inputs: list[str], out: str) -> None:
        table = self.array(operation.data)
        self.lines.append(f"for (int i = 0; i < {operation.width}; i++) {out}[i] = {table}[(int)({inputs[0]}[i])];")

    def _nearest(self, operation: Operation, inputs: list[str], out: str) -> None:
        rows, k = operation.data
        self.lines.append(f"ww_nearest({inputs[0]}, {self.array(rows)}, {rows.shape[0]}, {rows.shape[1]}, {k}, {out});")

    def _weighted_median(self, operation: Operation, inputs: list[str], out: str) -> None:
        width = operation.inputs[0].width
        self.lines.append(f"double {out}s[{2 * width}];")
        self.lines.append(f"ww_weighted_median({inputs[0]}, {self.array(operation.data)}, {width}, {out}s, {out});")

    # Trees.

    def _forest(self, trees: TreeSum) -> str:
        """The arrays of a forest, and the record that holds them; its name."""
        key = ("forest", id(trees.forest))
        if key not in self.known:
            forest = trees.forest
            kinds = (
                ("roots", "int64_t"), ("feature", "int32_t"), ("threshold", "double"), ("child", "int32_t"), ("missing", "unsigned char"),
                ("sets", "int64_t"), ("words", "uint64_t"), ("set_words", "int32_t"), ("value", "double"),
            )  # fmt: skip
            parts = ", ".join(self.array(getattr(forest, name), kind) for name, kind in kinds)
            name = f"f{len(self.known)}"
            self.arrays.append(f"static const ww_trees {name} = {{{parts}}};")
            self.known[key] = name
        return self.known[key]

    def _tree_values(self, operation: Operation, inputs: list[str], out: str) -> None:
        forest = self._forest(operation.data)
        width = operation.data.forest.value.shape[1]
        value = f"{forest}.value[ww_walk(&{forest}, i, {inputs[0]}) * {width}]"
        self.lines.append(f"for (int i = 0; i < {operation.width}; i++) {out}[i] = {value};")

    def _trees(self, operation: Operation, inputs: list[str], out: str) -> None:
        forest = operation.data.forest
        name = self._forest(operation.data)
        self.lines.append(f"ww_row({self.array(forest.start)}, 0, {operation.width}, {out});")
        if forest.value.shape[1] > 1:
            self.lines.append(f"ww_add_vectors(&{name}, {forest.n_trees}, {forest.value.shape[1]}, {inputs[0]}, {out});")
            return
        columns = self.array(np.maximum(forest.output, 0), "int32_t")
        linear = forest.linear
        if linear is None:
            self.lines.append(f"ww_add(&{name}, {forest.n_trees}, {columns}, {inputs[0]}, {out});")
            return
        kinds = (
            ("first", "int64_t"),
            ("feature", "int32_t"),
            ("coefficient", "double"),
            ("constant", "double"),
            ("low", "double"),
            ("high", "double"),
        )
        parts = ", ".join(self.array(getattr(linear, part), kind) for part, kind in kinds)
        self.arrays.append(f"static const ww_linear l{out} = {{{parts}}};")
        self.lines.append(f"ww_add_linear(&{name}, &l{out}, {forest.n_trees}, {columns}, {inputs[0]}, {out});")


def _width(output: Output) -> int:
    return output.operation.width


def _identifier(name: str) -> str:
    return "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in name)
