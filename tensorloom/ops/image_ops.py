"""Image builders that are made of other ops: flips, crops, padding, dtypes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph import name_scope
from tensorloom.framework.tensor_conversion import convert_to_tensor
from tensorloom.ops import array_ops, math_ops

if TYPE_CHECKING:
    from tensorloom.framework.tensor import Tensor


def _image(image: Any) -> tuple[Tensor, int]:
    """An image with the position of its height axis: 0, or 1 for a batch."""
    image = convert_to_tensor(image, name="image")
    rank = image.shape.rank
    if rank not in (3, 4):
        raise ValueError("'image' must have either 3 or 4 dimensions.")
    return image, rank - 3


def _flip(image: Any, axis: int, scope: str) -> Tensor:
    with name_scope(None, scope, [image]):
        image, height = _image(image)
        flipped = array_ops.reverse(image, [height + axis])
        flipped.set_shape(image.shape)
        return flipped


@export("image.flip_left_right")
def flip_left_right(image: Any) -> Tensor:
    """Images mirrored along their width.

    Raises:
      ValueError: the rank is neither 3 nor 4.
    """
    return _flip(image, 1, "flip_left_right")


@export("image.flip_up_down")
def flip_up_down(image: Any) -> Tensor:
    """Images mirrored along their height.

    Raises:
      ValueError: the rank is neither 3 nor 4.
    """
    return _flip(image, 0, "flip_up_down")


@export("image.transpose", "image.transpose_image")
def transpose(image: Any, name: str | None = None) -> Tensor:
    """Images with height and width exchanged.

    Raises:
      ValueError: the rank is neither 3 nor 4.
    """
    with name_scope(name, "transpose", [image]):
        image, height = _image(image)
        order = [1, 0, 2] if height == 0 else [0, 2, 1, 3]
        return array_ops.transpose(image, order)


@export("image.crop_to_bounding_box")
def crop_to_bounding_box(
    image: Any,
    offset_height: int,
    offset_width: int,
    target_height: int,
    target_width: int,
) -> Tensor:
    """A part of images [height, width, channels], with or without a batch.

    Raises:
      ValueError: the part is not inside of the image.
    """
    with name_scope(None, "crop_to_bounding_box", [image]):
        image, height = _image(image)
        rows, columns = image.shape.as_list()[height : height + 2]
        _check_inside(rows, offset_height, target_height, "height")
        _check_inside(columns, offset_width, target_width, "width")
        before = [0] * height
        begin = [*before, offset_height, offset_width, 0]
        size = [*([-1] * height), target_height, target_width, -1]
        return array_ops.slice(image, begin, size)


def _check_inside(whole: int | None, offset: int, size: int, what: str) -> None:
    if offset < 0:
        raise ValueError(f"offset_{what} must be >= 0.")
    if size <= 0:
        raise ValueError(f"target_{what} must be > 0.")
    if whole is not None and offset + size > whole:
        raise ValueError(f"{what} must be >= target + offset.")


@export("image.pad_to_bounding_box")
def pad_to_bounding_box(
    image: Any,
    offset_height: int,
    offset_width: int,
    target_height: int,
    target_width: int,
) -> Tensor:
    """Images with zeros around them.

    Raises:
      ValueError: the image does not fit; its height or width is not static.
    """
    with name_scope(None, "pad_to_bounding_box", [image]):
        image, height = _image(image)
        rows, columns = image.shape.as_list()[height : height + 2]
        if rows is None or columns is None:
            raise ValueError("height and width of the image must be known.")
        below = target_height - offset_height - rows
        right = target_width - offset_width - columns
        for what, offset, after in (
            ("height", offset_height, below),
            ("width", offset_width, right),
        ):
            if offset < 0:
                raise ValueError(f"offset_{what} must be >= 0")
            if after < 0:
                raise ValueError(f"{what} must be <= target - offset")
        paddings = [[offset_height, below], [offset_width, right], [0, 0]]
        return array_ops.pad(image, [[0, 0]] * height + paddings)


@export("image.total_variation")
def total_variation(images: Any, name: str | None = None) -> Tensor:
    """The sum of absolute differences of neighbouring pixels, one for each image."""
    with name_scope(name, "total_variation"):
        images, height = _image(images)
        if height:
            down = images[:, 1:] - images[:, :-1]
            across = images[:, :, 1:] - images[:, :, :-1]
            axis = [1, 2, 3]
        else:
            down, across = images[1:] - images[:-1], images[:, 1:] - images[:, :-1]
            axis = [0, 1, 2]
        return math_ops.reduce_sum(math_ops.abs(down), axis) + math_ops.reduce_sum(
            math_ops.abs(across), axis
        )
