"""The best stump of weighted classes, found again and again on one coded table while the weights change."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import LEAST_WORK, run_ranges, side_by_side
from woodwind.data.binning.codes import WORD, Codes
from woodwind.data.binning.cuts import Cuts
from woodwind.kernels.histogram.stump import Vote, best_stump, class_sums, reweigh
from woodwind.kernels.tree.layout import LEFT, STOP
from woodwind.tree.forest import Forest

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Labels = NDArray[np.int32]

# Weights that add up to one become integers that add up to about 2**61: there is room for the rounding of every row.
SCALE = 2.0**61


@dataclass(frozen=True, eq=False)
class Stump:
    """A split and the weights of the classes on both sides, (2, K); a feature of -1 is no split, and all rows are on the left."""

    feature: int
    bin: int
    missing: int
    gain: float
    weights: Floats

    @property
    def probabilities(self) -> Floats:
        """Class probabilities in all nodes: of the root and of its sides, (3, K), or of the root alone, (1, K)."""
        weights = self.weights.sum(axis=0, keepdims=True)
        if self.feature >= 0:
            weights = np.concatenate([weights, self.weights])
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def side(self, codes: Codes) -> Labels:
        """The node of every row: 1 for left, 2 for right; 0 without a split."""
        if self.feature < 0:
            return np.zeros(codes.n_rows, np.int32)
        column = codes.column(self.feature)
        left = (column <= self.bin) if self.missing != LEFT else (column <= self.bin) | (column == codes.missing)
        return np.where(left, np.int32(1), np.int32(2))

    def as_forest(self, cuts: Cuts, value: Floats) -> Forest:
        """A forest of this one tree; `value` are what its nodes say, (3, L) or (1, L)."""
        cover = self.weights.sum(axis=1)
        split = self.feature >= 0
        edges = np.append(cuts.edges[self.feature], np.inf) if split else np.zeros(1)
        return Forest(
            roots=np.array([0, 3 if split else 1]),
            feature=np.array([self.feature, -1, -1] if split else [-1]),
            threshold=np.array([edges[min(self.bin, len(edges) - 1)], 0.0, 0.0] if split else [0.0]),
            child=np.array([1, 0, 0] if split else [0]),
            missing=np.array([self.missing, STOP, STOP] if split else [STOP]),
            sets=np.full(3 if split else 1, -1),
            words=np.zeros(0, np.uint64),
            set_words=(-(-cuts.n_categories // 64)).astype(np.int32),
            value=value,
            cover=np.concatenate([[cover.sum()], cover]) if split else cover[:1] + cover[1:],
            gain=np.array([self.gain, 0.0, 0.0] if split else [0.0]),
            output=np.array([-1 if value.shape[1] > 1 else 0]),
            n_outputs=value.shape[1],
            start=np.zeros(value.shape[1]),
        )


class Stumps:
    """Finds stumps on a table of numbers; `count` is how many rows each row stands for, None for one each."""

    def __init__(self, codes: Codes, count: Integers | None, threads: int) -> None:
        self.codes, self.count, self.threads = codes, count, threads
        # Position by position of words: a pass reads each of them from end to end.
        self._words = np.ascontiguousarray(codes.by_row.view(np.uint64).T[: -(-codes.n_features // WORD)])
        # Growing trees on the same table may have written behind its codes.
        self._words[-1] &= np.uint64((1 << 8 * (1 + (codes.n_features - 1) % WORD)) - 1)

    def whole(self, weight: Floats) -> Integers:
        """Weights, which add up to one, as integers."""
        whole = np.floor(weight * SCALE + 0.5).astype(np.int64)
        return whole if self.count is None else whole * self.count

    def best(self, whole: Integers, label: Labels, n_classes: int) -> Stump:
        """The best stump by weights as `whole` gives them."""
        codes = self.codes
        n, n_features, width = codes.n_rows, codes.n_features, codes.width
        parts = max(min(self.threads, n * n_features // LEAST_WORK), 1)
        sums = np.zeros((parts, 8 * len(self._words), n_classes, width), np.int64)

        def part(number: int) -> None:
            begin, end = n * number // parts, n * (number + 1) // parts
            class_sums(self._words, whole, label, width, begin, end, sums[number].reshape(-1))

        side_by_side(lambda _side, number: part(number), range(parts), parts)
        total = sums[0] if parts == 1 else sums.sum(axis=0)
        found, left = np.zeros(3, np.int64), np.zeros(n_classes, np.int64)
        every = total[0].sum(axis=1)
        score = best_stump(total[codes.places], codes.n_bins, found, left)
        if found[0] < 0:
            return Stump(-1, 0, STOP, 0.0, np.stack([every, np.zeros_like(every)]) / SCALE)
        everything = every.astype(np.float64)
        gain = max(score - float((everything * everything).sum() / everything.sum()), 0.0) / SCALE
        return Stump(int(found[0]), int(found[1]), int(found[2]), gain, np.stack([left, every - left]) / SCALE)

    def reweigh(self, stump: Stump, label: Labels, factors: tuple[float, float], least: float, weight: Floats, whole: Integers) -> None:
        """Multiply weights by the first factor where the stump votes right, and by the second where it does not, in place."""
        votes = stump.weights.argmax(axis=1)
        word, place = divmod(int(self.codes.places[max(stump.feature, 0)]), WORD)
        vote = Vote(
            place=place,
            bin=stump.bin if stump.feature >= 0 else self.codes.width,
            missing_code=self.codes.missing,
            missing_left=int(stump.missing == LEFT or stump.feature < 0),
            left=int(votes[0]),
            right=int(votes[1]),
            if_right=factors[0],
            if_wrong=factors[1],
            least=least,
            scale=SCALE,
        )
        words = self._words[word]

        def part(begin: int, end: int) -> None:
            reweigh(words, label, self.count, vote, begin, end, weight, whole)

        run_ranges(part, len(weight), self.threads, 4)
