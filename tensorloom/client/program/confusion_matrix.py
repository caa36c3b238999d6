"""`tf.confusion_matrix`: how often each class is taken for each other."""

from __future__ import annotations

from typing import Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.control_flow import builders as control_flow_ops
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.math import math_ops


@export("contrib.framework.remove_squeezable_dimensions")
def remove_squeezable_dimensions_v1(
    predictions: Any, labels: Any, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """(predictions, labels), the one of higher rank without its last axis of size 1."""
    labels, predictions = remove_squeezable_dimensions(labels, predictions, 0, name)
    return predictions, labels


def remove_squeezable_dimensions(
    labels: Any,
    predictions: Any,
    expected_rank_diff: int = 0,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """(labels, predictions), one without its last axis where the ranks ask for it.

    Args:
      labels: class ids or values.
      predictions: of the labels' rank plus `expected_rank_diff`, or one axis off.
      expected_rank_diff: rank of the predictions less rank of the labels.
      name: of the scope.
    """
    with name_scope(name, "remove_squeezable_dimensions", [labels, predictions]):
        predictions = convert_to_tensor(predictions)
        labels = convert_to_tensor(labels)
        ranks = labels.shape.rank, predictions.shape.rank
        if ranks[0] is None or ranks[1] is None:
            return _squeeze_at_run_time(labels, predictions, expected_rank_diff)
        difference = ranks[1] - ranks[0]
        if difference == expected_rank_diff + 1:
            predictions = array_ops.squeeze(predictions, [-1])
        elif difference == expected_rank_diff - 1:
            labels = array_ops.squeeze(labels, [-1])
        return labels, predictions


def _squeeze_at_run_time(
    labels: Tensor, predictions: Tensor, expected: int
) -> tuple[Tensor, Tensor]:
    difference = array_ops.rank(predictions) - array_ops.rank(labels)
    if _last_may_be_one(predictions):
        full = predictions
        predictions = cond(
            math_ops.equal(expected + 1, difference),
            lambda: array_ops.squeeze(full, [-1]),
            lambda: full,
        )
    if _last_may_be_one(labels):
        whole = labels
        labels = cond(
            math_ops.equal(expected - 1, difference),
            lambda: array_ops.squeeze(whole, [-1]),
            lambda: whole,
        )
    return labels, predictions


def _last_may_be_one(tensor: Tensor) -> bool:
    dims = tensor.shape.dims_tuple
    return dims is None or (bool(dims) and dims[-1] in (None, 1))


@export("confusion_matrix", "math.confusion_matrix", "train.confusion_matrix")
def confusion_matrix(
    labels: Any,
    predictions: Any,
    num_classes: Any = None,
    dtype: Any = dtypes.int32,
    name: str | None = None,
    weights: Any = None,
) -> Tensor:
    """The matrix [n, n] of counts: row = real class, column = predicted class.

    Args:
      labels, predictions: class ids from 0, [batch].
      num_classes: n; one more than the largest id when None.
      dtype: of the result.
      name: of the scope.
      weights: what each prediction counts, [batch]; 1 when None.

    Raises:
      ValueError: the shapes do not fit.
      errors.InvalidArgumentError (at run time): an id is not in [0, n).
    """
    values = (predictions, labels, num_classes, weights)
    with name_scope(name, "confusion_matrix", values):
        labels, predictions = remove_squeezable_dimensions(
            convert_to_tensor(labels, name="labels"),
            convert_to_tensor(predictions, name="predictions"),
        )
        predictions = math_ops.cast(predictions, dtypes.int64)
        labels = math_ops.cast(labels, dtypes.int64)
        labels = _not_negative(labels, "labels")
        predictions = _not_negative(predictions, "predictions")
        if num_classes is None:
            largest = math_ops.maximum(
                math_ops.reduce_max(predictions), math_ops.reduce_max(labels)
            )
            num_classes = largest + 1
        else:
            bound = math_ops.cast(num_classes, dtypes.int64)
            labels = _below(labels, bound, "labels")
            predictions = _below(predictions, bound, "predictions")
        if weights is not None:
            weights = convert_to_tensor(weights, name="weights")
            predictions.get_shape().assert_is_compatible_with(weights.get_shape())
            weights = math_ops.cast(weights, dtype)
        return _count(labels, predictions, num_classes, weights, dtype)


def _count(
    labels: Tensor, predictions: Tensor, num_classes: Any, weights: Any, dtype: Any
) -> Tensor:
    shape = array_ops.stack([num_classes, num_classes])
    indices = array_ops.stack([labels, predictions], axis=1)
    if weights is None:
        weights = array_ops.ones_like(predictions, dtype)
    dense_shape = math_ops.cast(shape, dtypes.int64)
    zeros = array_ops.zeros(math_ops.cast(shape, dtypes.int32), dtype)
    return apply_op(  # type: ignore[no-any-return]
        "SparseTensorDenseAdd",
        a_indices=indices,
        a_values=weights,
        a_shape=dense_shape,
        b=zeros,
    )


def _not_negative(ids: Tensor, what: str) -> Tensor:
    message = f"`{what}` contains negative values"
    check = check_ops.assert_non_negative(ids, message=message)
    return control_flow_ops.with_dependencies([check], ids)  # type: ignore[no-any-return]


def _below(ids: Tensor, bound: Tensor, what: str) -> Tensor:
    check = check_ops.assert_less(ids, bound, message=f"`{what}` out of bound")
    return control_flow_ops.with_dependencies([check], ids)  # type: ignore[no-any-return]
