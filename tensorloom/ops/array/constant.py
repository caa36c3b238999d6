"""Constants: the Const op, `tf.constant`, and how Python values become tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.registry import op_registry
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.array_conversion import to_ndarray
from tensorloom.framework.types.dimension import Dimension
from tensorloom.framework.types.dtypes import DType, as_dtype
from tensorloom.framework.types.message_tensor import MESSAGE_CONST
from tensorloom.framework.types.tensor_conversion import (
    register_tensor_conversion_function,
)
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext

_INT32_END = 2**31


def _const_shape(c: InferenceContext) -> TensorShape:
    return TensorShape.of(c.attrs["value"].shape)


op_registry.register_op(
    "Const",
    outputs=["output: dtype"],
    attrs=["value: tensor", "dtype: type"],
    shape_fn=_const_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="A value that stands in the graph.",
)

op_registry.register_op(
    MESSAGE_CONST,
    outputs=["output: dtype"],
    attrs=["value: tensor", "dtype: type"],
    shape_fn=_const_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="A Const of resource handles or variants, as the runtime has it.",
)

op_registry.register_op(
    "HostConst",
    outputs=["output: dtype"],
    attrs=["value: tensor", "dtype: type"],
    shape_fn=_const_shape,
    doc="A Const; where it lives is decided as for any other.",
)


@export("constant")
def constant(
    value: Any,
    dtype: Any = None,
    shape: Any = None,
    name: str | None = "Const",
    verify_shape: bool = False,
) -> Tensor:
    """A tensor with a constant value.

    Args:
      value: number, string, nested lists of them, or an array.
      dtype: type of the elements; int32, float32, bool or string by the value if None.
      shape: shape of the result. A shorter list of values is filled up with its last.
      verify_shape: the value must have `shape` exactly.

    Raises:
      TypeError: the value does not fit `dtype`, or with `verify_shape` not `shape`.
      ValueError: the value is ragged or None, or has too many elements for `shape`.
    """
    if dtype is not None:
        dtype = as_dtype(dtype)
    array = to_ndarray(value, dtype, shape, verify_shape)
    if dtype is None or not dtype.is_quantized:
        dtype = as_dtype(array.dtype)
    attrs = {"value": array, "dtype": dtype}
    if name is None:
        name = "Const"
    graph = get_default_graph()
    op_def = op_registry.find("Const")
    assert op_def is not None
    return graph.add_operation(op_def, (), attrs, name, (dtype,))._outputs[0]


# --- conversions --------------------------------------------------------------------


def _value_to_tensor(
    value: Any,
    dtype: DType | None = None,
    name: str | None = None,
    as_ref: bool = False,
) -> Tensor:
    return constant(value, dtype, None, name)


def tensor_shape_to_tensor(
    shape: TensorShape,
    dtype: DType | None = None,
    name: str | None = None,
    as_ref: bool = False,
) -> Tensor:
    """A fully known shape as a constant vector, int32 where that suffices.

    Raises:
      ValueError: the shape is not fully known, or too large for int32.
      TypeError: `dtype` is neither int32 nor int64.
    """
    if not shape.is_fully_defined():
        raise ValueError(
            f"Cannot convert a partially known TensorShape to a Tensor: {shape}"
        )
    sizes = shape.dims_tuple
    assert sizes is not None
    large = next((size for size in sizes if size and size >= _INT32_END), 0)
    if dtype is None:
        dtype = dtypes.int64 if large else dtypes.int32
    elif dtype not in (dtypes.int32, dtypes.int64):
        raise TypeError(f"Cannot convert a TensorShape to dtype: {dtype}")
    elif dtype == dtypes.int32 and large:
        raise ValueError(
            "Cannot convert a TensorShape to dtype int32; "
            f"a dimension is too large ({large})"
        )
    return constant(
        list(sizes), dtype, None, "shape_as_tensor" if name is None else name
    )


def _dimension_to_tensor(
    dimension: Dimension,
    dtype: DType | None = None,
    name: str | None = None,
    as_ref: bool = False,
) -> Tensor:
    if dimension.value is None:
        raise ValueError(
            f"Cannot convert an unknown Dimension to a Tensor: {dimension}"
        )
    if dtype is None:
        dtype = dtypes.int32
    elif dtype not in (dtypes.int32, dtypes.int64):
        raise TypeError(f"Cannot convert a TensorShape to dtype: {dtype}")
    return constant(
        dimension.value, dtype, None, "shape_as_tensor" if name is None else name
    )


# Lists are asked after `stack_ops`, which packs lists that hold tensors (99).
register_tensor_conversion_function((list, tuple), _value_to_tensor, 100)
register_tensor_conversion_function(TensorShape, tensor_shape_to_tensor, 100)
register_tensor_conversion_function(Dimension, _dimension_to_tensor, 100)
register_tensor_conversion_function(object, _value_to_tensor, 200)
