"""Whether what a `model_fn` returns can train, evaluate or predict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tensorloom.client.variables.variables import Variable
from tensorloom.estimator.export.modes import get_export_outputs
from tensorloom.estimator.mode_keys import ModeKeys
from tensorloom.framework.graph.graph import (
    GraphKeys,
    Operation,
    add_to_collection,
    get_collection,
    get_default_graph,
    is_dense_tensor_like,
)
from tensorloom.framework.types import nest
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import reshape as reshape_ops
from tensorloom.train.hooks.session_run_hook import SessionRunHook
from tensorloom.train.sessions.scaffold import Scaffold


def check_train_op(train_op: Any, mode: str) -> Any:
    """The training step; of a variable its operation.

    Raises:
      ValueError: it is missing in training, or of another graph.
      TypeError: it is no operation and no tensor.
    """
    if train_op is None:
        if mode == ModeKeys.TRAIN:
            raise ValueError("Missing train_op.")
        return None
    if not isinstance(train_op, Operation) and not is_dense_tensor_like(train_op):
        raise TypeError(f"train_op must be Operation or Tensor, given: {train_op}")
    if isinstance(train_op, Variable):
        train_op = train_op.op
    _check_graph(train_op, "train_op", train_op.name)
    return train_op


def check_loss(loss: Any, mode: str) -> Any:
    """The loss as a scalar.

    Raises:
      ValueError: it is missing, has several elements, or is of another graph.
      TypeError: it is no tensor.
    """
    if loss is None:
        if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
            raise ValueError("Missing loss.")
        return None
    _check_tensor(loss, "loss")
    shape = loss.get_shape()
    if shape.num_elements() not in (None, 1):
        raise ValueError(f"Loss must be scalar, given: {loss}")
    if not shape.is_compatible_with(TensorShape([])):
        loss = reshape_ops.reshape(loss, [])
    _check_graph(loss, "loss", loss.name)
    return loss


def check_predictions(predictions: Any, mode: str) -> Any:
    """The predictions; none is an empty dict.

    Raises:
      ValueError: they are missing in prediction, or of another graph.
      TypeError: they are no tensors.
    """
    if predictions is None:
        if mode == ModeKeys.PREDICT:
            raise ValueError("Missing predictions.")
        return {}
    if not isinstance(predictions, dict):
        _check_tensor(predictions, "predictions")
        _check_graph(predictions, "prediction values", predictions.name)
        return predictions
    for key, value in predictions.items():
        _check_tensor(value, f"predictions[{key}]")
        _check_graph(value, "prediction values", f"{key}: {value.name}")
    return dict(predictions)


def check_export_outputs(export_outputs: Any, predictions: Any, mode: str) -> Any:
    """What an exported model gives; not looked at outside of prediction."""
    if mode == ModeKeys.PREDICT:
        return get_export_outputs(export_outputs, predictions)
    return export_outputs


def check_hooks(hooks: Iterable[Any] | None) -> tuple[Any, ...]:
    """Hooks as a tuple.

    Raises:
      TypeError: one is something else.
    """
    hooks = tuple(hooks or ())
    for hook in hooks:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(
                f"All hooks must be SessionRunHook instances, given: {hook}"
            )
    return hooks


def check_scaffold(scaffold: Any) -> Any:
    """The scaffold, or the usual one.

    Raises:
      TypeError: it is something else.
    """
    scaffold = scaffold or Scaffold()
    if not isinstance(scaffold, Scaffold):
        raise TypeError(f"scaffold must be tf.train.Scaffold. Given: {scaffold}")
    return scaffold


def check_metrics(metrics: Any) -> dict[str, Any]:
    """Metrics as pairs of value and update; variables of metric objects are local.

    Raises:
      TypeError: they are no dict of pairs or metric objects.
      ValueError: an object has no update, or a tensor is of another graph.
    """
    if metrics is None:
        return {}
    if not isinstance(metrics, dict):
        raise TypeError(f"eval_metric_ops must be a dict, given: {metrics}")
    for key, value in metrics.items():
        if _is_metric_object(value):
            if not value.updates:
                raise ValueError(
                    f'Please call update_state(...) on the "{value.name}" metric'
                )
        elif not isinstance(value, tuple) or len(value) != 2:
            raise TypeError(
                "Values of eval_metric_ops must be (metric_value, update_op) tuples, "
                f"given: {value} for key: {key}"
            )
    for key, value in metrics.items():
        for part in _tensors(value):
            _check_graph(part, "eval_metric_ops", f"{key}: {part.name}")
    return _as_pairs(metrics)


def _as_pairs(metrics: dict[str, Any]) -> dict[str, Any]:
    """The same dict; objects have given way to pairs."""
    variables: list[Any] = []
    for key, value in metrics.items():
        if _is_metric_object(value):
            variables.extend(value.variables)
            metrics[key] = (value.result(), value.updates[0])
    for collection in (GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES):
        known = set(map(id, get_collection(collection)))
        for variable in variables:
            if id(variable) not in known:
                known.add(id(variable))
                add_to_collection(collection, variable)
    return metrics


def _is_metric_object(value: Any) -> bool:
    # A Keras metric, or a program's own object of the same surface.
    return hasattr(value, "update_state") and hasattr(value, "result")


def _tensors(value: Any) -> Iterator[Any]:
    if _is_metric_object(value):
        yield from value.updates
        yield value.result()
        return
    yield from nest.flatten(value)


def _check_tensor(value: Any, name: str) -> None:
    if not is_dense_tensor_like(value):
        raise TypeError(f"{name} must be Tensor, given: {value}")


def _check_graph(value: Any, what: str, name: str) -> None:
    if value.graph is not get_default_graph():
        raise ValueError(
            f'{what} with "{name}" must be from the default graph. Possible causes of '
            "this error include: \n\n"
            f"1) {what} was created outside the context of the default graph.\n\n"
            "2) The object passed through to EstimatorSpec was not created in the most "
            'recent call to "model_fn".'
        )
