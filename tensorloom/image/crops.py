"""Parts of images, and images with room around them."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.image.checks import (
    as_batch,
    at_least_3d,
    checked_image,
    dimensions,
    is_tensor,
    like_given,
    require,
    static_size,
)
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.shape import axis_size
from tensorloom.ops.control_flow import builders as control_flow_ops
from tensorloom.ops.math import math_ops


@export("image.central_crop")
def central_crop(image: Any, central_fraction: float) -> Tensor:
    """The middle of images, with this share of their height and width.

    Raises:
      ValueError: the share is not in (0, 1]; the rank is neither 3 nor 4.
    """
    with name_scope(None, "central_crop", [image]):
        image = convert_to_tensor(image, name="image")
        if central_fraction <= 0.0 or central_fraction > 1.0:
            raise ValueError("central_fraction must be within (0, 1]")
        if central_fraction == 1.0:
            return image  # type: ignore[no-any-return]
        checked_image(image)
        rank = image.shape.rank
        if rank not in (3, 4):
            raise ValueError(
                "`image` should either be a Tensor with rank = 3 or rank = 4. Had "
                f"rank = {rank}."
            )
        sizes = [axis_size(image, axis) for axis in (rank - 3, rank - 2)]
        starts = [_central_start(size, central_fraction) for size in sizes]
        lengths = [size - start * 2 for size, start in zip(sizes, starts, strict=True)]
        outer = [0] * (rank - 3)
        begin = array_ops.stack([*outer, *starts, 0])
        size = array_ops.stack([*([-1] * len(outer)), *lengths, -1])
        result = array_ops.slice(image, begin, size)
        dims = image.shape.as_list()
        result.set_shape([*dims[: rank - 3], *map(static_size, lengths), dims[-1]])
        return result


def _central_start(size: Any, fraction: float) -> Any:
    if is_tensor(size):
        exact = math_ops.cast(size, dtypes.float64)
        return math_ops.cast((exact - exact * fraction) / 2, dtypes.int32)
    return int((float(size) - float(size) * fraction) / 2)


@export("image.pad_to_bounding_box")
def pad_to_bounding_box(
    image: Any,
    offset_height: Any,
    offset_width: Any,
    target_height: Any,
    target_width: Any,
) -> Tensor:
    """Images with zeros around them; the sizes may be tensors.

    Raises:
      ValueError: the image does not fit; the rank is neither 3 nor 4.
    """
    with name_scope(None, "pad_to_bounding_box", [image]):
        image, was_batch = as_batch(image)
        checks = at_least_3d(image)
        batch, height, width, depth = dimensions(image, 4)
        right = target_width - offset_width - width
        below = target_height - offset_height - height
        checks += require(offset_height >= 0, "offset_height must be >= 0")
        checks += require(offset_width >= 0, "offset_width must be >= 0")
        checks += require(right >= 0, "width must be <= target - offset")
        checks += require(below >= 0, "height must be <= target - offset")
        image = control_flow_ops.with_dependencies(checks, image)
        paddings = array_ops.reshape(
            array_ops.stack([0, 0, offset_height, below, offset_width, right, 0, 0]),
            [4, 2],
        )
        padded = array_ops.pad(image, paddings)
        sizes = [batch, target_height, target_width, depth]
        padded.set_shape([static_size(size) for size in sizes])
        return like_given(padded, was_batch)


@export("image.crop_to_bounding_box")
def crop_to_bounding_box(
    image: Any,
    offset_height: Any,
    offset_width: Any,
    target_height: Any,
    target_width: Any,
) -> Tensor:
    """A part of images, with or without a batch; the sizes may be tensors.

    Raises:
      ValueError: the part is not inside of the image; the rank is neither 3 nor 4.
    """
    with name_scope(None, "crop_to_bounding_box", [image]):
        image, was_batch = as_batch(image)
        checks = at_least_3d(image)
        batch, height, width, depth = dimensions(image, 4)
        checks += require(offset_width >= 0, "offset_width must be >= 0.")
        checks += require(offset_height >= 0, "offset_height must be >= 0.")
        checks += require(target_width > 0, "target_width must be > 0.")
        checks += require(target_height > 0, "target_height must be > 0.")
        checks += require(
            width >= target_width + offset_width, "width must be >= target + offset."
        )
        checks += require(
            height >= target_height + offset_height,
            "height must be >= target + offset.",
        )
        image = control_flow_ops.with_dependencies(checks, image)
        cropped = array_ops.slice(
            image,
            array_ops.stack([0, offset_height, offset_width, 0]),
            array_ops.stack([-1, target_height, target_width, -1]),
        )
        sizes = [batch, target_height, target_width, depth]
        cropped.set_shape([static_size(size) for size in sizes])
        return like_given(cropped, was_batch)


def larger(x: Any, y: Any) -> Any:
    """The maximum of two sizes, tensors or not."""
    if is_tensor(x) or is_tensor(y):
        return math_ops.maximum(x, y)
    return max(x, y)


def _smaller(x: Any, y: Any) -> Any:
    if is_tensor(x) or is_tensor(y):
        return math_ops.minimum(x, y)
    return min(x, y)


def _equal(x: Any, y: Any) -> Any:
    if is_tensor(x) or is_tensor(y):
        return math_ops.equal(x, y)
    return x == y


@export("image.resize_with_crop_or_pad", "image.resize_image_with_crop_or_pad")
def resize_image_with_crop_or_pad(
    image: Any, target_height: Any, target_width: Any
) -> Tensor:
    """Images cropped in the middle, or with zeros around them, to a size.

    Raises:
      ValueError: a size is not positive; the rank is neither 3 nor 4.
    """
    with name_scope(None, "resize_image_with_crop_or_pad", [image]):
        image, was_batch = as_batch(image)
        checks = at_least_3d(image)
        checks += require(target_width > 0, "target_width must be > 0.")
        checks += require(target_height > 0, "target_height must be > 0.")
        image = control_flow_ops.with_dependencies(checks, image)
        if is_tensor(target_height):
            target_height = control_flow_ops.with_dependencies(checks, target_height)
        if is_tensor(target_width):
            target_width = control_flow_ops.with_dependencies(checks, target_width)
        _, height, width, _ = dimensions(image, 4)
        more_width = target_width - width
        crop_left = larger(-more_width // 2, 0)
        pad_left = larger(more_width // 2, 0)
        more_height = target_height - height
        crop_top = larger(-more_height // 2, 0)
        pad_top = larger(more_height // 2, 0)
        cropped = crop_to_bounding_box(
            image,
            crop_top,
            crop_left,
            _smaller(target_height, height),
            _smaller(target_width, width),
        )
        resized = pad_to_bounding_box(
            cropped, pad_top, pad_left, target_height, target_width
        )
        _, rows, columns, _ = dimensions(resized, 4)
        checks = require(_equal(rows, target_height), "resized height is not correct.")
        checks += require(
            _equal(columns, target_width), "resized width is not correct."
        )
        resized = control_flow_ops.with_dependencies(checks, resized)
        return like_given(resized, was_batch)
