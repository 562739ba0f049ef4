"""Several targets of one table, with the real job: an ensemble for each of them, in one model file."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest

import woodwind
from woodwind.auto.events import JobBegan, Message
from woodwind.base.errors import DataError, JobError, ParameterError

LEFT_OUT = ("boosting", "forest", "net", "neighbours")
FEW = {"models": 1, "threads": 1, "exclude": LEFT_OUT}  # a linear model takes no time
FEW_OPTIONS = ("--models", "1", "--threads", "1", *(word for name in LEFT_OUT for word in ("--exclude", name)))


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.uniform(20, 90, 120), "plan": rng.choice(list("abc"), 120)})
    frame["rent"] = 10 * frame["size"] + 50 * (frame.plan == "b") + rng.normal(size=120)
    frame["sold"] = np.where(frame["size"] + 9 * rng.normal(size=120) > 55, "yes", "no")
    return frame


@pytest.fixture
def files(table, tmp_path, monkeypatch):
    table.to_csv(tmp_path / "homes.csv", index=False)
    table.drop(columns=["rent", "sold"]).head(3).to_csv(tmp_path / "new.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_target_is_what_it_is_alone(table):
    both = woodwind.fit(table, ["rent", "sold"], **FEW)
    assert both.targets_ == ("rent", "sold")
    assert both.predict(table).shape == (120, 2)
    for position, (target, other) in enumerate((("rent", "sold"), ("sold", "rent"))):
        alone = woodwind.fit(table, target, ignore=other, **FEW)
        assert (both.predict(table)[:, position] == alone.predict(table)).all()
        assert both.score_[target] == alone.score_
    assert np.abs(both.predict(table)[:, 0] - table.rent).max() < 100.0


def test_numbers_are_an_array_of_numbers_and_classes_have_probabilities(table):
    table["heat"] = table.rent / 3
    assert woodwind.fit(table, ["rent", "heat"], **FEW).predict(table).dtype == np.float64
    table["old"] = table["size"] > 50
    labels = woodwind.fit(table, ["sold", "old"], **FEW)
    first, second = labels.predict_proba(table)
    assert first.shape == second.shape == (120, 2)
    mixed = woodwind.fit(table, ["sold", "rent"], **FEW)
    with pytest.raises(DataError, match="the target 'rent' is numbers"):
        mixed.predict_proba(table)


def test_a_target_may_be_missing_in_rows_of_its_own(table):
    table.loc[:19, "rent"] = np.nan
    both = woodwind.fit(table, ["rent", "sold"], drop_missing_target=True, **FEW)
    assert [both.ensembles_[name].facts_["n_rows"] for name in both.targets_] == [100, 120]


def test_files_explanations_and_reports_have_all_of_them(table, tmp_path):
    both = woodwind.fit(table, ["rent", "sold"], **FEW)
    both.save(tmp_path / "both.ww")
    again = woodwind.load(tmp_path / "both.ww")
    assert (again.predict(table) == both.predict(table)).all()
    assert repr(again) == "SeveralTargetsEnsemble('rent', 'sold')"
    rent = both.explain(table.head(2), "rent")
    np.testing.assert_allclose(rent.base + rent.values.sum(axis=1), both.predict(table.head(2))[:, :1].astype(float), rtol=1e-9)
    assert list(both.explain(table.head(1))) == ["rent", "sold"]
    with pytest.raises(DataError, match="no target 'rant'"):
        both.explain(table, "rant")
    both.report(tmp_path / "both.html")
    page = (tmp_path / "both.html").read_text(encoding="utf-8")
    assert page.count('<section id="summary-') == 2
    assert page.count("<footer>") == 1
    assert "How well can" in page


def test_the_listener_hears_which_target_it_is(table):
    heard = []
    woodwind.fit(table, ["rent", "sold"], listener=heard.append, **FEW)
    assert [event.target for event in heard if isinstance(event, JobBegan)] == ["rent", "sold"]
    assert next(event.words for event in heard if isinstance(event, Message)) == "Target 'rent', 1 of 2."
    seconds = [event.seconds for event in heard]
    assert seconds == sorted(seconds)


def test_all_targets_share_the_time(table):
    heard = []
    woodwind.fit(table, ["rent", "sold"], time=6.0, listener=heard.append, threads=1, exclude=LEFT_OUT)
    budgets = [event.budget_seconds for event in heard if isinstance(event, JobBegan)]
    assert budgets[0] < 4.0
    assert budgets[1] < 7.0


@pytest.mark.parametrize(
    ("target", "options", "words"),
    [
        (["rent", "rent"], {}, "names 'rent' twice"),
        ([], {}, "an empty list came"),
        ([["rent"]], {}, "list came"),
        (["rent", "sold"], {"query": "plan"}, "ranks rows by one target"),
        (["rent", "sold"], {"group": "sold"}, "'sold' is a target, and group names it too"),
        (["rent", "sold"], {"ignore": "sold"}, "'sold' is a target, and ignore names it too"),
        (["sold", "rent"], {"metric": "auc"}, "target 'rent': metric 'auc' is for classes"),
        (["sold", "rent"], {"positive": "yes"}, "target 'rent': .*positive is for two classes"),
        (["sold", "rent"], {"threshold": 0.4}, "target 'rent': .*threshold is for two classes"),
    ],
)
def test_what_is_not_for_several_targets_is_refused_before_anything_is_trained(table, target, options, words):
    heard = []
    with pytest.raises(ParameterError, match=words):
        woodwind.fit(table, target, listener=heard.append, models=1, **options)
    assert not heard


def test_an_end_before_the_last_target_is_an_error(table, monkeypatch):
    monkeypatch.setattr("woodwind.estimators.auto.fit._TargetJob.train", lambda self, clock, *_: setattr(clock, "stopped", True))
    with pytest.raises(JobError, match="after 1 of 2 targets"):
        woodwind.fit(table, ["rent", "sold"], models=1)


@pytest.mark.parametrize("how", [("--target", "rent", "--target", "sold"), ("--target", "rent,sold")])
def test_the_command_does_everything_for_each(files, run, how):
    done = run("fit", "homes.csv", *how, *FEW_OPTIONS)
    assert done.code == 0, done.err
    assert done.out.index("target rent") < done.out.index("rmse:") < done.out.index("target sold") < done.out.index("log_loss:")
    assert sorted(path.name for path in files.iterdir()) == ["homes.csv", "model.html", "model.ww", "new.csv"]
    rows = list(csv.DictReader(io.StringIO(run("predict", "model.ww", "new.csv", "--proba", "--interval", "0.8").out)))
    names = ["prediction_rent", "lower_rent_0.8", "upper_rent_0.8", "prediction_sold", "probability_sold_no", "probability_sold_yes"]
    assert list(rows[0]) == [*names, "set_sold_0.8"]
    assert len(rows) == 3
    assert list(json.loads(run("evaluate", "model.ww", "homes.csv", "--json").out)["targets"]) == ["rent", "sold"]
    assert json.loads(run("evaluate", "model.ww", "homes.csv", "--target", "sold", "--json").out)["metric"] == "log_loss"
    assert run("evaluate", "model.ww", "homes.csv").out.count("target ") >= 2
    assert list(json.loads(run("leaderboard", "model.ww", "--json").out)["targets"]) == ["rent", "sold"]
    board = list(csv.DictReader(io.StringIO(run("leaderboard", "model.ww", "--csv").out)))
    assert [row["target"] for row in board if row["name"] == "ensemble"] == ["rent", "sold"]
    assert list(json.loads(run("inspect", "model.ww", "--json").out)["targets"]) == ["rent", "sold"]
    assert json.loads(run("explain", "model.ww", "new.csv", "--target", "rent", "--json").out)["target"] == "rent"
    assert run("report", "model.ww", "-o", "again.html").code == 0


def test_the_command_says_what_is_wrong(files, run):
    assert "--target names the column 'rent' twice" in run("fit", "homes.csv", "--target", "rent", "--target", "rent").err
    assert "ranks rows by one target" in run("fit", "homes.csv", "--target", "rent", "--target", "sold", "--query", "plan").err
    assert "writes one target down" in run("fit", "homes.csv", "--target", "rent", "--target", "sold", "--write-schema").err
    assert run("fit", "homes.csv", "--target", "rent", "--target", "sold", *FEW_OPTIONS, "--quiet", "--no-report").code == 0
    assert "Give one of them with --target" in run("explain", "model.ww", "new.csv").err
    assert "no target 'rant'" in run("explain", "model.ww", "new.csv", "--target", "rant").err
    (files / "plain.csv").write_text("size,plan\n30,a\n", encoding="utf-8")
    assert "no column 'rent'" in run("evaluate", "model.ww", "plain.csv").err
