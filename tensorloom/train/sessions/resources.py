"""Resources that a session initializes like variables: tree ensembles and the like."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from tensorloom.framework.graph.graph import (
    GraphKeys,
    Operation,
    Tensor,
    add_to_collection,
    device,
    get_collection,
    name_scope,
)
from tensorloom.framework.types import dtypes
from tensorloom.ops.array import array_ops
from tensorloom.ops.control_flow import builders as control_flow_ops
from tensorloom.ops.math import math_ops


class _Resource(NamedTuple):
    """A resource with the operations that make it and say whether it is there."""

    handle: Tensor
    create: Operation
    is_initialized: Tensor


def register_resource(
    handle: Tensor,
    create_op: Operation,
    is_initialized_op: Tensor,
    is_shared: bool = True,
) -> None:
    """Lets sessions initialize a resource.

    Args:
      handle: of the resource.
      create_op: makes it.
      is_initialized_op: bool scalar.
      is_shared: for all workers of a cluster, else each has its own.
    """
    collection = GraphKeys.RESOURCES if is_shared else GraphKeys.LOCAL_RESOURCES
    add_to_collection(collection, _Resource(handle, create_op, is_initialized_op))


def shared_resources() -> list[Any]:
    """The resources that all workers share."""
    return get_collection(GraphKeys.RESOURCES)


def local_resources() -> list[Any]:
    """The resources that each worker has for itself."""
    return get_collection(GraphKeys.LOCAL_RESOURCES)


def report_uninitialized_resources(
    resource_list: Sequence[Any] | None = None,
    name: str = "report_uninitialized_resources",
) -> Tensor:
    """A string vector: the names of the handles of those that are not there."""
    if resource_list is None:
        resource_list = shared_resources() + local_resources()
    place = os.environ.get("TF_DEVICE_FOR_UNINITIALIZED_VARIABLE_REPORTING", "/cpu:0")
    with name_scope(name), device(place):
        if not resource_list:
            return array_ops.constant([], dtype=dtypes.string)
        missing = math_ops.logical_not(
            array_ops.stack([r.is_initialized for r in resource_list])
        )
        names = array_ops.constant([r.handle.name for r in resource_list])
        found: Tensor = array_ops.boolean_mask(names, missing)
        return found


def initialize_resources(resource_list: Sequence[Any], name: str = "init") -> Any:
    """An operation that makes them."""
    if resource_list:
        return control_flow_ops.group(*[r.create for r in resource_list], name=name)
    return control_flow_ops.no_op(name=name)
