"""Brightness, contrast, gamma, hue, saturation and JPEG quality, fixed or random."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.image.checks import checked_image, is_tensor, require
from tensorloom.image.conversion import convert_image_dtype
from tensorloom.ops.array import array_ops
from tensorloom.ops.control_flow import builders as control_flow_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.random import random_ops

_FLOATS = (dtypes.float16, dtypes.float32)


def _as_float(image: Tensor) -> Tensor:
    if image.dtype in _FLOATS:
        return image
    return convert_image_dtype(image, dtypes.float32)


@export("image.adjust_brightness")
def adjust_brightness(image: Any, delta: Any) -> Tensor:
    """Images with `delta` added to their values in 0 to 1."""
    with name_scope(None, "adjust_brightness", [image, delta]) as name:
        image = convert_to_tensor(image, name="image")
        given = image.dtype
        floats = _as_float(image)
        adjusted = math_ops.add(floats, math_ops.cast(delta, floats.dtype), name=name)
        return convert_image_dtype(adjusted, given, saturate=True)


@export("image.adjust_contrast")
def adjust_contrast(images: Any, contrast_factor: Any) -> Tensor:
    """(x - mean) * contrast_factor + mean for each channel of each image."""
    with name_scope(None, "adjust_contrast", [images, contrast_factor]) as name:
        images = convert_to_tensor(images, name="images")
        given = images.dtype
        adjusted = apply_op(
            "AdjustContrastv2",
            images=_as_float(images),
            contrast_factor=contrast_factor,
            name=name,
        )
        return convert_image_dtype(adjusted, given, saturate=True)


@export("image.adjust_gamma")
def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Tensor:
    """gain * x ** gamma of values x in 0 to 1.

    Raises:
      ValueError: gamma is negative.
    """
    with name_scope(None, "adjust_gamma", [image, gamma, gain]):
        image = convert_to_tensor(image, name="image")
        given = image.dtype
        floats = _as_float(image)
        checks = require(gamma >= 0, "Gamma should be a non-negative real number.")
        if checks:
            gamma = control_flow_ops.with_dependencies(checks, gamma)
        return convert_image_dtype(gain * floats**gamma, given, saturate=True)


@export("image.adjust_hue")
def adjust_hue(image: Any, delta: Any, name: str | None = None) -> Tensor:
    """RGB images with their hue turned by `delta`; 1 is all around."""
    with name_scope(name, "adjust_hue", [image]):
        image = convert_to_tensor(image, name="image")
        given = image.dtype
        adjusted = apply_op("AdjustHue", images=_as_float(image), delta=delta)
        return convert_image_dtype(adjusted, given)


@export("image.adjust_saturation")
def adjust_saturation(
    image: Any, saturation_factor: Any, name: str | None = None
) -> Tensor:
    """RGB images with their saturation scaled."""
    with name_scope(name, "adjust_saturation", [image]):
        image = convert_to_tensor(image, name="image")
        given = image.dtype
        adjusted = apply_op(
            "AdjustSaturation", images=_as_float(image), scale=saturation_factor
        )
        return convert_image_dtype(adjusted, given)


@export("image.adjust_jpeg_quality")
def adjust_jpeg_quality(
    image: Any, jpeg_quality: Any, name: str | None = None
) -> Tensor:
    """An image as it comes out of a JPEG file of a quality of 0 to 100."""
    with name_scope(name, "adjust_jpeg_quality", [image]):
        image = convert_to_tensor(image, name="image")
        given = image.dtype
        image = convert_image_dtype(image, dtypes.uint8)
        if not is_tensor(jpeg_quality):
            jpeg_quality = convert_to_tensor(jpeg_quality, dtype=dtypes.int32)
        contents = apply_op(
            "EncodeJpegVariableQuality", images=image, quality=jpeg_quality
        )
        decoded: Tensor = apply_op("DecodeJpeg", contents=contents)
        return convert_image_dtype(decoded, given)


@export("image.per_image_standardization")
def per_image_standardization(image: Any) -> Tensor:
    """Images with a mean of 0 and a variance of 1, if they are not of one colour."""
    with name_scope(None, "per_image_standardization", [image]) as scope:
        image = checked_image(convert_to_tensor(image, name="image"))
        given = image.dtype
        if given not in _FLOATS:
            image = convert_image_dtype(image, dtypes.float32)
        count = math_ops.reduce_prod(array_ops.shape(image)[-3:])
        mean = math_ops.reduce_mean(image, axis=[-1, -2, -3], keepdims=True)
        deviation = math_ops.reduce_std(image, axis=[-1, -2, -3], keepdims=True)
        least = math_ops.rsqrt(math_ops.cast(count, image.dtype))
        divisor = math_ops.maximum(deviation, least)
        image = math_ops.div(image - mean, divisor, name=scope)
        return convert_image_dtype(image, given, saturate=True)


# --- random -----------------------------------------------------------------------


def _check_range(lower: float, upper: float) -> None:
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")


@export("image.random_brightness")
def random_brightness(image: Any, max_delta: float, seed: int | None = None) -> Tensor:
    """Images with a random number of [-max_delta, max_delta) added.

    Raises:
      ValueError: max_delta is negative.
    """
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    delta = random_ops.random_uniform([], -max_delta, max_delta, seed=seed)
    return adjust_brightness(image, delta)


@export("image.random_contrast")
def random_contrast(
    image: Any, lower: float, upper: float, seed: int | None = None
) -> Tensor:
    """Images with their contrast changed by a random factor of [lower, upper).

    Raises:
      ValueError: not 0 <= lower < upper.
    """
    _check_range(lower, upper)
    factor = random_ops.random_uniform([], lower, upper, seed=seed)
    return adjust_contrast(image, factor)


@export("image.random_hue")
def random_hue(image: Any, max_delta: float, seed: int | None = None) -> Tensor:
    """RGB images with their hue turned by a random share of [-max_delta, max_delta).

    Raises:
      ValueError: max_delta is not in 0 to 0.5.
    """
    if max_delta > 0.5:
        raise ValueError("max_delta must be <= 0.5.")
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    delta = random_ops.random_uniform([], -max_delta, max_delta, seed=seed)
    return adjust_hue(image, delta)


@export("image.random_saturation")
def random_saturation(
    image: Any, lower: float, upper: float, seed: int | None = None
) -> Tensor:
    """RGB images with their saturation scaled by a random factor of [lower, upper).

    Raises:
      ValueError: not 0 <= lower < upper.
    """
    _check_range(lower, upper)
    factor = random_ops.random_uniform([], lower, upper, seed=seed)
    return adjust_saturation(image, factor)


@export("image.random_jpeg_quality")
def random_jpeg_quality(
    image: Any, min_jpeg_quality: int, max_jpeg_quality: int, seed: int | None = None
) -> Tensor:
    """An image as it comes out of a JPEG file of a random quality.

    Raises:
      ValueError: not 0 <= min_jpeg_quality < max_jpeg_quality <= 100.
    """
    for bound in (min_jpeg_quality, max_jpeg_quality):
        if not 0 <= bound <= 100:
            raise ValueError("jpeg encoding range must be between 0 and 100.")
    if min_jpeg_quality >= max_jpeg_quality:
        raise ValueError("`min_jpeg_quality` must be less than `max_jpeg_quality`.")
    quality = random_ops.random_uniform(
        [], min_jpeg_quality, max_jpeg_quality, seed=seed, dtype=dtypes.int32
    )
    return adjust_jpeg_quality(image, quality)
