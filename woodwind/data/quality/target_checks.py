"""Suspicions about the target, and about columns that know too much of it."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.data.quality.column_checks import is_identifier
from woodwind.data.quality.view import TEXT, ColumnView, Suspicion, TableView

# Rows, and rows of the rarest class, below which a perfect score of one column may be luck.
ENOUGH_ROWS, ENOUGH_OF_CLASS = 100, 20
# Scores of one column alone that are too good: area under the curve, share of errors avoided, and share of variance explained.
TOO_GOOD = {"auc": 0.99, "errors": 0.98, "variance": 0.98}
MOST_BINS = 256
FEW_ROWS = 10


def leaks(seen: TableView) -> Iterator[Suspicion]:
    """Columns that alone predict the target too well.

    Means of the target in the bins of a column, from one half of the rows, score the other half; so identifiers seem to know nothing.
    """
    found = []
    for column in seen.each_column():
        if _is_copy(column, seen):
            words = f"{column.name!r} says the same as the target{seen.sampled}: each of its values goes with one of the target's."
            found.append((column.name, f"{words} It is the target under another name, or made of it"))
        elif _is_cut(column, seen):
            words = f"the {column.n_categories} values of {column.name!r} stand for ranges of the target that do not overlap{seen.sampled}."
            found.append((column.name, f"{words} It is the target, cut into parts"))
        elif not is_identifier(column, seen.n) and seen.n >= ENOUGH_ROWS:
            measure, score = _alone(column, seen)
            if score > TOO_GOOD[measure]:
                shown = {"auc": "AUC {:.4f}", "errors": "{:.1%} of the errors avoided", "variance": "R2 {:.4f}"}[measure].format(score)
                words = f"{column.name!r} alone predicts the target, {shown} on rows that were held out{seen.sampled}: too good alone."
                found.append((column.name, f"{words} It may be known only once the target is, or be made of it"))
    easy = f" {len(found)} columns are like this, so the question may simply be easy." if len(found) > 2 else ""
    for name, words in found:
        advice = f"Will it be known when predictions are made? If not, leave it out with ignore={name!r}."
        yield Suspicion("leak", (name,), f"{words}. {advice}{easy}", "serious")


def _is_copy(column: ColumnView, seen: TableView) -> bool:
    """Whether values of the column and of the target go one to one, or on a line."""
    if column.n_missing or column.n_categories < 2 or seen.n < 20:
        return False
    if seen.is_class:
        if column.n_categories != seen.n_classes or column.n_categories > seen.n / 4:
            return False
        _, first, codes = np.unique(seen.y, return_index=True, return_inverse=True)
        turn = np.empty(first.size, np.int64)
        turn[np.argsort(first)] = np.arange(first.size)
        return bool((turn[codes] == column.codes).all())
    if column.kind == TEXT:
        return False
    values = column.category_numbers[column.codes]
    if not np.isfinite(values).all() or values.std() == 0 or seen.y.std() == 0:
        return False
    x, y = (values - values.mean()) / values.std(), (seen.y - seen.y.mean()) / seen.y.std()
    return bool(abs((x * y).mean()) > 1 - 1e-9)


def _is_cut(column: ColumnView, seen: TableView) -> bool:
    """Whether each value of the column has a range of a numeric target to itself: a copy that was binarised, or cut into more parts."""
    there = column.codes >= 0
    if seen.is_class or there.sum() < ENOUGH_ROWS or not 2 <= column.n_categories <= seen.n // ENOUGH_OF_CLASS:
        return False
    if np.sort(column.counts)[-2] < ENOUGH_OF_CLASS:  # one row beyond all others may be luck
        return False
    low, high = np.full(column.n_categories, np.inf), np.full(column.n_categories, -np.inf)
    np.minimum.at(low, column.codes[there], seen.y[there])
    np.maximum.at(high, column.codes[there], seen.y[there])
    order = np.argsort(low)
    return bool((high[order][:-1] < low[order][1:]).all())


def _alone(column: ColumnView, seen: TableView) -> tuple[str, float]:
    """How well the column alone predicts the target of rows that were held out: name of the measure, and score."""
    bins, n_bins = _bins(column, seen.n)
    if not seen.is_class:
        return "variance", _variance_explained(bins, n_bins, seen)
    if np.bincount(seen.y, minlength=2).min() < ENOUGH_OF_CLASS and seen.n_classes == 2:
        return "auc", 0.0
    if seen.n_classes == 2:
        return "auc", float(np.mean([_area(bins, n_bins, seen.y, fold) for fold in (seen.fold, ~seen.fold)]))
    return "errors", _errors_avoided(bins, n_bins, seen)


def _bins(column: ColumnView, n: int) -> tuple[NDArray[np.int64], int]:
    """Each row's bin: categories of text, or ranges of numbers with about as many rows; the last bin is for missing values."""
    most = min(MOST_BINS, max(n // 20, 2))
    if column.kind == TEXT or column.n_categories <= most:
        of_category, n_bins = np.arange(column.n_categories), column.n_categories
    else:
        order = np.argsort(column.category_numbers, kind="stable")
        below = np.cumsum(column.counts[order]) - column.counts[order]
        of_category = np.empty(column.n_categories, np.int64)
        of_category[order] = below * most // max(int(column.counts.sum()), 1)
        n_bins = most
    return np.append(of_category, n_bins)[column.codes], n_bins + 1


def _area(bins: NDArray[np.int64], n_bins: int, y: NDArray[Any], train: NDArray[np.bool_]) -> float:
    """Area under the ROC curve of the held-out rows, by the share of the second class in each bin of the others."""
    positive = y == 1
    counts, hits = np.bincount(bins[train], minlength=n_bins), np.bincount(bins[train & positive], minlength=n_bins)
    share = (hits + positive[train].mean()) / (counts + 1)
    _, position = np.unique(share, return_inverse=True)
    ups = np.bincount(position[bins[~train & positive]], minlength=n_bins)
    downs = np.bincount(position[bins[~train & ~positive]], minlength=n_bins)
    below = np.cumsum(downs) - downs
    pairs = int(ups.sum()) * int(downs.sum())
    return float((ups * (below + downs / 2)).sum() / pairs) if pairs else 0.0


def _errors_avoided(bins: NDArray[np.int64], n_bins: int, seen: TableView) -> float:
    """Of the errors of always saying the most frequent class, the share that is avoided by the most frequent class of the bin."""
    wrong = base = 0
    if n_bins * seen.n_classes > 5_000_000:
        return 0.0
    for train in (seen.fold, ~seen.fold):
        table = np.bincount(bins[train] * seen.n_classes + seen.y[train], minlength=n_bins * seen.n_classes).reshape(n_bins, seen.n_classes)
        common = int(table.sum(0).argmax())
        predicted = np.where(table.sum(1) > 0, table.argmax(1), common)
        wrong += int((predicted[bins[~train]] != seen.y[~train]).sum())
        base += int((seen.y[~train] != common).sum())
    return 1 - wrong / base if base >= ENOUGH_OF_CLASS else 0.0


def _variance_explained(bins: NDArray[np.int64], n_bins: int, seen: TableView) -> float:
    """Of the variance of the held-out rows, the share explained by the means of the bins of the others."""
    error = total = 0.0
    for train in (seen.fold, ~seen.fold):
        mean = float(seen.y[train].mean())
        counts = np.bincount(bins[train], minlength=n_bins)
        sums = np.bincount(bins[train], weights=seen.y[train] - mean, minlength=n_bins)
        predicted = mean + sums / np.maximum(counts, 1)
        error += float(((seen.y[~train] - predicted[bins[~train]]) ** 2).sum())
        total += float(((seen.y[~train] - mean) ** 2).sum())
    return 1 - error / total if total > 0 else 0.0


def telling_gaps(seen: TableView) -> Iterator[Suspicion]:
    """Columns of which it matters to the target whether they are missing."""
    if seen.n < ENOUGH_ROWS:
        return
    for column in seen.each_column():
        if not 0.01 * seen.n <= column.n_missing <= 0.99 * seen.n or column.n_missing < ENOUGH_OF_CLASS:
            continue
        share = _share_by_two(column.codes < 0, seen)
        if share < 0.1:
            continue
        known = "it may be filled in once the target is known, or for some rows only" if share > 0.8 else "ask how the gaps came about"
        words = f"whether {column.name!r} is missing tells {100 * share:.0f} % of the target's variance{seen.sampled}: {known}."
        yield Suspicion("telling gaps", (column.name,), words, "serious" if share > 0.8 else "warning")


def _share_by_two(absent: NDArray[np.bool_], seen: TableView) -> float:
    """The share of the variance of the target, or of the mean over its classes, that lies between two parts of the rows."""
    part = absent.mean()
    if not seen.is_class:
        total = float(seen.y.var())
        between = part * (1 - part) * float(seen.y[absent].mean() - seen.y[~absent].mean()) ** 2
        return between / total if total > 0 else 0.0
    here, there = (np.bincount(seen.y[rows], minlength=seen.n_classes) / max(int(rows.sum()), 1) for rows in (absent, ~absent))
    overall = part * here + (1 - part) * there
    spread = float((overall * (1 - overall)).sum())
    return float((part * (1 - part) * (here - there) ** 2).sum() / spread) if spread > 0 else 0.0


def labels_alike(classes: Sequence[Any], y: NDArray[Any]) -> Iterator[Suspicion]:
    """Labels that differ by capitals or blanks alone: one answer, spelt in several ways, makes several classes."""
    spelt: dict[str, list[int]] = {}
    for number, label in enumerate(classes):
        if isinstance(label, str):
            spelt.setdefault(" ".join(label.split()).casefold(), []).append(number)
    for numbers in (several for several in spelt.values() if len(several) > 1):
        shown = ", ".join(f"{classes[number]!r} ({int((y == number).sum()):,} rows)" for number in numbers[:5])
        words = (
            f"{len(numbers)} labels of the target differ by capitals or blanks alone: {shown}. They are {len(numbers)} classes to the "
            "model, which must tell apart what is the same. Spell them in one way."
        )
        yield Suspicion("labels alike", (), words, "serious")


def rare_classes(seen: TableView) -> Iterator[Suspicion]:
    """Classes with very few rows."""
    if not seen.is_class or not seen.n:
        return
    counts = np.bincount(seen.y, minlength=seen.n_classes)
    few = np.flatnonzero((counts > 0) & (counts < FEW_ROWS))
    scale = "" if seen.n == seen.n_rows else seen.sampled
    if few.size:
        words = (
            f"{few.size} of {counts.size} classes {'has' if few.size == 1 else 'have'} fewer than {FEW_ROWS} rows, the rarest "
            f"{int(counts[few].min())}{scale}: what the model predicts for such a class can hardly be scored, and a fold may have none of "
            "it."
        )
        yield Suspicion("rare class", (), words, "warning")
    elif counts.min() < 0.01 * seen.n:
        words = (
            f"the rarest class has {100 * counts.min() / seen.n:.2g} % of the rows{scale}: accuracy says little there, since always naming "
            "the most frequent class is nearly always right. Score by log loss, average precision or balanced accuracy."
        )
        yield Suspicion("rare class", (), words, "info")


def heavy_tails(seen: TableView) -> Iterator[Suspicion]:
    """Targets of which a few values are so large that they decide the squared error."""
    if seen.is_class or seen.n < ENOUGH_ROWS or seen.y.min() < 0:
        return
    plain, logged = _skewness(seen.y), _skewness(np.log1p(seen.y / max(float(np.median(seen.y)), 1e-300)))
    if plain > 3 and abs(logged) < plain / 3:
        top = np.sort(seen.y)[-max(seen.n // 100, 1) :].sum() / seen.y.sum()
        words = (
            f"the target has a heavy tail{seen.sampled}: the largest 1 % of the rows hold {100 * top:.0f} % of its sum and decide the "
            "squared error. If errors in per cent matter, train on its logarithm; or score by the absolute error."
        )
        yield Suspicion("heavy tail", (), words, "info")


def _skewness(values: NDArray[np.float64]) -> float:
    spread = float(values.std())
    return float((((values - values.mean()) / spread) ** 3).mean()) if spread > 0 else 0.0
