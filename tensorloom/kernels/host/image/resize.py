"""Kernels that resize images.

Each axis is a sparse matrix from old to new positions: for every new position a few
old ones with weights. The gradient is its transpose.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.framework.runtime.intra_op import in_ranges
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.array.allocation import check_shape
from tensorloom.kernels.host.math.errors import shape_text

# (old positions [new, taps], weights [new, taps]) of one axis.
Taps = tuple[Any, Any]
_Weights = Callable[[int, int, bool, bool], Taps]
# Elements of a result that are worth a thread's while.
_WORTHWHILE = 1 << 15
# Of these dtypes a loop reads images as they are; it gets others as float32.
_READ = frozenset([np.dtype(np.float32), np.dtype(np.uint8)])


def _scale(old: int, new: int, align: bool) -> Any:
    if align and new > 1:
        return np.float32((old - 1) / np.float32(new - 1))
    return np.float32(old / np.float32(new))


def _positions(old: int, new: int, align: bool, centers: bool) -> Any:
    """Where each new position lies among the old ones, float32."""
    index = np.arange(new, dtype=np.float32)
    scale = _scale(old, new, align)
    if centers:
        return (index + np.float32(0.5)) * scale - np.float32(0.5)
    return index * scale


@functools.lru_cache(maxsize=64)
def between(old: int, new: int, align: bool, centers: bool) -> tuple[Any, Any, Any]:
    """(pixel before, pixel after, how far from the first) of each new position."""
    at = _positions(old, new, align, centers)
    floor = np.floor(at)
    lower = np.clip(floor.astype(np.int64), 0, old - 1)
    upper = np.clip(np.ceil(at).astype(np.int64), 0, old - 1)
    return lower, upper, at - floor


@functools.lru_cache(maxsize=64)
def _linear(old: int, new: int, align: bool, centers: bool) -> Taps:
    lower, upper, fraction = between(old, new, align, centers)
    weights = np.stack([1 - fraction, fraction], axis=1)
    return np.stack([lower, upper], axis=1), weights


@functools.lru_cache(maxsize=64)
def _nearest(old: int, new: int, align: bool, centers: bool) -> Taps:
    scale = _scale(old, new, align)
    index = np.arange(new, dtype=np.float32)
    at = (index + np.float32(0.5)) * scale if centers else index * scale
    # Halves away from zero, as C rounds.
    whole = np.floor(at + np.float32(0.5)) if align else np.floor(at)
    chosen = np.clip(whole.astype(np.int64), 0, old - 1)
    return chosen[:, None], np.ones((new, 1), np.float32)


_TABLE = 1024


def _cubic_table(a: float) -> Any:
    """Weights of Keys' kernel at distances of 1/1024, two a row."""
    x = np.arange(_TABLE + 1, dtype=np.float64) / _TABLE
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    y = x + 1
    far = ((a * y - 5 * a) * y + 8 * a) * y - 4 * a
    return near.astype(np.float32), far.astype(np.float32)


@functools.lru_cache(maxsize=64)
def _cubic(old: int, new: int, align: bool, centers: bool) -> Taps:
    near, far = _cubic_table(-0.5 if centers else -0.75)
    at = _positions(old, new, align, centers)
    floor = np.floor(at)
    base = floor.astype(np.int64)
    offset = np.rint((at - floor) * np.float32(_TABLE)).astype(np.int64)
    weights = np.stack(
        [far[offset], near[offset], near[_TABLE - offset], far[_TABLE - offset]], axis=1
    )
    taps = base[:, None] + np.arange(-1, 3)
    if not centers:
        return np.clip(taps, 0, old - 1), weights
    # Pixels outside count for nothing; what remains sums to one.
    weights = np.where((taps >= 0) & (taps < old), weights, np.float32(0))
    total = weights.sum(axis=1, keepdims=True)
    safe = np.where(np.abs(total) >= 1000 * np.finfo(np.float32).tiny, total, 1)
    return np.clip(taps, 0, old - 1), weights / safe


@functools.lru_cache(maxsize=64)
def _area(old: int, new: int, align: bool, centers: bool) -> Taps:
    scale = _scale(old, new, align)
    index = np.arange(new, dtype=np.float32)
    start, end = index * scale, (index + 1) * scale
    first = np.floor(start).astype(np.int64)
    # One at least: with aligned corners the parts of a single pixel have no width, and
    # their means are NaN.
    width = max(1, int((np.ceil(end).astype(np.int64) - first).max(initial=0)))
    taps = first[:, None] + np.arange(width)
    left = np.maximum(taps.astype(np.float32), start[:, None])
    right = np.minimum((taps + 1).astype(np.float32), end[:, None])
    with np.errstate(invalid="ignore"):
        weights = np.maximum(right - left, np.float32(0)) / scale
    return np.clip(taps, 0, old - 1), weights.astype(np.float32)


#: What each op makes of two sizes of an axis and its flags.
WEIGHTS: dict[str, _Weights] = {
    "ResizeBilinear": _linear,
    "ResizeNearestNeighbor": _nearest,
    "ResizeBicubic": _cubic,
    "ResizeArea": _area,
}


def check_sizes(images: Any, size: Any) -> tuple[int, int]:
    """The new height and width.

    Raises:
      InvalidArgumentError: these are no images, or there is nothing to make.
    """
    if images.ndim != 4:
        raise invalid_argument(f"input must be 4-dimensional{shape_text(images.shape)}")
    if np.shape(size) != (2,):
        raise invalid_argument(
            f"shape_t must have two elements{shape_text(np.shape(size))}"
        )
    height, width = (int(x) for x in size)
    if height <= 0 or width <= 0:
        raise invalid_argument("output dimensions must be positive")
    if 0 in images.shape[1:3]:
        raise invalid_argument("input image must be of non-zero size")
    if not images.shape[3]:
        raise invalid_argument("image must have at least one channel")
    return height, width


def _by_rows(
    loop: Callable[..., None], images: Any, rows: Any, columns: Any, shape: Any
) -> Any:
    """The float32 images [batch, height, width, channels] that a loop makes."""
    result = np.empty(shape, np.float32)
    if images.dtype not in _READ:
        images = images.astype(np.float32)
    images = np.ascontiguousarray(images)

    def fill(begin: int, end: int) -> None:
        loop(images, rows, columns, begin, end, result)

    batch, height, width, channels = shape
    in_ranges(fill, batch * height, max(1, _WORTHWHILE // (width * channels)))
    return result


@host_kernel("ResizeBilinear", large=True)
def resize_bilinear(c: OpKernelConstruction) -> Compute:
    """upper left + (upper right - upper left) * x and so on: TensorFlow's rounding.

    Sums of weighted pixels would be as good, but not the same in the last bit, and an
    image of one colour would come out in another one.
    """
    from tensorloom.kernels.loops.image.resize import bilinear

    align, centers = c["align_corners"], c["half_pixel_centers"]
    check_flags(align, centers)

    def compute(images: Any, size: Any) -> Any:
        height, width = check_sizes(images, size)
        batch, old_height, old_width, channels = images.shape
        result_shape = (batch, height, width, channels)
        check_shape(result_shape, dtypes.float32, c.device)
        if (height, width) == (old_height, old_width):
            return images.astype(np.float32)
        rows = between(old_height, height, align, centers)
        columns = between(old_width, width, align, centers)
        return _by_rows(bilinear, images, rows, columns, result_shape)

    return compute


@host_kernel(["ResizeBicubic", "ResizeArea"], large=True)
def resize(c: OpKernelConstruction) -> Compute:
    """Weighted sums along both axes, float32."""
    from tensorloom.kernels.loops.image.resize import weighted

    weights = WEIGHTS[c.op]
    align, centers = c["align_corners"], c.get("half_pixel_centers", False)
    check_flags(align, centers)

    def compute(images: Any, size: Any) -> Any:
        height, width = check_sizes(images, size)
        batch, old_height, old_width, channels = images.shape
        result_shape = (batch, height, width, channels)
        check_shape(result_shape, dtypes.float32, c.device)
        if (height, width) == images.shape[1:3] and c.op != "ResizeArea":
            return images.astype(np.float32)
        rows = weights(old_height, height, align, centers)
        columns = weights(old_width, width, align, centers)
        return _by_rows(weighted, images, rows, columns, result_shape)

    return compute


def check_flags(align: bool, centers: bool) -> None:
    """Raises InvalidArgumentError for attrs that contradict each other."""
    if align and centers:
        raise invalid_argument(
            "If half_pixel_centers is True, align_corners must be False."
        )


@host_kernel("ResizeNearestNeighbor", large=True)
def resize_nearest_neighbor(c: OpKernelConstruction) -> Compute:
    """The nearest pixels."""
    align, centers = c["align_corners"], c["half_pixel_centers"]
    check_flags(align, centers)

    def compute(images: Any, size: Any) -> Any:
        height, width = check_sizes(images, size)
        result_shape = (images.shape[0], height, width, images.shape[3])
        check_shape(result_shape, c["T"], c.device)
        rows = _nearest(images.shape[1], height, align, centers)[0][:, 0]
        columns = _nearest(images.shape[2], width, align, centers)[0][:, 0]
        return images.take(rows, axis=1).take(columns, axis=2)

    return compute


# --- gradients --------------------------------------------------------------------


def _by_images(loop: Callable[..., None], grads: Any, result: Any, *axes: Any) -> Any:
    """`result`, filled in by a loop; its images side by side."""
    grads = np.ascontiguousarray(grads)

    def fill(begin: int, end: int) -> None:
        loop(grads, *axes, begin, end, result)

    batch = len(grads)
    size_of_one = grads.size // max(batch, 1)
    in_ranges(fill, batch, max(1, _WORTHWHILE // max(size_of_one, 1)))
    return result


def _gathered(grad: Any, axis: int, chosen: Any, old: int) -> Any:
    """The sums of the gradients of the places that chose each of `old` places."""
    shape = list(grad.shape)
    shape[axis] = old
    result = np.zeros(shape, grad.dtype)
    for some in _rounds(chosen):
        places: list[Any] = [slice(None)] * grad.ndim
        if len(some) < old:
            places[axis] = chosen[some]
        result[tuple(places)] += np.take(grad, some, axis=axis)
    return result


def _rounds(positions: Any) -> list[Any]:
    """Indices of the positions, in lists in none of which a position comes twice.

    So whole rows can be added at once, 20 times as fast as `np.add.at` does, and in the
    same order.
    """
    if not len(positions):
        return []
    order = np.argsort(positions, kind="stable")
    ordered = positions[order]
    times = np.arange(len(order)) - np.searchsorted(ordered, ordered)
    return [order[times == i] for i in range(times.max() + 1)]


@host_kernel(["ResizeBilinearGrad", "ResizeBicubicGrad"], large=True)
def resize_grad(c: OpKernelConstruction) -> Compute:
    """The gradient for the image, of its dtype."""
    from tensorloom.kernels.loops.image.resize import spread

    to, weights = c["T"].as_numpy_dtype, WEIGHTS[c.op[:-4]]
    align, centers = c["align_corners"], c["half_pixel_centers"]
    check_flags(align, centers)

    def compute(grads: Any, image: Any) -> Any:
        for name, value in (("input_grad", grads), ("original_image", image)):
            if np.ndim(value) != 4:
                raise invalid_argument(
                    f"{name} must be 4-dimensional{shape_text(value.shape)}"
                )
            if 0 in value.shape[1:3]:
                raise invalid_argument(f"{name} must be of non-zero size")
        batch, new_height, new_width, channels = grads.shape
        height, width = image.shape[1:3]
        rows = weights(height, new_height, align, centers)
        columns = weights(width, new_width, align, centers)
        result = np.zeros((batch, height, width, channels), grads.dtype)
        return _by_images(spread, grads, result, rows, columns).astype(to, copy=False)

    return compute


@host_kernel("ResizeNearestNeighborGrad", large=True)
def resize_nearest_neighbor_grad(c: OpKernelConstruction) -> Compute:
    """The sum of the gradients of the pixels that came from each pixel."""
    from tensorloom.kernels.loops.image.resize import add_nearest

    align, centers = c["align_corners"], c["half_pixel_centers"]
    check_flags(align, centers)

    def compute(grads: Any, size: Any) -> Any:
        height, width = check_sizes(grads, size)
        rows = _nearest(height, grads.shape[1], align, centers)[0][:, 0]
        columns = _nearest(width, grads.shape[2], align, centers)[0][:, 0]
        if grads.itemsize == 2:  # halves, of which there is no compiled loop
            return _gathered(_gathered(grads, 1, rows, height), 2, columns, width)
        result = np.zeros((len(grads), height, width, grads.shape[3]), grads.dtype)
        axes = np.ascontiguousarray(rows), np.ascontiguousarray(columns)
        return _by_images(add_nearest, grads, result, *axes)

    return compute
