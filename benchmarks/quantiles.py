"""Quantiles of 0.05, 0.5 and 0.95 by defaults: the pinball loss of rows held out, and how many of them lie between the outer two.

One model for all three levels, three models of ours, three of LightGBM and three of scikit-learn, on real tables of at most 8,000 rows.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

import tables
from common import Report, arguments, seconds, timed

NAMES = (
    *("abalone", "ames_house", "bike", "california_housing", "diamonds", "insurance", "resale_price_SYNTHETIC"),
    *("uci_boston", "uci_concrete", "uci_energy", "uci_kin8nm", "uci_power", "uci_yacht"),
)
LEVELS = (0.05, 0.5, 0.95)
MOST_ROWS = 8000
SAME: dict[str, Any] = {"loss": "quantile", "random_state": 0}


def contestants(threads: int) -> dict[str, Callable[[Any, Any, Any], Any]]:
    import lightgbm
    from sklearn.ensemble import HistGradientBoostingRegressor

    from woodwind import GradientBoostingRegressor

    def each(make: Callable[[float], Any]) -> Callable[[Any, Any, Any], Any]:
        return lambda X, y, new: np.stack([make(level).fit(X, y).predict(new) for level in LEVELS], axis=1)

    def together(X: Any, y: Any, new: Any) -> Any:
        model = GradientBoostingRegressor(quantile=LEVELS, n_jobs=threads, **SAME)
        return model.fit(X, y).predict(new)

    def lightgbm_model(level: float) -> Any:
        return lightgbm.LGBMRegressor(objective="quantile", alpha=level, n_jobs=threads, verbose=-1)

    return {
        "one model": together,
        "a model for each": each(lambda level: GradientBoostingRegressor(quantile=level, n_jobs=threads, **SAME)),
        "LightGBM": each(lightgbm_model),
        "scikit-learn": each(
            lambda level: HistGradientBoostingRegressor(loss="quantile", quantile=level, categorical_features="from_dtype")
        ),
    }


def pinball(y: Any, quantiles: Any) -> Any:
    """Mean loss of each level."""
    distance = y[:, None] - quantiles
    return np.maximum(np.array(LEVELS) * distance, (np.array(LEVELS) - 1.0) * distance).mean(axis=0)


def main() -> None:
    options = arguments(__doc__ or "")
    report = Report("quantiles", "Quantiles by defaults", options)
    everybody = contestants(options.threads)
    logs, spent, rows = [], dict.fromkeys(everybody, 0.0), []
    for name in NAMES[:1] if options.quick else NAMES:
        table = tables.read(name, options.data)
        if table is None:
            continue
        for train, test in table.splits(2)[: 2 if len(table.y) < 3000 else 1]:
            train = np.random.default_rng(1).permutation(train)[:MOST_ROWS]
            X, y, new, truth = table.X.iloc[train], table.y[train], table.X.iloc[test], table.y[test]
            losses, covered = [], []
            for who, predict in everybody.items():
                wall, _, found = timed(lambda predict=predict: predict(X, y, new))  # noqa: B023
                spent[who] += wall
                losses.append(pinball(truth, found))
                covered.append(float(np.mean((truth >= found[:, 0]) & (truth <= found[:, 2]))))
            logs.append(np.log(losses) - np.log(losses[0]))
            ratios = ["/".join(f"{ratio:.2f}" for ratio in np.exp(one)) for one in logs[-1][1:]]
            rows.append([name, f"{len(train):,}", *ratios, *(f"{share:.2f}" for share in covered)])
            print(*rows[-1], flush=True)
    report.say(
        f"Loss at {', '.join(map(str, LEVELS))}, as a multiple of that of one model for all levels; then the share between the outer two.\n"
    )
    others = list(everybody)[1:]
    report.table(["table", "rows", *others, *(f"{who}: covered" for who in everybody)], rows)
    means = np.exp(np.mean(logs, axis=0))
    report.table(
        ["all tables", *map(str, LEVELS), "seconds"],
        [[who, *(f"{value:.3f}" for value in means[k]), seconds(spent[who])] for k, who in enumerate(everybody)],
    )
    report.figures.update({who: means[k].tolist() for k, who in enumerate(everybody)})
    report.save()


if __name__ == "__main__":
    main()
