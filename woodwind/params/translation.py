"""How the value of another library's parameter becomes values of ours: one function for each rule that `aliases.py` names.

A rule takes our name, the value and the library. It gives our parameters by name, none where that is what is done anyway, or a sentence
that says why there is no counterpart. Losses and metrics keep the names that they have, which are understood wherever one is given.
"""

import json
from collections.abc import Callable
from typing import Any

Answer = dict[str, Any] | str
Rule = Callable[[str, Any, str], Answer]

MOST_BINS = 255
GROWTH = {"depthwise": "level", "lossguide": "best_first", "symmetrictree": "symmetric"}


def translated(rule: str, ours: str, value: Any, library: str) -> Answer:
    """What a value means here."""
    if rule.startswith("only "):
        return {} if str(value).lower() in rule.split() else "Here it is otherwise."
    return RULES[rule][1](ours, value, library)


def words(rule: str) -> str:
    """The rule in words, for a table; nothing where the value stays."""
    return "" if rule.startswith("only ") else RULES[rule][0]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def same(ours: str, value: Any, _: str) -> Answer:
    """The value as it is."""
    return {ours: value}


def limit(ours: str, value: Any, _: str) -> Answer:
    """Zero and less mean that there is no limit."""
    return {ours: None if _is_number(value) and value <= 0 else value}


def share(ours: str, value: Any, _: str) -> Answer:
    """A fraction: where it may also be a count here, 1 would be one."""
    return {ours: float(value) if _is_number(value) else value}


def at_least_one(ours: str, value: Any, _: str) -> Answer:
    """Zero says no more than one."""
    return {ours: 1 if _is_number(value) and value == 0 else value}


def threads(ours: str, value: Any, _: str) -> Answer:
    """Zero means all."""
    return {ours: None if value == 0 else value}


def growth(ours: str, value: Any, _: str) -> Answer:
    """Orders of growth by their names."""
    found = GROWTH.get(str(value).lower())
    return f"Growth is one of {', '.join(map(repr, GROWTH.values()))} here." if found is None else {ours: found}


def bins(ours: str, value: Any, library: str) -> Answer:
    """At most 255; between so many borders there is one bin more."""
    if not _is_number(value):
        return {ours: value}
    return {ours: min(int(value) + (library == "catboost"), MOST_BINS)}


def tree_method(ours: str, value: Any, _: str) -> Answer:
    """Exact, in bins of each tree, or in bins."""
    known: dict[str, Answer] = {"exact": {ours: None}, "approx": {"candidates": "global"}}
    return known.get(str(value), {})


def bagging_freq(ours: str, value: Any, _: str) -> Answer:
    """Without it LightGBM takes all rows."""
    if value in (0, 1):
        return {} if value else {ours: 1.0}
    return "Rows are drawn anew for every tree here."


def bootstrap_type(ours: str, value: Any, _: str) -> Answer:
    """With or without replacement."""
    known: dict[str, Answer] = {"bernoulli": {ours: False}, "no": {ours: False, "subsample": 1.0}, "mvs": {"sampling": "mvs"}}
    return known.get(str(value).lower(), "Rows are drawn here by subsample, with replacement by bootstrap=True, or by sampling='mvs'.")


def sampling(ours: str, value: Any, _: str) -> Answer:
    """All rows alike, or by their gradients."""
    known: dict[str, Answer] = {"uniform": {}, "bagging": {}, "gradient_based": {ours: "mvs"}, "goss": {ours: "goss"}}
    return known.get(str(value).lower(), "Rows are drawn all alike, or by sampling='goss' or 'mvs' here.")


def leaf_estimation(ours: str, value: Any, _: str) -> Answer:
    """The two methods by their names; what CatBoost calls exact is done wherever it is better than a step."""
    if str(value).lower() == "exact":
        return "Leaves of absolute error and of quantiles are exact here without a setting."
    return {ours: str(value).lower()}


def multi_strategy(ours: str, value: Any, _: str) -> Answer:
    """One tree for all classes or targets, or one for each."""
    if value == "multi_output_tree":
        return {ours: "vector"}
    # Regressors of numbers and of distributions have a word of their own.
    return {ours: "one_per_class"} if ours == "multiclass" else "Set multi_output='one_per_target', of distributions 'one_per_parameter'."


def starting_scores(ours: str, value: Any, library: str) -> Answer:
    """Scores; scikit-learn has an estimator in their place, or 'zero'."""
    if library == "sklearn" and value is not None:
        return "Starting scores are an array here, one score for each row and, with several classes, each class."
    return {ours: value}


def boost_from_average(ours: str, value: Any, _: str) -> Answer:
    """From the best constant, or from zero."""
    return {ours: None if value else 0.0}


def loss(ours: str, value: Any, _: str) -> Answer:
    """The name stays; a function of gradients is another thing than a loss of one's own."""
    return "A loss of your own is an object with the methods start, derivatives and value here." if callable(value) else {ours: value}


def alpha(_: str, value: Any, __: str) -> Answer:
    """A number of the loss: `translate` puts both together."""
    return {"loss.alpha": value}


def power(_: str, value: Any, __: str) -> Answer:
    """A number of the loss: `translate` puts both together."""
    return {"loss.power": value}


NO_METRIC = (None, "", "None", "none", "null", "na", "custom", "loss")


def metric(ours: str, value: Any, library: str) -> Answer:
    """One metric, or several, of which the first is stopped by here and the last in XGBoost."""
    if isinstance(value, str) and library == "lightgbm":
        value = value.split(",")
    if isinstance(value, list | tuple | set | frozenset):
        several = [one for one in (reversed(list(value)) if library == "xgboost" else value) if callable(one) or one not in NO_METRIC]
        value = several if len(several) > 1 else several[0] if several else None
    if callable(value) or (isinstance(value, list) and any(map(callable, value))):
        return "A scorer is a function of (estimator, X, y) here, and larger is better."
    return {ours: None if not isinstance(value, list) and value in NO_METRIC else value}


def pos_weight(ours: str, value: Any, _: str) -> Answer:
    """The weight of the second class, where the first has one."""
    return {ours: None if value in (None, 1) else {0: 1, 1: value}}


def unbalance(ours: str, value: Any, _: str) -> Answer:
    """Weights that make classes even."""
    return {ours: "balanced" if value else None}


def auto_class_weights(ours: str, value: Any, _: str) -> Answer:
    """Balanced or not."""
    if value is None or str(value).lower() in ("none", "balanced"):
        return {ours: "balanced" if str(value).lower() == "balanced" else None}
    return "class_weight is 'balanced' or a dict here."


def class_weights(ours: str, value: Any, _: str) -> Answer:
    """A list is by the number of the class."""
    return {ours: dict(enumerate(value)) if isinstance(value, list | tuple) else value}


def monotone(ours: str, value: Any, _: str) -> Answer:
    """Text becomes a list, or a dict of columns."""
    if not isinstance(value, str):
        return {ours: value}
    parts = [part.strip() for part in value.strip("()[] ").split(",") if part.strip()]
    if all(":" in part for part in parts):
        pairs = (part.rsplit(":", 1) for part in parts)
        return {ours: {int(name) if name.isdigit() else name: int(sign) for name, sign in pairs}}
    return {ours: [int(part) for part in parts]}


def interactions(ours: str, value: Any, _: str) -> Answer:
    """Text becomes a list of lists."""
    if not isinstance(value, str) or not value.strip().startswith("["):
        return {ours: value or None}
    text = value.strip()
    return {ours: json.loads(text if text.startswith("[[") else f"[{text}]")}


def categorical(ours: str, value: Any, _: str) -> Answer:
    """Text is a list; types that are recognised need none."""
    if isinstance(value, str):
        if value in ("auto", "from_dtype", ""):
            return {}
        names = value.removeprefix("name:").split(",")
        return {ours: [int(name) if name.strip().isdigit() else name.strip() for name in names]}
    return {ours: value}


def patience(ours: str, value: Any, library: str) -> Answer:
    """Giving it is what switches early stopping on, but for scikit-learn's histogram boosting."""
    if value is None or value is False or (_is_number(value) and value <= 0):
        return {"early_stopping": False}
    return {ours: value} if library == "sklearn" else {"early_stopping": True, ours: value}


def early_stopping(ours: str, value: Any, library: str) -> Answer:
    """CatBoost has two ways to stop."""
    if library == "catboost":
        return {} if value in (None, "Iter") else "Early stopping counts rounds: n_iter_no_change and tol."
    return {ours: value}


def boosting(ours: str, value: Any, _: str) -> Answer:
    """Plain boosting has many names, DART one."""
    plain = str(value).lower()
    if plain in ("dart", "ordered"):
        return {ours: plain}
    if plain == "goss":
        return {"sampling": "goss"}
    return {} if plain in ("gbtree", "gbdt", "gbrt", "plain", "bagging") else "Boosting is 'plain', 'dart' or 'ordered' here."


def fraction(ours: str, value: Any, _: str) -> Answer:
    """A share of the rows."""
    if value is None or (_is_number(value) and not 0 < value < 1):
        return "validation_fraction is a share above 0 and below 1 here."
    return {ours: value}


def verbosity(ours: str, value: Any, library: str) -> Answer:
    """One line or none."""
    if isinstance(value, str):
        return {ours: int(value.lower() not in ("silent", "none"))}
    least = 2 if library == "xgboost" else 1
    return {ours: int(value) if isinstance(value, bool) else int(_is_number(value) and value >= least)}


def silent(ours: str, value: Any, _: str) -> Answer:
    """The opposite."""
    return {ours: int(not value)}


def warm_start(ours: str, value: Any, library: str) -> Answer:
    """Going on from what the model has learned."""
    if library == "sklearn" or isinstance(value, bool):
        return {ours: value}
    return {} if value is None else "warm_start=True goes on from what the estimator itself has learned, and from no other model."


def callbacks(_: str, value: Any, __: str) -> Answer:
    """Functions of another signature."""
    return "Functions of the parameter callbacks are called with each finished round here; one that returns True ends it." if value else {}


def use_probas(ours: str, value: Any, _: str) -> Answer:
    """What members pass on."""
    return {ours: "predict_proba" if value else "predict"}


def impurity_decrease(_: str, __: Any, ___: str) -> Answer:
    """A mean there, a sum here."""
    return "Use min_gain: the number of rows times min_impurity_decrease."


def eval_set(ours: str, _: Any, __: str) -> Answer:
    """Pairs of table and target."""
    return f"Give {ours}=(X, y), or {ours}=(X, y, sample_weight); of several in a list the last one is stopped by."


def eval_weight(ours: str, _: Any, __: str) -> Answer:
    """The third of that pair."""
    return f"Give {ours}=(X, y, sample_weight)."


RULES: dict[str, tuple[str, Rule]] = {
    "same": ("", same),
    "limit": ("0 or less is `None`", limit),
    "share": ("a fraction, of which 1.0 is all", share),
    "at_least_one": ("0 is 1", at_least_one),
    "threads": ("0 is `None`", threads),
    "growth": ("`depthwise` is `'level'`, `lossguide` is `'best_first'`, `SymmetricTree` is `'symmetric'`", growth),
    "bins": ("at most 255; of CatBoost one more than its borders", bins),
    "tree_method": ("`'exact'` is `None`; `'approx'` is `candidates='global'`; the others need no setting", tree_method),
    "bagging_freq": ("0 is `subsample=1.0`; 1 needs no setting", bagging_freq),
    "bootstrap_type": ("`Bernoulli` and `No` are `False`; `MVS` is `sampling='mvs'`", bootstrap_type),
    "sampling": ("`gradient_based` is `'mvs'`", sampling),
    "leaf_estimation": ("`Newton` and `Gradient` in small letters", leaf_estimation),
    "multi_strategy": (
        "`multi_output_tree` is `'vector'`, `one_output_per_tree` is `'one_per_class'`, of regressors `'one_per_target'`",
        multi_strategy,
    ),
    "starting_scores": ("an array of scores", starting_scores),
    "boost_from_average": ("`False` is 0.0; `True` is `None`", boost_from_average),
    "loss": ("names as below", loss),
    "alpha": ("`losses.Quantile(alpha)`, for several `losses.Quantiles(alpha)`, or of Huber's loss its own number", alpha),
    "power": ("`losses.Tweedie(power)`", power),
    "metric": ("names as below; of several, the first is stopped by, which is the last in XGBoost", metric),
    "pos_weight": ("3 is `{0: 1, 1: 3}`", pos_weight),
    "unbalance": ("`True` is `'balanced'`", unbalance),
    "auto_class_weights": ("`Balanced` is `'balanced'`", auto_class_weights),
    "class_weights": ("a list is a dict by class", class_weights),
    "monotone": ("text is a list or a dict", monotone),
    "interactions": ("text is a list of lists", interactions),
    "categorical": ("text is a list; types are recognised", categorical),
    "patience": ("a number also means `early_stopping=True`; `None` means `early_stopping=False`", patience),
    "early_stopping": ("`Iter` needs no setting", early_stopping),
    "boosting": ("`dart`, `Ordered`, or nothing", boosting),
    "fraction": ("a share above 0 and below 1", fraction),
    "verbosity": ("what tells of progress is 1, less is 0", verbosity),
    "silent": ("the opposite", silent),
    "warm_start": ("`True`, for the estimator itself", warm_start),
    "callbacks": ("functions of another signature", callbacks),
    "use_probas": ("`True` is `'predict_proba'`", use_probas),
    "impurity_decrease": ("times the number of rows", impurity_decrease),
    "eval_set": ("`(X, y)` or `(X, y, sample_weight)`, or a list of them, the last of which is stopped by", eval_set),
    "eval_weight": ("the third of `(X, y, sample_weight)`", eval_weight),
}
