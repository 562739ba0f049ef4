"""AutoGluon on one table, in an environment of its own: its pins do not go with ours.

Called by auto_tables.py as `python autogluon_child.py FOLDER`, where FOLDER has train.parquet, test.parquet and job.json; it leaves
prediction.npy and found.json there.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd


def main(folder: Path) -> None:
    from autogluon.tabular import TabularPredictor

    job = json.loads((folder / "job.json").read_text())
    train, test = (pd.read_parquet(folder / f"{name}.parquet") for name in ("train", "test"))
    began = time.perf_counter()
    predictor = TabularPredictor(
        label=job["target"], problem_type=job["task"], eval_metric=job["metric"], path=str(folder / "model"), verbosity=0
    )
    predictor.fit(train, time_limit=job["seconds"], presets=job["presets"], num_cpus=job["threads"], num_gpus=0)
    wall = time.perf_counter() - began
    found = {"wall": wall, "leaderboard": predictor.leaderboard(silent=True)[["model", "score_val"]].head(12).to_numpy().tolist()}
    if job["task"] == "regression":
        prediction = predictor.predict(test).to_numpy()
    else:
        chances = predictor.predict_proba(test)
        found["classes"] = sorted(chances.columns)
        prediction = chances[found["classes"]].to_numpy()
    np.save(folder / "prediction.npy", np.asarray(prediction, np.float64))
    (folder / "found.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
