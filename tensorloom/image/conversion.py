"""Images of other dtypes and colour spaces."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.image.checks import checked_grayscale
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops


@export("image.convert_image_dtype")
def convert_image_dtype(
    image: Any, dtype: Any, saturate: bool = False, name: str | None = None
) -> Tensor:
    """Images with values scaled to the range of a dtype: 0 to 1 for floats.

    Args:
      saturate: values out of range become the nearest in it; otherwise they wrap.

    Raises:
      AttributeError: the dtype is neither of floats nor of integers.
    """
    image = convert_to_tensor(image, name="image")
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating and not dtype.is_integer:
        raise AttributeError("dtype must be either floating point or integer")
    if dtype == image.dtype:
        return array_ops.identity(image, name=name)
    with name_scope(name, "convert_image", [image]) as scope:
        if image.dtype.is_integer and dtype.is_integer:
            return _between_integers(image, dtype, saturate, scope)
        if image.dtype.is_floating and dtype.is_floating:
            return math_ops.cast(image, dtype, name=scope)  # type: ignore[no-any-return]
        if image.dtype.is_integer:
            cast = math_ops.cast(image, dtype)
            return math_ops.multiply(cast, 1.0 / image.dtype.max, name=scope)
        scaled = math_ops.multiply(image, dtype.max + 0.5)
        return _cast(scaled, dtype, saturate, scope)


def _cast(image: Tensor, dtype: Any, saturate: bool, name: str | None = None) -> Tensor:
    if saturate:
        return math_ops.saturate_cast(image, dtype, name=name)
    return math_ops.cast(image, dtype, name=name)  # type: ignore[no-any-return]


def _between_integers(image: Tensor, dtype: Any, saturate: bool, name: str) -> Tensor:
    given, wanted = image.dtype.max, dtype.max
    if given > wanted:
        scaled = math_ops.div(image, (given + 1) // (wanted + 1))
        return _cast(scaled, dtype, saturate, name)
    cast = _cast(image, dtype, saturate)
    return math_ops.multiply(cast, (wanted + 1) // (given + 1), name=name)


@export("image.rgb_to_grayscale")
def rgb_to_grayscale(images: Any, name: str | None = None) -> Tensor:
    """Gray images [..., 1] of RGB images [..., 3]."""
    with name_scope(name, "rgb_to_grayscale", [images]) as scope:
        images = convert_to_tensor(images, name="images")
        given = images.dtype
        floats = convert_image_dtype(images, dtypes.float32)
        gray = math_ops.tensordot(floats, [0.2989, 0.587, 0.114], [-1, -1])
        gray = array_ops.expand_dims(gray, -1)
        return convert_image_dtype(gray, given, name=scope)


@export("image.grayscale_to_rgb")
def grayscale_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """Images [..., 3] with three equal channels of images [..., 1].

    Raises:
      ValueError: the last dimension is known not to be 1.
    """
    with name_scope(name, "grayscale_to_rgb", [images]) as scope:
        if not hasattr(images, "shape") or not hasattr(images, "op"):
            images = convert_to_tensor(images, name="images")
        images = checked_grayscale(images)
        last = array_ops.expand_dims(array_ops.rank(images) - 1, 0)
        parts = [array_ops.ones(last, dtype=dtypes.int32), array_ops.expand_dims(3, 0)]
        multiples = array_ops.concat(parts, 0)
        rgb = array_ops.tile(images, multiples, name=scope)
        rgb.set_shape(images.shape[:-1].concatenate([3]))
        return rgb


_MATRICES = {
    "rgb_to_yiq": [
        [0.299, 0.59590059, 0.2115],
        [0.587, -0.27455667, -0.52273617],
        [0.114, -0.32134392, 0.31119955],
    ],
    "yiq_to_rgb": [
        [1, 1, 1],
        [0.95598634, -0.27201283, -1.10674021],
        [0.6208248, -0.64720424, 1.70423049],
    ],
    "rgb_to_yuv": [
        [0.299, -0.14714119, 0.61497538],
        [0.587, -0.28886916, -0.51496512],
        [0.114, 0.43601035, -0.10001026],
    ],
    "yuv_to_rgb": [
        [1, 1, 1],
        [0, -0.394642334, 2.03206185],
        [1.13988303, -0.58062185, 0],
    ],
}


def _through(matrix: str, images: Any) -> Tensor:
    images = convert_to_tensor(images, name="images")
    kernel = convert_to_tensor(_MATRICES[matrix], dtype=images.dtype, name="kernel")
    return math_ops.tensordot(images, kernel, axes=[[images.shape.rank - 1], [0]])


@export("image.rgb_to_yiq")
def rgb_to_yiq(images: Any) -> Tensor:
    """NTSC's YIQ of RGB images [..., 3], floats."""
    return _through("rgb_to_yiq", images)


@export("image.yiq_to_rgb")
def yiq_to_rgb(images: Any) -> Tensor:
    """RGB of NTSC's YIQ images [..., 3], floats."""
    return _through("yiq_to_rgb", images)


@export("image.rgb_to_yuv")
def rgb_to_yuv(images: Any) -> Tensor:
    """YUV of RGB images [..., 3], floats."""
    return _through("rgb_to_yuv", images)


@export("image.yuv_to_rgb")
def yuv_to_rgb(images: Any) -> Tensor:
    """RGB of YUV images [..., 3], floats."""
    return _through("yuv_to_rgb", images)
