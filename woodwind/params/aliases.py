"""What other libraries call our parameters: one table, from which errors, `woodwind.translate` and a page of the guide are made.

A row has our name, the names in each library, the rule of `translation.py` by which the value translates, and a note. Names without a
counterpart are in `no_counterpart.py`: their notes say why, or what to do instead.
"""

from functools import cache

from woodwind.params.no_counterpart import FIT_NOTHING, LIBRARIES, NOTHING, SURVIVAL, Row

# How trees are added up, and how each is grown.
TREES = (
    Row("n_estimators", "n_estimators num_boost_round num_round num_rounds",
        "num_iterations num_iteration n_iter num_tree num_trees num_round num_rounds nrounds num_boost_round n_estimators max_iter",
        "iterations num_boost_round n_estimators num_trees", "max_iter n_estimators", "n_trees ntree"),
    Row("learning_rate", "learning_rate eta", "learning_rate shrinkage_rate eta", "learning_rate eta", "learning_rate", "shrinkage lr"),
    Row("max_leaf_nodes", "max_leaves", "num_leaves num_leaf max_leaves max_leaf max_leaf_nodes", "max_leaves num_leaves",
        "max_leaf_nodes", rule="limit"),
    Row("max_depth", "max_depth", "max_depth", "depth max_depth", "max_depth", "tree_depth", rule="limit"),
    Row("growth", "grow_policy", "", "grow_policy", rule="growth"),
    Row("min_samples_leaf", "", "min_data_in_leaf min_data_per_leaf min_data min_child_samples min_samples_leaf",
        "min_data_in_leaf min_child_samples", "min_samples_leaf", "min_node_size nodesize", rule="at_least_one"),
    Row("n_parallel_trees", "num_parallel_tree"),
    Row("min_samples_split", sklearn="min_samples_split"),
    Row("leaf_estimation", catboost="leaf_estimation_method", rule="leaf_estimation"),
    Row("max_delta_step", "max_delta_step", "max_delta_step max_tree_output max_leaf_output", rule="limit"),
    Row("path_smooth", "", "path_smooth"),
    Row("linear_leaves", "", "linear_tree linear_trees"),
    Row("linear_l2", "", "linear_lambda", note="Here it is for numbers of unit variance."),
    Row(
        "min_hessian_leaf",
        "min_child_weight",
        "min_sum_hessian_in_leaf min_sum_hessian_per_leaf min_sum_hessian min_hessian min_child_weight",
    ),
    Row("l1_regularization", "reg_alpha alpha", "lambda_l1 reg_alpha l1_regularization", other="l1"),
    Row("l2_regularization", "reg_lambda lambda", "lambda_l2 reg_lambda lambda l2_regularization", "l2_leaf_reg reg_lambda",
        "l2_regularization", "l2"),
    Row("min_gain", "gamma min_split_loss", "min_gain_to_split min_split_gain"),
    Row("max_bins", "max_bin", "max_bin max_bins", "border_count max_bin", "max_bins", rule="bins"),
    Row("max_bins", "tree_method", rule="tree_method"),
    Row("sketch_eps", "sketch_eps"),
    Row(
        "subsample max_samples",
        "subsample",
        "bagging_fraction sub_row subsample bagging",
        "subsample",
        "subsample",
        "sample_rate",
        rule="share",
    ),
    Row("subsample max_samples", "", "bagging_freq subsample_freq", rule="bagging_freq"),
    Row("max_features_tree", "colsample_bytree", "feature_fraction sub_feature colsample_bytree", rule="share"),
    Row("max_features_level", "colsample_bylevel", "", "rsm colsample_bylevel", rule="share"),
    Row("max_features", "colsample_bynode", "feature_fraction_bynode sub_feature_bynode colsample_bynode", rule="share"),
    Row("max_features", sklearn="max_features", other="mtry"),
    Row("boosting", "booster", "boosting boosting_type boost", "boosting_type", "", "algo", rule="boosting",
        note=(
            "Trees are boosted plainly, by 'dart' or 'ordered': there are no linear boosters. A random forest is RandomForestClassifier "
            "or RandomForestRegressor."
        )),
    Row("drop_rate", "rate_drop", "drop_rate rate_drop"),
    Row("skip_drop", "skip_drop", "skip_drop"),
    Row("max_drop", "", "max_drop", rule="limit"),
    Row("bootstrap", "", "", "bootstrap_type", rule="bootstrap_type"),
    Row("sampling", "sampling_method", "data_sample_strategy", rule="sampling"),
    Row("top_rate", "", "top_rate"),
    Row("other_rate", "", "other_rate"),
    Row("feature_bundling", "", "enable_bundle is_enable_bundle bundle"),
    Row("max_conflict_rate", "", "max_conflict_rate", "sparse_features_conflict_fraction"),
    Row("multiclass multi_output", "multi_strategy", rule="multi_strategy"),
    Row("init", "base_margin", "init_score", "baseline", "init", rule="starting_scores"),
    Row("init", "base_score", rule="same", note="It is a score here: the logit of a probability, the logarithm of a mean of counts."),
    Row("init", "", "boost_from_average", "boost_from_average", rule="boost_from_average"),
)  # fmt: skip

# What is minimised, watched and respected.
AIMS = (
    Row("loss", "objective obj", "objective objective_type app application loss", "loss_function objective", "loss", rule="loss"),
    Row("loss", "quantile_alpha", "alpha", "", "alpha quantile", rule="alpha"),
    Row("loss", "tweedie_variance_power", "tweedie_variance_power", rule="power"),
    Row(
        "scoring",
        "eval_metric custom_metric feval",
        "metric metrics metric_types eval_metric feval",
        "eval_metric",
        "scoring",
        rule="metric",
    ),
    Row("class_weight", "scale_pos_weight", "scale_pos_weight", "scale_pos_weight", other="pos_weight", rule="pos_weight",
        note="0 and 1 stand for the two labels of the target, the second of which is the positive one."),
    Row("class_weight", "", "is_unbalance unbalance unbalanced_sets", rule="unbalance"),
    Row("class_weight", "", "", "auto_class_weights", rule="auto_class_weights"),
    Row("class_weight", "", "class_weight", "class_weights", "class_weight", rule="class_weights"),
    Row("monotonic_cst", "monotone_constraints", "monotone_constraints monotone_constraint monotonic_cst mc", "monotone_constraints",
        "monotonic_cst", "monotonic_constraints", rule="monotone"),
    Row("interaction_cst", "interaction_constraints", "interaction_constraints", "", "interaction_cst", rule="interactions"),
    Row("categorical_features", "", "categorical_feature categorical_features cat_feature categorical_column cat_column", "cat_features",
        "categorical_features", "cat_cols categorical_columns", rule="categorical"),
    Row("n_iter_no_change", "early_stopping_rounds",
        "early_stopping_round early_stopping_rounds early_stopping n_iter_no_change", "early_stopping_rounds od_wait",
        "n_iter_no_change", "patience", rule="patience"),
    Row("early_stopping", "", "", "od_type", "early_stopping", rule="early_stopping"),
    Row("tol", "", "early_stopping_min_delta", "", "tol"),
    Row("validation_fraction", "", "", "eval_fraction", "validation_fraction", "validation_split", rule="fraction"),
)  # fmt: skip

# How the work is done.
WORK = (
    Row("n_jobs", "n_jobs nthread", "num_threads num_thread nthread nthreads n_jobs", "thread_count", "n_jobs", "threads", rule="threads"),
    Row("random_state", "random_state seed", "seed random_seed random_state", "random_seed random_state", "random_state"),
    Row("verbose", "verbosity verbose_eval verbose", "verbosity verbose verbose_eval", "verbose logging_level verbose_eval", "verbose",
        rule="verbosity"),
    Row("verbose", "silent", "silent", "silent", rule="silent"),
    Row("warm_start", "xgb_model", "init_model input_model model_in model_input", "init_model", "warm_start", rule="warm_start"),
    Row("callbacks", "callbacks", "callbacks", "callback callbacks", rule="callbacks"),
)  # fmt: skip

# Names of other estimators, here and elsewhere.
FAMILIES = (
    Row("estimator", sklearn="estimator base_estimator", other="base_learner weak_learner"),
    Row("estimators experts", sklearn="estimators", other="pool_classifiers classifiers regressors base_estimators base_models models"),
    Row("final_estimator", sklearn="final_estimator", other="meta_classifier meta_regressor meta_learner meta_model stacker"),
    Row("passthrough", other="use_features_in_secondary"),
    Row("stack_method", other="use_probas", rule="use_probas"),
    Row("cv", sklearn="cv", other="n_folds num_folds kfold n_splits"),
    Row("metric", sklearn="scoring", other="eval_metric", having="exclude"),
    Row("time", other="time_limit time_budget timeout max_time total_time_limit max_runtime_secs", having="exclude"),
    Row("models", other="max_models n_models n_estimators", having="exclude"),
    Row("positive", other="pos_label positive_class positive_label", having="exclude"),
    Row("threshold", other="decision_threshold cutoff", having="exclude"),
    Row("target", other="label label_column y target_column", having="exclude"),
    Row("task", other="problem_type task_type", having="exclude"),
    Row("weight", other="sample_weight weight_column", having="drop_missing_target"),
    Row("group", other="groups group_column", having="drop_missing_target"),
    Row("ignore", other="ignored_features ignored_columns ignore_column drop_columns", having="drop_missing_target"),
    Row("exclude", other="excluded_model_types exclude_algos", having="exclude"),
    Row("oob_score", other="compute_oob oob", having="oob_score"),
    Row("metric", other="knn_metric distance", having="knne"),
    Row("k", other="n_neighbors", having="standardize"),
    Row("selection_size", other="DSEL_perc"),
    Row("dfp", other="DFP"),
    Row("with_ih", other="with_IH"),
    Row("ih_rate", other="IH_rate"),
    Row("n_experts", other="n_components"),
    Row("max_iter", other="n_iter n_epochs"),
    Row("criterion", other="split_criterion splitrule"),
    Row("truncation_level", "lambdarank_num_pair_per_sample", "lambdarank_truncation_level"),
    Row("normalize", "lambdarank_normalization", "lambdarank_norm", having="truncation_level"),
    Row("position_bias_regularization", "", "lambdarank_position_bias_regularization"),
    Row("distribution", "aft_loss_distribution", having="ties", note=SURVIVAL),
    Row("scale", "aft_loss_distribution_scale", having="ties", note=SURVIVAL),
    Row("min_gain", sklearn="min_impurity_decrease", rule="impurity_decrease", having="ccp_alpha"),
)  # fmt: skip

# What is given to fit, not to the constructor; our names are those of arguments of `fit`.
FIT = (
    Row(
        "sample_weight",
        "sample_weight weight",
        "sample_weight weight",
        "sample_weight",
        "sample_weight",
        "sample_weights weights sampleWeight",
    ),
    Row("groups", other="group group_id", note="One label for each row."),
    Row("group", "qid", "", "group_id", "", "groups query query_id", note="One label for each row, or the number of rows of each query."),
    Row("query_weight", "", "", "group_weight", note="One weight for each query, or a dict from query to weight."),
    Row("eval_group", "eval_qid"),
    Row("eval_set", "eval_set evals", "eval_set valid_sets eval_X eval_y", "eval_set", "X_val y_val",
        "validation_data validation_set eval_data X_valid y_valid valid_data tuning_data", rule="eval_set"),
    Row("eval_set", "sample_weight_eval_set", "eval_sample_weight", "", "sample_weight_val", rule="eval_weight"),
)  # fmt: skip

OF_CONSTRUCTORS = (*TREES, *AIMS, *WORK, *FAMILIES, *NOTHING)
SOURCES = (*LIBRARIES, "other")


@cache
def index(of_fit: bool = False) -> dict[str, tuple[Row, ...]]:
    """The rows of every name, arguments of `fit` or parameters."""
    found: dict[str, tuple[Row, ...]] = {}
    for row in (*FIT, *FIT_NOTHING) if of_fit else OF_CONSTRUCTORS:
        for name in dict.fromkeys(name for source in SOURCES for name in row.names(source)):
            found[name] = (*found.get(name, ()), row)
    return found


def libraries_of(row: Row, name: str) -> list[str]:
    """The libraries that have this name for it, as they are written."""
    return [written for library, written in LIBRARIES.items() if name in row.names(library)]
