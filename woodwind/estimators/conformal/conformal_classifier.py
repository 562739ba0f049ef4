"""Conformal prediction for classification: sets of labels."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from woodwind.base.validate import require
from woodwind.ensemble.conformal import adaptive, label_sets, least_ambiguous
from woodwind.estimators.base.model import LogProbabilityMixin
from woodwind.estimators.base.target import Target, read_labels
from woodwind.estimators.boosting.gradient_boosting import GradientBoostingClassifier
from woodwind.estimators.conformal.conformal_base import BaseConformal, Floats, Integers, Values
from woodwind.estimators.pools.members import AnyTable
from woodwind.params.conformal import ConformalClassifierParams
from woodwind.params.knobs import knobs


@knobs
class ConformalClassifier(ConformalClassifierParams, BaseConformal, LogProbabilityMixin, ClassifierMixin, BaseEstimator):
    """Sets of labels with a guarantee, around any classifier with probabilities.

    Of new rows that come from where the training rows come from, at least the share `coverage` has its label in its set on average, however
    good the model is: exactly so with `method='split'`; with 'cv_plus' the proof is for 1 - 2 (1 - coverage), and what is seen is about
    `coverage`.

    {parameters}

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in order.
    {model}
    {columns}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from woodwind import ConformalClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ConformalClassifier(GaussianNB(), coverage=0.98, random_state=0).fit(X, y)
    >>> model.predict_set(X[[0, 70]])
    array([[ True, False, False],
           [False,  True,  True]])
    """

    _classifies: ClassVar[bool] = True

    def _read_target(self, y: Any) -> Target:
        known = getattr(self.estimator, "classes_", None) if self.method == "prefit" else None
        target = read_labels(y, self._owner, None if known is None else np.asarray(known))
        self.classes_: NDArray[Any] = np.asarray(target.classes)
        return target

    def _base(self) -> Any:
        return GradientBoostingClassifier() if self.estimator is None else self.estimator

    def _after_training(self, values: Values, table: AnyTable, target: Target, weight: Floats | None, learned: list[Integers]) -> None:
        self._pool.check_soft(self._owner)

    def _scores_of(self, probabilities: Floats) -> Floats:
        return adaptive(probabilities) if self.conformity_score == "adaptive" else least_ambiguous(probabilities)

    def _scores(self, table: AnyTable, rows: Integers, fold: int, target: Target) -> Floats:
        scores = self._scores_of(self._pool.answer(fold, table, "probabilities", self._owner, rows))
        return np.asarray(scores[np.arange(len(rows)), target.y[rows]])

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.
        """
        probabilities = self.predict_proba(X)
        return np.asarray(self.classes_[probabilities.argmax(axis=1)])

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes, (n_rows, n_classes): the mean over the models of the folds."""
        table = self._table(X)
        return np.asarray(self._pool.probabilities(table, self._owner, self._threads).mean(axis=1))

    def predict_set(self, X: Any, coverage: float | None = None) -> NDArray[np.bool_]:
        """Labels among which the truth is for a share `coverage` of new rows.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.
        coverage : float between 0 and 1, default=None
            The share; None for that of the model.

        Returns
        -------
        array of shape (n_rows, n_classes)
            True where a label of `classes_` is in the set. The most probable one always is.
        """
        table = self._table(X)
        asked = self._asked_coverage(coverage)
        probabilities = self._pool.probabilities(table, self._owner, self._threads)  # (n, m, K)
        scores = np.stack([self._scores_of(probabilities[:, fold]) for fold in range(len(self._pool))])
        sets = label_sets(scores, self._known, asked)
        sets[np.arange(len(sets)), probabilities.mean(axis=1).argmax(axis=1)] = True
        return sets

    def _check_state(self) -> None:
        super()._check_state()
        require(self._pool.classes is not None and np.array_equal(self._pool.classes, self.classes_), "models have other classes")
