"""The table of aliases: every documented parameter of four libraries is answered, and every answer is one of ours."""

import pytest

import woodwind
from woodwind.params.aliases import FIT, OF_CONSTRUCTORS, index
from woodwind.params.describe import declared
from woodwind.params.no_counterpart import FIT_NOTHING, LIBRARIES
from woodwind.params.translation import RULES

ESTIMATORS = [kind for name in woodwind.__all__ if isinstance(kind := getattr(woodwind, name), type) and hasattr(kind, "fit")]

# The parameters of XGBClassifier, LGBMClassifier, CatBoostClassifier and HistGradientBoostingClassifier, as documented.
DOCUMENTED = {
    "xgboost": """
        max_depth max_leaves max_bin grow_policy learning_rate n_estimators verbosity objective booster tree_method n_jobs gamma
        min_child_weight max_delta_step subsample sampling_method colsample_bytree colsample_bylevel colsample_bynode reg_alpha reg_lambda
        scale_pos_weight base_score random_state missing num_parallel_tree monotone_constraints interaction_constraints importance_type
        device validate_parameters enable_categorical feature_types feature_weights max_cat_to_onehot max_cat_threshold multi_strategy
        eval_metric early_stopping_rounds callbacks
        eta lambda alpha nthread seed num_class num_boost_round min_split_loss tweedie_variance_power quantile_alpha huber_slope
        rate_drop one_drop skip_drop sample_type normalize_type updater process_type refresh_leaf feature_selector top_k""",
    "lightgbm": """
        boosting_type num_leaves max_depth learning_rate n_estimators subsample_for_bin objective class_weight min_split_gain
        min_child_weight min_child_samples subsample subsample_freq colsample_bytree reg_alpha reg_lambda random_state n_jobs
        importance_type
        num_iterations boosting num_threads device_type seed deterministic force_col_wise force_row_wise min_data_in_leaf
        min_sum_hessian_in_leaf bagging_fraction pos_bagging_fraction bagging_freq bagging_seed feature_fraction feature_fraction_bynode
        feature_fraction_seed extra_trees early_stopping_round first_metric_only max_delta_step lambda_l1 lambda_l2 linear_lambda
        min_gain_to_split drop_rate max_drop skip_drop top_rate other_rate min_data_per_group max_cat_threshold cat_l2 cat_smooth
        max_cat_to_onehot top_k monotone_constraints monotone_constraints_method monotone_penalty path_smooth interaction_constraints
        verbosity linear_tree max_bin max_bin_by_feature min_data_in_bin is_enable_sparse enable_bundle use_missing zero_as_missing
        categorical_feature num_class is_unbalance scale_pos_weight boost_from_average alpha fair_c tweedie_variance_power metric
        data_sample_strategy refit_decay_rate""",
    "catboost": """
        iterations learning_rate depth l2_leaf_reg model_size_reg rsm loss_function border_count feature_border_type
        per_float_feature_quantization input_borders output_borders fold_permutation_block od_pval od_wait od_type nan_mode
        counter_calc_method leaf_estimation_iterations leaf_estimation_method thread_count random_seed use_best_model
        best_model_min_trees verbose silent logging_level metric_period ctr_leaf_count_limit store_all_simple_ctr max_ctr_complexity
        has_time allow_const_label target_border classes_count class_weights auto_class_weights class_names one_hot_max_size
        random_strength random_score_type name ignored_features train_dir custom_loss custom_metric eval_metric bagging_temperature
        save_snapshot snapshot_file snapshot_interval fold_len_multiplier used_ram_limit gpu_ram_part pinned_memory_size
        allow_writing_files final_ctr_computation_mode approx_on_full_history boosting_type simple_ctr combinations_ctr per_feature_ctr
        ctr_description ctr_target_border_count task_type device_config devices bootstrap_type subsample mvs_reg sampling_unit
        sampling_frequency dev_score_calc_obj_block_size dev_efb_max_buckets sparse_features_conflict_fraction max_depth n_estimators
        num_boost_round num_trees colsample_bylevel random_state reg_lambda objective eta max_bin scale_pos_weight
        gpu_cat_features_storage data_partition metadata early_stopping_rounds cat_features grow_policy min_data_in_leaf
        min_child_samples max_leaves num_leaves score_function leaf_estimation_backtracking ctr_history_unit monotone_constraints
        feature_weights penalties_coefficient first_feature_use_penalties per_object_feature_penalties model_shrink_rate
        model_shrink_mode langevin diffusion_temperature posterior_sampling boost_from_average text_features tokenizers dictionaries
        feature_calcers text_processing embedding_features callback eval_fraction fixed_binary_splits""",
    "sklearn": """
        loss learning_rate max_iter max_leaf_nodes max_depth min_samples_leaf l2_regularization max_features max_bins
        categorical_features monotonic_cst interaction_cst warm_start early_stopping scoring validation_fraction n_iter_no_change tol
        verbose random_state class_weight quantile
        n_estimators subsample criterion min_samples_split min_weight_fraction_leaf min_impurity_decrease init alpha ccp_alpha""",
}
FIT_ARGUMENTS = """
    sample_weight base_margin eval_set verbose xgb_model sample_weight_eval_set base_margin_eval_set feature_weights
    init_score eval_names eval_sample_weight eval_class_weight eval_init_score eval_metric feature_name categorical_feature callbacks
    init_model cat_features text_features embedding_features graph baseline use_best_model logging_level plot plot_file
    column_description verbose_eval metric_period silent early_stopping_rounds save_snapshot snapshot_file snapshot_interval log_cout
    log_cerr X_val y_val sample_weight_val monitor sample_weights weight"""
PAIRS = [(library, name) for library, names in DOCUMENTED.items() for name in names.split()]


@pytest.mark.parametrize(("library", "name"), PAIRS)
def test_every_documented_parameter_is_in_the_table(library, name):
    rows = [row for row in index()[name] if name in row.names(library)]
    assert rows
    assert all(row.ours or row.note for row in rows)


@pytest.mark.parametrize("name", FIT_ARGUMENTS.split())
def test_every_documented_argument_of_fit_is_in_the_table(name):
    assert name in index(of_fit=True) or name in index()


def test_every_name_of_ours_is_a_parameter_or_an_argument_of_fit():
    parameters = {knob.name for kind in ESTIMATORS for knob in declared(kind)}
    of_table = {"target", "task", "weight", "group", "ignore"}
    assert {name for row in OF_CONSTRUCTORS for name in row.ours.split()} <= parameters | of_table
    assert {row.having for row in OF_CONSTRUCTORS} <= parameters | {"", "drop_missing_target"}
    assert {row.ours for row in FIT} == {"sample_weight", "groups", "eval_set", "group", "query_weight", "eval_group"}


def test_every_rule_of_the_table_is_there_and_none_is_idle():
    used = {row.rule for row in (*OF_CONSTRUCTORS, *FIT, *FIT_NOTHING) if not row.rule.startswith("only ")}
    assert used == set(RULES)


def test_a_name_has_one_meaning_in_a_library():
    for library in LIBRARIES:
        names = [name for row in OF_CONSTRUCTORS for name in row.names(library)]
        # One idea has other words in other families: a tree's impurity is no gain of boosting, and what scores a job no loss to stop by.
        several = {name for name in names if names.count(name) > 1} - {"min_impurity_decrease", "scoring"}
        assert several == set(), library


def test_notes_are_sentences():
    assert [row for row in (*OF_CONSTRUCTORS, *FIT_NOTHING) if row.note and not row.note.endswith(".")] == []
    assert [row for row in (*OF_CONSTRUCTORS, *FIT_NOTHING) if not row.ours and not row.note] == []
