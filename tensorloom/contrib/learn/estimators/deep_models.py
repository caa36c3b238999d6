"""Deep models of feature columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tensorloom.client.variables.partitioned_variables import (
    min_max_variable_partitioner,
)
from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.layers.training_step import optimize_loss
from tensorloom.contrib.learn import columns
from tensorloom.contrib.learn.estimators.canned_calls import Classifier, DeepRegressor
from tensorloom.contrib.learn.estimators.hidden_layers import (
    activation_function,
    deep_logits,
    optimizer_of,
)
from tensorloom.contrib.learn.estimators.model_fn_estimator import Estimator
from tensorloom.contrib.learn.head.makers import multi_class_head, regression_head
from tensorloom.framework.export import export
from tensorloom.ops.nn.activation import relu
from tensorloom.train import training_util

_LEARNING_RATE: Final = 0.05
_MIN_SLICE_SIZE: Final = 64 << 20


def dnn_model_fn(
    features: Any, labels: Any, mode: str, params: dict[str, Any], config: Any = None
) -> Any:
    """The model function of deep models.

    Args:
      features: tensors by their keys, or a tensor.
      labels: labels as the head takes them.
      mode: a `ModeKeys`.
      params: `head`, `hidden_units`, `feature_columns`, `optimizer`, `activation_fn`,
        `dropout`, `gradient_clip_norm`, `embedding_lr_multipliers`,
        `input_layer_min_slice_size`.
      config: a `RunConfig`; variables are cut for its parameter servers.
    """
    head = params["head"]
    features = columns.as_dict(features)
    servers = config.num_ps_replicas if config else 0
    input_partitioner = min_max_variable_partitioner(
        max_partitions=servers,
        min_slice_size=params.get("input_layer_min_slice_size") or _MIN_SLICE_SIZE,
    )
    with variable_scope(
        "dnn",
        values=tuple(features.values()),
        partitioner=min_max_variable_partitioner(max_partitions=servers),
    ):
        logits, input_scope = deep_logits(
            features,
            params["feature_columns"],
            params["hidden_units"],
            head.logits_dimension,
            mode,
            activation_function(params.get("activation_fn")),
            params.get("dropout"),
            input_partitioner,
            separator="_",
        )

        def train_op_fn(loss: Any) -> Any:
            return optimize_loss(
                loss=loss,
                global_step=training_util.get_global_step(),
                learning_rate=_LEARNING_RATE,
                optimizer=optimizer_of(params.get("optimizer") or "Adagrad"),
                gradient_multipliers=columns.embedding_multipliers(
                    params.get("embedding_lr_multipliers"), "dnn", input_scope
                ),
                clip_gradients=params.get("gradient_clip_norm"),
                name="dnn",
                # Those of the layers are enough.
                summaries=[],
            )

        return head.create_model_fn_ops(
            features=features,
            mode=mode,
            labels=labels,
            train_op_fn=train_op_fn,
            logits=logits,
        )


@export("contrib.learn.DNNClassifier")
class DNNClassifier(Classifier):
    """A deep model that predicts classes.

    Args:
      hidden_units: of each layer.
      feature_columns: columns of `tf.contrib.layers` or of `tf.feature_column`.
      model_dir: where checkpoints and events go.
      n_classes: how many classes there are.
      weight_column_name: the key of the feature that has the weights; None for none.
      optimizer: an optimizer, its name, or a function that makes one; Adagrad when
        None.
      activation_fn: of the layers, or its name.
      dropout: which part of the values is dropped in training; none when None.
      gradient_clip_norm: the most that the gradients' norm may be.
      enable_centered_bias: whether there is a bias that learns the mean of the labels.
      config: a `RunConfig`.
      feature_engineering_fn: from (features, labels) of the input to the model's.
      embedding_lr_multipliers: what the gradients of embeddings are multiplied with, by
        columns.
      input_layer_min_slice_size: variables of columns are cut from this size on.
      label_keys: the names of more than two classes, if labels are names.

    Raises:
      ValueError: an argument does not fit the number of classes.
    """

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Any,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        activation_fn: Any = relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: Any = None,
        feature_engineering_fn: Any = None,
        embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: int | None = None,
        label_keys: Any = None,
    ) -> None:
        self._feature_columns = tuple(feature_columns or [])
        head = multi_class_head(
            n_classes,
            weight_column_name=weight_column_name,
            enable_centered_bias=enable_centered_bias,
            label_keys=label_keys,
        )
        super().__init__(
            model_fn=dnn_model_fn,
            model_dir=model_dir,
            config=config,
            params={
                "head": head,
                "hidden_units": hidden_units,
                "feature_columns": self._feature_columns,
                "optimizer": optimizer,
                "activation_fn": activation_fn,
                "dropout": dropout,
                "gradient_clip_norm": gradient_clip_norm,
                "embedding_lr_multipliers": embedding_lr_multipliers,
                "input_layer_min_slice_size": input_layer_min_slice_size,
            },
            feature_engineering_fn=feature_engineering_fn,
        )


@export("contrib.learn.DNNRegressor")
class DNNRegressor(DeepRegressor):
    """A deep model that predicts numbers.

    Args:
      hidden_units: of each layer.
      feature_columns: columns of `tf.contrib.layers` or of `tf.feature_column`.
      model_dir: where checkpoints and events go.
      weight_column_name: the key of the feature that has the weights; None for none.
      optimizer: an optimizer, its name, or a function that makes one; Adagrad when
        None.
      activation_fn: of the layers, or its name.
      dropout: which part of the values is dropped in training; none when None.
      gradient_clip_norm: the most that the gradients' norm may be.
      enable_centered_bias: whether there is a bias that learns the mean of the labels.
      config: a `RunConfig`.
      feature_engineering_fn: from (features, labels) of the input to the model's.
      label_dimension: how many numbers for an example.
      embedding_lr_multipliers: what the gradients of embeddings are multiplied with, by
        columns.
      input_layer_min_slice_size: variables of columns are cut from this size on.
    """

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Any,
        model_dir: Any = None,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        activation_fn: Any = relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: Any = None,
        feature_engineering_fn: Any = None,
        label_dimension: int = 1,
        embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: int | None = None,
    ) -> None:
        self._feature_columns = tuple(feature_columns or [])
        head = regression_head(
            label_dimension=label_dimension,
            weight_column_name=weight_column_name,
            enable_centered_bias=enable_centered_bias,
        )
        super().__init__(
            model_fn=dnn_model_fn,
            model_dir=model_dir,
            config=config,
            params={
                "head": head,
                "hidden_units": hidden_units,
                "feature_columns": self._feature_columns,
                "optimizer": optimizer,
                "activation_fn": activation_fn,
                "dropout": dropout,
                "gradient_clip_norm": gradient_clip_norm,
                "embedding_lr_multipliers": embedding_lr_multipliers,
                "input_layer_min_slice_size": input_layer_min_slice_size,
            },
            feature_engineering_fn=feature_engineering_fn,
        )


@export("contrib.learn.DNNEstimator")
class DNNEstimator(Estimator):
    """A deep model with a given head.

    Args:
      head: a `Head`.
      hidden_units: of each layer.
      feature_columns: columns of `tf.contrib.layers` or of `tf.feature_column`.
      model_dir: where checkpoints and events go.
      optimizer: an optimizer, its name, or a function that makes one; Adagrad when
        None.
      activation_fn: of the layers, or its name.
      dropout: which part of the values is dropped in training; none when None.
      gradient_clip_norm: the most that the gradients' norm may be.
      config: a `RunConfig`.
      feature_engineering_fn: from (features, labels) of the input to the model's.
      embedding_lr_multipliers: what the gradients of embeddings are multiplied with, by
        columns.
      input_layer_min_slice_size: variables of columns are cut from this size on.
    """

    def __init__(
        self,
        head: Any,
        hidden_units: Sequence[int],
        feature_columns: Any,
        model_dir: Any = None,
        optimizer: Any = None,
        activation_fn: Any = relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        config: Any = None,
        feature_engineering_fn: Any = None,
        embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: int | None = None,
    ) -> None:
        super().__init__(
            model_fn=dnn_model_fn,
            model_dir=model_dir,
            config=config,
            params={
                "head": head,
                "hidden_units": hidden_units,
                "feature_columns": feature_columns,
                "optimizer": optimizer,
                "activation_fn": activation_fn,
                "dropout": dropout,
                "gradient_clip_norm": gradient_clip_norm,
                "embedding_lr_multipliers": embedding_lr_multipliers,
                "input_layer_min_slice_size": input_layer_min_slice_size,
            },
            feature_engineering_fn=feature_engineering_fn,
        )
