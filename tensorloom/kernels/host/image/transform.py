"""Host kernels that resample images with a kernel or through a projection."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.math.errors import shape_text

_F = np.float32
# Axis: (old positions [new, taps], weights [new, taps]).
_Axis = tuple[Any, Any]


# --- kernels: functions of a distance, with a radius outside of which they are 0 --


def _lanczos(radius: int) -> Callable[[Any], Any]:
    def kernel(x: Any) -> Any:
        safe = np.where(x > 1e-3, x, 1).astype(np.float64)
        turned = np.pi * safe
        values = radius * np.sin(turned) * np.sin(turned / radius) / turned**2
        return np.where(x > radius, 0, np.where(x <= 1e-3, 1, values))

    return kernel


def _gaussian(x: Any) -> Any:
    return np.where(x >= 1.5, 0, np.exp(-x * x / _F(2 * 0.5 * 0.5)))


def _box(x: Any) -> Any:
    return np.where(x < 0.5, 1, np.where(x == 0.5, 0.5, 0))


def _triangle(x: Any) -> Any:
    return np.where(x < 1, 1 - x, 0)


def _keys_cubic(x: Any) -> Any:
    near = ((_F(1.5) * x - _F(2.5)) * x) * x + 1
    far = ((_F(-0.5) * x + _F(2.5)) * x - 4) * x + 2
    return np.where(x >= 2, 0, np.where(x >= 1, far, near))


def _mitchell_cubic(x: Any) -> Any:
    near = ((_F(7 / 6) * x - 2) * x) * x + _F(8 / 9)
    far = ((_F(-7 / 18) * x + 2) * x - _F(10 / 3)) * x + _F(16 / 9)
    return np.where(x >= 2, 0, np.where(x >= 1, far, near))


_KERNELS: dict[bytes, tuple[float, Callable[[Any], Any]]] = {
    b"lanczos1": (1.0, _lanczos(1)),
    b"lanczos3": (3.0, _lanczos(3)),
    b"lanczos5": (5.0, _lanczos(5)),
    b"gaussian": (1.5, _gaussian),
    b"box": (1.0, _box),
    b"triangle": (1.0, _triangle),
    b"keyscubic": (2.0, _keys_cubic),
    b"mitchellcubic": (2.0, _mitchell_cubic),
}


def _axis(
    kernel: bytes, old: int, new: int, scale: float, move: float, antialias: bool
) -> _Axis:
    """The pixels that each new one is made of, with weights that sum to one."""
    radius, weigh = _KERNELS[kernel]
    inverse = _F(1.0 / _F(scale))
    offset = -inverse * _F(move)
    stretch = max(inverse, _F(1)) if antialias else _F(1)
    centers = (np.arange(new, dtype=np.float32) + _F(0.5)) * inverse + offset
    outside = ~((centers >= 0) & (centers <= old))
    reach = _F(radius) * stretch
    first = np.ceil(centers - reach - _F(0.5))
    last = np.floor(centers + reach - _F(0.5))
    first, last = (
        np.clip(np.nan_to_num(edge), 0, old - 1).astype(np.int64)
        for edge in (first, last)
    )
    width = int((last - first).max()) + 1 if new else 0
    taps = first[:, None] + np.arange(width)
    distances = (taps.astype(np.float32) + _F(0.5)) - centers[:, None]
    weights = weigh(np.abs(distances * (_F(1) / stretch))).astype(np.float32)
    weights[(taps > last[:, None]) | outside[:, None]] = 0
    total = weights.sum(axis=1, keepdims=True, dtype=np.float32)
    is_small = np.abs(total) < _F(1000) * np.finfo(np.float32).tiny
    weights *= np.where(is_small, 0, _F(1) / np.where(is_small, 1, total))
    return np.minimum(taps, old - 1), weights.astype(np.float32)


def _dense(axis: _Axis, old: int) -> Any:
    """The axis as a matrix [new, old]."""
    taps, weights = axis
    matrix = np.zeros((len(taps), old), np.float32)
    np.add.at(matrix, (np.arange(len(taps))[:, None], taps), weights)
    return matrix


def _check_scaling(kernel: bytes, images: Any, scale: Any, translation: Any) -> None:
    if kernel not in _KERNELS:
        raise invalid_argument(f"Unrecognized kernel type: {kernel.decode()}")
    if images.ndim != 4:
        raise invalid_argument(f"input must be 4-dimensional{shape_text(images.shape)}")
    for what, value in (("scale", scale), ("translation", translation)):
        if np.shape(value) != (2,):
            raise invalid_argument(
                f"{what} must have two elements, got {shape_text(np.shape(value))}"
            )
    if not (np.asarray(scale) > 0).all():
        raise invalid_argument("Scale must be greater than zero.")


# A matrix product per axis costs old * new; taps cost new * taps gathers.
_MATRIX_SIDE = 1024


def _resample(images: Any, axis: int, plan: _Axis) -> Any:
    """Weighted sums along an axis of [batch, height, width, channels]."""
    old = images.shape[axis]
    if old <= _MATRIX_SIDE:
        return np.moveaxis(np.tensordot(_dense(plan, old), images, (1, axis)), 0, axis)
    taps, weights = plan
    shape = [1, 1, 1, 1]
    shape[axis] = -1
    total: Any = _F(0)
    for i in range(taps.shape[1]):
        total = total + np.take(images, taps[:, i], axis) * weights[:, i].reshape(shape)
    return total


def _plans(
    c: OpKernelConstruction, old: Any, new: Any, scale: Any, move: Any
) -> list[_Axis]:
    kernel, antialias = c["kernel_type"], c["antialias"]
    return [
        _axis(kernel, old[i], new[i], float(scale[i]), float(move[i]), antialias)
        for i in range(2)
    ]


@host_kernel("ScaleAndTranslate", large=True)
def scale_and_translate(c: OpKernelConstruction) -> Compute:
    """float32, rows first."""
    kernel = c["kernel_type"]

    def compute(images: Any, size: Any, scale: Any, translation: Any) -> Any:
        _check_scaling(kernel, images, scale, translation)
        if np.shape(size) != (2,):
            raise invalid_argument(
                f"size must have two elements, got {shape_text(np.shape(size))}"
            )
        new = tuple(int(x) for x in size)
        if min(new) <= 0:
            raise invalid_argument("output dimensions must be positive")
        if 0 in images.shape[1:3]:
            raise invalid_argument("input image must be of non-zero size")
        if not images.shape[3]:
            raise invalid_argument("image must have at least one channel")
        rows, columns = _plans(c, images.shape[1:3], new, scale, translation)
        values = images.astype(np.float32, copy=False)
        result = _resample(_resample(values, 1, rows), 2, columns)
        return np.ascontiguousarray(result, dtype=np.float32)

    return compute


@host_kernel("ScaleAndTranslateGrad", large=True)
def scale_and_translate_grad(c: OpKernelConstruction) -> Compute:
    """The transposed sums."""
    kernel = c["kernel_type"]

    def compute(grads: Any, image: Any, scale: Any, translation: Any) -> Any:
        _check_scaling(kernel, image, scale, translation)
        if grads.ndim != 4:
            raise invalid_argument(
                f"input_grad must be 4-dimensional{shape_text(grads.shape)}"
            )
        old = image.shape[1:3]
        rows, columns = _plans(c, old, grads.shape[1:3], scale, translation)
        result = grads
        for axis, plan in ((1, rows), (2, columns)):
            matrix = _dense(plan, old[axis - 1])
            result = np.moveaxis(np.tensordot(matrix, result, (0, axis)), 0, axis)
        return np.ascontiguousarray(result, dtype=np.float32)

    return compute


# --- projections ------------------------------------------------------------------


def _reflect(at: Any, size: int) -> Any:
    if size <= 1:
        return np.zeros_like(at)
    period = 2 * size
    moved = np.where(at < 0, at + period * np.trunc(-at / period), at)
    low = np.where(moved < -size, moved + period, -moved - 1)
    high = at - period * np.trunc(at / period)
    high = np.where(high >= size, period - high - 1, high)
    return np.clip(
        np.where(at < 0, low, np.where(at > size - 1, high, at)), 0, size - 1
    )


def _wrap(at: Any, size: int) -> Any:
    if size <= 1:
        return np.zeros_like(at)
    last = size - 1
    low = at + size * (np.trunc(-at / last) + 1)
    high = at - size * np.trunc(at / last)
    return np.clip(np.where(at < 0, low, np.where(at > last, high, at)), 0, last)


_FILL_MODES: dict[bytes, Callable[[Any, int], Any]] = {
    b"CONSTANT": lambda at, size: at,
    b"REFLECT": _reflect,
    b"WRAP": _wrap,
    b"NEAREST": lambda at, size: np.clip(at, 0, size - 1),
}


def _projected(transforms: Any, height: int, width: int) -> tuple[Any, Any, Any]:
    """(y, x, whether they exist) in the image for each output pixel [n, h, w]."""
    x = np.arange(width, dtype=np.float32)[None, None, :]
    y = np.arange(height, dtype=np.float32)[None, :, None]
    t = [transforms[:, i, None, None] for i in range(8)]
    depth = t[6] * x + t[7] * y + _F(1)
    exists = depth != 0
    return (
        (t[3] * x + t[4] * y + t[5]) / depth,
        (t[0] * x + t[1] * y + t[2]) / depth,
        exists,
    )


def _read(images: Any, y: Any, x: Any, fill: Any) -> Any:
    """Pixels [n, h, w, channels]; the fill value outside of the image."""
    height, width = images.shape[1:3]
    inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
    rows = np.where(inside, y, 0).astype(np.int64)
    columns = np.where(inside, x, 0).astype(np.int64)
    batch = np.arange(len(images))[:, None, None]
    return np.where(inside[..., None], images[batch, rows, columns], fill)


def _read_bilinear(images: Any, y: Any, x: Any, fill: Any) -> Any:
    top, left = np.floor(y), np.floor(x)
    bottom, right = top + _F(1), left + _F(1)
    wide, narrow = (right - x)[..., None], (x - left)[..., None]
    upper = wide * _read(images, top, left, fill) + narrow * _read(
        images, top, right, fill
    )
    lower = wide * _read(images, bottom, left, fill) + narrow * _read(
        images, bottom, right, fill
    )
    return (bottom - y)[..., None] * upper + (y - top)[..., None] * lower


def _read_nearest(images: Any, y: Any, x: Any, fill: Any) -> Any:
    # Halves away from zero, as C rounds.
    y, x = (np.copysign(np.floor(np.abs(v) + _F(0.5)), v) for v in (y, x))
    return _read(images, y, x, fill)


def _checked_reader(interpolation: bytes) -> Callable[[Any, Any, Any, Any], Any]:
    """The function that reads images at places (y, x)."""
    readers = {b"NEAREST": _read_nearest, b"BILINEAR": _read_bilinear}
    if interpolation not in readers:
        raise invalid_argument(
            f"Invalid interpolation {interpolation.decode()}. Supported types: "
            "NEAREST, BILINEAR"
        )
    return readers[interpolation]


def _seen_through(
    images: Any, transforms: Any, size: tuple[int, int], read: Any, move: Any, fill: Any
) -> Any:
    """Images of a new size, each pixel read where its projection lies."""
    y, x, exists = _projected(transforms.astype(np.float32), *size)
    y, x = move(y, images.shape[1]), move(x, images.shape[2])
    target = (len(images), *size)
    y, x = np.broadcast_to(y, target), np.broadcast_to(x, target)
    exists = np.broadcast_to(exists, target) & np.isfinite(y) & np.isfinite(x)
    y, x = np.where(exists, y, _F(0)), np.where(exists, x, _F(0))
    values = read(images, y, x, fill)
    return np.where(exists[..., None], values, fill).astype(images.dtype)


@host_kernel("ImageProjectiveTransform", large=True)
def image_projective_transform_v1(c: OpKernelConstruction) -> Compute:
    """Of the images' own size, with zeros outside of them."""
    read = _checked_reader(c["interpolation"])
    move, fill = _FILL_MODES[b"CONSTANT"], c["dtype"].as_numpy_dtype(0)

    def compute(images: Any, transforms: Any) -> Any:
        _check_transforms(images, transforms)
        if not images.size:
            return images.copy()
        return _seen_through(images, transforms, images.shape[1:3], read, move, fill)

    return compute


@host_kernel(["ImageProjectiveTransformV2", "ImageProjectiveTransformV3"], large=True)
def image_projective_transform(c: OpKernelConstruction) -> Compute:
    """Of any size, with ways to fill what is outside of the images."""
    read = _checked_reader(c["interpolation"])
    if c["fill_mode"] not in _FILL_MODES:
        raise invalid_argument(
            f"Invalid mode {c['fill_mode'].decode()}. Supported types: "
            "REFLECT, WRAP, CONSTANT, NEAREST"
        )
    move = _FILL_MODES[c["fill_mode"]]
    dtype = c["dtype"].as_numpy_dtype

    def compute(images: Any, transforms: Any, shape: Any, fill: Any = 0.0) -> Any:
        size = _check_projection(images, transforms, shape)
        if np.ndim(fill):
            raise invalid_argument(
                f"fill_value must be a scalar{shape_text(np.shape(fill))}"
            )
        value = np.asarray(fill).astype(dtype)
        return _seen_through(images, transforms, size, read, move, value)

    return compute


def _check_transforms(images: Any, transforms: Any) -> None:
    if images.ndim != 4:
        raise invalid_argument("Input images must have rank 4")
    if transforms.ndim != 2 or transforms.shape[1] != 8:
        raise invalid_argument("Input transform should be num_images x 8 or 1 x 8")
    if len(transforms) not in (1, len(images)):
        raise invalid_argument("Input transform should be num_images x 8 or 1 x 8")


def _check_projection(images: Any, transforms: Any, shape: Any) -> tuple[int, int]:
    _check_transforms(images, transforms)
    if np.shape(shape) != (2,):
        raise invalid_argument(
            f"output shape must have two elements {shape_text(np.shape(shape))}"
        )
    height, width = (int(x) for x in shape)
    if height <= 0 or width <= 0:
        raise invalid_argument("output dimensions must be positive")
    return height, width
