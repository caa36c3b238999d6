"""Linear models of feature columns."""

from __future__ import annotations

import math
from typing import Any, Final

from tensorloom.client.gradients.gradients import gradients
from tensorloom.client.program import program_log
from tensorloom.client.variables.partitioned_variables import (
    min_max_variable_partitioner,
)
from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.layers.training_step import OPTIMIZER_CLS_NAMES
from tensorloom.contrib.learn import columns
from tensorloom.contrib.learn.estimators.canned_calls import Classifier, Regressor
from tensorloom.contrib.learn.estimators.model_fn_estimator import Estimator
from tensorloom.contrib.learn.estimators.sdca_models import (
    SdcaUpdateWeightsHook,
    sdca_model_fn,
)
from tensorloom.contrib.learn.head.makers import multi_class_head, regression_head
from tensorloom.contrib.linear_optimizer.dual_coordinates import SDCAOptimizer
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import get_collection
from tensorloom.ops.math.clip import clip_by_global_norm
from tensorloom.train import training_util
from tensorloom.train.optimizers.ftrl import FtrlOptimizer

_LEARNING_RATE: Final = 0.2
# Variables are cut from this size on.
MIN_SLICE_SIZE: Final = 64 << 20


def _optimizer(spec: Any, feature_columns: Any) -> Any:
    """An optimizer by its name, a function of nothing, or the default one."""
    if not spec:
        rate = min(_LEARNING_RATE, 1.0 / math.sqrt(len(feature_columns)))
        return FtrlOptimizer(learning_rate=rate)
    if isinstance(spec, str):
        return OPTIMIZER_CLS_NAMES[spec](learning_rate=_LEARNING_RATE)
    return spec() if callable(spec) else spec


def linear_model_fn(
    features: Any, labels: Any, mode: str, params: dict[str, Any], config: Any = None
) -> Any:
    """The model function of linear models.

    Args:
      features: tensors by their keys, or a tensor.
      labels: labels as the head takes them.
      mode: a `ModeKeys`.
      params: `head`, `feature_columns`, `optimizer`, `gradient_clip_norm`,
        `joint_weights`.
      config: a `RunConfig`; variables are cut for its parameter servers.
    """
    head = params["head"]
    feature_columns = params["feature_columns"]
    clip_norm = params.get("gradient_clip_norm")
    features = columns.as_dict(features)
    partitioner = min_max_variable_partitioner(
        max_partitions=config.num_ps_replicas if config else 0,
        min_slice_size=MIN_SLICE_SIZE,
    )
    values = tuple(features.values())
    with variable_scope("linear", values=values, partitioner=partitioner) as scope:
        logits = columns.linear_logits(
            features,
            feature_columns,
            head.logits_dimension,
            "linear",
            scope,
            params.get("joint_weights", False),
        )

        def train_op_fn(loss: Any) -> Any:
            variables = get_collection("linear")
            grads = gradients(loss, variables)
            if clip_norm:
                grads, _ = clip_by_global_norm(grads, clip_norm)
            optimizer = _optimizer(params.get("optimizer"), feature_columns)
            return optimizer.apply_gradients(
                list(zip(grads, variables, strict=True)),
                global_step=training_util.get_global_step(),
            )

        return head.create_model_fn_ops(
            features=features,
            mode=mode,
            labels=labels,
            train_op_fn=train_op_fn,
            logits=logits,
        )


def _model(
    head: Any,
    feature_columns: Any,
    optimizer: Any,
    weight_column_name: str | None,
    gradient_clip_norm: float | None,
    joint_weights: bool,
) -> dict[str, Any]:
    """The model function and its params, by the optimizer."""
    params = {"head": head, "feature_columns": feature_columns, "optimizer": optimizer}
    if isinstance(optimizer, SDCAOptimizer):
        assert not joint_weights, "_joint_weights is incompatible with SDCAOptimizer."
        params["weight_column_name"] = weight_column_name
        params["update_weights_hook"] = SdcaUpdateWeightsHook()
        return {"model_fn": sdca_model_fn, "params": params}
    params["gradient_clip_norm"] = gradient_clip_norm
    params["joint_weights"] = joint_weights
    return {"model_fn": linear_model_fn, "params": params}


@export("contrib.learn.LinearClassifier")
class LinearClassifier(Classifier):
    """A linear model that predicts classes.

    Args:
      feature_columns: columns of `tf.contrib.layers` or of `tf.feature_column`.
      model_dir: where checkpoints and events go.
      n_classes: how many classes there are.
      weight_column_name: the key of the feature that has the weights; None for none.
      optimizer: an optimizer, its name, or a function that makes one; FTRL when None.
        `tf.contrib.linear_optimizer.SDCAOptimizer` for two classes.
      gradient_clip_norm: the most that the gradients' norm may be.
      enable_centered_bias: whether there is a bias that learns the mean of the labels.
      _joint_weight: whether all weights are in one variable.
      config: a `RunConfig`.
      feature_engineering_fn: from (features, labels) of the input to the model's.
      label_keys: the names of more than two classes, if labels are names.

    Raises:
      ValueError: an argument does not fit the number of classes or the optimizer.
    """

    def __init__(
        self,
        feature_columns: Any,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        _joint_weight: bool = False,
        config: Any = None,
        feature_engineering_fn: Any = None,
        label_keys: Any = None,
    ) -> None:
        if isinstance(optimizer, SDCAOptimizer):
            if enable_centered_bias:
                raise ValueError("enable_centered_bias is not supported with SDCA")
            assert n_classes == 2, "SDCA only applies to binary classification."
        self._feature_columns = tuple(feature_columns or [])
        assert self._feature_columns
        head = multi_class_head(
            n_classes,
            weight_column_name=weight_column_name,
            enable_centered_bias=enable_centered_bias,
            label_keys=label_keys,
        )
        super().__init__(
            **_model(
                head,
                feature_columns,
                optimizer,
                weight_column_name,
                gradient_clip_norm,
                _joint_weight,
            ),
            model_dir=model_dir,
            config=config,
            feature_engineering_fn=feature_engineering_fn,
        )


@export("contrib.learn.LinearRegressor")
class LinearRegressor(Regressor):
    """A linear model that predicts numbers.

    Args:
      feature_columns: columns of `tf.contrib.layers` or of `tf.feature_column`.
      model_dir: where checkpoints and events go.
      weight_column_name: the key of the feature that has the weights; None for none.
      optimizer: an optimizer, its name, or a function that makes one; FTRL when None.
        `tf.contrib.linear_optimizer.SDCAOptimizer` for one number.
      gradient_clip_norm: the most that the gradients' norm may be.
      enable_centered_bias: whether there is a bias that learns the mean of the labels.
      label_dimension: how many numbers for an example.
      _joint_weights: whether all weights are in one variable.
      config: a `RunConfig`.
      feature_engineering_fn: from (features, labels) of the input to the model's.
    """

    def __init__(
        self,
        feature_columns: Any,
        model_dir: Any = None,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        label_dimension: int = 1,
        _joint_weights: bool = False,
        config: Any = None,
        feature_engineering_fn: Any = None,
    ) -> None:
        self._feature_columns = tuple(feature_columns or [])
        assert self._feature_columns
        if isinstance(optimizer, SDCAOptimizer):
            assert label_dimension == 1, "SDCA only applies for label_dimension=1."
            if enable_centered_bias:
                enable_centered_bias = False
                program_log.warning(
                    "centered_bias is not supported with SDCA, please disable it "
                    "explicitly."
                )
        head = regression_head(
            weight_column_name=weight_column_name,
            label_dimension=label_dimension,
            enable_centered_bias=enable_centered_bias,
        )
        super().__init__(
            **_model(
                head,
                feature_columns,
                optimizer,
                weight_column_name,
                gradient_clip_norm,
                _joint_weights,
            ),
            model_dir=model_dir,
            config=config,
            feature_engineering_fn=feature_engineering_fn,
        )


@export("contrib.learn.LinearEstimator")
class LinearEstimator(Estimator):
    """A linear model with a given head.

    Args:
      feature_columns: columns of `tf.contrib.layers` or of `tf.feature_column`.
      head: a `Head`.
      model_dir: where checkpoints and events go.
      weight_column_name: not used: the head has its own.
      optimizer: an optimizer, its name, or a function that makes one; FTRL when None.
      gradient_clip_norm: the most that the gradients' norm may be.
      _joint_weights: whether all weights are in one variable.
      config: a `RunConfig`.
      feature_engineering_fn: from (features, labels) of the input to the model's.

    Raises:
      ValueError: the optimizer is an `SDCAOptimizer`.
    """

    def __init__(
        self,
        feature_columns: Any,
        head: Any,
        model_dir: Any = None,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        gradient_clip_norm: float | None = None,
        _joint_weights: bool = False,
        config: Any = None,
        feature_engineering_fn: Any = None,
    ) -> None:
        assert feature_columns
        if isinstance(optimizer, SDCAOptimizer):
            raise ValueError("LinearEstimator does not support SDCA optimizer.")
        super().__init__(
            **_model(
                head,
                feature_columns,
                optimizer,
                None,
                gradient_clip_norm,
                _joint_weights,
            ),
            model_dir=model_dir,
            config=config,
            feature_engineering_fn=feature_engineering_fn,
        )
