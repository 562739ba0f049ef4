"""Held-out loss by time, with and without gradient-based sampling: the figure of the LightGBM paper (Ke et al. 2017).

1,000,000 x 28, depth 8, learning rate 0.1: Woodwind with all rows, with GOSS, and with MVS of a fifth of the rows; LightGBM with all rows
and with GOSS, with quantised gradients. Each contestant's clock runs from the call of fit, so that binning is part of it; rounds are
stamped by a callback, and the loss of each round on 100,000 other rows is taken afterwards, outside of the clock.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from common import HERE, Report, arguments, chosen, short
from synthetic import collisions

NAMES = ("woodwind", "woodwind goss", "woodwind mvs", "lightgbm", "lightgbm goss")
PICTURE = HERE.parent / "docs" / "algorithms" / "pictures" / "gradient_sampling.png"
LEAVES, RATE = 255, 0.1


def run(name: str, data: tuple[Any, Any], rounds: int, threads: int) -> tuple[list[float], Any]:
    """Seconds from the call of fit to the end of each round, and the model."""
    library, _, sampling = name.partition(" ")
    stamps: list[float] = []
    if library == "lightgbm":
        import lightgbm

        settings = {
            "n_estimators": rounds, "num_leaves": LEAVES, "max_depth": 8, "learning_rate": RATE, "n_jobs": threads, "verbose": -1,
            "use_quantized_grad": True, "data_sample_strategy": "goss" if sampling else "bagging", "random_state": 0,
        }  # fmt: skip
        began = time.perf_counter()
        model = lightgbm.LGBMClassifier(**settings).fit(*data, callbacks=[lambda _: stamps.append(time.perf_counter() - began)])
        return stamps, model
    from woodwind import GradientBoostingClassifier

    model = GradientBoostingClassifier(
        n_estimators=rounds, max_leaf_nodes=LEAVES, max_depth=8, learning_rate=RATE, n_jobs=threads, early_stopping=False, random_state=0,
        subsample=0.2 if sampling == "mvs" else 1.0, sampling=sampling or "uniform",
        callbacks=[lambda _: stamps.append(time.perf_counter() - began)],
    )  # fmt: skip
    began = time.perf_counter()
    model.fit(*data)
    return stamps, model


def losses(model: Any, held: tuple[Any, Any], rounds: list[int]) -> list[float]:
    """Log loss on other rows after each of these rounds."""
    out = []
    for k in rounds:
        if hasattr(model, "booster_"):
            chance = model.predict_proba(held[0], num_iteration=k)[:, 1]
        else:
            chance = model.predict_proba(held[0], n_rounds=k)[:, 1]
        chance = np.clip(chance, 1e-9, 1 - 1e-9)
        out.append(float(-np.log(np.where(held[1] == 1, chance, 1 - chance)).mean()))
    return out


def draw(path: Path, curves: dict[str, tuple[list[float], list[float]]]) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
    for (name, (x, y)), style in zip(curves.items(), ("-", "--", ":", "-", "--"), strict=False):
        axes.plot(x, y, style, color="tab:blue" if name.startswith("woodwind") else "tab:orange", linewidth=1.5, label=name)
    axes.set_xlabel("seconds since fit was called")
    axes.set_ylabel("log loss of other rows")
    axes.set_xscale("log")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=110, metadata={"Software": None})
    print(f"drawn: {path}")


def main() -> None:
    def more(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--rounds", type=int, default=200, help="rounds of each contestant (200)")
        parser.add_argument("--runs", type=int, default=2, help="runs of each, in turns; the quickest counts (2)")

    options = arguments(__doc__ or "", more)
    warnings.simplefilter("ignore")
    report = Report("gradient_sampling", "Held-out loss by time, with and without gradient-based sampling", options)
    data, held = collisions(20_000 if options.quick else 1_000_000), collisions(100_000, seed=1)
    rounds = 10 if options.quick else options.rounds
    names, best = chosen(options, NAMES), {}
    for name in names:
        run(name, (data[0][:5000], data[1][:5000]), 2, options.threads)  # what is compiled or loaded at first use
    for _ in range(1 if options.quick else options.runs):
        for name in names:
            stamps, model = run(name, data, rounds, options.threads)
            if name not in best or stamps[-1] < best[name][0][-1]:
                best[name] = stamps, model
    at = sorted({max(1, round(rounds * part)) for part in (0.025, 0.05, 0.1, 0.15, 0.25, 0.375, 0.5, 0.75, 1.0)})
    curves = {name: ([stamps[k - 1] for k in at], losses(model, held, at)) for name, (stamps, model) in best.items()}
    report.say(f"## {len(data[1]):,} x 28, {LEAVES} leaves, depth 8, learning rate {RATE}: seconds and log loss by round\n")
    report.table(["rounds", *curves], [[k, *(f"{x[i]:.2f} s, {short(y[i], 4)}" for x, y in curves.values())] for i, k in enumerate(at)])
    report.figures["curves"] = {name: {"rounds": at, "seconds": x, "loss": y} for name, (x, y) in curves.items()}
    report.save()
    if not options.quick:
        draw(PICTURE, curves)


if __name__ == "__main__":
    main()
