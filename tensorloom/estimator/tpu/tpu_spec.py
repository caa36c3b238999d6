"""`tf.estimator.tpu.TPUEstimatorSpec`: functions of tensors, to be called later."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from tensorloom.estimator.function_arguments import argument_names
from tensorloom.estimator.spec import TPUEstimatorSpec as DeviceIndependentSpec
from tensorloom.estimator.spec import called
from tensorloom.framework.export import export
from tensorloom.summary import graph_writer
from tensorloom.train.hooks.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
)


@export("estimator.tpu.TPUEstimatorSpec", "contrib.tpu.TPUEstimatorSpec")
class TPUEstimatorSpec(DeviceIndependentSpec):
    """What a `model_fn` returns to `TPUEstimator`.

        def metric_fn(labels, logits):
            return {"accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, 1))}

        metrics = (metric_fn, [labels, logits])
        return TPUEstimatorSpec(mode, loss=loss, eval_metrics=metrics)

    Args:
      mode: one of `ModeKeys`.
      predictions: a tensor or a dict of tensors.
      loss: a scalar, or of shape `[1]`.
      train_op: an operation or a tensor: a training step.
      eval_metrics: a function that gives `eval_metric_ops`, and its arguments: a list,
        or a dict by name.
      export_outputs: what an exported model gives.
      scaffold_fn: a function that gives the scaffold.
      host_call: a function and its arguments, as `eval_metrics`: the tensors that it
        gives are computed at each step, such as writes of `tf.contrib.summary`.
      training_hooks: hooks in training.
      evaluation_hooks: hooks in evaluation.
      prediction_hooks: hooks in prediction.

    Raises:
      ValueError, TypeError: as `EstimatorSpec`, or a function with arguments is none.
      RuntimeError: a function takes another number of arguments.
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
        host_call: tuple[Any, Any] | None = None,
        training_hooks: Iterable[Any] | None = None,
        evaluation_hooks: Iterable[Any] | None = None,
        prediction_hooks: Iterable[Any] | None = None,
    ) -> TPUEstimatorSpec:
        for name, call in (("eval_metrics", eval_metrics), ("host_call", host_call)):
            if call is not None:
                _check_call(name, call)
        spec: Any = super().__new__(
            cls,
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metrics=eval_metrics,
            export_outputs=export_outputs,
            scaffold_fn=scaffold_fn,
            host_call=host_call,
            training_hooks=training_hooks,
            evaluation_hooks=evaluation_hooks,
            prediction_hooks=prediction_hooks,
        )
        return spec  # type: ignore[no-any-return]

    def _host_call_hooks(self) -> list[Any]:
        if self.host_call is None:
            return []
        return [_HostCallHook(called(self.host_call))]


def _check_call(name: str, call: Any) -> None:
    if not isinstance(call, tuple | list):
        raise ValueError(f"{name} should be tuple or list")
    if len(call) != 2:
        raise ValueError(f"{name} should have two elements.")
    function, arguments = call
    if not callable(function):
        raise TypeError(f"{name}[0] should be callable.")
    if isinstance(arguments, dict):
        return
    if not isinstance(arguments, tuple | list):
        raise ValueError(f"{name}[1] should be tuple or list, or dict.")
    taken = len(argument_names(function))
    if inspect.getfullargspec(function).varargs is None and len(arguments) != taken:
        raise RuntimeError(
            f"In TPUEstimatorSpec.{name}, length of tensors {len(arguments)} does not "
            f"match method args of the function, which takes {taken}."
        )


class _HostCallHook(SessionRunHook):
    """Computes tensors at each step, and opens and flushes the summary writers."""

    def __init__(self, tensors: Any) -> None:
        self._tensors = tensors

    def begin(self) -> None:
        self._open = graph_writer.summary_writer_initializer_op()
        self._flush = [graph_writer.flush(writer=op.inputs[0]) for op in self._open]

    def after_create_session(self, session: Any, coord: Any) -> None:
        session.run(self._open)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._tensors)

    def end(self, session: Any) -> None:
        session.run(self._flush)
