"""Iterators that deal the elements of a dataset to several devices in turn."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.framework.runtime.resource import Resource
from tensorloom.kernels.host.control_flow.waiting import node_resource
from tensorloom.kernels.host.data.iterator_resource import (
    IteratorResource,
    check_shapes,
    check_types,
    private_name,
)
from tensorloom.kernels.host.data.pipeline.dataset import as_dataset
from tensorloom.kernels.host.state import handle_strings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tensorloom.framework.registry.op_kernel import (
        Compute,
        OpKernelConstruction,
        OpKernelContext,
    )
    from tensorloom.kernels.host.data.pipeline.dataset import Element

_CPP_NAME = "N10tensorflow4data12_GLOBAL__N_119MultiDeviceIteratorE"


class MultiDeviceIterator(Resource):
    """Element i is for the device i modulo their number.

    A device that asks before its turn finds the elements of the others put aside.
    """

    def __init__(
        self, container: str, name: str, devices: int, types: Any, shapes: Any
    ) -> None:
        super().__init__(container, name)
        self.types, self.shapes = tuple(types), tuple(shapes)
        self._lock = threading.Lock()
        self._devices = devices
        self._incarnation = 0
        self._source: IteratorResource | None = None
        self._aside: list[deque[Element]] = []
        self._turn = 0

    def begin(self, dataset: Any, context: OpKernelContext) -> int:
        """Starts at the first element; gives the number of this incarnation."""
        check_types(self.types, dataset.types)
        check_shapes(self.shapes, dataset.shapes)
        name = private_name("multi_device")
        source = IteratorResource("", name, dataset.types, dataset.shapes)
        source.make(dataset, context)
        with self._lock:
            self._source, self._turn = source, 0
            self._aside = [deque() for _ in range(self._devices)]
            self._incarnation += 1
            return self._incarnation

    def next(self, shard: int, incarnation: int, context: OpKernelContext) -> Element:
        """The next element for a device.

        Raises:
          errors.InvalidArgumentError: another incarnation, or no such device.
          errors.OutOfRangeError: there are no more.
        """
        with self._lock:
            if incarnation != self._incarnation or self._source is None:
                raise invalid_argument(
                    f"Invalid incarnation id. Provided: {incarnation}; Expected: "
                    f"{self._incarnation}"
                )
            if not 0 <= shard < self._devices:
                raise invalid_argument(
                    f"shard_num {shard} is not in [0, {self._devices})"
                )
            while not self._aside[shard]:
                element = self._source.next(context)
                self._aside[self._turn].append(element)
                self._turn = (self._turn + 1) % self._devices
            return self._aside[shard].popleft()


@host_kernel("MultiDeviceIterator", devices=("CPU",), large=True)
def multi_device_iterator(c: OpKernelConstruction) -> Compute:
    """The iterator of this node, or of its shared name."""
    devices, types, shapes = len(c["devices"]), c["output_types"], c["output_shapes"]
    return node_resource(
        c,
        MultiDeviceIterator,
        lambda place, name: MultiDeviceIterator(place, name, devices, types, shapes),
    )


@host_kernel(
    ["AnonymousMultiDeviceIterator", "AnonymousMultiDeviceIteratorV3"],
    devices=("CPU",),
    large=True,
)
def anonymous(c: OpKernelConstruction) -> Compute:
    """A new iterator in each step, with what deletes it where the op has that."""
    devices, types, shapes = len(c["devices"]), c["output_types"], c["output_shapes"]
    with_deleter = c.op == "AnonymousMultiDeviceIterator"

    def compute() -> Any:
        name = private_name("anonymous_multi_device")
        made = MultiDeviceIterator("", name, devices, types, shapes)
        return (made, made) if with_deleter else made

    return compute


@host_kernel("DeleteMultiDeviceIterator", large=True)
def delete(c: OpKernelConstruction) -> Compute:
    """Closes an iterator."""

    def compute(handle: MultiDeviceIterator, *_: Any) -> None:
        handle.close()

    return compute


@host_kernel("MultiDeviceIteratorInit", devices=("CPU",), context=True, large=True)
def init(c: OpKernelConstruction) -> Compute:
    """Begins at the first element of a dataset."""

    def compute(
        context: OpKernelContext, dataset: Any, handle: MultiDeviceIterator, _: Any
    ) -> Any:
        return np.int64(handle.begin(as_dataset(dataset), context))

    return compute


@host_kernel(
    "MultiDeviceIteratorGetNextFromShard",
    devices=("CPU",),
    context=True,
    blocking=True,
    large=True,
)
def get_next(c: OpKernelConstruction) -> Compute:
    """The next element for a device."""
    single = len(c["output_types"]) == 1

    def compute(
        context: OpKernelContext,
        handle: MultiDeviceIterator,
        shard: Any,
        incarnation: Any,
    ) -> Any:
        element: Sequence[Any] = handle.next(int(shard), int(incarnation), context)
        return element[0] if single and not isinstance(element, tuple) else element

    return compute


@host_kernel("MultiDeviceIteratorToStringHandle", devices=("CPU",), large=True)
def to_string_handle(c: OpKernelConstruction) -> Compute:
    """A ResourceHandleProto that names the iterator."""

    return lambda handle: handle_strings.to_string(handle, c.device, _CPP_NAME)


@host_kernel("MultiDeviceIteratorFromStringHandle", devices=("CPU",), large=True)
def from_string_handle(c: OpKernelConstruction) -> Compute:
    """The iterator that a string names."""
    types, shapes, resources = c["output_types"], c["output_shapes"], c.resources
    assert resources is not None

    def compute(text: Any) -> Any:
        proto = handle_strings.from_string(text)
        # A node's own iterator is kept under a name that no user can give.
        found = None
        for name in (proto.name, resources.own_name(proto.name)):
            try:
                found = resources.lookup(proto.container, name, MultiDeviceIterator)
                break
            except errors.NotFoundError:
                continue
        if found is None:
            raise errors.NotFoundError(
                None, None, f"There is no iterator {proto.container}/{proto.name}"
            )
        if types:
            check_types(types, found.types)
        if shapes:
            check_shapes(shapes, found.shapes)
        return found

    return compute
