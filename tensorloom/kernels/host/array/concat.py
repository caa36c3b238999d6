"""Host kernels that join and take apart: Concat, Pack, Split, Pad, Tile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.array import checks
from tensorloom.kernels.host.array.allocation import check_shape
from tensorloom.kernels.host.array.buffer_forwarding import makes_array
from tensorloom.kernels.host.array.fill import empty_of
from tensorloom.kernels.host.array.shape import scalar_or_array
from tensorloom.kernels.host.array.stacking import stack_rows
from tensorloom.kernels.host.math.errors import shape_text

# --- joining ------------------------------------------------------------------------


@host_kernel("ConcatV2")
def _concat_v2(c: OpKernelConstruction) -> Compute:
    first, *others = c.input_shapes[:-1]
    fixed = checks.in_advance(
        lambda shape, axis, *rest: checks.concat_axis([shape, *rest], axis),
        first,
        c.constant(len(c.input_shapes) - 1),
        *[s.dims_tuple if s.is_fully_defined() else None for s in others],
    )
    if fixed is not None:
        at = fixed
        return makes_array(lambda *inputs: np.concatenate(inputs[:-1], at))
    place = checks.keep_last(checks.concat_axis)
    return lambda *inputs: concat(inputs[:-1], inputs[-1], place)


@host_kernel("Concat")
def _concat(c: OpKernelConstruction) -> Compute:
    place = checks.keep_last(checks.concat_axis)
    return lambda axis, *values: concat(values, axis, place)


def concat(values: Sequence[Any], axis: Any, place: Callable[[Any, Any], int]) -> Any:
    """Joins arrays along an axis, which `place` checks."""
    return np.concatenate(values, place([value.shape for value in values], axis))


@host_kernel("ParallelConcat")
def _parallel_concat(c: OpKernelConstruction) -> Compute:
    return lambda *values: np.concatenate(values)


@host_kernel("_ParallelConcatStart", large=True)
def _parallel_concat_start(c: OpKernelConstruction) -> Compute:
    dims, dtype = c["shape"].dims_tuple, c["dtype"]
    if dims is None or None in dims:
        raise invalid_argument(f"The shape must be fully defined, got {c['shape']}")
    empty = b"" if dtype.np_dtype.kind == "O" else 0
    return lambda: np.full(dims, empty, dtype.np_dtype)


@host_kernel("_ParallelConcatUpdate", large=True)
def _parallel_concat_update(c: OpKernelConstruction) -> Compute:
    row = c["loc"]

    def compute(value: Any, update: Any) -> Any:
        if not value.ndim or value.shape[1:] != update.shape[1:]:
            raise invalid_argument(
                f"value and update shape must match, got {list(value.shape)} and "
                f"{list(update.shape)}"
            )
        if update.shape[0] != 1 or not -len(value) <= row < len(value):
            raise invalid_argument(f"There is no row {row} in {list(value.shape)}")
        result = value.copy()
        result[row] = update[0]
        return result

    return compute


@host_kernel("ConcatOffset")
def _concat_offset(c: OpKernelConstruction) -> Compute:
    def compute(axis: Any, *shapes: Any) -> tuple[Any, ...]:
        return concat_offsets(axis, shapes)

    return compute


def concat_offsets(axis: Any, shapes: Sequence[Any]) -> tuple[Any, ...]:
    """Where each tensor begins in the concatenation of tensors of these shapes.

    Raises:
      InvalidArgumentError: the shapes differ in another axis than the given one.
    """
    first = shapes[0]
    rank = first.size
    at = int(axis)
    if not -rank <= at < rank:
        raise invalid_argument(f"Concat dim is out of range: {at} vs. {rank}")
    at %= rank
    for i, shape in enumerate(shapes):
        if shape.size != rank:
            _check_alike(first, shape, at, i)
    table = np.array(shapes)
    different = table != first
    different[:, at] = False
    if different.any():
        bad = int(different.any(axis=1).argmax())
        _check_alike(first, shapes[bad], at, bad)
    begins = np.zeros_like(table)
    # Wraps as TensorFlow's sum of 32-bit sizes does.
    table[:-1, at].cumsum(dtype=table.dtype, out=begins[1:, at])
    return tuple(begins)


def _check_alike(first: Any, shape: Any, axis: int, number: int) -> None:
    if shape.size != first.size:
        raise invalid_argument(
            f"input {number} should contain {first.size} elements, but got {shape.size}"
        )
    different = np.flatnonzero(first != shape)
    for j in different.tolist():
        if j != axis:
            raise invalid_argument(
                f"All dimensions except {axis} must match. Input {number} has shape "
                f"{shape_text(shape.tolist())} and doesn't match input 0 with shape "
                f"{shape_text(first.tolist())}."
            )


@host_kernel("Pack")
def _pack(c: OpKernelConstruction) -> Compute:
    axis = c["axis"]
    if c["T"] in (dtypes.resource, dtypes.variant):
        return lambda *values: _pack_objects(values, axis)
    if all(shape.dims_tuple == () for shape in c.input_shapes) and (
        c["T"] != dtypes.string
    ):
        to = dtypes.memory_dtype(c["T"])
        return lambda *values: np.array(values, to)
    is_string = c["T"] == dtypes.string

    def compute(*values: Any) -> Any:
        checks.same_shapes([value.shape for value in values])
        at = pack_axis(axis, values[0].ndim)
        return np.stack(values, at) if at or is_string else stack_rows(values)

    return compute


def _pack_objects(values: Sequence[Any], axis: int) -> Any:
    """Handles or variants, or arrays of them, along a new axis.

    A single one is the object itself, of shape [].
    """
    arrays = [isinstance(value, np.ndarray) for value in values]
    if all(arrays):
        checks.same_shapes([value.shape for value in values])
        return np.stack(values, pack_axis(axis, values[0].ndim))
    checks.same_shapes(
        [v.shape if a else () for v, a in zip(values, arrays, strict=True)]
    )
    pack_axis(axis, 0)
    packed = np.empty(len(values), object)
    packed[:] = values
    return packed


def pack_axis(axis: int, rank: int) -> int:
    """The new axis of a Pack, counted from the front.

    Raises:
      InvalidArgumentError: out of range.
    """
    if not -rank - 1 <= axis <= rank:
        raise invalid_argument(f"axis = {axis} not in [{-rank - 1}, {rank + 1})")
    return axis + rank + 1 if axis < 0 else axis


# --- taking apart -------------------------------------------------------------------


@host_kernel("Unpack", aliases=True)
def _unpack(c: OpKernelConstruction) -> Compute:
    axis, num = c["axis"], c["num"]
    are_handles = c["T"] in (dtypes.resource, dtypes.variant)

    def compute(value: Any) -> tuple[Any, ...]:
        at = unpack_axis(axis, num, value.shape)
        moved = np.moveaxis(value, at, 0)
        if value.ndim > 1 or are_handles:  # a single handle is the object itself
            return tuple(moved)
        if value.dtype == object:
            return tuple([moved[i : i + 1].reshape(()) for i in range(num)])
        return tuple(moved)

    return compute


def unpack_axis(axis: int, num: int, shape: Sequence[int]) -> int:
    """The axis along which an Unpack takes apart, counted from the front.

    Raises:
      InvalidArgumentError: out of range, or not of size `num`.
    """
    rank = len(shape)
    if not -rank <= axis < rank:
        raise invalid_argument(f"axis = {axis} not in [{-rank}, {rank})")
    if shape[axis] != num:
        raise invalid_argument(
            f"Input shape axis {axis} must equal {num}, got shape {shape_text(shape)}"
        )
    return axis % rank


@host_kernel("Split", aliases=True)
def _split(c: OpKernelConstruction) -> Compute:
    count = c["num_split"]

    def parts_of(shape: Sequence[int], axis: Any) -> list[tuple[slice, ...]]:
        at = split_axis(axis, shape, count)
        size = shape[at] // count
        before = (slice(None),) * at
        return [(*before, slice(i * size, (i + 1) * size)) for i in range(count)]

    fixed = checks.in_advance(parts_of, c.input_shapes[1], c.constant(0))
    if fixed is not None:
        return lambda _, value: tuple([value[part] for part in fixed])
    parts = checks.keep_last(parts_of)
    return lambda axis, value: tuple([value[p] for p in parts(value.shape, axis)])


def split_axis(axis: Any, shape: Sequence[int], count: int) -> int:
    """The axis of a Split, counted from the front.

    Raises:
      InvalidArgumentError: not a scalar, out of range, or not a multiple of `count`.
    """
    rank = len(shape)
    if axis.shape != ():
        raise invalid_argument(
            f"split_dim must be a scalar but has rank {len(axis.shape)}"
        )
    number = int(axis)
    at = number + rank if number < 0 else number
    if not 0 <= at < rank:
        raise invalid_argument(
            f"-input rank(-{rank}) <= split_dim < input rank ({rank}), but got {number}"
        )
    if shape[at] % count:
        raise invalid_argument(
            "Number of ways to split should evenly divide the split dimension, but got "
            f"split_dim {at} (size = {shape[at]}) and num_split {count}"
        )
    return at


@host_kernel("SplitV", aliases=True)
def _split_v(c: OpKernelConstruction) -> Compute:
    count = c["num_split"]

    def compute(value: Any, sizes: Any, axis: Any) -> tuple[Any, ...]:
        at = split_axis(axis, value.shape, 1)
        parts = checks.split_sizes(sizes, value.shape[at], count)
        return tuple(np.split(value, np.cumsum(parts[:-1], dtype=np.int64), at))

    return compute


# --- making larger ------------------------------------------------------------------


@host_kernel("Pad")
def _pad(c: OpKernelConstruction) -> Compute:
    dtype, device = c["T"], c.device
    zero = empty_of(dtype)
    return lambda value, paddings: pad_array(value, paddings, zero, dtype, device)


@host_kernel("PadV2")
def _pad_v2(c: OpKernelConstruction) -> Compute:
    dtype, device = c["T"], c.device

    def compute(value: Any, paddings: Any, filler: Any) -> Any:
        check_filler(filler)
        return pad_array(value, paddings, filler[()], dtype, device)

    return compute


def check_filler(filler: Any) -> None:
    """Raises InvalidArgumentError unless PadV2's value is one."""
    if filler.ndim:
        shape = ",".join(map(str, filler.shape))
        raise invalid_argument(f"constant_values must be a scalar. Found: [{shape}]")


def pad_array(
    value: Any, paddings: Any, filler: Any, dtype: dtypes.DType, device: str
) -> Any:
    """An array with a value around it."""
    rows = checks.paddings_of(paddings, value.ndim)
    if not rows:
        return value.copy()
    shape = padded_shape(value.shape, rows)
    check_shape(shape, dtype, device)
    result = np.empty(shape, value.dtype)
    result[...] = filler
    inner = tuple(
        [slice(b, b + s) for (b, _), s in zip(rows, value.shape, strict=True)]
    )
    result[inner] = value
    return result


def padded_shape(shape: Sequence[int], rows: list[list[int]]) -> tuple[int, ...]:
    """Sizes with what is added before and after."""
    return tuple([s + b + a for s, (b, a) in zip(shape, rows, strict=True)])


@host_kernel("MirrorPad")
def _mirror_pad(c: OpKernelConstruction) -> Compute:
    offset = mirror_offset(c["mode"])
    dtype, device = c["T"], c.device

    def compute(value: Any, paddings: Any) -> Any:
        rows = mirror_paddings(paddings, value.shape, offset)
        check_shape(padded_shape(value.shape, rows), dtype, device)
        for axis, (before, after) in enumerate(rows):
            index = mirror_index(value.shape[axis], before, after, offset)
            value = np.take(value, index, axis)
        return value

    return compute


def mirror_offset(mode: bytes) -> int:
    """1 where the edge is left out (REFLECT), 0 where it is repeated."""
    return 1 if mode == b"REFLECT" else 0


def mirror_paddings(
    paddings: Any, shape: Sequence[int], offset: int
) -> list[list[int]]:
    """(before, after) for each axis.

    Raises:
      InvalidArgumentError: more than there is to mirror.
    """
    rows = checks.paddings_of(paddings, len(shape))
    for size, (before, after) in zip(shape, rows, strict=True):
        if max(before, after) > size - offset:
            limit, excess = ("less than", "not less than")
            if not offset:
                limit, excess = ("no greater than", "greater than")
            raise invalid_argument(
                f"paddings must be {limit} the dimension size: {before}, {after} "
                f"{excess} {size}"
            )
    return rows


def mirror_index(size: int, before: int, after: int, offset: int) -> Any:
    """The source position of every element along one mirrored axis."""
    middle = np.arange(size)
    left = np.arange(before - 1 + offset, offset - 1, -1)
    right = np.arange(size - 1 - offset, size - 1 - offset - after, -1)
    return np.concatenate([left, middle, right])


@host_kernel("MirrorPadGrad")
def _mirror_pad_grad(c: OpKernelConstruction) -> Compute:
    offset = mirror_offset(c["mode"])

    def compute(grad: Any, paddings: Any) -> Any:
        for axis, (before, after) in enumerate(checks.paddings_of(paddings, grad.ndim)):
            size = grad.shape[axis] - before - after
            check_mirrored_size(size, before, after, offset)
            index = mirror_index(size, before, after, offset)
            moved = np.moveaxis(grad, axis, 0)
            total = np.zeros((size, *moved.shape[1:]), grad.dtype)
            np.add.at(total, index, moved)
            grad = np.moveaxis(total, 0, axis)
        return grad

    return compute


def check_mirrored_size(size: int, before: int, after: int, offset: int) -> None:
    """Raises InvalidArgumentError unless the paddings are a mirror of `size`."""
    if size < 0 or max(before, after) > size - offset:
        raise invalid_argument(
            f"Paddings {before}, {after} are not a mirror of a dimension of {size}"
        )


@host_kernel("Tile")
def _tile(c: OpKernelConstruction) -> Compute:
    dtype, device = c["T"], c.device
    multiples_of = checks.keep_last(
        lambda shape, multiples: tile_multiples(shape, multiples, dtype, device)
    )

    def compute(value: Any, multiples: Any) -> Any:
        times = multiples_of(value.shape, multiples)
        if not times:
            return value.copy()
        if all(n == 1 or size == 1 for n, size in zip(times, value.shape, strict=True)):
            # Single elements again and again: NumPy's function takes ten times as long.
            sizes = [n * size for n, size in zip(times, value.shape, strict=True)]
            tiled = np.empty(sizes, value.dtype)
            tiled[...] = value
            return tiled
        return scalar_or_array(np.tile(value, times))

    return compute


def tile_multiples(
    shape: Sequence[int], multiples: Any, dtype: dtypes.DType, device: str
) -> list[int]:
    """How often each axis is repeated.

    Raises:
      InvalidArgumentError: another number than axes, or a negative one.
    """
    rank = len(shape)
    if multiples.ndim != 1 or multiples.size != rank:
        raise invalid_argument(
            f"Expected multiples argument to be a vector of length {rank} but got "
            f"length {multiples.size if multiples.ndim else 0}"
        )
    times: list[int] = multiples.tolist()
    for i, number in enumerate(times):
        if number < 0:
            raise invalid_argument(f"Expected multiples[{i}] >= 0, but got {number}")
    check_shape(
        tuple([s * t for s, t in zip(shape, times, strict=True)]), dtype, device
    )
    return times


@host_kernel("TileGrad")
def _tile_grad(c: OpKernelConstruction) -> Compute:
    def compute(grad: Any, multiples: Any) -> Any:
        times = tile_multiples(grad.shape, multiples, c["T"], c.device)
        split = tile_split(grad.shape, times)
        return np.reshape(grad, split).sum(tuple(range(0, len(split), 2)), grad.dtype)

    return compute


def tile_split(shape: Sequence[int], times: list[int]) -> list[int]:
    """[m, a, n, b] for a tensor [m * a, n * b] of copies."""
    split = []
    for size, number in zip(shape, times, strict=True):
        if not number or size % number:
            raise invalid_argument(
                f"Expected {size} to be a multiple of {number} in the gradient of Tile"
            )
        split += [number, size // number]
    return split
