"""Staging areas: the resources and their kernels.

TensorFlow's kernels wait without looking at cancellation; these end with their step.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.kernels.host.control_flow.waiting import WaitableResource, node_resource
from tensorloom.kernels.torch.state.variable_value import owned_array

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import (
        Compute,
        OpKernelConstruction,
        OpKernelContext,
    )

_GONE: Final = object()


class _Area(WaitableResource):
    """What both kinds of area share: their limits."""

    def __init__(
        self, container: str, name: str, capacity: int, memory_limit: int, width: int
    ) -> None:
        super().__init__(container, name)
        self.capacity = capacity  # tuples; 0: without limit
        self.memory_limit = memory_limit  # bytes; 0: without limit
        self.width = width  # components of a tuple
        self.bytes = 0

    def count(self) -> int:
        """How many complete tuples there are."""
        raise NotImplementedError

    def check_size(self, size: int) -> None:
        """Refuses what can never fit."""
        if self.memory_limit and size > self.memory_limit:
            raise errors.ResourceExhaustedError(
                None,
                None,
                f"Attempted to insert tensors with combined size of '{size}' bytes "
                f"into Staging Area with a memory limit of '{self.memory_limit}'.",
            )

    def has_room(self, size: int, adds_tuple: bool = True) -> bool:
        """Whether a tuple of so many bytes fits now."""
        if adds_tuple and self.capacity and self.count() >= self.capacity:
            return False
        return not self.memory_limit or self.bytes + size <= self.memory_limit


class StagingArea(_Area):
    """Tuples in the order of their coming."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.tuples: deque[tuple[Any, ...]] = deque()

    def count(self) -> int:
        """How many tuples there are."""
        return len(self.tuples)


class StagingMap(_Area):
    """Tuples by key; the unordered kind gives them in the order of completion."""

    ordered = False

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.complete: dict[int, list[Any]] = {}
        self.incomplete: dict[int, list[Any]] = {}

    def count(self) -> int:
        """How many tuples are complete."""
        return len(self.complete)

    def put(self, key: int, indices: list[int], values: Sequence[Any]) -> None:
        """Sets components of a tuple; under the lock."""
        if len(indices) == self.width and key not in self.incomplete:
            if key not in self.complete:
                parts: list[Any] = [_GONE] * self.width
                for index, value in zip(indices, values, strict=False):
                    parts[self._checked(index, key)] = value
                self.complete[key] = parts
                self.bytes += _size(values)
            return
        parts = self.incomplete.setdefault(key, [_GONE] * self.width)
        for index, value in zip(indices, values, strict=False):
            if parts[self._checked(index, key)] is not _GONE:
                raise invalid_argument(
                    f"The tensor for index '{index}' for key '{key}' was already "
                    f"initialized '{self.width}'."
                )
            parts[index] = value
            self.bytes += _size([value])
        if all(part is not _GONE for part in parts):
            self.complete[key] = self.incomplete.pop(key)

    def take(self, key: int, indices: list[int], keep: bool) -> list[Any]:
        """Components of a complete tuple; under the lock."""
        parts = self.complete[key]
        found = []
        for index in indices:
            value = parts[self._checked(index, key)]
            if value is _GONE:
                raise invalid_argument(
                    f"Tensor at index '{index}' for key '{key}' has already been "
                    "removed."
                )
            found.append(value)
        if not keep:
            for index in indices:
                parts[index] = _GONE
            self.bytes -= _size(found)
            if all(part is _GONE for part in parts):
                del self.complete[key]
        return found

    def _checked(self, index: int, key: int) -> int:
        if not 0 <= index < self.width:
            raise invalid_argument(
                f"Index '{index}' for key '{key}' was out of bounds '{self.width}'."
            )
        return index

    def first_key(self) -> int:
        """The key that a take without a key gets."""
        return min(self.complete) if self.ordered else next(iter(self.complete))


class OrderedStagingMap(StagingMap):
    """Gives the smallest key first."""

    ordered = True


def _size(values: Sequence[Any]) -> int:
    return sum(getattr(value, "nbytes", 0) for value in values)


def _finder(c: OpKernelConstruction, kind: type[Any]) -> Callable[[], Any]:
    capacity, limit, width = c["capacity"], c["memory_limit"], len(c["dtypes"])
    return node_resource(
        c, kind, lambda place, name: kind(place, name, capacity, limit, width)
    )


# --- queues ----------------------------------------------------------------------


@host_kernel("Stage", context=True, blocking=True, retains=("values",), large=True)
def stage(c: OpKernelConstruction) -> Compute:
    """Puts a tuple aside; waits for room."""
    find = _finder(c, StagingArea)

    def compute(context: OpKernelContext, *values: Any) -> None:
        area = find()
        size = _size(values)
        area.check_size(size)
        with area.changed:
            area.wait_until(lambda: area.has_room(size), context, "Stage")
            area.tuples.append(tuple(owned_array(value) for value in values))
            area.bytes += size
            area.changed.notify_all()

    return compute


@host_kernel("Unstage", context=True, blocking=True, large=True)
def unstage(c: OpKernelConstruction) -> Compute:
    """Takes the oldest tuple; waits for one."""
    find = _finder(c, StagingArea)

    def compute(context: OpKernelContext) -> Any:
        area = find()
        with area.changed:
            area.wait_until(lambda: bool(area.tuples), context, "Unstage")
            values = area.tuples.popleft()
            area.bytes -= _size(values)
            area.changed.notify_all()
        return _checked_width(values, c)

    return compute


def _checked_width(values: Sequence[Any], c: OpKernelConstruction) -> tuple[Any, ...]:
    if len(values) != len(c["dtypes"]):
        raise invalid_argument(
            f"Mismatch stage/unstage: {len(values)} vs. {len(c['dtypes'])}"
        )
    return tuple(values)


@host_kernel("StagePeek", context=True, blocking=True, large=True)
def stage_peek(c: OpKernelConstruction) -> Compute:
    """The tuple at a position; waits until there are so many."""
    find = _finder(c, StagingArea)

    def compute(context: OpKernelContext, index: Any) -> Any:
        area, position = find(), int(index)
        if position < 0:
            raise invalid_argument(f"index must be >= 0, got {position}")
        with area.changed:
            area.wait_until(lambda: len(area.tuples) > position, context, "StagePeek")
            return _checked_width(area.tuples[position], c)

    return compute


@host_kernel("StageSize", large=True)
def stage_size(c: OpKernelConstruction) -> Compute:
    """How many tuples there are."""
    find = _finder(c, StagingArea)
    return lambda: np.int32(find().count())


@host_kernel("StageClear", large=True)
def stage_clear(c: OpKernelConstruction) -> Compute:
    """Drops all tuples."""
    find = _finder(c, StagingArea)

    def compute() -> None:
        area = find()
        with area.changed:
            area.tuples.clear()
            area.bytes = 0
            area.changed.notify_all()

    return compute


# --- maps ------------------------------------------------------------------------


def _map_finder(c: OpKernelConstruction) -> Callable[[], StagingMap]:
    ordered = c.op.startswith("Ordered")
    return _finder(c, OrderedStagingMap if ordered else StagingMap)


def _both(op: str) -> list[str]:
    return [f"Map{op}", f"OrderedMap{op}"]


def _ordered(indices: Any) -> list[int]:
    """Which components are meant.

    Raises:
      InvalidArgumentError: they are not in order, or one is there twice.
    """
    places: list[int] = np.reshape(indices, -1).tolist()
    if any(b <= a for a, b in itertools.pairwise(places)):
        raise invalid_argument("Indices are not strictly ordered")
    return places


@host_kernel(
    _both("Stage"), context=True, blocking=True, retains=("values",), large=True
)
def map_stage(c: OpKernelConstruction) -> Compute:
    """Sets components of the tuple of a key; waits for room."""
    find = _map_finder(c)

    def compute(context: OpKernelContext, key: Any, indices: Any, *values: Any) -> None:
        area, number, places = find(), int(key), _ordered(indices)
        size = _size(values)
        area.check_size(size)
        with area.changed:
            area.wait_until(lambda: area.has_room(size), context, "MapStage")
            area.put(number, places, [owned_array(value) for value in values])
            area.changed.notify_all()

    return compute


@host_kernel(
    [*_both("Unstage"), *_both("Peek")], context=True, blocking=True, large=True
)
def map_unstage(c: OpKernelConstruction) -> Compute:
    """Components of the tuple of a key; waits until it is complete."""
    find, keep = _map_finder(c), c.op.endswith("Peek")

    def compute(context: OpKernelContext, key: Any, indices: Any) -> Any:
        area, number, places = find(), int(key), _ordered(indices)
        with area.changed:
            area.wait_until(lambda: number in area.complete, context, c.op)
            values = area.take(number, places, keep)
            area.changed.notify_all()
        return _checked_width(values, c)

    return compute


@host_kernel(_both("UnstageNoKey"), context=True, blocking=True, large=True)
def map_unstage_no_key(c: OpKernelConstruction) -> Compute:
    """The key and components of some tuple; waits for one."""
    find = _map_finder(c)

    def compute(context: OpKernelContext, indices: Any) -> Any:
        area, places = find(), _ordered(indices)
        with area.changed:
            area.wait_until(lambda: bool(area.complete), context, c.op)
            key = area.first_key()
            values = area.take(key, places, keep=False)
            area.changed.notify_all()
        return np.int64(key), *_checked_width(values, c)

    return compute


@host_kernel([*_both("Size"), *_both("IncompleteSize")], large=True)
def map_size(c: OpKernelConstruction) -> Compute:
    """How many tuples are complete, or are not."""
    find = _map_finder(c)
    if c.op.endswith("IncompleteSize"):
        return lambda: np.int32(len(find().incomplete))
    return lambda: np.int32(len(find().complete))


@host_kernel(_both("Clear"), large=True)
def map_clear(c: OpKernelConstruction) -> Compute:
    """Drops all tuples."""
    find = _map_finder(c)

    def compute() -> None:
        area = find()
        with area.changed:
            area.complete.clear()
            area.incomplete.clear()
            area.bytes = 0
            area.changed.notify_all()

    return compute
