"""Estimators trained on tables in blocks: the model file is that of a training in memory, byte for byte, for any number of blocks."""

import numpy as np
import pandas as pd
import pytest

import woodwind
from woodwind.base.errors import DataError, ParameterError

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
        ({"warm_start": True}, "warm_start cannot be used"),
        ({"init": CLASSIFIER()}, "init cannot be used"),
        ({"categorical_features": ["few"]}, r"Give it to BlockTable\.write"),
        ({"categorical_encoding": "ordered"}, "column 'word' would be read as means"),
    ],
)
def test_what_blocks_cannot_do_is_refused(tmp_path, options, message):
    blocks = woodwind.BlockTable.write(tmp_path / "cache", frame("two").drop(columns=["w", "times", "g"]), target="y")
    with pytest.raises(ParameterError, match=message):
        CLASSIFIER(**options).fit(blocks)


def test_a_table_in_blocks_is_not_predicted(tmp_path):
    blocks = woodwind.BlockTable.write(tmp_path / "cache", frame("two").drop(columns=["w", "times", "g"]), target="y")
    model = CLASSIFIER(n_estimators=2, early_stopping=False).fit(blocks)
    with pytest.raises(DataError, match="BlockTable was given as the table"):
        model.predict(blocks)
    with pytest.raises(DataError, match="BlockTable was given as the table"):
        woodwind.RandomForestClassifier().fit(blocks, blocks.target)
