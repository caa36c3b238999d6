"""The kernels of iterators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.framework.runtime.resource import container_of
from tensorloom.kernels.host.data.iterator_resource import (
    IteratorResource,
    IteratorState,
    check_shapes,
    check_types,
    private_name,
)
from tensorloom.kernels.host.data.optional import Optional
from tensorloom.kernels.host.data.pipeline.dataset import as_dataset
from tensorloom.kernels.host.state import handle_strings
from tensorloom.storage.checkpoints.variants import OpaqueVariant

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import (
        Compute,
        OpKernelConstruction,
        OpKernelContext,
    )
    from tensorloom.framework.runtime.resource import ResourceManager

# --- making iterators -----------------------------------------------------------------


def _place(c: OpKernelConstruction) -> tuple[str, str]:
    """Container and name of the resource of a node."""
    shared = (c.get("shared_name") or b"").decode()
    container = container_of(c.get("container"))
    return container, shared or _resources(c).own_name(c.node_name)


def _resources(c: OpKernelConstruction) -> ResourceManager:
    assert c.resources is not None
    return c.resources


def _make(c: OpKernelConstruction) -> IteratorResource:
    container, name = _place(c)
    types, shapes = c["output_types"], c["output_shapes"]
    found = _resources(c).lookup_or_create(
        container,
        name,
        IteratorResource,
        lambda: IteratorResource(container, name, types, shapes, c.device),
    )
    check_types(found.types, types)
    check_shapes(found.shapes, shapes)
    return found


@host_kernel(["IteratorV2", "Iterator"], devices=("CPU",), large=True)
def iterator(c: OpKernelConstruction) -> Compute:
    """The iterator of this node, or of its shared name."""
    return lambda: _make(c)


@host_kernel("OneShotIterator", devices=("CPU",), context=True, large=True)
def one_shot_iterator(c: OpKernelConstruction) -> Compute:
    """An iterator that a function's dataset initializes, once a session."""
    if c["shared_name"]:
        raise invalid_argument(
            "OneShotIteratorOp does not currently support the 'shared_name' attr."
        )
    factory = c.function(c["dataset_factory"], host_results=True)
    made: list[Any] = []

    def compute(context: OpKernelContext) -> IteratorResource:
        found = _make(c)
        if found in made:
            return found
        (dataset,) = factory(context)
        found.make(as_dataset(dataset), context)
        made[:] = [found]
        return found

    return compute


@host_kernel(
    ["AnonymousIterator", "AnonymousIteratorV2", "AnonymousIteratorV3"],
    devices=("CPU",),
    large=True,
)
def anonymous_iterator(c: OpKernelConstruction) -> Compute:
    """A new iterator in each step, with what deletes it where the op has that."""
    types, shapes = c["output_types"], c["output_shapes"]
    with_deleter = c.op == "AnonymousIteratorV2"

    def compute() -> Any:
        made = IteratorResource("", private_name("anonymous"), types, shapes, c.device)
        return (made, made) if with_deleter else made

    return compute


@host_kernel("DeleteIterator", large=True)
def delete_iterator(c: OpKernelConstruction) -> Compute:
    """Closes an iterator."""
    return lambda handle, deleter: handle.close()


@host_kernel("MakeIterator", context=True, devices=("CPU",), large=True)
def make_iterator(c: OpKernelConstruction) -> Compute:
    """Begins at the first element of a dataset."""

    def compute(context: OpKernelContext, dataset: Any, handle: Any) -> None:
        handle.make(as_dataset(dataset), context)

    return compute


# --- elements -------------------------------------------------------------------------


@host_kernel(
    ["IteratorGetNext", "IteratorGetNextSync"],
    context=True,
    large=True,
)
def iterator_get_next(c: OpKernelConstruction) -> Compute:
    """The components of the next element."""
    types = c["output_types"]

    def compute(context: OpKernelContext, handle: Any) -> tuple[Any, ...]:
        element: tuple[Any, ...] = handle.next(context)
        if len(element) != len(types):
            check_types(types, handle.types)
        return element

    return compute


@host_kernel("IteratorGetNextAsOptional", context=True, devices=("CPU",), large=True)
def iterator_get_next_as_optional(c: OpKernelConstruction) -> Compute:
    """The next element, or none at the end."""
    types = c["output_types"]

    def compute(context: OpKernelContext, handle: Any) -> Optional:
        try:
            return Optional(handle.next(context), types)
        except errors.OutOfRangeError:
            return Optional(None)

    return compute


# --- handles as strings ---------------------------------------------------------------

# What TensorFlow's C++ calls the type of the resource.
_CPP_NAME = "N10tensorflow4data16IteratorResourceE"


@host_kernel("IteratorToStringHandle", devices=("CPU",), large=True)
def iterator_to_string_handle(c: OpKernelConstruction) -> Compute:
    """A ResourceHandleProto that names the iterator."""

    return lambda handle: handle_strings.to_string(handle, c.device, _CPP_NAME)


@host_kernel(
    ["IteratorFromStringHandleV2", "IteratorFromStringHandle"],
    devices=("CPU",),
    large=True,
)
def iterator_from_string_handle(c: OpKernelConstruction) -> Compute:
    """The iterator that a string names."""
    types, shapes = c["output_types"], c["output_shapes"]

    def compute(text: Any) -> Any:
        proto = handle_strings.from_string(text)
        found = _resources(c).lookup(proto.container, proto.name, IteratorResource)
        if types:
            check_types(types, found.types)
        if shapes:
            check_shapes(shapes, found.shapes)
        return found

    return compute


@host_kernel(["IteratorGetDevice", "ExperimentalIteratorGetDevice"], large=True)
def iterator_get_device(c: OpKernelConstruction) -> Compute:
    """The device of an iterator."""

    def compute(handle: Any) -> Any:
        result = np.empty((), object)
        result[()] = handle.device.encode()
        return result

    return compute


# --- positions ------------------------------------------------------------------------


@host_kernel("SerializeIterator", large=True)
def serialize_iterator(c: OpKernelConstruction) -> Compute:
    """How far an iterator has come."""
    return lambda handle, *_: handle.save()


@host_kernel("DeserializeIterator", context=True, large=True)
def deserialize_iterator(c: OpKernelConstruction) -> Compute:
    """Brings an iterator to a saved position."""

    def compute(context: OpKernelContext, handle: Any, state: Any) -> None:
        # Newer TensorFlows keep a list: a part for each dataset of the pipeline.
        if isinstance(state, np.ndarray) and state.size:
            state = state.reshape(-1)[0]
        if isinstance(state, OpaqueVariant):
            raise errors.InvalidArgumentError(
                None,
                None,
                f"The state of an iterator is a '{state.type_name}': TensorFlow wrote "
                "it, and only its own pipelines can go on from there. Restore the "
                "variables, and run the iterator's initializer.",
            )
        if not isinstance(state, IteratorState):
            raise errors.InvalidArgumentError(
                None, None, "Tensor does not hold the state of an iterator."
            )
        handle.restore(state, context)

    return compute
