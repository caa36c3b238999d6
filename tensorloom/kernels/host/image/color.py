"""Host kernels of colours: contrast, hue, saturation, HSV, drawn boxes."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.indexing.bit_select import where
from tensorloom.kernels.host.math.errors import shape_text


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


def _pixels(images: Any) -> Any:
    """float32 [n, 3] that may be written to: a loop is compiled for one kind."""
    return np.require(images, np.float32, ["C", "W"]).reshape(images.size // 3, 3)


@host_kernel("AdjustHue", large=True)
def adjust_hue(c: OpKernelConstruction) -> Compute:
    """The hue turned by a share of the circle."""
    from tensorloom.kernels.loops.image.colors import turn_hue

    def compute(images: Any, delta: Any) -> Any:
        _check_colors(images, delta, "delta")
        result = np.empty(images.shape, np.float32)
        turn = np.float32(delta) * np.float32(6)
        turn_hue(_pixels(images), turn, not abs(delta) < 1, _pixels(result))
        return result.astype(images.dtype, copy=False)

    return compute


@host_kernel("AdjustSaturation", large=True)
def adjust_saturation(c: OpKernelConstruction) -> Compute:
    """The saturation scaled and kept in 0 to 1."""
    from tensorloom.kernels.loops.image.colors import scale_saturation

    def compute(images: Any, scale: Any) -> Any:
        _check_colors(images, scale, "scale")
        result = np.empty(images.shape, np.float32)
        scale_saturation(_pixels(images), np.float32(scale), _pixels(result))
        return result.astype(images.dtype, copy=False)

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

    def by_loop(images: Any) -> Any:
        from tensorloom.kernels.loops.image.colors import hsv_to_rgb as loop

        _check_three(images)
        result = np.empty(images.shape, dtype)
        shape = images.size // 3, 3
        loop(np.require(images, None, ["C", "W"]).reshape(shape), result.reshape(shape))
        return result

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

    # Of halves each step is rounded.
    return by_loop if dtype in (np.float32, np.float64) else compute


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
    if colors is not None and colors.shape[1] < depth:
        raise invalid_argument(
            "colors must have equal or more channels than the image provided: "
            f"{shape_text(colors.shape)}"
        )
    if colors is not None and colors.size:
        table = colors
    elif depth == 1:
        table[:, 0] = 1  # white, on gray images
    return table[:, :depth]


@host_kernel(["DrawBoundingBoxes", "DrawBoundingBoxesV2"], large=True)
def draw_bounding_boxes(c: OpKernelConstruction) -> Compute:
    """Outlines one pixel wide, in colours by turns."""
    from tensorloom.kernels.loops.image.colors import draw_boxes

    def compute(images: Any, boxes: Any, colors: Any = None) -> Any:
        _check_drawable(images, boxes, colors)
        palette = np.array(_palette(colors, images.shape[3]), images.dtype, order="C")
        drawn = np.array(images, order="C")
        # As bits: the loop only copies, and knows no halves.
        bits = f"u{images.itemsize}"
        draw_boxes(
            drawn.view(bits), np.require(boxes, None, ["C", "W"]), palette.view(bits)
        )
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
