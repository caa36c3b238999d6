"""The Estimators of forests: programs can import them; calling one says what to use."""

from __future__ import annotations

from typing import Final

from tensorloom.framework.refusals import export_refused

_HELP: Final = (
    "tensorloom has no Estimators of tensor_forest. Train and predict with "
    "tf.contrib.tensor_forest.python.tensor_forest.RandomForestGraphs in a session or "
    "in a model_fn of your own, or use tf.estimator.BoostedTreesClassifier or "
    "BoostedTreesRegressor."
)

_FUNCTIONS: Final = {
    "CoreTensorForestEstimator": (
        "params, device_assigner=None, model_dir=None, feature_columns=None, "
        "graph_builder_class=None, config=None, weight_column=None, "
        "keys_column=None, feature_engineering_fn=None, "
        "early_stopping_rounds=100, early_stopping_loss_threshold=0.001, "
        "num_trainers=1, trainer_id=0, report_feature_importances=False, "
        "local_eval=False, version=None, head=None, include_all_in_serving=False"
    ),
    "MultiForestMultiHeadEstimator": (
        "params_list, device_assigner=None, model_dir=None, feature_columns=None, "
        "graph_builder_class=None, config=None, weight_column=None, "
        "keys_column=None, feature_engineering_fn=None, "
        "early_stopping_rounds=100, num_trainers=1, trainer_id=0, "
        "report_feature_importances=False, local_eval=False"
    ),
    "TensorForestEstimator": (
        "params, device_assigner=None, model_dir=None, feature_columns=None, "
        "graph_builder_class=None, config=None, weight_column=None, "
        "keys_column=None, feature_engineering_fn=None, "
        "early_stopping_rounds=100, early_stopping_loss_threshold=0.001, "
        "num_trainers=1, trainer_id=0, report_feature_importances=False, "
        "local_eval=False, version=None, head=None, include_all_in_serving=False"
    ),
    "get_combined_model_fn": "model_fns",
    "get_model_fn": (
        "params, graph_builder_class, device_assigner, feature_columns=None, "
        "weights_name=None, model_head=None, keys_name=None, "
        "early_stopping_rounds=100, early_stopping_loss_threshold=0.001, "
        "num_trainers=1, trainer_id=0, report_feature_importances=False, "
        "local_eval=False, head_scope=None, include_all_in_serving=False, "
        "output_type=0"
    ),
}

export_refused("contrib.tensor_forest.client.random_forest", _FUNCTIONS, _HELP)
