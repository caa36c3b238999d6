"""Linear and deep parts that programs put their own models together of."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, Final

from tensorloom.client.gradients.gradients import gradients
from tensorloom.client.variables.partitioned_variables import (
    min_max_variable_partitioner,
)
from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.layers.columns.input_layers import input_from_feature_columns
from tensorloom.contrib.layers.columns.interfaces import check_feature_columns
from tensorloom.contrib.layers.columns.weighted_sums import (
    joint_weighted_sum_from_feature_columns,
    weighted_sum_from_feature_columns,
)
from tensorloom.contrib.layers.dense import fully_connected
from tensorloom.contrib.layers.shaping import dropout
from tensorloom.contrib.layers.training_step import OPTIMIZER_CLS_NAMES
from tensorloom.contrib.learn.estimators.hidden_layers import layer_summaries
from tensorloom.framework.graph.graph import get_collection
from tensorloom.ops.math.clip import clip_by_global_norm
from tensorloom.ops.nn.activation import relu
from tensorloom.train.checkpoints.checkpoint_utils import list_variables, load_variable

_MIN_SLICE_SIZE: Final = 64 << 20


class ComposableModel:
    """A part of a model over `tf.contrib.layers`' columns.

    Args:
      num_label_columns: how many logits.
      optimizer: an optimizer, its name, or a function that makes one.
      gradient_clip_norm: the most that the gradients' norm may be.
      num_ps_replicas: variables are cut for so many parameter servers.
      scope: of the variables, which are collected under its name.
      trainable: whether they are.
    """

    def __init__(
        self,
        num_label_columns: int,
        optimizer: Any,
        gradient_clip_norm: float | None,
        num_ps_replicas: int,
        scope: str,
        trainable: bool = True,
    ) -> None:
        self._num_label_columns = num_label_columns
        self._optimizer = optimizer
        self._gradient_clip_norm = gradient_clip_norm
        self._num_ps_replicas = num_ps_replicas
        self._scope = scope
        self._trainable = trainable
        self._feature_columns: Any = None

    def get_scope_name(self) -> str:
        """The scope of the variables."""
        return self._scope

    def build_model(
        self, features: dict[str, Any], feature_columns: Any, is_training: bool
    ) -> Any:
        """The logits [batch, num_label_columns].

        Args:
          features: tensors by their keys.
          feature_columns: the columns.
          is_training: whether values are dropped.
        """
        raise NotImplementedError(f"{type(self).__name__}.build_model()")

    def get_train_step(self, loss: Any) -> list[Any]:
        """The op that trains this part, in a list; an empty one without columns."""
        columns = self._get_feature_columns()
        if not columns:
            return []
        variables = get_collection(self._scope)
        grads = gradients(loss, variables)
        if self._gradient_clip_norm:
            grads, _ = clip_by_global_norm(grads, self._gradient_clip_norm)
        pairs = list(zip(grads, variables, strict=True))
        return [self._get_optimizer().apply_gradients(pairs)]

    def _get_feature_columns(self) -> list[Any] | None:
        """The columns, each once, in the order of their keys."""
        if not self._feature_columns:
            return None
        check_feature_columns(self._feature_columns)
        return sorted(set(self._feature_columns), key=lambda column: str(column.key))

    def _get_optimizer(self) -> Any:
        optimizer = self._optimizer
        if optimizer is None or isinstance(optimizer, str):
            return self._get_default_optimizer(optimizer)
        return optimizer() if callable(optimizer) else optimizer

    def _get_default_optimizer(self, optimizer_name: str | None = None) -> Any:
        raise NotImplementedError(f"{type(self).__name__}._get_default_optimizer()")


class LinearComposableModel(ComposableModel):
    """A linear part.

    Args:
      num_label_columns: how many logits.
      optimizer: an optimizer, its name, or a function that makes one; FTRL when None.
      _joint_weights: whether all weights are in one variable.
      gradient_clip_norm: the most that the gradients' norm may be.
      num_ps_replicas: variables are cut for so many parameter servers.
      scope: of the variables; `linear` when None.
      trainable: whether they are.
    """

    def __init__(
        self,
        num_label_columns: int,
        optimizer: Any = None,
        _joint_weights: bool = False,
        gradient_clip_norm: float | None = None,
        num_ps_replicas: int = 0,
        scope: str | None = None,
        trainable: bool = True,
    ) -> None:
        super().__init__(
            num_label_columns=num_label_columns,
            optimizer=optimizer,
            gradient_clip_norm=gradient_clip_norm,
            num_ps_replicas=num_ps_replicas,
            scope=scope or "linear",
            trainable=trainable,
        )
        self._joint_weights = _joint_weights

    def get_weights(self, model_dir: Any) -> Any:
        """The weights in a checkpoint: an array, or a dict of arrays by their names."""
        slots = re.compile(f".*/{self._get_optimizer().get_name()}(_\\d)?$")
        bias = f"{self._scope}/bias_weight"
        found = {
            name: load_variable(model_dir, name)
            for name, _ in list_variables(model_dir)
            if name.startswith(f"{self._scope}/")
            and name != bias
            and not slots.match(name)
        }
        return next(iter(found.values())) if len(found) == 1 else found

    def get_bias(self, model_dir: Any) -> Any:
        """The bias in a checkpoint."""
        return load_variable(model_dir, name=f"{self._scope}/bias_weight")

    def build_model(
        self, features: dict[str, Any], feature_columns: Any, is_training: bool
    ) -> Any:
        """The logits [batch, num_label_columns]; see `ComposableModel`."""
        self._feature_columns = feature_columns
        partitioner = min_max_variable_partitioner(
            max_partitions=self._num_ps_replicas, min_slice_size=_MIN_SLICE_SIZE
        )
        layer = weighted_sum_from_feature_columns
        if self._joint_weights:
            layer = joint_weighted_sum_from_feature_columns
        with variable_scope(
            self._scope, values=list(features.values()), partitioner=partitioner
        ) as scope:
            logits, _, _ = layer(
                columns_to_tensors=features,
                feature_columns=self._get_feature_columns() or [],
                num_outputs=self._num_label_columns,
                weight_collections=[self._scope],
                trainable=self._trainable,
                scope=scope,
            )
        return logits

    def _get_default_optimizer(self, optimizer_name: str | None = None) -> Any:
        count = len(self._get_feature_columns() or ())
        rate = min(0.2, 1.0 / math.sqrt(count))
        return OPTIMIZER_CLS_NAMES[optimizer_name or "Ftrl"](learning_rate=rate)


class DNNComposableModel(ComposableModel):
    """A deep part.

    Args:
      num_label_columns: how many logits.
      hidden_units: of each layer.
      optimizer: an optimizer, its name, or a function that makes one; Adagrad when
        None.
      activation_fn: of the layers.
      dropout: which part of the values is dropped in training; none when None.
      gradient_clip_norm: the most that the gradients' norm may be.
      num_ps_replicas: variables are cut for so many parameter servers.
      scope: of the variables; `dnn` when None.
      trainable: whether they are.
    """

    def __init__(
        self,
        num_label_columns: int,
        hidden_units: Sequence[int],
        optimizer: Any = None,
        activation_fn: Any = relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        num_ps_replicas: int = 0,
        scope: str | None = None,
        trainable: bool = True,
    ) -> None:
        super().__init__(
            num_label_columns=num_label_columns,
            optimizer=optimizer,
            gradient_clip_norm=gradient_clip_norm,
            num_ps_replicas=num_ps_replicas,
            scope=scope or "dnn",
            trainable=trainable,
        )
        self._hidden_units = hidden_units
        self._activation_fn = activation_fn
        self._dropout = dropout

    def _of_layers(self, model_dir: Any, name: str) -> list[Any]:
        layers = [f"hiddenlayer_{index}" for index in range(len(self._hidden_units))]
        return [
            load_variable(model_dir, name=f"{self._scope}/{layer}/{name}")
            for layer in (*layers, "logits")
        ]

    def get_weights(self, model_dir: Any) -> list[Any]:
        """The weights of all layers in a checkpoint."""
        return self._of_layers(model_dir, "weights")

    def get_bias(self, model_dir: Any) -> list[Any]:
        """The biases of all layers in a checkpoint."""
        return self._of_layers(model_dir, "biases")

    def build_model(
        self, features: dict[str, Any], feature_columns: Any, is_training: bool
    ) -> Any:
        """The logits [batch, num_label_columns]; see `ComposableModel`."""
        self._feature_columns = feature_columns
        with variable_scope(
            f"{self._scope}/input_from_feature_columns",
            values=list(features.values()),
            partitioner=min_max_variable_partitioner(
                max_partitions=self._num_ps_replicas, min_slice_size=_MIN_SLICE_SIZE
            ),
        ) as scope:
            net = input_from_feature_columns(
                features,
                self._get_feature_columns() or [],
                weight_collections=[self._scope],
                trainable=self._trainable,
                scope=scope,
            )
        for index, units in enumerate(self._hidden_units):
            net, name = self._layer(
                net, f"hiddenlayer_{index}", units, self._activation_fn
            )
            if self._dropout is not None and is_training:
                net = dropout(net, keep_prob=1.0 - self._dropout)
            layer_summaries(net, f"{name}/")
        logits, _ = self._layer(net, "logits", self._num_label_columns, None)
        layer_summaries(logits, "logits/")
        return logits

    def _layer(
        self, net: Any, name: str, units: int, activation_fn: Any
    ) -> tuple[Any, str]:
        """A layer, and the name of its scope."""
        with variable_scope(
            f"{self._scope}/{name}",
            values=[net],
            partitioner=min_max_variable_partitioner(
                max_partitions=self._num_ps_replicas
            ),
        ) as scope:
            made = fully_connected(
                net,
                units,
                activation_fn=activation_fn,
                variables_collections=[self._scope],
                trainable=self._trainable,
                scope=scope,
            )
            return made, scope.name

    def _get_default_optimizer(self, optimizer_name: str | None = None) -> Any:
        return OPTIMIZER_CLS_NAMES[optimizer_name or "Adagrad"](learning_rate=0.05)
