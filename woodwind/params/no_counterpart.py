"""Names of other libraries that need no setting here, or have no counterpart: the part of the table of aliases without names of ours."""

from collections.abc import Collection
from dataclasses import dataclass

# ----------------------------------------------------------------------------------------------------
# A row of the table of aliases: what one idea is called here and in other libraries.


LIBRARIES = {"xgboost": "XGBoost", "lightgbm": "LightGBM", "catboost": "CatBoost", "sklearn": "scikit-learn"}


@dataclass(frozen=True)
class Row:
    """One idea and its names, separated by spaces. Of several names of ours, the first that an estimator has is meant."""

    ours: str = ""
    xgboost: str = ""
    lightgbm: str = ""
    catboost: str = ""
    sklearn: str = ""
    other: str = ""  # of AutoML libraries, of DESlib, of mlxtend, or just often written
    rule: str = "same"
    note: str = ""
    having: str = ""  # only for estimators that have this parameter as well

    def names(self, library: str) -> list[str]:
        """The names in a library."""
        return str(getattr(self, library)).split()

    def name_in(self, valid: Collection[str]) -> str:
        """Our name of it, for an estimator that has these parameters; "" if it has none of that meaning."""
        fits = not self.having or self.having in valid
        return next((name for name in self.ours.split() if name in valid), "") if fits else ""


AUTOMATIC = "It needs no setting: "
GPU = "Woodwind works on the CPU."
STORAGE = "Memory and storage need no setting."
DART = "With boosting='dart' every earlier round is as likely to be left out, and what is trained is shrunk as in the paper."
CATEGORIES = "Few categories are sorted by their means and cut like numbers, many are means of the target; categorical_encoding decides."
TARGET_MEANS = "Means of the target are of single columns, with a prior of estimated strength: see categorical_encoding."
RANKING = "GradientBoostingRanker learns rankings: see its metric, gain, truncation_level and normalize; scoring='ndcg@10' has places."
SURVIVAL = "GradientBoostingSurvivalAnalysis learns survival times: see its loss, distribution and scale."

CLUSTER = "Training is on one machine."
FILES = "Files belong to other calls here: woodwind.fit reads tables, and save writes models."
OF_PREDICTION = "It belongs to prediction: see predict and its n_rounds, decision_function, apply and explain."
ONLY_METHOD = "There is one way to do it here."
PENALTIES = "Features have no prices here."

NOTHING = (
    Row(
        xgboost="device gpu_id predictor",
        lightgbm="device_type device gpu_platform_id gpu_device_id gpu_use_dp num_gpu gpu_device_id_list",
        catboost="task_type devices device_config gpu_ram_part gpu_cat_features_storage data_partition pinned_memory_size",
        rule="only cpu",
        note=GPU,
    ),
    Row(xgboost="num_class", lightgbm="num_class num_classes", catboost="classes_count class_names target_border allow_const_label",
        note=AUTOMATIC + "classes are found in the target."),
    Row(
        xgboost="enable_categorical feature_types",
        note=AUTOMATIC + "text and category types are recognised; categorical_features marks columns of numbers.",
    ),
    Row(xgboost="missing", lightgbm="use_missing zero_as_missing", catboost="nan_mode",
        note=AUTOMATIC + "NaN and None are missing, and learned from. Replace other marks by NaN; sparse_absent is for sparse matrices."),
    Row(lightgbm="poisson_max_delta_step", note="Newton steps of Poisson loss need no help here; max_delta_step cuts them off."),
    Row(
        lightgbm=(
            "pos_bagging_fraction pos_sub_row pos_subsample pos_bagging neg_bagging_fraction neg_sub_row "
            "neg_subsample neg_bagging bagging_by_query"
        ),
        catboost="bagging_temperature mvs_reg sampling_unit sampling_frequency",
        note="Rows are drawn by subsample, bootstrap and sampling here.",
    ),
    Row(
        xgboost="feature_weights",
        lightgbm="feature_contri feature_contrib fc fp feature_penalty",
        catboost="feature_weights",
        note="Features are drawn evenly here.",
    ),
    Row(
        xgboost="importance_type",
        lightgbm="importance_type saved_feature_importance_type",
        note="feature_importances_ is by gain; feature_importance(importance_type=...) of a trained model gives the others.",
    ),
    Row(
        xgboost="max_cat_to_onehot max_cat_threshold",
        lightgbm="max_cat_threshold cat_l2 cat_smooth max_cat_to_onehot min_data_per_group",
        catboost="one_hot_max_size",
        note=CATEGORIES,
    ),
    Row(xgboost="huber_slope", note="There is no pseudo-Huber loss here. The nearest is loss=woodwind.losses.Huber(delta=...)."),
    Row(
        xgboost=(
            "lambdarank_pair_method lambdarank_score_normalization "
            "lambdarank_unbiased lambdarank_bias_norm ndcg_exp_gain"
        ),
        lightgbm=(
            "label_gain objective_seed eval_at "
            "ndcg_eval_at ndcg_at map_eval_at map_at"
        ),
        note=RANKING,
    ),
    Row(
        xgboost="one_drop sample_type normalize_type",
        lightgbm="xgboost_dart_mode uniform_drop drop_seed",
        note=DART,
    ),
    Row(
        xgboost="lambda_bias feature_selector top_k",
        note="Boosters are not linear here; linear_leaves makes leaves so. StackingClassifier and VotingClassifier take linear members.",
    ),
    Row(
        xgboost="updater process_type refresh_leaf max_cached_hist_node single_precision_histogram extmem_single_page use_rmm",
        lightgbm=(
            "force_col_wise force_row_wise histogram_pool_size hist_pool_size tree_learner tree tree_type tree_learner_type top_k "
            "topk is_enable_sparse is_sparse enable_sparse sparse min_data_in_bin "
            "bin_construct_sample_cnt subsample_for_bin feature_pre_filter max_bin_by_feature forcedbins_filename use_quantized_grad "
            "num_grad_quant_bins quant_train_renew_leaf stochastic_rounding"
        ),
        catboost=(
            "used_ram_limit dev_score_calc_obj_block_size dev_efb_max_buckets feature_border_type "
            "per_float_feature_quantization fixed_binary_splits"
        ),
        note=STORAGE,
    ),
    Row(
        xgboost="validate_parameters disable_default_eval_metric use_label_encoder",
        note=AUTOMATIC + "names and values are always checked, and labels may be of any kind.",
    ),
    Row(
        xgboost="seed_per_iteration",
        lightgbm="data_random_seed data_seed feature_fraction_seed bagging_seed bagging_fraction_seed extra_seed deterministic",
        note=AUTOMATIC + "random_state decides everything that is drawn, and the result is the same for any number of threads.",
    ),
    Row(
        xgboost="maximize",
        catboost="best_model_min_trees use_best_model",
        note=AUTOMATIC + "with early stopping, the best round is the last one, and the metric knows which way is up.",
    ),
    Row(
        xgboost="evals_result",
        lightgbm=(
            "metric_freq output_freq is_provide_training_metric training_metric is_training_metric train_metric first_metric_only "
            "auc_mu_weights multi_error_top_k"
        ),
        catboost="custom_loss custom_metric metric_period",
        note="scoring names the metrics that are watched, in every round; evals_result_ has their curves after training.",
    ),
    Row(
        lightgbm="extra_trees extra_tree",
        note="Boosting looks at all thresholds. ExtraTreesClassifier and ExtraTreesRegressor draw them.",
    ),
    Row(
        lightgbm=(
            "monotone_constraints_method monotone_constraining_method mc_method monotone_penalty monotone_splits_penalty ms_penalty "
            "mc_penalty"
        ),
        note=ONLY_METHOD,
    ),
    Row(
        lightgbm="forcedsplits_filename fs forced_splits_filename forced_splits_file forced_splits refit_decay_rate",
        note="Trees are grown from the data alone.",
    ),
    Row(lightgbm="cegb_tradeoff cegb_penalty_split cegb_penalty_feature_lazy cegb_penalty_feature_coupled",
        catboost="penalties_coefficient first_feature_use_penalties per_object_feature_penalties model_size_reg", note=PENALTIES),
    Row(lightgbm="reg_sqrt", note="Train on the signed root of the target, and square what is predicted."),
    Row(lightgbm="fair_c sigmoid", note="It belongs to a loss that is not here; woodwind.losses has those that are."),
    Row(
        lightgbm=(
            "num_machines num_machine local_listen_port local_port port time_out machine_list_filename machine_list_file machine_list "
            "mlist machines workers nodes pre_partition is_pre_partition"
        ),
        note=CLUSTER,
    ),
    Row(
        lightgbm=(
            "config config_file data train train_data train_data_file data_filename valid test valid_data valid_data_file test_data "
            "test_data_file valid_filenames output_model model_output model_out output_result predict_result prediction_result "
            "predict_name prediction_name pred_name name_pred convert_model_language convert_model convert_model_file header "
            "has_header two_round two_round_loading use_two_round_loading label_column label weight_column weight group_column group "
            "group_id query_column query query_id ignore_column ignore_feature blacklist save_binary is_save_binary "
            "is_save_binary_file precise_float_parser parser_config_file snapshot_freq save_period task task_type"
        ),
        catboost="save_snapshot snapshot_file snapshot_interval train_dir allow_writing_files input_borders output_borders name metadata",
        note=FILES,
    ),
    Row(
        lightgbm=(
            "start_iteration_predict num_iteration_predict predict_raw_score is_predict_raw_score predict_rawscore raw_score "
            "predict_leaf_index is_predict_leaf_index leaf_index predict_contrib is_predict_contrib contrib "
            "predict_disable_shape_check pred_early_stop pred_early_stop_freq pred_early_stop_margin"
        ),
        note=OF_PREDICTION,
    ),
    Row(catboost="ignored_features", note="Leave the columns out of the table."),
    Row(catboost="od_pval", note="Early stopping counts rounds: n_iter_no_change and tol."),
    Row(
        catboost="random_strength random_score_type",
        note="Scores of splits have no noise here; gradient_noise adds some to the gradients.",
    ),
    Row(
        catboost=(
            "leaf_estimation_iterations leaf_estimation_backtracking score_function has_time"
        ),
        note="A leaf is one step, by leaf_estimation, and splits are scored by it.",
    ),
    Row(
        catboost="approx_on_full_history fold_permutation_block fold_len_multiplier",
        note="With boosting='ordered' rows are put in order one by one, n_permutations times, and prefixes double in length.",
    ),
    Row(
        catboost=(
            "counter_calc_method ctr_leaf_count_limit store_all_simple_ctr max_ctr_complexity final_ctr_computation_mode simple_ctr "
            "combinations_ctr per_feature_ctr ctr_description ctr_target_border_count ctr_history_unit"
        ),
        note=TARGET_MEANS,
    ),
    Row(
        catboost="model_shrink_rate model_shrink_mode langevin diffusion_temperature posterior_sampling",
        note="Neither shrinking of the model so far nor Langevin boosting is here.",
    ),
    Row(
        catboost="text_features tokenizers dictionaries feature_calcers text_processing embedding_features graph",
        note="Text is taken as categories; make columns of numbers of it first.",
    ),
    Row(sklearn="splitter", note="All thresholds are looked at here. ExtraTreesClassifier and ExtraTreesRegressor draw them."),
    Row(sklearn="criterion", note="Boosting scores splits by the gain of a Newton step, whatever the loss is."),
    Row(sklearn="min_weight_fraction_leaf", note="min_samples_leaf and min_hessian_leaf limit leaves here."),
    Row(
        sklearn="min_impurity_decrease",
        note="min_gain is the smallest gain of a split, summed over rows where min_impurity_decrease is a mean.",
    ),
    Row(
        sklearn="ccp_alpha",
        note="Trees of ensembles are not pruned by cost and complexity; min_gain with prune=True removes weak splits of boosting.",
    ),
    Row(
        other="presets hyperparameters num_bag_folds num_bag_sets num_stack_levels refit_full holdout_frac auto_stack path",
        note="The job decides it by the time it has; see time, models and exclude.",
    ),
)  # fmt: skip

# Arguments of fit.
FIT_NOTHING = (
    Row(
        xgboost="base_margin_eval_set",
        lightgbm="eval_init_score eval_class_weight eval_names",
        note="eval_set is (X, y) or (X, y, sample_weight), or several of them in a dict by name.",
    ),
    Row(
        xgboost="feature_names",
        lightgbm="feature_name",
        catboost="column_description",
        note="Columns have the names that the table gives them.",
    ),
    Row(catboost="plot plot_file log_cout log_cerr", note="verbose shows a progress line; woodwind.plots has pictures."),
    Row(sklearn="monitor", note="Functions that are called with each round are the parameter callbacks of the constructor."),
)  # fmt: skip
