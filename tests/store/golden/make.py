"""Make the golden files of the newest version of the format, and what their models say.

Files of a version that was released are never made again: that they open is the promise. Run this only for a new version, from the root
of the checkout: `python tests/store/golden/make.py`.
"""

from pathlib import Path

import numpy as np
import pyarrow as pa

import woodwind
from woodwind import store
from woodwind.auto.members.knn_member import KnnMember
from woodwind.auto.members.linear_member import LinearMember
from woodwind.auto.members.mlp_member import MlpMember, PiecewiseInputs
from woodwind.auto.members.tree_members import CompactForestMember, ForestMember, MeanMember
from woodwind.auto.model import AutoModel
from woodwind.data.tables.matrix_form import MatrixForm
from woodwind.store.container import VERSION

HERE = Path(__file__).parent


def table(rows, shift=0):
    """Numbers, gaps, levels and dates that no generator of random numbers is needed for."""
    i = np.arange(rows) + shift
    gaps = np.where(i % 7 == 3, np.nan, i * 0.618 % 1.0)
    categories = [["oak", "ash", "elm", None, "fir"][k] for k in i * 3 % 5]
    days = np.datetime64("2024-01-01") + (i * 11 % 400).astype("m8[D]")
    return pa.table({"number": i * 0.377 % 1.0, "gaps": gaps, "wood": categories, "day": days.astype("M8[s]")})


def models():
    """One of each kind that is stored without other libraries."""
    X = table(80)
    number = X["number"].to_numpy()
    amount = number + np.array([word == "oak" for word in X["wood"].to_pylist()])
    labels = np.array(["few", "some", "many"])[np.digitize(amount, [0.4, 0.9])]
    small = {"n_estimators": 4, "random_state": 0}
    return {
        "boosting-classifier": woodwind.GradientBoostingClassifier(**small).fit(X, labels),
        "boosting-regressor": woodwind.GradientBoostingRegressor(loss="quantile", warm_start=True, **small).fit(X, amount),
        "forest-classifier": woodwind.RandomForestClassifier(**small).fit(X, labels),
        "forest-regressor": woodwind.RandomForestRegressor(quantiles=True, **small).fit(X, amount),
        "tree": woodwind.DecisionTreeClassifier(max_depth=3).fit(X, labels),
        "adaboost": woodwind.AdaBoostClassifier(**small).fit(X, labels),
        "bagging": woodwind.BaggingRegressor(max_features=0.7, **small).fit(X, amount),
        "voting": woodwind.VotingClassifier([("tree", woodwind.DecisionTreeClassifier(max_depth=2))]).fit(X, labels),
        "main-job": auto_model(X, labels),
    }


def auto_model(X, labels):
    """A member of every kind, small."""
    boosted = woodwind.GradientBoostingClassifier(n_estimators=2, random_state=0).fit(X, labels)
    grown = woodwind.RandomForestClassifier(n_estimators=2, random_state=0).fit(X, labels)
    form = MatrixForm.learn(X)
    matrix, d = form.of(X), form.width
    y = np.searchsorted(boosted.classes_, labels).astype(np.float64)
    wave = np.sin(np.arange(6 * (d + 1) * 3, dtype=np.float64))
    pieces = PiecewiseInputs(np.zeros(d), np.ones(d), np.array([0]), np.array([-0.5]), np.array([1.0]))
    weights = tuple(w.astype(np.float32) for w in (wave[: (d + 1) * 2].reshape(1, d + 1, 2), wave[:6].reshape(1, 2, 3)))
    biases = tuple(np.zeros((1, 1, k), np.float32) for k in (2, 3))
    members = (
        ForestMember(boosted.forest_),
        MeanMember((CompactForestMember(grown.compact_forest_, 2.0, np.zeros(3)),)),
        LinearMember(wave[: d * 3].reshape(d, 3), np.zeros(3), -30.0, 30.0),
        KnnMember(matrix[:20], np.arange(d), np.ones(d), y[:20], np.ones(20), np.full(3, 1 / 3), d, 3, True, 1.0),
        MlpMember(pieces, weights, biases, np.ones(1), 0.0, -30.0, 30.0),
    )  # fmt: skip
    return AutoModel(
        task="multiclass", target="y", classes=tuple(boosted.classes_.tolist()), schema=boosted.schema_, form=form, names=tuple("abcde"),
        members=members, weights=np.full(5, 0.2), shift=np.zeros(3), metric="log_loss", facts={"leaderboard": []},
    )  # fmt: skip


def answers(model):
    """What a model predicts for rows that it has not seen."""
    X = table(50, shift=1000)
    return {name: getattr(model, name)(X) for name in ("scores", "predict", "predict_proba") if hasattr(model, name)}


if __name__ == "__main__":
    predicted = {}
    for name, model in models().items():
        store.save(HERE / f"v{VERSION}-{name}.ww", model)
        predicted[name] = answers(model)
    store.save(HERE / f"v{VERSION}-answers.ww", predicted)
