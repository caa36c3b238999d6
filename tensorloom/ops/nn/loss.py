"""Losses: cross entropies of logits, L2 and Poisson, as compositions and as ops."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    Operation,
    Tensor,
    control_dependencies,
    name_scope,
)
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import scalar_shape
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.argument_aliases import either
from tensorloom.ops.array.constant import constant
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn.activation import relu

if TYPE_CHECKING:
    from tensorloom.framework.types.tensor_shape import TensorShape


def _l2_loss_grad(op: Operation, grad: Tensor) -> Tensor:
    return op.inputs[0] * grad


register_op(
    "L2Loss",
    inputs=["t: T"],
    outputs=["output: T"],
    attrs=["T: {half, bfloat16, float, double}"],
    shape_fn=scalar_shape,
    gradient=_l2_loss_grad,
    doc="sum(t ** 2) / 2",
)


@export("nn.l2_loss")
def l2_loss(t: Any, name: str | None = None) -> Tensor:
    """Half the sum of the squares of all elements, a scalar."""
    return apply_op("L2Loss", t=t, name=name)  # type: ignore[no-any-return]


def _check_named(function: str, sentinel: Any, labels: Any, logits: Any) -> None:
    """Labels and logits are easily confused: they must be given by name."""
    if sentinel is not None:
        raise ValueError(
            f"Only call `{function}` with named arguments (labels=..., logits=..., ...)"
        )
    if labels is None or logits is None:
        raise ValueError("Both labels and logits must be provided.")


# --- softmax cross entropy ---------------------------------------------------


@export("nn.softmax_cross_entropy_with_logits")
def softmax_cross_entropy_with_logits(
    _sentinel: Any = None,
    labels: Any = None,
    logits: Any = None,
    dim: int = -1,
    name: str | None = None,
    axis: int | None = None,
) -> Tensor:
    """Cross entropy of softmax(logits) with labels; no gradient flows to labels.

    Raises:
      ValueError: arguments not given by name, or one of them is absent.
    """
    # The default of `dim` is not None: as in TensorFlow, `axis` wins only without it.
    dim = either("axis", axis, "dim", dim)
    _check_named("softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    with name_scope(
        name, "softmax_cross_entropy_with_logits_sg", [logits, labels]
    ) as name:
        labels = array_ops.stop_gradient(labels, name="labels_stop_gradient")
    return softmax_cross_entropy_with_logits_v2(
        labels=labels, logits=logits, axis=dim, name=name
    )


@export("nn.softmax_cross_entropy_with_logits_v2")
def softmax_cross_entropy_with_logits_v2(
    labels: Any,
    logits: Any,
    axis: int | None = None,
    name: str | None = None,
    dim: int | None = None,
) -> Tensor:
    """Cross entropy of softmax(logits) with labels, along an axis of any rank."""
    axis = either("axis", axis, "dim", dim)
    if axis is None:
        axis = -1
    with name_scope(
        name, "softmax_cross_entropy_with_logits", [logits, labels]
    ) as name:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        narrow = logits.dtype in (dtypes.float16, dtypes.bfloat16)
        precise = math_ops.cast(logits, dtypes.float32) if narrow else logits
        labels = math_ops.cast(labels, precise.dtype)
        cost = _flattened_cross_entropy(precise, labels, axis, name)
        dims = logits.shape.dims_tuple
        if dims is not None:
            left = list(dims)
            del left[axis]
            cost.set_shape(left)
        return math_ops.cast(cost, logits.dtype) if narrow else cost


def _flattened_cross_entropy(
    logits: Tensor, labels: Tensor, axis: int, name: str | None
) -> Tensor:
    """The loss, by way of matrices [everything else, classes]."""
    rank = array_ops.rank(logits)
    if axis != -1:
        logits = _move_to_end(logits, axis, rank)
        labels = _move_to_end(labels, axis, rank)
    shape = array_ops.shape(logits)
    loss, _ = apply_op(
        "SoftmaxCrossEntropyWithLogits",
        features=_flatten_outer_dims(logits),
        labels=_flatten_outer_dims(labels),
        name=name,
    )
    outer = array_ops.slice(shape, [0], [math_ops.subtract(rank, 1)])
    return array_ops.reshape(loss, outer)


def _move_to_end(value: Tensor, axis: int, rank: Tensor) -> Tensor:
    order = array_ops.concat(
        [math_ops.range(axis), math_ops.range(axis + 1, rank), [axis]], 0
    )
    return array_ops.transpose(value, order)


def _flatten_outer_dims(value: Tensor) -> Tensor:
    rank = array_ops.rank(value)
    last = array_ops.slice(array_ops.shape(value), [math_ops.subtract(rank, 1)], [1])
    matrix = array_ops.reshape(value, array_ops.concat([[-1], last], 0))
    dims = value.shape.dims_tuple
    if dims is not None and None not in dims[:-1]:
        rows = math.prod(size for size in dims[:-1] if size is not None)
        matrix.set_shape((rows, dims[-1]))
    return matrix


@export("nn.sparse_softmax_cross_entropy_with_logits")
def sparse_softmax_cross_entropy_with_logits(
    _sentinel: Any = None,
    labels: Any = None,
    logits: Any = None,
    name: str | None = None,
) -> Tensor:
    """Cross entropy of softmax(logits) with class indices, of the labels' shape.

    Raises:
      ValueError: arguments not given by name, or shapes that do not fit.
    """
    _check_named("sparse_softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    with name_scope(name, "SparseSoftmaxCrossEntropyWithLogits", [labels, logits]):
        labels = convert_to_tensor(labels)
        logits = convert_to_tensor(logits)
        half = logits.dtype.base_dtype == dtypes.float16
        precise = math_ops.cast(logits, dtypes.float32) if half else logits
        labels_shape = array_ops.shape(labels)
        defined = _check_sparse_shapes(labels.shape, logits.shape)
        if logits.shape.rank == 2:
            cost, _ = _sparse_cross_entropy(precise, labels, name)
        else:
            cost = _flattened_sparse_cross_entropy(
                precise, logits, labels, labels_shape, defined, name
            )
        return math_ops.cast(cost, dtypes.float16) if half else cost  # type: ignore[no-any-return]


def _sparse_cross_entropy(logits: Tensor, labels: Tensor, name: str | None) -> Any:
    return apply_op(
        "SparseSoftmaxCrossEntropyWithLogits",
        features=logits,
        labels=labels,
        name=name,
    )


def _check_sparse_shapes(labels: TensorShape, logits: TensorShape) -> bool:
    """Checks what is known; True when that is everything."""
    defined = labels.is_fully_defined() and logits[:-1].is_fully_defined()
    if logits.rank == 0:
        raise ValueError(f"Logits cannot be scalars - received shape {logits}.")
    if None not in (logits.rank, labels.rank) and labels.rank != logits.rank - 1:  # type: ignore[operator]
        raise ValueError(
            f"Rank mismatch: Rank of labels (received {labels.rank}) should equal "
            f"rank of logits minus 1 (received {logits.rank})."
        )
    if defined and labels != logits[:-1]:
        raise ValueError(
            f"Shape mismatch: The shape of labels (received {labels}) should equal "
            f"the shape of logits except for the last dimension (received {logits})."
        )
    return defined


def _flattened_sparse_cross_entropy(
    precise: Tensor,
    logits: Tensor,
    labels: Tensor,
    labels_shape: Tensor,
    defined: bool,
    name: str | None,
) -> Tensor:
    """The loss, by way of a matrix of logits; shapes not known are checked later."""
    from tensorloom.ops.debugging import check as check_ops

    static_shape = labels.shape
    checks = []
    if not defined:
        checks.append(
            check_ops.assert_equal(
                array_ops.shape(labels), array_ops.shape(logits)[:-1]
            )
        )
    with control_dependencies(checks):
        classes = array_ops.shape(logits)[array_ops.rank(logits) - 1]
        precise = array_ops.reshape(precise, [-1, classes])
        labels = array_ops.reshape(labels, [-1])
        cost, _ = _sparse_cross_entropy(precise, labels, name)
        cost = array_ops.reshape(cost, labels_shape)
        cost.set_shape(static_shape)
        return cost


# --- losses of single logits -------------------------------------------------


def _check_same_shape(
    first: Tensor, second: Tensor, first_name: str, second_name: str
) -> None:
    try:
        second.shape.merge_with(first.shape)
    except ValueError:
        raise ValueError(
            f"{first_name} and {second_name} must have the same shape "
            f"({first.shape} vs {second.shape})"
        ) from None


@export("nn.sigmoid_cross_entropy_with_logits")
def sigmoid_cross_entropy_with_logits(
    _sentinel: Any = None,
    labels: Any = None,
    logits: Any = None,
    name: str | None = None,
) -> Tensor:
    """Cross entropy of sigmoid(logits) with labels, elementwise.

    max(x, 0) - x * z + log(1 + exp(-abs(x))), which does not overflow.

    Raises:
      ValueError: arguments not given by name, or shapes that differ.
    """
    _check_named("sigmoid_cross_entropy_with_logits", _sentinel, labels, logits)
    with name_scope(name, "logistic_loss", [logits, labels]) as name:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        _check_same_shape(logits, labels, "logits", "labels")
        zeros = array_ops.zeros_like(logits, dtype=logits.dtype)
        positive = logits >= zeros
        relu_logits = array_ops.where(positive, logits, zeros)
        neg_abs_logits = array_ops.where(positive, -logits, logits)
        return math_ops.add(
            relu_logits - logits * labels,
            math_ops.log1p(math_ops.exp(neg_abs_logits)),
            name=name,
        )


@export("nn.weighted_cross_entropy_with_logits")
def weighted_cross_entropy_with_logits(
    labels: Any = None,
    logits: Any = None,
    pos_weight: Any = None,
    name: str | None = None,
    targets: Any = None,
) -> Tensor:
    """Sigmoid cross entropy in which positive labels count `pos_weight` times.

    Raises:
      ValueError: shapes that differ, or labels given twice.
    """
    labels = either("labels", labels, "targets", targets)
    with name_scope(name, "logistic_loss", [logits, labels]) as name:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        _check_same_shape(logits, labels, "logits", "labels")
        log_weight = 1 + (pos_weight - 1) * labels
        return math_ops.add(
            (1 - labels) * logits,
            log_weight
            * (math_ops.log1p(math_ops.exp(-math_ops.abs(logits))) + relu(-logits)),
            name=name,
        )


@export("nn.log_poisson_loss")
def log_poisson_loss(
    targets: Any,
    log_input: Any,
    compute_full_loss: bool = False,
    name: str | None = None,
) -> Tensor:
    """exp(log_input) - log_input * targets, with Stirling's log(targets!) on demand.

    Raises:
      ValueError: shapes that differ.
    """
    with name_scope(name, "log_poisson_loss", [log_input, targets]) as name:
        log_input = convert_to_tensor(log_input, name="log_input")
        targets = convert_to_tensor(targets, name="targets")
        _check_same_shape(log_input, targets, "log_input", "targets")
        result = math_ops.exp(log_input) - log_input * targets
        if compute_full_loss:
            result += _stirling(targets)
        return result  # type: ignore[no-any-return]


def _stirling(targets: Tensor) -> Tensor:
    """An approximation of log(targets!), zero for targets in [0, 1]."""
    half = constant(0.5, dtype=targets.dtype)
    two_pi = constant(2 * math.pi, dtype=targets.dtype)
    approximation = (
        targets * math_ops.log(targets)
        - targets
        + half * math_ops.log(two_pi * targets)
    )
    zeros = array_ops.zeros_like(targets, dtype=targets.dtype)
    ones = array_ops.ones_like(targets, dtype=targets.dtype)
    small = math_ops.logical_and(targets >= zeros, targets <= ones)
    return array_ops.where(small, zeros, approximation)
