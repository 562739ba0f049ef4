"""What becomes of forged files: are they refused, or do they answer; does any crash the process, hang, or take memory?

A batch of files is forged, loaded and asked in a process of its own, which tells of each file before and after it: a crash, or one that
does not come to an end, is then known by its number.
"""

import contextlib
import copy
import gc
import importlib
import io
import json
import os
import queue
import random
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import woodwind
from reference.forging import damaged, forged
from reference.model_graph import Graph
from woodwind import store
from woodwind.auto.model import AutoModel
from woodwind.auto.shap import explain_model
from woodwind.base.errors import ModelFileError, WoodwindError
from woodwind.cli.commands import inspect, leaderboard
from woodwind.cli.commands.predict import predicted as columns_of
from woodwind.cli.model_files import open_model
from woodwind.report import page

# A process of its own finds this folder, and the checkout. Threads of other libraries, which wait for each other at full speed, are one: on
# a machine with other work a search among twelve rows took 70 ms.
ROOT = Path(__file__).resolve().parents[2]
ALONE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
ENVIRONMENT = os.environ | ALONE | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")])}

# Seconds of the processor for all questions about one file; seconds on the clock until a process is given up; bytes beyond the honest file.
SLOW, HANGS, MOST_MEMORY = 5.0, 120.0, 200 << 20
# What processes that look at forged files may take in all, beyond what they have: they must not take the machine with them.
ROOM = 4 << 30
REFUSED, LATER, ANSWERED = "refused", "refused later", "answered"
WAYS = {"forged": forged, "damaged": damaged}
BAD = ("not finite", "raised", "memory", "slow", "hung", "crashed")


class Outcome(NamedTuple):
    """What became of one file."""

    name: str  # of the model
    number: int  # of the forgery
    end: str  # one of REFUSED, LATER, ANSWERED, or of BAD with more behind a colon
    change: str  # what was changed

    @property
    def sort(self) -> str:
        """The end without what was said."""
        return self.end.split(":")[0]


# ------------------------------------------------------------------------------------------------------------- questions


def questions(model: Any, X: Any, path: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Everything that can be asked of a model and that follows what the file says."""
    few = X[:2]
    names = ("predict", "predict_proba", "predict_log_proba", "decision_function", "apply", "predict_quantiles", "transform")
    yield from ((name, lambda name=name: getattr(model, name)(X)) for name in names if hasattr(model, name))
    bounded = ("predict_interval", "predict_set")
    yield from ((name, lambda name=name: without_infinity(getattr(model, name)(X))) for name in bounded if hasattr(model, name))
    staged = ("staged_predict", "staged_predict_proba", "staged_decision_function")
    yield from ((name, lambda name=name: list(getattr(model, name)(X))) for name in staged if hasattr(model, name))
    whole = ("feature_importances_", "estimators_", "named_estimators_", "classes_", "suspicions_", "leaderboard_")
    yield from ((name, lambda name=name: [getattr(model, name, None), None][1]) for name in whole)
    yield "repr", lambda: [repr(model), None][1]
    if hasattr(model, "explain"):
        yield "explain", lambda: model.explain(few).values
    if hasattr(model, "predict_survival_function"):
        yield "predict_survival_function", lambda: model.predict_survival_function(X)([0.0, 1.0, 1e9])
        yield "medians", lambda: [model.predict_survival_function(X).median(), None][1]
    if hasattr(model, "explain_selection"):
        yield "explain_selection", lambda: [model.explain_selection(few).to_dict(), None][1]
    if hasattr(model, "decision_path"):
        yield "decision_path", lambda: [model.decision_path(few), None][1]
    if hasattr(model, "export_text"):
        yield "export_text", lambda: [model.export_text(), None][1]
    if hasattr(model, "predictor") and hasattr(model, "schema_"):
        yield "predictor", lambda: model.predictor()(np.zeros((2, len(model.schema_.feature_names))))
    if "return_std" in getattr(getattr(type(model).__dict__.get("predict"), "__code__", None), "co_varnames", ()):
        yield "predict with a deviation", lambda: model.predict(X, return_std=True)
    if hasattr(model, "pruned_ensemble"):
        yield "pruned_ensemble", lambda: model.pruned_ensemble().predict(X)
    if hasattr(model, "report"):
        yield "report", lambda: model.report(path.with_suffix(".html"))
    inside = model if isinstance(model, AutoModel) else getattr(model, "model_", None)
    if isinstance(inside, AutoModel):
        yield "scores", lambda: inside.scores(X)
        if inside.intervals is not None:
            yield "intervals", lambda: without_infinity(columns_of(inside, X, False, 1, (0.5, 0.9)).values())
        if inside is model:
            yield "explain", lambda: explain_model(inside, few, 1).values
        yield "page", lambda: [page(inside.facts, "model.ww"), None][1]
        yield "opened alone", lambda: open_model(path).scores(X)
        yield "inspect", lambda: printed(inspect.run, path)
        yield "inspect as JSON", lambda: printed(inspect.run, path, "--json")
        yield "leaderboard of the command", lambda: printed(leaderboard.run, path)
    if getattr(model, "warm_start", False) is True and isinstance(getattr(model, "n_estimators", None), int):
        yield "go on", lambda: gone_on(model, X)
    yield "save", lambda: store.save(path.with_suffix(".again.ww"), model)


def without_infinity(bounds: Any) -> list[Any]:
    """Bounds in which infinities are zeros: with too few scores everything is inside, which is no fault."""
    arrays = [np.asarray(one) for one in ((bounds,) if isinstance(bounds, np.ndarray) else bounds)]
    return [np.where(np.isinf(one), 0.0, one) for one in arrays if one.dtype.kind == "f"]


def gone_on(model: Any, X: Any) -> Any:
    """Answers after one more member, learned from rows that are made up."""
    if not hasattr(model, "fit"):  # what was forged is something else
        return None
    classes = getattr(model, "classes_", None)
    y = np.linspace(0.5, 1.5, len(X)) if classes is None else classes[np.arange(len(X)) % len(classes)]
    y = np.column_stack([y] * len(vars(model).get("target_names_", [0])))
    y = y if y.shape[1] > 1 else y[:, 0]
    more = copy.copy(model)
    # Who trains what was never trained, for so many rounds of so many trees, gets what he asks for.
    more.n_estimators = min(model.n_estimators, 20) + 1
    if type(getattr(more, "n_parallel_trees", None)) is int:
        more.n_parallel_trees = min(more.n_parallel_trees, 3)
    return more.fit(X, y).predict(X)


def printed(command: Any, *given: Any) -> None:
    """What a command prints is thrown away; a call that it takes for wrong is refused in its own words."""
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            command.main([str(one) for one in given], standalone_mode=False)
        except Exception as error:
            if any(kind.__name__ == "ClickException" for kind in type(error).__mro__):
                raise ModelFileError(str(error)) from error
            raise


def is_finite(predicted: Any, of_logs: bool = False) -> bool:
    """Whether all numbers of an answer are; the logarithm of a probability of zero need not be."""
    if isinstance(predicted, list | tuple):
        return all(is_finite(one, of_logs) for one in predicted)
    array = np.asarray(predicted)
    if array.dtype.kind != "f":
        return True
    return bool((np.isfinite(array) | (of_logs & (array == -np.inf))).all())


def outcome(path: Path, X: Any, honest: "Honest") -> str:
    """What becomes of one file."""
    try:
        model = woodwind.load(path)
    except ModelFileError as error:
        return hidden(error) or REFUSED
    except Exception as error:  # noqa: BLE001
        return f"raised: load: {told(error)}"
    ends = {LATER} if not is_fitted(model) else set()
    for name, ask in questions(model, X, path):
        if name in honest.answers:
            ends.add(answer(model, name, ask, honest))
    bad = sorted(end for end in ends if end not in (LATER, ANSWERED))
    return bad[0] if bad else LATER if LATER in ends else ANSWERED


def answer(model: Any, name: str, ask: Callable[[], Any], honest: "Honest") -> str:
    """What becomes of one question."""
    try:
        predicted = ask()
    except WoodwindError as error:
        return hidden(error) or LATER
    except NotFittedError as error:
        return f"raised: {name}: {told(error)}" if is_fitted(model) else LATER
    except Exception as error:  # noqa: BLE001
        return f"raised: {name}: {told(error)}"
    finite = name not in honest.finite or is_finite(predicted, of_logs="log" in name)
    return ANSWERED if finite else f"not finite: {name}"


def is_fitted(model: Any) -> bool:
    """Whether a model can be asked at all: one that is not trained yet can be saved, too."""
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    except TypeError:
        return True
    return True


def hidden(error: BaseException | None) -> str:
    """What is wrong with an error of ours behind which another one stands: too much memory, or an index beyond an array of a kernel, which
    is said where NUMBA_BOUNDSCHECK=1 is set. Nothing where all is well.
    """
    while error is not None:
        if isinstance(error, MemoryError):
            return f"memory: {told(error)}"
        if isinstance(error, IndexError) and str(error) == "index is out of bounds":
            return f"raised: {told(error)}"
        error = error.__cause__ or error.__context__
    return ""


def told(error: BaseException) -> str:
    """An error, and where it was raised."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "reference" not in frame.filename]
    places = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames]
    return f"{type(error).__name__} at {' '.join([*places[:1], *places[-3:]])}: {str(error)[:200]}"


# ----------------------------------------------------------------------------------------------------------- a process


def keep(folder: Path, name: str, model: Any, X: Any) -> None:
    """Save an honest model, and the rows that it is asked about, a matrix or columns by name."""
    store.save(folder / f"{name}.ww", model)
    store.save(folder / f"{name}.rows.ww", X)


def child(folder: Path, names: list[str], begin: int, end: int, how: str) -> None:
    """Forge or damage, and ask; one line before each file, one after it. A name may say where it begins: name:number."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    for given in names:
        name, _, first = given.partition(":")
        with tempfile.TemporaryDirectory(dir=folder) as position:
            one_model(folder, name, range(int(first or begin), end), Path(position) / "forged.ww", how)


def one_model(folder: Path, name: str, numbers: range, path: Path, how: str) -> None:
    """Some forgeries of one file."""
    say([name, -1, None, "nothing"])
    X = store.load(folder / f"{name}.rows.ww")
    X = X if isinstance(X, np.ndarray) else importlib.import_module("pandas").DataFrame(X)
    honest = Honest.of(folder / f"{name}.ww", X, path)
    data = Graph.of(path.read_bytes()).data()
    limit_memory()
    gc.freeze()  # what is imported stays: to look through it again for every few files took a third of the time
    for number in numbers:
        say([name, number, None, ""])
        change, changed = WAYS[how](data, random.Random(f"{name} {number}"))
        path.write_bytes(changed)
        say([name, number, None, change])
        forget_peak()
        began, before = time.process_time(), memory()[0]
        found = outcome(path, X, honest)
        taken = memory()[1] - before - honest.memory
        if taken > MOST_MEMORY:
            found = f"memory: {taken >> 20} MB; {found}"
        elif time.process_time() - began > SLOW:
            found = f"slow: {time.process_time() - began:.1f} s; {found}"
        say([name, number, found, change])


class Honest(NamedTuple):
    """What the file says that nobody has changed."""

    answers: frozenset[str]  # questions that it answers
    finite: frozenset[str]  # questions to which the answer is finite
    memory: int  # bytes that it takes to load it and to ask

    @classmethod
    def of(cls, whole: Path, X: Any, path: Path) -> "Honest":
        """Ask it some times: everything is compiled and imported then."""
        path.write_bytes(whole.read_bytes())
        for _ in range(2):
            answers, finite = set(), set()
            forget_peak()
            before = memory()[0]
            model = woodwind.load(path)
            for name, ask in questions(model, X, path):
                try:
                    predicted = ask()
                except (AttributeError, NotFittedError, WoodwindError):
                    continue
                answers.add(name)
                finite |= {name} if is_finite(predicted, "log" in name) else set()
            taken = memory()[1] - before
        return cls(frozenset(answers), frozenset(finite), taken)


def say(what: Any) -> None:
    """A line for the parent."""
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def memory() -> tuple[int, int]:
    """Bytes of this process now, and at most since `forget_peak`; nothing where the system does not tell."""
    try:
        text = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return 0, 0
    found = dict(line.split(":", 1) for line in text.splitlines() if line.startswith("Vm"))
    return int(found["VmRSS"].split()[0]) << 10, int(found["VmHWM"].split()[0]) << 10


def forget_peak() -> None:
    """The peak counts from here on."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def limit_memory() -> None:
    """What is allocated far beyond the need is an error and not the end of the machine, where the system can tell."""
    status = Path("/proc/self/status")
    if status.exists():
        resource = importlib.import_module("resource")
        found = dict(line.split(":", 1) for line in status.read_text(encoding="ascii").splitlines() if line.startswith("Vm"))
        limit, most = (int(found["VmSize"].split()[0]) << 10) + ROOM, resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (limit if most < 0 else min(limit, most), most))


# ------------------------------------------------------------------------------------------------------------ its parent


def batch(folder: Path, names: Sequence[str], begin: int, end: int, how: str = "forged", hangs: float = HANGS) -> list[Outcome]:
    """The outcomes of some forgeries of each of some models, whatever happens to the process that looks at them; or of damaged files."""
    found: list[Outcome] = []
    left = list(names)
    while left:
        lines, ended = watched(folder, left, (begin, end, how), hangs)
        found += [Outcome(*line) for line in lines if line[2] is not None]
        if not ended:
            break
        if not lines or lines[-1][1] < 0:
            raise RuntimeError(f"{lines[-1][0] if lines else names}: the honest file failed. {ended}")
        name, number, _, change = lines[-1]
        found.append(Outcome(name, number, ended, change))
        left = [one for one in left if one.partition(":")[0] not in {line[0] for line in lines}]
        if number + 1 < end:
            left.insert(0, f"{name}:{number + 1}")
    return found


def watched(folder: Path, names: Sequence[str], what: tuple[int, int, str], hangs: float) -> tuple[list[Any], str]:
    """The lines of one process, and how it ended; nothing where it came to its end."""
    command = [sys.executable, "-m", "reference.forged_files", str(folder), *map(str, what), *names]
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, env=ENVIRONMENT) as process,
    ):
        coming: queue.Queue[str | None] = queue.Queue()
        reader = threading.Thread(target=_read, args=(process.stdout, coming), daemon=True)
        reader.start()
        lines: list[Any] = []
        waited = 0
        while True:
            try:
                line = coming.get(timeout=1.0)
            except queue.Empty:
                waited += 1  # seconds are counted here: if all processes are stopped for a while, none of these passes
                # An honest file is asked some times first, and may compile what nobody has asked for yet.
                if waited > (hangs if lines and lines[-1][1] >= 0 else 20 * hangs):
                    process.kill()
                    return lines, "hung: no answer"
                continue
            if line is None:
                break
            lines.append(json.loads(line))
            waited = 0
        process.wait(60)
        errors.seek(0)
        predicted = errors.read().decode(errors="replace")
    return lines, "" if process.returncode == 0 else f"crashed: {process.returncode}: {predicted[-1500:]}"


def _read(stream: Any, out: "queue.Queue[str | None]") -> None:
    for line in stream:
        out.put(line)
    out.put(None)


if __name__ == "__main__":
    child(Path(sys.argv[1]), sys.argv[5:], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
