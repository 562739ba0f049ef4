"""Make the frozen diversity measures of DESlib: run in the environment of ../dynamic_selection/README.md. Writes answers.npz."""

from pathlib import Path

import numpy as np
from deslib.util.diversity import (
    Q_statistic,
    agreement_measure,
    correlation_coefficient,
    disagreement_measure,
    double_fault,
    ratio_errors,
)

HERE = Path(__file__).parent
MEASURES = {
    "q": Q_statistic,
    "correlation": correlation_coefficient,
    "disagreement": disagreement_measure,
    "agreement": agreement_measure,
    "double_fault": double_fault,
    "ratio_of_errors": ratio_errors,
}


def main():
    random = np.random.RandomState(3)
    truth = random.randint(3, size=120)
    # Every member is right, and wrong, often enough for all measures to be defined; some follow one another.
    labels = np.where(random.uniform(size=(120, 8)) < np.linspace(0.5, 0.8, 8), truth[:, None], random.randint(3, size=(120, 8)))
    labels[:, 5] = np.where(random.uniform(size=120) < 0.7, labels[:, 4], labels[:, 5])
    arrays = {"truth": truth.astype(np.int8), "labels": labels.astype(np.int8)}
    for name, measure in MEASURES.items():
        values = np.full((8, 8), np.nan)
        for i in range(8):
            for j in range(8):
                if i != j:
                    values[i, j] = measure(truth, labels[:, i], labels[:, j])
        arrays[name] = values
    np.savez_compressed(HERE / "answers.npz", **arrays)


if __name__ == "__main__":
    main()
