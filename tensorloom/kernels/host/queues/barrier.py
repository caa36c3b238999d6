"""Barriers: the resource and its kernels."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.kernels.host.control_flow.waiting import WaitableResource, node_resource
from tensorloom.kernels.host.strings.arrays import to_strings
from tensorloom.kernels.torch.state.variable_value import format_shape

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import (
        Compute,
        OpKernelConstruction,
        OpKernelContext,
    )

_FIRST_INDEX: Final = -(2**63)
_MISSING: Final = object()
_Ready = tuple[int, int, bytes, list[Any]]  # index, order of completion, key, tuple


class Barrier(WaitableResource):
    """Tuples that are not complete by key, and those that are by their index.

    The index of a tuple tells which insertion brought its key first.
    """

    def __init__(
        self, container: str, name: str, types: Sequence[Any], shapes: Sequence[Any]
    ) -> None:
        super().__init__(container, name)
        self.types = list(types)
        self.shapes = list(shapes)
        self.ready: list[_Ready] = []
        self.incomplete: dict[bytes, tuple[int, list[Any]]] = {}
        self._closed = False
        self._cancelled = False
        self._next_index = _FIRST_INDEX
        self._completed = 0

    def insert(self, component: int, keys: Sequence[bytes], values: Any) -> None:
        """Sets a component of the tuples of some keys.

        Raises:
          errors.CancelledError: the barrier is closed and a key is new.
          errors.InvalidArgumentError: the component is there already, or does not fit.
        """
        self._check_shape(component, values)
        with self.changed:
            before = len(self.incomplete)
            has_new = False
            try:
                for number, (key, value) in enumerate(zip(keys, values, strict=True)):
                    has_new |= self._insert_one(component, key, value, number, before)
            finally:
                self._next_index += has_new
                self.changed.notify_all()

    def _insert_one(
        self, component: int, key: bytes, value: Any, number: int, before: int
    ) -> bool:
        found = self.incomplete.get(key)
        if found is None:
            if self._closed:
                raise errors.CancelledError(
                    None,
                    None,
                    f"Barrier {self.name} is closed, but attempted to insert a brand "
                    f"new key: {key.decode(errors='replace')}.  Pending enqueues "
                    f"cancelled: {int(self._cancelled)}.  Insertion index: {number}.  "
                    f"Number of incomplete keys: {before}.",
                )
            index, parts = self._next_index, [_MISSING] * len(self.types)
            self.incomplete[key] = index, parts
        else:
            index, parts = found
        if parts[component] is not _MISSING:
            raise invalid_argument(
                f"Key {key.decode(errors='replace')} already has a value for component "
                f"{component} in barrier {self.name}"
            )
        parts[component] = value
        if all(part is not _MISSING for part in parts):
            del self.incomplete[key]
            heapq.heappush(self.ready, (index, self._completed, key, parts))
            self._completed += 1
        return found is None

    def _check_shape(self, component: int, values: Any) -> None:
        if not len(values):
            return
        if not values.size:
            raise invalid_argument(
                "Tensors with no elements are not supported "
                f"{self.name}: received shape {format_shape(values.shape)}"
            )
        # As in TensorFlow, a shape that is not known is a scalar's.
        dims, found = self.shapes[component].dims_tuple or (), values.shape[1:]
        if dims != found:
            shown = ",".join(map(str, dims))
            raise invalid_argument(
                f"Shape mismatch in tuple component {component}. Expected [{shown}], "
                f"got {format_shape(found)}"
            )

    def take(
        self, count: int, small: bool, wait_for_incomplete: bool, context: Any
    ) -> list[_Ready]:
        """Takes `count` complete tuples; fewer with `small` once it is closed.

        Raises:
          errors.OutOfRangeError: the barrier is closed and there will be too few.
        """
        with self.changed:
            wanted = count

            def ready() -> bool:
                nonlocal wanted
                if self._closed:
                    wanted = self._wanted_after_close(count, small, wait_for_incomplete)
                return len(self.ready) >= wanted

            self.wait_until(ready, context, "TakeMany")
            return [heapq.heappop(self.ready) for _ in range(wanted)]

    def _wanted_after_close(
        self, count: int, small: bool, wait_for_incomplete: bool
    ) -> int:
        available = len(self.ready)
        if not small or wait_for_incomplete:
            available += len(self.incomplete)
        wanted = min(count, available) if small else count
        if available < max(wanted, 1):
            raise errors.OutOfRangeError(
                None,
                None,
                f"Barrier '{self.name}' is closed and has insufficient elements "
                f"(requested {wanted}, total size {available})",
            )
        return wanted

    def close_barrier(self, cancel_pending: bool) -> None:
        """Says that no new key will come; drops what is incomplete if asked to.

        Raises:
          errors.CancelledError: it is closed already.
        """
        with self.changed:
            if self._closed and (self._cancelled or not cancel_pending):
                raise errors.CancelledError(
                    None, None, f"Barrier '{self.name}' is already closed."
                )
            self._closed = True
            if cancel_pending:
                self._cancelled = True
                self.incomplete.clear()
            self.changed.notify_all()


@host_kernel("Barrier", large=True)
def barrier(c: OpKernelConstruction) -> Compute:
    """The barrier of this node, or of its shared name."""
    types, shapes = c["component_types"], c["shapes"]
    if c["capacity"] != -1:
        raise invalid_argument(
            "Barrier only accepts capacity=-1.  Feed the inputs to your Barrier "
            "through a queue to enforce a limited capacity."
        )
    if len(shapes) != len(types):
        raise invalid_argument("All of the component shapes must be specified")
    find = node_resource(
        c, Barrier, lambda place, name: Barrier(place, name, types, shapes)
    )

    def compute() -> Barrier:
        found = find()
        _check_same(found, "component types", found.types, types)
        _check_same(found, "component shapes", found.shapes, shapes)
        return found

    return compute


def _check_same(
    found: Barrier, what: str, has: Sequence[Any], wanted: Sequence[Any]
) -> None:
    if list(has) != list(wanted):
        raise invalid_argument(
            f"Shared barrier '{found.name}' has {what} {list(has)} but requested "
            f"{what} were {list(wanted)}."
        )


@host_kernel("BarrierInsertMany", retains=("values",), large=True)
def insert_many(c: OpKernelConstruction) -> Compute:
    """Sets a component of some tuples."""
    component, dtype = c["component_index"], c["T"]

    def compute(held: Barrier, keys: Any, values: Any) -> None:
        if not 0 <= component < len(held.types):
            raise invalid_argument(
                f"The component ID is out of range {component} > num_components (= "
                f"{len(held.types)})"
            )
        expected = held.types[component]
        if dtype != expected:
            raise invalid_argument(
                f"Signature mismatch, have: string_ref, string, {dtype.name}-> "
                f"expected: string_ref, string, {expected.name}->"
            )
        if keys.ndim != 1 or values.shape[:1] != keys.shape:
            raise invalid_argument(
                f"keys must be a vector with one value each, got keys of shape "
                f"{format_shape(keys.shape)} and values of {format_shape(values.shape)}"
            )
        held.insert(component, keys.tolist(), _rows(values))

    return compute


def _rows(values: Any) -> Any:
    return values if values.dtype == object else values.copy()


@host_kernel("BarrierTakeMany", context=True, blocking=True, large=True)
def take_many(c: OpKernelConstruction) -> Compute:
    """Takes complete tuples."""
    small, wait = c["allow_small_batch"], c["wait_for_incomplete"]
    types = c["component_types"]

    def compute(context: OpKernelContext, held: Barrier, count: Any) -> Any:
        if list(types) != held.types:
            raise invalid_argument(
                "Signature mismatch with the barrier's component types"
            )
        if count < 0:
            raise invalid_argument(f"num_elements must be >= 0, got {int(count)}")
        taken = held.take(int(count), small, wait, context)
        indices = np.array([index for index, _, _, _ in taken], np.int64)
        keys = to_strings([key for _, _, key, _ in taken], (len(taken),))
        columns = [
            _stack([parts[i] for _, _, _, parts in taken], dtype, held.shapes[i])
            for i, dtype in enumerate(types)
        ]
        return indices, keys, *columns

    return compute


def _stack(values: list[Any], dtype: Any, shape: Any) -> Any:
    if not values:
        return np.empty((0, *(shape.dims_tuple or ())), dtype.as_numpy_dtype)
    if dtype.name == "string":
        stacked = np.empty((len(values), *np.shape(values[0])), object)
        for i, value in enumerate(values):
            stacked[i] = value
        return stacked
    return np.array(values, dtype.as_numpy_dtype)


@host_kernel("BarrierClose", large=True)
def close(c: OpKernelConstruction) -> Compute:
    """Closes the barrier."""
    cancel = c["cancel_pending_enqueues"]

    def compute(held: Barrier) -> None:
        held.close_barrier(cancel)

    return compute


@host_kernel("BarrierReadySize", large=True)
def ready_size(c: OpKernelConstruction) -> Compute:
    """How many tuples are complete."""
    return lambda held: np.int32(len(held.ready))


@host_kernel("BarrierIncompleteSize", large=True)
def incomplete_size(c: OpKernelConstruction) -> Compute:
    """How many keys lack components."""
    return lambda held: np.int32(len(held.incomplete))
