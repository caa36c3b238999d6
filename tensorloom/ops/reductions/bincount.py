"""How often each integer occurs: Bincount and DenseBincount."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import shape as shape_ops
from tensorloom.ops.array.constant import constant
from tensorloom.ops.math import binary as binary_ops
from tensorloom.ops.math.cast import cast
from tensorloom.ops.reductions import reductions as reductions_ops
from tensorloom.ops.reductions import segment as segment_ops

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _bincount_shape(c: InferenceContext) -> TensorShape:
    c.with_rank(1, 0)
    size = c.input_value(1)
    if size is None:
        return TensorShape.of((None,))
    if size < 0:
        c.fail(f"size ({int(size)}) must be non-negative")
    return TensorShape.of((int(size),))


register_op(
    "Bincount",
    inputs=["arr: int32", "size: int32", "weights: T"],
    outputs=["bins: T"],
    attrs=["T: {int32, int64, float, double}"],
    shape_fn=_bincount_shape,
    doc="How often (or with which total weight) each integer below size occurs.",
)


def _dense_bincount_shape(c: InferenceContext) -> TensorShape:
    dims, size = c.input_shape(0).dims_tuple, c.input_value(1)
    if size is not None and size.ndim != 0:
        c.fail(f"Shape must be rank 0 but is rank {size.ndim}")
    count = None if size is None else int(size)
    if dims is None:
        return TensorShape.of(None)
    c.with_rank_at_most(0, 2)
    return TensorShape.of((*dims[:-1], count))


register_op(
    "DenseBincount",
    inputs=["input: Tidx", "size: Tidx", "weights: T"],
    outputs=["output: T"],
    attrs=[
        "Tidx: {int32, int64}",
        "T: {int32, int64, float, double}",
        "binary_output: bool = false",
    ],
    shape_fn=_dense_bincount_shape,
    doc="Bincount of a vector, or of each row of a matrix; 2.x programs make it.",
)


@export("math.bincount", "bincount")
def bincount(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = dtypes.int32,
) -> Tensor:
    """How often each integer from 0 to the largest of `arr` occurs in it.

    Args:
      weights: add these up instead of counting; of the shape of `arr`.
      minlength, maxlength: bounds of the result's length.
      dtype: of the counts.

    Raises:
      errors.InvalidArgumentError: at run time, for a negative integer.
    """
    with name_scope("bincount"):
        arr = convert_to_tensor(arr, name="arr", dtype=dtypes.int32)
        not_empty = reductions_ops.reduce_prod(shape_ops.shape(arr)) > 0
        size = cast(not_empty, dtypes.int32) * (reductions_ops.reduce_max(arr) + 1)
        if minlength is not None:
            minlength = convert_to_tensor(
                minlength, name="minlength", dtype=dtypes.int32
            )
            size = binary_ops.maximum(minlength, size)
        if maxlength is not None:
            maxlength = convert_to_tensor(
                maxlength, name="maxlength", dtype=dtypes.int32
            )
            size = binary_ops.minimum(maxlength, size)
        if weights is not None:
            weights = convert_to_tensor(weights, name="weights")
            return segment_ops.unsorted_segment_sum(weights, arr, size)
        weights = constant([], dtype)
        return apply_op(  # type: ignore[no-any-return]
            "Bincount", arr=arr, size=size, weights=weights
        )
