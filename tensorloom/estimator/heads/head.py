"""`tf.estimator.Head`: what makes loss, predictions and metrics of logits."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export

if TYPE_CHECKING:
    from tensorloom.estimator.spec import EstimatorSpec, TPUEstimatorSpec


@export("estimator.Head")
class Head(abc.ABC):
    """The last part of a model: from logits to loss, predictions and metrics."""

    @property
    @abc.abstractmethod
    def name(self) -> str | None:
        """The name of the head; None if it is the only one."""

    @property
    @abc.abstractmethod
    def logits_dimension(self) -> Any:
        """The size of the logits' last dimension."""

    @property
    @abc.abstractmethod
    def loss_reduction(self) -> str:
        """How the losses of the examples become one."""

    @abc.abstractmethod
    def loss(
        self,
        labels: Any,
        logits: Any,
        features: Mapping[Any, Any] | None = None,
        mode: str | None = None,
        regularization_losses: Sequence[Any] | None = None,
    ) -> Any:
        """The loss, a scalar.

        Args:
          labels: what the model should give.
          logits: of shape `[D0, ..., DN, logits_dimension]`.
          features: tensors by name, the weights among them.
          mode: one of `ModeKeys`.
          regularization_losses: scalars that are added.
        """

    @abc.abstractmethod
    def predictions(self, logits: Any, keys: Sequence[str] | None = None) -> Any:
        """Predictions by their keys; all when `keys` is None."""

    @abc.abstractmethod
    def metrics(self, regularization_losses: Sequence[Any] | None = None) -> Any:
        """New metric objects by name."""

    @abc.abstractmethod
    def update_metrics(
        self,
        eval_metrics: Any,
        features: Mapping[Any, Any],
        logits: Any,
        labels: Any,
        mode: str | None = None,
        regularization_losses: Sequence[Any] | None = None,
    ) -> Any:
        """Makes the metrics' updates for a batch, and returns the metrics."""

    def _summary_key(self, key: str) -> str:
        return f"{key}/{self.name}" if self.name else key

    def create_estimator_spec(
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
    ) -> EstimatorSpec:
        """What a `model_fn` returns.

        Args:
          features: tensors by name.
          mode: one of `ModeKeys`.
          logits: of shape `[D0, ..., DN, logits_dimension]`.
          labels: what the model should give; not needed in prediction.
          optimizer: a Keras optimizer for training;
          trainable_variables: and the variables that it changes;
          train_op_fn: or a function of the loss that gives the training step.
          update_ops: what runs with the step.
          regularization_losses: scalars that are added to the loss.

        Raises:
          ValueError: both or none of `optimizer` and `train_op_fn` in training.
          NotImplementedError: a subclass has neither this nor
            `_create_tpu_estimator_spec`.
        """
        return self._create_tpu_estimator_spec(
            features=features,
            mode=mode,
            logits=logits,
            labels=labels,
            optimizer=optimizer,
            trainable_variables=trainable_variables,
            train_op_fn=train_op_fn,
            update_ops=update_ops,
            regularization_losses=regularization_losses,
        ).as_estimator_spec()

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
        raise NotImplementedError(
            f"{type(self).__name__} must implement `create_estimator_spec()` or "
            "_create_tpu_estimator_spec()."
        )
