"""Host kernels of CropAndResize and its gradients."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.array.allocation import check_shape
from tensorloom.kernels.host.math.errors import shape_text

_F = np.float32


def _check_boxes(boxes: Any, indices: Any) -> None:
    if not boxes.size and not indices.size:
        return
    if boxes.ndim != 2:
        raise invalid_argument(f"boxes must be 2-D{shape_text(boxes.shape)}")
    if boxes.shape[1] != 4:
        raise invalid_argument("boxes must have 4 columns")
    if indices.ndim != 1:
        raise invalid_argument(f"box_index must be 1-D{shape_text(indices.shape)}")
    if len(indices) != len(boxes):
        raise invalid_argument("box_index has incompatible shape")


def _check_indices(indices: Any, batch: int) -> None:
    if ((indices < 0) | (indices >= batch)).any():
        raise errors.OutOfRangeError(
            None, None, "box_index has values outside [0, batch_size)"
        )


def _check_image(image: Any) -> None:
    if image.ndim != 4:
        raise invalid_argument(f"input image must be 4-D{shape_text(image.shape)}")
    if 0 in image.shape[1:3]:
        raise invalid_argument("image dimensions must be positive")


def _places(low: Any, high: Any, old: int, new: int) -> Any:
    """Positions [boxes, new] in an axis of `old` pixels, float32."""
    last = _F(old - 1)
    if new == 1:
        return ((_F(0.5) * (low + high)) * last)[:, None]
    scale = (high - low) * last / _F(new - 1)
    steps = np.arange(new, dtype=np.float32)
    return (low * last)[:, None] + steps * scale[:, None]


@dataclass(frozen=True, slots=True)
class Axis:
    """Where the pixels of the crops lie along one axis; all arrays [boxes, new]."""

    inside: Any  # whether the place is in the image
    low: Any  # the pixel before it
    high: Any  # the pixel after it
    share: Any  # how far it is from the one before, float32

    def __getitem__(self, boxes: slice) -> Axis:
        """Those of some of the boxes."""
        parts = (self.inside, self.low, self.high, self.share)
        return Axis(*(part[boxes] for part in parts))


def _axis(low: Any, high: Any, old: int, new: int) -> Axis:
    places = _places(low, high, old, new)
    inside = (places >= 0) & (places <= old - 1)
    safe = np.where(inside, places, _F(0))
    floor = np.floor(safe)
    first, last = floor.astype(np.int64), np.ceil(safe).astype(np.int64)
    return Axis(inside, first, last, safe - floor)


def crop_axes(
    boxes: Any, image: tuple[int, ...], crop: tuple[int, ...]
) -> tuple[Axis, Axis]:
    """Rows and columns of crops of some shape in an image of another, both NHWC."""
    rows = _axis(boxes[:, 0], boxes[:, 2], image[1], crop[1])
    columns = _axis(boxes[:, 1], boxes[:, 3], image[2], crop[2])
    return rows, columns


def _nearest(places: Any, old: int) -> Any:
    """Halves away from zero, as C rounds; places are not negative."""
    return np.clip(np.floor(places + _F(0.5)).astype(np.int64), 0, old - 1)


def nearest_places(
    indices: Any, rows: Axis, columns: Axis, shape: tuple[int, ...]
) -> Any:
    """Which pixel of all in images of a shape is the nearest, int64 [boxes, h, w]."""
    y = _nearest(rows.low + rows.share, shape[1])
    x = _nearest(columns.low + columns.share, shape[2])
    begins = (indices.astype(np.int64)[:, None] * shape[1] + y) * shape[2]
    return begins[:, :, None] + x[:, None, :]


def crops_shape(
    image: Any, boxes: Any, indices: Any, crop_size: Any
) -> tuple[int, int, int, int]:
    """The shape of the crops.

    Raises:
      InvalidArgumentError, OutOfRangeError: the inputs do not fit together.
    """
    _check_image(image)
    _check_boxes(boxes, indices)
    if np.shape(crop_size) != (2,):
        raise invalid_argument(
            f"crop_size must have two elements{shape_text(np.shape(crop_size))}"
        )
    height, width = (int(size) for size in crop_size)
    if height <= 0 or width <= 0:
        raise invalid_argument("crop dimensions must be positive")
    _check_indices(indices, len(image))
    return len(boxes), height, width, image.shape[3]


def _corner_places(
    image: Any, indices: Any, rows: Axis, columns: Axis
) -> tuple[Any, ...]:
    """Which pixels of all are upper left, upper right and so on, [boxes, h, w]."""
    begins = indices.astype(np.int64)[:, None] * image.shape[1]
    return tuple(
        ((begins + y) * image.shape[2])[:, :, None] + x[:, None, :]
        for y in (rows.low, rows.high)
        for x in (columns.low, columns.high)
    )


def _corners(image: Any, indices: Any, rows: Axis, columns: Axis) -> list[Any]:
    """(upper left, upper right, lower left, lower right) [boxes, h, w, channels]."""
    pixels = image.reshape(math.prod(image.shape[:3]), image.shape[3])
    places = _corner_places(image, indices, rows, columns)
    return [pixels[at].astype(np.float32, copy=False) for at in places]


# Boxes are cut in groups, so that the pixels of one fit the cache.
_GROUP_ELEMENTS = 1 << 16


@host_kernel("CropAndResize", large=True)
def crop_and_resize(c: OpKernelConstruction) -> Compute:
    """Crops of float32."""
    nearest = c["method"] == b"nearest"
    outside = _F(c["extrapolation_value"])
    cut = _cut_nearest if nearest else _cut_bilinear

    def compute(image: Any, boxes: Any, indices: Any, crop_size: Any) -> Any:
        shape = crops_shape(image, boxes, indices, crop_size)
        check_shape(shape, dtypes.float32, c.device)
        crops = np.empty(shape, np.float32)
        if crops.size:
            rows, columns = crop_axes(boxes, image.shape, shape)
            cut(image, indices, rows, columns, crops)
            inside = rows.inside[:, :, None] & columns.inside[:, None, :]
            if not inside.all():
                crops[~inside] = outside
        return crops

    return compute


def _cut_bilinear(
    image: Any, indices: Any, rows: Axis, columns: Axis, crops: Any
) -> None:
    """Mixes four pixels for each of `crops`, with TensorFlow's rounding."""
    pixels = image.reshape(math.prod(image.shape[:3]), image.shape[3])
    places = _corner_places(image, indices, rows, columns)
    count, height, width, channels = crops.shape
    # Rows are flat: long loops over elements are faster than short ones over channels.
    flat = crops.reshape(count, height, width * channels)
    across = np.repeat(columns.share, channels, axis=1)[:, None, :]
    down = rows.share[:, :, None]
    step = min(count, max(1, _GROUP_ELEMENTS // crops[0].size))
    others = np.empty((3, step, *crops.shape[1:]), np.float32)
    for begin in range(0, count, step):
        group = slice(begin, begin + step)
        upper = flat[group]
        left, lower_left, lower = (part[: len(upper)] for part in others)
        for at, corner in zip(
            places, (left, crops[group], lower_left, lower), strict=True
        ):
            _pick(pixels, at[group], corner)
        left, lower_left, lower = (
            part.reshape(upper.shape) for part in (left, lower_left, lower)
        )
        _mix(left, upper, across[group])
        _mix(lower_left, lower, across[group])
        lower -= upper
        lower *= down[group]
        upper += lower


def _pick(pixels: Any, at: Any, out: Any) -> None:
    """The pixels at some places, float32."""
    if pixels.dtype == np.float32:
        # "clip" copies without a buffer; all are inside.
        np.take(pixels, at, axis=0, mode="clip", out=out)
    else:
        out[...] = np.take(pixels, at, axis=0, mode="clip")


def _mix(low: Any, high: Any, share: Any) -> None:
    """low + (high - low) * share, in the memory of `high`."""
    high -= low
    high *= share
    high += low


def _cut_nearest(
    image: Any, indices: Any, rows: Axis, columns: Axis, crops: Any
) -> None:
    y = _nearest(rows.low + rows.share, image.shape[1])
    x = _nearest(columns.low + columns.share, image.shape[2])
    crops[...] = image[indices[:, None, None], y[:, :, None], x[:, None, :]]


# --- gradients --------------------------------------------------------------------


def _check_grads(grads: Any, boxes: Any) -> None:
    if grads.ndim != 4:
        raise invalid_argument(f"grads image must be 4-D{shape_text(grads.shape)}")
    if 0 in grads.shape[1:3]:
        raise invalid_argument("grads dimensions must be positive")
    if len(grads) != len(boxes):
        raise invalid_argument("boxes and grads have incompatible shape")


def image_shape(
    grads: Any, boxes: Any, indices: Any, image_size: Any
) -> tuple[int, ...]:
    """The shape of the images that were cut.

    Raises:
      InvalidArgumentError, OutOfRangeError: the inputs do not fit together.
    """
    _check_boxes(boxes, indices)
    _check_grads(grads, boxes)
    if np.shape(image_size) != (4,):
        raise invalid_argument(
            f"image_size must have 4 elements{shape_text(np.shape(image_size))}"
        )
    shape = tuple(int(size) for size in image_size)
    if shape[1] <= 0 or shape[2] <= 0:
        raise invalid_argument("image dimensions must be positive")
    if grads.shape[3] != shape[3]:
        raise invalid_argument("image_size and grads are incompatible")
    _check_indices(indices, shape[0])
    return shape


@host_kernel("CropAndResizeGradImage", large=True)
def crop_and_resize_grad_image(c: OpKernelConstruction) -> Compute:
    """Each crop pixel's gradient goes to the pixels it came from."""
    dtype = c["T"].as_numpy_dtype
    nearest = c["method"] == b"nearest"

    def compute(grads: Any, boxes: Any, indices: Any, image_size: Any) -> Any:
        shape = image_shape(grads, boxes, indices, image_size)
        check_shape(shape, c["T"], c.device)
        rows, columns = crop_axes(boxes, shape, grads.shape)
        total = np.zeros((shape[0] * shape[1] * shape[2], shape[3]), dtype)
        inside = rows.inside[:, :, None] & columns.inside[:, None, :]
        for y, x, part in _shares(grads, rows, columns, shape, nearest):
            flat = (indices[:, None, None] * shape[1] + y[:, :, None]) * shape[2]
            flat = flat + x[:, None, :]
            np.add.at(total, flat[inside], part[inside].astype(dtype))
        return total.reshape(shape)

    return compute


def _shares(grads: Any, rows: Axis, columns: Axis, shape: Any, nearest: bool) -> Any:
    """(rows, columns, gradient) of the pixels that each crop pixel was made of."""
    if nearest:
        y = _nearest(rows.low + rows.share, shape[1])
        return [(y, _nearest(columns.low + columns.share, shape[2]), grads)]
    y, x = rows.share[:, :, None, None], columns.share[:, None, :, None]
    upper, lower = (1 - y) * grads, y * grads
    return [
        (rows.low, columns.low, (1 - x) * upper),
        (rows.low, columns.high, x * upper),
        (rows.high, columns.low, (1 - x) * lower),
        (rows.high, columns.high, x * lower),
    ]


@host_kernel("CropAndResizeGradBoxes", large=True)
def crop_and_resize_grad_boxes(c: OpKernelConstruction) -> Compute:
    """How the crops change as the corners of the boxes move."""

    def compute(grads: Any, image: Any, boxes: Any, indices: Any) -> Any:
        _check_boxes(boxes, indices)
        _check_grads(grads, boxes)
        _check_image(image)
        if grads.shape[3] != image.shape[3]:
            raise invalid_argument("image, grads depth differ")
        _check_indices(indices, len(image))
        rows, columns = crop_axes(boxes, image.shape, grads.shape)
        upper_left, upper_right, lower_left, lower_right = _corners(
            image, indices, rows, columns
        )
        y, x = rows.share[:, :, None, None], columns.share[:, None, :, None]
        inside = (rows.inside[:, :, None] & columns.inside[:, None, :])[..., None]
        down = (1 - x) * (lower_left - upper_left) + x * (lower_right - upper_right)
        across = (1 - y) * (upper_right - upper_left) + y * (lower_right - lower_left)
        down = np.where(inside, down * grads, 0).sum(axis=(2, 3))
        across = np.where(inside, across * grads, 0).sum(axis=(1, 3))
        y1, y2 = _corner_shares(image.shape[1], grads.shape[1])
        x1, x2 = _corner_shares(image.shape[2], grads.shape[2])
        sums = [down @ y1, across @ x1, down @ y2, across @ x2]
        return np.stack(sums, axis=1).astype(np.float32)

    return compute


def _corner_shares(old: int, new: int) -> tuple[Any, Any]:
    """How far each crop pixel moves with the box's first and with its last edge."""
    last = _F(old - 1)
    if new == 1:
        half = np.full(1, _F(0.5) * last)
        return half, half
    second = np.arange(new, dtype=np.float32) * (last / _F(new - 1))
    return last - second, second
