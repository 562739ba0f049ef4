"""Random models and tables for exports: all that can be exported, with missing values, infinities and categories never seen."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression, Ridge

import woodwind as ww

TRAINING_ROWS = 400
WORDS = ("ash", "beech", "cedar", "elm", "fir", "größe", 'quo"te', "?? oak")


def random_table(rng: np.random.Generator, kinds: list[str], n_rows: int, new: bool = False) -> Any:
    """A table of such columns; a new one has what training never saw."""
    columns: dict[str, Any] = {}
    for position, kind in enumerate(kinds):
        numbers = np.round(rng.normal(size=n_rows), int(rng.integers(1, 9)))
        if kind in ("gaps", "number") and (new or kind == "gaps"):
            numbers[rng.random(n_rows) < 0.15] = np.nan
        if new:
            numbers[rng.random(n_rows) < 0.05] = np.inf
            numbers[rng.random(n_rows) < 0.05] = -np.inf
        values: Any = numbers
        if kind in ("words", "full words"):
            values = rng.choice(WORDS[:-1], n_rows).astype(object)
            values[rng.random(n_rows) < (0.15 if new or kind == "words" else 0.0)] = None
            values[rng.random(n_rows) < (0.15 if new else 0.0)] = "never seen"
        elif kind == "many":
            values = np.array([f"number {one}" for one in rng.integers(0, 130 if new else 120, n_rows)], object)
        elif kind == "codes":
            values = pd.Categorical(rng.integers(0, 12 if new else 9, n_rows) / 4.0)
        elif kind == "date":
            values = pd.Timestamp("2021-03-05") + pd.to_timedelta(rng.integers(0, 900, n_rows), "D")
            values = pd.Series(values).where(rng.random(n_rows) > 0.1)
        columns[f"{kind} {position}"] = values
    return pd.DataFrame(columns)


def random_target(rng: np.random.Generator, table: Any, task: str) -> Any:
    """Numbers above zero, two classes with text as labels, or three classes, which depend on the table."""
    score = rng.normal(size=len(table)) * 0.3
    for name in table:
        column = table[name]
        numbers = column.to_numpy(float) if column.dtype.kind == "f" else pd.factorize(column.astype(str))[0] % 5
        score = score + rng.normal() * np.nan_to_num(numbers, posinf=0.0, neginf=0.0)
    if task == "numbers":
        return np.exp(score / (np.abs(score).max() + 1.0) * 3.0)
    if task == "two":
        return np.where(score > np.median(score), "yes", "no")
    return np.digitize(score, np.quantile(score, [0.3, 0.7])) * 2


def random_estimator(rng: np.random.Generator, task: str, numeric: bool) -> Any:
    """An estimator of any kind that is exported."""
    seed, few = int(rng.integers(1 << 30)), int(rng.integers(2, 12))
    more: dict[str, Any] = {"random_state": seed}
    boosting: dict[str, Any] = {"n_estimators": few, "max_leaf_nodes": int(rng.integers(3, 20)), "early_stopping": False, **more}
    if task == "numbers":
        losses = ("squared_error", "poisson", "gamma", "absolute_error", "huber", "tweedie", "quantile")
        choices = [
            lambda: ww.GradientBoostingRegressor(loss=str(rng.choice(losses)), **boosting),
            lambda: ww.GradientBoostingRegressor(linear_leaves=True, **boosting),
            lambda: ww.GradientBoostingRegressor(growth="symmetric", **boosting),
            lambda: ww.GradientBoostingRegressor(loss="quantile", quantile=[0.9, 0.1], **boosting),
            lambda: ww.DecisionTreeRegressor(max_depth=7),
            lambda: ww.RandomForestRegressor(n_estimators=few, **more),
            lambda: ww.ExtraTreesRegressor(n_estimators=few, **more),
            lambda: ww.AdaBoostRegressor(n_estimators=few, **more),
            lambda: ww.BaggingRegressor(n_estimators=few, max_features=0.7, **more),
            lambda: ww.BaggingRegressor(ww.GradientBoostingRegressor(n_estimators=3), n_estimators=3, **more),
            lambda: ww.VotingRegressor({"a": ww.RandomForestRegressor(n_estimators=3), "b": ww.DecisionTreeRegressor(max_depth=4)}),
            lambda: ww.StackingRegressor({"a": ww.RandomForestRegressor(n_estimators=3), "b": ww.DecisionTreeRegressor(max_depth=4)}, cv=3),
        ]
        if numeric:
            choices.append(lambda: ww.VotingRegressor({"a": Ridge(), "b": ww.DecisionTreeRegressor(max_depth=4)}, averaging="median"))
    else:
        forest, tree = ww.RandomForestClassifier(n_estimators=3, random_state=0), ww.DecisionTreeClassifier(max_depth=4)
        choices = [
            lambda: ww.GradientBoostingClassifier(**boosting),
            lambda: ww.GradientBoostingClassifier(multiclass="one_per_class", **boosting),
            lambda: ww.DecisionTreeClassifier(max_depth=7),
            lambda: ww.RandomForestClassifier(n_estimators=few, **more),
            lambda: ww.RandomForestClassifier(n_estimators=few, voting="hard", **more),
            lambda: ww.ExtraTreesClassifier(n_estimators=few, **more),
            lambda: ww.AdaBoostClassifier(n_estimators=few, algorithm=str(rng.choice(["samme", "samme.r", "mh", "m2"])), **more),
            lambda: ww.BaggingClassifier(n_estimators=few, **more),
            lambda: ww.VotingClassifier({"a": forest, "b": tree}, weights=[1.0, 2.0]),
            lambda: ww.VotingClassifier({"a": forest, "b": tree}, voting="hard"),
            lambda: ww.StackingClassifier({"a": forest, "b": tree}, cv=3, **more),
        ]
        if task == "two":
            choices.append(lambda: ww.GradientBoostingClassifier(loss="exponential", **boosting))
        if numeric:
            choices.append(lambda: ww.VotingClassifier({"a": LogisticRegression(), "b": tree}))
    return choices[int(rng.integers(len(choices)))]()


def random_case(seed: int, n_rows: int) -> tuple[Any, Any]:
    """A trained model and a table to predict for."""
    rng = np.random.default_rng(seed)
    numeric = bool(rng.random() < 0.25)
    kinds = ["number", "gaps", "words", "full words", "many", "codes", "date"]
    chosen = ["number"] * 3 if numeric else list(rng.choice(kinds, int(rng.integers(2, 6))))
    task = str(rng.choice(["numbers", "two", "three"]))
    table = random_table(rng, chosen, TRAINING_ROWS)
    target = random_target(rng, table, task)
    several = task == "numbers" and rng.random() < 0.1
    model = ww.RandomForestRegressor(n_estimators=3, random_state=0) if several else random_estimator(rng, task, numeric)
    new = random_table(rng, chosen, n_rows, new=True)
    linear = [name for name in ("a", "b") if numeric and hasattr(model, "estimators") and _is_foreign(model.estimators, name)]
    if linear:  # linear models of scikit-learn take finite numbers alone
        new = new.replace([np.inf, -np.inf], 3.0).fillna(0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(table, np.column_stack([target, -target]) if several else target)
    return model, new


def _is_foreign(estimators: Any, name: str) -> bool:
    return not type(dict(estimators).get(name)).__module__.startswith("woodwind")


def expected(model: Any, table: Any) -> dict[str, Any]:
    """What the model predicts, by the names of the outputs of an export."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        predicted = np.asarray(model.predict(table))
        if not hasattr(model, "predict_proba"):
            found = {"prediction": predicted}
            raw = model._raw(table) if hasattr(model, "_raw") else predicted
        else:
            found = {"label": predicted, "probabilities": model.predict_proba(table)}
            raw = model.decision_function(table) if hasattr(model, "decision_function") else found["probabilities"]
    if not (isinstance(model, ww.VotingClassifier) and model.voting == "hard"):  # whose raw scores are counts of votes
        found["raw_score"] = np.asarray(raw)
    return {name: values if name == "label" else values.reshape(len(table), -1) for name, values in found.items()}


def is_exact(model: Any) -> bool:
    """Whether raw scores and means have the same bits: all but the blenders of stacks and linear models, whose products BLAS adds up."""
    members = [type(one) for one in getattr(model, "estimators_", ()) if not isinstance(one, list)]
    return not isinstance(model, ww.StackingClassifier | ww.StackingRegressor) and not ({LogisticRegression, Ridge} & set(members))
