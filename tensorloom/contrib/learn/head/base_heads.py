"""What heads are, and what those of one output share."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.layers.dense import linear
from tensorloom.contrib.learn.head.centered_bias import (
    add_centered_bias,
    centered_bias_step,
)
from tensorloom.contrib.learn.head.names import summary_key
from tensorloom.contrib.learn.head.weights import weight_tensor
from tensorloom.contrib.learn.keys import MetricKey, ModeKeys
from tensorloom.contrib.learn.model_results import ModelFnOps
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types.sparse_tensor import (
    SparseTensor,
    convert_to_tensor_or_sparse_tensor,
)
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.metrics.averages import mean
from tensorloom.ops.array.identity import identity
from tensorloom.ops.array.shape import shape
from tensorloom.ops.control_flow.builders import group
from tensorloom.ops.nn.bias import bias_add
from tensorloom.summary import summary

TrainOpFn = Callable[[Any], Any]


def check_mode(mode: Any) -> None:
    """Raises ValueError unless it is a `ModeKeys`."""
    if mode not in (ModeKeys.TRAIN, ModeKeys.INFER, ModeKeys.EVAL):
        raise ValueError(f"mode={mode} unrecognized.")


def loss_summary(loss: Any, head_name: str | None) -> None:
    """Adds a summary of the loss, outside all name scopes."""
    with name_scope(""):
        summary.scalar(summary_key(head_name, MetricKey.LOSS), identity(loss))


def checked_train_op_fn(train_op_fn: TrainOpFn | None) -> TrainOpFn:
    """Raises ValueError where there is none."""
    if train_op_fn is None:
        raise ValueError("train_op_fn can not be None in TRAIN mode")
    return train_op_fn


@export("contrib.learn.Head", "contrib.learn.head.Head")
class Head(abc.ABC):
    """The end of a model: from logits and labels to predictions, loss and metrics."""

    @property
    @abc.abstractmethod
    def logits_dimension(self) -> int:
        """How many logits there are for an example."""

    @abc.abstractmethod
    def create_model_fn_ops(
        self,
        features: dict[str, Any],
        mode: str,
        labels: Any = None,
        train_op_fn: TrainOpFn | None = None,
        logits: Any = None,
        logits_input: Any = None,
        scope: Any = None,
    ) -> ModelFnOps:
        """Adds the head to the graph.

        Args:
          features: tensors by their keys; for the weights.
          mode: a `ModeKeys`.
          labels: a tensor, or a dict of tensors.
          train_op_fn: from the loss to the op that does a step.
          logits: [batch, logits_dimension].
          logits_input: or what they are a linear function of: [batch, size].
          scope: of the variables.

        Raises:
          ValueError: the mode is none, there are no logits or two, or no `train_op_fn`
            for training.
        """


class SingleHead(Head):
    """A head of one output.

    Args:
      problem_type: a `ProblemType`.
      logits_dimension: how many logits there are for an example.
      label_name: the key of the label; None where there is only one.
      weight_column_name: the key of the feature that has the weights; None for none.
      enable_centered_bias: whether there is a bias that learns the mean of the labels.
      head_name: of the scope, and what summaries and metrics end in.
      loss_fn: from labels, logits and weights to the loss, and the weighted mean of the
        losses.

    Raises:
      ValueError: there are no logits.
    """

    # The scope of a head without a name.
    default_scope: str

    def __init__(
        self,
        problem_type: int | None,
        logits_dimension: int | None,
        label_name: str | None = None,
        weight_column_name: str | None = None,
        enable_centered_bias: bool = False,
        head_name: str | None = None,
        loss_fn: Any = None,
    ) -> None:
        if problem_type is None:
            raise ValueError(f"Invalid problem_type {problem_type}.")
        if logits_dimension is None or logits_dimension < 1:
            raise ValueError(f"Invalid logits_dimension {logits_dimension}.")
        self._problem_type = problem_type
        self._logits_dimension = logits_dimension
        self._label_name = label_name
        self._weight_column_name = weight_column_name
        self._enable_centered_bias = enable_centered_bias
        self._head_name = head_name
        self._loss_fn = loss_fn

    @property
    def logits_dimension(self) -> int:
        """How many logits there are for an example."""
        return self._logits_dimension

    @property
    def label_name(self) -> str | None:
        """The key of the label."""
        return self._label_name

    @property
    def weight_column_name(self) -> str | None:
        """The key of the feature that has the weights."""
        return self._weight_column_name

    @property
    def head_name(self) -> str | None:
        """Its name."""
        return self._head_name

    def create_model_fn_ops(
        self,
        features: dict[str, Any],
        mode: str,
        labels: Any = None,
        train_op_fn: TrainOpFn | None = None,
        logits: Any = None,
        logits_input: Any = None,
        scope: Any = None,
    ) -> ModelFnOps:
        """Adds the head to the graph; see `Head`."""
        name = self.head_name or self.default_scope
        values = (*features.values(), labels, logits, logits_input)
        with variable_scope(scope, default_name=name, values=values):
            transformed = None
            if mode != ModeKeys.INFER and labels is not None:
                transformed = self._transform_labels(labels)
            logits = _one_logits(logits_input, logits, self.logits_dimension)
            return self._model_fn_ops(features, mode, transformed, train_op_fn, logits)

    def _model_fn_ops(
        self,
        features: dict[str, Any],
        mode: str,
        labels: Any,
        train_op_fn: TrainOpFn | None,
        logits: Any,
    ) -> ModelFnOps:
        check_mode(mode)
        bias = None
        if self._enable_centered_bias:
            bias = add_centered_bias(self.logits_dimension, self.head_name)
            logits = bias_add(logits, bias)
        predictions = self._logits_to_predictions(logits)
        loss = train_op = metrics = None
        if mode != ModeKeys.INFER and labels is not None:
            weights = weight_tensor(features, self.weight_column_name)
            loss, mean_loss = self._loss(labels, logits, weights)
            loss_summary(mean_loss, self.head_name)
            if mode == ModeKeys.TRAIN:
                make = checked_train_op_fn(train_op_fn)
                train_op = self._train_op(loss, labels, make, bias, logits, weights)
            metrics = self._metrics(mean_loss, predictions, labels, weights)
        return ModelFnOps(
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=metrics,
            output_alternatives=self._output_alternatives(predictions),
        )

    def _train_op(
        self,
        loss: Any,
        labels: Any,
        train_op_fn: TrainOpFn,
        bias: Any,
        logits: Any,
        weights: Any,
    ) -> Any:
        batch_size = shape(logits)[0]
        step = None
        if bias is not None:
            step = centered_bias_step(bias, batch_size, labels, self._loss, weights)
        with name_scope(None, "train_op", (loss, *_values(labels))):
            train_op = train_op_fn(loss)
            return train_op if step is None else group(train_op, step)

    def _loss(self, labels: Any, logits: Any, weights: Any = None) -> tuple[Any, Any]:
        loss: tuple[Any, Any] = self._loss_fn(labels, logits, weights)
        return loss

    # --- what differs from head to head -----------------------------------------------

    def _transform_labels(self, labels: Any) -> Any:
        """The labels as the loss and the metrics take them."""
        if isinstance(labels, dict):
            labels = labels[self._label_name]
        labels = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, SparseTensor):
            return self._dense_labels(labels)
        return labels

    def _dense_labels(self, labels: SparseTensor) -> Any:
        raise ValueError("SparseTensor is not supported.")

    def _logits_to_predictions(self, logits: Any) -> dict[str, Any]:
        raise NotImplementedError("Calling an abstract method.")

    def _metrics(
        self, eval_loss: Any, predictions: dict[str, Any], labels: Any, weights: Any
    ) -> dict[str, Any]:
        values = [eval_loss, labels, weights, *predictions.values()]
        with name_scope("metrics", values=values):
            metrics = {MetricKey.LOSS: mean(eval_loss)}
            metrics.update(self._more_metrics(predictions, labels, weights))
        return {summary_key(self.head_name, key): it for key, it in metrics.items()}

    def _more_metrics(
        self, predictions: dict[str, Any], labels: Any, weights: Any
    ) -> dict[str, Any]:
        """Metrics besides the loss."""
        return {}

    def _output_alternatives(self, predictions: dict[str, Any]) -> dict[Any, Any]:
        return {self._head_name: (self._problem_type, predictions)}


def _values(labels: Any) -> tuple[Any, ...]:
    return tuple(labels.values()) if isinstance(labels, dict) else (labels,)


def _one_logits(logits_input: Any, logits: Any, dimension: int) -> Any:
    """The logits, or a linear layer that gives them."""
    if logits is None:
        if logits_input is None:
            raise ValueError("Neither logits nor logits_input supplied.")
        return linear(logits_input, dimension, scope="logits")
    if logits_input is not None:
        raise ValueError("Both logits and logits_input supplied.")
    logits = convert_to_tensor(logits, name="logits")
    sizes = logits.get_shape().dims
    if sizes is not None:
        sizes[-1].assert_is_compatible_with(dimension)
    return logits
