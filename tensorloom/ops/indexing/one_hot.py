"""Tensors made from indices and lengths: OneHot, sequence masks, repeats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.dtypes import DType, as_dtype
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape
from tensorloom.ops.array import reshape as reshape_ops
from tensorloom.ops.array import shape as shape_ops
from tensorloom.ops.array.constant import constant

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _one_hot_shape(c: InferenceContext) -> TensorShape:
    axis: int = c.attrs["axis"]
    if axis < -1:
        c.fail("axis must be >= -1")
    depth = c.input_value(1)
    c.with_rank(1, 0)
    if depth is not None and depth < 0:
        c.fail(
            "Dimension size, given by scalar input 1, must be non-negative but is "
            f"{depth}"
        )
    dims = c.input_shape(0).dims_tuple
    if dims is None:
        return UNKNOWN
    at = len(dims) if axis == -1 else axis
    size = None if depth is None else int(depth)
    return TensorShape.of((*dims[:at], size, *dims[at:]))


register_op(
    "OneHot",
    inputs=["indices: TI", "depth: int32", "on_value: T", "off_value: T"],
    outputs=["output: T"],
    attrs=["axis: int = -1", "T: type", "TI: {uint8, int32, int64, int8} = DT_INT64"],
    shape_fn=_one_hot_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="A new axis of size `depth` with on_value at the index, off_value elsewhere.",
)


@export("one_hot")
def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: int | None = None,
    dtype: Any = None,
    name: str | None = None,
) -> Tensor:
    """`indices` with a new axis of size `depth`, in which the index's entry is on.

    Args:
      on_value, off_value: scalars; 1 and 0 of `dtype` when None.
      axis: of the new axis; last when None.
      dtype: of the result; that of the values, or float32.

    Raises:
      TypeError: the dtypes of the values and `dtype` differ.
    """
    arguments = [indices, depth, on_value, off_value, axis, dtype]
    with name_scope(name, "one_hot", arguments) as scope:
        on_dtype = _dtype_of(on_value)
        off_dtype = _dtype_of(off_value)
        dtype = _one_hot_dtype(on_dtype, off_dtype, dtype)
        if on_value is None:
            on_value = convert_to_tensor(1, dtype, name="on_value")
            on_dtype = dtype
        if off_value is None:
            off_value = convert_to_tensor(0, dtype, name="off_value")
            off_dtype = dtype
        if on_dtype != off_dtype:
            raise TypeError(
                f"dtype {on_dtype} of on_value does not match dtype {off_dtype} of "
                "off_value"
            )
        return apply_op(  # type: ignore[no-any-return]
            "OneHot",
            indices=indices,
            depth=depth,
            on_value=on_value,
            off_value=off_value,
            axis=axis,
            name=scope,
        )


def _dtype_of(value: Any) -> DType | None:
    return None if value is None else convert_to_tensor(value).dtype.base_dtype


def _one_hot_dtype(on: DType | None, off: DType | None, dtype: Any) -> Any:
    if on is None and off is None:
        return dtypes.float32 if dtype is None else dtype
    if dtype is None:
        return on if on is not None else off
    for which, found in (("on", on), ("off", off)):
        if found is not None and found != dtype:
            raise TypeError(
                f"dtype {found} of {which}_value does not match dtype parameter {dtype}"
            )
    return dtype


def all_dimensions(x: Any) -> Tensor:
    """All axes of `x`, as a reduction takes them; constant where the rank is known."""
    if isinstance(x, Tensor) and x.shape.rank is not None:
        return constant(np.arange(x.shape.rank), dtype=dtypes.int32)
    if isinstance(x, SparseTensor) and x.dense_shape.shape.is_fully_defined():
        rank = x.dense_shape.shape.num_elements()
        assert rank is not None
        return constant(np.arange(rank), dtype=dtypes.int32)
    return apply_op("Range", start=0, limit=shape_ops.rank(x), delta=1)  # type: ignore[no-any-return]


@export("sequence_mask")
def sequence_mask(
    lengths: Any, maxlen: Any = None, dtype: Any = dtypes.bool, name: str | None = None
) -> Tensor:
    """`lengths` with a new last axis, true in its first `lengths[...]` entries.

    Args:
      maxlen: size of the new axis, a scalar; the greatest length when None.

    Raises:
      ValueError: `maxlen` is not a scalar.
    """
    with name_scope(name, "SequenceMask", [lengths, maxlen]):
        lengths = convert_to_tensor(lengths)
        if maxlen is None:
            axes = all_dimensions(lengths)
            maxlen = apply_op("Max", input=lengths, reduction_indices=axes)
            maxlen = apply_op("Maximum", x=constant(0, maxlen.dtype), y=maxlen)
        else:
            maxlen = convert_to_tensor(maxlen)
        if maxlen.shape.rank not in (None, 0):
            raise ValueError("maxlen must be scalar for sequence_mask")
        start, step = constant(0, maxlen.dtype), constant(1, maxlen.dtype)
        row = apply_op("Range", start=start, limit=maxlen, delta=step)
        column = apply_op(
            "Cast", x=reshape_ops.expand_dims(lengths, -1), DstT=maxlen.dtype
        )
        result: Tensor = row < column
        if dtype is None or as_dtype(dtype).base_dtype == dtypes.bool:
            return result
        return apply_op("Cast", x=result, DstT=dtype)  # type: ignore[no-any-return]
