"""DESlib as a contestant of dynamic_speed.py: run by another interpreter, with an older scikit-learn; knows nothing of Woodwind.

    python deslib_contestant.py FOLDER METHOD QUERIES BATCH ROUNDS THREADS

FOLDER holds what dynamic_speed.py has written: rows, targets and what the members predict. DESlib gathers (queries, neighbours, members) at
once: it is given the queries in batches, of a size that suits it, because memory would not do for all.
"""

import json
import sys
import time
import warnings
from pathlib import Path

import deslib
import numpy as np
import sklearn
from deslib.dcs import OLA
from deslib.des import DESP, KNORAE, KNORAU, METADES, RRC

METHODS = {"ola": OLA, "knora_e": KNORAE, "knora_u": KNORAU, "des_p": DESP, "meta_des": METADES, "des_rrc": RRC}
FACTS = ("X_selection", "y_selection", "X_query", "y_query", "probabilities")


class Recorded:
    """A member that says what was recorded of rows, which come in the order in which they were."""

    places = None

    def __init__(self, probabilities):
        self.probabilities, self.votes, self.classes_ = probabilities, probabilities.argmax(axis=1), np.arange(2)

    def fit(self, X, y):  # DESlib asks whether there is one
        return self

    @staticmethod
    def part(X):
        first = Recorded.places[X[0].tobytes()]
        return slice(first, first + len(X))

    def predict_proba(self, X):
        return self.probabilities[self.part(X)]

    def predict(self, X):
        return self.votes[self.part(X)]


def main():
    warnings.simplefilter("ignore")
    folder, method, queries, batch, rounds, threads = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:7])
    load = {name: np.load(Path(folder) / f"{name}.npy", mmap_mode="r") for name in FACTS}
    n_selection = len(load["y_selection"])
    probabilities = np.array(load["probabilities"][:, : n_selection + queries], np.float64)
    pool = [Recorded(part) for part in probabilities]
    X_query = np.array(load["X_query"][:queries])
    X_selection = np.array(load["X_selection"])
    Recorded.places = {row.tobytes(): position for position, row in enumerate(np.concatenate([X_selection, X_query]))}
    began = time.perf_counter()
    model = METHODS[method](pool, random_state=0, n_jobs=threads).fit(X_selection, np.array(load["y_selection"]))
    fitted = time.perf_counter() - began
    taken = []
    for _ in range(rounds):
        labels = np.empty(queries, np.int64)
        began = time.perf_counter()
        for first in range(0, queries, batch):
            some = slice(first, min(first + batch, queries))
            labels[some] = model.predict(X_query[some])
        taken.append(time.perf_counter() - began)
    np.save(Path(folder) / f"deslib_{method}.npy", labels)
    versions = {"deslib": deslib.__version__, "scikit-learn": sklearn.__version__, "numpy": np.__version__}
    print(json.dumps({"fit": fitted, "predict": taken, "versions": versions}))


if __name__ == "__main__":
    main()
