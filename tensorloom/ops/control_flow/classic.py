"""Builders of the primitives of classic control flow: Switch, Merge, Enter, Exit.

`tf.cond` and `tf.while_loop` are built of them, and so are their gradients.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.runtime.scopes import name_scope
from tensorloom.framework.types import nest
from tensorloom.framework.types.dtypes import int64
from tensorloom.framework.types.indexed_slices import (
    IndexedSlices,
    to_tensor_or_composite,
)
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import identity as identity_ops
from tensorloom.ops.math import cast as math_ops_cast
from tensorloom.ops.math import sequence as math_ops_sequence


def switch(data: Any, pred: Any, name: str = "Switch") -> tuple[Any, Any]:
    """`data` at the output that `pred` names: (when false, when true).

    Args:
      data: what converts to a tensor, or IndexedSlices and the like.
      pred: what converts to a bool scalar.
    """
    if isinstance(data, Tensor) and isinstance(pred, Tensor):
        return tuple(apply_op("Switch", data=data, pred=pred, name=name))
    with name_scope(name) as scope:
        data = to_tensor_or_composite(data, None, "data", True)
        pred = convert_to_tensor(pred, name="pred")
        if isinstance(data, Tensor):
            return tuple(apply_op("Switch", data=data, pred=pred, name=scope))
        parts = [apply_op("Switch", data=t, pred=pred) for t in _parts(data)]
    return _packed(data, [p[0] for p in parts]), _packed(data, [p[1] for p in parts])


def switch_beside(data: Any, pred: Tensor, name: str = "Switch") -> tuple[Any, Any]:
    """`switch` on the device of `data`, which may be a reference."""
    with get_default_graph().colocate_with(data.op, ignore_existing=True):
        if isinstance(data, Tensor) and data._dtype._is_ref_dtype:
            outputs = apply_op("RefSwitch", data=data, pred=pred, name=name)
            return outputs[0], outputs[1]
        return switch(data, pred, name)


def merge(values: Sequence[Any], name: str = "Merge") -> Any:
    """The one of `values` that is not dead; dense ones beside slices become slices.

    Raises:
      ValueError: one of them is None.
    """
    if any(value is None for value in values):
        raise ValueError(f"At least one of the merge inputs is None: {values}")
    if all(isinstance(value, Tensor) for value in values):
        is_ref = all(value._dtype._is_ref_dtype for value in values)
        op = "RefMerge" if is_ref else "Merge"
        return apply_op(op, inputs=list(values), name=name)[0]
    with name_scope(name):
        slices = _all_slices(values)
        columns = zip(*[_parts(value) for value in slices], strict=True)
        merged = [apply_op("Merge", inputs=list(column))[0] for column in columns]
        return _packed(slices[0], merged)


def _all_slices(values: Sequence[Any]) -> list[IndexedSlices]:
    """The values as slices, whose indices have one dtype."""
    slices = [as_slices(value) for value in values]
    if len({s.indices.dtype for s in slices}) == 1:
        return slices
    return [
        IndexedSlices(s.values, math_ops_cast.cast(s.indices, int64), s.dense_shape)
        for s in slices
    ]


def as_slices(value: Any) -> Any:
    """All rows of a tensor as IndexedSlices; slices as they are."""
    if not isinstance(value, Tensor):
        return value
    shape = apply_op("Shape", input=value)
    rows = math_ops_sequence.range(0, shape[0])
    return IndexedSlices(value, rows, shape)


def enter(
    data: Any,
    frame_name: str,
    is_constant: bool = False,
    parallel_iterations: int = 10,
    use_input_shape: bool = True,
    name: str | None = None,
) -> Any:
    """`data` in the frame of that name."""
    if not isinstance(data, Tensor):
        parts = [
            enter(t, frame_name, is_constant, parallel_iterations, use_input_shape)
            for t in _parts(data)
        ]
        return _packed(data, parts)
    result = apply_op(
        "RefEnter" if data._dtype._is_ref_dtype else "Enter",
        data=data,
        frame_name=frame_name,
        is_constant=is_constant,
        parallel_iterations=parallel_iterations,
        name=name,
    )
    if use_input_shape:
        result.set_shape(data.shape)
    return result


def leave(data: Any, name: str | None = None) -> Any:
    """`data` outside of its frame: an Exit."""
    return _passed("Exit", data, name)


def next_iteration(data: Any, name: str | None = None) -> Any:
    """`data` in the next iteration of its frame."""
    return _passed("NextIteration", data, name)


def identity_of(data: Tensor) -> Tensor:
    """An Identity; of a reference, a RefIdentity."""
    if data._dtype._is_ref_dtype:
        result: Tensor = apply_op("RefIdentity", input=data)
        return result
    return identity_ops.identity(data)


def _passed(op: str, data: Any, name: str | None) -> Any:
    if isinstance(data, Tensor):
        prefix = "Ref" if data._dtype._is_ref_dtype else ""
        return apply_op(f"{prefix}{op}", data=data, name=name)
    return _packed(data, [_passed(op, tensor, None) for tensor in _parts(data)])


def _parts(value: Any) -> list[Tensor]:
    parts: list[Tensor] = nest.flatten(value, expand_composites=True)
    return parts


def _packed(like: Any, tensors: Sequence[Tensor]) -> Any:
    return nest.pack_sequence_as(like, list(tensors), expand_composites=True)
