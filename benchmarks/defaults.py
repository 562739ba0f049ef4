"""How good are the defaults: every estimator as it comes, on every real table of the data folder?

Three splits per table (those that come with the data first, then seeded ones of 80 and 20 %), log loss or RMSE on the test part.
Every library gets the same frame, categories marked as it wants them. Results of the other libraries are kept in
results/peers-defaults.json under table, contents, split and version, so that a new run only trains Woodwind; --again trains all anew.
Times are seconds of processor, over all threads: results that are kept were not taken in the same run, and the clock of a busy
machine says little.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import scores
import tables
from common import RESULTS, Report, arguments, chosen, seconds, short, timed, version, woodwind_is_here, write_json
from contestants import LIBRARY, few_levels, filled

STORE = RESULTS / "peers-defaults.json"
PACKAGE = {"sklearn": "scikit-learn"}


def _identity(X: Any) -> Any:
    return X


def _model(name: str, regression: bool, threads: int) -> Any:
    """The estimator with its defaults; only threads and silence are set."""
    if name == "woodwind":
        import woodwind

        return (woodwind.GradientBoostingRegressor if regression else woodwind.GradientBoostingClassifier)(n_jobs=threads, random_state=0)
    if name == "lightgbm":
        import lightgbm

        return (lightgbm.LGBMRegressor if regression else lightgbm.LGBMClassifier)(n_jobs=threads, verbosity=-1)
    if name == "xgboost":
        import xgboost

        return (xgboost.XGBRegressor if regression else xgboost.XGBClassifier)(n_jobs=threads, enable_categorical=True)
    if name == "sklearn":
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

        # It splits off a validation part at random above 10,000 rows: fixed, so that a run can be repeated.
        return (HistGradientBoostingRegressor if regression else HistGradientBoostingClassifier)(random_state=0)
    import catboost

    kind = catboost.CatBoostRegressor if regression else catboost.CatBoostClassifier
    return kind(thread_count=threads, verbose=False, allow_writing_files=False)


NAMES = ("woodwind", "lightgbm", "xgboost", "sklearn", "catboost")
PREPARE: dict[str, Callable[[Any], Any]] = {"catboost": filled, "sklearn": few_levels}


def measure(name: str, table: tables.Table, split: tables.Split, threads: int) -> dict[str, float]:
    """Fit on one part, score on the other."""
    train, test = split
    X = PREPARE.get(name, _identity)(table.X)
    X_train, X_test = X.iloc[train].reset_index(drop=True), X.iloc[test].reset_index(drop=True)
    y_train, y_test = table.y[train], table.y[test]
    model = _model(name, table.task == "regression", threads)
    more: dict[str, Any] = {}
    if name == "catboost":
        more["cat_features"] = [column for column in X.columns if X[column].dtype.name == "category"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wall, cpu, _ = timed(lambda: model.fit(X_train, y_train, **more))
        if wall < 1.0:
            # Short fits are the ones that lazy loading, compiling and chance weigh on: the better of two.
            model = _model(name, table.task == "regression", threads)
            cpu = min(cpu, timed(lambda: model.fit(X_train, y_train, **more))[1])
        prediction = (
            model.predict(X_test) if table.task == "regression" else _aligned(model.predict_proba(X_test), y_train, int(table.y.max()) + 1)
        )
    losses = scores.row_losses(table.task, y_test, prediction)
    found = {"score": scores.summary(table.task, losses), "cpu": cpu}
    if table.task == "binary":
        found["auc"] = scores.auc(y_test, prediction)
    return found


def _aligned(probability: Any, y_train: Any, classes: int) -> Any:
    """A class that training never met gets a column of zeros."""
    met = np.unique(y_train)
    if len(met) == classes:
        return probability
    whole = np.zeros((len(probability), classes))
    whole[:, met] = probability
    return whole


# ---------------------------------------------------------------- stored results


def load() -> dict[str, Any]:
    return json.loads(STORE.read_text()) if STORE.exists() else {}


def key(name: str, table: tables.Table, digest: str, split: int, threads: int) -> str:
    return f"{table.name}/{digest}/{split}/{name} {version(PACKAGE.get(name, name))}/{threads} threads"


def collect(table: tables.Table, names: list[str], store: dict[str, Any], options: argparse.Namespace) -> dict[str, list[dict[str, float]]]:
    """Results of all contestants on all splits of one table, from the store where it has them."""
    digest, found = table.digest(), dict[str, list[dict[str, float]]]()
    for number, split in enumerate(table.splits(options.splits)):
        for name in names:
            position = key(name, table, digest, number, options.threads)
            if name == "woodwind" or options.again or position not in store:
                try:
                    result = measure(name, table, split, options.threads)
                except Exception as error:
                    print(f"  {table.name}, split {number}: {name} failed: {type(error).__name__}: {str(error)[:200]}", flush=True)
                    continue
                print(f"  {table.name}, split {number}: {name} {result['score']:.5g} in {result['cpu']:.2f} s of processor", flush=True)
                if name != "woodwind":
                    store[position] = result
                    if not options.quick:
                        RESULTS.mkdir(exist_ok=True)
                        write_json(STORE, store)
            else:
                result = store[position]
            found.setdefault(name, []).append(result)
    return found


# ---------------------------------------------------------------- what comes of it


def ranks(values: dict[str, float]) -> dict[str, float]:
    """1 is best; equal scores share the mean of their positions."""
    return {
        n: 1 + sum(v < value for v in values.values()) + 0.5 * (sum(v == value for v in values.values()) - 1) for n, value in values.items()
    }


def geometric(values: list[float]) -> float:
    return float(np.exp(np.mean(np.log(values)))) if values else float("nan")


def conclude(
    all_scores: dict[str, dict[str, float]], times: dict[str, dict[str, tuple[float, float]]], names: list[str], report: Report
) -> None:
    """Mean ranks, wins, time ratios, and the distance to CatBoost."""
    full = [t for t, s in all_scores.items() if len(s) == len(names)]
    if not full:
        report.say("no table on which all ran\n")
        return
    places = {t: ranks(all_scores[t]) for t in full}
    base = "woodwind" if "woodwind" in names else "catboost" if "catboost" in names else names[0]
    rows = []
    for name in sorted(names, key=lambda n: np.mean([places[t][n] for t in full])):
        ahead = sum(all_scores[t][base] < all_scores[t][name] for t in full)
        behind = sum(all_scores[t][base] > all_scores[t][name] for t in full)
        worse = geometric([max(all_scores[t][name], 1e-6) / max(min(all_scores[t].values()), 1e-6) for t in full])
        total = sum(times[t][name] for t in full)
        ratio = geometric([times[t][name] / max(times[t][base], 1e-3) for t in full])
        rows.append(
            [
                name,
                f"{np.mean([places[t][name] for t in full]):.2f}",
                sum(places[t][name] == 1 for t in full),
                f"{(worse - 1) * 100:.2f} %",
                "-" if name == base else f"{ahead} : {behind}",
                seconds(total),
                f"{ratio:.2f}",
            ]
        )
    report.say(f"## Over {len(full)} tables\n")
    report.table(
        [
            "contestant",
            "mean rank",
            "first",
            "behind the best",
            f"{base} won : lost",
            "processor, all tables",
            f"processor / {base}'s",
        ],
        rows,
    )
    report.figures["mean_rank"] = {n: float(np.mean([places[t][n] for t in full])) for n in names}
    if base != "woodwind":
        return
    mine = report.figures["mean_rank"]["woodwind"]
    beaten = {n: r for n, r in report.figures["mean_rank"].items() if n not in ("woodwind", "catboost")}
    if beaten:
        nearest = min(beaten, key=beaten.__getitem__)
        report.goal(f"mean rank, against {nearest}", mine, beaten[nearest], "", less=True)
    if "catboost" in names:
        share = sum(times[t]["woodwind"] for t in full) / sum(times[t]["catboost"] for t in full)
        report.goal("share of CatBoost's processor time, all tables", share, 1 / 3, "", at_most=True)
        ratio = geometric([max(all_scores[t]["woodwind"], 1e-6) / max(all_scores[t]["catboost"], 1e-6) for t in full])
        middle = float(np.median([all_scores[t]["woodwind"] / max(all_scores[t]["catboost"], 1e-6) for t in full]))
        report.say(
            f"Distance to CatBoost's default: {(ratio - 1) * 100:+.2f} % (geometric mean of the ratios of scores; negative: ahead), "
            f"median {(middle - 1) * 100:+.2f} %\n"
        )
        report.figures["distance_to_catboost"] = ratio - 1


def show(all_scores: dict, times: dict, about: dict[str, tables.Table], names: list[str], report: Report) -> None:
    rows = []
    for name, values in all_scores.items():
        table = about[name]
        best = min(values.values())
        cells = [f"{short(values[n], 4)}{'*' if values[n] == best else ''}" if n in values else "-" for n in names]
        fits = [short(times[name][n]) if n in values else "-" for n in names]
        rows.append([name, f"{len(table.y):,} x {table.X.shape[1]}", "RMSE" if table.task == "regression" else "log loss", *cells, *fits])
    report.say("## Scores and times\n\nMean over the splits; * is the best; the columns ending in s are seconds of processor of fitting.\n")
    report.table(["table", "size", "score", *names, *(f"{n} s" for n in names)], rows)
    notes = [f"{n}: {t.note}" for n, t in about.items() if t.note]
    if notes:
        report.say("; ".join(notes) + ".\n")


def main() -> None:
    def more(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--tables", default="", help="names of tables, separated by commas (all)")
        parser.add_argument("--splits", type=int, default=3, help="splits per table (3)")
        parser.add_argument("--again", action="store_true", help="train the other libraries too, even where their results are stored")

    options = arguments(__doc__ or "", more)
    report = Report("defaults", "Defaults on real tables", options)
    wanted = [name for name in options.tables.split(",") if name] or list(tables.READERS)
    if options.quick:
        options.splits, wanted = 1, [name for name in wanted if name in ("uci_yacht", "hmeq", "insurance", "loan_bads")] or wanted[:1]
    unknown = set(wanted) - set(tables.READERS)
    if unknown:
        raise SystemExit(f"--tables: unknown {', '.join(sorted(unknown))}; there are {', '.join(tables.READERS)}")
    if tables.folder(options.data) is None:
        raise SystemExit("no folder of tables: give --data or set WOODWIND_DATA")
    names = [n for n in chosen(options, NAMES) if (woodwind_is_here() if n == "woodwind" else version(PACKAGE.get(n, LIBRARY[n])))]
    store, all_scores, times, about = load(), {}, {}, {}
    store.setdefault("machine", {fact: report.facts[fact] for fact in ("cpu", "cores", "memory_gb", "system", "python")})
    for name in wanted:
        table = tables.read(name, options.data)
        if table is None:
            print(f"  {name}: not in the folder, skipped")
            continue
        found = collect(table, names, store, options)
        about[name] = table
        all_scores[name] = {n: float(np.mean([r["score"] for r in f])) for n, f in found.items() if len(f) == options.splits}
        times[name] = {n: float(np.mean([r["cpu"] for r in f])) for n, f in found.items()}
    print()
    show(all_scores, times, about, names, report)
    conclude(all_scores, times, names, report)
    report.figures |= {"scores": all_scores, "processor_seconds": times}
    report.save()


if __name__ == "__main__":
    main()
