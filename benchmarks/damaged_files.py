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
import re
import sys
import tempfile
import time
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from common import Report, arguments, woodwind_is_here

BATCH = 2500
ENDS = ("refused", "refused later", "answered")


def options_of(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--files", type=int, default=10_000, help="forged files of each model (10000)")
    parser.add_argument("--damaged", type=int, default=200, help="damaged files of each model (200)")
    parser.add_argument("--models", default="", help="models whose names have this in them; all unless given")
    parser.add_argument("--jobs", type=int, default=2, help="processes beside each other (2)")


def touched(change: str) -> set[str]:
    """The kinds of things that a change names."""
    return set(re.findall(r"(?:: |: all )((?:sklearn\.)?[A-Z]\w*)", change))


def main() -> None:
    options = arguments(__doc__ or "", options_of)
    report = Report("damaged_files", "Damaged and forged model files", options)
    if not woodwind_is_here():
        raise SystemExit("woodwind cannot be imported")
    warnings.simplefilter("ignore")
    import pandas as pd

    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))  # the slow twins
    from reference.forged_files import BAD, batch, keep
    from reference.model_graph import Graph
    from reference.stored_models import stored_models

    with tempfile.TemporaryDirectory() as position:
        folder = Path(position)
        kinds: set[str] = set()
        names = []
        for name, (model, rows) in stored_models(pd.DataFrame, lambda name: options.models in name).items():
            keep(folder, name, model, rows)
            kinds |= {thing.kind for thing in Graph.of((folder / f"{name}.ww").read_bytes()).things}
            names.append(name)
        counts = {"forged": 40 if options.quick else options.files, "damaged": 10 if options.quick else options.damaged}
        rows, odd, ways, of_kinds = [], [], Counter(), Counter()
        totals = {"forged": Counter(), "damaged": Counter()}

        def asked(one: tuple[str, str]) -> tuple[str, str, list, float]:
            name, how = one
            began = time.perf_counter()
            steps = range(0, counts[how], BATCH)
            found = [result for begin in steps for result in batch(folder, [name], begin, min(begin + BATCH, counts[how]), how)]
            return name, how, found, time.perf_counter() - began

        with ThreadPoolExecutor(options.jobs) as pool:
            for name, how, found, seconds in pool.map(asked, [(name, how) for name in names for how in counts]):
                ends = Counter(one.sort for one in found)
                totals[how] += ends
                if how == "forged":
                    for one in found:
                        for change in {part.split(":")[0] for part in one.change.split("; ")}:
                            ways[change, one.sort] += 1
                        of_kinds.update(touched(one.change))
                bad = [one for one in found if one.sort in BAD or (how == "damaged" and one.sort != "refused")]
                odd += [f"{name}, {how} {one.number}: {one.change[:150]}: {one.end[:300]}" for one in bad]
                rows.append([name, f"{(folder / f'{name}.ww').stat().st_size:,}", how, *(ends[end] for end in ENDS), len(bad)])
                print(f"{name}, {how}: {len(found):,} files in {seconds:.0f} s, {len(bad)} bad", flush=True)
    report.say(
        f"{sum(totals['damaged'].values()):,} damaged and {sum(totals['forged'].values()):,} forged files of {len(names)} models, which "
        f"hold {len(kinds)} kinds of things between them.\n"
    )
    report.table(["model", "bytes", "files", *ENDS, "bad"], rows)
    report.say("Forged files that answer are valid models with something else in them: a threshold, a value, a label. What was changed:\n")
    every = (*ENDS, *BAD)
    table = [[change, *(ways[change, end] for end in every)] for change in sorted({change for change, _ in ways})]
    report.table(["change", *every], table)
    least = sorted((of_kinds[kind], kind) for kind in kinds)
    report.say("Kinds of things, by how many forged files had something of them changed by name:\n")
    report.table(["kind", "forged files"], [[kind, count] for count, kind in reversed(least)])
    for what in odd[:60]:
        report.say(f"- {what}")
    report.figures["outcomes"] = {how: dict(total) for how, total in totals.items()}
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
