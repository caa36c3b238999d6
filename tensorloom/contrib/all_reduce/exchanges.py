"""Reductions by a ring, by halving and doubling, and by shuffling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.contrib.all_reduce.flat_tensors import (
    BinaryOp,
    UnaryOp,
    flattened,
    in_shape,
    padded_split,
    ragged_split,
    without_padding,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import colocate_with, device
from tensorloom.ops.array.concat import concat, split
from tensorloom.ops.array.identity import identity

_PLACE = "contrib.all_reduce.python.all_reduce"


@export(f"{_PLACE}.build_ring_all_reduce")
def build_ring_all_reduce(
    input_tensors: Sequence[Any],
    num_workers: int,
    num_subchunks: int,
    gpu_perm: Sequence[int],
    red_op: BinaryOp,
    un_op: UnaryOp | None = None,
) -> list[Any]:
    """The reduction of all tensors, on the device of each, by rings of devices.

    Args:
      input_tensors: one of each device, all of the same known shape.
      num_workers: how many tasks the devices are of.
      num_subchunks: how many rings there are; each takes a part of each chunk.
      gpu_perm: the order of a task's devices in the ring.
      red_op: reduces two tensors.
      un_op: applied to what is reduced.

    Raises:
      ValueError: fewer than two tensors, other shapes, or more rings than devices.
    """
    if len(input_tensors) < 2:
        raise ValueError("input_tensors must be length 2 or longer")
    tensors, shape = flattened(input_tensors)
    devices = [tensor.device for tensor in tensors]
    before, ranks = rings(num_workers, num_subchunks, gpu_perm)
    count = len(tensors)
    chunks, padding = ring_gather(
        tensors, devices, num_subchunks, before, ranks, red_op
    )
    if un_op:
        for d in range(count):
            with colocate_with(chunks[d][0]):
                chunks[d] = [un_op(chunk) for chunk in chunks[d]]
    for tick in range(count - 1):
        _turn(
            chunks,
            (before, ranks),
            1 + tick,
            lambda d: colocate_with(chunks[d][0]),
            lambda passed, own: identity(passed),
        )
    outputs = [_joined(parts) for parts in chunks]
    if padding > 0:
        outputs = without_padding(outputs, padding)
    return in_shape(outputs, shape)


def ring_gather(
    input_tensors: Sequence[Any],
    devices: Sequence[str],
    num_subchunks: int,
    before: Sequence[Sequence[int]],
    ranks: Sequence[Sequence[int]],
    red_op: BinaryOp,
) -> Any:
    """The first half of the way around the rings: each chunk is reduced on one device.

    Args:
      input_tensors: vectors of one size, one of each device.
      devices: their names.
      num_subchunks: how many rings there are.
      before, ranks: what `rings` gives.
      red_op: reduces two tensors.

    Returns:
      The chunks of each device, and how much longer padding made the vectors; the
      tensors themselves if there are fewer than two.

    Raises:
      ValueError: the tensors are no vectors.
    """
    if len(input_tensors) < 2:
        return list(input_tensors)
    if len(input_tensors[0].shape) != 1:
        raise ValueError("input tensors must be 1D")
    count = len(input_tensors)
    chunks, padding = _chunks(input_tensors, devices, count * num_subchunks)
    for tick in range(count - 1):
        _turn(chunks, (before, ranks), 2 + tick, lambda d: device(devices[d]), red_op)
    return chunks, padding


def _turn(
    chunks: list[list[Any]],
    ring: tuple[Sequence[Sequence[int]], Sequence[Sequence[int]]],
    back: int,
    at: Callable[[int], Any],
    pass_on: BinaryOp,
) -> None:
    """Each device gets a chunk of each ring from the device before it."""
    before, ranks = ring
    count, new = len(chunks), {}
    for d in range(count):
        with at(d):
            for s in range(len(ranks)):
                segment = (ranks[s][d] + count - back) % count
                i = segment * len(ranks) + s
                new[d, i] = pass_on(chunks[before[s][d]][i], chunks[d][i])
    for (d, i), value in new.items():
        chunks[d][i] = value


def _chunks(
    tensors: Sequence[Any], devices: Sequence[str], pieces: int
) -> tuple[list[list[Any]], int]:
    """The pieces of each tensor, and how many zeros the last one ends with."""
    chunks, padding = [], 0
    for tensor, place in zip(tensors, devices, strict=True):
        with device(place):
            parts, padding = padded_split(tensor, pieces)
            chunks.append(parts)
    return chunks, padding


def _joined(parts: list[Any]) -> Any:
    with colocate_with(parts[0]):
        return concat(parts, 0)


def rings(
    num_workers: int, num_subchunks: int, order: Sequence[int]
) -> tuple[list[list[int]], list[list[int]]]:
    """For each ring and device: the device before it, and its place in the ring."""
    per_worker = len(order)
    count = num_workers * per_worker
    if count == 0:
        return [], []
    if num_subchunks > per_worker:
        raise ValueError(
            f"num_subchunks {num_subchunks} must be <= num_gpus {per_worker}"
        )
    rotation = max(1, per_worker // num_subchunks)
    before, ranks = [], []
    for s in range(num_subchunks):
        start = s * rotation
        turned = [*order[start:], *order[:start]]
        ring = [w * per_worker + i for w in range(num_workers) for i in turned]
        places = [ring.index(d) for d in range(count)]
        ranks.append(places)
        before.append([ring[place - 1] for place in places])
    return before, ranks


@export(f"{_PLACE}.build_recursive_hd_all_reduce")
def build_recursive_hd_all_reduce(
    input_tensors: Sequence[Any], red_op: BinaryOp, un_op: UnaryOp | None = None
) -> list[Any]:
    """The reduction of all tensors, on the device of each, by halving and doubling.

    Args:
      input_tensors: one of each device, all of the same known shape; their number is
        a power of 2, which divides their number of elements.
      red_op: reduces two tensors.
      un_op: applied to what is reduced.

    Raises:
      ValueError: other numbers or shapes.
    """
    devices = [tensor.device for tensor in input_tensors]
    tensors, shape = flattened(input_tensors)
    count = len(devices)
    if count & (count - 1):
        raise ValueError("num_devices must be a power of 2")
    spans = [1 << hop for hop in range(count.bit_length() - 1)]
    for span in spans:
        halved: list[Any] = [None] * count
        for left, right in _pairs(count, span):
            firsts, seconds = split(tensors[left], 2), split(tensors[right], 2)
            for half, d in enumerate((left, right)):
                with device(devices[d]):
                    halved[d] = red_op(firsts[half], seconds[half])
        tensors = halved
    if un_op:
        tensors = [un_op(tensor) for tensor in tensors]
    for span in reversed(spans):
        doubled: list[Any] = [None] * count
        for left, right in _pairs(count, span):
            for d in (left, right):
                with device(devices[d]):
                    doubled[d] = concat([tensors[left], tensors[right]], 0)
        tensors = doubled
    return in_shape(tensors, shape)


def _pairs(count: int, span: int) -> list[tuple[int, int]]:
    return [(d, d + span) for d in range(count) if d % (2 * span) < span]


@export(f"{_PLACE}.build_shuffle_all_reduce")
def build_shuffle_all_reduce(
    input_tensors: Sequence[Any],
    gather_devices: Sequence[str],
    red_op: UnaryOp,
    un_op: UnaryOp | None = None,
) -> list[Any]:
    """The reduction of all tensors, on the device of each, by parameter servers.

    Args:
      input_tensors: one of each device, all of the same known shape.
      gather_devices: each reduces a part of all tensors.
      red_op: reduces a list of tensors.
      un_op: applied to what is reduced.

    Raises:
      ValueError: no tensors, or other shapes.
    """
    tensors, shape = flattened(input_tensors)
    devices = [tensor.device for tensor in tensors]
    shards = gathered(tensors, gather_devices, red_op, un_op)
    return in_shape(scattered(shards, devices), shape)


def gathered(
    tensors: Sequence[Any],
    gather_devices: Sequence[str],
    red_op: UnaryOp,
    un_op: UnaryOp | None = None,
) -> list[Any]:
    """The reduced parts of vectors, each on a device."""
    pieces = []
    for tensor in tensors:
        with colocate_with(tensor):
            pieces.append(ragged_split(tensor, len(gather_devices)))
    shards = []
    for place, values in zip(gather_devices, zip(*pieces, strict=True), strict=True):
        with device(place):
            shard = red_op(list(values))
            shards.append(un_op(shard) if un_op else shard)
    return shards


def scattered(shards: Sequence[Any], devices: Sequence[str]) -> list[Any]:
    """The parts as one vector, on each device."""
    made = []
    for place in devices:
        with device(place):
            made.append(concat(list(shards), 0))
    return made
