"""Random models of other libraries, trained on a small table with missing values and categories, and rows to ask them about."""

import json
import random
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from reference.forging import REAL, WHOLE, damaged

TEXTS = ["north", "south", "east", "west", "up", "down", "a longer name", "ä"]
NUMBERS = [1, 2, 5, 7, 11, 40]


class Foreign(NamedTuple):
    """A trained model, rows, what it predicts for them, and what it is."""

    model: Any
    X: Any
    predicted: np.ndarray
    words: str


def table(draw: np.random.Generator, n: int, with_categories: bool) -> pd.DataFrame:
    """Columns of numbers, with gaps, zeros and ties, and of categories, with gaps."""
    columns: dict[str, Any] = {
        "a": draw.normal(size=n),
        "b": np.where(draw.random(n) < 0.2, 0.0, draw.normal(size=n)),
        "c": draw.integers(-4, 5, n).astype(float),
        "d": draw.exponential(size=n).astype(np.float32).astype(float),
    }
    frame = pd.DataFrame(columns)
    for name in ("a", "c"):
        frame.loc[draw.random(n) < 0.15, name] = np.nan
    if with_categories:
        frame["t"] = pd.Categorical(draw.choice(TEXTS, n), categories=TEXTS)
        frame["k"] = pd.Categorical(draw.choice(NUMBERS, n), categories=NUMBERS)
        frame.loc[draw.random(n) < 0.1, "t"] = np.nan
    return frame


def target(draw: np.random.Generator, X: pd.DataFrame) -> np.ndarray:
    """A number that depends on all columns."""
    y = X["a"].fillna(0.7) - 0.5 * X["b"] + 0.2 * X["c"].fillna(-3.0) ** 2 + X["d"]
    if "t" in X:
        y = y + X["t"].cat.codes.isin([1, 4, 6]) + 0.1 * X["k"].cat.codes
    return np.asarray(y + 0.2 * draw.normal(size=len(X)))


def edges(X: pd.DataFrame, draw: np.random.Generator) -> pd.DataFrame:
    """The rows, and rows whose numbers lie at and just beside values that splits are likely to be made of."""
    numbers = [name for name in X if X[name].dtype.kind == "f"]
    near = X.sample(len(X) // 2, random_state=int(draw.integers(1 << 30))).reset_index(drop=True)
    for name in numbers:
        value = near[name].to_numpy().astype(np.float32).astype(float)
        step = draw.integers(0, 4, len(value))
        near[name] = np.select(
            [step == 0, step == 1, step == 2], [value, np.nextafter(value, np.inf), np.nextafter(value, -np.inf)], value * 1e3
        )
    return pd.concat([X, near], ignore_index=True)


def classes(y: np.ndarray, count: int) -> np.ndarray:
    """As many classes as that, of equal size."""
    return np.digitize(y, np.quantile(y, np.arange(1, count) / count))


def xgboost_model(seed: int, n: int = 400) -> Foreign:
    """One of XGBoost."""
    import xgboost as xgb

    draw = np.random.default_rng(seed)
    kind = seed % 10
    cats = kind not in (4, 9)
    X = table(draw, n, cats)
    if cats:  # XGBoost 3.2 writes letters beyond ASCII as halves
        X["t"] = X["t"].cat.rename_categories({TEXTS[-1]: "a"})
    y, asked = target(draw, X), edges(X, draw)
    common: dict[str, Any] = {
        "n_estimators": int(draw.integers(3, 25)), "max_depth": int(draw.integers(2, 7)), "random_state": seed, "n_jobs": 1,
        "tree_method": "hist", "enable_categorical": cats, "max_cat_to_onehot": int(draw.choice([1, 4, 20])),
    }  # fmt: skip
    if kind in (0, 5):
        model = xgb.XGBClassifier(**common).fit(X, classes(y, 2 + kind // 5 * 2))
        return Foreign(model, asked, model.predict_proba(asked), f"{2 + kind // 5 * 2} classes")
    if kind == 6:
        model = xgb.XGBRanker(**common).fit(X, classes(y, 3), qid=np.repeat(np.arange(n // 20), 20))
        return Foreign(model, asked, model.predict(asked), "ranking")
    more: dict[str, Any] = {
        1: {"booster": "dart", "rate_drop": 0.3}, 2: {"num_parallel_tree": 4, "subsample": 0.6, "colsample_bynode": 0.7},
        3: {"objective": "count:poisson"}, 4: {"multi_strategy": "multi_output_tree"}, 7: {"objective": "reg:absoluteerror"},
        8: {"objective": "reg:quantileerror", "quantile_alpha": [0.1, 0.5]}, 9: {"missing": 0.0},
    }.get(kind, {})  # fmt: skip
    outcome = np.abs(y) if kind == 3 else np.c_[y, -y] if kind == 4 else y
    model = xgb.XGBRegressor(**common | more).fit(X.fillna(0.5) if kind == 9 else X, outcome)
    asked = asked.fillna(0.5) if kind == 9 else asked
    return Foreign(model, asked, model.predict(asked), str(more))


def lightgbm_model(seed: int, n: int = 400) -> Foreign:
    """One of LightGBM."""
    import lightgbm as lgb

    draw = np.random.default_rng(seed)
    kind = seed % 10
    X = table(draw, n, kind != 9)
    y, asked = target(draw, X), edges(X, draw)
    common: dict[str, Any] = {
        "n_estimators": int(draw.integers(3, 25)), "num_leaves": int(draw.integers(3, 40)), "min_child_samples": 3, "verbose": -1,
        "random_state": seed, "n_jobs": 1, "min_data_per_group": 5, "cat_smooth": 1.0,
    }  # fmt: skip
    if kind in (0, 5):
        labels = np.array(["no", "yes", "later", "never"])[classes(y, 2 + kind // 5 * 2)]
        model = lgb.LGBMClassifier(**common).fit(X, labels)
        return Foreign(model, asked, model.predict_proba(asked), f"{2 + kind // 5 * 2} classes")
    if kind == 6:
        model = lgb.LGBMRanker(**common).fit(X, classes(y, 3), group=[20] * (n // 20))
        return Foreign(model, asked, model.predict(asked), "ranking")
    more: dict[str, Any] = {
        1: {"boosting_type": "dart"}, 2: {"boosting_type": "rf", "bagging_freq": 1, "bagging_fraction": 0.6}, 3: {"objective": "poisson"},
        4: {"zero_as_missing": True}, 7: {"linear_tree": True}, 8: {"objective": "quantile", "alpha": 0.8}, 9: {"use_missing": False},
    }.get(kind, {})  # fmt: skip
    model = lgb.LGBMRegressor(**common | more).fit(X, np.abs(y) if kind == 3 else y)
    return Foreign(model, asked, model.predict(asked), str(more))


def catboost_model(seed: int, n: int = 400) -> Foreign:
    """One of CatBoost."""
    import catboost as cb

    draw = np.random.default_rng(seed)
    kind = seed % 10
    X = table(draw, n, kind != 9)
    y, asked = target(draw, X), edges(X, draw)
    names = [name for name in ("t", "k") if name in X]
    for frame in (X, asked):
        for name in names:
            frame[name] = frame[name].astype(object).fillna("none").astype(str) if name == "t" else frame[name].astype(int)
    common: dict[str, Any] = {
        "iterations": int(draw.integers(3, 25)), "depth": int(draw.integers(1, 6)), "random_seed": seed, "verbose": 0, "thread_count": 1,
        "allow_writing_files": False, "cat_features": names, "one_hot_max_size": 255,
    }  # fmt: skip
    if kind in (0, 5):
        labels = np.array(["no", "yes", "later", "never"])[classes(y, 2 + kind // 5 * 2)]
        model = cb.CatBoostClassifier(**common).fit(X, labels)
        return Foreign(model, asked, model.predict_proba(asked), f"{2 + kind // 5 * 2} classes")
    if kind == 6:
        model = cb.CatBoostRanker(**common).fit(X, classes(y, 3), group_id=np.repeat(np.arange(n // 20), 20))
        return Foreign(model, asked, model.predict(asked), "ranking")
    more: dict[str, Any] = {
        1: {"grow_policy": "Lossguide"}, 2: {"grow_policy": "Depthwise"}, 3: {"loss_function": "Poisson"},
        4: {"loss_function": "MultiRMSE"},
        7: {"nan_mode": "Max"}, 8: {"loss_function": "Quantile:alpha=0.8"},
    }.get(kind, {})  # fmt: skip
    outcome = np.abs(y) if kind == 3 else np.c_[y, -y] if kind == 4 else y
    model = cb.CatBoostRegressor(**common | more).fit(X, outcome)
    return Foreign(model, asked, model.predict(asked), str(more))


def sklearn_model(seed: int, n: int = 400) -> Foreign:
    """One of scikit-learn."""
    from sklearn import ensemble, tree

    draw = np.random.default_rng(seed)
    kind = seed % 10
    X = table(draw, n, kind in (8, 9))
    y, asked = target(draw, X), edges(X, draw)
    if kind in (6, 7):
        X, asked = X.fillna(0.3), asked.fillna(0.3)
    common: dict[str, Any] = {"random_state": seed, "max_leaf_nodes": [None, 20][seed // 10 % 2]}
    many = common | {"n_estimators": int(draw.integers(3, 25))}
    hist = {"max_iter": int(draw.integers(3, 25)), "random_state": seed, "categorical_features": "from_dtype", "min_samples_leaf": 5}
    made: Any = [
        lambda: tree.DecisionTreeClassifier(**common), lambda: tree.DecisionTreeRegressor(**common),
        lambda: ensemble.RandomForestClassifier(**many), lambda: ensemble.RandomForestRegressor(**many),
        lambda: ensemble.ExtraTreesClassifier(**many), lambda: ensemble.ExtraTreesRegressor(**many),
        lambda: ensemble.GradientBoostingClassifier(**many), lambda: ensemble.GradientBoostingRegressor(**many, loss="huber"),
        lambda: ensemble.HistGradientBoostingClassifier(**hist), lambda: ensemble.HistGradientBoostingRegressor(**hist),
    ]  # fmt: skip
    model = made[kind]()
    if kind % 2 == 0:
        model.fit(X, np.array(["no", "yes", "later"])[classes(y, 2 + seed // 10 % 2)])
        return Foreign(model, asked, model.predict_proba(asked), type(model).__name__)
    model.fit(X, np.c_[y, -y] if kind in (1, 3) and seed // 10 % 2 else y)
    return Foreign(model, asked, model.predict(asked), type(model).__name__)


MAKERS: dict[str, Callable[..., Foreign]] = {
    "xgboost": xgboost_model, "lightgbm": lightgbm_model, "catboost": catboost_model, "sklearn": sklearn_model,
}  # fmt: skip


def difference(ours: Any, foreign: Foreign) -> float:
    """The largest difference of predictions, or of probabilities; relative to predictions above one in size."""
    got = ours.predict_proba(foreign.X) if hasattr(ours, "predict_proba") else ours.predict(foreign.X)
    return float((np.abs(got - foreign.predicted) / np.maximum(np.abs(foreign.predicted), 1.0)).max())


# ------------------------------------------------------------------------------------------------------------------ damage


def forged_json(data: bytes, draw: random.Random) -> bytes:
    """One value of a JSON text or several are changed, taken away or put in the place of others."""
    whole = json.loads(data)
    for _ in range(draw.choice((1, 1, 2, 4))):
        places, waiting = [], [whole]
        while waiting:
            one = waiting.pop()
            keys = one.keys() if isinstance(one, dict) else range(len(one))
            places += [(one, key) for key in keys]
            waiting += [one[key] for key in keys if isinstance(one[key], dict | list)]
        if not places:
            break
        one, key = draw.choice(places)
        if draw.random() < 0.2:
            del one[key]
        else:
            finite = [number for number in REAL if abs(number) < float("inf")]
            one[key] = draw.choice([*WHOLE, *finite, "", None, [], {}, "x", True, "1e999", str(draw.choice(WHOLE))])
    return json.dumps(whole).encode()


def forged_text(data: bytes, draw: random.Random) -> bytes:
    """Some numbers of a text are others."""
    text = data.decode()
    for _ in range(draw.choice((1, 1, 2, 4))):
        found = draw.choice(list(re.finditer(r"-?\d+(\.\d+)?(e-?\d+)?", text)))
        text = text[: found.start()] + str(draw.choice(WHOLE + REAL)) + text[found.end() :]
    return text.encode()


def bad_file(data: bytes, draw: random.Random) -> bytes:
    """A file that a bad disk or somebody who means harm makes of another."""
    is_ubjson = data[1:2] == b"L"
    if is_ubjson or draw.random() < 0.4:
        return damaged(data, draw)[1]
    return (forged_text if data[:4] == b"tree" else forged_json)(data, draw)


def contents_of(library: str, model: Any) -> list[bytes]:
    """The files that a library writes of a model."""
    if library == "xgboost":
        return [bytes(model.get_booster().save_raw(form)) for form in ("json", "ubj")]
    if library == "lightgbm":
        return [model.booster_.model_to_string().encode()]
    with tempfile.TemporaryDirectory() as folder:
        model.save_model(f"{folder}/model.json", format="json")
        return [Path(folder, "model.json").read_bytes()]
