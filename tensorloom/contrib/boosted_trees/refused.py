"""The first boosted trees: programs can import them; calling one says what to use."""

from __future__ import annotations

from typing import Final

from tensorloom.framework.refusals import export_refused

_HELP: Final = (
    "tensorloom has no tf.contrib.boosted_trees. Use tf.estimator."
    "BoostedTreesClassifier, BoostedTreesRegressor or BoostedTreesEstimator."
)

_FUNCTIONS: Final = {
    "CoreGradientBoostedDecisionTreeEstimator": (
        "learner_config, examples_per_layer, head, num_trees=None, "
        "feature_columns=None, weight_column_name=None, model_dir=None, "
        "config=None, label_keys=None, feature_engineering_fn=None, "
        "logits_modifier_function=None, center_bias=True, "
        "output_leaf_index=False, num_quantiles=100"
    ),
    "CoreGradientBoostedDecisionTreeQuantileRegressor": (
        "learner_config, examples_per_layer, quantiles, label_dimension=1, "
        "num_trees=None, feature_columns=None, weight_column_name=None, "
        "model_dir=None, config=None, label_keys=None, "
        "feature_engineering_fn=None, logits_modifier_function=None, "
        "center_bias=True, output_leaf_index=False, num_quantiles=100"
    ),
    "CoreGradientBoostedDecisionTreeRanker": (
        "learner_config, examples_per_layer, head, ranking_model_pair_keys, "
        "num_trees=None, feature_columns=None, weight_column_name=None, "
        "model_dir=None, config=None, label_keys=None, "
        "logits_modifier_function=None, center_bias=False, "
        "output_leaf_index=False, num_quantiles=100"
    ),
    "GradientBoostedDecisionTreeClassifier": (
        "learner_config, examples_per_layer, n_classes=2, num_trees=None, "
        "feature_columns=None, weight_column_name=None, model_dir=None, "
        "config=None, label_keys=None, feature_engineering_fn=None, "
        "logits_modifier_function=None, center_bias=True, use_core_libs=False, "
        "output_leaf_index=False, override_global_step_value=None, "
        "num_quantiles=100"
    ),
    "GradientBoostedDecisionTreeEstimator": (
        "learner_config, examples_per_layer, head, num_trees=None, "
        "feature_columns=None, weight_column_name=None, model_dir=None, "
        "config=None, feature_engineering_fn=None, logits_modifier_function=None, "
        "center_bias=True, use_core_libs=False, output_leaf_index=False, "
        "override_global_step_value=None, num_quantiles=100"
    ),
    "GradientBoostedDecisionTreeQuantileRegressor": (
        "learner_config, examples_per_layer, quantiles, label_dimension=1, "
        "num_trees=None, feature_columns=None, weight_column_name=None, "
        "model_dir=None, config=None, feature_engineering_fn=None, "
        "logits_modifier_function=None, center_bias=True, use_core_libs=False, "
        "output_leaf_index=False, override_global_step_value=None, "
        "num_quantiles=100"
    ),
    "GradientBoostedDecisionTreeRanker": (
        "learner_config, examples_per_layer, head, ranking_model_pair_keys, "
        "num_trees=None, feature_columns=None, weight_column_name=None, "
        "model_dir=None, config=None, label_keys=None, "
        "feature_engineering_fn=None, logits_modifier_function=None, "
        "center_bias=False, use_core_libs=False, output_leaf_index=False, "
        "override_global_step_value=None, num_quantiles=100"
    ),
    "GradientBoostedDecisionTreeRegressor": (
        "learner_config, examples_per_layer, label_dimension=1, num_trees=None, "
        "feature_columns=None, label_name=None, weight_column_name=None, "
        "model_dir=None, config=None, feature_engineering_fn=None, "
        "logits_modifier_function=None, center_bias=True, use_core_libs=False, "
        "output_leaf_index=False, override_global_step_value=None, "
        "num_quantiles=100"
    ),
    "core_multiclass_head": (
        "n_classes, weight_column=None, "
        "loss_reduction='weighted_sum_by_nonzero_weights'"
    ),
    "core_quantile_regression_head": (
        "quantiles, label_dimension=1, weight_column=None, "
        "loss_reduction='weighted_sum_by_nonzero_weights'"
    ),
}

export_refused("contrib.boosted_trees.estimator_batch.estimator", _FUNCTIONS, _HELP)
