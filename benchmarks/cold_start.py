"""How long until something happens: import, the first fit ever, and the first fit of a new process?

Everything is measured in new processes. The first fit ever runs with an empty cache of compiled kernels; the warm one with the cache
that it left. A new process is timed from outside, so the start of Python itself is counted: until it has trained, and until it is gone.
Bytecode is written, as it is by pip, whatever the environment says: compiling the source files is nobody's cold start but an author's.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from common import HERE, Report, arguments, chosen, seconds, woodwind_is_here
from contestants import ALL

IMPORTS = {
    "woodwind": "import woodwind",
    "xgboost": "import xgboost",
    "lightgbm": "import lightgbm",
    "sklearn": "from sklearn.ensemble import HistGradientBoostingClassifier",
    "catboost": "import catboost",
    "ydf": "import ydf",
}

# The clock starts before the import; NumPy is counted, since every one of them needs it.
IMPORT = """
import sys, time
before = len(sys.modules); start = time.perf_counter()
{line}
taken = time.perf_counter() - start
import json
heavy = [name for name in ("numba", "sklearn", "pandas", "scipy", "pyarrow", "polars", "narwhals") if name in sys.modules]
print(json.dumps(dict(seconds=taken, modules=len(sys.modules) - before, heavy=heavy)))
"""

FIT = """
import sys, time
sys.path.insert(0, {here!r})
import synthetic
X, y = synthetic.small(1_000, 10)
from contestants import ALL, Settings
contestant = ALL[{name!r}]
X = contestant.prepare(X)
start = time.perf_counter()
contestant.fit(X, y, Settings(threads={threads}))
import json
print(json.dumps(dict(fit=time.perf_counter() - start, trained=time.time())))
"""


def fresh(code: str, **more: str) -> tuple[float, dict[str, Any]]:
    """Run code in a new process: seconds from outside, and what it printed last. A time of day becomes seconds from the start."""
    path = os.pathsep.join([str(HERE.parent), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    env = {**os.environ, "PYTHONPATH": path, **more}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    start, of_day = time.perf_counter(), time.time()
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, env=env, cwd=tempfile.gettempdir())
    taken = time.perf_counter() - start
    if done.returncode:
        raise RuntimeError("; ".join(done.stderr.strip().splitlines()[-3:]))
    found = json.loads(done.stdout.strip().splitlines()[-1])
    return taken, {**found, "trained": found["trained"] - of_day} if "trained" in found else found


def imports(report: Report, names: list[str], runs: int) -> None:
    """Import times, best of several processes."""
    rows = []
    for name in names:
        fresh(IMPORT.format(line=IMPORTS[name]))  # the first one reads the files from disk and writes bytecode
        found = min((fresh(IMPORT.format(line=IMPORTS[name]))[1] for _ in range(runs)), key=lambda f: f["seconds"])
        report.figures.setdefault("import", {})[name] = found
        rows.append([name, seconds(found["seconds"]), found["modules"], ", ".join(found["heavy"]) or "none"])
    report.say(f"## Import\n\nBest of {runs} new processes, files in the disk cache.\n")
    report.table(["contestant", "import", "modules loaded", "of the heavy ones"], rows)
    if "woodwind" in names:
        mine = report.figures["import"]["woodwind"]
        report.goal("import woodwind", mine["seconds"], 0.2, " s", at_most=True)
        unwanted = sorted({"numba", "sklearn", "pandas"} & set(mine["heavy"]))
        report.goal(f"heavy modules loaded by the import ({', '.join(unwanted) or 'none'})", len(unwanted), 0, "", at_most=True)


def first_fits(report: Report, names: list[str], threads: int, runs: int) -> None:
    """The first fit of a process on 1,000 x 10, 100 trees of 31 leaves."""
    rows = []
    with tempfile.TemporaryDirectory() as cache:
        for name in names:
            code = FIT.format(here=str(HERE), name=name, threads=threads)
            if name == "woodwind":
                whole, first = fresh(code, WOODWIND_CACHE_DIR=cache)
                report.figures["first_fit_ever"] = {"fit": first["fit"], "trained": first["trained"], "process": whole}
                size = sum(f.stat().st_size for f in Path(cache).rglob("*") if f.is_file())
                rows.append(["woodwind, empty cache", seconds(first["fit"]), seconds(first["trained"]), seconds(whole), 1])
                report.figures["cache_bytes"] = size
            found = [fresh(code, WOODWIND_CACHE_DIR=cache) for _ in range(runs)]
            best = min(found, key=lambda pair: float(pair[1]["trained"]))
            report.figures.setdefault("new_process", {})[name] = {"fit": best[1]["fit"], "trained": best[1]["trained"], "process": best[0]}
            rows.append([name, seconds(best[1]["fit"]), seconds(best[1]["trained"]), seconds(best[0]), runs])
    report.say("## First fit of a process\n\n1,000 x 10, 100 trees of 31 leaves; the fit includes importing the library.\n")
    report.table(["contestant", "import and first fit", "start to trained", "whole process", "processes"], rows)
    if "woodwind" in names:
        report.say(f"The cache holds {report.figures['cache_bytes'] / 2**20:.1f} MB.\n")
        report.goal("first fit ever, compiling included", report.figures["first_fit_ever"]["fit"], 15.0, " s", at_most=True)
        report.goal(
            "new process with a warm cache, from start to trained",
            report.figures["new_process"]["woodwind"]["trained"],
            2.0,
            " s",
            at_most=True,
        )


def at_once(report: Report, threads: int, count: int = 8) -> None:
    """Several first fits ever that begin together and share an empty cache: one of them compiles, the others wait for it."""
    code = FIT.format(here=str(HERE), name="woodwind", threads=threads)
    with tempfile.TemporaryDirectory() as cache, ThreadPoolExecutor(count) as pool:
        found = list(pool.map(lambda _: fresh(code, WOODWIND_CACHE_DIR=cache)[0], range(count)))
    report.figures["at_once"] = {"processes": count, "longest": max(found)}
    report.say(f"{count} new processes that begin together with one empty cache: the last one is gone after {seconds(max(found))}.\n")


def main() -> None:
    options = arguments(__doc__ or "")
    report = Report("cold_start", "Cold start", options)
    names = [n for n in chosen(options, IMPORTS) if ALL[n].here() and (n != "woodwind" or woodwind_is_here())]
    runs = 1 if options.quick else 5
    imports(report, names, runs)
    first_fits(report, names, options.threads, runs)
    if "woodwind" in names:
        at_once(report, options.threads)
    report.save()


if __name__ == "__main__":
    main()
