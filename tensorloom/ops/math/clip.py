"""Clipping of values and of norms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, colocate_with, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops


def _values_of(t: Any) -> Any:
    return t.values if isinstance(t, IndexedSlices) else t


def _like(t: Any, values: Tensor) -> Any:
    """`values` as what `t` was: IndexedSlices or a tensor."""
    if isinstance(t, IndexedSlices):
        return IndexedSlices(values, t.indices, t.dense_shape)
    return values


@export("clip_by_value")
def clip_by_value(
    t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None
) -> Any:
    """t (a tensor or IndexedSlices) with values outside the limits moved to them.

    Args:
      clip_value_min, clip_value_max: scalars, or tensors that broadcast to t.

    Raises:
      ValueError: a limit would broadcast t to a larger shape.
    """
    with name_scope(
        name, "clip_by_value", [t, clip_value_min, clip_value_max]
    ) as scope:
        values = convert_to_tensor(_values_of(t), name="t")
        bounded = math_ops.minimum(values, clip_value_max)
        values.shape.merge_with(bounded.shape)
        clipped = math_ops.maximum(bounded, clip_value_min, name=scope)
        values.shape.merge_with(clipped.shape)
        return _like(t, clipped)


@export("clip_by_norm")
def clip_by_norm(
    t: Any, clip_norm: Any, axes: Any = None, name: str | None = None
) -> Any:
    """t (a tensor or IndexedSlices) scaled down where its 2-norm exceeds `clip_norm`.

    Args:
      axes: of the norm; all when None.
    """
    with name_scope(name, "clip_by_norm", [t, clip_norm]) as scope:
        values = convert_to_tensor(_values_of(t), name="t")
        squared = math_ops.reduce_sum(values * values, axes, keepdims=True)
        positive = squared > 0
        # The root's gradient at 0 is infinite, so 0 is kept away from it.
        safe = array_ops.where(positive, squared, array_ops.ones_like(squared))
        norm = array_ops.where(positive, math_ops.sqrt(safe), squared)
        scaled = values * clip_norm
        values.shape.merge_with(scaled.shape)
        clipped = array_ops.identity(
            scaled / math_ops.maximum(norm, clip_norm), name=scope
        )
        return _like(t, clipped)


def _checked_list(t_list: Any) -> list[Any]:
    if not isinstance(t_list, Sequence) or isinstance(t_list, str):
        raise TypeError("t_list should be a sequence")
    return list(t_list)


def _dense_values(t_list: list[Any]) -> list[Any]:
    """The values of each as a tensor; None stays None."""
    return [
        None if t is None else convert_to_tensor(_values_of(t), name=f"t_{i}")
        for i, t in enumerate(t_list)
    ]


@export("linalg.global_norm", "global_norm")
def global_norm(t_list: Any, name: str | None = None) -> Tensor:
    """The 2-norm of all elements of all tensors of a list; None in it is skipped.

    Raises:
      TypeError: `t_list` is not a sequence.
    """
    t_list = _checked_list(t_list)
    with name_scope(name, "global_norm", t_list):
        halves = []
        for value in _dense_values(t_list):
            if value is not None:
                with colocate_with(value):
                    halves.append(apply_op("L2Loss", t=value))
        half = math_ops.reduce_sum(array_ops.stack(halves))
        two = array_ops.constant(2.0, dtype=half.dtype)
        return math_ops.sqrt(half * two, name="global_norm")


@export("clip_by_global_norm")
def clip_by_global_norm(
    t_list: Any, clip_norm: Any, use_norm: Any = None, name: str | None = None
) -> tuple[list[Any], Tensor]:
    """All tensors of a list scaled down together where their norm exceeds a limit.

    Args:
      use_norm: the norm, computed when None.

    Returns:
      The list (None stays None), and the norm. An infinite or NaN norm makes NaN.

    Raises:
      TypeError: `t_list` is not a sequence.
    """
    t_list = _checked_list(t_list)
    if use_norm is None:
        use_norm = global_norm(t_list, name)
    with name_scope(name, "clip_by_global_norm", [*t_list, clip_norm]) as scope:
        finite_scale = clip_norm * math_ops.minimum(
            1.0 / use_norm,
            array_ops.constant(1.0, dtype=use_norm.dtype) / clip_norm,
        )
        scale = array_ops.where(
            math_ops.is_finite(use_norm),
            finite_scale,
            array_ops.constant(float("nan"), dtype=use_norm.dtype),
        )
        clipped: list[Any] = []
        for i, value in enumerate(_dense_values(t_list)):
            if value is None:
                clipped.append(None)
                continue
            with colocate_with(value):
                scaled = array_ops.identity(value * scale, name=f"{scope}_{i}")
            clipped.append(_like(t_list[i], scaled))
        return clipped, use_norm


@export("clip_by_average_norm")
def clip_by_average_norm(t: Any, clip_norm: Any, name: str | None = None) -> Tensor:
    """t scaled down where its 2-norm over its size exceeds `clip_norm`."""
    with name_scope(name, "clip_by_average_norm", [t, clip_norm]) as scope:
        t = convert_to_tensor(t, name="t")
        count = math_ops.cast(array_ops.size(t), dtypes.float32)
        squares = t * t
        every = math_ops.range(array_ops.rank(t))
        inverse_norm = math_ops.rsqrt(math_ops.reduce_sum(squares, every))
        return array_ops.identity(
            t
            * clip_norm
            * math_ops.minimum(
                inverse_norm * count, array_ops.constant(1.0) / clip_norm
            ),
            name=scope,
        )
