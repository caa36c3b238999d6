"""Estimators of random forests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.contrib.learn.estimators.model_fn_estimator import Estimator
from tensorloom.contrib.tensor_forest.forest_model_fn import (
    NAMESPACE,
    ModelBuilderOutputType,
    default_head,
    get_combined_model_fn,
    get_model_fn,
)
from tensorloom.contrib.tensor_forest.graphs import RandomForestGraphs
from tensorloom.estimator.estimator import Estimator as CoreEstimator
from tensorloom.framework.export import export


def _trainers(num_trainers: int, config: Any) -> int:
    """How many trainers there are; by the cluster, if the program does not say."""
    if num_trainers == 1 and config is not None:
        return max(1, int(config.num_worker_replicas))
    return num_trainers


@export(f"{NAMESPACE}.TensorForestEstimator")
class TensorForestEstimator(Estimator):
    """A random forest.

    Args:
      params: `ForestHParams`.
      device_assigner: a device function for the trees; None for the builder's.
      model_dir: where checkpoints and events go.
      feature_columns: columns that are made of the features; None for the features.
      graph_builder_class: makes the forest's graphs.
      config: a `RunConfig`.
      weight_column: the key of the feature that has the weights; None for none.
      keys_column: the key of a feature that predictions tell again; None for none.
      feature_engineering_fn: from (features, labels) of the input to those of the
        model.
      early_stopping_rounds: training ends after so many steps without a lower loss;
        never when 0 or None.
      early_stopping_loss_threshold: by which part of itself the loss must fall.
      num_trainers: how many trainers the trees are divided among.
      trainer_id: which of them this one is.
      report_feature_importances: whether the end of training logs them.
      local_eval: whether evaluation uses no `device_assigner`.
      version: unused, as in TensorFlow.
      head: makes loss, predictions and metrics; by `params` when None.
      include_all_in_serving: whether all predictions can be served: as
        `ALL_SERVING_KEY`, the `default_output_alternative_key` of `export_savedmodel`.
    """

    def __init__(
        self,
        params: Any,
        device_assigner: Any = None,
        model_dir: Any = None,
        feature_columns: Any = None,
        graph_builder_class: Any = RandomForestGraphs,
        config: Any = None,
        weight_column: str | None = None,
        keys_column: str | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        early_stopping_rounds: int | None = 100,
        early_stopping_loss_threshold: float = 0.001,
        num_trainers: int = 1,
        trainer_id: int = 0,
        report_feature_importances: bool = False,
        local_eval: bool = False,
        version: Any = None,
        head: Any = None,
        include_all_in_serving: bool = False,
    ) -> None:
        super().__init__(
            model_fn=get_model_fn(
                params.fill(),
                graph_builder_class,
                device_assigner,
                feature_columns=feature_columns,
                model_head=head,
                weights_name=weight_column,
                keys_name=keys_column,
                early_stopping_rounds=early_stopping_rounds,
                early_stopping_loss_threshold=early_stopping_loss_threshold,
                num_trainers=_trainers(num_trainers, config),
                trainer_id=trainer_id,
                report_feature_importances=report_feature_importances,
                local_eval=local_eval,
                include_all_in_serving=include_all_in_serving,
            ),
            model_dir=model_dir,
            config=config,
            feature_engineering_fn=feature_engineering_fn,
        )


@export(f"{NAMESPACE}.MultiForestMultiHeadEstimator")
class MultiForestMultiHeadEstimator(Estimator):
    """Forests, each for one column of the labels [examples, forests].

    Args:
      params_list: `ForestHParams` of each forest.
      feature_columns: unused, as in TensorFlow.
      The others are those of `TensorForestEstimator`.
    """

    def __init__(
        self,
        params_list: Sequence[Any],
        device_assigner: Any = None,
        model_dir: Any = None,
        feature_columns: Any = None,
        graph_builder_class: Any = RandomForestGraphs,
        config: Any = None,
        weight_column: str | None = None,
        keys_column: str | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        early_stopping_rounds: int | None = 100,
        num_trainers: int = 1,
        trainer_id: int = 0,
        report_feature_importances: bool = False,
        local_eval: bool = False,
    ) -> None:
        trainers = _trainers(num_trainers, config)
        model_fns = []
        for index, settings in enumerate(params_list):
            params = settings.fill()
            head = default_head(
                params,
                weight_column,
                ModelBuilderOutputType.MODEL_FN_OPS,
                name=f"head{index}",
            )
            model_fns.append(
                get_model_fn(
                    params,
                    graph_builder_class,
                    device_assigner,
                    model_head=head,
                    weights_name=weight_column,
                    keys_name=keys_column,
                    early_stopping_rounds=early_stopping_rounds,
                    num_trainers=trainers,
                    trainer_id=trainer_id,
                    report_feature_importances=report_feature_importances,
                    local_eval=local_eval,
                    head_scope=f"output{index}",
                )
            )
        super().__init__(
            model_fn=get_combined_model_fn(model_fns),
            model_dir=model_dir,
            config=config,
            feature_engineering_fn=feature_engineering_fn,
        )


@export(f"{NAMESPACE}.CoreTensorForestEstimator")
class CoreTensorForestEstimator(CoreEstimator):
    """A random forest of the kind of `tf.estimator`, with its heads and columns.

    Args:
      feature_engineering_fn: unused, as in TensorFlow.
      The others are those of `TensorForestEstimator`.
    """

    def __init__(
        self,
        params: Any,
        device_assigner: Any = None,
        model_dir: Any = None,
        feature_columns: Any = None,
        graph_builder_class: Any = RandomForestGraphs,
        config: Any = None,
        weight_column: str | None = None,
        keys_column: str | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        early_stopping_rounds: int | None = 100,
        early_stopping_loss_threshold: float = 0.001,
        num_trainers: int = 1,
        trainer_id: int = 0,
        report_feature_importances: bool = False,
        local_eval: bool = False,
        version: Any = None,
        head: Any = None,
        include_all_in_serving: bool = False,
    ) -> None:
        if trainer_id == 0 and config is not None:
            trainer_id = config.global_id_in_cluster
        super().__init__(
            model_fn=get_model_fn(
                params.fill(),
                graph_builder_class,
                device_assigner,
                feature_columns=feature_columns,
                model_head=head,
                weights_name=weight_column,
                keys_name=keys_column,
                early_stopping_rounds=early_stopping_rounds,
                early_stopping_loss_threshold=early_stopping_loss_threshold,
                num_trainers=_trainers(num_trainers, config),
                trainer_id=trainer_id,
                report_feature_importances=report_feature_importances,
                local_eval=local_eval,
                include_all_in_serving=include_all_in_serving,
                output_type=ModelBuilderOutputType.ESTIMATOR_SPEC,
            ),
            model_dir=model_dir,
            config=config,
        )
