"""`woodwind.load`: what a model file holds. A model that the command has written comes as the estimator that `woodwind.fit` gives."""

import importlib
import os
from typing import Any

from woodwind.auto.model import AutoModel
from woodwind.auto.several_targets import SeveralTargetsModel
from woodwind.store import model_file

# Named as text: a file that holds no model of the main job is read without it.
AROUND = "woodwind.estimators.auto.wrap"


def load(path: str | os.PathLike[str], expect: type | tuple[type, ...] | None = None, *, allow_pickle: bool = False) -> Any:
    """Read a model file: the model as it was saved, validated, without running any code that the file could bring along.

    Parameters
    ----------
    path : path
        What `save` or `woodwind fit` has written.
    expect : class or tuple of classes, default=None
        What it should be; anything else is an error. An AutoModel is also found inside of the estimator that it is the model of, which is
        then not made: predicting needs no scikit-learn.
    allow_pickle : bool, default=False
        Also read a pickle that was saved with `allow_pickle=True`, which can run any code: only of an origin that you trust.

    Returns
    -------
    model
        Of the class that was saved, with the same parameters and what it had learned; its predictions are the same, bit for bit. What
        `woodwind fit` has written is an AutoEnsembleClassifier, AutoEnsembleRegressor or AutoEnsembleRanker, or for several
        targets a SeveralTargetsEnsemble, as `woodwind.fit` gives it.
    """
    wanted = expect if isinstance(expect, tuple) else (expect,)
    if AutoModel in wanted or SeveralTargetsModel in wanted:
        return model_file.load(path, expect, allow_pickle=allow_pickle)
    made = model_file.load(path, allow_pickle=allow_pickle)
    if isinstance(made, AutoModel):
        made = importlib.import_module(AROUND).estimator_around(made)
    elif isinstance(made, SeveralTargetsModel):
        made = importlib.import_module(AROUND).estimators_around(made)
    return model_file.expected(made, expect, os.fspath(path))
