"""A name that is not a parameter, or not an argument of fit, is answered by what it is called here."""

import inspect
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import woodwind
from woodwind import GradientBoostingClassifier, GradientBoostingRegressor, ParameterError
from woodwind.base.errors import ParameterNameError
from woodwind.params.aliases import index
from woodwind.params.describe import declared

ESTIMATORS = [kind for name in woodwind.__all__ if isinstance(kind := getattr(woodwind, name), type) and hasattr(kind, "fit")]
X, Y = np.arange(80.0).reshape(40, 2), np.arange(40) % 2

# What users of other libraries wrote, and what is said.
TRIED = [
    ("num_leaves", 31, "num_leaves is called max_leaf_nodes here."),
    ("max_leaves", 0, "max_leaves is called max_leaf_nodes here: write max_leaf_nodes=None."),
    ("reg_lambda", 1.0, "reg_lambda is called l2_regularization here."),
    ("lambda_l2", 1.0, "lambda_l2 is called l2_regularization here."),
    ("l2_leaf_reg", 3.0, "l2_leaf_reg is called l2_regularization here."),
    ("reg_alpha", 1.0, "reg_alpha is called l1_regularization here."),
    ("colsample_bytree", 0.8, "colsample_bytree is called max_features_tree here."),
    ("colsample_bytree", 1, "max_features_tree here: write max_features_tree=1.0."),
    ("feature_fraction", 0.8, "feature_fraction is called max_features_tree here."),
    ("colsample_bylevel", 0.8, "colsample_bylevel is called max_features_level here."),
    ("rsm", 0.8, "rsm is called max_features_level here."),
    ("colsample_bynode", 0.8, "colsample_bynode is called max_features here."),
    ("min_child_samples", 5, "min_child_samples is called min_samples_leaf here."),
    ("min_data_in_leaf", 5, "min_data_in_leaf is called min_samples_leaf here."),
    ("min_child_weight", 1.0, "min_child_weight is called min_hessian_leaf here."),
    ("eta", 0.1, "eta is called learning_rate here."),
    ("max_iter", 100, "max_iter is called n_estimators here."),
    ("iterations", 100, "iterations is called n_estimators here."),
    ("num_boost_round", 100, "num_boost_round is called n_estimators here."),
    ("depth", 6, "depth is called max_depth here."),
    ("early_stopping_rounds", 50, "n_iter_no_change here: write early_stopping=True, n_iter_no_change=50."),
    ("od_wait", 20, "n_iter_no_change here: write early_stopping=True, n_iter_no_change=20."),
    ("eval_metric", "auc", "eval_metric is called scoring here."),
    ("metric", "auc", "metric is called scoring here."),
    ("objective", "binary:logistic", "objective is called loss here."),
    ("loss_function", "Logloss", "loss_function is called loss here."),
    ("cat_features", [0], "cat_features is called categorical_features here."),
    ("categorical_feature", "0,1", "categorical_features here: write categorical_features=[0, 1]."),
    ("scale_pos_weight", 3, "class_weight here: write class_weight={0: 1, 1: 3}."),
    ("is_unbalance", True, "class_weight here: write class_weight='balanced'."),
    ("gamma", 1.0, "gamma is called min_gain here."),
    ("bagging_fraction", 0.5, "bagging_fraction is called subsample here."),
    ("max_bin", 256, "max_bin is called max_bins here: write max_bins=255."),
    ("border_count", 128, "border_count is called max_bins here: write max_bins=129."),
    ("monotone_constraints", "(1,-1)", "monotonic_cst here: write monotonic_cst=[1, -1]."),
    ("interaction_constraints", [[0, 1]], "interaction_constraints is called interaction_cst here."),
    ("grow_policy", "lossguide", "growth here: write growth='best_first'."),
    ("nthread", 4, "nthread is called n_jobs here."),
    ("seed", 1, "seed is called random_state here."),
    ("verbosity", -1, "verbosity is called verbose here: write verbose=0."),
    ("logging_level", "Silent", "logging_level is called verbose here: write verbose=0."),
    ("tree_method", "hist", "tree_method='hist' need not be said: it is what is done here."),
    ("tree_method", "exact", "max_bins here: write max_bins=None."),
    ("tree_method", "approx", "write candidates='global'."),
    ("sketch_epsilon", 0.03, "sketch_eps"),
    ("booster", "gbtree", "booster='gbtree' need not be said"),
    ("booster", "dart", "booster is called boosting here."),
    ("device", "cuda", "device has no counterpart. Woodwind works on the CPU."),
    ("alpha", 0.9, "In XGBoost, alpha is called l1_regularization here. In LightGBM and scikit-learn, alpha is part of the loss here"),
    ("learning_rte", 0.1, "there is no parameter 'learning_rte'. Did you mean 'learning_rate'?"),
    ("num_leafes", 31, "Did you mean 'num_leaves'? It is called 'max_leaf_nodes' here."),
    ("sample_weight", None, "sample_weight is given to fit: fit(X, y, sample_weight=...)."),
    ("sample_weights", None, "sample_weights is called sample_weight here, and is given to fit"),
    ("xyzzy", 1, "there is no parameter 'xyzzy'. GradientBoostingClassifier has loss, n_estimators, learning_rate, "),
]


@pytest.mark.parametrize(("name", "value", "words"), TRIED, ids=[f"{name}={value}" for name, value, _ in TRIED])
def test_a_name_of_another_library_is_answered_by_ours(name, value, words):
    with pytest.raises(TypeError) as caught:
        GradientBoostingClassifier(**{name: value})
    assert isinstance(caught.value, ParameterNameError)
    assert str(caught.value).startswith("GradientBoostingClassifier: ")
    assert words in str(caught.value)
    with pytest.raises(ValueError) as again:  # noqa: PT011  what scikit-learn raises
        GradientBoostingClassifier().set_params(**{name: value})
    assert str(again.value) == str(caught.value)


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_every_estimator_answers_every_name_of_the_table(kind):
    own = {knob.name for knob in declared(kind)}
    for name in set(index()) - own:
        with pytest.raises(ParameterNameError) as caught:
            kind(**{name: 1})
        predicted = str(caught.value)
        assert predicted.startswith(f"{kind.__name__}: ")
        assert name in predicted
        if " is called " in predicted and " here" in predicted and "given to fit" not in predicted:
            assert predicted.split(" is called ")[1].split(maxsplit=1)[0] in own, predicted
    with pytest.raises(ParameterNameError, match=f"{kind.__name__} has "):
        kind(xyzzy=1)


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_constructors_stay_those_of_scikit_learn(kind):
    parameters = inspect.signature(kind).parameters
    assert set(parameters) == {knob.name for knob in declared(kind)}
    made = kind()
    assert {name: p.default for name, p in parameters.items()} == made.get_params(deep=False)
    assert clone(made).get_params(deep=False).keys() == made.get_params(deep=False).keys()
    assert type(pickle.loads(pickle.dumps(made))) is kind
    assert list(inspect.signature(kind.fit).parameters)[:3] == ["self", "X", "y"]
    assert inspect.getfullargspec(kind.fit).varkw is None
    with pytest.raises(ParameterNameError, match="came without a name"):
        kind(1, 2)


ELSEWHERE = [
    (woodwind.RandomForestClassifier, "num_trees", 10, "num_trees is called n_estimators here."),
    (woodwind.RandomForestClassifier, "subsample", 0.5, "subsample is called max_samples here."),
    (woodwind.VotingClassifier, "num_leaves", 31, "num_leaves is called max_leaf_nodes in other estimators of Woodwind; this one has none"),
    (woodwind.AdaBoostClassifier, "base_estimator", None, "base_estimator is called estimator here."),
    (woodwind.StackingClassifier, "meta_classifier", None, "meta_classifier is called final_estimator here."),
    (woodwind.DynamicSelectionClassifier, "pool_classifiers", None, "pool_classifiers is called estimators here."),
    (woodwind.AutoEnsembleClassifier, "time_limit", 60, "time_limit is called time here."),
    (woodwind.AutoEnsembleClassifier, "eval_metric", "auc", "eval_metric is called metric here."),
    (woodwind.AdditiveRegressor, "early_stopping_rounds", 5, "early_stopping_rounds is called n_iter_no_change here."),
    (woodwind.DecisionTreeRegressor, "min_impurity_decrease", 0.1, "Use min_gain: the number of rows times min_impurity_decrease."),
]


@pytest.mark.parametrize(("kind", "name", "value", "words"), ELSEWHERE, ids=[f"{kind.__name__}-{name}" for kind, name, *_ in ELSEWHERE])
def test_other_estimators_answer_by_what_they_have(kind, name, value, words):
    with pytest.raises(ParameterNameError) as caught:
        kind(**{name: value})
    assert words in str(caught.value)


def test_several_names_are_answered_at_once_with_the_way_to_translate_all():
    with pytest.raises(ParameterNameError) as caught:
        GradientBoostingRegressor(num_leaves=31, lambda_l1=1.0)
    assert str(caught.value).splitlines() == [
        "GradientBoostingRegressor: num_leaves is called max_leaf_nodes here.",
        "lambda_l1 is called l1_regularization here.",
        "woodwind.translate('lightgbm', {...}) translates all parameters of LightGBM at once.",
    ]


def test_names_within_names_are_answered_too():
    pipeline = make_pipeline(GradientBoostingClassifier())
    with pytest.raises(ValueError, match="num_leaves is called max_leaf_nodes here"):
        pipeline.set_params(gradientboostingclassifier__num_leaves=3)
    with pytest.raises(ValueError, match="num_leaves is called max_leaf_nodes here"):
        GridSearchCV(GradientBoostingClassifier(), {"num_leaves": [3]}).fit(X, Y)
    with pytest.raises(ValueError, match="num_leaves is called max_leaf_nodes here"):
        woodwind.VotingClassifier([("one", GradientBoostingClassifier())]).set_params(one__num_leaves=3)
    with pytest.raises(ParameterNameError, match=r"EnsembleSelectionClassifier: .*n_trees"):
        woodwind.EnsembleSelection([GradientBoostingClassifier()], n_trees=3)


ARGUMENTS = [
    ("categorical_feature", [0], "categorical_feature is called categorical_features here. Parameters are given to the constructor."),
    ("cat_features", [0], "cat_features is called categorical_features here. Parameters are given to the constructor."),
    ("eval_metric", "auc", "eval_metric is called scoring here. Parameters are given to the constructor."),
    ("early_stopping_rounds", 5, "write early_stopping=True, n_iter_no_change=5. Parameters are given to the constructor."),
    ("callbacks", [], "callbacks is given to the constructor: GradientBoostingClassifier(callbacks=[])."),
    ("verbose", 1, "verbose is given to the constructor: GradientBoostingClassifier(verbose=1)."),
    ("sample_weights", None, "sample_weights is called sample_weight here."),
    ("weight", None, "weight is called sample_weight here."),
    ("X_val", None, "X_val is called eval_set here. Give eval_set=(X, y), or eval_set=(X, y, sample_weight)"),
    ("sample_weight_eval_set", None, "Give eval_set=(X, y, sample_weight)."),
    ("group", None, "group is called groups here. One label for each row."),
    ("init_score", None, "init_score is called init here. Parameters are given to the constructor."),
    ("feature_name", None, "Columns have the names that the table gives them."),
    ("eval_sets", None, "Did you mean 'eval_set'?"),
    ("xyzzy", None, "GradientBoostingClassifier.fit has sample_weight, groups, eval_set."),
]


@pytest.mark.parametrize(("name", "value", "words"), ARGUMENTS, ids=[name for name, *_ in ARGUMENTS])
def test_an_argument_that_fit_does_not_have_is_answered_by_ours(name, value, words):
    with pytest.raises(TypeError) as caught:
        GradientBoostingClassifier().fit(X, Y, **{name: value})
    assert str(caught.value).startswith("GradientBoostingClassifier.fit: ")
    assert words in str(caught.value)


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_fit_of_every_estimator_answers_arguments_that_it_does_not_have(kind):
    for name in ("sample_weights", "eval_metric", "cat_features", "xyzzy"):
        with pytest.raises(ParameterNameError, match=rf"{kind.__name__}\.fit: .*{name}"):
            kind().fit(X, Y, **{name: None})


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("time_limit", "time_limit is called time here"),
        ("label", "label is called target here"),
        ("eval_metric", "eval_metric is called metric here"),
        ("sample_weight", "sample_weight is called weight here"),
        ("problem_type", "problem_type is called task here"),
        ("tiem", "Did you mean 'time'?"),
        ("presets", "presets has no counterpart"),
    ],
)
def test_the_main_job_answers_options_that_it_does_not_have(name, words):
    with pytest.raises(ParameterError, match=f"fit: .*{words}".replace("?", r"\?")):
        woodwind.fit({"a": [1.0, 2.0], "b": [0, 1]}, "b", **{name: "x"})


def test_losses_and_scores_go_by_the_names_of_other_libraries():
    common = {"n_estimators": 5, "random_state": 0, "early_stopping": True, "validation_fraction": 0.3}
    rows = np.random.default_rng(0).normal(size=(200, 3))
    classes = np.array(["no", "yes"])[(rows[:, 0] + rows[:, 1] > 0).astype(int)]
    ours = GradientBoostingClassifier(scoring="roc_auc", **common).fit(rows, classes)
    theirs = GradientBoostingClassifier(loss="binary:logistic", scoring="AUC", **common).fit(rows, classes)
    np.testing.assert_array_equal(ours.predict_proba(rows), theirs.predict_proba(rows))
    np.testing.assert_allclose(ours.validation_score_, theirs.validation_score_, rtol=1e-12)
    ours = GradientBoostingRegressor(loss="absolute_error", scoring="neg_mean_absolute_error", **common).fit(rows, rows[:, 0])
    theirs = GradientBoostingRegressor(loss="l1", scoring="mae", **common).fit(rows, rows[:, 0])
    np.testing.assert_array_equal(ours.predict(rows), theirs.predict(rows))
    np.testing.assert_allclose(ours.validation_score_, theirs.validation_score_, rtol=1e-12)


@pytest.mark.parametrize(("name", "same"), [("logloss", "neg_log_loss"), ("merror", "accuracy"), ("auc", "roc_auc")])
def test_forests_and_selections_score_by_the_names_of_other_libraries(name, same):
    rows = np.random.default_rng(0).normal(size=(120, 3))
    classes = np.array(["no", "yes"])[(rows[:, 0] + rows[:, 1] > 0).astype(int)]
    forests = (woodwind.RandomForestClassifier(30, oob_score=scorer, random_state=0).fit(rows, classes) for scorer in (name, same))
    one, two = (forest.oob_score_ for forest in forests)
    assert one == pytest.approx(two - (name == "merror"))
    forest = woodwind.RandomForestClassifier(10, random_state=0).fit(rows, classes)
    one, two = (woodwind.EnsembleSelectionClassifier(forest, scoring=scorer, n_selected=3).fit(rows, classes) for scorer in (name, same))
    np.testing.assert_array_equal(one.weights_, two.weights_)


def test_a_score_of_the_other_task_and_one_that_is_none_of_ours_are_answered():
    with pytest.raises(ParameterError, match=r"scoring='rmse' is for numbers, and GradientBoostingClassifier is for classes"):
        GradientBoostingClassifier(scoring="rmse", early_stopping=True).fit(X, Y)
    with pytest.raises(ParameterError, match="The nearest is 'average_precision'"):
        GradientBoostingClassifier(scoring="aucpr", early_stopping=True).fit(X, Y)
    with pytest.raises(ParameterError, match=r"loss=woodwind\.losses\.Quantile"):
        GradientBoostingRegressor(loss="reg:quantileerror").fit(X, Y)
