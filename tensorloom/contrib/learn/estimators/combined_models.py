"""Linear and deep models that are trained together: wide and deep learning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorloom.client.variables.partitioned_variables import (
    min_max_variable_partitioner,
)
from tensorloom.contrib.learn.estimators.canned_calls import Classifier, DeepRegressor
from tensorloom.contrib.learn.estimators.combined_model_fn import (
    NO_COLUMNS,
    combined_model_fn,
)
from tensorloom.contrib.learn.estimators.model_fn_estimator import Estimator
from tensorloom.contrib.learn.head.makers import multi_class_head, regression_head
from tensorloom.framework.export import export
from tensorloom.ops.nn.activation import relu


def _partitioner(min_slice_size: int | None, config: Any) -> Any:
    if min_slice_size is None:
        return None
    servers = config.num_ps_replicas if config else 0
    return min_max_variable_partitioner(
        max_partitions=servers, min_slice_size=min_slice_size
    )


def _all_columns(linear: Any, deep: Any) -> tuple[Any, ...]:
    found = (*(linear or ()), *(deep or ()))
    if not found:
        raise ValueError(NO_COLUMNS)
    return found


@export("contrib.learn.DNNLinearCombinedEstimator")
class DNNLinearCombinedEstimator(Estimator):
    """A linear and a deep model with a given head.

    Args:
      head: a `Head`.
      model_dir: where checkpoints and events go.
      linear_feature_columns: columns of the linear model.
      linear_optimizer: its optimizer, a name, or a function; FTRL when None.
      _joint_linear_weights: whether all its weights are in one variable.
      dnn_feature_columns: columns of the deep model.
      dnn_optimizer: its optimizer, a name, or a function; Adagrad when None.
      dnn_hidden_units: of each of its layers.
      dnn_activation_fn: of its layers; `relu` when None.
      dnn_dropout: which part of its values is dropped in training; none when None.
      gradient_clip_norm: the most that the gradients' norm may be.
      config: a `RunConfig`.
      feature_engineering_fn: from (features, labels) of the input to the model's.
      embedding_lr_multipliers: what the gradients of embeddings are multiplied with, by
        columns.
      fix_global_step_increment_bug: whether a step counts once; with both models it
        counts twice otherwise.
      input_layer_partitioner: cuts the variables of columns.

    Raises:
      ValueError: there are no columns.
    """

    def __init__(
        self,
        head: Any,
        model_dir: Any = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = None,
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Any = None,
        dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        config: Any = None,
        feature_engineering_fn: Any = None,
        embedding_lr_multipliers: Any = None,
        fix_global_step_increment_bug: bool = False,
        input_layer_partitioner: Any = None,
    ) -> None:
        _all_columns(linear_feature_columns, dnn_feature_columns)
        super().__init__(
            model_fn=combined_model_fn,
            model_dir=model_dir,
            config=config,
            params={
                "head": head,
                "linear_feature_columns": tuple(linear_feature_columns or ()),
                "linear_optimizer": linear_optimizer,
                "joint_linear_weights": _joint_linear_weights,
                "dnn_feature_columns": tuple(dnn_feature_columns or ()),
                "dnn_optimizer": dnn_optimizer,
                "dnn_hidden_units": dnn_hidden_units,
                "dnn_activation_fn": dnn_activation_fn,
                "dnn_dropout": dnn_dropout,
                "gradient_clip_norm": gradient_clip_norm,
                "embedding_lr_multipliers": embedding_lr_multipliers,
                "fix_global_step_increment_bug": fix_global_step_increment_bug,
                "input_layer_partitioner": input_layer_partitioner,
            },
            feature_engineering_fn=feature_engineering_fn,
        )


@export("contrib.learn.DNNLinearCombinedClassifier")
class DNNLinearCombinedClassifier(Classifier):
    """A linear and a deep model that predict classes.

    Args:
      model_dir: where checkpoints and events go.
      n_classes: how many classes there are.
      weight_column_name: the key of the feature that has the weights; None for none.
      linear_feature_columns: columns of the linear model.
      linear_optimizer: its optimizer, a name, or a function; FTRL when None.
      _joint_linear_weights: whether all its weights are in one variable.
      dnn_feature_columns: columns of the deep model.
      dnn_optimizer: its optimizer, a name, or a function; Adagrad when None.
      dnn_hidden_units: of each of its layers.
      dnn_activation_fn: of its layers; `relu` when None.
      dnn_dropout: which part of its values is dropped in training; none when None.
      gradient_clip_norm: the most that the gradients' norm may be.
      enable_centered_bias: whether there is a bias that learns the mean of the labels.
      config: a `RunConfig`.
      feature_engineering_fn: from (features, labels) of the input to the model's.
      embedding_lr_multipliers: what the gradients of embeddings are multiplied with, by
        columns.
      input_layer_min_slice_size: variables of columns are cut from this size on.
      label_keys: the names of more than two classes, if labels are names.
      fix_global_step_increment_bug: whether a step counts once; with both models it
        counts twice otherwise.

    Raises:
      ValueError: there are no columns, or an argument does not fit the classes.
    """

    def __init__(
        self,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = None,
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Any = relu,
        dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: Any = None,
        feature_engineering_fn: Any = None,
        embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: int | None = None,
        label_keys: Any = None,
        fix_global_step_increment_bug: bool = False,
    ) -> None:
        head = multi_class_head(
            n_classes=n_classes,
            weight_column_name=weight_column_name,
            enable_centered_bias=enable_centered_bias,
            label_keys=label_keys,
        )
        self._feature_columns = _all_columns(
            linear_feature_columns, dnn_feature_columns
        )
        super().__init__(
            model_fn=combined_model_fn,
            model_dir=model_dir,
            config=config,
            params={
                "head": head,
                "linear_feature_columns": tuple(linear_feature_columns or ()),
                "linear_optimizer": linear_optimizer,
                "joint_linear_weights": _joint_linear_weights,
                "dnn_feature_columns": tuple(dnn_feature_columns or ()),
                "dnn_optimizer": dnn_optimizer,
                "dnn_hidden_units": dnn_hidden_units,
                "dnn_activation_fn": dnn_activation_fn,
                "dnn_dropout": dnn_dropout,
                "gradient_clip_norm": gradient_clip_norm,
                "embedding_lr_multipliers": embedding_lr_multipliers,
                "fix_global_step_increment_bug": fix_global_step_increment_bug,
                "input_layer_partitioner": _partitioner(
                    input_layer_min_slice_size, config
                ),
            },
            feature_engineering_fn=feature_engineering_fn,
        )


@export("contrib.learn.DNNLinearCombinedRegressor")
class DNNLinearCombinedRegressor(DeepRegressor):
    """A linear and a deep model that predict numbers.

    Args:
      model_dir: where checkpoints and events go.
      weight_column_name: the key of the feature that has the weights; None for none.
      linear_feature_columns: columns of the linear model.
      linear_optimizer: its optimizer, a name, or a function; FTRL when None.
      _joint_linear_weights: whether all its weights are in one variable.
      dnn_feature_columns: columns of the deep model.
      dnn_optimizer: its optimizer, a name, or a function; Adagrad when None.
      dnn_hidden_units: of each of its layers.
      dnn_activation_fn: of its layers; `relu` when None.
      dnn_dropout: which part of its values is dropped in training; none when None.
      gradient_clip_norm: the most that the gradients' norm may be.
      enable_centered_bias: whether there is a bias that learns the mean of the labels.
      label_dimension: how many numbers for an example.
      config: a `RunConfig`.
      feature_engineering_fn: from (features, labels) of the input to the model's.
      embedding_lr_multipliers: what the gradients of embeddings are multiplied with, by
        columns.
      input_layer_min_slice_size: variables of columns are cut from this size on.
      fix_global_step_increment_bug: whether a step counts once; with both models it
        counts twice otherwise.

    Raises:
      ValueError: there are no columns.
    """

    def __init__(
        self,
        model_dir: Any = None,
        weight_column_name: str | None = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = None,
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Any = relu,
        dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        label_dimension: int = 1,
        config: Any = None,
        feature_engineering_fn: Any = None,
        embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: int | None = None,
        fix_global_step_increment_bug: bool = False,
    ) -> None:
        self._feature_columns = _all_columns(
            linear_feature_columns, dnn_feature_columns
        )
        head = regression_head(
            weight_column_name=weight_column_name,
            label_dimension=label_dimension,
            enable_centered_bias=enable_centered_bias,
        )
        super().__init__(
            model_fn=combined_model_fn,
            model_dir=model_dir,
            config=config,
            params={
                "head": head,
                "linear_feature_columns": linear_feature_columns,
                "linear_optimizer": linear_optimizer,
                "joint_linear_weights": _joint_linear_weights,
                "dnn_feature_columns": dnn_feature_columns,
                "dnn_optimizer": dnn_optimizer,
                "dnn_hidden_units": dnn_hidden_units,
                "dnn_activation_fn": dnn_activation_fn,
                "dnn_dropout": dnn_dropout,
                "gradient_clip_norm": gradient_clip_norm,
                "embedding_lr_multipliers": embedding_lr_multipliers,
                "fix_global_step_increment_bug": fix_global_step_increment_bug,
                "input_layer_partitioner": _partitioner(
                    input_layer_min_slice_size, config
                ),
            },
            feature_engineering_fn=feature_engineering_fn,
        )
