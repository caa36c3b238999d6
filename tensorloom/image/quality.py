"""How alike two images are: PSNR, SSIM and multiscale SSIM."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tensorloom.client.control_flow.cond import cond
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, control_dependencies, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.image.conversion import convert_image_dtype
from tensorloom.ops.array import array_ops
from tensorloom.ops.array import constant as constant_op
from tensorloom.ops.control_flow import builders as control_flow_ops
from tensorloom.ops.convolution import builders as nn_ops_convolution
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn import activation as nn_ops_activation
from tensorloom.ops.nn import softmax as nn_ops_softmax
from tensorloom.ops.pooling import pool as nn_ops_pool

_MSSSIM_WEIGHTS: Final = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def _compatible_shapes(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, list[Any]]:
    """(shape of a, shape of b, assertions that the images fit each other).

    Raises:
      ValueError: they are known not to.
    """
    shape_a = a.shape.with_rank_at_least(3)
    shape_b = b.shape.with_rank_at_least(3)
    shape_a[-3:].assert_is_compatible_with(shape_b[-3:])
    if shape_a.rank is not None and shape_b.rank is not None:
        outer = zip(shape_a.as_list()[-4::-1], shape_b.as_list()[-4::-1], strict=False)
        for x, y in outer:
            if 1 not in (x, y) and None not in (x, y) and x != y:
                raise ValueError(
                    f"Two images are not compatible: {shape_a} and {shape_b}"
                )
    first, second = array_ops.shape_n([a, b])
    checks = [
        control_flow_ops.Assert(
            math_ops.greater_equal(array_ops.size(first), 3),
            [first, second],
            summarize=10,
        ),
        control_flow_ops.Assert(
            math_ops.reduce_all(math_ops.equal(first[-3:], second[-3:])),
            [first, second],
            summarize=10,
        ),
    ]
    return first, second, checks


@export("image.psnr")
def psnr(a: Any, b: Any, max_val: Any, name: str | None = None) -> Tensor:
    """The peak signal-to-noise ratio of two batches of images, in dB, [...].

    Args:
      max_val: the range of the values.

    Raises:
      ValueError: the shapes do not fit.
    """
    with name_scope(name, "PSNR", [a, b]):
        max_val = math_ops.cast(max_val, a.dtype)
        max_val = convert_image_dtype(max_val, dtypes.float32)
        a = convert_image_dtype(a, dtypes.float32)
        b = convert_image_dtype(b, dtypes.float32)
        mse = math_ops.reduce_mean(math_ops.squared_difference(a, b), [-3, -2, -1])
        ratio = math_ops.subtract(
            20 * math_ops.log(max_val) / math_ops.log(10.0),
            np.float32(10 / np.log(10)) * math_ops.log(mse),
            name="psnr",
        )
        _, _, checks = _compatible_shapes(a, b)
        with control_dependencies(checks):
            return array_ops.identity(ratio)


def _luminance_and_contrast(
    x: Tensor,
    y: Tensor,
    reduce: Callable[[Tensor], Tensor],
    max_val: Tensor,
    k1: float,
    k2: float,
) -> tuple[Tensor, Tensor]:
    c1 = (k1 * max_val) ** 2
    c2 = (k2 * max_val) ** 2
    mean_x, mean_y = reduce(x), reduce(y)
    products = mean_x * mean_y * 2.0
    squares = math_ops.square(mean_x) + math_ops.square(mean_y)
    luminance = (products + c1) / (squares + c1)
    mixed = reduce(x * y) * 2.0
    pure = reduce(math_ops.square(x) + math_ops.square(y))
    c2 = c2 * 1.0
    contrast = (mixed - products + c2) / (pure - squares + c2)
    return luminance, contrast


def _gaussian(size: Tensor, sigma: Tensor) -> Tensor:
    """A window [size, size, 1, 1] that sums to one."""
    size = convert_to_tensor(size, dtypes.int32)
    sigma = convert_to_tensor(sigma)
    places = math_ops.cast(math_ops.range(size), sigma.dtype)
    places = places - math_ops.cast(size - 1, sigma.dtype) / 2.0
    exponents = math_ops.square(places)
    exponents = exponents * (-0.5 / math_ops.square(sigma))
    both = array_ops.reshape(exponents, shape=[1, -1]) + array_ops.reshape(
        exponents, shape=[-1, 1]
    )
    weights = nn_ops_softmax.softmax(array_ops.reshape(both, shape=[1, -1]))
    return array_ops.reshape(weights, shape=[size, size, 1, 1])


def _ssim_per_channel(
    a: Tensor,
    b: Tensor,
    max_val: Tensor,
    filter_size: int,
    filter_sigma: float,
    k1: float,
    k2: float,
) -> tuple[Tensor, Tensor]:
    """(SSIM, contrast) [..., channels]."""
    size = constant_op.constant(filter_size, dtype=dtypes.int32)
    sigma = constant_op.constant(filter_sigma, dtype=a.dtype)
    shapes = array_ops.shape_n([a, b])
    checks = [
        control_flow_ops.Assert(
            math_ops.reduce_all(math_ops.greater_equal(shape[-3:-1], size)),
            [shape, size],
            summarize=8,
        )
        for shape in shapes
    ]
    with control_dependencies(checks):
        a = array_ops.identity(a)
    kernel = _gaussian(size, sigma)
    kernel = array_ops.tile(kernel, multiples=[1, 1, shapes[0][-1], 1])

    def reduce(x: Tensor) -> Tensor:
        shape = array_ops.shape(x)
        flat = array_ops.reshape(x, shape=array_ops.concat([[-1], shape[-3:]], 0))
        filtered = nn_ops_convolution.depthwise_conv2d(
            flat, kernel, strides=[1, 1, 1, 1], padding="VALID"
        )
        outer = shape[:-3]
        inner = array_ops.shape(filtered)[1:]
        return array_ops.reshape(filtered, array_ops.concat([outer, inner], 0))

    luminance, contrast = _luminance_and_contrast(a, b, reduce, max_val, k1, k2)
    axes = constant_op.constant([-3, -2], dtype=dtypes.int32)
    ssim_values = math_ops.reduce_mean(luminance * contrast, axes)
    return ssim_values, math_ops.reduce_mean(contrast, axes)


def _as_floats(a: Tensor, b: Tensor, max_val: Any) -> tuple[Tensor, Tensor, Tensor]:
    max_val = math_ops.cast(max_val, a.dtype)
    max_val = convert_image_dtype(max_val, dtypes.float32)
    a = convert_image_dtype(a, dtypes.float32)
    return a, convert_image_dtype(b, dtypes.float32), max_val


@export("image.ssim")
def ssim(
    img1: Any,
    img2: Any,
    max_val: Any,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> Tensor:
    """The structural similarity of images [..., height, width, channels], [...].

    Wang et al., "Image quality assessment: from error visibility to structural
    similarity", 2004.

    Raises:
      ValueError: the shapes do not fit.
    """
    _, _, checks = _compatible_shapes(img1, img2)
    with control_dependencies(checks):
        img1 = array_ops.identity(img1)
    a, b, max_val = _as_floats(img1, img2, max_val)
    values, _ = _ssim_per_channel(a, b, max_val, filter_size, filter_sigma, k1, k2)
    return math_ops.reduce_mean(values, [-1])


@export("image.ssim_multiscale")
def ssim_multiscale(
    img1: Any,
    img2: Any,
    max_val: Any,
    power_factors: Any = _MSSSIM_WEIGHTS,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> Tensor:
    """SSIM over scales, each half the one before it; [...].

    Wang, Simoncelli and Bovik, "Multiscale structural similarity for image quality
    assessment", 2003.

    Raises:
      ValueError: the shapes do not fit.
    """
    with name_scope(None, "MS-SSIM", [img1, img2]):
        img1 = convert_to_tensor(img1, name="img1")
        img2 = convert_to_tensor(img2, name="img2")
        *shapes, checks = _compatible_shapes(img1, img2)
        with control_dependencies(checks):
            img1 = array_ops.identity(img1)
        a, b, max_val = _as_floats(img1, img2, max_val)
        images, heads = [a, b], [shape[:-3] for shape in shapes]
        tails = [shape[-3:] for shape in shapes]
        divisor = constant_op.constant([2, 2, 1], dtype=dtypes.int32)
        contrasts = []
        for scale in range(len(power_factors)):
            with name_scope(None, f"Scale{scale}", images):
                if scale > 0:
                    images, tails = _halved(images, heads, tails, divisor)
                values, contrast = _ssim_per_channel(
                    images[0], images[1], max_val, filter_size, filter_sigma, k1, k2
                )
                contrasts.append(nn_ops_activation.relu(contrast))
        # The last scale counts with its luminance as well.
        parts = [*contrasts[:-1], nn_ops_activation.relu(values)]
        stacked = array_ops.stack(parts, axis=-1)
        product = math_ops.reduce_prod(math_ops.pow(stacked, power_factors), [-1])
        return math_ops.reduce_mean(product, [-1])


def _halved(
    images: list[Tensor], heads: list[Tensor], tails: list[Tensor], divisor: Tensor
) -> tuple[list[Tensor], list[Tensor]]:
    """(images of half the size, their inner shapes); odd sides repeat their edge."""
    flat = [
        array_ops.reshape(x, array_ops.concat([[-1], tail], 0))
        for x, tail in zip(images, tails, strict=True)
    ]
    remainder = tails[0] % divisor

    def pad() -> list[Tensor]:
        padding = array_ops.expand_dims(remainder, -1)
        padding = array_ops.pad(padding, [[1, 0], [1, 0]])
        return [array_ops.pad(x, padding, mode="SYMMETRIC") for x in flat]

    is_odd = math_ops.reduce_any(math_ops.not_equal(remainder, 0))
    padded = cond(is_odd, pad, lambda: flat)
    halves = [
        nn_ops_pool.avg_pool(
            x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID"
        )
        for x in padded
    ]
    inner = [x[1:] for x in array_ops.shape_n(halves)]
    whole = [
        array_ops.reshape(x, array_ops.concat([head, tail], 0))
        for x, head, tail in zip(halves, heads, inner, strict=True)
    ]
    return whole, inner
