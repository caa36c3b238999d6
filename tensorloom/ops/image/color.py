"""Colours of images [..., channels]: contrast, hue, saturation, HSV, drawn boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.image.shapes import adjusted_image, image_at_least
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.tensor import Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext

register_op(
    "AdjustContrast",
    inputs=[
        "images: T",
        "contrast_factor: float",
        "min_value: float",
        "max_value: float",
    ],
    outputs=["output: float"],
    attrs=["T: {uint8, int8, int16, int32, int64, float, double}"],
    shape_fn=adjusted_image,
    deprecated=(2, "Use AdjustContrastv2 instead"),
    doc="(x - mean) * factor + mean for each channel, kept in a range.",
)
for _name, _amount, _doc in (
    (
        "AdjustContrastv2",
        "contrast_factor",
        "(x - mean) * factor + mean for each channel of each image.",
    ),
    ("AdjustHue", "delta", "RGB images with the hue turned, 1 being all around."),
    ("AdjustSaturation", "scale", "RGB images with the saturation scaled."),
):
    register_op(
        _name,
        inputs=["images: T", f"{_amount}: float"],
        outputs=["output: T"],
        attrs=["T: {half, float} = DT_FLOAT"],
        shape_fn=adjusted_image,
        doc=_doc,
    )
register_op(
    "AdjustHsvInYiq",
    inputs=["images: T", "delta_h: float", "scale_s: float", "scale_v: float"],
    outputs=["output: T"],
    attrs=["T: {uint8, int8, int16, int32, int64, half, float, double}"],
    shape_fn=image_at_least,
    doc="RGB images with hue (radians), saturation and value changed, by way of YIQ.",
)


# --- HSV --------------------------------------------------------------------------


def _colors_shape(c: InferenceContext) -> TensorShape:
    dims = c.with_rank_at_least(0, 1).dims_tuple
    if dims is None:
        return TensorShape.of(None)
    return TensorShape.of((*dims[:-1], c.with_value(dims[-1], 3)))


def _as_float(condition: Tensor) -> Tensor:
    return math_ops.cast(condition, dtypes.float32)  # type: ignore[no-any-return]


def _inverse(x: Tensor) -> Tensor:
    return math_ops.div_no_nan(1.0, x)


class _Channel:
    """One colour with where it is the largest and where the smallest of the three."""

    def __init__(self, value: Tensor) -> None:
        self.value = value
        self.biggest: Any = None
        self.smallest: Any = None

    def is_positive(self) -> Tensor:
        return _as_float(self.value > 0)


def _rank_channels(red: _Channel, green: _Channel, blue: _Channel) -> None:
    """Ties go to the channel that TensorFlow's kernel takes: red, then green."""
    r, g, b = red.value, green.value, blue.value
    red.biggest = _as_float((r >= b) & (r >= g))
    green.biggest = _as_float((g > r) & (g >= b))
    blue.biggest = _as_float((b > r) & (b > g))
    red.smallest = _as_float((r < b) & (r < g))
    green.smallest = _as_float((g <= r) & (g < b))
    blue.smallest = _as_float((b <= r) & (b <= g))


def _saturation_slope(
    x: _Channel, first: _Channel, second: _Channel, tops: tuple[_Channel, _Channel]
) -> Tensor:
    """How the saturation changes with x; the others in the order of TF's sums."""
    positive = x.is_positive()
    low = math_ops.add(first.smallest * first.value, second.smallest * second.value)
    falling = x.biggest * low * _inverse(math_ops.square(x.value))
    rising = x.smallest * -1
    high = tops[0].biggest * tops[0].value + tops[1].biggest * tops[1].value
    return positive * math_ops.add(falling, rising * _inverse(high))


_Pair = tuple["_Channel", "_Channel"]


def _difference(pair: _Pair) -> Tensor:
    return pair[0].value - pair[1].value


def _own_turn(x: _Channel, pair: _Pair, saturation: Tensor, value: Tensor) -> Tensor:
    """The slope of the hue where x is the largest channel."""
    return 60 * (  # type: ignore[no-any-return]
        x.is_positive()
        * x.biggest
        * -1
        * _difference(pair)
        * _inverse(math_ops.square(saturation))
        * _inverse(math_ops.square(value))
    )


def _far_turn(big: _Channel, small: _Channel, over: _Pair, under: _Pair) -> Tensor:
    """The slope of the hue where x is the smallest channel."""
    return 60 * (  # type: ignore[no-any-return]
        big.is_positive()
        * big.biggest
        * small.smallest
        * _difference(over)
        * _inverse(math_ops.square(_difference(under)))
    )


def _near_turn(big: _Channel, small: _Channel, under: _Pair, falls: bool) -> Tensor:
    """The slope of the hue where x is the channel in the middle."""
    where = big.is_positive() * big.biggest * small.smallest
    if falls:
        where = where * -1
    return 60 * (where * _inverse(_difference(under)))  # type: ignore[no-any-return]


def _hue_slopes(
    r: _Channel, g: _Channel, b: _Channel, saturation: Tensor, value: Tensor
) -> list[Tensor]:
    """How the hue (0 to 1) changes with red, green and blue."""
    of_red = [
        _own_turn(r, (g, b), saturation, value),
        _far_turn(g, r, (b, g), (r, g)),
        _near_turn(g, b, (g, b), True),
        _far_turn(b, r, (b, g), (b, r)),
        _near_turn(b, g, (b, g), False),
    ]
    red = _sum(of_red) / 360
    of_green = [
        _own_turn(g, (b, r), saturation, value),
        _far_turn(r, g, (r, b), (r, g)),
        _near_turn(r, b, (r, b), False),
        _far_turn(b, g, (r, b), (b, g)),
        _near_turn(b, r, (b, r), True),
    ]
    green = _sum(of_green) / 360
    of_blue = [
        _own_turn(b, (r, g), saturation, value),
        _far_turn(r, b, (g, r), (r, b)),
        _near_turn(r, g, (r, g), True),
        _far_turn(g, b, (g, r), (g, b)),
        _near_turn(g, r, (g, r), False),
    ]
    return [red, green, _sum(of_blue) / 360]


def _sum(parts: list[Tensor]) -> Any:
    total: Any = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def _rgb_to_hsv_grad(op: Operation, grad: Tensor) -> Tensor:
    """Each channel moves the value, the saturation and the hue."""
    pixels, hsv = op.inputs[0], op.outputs[0]
    r, g, b = (_Channel(pixels[..., i]) for i in range(3))
    saturation, value = hsv[..., 1], hsv[..., 2]
    _rank_channels(r, g, b)
    saturations = [
        _saturation_slope(r, g, b, (g, b)),
        _saturation_slope(g, r, b, (r, b)),
        _saturation_slope(b, g, r, (g, r)),
    ]
    hues = _hue_slopes(r, g, b, saturation, value)
    values = [x.biggest for x in (r, g, b)]
    parts = [
        array_ops.stack([grad[..., index] * slope for slope in slopes], axis=-1)
        for index, slopes in ((2, values), (1, saturations), (0, hues))
    ]
    return math_ops.add(math_ops.add(parts[0], parts[1]), parts[2])


register_op(
    "RGBToHSV",
    inputs=["images: T"],
    outputs=["output: T"],
    attrs=["T: {half, bfloat16, float, double} = DT_FLOAT"],
    shape_fn=_colors_shape,
    gradient=_rgb_to_hsv_grad,
    doc="Hue, saturation and value, all 0 to 1, of red, green and blue.",
)
register_op(
    "HSVToRGB",
    inputs=["images: T"],
    outputs=["output: T"],
    attrs=["T: {half, bfloat16, float, double} = DT_FLOAT"],
    shape_fn=_colors_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="Red, green and blue of hue, saturation and value.",
)


@export("image.rgb_to_hsv")
def rgb_to_hsv(images: Any, name: str | None = None) -> Tensor:
    """Hue, saturation and value of RGB images [..., 3] with values 0 to 1."""
    return apply_op("RGBToHSV", images=images, name=name)  # type: ignore[no-any-return]


@export("image.hsv_to_rgb")
def hsv_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """RGB images [..., 3] of hue, saturation and value, all 0 to 1."""
    return apply_op("HSVToRGB", images=images, name=name)  # type: ignore[no-any-return]


# --- drawn boxes ------------------------------------------------------------------


def _drawn_shape(c: InferenceContext) -> TensorShape:
    depth = (c.with_rank(0, 4).dims_tuple or (None,))[-1]
    boxes = c.with_rank(1, 3).dims_tuple
    assert boxes is not None
    c.with_value(boxes[2], 4)
    if depth not in (None, 1, 3, 4):
        c.fail("Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)")
    return c.input_shape(0)


_IMAGES_AND_BOXES = ["images: T", "boxes: float"]
register_op(
    "DrawBoundingBoxes",
    inputs=_IMAGES_AND_BOXES,
    outputs=["output: T"],
    attrs=["T: {float, half} = DT_FLOAT"],
    shape_fn=_drawn_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="Images with the outlines of boxes [batch, boxes, 4] in ten colours.",
)
register_op(
    "DrawBoundingBoxesV2",
    inputs=[*_IMAGES_AND_BOXES, "colors: float"],
    outputs=["output: T"],
    attrs=["T: {float, half} = DT_FLOAT"],
    shape_fn=image_at_least,
    doc="Images with the outlines of boxes in the given colours, by turns.",
)


@export("image.draw_bounding_boxes")
def draw_bounding_boxes(
    images: Any, boxes: Any, name: str | None = None, colors: Any = None
) -> Tensor:
    """Images [batch, height, width, channels] with outlines of boxes.

    Args:
      boxes: [batch, count, 4] of (y_min, x_min, y_max, x_max), 0 to 1.
      colors: [count, channels]; ten colours of our own by default.
    """
    if colors is None:
        return apply_op("DrawBoundingBoxes", images=images, boxes=boxes, name=name)  # type: ignore[no-any-return]
    return apply_op(  # type: ignore[no-any-return]
        "DrawBoundingBoxesV2", images=images, boxes=boxes, colors=colors, name=name
    )
