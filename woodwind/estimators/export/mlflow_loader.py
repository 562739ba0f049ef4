"""The loader module of MLflow's generic flavour, pyfunc: how a model file becomes something that MLflow can ask. It imports no MLflow.

mlflow.pyfunc.save_model("folder", loader_module="woodwind.estimators.export.mlflow_loader", data_path="model.ww")
"""

from typing import Any

from woodwind.base.errors import ParameterError
from woodwind.estimators.auto.load import load

METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function")


class PyfuncModel:
    """What MLflow asks: `predict` with a table, and with the name of another method where that is wanted."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def predict(self, model_input: Any, params: dict[str, Any] | None = None) -> Any:
        """What the model predicts for a table.

        Parameters
        ----------
        model_input : table
            Rows of the columns that the model was trained with; columns are matched by name.
        params : dict or None, default=None
            With `method`, one of 'predict', 'predict_proba', 'predict_log_proba' and 'decision_function', another method is asked.
        """
        method = (params or {}).get("method", "predict")
        if method not in METHODS or not hasattr(self.model, method):
            known = [name for name in METHODS if hasattr(self.model, name)]
            raise ParameterError(f"{type(self.model).__name__}: method must be one of {', '.join(map(repr, known))}, but it is {method!r}.")
        return getattr(self.model, method)(model_input)


def _load_pyfunc(path: str) -> PyfuncModel:
    """What MLflow calls with the path of the model file."""
    return PyfuncModel(load(path))
