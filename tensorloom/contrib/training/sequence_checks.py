"""Ranks and sizes that are checked now where they are known, else in each step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorloom.framework.graph.graph import Tensor, control_dependencies
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array.identity import identity
from tensorloom.ops.array.shape import rank as rank_op
from tensorloom.ops.array.shape import shape as shape_op
from tensorloom.ops.array.shape import size as size_op
from tensorloom.ops.control_flow.builders import Assert
from tensorloom.ops.math.binary import floormod
from tensorloom.ops.math.comparison import equal, logical_and, not_equal
from tensorloom.ops.reductions.reductions import reduce_all
from tensorloom.ops.strings.string_ops import as_string, string_join


def _message(*parts: Any) -> Any:
    return string_join(
        [part if isinstance(part, str) else as_string(part) for part in parts]
    )


def multiple_of(value: Any, what: str, factor: Any) -> Any:
    """An Assert that a scalar is a multiple of another, and not zero."""
    return Assert(
        logical_and(equal(floormod(value, factor), 0), not_equal(value, 0)),
        [
            _message(
                f"{what} should be a multiple of: ",
                factor,
                ", but saw value: ",
                value,
                ". Consider setting pad=True.",
            )
        ],
    )


def with_rank(value: Any, rank: Any) -> Any:
    """A tensor whose rank is checked.

    Raises:
      ValueError: the static rank differs.
    """
    check = Assert(
        equal(rank, rank_op(value)),
        [
            _message(
                f"Rank of tensor {value.name} should be: ", rank, ", shape received:"
            ),
            shape_op(value),
        ],
    )
    with control_dependencies([check]):
        checked = identity(value, name="rank_checked")
    known = constant_value(rank) if isinstance(rank, Tensor) else rank
    if known is not None:
        try:
            checked.set_shape(checked.shape.with_rank(int(known)))
        except ValueError as error:
            raise ValueError(f"Rank check failed for {value.name}: {error}") from error
    return checked


def with_shape(value: Any, shape: Any) -> Any:
    """A tensor whose shape is checked.

    Raises:
      ValueError: the static shape differs.
    """
    if isinstance(shape, TensorShape):
        shape = shape.as_list()
    if isinstance(shape, Tensor):
        known = constant_value(shape)
        shape = shape if known is None else [int(size) for size in known]
    is_static = not isinstance(shape, Tensor)
    value = with_rank(value, len(shape) if is_static else size_op(shape))
    check = Assert(
        reduce_all(equal(shape, shape_op(value))),
        [
            _message(
                f"Shape of tensor {value.name} should be: ",
                shape,
                ", shape received: ",
                shape_op(value),
            )
        ],
    )
    with control_dependencies([check]):
        checked = identity(value, name="shape_checked")
    if is_static:
        try:
            checked.set_shape(checked.shape.merge_with(shape))
        except ValueError as error:
            raise ValueError(f"Shape check failed for {value.name}: {error}") from error
    return checked


def with_sizes(
    value: Any, dimensions: Sequence[int], sizes: Sequence[Any], label: str
) -> Any:
    """A tensor with some dimensions checked.

    Args:
      value: the tensor; its static shape becomes better known.
      dimensions: which.
      sizes: of these, ints or scalar tensors.
      label: what errors and the operation call it.

    Raises:
      ValueError: a static size differs, or the rank is too small.
    """
    if value.shape.rank is not None:
        if value.shape.rank <= max(dimensions):
            raise ValueError(
                f"{label}: rank of input is not greater than max(dimensions): "
                f"{value.shape.rank} vs. {max(dimensions)}"
            )
        known = value.shape.as_list()
        for dimension, size in zip(dimensions, sizes, strict=True):
            if not isinstance(size, Tensor):
                known[dimension] = size
        try:
            value.set_shape(value.shape.merge_with(known))
        except ValueError as error:
            raise ValueError(f"Dimensions check failed for {label}: {error}") from error
    checks = [
        Assert(
            equal(size, shape_op(value)[dimension]),
            [
                _message(
                    f"Dimension {dimension} of tensor labeled {label} should be: ",
                    size,
                    ", shape received: ",
                    shape_op(value),
                ),
            ],
        )
        for dimension, size in zip(dimensions, sizes, strict=True)
    ]
    with control_dependencies(checks):
        return identity(value, name=f"dims_checked_{label}")
