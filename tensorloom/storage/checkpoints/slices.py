"""Slices of tensors: their keys in a table, their text in `shape_and_slices`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.storage.files.file_errors import data_loss
from tensorloom.storage.tables import ordered_code

# Start and length by dimension; a length of -1 is the whole dimension.
Slice = tuple[tuple[int, int], ...]
Shape = tuple[int, ...]


def shape_text(shape: Shape) -> str:
    """A shape as TensorFlow prints it: `[2,3]`."""
    return "[" + ",".join(map(str, shape)) + "]"


def slice_text(part: Slice) -> str:
    """A slice as TensorFlow prints it: `0,2:-`."""
    return ":".join("-" if n < 0 else f"{start},{n}" for start, n in part)


def slice_key(name: bytes, part: Slice) -> bytes:
    """The key under which a slice of a tensor stands (OrderedCode)."""
    result = ordered_code.number(0) + ordered_code.string(name)
    result += ordered_code.number(len(part))
    return result + b"".join(ordered_code.signed(x) for pair in part for x in pair)


def from_proto(proto: Any, shape: Shape) -> Slice:
    """The slice in a `TensorSliceProto`, as it is written.

    Raises:
      ValueError: it is no slice of a tensor of that shape.
    """
    part = tuple(
        (e.start, e.length if e.HasField("length") else -1) for e in proto.extent
    )
    if len(part) != len(shape):
        raise ValueError("rank of slice differs")
    for (start, length), size in zip(part, shape, strict=True):
        if start < 0 or length < -1 or start + max(length, 0) > size:
            raise ValueError("slice out of bounds")
        if length < 0 and start:
            raise ValueError("slice without a length has a start")
    return part


def to_proto(part: Slice, proto: Any) -> None:
    """Writes a slice into a `TensorSliceProto`."""
    for start, length in part:
        extent = proto.extent.add()
        if length >= 0:
            extent.start, extent.length = start, length


def whole(shape: Shape) -> Slice:
    """The slice that is everything."""
    return tuple((0, size) for size in shape)


def bounds(part: Slice, shape: Shape) -> Slice:
    """The slice with every length a number."""
    return tuple(
        (start, size if length < 0 else length)
        for (start, length), size in zip(part, shape, strict=True)
    )


def size_of(part: Slice) -> Shape:
    """The shape of a slice whose lengths are numbers."""
    return tuple(length for _, length in part)


def overlap(first: Slice, second: Slice) -> Slice | None:
    """What two slices have in common; their lengths are numbers."""
    result = []
    for (a, m), (b, n) in zip(first, second, strict=True):
        start, end = max(a, b), min(a + m, b + n)
        if start >= end:
            return None
        result.append((start, end - start))
    return tuple(result)


def index_of(part: Slice, origin: Slice) -> tuple[slice, ...]:
    """The index of a slice in an array that holds another slice."""
    return tuple(
        slice(start - zero, start - zero + length)
        for (start, length), (zero, _) in zip(part, origin, strict=True)
    )


def check_cover(name: str, path: str, wanted: Slice, parts: Sequence[Slice]) -> None:
    """Checks that parts are all of what is wanted of a tensor, each element once.

    Raises:
      InvalidArgumentError: something is missing.
      DataLossError: parts overlap.
    """
    have = sum(math.prod(size_of(part)) for part in parts)
    need = math.prod(size_of(wanted))
    if have < need:
        raise invalid_argument(
            "Does not have sufficient slices for partitioned tensor "
            f"{name} to restore in slice_spec: {slice_text(wanted)} ({path})"
        )
    if have > need or _any_overlap(wanted, parts):
        raise data_loss(path, None, f"Slices of {name} overlap")


def _any_overlap(wanted: Slice, parts: Sequence[Slice]) -> bool:
    """Whether parts that are as many elements as is wanted leave one out."""
    if len(parts) < 64:
        return any(
            overlap(one, other) for at, one in enumerate(parts) for other in parts[:at]
        )
    covered = np.zeros(size_of(wanted), np.bool_)
    for part in parts:
        covered[index_of(part, wanted)] = True
    return not covered.all()


def _extent(item: str, text: str) -> tuple[int, int]:
    if item == "-":
        return 0, -1
    try:
        start, length = map(int, item.split(","))
    except ValueError:
        raise invalid_argument(
            f"Expected a pair of numbers or '-' but got '{item}': string = {text}"
        ) from None
    if start < 0 or length <= 0:
        raise invalid_argument(
            "Expected non-negative start and positive length but got "
            f"start = {start}, length = {length}: string = {text}"
        )
    return start, length


def parse_shape_and_slice(spec: bytes) -> tuple[Shape, Slice]:
    """The full shape and the slice in `"4 2 0,2:-"`.

    Raises:
      InvalidArgumentError: it is not of that form, or the slice is not in the shape.
    """
    text = spec.decode("utf-8", "backslashreplace")
    *sizes, last = text.split(" ")
    if not sizes:
        raise invalid_argument(
            f"Need least two elements in shape_and_slice specification: {text}"
        )
    part = tuple(_extent(item, last) for item in last.split(":") if item)
    try:
        shape = tuple(map(int, sizes))
    except ValueError:
        raise invalid_argument(
            f"Non numerical dimension in shape_and_slice: {text}"
        ) from None
    where = f"shape = {shape_text(shape)}, slice = {slice_text(part)}"
    if len(shape) != len(part):
        raise invalid_argument(f"Mismatching ranks: {where}")
    for at, ((start, length), size) in enumerate(zip(part, shape, strict=True)):
        if size < 0 or start + max(length, 0) > size:
            raise invalid_argument(f"Extent in dimension {at} out of bounds: {where}")
    return shape, part
