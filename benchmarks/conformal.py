"""Do intervals of 90 % cover 90 % of the rows held out, on every regression table, and how wide are they?

`ConformalRegressor` as it comes (quantiles, CV+), around gradient boosting by absolute distances (CV+ and split), and around a random
forest (jackknife+ after bootstrap). The error of a coverage is that of the rows held out and of the rows that the scores are of. Groups
are the quarters of the first column of numbers, which promises nothing: what is promised holds for all rows together.
"""

import dataclasses
import time
from typing import Any

import numpy as np

import tables
from common import Report, arguments, seconds

COVERAGE = 0.9
MOST_ROWS = 5000
NAMES = (
    *("abalone", "ames_house", "bemtpl97", "bike", "california_housing", "diamonds", "insurance", "resale_price_SYNTHETIC"),
    *("uci_boston", "uci_concrete", "uci_energy", "uci_kin8nm", "uci_power", "uci_yacht"),
)


def contestants(threads: int) -> dict[str, Any]:
    from woodwind import ConformalRegressor, GradientBoostingRegressor, RandomForestRegressor

    same: dict[str, Any] = {"random_state": 0, "n_jobs": threads}
    return {
        "quantiles, CV+": ConformalRegressor(**same),
        "distances, CV+": ConformalRegressor(GradientBoostingRegressor(), **same),
        "distances, split": ConformalRegressor(GradientBoostingRegressor(), method="split", **same),
        "forest, jackknife+": ConformalRegressor(RandomForestRegressor(), method="jackknife_plus_after_bootstrap", **same),
    }


def quarters(X: Any) -> Any:
    """The quarter in which each row is, by the first column of numbers."""
    name = next(name for name in X.columns if X[name].dtype.kind in "if")
    values = X[name].to_numpy(np.float64)
    return np.searchsorted(np.nanquantile(values, [0.25, 0.5, 0.75]), values)


def main() -> None:
    options = arguments(__doc__ or "")
    report = Report("conformal", "Coverage of conformal intervals", options)
    everybody = contestants(options.threads)
    rows, off, spent = [], [], dict.fromkeys(everybody, 0.0)
    for name in NAMES[:1] if options.quick else NAMES:
        table = tables.read(name, options.data)
        if table is None:
            continue
        # Rows in the order of time do not come from one place: there nothing is promised, so rows are drawn in all tables.
        train, test = dataclasses.replace(table, by_time=False, given=[]).splits(1)[0]
        train = np.random.default_rng(1).permutation(train)[:MOST_ROWS]
        X, y, new, truth = table.X.iloc[train], table.y[train], table.X.iloc[test], table.y[test]
        group = quarters(new)
        cells = []
        for who, model in everybody.items():
            began = time.perf_counter()
            low, high = model.fit(X, y).predict_interval(new, COVERAGE)
            spent[who] += time.perf_counter() - began
            inside = (low <= truth) & (truth <= high)
            noise = (COVERAGE * (1.0 - COVERAGE) * (1.0 / len(truth) + 1.0 / len(model.conformity_scores_))) ** 0.5
            distance = (inside.mean() - COVERAGE) / noise
            by_group = [inside[group == one].mean() for one in np.unique(group)]
            width = float(np.mean(high - low) / np.std(y))
            off.append((who, distance))
            cells.append(f"{inside.mean():.3f} ({distance:+.1f}), {min(by_group):.2f} to {max(by_group):.2f}, {width:.2f}")
            report.figures[f"{name}, {who}"] = {"coverage": float(inside.mean()), "standard error": noise, "width": width}
        rows.append([name, f"{len(train):,}", f"{len(test):,}", *cells])
        print(*rows[-1], sep=" | ", flush=True)
    report.say(
        f"Coverage of {COVERAGE} (and how many standard errors it is off), the least and most of four groups, and the mean width in "
        "standard deviations of the target.\n"
    )
    report.table(["table", "rows", "held out", *everybody], rows)
    report.table(["", "seconds"], [[who, seconds(spent[who])] for who in everybody])
    for who in everybody:
        least, most = (find(distance for one, distance in off if one == who) for find in (min, max))
        report.goal(f"{who}: most standard errors below {COVERAGE}, and above {max(most, 0.0):.1f}", -least, 2.0, "", at_most=True)
    report.save()


if __name__ == "__main__":
    main()
