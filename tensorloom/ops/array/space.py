"""Ops that move blocks of space to depth or batch and back."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Operation, Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape
from tensorloom.ops.array import argument_aliases
from tensorloom.ops.array import fill as fill_ops
from tensorloom.ops.array import stack as stack_ops

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext

Dims = tuple[int | None, ...]

# --- shape functions ----------------------------------------------------------------


def _depth_dims(c: InferenceContext) -> tuple[int, int, int] | None:
    """Axes of height, width and channels for the data format."""
    c.with_rank(0, 4)
    return (1, 2, 3) if c.attrs["data_format"] == b"NHWC" else (2, 3, 1)


def _space_to_depth_shape(c: InferenceContext) -> TensorShape:
    return _rearranged(c, into_depth=True)


def _depth_to_space_shape(c: InferenceContext) -> TensorShape:
    return _rearranged(c, into_depth=False)


def _rearranged(c: InferenceContext, into_depth: bool) -> TensorShape:
    if c.attrs["data_format"] == b"NCHW_VECT_C":
        return TensorShape.of((None,) * 5)
    axes = _depth_dims(c)
    dims = c.with_rank(0, 4).dims_tuple
    assert dims is not None
    assert axes is not None
    block: int = c.attrs["block_size"]
    height, width, channels = axes
    sizes = list(dims)
    for axis in (height, width):
        size = dims[axis]
        sizes[axis] = _divided(c, size, block) if into_depth else _times(size, block)
    area = block * block
    depth = dims[channels]
    sizes[channels] = _times(depth, area) if into_depth else _divided(c, depth, area)
    return TensorShape.of(tuple(sizes))


def _times(size: int | None, factor: int) -> int | None:
    return None if size is None else size * factor


def _divided(c: InferenceContext, size: int | None, divisor: int) -> int | None:
    if size is None:
        return None
    if size % divisor:
        c.fail(f"Dimension size must be evenly divisible by {divisor} but is {size}")
    return size // divisor


def _space_to_batch_nd_shape(c: InferenceContext) -> TensorShape:
    _check_block_shape(c)
    return _batch_shape(c, c.input_value(1), 2, into_batch=True)


def _batch_to_space_nd_shape(c: InferenceContext) -> TensorShape:
    _check_block_shape(c)
    return _batch_shape(c, c.input_value(1), 2, into_batch=False)


def _check_block_shape(c: InferenceContext) -> None:
    dims = c.input_shape(1).dims_tuple
    if dims is None or len(dims) != 1:
        c.fail("block_shape must have rank 1.")
    if dims[0] is None:
        c.fail("block_shape must have known size.")
    c.merge(c.input_shape(2), TensorShape.of((dims[0], 2)))


def _space_to_batch_shape(c: InferenceContext) -> TensorShape:
    return _square_batch_shape(c, into_batch=True)


def _batch_to_space_shape(c: InferenceContext) -> TensorShape:
    return _square_batch_shape(c, into_batch=False)


def _square_batch_shape(c: InferenceContext, into_batch: bool) -> TensorShape:
    c.with_rank(0, 4)
    c.merge(c.input_shape(1), TensorShape.of((2, 2)))
    block = np.full(2, c.attrs["block_size"])
    shape = _batch_shape(c, block, 1, into_batch=into_batch)
    return TensorShape.of((None,) * 4) if shape.dims_tuple is None else shape


def _batch_shape(
    c: InferenceContext, block: Any, border_input: int, into_batch: bool
) -> TensorShape:
    borders = c.input_value(border_input)
    dims = c.input_shape(0).dims_tuple
    if block is None:
        count = c.input_shape(1).num_elements()
        if count is not None:
            c.with_rank_at_least(0, count + 1)
        return UNKNOWN if dims is None else TensorShape.of((None,) * len(dims))
    blocks = block.reshape(-1).tolist()
    if any(b < 1 for b in blocks):
        c.fail("block_shape must be positive")
    c.with_rank_at_least(0, len(blocks) + 1)
    if dims is None:
        return UNKNOWN
    area = math.prod(blocks)
    batch = _times(dims[0], area) if into_batch else _divided(c, dims[0], area)
    rows = [None] * len(blocks) if borders is None else borders.tolist()
    space = [
        _moved(c, size, b, row, into_batch)
        for size, b, row in zip(dims[1:], blocks, rows, strict=False)
    ]
    return TensorShape.of((batch, *space, *dims[len(blocks) + 1 :]))


def _moved(
    c: InferenceContext,
    size: int | None,
    block: int,
    border: list[int] | None,
    into_batch: bool,
) -> int | None:
    if border is None:
        return None
    if min(border) < 0:
        c.fail(
            "paddings cannot be negative" if into_batch else "crops cannot be negative"
        )
    if size is None:
        return None
    if into_batch:
        return _divided(c, size + sum(border), block)
    cropped = size * block - sum(border)
    if cropped < 0:
        c.fail("crops must not be larger than the block-expanded size")
    return cropped


# --- gradients ----------------------------------------------------------------------


def _space_to_depth_grad(op: Operation, grad: Tensor) -> Tensor:
    return depth_to_space(
        grad, op.get_attr("block_size"), data_format=_format(op, "SpaceToDepth")
    )


def _depth_to_space_grad(op: Operation, grad: Tensor) -> Tensor:
    return space_to_depth(
        grad, op.get_attr("block_size"), data_format=_format(op, "DepthToSpace")
    )


def _format(op: Operation, kind: str) -> str:
    data_format: str = op.get_attr("data_format").decode()
    if data_format == "NCHW_VECT_C":
        raise ValueError(
            f"Cannot compute {kind} gradient with NCHW_VECT_C. NCHW_VECT_C requires "
            "qint8 data type."
        )
    return data_format


def _space_to_batch_nd_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [batch_to_space_nd(grad, op.inputs[1], op.inputs[2]), None, None]


def _batch_to_space_nd_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [space_to_batch_nd(grad, op.inputs[1], op.inputs[2]), None, None]


def _space_to_batch_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    size = op.get_attr("block_size")
    return [batch_to_space(grad, op.inputs[1], block_size=size), None]


def _batch_to_space_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    size = op.get_attr("block_size")
    return [space_to_batch(grad, op.inputs[1], block_size=size), None]


# --- definitions --------------------------------------------------------------------

_DEPTH_ATTRS = [
    "T: type",
    "block_size: int >= 2",
    "data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'",
]

register_op(
    "SpaceToDepth",
    inputs=["input: T"],
    outputs=["output: T"],
    attrs=_DEPTH_ATTRS,
    shape_fn=_space_to_depth_shape,
    gradient=_space_to_depth_grad,
    doc="Blocks of height and width moved into the channels.",
)

register_op(
    "DepthToSpace",
    inputs=["input: T"],
    outputs=["output: T"],
    attrs=_DEPTH_ATTRS,
    shape_fn=_depth_to_space_shape,
    gradient=_depth_to_space_grad,
    doc="Channels moved into blocks of height and width.",
)

register_op(
    "SpaceToBatchND",
    inputs=["input: T", "block_shape: Tblock_shape", "paddings: Tpaddings"],
    outputs=["output: T"],
    attrs=[
        "T: type",
        "Tblock_shape: {int32, int64} = DT_INT32",
        "Tpaddings: {int32, int64} = DT_INT32",
    ],
    shape_fn=_space_to_batch_nd_shape,
    gradient=_space_to_batch_nd_grad,
    doc="Padded blocks of the space axes moved into the batch.",
)

register_op(
    "BatchToSpaceND",
    inputs=["input: T", "block_shape: Tblock_shape", "crops: Tcrops"],
    outputs=["output: T"],
    attrs=[
        "T: type",
        "Tblock_shape: {int32, int64} = DT_INT32",
        "Tcrops: {int32, int64} = DT_INT32",
    ],
    shape_fn=_batch_to_space_nd_shape,
    gradient=_batch_to_space_nd_grad,
    doc="The batch moved into blocks of the space axes, which are cropped.",
)

register_op(
    "SpaceToBatch",
    inputs=["input: T", "paddings: Tpaddings"],
    outputs=["output: T"],
    attrs=["T: type", "Tpaddings: {int32, int64} = DT_INT32", "block_size: int >= 2"],
    shape_fn=_space_to_batch_shape,
    gradient=_space_to_batch_grad,
    doc="SpaceToBatchND for pictures and square blocks.",
)

register_op(
    "BatchToSpace",
    inputs=["input: T", "crops: Tidx"],
    outputs=["output: T"],
    attrs=["T: type", "block_size: int >= 2", "Tidx: {int32, int64} = DT_INT32"],
    shape_fn=_batch_to_space_shape,
    gradient=_batch_to_space_grad,
    doc="BatchToSpaceND for pictures and square blocks.",
)

# --- builders -----------------------------------------------------------------------


@export("nn.space_to_depth", "space_to_depth")
def space_to_depth(
    input: Any, block_size: int, name: str | None = None, data_format: str = "NHWC"
) -> Tensor:
    """`input`, pictures, with blocks of height and width moved into the channels."""
    return apply_op(  # type: ignore[no-any-return]
        "SpaceToDepth",
        input=input,
        block_size=block_size,
        data_format=data_format,
        name=name,
    )


@export("nn.depth_to_space", "depth_to_space")
def depth_to_space(
    input: Any, block_size: int, name: str | None = None, data_format: str = "NHWC"
) -> Tensor:
    """`input`, pictures, with channels moved into blocks of height and width."""
    return apply_op(  # type: ignore[no-any-return]
        "DepthToSpace",
        input=input,
        block_size=block_size,
        data_format=data_format,
        name=name,
    )


@export("space_to_batch_nd", "manip.space_to_batch_nd")
def space_to_batch_nd(
    input: Any, block_shape: Any, paddings: Any, name: str | None = None
) -> Tensor:
    """`input`, [batch, space..., rest...], with blocks of space moved into the batch.

    Args:
      block_shape: [number of space axes].
      paddings: [number of space axes, 2], zeros added first.
    """
    return apply_op(  # type: ignore[no-any-return]
        "SpaceToBatchND",
        input=input,
        block_shape=block_shape,
        paddings=paddings,
        name=name,
    )


@export("batch_to_space_nd", "manip.batch_to_space_nd")
def batch_to_space_nd(
    input: Any, block_shape: Any, crops: Any, name: str | None = None
) -> Tensor:
    """The inverse of `space_to_batch_nd`; `crops` are cut off last."""
    return apply_op(  # type: ignore[no-any-return]
        "BatchToSpaceND", input=input, block_shape=block_shape, crops=crops, name=name
    )


@export("nn.space_to_batch", "space_to_batch")
def space_to_batch(
    input: Any,
    paddings: Any,
    block_size: int | None = None,
    name: str | None = None,
    block_shape: int | None = None,
) -> Tensor:
    """`space_to_batch_nd` for pictures and square blocks."""
    size = argument_aliases.either("block_shape", block_shape, "block_size", block_size)
    block = np.array([size, size], dtype=np.int64)
    result = space_to_batch_nd(input, paddings=paddings, block_shape=block, name=name)
    result.set_shape(result.shape.with_rank(4))
    return result


@export("batch_to_space")
def batch_to_space(
    input: Any,
    crops: Any,
    block_size: int | None,
    name: str | None = None,
    block_shape: int | None = None,
) -> Tensor:
    """`batch_to_space_nd` for pictures and square blocks."""
    size = argument_aliases.either("block_shape", block_shape, "block_size", block_size)
    block = np.array([size, size], dtype=np.int64)
    result = batch_to_space_nd(input, crops=crops, block_shape=block, name=name)
    result.set_shape(result.shape.with_rank(4))
    return result


@export("required_space_to_batch_paddings")
def required_space_to_batch_paddings(
    input_shape: Any,
    block_shape: Any,
    base_paddings: Any = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """(paddings, crops) that make the sizes divisible by the blocks."""
    with name_scope(
        name, "required_space_to_batch_paddings", [input_shape, block_shape]
    ):
        sizes: Any = convert_to_tensor(
            input_shape, dtype=dtypes.int32, name="input_shape"
        )
        blocks: Any = convert_to_tensor(
            block_shape, dtype=dtypes.int32, name="block_shape"
        )
        blocks.shape.assert_is_fully_defined()
        blocks.shape.assert_has_rank(1)
        count = blocks.shape.dims_tuple[0]
        if count == 0:
            nothing = (fill_ops.zeros([0, 2], dtypes.int32) for _ in range(2))
            return next(nothing), next(nothing)
        sizes.shape.assert_is_compatible_with([count])
        base: Any
        if base_paddings is not None:
            base = convert_to_tensor(
                base_paddings, dtype=dtypes.int32, name="base_paddings"
            )
            base.shape.assert_is_compatible_with([count, 2])
        else:
            base = fill_ops.zeros([count, 2], dtypes.int32)
        constants = [constant_value(x) for x in (blocks, sizes, base)]
        if all(x is not None for x in constants):
            blocks, sizes, base = constants
        return _paddings_and_crops(sizes, blocks, base, count)


def _paddings_and_crops(
    sizes: Any, blocks: Any, base: Any, count: int
) -> tuple[Tensor, Tensor]:
    start, base_end = base[:, 0], base[:, 1]
    full = sizes + start + base_end
    extra = (blocks - full % blocks) % blocks
    end = base_end + extra
    paddings = stack_ops.stack(
        [[start[i], end[i]] for i in range(count)], name="paddings"
    )
    crops = stack_ops.stack([[0, extra[i]] for i in range(count)], name="crops")
    return paddings, crops
