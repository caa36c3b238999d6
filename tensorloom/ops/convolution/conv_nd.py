"""Conv, the convolution of TensorFlow 2.x for images and volumes alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape
from tensorloom.ops.convolution.window_shapes import window_output_size

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext

_Dims = tuple[int | None, ...]


def _conv_shape(c: InferenceContext) -> TensorShape:
    batch_dims = c.attrs["batch_dims"]
    if batch_dims < 0:
        c.fail("Batch dims must be non-negative.")
    given, filters = c.input_shape(0).dims_tuple, c.input_shape(1).dims_tuple
    if given is None or filters is None:
        return UNKNOWN
    rank = len(given) - batch_dims + 1
    if rank not in (4, 5):
        c.fail(
            "Input tensor must be rank 4 or 5, excluding extra batch dimensions, but "
            f"got: {rank}"
        )
    if len(filters) != rank:
        c.fail(f"Filter tensor must be rank {rank}, but got: {len(filters)}")
    _check_attrs(c, rank)
    first = c.attrs["data_format"] == b"CHANNELS_FIRST"
    image = given[batch_dims:]
    spatial, depth = (image[1:], image[0]) if first else (image[:-1], image[-1])
    _check_depths(c, depth, filters[-2])
    sizes = _sizes(c, spatial, filters, 2 if first else 1)
    result = (filters[-1], *sizes) if first else (*sizes, filters[-1])
    return TensorShape.of((*given[:batch_dims], *result))


def _check_attrs(c: InferenceContext, rank: int) -> None:
    strides, dilations = c.attrs["strides"], c.attrs["dilations"]
    if len(strides) != rank:
        c.fail(
            f"Stride attribute should contain {rank} values, but got: {len(strides)}"
        )
    if dilations and len(dilations) != rank:
        c.fail(
            f"Conv requires the dilation attribute to contain {rank} values, but got: "
            f"{len(dilations)}"
        )
    if c.attrs["padding"] != b"EXPLICIT":
        if c.attrs["explicit_paddings"]:
            c.fail("explicit_paddings must be empty unless padding is EXPLICIT")
    elif rank == 5:
        c.fail("Explicit padding not supported for 3D Convolution")
    elif len(c.attrs["explicit_paddings"]) != 2 * rank:
        c.fail(f"explicit_paddings must contain {2 * rank} values")


def _check_depths(
    c: InferenceContext, depth: int | None, filter_depth: int | None
) -> None:
    groups = c.attrs["groups"]
    if groups < 1:
        c.fail("Number of groups must be at least 1")
    if depth is None or filter_depth is None:
        return
    if depth % groups:
        c.fail("Number of groups should divide input depth")
    if filter_depth == 0 or depth != filter_depth * groups:
        c.fail(
            "Input depth divided by filter input depth does not match with groups "
            f"parameter ({groups})"
        )


def _sizes(
    c: InferenceContext, spatial: _Dims, filters: _Dims, first: int
) -> list[int | None]:
    """Sizes of the result's spatial dimensions.

    Args:
      spatial: those of the input.
      first: where they begin in strides, dilations and paddings.
    """
    rank = len(spatial) + 2
    dilations = c.attrs["dilations"] or [1] * rank
    paddings = c.attrs["explicit_paddings"] or [0] * 2 * rank
    return [
        window_output_size(
            c,
            size,
            window,
            c.attrs["strides"][axis],
            c.attrs["padding"],
            dilation=dilations[axis],
            pad_before=paddings[2 * axis],
            pad_after=paddings[2 * axis + 1],
        )
        for axis, (size, window) in enumerate(
            zip(spatial, filters[:-2], strict=True), first
        )
    ]


register_op(
    "Conv",
    inputs=["input: T", "filter: T"],
    outputs=["output: T"],
    attrs=[
        "T: {half, bfloat16, float, double, int32}",
        "strides: list(int)",
        "padding: {'SAME', 'VALID', 'EXPLICIT'}",
        "explicit_paddings: list(int) = []",
        "data_format: {'CHANNELS_FIRST', 'CHANNELS_LAST'} = 'CHANNELS_LAST'",
        "dilations: list(int) = []",
        "batch_dims: int = 1",
        "groups: int = 1",
    ],
    shape_fn=_conv_shape,
    doc="Conv2D or Conv3D, as the filter's rank says, with any number of batch "
    "dimensions.",
)
