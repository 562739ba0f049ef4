"""How autogluon.json was made: what AutoGluon's EnsembleSelection chooses from fixed predictions.

    python -m venv venv
    venv/bin/pip install numpy pandas scikit-learn packaging psutil tqdm pyyaml requests typing_extensions setuptools pydantic
    venv/bin/pip install --no-deps autogluon.core==1.6.3 autogluon.common==1.6.3 autogluon.features==1.6.3
    venv/bin/python tests/data/selection/make_autogluon_indices.py

Predictions have few digits, so that the file is small and ties are real: some members are copies of others, and accuracies have few values.
"""

import json
from pathlib import Path

import numpy as np
from autogluon.common import version
from autogluon.core.metrics import accuracy, log_loss, mean_absolute_error, roc_auc, root_mean_squared_error
from autogluon.core.models.greedy_ensemble.ensemble_selection import EnsembleSelection

HERE = Path(__file__).parent
CASES = [
    ("binary", "log_loss", log_loss, 25),
    ("binary", "accuracy", accuracy, 25),
    ("binary", "roc_auc", roc_auc, 25),
    ("multiclass", "log_loss", log_loss, 40),
    ("multiclass", "accuracy", accuracy, 25),
    ("regression", "root_mean_squared_error", root_mean_squared_error, 40),
    ("regression", "mean_absolute_error", mean_absolute_error, 25),
]


def tables(rng):
    """Predictions (members, rows, ...) and the truth of each kind of problem."""
    truth = rng.integers(0, 2, 90)
    score = 1.1 * (2 * truth - 1) + 1.6 * rng.normal(size=(9, 90)) + 0.3 * rng.normal(size=(9, 1))
    binary = np.round(1 / (1 + np.exp(-score)), 2).clip(0.01, 0.99)
    binary[5] = binary[2]  # copies, of which a rule must take one
    binary[7] = binary[2]
    yield "binary", binary, truth
    truth = rng.integers(0, 3, 80)
    score = np.eye(3)[truth] * rng.uniform(1.2, 1.6, (7, 1, 1)) + rng.normal(size=(7, 80, 3))
    shares = np.exp(score)
    shares = np.round(shares / shares.sum(axis=2, keepdims=True), 3)
    shares[:, :, 2] = np.round(1 - shares[:, :, 0] - shares[:, :, 1], 3)
    shares[6] = shares[1]
    yield "multiclass", shares, truth
    truth = np.round(rng.normal(size=100) * 3, 2)
    numbers = np.round(truth + rng.normal(size=(8, 100)) * rng.uniform(0.5, 2, (8, 1)) + rng.normal(size=(8, 1)), 2)
    numbers[4] = numbers[0]
    yield "regression", numbers, truth


def main():
    given = {kind: (predicted, truth) for kind, predicted, truth in tables(np.random.default_rng(5))}
    found = []
    for kind, name, metric, steps in CASES:
        predicted, truth = given[kind]
        model = EnsembleSelection(steps, kind, metric).fit(list(predicted), truth)
        indices = [int(member) for member in model.indices_]
        found.append({"kind": kind, "metric": name, "steps": steps, "indices": indices, "weights": model.weights_.tolist()})
    content = {
        "made by": f"AutoGluon {version.__version__}, NumPy {np.__version__}",
        "tables": {kind: {"predicted": predicted.tolist(), "truth": truth.tolist()} for kind, (predicted, truth) in given.items()},
        "found": found,
    }
    (HERE / "autogluon.json").write_text(json.dumps(content, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
