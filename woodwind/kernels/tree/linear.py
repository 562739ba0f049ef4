"""Linear leaves: ridge regression on the numbers of a leaf's path, from the derivatives of its rows, and what it adds to scores.

A row with a number that is missing, or beyond LARGEST in size, has the constant value of its leaf.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from woodwind.kernels.runtime.jit import inlined, inner, kernel
from woodwind.kernels.tree.leaves import leaf_value

# Sums of squares of such numbers are finite.
LARGEST = 1e100
# A number that others of the leaf explain but for this share of its variance is left out.
DEPENDENT = 1e-10
# A number whose variance in the leaf is this share of its square has but one value there.
CONSTANT = 1e-24


class LinearTerms(NamedTuple):
    """The linear part of the leaves of a tree or of a forest with N nodes: see `woodwind.tree.linear_leaves.LinearLeaves`."""

    first: Any  # int64[N + 1]
    feature: Any  # int32[C]
    coefficient: Any  # float64[C]
    constant: Any  # float64[N]
    low: Any  # float64[N]
    high: Any  # float64[N]


@inlined
def linear_value(numbers: Any, row: Any, node: Any, value: Any, terms: LinearTerms) -> Any:
    """What a leaf adds to the score of a row: within what its training rows got, so that nothing runs away beyond them."""
    begin = terms.first[node]
    end = terms.first[node + 1]
    if begin == end:
        return value
    total = terms.constant[node]
    for t in range(begin, end):
        x = np.float64(numbers[row, terms.feature[t]])
        if not abs(x) <= LARGEST:
            return value
        total += terms.coefficient[t] * x
    return min(max(total, terms.low[node]), terms.high[node])


@kernel
def add_linear_leaves(out: Any, trees: Any, leaf: Any, numbers: Any, begin: Any, end: Any) -> None:
    """Add the leaves of T trees to out float64[n, K], row by row and for each row tree by tree, for rows begin to end.

    trees = (column int64[T] of the score of each, roots int64[T], value float64[N], terms); leaf int32[n, T]: the node where a row ends,
    counted from the root; numbers float32 or float64[n, F].
    """
    columns, roots, value, terms = trees
    for row in range(begin, end):
        for tree in range(leaf.shape[1]):
            node = roots[tree] + leaf[row, tree]
            out[row, columns[tree]] += linear_value(numbers, row, node, value[node], terms)


@inner
def is_complete(numbers: Any, row: Any, features: Any) -> Any:
    """Whether a row has all numbers of a leaf."""
    for f in features:
        if not abs(numbers[row, f]) <= LARGEST:
            return False
    return True


@inner
def factorise(A: Any, k: Any) -> None:
    """Cholesky factor of A float64[k, k] of unit diagonal, in its lower half; a dependent row has only zeros."""
    for j in range(k):
        for m in range(j):
            total = A[j, m]
            for i in range(m):
                total -= A[j, i] * A[m, i]
            A[j, m] = total / A[m, m] if A[m, m] > 0.0 else 0.0
        pivot = A[j, j]
        for i in range(j):
            pivot -= A[j, i] * A[j, i]
        if pivot > DEPENDENT:
            A[j, j] = math.sqrt(pivot)
        else:
            for i in range(j + 1):
                A[j, i] = 0.0


@inner
def solve(A: Any, k: Any, b: Any) -> None:
    """Solve with the factor of `factorise`, in place; what depends on others is zero."""
    for j in range(k):
        for i in range(j):
            b[j] -= A[j, i] * b[i]
        b[j] = b[j] / A[j, j] if A[j, j] > 0.0 else 0.0
    for j in range(k - 1, -1, -1):
        for i in range(j + 1, k):
            b[j] -= A[i, j] * b[i]
        b[j] = b[j] / A[j, j] if A[j, j] > 0.0 else 0.0


@inner
def fit_leaf(data: Any, rows: Any, features: Any, spread: Any, scratch: Any) -> Any:
    """Coefficients of one leaf to scratch[0] and means of its numbers to scratch[1]; returns rows, gradient, hessian of what is complete.

    With x' = x - mean, weighted by hessians, coefficients w minimise sum of g w.x' + h (w.x')**2 / 2 + sum of spread w**2 / 2: the constant
    has no part in it. All sums are in the order of the rows. No row is told where there are too few for so many numbers.
    """
    numbers, gradient, hessian = data
    k = len(features)
    b, mean, size, A = scratch[0], scratch[1], scratch[2], scratch[3:]
    n, G, H = 0, 0.0, 0.0
    for j in range(k):
        b[j] = 0.0
        mean[j] = 0.0
        for i in range(j + 1):
            A[j, i] = 0.0
    for row in rows:
        if is_complete(numbers, row, features):
            n += 1
            G += gradient[row]
            H += hessian[row]
            for j in range(k):
                mean[j] += hessian[row] * numbers[row, features[j]]
    if n <= k or not H > 0.0:
        return 0, G, H
    for j in range(k):
        mean[j] /= H
    for row in rows:
        if is_complete(numbers, row, features):
            for j in range(k):
                x = numbers[row, features[j]] - mean[j]
                b[j] -= gradient[row] * x
                for i in range(j + 1):
                    A[j, i] += hessian[row] * x * (numbers[row, features[i]] - mean[i])
    for j in range(k):
        if A[j, j] <= CONSTANT * H * mean[j] * mean[j]:  # only rounding is left
            b[j] = 0.0
            for i in range(k):
                A[max(i, j), min(i, j)] = 0.0
        A[j, j] += spread[features[j]]
    for j in range(k):
        size[j] = math.sqrt(A[j, j])
    for j in range(k):
        for i in range(j + 1):
            both = size[j] * size[i]
            A[j, i] = A[j, i] / both if both > 0.0 else 0.0
        b[j] = b[j] / size[j] if size[j] > 0.0 else 0.0
    factorise(A, k)
    solve(A, k, b)
    for j in range(k):
        b[j] = b[j] / size[j] if size[j] > 0.0 else 0.0
    return n, G, H


@kernel
def fit_linear_leaves(data: Any, by_leaf: Any, terms: LinearTerms, value: Any, penalties: Any, begin: Any, end: Any, scratch: Any) -> None:
    """Fill the terms of the leaves begin to end, whose constant values value float64[N], times the learning rate, are there.

    data = (numbers float64[n, F], gradient, hessian float64[n]); by_leaf = (rows, begins, ends): those of each node; penalties =
    (l1, l2, learning rate, spread float64[F]: what the square of a coefficient costs); scratch float64[3 + k, k]. A node without rows
    stays as it is.
    """
    numbers, _gradient, _hessian = data
    order, begins, ends = by_leaf
    l1, l2, rate, spread = penalties
    for node in range(begin, end):
        first = terms.first[node]
        past = terms.first[node + 1]
        rows = order[begins[node] : ends[node]]
        if first == past or len(rows) == 0:
            continue
        features = terms.feature[first:past]
        for t in range(first, past):
            terms.coefficient[t] = 0.0
        terms.constant[node] = value[node]
        terms.low[node] = value[node]
        terms.high[node] = value[node]
        n, G, H = fit_leaf(data, rows, features, spread, scratch)
        if n == 0:
            continue
        constant = value[node] if n == len(rows) else leaf_value(G, H, l1, l2, -np.inf, np.inf) * rate
        finite = True
        for j in range(past - first):
            terms.coefficient[first + j] = scratch[0, j] * rate
            constant -= terms.coefficient[first + j] * scratch[1, j]
            finite &= abs(terms.coefficient[first + j]) <= LARGEST
        if not (finite and abs(constant) <= LARGEST):
            for t in range(first, past):
                terms.coefficient[t] = 0.0
            continue
        terms.constant[node] = constant
        low = np.inf
        high = -np.inf
        for row in rows:
            if is_complete(numbers, row, features):
                total = constant
                for t in range(first, past):
                    total += terms.coefficient[t] * numbers[row, terms.feature[t]]
                low = min(low, total)
                high = max(high, total)
        terms.low[node] = low
        terms.high[node] = high
