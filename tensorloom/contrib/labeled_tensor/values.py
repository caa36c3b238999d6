"""Labeled constants and placeholders, other dtypes, and the check for NaN."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from tensorloom.contrib.labeled_tensor.axis import Axes, AxisLike, Scalar, as_axis
from tensorloom.contrib.labeled_tensor.labeled import (
    LabeledTensor,
    LabeledTensorLike,
    convert_to_labeled_tensor,
)
from tensorloom.contrib.labeled_tensor.type_checks import checked
from tensorloom.framework.export import export
from tensorloom.framework.runtime.scopes import name_scope
from tensorloom.framework.types.dtypes import DType
from tensorloom.ops.array import constant as constant_op
from tensorloom.ops.array import fill
from tensorloom.ops.array import placeholder as placeholder_op
from tensorloom.ops.debugging import check_type
from tensorloom.ops.math import cast as cast_op

_PREFIX = "contrib.labeled_tensor."


@export(_PREFIX + "constant")
@checked
def constant(
    value: np.ndarray | list[Any] | tuple[Any, ...] | Scalar,
    dtype: DType | None = None,
    axes: Axes | Collection[str | AxisLike] | None = None,
    name: str | None = None,
) -> LabeledTensor:
    """A constant with axes.

    Args:
      value: its elements.
      dtype: by default the value's.
      axes: none for a scalar. Where one is a name alone the shape is the value's; else
        it is that of the axes, as in `tf.constant`.
      name: of the operations.
    """
    with name_scope(name, "lt_constant", [value]) as scope:
        listed: list[Any] = list(
            axes.values() if isinstance(axes, Axes) else axes or ()
        )
        shape: list[int | None] | None = None
        if not any(isinstance(axis, str) for axis in listed):
            listed = list(map(as_axis, listed))
            shape = [axis.size for axis in listed]
        tensor = constant_op.constant(value, dtype=dtype, shape=shape, name=scope)
        return LabeledTensor(tensor, listed)


@export(_PREFIX + "zeros_like")
@checked
def zeros_like(
    labeled_tensor: LabeledTensorLike,
    dtype: DType | None = None,
    name: str | None = None,
) -> LabeledTensor:
    """Zeros with the axes of a tensor, and its dtype if none is given."""
    with name_scope(name, "lt_zeros_like", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        tensor = fill.zeros_like(labeled_tensor.tensor, dtype=dtype, name=scope)
        return LabeledTensor(tensor, labeled_tensor.axes)


@export(_PREFIX + "ones_like")
@checked
def ones_like(
    labeled_tensor: LabeledTensorLike,
    dtype: DType | None = None,
    name: str | None = None,
) -> LabeledTensor:
    """Ones with the axes of a tensor, and its dtype if none is given."""
    with name_scope(name, "lt_ones_like", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        tensor = fill.ones_like(labeled_tensor.tensor, dtype=dtype, name=scope)
        return LabeledTensor(tensor, labeled_tensor.axes)


@export(_PREFIX + "cast")
@checked
def cast(
    labeled_tensor: LabeledTensorLike,
    dtype: DType | None = None,
    name: str | None = None,
) -> LabeledTensor:
    """The elements in another dtype."""
    with name_scope(name, "lt_cast", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        tensor = cast_op.cast(labeled_tensor.tensor, dtype=dtype, name=scope)
        return LabeledTensor(tensor, labeled_tensor.axes)


@export(_PREFIX + "verify_tensor_all_finite")
@checked
def verify_tensor_all_finite(
    labeled_tensor: LabeledTensorLike, message: str, name: str | None = None
) -> LabeledTensor:
    """The tensor; a step fails with the message if it has a NaN or an infinity."""
    with name_scope(name, "lt_verify_tensor_all_finite", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        tensor = check_type.assert_all_finite(
            labeled_tensor.tensor, msg=message, name=scope
        )
        return LabeledTensor(tensor, labeled_tensor.axes)


@export(_PREFIX + "placeholder")
@checked
def placeholder(
    dtype: DType, axes: Collection[str | AxisLike], name: str | None = None
) -> LabeledTensor:
    """A placeholder with axes. A name alone is an axis of any size."""
    with name_scope(name, "lt_placeholder", []) as scope:
        named = Axes([(axis, None) if isinstance(axis, str) else axis for axis in axes])
        shape = [axis.size for axis in named.values()]
        tensor = placeholder_op.placeholder(dtype, shape, name=scope)
        return LabeledTensor(tensor, named)
