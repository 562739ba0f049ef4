"""Lambdas and listwise gradients of the documents of queries, and how well scores rank them.

A query is worked on by one thread, in a fixed order: documents by score, the highest first, of equals the most relevant first. Documents
that have both in common are told apart by nothing but where they stand in the table, so each gets the mean of what they get together: the
rows of a query may come in any order. Twins: `tests/reference/naive_ranking.py`.
"""

from typing import Any, NamedTuple

import numpy as np

from woodwind.kernels.losses.exponential import exp, log, log1p_unit
from woodwind.kernels.runtime.jit import inner, kernel

# What a pair is worth: the change of NDCG, of the average precision or of the reciprocal rank where the two are swapped; or one.
NDCG, AVERAGE_PRECISION, RECIPROCAL_RANK, EVERY_PAIR = range(4)

# Burges 2010 has none of this; LightGBM divides the worth of a pair by this much and the distance of its scores.
LEAST_DISTANCE = 0.01
# Exponentials of scores that are further apart than this, taken from their middle, would leave the floats.
WIDEST = 600.0
# Up to so many documents are sorted by insertion.
FEW = 16
INVERSE_LN2 = 1.4426950408889634


class QueryDocuments(NamedTuple):
    """The documents of all queries, side by side: see `QueryRows` in data/tables/queries.py."""

    order: Any  # int32[n], row of each document
    begin: Any  # int64[Q + 1], where each query begins
    gain: Any  # float64[n], what each document is worth where it is found
    discount: Any  # float64[longest query], what a rank is worth
    scale: Any  # float64[Q], factor of each query; 0 for one from which nothing is learned


class PairRule(NamedTuple):
    """Which pairs count, and how much."""

    metric: int
    truncation: int  # one of a pair is among the first so many
    normalize: bool


@inner
def is_before(score: Any, gain: Any, a: Any, b: Any) -> Any:
    """Whether document a stands before b: by score, then gain, then position."""
    if score[a] != score[b]:
        return score[a] > score[b]
    if gain[a] != gain[b]:
        return gain[a] > gain[b]
    return a < b


@inner
def sort_documents(score: Any, gain: Any, ranked: Any, spare: Any, n: int) -> None:
    """Numbers of the documents 0 .. n - 1 of a query, best score first, into ranked int32[>= n]: runs by insertion, then merged."""
    for first in range(0, n, FEW):
        last = min(first + FEW, n)
        for i in range(first, last):
            j = i
            while j > first and is_before(score, gain, i, ranked[j - 1]):
                ranked[j] = ranked[j - 1]
                j -= 1
            ranked[j] = i
    width = FEW
    while width < n:
        for first in range(0, n, 2 * width):
            merge_runs(score, gain, ranked, spare, first, min(first + width, n), min(first + 2 * width, n))
        width *= 2


@inner
def merge_runs(score: Any, gain: Any, ranked: Any, spare: Any, first: int, middle: int, last: int) -> None:
    """Two sorted runs become one."""
    if middle >= last or not is_before(score, gain, ranked[middle], ranked[middle - 1]):
        return
    for i in range(first, middle):
        spare[i] = ranked[i]
    left, right, at = first, middle, first
    while left < middle:
        if right < last and is_before(score, gain, ranked[right], spare[left]):
            ranked[at] = ranked[right]
            right += 1
        else:
            ranked[at] = spare[left]
            left += 1
        at += 1


@inner
def collect(documents: Any, raw: Any, query: int, room: Any, ranked: Any, spare: Any) -> int:
    """Scores and gains of a query, sorted, into room[0] and room[1]; their documents into ranked. Gives how many there are."""
    begin, end = documents.begin[query], documents.begin[query + 1]
    n = end - begin
    for i in range(n):
        room[2, i] = raw[documents.order[begin + i]]
    gain = documents.gain[begin:end]
    sort_documents(room[2], gain, ranked, spare, n)
    for i in range(n):
        room[0, i] = room[2, ranked[i]]
        room[1, i] = gain[ranked[i]]
    return n


@inner
def sum_in_order(values: Any) -> float:
    """The sum of some values, in four interleaved parts: one order on every machine."""
    a = b = c = d = 0.0
    n = values.shape[0]
    whole = n // 4 * 4
    for i in range(0, whole, 4):
        a += values[i]
        b += values[i + 1]
        c += values[i + 2]
        d += values[i + 3]
    for i in range(whole, n):
        a += values[i]
    return (a + b) + (c + d)


@inner
def sum_of_sizes(values: Any) -> float:
    """The same sum without signs."""
    a = b = c = d = 0.0
    n = values.shape[0]
    whole = n // 4 * 4
    for i in range(0, whole, 4):
        a += abs(values[i])
        b += abs(values[i + 1])
        c += abs(values[i + 2])
        d += abs(values[i + 3])
    for i in range(whole, n):
        a += abs(values[i])
    return (a + b) + (c + d)


@inner
def ndcg_pairs(top: Any, apart: Any, score: Any, gain: Any, discount: Any, e: Any, x: Any, y: Any) -> None:
    """Lambdas x and hessians y of the pairs of one document with those below it, as the lower one sees them: all float64[m].

    `top` has the score, gain, discount and exponential of the document itself. Loops of few arrays are vectorised.
    """
    s_i, g_i, d_i, e_i = top
    if apart:
        for j in range(x.shape[0]):
            away = LEAST_DISTANCE + (s_i - score[j])
            inverse = 1.0 / ((e_i + e[j]) * away)
            x[j] = inverse
            y[j] = inverse * away
    else:
        for j in range(x.shape[0]):
            inverse = 1.0 / (e_i + e[j])
            x[j] = inverse
            y[j] = inverse
    for j in range(x.shape[0]):
        worth = (g_i - gain[j]) * (d_i - discount[j])
        upper = worth > 0.0
        step = worth * x[j] * (e[j] if upper else e_i)
        x[j] = step
        y[j] *= abs(step) * (e_i if upper else e[j])


@inner
def add_pairs(x: Any, y: Any, lam: Any, hes: Any) -> None:
    """Add what pairs say to their lower documents: float64[m]."""
    for j in range(x.shape[0]):
        lam[j] += x[j]
        hes[j] += y[j]


@inner
def ndcg_lambdas(rule: Any, discount: Any, score: Any, gain: Any, n: int, room: Any, lam: Any, hes: Any) -> float:
    """Lambdas by the change of NDCG for scores that are not too far apart: one exponential for each document, one division for each pair.

    score, gain, lam, hes float64[>= n] in sorted order. Gives twice the sum of the sizes of the lambdas of pairs.
    """
    e, x, y = room[3], room[4], room[5]
    middle = 0.5 * (score[0] + score[n - 1])
    for i in range(n):
        e[i] = exp(score[i] - middle)
    apart, total = rule.normalize and score[0] != score[n - 1], 0.0
    for i in range(min(rule.truncation, n - 1)):
        top, m = (score[i], gain[i], discount[i], e[i]), i + 1
        ndcg_pairs(top, apart, score[m:n], gain[m:n], discount[m:n], e[m:n], x[m:n], y[m:n])
        add_pairs(x[m:n], y[m:n], lam[m:n], hes[m:n])
        lam[i] -= sum_in_order(x[m:n])
        hes[i] += sum_in_order(y[m:n])
        if rule.normalize:
            total += 2.0 * sum_of_sizes(x[m:n])
    return total


@inner
def prepare_ranks(gain: Any, n: int, found: Any, harmonic: Any) -> Any:
    """Relevant documents up to each rank, and the sum of 1 / rank over them; ranks of the first and of the second, counted from one."""
    count, total = 0.0, 0.0
    first = second = n + 1
    for i in range(n):
        if gain[i] > 0.0:
            count += 1.0
            total += 1.0 / (i + 1.0)
            if count == 1.0:
                first = i + 1
            elif count == 2.0:
                second = i + 1
        found[i] = count
        harmonic[i] = total
    return first, second


@inner
def precision_change(i: int, j: int, is_found: Any, found: Any, harmonic: Any) -> float:
    """How much the average precision changes where ranks i < j are swapped: one of them is relevant, the one at i if `is_found`."""
    between = harmonic[j - 1] - harmonic[i]
    own = found[i] if is_found else found[i] + 1.0
    return abs(own / (i + 1.0) + between - found[j] / (j + 1.0))


@inner
def reciprocal_change(i: int, j: int, is_found: Any, first: Any, second: Any) -> float:
    """The same of the reciprocal rank, of which the first and the second relevant rank matter."""
    if is_found:
        return 1.0 / first - 1.0 / min(second, j + 1) if i + 1 == first else 0.0
    return 1.0 / (i + 1.0) - 1.0 / first if i + 1 < first else 0.0


@inner
def pair_lambdas(rule: Any, discount: Any, score: Any, gain: Any, n: int, room: Any, lam: Any, hes: Any) -> float:
    """Lambdas by any metric and for any scores, pair by pair; gives twice the sum of their sizes."""
    found, harmonic = room[3], room[4]
    first, second = prepare_ranks(gain, n, found, harmonic)
    apart, total = rule.normalize and score[0] != score[n - 1], 0.0
    for i in range(min(rule.truncation, n - 1)):
        for j in range(i + 1, n):
            if gain[i] == gain[j]:
                continue
            upper, is_found = gain[i] > gain[j], gain[i] > 0.0
            worth = 1.0
            if rule.metric == NDCG:
                worth = abs(gain[i] - gain[j]) * (discount[i] - discount[j])
            elif rule.metric == AVERAGE_PRECISION:
                worth = precision_change(i, j, is_found, found, harmonic)
            elif rule.metric == RECIPROCAL_RANK:
                worth = reciprocal_change(i, j, is_found, first, second)
            away = score[i] - score[j]
            if apart:
                worth /= LEAST_DISTANCE + away
            small = exp(-away)
            large = 1.0 / (1.0 + small)
            small *= large
            step = worth * (small if upper else large)
            hessian = worth * small * large
            lam[i] += -step if upper else step
            lam[j] += step if upper else -step
            hes[i] += hessian
            hes[j] += hessian
            total += 2.0 * step
    return total


@inner
def finish_query(documents: Any, query: int, n: int, factor: Any, room: Any, ranked: Any, out_g: Any, out_h: Any) -> None:
    """Write the lambdas of a query to its rows, times a factor; documents of the same score and gain share theirs."""
    score, gain, lam, hes = room[0], room[1], room[6], room[7]
    begin, i = documents.begin[query], 0
    while i < n:
        end = i + 1
        while end < n and score[end] == score[i] and gain[end] == gain[i]:
            end += 1
        g, h = lam[i], hes[i]
        if end > i + 1:
            g, h = sum_in_order(lam[i:end]) / (end - i), sum_in_order(hes[i:end]) / (end - i)
        for k in range(i, end):
            row = documents.order[begin + ranked[k]]
            out_g[row] = g * factor
            out_h[row] = h * factor
        i = end


@inner
def longest_query(documents: Any, first: int, last: int) -> Any:
    """The most documents of a query."""
    longest = np.int64(1)
    for query in range(first, last):
        longest = max(longest, documents.begin[query + 1] - documents.begin[query])
    return longest


@kernel
def lambdas(rule: Any, documents: Any, raw: Any, first: int, last: int, out_g: Any, out_h: Any) -> None:
    """Lambdas of the documents of queries first .. last (Burges 2010): raw, out_g, out_h float64[n].

    The gradient of a pair is that of the logistic loss of its scores' distance, times what the pair is worth. With `normalize` its worth is
    over the distance of the scores, and the lambdas of a query are scaled to log2(1 + S) of their sum S, as LightGBM does.
    """
    longest = longest_query(documents, first, last)
    room, ranked, spare = np.empty((8, longest)), np.empty(longest, np.int32), np.empty(longest, np.int32)
    for query in range(first, last):
        n = collect(documents, raw, query, room, ranked, spare)
        lam, hes = room[6], room[7]
        for i in range(n):
            lam[i] = 0.0
            hes[i] = 0.0
        factor = documents.scale[query]
        if factor > 0.0 and n > 1:
            if rule.metric == NDCG and room[0, 0] - room[0, n - 1] <= WIDEST:
                total = ndcg_lambdas(rule, documents.discount, room[0], room[1], n, room, lam, hes)
            else:
                total = pair_lambdas(rule, documents.discount, room[0], room[1], n, room, lam, hes)
            total *= factor
            if rule.normalize and total > 0.0:
                factor *= log(1.0 + total) * INVERSE_LN2 / total
        finish_query(documents, query, n, factor, room, ranked, out_g, out_h)


@inner
def softmax_in_place(score: Any, n: int, shares: Any) -> float:
    """Softmax of sorted scores, the largest first, into shares float64[>= n]; gives the logarithm of the sum of their exponentials."""
    for i in range(n):
        shares[i] = exp(score[i] - score[0])
    total = sum_in_order(shares[:n])
    for i in range(n):
        shares[i] /= total
    return score[0] + log(total)


@kernel
def softmax_derivatives(documents: Any, raw: Any, first: int, last: int, out_g: Any, out_h: Any) -> None:
    """Gradient and hessian of the cross-entropy between the gains of each query, over their sum, and the softmax of its scores."""
    longest = longest_query(documents, first, last)
    room, ranked, spare = np.empty((8, longest)), np.empty(longest, np.int32), np.empty(longest, np.int32)
    for query in range(first, last):
        n = collect(documents, raw, query, room, ranked, spare)
        gain, shares, lam, hes = room[1], room[3], room[6], room[7]
        softmax_in_place(room[0], n, shares)
        total = sum_in_order(gain[:n])
        factor = documents.scale[query] if total > 0.0 and n > 1 else 0.0
        for i in range(n):
            lam[i] = shares[i] - gain[i] / total if factor > 0.0 else 0.0
            hes[i] = shares[i] * (1.0 - shares[i])
        finish_query(documents, query, n, factor, room, ranked, out_g, out_h)


@kernel
def softmax_losses(documents: Any, raw: Any, first: int, last: int, out: Any) -> None:
    """The cross-entropy of each query, times its factor: out float64[Q]."""
    longest = longest_query(documents, first, last)
    room, ranked, spare = np.empty((8, longest)), np.empty(longest, np.int32), np.empty(longest, np.int32)
    for query in range(first, last):
        n = collect(documents, raw, query, room, ranked, spare)
        gain, lost = room[1], room[4]
        level = softmax_in_place(room[0], n, room[3])
        total = sum_in_order(gain[:n])
        for i in range(n):
            lost[i] = gain[i] * (level - room[0, i])
        out[query] = documents.scale[query] * sum_in_order(lost[:n]) / total if total > 0.0 and n > 1 else 0.0


@kernel
def pair_losses(documents: Any, raw: Any, first: int, last: int, out: Any) -> None:
    """The sum of log(1 + exp(-(s_i - s_j))) over the pairs of each query in which i is more relevant, times its factor: out float64[Q]."""
    longest = longest_query(documents, first, last)
    room, ranked, spare = np.empty((8, longest)), np.empty(longest, np.int32), np.empty(longest, np.int32)
    for query in range(first, last):
        n = collect(documents, raw, query, room, ranked, spare)
        score, gain, total = room[0], room[1], 0.0
        for i in range(n - 1):
            for j in range(i + 1, n):
                if gain[i] != gain[j]:
                    away = score[i] - score[j]
                    total += log1p_unit(exp(-away)) + (0.0 if gain[i] > gain[j] else away)
        out[query] = documents.scale[query] * total


# ----------------------------------------------------------------------------------------------------
# How well scores rank. Of documents with one score any order is as likely: metrics are means over all of them (McSherry & Najork 2008).


@inner
def gain_of_run(gain: Any, discount: Any, first: int, end: int, cutoff: int) -> float:
    """Part of the DCG of ranks first .. end, whose documents have one score: their mean gain at each rank up to the cutoff."""
    total = sum_in_order(gain[first:end])
    last = min(end, cutoff)
    return total / (end - first) * sum_in_order(discount[first:last]) if last > first else 0.0


@inner
def precision_of_run(relevant: Any, before: Any, first: int, end: int, cutoff: int) -> float:
    """Sum of the precisions at the relevant documents of such a run, `before` it as many as are above."""
    size, total = end - first, 0.0
    for i in range(min(end, cutoff) - first):
        others = i * (relevant - 1.0) / (size - 1.0) if size > 1 else 0.0
        total += relevant / size * (before + 1.0 + others) / (first + i + 1.0)
    return total


@inner
def reciprocal_of_run(relevant: Any, first: int, end: int, cutoff: int) -> float:
    """Mean of 1 / rank of the first relevant document of such a run, 0 beyond the cutoff."""
    size, missed, total = end - first, 1.0, 0.0  # missed: that none of those before is relevant
    for i in range(min(end, cutoff) - first):
        hit = min(relevant / (size - i), 1.0)
        total += missed * hit / (first + i + 1.0)
        missed *= 1.0 - hit
    return total


@kernel
def query_metrics(metric: int, documents: Any, raw: Any, cutoff: int, first: int, last: int, out: Any) -> None:
    """A metric of the first `cutoff` ranks of each query: out float64[Q]. The scale of a query is one over what is best there."""
    longest = longest_query(documents, first, last)
    room, ranked, spare = np.empty((8, longest)), np.empty(longest, np.int32), np.empty(longest, np.int32)
    for query in range(first, last):
        n = collect(documents, raw, query, room, ranked, spare)
        score, gain, i, before, total = room[0], room[1], 0, 0.0, 0.0
        while i < n and i < cutoff and not (metric == RECIPROCAL_RANK and before > 0.0):
            end, relevant = i, 0.0
            while end < n and score[end] == score[i]:
                relevant += 1.0 if gain[end] > 0.0 else 0.0
                end += 1
            if metric == NDCG:
                total += gain_of_run(gain, documents.discount, i, end, cutoff)
            elif relevant > 0.0 and metric == AVERAGE_PRECISION:
                total += precision_of_run(relevant, before, i, end, cutoff)
            elif relevant > 0.0:
                total += reciprocal_of_run(relevant, i, end, cutoff)
            before += relevant
            i = end
        out[query] = documents.scale[query] * total


@kernel
def ideal_gains(documents: Any, cutoff: int, first: int, last: int, out: Any) -> None:
    """The DCG of the first `cutoff` ranks of each query where its documents are in the order of their gains: out float64[Q]."""
    longest = longest_query(documents, first, last)
    ranked, spare, parts = np.empty(longest, np.int32), np.empty(longest, np.int32), np.empty(longest)
    for query in range(first, last):
        gain = documents.gain[documents.begin[query] : documents.begin[query + 1]]
        n = gain.shape[0]
        sort_documents(gain, gain, ranked, spare, n)
        last = min(n, cutoff)
        for i in range(last):
            parts[i] = gain[ranked[i]] * documents.discount[i]
        out[query] = sum_in_order(parts[:last])
