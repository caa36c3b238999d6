"""Differences of neighbouring pixels: total variation, gradients, Sobel's edges."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.ops.array import array_ops
from tensorloom.ops.array import constant as constant_op
from tensorloom.ops.convolution import builders as nn_ops_convolution
from tensorloom.ops.math import math_ops


@export("image.total_variation")
def total_variation(images: Any, name: str | None = None) -> Tensor:
    """The sum of absolute differences of neighbouring pixels, one for each image.

    Raises:
      ValueError: the rank is neither 3 nor 4.
    """
    with name_scope(name, "total_variation"):
        rank = images.shape.rank
        axis: Any
        if rank == 3:
            down = images[1:, :, :] - images[:-1, :, :]
            across = images[:, 1:, :] - images[:, :-1, :]
            axis = None
        elif rank == 4:
            down = images[:, 1:, :, :] - images[:, :-1, :, :]
            across = images[:, :, 1:, :] - images[:, :, :-1, :]
            axis = [1, 2, 3]
        else:
            raise ValueError("'images' must be either 3 or 4-dimensional.")
        vertical = math_ops.reduce_sum(math_ops.abs(down), axis=axis)
        return vertical + math_ops.reduce_sum(math_ops.abs(across), axis=axis)


@export("image.image_gradients")
def image_gradients(image: Any) -> tuple[Tensor, Tensor]:
    """(dy, dx): differences to the next pixel [batch, height, width, channels].

    Raises:
      ValueError: the rank is not 4.
    """
    if image.shape.rank != 4:
        raise ValueError(
            "image_gradients expects a 4D tensor [batch_size, h, w, d], not %s.",
            image.shape,
        )
    shape = array_ops.shape(image)
    batch, height, width, depth = array_ops.unstack(shape)
    dy = image[:, 1:, :, :] - image[:, :-1, :, :]
    dx = image[:, :, 1:, :] - image[:, :, :-1, :]
    row = array_ops.stack([batch, 1, width, depth])
    dy = array_ops.concat([dy, array_ops.zeros(row, image.dtype)], 1)
    dy = array_ops.reshape(dy, shape)
    column = array_ops.stack([batch, height, 1, depth])
    dx = array_ops.concat([dx, array_ops.zeros(column, image.dtype)], 2)
    dx = array_ops.reshape(dx, shape)
    return dy, dx


@export("image.sobel_edges")
def sobel_edges(image: Any) -> Tensor:
    """Sobel's (dy, dx) [batch, height, width, channels, 2] of images."""
    static = image.shape
    shape = array_ops.shape(image)
    down = [[-1, -2, -1], [0, 0, 0], [1, 2, 1]]
    across = [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]
    kernels = np.stack([down, across], axis=-1)[:, :, None, :]
    filters = array_ops.tile(
        constant_op.constant(kernels, dtype=image.dtype),
        [1, 1, shape[-1], 1],
        name="sobel_filters",
    )
    paddings = [[0, 0], [1, 1], [1, 1], [0, 0]]
    padded = array_ops.pad(image, paddings, mode="REFLECT")
    edges = nn_ops_convolution.depthwise_conv2d(padded, filters, [1, 1, 1, 1], "VALID")
    result = array_ops.reshape(edges, shape=array_ops.concat([shape, [2]], 0))
    result.set_shape(static.concatenate([2]))
    return result
