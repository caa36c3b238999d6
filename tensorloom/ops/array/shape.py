"""Ops that ask for a tensor's shape: Shape, ShapeN, Size, Rank and shape arithmetic.

The builders answer with a Const where the static shape says it all, as TensorFlow's do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.registry.shape_inference import InferenceContext, scalar_shape
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import SparseTensor, SparseTensorValue
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape, as_shape
from tensorloom.ops.array.constant import constant

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType

# --- shape functions ----------------------------------------------------------------


def _shape_shape(c: InferenceContext) -> list[TensorShape]:
    return [TensorShape.of((c.input_shape(i).rank,)) for i in range(c.num_inputs)]


def _broadcast_args_shape(c: InferenceContext) -> TensorShape:
    length_x = c.with_rank(0, 1).dims_tuple
    length_y = c.with_rank(1, 1).dims_tuple
    assert length_x is not None
    assert length_y is not None
    x, y = length_x[0], length_y[0]
    if x is None or y is None:
        return TensorShape.of((None,))
    return TensorShape.of((max(x, y),))


def _gradient_args_shape(c: InferenceContext) -> list[TensorShape]:
    c.with_rank(0, 1)
    c.with_rank(1, 1)
    return [TensorShape.of((None,))] * 2


# --- definitions --------------------------------------------------------------------

register_op(
    "Shape",
    inputs=["input: T"],
    outputs=["output: out_type"],
    attrs=["T: type", "out_type: {int32, int64} = DT_INT32"],
    shape_fn=_shape_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="The input's shape, a vector.",
)

register_op(
    "ShapeN",
    inputs=["input: N * T"],
    outputs=["output: N * out_type"],
    attrs=["N: int >= 1", "T: type", "out_type: {int32, int64} = DT_INT32"],
    shape_fn=_shape_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="The shapes of all inputs, a vector for each.",
)

register_op(
    "Size",
    inputs=["input: T"],
    outputs=["output: out_type"],
    attrs=["T: type", "out_type: {int32, int64} = DT_INT32"],
    shape_fn=scalar_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="The number of elements of the input.",
)

register_op(
    "Rank",
    inputs=["input: T"],
    outputs=["output: int32"],
    attrs=["T: type"],
    shape_fn=scalar_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="The number of axes of the input.",
)

register_op(
    "BroadcastGradientArgs",
    inputs=["s0: T", "s1: T"],
    outputs=["r0: T", "r1: T"],
    attrs=["T: {int32, int64} = DT_INT32"],
    shape_fn=_gradient_args_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="The axes to sum over to undo a broadcast, for each of two shapes.",
)

register_op(
    "BroadcastArgs",
    inputs=["s0: T", "s1: T"],
    outputs=["r0: T"],
    attrs=["T: {int32, int64} = DT_INT32"],
    shape_fn=_broadcast_args_shape,
    doc="The shape that two shapes broadcast to.",
)

# --- builders -----------------------------------------------------------------------


@export("shape")
def shape(
    input: Any, name: str | None = None, out_type: DType = dtypes.int32
) -> Tensor:
    """The shape of `input`, a vector of `out_type`; a constant where it is known."""
    return shape_internal(input, name, optimize=True, out_type=out_type)


def shape_internal(
    input: Any,
    name: str | None = None,
    optimize: bool = True,
    out_type: DType = dtypes.int32,
) -> Tensor:
    """The shape of `input`; always a Shape node when `optimize` is False."""
    with name_scope(name, "Shape", [input]) as scope:
        if isinstance(input, (SparseTensor, SparseTensorValue)):
            return apply_op("Cast", x=input.dense_shape, DstT=out_type)  # type: ignore[no-any-return]
        tensor = convert_to_tensor(input)
        dims = tensor.shape.dims_tuple
        if optimize and dims is not None and None not in dims:
            return constant(list(dims), out_type, name=scope)
        return apply_op("Shape", input=input, out_type=out_type, name=scope)  # type: ignore[no-any-return]


@export("shape_n")
def shape_n(
    input: Sequence[Any], out_type: DType = dtypes.int32, name: str | None = None
) -> list[Tensor]:
    """The shapes of several tensors of one dtype, computed by one node."""
    return apply_op("ShapeN", input=input, out_type=out_type, name=name)  # type: ignore[no-any-return]


@export("size")
def size(input: Any, name: str | None = None, out_type: DType = dtypes.int32) -> Tensor:
    """The number of elements of `input`; a constant where it is known."""
    return size_internal(input, name, optimize=True, out_type=out_type)


def size_internal(
    input: Any,
    name: str | None = None,
    optimize: bool = True,
    out_type: DType = dtypes.int32,
) -> Tensor:
    """The number of elements; always a Size node when `optimize` is False."""
    with name_scope(name, "Size", [input]) as scope:
        if isinstance(input, (SparseTensor, SparseTensorValue)):
            sizes = apply_op("Cast", x=input.dense_shape, DstT=out_type)
            return apply_op("Prod", input=sizes, reduction_indices=0, name=scope)  # type: ignore[no-any-return]
        tensor = convert_to_tensor(input)
        elements = tensor.shape.num_elements()
        dims = tensor.shape.dims_tuple
        if optimize and elements is not None:
            return constant(elements, out_type, name=scope)
        if optimize and dims and 0 in dims:
            return constant(0, out_type, name=scope)
        return apply_op("Size", input=input, out_type=out_type, name=scope)  # type: ignore[no-any-return]


@export("rank")
def rank(input: Any, name: str | None = None) -> Tensor:
    """The number of axes of `input`, an int32 scalar; a constant where it is known."""
    return rank_internal(input, name, optimize=True)


def rank_internal(input: Any, name: str | None = None, optimize: bool = True) -> Tensor:
    """The number of axes; always a Rank node when `optimize` is False."""
    with name_scope(name, "Rank", [input]) as scope:
        if isinstance(input, (SparseTensor, SparseTensorValue)):
            return apply_op("Size", input=input.dense_shape, name=scope)  # type: ignore[no-any-return]
        tensor = convert_to_tensor(input)
        axes = tensor.shape.rank
        if optimize and axes is not None:
            return constant(axes, dtypes.int32, name=scope)
        return apply_op("Rank", input=input, name=scope)  # type: ignore[no-any-return]


def axis_size(tensor: Tensor, axis: int) -> Any:
    """The size of an axis: a number where it is known, else an int32 scalar."""
    known = tensor.shape
    static = None if known.rank is None else known.as_list()[axis]
    return shape(tensor)[axis] if static is None else static


@export("broadcast_dynamic_shape")
def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Tensor:
    """The shape that two shape vectors broadcast to.

    Raises (at run time):
      errors.InvalidArgumentError: they do not.
    """
    return apply_op("BroadcastArgs", s0=shape_x, s1=shape_y)  # type: ignore[no-any-return]


@export("broadcast_static_shape")
def broadcast_static_shape(shape_x: Any, shape_y: Any) -> TensorShape:
    """The shape that two static shapes broadcast to, known as far as they are.

    Raises:
      ValueError: they do not.
    """
    x, y = as_shape(shape_x).dims_tuple, as_shape(shape_y).dims_tuple
    if x is None or y is None:
        return TensorShape.of(None)
    rank = max(len(x), len(y))
    padded_x = (1,) * (rank - len(x)) + x
    padded_y = (1,) * (rank - len(y)) + y
    result: list[int | None] = []
    for a, b in zip(padded_x, padded_y, strict=True):
        if a is None or b is None:
            known = b if a is None else a
            result.append(known if known is not None and known > 1 else None)
        elif a == b or b == 1:
            result.append(a)
        elif a == 1:
            result.append(b)
        else:
            raise ValueError(
                "Incompatible shapes for broadcasting: "
                f"{as_shape(shape_x)} and {as_shape(shape_y)}"
            )
    return TensorShape.of(tuple(result))


def broadcast_gradient_args(
    s0: Any, s1: Any, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The axes over which a gradient is summed to fit `s0` and `s1`."""
    return apply_op("BroadcastGradientArgs", s0=s0, s1=s1, name=name)  # type: ignore[no-any-return]
