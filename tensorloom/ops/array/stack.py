"""Ops along a new axis: Pack and Unpack, and lists that hold tensors.

A list with tensors in it becomes a tensor by packing: `[n, 5]` with a scalar tensor
`n` is a vector. That conversion is registered here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    Operation,
    Tensor,
    is_dense_tensor_like,
    name_scope,
)
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import (
    InferenceContext,
    ShapeError,
    unchanged_shape,
)
from tensorloom.framework.types import nest
from tensorloom.framework.types.tensor_conversion import (
    convert_to_tensor,
    register_tensor_conversion_function,
)
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape
from tensorloom.ops.array import reshape as reshape_ops
from tensorloom.ops.array.constant import constant

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType

# --- shape functions and gradients --------------------------------------------------


def _axis_in_rank(c: InferenceContext, rank: int) -> int:
    axis: int = c.attrs["axis"]
    if not -rank <= axis < rank:
        c.fail(f"Invalid axis: {axis}; must be in [{-rank},{rank})")
    return axis % rank


def _pack_shape(c: InferenceContext) -> TensorShape:
    shape = c.input_shape(c.num_inputs - 1)
    for i in range(c.num_inputs - 2, -1, -1):
        try:
            shape = c.merge(c.input_shape(i), shape)
        except ShapeError as error:
            c.fail(f"{error}\n\tFrom merging shape {i} with other shapes.")
    dims = shape.dims_tuple
    if dims is None:
        return UNKNOWN
    axis = _axis_in_rank(c, len(dims) + 1)
    return TensorShape.of((*dims[:axis], c.num_inputs, *dims[axis:]))


def _unpack_shape(c: InferenceContext) -> list[TensorShape]:
    dims = c.input_shape(0).dims_tuple
    if dims is None:
        return [UNKNOWN] * c.num_outputs
    c.with_rank_at_least(0, 1)
    axis = _axis_in_rank(c, len(dims))
    c.with_value(dims[axis], c.attrs["num"])
    return [TensorShape.of(dims[:axis] + dims[axis + 1 :])] * c.num_outputs


def _parallel_concat_shape(c: InferenceContext) -> TensorShape:
    shape: TensorShape = c.attrs["shape"]
    if not shape.is_fully_defined():
        c.fail("shape attr must be fully defined.")
    assert shape.dims_tuple is not None
    if not shape.dims_tuple:
        c.fail("Out of range dim_index 0 for shape with 0 dimensions")
    if not all(c.input_shape(i).is_fully_defined() for i in range(c.num_inputs)):
        c.fail("All input shapes must be fully defined.")
    if shape.dims_tuple[0] != c.num_inputs:
        c.fail(
            f"shape's first dimension must be the number of inputs, {c.num_inputs}, "
            f"but is {shape.dims_tuple[0]}"
        )
    part = TensorShape.of((1, *shape.dims_tuple[1:]))
    for i in range(c.num_inputs):
        c.merge(c.input_shape(i), part)
    return shape


def _pack_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    return unstack(grad, num=op.get_attr("N"), axis=op.get_attr("axis"))


def _unpack_grad(op: Operation, *grads: Tensor) -> Tensor:
    return stack(grads, axis=op.get_attr("axis"))


# --- definitions --------------------------------------------------------------------

register_op(
    "Pack",
    inputs=["values: N * T"],
    outputs=["output: T"],
    attrs=["N: int >= 1", "T: type", "axis: int = 0"],
    shape_fn=_pack_shape,
    gradient=_pack_grad,
    doc="Tensors of one shape, put together along a new axis.",
)

register_op(
    "Unpack",
    inputs=["value: T"],
    outputs=["output: num * T"],
    attrs=["num: int >= 0", "T: type", "axis: int = 0"],
    shape_fn=_unpack_shape,
    gradient=_unpack_grad,
    doc="The parts of a tensor along an axis, without that axis.",
)

register_op(
    "ParallelConcat",
    inputs=["values: N * T"],
    outputs=["output: T"],
    attrs=["N: int >= 1", "T: type", "shape: shape"],
    shape_fn=_parallel_concat_shape,
    doc="Tensors with first axes of size 1, joined along them.",
)

register_op(
    "_ParallelConcatStart",
    outputs=["output: dtype"],
    attrs=["shape: shape", "dtype: type"],
    shape_fn=lambda c: c.attrs["shape"],
    stateful=True,
    doc="A tensor of a shape whose rows _ParallelConcatUpdate fills.",
)

register_op(
    "_ParallelConcatUpdate",
    inputs=["value: T", "update: T"],
    outputs=["output: T"],
    attrs=["T: type", "loc: int"],
    shape_fn=unchanged_shape,
    doc="The value with the update as its row `loc`.",
)

# --- builders -----------------------------------------------------------------------


@export("stack")
def stack(values: Any, axis: int = 0, name: str = "stack") -> Tensor:
    """Tensors of one shape, put together along a new axis `axis`.

    Raises:
      ValueError: the axis is out of range.
    """
    if axis == 0:
        try:
            return convert_to_tensor(values, name=name)
        except (TypeError, ValueError):
            # Values that do not convert as one: their own error comes from Pack.
            pass
    rank = convert_to_tensor(values[0], name=name).shape.rank
    if rank is not None and not -rank - 1 <= axis < rank + 1:
        raise ValueError(f"axis = {axis} not in [{-rank - 1}, {rank + 1})")
    return apply_op("Pack", values=values, axis=axis, name=name)  # type: ignore[no-any-return]


@export("unstack")
def unstack(
    value: Any, num: int | None = None, axis: int = 0, name: str = "unstack"
) -> list[Tensor]:
    """The parts of `value` along `axis`, without that axis.

    Args:
      num: their number; from the static shape when None.

    Raises:
      ValueError: the number is not known, or the axis is out of range.
    """
    if num is None:
        value = convert_to_tensor(value)
        dims = value.shape.dims_tuple
        if dims is not None:
            if not -len(dims) <= axis < len(dims):
                raise ValueError(f"axis = {axis} not in [{-len(dims)}, {len(dims)})")
            num = dims[axis]
        if num is None:
            raise ValueError(f"Cannot infer num from shape {value.shape}")
    return apply_op("Unpack", value=value, num=num, axis=axis, name=name)  # type: ignore[no-any-return]


@export("parallel_stack")
def parallel_stack(values: Any, name: str = "parallel_stack") -> Tensor:
    """Tensors of one static shape, put together along a new first axis."""
    with name_scope(name):
        shape = convert_to_tensor(values[0]).shape
        rows = [reshape_ops.expand_dims(value, 0) for value in values]
        whole = TensorShape([len(values)]).concatenate(shape)
        return apply_op("ParallelConcat", values=rows, shape=whole)  # type: ignore[no-any-return]


# --- lists that hold tensors --------------------------------------------------------

_NEVER_PACKED = frozenset(
    [int, float, complex, bool, bytes, str, memoryview, np.ndarray]
    + [scalar for scalar in np.sctypeDict.values() if isinstance(scalar, type)]
)


def _list_to_tensor(
    value: Any,
    dtype: DType | None = None,
    name: str | None = None,
    as_ref: bool = False,
) -> Any:
    """Packs a nested list that holds tensors; leaves all others to `constant`."""
    if as_ref or _NEVER_PACKED.issuperset(map(type, value)):
        return NotImplemented
    inferred = _dtype_of_tensors(value)
    if inferred is None:
        return NotImplemented
    if dtype is None:
        dtype = inferred
    elif dtype != inferred:
        value = nest.map_structure(lambda leaf: _cast(leaf, dtype), value)
    return _pack_nested(value, dtype, name or "packed")


def _dtype_of_tensors(values: Any) -> DType | None:
    """The dtype of the first tensor in a nested list, None if there is none."""
    for value in values:
        if is_dense_tensor_like(value):
            dtype: DType = value.dtype.base_dtype
            return dtype
        if isinstance(value, (list, tuple)):
            found = _dtype_of_tensors(value)
            if found is not None:
                return found
    return None


def _cast(value: Any, dtype: DType | None) -> Any:
    if is_dense_tensor_like(value) and value.dtype.base_dtype != dtype:
        return apply_op("Cast", x=value, DstT=dtype)
    return value


def _pack_nested(values: Any, dtype: DType, name: str) -> Any:
    """A Pack of the elements, or the elements where none of them is a tensor."""
    packed = False
    elements: list[Any] = []
    with name_scope(name) as scope:
        for i, value in enumerate(values):
            if is_dense_tensor_like(value):
                _check_dtype(value, dtype)
                element = value
            elif isinstance(value, (list, tuple)):
                element = _pack_nested(value, dtype, str(i))
            else:
                element = value
            packed = packed or is_dense_tensor_like(element)
            elements.append(element)
        if not packed:
            return elements
        tensors = [
            e if is_dense_tensor_like(e) else constant(e, dtype=dtype, name=str(i))
            for i, e in enumerate(elements)
        ]
        return apply_op("Pack", values=tensors, name=scope)


def _check_dtype(tensor: Any, dtype: DType) -> None:
    if tensor.dtype.base_dtype != dtype:
        raise TypeError(
            f"Cannot convert a list containing a tensor of dtype {tensor.dtype} to "
            f"{dtype} (Tensor is: {tensor!r})"
        )


register_tensor_conversion_function((list, tuple), _list_to_tensor, 99)
