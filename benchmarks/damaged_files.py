"""What becomes of damaged model files: is each refused, does any crash the process, does any predict?

Half of the files are damaged as disks and networks do it: bits flipped, bytes overwritten, cut, lengthened, lines exchanged. Each must be
refused. The other half is forged: something is changed, and then all checksums are made to hold again. Such a file may be refused, or it
may be a sound model that happens to be another one; it must not crash, hang, or predict what is not a number. Every batch runs in a process
of its own, so that a crash is seen and counted.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from common import Report, arguments, woodwind_is_here

BATCH = 500
SLOW = 2.0  # seconds of the processor for loading
ROWS = 40
ENDS = ("refused", "refused later", "predicted", "not finite", "raised", "slow", "crashed")
BAD = ("not finite", "raised", "slow", "crashed")
INTERESTING = (0, 1, -1, 2, -2, 127, 128, 255, 256, 2**15, 2**31 - 1, -(2**31), 2**32, 2**53, -(2**53), 2**40)


# ------------------------------------------------------------------------------------------------------------- models


def table(rows: int, seed: int) -> Any:
    """Numbers with gaps, levels, dates."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "number": rng.random(rows),
            "gaps": np.where(rng.random(rows) < 0.2, np.nan, rng.normal(size=rows)),
            "level": rng.choice(["a", "b", "c", "d"], rows),
            "many": rng.choice([f"level {k}" for k in range(300)], rows),
            "when": pd.date_range("2020-01-01", periods=rows, freq="31h"),
        }
    )


def models() -> dict[str, Any]:
    """One model of each kind of thing that files hold."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.tree import DecisionTreeRegressor

    import woodwind
    from woodwind.estimators.matrix import TableToMatrix

    X = table(300, 0)
    amount = X["number"].to_numpy() + (X["level"] == "b") + 0.3 * np.random.default_rng(1).random(300)
    labels = np.array(["no", "yes", "maybe"])[np.digitize(amount, [0.5, 1.0])]
    net = make_pipeline(TableToMatrix(), MLPClassifier((5,), max_iter=20))
    near = make_pipeline(TableToMatrix(), KNeighborsRegressor())
    theirs = make_pipeline(TableToMatrix(), DecisionTreeRegressor(max_depth=4))
    linear = make_pipeline(TableToMatrix(), LogisticRegression())
    small = {"n_estimators": 8, "random_state": 0}
    return {
        "boosting, classes": woodwind.GradientBoostingClassifier(**small).fit(X, labels),
        "boosting, numbers, warm": woodwind.GradientBoostingRegressor(warm_start=True, **small).fit(X, amount),
        "forest, classes": woodwind.RandomForestClassifier(**small).fit(X, labels),
        "forest, quantiles": woodwind.RandomForestRegressor(quantiles=True, **small).fit(X, amount),
        "AdaBoost": woodwind.AdaBoostClassifier(**small).fit(X, labels),
        "bagging": woodwind.BaggingRegressor(max_features=0.7, **small).fit(X, amount),
        "stack with a net": woodwind.StackingClassifier([("net", net), ("linear", linear)], cv=2).fit(X, labels),
        "vote of others": woodwind.VotingRegressor([("near", near), ("tree", theirs)]).fit(X, amount),
        "dynamic selection": woodwind.DynamicSelectionClassifier([("one", linear), ("two", net)], method="meta_des").fit(X, labels),
        "main job": auto_model(X, labels),
        "levels as numbers": encoded_model(X, amount),
    }


def auto_model(X: Any, labels: Any) -> Any:
    """What the main job keeps, with a member of every kind, put together by hand so that it is small."""
    import woodwind
    from woodwind.auto.members import ForestMember, GroveMember, MeanMember
    from woodwind.auto.model import AutoModel
    from woodwind.data.matrix_form import MatrixForm
    from woodwind.estimators import plain_members

    boosted = woodwind.GradientBoostingClassifier(n_estimators=4).fit(X, labels)
    grown = woodwind.RandomForestClassifier(n_estimators=4).fit(X, labels)
    form = MatrixForm.learn(X)
    y = np.searchsorted(boosted.classes_, labels)
    told = (form.of(X), y, None, "multiclass", 3, 0, lambda: 10.0)
    plain = [fit(*told) for fit in (plain_members.fit_linear, plain_members.fit_neighbours, plain_members.fit_net)]
    members = (ForestMember(boosted.forest_), MeanMember((GroveMember(grown.grove_, 2.0, np.zeros(3)),)), *plain)
    return AutoModel(
        task="multiclass", target="y", classes=tuple(boosted.classes_.tolist()), schema=boosted.schema_, form=form,
        names=tuple("abcde"), members=members, weights=np.full(5, 0.2), shift=np.zeros(3), metric="log_loss",
        facts=facts_of_a_job(),
    )  # fmt: skip


def facts_of_a_job() -> dict[str, Any]:
    """A leaderboard of one line."""
    from dataclasses import asdict

    from woodwind.auto.outcome import Entry

    return {"leaderboard": [asdict(Entry("ensemble", "ensemble", 0.5, 0.1, 0.5, 1.0, 1.0, 1.0, 5, ""))]}


def encoded_model(X: Any, amount: Any) -> Any:
    """A model of the main job whose members read levels as means of the target."""
    import woodwind
    from woodwind.auto.boosting import Boosting
    from woodwind.auto.clock import Clock
    from woodwind.auto.encoding import EncodedMember
    from woodwind.auto.lesson import Lesson
    from woodwind.auto.model import AutoModel
    from woodwind.auto.recipe import Recipe

    simple = woodwind.GradientBoostingRegressor(n_estimators=4, early_stopping=False).fit(X, amount)
    lesson = Lesson(simple.schema_, simple.schema_.read(X), amount, None, 0, np.arange(len(amount)) % 2, 0, 1)
    recipe = Recipe("encoded", "boosting", {"encode_from": 2, "rate": 10.0})
    family = Boosting()
    member = family.finish(lesson, recipe, list(family.fits(lesson, recipe, Clock(), []))).member
    assert any(isinstance(one, EncodedMember) for one in member.members)
    return AutoModel(
        task="regression", target="y", classes=(), schema=simple.schema_, form=lesson.form, names=("encoded",), members=(member,),
        weights=np.ones(1), shift=np.zeros(1), metric="rmse", facts=facts_of_a_job(),
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------------------- damage


def damaged(data: bytes, draw: random.Random) -> tuple[str, bytes]:
    """What a bad disk or a broken connection makes of a file."""
    how = draw.choice(["bit", "bytes", "cut", "longer", "exchanged", "zeros"])
    out = bytearray(data)
    at = draw.randrange(len(data))
    if how == "bit":
        out[at] ^= 1 << draw.randrange(8)
    elif how == "bytes":
        for place in range(at, min(at + draw.randrange(1, 9), len(out))):
            out[place] = draw.randrange(256)
    elif how == "cut":
        del out[at:]
    elif how == "longer":
        out += bytes(draw.randrange(256) for _ in range(draw.randrange(1, 200)))
    elif how == "exchanged":
        lines = len(data) // 64
        a, b = 64 * draw.randrange(lines), 64 * draw.randrange(lines)
        out[a : a + 64], out[b : b + 64] = data[b : b + 64], data[a : a + 64]
    else:
        out[at : at + 512] = bytes(len(out[at : at + 512]))
    return how, bytes(out)


def places_of(value: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Every place of a nested value: what it is in, and by which key."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        found.append((value, key))
        places_of(inner, found)
    return found


def forged(data: bytes, draw: random.Random) -> tuple[str, bytes]:
    """A file in which something is changed and all sums hold."""
    from woodwind.testing.model_files import OpenFile

    opened, before = OpenFile.of(data), OpenFile.of(data)
    others = ["bit in an array", "shape or type", "number", "kind", "part", "reference", "word", "array gone"]
    how = draw.choice(["number in an array"] * 4 + others)
    things, blocks = opened.header["things"], opened.header["blocks"]
    if "in an array" in how or how in ("shape or type", "array gone"):
        number = draw.randrange(len(blocks))
        change_array(opened, number, how, draw)
    elif how == "kind":
        draw.choice(things)["kind"] = draw.choice(things)["kind"]
    elif how == "part":
        full = [thing["parts"] for thing in things if thing["parts"]]
        one, other = draw.choice(full), draw.choice(full)
        name, gone = draw.choice(sorted(one)), draw.random()
        if gone < 0.3:
            del one[name]
        elif gone < 0.6:
            one[name] = draw.choice([None, [], {"tuple": []}, 0, -1, "", {"dict": {}}, {"float": "nan"}, True])
        else:
            one[name] = other[draw.choice(sorted(other))]
    else:
        change_header(opened.header, how, draw)
    same = json.dumps(opened.header) == json.dumps(before.header) and opened.blocks == before.blocks
    return how, data if same else opened.data()


def change_array(opened: Any, number: int, how: str, draw: random.Random) -> None:
    """Change what an array holds, or what is said of it."""
    entry, block = opened.header["blocks"][number], bytearray(opened.blocks[number])
    if how == "array gone":
        del opened.header["blocks"][number], opened.blocks[number]
    elif how == "shape or type":
        if draw.random() < 0.5:
            entry["dtype"] = draw.choice(["<f8", "<f4", "<i8", "<i4", "|u1", "<u8", "|b1", "<U2", "<M8[s]"])
        elif entry["shape"]:
            entry["shape"][draw.randrange(len(entry["shape"]))] += draw.choice([-1, 1, 2**20, -(2**20)])
    elif how == "bit in an array":
        block[draw.randrange(len(block))] ^= 1 << draw.randrange(8)
        opened.blocks[number] = bytes(block)
    else:
        try:
            values = np.frombuffer(bytes(block), entry["dtype"], int(np.prod(entry["shape"]))).copy()
        except (TypeError, ValueError):
            return
        if values.dtype.kind in "iuf" and values.size:
            place = draw.randrange(values.size)
            chosen = draw.choice([*INTERESTING, *([float("nan"), float("inf"), 1e300] if values.dtype.kind == "f" else [])])
            with np.errstate(all="ignore"):
                values[place] = np.array(chosen).astype(values.dtype) if draw.random() < 0.6 else values[draw.randrange(values.size)]
            block[: values.nbytes] = values.tobytes()
            opened.blocks[number] = bytes(block)


def change_header(header: dict[str, Any], how: str, draw: random.Random) -> None:
    """Change a number, a word or a reference somewhere in the header."""
    wanted = {"number": (int, float), "word": (str,), "reference": (int,)}[how]
    places = [
        (inside, key)
        for inside, key in places_of({"things": header["things"], "value": header["value"]}, [])
        if type(inside[key]) in wanted and (how != "reference" or key in ("thing", "array", "turned"))
    ]
    if not places:
        return
    inside, key = draw.choice(places)
    if how == "word":
        inside[key] = draw.choice(["", "x" * 50, "Forest", inside[key][::-1], inside[key] + "0", "\u0000"])
    elif how == "reference":
        inside[key] = draw.choice([0, -1, inside[key] + 1, inside[key] - 1, 10**9, draw.randrange(len(header["things"]))])
    else:
        inside[key] = draw.choice([*INTERESTING, inside[key] + 1, inside[key] - 1, float(inside[key]), 0.5])


def seed_of(name: str, number: int, repaired: bool) -> str:
    return f"{name} {number} {repaired}"


# ------------------------------------------------------------------------------------------------------------- asking


def asked(model: Any, X: Any) -> list[Any]:
    """Everything that reaches a kernel."""
    if hasattr(model, "scores"):
        return [model.scores(X)]
    names = ["predict", "predict_proba", *(["predict_quantiles"] if hasattr(model, "leaf_rows_") else [])]
    return [getattr(model, name)(X) for name in names if hasattr(model, name)]


def outcome(path: Path, X: Any) -> str:
    """What becomes of one file."""
    import woodwind
    from woodwind.base.errors import ModelFileError, WoodwindError

    began = time.process_time()
    try:
        model = woodwind.load(path)
    except ModelFileError:
        return "refused" if time.process_time() - began < SLOW else "slow"
    except Exception as error:
        return f"raised: load: {type(error).__name__}: {error}"
    if time.process_time() - began >= SLOW:
        return "slow"
    try:
        said = asked(model, X)
    except WoodwindError:
        return "refused later"
    except Exception as error:
        return f"raised: {type(error).__name__}: {error}"
    finite = all(np.isfinite(one).all() for one in said if np.asarray(one).dtype.kind == "f")
    return "predicted" if finite else "not finite"


def child(folder: Path, name: str, begin: int, end: int, repaired: bool) -> None:
    """Go through some files; each is told as soon as it is done, so that the parent knows where a crash was."""
    warnings.simplefilter("ignore")
    import woodwind

    data = (folder / f"{name}.ww").read_bytes()
    X = table(ROWS, 7)
    asked(woodwind.load(folder / f"{name}.ww"), X)
    path = folder / f"damaged-{name}-{begin}.ww"
    for number in range(begin, end):
        draw = random.Random(seed_of(name, number, repaired))
        how, changed = "", data
        while changed == data:  # a number may be exchanged for itself
            how, changed = (forged if repaired else damaged)(data, draw)
        path.write_bytes(changed)
        with np.errstate(all="ignore"):
            print(json.dumps([number, outcome(path, X), how]), flush=True)
    path.unlink(missing_ok=True)


def batch(folder: Path, name: str, begin: int, end: int, repaired: bool) -> list[tuple[str, str]]:
    """The outcomes of some files, whatever happens to the process that looks at them."""
    found: list[tuple[str, str]] = []
    while begin < end:
        command = [sys.executable, __file__, "--child", str(folder), name, str(begin), str(end), str(int(repaired))]
        done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
        found += [(result, how) for _, result, how in lines]
        begin += len(lines)
        if begin < end:
            found.append((f"crashed: {done.returncode}: {done.stderr[-200:]}", "?"))
            begin += 1
    return found


def main() -> None:
    def more(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--files", type=int, default=10_000, help="damaged files in all (10000)")

    options = arguments(__doc__ or "", more)
    report = Report("damaged_files", "Damaged model files", options)
    if not woodwind_is_here():
        raise SystemExit("woodwind cannot be imported")
    warnings.simplefilter("ignore")
    from woodwind import store

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        made = models()
        for name, model in made.items():
            store.save(folder / f"{name}.ww", model)
        each = max(2, (options.files if not options.quick else 400) // (2 * len(made)))
        rows, totals, ways, odd = [], {False: Counter(), True: Counter()}, Counter(), Counter()
        for name in made:
            for repaired in (False, True):
                found = [one for begin in range(0, each, BATCH) for one in batch(folder, name, begin, min(begin + BATCH, each), repaired)]
                counts = Counter(result.split(":")[0] for result, _ in found)
                totals[repaired] += counts
                if repaired:
                    ways.update((how, result.split(":")[0]) for result, how in found)
                odd.update(f"{name}: {how}: {result}" for result, how in found if result.split(":")[0] in BAD)
                size = (folder / f"{name}.ww").stat().st_size
                rows.append([name, f"{size:,}", "holds" if repaired else "broken", *(counts[end] for end in ENDS)])
    report.say(f"{sum(totals[False].values()):,} files with broken checksums and {sum(totals[True].values()):,} whose checksums hold.\n")
    report.table(["model", "bytes", "checksums", *ENDS], rows)
    report.say(
        "Files whose checksums hold and that predict are sound models with something else in them: a threshold, a value, a label. "
        "What was changed in the files whose checksums hold:\n"
    )
    report.table(["change", *ENDS], [[how, *(ways[how, end] for end in ENDS)] for how in sorted({how for how, _ in ways})])
    for what, count in odd.most_common(40):
        report.say(f"- {count} x {what[:300]}")
    report.figures["outcomes"] = {"broken": dict(totals[False]), "forged": dict(totals[True])}
    both = totals[False] + totals[True]
    report.goal("broken files that were refused", totals[False]["refused"], sum(totals[False].values()), "")
    report.goal("files that crashed the process", both["crashed"], 0, "", at_most=True)
    report.goal("files that took two seconds or more to refuse", both["slow"], 0, "", at_most=True)
    report.goal("files that predicted something that is not finite", both["not finite"], 0, "", at_most=True)
    report.goal("files that raised an error that is not Woodwind's", both["raised"], 0, "", at_most=True)
    report.save()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]), int(sys.argv[5]), bool(int(sys.argv[6])))
    else:
        main()
