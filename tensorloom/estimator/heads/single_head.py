"""What all heads but `MultiHead` share: weighted losses, specifications, summaries."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tensorloom.estimator.canned.metric_keys import MetricKeys
from tensorloom.estimator.heads import checks
from tensorloom.estimator.heads.head import Head
from tensorloom.estimator.heads.streaming_metrics import mean_metric
from tensorloom.estimator.mode_keys import ModeKeys
from tensorloom.estimator.spec import TPUEstimatorSpec
from tensorloom.framework.graph.graph import name_scope
from tensorloom.ops.array.shape import size as size_of
from tensorloom.ops.control_flow.builders import group
from tensorloom.ops.math.binary import div_no_nan
from tensorloom.ops.math.cast import to_float
from tensorloom.ops.reductions.aggregate import add_n
from tensorloom.ops.reductions.reductions import reduce_sum
from tensorloom.summary import summary

SUM_OVER_BATCH_SIZE: Final = "sum_over_batch_size"
_REDUCTIONS: Final = ("auto", "sum", SUM_OVER_BATCH_SIZE)


class SingleHead(Head):
    """A head with labels, weights and a loss of its own."""

    def __init__(
        self,
        weight_column: Any,
        loss_reduction: str,
        loss_fn: Callable[..., Any] | None,
        name: str | None,
    ) -> None:
        if loss_reduction not in _REDUCTIONS:
            raise ValueError(
                f"Invalid loss_reduction: {loss_reduction}. See `tf.losses.Reduction` "
                "for valid options."
            )
        checks.check_loss_fn(loss_fn, "loss_reduction")
        self._weight_column = weight_column
        self._loss_reduction = loss_reduction
        self._loss_fn = loss_fn
        self._name = name

    @property
    def name(self) -> str | None:
        """The name of the head; None if it is the only one."""
        return self._name

    @property
    def loss_reduction(self) -> str:
        """How the losses of the examples become one."""
        return self._loss_reduction

    @abc.abstractmethod
    def _processed_labels(self, logits: Any, labels: Any) -> Any:
        """The labels as the loss takes them."""

    @abc.abstractmethod
    def _unweighted_loss(self, logits: Any, labels: Any, features: Any) -> Any:
        """The loss of each example, from processed labels."""

    @abc.abstractmethod
    def _export_outputs(self, predictions: dict[str, Any]) -> dict[str, Any]:
        """What an exported model gives."""

    @abc.abstractmethod
    def _own_metrics(self) -> dict[str, Any]:
        """New metrics by key, besides those of losses."""

    @abc.abstractmethod
    def _update_own(
        self, metrics: Mapping[str, Any], logits: Any, labels: Any, weights: Any
    ) -> None:
        """Updates them, from processed labels."""

    # Whether each number of an example may have a weight of its own.
    _per_logit = False

    def loss(
        self,
        labels: Any,
        logits: Any,
        features: Mapping[Any, Any] | None = None,
        mode: str | None = None,
        regularization_losses: Sequence[Any] | None = None,
    ) -> Any:
        """See `Head.loss`."""
        with name_scope(None, "losses", values=(logits, labels)):
            logits = checks.check_logits(logits, self.logits_dimension)
            labels = self._processed_labels(logits, labels)
            loss = self._reduced(
                *self._unweighted_loss_and_weights(logits, labels, features)
            )
            if regularization_losses is None:
                return loss
            return loss + add_n(regularization_losses)

    def metrics(self, regularization_losses: Sequence[Any] | None = None) -> Any:
        """See `Head.metrics`."""
        with name_scope(None, "metrics"):
            found = {MetricKeys.LOSS_MEAN: mean_metric(MetricKeys.LOSS_MEAN)}
            if regularization_losses is not None:
                key = MetricKeys.LOSS_REGULARIZATION
                found[key] = mean_metric(key)
            found |= self._own_metrics()
        return {self._summary_key(key): metric for key, metric in found.items()}

    # The abstract method has `mode`, too; heads of TensorFlow 1.15 do not.
    def update_metrics(  # type: ignore[override]
        self,
        eval_metrics: Any,
        features: Mapping[Any, Any],
        logits: Any,
        labels: Any,
        regularization_losses: Sequence[Any] | None = None,
    ) -> Any:
        """See `Head.update_metrics`."""
        logits = checks.check_logits(logits, self.logits_dimension)
        labels = self._processed_labels(logits, labels)
        loss, weights = self._unweighted_loss_and_weights(logits, labels, features)
        by_key = {
            key.removesuffix(f"/{self.name}") if self.name else key: metric
            for key, metric in eval_metrics.items()
        }
        by_key[MetricKeys.LOSS_MEAN].update_state(loss, sample_weight=weights)
        self._update_own(by_key, logits, labels, weights)
        if regularization_losses is not None:
            by_key[MetricKeys.LOSS_REGULARIZATION].update_state(
                add_n(regularization_losses)
            )
        return eval_metrics

    def _unweighted_loss_and_weights(
        self, logits: Any, labels: Any, features: Mapping[Any, Any] | None
    ) -> tuple[Any, Any]:
        loss = self._unweighted_loss(logits, labels, features or {})
        weights = checks.weights_of(
            features or {}, self._weight_column, logits, self._per_logit
        )
        return loss, weights

    def _reduced(self, loss: Any, weights: Any) -> Any:
        total = reduce_sum(loss * weights)
        if self._loss_reduction == "sum":
            return total
        return div_no_nan(total, to_float(size_of(loss)))

    def _create_tpu_estimator_spec(
        self,
        features: Mapping[Any, Any],
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        trainable_variables: Sequence[Any] | None = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        update_ops: Sequence[Any] | None = None,
        regularization_losses: Sequence[Any] | None = None,
    ) -> TPUEstimatorSpec:
        with name_scope(self._name, "head"):
            predictions = self.predictions(logits)
            if mode == ModeKeys.PREDICT:
                return TPUEstimatorSpec(
                    mode,
                    predictions=predictions,
                    export_outputs=self._export_outputs(predictions),
                )
            loss = self.loss(labels, logits, features, mode, regularization_losses)
            if mode == ModeKeys.EVAL:
                metrics = self.metrics(regularization_losses)
                update: Any = lambda: self.update_metrics(
                    metrics,
                    features,
                    logits,
                    labels,
                    regularization_losses=regularization_losses,
                )
                return TPUEstimatorSpec(
                    mode, predictions=predictions, loss=loss, eval_metrics=(update, {})
                )
            step = training_step(
                loss, optimizer, trainable_variables, train_op_fn, update_ops
            )
        write_summaries(loss, regularization_losses, self._summary_key)
        return TPUEstimatorSpec(mode, predictions=predictions, loss=loss, train_op=step)


def training_step(
    loss: Any,
    optimizer: Any,
    trainable_variables: Sequence[Any] | None,
    train_op_fn: Callable[[Any], Any] | None,
    update_ops: Sequence[Any] | None,
) -> Any:
    """The step that minimizes a loss.

    Raises:
      ValueError: both ways are given, or none; or the optimizer is no Keras optimizer.
    """
    if update_ops is not None and not isinstance(update_ops, list | tuple):
        raise ValueError(
            f"update_ops should be a list or a tuple. Given type: {type(update_ops)}."
        )
    with name_scope(""), name_scope("training"):
        if optimizer is not None:
            if train_op_fn is not None:
                raise ValueError("train_op_fn and optimizer cannot both be set.")
            if not hasattr(optimizer, "get_updates"):
                raise ValueError(
                    "The given optimizer is not a tf.keras.optimizers.Optimizer "
                    f"instance. Given: {optimizer}"
                )
            _check_variables(trainable_variables)
            step = optimizer.get_updates(loss, trainable_variables)[0]
        elif train_op_fn is not None:
            step = train_op_fn(loss)
        else:
            raise ValueError("train_op_fn and optimizer cannot both be None.")
        return step if update_ops is None else group(step, *update_ops)


def _check_variables(variables: Any) -> None:
    if variables is None:
        raise ValueError("trainable_variables cannot be None. Given None")
    if not isinstance(variables, list | tuple):
        raise ValueError(
            "trainable_variables should be a list or a tuple. Given type: "
            f"{type(variables)}."
        )


def write_summaries(
    loss: Any,
    regularization_losses: Sequence[Any] | None,
    key_of: Callable[[str], str],
) -> None:
    """The loss and its regularization as summaries."""
    with name_scope(""):
        summary.scalar(key_of(MetricKeys.LOSS), loss)
        if regularization_losses is not None:
            summary.scalar(
                key_of(MetricKeys.LOSS_REGULARIZATION), add_n(regularization_losses)
            )
