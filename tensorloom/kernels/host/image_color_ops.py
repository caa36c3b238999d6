"""Host kernels of colours: contrast, hue, saturation, HSV, drawn boxes."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tensorloom.framework import dtypes, errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.op_kernel import Compute, OpKernelConstruction, host_kernel
from tensorloom.kernels.host.bit_select import where
from tensorloom.kernels.host.math_ops_errors import shape_text


def _check_adjustable(images: Any, *factors: Any) -> None:
    if images.ndim < 3:
        raise invalid_argument(
            f"input must be at least 3-D, got shape{shape_text(images.shape)}"
        )
    for factor in factors:
        if np.ndim(factor):
            raise invalid_argument(
                f"contrast_factor must be scalar: {shape_text(np.shape(factor))}"
            )


def _contrast(images: Any, factor: Any) -> Any:
    """float32; the mean of each channel stays."""
    height, width, channels = images.shape[-3:]
    pixels = images.astype(np.float32, copy=False).reshape(-1, height * width, channels)
    # A product with ones adds in a twentieth of the time of `mean`.
    mean = np.ones((1, height * width), np.float32) @ pixels
    mean /= np.float32(height * width)
    # Whole rows: NumPy is slow where the last axis is short.
    means = np.tile(mean, (1, 1, width))
    changed = pixels.reshape(-1, height, width * channels) - means
    changed *= np.float32(factor)
    changed += means
    return changed.reshape(images.shape)


@host_kernel("AdjustContrast", large=True)
def adjust_contrast(c: OpKernelConstruction) -> Compute:
    """Kept in a range."""

    def compute(images: Any, factor: Any, low: Any, high: Any) -> Any:
        _check_adjustable(images, factor, low, high)
        if not images.size:
            return images.astype(np.float32)
        return np.clip(_contrast(images, factor), low, high)

    return compute


@host_kernel("AdjustContrastv2", large=True)
def adjust_contrast_v2(c: OpKernelConstruction) -> Compute:
    """Of any range."""

    def compute(images: Any, factor: Any) -> Any:
        _check_adjustable(images, factor)
        if not images.size:
            return images.copy()
        return _contrast(images, factor).astype(images.dtype, copy=False)

    return compute


# --- hue and saturation -----------------------------------------------------------


def _check_colors(images: Any, amount: Any, what: str) -> None:
    if images.ndim < 3:
        raise invalid_argument(
            f"input must be at least 3-D, got shape{shape_text(images.shape)}"
        )
    if np.ndim(amount):
        raise invalid_argument(f"{what} must be scalar: {shape_text(np.shape(amount))}")
    if images.shape[-1] != 3:
        raise invalid_argument(
            f"input must have 3 channels but instead has {images.shape[-1]} channels."
        )


def _planes(images: Any) -> Any:
    """The channels one after the other, float32 [3, ...]: passes over them are fast."""
    return np.ascontiguousarray(np.moveaxis(images, -1, 0), dtype=np.float32)


def _hue_of(red: Any, green: Any, blue: Any) -> tuple[Any, Any, Any]:
    """Hue in 0 to 6, the smallest and the largest channel."""
    low = np.minimum(np.minimum(red, green), blue)
    high = np.maximum(np.maximum(red, green), blue)
    middle = np.maximum(
        np.minimum(red, green), np.minimum(np.maximum(red, green), blue)
    )
    code = np.zeros(red.shape, np.uint8)
    for i, holds in enumerate(
        (red < green, blue < red, blue > green, blue < green, blue > red)
    ):
        code |= holds.view(np.uint8) << np.uint8(i)
    sector = _SECTOR_OF_CODE[code]
    share = (middle - low) / (high - low)
    hue = sector.astype(np.float32) + where(sector % 2 == 0, share, 1 - share)
    return where(high == low, np.float32(0), hue), low, high


def _sector_of(code: int) -> int:
    """The sixth of the circle, by five comparisons of the channels as bits."""
    rises, below_red, above_green, below_green, above_red = (
        code >> i & 1 for i in range(5)
    )
    if rises:
        return 1 if below_red else 3 if above_green else 2
    return 0 if below_green else 4 if above_red else 5


_SECTOR_OF_CODE: Final = np.array([_sector_of(code) for code in range(32)], np.int8)


def _colors_of_hue(hue: Any, low: Any, high: Any) -> Any:
    sector = hue.astype(np.int32)
    share = hue - sector.astype(np.float32)
    middle = low + where(sector % 2 == 0, share, 1 - share) * (high - low)
    return _by_sector(sector, high, middle, low)


# Which of (largest, middle, smallest) each channel is, by sixths of the hue circle.
_SECTORS: Final = ((0, 1, 2), (1, 0, 2), (2, 0, 1), (2, 1, 0), (1, 2, 0), (0, 2, 1))


def _by_sector(sector: Any, high: Any, middle: Any, low: Any) -> Any:
    """[..., 3]; what is none of the first five sectors counts as the last."""
    # Read as unsigned, negative ones are too large.
    inside = np.minimum(sector.view(np.uint32), np.uint32(5)).astype(np.uint8)
    colors = np.empty((*sector.shape, 3), high.dtype)
    for channel, ranks in enumerate(zip(*_SECTORS, strict=True)):
        largest, middling = (
            (inside == ranks.index(rank)) | (inside == 5 - ranks[::-1].index(rank))
            for rank in (0, 1)
        )
        colors[..., channel] = where(largest, high, where(middling, middle, low))
    return colors


@host_kernel("AdjustHue", large=True)
def adjust_hue(c: OpKernelConstruction) -> Compute:
    """The hue turned by a share of the circle."""

    def compute(images: Any, delta: Any) -> Any:
        _check_colors(images, delta, "delta")
        hue, low, high = _hue_of(*_planes(images))
        hue += np.float32(delta) * np.float32(6)
        # fmod is exact, as are the steps of 6 that TensorFlow takes near the range.
        # It is slow, and for less than a turn those steps are all of it.
        if not abs(delta) < 1:
            hue = np.fmod(hue, np.float32(6))
        hue = where(hue < 0, hue + np.float32(6), hue)
        hue = where(hue >= 6, hue - np.float32(6), hue)
        return _colors_of_hue(hue, low, high).astype(images.dtype, copy=False)

    return compute


def _saturated(values: Any, scale: Any) -> Any:
    red, green, blue = _planes(values)
    value = np.maximum(np.maximum(red, green), blue)
    spread = value - np.minimum(np.minimum(red, green), blue)
    saturation = where(value > 0, spread / value, np.float32(0))
    norm = np.float32(1) / (np.float32(6) * spread)
    third, two_thirds = 2.0 / 6.0, 4.0 / 6.0  # doubles, as in TensorFlow's kernel
    hue = where(
        red == value,
        norm * (green - blue),
        where(
            green == value,
            ((norm * (blue - red)).astype(np.float64) + third).astype(np.float32),
            ((norm * (red - green)).astype(np.float64) + two_thirds).astype(np.float32),
        ),
    )
    hue = where(spread <= 0, np.float32(0), hue)
    hue = where(hue < 0, hue + np.float32(1), hue)
    saturation = np.clip(saturation * np.float32(scale), 0, 1).astype(np.float32)
    chroma = saturation * value
    base = value - chroma
    turn = hue * np.float32(6)
    sector = turn.astype(np.int32)
    # turn modulo 2: exact, as turn is not negative.
    within = turn - np.floor(turn * np.float32(0.5)) * np.float32(2)
    middle = chroma * (np.float32(1) - np.abs(within - np.float32(1)))
    colors = _by_sector(sector, chroma, middle, np.zeros_like(chroma))
    # Only a hue of exactly one turn falls out of the six sectors: no colour at all.
    outside = (sector < 0) | (sector > 5)
    if outside.any():
        colors[outside] = 0
    return colors + base[..., None]


@host_kernel("AdjustSaturation", large=True)
def adjust_saturation(c: OpKernelConstruction) -> Compute:
    """The saturation scaled and kept in 0 to 1."""

    def compute(images: Any, scale: Any) -> Any:
        _check_colors(images, scale, "scale")
        return _saturated(images, scale).astype(images.dtype, copy=False)

    return compute


_YIQ_OF_RGB: Final = np.array(
    [[0.299, 0.587, 0.114], [0.596, -0.274, -0.322], [0.211, -0.523, 0.312]]
)


@host_kernel("AdjustHsvInYiq", large=True, types={"T": {dtypes.float32}})
def adjust_hsv_in_yiq(c: OpKernelConstruction) -> Compute:
    """A turn and a scaling of the plane of colours: one matrix for all pixels."""

    def compute(images: Any, delta: Any, saturation: Any, value: Any) -> Any:
        if images.ndim < 3:
            raise invalid_argument(
                f"input must be at least 3-D, got shape{shape_text(images.shape)}"
            )
        for name, amount in (
            ("delta_h", delta),
            ("scale_s", saturation),
            ("scale_v", value),
        ):
            _check_colors(images, amount, name)
        chroma = np.float64(value) * np.float64(saturation)
        along, across = chroma * np.cos(float(delta)), chroma * np.sin(float(delta))
        change = [[float(value), 0, 0], [0, along, -across], [0, across, along]]
        matrix = np.linalg.inv(_YIQ_OF_RGB) @ np.array(change) @ _YIQ_OF_RGB
        return images @ matrix.T.astype(np.float32)

    return compute


# --- HSV --------------------------------------------------------------------------


def _check_three(images: Any) -> None:
    if images.ndim < 1:
        raise invalid_argument(f"input must be at least 1D{shape_text(images.shape)}")
    if images.shape[-1] != 3:
        raise errors.FailedPreconditionError(
            None,
            None,
            f"input must have 3 channels but input only has {images.shape[-1]} "
            "channels.",
        )


@host_kernel("RGBToHSV", large=True)
def rgb_to_hsv(c: OpKernelConstruction) -> Compute:
    """Computed in the images' dtype."""
    dtype = c["T"].as_numpy_dtype
    sixth = dtype(1) / dtype(6)

    def compute(images: Any) -> Any:
        _check_three(images)
        red, green, blue = np.ascontiguousarray(np.moveaxis(images, -1, 0))
        value = np.maximum(np.maximum(red, green), blue)
        spread = value - np.minimum(np.minimum(red, green), blue)
        zero = dtype(0)
        saturation = where(value > 0, spread / value, zero)
        norm = (dtype(1) / spread) * sixth
        hue = where(
            red == value,
            norm * (green - blue),
            where(
                green == value,
                norm * (blue - red) + dtype(2) / dtype(6),
                norm * (red - green) + dtype(4) / dtype(6),
            ),
        )
        hue = where(spread > 0, hue, zero)
        hue = where(hue < 0, hue + dtype(1), hue)
        return np.stack([hue, saturation, value], axis=-1).astype(dtype, copy=False)

    return compute


@host_kernel("HSVToRGB", large=True)
def hsv_to_rgb(c: OpKernelConstruction) -> Compute:
    """Computed in the images' dtype."""
    dtype = c["T"].as_numpy_dtype

    def compute(images: Any) -> Any:
        _check_three(images)
        zero, one, two = dtype(0), dtype(1), dtype(2)
        turn = images[..., 0] * dtype(6)
        saturation, value = images[..., 1], images[..., 2]
        shares = (
            np.abs(turn - dtype(3)) - one,
            -np.abs(turn - two) + two,
            -np.abs(turn - dtype(4)) + two,
        )
        rest = -saturation + one
        channels = [
            (rest + saturation * np.minimum(np.maximum(share, zero), one)) * value
            for share in shares
        ]
        return np.stack(channels, axis=-1).astype(dtype, copy=False)

    return compute


# --- drawn boxes ------------------------------------------------------------------

_COLORS: Final = np.array(
    [
        [1, 1, 0, 1],
        [0, 0, 1, 1],
        [1, 0, 0, 1],
        [0, 1, 0, 1],
        [0.5, 0, 0.5, 1],
        [0.5, 0.5, 0, 1],
        [0.5, 0, 0, 1],
        [0, 0, 0.5, 1],
        [0, 1, 1, 1],
        [1, 0, 1, 1],
    ],
    np.float32,
)


def _palette(colors: Any, depth: int) -> Any:
    table = _COLORS.copy()
    if colors is not None and colors.size:
        table = colors
    elif depth == 1:
        table[:, 0] = 1  # white, on gray images
    if colors is not None and colors.size and table.shape[1] < depth:
        raise invalid_argument(
            f"Expect colors to have at least {depth} channels, got {table.shape[1]}"
        )
    return table[:, :depth]


def _draw_box(image: Any, box: Any, color: Any) -> None:
    """The outline of one box, without the sides outside of the image."""
    height, width = image.shape[:2]
    edges = box * np.array([height - 1, width - 1] * 2, np.float32)
    if not np.isfinite(edges).all():
        return
    top, left, bottom, right = (int(edge) for edge in edges)
    if top > bottom or left > right:
        return
    if top >= height or bottom < 0 or left >= width or right < 0:
        return
    rows = slice(max(top, 0), min(bottom, height - 1) + 1)
    columns = slice(max(left, 0), min(right, width - 1) + 1)
    if top >= 0:
        image[top, columns] = color
    if bottom < height:
        image[bottom, columns] = color
    if left >= 0:
        image[rows, left] = color
    if right < width:
        image[rows, right] = color


@host_kernel(["DrawBoundingBoxes", "DrawBoundingBoxesV2"], large=True)
def draw_bounding_boxes(c: OpKernelConstruction) -> Compute:
    """Outlines one pixel wide, in colours by turns."""

    def compute(images: Any, boxes: Any, colors: Any = None) -> Any:
        _check_drawable(images, boxes, colors)
        palette = _palette(colors, images.shape[3]).astype(images.dtype)
        drawn = images.copy()
        for image, image_boxes in zip(drawn, boxes, strict=True):
            for index, box in enumerate(image_boxes):
                _draw_box(image, box, palette[index % len(palette)])
        return drawn

    return compute


def _check_drawable(images: Any, boxes: Any, colors: Any) -> None:
    if images.ndim != 4:
        raise invalid_argument("The rank of the images should be 4")
    if boxes.ndim != 3:
        raise invalid_argument("The rank of the boxes tensor should be 3")
    if boxes.shape[2] != 4:
        raise invalid_argument("The size of the third dimension of the box must be 4")
    if images.shape[0] != boxes.shape[0]:
        raise invalid_argument("The batch sizes should be the same")
    depth = images.shape[3]
    if depth not in (1, 3, 4):
        raise invalid_argument(
            "Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)"
        )
    if colors is not None and colors.ndim != 2:
        raise invalid_argument("colors must be a 2-D matrix")
