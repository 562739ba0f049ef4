"""What becomes of damaged and of forged model files: does any crash the process, hang, take memory, or say what is not a number?

Damaged files are what disks and networks make of them: bits flipped, bytes overwritten, cut, lengthened, lines exchanged. Each must be
refused. Forged ones have something changed, and then all checksums made to hold again: numbers that become extremes, arrays of other
lengths, shapes and types, parts that are missing, exchanged or nested, kinds that are not what they say, sizes that change everywhere at
once. Such a file may be refused, or it may be a sound model that happens to be another one; it must not crash, hang, take more than 200 MB
beyond what the honest file takes, raise an error that is not Woodwind's, or predict what is not a number. Files are loaded, and asked for
everything that follows what they say: predictions of every kind, explanations, the report, what the commands show, one more round of a
training, saving. Every batch runs in a process of its own, so that a crash is seen and counted.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from common import RESULTS, Report, arguments, woodwind_is_here, write_json

BATCH = 10_000
ENDS = ("refused", "refused later", "answered")


def options_of(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--files", type=int, default=10_000, help="forged files of each model (10000)")
    parser.add_argument("--damaged", type=int, default=200, help="damaged files of each model (200)")
    parser.add_argument("--models", default="", help="models whose names have this in them; all unless given")
    parser.add_argument(
        "--jobs", type=int, default=2, help="processes beside each other (2); 0 only reports on the models that the result file has"
    )
    parser.add_argument("--resume", action="store_true", help="models that the result file has already are not looked at again")


def touched(change: str) -> set[str]:
    """The kinds of things that a change names."""
    return set(re.findall(r"(?:: |: all )((?:sklearn\.)?[A-Z]\w*)", change))


def asked(folder: Path, name: str, counts: dict[str, int]) -> dict[str, Any]:
    """What became of all files of one model, by how they were made."""
    from reference.forged_files import BAD, batch

    record: dict[str, Any] = {"bytes": (folder / f"{name}.ww").stat().st_size, "ends": {}, "bad": [], "ways": {}, "kinds": Counter()}
    began = time.perf_counter()
    for how, count in counts.items():
        found = [one for begin in range(0, count, BATCH) for one in batch(folder, [name], begin, min(begin + BATCH, count), how)]
        record["ends"][how] = Counter(one.sort for one in found)
        bad = [one for one in found if one.sort in BAD or (how == "damaged" and one.sort != "refused")]
        record["bad"] += [f"{name}, {how} {one.number}: {one.change[:150]}: {one.end[:300]}" for one in bad]
        for one in found if how == "forged" else ():
            for change in {part.split(":")[0] for part in one.change.split("; ")}:
                record["ways"].setdefault(change, Counter())[one.sort] += 1
            record["kinds"].update(touched(one.change))
    return record | {"seconds": time.perf_counter() - began}


def main() -> None:
    options = arguments(__doc__ or "", options_of)
    report = Report("damaged_files", "Damaged and forged model files", options)
    if not woodwind_is_here():
        raise SystemExit("woodwind cannot be imported")
    warnings.simplefilter("ignore")
    import pandas as pd

    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))  # the slow twins
    from reference.forged_files import BAD, keep
    from reference.model_graph import Graph
    from reference.stored_models import stored_models

    counts = {"forged": 40 if options.quick else options.files, "damaged": 10 if options.quick else options.damaged}
    path = RESULTS / f"{report.name}.json"
    goes_on = (options.resume or not options.jobs) and path.exists()
    models: dict[str, Any] = json.loads(path.read_text())["models"] if goes_on else {}
    kinds: set[str] = set()
    with tempfile.TemporaryDirectory() as position:
        folder = Path(position)
        names = []
        for name, (model, rows) in stored_models(pd.DataFrame, lambda name: options.models in name).items():
            keep(folder, name, model, rows)
            kinds |= {thing.kind for thing in Graph.of((folder / f"{name}.ww").read_bytes()).things}
            names.append(name)
        left = [name for name in names if name not in models] if options.jobs else []
        left.sort(key=lambda name: (folder / f"{name}.ww").stat().st_size)  # a run that is stopped has looked at as many as it could
        with ThreadPoolExecutor(max(options.jobs, 1)) as pool:
            tasks = {pool.submit(asked, folder, name, counts): name for name in left}
            for task in as_completed(tasks):
                name, record = tasks[task], task.result()
                models[name] = record
                if not options.quick or options.out is not None:
                    write_json(path, {"machine": report.facts, "models": models})
                print(f"{name}: {sum(counts.values()):,} files in {record['seconds']:.0f} s, {len(record['bad'])} bad", flush=True)
    whole, models = len(names), {name: models[name] for name in names if name in models}
    report.figures["models"] = models
    totals = {how: sum((Counter(record["ends"][how]) for record in models.values()), Counter()) for how in counts}
    rows = [
        [name, f"{one['bytes']:,}", how, *(one["ends"][how].get(end, 0) for end in ENDS), sum(one["ends"][how].get(end, 0) for end in BAD)]
        for name, one in models.items()
        for how in counts
    ]
    ways = {change for one in models.values() for change in one["ways"]}
    of_kinds: Counter[str] = sum((Counter(one["kinds"]) for one in models.values()), Counter())
    odd = [line for one in models.values() for line in one["bad"]]
    report.say(
        f"{sum(totals['damaged'].values()):,} damaged and {sum(totals['forged'].values()):,} forged files of {len(models)} of {whole} "
        f"models, which hold {len(kinds)} kinds of things between them.\n"
    )
    report.table(["model", "bytes", "files", *ENDS, "bad"], rows)
    report.say("Forged files that answer are valid models with something else in them: a threshold, a value, a label. What was changed:\n")
    every = (*ENDS, *BAD)
    of_ways = {change: sum((Counter(one["ways"].get(change, {})) for one in models.values()), Counter()) for change in ways}
    table = [[change, *(of_ways[change][end] for end in every)] for change in sorted(ways)]
    report.table(["change", *every], table)
    least = sorted((of_kinds[kind], kind) for kind in kinds)
    report.say("Kinds of things, by how many forged files had something of them changed by name:\n")
    report.table(["kind", "forged files"], [[kind, count] for count, kind in reversed(least)])
    for what in odd[:60]:
        report.say(f"- {what}")
    both = totals["damaged"] + totals["forged"]
    report.goal("damaged files that were refused", totals["damaged"]["refused"], sum(totals["damaged"].values()), "")
    report.goal("files that crashed the process", both["crashed"], 0, "", at_most=True)
    report.goal("files that did not come to an end", both["hung"], 0, "", at_most=True)
    report.goal("files that took five seconds of the processor or more", both["slow"], 0, "", at_most=True)
    report.goal("files that took 200 MB more than the honest one", both["memory"], 0, "", at_most=True)
    report.goal("files that predicted something that is not finite", both["not finite"], 0, "", at_most=True)
    report.goal("files that raised an error that is not Woodwind's", both["raised"], 0, "", at_most=True)
    report.save()


if __name__ == "__main__":
    main()
