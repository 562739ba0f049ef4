"""Estimators trained on tables in blocks: the model file is that of a training in memory, byte for byte, for any number of blocks."""

import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import woodwind
from woodwind.base.errors import DataError, ParameterError, UnseenCategoryWarning

N = 1020
BLOCKS = (1, 3, 17, 50)


def frame(kind, seed=0):
    """Numbers with gaps, few values, words and a target of the kind."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(N, 5)), columns=list("abcde"))
    table["few"] = rng.integers(0, 4, N)
    table["word"] = rng.choice(["x", "y", "z", None], N)
    table.iloc[rng.random(N) < 0.2, 0] = np.nan
    score = np.nan_to_num(table.a) + table.b * table.c + (table.word == "x") + 0.3 * rng.normal(size=N)
    targets = {
        "number": score, "positive": np.exp(np.clip(score, -3, 3)), "count": np.floor(np.exp(np.clip(score, -2, 2))),
        "two": np.where(score > 0.3, "yes", "no"), "three": np.digitize(score, [-0.7, 0.7]), "relevance": np.digitize(score, [0, 1]),
    }  # fmt: skip
    return table.assign(y=targets[kind], w=rng.uniform(0.2, 3.0, N), times=rng.integers(0, 4, N), g=np.repeat(np.arange(N // 10), 10))


REGRESSOR, CLASSIFIER = woodwind.GradientBoostingRegressor, woodwind.GradientBoostingClassifier
# Estimator, target, options, what else is given.
CASES = {
    "squared": (REGRESSOR, "number", {}, {}),
    "absolute": (REGRESSOR, "number", {"loss": "absolute_error", "early_stopping": False}, {}),
    "huber": (REGRESSOR, "number", {"loss": "huber", "subsample": 0.5, "early_stopping": True}, {}),
    "quantile": (REGRESSOR, "number", {"loss": "quantile", "early_stopping": False}, {"weight": "w"}),
    "gamma": (REGRESSOR, "positive", {"loss": "gamma", "max_depth": 3}, {}),
    "poisson": (REGRESSOR, "count", {"loss": "poisson", "growth": "level", "early_stopping": True}, {}),
    "monotonic": (REGRESSOR, "number", {"monotonic_cst": {"b": 1, "c": -1}, "early_stopping": True}, {}),
    "interaction": (REGRESSOR, "number", {"interaction_cst": [[0, 1], [2, 3, 4]], "early_stopping": False}, {}),
    "dart": (REGRESSOR, "number", {"boosting": "dart", "drop_rate": 0.5, "skip_drop": 0.0}, {}),
    "ordered": (REGRESSOR, "number", {"boosting": "ordered", "early_stopping": False}, {}),
    "log loss": (CLASSIFIER, "two", {}, {}),
    "symmetric": (CLASSIFIER, "two", {"growth": "symmetric", "early_stopping": True}, {}),
    "groups": (CLASSIFIER, "two", {"early_stopping": True}, {"group": "g"}),
    "weights": (CLASSIFIER, "two", {"early_stopping": True}, {"weight": "w"}),
    "repeated rows": (CLASSIFIER, "two", {"early_stopping": True}, {"weight": "times"}),
    "three classes": (CLASSIFIER, "three", {"early_stopping": True}, {}),
    "a tree for each": (CLASSIFIER, "three", {"multiclass": "one_per_class", "early_stopping": False, "bootstrap": True}, {}),
    "three classes, folds": (CLASSIFIER, "three", {"max_features": 0.5}, {"weight": "w"}),
    "ranking": (woodwind.GradientBoostingRanker, "relevance", {"early_stopping": True}, {"group": "g"}),
    "distribution": (woodwind.DistributionBoostingRegressor, "number", {"early_stopping": True}, {}),
}  # fmt: skip


def saved(model, path):
    model.save(path)
    return path.read_bytes()


@pytest.mark.parametrize("case", CASES)
def test_a_model_of_blocks_is_the_model_of_memory(tmp_path, case):
    make, kind, options, given = CASES[case]
    options = {"n_estimators": 6, "random_state": 7, "n_jobs": 2, **options}
    table = frame(kind)
    if given.get("weight") == "times":
        table = table[table.times > 0].reset_index(drop=True)  # rows of weight zero are not written
    columns = [*"abcde", "few", "word"]
    names = {"weight": "sample_weight", "group": "group" if make is woodwind.GradientBoostingRanker else "groups"}
    beside = {names[role]: table[name].to_numpy() for role, name in given.items()}
    known = saved(make(**options).fit(table[columns], table["y"].to_numpy(), **beside), tmp_path / "memory.ww")
    ignore = [name for name in table.columns if name not in {*columns, "y", *given.values()}]
    for blocks in BLOCKS:
        rows = -(-len(table) // blocks)
        made = woodwind.BlockTable.write(
            tmp_path / "cache", table, target="y", ignore=ignore, block_bytes=rows * 8, overwrite=blocks > 1, **given
        )
        assert abs(len(made.blocks) - blocks) <= 2
        assert saved(make(**options).fit(made), tmp_path / "blocks.ww") == known, blocks


def test_rows_of_weight_zero_and_tables_to_stop_by_may_be_given_with_fit(tmp_path):
    table, columns = frame("two"), [*"abcde", "few", "word"]
    weight, X, y = (table.times * 1.5).to_numpy(), table[columns], table["y"].to_numpy()
    model = CLASSIFIER(n_estimators=5, random_state=1)
    other = (X.iloc[:100], y[:100])
    blocks = woodwind.BlockTable.write(tmp_path / "cache", table[[*columns, "y"]], target="y", block_bytes=4000)
    found = model.fit(blocks, sample_weight=weight, eval_set=other)
    assert found.forest_.n_trees > 0
    assert "validation_0" in found.evals_result_
    again = CLASSIFIER(n_estimators=5, random_state=1).fit(blocks, y, sample_weight=weight, eval_set=other)
    assert found.forest_.digest() == again.forest_.digest()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_bins": 64}, "max_bins=255"),
        ({"max_bins": None}, "max_bins=255"),
        ({"linear_leaves": True}, "linear_leaves cannot be used"),
        ({"init": CLASSIFIER()}, "init cannot be used"),
        ({"categorical_features": ["few"]}, r"Give it to BlockTable\.write"),
    ],
)
def test_what_blocks_cannot_do_is_refused(tmp_path, options, message):
    blocks = woodwind.BlockTable.write(tmp_path / "cache", frame("two").drop(columns=["w", "times", "g"]), target="y")
    with pytest.raises(ParameterError, match=message):
        CLASSIFIER(**options).fit(blocks)


def many(seed=0):
    """A table with columns of some and of very many categories; all of them in memory need means of the target."""
    rng, table = np.random.default_rng(seed), frame("two", seed).drop(columns=["w", "times", "g"])
    return table.assign(many=rng.integers(0, 400, N).astype(str), some=rng.choice([f"s{k}" for k in range(90)] + [None], N))


# Which of them are read as means, with which losses, and whether rows are held out, in order, or trained on again.
MEANS = {
    "two classes": ({"early_stopping": False}, "two"),
    "folds": ({}, "two"),
    "held out": ({"early_stopping": True}, "two"),
    "ordered": ({"categorical_encoding": "ordered", "boosting": "ordered", "early_stopping": False}, "two"),
    "all out of fold": ({"categorical_encoding": "out_of_fold", "early_stopping": True}, "two"),
    "three classes": ({"early_stopping": True}, "three"),
    "few bins": ({"max_bins": 7, "categorical_encoding": "ordered", "early_stopping": False}, "two"),
}


@pytest.mark.parametrize("case", MEANS)
@pytest.mark.filterwarnings("ignore:.*trees tell at most")
def test_columns_of_many_categories_are_means_of_the_target_as_in_memory(tmp_path, case):
    options, kind = MEANS[case]
    options = {"n_estimators": 5, "random_state": 2, "n_jobs": 2, **options}
    table = many().assign(y=frame(kind)["y"])
    model = CLASSIFIER(**options).fit(table.drop(columns="y"), table["y"].to_numpy())
    assert any(type(field).__name__ == "StatisticsField" for field in model.schema_.fields)
    known = saved(model, tmp_path / "memory.ww")
    for rows in (1020, 150, 23):
        blocks = woodwind.BlockTable.write(
            tmp_path / "cache", table, target="y", block_bytes=rows * 16, overwrite=True, max_bins=options.get("max_bins", 255)
        )
        found = CLASSIFIER(**options).fit(blocks)
        assert saved(found, tmp_path / "blocks.ww") == known, rows
        assert np.array_equal(found.predict_proba(blocks), model.predict_proba(table.drop(columns="y")))


def test_a_training_on_blocks_goes_on_as_one_in_memory_does(tmp_path):
    table = many()
    X, y = table.drop(columns="y"), table["y"].to_numpy()
    blocks = woodwind.BlockTable.write(tmp_path / "cache", table, target="y", block_bytes=4000)
    options = {"random_state": 0, "early_stopping": False, "warm_start": True}
    in_memory = CLASSIFIER(n_estimators=4, **options).fit(X, y).set_params(n_estimators=9).fit(X, y)
    found = CLASSIFIER(n_estimators=4, **options).fit(blocks)
    found.save(tmp_path / "half.ww")  # another process goes on from the file
    again = woodwind.load(tmp_path / "half.ww").set_params(n_estimators=9).fit(woodwind.BlockTable(tmp_path / "cache"))
    assert saved(again, tmp_path / "blocks.ww") == saved(in_memory, tmp_path / "memory.ww")
    other = woodwind.BlockTable.write(tmp_path / "other", many(seed=5), target="y")
    with pytest.raises(ParameterError, match="other bins or categories"):
        found.set_params(n_estimators=12).fit(other)


KILLED = """
import os, signal, sys, woodwind
blocks, path, kill_after = woodwind.BlockTable(sys.argv[1]), sys.argv[2], int(sys.argv[3])
model = woodwind.load(path) if os.path.exists(path) else woodwind.GradientBoostingClassifier(
    n_estimators=0 + 2, random_state=0, early_stopping=False, warm_start=True, n_jobs=1)
for rounds in range(2, 11, 2):
    if rounds <= getattr(model, "n_iter_", 0):
        continue
    kill = lambda step: os.kill(os.getpid(), signal.SIGKILL) if step.number >= kill_after else None
    model.set_params(n_estimators=rounds, callbacks=[kill]).fit(blocks)
    model.set_params(callbacks=None).save(path)
"""


def test_a_training_that_is_killed_goes_on_from_what_it_has_saved_to_the_same_bytes(tmp_path):
    woodwind.BlockTable.write(tmp_path / "cache", frame("two").drop(columns=["w", "times", "g"]), target="y", block_bytes=2000)

    def run(path, kill_after):
        return subprocess.run([sys.executable, "-c", KILLED, tmp_path / "cache", path, str(kill_after)], check=False).returncode

    assert run(tmp_path / "whole.ww", 99) == 0
    for kill_after in (3, 6):
        assert run(tmp_path / "parts.ww", kill_after) == -signal.SIGKILL
    assert run(tmp_path / "parts.ww", 99) == 0
    assert (tmp_path / "parts.ww").read_bytes() == (tmp_path / "whole.ww").read_bytes()


@pytest.mark.parametrize("values", [False, True])
def test_a_table_in_blocks_is_predicted_as_the_table_in_memory(tmp_path, values):
    table = frame("three").drop(columns=["w", "times", "g"])
    X = table.drop(columns="y")
    blocks = woodwind.BlockTable.write(tmp_path / "cache", table, target="y", block_bytes=1000, values=values)
    model = CLASSIFIER(n_estimators=8, early_stopping=False, random_state=0).fit(blocks)
    assert np.array_equal(model.predict_proba(blocks), model.predict_proba(X))
    assert np.array_equal(model.apply(blocks), model.apply(X))
    assert np.array_equal(model.predict(blocks), model.predict(X))


def test_blocks_of_another_table_are_predicted_where_they_have_the_numbers(tmp_path):
    table, other = (frame("two", seed).drop(columns=["w", "times", "g"]) for seed in (0, 1))
    other = other.assign(word=np.where(np.arange(N) % 7 == 0, "never seen", other.word))[["word", *other.columns.drop("word")]]
    model = CLASSIFIER(n_estimators=5, early_stopping=False, random_state=0).fit(table.drop(columns="y"), table["y"].to_numpy())
    binned = woodwind.BlockTable.write(tmp_path / "bins", other, target="y")
    with pytest.raises(DataError, match="not edges of its bins"):
        model.predict(binned)
    blocks = woodwind.BlockTable.write(tmp_path / "values", other, target="y", values=True, block_bytes=3000)
    with pytest.warns(UnseenCategoryWarning):
        known = model.predict_proba(other.drop(columns="y"))
    with pytest.warns(UnseenCategoryWarning, match="never seen"):
        assert np.array_equal(model.predict_proba(blocks), known)
    lacking = woodwind.BlockTable.write(tmp_path / "lacking", other.drop(columns="a"), target="y", values=True)
    with pytest.raises(DataError, match="no column 'a'"):
        model.predict(lacking)
