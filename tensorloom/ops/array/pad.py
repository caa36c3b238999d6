"""Ops that make a tensor larger: Pad, MirrorPad and Tile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, is_tensor
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext

_LARGEST = 2**63 - 1

# --- shape functions ----------------------------------------------------------------


def _pad_rank(c: InferenceContext) -> int | None:
    """The rank, from the paddings' rows or the input; checks the paddings' shape."""
    paddings = c.with_rank(1, 2).dims_tuple
    assert paddings is not None
    c.with_value(paddings[1], 2)
    if paddings[0] is not None:
        c.with_rank(0, paddings[0])
        return paddings[0]
    return c.input_shape(0).rank


def _pad_shape(c: InferenceContext) -> TensorShape:
    rank = _pad_rank(c)
    values = c.input_value(1)
    if rank is None:
        return UNKNOWN
    dims = c.with_rank(0, rank).dims_tuple
    assert dims is not None
    if values is None:
        return TensorShape.of((None,) * rank)
    if (values < 0).any():
        c.fail("Paddings must be non-negative")
    added = [sum(pair) for pair in values.tolist()]
    for dim, more in zip(dims, added, strict=True):
        if (dim or 0) + more > _LARGEST:
            c.fail(f"Dimension size overflow from adding {dim or 0} and {more}")
    return TensorShape.of(
        tuple(None if d is None else d + a for d, a in zip(dims, added, strict=True))
    )


def _mirror_pad_grad_shape(c: InferenceContext) -> TensorShape:
    rank = _pad_rank(c)
    values = c.input_value(1)
    if rank is None:
        return UNKNOWN
    dims = c.with_rank(0, rank).dims_tuple
    assert dims is not None
    if values is None:
        return TensorShape.of((None,) * rank)
    sizes: list[int | None] = []
    for dim, (before, after) in zip(dims, values.tolist(), strict=True):
        if before < 0 or after < 0:
            c.fail("Paddings must be non-negative")
        if dim is not None and dim < before + after:
            c.fail(f"Paddings must not be larger than the dimension {dim}")
        sizes.append(None if dim is None else dim - before - after)
    return TensorShape.of(tuple(sizes))


def _tile_shape(c: InferenceContext) -> TensorShape:
    # The multiples may be partly known, where they were packed from parts.
    multiples = c.input_value_as_shape(1)
    if c.input_shape(0).rank is not None:
        rank = c.input_shape(0).rank
        assert rank is not None
        multiples = c.with_rank(multiples, rank)
    elif multiples.rank is None:
        return UNKNOWN
    assert multiples.dims_tuple is not None
    dims = c.with_rank(0, len(multiples.dims_tuple)).dims_tuple
    assert dims is not None
    pairs = list(zip(dims, multiples.dims_tuple, strict=True))
    for dim, times in pairs:
        if dim is not None and times is not None and dim * times > _LARGEST:
            c.fail(
                "Negative dimension size caused by overflow when multiplying "
                f"{dim} and {times}"
            )
    return TensorShape.of(tuple(_times(dim, times) for dim, times in pairs))


def _times(dim: int | None, times: int | None) -> int | None:
    if dim == 0 or times == 0:
        return 0
    return None if dim is None or times is None else dim * times


def _tile_grad_shape(c: InferenceContext) -> TensorShape:
    dims, times = c.input_shape(0).dims_tuple, c.input_value(1)
    if dims is None or times is None:
        return UNKNOWN
    pairs = zip(dims, times.tolist(), strict=True)
    return TensorShape.of(
        tuple(None if d is None or not t else d // t for d, t in pairs)
    )


# --- definitions --------------------------------------------------------------------

register_op(
    "Pad",
    inputs=["input: T", "paddings: Tpaddings"],
    outputs=["output: T"],
    attrs=["T: type", "Tpaddings: {int32, int64} = DT_INT32"],
    shape_fn=_pad_shape,
    doc="The input with zeros around it; paddings[i] is (before, after) on axis i.",
)

register_op(
    "PadV2",
    inputs=["input: T", "paddings: Tpaddings", "constant_values: T"],
    outputs=["output: T"],
    attrs=["T: type", "Tpaddings: {int32, int64} = DT_INT32"],
    shape_fn=_pad_shape,
    doc="The input with a given value around it.",
)

_MIRROR_ATTRS = [
    "T: type",
    "Tpaddings: {int32, int64} = DT_INT32",
    "mode: {'REFLECT', 'SYMMETRIC'}",
]

register_op(
    "MirrorPad",
    inputs=["input: T", "paddings: Tpaddings"],
    outputs=["output: T"],
    attrs=_MIRROR_ATTRS,
    shape_fn=_pad_shape,
    doc="The input with itself mirrored around it; REFLECT leaves out the edge.",
)

register_op(
    "MirrorPadGrad",
    inputs=["input: T", "paddings: Tpaddings"],
    outputs=["output: T"],
    attrs=_MIRROR_ATTRS,
    shape_fn=_mirror_pad_grad_shape,
    doc="The middle of the input with its mirrored border added.",
)

register_op(
    "Tile",
    inputs=["input: T", "multiples: Tmultiples"],
    outputs=["output: T"],
    attrs=["T: type", "Tmultiples: {int32, int64} = DT_INT32"],
    shape_fn=_tile_shape,
    doc="The input repeated multiples[i] times along axis i.",
)

register_op(
    "TileGrad",
    inputs=["input: T", "multiples: int32"],
    outputs=["output: T"],
    attrs=["T: type"],
    shape_fn=_tile_grad_shape,
    deprecated=(3, "TileGrad has been replaced with reduce_sum"),
    doc="The sum of the copies that Tile made.",
)

# --- builders -----------------------------------------------------------------------


@export("pad")
def pad(
    tensor: Any,
    paddings: Any,
    mode: str = "CONSTANT",
    name: str | None = None,
    constant_values: Any = 0,
) -> Tensor:
    """`tensor` with something around it.

    Args:
      paddings: [rank, 2], how many to add before and after along each axis.
      mode: CONSTANT (`constant_values`), REFLECT (mirrored without the edge) or
        SYMMETRIC (mirrored with it), in any case.

    Raises:
      ValueError: an unknown mode, or paddings that do not fit.
    """
    kind = mode.upper()
    if kind in ("REFLECT", "SYMMETRIC"):
        result = apply_op(
            "MirrorPad", input=tensor, paddings=paddings, mode=kind, name=name
        )
    elif kind != "CONSTANT":
        raise ValueError(f"Unknown padding mode: {kind}")
    elif not is_tensor(constant_values) and constant_values == 0:
        result = apply_op("Pad", input=tensor, paddings=paddings, name=name)
    else:
        result = apply_op(
            "PadV2",
            input=tensor,
            paddings=paddings,
            constant_values=constant_values,
            name=name,
        )
    _refine_padded_shape(result)
    return result  # type: ignore[no-any-return]


def _refine_padded_shape(result: Tensor) -> None:
    """Adds the sizes along axes whose paddings are known, though others are not."""
    value, paddings = result.op.inputs[:2]
    dims = value.shape.dims_tuple
    if dims is None or result.shape.is_fully_defined():
        return
    rows = constant_value(paddings, partial=True)
    if rows is None:
        return
    sizes: list[int | None] = []
    for row, dim in zip(rows, dims, strict=False):
        known = row is not None and dim is not None and all(p is not None for p in row)
        sizes.append(int(sum(row)) + dim if known else None)  # type: ignore[operator]
    result.set_shape(sizes)


@export("tile", "manip.tile")
def tile(input: Any, multiples: Any, name: str | None = None) -> Tensor:
    """`input` repeated `multiples[i]` times along axis i."""
    return apply_op("Tile", input=input, multiples=multiples, name=name)  # type: ignore[no-any-return]
