"""`tf.estimator.EstimatorSpec`: what a `model_fn` returns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from tensorloom.estimator import spec_checks
from tensorloom.framework.export import export


class _Spec(NamedTuple):
    mode: str
    predictions: Any
    loss: Any
    train_op: Any
    eval_metric_ops: Any
    export_outputs: Any
    training_chief_hooks: Any
    training_hooks: Any
    scaffold: Any
    evaluation_hooks: Any
    prediction_hooks: Any


@export("estimator.EstimatorSpec")
class EstimatorSpec(_Spec):
    """The operations that train, evaluate or predict.

    Training needs `loss` and `train_op`, evaluation `loss`, prediction `predictions`;
    what a mode does not need is ignored.

    Args:
      mode: one of `ModeKeys`.
      predictions: a tensor or a dict of tensors.
      loss: a scalar, or of shape `[1]`.
      train_op: an operation or a tensor: a training step.
      eval_metric_ops: by name: pairs of value and update, or metric objects.
      export_outputs: what an exported model gives: `ExportOutput`s by the keys of their
        signatures; the predictions when None.
      training_chief_hooks: hooks of the chief in training.
      training_hooks: hooks of all workers in training.
      scaffold: a `tf.train.Scaffold`; the usual one when None.
      evaluation_hooks: hooks in evaluation.
      prediction_hooks: hooks in prediction.

    Raises:
      ValueError: something that the mode needs is missing, the loss is no scalar, or a
        tensor is of another graph.
      TypeError: an argument is of another kind.
    """

    __slots__ = ()

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metric_ops: Mapping[str, Any] | None = None,
        export_outputs: Mapping[str, Any] | None = None,
        training_chief_hooks: Iterable[Any] | None = None,
        training_hooks: Iterable[Any] | None = None,
        scaffold: Any = None,
        evaluation_hooks: Iterable[Any] | None = None,
        prediction_hooks: Iterable[Any] | None = None,
    ) -> EstimatorSpec:
        train_op = spec_checks.check_train_op(train_op, mode)
        loss = spec_checks.check_loss(loss, mode)
        predictions = spec_checks.check_predictions(predictions, mode)
        return super().__new__(
            cls,
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            export_outputs=spec_checks.check_export_outputs(
                export_outputs, predictions, mode
            ),
            training_hooks=spec_checks.check_hooks(training_hooks),
            evaluation_hooks=spec_checks.check_hooks(evaluation_hooks),
            prediction_hooks=spec_checks.check_hooks(prediction_hooks),
            training_chief_hooks=spec_checks.check_hooks(training_chief_hooks),
            eval_metric_ops=spec_checks.check_metrics(eval_metric_ops),
            scaffold=spec_checks.check_scaffold(scaffold),
        )

    def _replace(self, **kwds: Any) -> EstimatorSpec:
        """Another one with some fields changed, checked again.

        Raises:
          ValueError: the mode would change, or a new field is wrong.
        """
        if kwds.get("mode", self.mode) != self.mode:
            raise ValueError("mode of EstimatorSpec cannot be changed.")
        return EstimatorSpec(**{**self._asdict(), **kwds})


class _DeviceIndependentSpec(NamedTuple):
    mode: str
    predictions: Any
    loss: Any
    train_op: Any
    eval_metrics: Any
    export_outputs: Any
    scaffold_fn: Any
    host_call: Any
    training_hooks: Any
    evaluation_hooks: Any
    prediction_hooks: Any


class TPUEstimatorSpec(_DeviceIndependentSpec):
    """An `EstimatorSpec` whose metrics and scaffold are made by functions, later.

    Args:
      mode: one of `ModeKeys`.
      predictions: a tensor or a dict of tensors.
      loss: a scalar, or of shape `[1]`.
      train_op: an operation or a tensor: a training step.
      eval_metrics: a function that gives `eval_metric_ops`, and its arguments: a list,
        or a dict by name.
      export_outputs: what an exported model gives.
      scaffold_fn: a function that gives the scaffold.
      host_call: a function that is called with tensors at each step, and those.
      training_hooks: hooks in training.
      evaluation_hooks: hooks in evaluation.
      prediction_hooks: hooks in prediction.

    Raises:
      ValueError, TypeError: as `EstimatorSpec`.
    """

    __slots__ = ()

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metrics: tuple[Any, Any] | None = None,
        export_outputs: Mapping[str, Any] | None = None,
        scaffold_fn: Any = None,
        host_call: Any = None,
        training_hooks: Iterable[Any] | None = None,
        evaluation_hooks: Iterable[Any] | None = None,
        prediction_hooks: Iterable[Any] | None = None,
    ) -> TPUEstimatorSpec:
        train_op = spec_checks.check_train_op(train_op, mode)
        loss = spec_checks.check_loss(loss, mode)
        predictions = spec_checks.check_predictions(predictions, mode)
        return super().__new__(
            cls,
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metrics=eval_metrics,
            export_outputs=spec_checks.check_export_outputs(
                export_outputs, predictions, mode
            ),
            scaffold_fn=scaffold_fn,
            host_call=host_call,
            training_hooks=spec_checks.check_hooks(training_hooks),
            evaluation_hooks=spec_checks.check_hooks(evaluation_hooks),
            prediction_hooks=spec_checks.check_hooks(prediction_hooks),
        )

    def as_estimator_spec(self) -> EstimatorSpec:
        """The `EstimatorSpec` of the same model; metrics and scaffold are made."""
        metrics = called(self.eval_metrics) if self.eval_metrics else None
        hooks = self._host_call_hooks()
        return EstimatorSpec(
            mode=self.mode,
            predictions=self.predictions,
            loss=self.loss,
            train_op=self.train_op,
            eval_metric_ops=metrics,
            export_outputs=self.export_outputs,
            training_hooks=[*self.training_hooks, *hooks],
            scaffold=self.scaffold_fn() if self.scaffold_fn else None,
            evaluation_hooks=[*self.evaluation_hooks, *hooks],
            prediction_hooks=[*self.prediction_hooks, *hooks],
        )

    def _host_call_hooks(self) -> list[Any]:
        """What makes the host call: nothing does, but for `TPUEstimator`."""
        return []


def called(call: tuple[Any, Any]) -> Any:
    """What a function gives for its arguments: a list, or a dict by name."""
    function, arguments = call
    if isinstance(arguments, dict):
        return function(**arguments)
    return function(*arguments)
