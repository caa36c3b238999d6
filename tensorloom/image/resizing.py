"""`tf.image.resize_images` and its relatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value_as_shape
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.image.checks import (
    as_batch,
    at_least_3d,
    dimensions,
    like_given,
    require,
)
from tensorloom.image.crops import larger, pad_to_bounding_box
from tensorloom.ops.control_flow import builders as control_flow_ops
from tensorloom.ops.math import math_ops


@export("image.ResizeMethod")
class ResizeMethod:
    """How `tf.image.resize_images` finds values between pixels."""

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


# The methods' numbers, and the names that TensorFlow 2 gives them.
_OPS: Final[dict[Any, str]] = {
    ResizeMethod.BILINEAR: "ResizeBilinear",
    "bilinear": "ResizeBilinear",
    ResizeMethod.NEAREST_NEIGHBOR: "ResizeNearestNeighbor",
    "nearest": "ResizeNearestNeighbor",
    ResizeMethod.BICUBIC: "ResizeBicubic",
    "bicubic": "ResizeBicubic",
    ResizeMethod.AREA: "ResizeArea",
    "area": "ResizeArea",
}


@export("image.resize_images", "image.resize")
def resize_images(
    images: Any,
    size: Any,
    method: Any = ResizeMethod.BILINEAR,
    align_corners: bool = False,
    preserve_aspect_ratio: bool = False,
    name: str | None = None,
) -> Tensor:
    """Images [height, width, channels], or a batch of them, brought to a size.

    Args:
      size: [height, width], int32.
      method: of `tf.image.ResizeMethod`.
      align_corners: the corners' pixels fall on each other.
      preserve_aspect_ratio: as large as fits into the size.

    Returns:
      float32, but the images' dtype for nearest neighbours, or where the size is that
      of the images already.

    Raises:
      ValueError: bad ranks or an unknown method.
    """

    def resize(batch: Tensor, new_size: Tensor) -> Tensor:
        op = _OPS.get(method)
        if op is None:
            raise ValueError("Resize method is not implemented.")
        return apply_op(  # type: ignore[no-any-return]
            op, images=batch, size=new_size, align_corners=align_corners
        )

    return resized_by(resize, images, size, preserve_aspect_ratio, name)


def resized_by(
    resize: Callable[[Tensor, Tensor], Tensor],
    images: Any,
    size: Any,
    preserve_aspect_ratio: bool,
    name: str | None,
    leave_if_same: bool = True,
) -> Tensor:
    """Images brought to a size by a function of a batch and its new size.

    Args:
      images, size, preserve_aspect_ratio, name: as in `resize_images`.
      leave_if_same: images that have the size stay as they are.

    Raises:
      ValueError: bad ranks.
    """
    with name_scope(name, "resize", [images, size]):
        images = convert_to_tensor(images, name="images")
        rank = images.shape.rank
        if rank is None:
            raise ValueError("'images' contains no shape.")
        if rank not in (3, 4):
            raise ValueError("'images' must have either 3 or 4 dimensions.")
        images, was_batch = as_batch(images)
        size, sizes = _size(size)
        if preserve_aspect_ratio:
            size, sizes = _kept_aspect(images, sizes)
        static = images.shape.as_list()[1:3]
        if leave_if_same and None not in static and static == sizes:
            return like_given(images, was_batch)
        resized = resize(images, size)
        resized.set_shape([None, *sizes, None])
        return like_given(resized, was_batch)


def _size(size: Any) -> tuple[Tensor, list[Any]]:
    """(the size as a tensor, what is known of it)."""
    try:
        tensor: Tensor = convert_to_tensor(size, dtypes.int32, name="size")
    except (TypeError, ValueError):
        raise ValueError("'size' must be a 1-D int32 Tensor") from None
    if not tensor.shape.is_compatible_with([2]):
        raise ValueError(
            "'size' must be a 1-D Tensor of 2 elements: new_height, new_width"
        )
    return tensor, constant_value_as_shape(tensor).as_list()


def _kept_aspect(images: Tensor, sizes: list[Any]) -> tuple[Tensor, list[Any]]:
    """The size with the images' aspect ratio that fits into another."""
    _, *current = dimensions(images, 4)[:3]

    def scale(new: Any, old: Any) -> Tensor:
        whole = math_ops.cast(new, dtypes.float32)
        return whole / math_ops.cast(old, dtypes.float32)  # type: ignore[no-any-return]

    factors = [scale(new, old) for new, old in zip(sizes, current, strict=True)]
    factor = math_ops.minimum(factors[0], factors[1])
    scaled = [
        math_ops.cast(
            math_ops.round(factor * math_ops.cast(old, dtypes.float32)), dtypes.int32
        )
        for old in current
    ]
    tensor: Tensor = convert_to_tensor(scaled, dtypes.int32, name="size")
    return tensor, constant_value_as_shape(tensor).as_list()


@export("image.resize_image_with_pad")
def resize_image_with_pad(
    image: Any,
    target_height: Any,
    target_width: Any,
    method: Any = ResizeMethod.BILINEAR,
    align_corners: bool = False,
) -> Tensor:
    """Images as large as fits into a size, with zeros around them.

    Raises:
      ValueError: a size is not positive; the rank is neither 3 nor 4.
    """

    def resize(batch: Tensor, size: list[Tensor]) -> Tensor:
        return resize_images(batch, size, method, align_corners=align_corners)

    with name_scope(None, "resize_image_with_pad", [image]):
        return resized_with_pad(image, target_height, target_width, resize)


def resized_with_pad(
    image: Any,
    target_height: Any,
    target_width: Any,
    resize: Callable[[Tensor, list[Tensor]], Tensor],
) -> Tensor:
    """`resize_image_with_pad` by a function of a batch and its new size."""
    image, was_batch = as_batch(image)
    checks = at_least_3d(image)
    checks += require(target_width > 0, "target_width must be > 0.")
    checks += require(target_height > 0, "target_height must be > 0.")
    image = control_flow_ops.with_dependencies(checks, image)
    _, height, width, _ = dimensions(image, 4)
    old_height = math_ops.cast(height, dtypes.float64)
    old_width = math_ops.cast(width, dtypes.float64)
    new_height = math_ops.cast(target_height, dtypes.float64)
    new_width = math_ops.cast(target_width, dtypes.float64)
    ratio = larger(old_width / new_width, old_height / new_height)
    rows, columns = old_height / ratio, old_width / ratio
    size = [
        math_ops.cast(math_ops.floor(side), dtype=dtypes.int32)
        for side in (rows, columns)
    ]
    above, left = (new_height - rows) / 2, (new_width - columns) / 2
    offsets = [math_ops.floor(offset) for offset in (above, left)]
    top, start = (
        larger(0, math_ops.cast(offset, dtype=dtypes.int32)) for offset in offsets
    )
    resized = resize(image, size)
    padded = pad_to_bounding_box(resized, top, start, target_height, target_width)
    if padded.shape.rank is None:
        raise ValueError("padded contains no shape.")
    dimensions(padded, 4)
    return like_given(padded, was_batch)
