"""The estimator around a model that was stored without one."""

from typing import Any

import numpy as np

from woodwind.auto.leaderboard import Leaderboard, stored_entries
from woodwind.auto.model import AutoModel
from woodwind.auto.several_targets import SeveralTargetsModel
from woodwind.estimators.auto.auto_ensemble import AutoEnsembleClassifier, AutoEnsembleRegressor
from woodwind.estimators.auto.auto_ranker import AutoEnsembleRanker
from woodwind.estimators.auto.several_targets import SeveralTargetsEnsemble

Estimator = AutoEnsembleClassifier | AutoEnsembleRegressor | AutoEnsembleRanker


def estimator_around(model: AutoModel) -> Estimator | AutoModel:
    """What `woodwind.fit` would have given; a model without a leaderboard is of no job, and stays what it is."""
    entries = stored_entries(model)
    if not entries:
        return model
    made = model.facts.get("made")
    seed = made.get("seed") if isinstance(made, dict) else None
    options: dict[str, Any] = {"metric": model.metric} | ({"random_state": seed} if isinstance(seed, int) else {})
    found: Estimator
    if not model.classifies:
        found = (AutoEnsembleRanker if model.task == "ranking" else AutoEnsembleRegressor)(**options)
    else:
        found = AutoEnsembleClassifier(**options)
        found.classes_ = np.array(model.classes)
    found.model_, found.leaderboard_, found.score_, found.facts_ = model, Leaderboard(entries), entries[0].score, model.facts
    found._set_header(model.schema.header)
    return found


def estimators_around(model: SeveralTargetsModel) -> SeveralTargetsEnsemble | SeveralTargetsModel:
    """The same for several targets."""
    found = [estimator_around(one) for one in model.models]
    ensembles = [one for one in found if isinstance(one, AutoEnsembleClassifier | AutoEnsembleRegressor)]
    return SeveralTargetsEnsemble(ensembles) if len(ensembles) == len(found) else model
