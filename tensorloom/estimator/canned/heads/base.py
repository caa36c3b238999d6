"""What all heads of ready-made models do: from logits to an `EstimatorSpec`."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tensorloom.estimator.canned.metric_keys import MetricKeys
from tensorloom.estimator.heads import checks
from tensorloom.estimator.mode_keys import ModeKeys
from tensorloom.estimator.spec import EstimatorSpec, TPUEstimatorSpec
from tensorloom.framework.graph.graph import GraphKeys, get_collection, name_scope
from tensorloom.losses.weighted import Reduction, compute_weighted_loss
from tensorloom.ops.array.fill import ones_like
from tensorloom.ops.control_flow.builders import group
from tensorloom.ops.reductions.aggregate import add_n
from tensorloom.ops.reductions.reductions import reduce_sum
from tensorloom.saved_model import constants
from tensorloom.summary import summary
from tensorloom.train import training_util

DEFAULT_SERVING_KEY: Final = constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
CLASSIFY_SERVING_KEY: Final = "classification"
REGRESS_SERVING_KEY: Final = "regression"
PREDICT_SERVING_KEY: Final = "predict"


class LossSpec(NamedTuple):
    """A loss and what it was made of."""

    # A scalar: the weighted, reduced loss.
    training_loss: Any
    # The loss of each example.
    unreduced_loss: Any
    # The weights of the examples; 1.0 if there are none.
    weights: Any
    # The labels as the loss takes them.
    processed_labels: Any


class CannedHead(abc.ABC):
    """Makes loss, predictions, metrics and the training step of logits."""

    def __init__(
        self,
        weight_column: Any,
        loss_reduction: str,
        loss_fn: Callable[..., Any] | None,
        name: str | None,
    ) -> None:
        if loss_reduction not in Reduction.all() or loss_reduction == Reduction.NONE:
            raise ValueError(f"Invalid loss_reduction: {loss_reduction}")
        checks.check_loss_fn(loss_fn)
        self._weight_column = weight_column
        self._loss_reduction = loss_reduction
        self._loss_fn = loss_fn
        self._name = name

    @property
    def name(self) -> str | None:
        """The name of the head; None if it is the only one."""
        return self._name

    @property
    @abc.abstractmethod
    def logits_dimension(self) -> Any:
        """The size of the logits' last dimension."""

    @abc.abstractmethod
    def create_loss(
        self, features: Mapping[Any, Any], mode: str, logits: Any, labels: Any
    ) -> LossSpec:
        """The loss of labels and logits.

        Args:
          features: tensors by name, the weights among them.
          mode: one of `ModeKeys`.
          logits: of shape `[D0, ..., DN, logits_dimension]`.
          labels: what the model should give.
        """

    @abc.abstractmethod
    def _predictions(self, logits: Any) -> dict[str, Any]:
        """Predictions by their keys."""

    @abc.abstractmethod
    def _export_outputs(self, predictions: dict[str, Any]) -> dict[str, Any]:
        """What an exported model gives."""

    @abc.abstractmethod
    def _metrics(
        self, loss: LossSpec, predictions: dict[str, Any], regularization_loss: Any
    ) -> dict[str, Any]:
        """Metrics by name, in evaluation."""

    def create_estimator_spec(
        self,
        features: Mapping[Any, Any],
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        regularization_losses: Sequence[Any] | None = None,
    ) -> EstimatorSpec:
        """What a `model_fn` returns.

        Args:
          features: tensors by name.
          mode: one of `ModeKeys`.
          logits: of shape `[D0, ..., DN, logits_dimension]`.
          labels: what the model should give; not needed in prediction.
          optimizer: minimizes the loss in training;
          train_op_fn: or a function of the loss that gives the training step.
          regularization_losses: scalars that are added to the loss.

        Raises:
          ValueError: both or none of `optimizer` and `train_op_fn` in training.
        """
        return self._create_tpu_estimator_spec(
            features,
            mode,
            logits,
            labels,
            optimizer,
            train_op_fn,
            regularization_losses,
        ).as_estimator_spec()

    def _create_tpu_estimator_spec(
        self,
        features: Mapping[Any, Any],
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        regularization_losses: Sequence[Any] | None = None,
    ) -> TPUEstimatorSpec:
        with name_scope(self._name, "head"):
            logits = checks.check_logits(logits, self.logits_dimension)
            predictions = self._predictions(logits)
            if mode == ModeKeys.PREDICT:
                return TPUEstimatorSpec(
                    mode,
                    predictions=predictions,
                    export_outputs=self._export_outputs(predictions),
                )
            parts = self.create_loss(features, mode, logits, labels)
            loss, regularization = with_regularization(
                parts.training_loss, regularization_losses
            )
            if mode == ModeKeys.EVAL:
                metrics: Any = (
                    lambda: self._metrics(parts, predictions, regularization),
                    {},
                )
                return TPUEstimatorSpec(
                    mode, predictions=predictions, loss=loss, eval_metrics=metrics
                )
            train_op = training_step(loss, optimizer, train_op_fn)
            mean_loss = self._mean_loss(parts)
        with name_scope(""):
            self._write_summaries(loss, mean_loss, regularization)
        return TPUEstimatorSpec(
            mode, predictions=predictions, loss=loss, train_op=train_op
        )

    # --- parts for subclasses --------------------------------------------------------

    def _key(self, key: str) -> str:
        """The name of a metric or summary; with the head's where it has one."""
        return f"{key}/{self._name}" if self._name else key

    def _weighted(
        self,
        loss: Any,
        labels: Any,
        features: Mapping[Any, Any],
        logits: Any,
        per_logit: bool = False,
    ) -> LossSpec:
        """The specification of a loss that has one value for each example."""
        weights = checks.weights_of(features, self._weight_column, logits, per_logit)
        reduced = compute_weighted_loss(
            loss, weights=weights, reduction=self._loss_reduction
        )
        return LossSpec(reduced, loss, weights, labels)

    def _mean_loss(self, loss: LossSpec) -> Any:
        """The mean over examples of a loss that was summed; else None."""
        if self._loss_reduction != Reduction.SUM:
            return None
        weight_sum = reduce_sum(loss.weights * ones_like(loss.unreduced_loss))
        return loss.training_loss / weight_sum

    def _write_summaries(self, loss: Any, mean_loss: Any, regularization: Any) -> None:
        for key, value in (
            (MetricKeys.LOSS, loss),
            (MetricKeys.LOSS_MEAN, mean_loss),
            (MetricKeys.LOSS_REGULARIZATION, regularization),
        ):
            if value is not None:
                summary.scalar(self._key(key), value)


def with_regularization(loss: Any, losses: Sequence[Any] | None) -> tuple[Any, Any]:
    """The loss with all regularization, and that sum (None if there is none)."""
    if not losses:
        return loss, None
    regularization = add_n(losses)
    return add_n([loss, regularization]), regularization


def training_step(
    loss: Any, optimizer: Any, train_op_fn: Callable[[Any], Any] | None
) -> Any:
    """The step that minimizes a loss, with the updates of the graph's collection.

    Raises:
      ValueError: both ways are given, or none.
    """
    if optimizer is not None:
        if train_op_fn is not None:
            raise ValueError("train_op_fn and optimizer cannot both be set.")
        step = optimizer.minimize(loss, global_step=training_util.get_global_step())
    elif train_op_fn is not None:
        step = train_op_fn(loss)
    else:
        raise ValueError("train_op_fn and optimizer cannot both be None.")
    updates = get_collection(GraphKeys.UPDATE_OPS)
    return group(step, *updates) if updates else step
