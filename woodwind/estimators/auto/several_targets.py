"""The main job for several targets: an ensemble for each of them, from one table."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.leaderboard import Leaderboard
from woodwind.auto.several_targets import SeveralTargetsModel, in_columns
from woodwind.base.atomic import write_file
from woodwind.base.errors import DataError, ParameterError
from woodwind.base.file_endings import PAGE, meaning_of
from woodwind.estimators.auto.auto_ensemble import AutoEnsembleClassifier, AutoEnsembleRegressor
from woodwind.report.page import page_of_several
from woodwind.store.model_file import save_model
from woodwind.tree.shap_result import Explanation

Ensemble = AutoEnsembleClassifier | AutoEnsembleRegressor


class SeveralTargetsEnsemble:
    """What `woodwind.fit` gives for several targets: an ensemble for each of them.

    Every target has the members, the weights, the metric, the threshold and the intervals that suit it; numbers and classes may be mixed.
    What one target tells about another is not used.

    Attributes
    ----------
    targets_ : tuple of str
        Names of the targets.
    ensembles_ : dict of str to AutoEnsembleClassifier or AutoEnsembleRegressor
        The ensemble of each target, with all that it can do: `predict_interval`, `score`, `facts_` and the like.
    leaderboard_ : dict of str to Leaderboard
        The leaderboard of each target.
    score_ : dict of str to float
        The score of each ensemble, of rows that neither its members nor its weights have seen.
    """

    def __init__(self, ensembles: Sequence[Ensemble]) -> None:
        self.ensembles_: dict[str, Ensemble] = {ensemble.model_.target: ensemble for ensemble in ensembles}
        self.model_ = SeveralTargetsModel(tuple(ensemble.model_ for ensemble in ensembles)).check()

    def __repr__(self) -> str:
        return f"SeveralTargetsEnsemble({', '.join(map(repr, self.targets_))})"

    @property
    def targets_(self) -> tuple[str, ...]:
        """Names of the targets."""
        return self.model_.targets

    @property
    def leaderboard_(self) -> dict[str, Leaderboard]:
        """The leaderboard of each target."""
        return {target: ensemble.leaderboard_ for target, ensemble in self.ensembles_.items()}

    @property
    def score_(self) -> dict[str, float]:
        """The score of each ensemble, out of fold."""
        return {target: ensemble.score_ for target, ensemble in self.ensembles_.items()}

    def predict(self, X: Any) -> NDArray[Any]:
        """What is predicted for each row, a column for each target.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name. A file, or a dictionary of columns, will do.

        Returns
        -------
        array of shape (n_rows, n_targets)
            Of objects where some targets are labels and others are numbers.
        """
        return in_columns([np.asarray(ensemble.predict(X)) for ensemble in self.ensembles_.values()])

    def predict_proba(self, X: Any) -> list[NDArray[np.float64]]:
        """The probabilities of the classes of each target, (n_rows, n_classes) for each, as of scikit-learn's classifiers of several
        outputs. Raises DataError where a target is numbers.

        Parameters
        ----------
        X : table
            As for `predict`.
        """
        found = []
        for target, ensemble in self.ensembles_.items():
            if not isinstance(ensemble, AutoEnsembleClassifier):
                raise DataError(
                    f"SeveralTargetsEnsemble: the target {target!r} is numbers, which have no classes to give probabilities of. "
                    "Ask the ensembles of the other targets: ensembles_[target].predict_proba(X)."
                )
            found.append(ensemble.predict_proba(X))
        return found

    def explain(self, X: Any, target: str | None = None) -> Any:
        """What each column brings to the scores of each row, as `AutoEnsembleRegressor.explain` tells it.

        Parameters
        ----------
        X : table
            As for `predict`.
        target : str, default=None
            The target that is explained; None for all of them.

        Returns
        -------
        Explanation, or dict of str to Explanation
        """
        if target is not None:
            self.model_.of(target)
            return self.ensembles_[target].explain(X)
        found: dict[str, Explanation] = {name: ensemble.explain(X) for name, ensemble in self.ensembles_.items()}
        return found

    def report(self, path: Any, model_file: str = "model.ww") -> None:
        """Write the reports of all targets as one page of HTML that needs nothing else.

        Parameters
        ----------
        path : str or path
            The file. One that is there is replaced in one step.
        model_file : str, default="model.ww"
            What the file of the model is called, for the commands that the page shows.
        """
        if meaning_of(path) not in ("", PAGE):
            told = f"SeveralTargetsEnsemble: the ending of {str(path)!r} says {meaning_of(path)}, and {PAGE} would be written."
            raise ParameterError(f"{told} Let it end in .html.")
        write_file(path, [page_of_several([model.facts for model in self.model_.models], model_file).encode()])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the models of all targets as one model file, which `woodwind.load` and the command read.

        Parameters
        ----------
        path : path
            The file, usually with the ending .ww. One that is there is replaced in one step.
        """
        save_model(path, self.model_)
