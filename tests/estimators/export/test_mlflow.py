"""MLflow's generic flavour: a model file and a loader module."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import woodwind as ww
from woodwind.base.errors import ParameterError
from woodwind.estimators.export import mlflow_loader

TABLE = pd.DataFrame({"size": np.arange(60.0), "tree": ["ash", "elm", "fir"] * 20})
LABELS = np.where((TABLE["size"] > 20) & (TABLE["tree"] != "elm"), "yes", "no")


def saved(folder: Path) -> tuple[ww.GradientBoostingClassifier, str]:
    model = ww.GradientBoostingClassifier(n_estimators=5, random_state=0).fit(TABLE, LABELS)
    path = str(folder / "model.ww")
    model.save(path)
    return model, path


def test_the_loader_predicts_as_the_model_does(tmp_path: Path) -> None:
    model, path = saved(tmp_path)
    loaded = mlflow_loader._load_pyfunc(path)
    assert (loaded.predict(TABLE) == model.predict(TABLE)).all()
    assert np.array_equal(loaded.predict(TABLE, {"method": "predict_proba"}), model.predict_proba(TABLE))
    with pytest.raises(ParameterError, match="method must be one of 'predict', 'predict_proba'"):
        loaded.predict(TABLE, {"method": "fit"})


def test_the_loader_imports_no_mlflow() -> None:
    code = "import sys, woodwind.estimators.export.mlflow_loader; sys.exit('mlflow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.filterwarnings("ignore")
def test_mlflow_saves_and_loads_it(tmp_path: Path) -> None:
    pyfunc = pytest.importorskip("mlflow.pyfunc")
    model, path = saved(tmp_path)
    pyfunc.save_model(str(tmp_path / "folder"), loader_module=mlflow_loader.__name__, data_path=path)
    loaded = pyfunc.load_model(str(tmp_path / "folder"))
    assert (loaded.predict(TABLE) == model.predict(TABLE)).all()
