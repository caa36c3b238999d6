"""The sliced Wasserstein distance of images, by random projections of patches."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.constant import constant
from tensorloom.ops.array.space import batch_to_space
from tensorloom.ops.control_flow.script import py_func
from tensorloom.ops.convolution.builders import conv2d
from tensorloom.ops.linalg.svd import svd
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn.norm import moments
from tensorloom.ops.nn.top_k import top_k
from tensorloom.ops.random.random_ops import random_normal

_BINOMIAL: Final = np.array([1, 4, 6, 4, 1], np.float32) / 16
_BLUR: Final = np.outer(_BINOMIAL, _BINOMIAL).reshape([5, 5, 1, 1])


def _blurred(batch: Any, gain: float) -> Any:
    """Each channel blurred, with mirrored edges."""
    size = array_ops.shape(batch)
    padded = array_ops.pad(batch, [[0, 0], [2, 2], [2, 2], [0, 0]], "REFLECT")
    planes = array_ops.reshape(
        array_ops.transpose(padded, [0, 3, 1, 2]),
        [size[0] * size[3], size[1] + 4, size[2] + 4, 1],
    )
    found = conv2d(planes, constant(_BLUR) * gain, [1] * 4, "VALID")
    found = array_ops.reshape(found, [size[0], size[3], size[1], size[2]])
    return array_ops.transpose(found, [0, 2, 3, 1])


def _twice_as_large(batch: Any) -> Any:
    size = array_ops.shape(batch)
    zeros = array_ops.zeros([3 * size[0], size[1], size[2], size[3]])
    spread = batch_to_space(
        array_ops.concat([batch, zeros], 0), crops=[[0, 0], [0, 0]], block_size=2
    )
    return _blurred(spread, 4)


def laplacian_pyramid(batch: Any, num_levels: int) -> list[Any]:
    """Images of ever lower resolution, each without what the next one has.

    Args:
      batch: [batch, height, width, channels].
      num_levels: how many.
    """
    pyramid = [math_ops.cast(batch, dtypes.float32)]
    for _ in range(1, num_levels):
        pyramid.append(_blurred(pyramid[-1], 1)[:, ::2, ::2])
        pyramid[-2] -= _twice_as_large(pyramid[-1])
    return pyramid


def _random_patches(batch: Any, patches_per_image: int, patch_size: int) -> Any:
    """[batch * patches_per_image, patch_size, patch_size, 3], by NumPy's random."""

    def choose(images: Any) -> Any:
        batch_size, height, width, channels = images.shape
        count = patches_per_image * batch_size
        half = patch_size // 2
        patch, y, x, channel = np.ogrid[
            0:count, -half : half + 1, -half : half + 1, 0:3
        ]
        image = patch // patches_per_image
        y = y + np.random.randint(half, height - half, size=(count, 1, 1, 1))
        x = x + np.random.randint(half, width - half, size=(count, 1, 1, 1))
        return images.flat[((image * height + y) * width + x) * channels + channel]

    return py_func(choose, [batch], batch.dtype, stateful=False)


def _normalized(patches: Any) -> Any:
    """Patches of mean 0 and variance 1, as rows."""
    mean, variance = moments(patches, [1, 2, 3], keep_dims=True)
    patches = (patches - mean) / math_ops.sqrt(variance)
    return array_ops.reshape(patches, [array_ops.shape(patches)[0], -1])


def _sorted_columns(matrix: Any, rows: Any) -> Any:
    found = top_k(array_ops.transpose(matrix, [1, 0]), rows)[0]
    return array_ops.transpose(found, [1, 0])


def _distance(first: Any, second: Any, rows: Any) -> Any:
    first, second = _sorted_columns(first, rows), _sorted_columns(second, rows)
    return math_ops.reduce_mean(math_ops.abs(first - second))


def _by_projections(a: Any, b: Any, times: int, size: int) -> Any:
    rows = array_ops.shape(a)[0]
    found = []
    for _ in range(times):
        directions = random_normal([array_ops.shape(a)[1], size])
        length = math_ops.reduce_sum(math_ops.square(directions), 0, keepdims=True)
        directions *= math_ops.rsqrt(length)
        first, second = (math_ops.matmul(x, directions) for x in (a, b))
        found.append(_distance(first, second, rows))
    return math_ops.reduce_mean(found)


def _by_singular_vectors(a: Any, b: Any) -> Any:
    values, vectors = svd(array_ops.concat([a, b], 0))[:2]
    first, second = array_ops.split(vectors * values, 2, axis=0)
    return _distance(first[:, ::-1], second[:, ::-1], array_ops.shape(a)[0])


@export("contrib.gan.eval.sliced_wasserstein_distance")
def sliced_wasserstein_distance(
    real_images: Any,
    fake_images: Any,
    resolution_min: int = 16,
    patches_per_image: int = 64,
    patch_size: int = 7,
    random_sampling_count: int = 1,
    random_projection_dim: int = 7 * 7 * 3,
    use_svd: bool = False,
) -> list[tuple[Any, Any]]:
    """How far images are from each other, for each level of their detail.

    From "Progressive Growing of GANs", arXiv:1710.10196. It depends on the number of
    images; the paper has 8192.

    Args:
      real_images, fake_images: [batch, size, size, 3], sizes known.
      resolution_min: the lowest resolution of the pyramid.
      patches_per_image: how many patches an image gives on each level.
      patch_size: the width of patches.
      random_sampling_count: how many random projections there are.
      random_projection_dim: how many directions each has.
      use_svd: project on singular vectors instead.

    Returns:
      (distance of real images among themselves, distance of real and fake images) for
      each level, from the highest resolution to the lowest.

    Raises:
      ValueError: images of other shapes.
    """
    height = real_images.shape[1]
    real_images.shape.assert_is_compatible_with([None, None, height, 3])
    fake_images.shape.assert_is_compatible_with(real_images.shape)
    largest = int(height)
    least = min(resolution_min, largest)
    levels = int(np.log2(largest)) - int(np.log2(least)) + 1

    def patches(images: Any) -> Any:
        return _random_patches(images, patches_per_image, patch_size)

    # All patches of real images first: NumPy's random numbers come in this order.
    real, test = [], []
    for level in laplacian_pyramid(real_images, levels):
        real.append(patches(level))
        test.append(patches(level))
    fake = [patches(level) for level in laplacian_pyramid(fake_images, levels)]

    def distance(a: Any, b: Any) -> Any:
        if use_svd:
            return _by_singular_vectors(a, b)
        return _by_projections(a, b, random_sampling_count, random_projection_dim)

    return [
        (distance(of_real, of_test), distance(of_real, of_fake))
        for of_real, of_test, of_fake in zip(
            map(_normalized, real),
            map(_normalized, test),
            map(_normalized, fake),
            strict=True,
        )
    ]
