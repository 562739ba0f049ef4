"""A blend of the main job as operations of a graph, for ONNX and C."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from woodwind.auto.members.knn_member import CLOSEST, KnnMember
from woodwind.auto.members.linear_member import REACH, LinearMember
from woodwind.auto.members.link import LARGEST
from woodwind.auto.members.mlp_member import CLIP, MlpMember
from woodwind.auto.members.mlp_member import LARGEST as LARGEST_INPUT
from woodwind.auto.members.target_encoding import EncodedMember
from woodwind.auto.members.tree_members import CompactForestMember, ForestMember, MeanMember, Member
from woodwind.auto.model import AutoModel
from woodwind.base.errors import NotExportableError
from woodwind.data.tables.fields import CategoryField
from woodwind.store.export.columns import category_feature, features_of, matrix_of
from woodwind.store.export.graph import (
    Column,
    InputColumns,
    Operation,
    clipped,
    concat,
    constant,
    each,
    library_softmax,
    lookup,
    matmul,
    nearest,
    over_row,
    take,
    trees,
)


class AutoModelWriter:
    """Makes the operations of one model."""

    def __init__(self, model: AutoModel, columns: Sequence[Column], given: InputColumns) -> None:
        self.model, self.columns, self.given = model, columns, given
        self.features = features_of(model.schema, columns, given)
        self._matrix: Operation | None = None

    def scores(self) -> Operation:
        """The score of the blend; members of no weight are left out."""
        total = constant(self.model.shift)
        for name, weight, member in zip(self.model.names, self.model.weights.tolist(), self.model.members, strict=True):
            if weight != 0.0:
                total = each("add", total, each("mul", weight, self._member(name, member)))
        return total

    def probabilities(self, scores: Operation) -> Operation:
        """Probabilities of the classes from scores."""
        if scores.width > 1:
            return library_softmax(scores)
        raised = each("library_exp", each("neg", clipped(scores, -LARGEST, LARGEST)))
        second = each("div", 1.0, each("add", 1.0, raised))
        return concat([each("sub", 1.0, second), second])

    def label(self, probabilities: Operation) -> Operation:
        """The number of the class that is predicted."""
        positive, threshold = self.model.positive, self.model.threshold
        if threshold is None or probabilities.width != 2:
            return over_row("argmax", probabilities)
        reached = each("greater_equal", take(probabilities, [positive]), threshold)
        return reached if positive == 1 else each("sub", 1.0, reached)

    @property
    def matrix(self) -> Operation:
        """The matrix of numbers that linear members and nets read."""
        if self._matrix is None:
            self._matrix = matrix_of(self.model.form, self.columns, self.given)
        return self._matrix

    def _member(self, name: str, member: Member) -> Operation:
        if isinstance(member, MeanMember):
            total = self._member(name, member.members[0])
            for one in member.members[1:]:
                total = each("add", total, self._member(name, one))
            return each("div", total, float(len(member.members)))
        writers: dict[type, Any] = {
            ForestMember: self._trees, EncodedMember: self._encoded, CompactForestMember: self._mean_of_trees, LinearMember: self._linear,
            MlpMember: self._mlp, KnnMember: self._neighbours,
        }  # fmt: skip
        if type(member) in writers:
            made: Operation = writers[type(member)](member)
            return made
        raise NotExportableError(f"{self.given.owner}: the member {name!r} is a {type(member).__name__}, which cannot be exported.")

    def _trees(self, member: ForestMember) -> Operation:
        return trees(concat(self.features), member.forest, self.model.schema.code_counts)

    def _mean_of_trees(self, member: CompactForestMember) -> Operation:
        compact = member.compact_forest
        total = trees(concat(self.features), compact.undivided(), compact.n_categories.astype(np.int64))
        mean = each("div", total, float(compact.n_trees))
        mean = take(mean, [1]) if mean.width == 2 else mean
        return each("add", each("mul", member.slope, mean), member.shift)

    def _linear(self, member: LinearMember) -> Operation:
        product = matmul(clipped(self.matrix, -REACH, REACH), member.coef)
        return clipped(each("add", product, member.start), member.low, member.high)

    def _encoded(self, member: EncodedMember) -> Operation:
        schema, features = self.model.schema, list(self.features)
        counts = schema.code_counts.copy()
        for one in member.encodings:
            source = int(schema.source[one.position])
            field = schema.fields[source]
            assert isinstance(field, CategoryField)
            rows = np.concatenate([one.values[:-1], [np.nan], one.values[-1:]])
            features[one.position] = category_feature(field, self.columns[source], self.given, rows)
            counts[one.position] = 0
        return trees(concat(features), member.forest, counts)

    def _neighbours(self, member: KnnMember) -> Operation:
        queries = each("mul", clipped(take(self.matrix, member.column), -REACH, REACH), member.scale)
        near, distances = nearest(queries, member.rows, member.k)
        heavy = lookup(near, member.weight)
        if member.by_distance:
            middle = each("div", over_row("row_sum", distances), float(member.k))
            middle = each("where", each("greater", middle, 0.0), middle, 1.0)
            heavy = each("mul", heavy, each("div", 1.0, each("max", each("div", distances, middle), CLOSEST)))
        below = each("add", over_row("row_sum", heavy), member.strength)
        target = lookup(near, member.target)
        if len(member.prior) == 1:
            total = each("add", over_row("row_sum", each("mul", heavy, target)), float(member.strength * member.prior[0]))
            return each("div", total, below)
        votes = []
        for label, prior in enumerate((member.strength * member.prior).tolist()):
            own = each("sub", each("greater_equal", target, label), each("greater", target, label))
            votes.append(each("add", over_row("row_sum", each("mul", own, heavy)), prior))
        logs = each("library_log", each("div", concat(votes), below))
        return each("sub", take(logs, [1]), take(logs, [0])) if logs.width == 2 else logs

    def _mlp(self, member: MlpMember) -> Operation:
        pieces = member.pieces
        bounded = clipped(self.matrix, -LARGEST_INPUT, LARGEST_INPUT)
        z = each("mul", each("sub", bounded, pieces.centre), pieces.scale)
        smooth = each("div", z, each("sqrt", each("add", 1.0, _squared(each("div", z, CLIP)))))
        inputs = smooth
        if len(pieces.column):
            steps = each("mul", each("sub", take(bounded, pieces.column), pieces.low), pieces.inverse)
            inputs = concat([smooth, each("sub", clipped(steps, 0.0, 1.0), 0.5)])
        total: Operation | None = None
        for net in range(len(member.scale)):
            values = inputs
            for number, (weight, bias) in enumerate(zip(member.weights, member.biases, strict=True)):
                values = each("add", matmul(values, weight[net].astype(np.float64)), bias[net, 0].astype(np.float64))
                if number < len(member.weights) - 1:
                    raised = each("library_exp", each("neg", clipped(values, -80.0, 80.0)))
                    values = each("mul", values, each("div", 1.0, each("add", 1.0, raised)))
            values = each("mul", values, float(member.scale[net]))
            total = values if total is None else each("add", total, values)
        assert total is not None
        return clipped(each("add", each("div", total, float(len(member.scale))), member.shift), member.low, member.high)


def _squared(operation: Operation) -> Operation:
    return each("mul", operation, operation)
