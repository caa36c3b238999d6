"""Many images as one, for summaries."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor
from tensorloom.ops.array import array_ops


@export("contrib.gan.eval.image_grid")
def image_grid(
    input_tensor: Any,
    grid_shape: Sequence[int],
    image_shape: Sequence[int] = (32, 32),
    num_channels: int = 3,
) -> Any:
    """The images of a batch side by side: `[1, height, width, num_channels]`.

    Args:
      input_tensor: `[batch, height, width, channels]`, or one row for each image.
      grid_shape: how many images are below each other and beside each other.
      image_shape: height and width of one.
      num_channels: of each.

    Raises:
      ValueError: the shapes do not fit the tensor.
    """
    sizes = input_tensor.shape.as_list()
    rows, columns = grid_shape
    if rows * columns != sizes[0]:
        raise ValueError(
            f"Grid shape {tuple(grid_shape)} incompatible with minibatch size "
            f"{sizes[0]}."
        )
    image = [*image_shape, num_channels]
    if len(sizes) not in (2, 4):
        raise ValueError("Unrecognized input tensor format.")
    if sizes[1:] != (image if len(sizes) == 4 else [math.prod(image)]):
        raise ValueError(
            f"Image shape and number of channels incompatible with input tensor: "
            f"expected {image}, got {sizes[1:]}."
        )
    height, width = image_shape
    tiles = array_ops.reshape(input_tensor, [rows, columns, *image])
    lines = array_ops.transpose(tiles, [0, 2, 1, 3, 4])
    whole = [1, rows * height, columns * width, num_channels]
    return array_ops.reshape(lines, whole)


@export("contrib.gan.eval.image_reshaper")
def image_reshaper(images: Any, num_cols: int | None = None) -> Any:
    """Images in rows, the last one filled with black: `[1, height, width, channels]`.

    Args:
      images: a list of `[height, width, channels]`, or one tensor of them.
      num_cols: how many are beside each other; as many as below when None.

    Raises:
      ValueError: shapes are not known, or there are neither 1 nor 3 channels.
    """
    images = array_ops.unstack(images) if isinstance(images, Tensor) else [*images]
    for image in images:
        image.shape.assert_has_rank(3)
        image.shape.assert_is_fully_defined()
        if image.shape.as_list()[-1] not in (1, 3):
            raise ValueError("image_reshaper only supports 1 or 3 channel images.")
    columns = num_cols or math.ceil(math.sqrt(len(images)))
    images += [array_ops.zeros_like(images[-1])] * (-len(images) % columns)
    starts = range(0, len(images), columns)
    rows = [array_ops.concat(images[start : start + columns], 1) for start in starts]
    return array_ops.expand_dims(array_ops.concat(rows, 0), 0)
