"""Softmax and its cross entropies: ops and gradients, and the softmax builders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.framework import errors
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Operation, Tensor
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import (
    InferenceContext,
    ShapeError,
    broadcast_shapes,
)
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.argument_aliases import either
from tensorloom.ops.math import math_ops

# --- shape functions ---------------------------------------------------------


def _at_least_vector(c: InferenceContext) -> TensorShape:
    return c.with_rank_at_least(0, 1)


def _cross_entropy_shape(c: InferenceContext) -> list[TensorShape]:
    """One loss a row; features and labels broadcast."""
    try:
        shape = c.merge(c.with_rank(0, 2), c.input_shape(1))
        assert shape.dims_tuple is not None
        return [TensorShape.of(shape.dims_tuple[:1]), shape]
    except ShapeError:
        shape = broadcast_shapes(c, c.input_shape(0), c.input_shape(1))
    dims = shape.dims_tuple
    if dims is None:
        return [TensorShape.of((None,)), UNKNOWN]
    if len(dims) != 2:
        c.fail(f"Shape must be broadcasted with rank 2, but is rank {len(dims)}")
    return [TensorShape.of((dims[0],)), shape]


def _sparse_cross_entropy_shape(c: InferenceContext) -> list[TensorShape]:
    features, labels = c.with_rank(0, 2).dims_tuple, c.with_rank(1, 1).dims_tuple
    assert features is not None
    assert labels is not None
    batch = c.merge_dim(features[0], labels[0])
    return [TensorShape.of((batch,)), TensorShape.of((batch, features[1]))]


# --- gradients ---------------------------------------------------------------


def _softmax_grad(op: Operation, grad: Tensor) -> Tensor:
    softmax = op.outputs[0]
    total = math_ops.reduce_sum(grad * softmax, -1, keepdims=True)
    return (grad - total) * softmax


def _log_softmax_grad(op: Operation, grad: Tensor) -> Tensor:
    softmax = math_ops.exp(op.outputs[0])
    return grad - math_ops.reduce_sum(grad, -1, keepdims=True) * softmax


def _times_rows(vector: Tensor, matrix: Tensor) -> Tensor:
    return array_ops.expand_dims(vector, -1) * matrix


def _is_zero(tensor: Tensor) -> bool:
    if tensor.op.type in ("ZerosLike", "Zeros"):
        return True
    value = constant_value(tensor)
    return value is not None and bool((value == 0).all())


def _cross_entropy_grad(
    op: Operation, grad_loss: Tensor, grad_backprop: Tensor | None
) -> list[Tensor]:
    """Through the loss; through the `backprop` output too, for second derivatives."""
    logits = op.inputs[0]
    grad = _times_rows(grad_loss, op.outputs[1])
    if grad_backprop is not None and not _is_zero(grad_backprop):
        probabilities = softmax(logits)
        projected = math_ops.matmul(
            array_ops.expand_dims(grad_backprop, 1),
            array_ops.expand_dims(probabilities, 2),
        )
        grad += (grad_backprop - array_ops.squeeze(projected, axis=1)) * probabilities
    return [grad, _times_rows(grad_loss, -log_softmax(logits))]


_NO_SECOND_DERIVATIVE = (
    "Currently there is no way to take the second derivative of "
    "sparse_softmax_cross_entropy_with_logits due to the fused implementation's "
    "interaction with tf.gradients()"
)


def _sparse_cross_entropy_grad(
    op: Operation, grad_loss: Tensor, _: Tensor | None
) -> list[Tensor | None]:
    backprop = array_ops.prevent_gradient(op.outputs[1], message=_NO_SECOND_DERIVATIVE)
    return [_times_rows(grad_loss, backprop), None]


# --- ops ---------------------------------------------------------------------

_FLOATS = "T: {half, bfloat16, float, double}"

register_op(
    "Softmax",
    inputs=["logits: T"],
    outputs=["softmax: T"],
    attrs=[_FLOATS],
    shape_fn=_at_least_vector,
    gradient=_softmax_grad,
    doc="exp(logits), each row (last dimension) scaled to sum to 1.",
)

register_op(
    "LogSoftmax",
    inputs=["logits: T"],
    outputs=["logsoftmax: T"],
    attrs=[_FLOATS],
    shape_fn=_at_least_vector,
    gradient=_log_softmax_grad,
    doc="log(softmax(logits)), along the last dimension.",
)

register_op(
    "SoftmaxCrossEntropyWithLogits",
    inputs=["features: T", "labels: T"],
    outputs=["loss: T", "backprop: T"],
    attrs=[_FLOATS],
    shape_fn=_cross_entropy_shape,
    gradient=_cross_entropy_grad,
    doc="Cross entropy of softmax(features) and labels, [batch]; and its gradient.",
)

register_op(
    "SparseSoftmaxCrossEntropyWithLogits",
    inputs=["features: T", "labels: Tlabels"],
    outputs=["loss: T", "backprop: T"],
    attrs=[_FLOATS, "Tlabels: {int32, int64} = DT_INT64"],
    shape_fn=_sparse_cross_entropy_shape,
    gradient=_sparse_cross_entropy_grad,
    doc="Cross entropy for one class index a row, [batch]; and its gradient.",
)

# --- builders ----------------------------------------------------------------


@export("nn.softmax", "math.softmax")
def softmax(
    logits: Any, axis: Any = None, name: str | None = None, dim: Any = None
) -> Tensor:
    """exp(logits) scaled to sum to 1 along an axis, by default the last.

    Raises:
      errors.InvalidArgumentError: there is no such axis.
    """
    axis = either("axis", axis, "dim", dim)
    return _along_axis("Softmax", logits, -1 if axis is None else axis, name)


@export("nn.log_softmax", "math.log_softmax")
def log_softmax(
    logits: Any, axis: Any = None, name: str | None = None, dim: Any = None
) -> Tensor:
    """log(softmax(logits)) along an axis, by default the last.

    Raises:
      errors.InvalidArgumentError: there is no such axis.
    """
    axis = either("axis", axis, "dim", dim)
    return _along_axis("LogSoftmax", logits, -1 if axis is None else axis, name)


def _along_axis(op: str, logits: Any, axis: Any, name: str | None) -> Tensor:
    """Applies an op of the last dimension to another one, by transposing."""

    def compute(value: Tensor, name: str | None = None) -> Tensor:
        return apply_op(op, logits=value, name=name)  # type: ignore[no-any-return]

    logits = convert_to_tensor(logits)
    rank = logits.shape.rank
    if not isinstance(axis, Tensor) and (
        axis == -1 or (rank is not None and axis == rank - 1)
    ):
        return compute(logits, name)
    value = constant_value(axis) if isinstance(axis, Tensor) else axis
    if value is not None and not -rank <= value < rank:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Dimension ({value}) must be in the range [{-rank}, {rank}) where "
            f"{rank} is the number of dimensions in the input.",
        )
    return _swapped(compute, logits, axis, name)


def _swapped(
    compute: Callable[..., Tensor], logits: Tensor, axis: Any, name: str | None
) -> Tensor:
    rank_tensor = array_ops.rank(logits)
    if isinstance(axis, Tensor):
        axis = array_ops.where(math_ops.less(axis, 0), axis + rank_tensor, axis)
    elif axis < 0:
        axis += rank_tensor
    input_rank = array_ops.rank(logits)
    axis = axis % logits.shape.rank
    moved = _swap_axis(logits, axis, math_ops.subtract(input_rank, 1))
    output = _swap_axis(compute(moved), axis, math_ops.subtract(input_rank, 1), name)
    output.set_shape(logits.shape)
    return output


def _swap_axis(
    value: Tensor, axis: Any, last: Tensor, name: str | None = None
) -> Tensor:
    order = array_ops.concat(
        [
            math_ops.range(axis),
            [last],
            math_ops.range(axis + 1, last),
            [axis],
        ],
        0,
    )
    return array_ops.transpose(value, order, name=name)  # type: ignore[arg-type]
