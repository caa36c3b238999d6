"""`tensor[...]`: every form of index, as one StridedSlice or one boolean mask."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tensorloom.framework.export import export_value
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.dimension import Dimension
from tensorloom.ops.array import stack as stack_ops
from tensorloom.ops.array.constant import constant
from tensorloom.ops.indexing import selection as selection_ops
from tensorloom.ops.indexing import slice as slice_ops

#: An index that adds an axis of size 1.
newaxis = None
export_value(newaxis, "newaxis")

_INDEX_DTYPES = frozenset(
    [dtypes.int32, dtypes.int32._as_ref, dtypes.int64, dtypes.int64._as_ref]
)


@dataclass(slots=True)
class _Spec:
    """An index in the form that StridedSlice takes."""

    begin: list[Any] = field(default_factory=list)
    end: list[Any] = field(default_factory=list)
    strides: list[Any] = field(default_factory=list)
    masks: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(
            (
                "begin_mask",
                "end_mask",
                "shrink_axis_mask",
                "new_axis_mask",
                "ellipsis_mask",
            ),
            0,
        )
    )

    def add(self, item: Any) -> None:
        """Adds one entry of the user's index."""
        bit = 1 << len(self.begin)
        if isinstance(item, slice):
            self._add_slice(item, bit)
        elif item is Ellipsis:
            self._append(0, 0, 1)
            self.masks["ellipsis_mask"] |= bit
        elif item is newaxis:
            self._append(0, 0, 1)
            self.masks["new_axis_mask"] |= bit
        else:
            _check_index(item)
            self._append(item, item + 1, 1)
            self.masks["shrink_axis_mask"] |= bit

    def _add_slice(self, item: slice, bit: int) -> None:
        begin, end, step = item.start, item.stop, item.step
        if _is_open(begin):
            begin = 0
            self.masks["begin_mask"] |= bit
        else:
            _check_index(begin)
        if _is_open(end):
            end = 0
            self.masks["end_mask"] |= bit
        else:
            _check_index(end)
        if step is None:
            step = 1
        else:
            _check_index(step)
        self._append(begin, end, step)

    def _append(self, begin: Any, end: Any, step: Any) -> None:
        self.begin.append(begin)
        self.end.append(end)
        self.strides.append(step)


def _is_open(bound: Any) -> bool:
    # Python 2 wrote sys.maxsize for an absent bound; TensorFlow still reads it so.
    return bound is None or (not isinstance(bound, Tensor) and bound == sys.maxsize)


def _check_index(index: Any) -> None:
    if isinstance(index, (int, Dimension)):
        return
    dtype = getattr(index, "dtype", None)
    if dtype is not None:
        shape = index.shape
        is_vector = shape is not None and bool(shape) and len(shape) == 1
        if dtypes.as_dtype(dtype) in _INDEX_DTYPES and not is_vector:
            return
    raise TypeError(
        "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
        f"tf.int32/tf.int64 tensors are valid indices, got {index!r}"
    )


def getitem(tensor: Any, index: Any, variable: Any = None) -> Tensor:
    """The part of `tensor` that a Python index names.

    Args:
      index: an int, slice, `...`, `tf.newaxis`, scalar integer tensor, or a tuple of
        them; or a boolean mask.
      variable: the variable that `tensor` is the value of: `v[1:3].assign(...)`.

    Raises:
      TypeError: another kind of index.
      ValueError: an index out of range.
    """
    if _is_mask(index):
        return selection_ops.boolean_mask(tensor=tensor, mask=index)
    spec = _Spec()
    for item in index if isinstance(index, (list, tuple)) else [index]:
        spec.add(item)
    values = [tensor, *spec.begin, *spec.end, *spec.strides]
    with name_scope(None, "strided_slice", values) as scope:
        begin, end, strides = _pack(spec)
        return slice_ops.strided_slice(
            tensor, begin, end, strides, var=variable, name=scope, **spec.masks
        )


def _is_mask(index: Any) -> bool:
    if isinstance(index, Tensor):
        return index.dtype == dtypes.bool
    return isinstance(index, bool) or (
        isinstance(index, np.ndarray) and index.dtype == np.bool_
    )


def _pack(spec: _Spec) -> tuple[Tensor, Tensor, Tensor]:
    if not spec.begin:
        empty = constant([], dtype=dtypes.int32)
        return empty, empty, empty
    packed = [stack_ops.stack(spec.begin), stack_ops.stack(spec.end)]
    packed.append(stack_ops.stack(spec.strides))
    if any(p.dtype == dtypes.int64 for p in packed):
        packed = [
            p if p.dtype == dtypes.int64 else apply_op("Cast", x=p, DstT=dtypes.int64)
            for p in packed
        ]
    return packed[0], packed[1], packed[2]


Tensor._override_operator("__getitem__", getitem)
