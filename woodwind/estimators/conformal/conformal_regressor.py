"""Conformal prediction for regression: intervals by folds, by rows held out once, or by the members of a bag."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin

from woodwind.base.errors import DataError, ParameterError
from woodwind.base.random_streams import key, seed_of
from woodwind.base.validate import require, require_finite
from woodwind.ensemble.conformal import ConformityScores, interval, jackknife_after_bootstrap
from woodwind.estimators.base.model_checks import ask_model
from woodwind.estimators.base.target import Target, read_regression_target
from woodwind.estimators.boosting.gradient_boosting import GradientBoostingRegressor
from woodwind.estimators.conformal.conformal_base import BaseConformal, Floats, Integers, Values, member_named
from woodwind.estimators.forests.forests import RandomForestRegressor
from woodwind.estimators.pools.fitting import MemberTask, check_weights_are_taken, fit_member
from woodwind.estimators.pools.member_list import NamedMember
from woodwind.estimators.pools.members import AnyTable
from woodwind.estimators.pools.out_of_fold import out_of_fold
from woodwind.estimators.pools.pool import Pool, pool_of
from woodwind.params.conformal import ConformalRegressorParams
from woodwind.params.knobs import knobs

Rows = Integers | None

# The smallest spread that counts, as a share of the mean spread: a row of none would have to be hit exactly.
LEAST_SPREAD = 1e-3


@knobs
class ConformalRegressor(ConformalRegressorParams, BaseConformal, RegressorMixin, BaseEstimator):
    """Prediction intervals with a guarantee, around any regressor.

    Of new rows that come from where the training rows come from, at least the share `coverage` lies inside of their intervals on average,
    however good the model is: exactly so with `method='split'`; with 'cv_plus' the proof is for 1 - 2 (1 - coverage), and what is seen is
    about `coverage`.

    {parameters}

    Attributes
    ----------
    {model}
    {columns}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from woodwind import ConformalRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ConformalRegressor(Ridge(), random_state=0).fit(X[:300], y[:300])
    >>> low, high = model.predict_interval(X[300:], coverage=0.8)
    >>> round(float(((low <= y[300:]) & (y[300:] <= high)).mean()), 1)
    0.8
    """

    _state: ClassVar[dict[str, Any]] = {
        "_spreads": Pool | None,
        "_out_of_bag": NDArray[np.bool_] | None,
        "conformity_score_": str,
    }
    _classifies: ClassVar[bool] = False

    def _read_target(self, y: Any) -> Target:
        return read_regression_target(y, self._owner)

    def _base(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        if self.method == "jackknife_plus_after_bootstrap":
            return RandomForestRegressor()
        if self.conformity_score not in ("auto", "quantile"):
            return GradientBoostingRegressor()
        rest = 0.5 * (1.0 - self.coverage) if isinstance(self.coverage, int | float) else 0.05
        return GradientBoostingRegressor(loss="quantile", quantile=(rest, 0.5, 1.0 - rest))

    # Training.

    def _train(self, values: Values, table: AnyTable, target: Target, weight: Floats | None, groups: Integers | None) -> None:
        if values["method"] != "jackknife_plus_after_bootstrap":
            super()._train(values, table, target, weight, groups)
            return
        if groups is not None:
            raise ParameterError(f"{self._owner}: groups are for methods that hold rows out by folds. Set method='cv_plus'.")
        if values["conformity_score"] not in ("auto", "absolute"):
            raise ParameterError(
                f"{self._owner}: method='jackknife_plus_after_bootstrap' has conformity_score='absolute', not "
                f"{values['conformity_score']!r}. Set it to 'auto', or method='cv_plus'."
            )
        member = member_named(self._base(), self._owner, classifies=False)
        check_weights_are_taken([member], weight, self._owner)
        present = np.arange(target.n_rows) if weight is None else np.flatnonzero(weight > 0.0)
        bag = fit_member(member, MemberTask(table, target, weight, self._owner, present), seed_of(values["random_state"]), self._threads)
        self._pool = pool_of([member], [bag], table.header, None)
        self._spreads: Pool | None = None
        self.conformity_score_ = "absolute"
        out = ~rows_seen(bag.estimator, len(present), self._owner)
        left = out.any(axis=1)
        if not left.any():
            raise ParameterError(f"{self._owner}: every member has seen every row. Give a bag or a forest with bootstrap=True.")
        share = out[left] / out[left].sum(axis=1, keepdims=True)
        predicted = self._each(table, present[left])
        residuals = np.abs(target.y[present[left]] - (share * predicted.T).sum(axis=1))
        counts = np.ones(left.sum()) if weight is None else weight[present[left]]
        order = np.argsort(residuals, kind="stable")
        self._known = ConformityScores.of([(residuals, counts)])
        self._out_of_bag: NDArray[np.bool_] | None = out[left][order]

    def _each(self, table: AnyTable, rows: Rows = None) -> Floats:
        """What every member of the bag predicts, (m, n)."""
        bag, X = self._pool.members[0], table.take(None, rows)
        columns = getattr(bag, "estimators_features_", None)
        members = list(np.ravel(bag.estimators_))

        def ask(number: int) -> Floats:
            part = X if columns is None else AnyTable.of(X, None, self._owner).take(columns[number])
            return np.asarray(ask_model(members[number], lambda: members[number].predict(part)), np.float64).reshape(-1)

        return np.stack([ask(number) for number in range(len(members))])

    def _after_training(self, values: Values, table: AnyTable, target: Target, weight: Floats | None, learned: list[Integers]) -> None:
        asked = values["conformity_score"]
        model, first = self._pool.members[0], np.arange(1)
        n_columns = self._asked(0, table, first).shape[1]
        has_distribution = predicts_distributions(model)
        if asked == "auto":
            asked = "quantile" if n_columns > 1 else "normalized" if has_distribution else "absolute"
        if (asked == "quantile") != (n_columns > 1):
            has = f"predicts {n_columns} numbers for a row" if n_columns > 1 else "predicts one number for a row"
            raise ParameterError(
                f"{self._owner}: conformity_score={asked!r} does not go with {type(model).__name__}, which {has}. For quantiles give "
                "GradientBoostingRegressor(loss='quantile', quantile=[0.05, 0.95]) or leave the estimator out."
            )
        self.conformity_score_, self._spreads, self._out_of_bag = asked, None, None
        if asked == "normalized" and not has_distribution:
            self._spreads = self._trained_spreads(values, table, target, weight, learned)

    def _trained_spreads(self, values: Values, table: AnyTable, target: Target, weight: Floats | None, learned: list[Integers]) -> Pool:
        """Of each fold a model of the distances at which rows lie from predictions by models that have not seen them."""
        if values["method"] == "prefit":
            raise ParameterError(
                f"{self._owner}: with method='prefit', conformity_score='normalized' needs an estimator that predicts distributions, "
                "such as DistributionBoostingRegressor. Set conformity_score='absolute', or method='split'."
            )
        seed, named, fitted = seed_of(values["random_state"]), [], []
        member = member_named(self._base(), self._owner, classifies=False)
        for number, rows in enumerate(learned):
            part, y = AnyTable.of(table.take(None, rows), None, self._owner), target.at(rows)
            counts = None if weight is None else weight[rows]
            how: dict[str, Any] = {"cv": min(5, len(rows)), "groups": None, "weight": counts, "kind": "numbers"}
            name = key(seed, "spread", number)
            found = out_of_fold([member], part, y, seed=name, threads=self._threads, owner=self._owner, **how)
            distance = np.abs(y.y - found.predicted[:, 0, 0])
            spread = NamedMember(f"spread {number}", GradientBoostingRegressor(loss="poisson"), None, None)
            task = MemberTask(part, read_regression_target(distance, self._owner), counts, self._owner)
            fitted.append(fit_member(spread, task, name, self._threads))
            named.append(spread)
        return pool_of(named, fitted, table.header, None)

    def _asked(self, fold: int, table: AnyTable, rows: Rows = None) -> Floats:
        """What the model of a fold predicts, (n, width)."""
        model = self._pool.members[fold]
        n_rows = table.n_rows if rows is None else len(rows)
        found = ask_model(model, lambda: np.asarray(model.predict(table.take(None, rows)), np.float64))
        if found.ndim not in (1, 2) or len(found) != n_rows:
            raise DataError(f"{self._owner}: {type(model).__name__} predicts an array of shape {found.shape} for {n_rows} rows.")
        return require_finite(found.reshape(n_rows, -1), self._owner)

    def _bounds(self, fold: int, table: AnyTable, rows: Rows = None) -> tuple[Floats, Floats, Floats]:
        """Lower and upper bounds by the model of a fold, before they are widened, and the unit in which they will be: (n,) each."""
        found = self._asked(fold, table, rows)
        low, high = found.min(axis=1), found.max(axis=1)
        if self.conformity_score_ != "normalized":
            return low, high, np.ones(len(low))
        model = self._pool.members[fold]
        if self._spreads is not None:
            spread = self._spreads.answer(fold, table, "numbers", self._owner, rows)[:, 0]
        else:
            spread = np.asarray(ask_model(model, lambda: model.predict_distribution(table.take(None, rows)).std()), np.float64)
        return low, high, np.maximum(spread, max(LEAST_SPREAD * float(np.mean(spread)), np.finfo(np.float64).tiny))

    def _scores(self, table: AnyTable, rows: Integers, fold: int, target: Target) -> Floats:
        low, high, scale = self._bounds(fold, table, rows)
        y = target.y[rows]
        return np.asarray(np.maximum((low - y) / scale, (y - high) / scale))

    # What there is to ask.

    def predict(self, X: Any) -> Floats:
        """The predicted number of each row: the mean over the models of the folds; of quantiles the middle one.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.
        """
        table = self._table(X)
        found = [np.median(self._asked(fold, table), axis=1) for fold in range(len(self._pool))]
        return require_finite(np.mean(found, axis=0), self._owner)

    def predict_interval(self, X: Any, coverage: float | None = None) -> tuple[Floats, Floats]:
        """Bounds between which the truth lies for a share `coverage` of new rows.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.
        coverage : float between 0 and 1, default=None
            The share; None for that of the model.

        Returns
        -------
        low, high : arrays of shape (n_rows,)
            Infinite where too few rows were held out for such a share, which a warning says.
        """
        table = self._table(X)
        asked = self._asked_coverage(coverage)
        if self._out_of_bag is not None:
            return jackknife_after_bootstrap(self._each(table), self._out_of_bag, self._known, asked)
        low, high, scale = (np.stack(part) for part in zip(*(self._bounds(fold, table) for fold in range(len(self._pool))), strict=True))
        return interval(low, high, scale, self._known, asked)

    def _check_state(self) -> None:
        super()._check_state()
        require(self.conformity_score_ in ("absolute", "normalized", "quantile"), "there is no such conformity score")
        has_distribution = all(map(predicts_distributions, self._pool.members))
        if self._spreads is not None:
            require(len(self._spreads) == len(self._pool) and self._spreads.classes is None, "there are other spreads than models")
            header = self._spreads.header
            require(header is not None and header.n_columns == self.n_features_in_, "spreads have other columns")
        known = self._spreads is not None or has_distribution
        require(self.conformity_score_ != "normalized" or known, "nothing says how far rows are spread")
        if self._out_of_bag is not None:
            members = getattr(self._pool.members[0], "estimators_", [])
            require(len(self._pool) == 1 and self._out_of_bag.shape == (len(self._known.scores), len(members)), "rows are of another bag")
            require(bool(self._out_of_bag.any(axis=1).all()), "a row is in every bag")


def predicts_distributions(model: Any) -> bool:
    """Whether a trained model can be asked for distributions: a forest only if it was trained with quantiles=True."""
    return callable(getattr(model, "predict_distribution", None)) and getattr(model, "quantiles", True) is not False


def rows_seen(bag: Any, n_rows: int, owner: str) -> NDArray[np.bool_]:
    """Which row each member of a bag or a forest has been trained on, (n, m)."""
    samples = getattr(bag, "estimators_samples_", None)
    if samples is None or not hasattr(bag, "estimators_"):
        raise ParameterError(
            f"{owner}: method='jackknife_plus_after_bootstrap' needs a bag or a forest that tells which rows its members have seen "
            f"(estimators_samples_), and {type(bag).__name__} does not. Set method='cv_plus'."
        )
    seen = np.zeros((n_rows, len(samples)), np.bool_)
    for member, rows in enumerate(samples):
        seen[rows, member] = True
    return seen
