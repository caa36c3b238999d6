"""Kernels that join and take apart: Concat, Pack, Split, Pad, Tile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.kernels.host.array import checks
from tensorloom.kernels.host.array import concat as host
from tensorloom.kernels.host.array.allocation import check_shape
from tensorloom.kernels.torch.math.dtypes import TORCH_DTYPES

if TYPE_CHECKING:
    from tensorloom.framework.types.tensor_shape import TensorShape

# --- joining ------------------------------------------------------------------------


@kernel("ConcatV2", host_inputs=("axis",))
def _concat_v2(c: OpKernelConstruction) -> Compute:
    count = len(c.input_shapes) - 1
    known = _known_axis(c.input_shapes[:count], c.constant(count))
    if known is not None:
        return lambda *inputs: torch.cat(inputs[:-1], known)
    place = checks.keep_last(checks.concat_axis)
    return lambda *inputs: _concat_tensors(inputs[:-1], inputs[-1], place)


@kernel("Concat", host_inputs=("concat_dim",))
def _concat(c: OpKernelConstruction) -> Compute:
    place = checks.keep_last(checks.concat_axis)
    return lambda axis, *values: _concat_tensors(values, axis, place)


def _known_axis(shapes: Sequence[TensorShape], axis: Any) -> int | None:
    """The axis of a concatenation whose shapes are known before the step."""
    if not all(shape.is_fully_defined() for shape in shapes[1:]):
        return None
    others = [shape.dims_tuple for shape in shapes[1:]]

    def check(first: Any, axis: Any) -> int:
        return checks.concat_axis([first, *others], axis)  # type: ignore[list-item]

    return checks.in_advance(check, shapes[0], axis)


def _concat_tensors(
    values: Sequence[torch.Tensor], axis: Any, place: Callable[[Any, Any], int]
) -> torch.Tensor:
    return torch.cat(list(values), place([value.shape for value in values], axis))


@kernel("ParallelConcat")
def _parallel_concat(c: OpKernelConstruction) -> Compute:
    return lambda *values: torch.cat(values)


@kernel("Pack")
def _pack(c: OpKernelConstruction) -> Compute:
    axis = c["axis"]

    def compute(*values: torch.Tensor) -> torch.Tensor:
        checks.same_shapes([value.shape for value in values])
        return torch.stack(values, host.pack_axis(axis, values[0].dim()))

    return compute


# --- taking apart -------------------------------------------------------------------


@kernel("Unpack", aliases=True)
def _unpack(c: OpKernelConstruction) -> Compute:
    axis, num = c["axis"], c["num"]

    def compute(value: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return value.unbind(host.unpack_axis(axis, num, value.shape))

    return compute


@kernel("Split", host_inputs=("split_dim",), aliases=True)
def _split(c: OpKernelConstruction) -> Compute:
    count = c["num_split"]
    known = checks.in_advance(
        lambda shape, axis: host.split_axis(axis, shape, count),
        c.input_shapes[1],
        c.constant(0),
    )

    def compute(axis: Any, value: torch.Tensor) -> tuple[torch.Tensor, ...]:
        at = host.split_axis(axis, value.shape, count) if known is None else known
        # `torch.split` is Python, and takes twice as long.
        return torch.chunk(value, count, at)

    return compute


@kernel("SplitV", host_inputs=("size_splits", "split_dim"), aliases=True)
def _split_v(c: OpKernelConstruction) -> Compute:
    count = c["num_split"]

    def compute(value: torch.Tensor, sizes: Any, axis: Any) -> tuple[torch.Tensor, ...]:
        at = host.split_axis(axis, value.shape, 1)
        parts = checks.split_sizes(sizes, value.shape[at], count)
        return torch.split(value, parts, at)

    return compute


# --- making larger ------------------------------------------------------------------


@kernel("Pad", host_inputs=("paddings",))
def _pad(c: OpKernelConstruction) -> Compute:
    dtype, device = c["T"], c.device

    def compute(value: torch.Tensor, paddings: Any) -> torch.Tensor:
        rows = checks.paddings_of(paddings, value.dim())
        check_shape(host.padded_shape(value.shape, rows), dtype, device)
        return pad_tensor(value, rows, 0)

    return compute


@kernel("PadV2", host_inputs=("paddings", "constant_values"))
def _pad_v2(c: OpKernelConstruction) -> Compute:
    dtype, device = c["T"], c.device

    def compute(value: torch.Tensor, paddings: Any, filler: Any) -> torch.Tensor:
        host.check_filler(filler)
        rows = checks.paddings_of(paddings, value.dim())
        check_shape(host.padded_shape(value.shape, rows), dtype, device)
        return pad_tensor(value, rows, filler.item())

    return compute


def pad_tensor(value: torch.Tensor, rows: list[list[int]], filler: Any) -> torch.Tensor:
    """The tensor with `filler` around it: (before, after) by dimension."""
    flat = [number for row in reversed(rows) for number in row]
    if not flat:
        return value.clone()
    if isinstance(filler, complex) or value.is_complex():
        shape = host.padded_shape(value.shape, rows)
        result = value.new_full(shape, filler)
        inner = [slice(b, b + s) for (b, _), s in zip(rows, value.shape, strict=True)]
        result[tuple(inner)] = value
        return result
    return torch.nn.functional.pad(value, flat, value=filler)


@kernel("MirrorPad", host_inputs=("paddings",))
def _mirror_pad(c: OpKernelConstruction) -> Compute:
    offset = host.mirror_offset(c["mode"])
    dtype, device = c["T"], c.device

    def compute(value: torch.Tensor, paddings: Any) -> torch.Tensor:
        rows = host.mirror_paddings(paddings, value.shape, offset)
        check_shape(host.padded_shape(value.shape, rows), dtype, device)
        if value.dtype is torch.uint16:  # torch does not select those
            return compute(value.view(torch.int16), paddings).view(torch.uint16)
        for axis, (before, after) in enumerate(rows):
            if before or after:
                index = host.mirror_index(value.shape[axis], before, after, offset)
                value = value.index_select(axis, _index(index, value.device))
        return value.clone() if not rows else value

    return compute


def _index(array: Any, device: torch.device) -> torch.Tensor:
    return torch.from_numpy(array).to(device)


@kernel("MirrorPadGrad", host_inputs=("paddings",))
def _mirror_pad_grad(c: OpKernelConstruction) -> Compute:
    offset = host.mirror_offset(c["mode"])

    def compute(grad: torch.Tensor, paddings: Any) -> torch.Tensor:
        if grad.dtype is torch.uint16:  # torch does not add those
            return compute(grad.int(), paddings).to(torch.uint16)
        for axis, (before, after) in enumerate(
            checks.paddings_of(paddings, grad.dim())
        ):
            size = grad.shape[axis] - before - after
            host.check_mirrored_size(size, before, after, offset)
            index = host.mirror_index(size, before, after, offset)
            shape = list(grad.shape)
            shape[axis] = size
            total = grad.new_zeros(shape)
            grad = total.index_add_(axis, _index(index, grad.device), grad)
        return grad

    return compute


@kernel("Tile", host_inputs=("multiples",), aliases=True)
def _tile(c: OpKernelConstruction) -> Compute:
    dtype, device = c["T"], c.device

    def compute(value: torch.Tensor, multiples: Any) -> torch.Tensor:
        times = host.tile_multiples(value.shape, multiples, dtype, device)
        if value.numel() == 1:  # as a gradient of a mean: a view costs less
            return value.expand(
                [size * n for size, n in zip(value.shape, times, strict=False)]
            )
        if not times:
            return value.clone()
        if all(n == 1 or size == 1 for n, size in zip(times, value.shape, strict=True)):
            # Single elements again and again, which torch does faster so.
            sizes = [n * size for n, size in zip(times, value.shape, strict=True)]
            return value.expand(sizes).clone(memory_format=torch.contiguous_format)
        return value.repeat(times)

    return compute


@kernel("TileGrad", host_inputs=("multiples",))
def _tile_grad(c: OpKernelConstruction) -> Compute:
    dtype, device = c["T"], c.device
    to = TORCH_DTYPES[dtype]

    def compute(grad: torch.Tensor, multiples: Any) -> torch.Tensor:
        times = host.tile_multiples(grad.shape, multiples, dtype, device)
        if not times:
            return grad.clone()
        split = host.tile_split(grad.shape, times)
        return grad.reshape(split).sum(list(range(0, len(split), 2)), dtype=to)

    return compute
