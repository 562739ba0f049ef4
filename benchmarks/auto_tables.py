"""Is the ensemble that a given time buys better than every single model as it comes, on real tables?

For each table three splits, those of defaults.py: the ensemble of `woodwind.fit` with --time seconds, and LightGBM, XGBoost, CatBoost,
scikit-learn's histogram boosting, random forest and extra-trees at default settings learn the same rows and are scored on the same rows
that none of them saw. Log loss for classes, RMSE for numbers.

"Better" and "worse" are beyond chance: the difference of the losses, row by row, is more than two of its standard errors away from zero,
where the error is the larger of that over rows and that over splits. All else is within noise.

With --autogluon PYTHON, the interpreter of an environment that has AutoGluon, it runs with the same time and processors.

Every result is kept as soon as it is there, its losses in results/losses: a run that is stopped goes on where it was. --again trains the
contestants named anew. Tables whose copies of rows were kept on one side are given with these groups, and the one that is split by time
with its order, as whoever splits like that knows them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import tempfile
import time
import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import scores
import tables
from common import RESULTS, Report, arguments, chosen, short, timed, version, write_json
from contestants import few_levels, filled
from defaults import PACKAGE, _aligned, _model, geometric, ranks

STORE = RESULTS / "auto-tables-runs.json"
LOSSES = RESULTS / "losses"
NAMES = ("woodwind", "autogluon", "lightgbm", "xgboost", "catboost", "sklearn", "random-forest", "extra-trees")
TIMED = ("woodwind", "autogluon")
FORESTS = ("random-forest", "extra-trees")
# Of AutoGluon's presets the one for accuracy.
PRESETS = "best_quality"
QUICK = ("uci_yacht", "loan_bads")


# ---------------------------------------------------------------- one result


def coded(X: Any) -> Any:
    """Levels as numbers: scikit-learn's forests take nothing else."""
    X = X.copy()
    for name in X.columns:
        if X[name].dtype.name == "category":
            codes = X[name].cat.codes.astype(np.float64)
            X[name] = codes.where(codes >= 0)
    return X


def forest(name: str, regression: bool, threads: int) -> Any:
    from sklearn import ensemble

    kinds = {
        ("random-forest", True): ensemble.RandomForestRegressor,
        ("random-forest", False): ensemble.RandomForestClassifier,
        ("extra-trees", True): ensemble.ExtraTreesRegressor,
        ("extra-trees", False): ensemble.ExtraTreesClassifier,
    }
    return kinds[name, regression](n_jobs=threads, random_state=0)


def fit_ensemble(table: tables.Table, train: Any, options: argparse.Namespace, seed: int) -> tuple[Any, dict[str, Any]]:
    """`woodwind.fit` with what is known of the table, and what the job predicts for itself."""
    import woodwind

    target = "target of the benchmark"
    data = table.X.iloc[train].reset_index(drop=True)
    data[target] = table.y[train] if table.task == "regression" else [f"{label:03d}" for label in table.y[train]]
    roles: dict[str, Any] = {}
    if table.groups is not None:
        data["group of the benchmark"], roles["group"] = table.groups[train], "group of the benchmark"
    if table.by_time:
        data["order of the benchmark"], roles["time_column"] = np.asarray(train), "order of the benchmark"
    task = {"regression": "regression", "binary": "binary", "classes": "multiclass"}[table.task]
    began = time.perf_counter()
    model = woodwind.fit(data, target, task=task, time=options.time, seed=seed, threads=options.threads, **roles)
    board = [(entry.name, round(entry.score, 6), round(entry.weight, 4)) for entry in model.leaderboard_]
    return model, {"wall": time.perf_counter() - began, "out_of_fold": float(model.score_), "leaderboard": board}


def ask_autogluon(table: tables.Table, train: Any, test: Any, options: argparse.Namespace) -> tuple[Any, dict[str, Any]]:
    """What AutoGluon predicts for the rows held out, and what it predicts for itself."""
    target = "target of the benchmark"
    task = {"regression": "regression", "binary": "binary", "classes": "multiclass"}[table.task]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data = table.X.iloc[train].reset_index(drop=True)
        data[target] = table.y[train] if task == "regression" else [f"{label:03d}" for label in table.y[train]]
        data.to_parquet(folder / "train.parquet")
        table.X.iloc[test].reset_index(drop=True).to_parquet(folder / "test.parquet")
        metric = "root_mean_squared_error" if task == "regression" else "log_loss"
        job = {"target": target, "task": task, "metric": metric, "seconds": options.time, "presets": PRESETS, "threads": options.threads}
        (folder / "job.json").write_text(json.dumps(job))
        child = [options.autogluon, str(Path(__file__).with_name("autogluon_child.py")), str(folder)]
        done = subprocess.run(child, capture_output=True, text=True, timeout=20 * options.time, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit {done.returncode}")
        found = json.loads((folder / "found.json").read_text())
        predicted = np.load(folder / "prediction.npy")
    if task == "regression":
        return predicted, found
    prediction = np.zeros((len(test), int(table.y.max()) + 1))
    prediction[:, [int(label) for label in found.pop("classes")]] = predicted
    return prediction, found


@lru_cache(maxsize=1)
def autogluon_version(python: str) -> str:
    """Its version, or nothing."""
    asked = "import importlib.metadata as m; print(m.version('autogluon.tabular'))"
    done = subprocess.run([python, "-c", asked], capture_output=True, text=True, timeout=60, check=False) if python else None
    return done.stdout.strip() if done is not None and done.returncode == 0 else ""


@lru_cache(maxsize=1)
def warm() -> None:
    """What is compiled or imported on first use is no part of a time that the user gives again and again."""
    import woodwind

    rng = np.random.default_rng(0)
    for task, target in (("regression", rng.normal(size=300)), ("binary", np.arange(300) % 2), ("multiclass", np.arange(300) % 3)):
        data = pd.DataFrame({"a": rng.normal(size=300), "b": pd.Categorical(list("xyz") * 100), "y": target})
        woodwind.fit(data, "y", task=task, time=6.0).predict(data)


def run(name: str, table: tables.Table, seed: int, options: argparse.Namespace) -> tuple[dict[str, Any], Any]:
    """Fit on one part; the losses of the rows of the other."""
    train, test = table.splits(3)[seed]
    regression, classes = table.task == "regression", 0 if table.task == "regression" else int(table.y.max()) + 1
    if name == "woodwind":
        warm()
        _, cpu, (model, found) = timed(lambda: fit_ensemble(table, train, options, seed))
        X_test = table.X.iloc[test].reset_index(drop=True)
        if regression:
            prediction = model.predict(X_test)
        else:
            prediction = np.zeros((len(test), classes))
            prediction[:, [int(label) for label in model.classes_]] = model.predict_proba(X_test)
    elif name == "autogluon":
        _, cpu, (prediction, found) = timed(lambda: ask_autogluon(table, train, test, options))
    else:
        prepare = coded if name in FORESTS else {"catboost": filled, "sklearn": few_levels}.get(name, lambda X: X)
        X = prepare(table.X)
        X_train, X_test = X.iloc[train].reset_index(drop=True), X.iloc[test].reset_index(drop=True)
        model = forest(name, regression, options.threads) if name in FORESTS else _model(name, regression, options.threads)
        more = {"cat_features": [c for c in X.columns if X[c].dtype.name == "category"]} if name == "catboost" else {}
        wall, cpu, _ = timed(lambda: model.fit(X_train, table.y[train], **more))
        found = {"wall": wall}
        prediction = model.predict(X_test) if regression else _aligned(model.predict_proba(X_test), table.y[train], classes)
    losses = scores.row_losses(table.task, table.y[test], prediction)
    return {**found, "cpu": cpu, "score": scores.summary(table.task, losses)}, losses


# ---------------------------------------------------------------- kept results


def key(name: str, table: tables.Table, digest: str, seed: int, options: argparse.Namespace) -> str:
    library = "scikit-learn" if name in FORESTS else PACKAGE.get(name, name)
    budget = f"/{options.time:g} s" if name in TIMED else ""
    release = autogluon_version(options.autogluon) if name == "autogluon" else version(library)
    return f"{table.name}/{digest}/{seed}/{name} {release}/{options.threads} threads{budget}"


def position(where: str) -> Any:
    return LOSSES / f"{hashlib.sha256(where.encode()).hexdigest()[:16]}.npy"


def collect(table: tables.Table, names: list[str], store: dict[str, Any], options: argparse.Namespace) -> dict[str, list[dict[str, Any]]]:
    """Results of all contestants on all splits of one table, each with its losses."""
    digest, found = table.digest(), dict[str, list[dict[str, Any]]]()
    again = set(options.again.split(","))
    for seed in range(options.seeds):
        for name in names:
            where = key(name, table, digest, seed, options)
            if where not in store or name in again or not position(where).exists():
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        result, losses = run(name, table, seed, options)
                except Exception as error:
                    print(f"  {table.name}, split {seed}: {name} failed: {type(error).__name__}: {str(error)[:200]}", flush=True)
                    continue
                LOSSES.mkdir(parents=True, exist_ok=True)
                np.save(position(where), losses.astype(np.float32))
                store[where] = result
                write_json(STORE, store)
                print(f"  {table.name}, split {seed}: {name} {result['score']:.5g} in {result['wall']:.1f} s", flush=True)
            found.setdefault(name, []).append({**store[where], "losses": np.load(position(where)).astype(np.float64)})
    return found


# ---------------------------------------------------------------- what comes of it


def compare(mine: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> tuple[str, float]:
    """Verdict on the first against the second, and their distance in standard errors (negative: the first is better)."""
    gaps = [a["losses"] - b["losses"] for a, b in zip(mine, theirs, strict=True)]
    middle = np.array([gap.mean() for gap in gaps])
    over_rows = float(np.sqrt(sum(gap.var(ddof=1) / len(gap) for gap in gaps))) / len(gaps)
    over_splits = float(middle.std(ddof=1)) / len(gaps) ** 0.5 if len(gaps) > 1 else 0.0
    error = max(over_rows, over_splits)
    distance = float(middle.mean()) / error if error > 0.0 else 0.0
    return "better" if distance < -2.0 else "worse" if distance > 2.0 else "within noise", distance


def show(all_found: dict[str, dict[str, list[dict[str, Any]]]], about: dict[str, tables.Table], names: list[str], report: Report) -> None:
    rows = []
    for table, found in all_found.items():
        means = {name: float(np.mean([one["score"] for one in results])) for name, results in found.items()}
        best = min(means.values())
        cells = []
        for name in names:
            if name not in found:
                cells.append("-")
                continue
            spread = float(np.std([one["score"] for one in found[name]]))
            cells.append(f"{short(means[name], 4)} ± {short(spread, 2)}{'*' if means[name] == best else ''}")
        size, kind = f"{len(about[table].y):,} x {about[table].X.shape[1]}", "RMSE" if about[table].task == "regression" else "log loss"
        rows.append([table, size, kind, *cells])
    report.say("## Scores on rows that nobody learned\n\nMean ± standard deviation over the splits; * is the best; smaller is better.\n")
    report.table(["table", "size", "score", *names], rows)


def conclude(all_found: dict[str, dict[str, list[dict[str, Any]]]], names: list[str], report: Report, options: argparse.Namespace) -> None:
    """Verdicts, ranks, over-run."""
    full = [table for table, found in all_found.items() if all(len(found.get(name, [])) == options.seeds for name in names)]
    means = {t: {n: float(np.mean([one["score"] for one in all_found[t][n]])) for n in names} for t in full}
    if not full:
        report.say("no table on which all ran\n")
        return
    if "woodwind" in names:
        peers = [name for name in names if name != "woodwind"]
        verdicts = {t: {n: compare(all_found[t]["woodwind"], all_found[t][n]) for n in peers} for t in full}
        report.say("## The ensemble against each\n\nIn brackets: distance in standard errors of the paired difference.\n")
        report.table(["table", *peers], [[t, *(f"{v} ({d:+.1f})" for v, d in verdicts[t].values())] for t in full])
        counts = [[v, *(sum(verdicts[t][n][0] == v for t in full) for n in peers)] for v in ("better", "within noise", "worse")]
        report.table(["the ensemble is", *peers], counts)
        losing = sorted(t for t in full if any(v == "worse" for v, _ in verdicts[t].values()))
        report.goal("tables on which some peer is better beyond noise", len(losing), 0, "", at_most=True)
        report.say(f"These are: {', '.join(losing) or 'none'}.\n")
        over = max(one["wall"] / options.time - 1.0 for t in full for one in all_found[t]["woodwind"])
        report.goal("largest over-run of the time", 100 * over, 5.0, " %", at_most=True)
        report.figures["verdicts"] = {t: {n: {"verdict": v, "standard_errors": d} for n, (v, d) in verdicts[t].items()} for t in full}
    places = {t: ranks(means[t]) for t in full}
    order = sorted(names, key=lambda n: np.mean([places[t][n] for t in full]))
    report.say(f"## Over {len(full)} tables\n")
    rows = []
    for name in order:
        behind = geometric([max(means[t][name], 1e-6) / max(min(means[t].values()), 1e-6) for t in full]) - 1
        taken = float(np.mean([one["wall"] for t in full for one in all_found[t][name]]))
        position_of = np.array([places[t][name] for t in full])
        positions_of = [f"{position_of.mean():.2f}", f"{position_of.std():.2f}", int((position_of == 1).sum())]
        rows.append([name, *positions_of, f"{behind * 100:.2f} %", f"{taken:.1f} s"])
    report.table(["contestant", "mean rank", "spread", "first", "behind the best", "mean time"], rows)
    report.figures |= {"scores": means, "mean_rank": {n: float(np.mean([places[t][n] for t in full])) for n in names}}
    if "woodwind" in names and len(names) > 1:
        others = {n: r for n, r in report.figures["mean_rank"].items() if n != "woodwind"}
        nearest = min(others, key=others.__getitem__)
        report.goal(f"mean rank, against {nearest}", report.figures["mean_rank"]["woodwind"], others[nearest], "", less=True)


def is_here(name: str, options: argparse.Namespace) -> bool:
    """Whether a contestant can run."""
    if name == "autogluon":
        return bool(autogluon_version(options.autogluon))
    return name == "woodwind" or bool(version("scikit-learn" if name in FORESTS else PACKAGE.get(name, name)))


def main() -> None:
    def more(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--tables", default="", help="names of tables, separated by commas (all)")
        parser.add_argument("--time", type=float, default=60.0, help="seconds for the ensemble (60)")
        parser.add_argument("--seeds", type=int, default=3, help="splits per table, of three (3)")
        parser.add_argument("--autogluon", default="", metavar="PYTHON", help="the interpreter of an environment that has AutoGluon")
        parser.add_argument("--again", default="", help="contestants that are trained anew, separated by commas")

    options = arguments(__doc__ or "", more)
    report = Report("auto_tables", f"An ensemble of {options.time:g} seconds against single models, on real tables", options)
    wanted = [name for name in options.tables.split(",") if name] or list(QUICK if options.quick else tables.READERS)
    unknown = set(wanted) - set(tables.READERS)
    if unknown:
        raise SystemExit(f"--tables: unknown {', '.join(sorted(unknown))}; there are {', '.join(tables.READERS)}")
    if tables.folder(options.data) is None:
        raise SystemExit("no folder of tables: give --data or set WOODWIND_DATA")
    if not 1 <= options.seeds <= 3:
        raise SystemExit(f"--seeds: there are three splits of each table, not {options.seeds}")
    names = [n for n in chosen(options, NAMES) if is_here(n, options)]
    store = json.loads(STORE.read_text()) if STORE.exists() else {}
    RESULTS.mkdir(exist_ok=True)
    all_found, about = {}, {}
    for name in wanted:
        table = tables.read(name, options.data)
        if table is None:
            print(f"  {name}: not in the folder, skipped")
            continue
        about[name], all_found[name] = table, collect(table, names, store, options)
    print()
    show(all_found, about, names, report)
    conclude(all_found, names, report, options)
    report.save()


if __name__ == "__main__":
    main()
