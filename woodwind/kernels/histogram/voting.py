"""Votes for features: which of them a part of the rows would split by (Meng et al. 2016, *A communication-efficient parallel algorithm for
decision tree*). A vote puts features in order and no more: which split is taken is decided from the histograms of all rows."""

from typing import Any

import numpy as np

from woodwind.kernels.histogram import memory
from woodwind.kernels.histogram.layout import GRADIENT_SHIFT, HESSIAN_SHIFT, HESSIAN_SHIFT_PACKED3, PACKED2, PACKED3, Rule
from woodwind.kernels.histogram.shards import COARSE
from woodwind.kernels.runtime.jit import inner, kernel
from woodwind.kernels.runtime.records import Tree


@inner
def feature_score(packed: Any, wide: Any, form: int, begin: int, codes: int, category: bool, rule: Rule, l2: float) -> float:
    """The largest score of a split of one feature, less that of no split: of a table of sums of some rows."""
    cells = len(packed)
    gradient_unit = rule.gradient_unit if rule.unrounded else rule.gradient_unit * np.float64(1 << GRADIENT_SHIFT)
    shift = HESSIAN_SHIFT if form == COARSE else HESSIAN_SHIFT_PACKED3
    hessian_unit = rule.hessian_unit if rule.unrounded else rule.hessian_unit * np.float64(1 << shift)
    total_g = 0.0
    total_h = 0.0
    apart = 0.0
    missing_g = 0.0
    missing_h = 0.0
    for code in range(codes):
        cell = begin + code
        g = gradient_unit * np.float64(wide[cell] if form == COARSE else packed[cell] >> 36)
        h = hessian_unit * np.float64(wide[cells + cell] if form == COARSE else (packed[cell] >> 12) & 0xFFFFFF)
        total_g += g
        total_h += h
        apart += g * g / (h + l2) if h > 0.0 else 0.0
        if code == codes - 1:
            missing_g = g
            missing_h = h
    whole = total_g * total_g / (total_h + l2) if total_h > 0.0 else 0.0
    if category:
        return apart - whole
    best = 0.0
    left_g = 0.0
    left_h = 0.0
    for code in range(codes - 1):
        cell = begin + code
        left_g += gradient_unit * np.float64(wide[cell] if form == COARSE else packed[cell] >> 36)
        left_h += hessian_unit * np.float64(wide[cells + cell] if form == COARSE else (packed[cell] >> 12) & 0xFFFFFF)
        for side in range(2):  # missing values on the right, then on the left
            a = left_g + side * missing_g
            b = left_h + side * missing_h
            c = total_g - a
            d = total_h - b
            if b > 0.0 and d > 0.0:
                best = max(best, a * a / (b + l2) + c * c / (d + l2) - whole)
    return best


@kernel
def add_votes(packed: Any, wide: Any, forms: Any, groups: Any, is_category: Any, rule: Rule, top: int, votes: Any) -> None:
    """One voter gives each group of sums its vote for the `top` features of each of them: packed int64[S, cells], wide int64[S, 2 cells].

    groups int32[S]; is_category bool[F]; votes int64[groups, F] is added to. Of equals the first feature is taken.
    """
    features = len(is_category)
    width = packed.shape[1] // features
    l2 = max(rule.l2, 1e-9)
    scores = np.empty(features)
    for slot in range(len(forms)):
        for feature in range(features):
            table = wide[slot] if forms[slot] == COARSE else packed[slot]
            scores[feature] = feature_score(packed[slot], table, forms[slot], feature * width, width, is_category[feature], rule, l2)
        for _place in range(min(top, features)):
            best = 0
            for feature in range(1, features):
                if scores[feature] > scores[best]:
                    best = feature
            if scores[best] <= 0.0:
                break
            votes[groups[slot], best] += 1
            scores[best] = -1.0


@kernel
def put_parent(tree: Tree, rule: Rule, pair: int, found: Any) -> None:
    """Overwrite the histogram above a pair of nodes by the sum of both, int64[cells] or int64[2 * cells]: the larger one is the rest."""
    layout = memory.pair_parent_layout(tree, pair)
    out = memory.histogram_in(tree, layout != PACKED2 and layout != PACKED3, memory.pair_parent_slot(tree, pair))
    cells = rule.n_cells
    for i in range(cells):
        if layout == PACKED3:
            out[i] = found[i]
        elif layout == PACKED2:
            out[i] = (found[i] << 32) + found[cells + i]
        else:
            out[i] = found[i]
            out[cells + i] = found[cells + i]
