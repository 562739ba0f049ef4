"""Targets and weights with long tails: does one enormous row, or one enormous weight, keep a model from learning the others?

Everybody has the same settings: 100 trees of 31 leaves, 20 rows to a leaf, learning rate 0.1, no penalties, 255 bins. The target of the
held-out rows has no tail and no noise; errors are medians of absolute errors where the target has a tail, else root mean squares.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "2")

import sys

import numpy as np
from common import machine

ROWS, HELD_OUT, DRAWS = 20_000, 5_000, 5
SAME = {"learning_rate": 0.1, "max_leaf_nodes": 31, "min_samples_leaf": 20}


def table(n, noise, rng):
    X = rng.normal(size=(n, 8))
    clean = 2.0 * np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + (X[:, 3] > 0.0)
    return X, clean + noise * rng.normal(size=n), clean


def one_outlier(size):
    def make(y, rng):
        y = y.copy()
        y[len(y) // 3] = size
        return y, None

    return make


def weights_to(power):
    return lambda y, rng: (y, 10.0 ** rng.uniform(0.0, power, len(y)))


def few_heavy(size):
    def make(y, rng):
        weight = np.ones(len(y))
        weight[: len(y) // 200] = size
        return y, weight

    return make


# name, how the target and the weights are made, the measure, what the held-out target is beside the clean one
CASES = {
    "as it is": (lambda y, rng: (y, None), "rmse"),
    "one outlier of 1e4": (one_outlier(1e4), "median"),
    "one outlier of 1e6": (one_outlier(1e6), "median"),
    "one outlier of 1e9": (one_outlier(1e9), "median"),
    "Cauchy noise": (lambda y, rng: (y + 0.3 * rng.standard_cauchy(len(y)), None), "median"),
    "lognormal noise, sigma 3": (lambda y, rng: (y + 0.01 * np.exp(3.0 * rng.normal(size=len(y))), None), "median"),
    "lognormal target, sigma 3": (lambda y, rng: (np.exp(3.0 / 1.8 * y), None), "log"),
    "weights from 1 to 1e3": (weights_to(3), "rmse"),
    "weights from 1 to 1e6": (weights_to(6), "rmse"),
    "weights from 1 to 1e9": (weights_to(9), "rmse"),
    "1 of 200 rows weighs 1e6": (few_heavy(1e6), "rmse"),
    "1 of 200 rows weighs 1e9": (few_heavy(1e9), "rmse"),
    "all weights 1e-3": (lambda y, rng: (y, np.full(len(y), 1e-3)), "rmse"),
    "all weights 1e300": (lambda y, rng: (y, np.full(len(y), 1e300)), "rmse"),
}
RARE = [1.0, 1e3, 1e5, 1e7, 1e9]


def regressors():
    from lightgbm import LGBMRegressor
    from sklearn.ensemble import HistGradientBoostingRegressor
    from xgboost import XGBRegressor

    from woodwind import GradientBoostingRegressor

    return {
        "Woodwind": GradientBoostingRegressor(
            n_estimators=100, early_stopping=False, l2_regularization=0.0, subsample=1.0, max_features_tree=1.0, random_state=0, **SAME
        ),
        "scikit-learn": HistGradientBoostingRegressor(max_iter=100, early_stopping=False, **SAME),
        "LightGBM": LGBMRegressor(n_estimators=100, num_leaves=31, min_child_samples=20, verbose=-1, n_jobs=2),
        "XGBoost": XGBRegressor(
            n_estimators=100, learning_rate=0.1, max_leaves=31, max_depth=0, grow_policy="lossguide", reg_lambda=0.0, min_child_weight=20, n_jobs=2
        ),
    }


def classifiers():
    from lightgbm import LGBMClassifier
    from sklearn.ensemble import HistGradientBoostingClassifier
    from xgboost import XGBClassifier

    from woodwind import GradientBoostingClassifier

    return {
        "Woodwind": GradientBoostingClassifier(
            n_estimators=100, early_stopping=False, l2_regularization=0.0, subsample=1.0, max_features_tree=1.0, random_state=0, **SAME
        ),
        "scikit-learn": HistGradientBoostingClassifier(max_iter=100, early_stopping=False, **SAME),
        "LightGBM": LGBMClassifier(n_estimators=100, num_leaves=31, min_child_samples=20, verbose=-1, n_jobs=2),
        "XGBoost": XGBClassifier(
            n_estimators=100, learning_rate=0.1, max_leaves=31, max_depth=0, grow_policy="lossguide", reg_lambda=0.0, n_jobs=2
        ),
    }


def error_of(model, X, y, weight, X_test, truth, measure):
    try:
        error = model.fit(X, y, sample_weight=weight).predict(X_test)
    except Exception as problem:
        return np.nan, f"{type(problem).__name__}: {str(problem).splitlines()[0][:60]}"
    if measure == "log":
        return float(np.median(np.abs(np.log(np.maximum(error, 1e-12)) - np.log(truth)))), ""
    error = error - truth
    return float(np.median(np.abs(error)) if measure == "median" else np.sqrt(np.mean(error**2))), ""


def regression():
    names = list(regressors())
    print(f"\nRegression, {ROWS:,} x 8, means of {DRAWS} draws\n")
    print("| case | error | " + " | ".join(names) + " | to scikit-learn |")
    print("|---|---|" + "---:|" * (len(names) + 1))
    for case, (make, measure) in CASES.items():
        errors = {name: [] for name in names}
        for draw in range(DRAWS):
            rng = np.random.default_rng(draw)
            X, y, _ = table(ROWS, 0.1, rng)
            X_test, _, clean = table(HELD_OUT, 0.0, rng)
            y, weight = make(y, rng)
            truth = np.exp(3.0 / 1.8 * clean) if measure == "log" else clean
            for name, model in regressors().items():
                errors[name].append(error_of(model, X, y, weight, X_test, truth, measure)[0])
        means = {name: np.mean(errors[name]) for name in names}
        ratio = np.exp(np.mean(np.log(np.array(errors["Woodwind"]) / np.array(errors["scikit-learn"]))))
        print(f"| {case} | {measure} | " + " | ".join(f"{means[name]:.4g}" for name in names) + f" | {ratio - 1.0:+.1%} |", flush=True)


def rare_class():
    from sklearn.metrics import roc_auc_score

    names = list(classifiers())
    print(f"\nA class of 3 % of the rows, which weigh more than the others: AUC, means of {DRAWS} draws\n")
    print("| weight of the rare class | " + " | ".join(names) + " |")
    print("|---:|" + "---:|" * len(names))
    for heavy in RARE:
        scores = {name: [] for name in names}
        for draw in range(DRAWS):
            rng = np.random.default_rng(draw)
            X, y, _ = table(ROWS, 0.5, rng)
            X_test, y_test, _ = table(HELD_OUT, 0.5, rng)
            rare = np.quantile(y, 0.97)
            weight = np.where(y > rare, heavy, 1.0)
            for name, model in classifiers().items():
                model.fit(X, y > rare, sample_weight=weight)
                scores[name].append(roc_auc_score(y_test > rare, model.predict_proba(X_test)[:, 1]))
        print(f"| {heavy:g} | " + " | ".join(f"{np.mean(scores[name]):.4f}" for name in names) + " |", flush=True)


if __name__ == "__main__":
    print(machine())
    regression()
    rare_class()
    sys.stdout.flush()
