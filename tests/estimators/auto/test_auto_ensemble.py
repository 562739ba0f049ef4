"""The main job as estimators and as `woodwind.fit`: any table in, groups and time honoured, weights, checkpoints, the same twice."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import NotFittedError

import woodwind
from woodwind import AutoEnsembleClassifier, AutoEnsembleRegressor, store
from woodwind.auto.events import FoldDone, JobBegan, JobEnded, MemberDone
from woodwind.base.errors import DataError, ParameterError
from woodwind.data.reading.written_schema import WrittenSchema

QUICK = {"models": 1, "exclude": ("net", "neighbours", "linear", "forest")}


def table(n=240, seed=0):
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n)
    kind = rng.choice(["red", "green", "blue"], n)
    when = np.datetime64("2024-01-01") + np.arange(n)
    price = 3.0 * size + 2.0 * (kind == "red") + 0.2 * rng.normal(size=n)
    return pd.DataFrame({"size": size, "kind": kind, "when": when, "shop": rng.integers(0, 12, n), "price": price, "dear": price > 1.0})


def test_a_table_of_any_kind_gives_the_same_model():
    frame = table().drop(columns="dear")
    kinds = [frame, pl.from_pandas(frame), pa.Table.from_pandas(frame, preserve_index=False)]
    found = [woodwind.fit(kind, "price", **QUICK).predict(frame) for kind in kinds]
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def test_a_file_gives_the_same_model_as_its_table(tmp_path):
    frame = table().drop(columns=["dear", "when"])
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    found = [woodwind.fit(tmp_path / name, "price", **QUICK).predict(frame) for name in ("t.csv", "t.parquet")]
    assert np.array_equal(*found)


def test_the_task_is_found_from_the_target():
    assert isinstance(woodwind.fit(table(), "dear", ignore="price", **QUICK), AutoEnsembleClassifier)
    assert isinstance(woodwind.fit(table(), "price", ignore=["dear"], **QUICK), AutoEnsembleRegressor)


def test_labels_come_back_as_they_were():
    frame = table()
    frame["answer"] = np.where(frame["dear"], "yes", "no")
    model = woodwind.fit(frame, "answer", ignore=["dear", "price"], **QUICK)
    assert model.classes_.tolist() == ["no", "yes"]
    assert set(model.predict(frame)) <= {"no", "yes"}


def test_the_same_twice_and_for_any_number_of_threads():
    X, y = load_diabetes(return_X_y=True)
    y = y > np.median(y)
    models = [AutoEnsembleClassifier(models=2, exclude=("net", "linear"), n_jobs=jobs).fit(X[:200], y[:200]) for jobs in (1, 2)]
    boards = [[(entry.name, entry.score, entry.weight) for entry in model.leaderboard_] for model in models]
    assert boards[0] == boards[1]
    assert np.array_equal(models[0].predict_proba(X), models[1].predict_proba(X))


def test_another_seed_is_another_model():
    X, y = load_diabetes(return_X_y=True)
    found = [AutoEnsembleRegressor(random_state=seed, **QUICK).fit(X, y).predict(X) for seed in (0, 1)]
    assert not np.array_equal(*found)


def test_groups_are_never_divided():
    seen = []
    woodwind.fit(table(), "price", group="shop", ignore="dear", listener=seen.append, **QUICK)
    outcome = next(event.outcome for event in seen if isinstance(event, JobEnded))
    assert outcome.groups is not None
    assert "shop" not in outcome.model.schema.names


def test_time_order_judges_by_later_rows_only():
    seen = []
    woodwind.fit(table(), "price", time_column="when", ignore="dear", listener=seen.append, **QUICK)
    outcome = next(event.outcome for event in seen if isinstance(event, JobEnded))
    # The first half is never held out.
    half = len(outcome.scored) // 2
    assert not outcome.scored[: half - 10].any()
    assert outcome.scored[half + 10 :].all()


def test_the_score_is_honest_about_a_target_of_noise():
    frame = table(400)
    frame["noise"] = np.random.default_rng(3).normal(size=400)
    model = woodwind.fit(frame, "noise", ignore=["price", "dear"], models=3, exclude=("net",))
    assert model.score_ > 0.95 * frame["noise"].std()


def test_a_weight_of_two_is_a_row_given_twice_in_distribution():
    # By linear models: boosting stops by rows held out, and a row that is given twice is held out from itself.
    X, y = load_diabetes(return_X_y=True)
    options = {"models": 1, "exclude": ("boosting", "forest", "net", "neighbours")}
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    weighed = [AutoEnsembleRegressor(random_state=s, **options).fit(X, y, sample_weight=weight).predict(X) for s in range(5)]
    X2, y2 = np.repeat(X, weight, axis=0), np.repeat(y, weight)
    given = [AutoEnsembleRegressor(random_state=s, **options).fit(X2, y2).predict(X) for s in range(5)]
    apart = np.abs(np.mean(weighed, axis=0) - np.mean(given, axis=0)).mean()
    ignored = np.abs(np.mean(weighed, axis=0) - AutoEnsembleRegressor(**options).fit(X, y).predict(X)).mean()
    assert apart < 0.5 * ignored


def test_a_column_of_weights_counts_and_is_not_learnt(tmp_path):
    frame = table().drop(columns=["dear", "when"])
    frame["many"] = np.where(np.arange(len(frame)) % 3 == 0, 0.0, 1.0 + np.arange(len(frame)) % 2)
    model = woodwind.fit(frame, "price", weight="many", **QUICK)
    assert "many" not in model.feature_names_in_
    kept = frame[frame["many"] > 0.0]
    X = kept.drop(columns=["price", "many"])
    same = AutoEnsembleRegressor(**QUICK).fit(X, kept["price"], sample_weight=kept["many"])
    assert np.array_equal(model.predict(X), same.predict(X))
    assert not np.array_equal(model.predict(X), AutoEnsembleRegressor(**QUICK).fit(X, kept["price"]).predict(X))
    schema = WrittenSchema.of(pa.Table.from_pandas(frame, preserve_index=False), "price", weight="many")
    assert np.array_equal(woodwind.fit(frame, "price", schema=schema, **QUICK).predict(X), model.predict(X))
    with pytest.raises(DataError, match="the weight column 'kind' is of type"):
        woodwind.fit(frame, "price", weight="kind", **QUICK)


def test_checkpoints_are_gone_on_from(tmp_path):
    X, y = load_iris(return_X_y=True)
    options = {"models": 3, "exclude": ("net", "neighbours", "linear"), "checkpoint": tmp_path / "kept"}
    whole = AutoEnsembleClassifier(**options).fit(X, y)

    class Killed(Exception):
        pass

    done = []

    def kill(event):
        done.append(event)
        if sum(isinstance(one, MemberDone) for one in done) == 2:
            raise Killed

    with pytest.raises(Killed):
        AutoEnsembleClassifier(**options, listener=kill).fit(X, y)
    seen = []
    again = AutoEnsembleClassifier(**options, resume=True, listener=seen.append).fit(X, y)
    resumed = {event.name for event in seen if isinstance(event, FoldDone) and event.resumed}
    trained = {event.name for event in seen if isinstance(event, FoldDone) and not event.resumed}
    assert (len(resumed), len(trained)) == (2, 1)
    assert [(entry.name, entry.score) for entry in whole.leaderboard_] == [(entry.name, entry.score) for entry in again.leaderboard_]
    assert np.array_equal(whole.predict_proba(X), again.predict_proba(X))


def test_what_was_cut_short_is_not_kept(tmp_path):
    X, y = load_diabetes(return_X_y=True)
    folder = tmp_path / "kept"
    model = AutoEnsembleRegressor(time=3.0, exclude=("net", "neighbours", "linear", "forest"), checkpoint=folder).fit(X, y)
    cut = [entry.name for entry in model.leaderboard_ if entry.note.startswith("out of time")]
    assert cut
    assert not [file for name in cut for file in folder.glob(f"{name}.*")]


def test_the_time_that_was_spent_before_counts(tmp_path):
    X, y = load_iris(return_X_y=True)
    options = {**QUICK, "models": None, "checkpoint": tmp_path / "kept"}
    first, second = [], []
    AutoEnsembleClassifier(**{**options, "time": 6.0}, listener=first.append).fit(X, y)
    AutoEnsembleClassifier(**{**options, "time": 7.0}, resume=True, listener=second.append).fit(X, y)
    spent = max(event.seconds for event in first if isinstance(event, MemberDone))
    assert second[0].seconds >= spent


def test_a_resumed_job_must_be_the_same_job(tmp_path):
    X, y = load_iris(return_X_y=True)
    folder = tmp_path / "kept"
    AutoEnsembleClassifier(checkpoint=folder, **QUICK).fit(X, y)
    with pytest.raises(ParameterError, match="the seed was 0 there and is 1 now"):
        AutoEnsembleClassifier(checkpoint=folder, resume=True, random_state=1, **QUICK).fit(X, y)
    with pytest.raises(ParameterError, match="the data"):
        AutoEnsembleClassifier(checkpoint=folder, resume=True, **QUICK).fit(X + 1e-9, y)


def test_a_damaged_checkpoint_is_made_again(tmp_path):
    X, y = load_iris(return_X_y=True)
    folder = tmp_path / "kept"
    whole = AutoEnsembleClassifier(checkpoint=folder, **QUICK).fit(X, y)
    victim = next(file for file in folder.iterdir() if file.name.startswith("boosting"))
    victim.write_bytes(victim.read_bytes()[:-7])
    again = AutoEnsembleClassifier(checkpoint=folder, resume=True, **QUICK).fit(X, y)
    assert np.array_equal(whole.predict_proba(X), again.predict_proba(X))


@pytest.mark.parametrize("resume", [False, True])
@pytest.mark.parametrize("job_file", [False, True])
def test_a_folder_that_holds_other_things_is_not_touched(tmp_path, resume, job_file):
    folder = tmp_path / "thesis"
    (folder / "figures").mkdir(parents=True)
    (folder / "letter.txt").write_text("dear aunt")
    (folder / "figures" / "boosting.0.ww").write_text("mine")
    if job_file:
        store.save(folder / "job.ww", {"job": {}, "spent": 0.0})
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    calls = (
        lambda given: AutoEnsembleRegressor(**given).fit(table()[["size"]], table()["price"]),
        lambda given: woodwind.fit(table(), "price", **given),
    )
    for call in calls:
        with pytest.raises(ParameterError, match="no checkpoints of this version" if job_file else "holds no checkpoints"):
            call({"checkpoint": folder, "resume": resume, **QUICK})
        assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_a_folder_that_cannot_be_used_is_told_before_a_table_is_read(tmp_path):
    (tmp_path / "letter.txt").write_text("dear aunt")
    with pytest.raises(ParameterError, match="holds no checkpoints"):
        woodwind.fit(tmp_path / "absent.csv", "price", checkpoint=tmp_path, **QUICK)
    with pytest.raises(ParameterError, match="Give checkpoint"):
        woodwind.fit(tmp_path / "absent.csv", "price", resume=True, **QUICK)


def test_a_stranger_chooses_no_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "thesis").mkdir()
    X, y = load_iris(return_X_y=True)
    model = AutoEnsembleClassifier(checkpoint="thesis", **QUICK).fit(X, y).set_params(resume=True)
    model.save("stranger.ww")
    before = sorted(path.read_bytes() for path in (tmp_path / "thesis").iterdir())
    clone(woodwind.load("stranger.ww")).fit(X, y)
    assert sorted(path.read_bytes() for path in (tmp_path / "thesis").iterdir()) == before


@pytest.mark.parametrize("changed", ["weights", "categories", "order"])
def test_what_decides_the_result_is_compared_whether_it_was_given_then_or_now(tmp_path, changed):
    frame = table().drop(columns=["dear", "when"]).assign(many=1.0 + np.arange(240) % 2, at=np.arange(240))
    same = {"checkpoint": tmp_path / "kept", "ignore": ["many", "at"], **QUICK}
    other = {
        "weights": {"weight": "many", "ignore": ["at"]}, "categories": {"categorical_features": ["size"]},
        "order": {"time_column": "at", "ignore": ["many"]},
    }[changed]  # fmt: skip
    for first, second in ((same, same | other), (same | other, same)):
        woodwind.fit(frame, "price", **first)
        with pytest.raises(ParameterError, match="cannot be resumed: "):
            woodwind.fit(frame, "price", resume=True, **second)


def test_what_happens_is_told():
    seen = []
    woodwind.fit(table(), "price", ignore="dear", listener=seen.append, **QUICK)
    assert isinstance(seen[0], JobBegan)
    assert any("read as numbers" in note for note in seen[0].notes)


def test_verbose_tells_it_in_lines_wherever_standard_error_leads(capsys):
    frame = table().assign(copy=lambda t: t["price"] * 2.0)
    woodwind.fit(frame, "price", ignore="dear", verbose=1, **QUICK)
    told = capsys.readouterr()
    assert told.out == ""
    for words in ("regression: 240 rows, 5 columns", "read as numbers", "serious: 'copy'", "boosting: ", "ensemble of 1: ", "done"):
        assert words in told.err
    assert "fold 1 of" not in told.err
    woodwind.fit(frame, "price", ignore="dear", verbose=2, **QUICK)
    assert "boosting: fold 1 of" in capsys.readouterr().err
    woodwind.fit(frame, "price", ignore="dear", **QUICK)
    assert capsys.readouterr().err == ""


def test_what_is_suspicious_is_an_attribute(tmp_path):
    frame = table().assign(copy=lambda t: t["price"] * 2.0)
    model = woodwind.fit(frame, "price", ignore="dear", **QUICK)
    assert (model.suspicions_[0].kind, model.suspicions_[0].severity) == ("leak", "serious")
    model.save(tmp_path / "m.ww")
    assert woodwind.load(tmp_path / "m.ww").suspicions_ == model.suspicions_
    X = frame[["size", "copy"]]
    assert AutoEnsembleRegressor(**QUICK).fit(X, frame["price"]).suspicions_[0].columns == ("copy",)
    assert not hasattr(AutoEnsembleRegressor(), "suspicions_")


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: woodwind.fit(table(), "prize", **QUICK), DataError, "Did you mean 'price'"),
        (lambda: woodwind.fit(table(), "price", group="shp", **QUICK), DataError, "no column 'shp'"),
        (lambda: woodwind.fit(table(), "price", models=1, sede=3), ParameterError, "no option 'sede'. Did you mean 'seed'"),
        (lambda: woodwind.fit(table(), "price", time_column="kind", **QUICK), DataError, "order in time"),
        (lambda: woodwind.fit(np.ones((9, 2)), "price", **QUICK), DataError, "the target is found by its name"),
        (lambda: woodwind.fit(table()[["price"]], "price", **QUICK), DataError, "no column is left"),
        (lambda: woodwind.fit(table(), "price", metric="accurracy", **QUICK), ParameterError, "accuracy"),
        (lambda: woodwind.fit(table(), "price", exclude=("forrest",), models=1), ParameterError, "is no family"),
        (lambda: AutoEnsembleClassifier(resume=True, **QUICK).fit([[1.0], [2.0]], [0, 1]), ParameterError, "Give checkpoint"),
        (lambda: AutoEnsembleClassifier(time=-1).fit([[1.0], [2.0]], [0, 1]), ParameterError, "time must be"),
    ],
)
def test_wrong_calls_say_what_to_do(call, error, words):
    with pytest.raises(error, match=words):
        call()


def two_classes(n=300, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n)})
    return frame, np.where(frame["a"] + rng.normal(size=n) > 1.5, "bad", "good")


def test_the_positive_class_is_the_rarer_one_unless_it_is_named():
    X, y = two_classes()
    model = AutoEnsembleClassifier(metric="average_precision", **QUICK).fit(X, y)
    named = AutoEnsembleClassifier(metric="average_precision", positive="good", **QUICK).fit(X, y)
    assert (model.positive_, named.positive_) == ("bad", "good")
    assert model.score_ < 0.8 < named.score_
    assert any("'bad'" in note and "the rarer one" in note for note in model.facts_["made"]["notes"])
    assert model.facts_["quality"]["ranking"]["positive"] == "bad"
    assert np.array_equal(model.predict_proba(X), named.predict_proba(X))
    assert woodwind.fit(X.assign(y=(y == "bad").astype(int)), "y", positive="0", **QUICK).positive_ == 0


@pytest.mark.parametrize("threshold", [0.1, "f1", "balanced", "cost:fp=1,fn=20"])
def test_a_threshold_decides_labels_and_stays_with_the_model(threshold, tmp_path):
    X, y = two_classes()
    model = AutoEnsembleClassifier(threshold=threshold, also=("f1", "auc"), **QUICK).fit(X, y)
    chance = model.predict_proba(X)[:, 0]
    assert 0.0 < model.threshold_ < 0.5
    assert np.array_equal(model.predict(X), np.where(chance >= model.threshold_, "bad", "good"))
    model.save(tmp_path / "m.ww")
    again = woodwind.load(tmp_path / "m.ww")
    assert (again.threshold_, again.positive_, again.leaderboard_) == (model.threshold_, "bad", model.leaderboard_)
    assert np.array_equal(again.predict(X), model.predict(X))
    store.save(tmp_path / "alone.ww", model.model_)
    alone = woodwind.load(tmp_path / "alone.ww")
    assert np.array_equal(alone.predict(X), model.predict(X))
    assert alone.leaderboard_[0].also == model.leaderboard_[0].also
    assert set(model.leaderboard_[1].also) == {"f1", "auc"}
    assert repr(model.leaderboard_).split()[:5] == ["member", "score", "±", "f1", "auc"]
    assert model.facts_["metrics"]["scores"]["f1"]["score"] == model.leaderboard_[0].also["f1"]
    assert [row["used"] for row in model.facts_["quality"]["thresholds"]["rows"]].count(True) == 1


@pytest.mark.parametrize("options", [{"positive": "bad"}, {"threshold": 0.3}])
def test_several_classes_and_numbers_have_no_positive_class_and_no_threshold(options):
    with pytest.raises(ParameterError, match=r"is for two classes.*Leave it out"):
        AutoEnsembleRegressor(**options, **QUICK).fit(np.arange(20.0)[:, None], np.arange(20.0))
    with pytest.raises(ParameterError, match=r"is for two classes.*Leave it out"):
        AutoEnsembleClassifier(**options, **QUICK).fit(np.arange(30.0)[:, None], np.arange(30) % 3)


@pytest.mark.parametrize("ask", [lambda one: one.predict([[1.0]]), lambda one: one.positive_, lambda one: one.threshold_])
def test_what_was_not_fitted_says_so(ask):
    with pytest.raises(NotFittedError):
        ask(AutoEnsembleClassifier())


def test_missing_targets_are_refused_or_left_out():
    frame = table()
    frame.loc[3, "price"] = np.nan
    with pytest.raises(DataError, match="missing in 1 of 240 rows"):
        woodwind.fit(frame, "price", ignore="dear", **QUICK)
    model = woodwind.fit(frame, "price", ignore="dear", drop_missing_target=True, **QUICK)
    assert np.isfinite(model.predict(frame)).all()


def test_the_report_is_a_page(tmp_path):
    model = woodwind.fit(table(), "price", ignore="dear", **QUICK)
    model.report(tmp_path / "r.html")
    assert "<html" in (tmp_path / "r.html").read_text()


def test_a_target_that_is_no_name_is_refused():
    frame = table()
    with pytest.raises(ParameterError, match="name of a column"):
        woodwind.fit(frame.drop(columns="price"), frame["price"])


def test_a_model_that_reads_levels_as_numbers_is_told_of_like_others():
    rng = np.random.default_rng(0)
    towns = rng.integers(0, 60, 1500)
    table = {"town": [f"town {number}" for number in towns], "x": rng.normal(size=1500)}
    table["y"] = (rng.normal(size=60)[towns] + 0.3 * table["x"] + 0.5 * rng.normal(size=1500)).tolist()
    model = woodwind.fit(table, "y", models=2, exclude=("forest", "linear", "neighbours", "net"))
    assert any(entry.name == "boosting-encoded" and entry.weight > 0.0 for entry in model.leaderboard_)
    assert model.facts_["left_out"] == []
    assert model.facts_["importance"]["columns"][0]["name"] == "town"
