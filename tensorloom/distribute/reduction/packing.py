"""Packs the gradients of each device into few tensors, and takes them apart again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from tensorloom.framework.graph.graph import colocate_with, device, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.ops.array import array_ops

# Of each device: pairs of a gradient and what it belongs to.
DeviceGrads = Sequence[Sequence[tuple[Any, Any]]]


class Packer(Protocol):
    """Packs what is reduced, and unpacks what comes of it."""

    def pack(self, grouped_grads_and_vars: DeviceGrads) -> DeviceGrads:
        """Fewer gradients for each device."""

    def unpack(self, summed: DeviceGrads) -> DeviceGrads:
        """Gradients as they were given to `pack`."""


class ConcatAndSplitPacker:
    """All gradients of a device in one vector, which is split into some packs.

    Raises:
      ValueError: there are to be no packs.
    """

    def __init__(self, num_packs: int = 1) -> None:
        if num_packs <= 0:
            raise ValueError("num_packs must be greater than zero.")
        self.num_packs = num_packs

    def pack(self, grouped_grads_and_vars: DeviceGrads) -> DeviceGrads:
        """`num_packs` vectors for each device."""
        self._given = grouped_grads_and_vars
        self._shapes: list[list[Any]] = []
        self._sizes: list[list[Any]] = []
        packed = []
        for pairs in grouped_grads_and_vars:
            with colocate_with(pairs[0][0]):
                packed.append(self._packed([grad for grad, _ in pairs]))
        return packed

    def _packed(self, grads: list[Any]) -> list[tuple[Any, Any]]:
        flat = [array_ops.reshape(grad, [-1]) for grad in grads]
        shapes = [array_ops.shape(grad) for grad in grads]
        sizes = [array_ops.size(grad) for grad in grads]
        whole = array_ops.concat(flat, 0)
        total: Any
        if all(grad.shape.is_fully_defined() for grad in grads):
            total = sum(grad.shape.num_elements() for grad in grads)
        else:
            total = array_ops.size(whole)
        size = total // self.num_packs
        last = total - size * (self.num_packs - 1)
        packs = array_ops.split(whole, [size] * (self.num_packs - 1) + [last])
        self._shapes.append(shapes)
        self._sizes.append(sizes)
        return [(pack, None) for pack in packs]

    def unpack(self, summed: DeviceGrads) -> DeviceGrads:
        """Gradients as they were given to `pack`."""
        unpacked = []
        for packs, given, shapes, sizes in zip(
            summed, self._given, self._shapes, self._sizes, strict=True
        ):
            with colocate_with(packs[0][0]):
                whole = array_ops.concat([pack for pack, _ in packs], 0)
                parts = array_ops.split(whole, sizes)
                unpacked.append(
                    [
                        (array_ops.reshape(part, shape), of)
                        for part, shape, (_, of) in zip(
                            parts, shapes, given, strict=True
                        )
                    ]
                )
        return unpacked


class AggregateSmallTensorPacker:
    """Small gradients that follow each other, in one vector.

    Args:
      agg_small_grads_max_bytes: what counts as small, of float32.
      agg_small_grads_max_group: how many follow each other at most.

    Raises:
      ValueError: one of them is not positive.
    """

    def __init__(
        self,
        agg_small_grads_max_bytes: int = 1048576,
        agg_small_grads_max_group: int = 16,
    ) -> None:
        if agg_small_grads_max_bytes <= 0 or agg_small_grads_max_group <= 0:
            raise ValueError(
                "agg_small_grads_max_bytes and agg_small_grads_max_group should both "
                "be greater than zero."
            )
        self._max_bytes = agg_small_grads_max_bytes
        self._max_group = agg_small_grads_max_group

    def pack(self, grouped_grads_and_vars: DeviceGrads) -> DeviceGrads:
        """The vectors of small gradients, then all other ones."""
        first = grouped_grads_and_vars[0]
        small = [i for i, (grad, _) in enumerate(first) if self._is_small(grad)]
        self._ranges, _ = extract_ranges(small, self._max_group)
        inside = {i for low, high in self._ranges for i in range(low, high + 1)}
        self._given = grouped_grads_and_vars
        self._others = [i for i in range(len(first)) if i not in inside]
        return [
            [
                *((self._vector(pairs, *ends), None) for ends in self._ranges),
                *(pairs[i] for i in self._others),
            ]
            for pairs in grouped_grads_and_vars
        ]

    def _is_small(self, grad: Any) -> bool:
        if grad.dtype != dtypes.float32:
            return False
        return 4 * int(grad.shape.num_elements()) <= self._max_bytes

    def _vector(self, pairs: Any, low: int, high: int) -> Any:
        members = []
        with name_scope("pack"):
            for grad, _ in pairs[low : high + 1]:
                with device(grad.device):
                    members.append(array_ops.reshape(grad, [-1]))
            with device(members[0].device):
                return array_ops.concat(members, 0)

    def unpack(self, summed: DeviceGrads) -> DeviceGrads:
        """Gradients as they were given to `pack`."""
        unpacked = []
        for pairs, given in zip(summed, self._given, strict=True):
            placed = dict(zip(self._others, pairs[len(self._ranges) :], strict=True))
            for (vector, _), (low, high) in zip(pairs, self._ranges, strict=False):
                placed.update(_taken_apart(vector, given, low, high))
            unpacked.append([placed[i] for i in range(len(given))])
        return unpacked


def _taken_apart(vector: Any, given: Any, low: int, high: int) -> dict[int, Any]:
    shapes = [grad.shape for grad, _ in given[low : high + 1]]
    with device(vector.device), name_scope("unpack"):
        parts = array_ops.split(vector, [shape.num_elements() for shape in shapes])
        return {
            low + i: (array_ops.reshape(part, shape), given[low + i][1])
            for i, (part, shape) in enumerate(zip(parts, shapes, strict=True))
        }


def extract_ranges(
    index_list: Sequence[int], range_size_limit: int = 32
) -> tuple[list[list[int]], list[int]]:
    """Runs of numbers that follow each other, as [first, last], and the others."""
    ranges: list[list[int]] = []
    for index in index_list:
        last = ranges[-1] if ranges else None
        if (
            last is not None
            and index == last[1] + 1
            and last[1] - last[0] <= range_size_limit
        ):
            last[1] = index
        else:
            ranges.append([index, index])
    runs = [ends for ends in ranges if ends[1] > ends[0]]
    return runs, [first for first, last in ranges if first == last]
