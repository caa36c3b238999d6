"""Checks of images that the functions of `tf.image` share, static where possible."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.control_flow import builders as control_flow_ops
from tensorloom.ops.debugging import check as check_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor


def is_tensor(value: Any) -> bool:
    """Whether a size is known only at run time."""
    return hasattr(value, "op") and hasattr(value, "dtype")


def require(condition: Any, message: str) -> list[Any]:
    """Assertions for a condition: none, one op, or at once a ValueError.

    Raises:
      ValueError: the condition is a false Python value.
    """
    if is_tensor(condition):
        return [control_flow_ops.Assert(condition, [message])]
    if not condition:
        raise ValueError(message)
    return []


def dimensions(image: Tensor, rank: int) -> list[Any]:
    """The sizes of an image: integers where they are static, otherwise tensors."""
    if image.shape.is_fully_defined():
        return image.shape.as_list()
    static = image.shape.with_rank(rank).as_list()
    dynamic = array_ops.unstack(array_ops.shape(image), rank)
    return [d if s is None else s for s, d in zip(static, dynamic, strict=True)]


def at_least_3d(image: Tensor) -> list[Any]:
    """Assertions that an image has three dimensions or more, none of them empty.

    Raises:
      ValueError: it is known not to.
    """
    try:
        if image.shape.rank is None:
            shape = image.shape.with_rank(3)
        else:
            shape = image.shape.with_rank_at_least(3)
    except ValueError:
        raise ValueError("'image' must be at least three-dimensional.") from None
    dims = shape.dims_tuple or ()
    if 0 in dims:
        raise ValueError(f"all dims of 'image.shape' must be > 0: {shape}")
    if shape.is_fully_defined():
        return []
    return [
        check_ops.assert_positive(
            array_ops.shape(image), ["all dims of 'image.shape' must be > 0."]
        ),
        check_ops.assert_greater_equal(
            array_ops.rank(image),
            3,
            message="'image' must be at least three-dimensional.",
        ),
    ]


def checked_image(image: Tensor) -> Tensor:
    """The image, after the checks of `at_least_3d`."""
    checked: Tensor = control_flow_ops.with_dependencies(at_least_3d(image), image)
    return checked


def checked_grayscale(image: Any) -> Tensor:
    """The image, whose last dimension must be 1.

    Raises:
      ValueError: it is known not to be.
    """
    try:
        if image.shape.rank is None:
            shape = image.shape.with_rank(2)
        else:
            shape = image.shape.with_rank_at_least(2)
    except ValueError:
        raise ValueError(
            "A grayscale image must be at least two-dimensional."
        ) from None
    checks = []
    if not shape.is_fully_defined():
        checks = [
            check_ops.assert_equal(
                array_ops.shape(image)[-1],
                1,
                message="Last dimension of a grayscale image should be size 1.",
            ),
            check_ops.assert_greater_equal(
                array_ops.rank(image),
                3,
                message="A grayscale image must be at least two-dimensional.",
            ),
        ]
    elif shape.as_list()[-1] != 1:
        raise ValueError("Last dimension of a grayscale image should be size 1.")
    checked: Tensor = control_flow_ops.with_dependencies(checks, image)
    return checked


def as_batch(image: Any) -> tuple[Tensor, bool]:
    """(the image as a batch [n, height, width, channels], whether it was one).

    Raises:
      ValueError: its rank is neither 3 nor 4.
    """
    image = convert_to_tensor(image, name="image")
    rank = image.shape.rank
    if rank == 4:
        return image, True
    if rank == 3:
        return array_ops.expand_dims(image, 0), False
    if rank is not None:
        raise ValueError("'image' must have either 3 or 4 dimensions.")
    image = array_ops.expand_dims(image, 0)
    image.set_shape([None] * 4)
    return image, False


def like_given(image: Tensor, was_batch: bool) -> Tensor:
    """Undoes `as_batch`."""
    return image if was_batch else array_ops.squeeze(image, axis=[0])


def static_size(size: Any) -> Any:
    """A size for `set_shape`: None if it is a tensor."""
    return None if is_tensor(size) else size
