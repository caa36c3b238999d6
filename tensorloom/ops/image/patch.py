"""Patches of images and volumes, laid out in the channels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.argument_aliases import either
from tensorloom.ops.math import math_ops
from tensorloom.ops.sparse import shape_builders as sparse_shape_builders
from tensorloom.ops.sparse import sparse_builders

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.tensor import Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _patches_along(
    c: InferenceContext, size: int, window: int, stride: int, rate: int
) -> int:
    effective = window + (window - 1) * (rate - 1)
    if c.attrs["padding"] == b"SAME":
        return -(-size // stride)
    outputs = (size - effective + stride) // stride
    if outputs < 0:
        c.fail(
            f"Computed output size would be negative: {outputs} [input_size: {size}, "
            f"effective_filter_size: {effective}, stride: {stride}]"
        )
    return outputs


def _patches_shape(rank: int) -> Callable[[InferenceContext], TensorShape]:
    """[batch, places along each axis, window elements * channels]."""

    def shape_fn(c: InferenceContext) -> TensorShape:
        dims = c.with_rank(0, rank).dims_tuple
        assert dims is not None
        windows, strides = c.attrs["ksizes"], c.attrs["strides"]
        rates = c.attrs.get("rates", [1] * rank)
        for what, values in (
            ("ksizes", windows),
            ("strides", strides),
            ("rates", rates),
        ):
            if len(values) != rank:
                c.fail(
                    f"{what} attribute must contain {rank} values, but got: "
                    f"{len(values)}"
                )
        depth = dims[-1]
        for window in windows[1:-1]:
            depth = None if depth is None else depth * window
        sides: tuple[int | None, ...] = (None,) * (rank - 2)
        if None not in dims[1:-1]:
            sides = tuple(
                _patches_along(c, dims[i] or 0, windows[i], strides[i], rates[i])
                for i in range(1, rank - 1)
            )
        return TensorShape.of((dims[0], *sides, depth))

    return shape_fn


def _window_sum(
    grad: Tensor,
    patched: Tensor,
    pixels: Any,
    inner: Sequence[Any],
    outer: Sequence[Any],
    batch: Any,
    channels: Any,
) -> Tensor:
    """Each pixel's sum of the gradients of the patches that show it.

    A sparse matrix from patch elements to pixels does it; `patched` holds the pixels'
    numbers, from 1 on, cut into patches as the pixels were (0 is padding).

    Args:
      pixels: their number, and one for the padding.
      inner: the sizes of the images; outer: of the patches, then of the windows.
    """
    elements = _product(outer)
    half = len(inner)
    windows = _product(outer[half:])
    numbers = array_ops.reshape(
        math_ops.range(elements, dtype=dtypes.int64), (1, *outer[:half], windows)
    )
    pairs = array_ops.concat(
        [
            array_ops.expand_dims(patched, axis=-1),
            array_ops.expand_dims(numbers, axis=-1),
        ],
        axis=-1,
    )
    matrix = SparseTensor(
        array_ops.reshape(pairs, (-1, 2)),
        array_ops.ones([elements], dtype=grad.dtype),
        (pixels, elements),
    )
    matrix = sparse_shape_builders.sparse_slice(matrix, (1, 0), (pixels - 1, elements))
    places = len(outer)
    expanded = array_ops.transpose(
        array_ops.reshape(grad, (batch, *outer, channels)),
        (*range(1, places + 1), 0, places + 1),
    )
    flat = array_ops.reshape(expanded, (-1, batch * channels))
    total = sparse_builders.sparse_tensor_dense_matmul(matrix, flat)
    image = array_ops.reshape(total, (*inner, batch, channels))
    return array_ops.transpose(image, (half, *range(half), half + 1))


def _product(sizes: Sequence[Any]) -> Any:
    result = sizes[0]
    for size in sizes[1:]:
        result = result * size
    return result


def _image_patches_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    dims = array_ops.shape(op.inputs[0], out_type=dtypes.int64)
    batch, rows, columns, channels = dims[0], dims[1], dims[2], dims[3]
    pixels = 1 + rows * columns
    numbers = array_ops.reshape(
        math_ops.range(1, pixels, dtype=dtypes.int64), (1, rows, columns, 1)
    )
    attrs = {key: op.get_attr(key) for key in ("ksizes", "strides", "rates", "padding")}
    patched: Tensor = apply_op("ExtractImagePatches", images=numbers, **attrs)
    out = array_ops.shape(op.outputs[0], out_type=dtypes.int64)
    outer = (out[1], out[2], *attrs["ksizes"][1:3])
    return [_window_sum(grad, patched, pixels, (rows, columns), outer, batch, channels)]


def _volume_patches_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    sides = op.inputs[0].shape.as_list()[1:4]
    dims = array_ops.shape(op.inputs[0])
    batch, channels = dims[0], dims[4]
    pixels = 1 + _product(sides)
    numbers = array_ops.reshape(
        math_ops.range(1, pixels, dtype=dtypes.int64), (1, *sides, 1)
    )
    attrs = {key: op.get_attr(key) for key in ("ksizes", "strides", "padding")}
    patched: Tensor = apply_op("ExtractVolumePatches", input=numbers, **attrs)
    outer = (*op.outputs[0].shape.as_list()[1:4], *attrs["ksizes"][1:4])
    return [_window_sum(grad, patched, pixels, sides, outer, batch, channels)]


_NUMBERS = (
    "float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, "
    "uint64"
)
register_op(
    "ExtractImagePatches",
    inputs=["images: T"],
    outputs=["patches: T"],
    attrs=[
        "ksizes: list(int) >= 4",
        "strides: list(int) >= 4",
        "rates: list(int) >= 4",
        f"T: {{{_NUMBERS}, complex64, complex128, bool}}",
        "padding: {'SAME', 'VALID'}",
    ],
    shape_fn=_patches_shape(4),
    gradient=_image_patches_grad,
    doc="Patches of images, each laid out in the channels of one pixel.",
)
register_op(
    "ExtractVolumePatches",
    inputs=["input: T"],
    outputs=["patches: T"],
    attrs=[
        "ksizes: list(int) >= 5",
        "strides: list(int) >= 5",
        f"T: {{{_NUMBERS}}}",
        "padding: {'SAME', 'VALID'}",
    ],
    shape_fn=_patches_shape(5),
    gradient=_volume_patches_grad,
    doc="Patches of volumes, each laid out in the channels of one place.",
)


@export("image.extract_patches")
def extract_patches(
    images: Any,
    sizes: Any,
    strides: Any,
    rates: Any,
    padding: str,
    name: str | None = None,
) -> Tensor:
    """Patches [batch, rows, columns, sizes[1] * sizes[2] * channels] of images.

    Args:
      sizes, strides, rates: [1, along rows, along columns, 1].
    """
    return apply_op(  # type: ignore[no-any-return]
        "ExtractImagePatches",
        images=images,
        ksizes=sizes,
        strides=strides,
        rates=rates,
        padding=padding,
        name=name,
    )


@export("image.extract_image_patches", "extract_image_patches")
def extract_image_patches(
    images: Any,
    ksizes: Any = None,
    strides: Any = None,
    rates: Any = None,
    padding: Any = None,
    name: str | None = None,
    sizes: Any = None,
) -> Tensor:
    """As `extract_patches`; `ksizes` is the older name of `sizes`."""
    windows = either("sizes", sizes, "ksizes", ksizes)
    return extract_patches(images, windows, strides, rates, padding, name)


@export("extract_volume_patches")
def extract_volume_patches(
    input: Any, ksizes: Any, strides: Any, padding: str, name: str | None = None
) -> Tensor:
    """Patches [batch, planes, rows, columns, elements] of volumes.

    Args:
      ksizes, strides: [1, along planes, along rows, along columns, 1].
    """
    return apply_op(  # type: ignore[no-any-return]
        "ExtractVolumePatches",
        input=input,
        ksizes=ksizes,
        strides=strides,
        padding=padding,
        name=name,
    )
