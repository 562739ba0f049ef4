"""How long do exact Shapley values of trees take, against the shap package, XGBoost and LightGBM?

    python benchmarks/explain_speed.py             10,000 rows, 100 trees of depth 6, and a forest of deep trees: two minutes
    python benchmarks/explain_speed.py --quick     does it run

The shap package has many dependencies, so it runs in an environment of its own, as do XGBoost and LightGBM:

    python3.11 -m venv oracle && oracle/bin/pip install shap==0.51.0 xgboost lightgbm
    WOODWIND_SHAP_PYTHON=oracle/bin/python python benchmarks/explain_speed.py

shap explains the very same trees, handed over as arrays, and the values are compared. XGBoost and LightGBM explain trees that they have
grown themselves, from the same rows and to the same depth: about as many leaves.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from common import Report, arguments, race, seconds

N_TREES, DEPTH = 100, 6

PEERS = """
import json, os, sys, time
folder, what, threads = sys.argv[1:]
import numpy as np
data = np.load(folder + "/data.npz")
X, y, rows = data["X"], data["y"], data["rows"]
def best(call, times):
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        out = call()
        taken.append(time.perf_counter() - began)
    return min(taken), out
if what == "shap":
    import shap
    roots, trees = data["roots"], []
    for a, b in zip(roots[:-1], roots[1:]):
        left = np.where(data["feature"][a:b] >= 0, data["child"][a:b], -1).astype(np.int32)
        right = np.where(left >= 0, left + 1, -1).astype(np.int32)
        trees.append({"children_left": left, "children_right": right, "children_default": left, "features": data["feature"][a:b],
                      "thresholds": data["threshold"][a:b], "values": data["value"][a:b], "node_sample_weight": data["cover"][a:b]})
    explainer = shap.TreeExplainer({"trees": trees})
    explainer.shap_values(rows[:2], check_additivity=False)
    taken, values = best(lambda: explainer.shap_values(rows, check_additivity=False), 1)
    np.save(folder + "/values.npy", np.asarray(values).reshape(len(rows), X.shape[1]))
    said = {"version": shap.__version__, "seconds": taken}
elif what == "xgboost":
    import xgboost as xgb
    model = xgb.train({"max_depth": DEPTH, "eta": 0.1, "nthread": int(threads)}, xgb.DMatrix(X, y), N_TREES)
    given = xgb.DMatrix(rows)
    model.predict(given, pred_contribs=True, iteration_range=(0, 1))
    taken, _ = best(lambda: model.predict(given, pred_contribs=True), 1)
    leaves = sum(line.count("leaf=") for line in model.get_dump())
    said = {"version": xgb.__version__, "seconds": taken, "leaves": leaves}
else:
    import lightgbm as lgb
    settings = {"max_depth": DEPTH, "num_leaves": 2**DEPTH, "learning_rate": 0.1, "num_threads": int(threads), "verbose": -1}
    model = lgb.train(settings, lgb.Dataset(X, y), N_TREES)
    taken, _ = best(lambda: model.predict(rows, pred_contrib=True), 1)
    said = {"version": lgb.__version__, "seconds": taken, "leaves": sum(t["num_leaves"] for t in model.dump_model()["tree_info"])}
print(json.dumps(said))
""".replace("N_TREES", str(N_TREES)).replace("DEPTH", str(DEPTH))


def table(n: int, n_features: int) -> tuple[Any, Any]:
    """Numbers, and a target for which deep trees are of use."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, n_features))
    return X, (X[:, :10] ** 2).sum(axis=1) * X[:, 3] + np.sin(3 * X).sum(axis=1) + rng.normal(size=n)


def peer(python: str, folder: str, what: str, threads: int) -> dict[str, Any]:
    """What another library takes; nothing where it is not installed."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    command = [python, "-c", PEERS, folder, what, str(threads)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=900, env=environment)
    if done.returncode:
        print(f"  {what}: left out: {done.stderr.strip().splitlines()[-1]}")
        return {}
    return json.loads(done.stdout.splitlines()[-1])


def hand_over(folder: str, forest: Any, X: Any, y: Any, rows: Any) -> None:
    """Trees and rows for another process."""
    trees = {name: getattr(forest, name) for name in ("roots", "feature", "threshold", "child", "value", "cover")}
    np.savez(Path(folder) / "data.npz", X=X, y=y, rows=rows, **trees)


def compare(report: Report, title: str, model: Any, data: tuple[Any, Any, Any], python: str, peers: list[str]) -> float:
    """One table: our times on one thread and on all, and those of others; how many times as fast as shap, both on one thread."""
    from woodwind.tree.shap import explain

    X, y, rows = data
    own, threads = getattr(model, "compact_forest_", model.forest_), report.options.threads
    forest = model.forest_
    calls = {f"woodwind, {j} thread{'s' if j > 1 else ''}": lambda j=j: explain(own, rows, j)[0] for j in sorted({1, threads})}
    times = race(calls, 1 if report.options.quick else 3, warm=calls, slow=1e9)
    leaves = int((forest.feature < 0).sum())
    report.say(
        f"**{title}**: {len(rows):,} rows, {X.shape[1]} columns, {forest.n_trees} trees of {leaves / forest.n_trees:.0f} leaves, "
        f"depth up to {forest.depth.max()}.\n"
    )
    lines = [[name, seconds(t.best), "", f"{leaves:,}"] for name, t in times.items()]
    ratio = float("nan")
    first = next(iter(times.values()))
    report.figures[title] = {name: t.wall for name, t in times.items()}
    with tempfile.TemporaryDirectory() as folder:
        hand_over(folder, forest, X, y, rows)
        for what in peers if python else []:
            for j in [1] if what == "shap" else sorted({1, threads}):
                found = peer(python, folder, what, j)
                if not found:
                    continue
                name = f"{what} {found['version']}, {j} thread{'s' if j > 1 else ''}"
                against = times[f"woodwind, {j} thread{'s' if j > 1 else ''}"].best
                lines.append([name, seconds(found["seconds"]), f"{found['seconds'] / against:.1f}x", f"{found.get('leaves', leaves):,}"])
                report.figures[title][name] = found["seconds"]
                if what == "shap":
                    ratio = found["seconds"] / first.best
                    theirs = np.load(Path(folder) / "values.npy")
                    difference = float(np.abs(theirs - first.result[:, :, -1]).max() / np.abs(theirs).max())
    report.table(["who", "time", "woodwind is faster by", "leaves in all"], lines)
    if not math.isnan(ratio):
        report.say(f"Largest difference of the values from shap's on the same trees: {difference:.1e} of the largest value.\n")
    return ratio


def main() -> None:
    options = arguments(__doc__ or "")
    from woodwind import GradientBoostingRegressor, RandomForestRegressor

    report = Report("explain_speed", "Exact Shapley values of trees", options)
    python = os.environ.get("WOODWIND_SHAP_PYTHON", "")
    n, n_rows, few = (2_000, 100, 20) if options.quick else (20_000, 10_000, 200)
    X, y = table(n, 20)
    boosted = GradientBoostingRegressor(
        n_estimators=N_TREES, max_depth=DEPTH, max_leaf_nodes=2**DEPTH, learning_rate=0.1, min_samples_leaf=1, subsample=1.0,
        max_features=1.0, early_stopping=False, random_state=0, n_jobs=options.threads,
    ).fit(X, y)  # fmt: skip
    ratio = compare(report, "Boosted trees of depth 6", boosted, (X, y, X[:n_rows]), python, ["shap", "xgboost", "lightgbm"])
    forest = RandomForestRegressor(n_estimators=20, random_state=0, n_jobs=options.threads).fit(X[: n // 4], y[: n // 4])
    deep = compare(report, "A forest of full-grown trees", forest, (X, y, X[:few]), python, ["shap"])
    if not math.isnan(ratio):
        report.goal("10,000 rows, 100 trees of depth 6: times as fast as shap, one thread each", ratio, 1.0)
        report.goal("full-grown trees: times as fast as shap, one thread each", deep, 1.0)
    report.save()


if __name__ == "__main__":
    main()
