"""Images mirrored, turned and transposed."""

from __future__ import annotations

from typing import Any

from tensorloom.client.control_flow.case import case
from tensorloom.client.control_flow.cond import cond
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.image.checks import checked_image
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.random import random_ops

_RANKS = "'image' must have either 3 or 4 dimensions."


def _with_shape_of(image: Tensor, result: Tensor) -> Tensor:
    if image.shape.rank is None:
        result.set_shape([None, None, None])
    else:
        result.set_shape(image.shape)
    return result


def _flip(image: Any, axis: int, scope: str) -> Tensor:
    with name_scope(None, scope, [image]):
        image = checked_image(convert_to_tensor(image, name="image"))
        rank = image.shape.rank
        if rank in (3, None):
            return _with_shape_of(image, array_ops.reverse(image, [axis]))
        if rank == 4:
            return array_ops.reverse(image, [axis + 1])
        raise ValueError(_RANKS)


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


def _random_flip(image: Any, axis: int, seed: Any, scope_name: str) -> Tensor:
    with name_scope(None, scope_name, [image]) as scope:
        image = checked_image(convert_to_tensor(image, name="image"))
        rank = image.shape.rank
        if rank in (3, None):
            chance = random_ops.random_uniform([], 0, 1.0, seed=seed)
            result = cond(
                math_ops.less(chance, 0.5),
                lambda: array_ops.reverse(image, [axis]),
                lambda: image,
                name=scope,
            )
            return _with_shape_of(image, result)
        if rank != 4:
            raise ValueError(_RANKS)
        batch = array_ops.shape(image)[0]
        chances = random_ops.random_uniform([batch], 0, 1.0, seed=seed)
        flips = math_ops.round(array_ops.reshape(chances, [batch, 1, 1, 1]))
        flips = math_ops.cast(flips, image.dtype)
        flipped = array_ops.reverse(image, [axis + 1])
        return flips * flipped + (1 - flips) * image  # type: ignore[no-any-return]


@export("image.random_flip_up_down")
def random_flip_up_down(image: Any, seed: int | None = None) -> Tensor:
    """Images mirrored along their height, each with a chance of one half.

    Raises:
      ValueError: the rank is neither 3 nor 4.
    """
    return _random_flip(image, 0, seed, "random_flip_up_down")


@export("image.random_flip_left_right")
def random_flip_left_right(image: Any, seed: int | None = None) -> Tensor:
    """Images mirrored along their width, each with a chance of one half.

    Raises:
      ValueError: the rank is neither 3 nor 4.
    """
    return _random_flip(image, 1, seed, "random_flip_left_right")


@export("image.rot90")
def rot90(image: Any, k: Any = 1, name: str | None = None) -> Tensor:
    """Images turned counter-clockwise by `k` quarters.

    Raises:
      ValueError: the rank is neither 3 nor 4; k is not a scalar.
    """
    with name_scope(name, "rot90", [image, k]) as scope:
        image = checked_image(convert_to_tensor(image, name="image"))
        k = convert_to_tensor(k, dtype=dtypes.int32, name="k")
        k.shape.assert_has_rank(0)
        k = math_ops.mod(k, 4)
        rank = image.shape.rank
        if rank not in (3, 4, None):
            raise ValueError(_RANKS)
        return _turned(image, k, 1 if rank == 4 else 0, scope)


def _turned(image: Tensor, k: Tensor, rows: int, scope: str) -> Tensor:
    """The image turned; `rows` is the axis of its height."""
    columns = rows + 1
    order = [0, 2, 1, 3] if rows else [1, 0, 2]
    turns = (
        lambda: array_ops.transpose(array_ops.reverse(image, [columns]), order),
        lambda: array_ops.reverse(image, [rows, columns]),
        lambda: array_ops.reverse(array_ops.transpose(image, order), [columns]),
    )
    cases = [(math_ops.equal(k, i), turn) for i, turn in enumerate(turns, 1)]
    result: Tensor = case(cases, default=lambda: image, exclusive=True, name=scope)
    if rows:
        dims = result.shape.as_list()
        result.set_shape([dims[0], None, None, dims[3]])
    else:
        depth = None if image.shape.rank is None else image.shape.as_list()[2]
        result.set_shape([None, None, depth])
    return result


@export("image.transpose", "image.transpose_image")
def transpose(image: Any, name: str | None = None) -> Tensor:
    """Images with height and width exchanged.

    Raises:
      ValueError: the rank is neither 3 nor 4.
    """
    with name_scope(name, "transpose", [image]):
        image = checked_image(convert_to_tensor(image, name="image"))
        rank = image.shape.rank
        if rank in (3, None):
            return array_ops.transpose(image, [1, 0, 2], name=name or "transpose")
        if rank == 4:
            return array_ops.transpose(image, [0, 2, 1, 3], name=name or "transpose")
        raise ValueError(_RANKS)
