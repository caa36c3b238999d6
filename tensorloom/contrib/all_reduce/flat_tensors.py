"""Tensors as vectors, and their pieces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.framework.graph.graph import colocate_with
from tensorloom.ops.array.concat import concat, split
from tensorloom.ops.array.fill import zeros
from tensorloom.ops.array.reshape import reshape
from tensorloom.ops.indexing.slice import slice as slice_

BinaryOp = Callable[[Any, Any], Any]
UnaryOp = Callable[[Any], Any]


def flattened(tensors: Sequence[Any]) -> tuple[list[Any], Any]:
    """The tensors as vectors, and their shape.

    Raises:
      ValueError: there are none, or their shapes are not known or not the same.
    """
    if not tensors:
        raise ValueError("tensors cannot be empty")
    shape = tensors[0].shape
    for tensor in tensors:
        shape = shape.merge_with(tensor.shape)
    if not shape.is_fully_defined():
        raise ValueError("Tensors must have statically known shape.")
    if len(shape) == 1:
        return list(tensors), shape
    return reshaped(tensors, [-1]), shape


def reshaped(tensors: Sequence[Any], shape: Any) -> list[Any]:
    """The tensors in that shape, where they are."""
    made = []
    for tensor in tensors:
        with colocate_with(tensor):
            made.append(reshape(tensor, shape))
    return made


def in_shape(tensors: Sequence[Any], shape: Any) -> list[Any]:
    """Vectors in the shape that `flattened` told of."""
    return list(tensors) if len(shape) == 1 else reshaped(tensors, shape)


def padded_split(tensor: Any, pieces: int) -> tuple[list[Any], int]:
    """A vector in pieces of one size, and how many zeros the end was given."""
    length = tensor.shape.as_list()[0]
    with colocate_with(tensor):
        if length % pieces == 0:
            return split(tensor, pieces), 0
        size = 1 + length // pieces
        rest = length - (pieces - 1) * size
        if rest <= 0:
            # There are not enough elements for the last piece: zeros first.
            padding = pieces * size - length
            whole = concat([tensor, zeros([padding], dtype=tensor.dtype)], 0)
            return split(whole, pieces), padding
        padding = size - rest
        parts = split(tensor, [size] * (pieces - 1) + [rest])
        parts[-1] = concat([parts[-1], zeros([padding], dtype=tensor.dtype)], 0)
        return parts, padding


def without_padding(tensors: Sequence[Any], padding: int) -> list[Any]:
    """Vectors without that many elements of their ends."""
    length = tensors[0].shape.as_list()[0] - padding
    made = []
    for tensor in tensors:
        with colocate_with(tensor):
            made.append(slice_(tensor, [0], [length]))
    return made


def ragged_split(tensor: Any, pieces: int) -> list[Any]:
    """A vector in pieces of one size, to the last of which the rest is added."""
    length = tensor.shape.as_list()[0]
    size = length // pieces
    with colocate_with(tensor):
        if length == pieces * size:
            return split(tensor, pieces)
        return split(tensor, [size] * (pieces - 1) + [length - (pieces - 1) * size])


def each_applied(un_op: UnaryOp, tensors: Sequence[Any]) -> list[Any]:
    """`un_op` of each tensor, where it is."""
    made = []
    for tensor in tensors:
        with colocate_with(tensor):
            made.append(un_op(tensor))
    return made
