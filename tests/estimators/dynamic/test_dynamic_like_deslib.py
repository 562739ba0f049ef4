"""The estimator of dynamic selection against the frozen answers of DESlib: every method by its name, and what goes through the base class.

The functions under it are compared in all settings in tests/selection/test_against_deslib.py.
"""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

from tests.selection.deslib_answers import cases
from woodwind import DynamicSelectionClassifier, StackingClassifier

METHODS = {
    "OLA": "ola", "LCA": "lca", "MLA": "mla", "MCB": "mcb", "Rank": "rank", "APriori": "a_priori", "APosteriori": "a_posteriori",
    "KNORAE": "knora_e", "KNORAU": "knora_u", "KNOP": "knop", "METADES": "meta_des", "DESP": "des_p", "DESKL": "des_kl", "DESMI": "des_mi",
    "RRC": "des_rrc", "DESKNN": "des_knn", "Exponential": "exponential", "Logarithmic": "logarithmic",
    "MinimumDifference": "minimum_difference", "SingleBest": "single_best", "StaticSelection": "static_selection",
}  # fmt: skip
OPTIONS = ("selection_method", "similarity_threshold", "selection_threshold", "alpha", "pct_accuracy", "pct_diversity", "pct_classifiers")
# Settings that every method has are tried with one method each.
SHARED = {
    "OLA(selection_method=best, knne=True)", "OLA(selection_method=best, DFP=True)", "KNORAE(with_IH=True, IH_rate=0.35, safe_k=5)",
    "KNORAE(voting=soft)", "KNORAU(k=15)", "KNOP(knne=True)", "METADES(knne=True)", "METADES(mode=hybrid, voting=soft)",
    "METADES(Kp=3, k=9, Hc=0.6, selection_threshold=0.7)", "DESP(mode=weighting, voting=hard)", "RRC(DFP=True, k=7)",
    "DESKNN(k=40, pct_accuracy=0.7, pct_diversity=0.4)", "DESMI(pct_accuracy=0.4, alpha=0.05, k=15)",
    "MCB(selection_method=best, similarity_threshold=0.5)",
}  # fmt: skip
DEFAULTS = {f"{kind}({told})" for kind in METHODS for told in ("", "selection_method=best", "pct_accuracy=0.4")}
NAMES = [name for name in cases() if name.rpartition(" on ")[0] in SHARED | DEFAULTS]


class Recorded(ClassifierMixin, BaseEstimator):
    """A member that says what was recorded of rows."""

    def __init__(self, predicted=None, n_classes=2):
        self.predicted, self.n_classes = predicted, n_classes

    def __sklearn_is_fitted__(self):
        return True

    @property
    def classes_(self):
        return np.arange(self.n_classes)

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return np.array([self.predicted[row.tobytes()] for row in np.ascontiguousarray(X)])

    def predict(self, X):
        return self.predict_proba(X).argmax(axis=1)


def members_of(table):
    rows = np.concatenate([table.X_selection, table.X_query])
    probabilities = np.concatenate([table.shares_selection, table.shares_query])
    keys = [row.tobytes() for row in rows]
    return [
        (f"member{m}", Recorded(dict(zip(keys, probabilities[:, m], strict=True)), table.n_classes)) for m in range(probabilities.shape[1])
    ]


def estimator_of(case):
    given = case.params
    options = {name: given[name] for name in OPTIONS if name in given} | ({"n_similar": given["Kp"]} if "Kp" in given else {})
    same = {name: given[name] for name in ("voting", "mode", "knne", "safe_k") if name in given}
    renamed = {ours: given[theirs] for ours, theirs in (("dfp", "DFP"), ("with_ih", "with_IH"), ("ih_rate", "IH_rate")) if theirs in given}
    return DynamicSelectionClassifier(
        estimators=members_of(case.table),
        method=METHODS[case.kind],
        method_options=options,
        k=given.get("k", "auto"),
        standardize=False,
        prefit=True,
        random_state=0,
        **same,
        **renamed,
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_estimator_says_what_deslib_says(name):
    case = cases()[name]
    model = estimator_of(case).fit(case.table.X_selection, case.table.y_selection)
    sure = ~case.chance & ~case.turned
    assert sure.sum() > 70
    np.testing.assert_array_equal(model.predict(case.table.X_query)[sure], case.labels[sure])


def test_every_method_of_deslib_is_there_by_name():
    assert {cases()[name].kind for name in NAMES} == set(METHODS)


@pytest.mark.parametrize("name", [name for name in cases() if cases()[name].kind == "Oracle"])
def test_the_score_of_the_oracle_is_that_of_deslib(name):
    case = cases()[name]
    model = estimator_of(cases()[name.replace("Oracle", "KNORAE")]).fit(case.table.X_selection, case.table.y_selection)
    assert model.oracle_score(case.table.X_query, case.table.y_query) == np.mean(case.labels == case.table.y_query)


@pytest.mark.parametrize("name", [name for name in cases() if cases()[name].kind == "StackedClassifier"])
def test_a_stack_of_fitted_members_says_what_deslib_says(name):
    case = cases()[name]
    blender, passthrough = LogisticRegression(max_iter=1000), case.params.get("passthrough", False)
    model = StackingClassifier(members_of(case.table), final_estimator=blender, cv="prefit", passthrough=passthrough)
    model.fit(case.table.X_selection, case.table.y_selection)
    sure = ~case.chance
    assert sure.sum() > 90
    np.testing.assert_array_equal(model.predict(case.table.X_query)[sure], case.labels[sure])
