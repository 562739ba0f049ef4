"""An exported model as ONNX: the operator TreeEnsemble of ai.onnx.ml 5, LabelEncoder, and standard operators. Nothing else imports onnx.

onnxruntime adds up the trees of a TreeEnsemble in an order that depends on its threads. For sums with the same bits as ours, every tree
is a target of its own, and CumSum, which adds from the left to the right, adds them up.
"""

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import NotExportableError, ParameterError
from woodwind.kernels.tree.linear import LARGEST
from woodwind.store.export.columns import NO_TEXT
from woodwind.store.export.graph import TEXT, Graph, Operation, Output, TreeSum, category_rows
from woodwind.store.export.tree_nodes import TreeWriter, shift_of

# The standard operators of 2024, and what goes with them.
OPSET, ML_OPSET, IR_VERSION = 21, 5, 10
DTYPES = ("float64", "float32")
# Numbers of one row that trees give together before they are added up.
TOGETHER = 256

SIMPLE = {
    "add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div", "max": "Max", "min": "Min", "neg": "Neg", "sqrt": "Sqrt",
    "library_exp": "Exp", "library_log": "Log", "expit": "Sigmoid",
}  # fmt: skip
COMPARISONS = {"greater": "Greater", "greater_equal": "GreaterOrEqual", "is_missing": "IsNaN"}
REDUCTIONS = {"row_sum": "ReduceSum", "row_max": "ReduceMax", "row_min": "ReduceMin"}
# Beyond these exp saturates, and below this log: see `kernels/losses/exponential.py` and `losses/links.py`.
MOST_EXPONENT, LEAST = 708.0, float(np.finfo(np.float64).tiny)


def import_onnx() -> Any:
    """The library, with the parts that are needed."""
    try:
        found = importlib.import_module("onnx")
        importlib.import_module("onnx.helper"), importlib.import_module("onnx.numpy_helper")
    except ImportError as error:
        raise ImportError("to_onnx writes with onnx, which is not installed: pip install 'woodwind[onnx]'.") from error
    return found


def to_onnx(graph: Graph, dtype: str = "float64", exact_sums: bool = True) -> Any:
    """The graph as a ModelProto, whose numbers come and go as `dtype` and are float64 in between."""
    if dtype not in DTYPES:
        raise ParameterError(f"{graph.columns.owner}: dtype must be 'float64' or 'float32', but it is {dtype!r}.")
    return OnnxWriter(import_onnx(), graph, dtype, exact_sums).model()


class OnnxWriter:
    """Writes one graph."""

    def __init__(self, onnx: Any, graph: Graph, dtype: str, exact_sums: bool) -> None:
        self.onnx, self.graph, self.exact = onnx, graph, exact_sums
        self.dtype = np.dtype(dtype)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.known: dict[Any, str] = {}
        self.names: dict[int, str] = {}  # of the results of operations
        self.keys = graph.keys()

    # Names and nodes.

    def node(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """A new node with one result, whose name is given back."""
        name = f"t{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(kind, inputs, [name], domain=domain, **attributes))
        return name

    def array(self, values: Any, dtype: Any = np.float64) -> str:
        """A constant."""
        made = np.asarray(values, dtype, order="C")  # a number stays one
        key = (made.dtype.str, made.shape, made.tobytes())
        if made.dtype.kind == "O" or key not in self.known:
            name = f"c{len(self.constants)}"
            self.constants.append(self.onnx.numpy_helper.from_array(made, name))
            self.known[key] = name
        return self.known[key]

    # The model.

    def model(self) -> Any:
        """The ModelProto."""
        helper, proto = self.onnx.helper, self.onnx.TensorProto
        number = proto.DOUBLE if self.dtype == np.float64 else proto.FLOAT
        inputs = []
        if self.graph.is_matrix:
            inputs.append(helper.make_tensor_value_info("X", number, [None, len(self.graph.inputs)]))
            self.whole = self._double("X")
        else:
            for one in self.graph.inputs:
                is_text = self.graph.columns.kind(one.position) == TEXT
                inputs.append(helper.make_tensor_value_info(one.name, proto.STRING if is_text else number, [None, 1]))
        for operation in self.graph.operations():
            self.names[id(operation)] = self._write(operation)
        outputs = [self._output(output) for output in self.graph.outputs]
        body = helper.make_graph(self.nodes, "woodwind", inputs, outputs, self.constants)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        made = helper.make_model(body, opset_imports=opsets, producer_name="woodwind", ir_version=IR_VERSION)
        helper.set_model_props(made, self.graph.about)
        return made

    def _double(self, name: str) -> str:
        return name if self.dtype == np.float64 else self.node("Cast", name, to=self.onnx.TensorProto.DOUBLE)

    def _output(self, output: Output) -> Any:
        helper, proto = self.onnx.helper, self.onnx.TensorProto
        found = self.names[id(output.operation)]
        if output.labels is None:
            kind = proto.DOUBLE if self.dtype == np.float64 else proto.FLOAT
            self.nodes.append(helper.make_node("Cast", [found], [output.name], to=kind))
            return helper.make_tensor_value_info(output.name, kind, [None, output.operation.width])
        labels, kind = label_array(output.labels, proto)
        number = self.node("Cast", self.node("Squeeze", found, self.array([1], np.int64)), to=proto.INT64)
        self.nodes.append(helper.make_node("Gather", [self.array(labels, labels.dtype), number], [output.name], axis=0))
        return helper.make_tensor_value_info(output.name, kind, [None])

    # Operations.

    def _write(self, operation: Operation) -> str:
        inputs = [self.names[id(one)] for one in operation.inputs]
        if operation.op in SIMPLE:
            return self.node(SIMPLE[operation.op], *inputs)
        if operation.op in COMPARISONS:
            return self.node("Cast", self.node(COMPARISONS[operation.op], *inputs), to=self.onnx.TensorProto.DOUBLE)
        if operation.op in REDUCTIONS:
            return self.node(REDUCTIONS[operation.op], inputs[0], self.array([1], np.int64), keepdims=1)
        writer: Callable[[Operation, list[str]], str] = getattr(self, f"_{operation.op}")
        return writer(operation, inputs)

    def _number(self, operation: Operation, _: list[str]) -> str:
        if not self.graph.is_matrix:
            return self._double(operation.data.name)
        return self._at(self.whole, operation.data.position)

    def _category(self, operation: Operation, _: list[str]) -> str:
        position = operation.data.column.position
        number = self._category_number(position)
        rows = category_rows(operation.data, self.keys[position])
        return self.node("Gather", self.array(rows), number, axis=0)

    def _category_number(self, position: int) -> str:
        """The number of the category of each row (n,); -2 for one that training never saw, -1 for a missing one."""
        named = self.known.get(("category", position))
        if named is not None:
            return named
        proto, keys = self.onnx.TensorProto, self.keys[position]
        given = self.graph.columns.name(position)
        if self.graph.columns.kind(position) == TEXT:
            values, texts = list(range(len(keys))), list(keys)
            if NO_TEXT not in keys:
                values, texts = [*values, -1], [*texts, NO_TEXT]
            found = self.node("LabelEncoder", given, domain="ai.onnx.ml", keys_strings=texts, values_int64s=values, default_int64=-2)
        else:
            column = self._at(self.whole, position) if self.graph.is_matrix else self._double(given)
            found = self._number_category(column, np.array(keys, np.float64))
        flat = self.node("Reshape", found, self.array([-1], np.int64))
        name = self.node("Cast", flat, to=proto.INT64)
        self.known[("category", position)] = name
        return name

    def _number_category(self, column: str, keys: NDArray[np.float64]) -> str:
        """The same of a column of numbers: how many of the sorted keys are below it, if that is followed by its equal."""
        rounded = keys.astype(self.dtype).astype(np.float64)
        if len(np.unique(rounded)) < len(keys):
            raise NotExportableError(
                f"{self.graph.columns.owner}: two categories that are numbers are the same in single precision. Use dtype='float64'."
            )
        found = self.node(
            "LabelEncoder", self.node("Add", column, self.array([0.0])), domain="ai.onnx.ml", default_tensor=self._tensor([-2.0]),
            keys_tensor=self._tensor(rounded), values_tensor=self._tensor(np.arange(len(keys))),
        )  # fmt: skip
        return self.node("Where", self.node("IsNaN", column), self.array([-1.0]), found)

    def _tensor(self, values: Any, dtype: Any = np.float64) -> Any:
        """An attribute that is a tensor."""
        return self.onnx.numpy_helper.from_array(np.asarray(values, dtype), "values")

    def _constant(self, operation: Operation, _: list[str]) -> str:
        return self.array(operation.data.reshape(1, -1))

    def _where(self, _: Operation, inputs: list[str]) -> str:
        return self.node("Where", self.node("Cast", inputs[0], to=self.onnx.TensorProto.BOOL), *inputs[1:])

    def _exp(self, _: Operation, inputs: list[str]) -> str:
        bounded = self.node("Min", self.node("Max", inputs[0], self.array([-MOST_EXPONENT])), self.array([MOST_EXPONENT]))
        return self.node("Exp", bounded)

    def _log(self, _: Operation, inputs: list[str]) -> str:
        return self.node("Log", self.node("Max", inputs[0], self.array([LEAST])))

    def _softmax(self, _: Operation, inputs: list[str]) -> str:
        axis = self.array([1], np.int64)
        raised = self.node("Exp", self.node("Sub", inputs[0], self.node("ReduceMax", inputs[0], axis, keepdims=1)))
        return self.node("Div", raised, self.node("ReduceSum", raised, axis, keepdims=1))

    def _concat(self, operation: Operation, inputs: list[str]) -> str:
        positions = [one.data.position if one.op == "number" else -1 for one in operation.inputs]
        if self.graph.is_matrix and positions == list(range(len(self.graph.inputs))):
            return self.whole
        rows = self._rows_like(operation, inputs)
        return self.node("Concat", *rows, axis=1)

    def _rows_like(self, operation: Operation, inputs: list[str]) -> list[str]:
        """The inputs with constants repeated for all rows, since Concat repeats nothing."""
        varying = [name for name, one in zip(inputs, operation.inputs, strict=True) if one.op != "constant"]
        if len(varying) == len(inputs):
            return inputs
        like = varying[0] if varying else self._any_column()
        zero = self.node(
            "Mul", self.node("Cast", self.node("IsNaN", self._at(like, 0)), to=self.onnx.TensorProto.DOUBLE), self.array([0.0])
        )
        return [self.node("Add", zero, name) if one.op == "constant" else name for name, one in zip(inputs, operation.inputs, strict=True)]

    def _any_column(self) -> str:
        """Some column of numbers with as many rows as the table."""
        if self.graph.is_matrix:
            return self.whole
        one = self.graph.inputs[0]
        if self.graph.columns.kind(one.position) == TEXT:
            number = self.node("Cast", self._category_number(one.position), to=self.onnx.TensorProto.DOUBLE)
            return self.node("Reshape", number, self.array([-1, 1], np.int64))
        return self._double(one.name)

    def _take(self, operation: Operation, inputs: list[str]) -> str:
        return self.node("Gather", inputs[0], self.array(operation.data, np.int64), axis=1)

    def _matmul(self, operation: Operation, inputs: list[str]) -> str:
        return self.node("MatMul", inputs[0], self.array(operation.data))

    def _argmax(self, _: Operation, inputs: list[str]) -> str:
        return self.node("Cast", self.node("ArgMax", inputs[0], axis=1, keepdims=1), to=self.onnx.TensorProto.DOUBLE)

    def _sort(self, operation: Operation, inputs: list[str]) -> str:
        return self._sorted(operation.inputs[0].width, inputs[0])[0]

    def _sorted(self, width: int, name: str) -> tuple[str, str]:
        """The columns of each row in ascending order, and where they were."""
        values, positions = f"t{len(self.nodes)}", f"t{len(self.nodes)}p"
        made = self.onnx.helper.make_node("TopK", [name, self.array([width], np.int64)], [values, positions], axis=1, largest=0, sorted=1)
        self.nodes.append(made)
        return values, positions

    def _weighted_median(self, operation: Operation, inputs: list[str]) -> str:
        """The first of the sorted columns at which half of the weight is reached."""
        values, positions = self._sorted(operation.inputs[0].width, inputs[0])
        mass = self.node("CumSum", self.node("Gather", self.array(operation.data), positions, axis=0), self.array(1, np.int64))
        half = self.node("Mul", self._last(mass, operation.inputs[0].width), self.array([0.5]))
        reached = self.node("Cast", self.node("GreaterOrEqual", mass, half), to=self.onnx.TensorProto.INT64)
        first = self.node("ArgMax", reached, axis=1, keepdims=1)
        return self.node("GatherElements", values, first, axis=1)

    def _last(self, name: str, width: int) -> str:
        return self._at(name, width - 1)

    def _nearest(self, operation: Operation, inputs: list[str]) -> str:
        """Squares are added column by column, as ours are, in matrices of a number for each row and each row of the table."""
        rows, k = operation.data
        total = self.array(np.zeros((1, len(rows))))
        for column in range(rows.shape[1]):
            step = self.node("Sub", self._at(inputs[0], column), self.array(rows[:, column].reshape(1, -1)))
            total = self.node("Add", total, self.node("Mul", step, step))
        values, positions = self._sorted(k, total)
        return self.node("Concat", self.node("Cast", positions, to=self.onnx.TensorProto.DOUBLE), self.node("Sqrt", values), axis=1)

    def _lookup(self, operation: Operation, inputs: list[str]) -> str:
        return self.node("Gather", self.array(operation.data), self.node("Cast", inputs[0], to=self.onnx.TensorProto.INT64), axis=0)

    def _at(self, name: str, column: int) -> str:
        return self.node("Gather", name, self.array([column], np.int64), axis=1)

    # Trees.

    def _tree_values(self, operation: Operation, inputs: list[str]) -> str:
        trees: TreeSum = operation.data
        features = self._features(trees, inputs[0])
        numbers = list(range(trees.forest.n_trees))
        parts = [self._targets(trees, features, some, trees.forest.value[:, 0]) for some in chunks(numbers, TOGETHER)]
        return parts[0] if len(parts) == 1 else self.node("Concat", *parts, axis=1)

    def _trees(self, operation: Operation, inputs: list[str]) -> str:
        trees: TreeSum = operation.data
        forest = trees.forest
        features = self._features(trees, inputs[0])
        if forest.value.shape[1] > 1:
            return self._vector_sum(trees, features)
        columns = []
        for output in range(forest.n_outputs):
            own = np.flatnonzero((forest.output == output) | (forest.output == -1)).tolist()
            if forest.linear is not None:
                columns.append(self._linear_sum(trees, features, own, float(forest.start[output])))
            else:
                columns.append(self._scalar_sum(trees, features, own, float(forest.start[output])))
        return columns[0] if len(columns) == 1 else self.node("Concat", *columns, axis=1)

    def _features(self, trees: TreeSum, name: str) -> str:
        """Features with codes of categories as `tree_nodes.py` wants them."""
        shift = shift_of(trees.n_codes)
        return self.node("Add", name, self.array(shift.reshape(1, -1))) if shift.any() else name

    def _ensemble(self, writer: TreeWriter, features: str, values: NDArray[np.float64], n_targets: int) -> str:
        """A TreeEnsemble whose leaves have these values by node of the forest."""
        lists = writer.lists
        more = {}
        if lists.members:
            more["membership_values"] = self._tensor(lists.members[:-1])
        return self.node(
            "TreeEnsemble", features, domain="ai.onnx.ml", n_targets=n_targets, aggregate_function=1, post_transform=0,
            tree_roots=lists.roots, nodes_featureids=lists.feature, nodes_modes=self._tensor(lists.mode, np.uint8),
            nodes_splits=self._tensor(lists.threshold), nodes_missing_value_tracks_true=lists.missing_is_true,
            nodes_truenodeids=lists.ends[0], nodes_falsenodeids=lists.ends[1], nodes_trueleafs=lists.are_leaves[0],
            nodes_falseleafs=lists.are_leaves[1], leaf_targetids=lists.leaf_target,
            leaf_weights=self._tensor(values[lists.leaf_node]), **more,
        )  # fmt: skip

    def _targets(self, trees: TreeSum, features: str, numbers: Sequence[int], values: NDArray[np.float64], first: bool = False) -> str:
        """A column for each tree; where these are the first, one before them for the last of the values, with which a sum starts."""
        writer = TreeWriter(trees)
        if first:
            writer.add_constant(len(values) - 1, 0)
        for target, tree in enumerate(numbers, int(first)):
            writer.add(tree, target)
        return self._ensemble(writer, features, values, len(numbers) + int(first))

    def _scalar_sum(self, trees: TreeSum, features: str, numbers: list[int], start: float) -> str:
        """Trees whose leaves have one number each."""
        values = np.append(trees.forest.value[:, 0], start)
        if not self.exact:
            writer = TreeWriter(trees)
            writer.add_constant(len(values) - 1, 0)
            for tree in numbers:
                writer.add(tree, 0)
            return self._ensemble(writer, features, values, 1)
        total = ""
        for some in chunks(numbers, TOGETHER) or [[]]:
            found = self._targets(trees, features, some, values, not total)
            width = len(some) + 1
            total = self._added_up(found if not total else self.node("Concat", total, found, axis=1), width)
        return total

    def _added_up(self, name: str, width: int) -> str:
        """The sum of columns (n, width, ...), from the first to the last."""
        if width == 1:
            return name
        if self.exact:
            return self._last(self.node("CumSum", name, self.array(1, np.int64)), width)
        return self.node("ReduceSum", name, self.array([1], np.int64), keepdims=1)

    def _leaf_numbers(self, trees: TreeSum, features: str, numbers: Sequence[int], first: bool) -> str:
        """The node of the forest where each row ends in each tree, (n, trees), as int64."""
        found = self._targets(trees, features, numbers, np.arange(trees.forest.n_nodes + 1, dtype=np.float64), first)
        return self.node("Cast", found, to=self.onnx.TensorProto.INT64)

    def _vector_sum(self, trees: TreeSum, features: str) -> str:
        """Trees whose leaves have a number for each output: rows of a table of all of them."""
        forest = trees.forest
        table, total = self.array(np.vstack([forest.value, forest.start])), ""
        for some in chunks(list(range(forest.n_trees)), max(TOGETHER // forest.value.shape[1], 8)) or [[]]:
            values = self.node("Gather", table, self._leaf_numbers(trees, features, some, not total), axis=0)
            total = self._added_up(values if not total else self.node("Concat", total, values, axis=1), len(some) + 1)
        return self.node("Squeeze", total, self.array([1], np.int64))

    def _linear_sum(self, trees: TreeSum, features: str, numbers: list[int], start: float) -> str:
        """Trees with linear leaves: see `kernels/tree/linear.py`. Node n_nodes is the start of the sum."""
        forest, linear = trees.forest, trees.forest.linear
        assert linear is not None
        used = np.unique(linear.feature)
        node = np.repeat(np.arange(forest.n_nodes), np.diff(linear.first))
        coefficient, is_term = np.zeros((forest.n_nodes + 1, used.size)), np.zeros((forest.n_nodes + 1, used.size))
        coefficient[node, np.searchsorted(used, linear.feature)] = linear.coefficient
        is_term[node, np.searchsorted(used, linear.feature)] = 1.0
        plain = [np.append(one, 0.0) for one in (linear.constant, linear.low, linear.high)]
        tables = [self.array(one) for one in (coefficient, is_term, *plain, np.append(forest.value[:, 0], start))]
        axis = self.array([1], np.int64)
        x = self.node("Unsqueeze", self.node("Gather", features, self.array(used, np.int64), axis=1), axis)
        there = self.node("LessOrEqual", self.node("Abs", x), self.array([LARGEST]))
        x = self.node("Where", there, x, self.array([0.0]))
        absent = self.node("Cast", self.node("Not", there), to=self.onnx.TensorProto.DOUBLE)
        total = ""
        for some in chunks(numbers, max(TOGETHER // max(used.size, 1), 8)) or [[]]:
            ends = self._leaf_numbers(trees, features, some, not total)
            found = self._linear_values([self.node("Gather", table, ends, axis=0) for table in tables], x, absent, used.size)
            total = self._added_up(found if not total else self.node("Concat", total, found, axis=1), len(some) + 1)
        return total

    def _linear_values(self, tables: list[str], x: str, absent: str, size: int) -> str:
        """What leaves give (n, trees), from the rows of the tables of `_linear_sum` that are theirs."""
        coefficient, is_term, constant, low, high, value = tables
        axis = self.array([2], np.int64)
        terms = self.node("Concat", self.node("Unsqueeze", constant, axis), self.node("Mul", coefficient, x), axis=2)
        summed = self.node("CumSum", terms, self.array(2, np.int64))
        total = self.node("Gather", summed, self.array(size, np.int64), axis=2)
        total = self.node("Min", self.node("Max", total, low), high)
        lacks = self.node("ReduceMax", self.node("Mul", is_term, absent), axis, keepdims=0)
        has_terms = self.node("ReduceMax", is_term, axis, keepdims=0)
        return self.node("Where", self.node("Greater", has_terms, lacks), total, value)


def chunks(numbers: list[int], size: int) -> list[list[int]]:
    """Some at a time."""
    return [numbers[first : first + size] for first in range(0, len(numbers), size)]


def label_array(labels: NDArray[Any], proto: Any) -> tuple[NDArray[Any], int]:
    """Labels as an array that ONNX can hold, and their type: numbers, truth values, and else text."""
    kinds = {"i": (np.int64, proto.INT64), "u": (np.int64, proto.INT64), "b": (np.bool_, proto.BOOL), "f": (np.float64, proto.DOUBLE)}
    given = np.asarray(labels)
    if given.dtype.kind == "O":
        plain = np.array(given.tolist())
        given = plain if plain.dtype.kind in kinds and plain.ndim == 1 else given
    if given.dtype.kind in kinds:
        dtype, kind = kinds[given.dtype.kind]
        return given.astype(dtype), kind
    return np.array([str(label) for label in given.tolist()], object), proto.STRING
