"""An honest fake of the job: it yields the events of the contract, waits as long as it is told, and answers Ctrl-C as a job does."""

import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

from woodwind.auto.clock import Clock, ending_on_interrupt
from woodwind.auto.events import Blended, FactsBegan, FoldDone, JobBegan, JobEnded, MemberBegan, MemberDone, Message
from woodwind.auto.messages import SuspicionsFound
from woodwind.auto.outcome import Entry
from woodwind.base.errors import WoodwindWarning
from woodwind.base.notice import notice
from woodwind.data.quality.view import Suspicion

MEMBERS = ("boosting", "extra boosting", "random forest", "linear")
FOLDS = 3


def entry(name, score, weight=0.0, family="boosting", note="", folds=FOLDS):
    return Entry(name, family, score, 0.0123, score, weight, 1.5, 12.0, folds, note)


LEADERBOARD = (
    entry("ensemble", 0.45, 1.0, "ensemble"),
    entry("boosting", 0.47, 0.7),
    entry("random forest", 0.48, 0.3, "forest"),
    entry("extra boosting", 0.49),
    entry("linear", float("nan"), family="linear", note="failed: it would not", folds=0),
)


NOTE = 'the target column "late" has 2 different whole numbers in 1,000 rows: 2 classes (0, 1); say task="regression" for numbers.'
SUSPICIONS = (
    Suspicion("leak", ("paid",), "'paid' says the same as the target.\nWill it be known?", "serious"),
    *(Suspicion("identifier", (f"id{i}",), f"'id{i}' looks like an identifier.", "warning") for i in range(9)),
)


class FakeModel:
    leaderboard_ = LEADERBOARD

    def __init__(self, schema=None):
        self.facts_ = {"metric": {"name": "log_loss"}} | ({} if schema is None else {"written_schema": schema.to_dict()})
        self.model_ = {"facts": self.facts_}

    def report(self, path, model_file="model.ww"):
        path.write_text("<!DOCTYPE html><p>Woodwind report", encoding="utf-8")


class FakeJob:
    """Called as `woodwind.fit` is; keeps how it was called."""

    def __init__(self, pause=0.0, trouble=None):
        self.pause, self.trouble, self.calls = pause, trouble, []

    def __call__(self, table, target, *, listener=None, **settings):
        self.calls.append(((table, target), settings))
        if self.trouble is not None:
            raise self.trouble
        started, clock = time.monotonic(), Clock(settings.get("time"))
        with ending_on_interrupt(clock):
            for make in events(settings.get("time"), settings.get("models")):
                if not clock.stopped:
                    listener(make(time.monotonic() - started))
                    wait(self.pause)
            if os.environ.get("FAKE_WARNING"):
                notice(os.environ["FAKE_WARNING"], WoodwindWarning)
                wait(self.pause)
            if clock.stopped:
                wait(self.pause * 10)
        model = SimpleNamespace(task="binary", target=target, classes=("bad", "good"), metric="log_loss", facts={})
        outcome = SimpleNamespace(model=model, leaderboard=LEADERBOARD, suspicions=(), notes=("a note",), seed=0)
        listener(JobEnded(seconds=time.monotonic() - started, outcome=outcome))
        return FakeModel(settings.get("schema"))


def wait(seconds):
    """In small steps, as training does."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        time.sleep(min(seconds, 0.01))


def events(seconds, models):
    """Functions from the time to an event."""
    yield lambda at: JobBegan(
        seconds=at, task="binary", metric="log_loss", n_rows=1000, n_columns=1, n_folds=FOLDS, budget_seconds=seconds, budget_models=models,
        notes=(NOTE,),
    )  # fmt: skip
    yield lambda at: SuspicionsFound(seconds=at, suspicions=SUSPICIONS)
    yield lambda at: Message(seconds=at, words="the column 'id' looks like an identifier and more")
    for number, name in enumerate(MEMBERS, 1):
        yield lambda at, name=name, number=number: MemberBegan(seconds=at, name=name, number=number, of=models)
        for fold in range(1, FOLDS + 1):
            yield lambda at, name=name, fold=fold: FoldDone(seconds=at, name=name, fold=fold, folds=FOLDS, score=0.5 - fold / 100)
        yield lambda at, name=name: MemberDone(seconds=at, entry=next(one for one in LEADERBOARD if one.name == name))
        yield lambda at, number=number: Blended(seconds=at, score=0.46, standard_error=0.01, n_members=number)
    yield lambda at: FactsBegan(seconds=at)


def fake(pause, *arguments, **more):
    """The command with the fake, as a process."""
    environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
    root = str(Path(__file__).parent.parent.parent)
    environment |= {"PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")]), **more.pop("env", {})}
    return subprocess.Popen([sys.executable, __file__, str(pause), "fit", *arguments], env=environment, text=True, **more)


if __name__ == "__main__":  # python fakes.py PAUSE fit ...: the command with the fake in the place of the job
    import woodwind
    from woodwind.cli.main import main

    woodwind.fit = FakeJob(float(sys.argv.pop(1)))
    main()
