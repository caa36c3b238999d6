"""Maps of tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.kernels.host.lists.tensor_array_resource import OBJECT_TYPES
from tensorloom.kernels.torch.lists.tensor_map import Entry, TensorMap
from tensorloom.kernels.torch.state.variable_value import to_host

if TYPE_CHECKING:
    from collections.abc import Callable

    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction


def _map(handle: Any) -> TensorMap:
    if not isinstance(handle, TensorMap):
        raise invalid_argument(
            f"Input handle is not a map. Saw: '{type(handle).__name__}'"
        )
    return handle


@host_kernel("EmptyTensorMap", large=True)
def empty_tensor_map(c: OpKernelConstruction) -> Compute:
    """A map without keys."""
    return TensorMap


@host_kernel("TensorMapSize", large=True)
def tensor_map_size(c: OpKernelConstruction) -> Compute:
    """The number of keys."""
    return lambda handle: np.int32(len(_map(handle).entries))


@host_kernel(
    "TensorMapInsert", any_inputs=("value",), retains=("key", "value"), large=True
)
def tensor_map_insert(c: OpKernelConstruction) -> Compute:
    """The map with a key more, or with another value for it."""
    key_dtype, value_dtype = c["key_dtype"], c["value_dtype"]
    if key_dtype in OBJECT_TYPES:
        raise invalid_argument(f"A {key_dtype.name} cannot be the key of a map")

    def compute(handle: Any, key: Any, value: Any) -> TensorMap:
        return _map(handle).insert(Entry(key, key_dtype, value, value_dtype))

    return compute


@host_kernel("TensorMapErase", large=True)
def tensor_map_erase(c: OpKernelConstruction) -> Compute:
    """The map without a key."""
    dtype = c["key_dtype"]

    def compute(handle: Any, key: Any) -> TensorMap:
        held = _map(handle)
        if held.find(key, dtype) is None:
            raise invalid_argument("Trying to erase non-existent item.")
        return held.erase(key, dtype)

    return compute


@host_kernel("TensorMapHasKey", large=True)
def tensor_map_has_key(c: OpKernelConstruction) -> Compute:
    """Whether the map has a key."""
    dtype = c["key_dtype"]
    return lambda handle, key: np.bool_(_map(handle).find(key, dtype) is not None)


def make_lookup(c: OpKernelConstruction, convert: Callable[[Any], Any]) -> Compute:
    """The value of a key, brought by `convert` into the kind of memory it gives."""
    key_dtype, value_dtype = c["key_dtype"], c["value_dtype"]

    def compute(handle: Any, key: Any) -> Any:
        found = _map(handle).find(key, key_dtype)
        if found is None:
            raise invalid_argument("Trying to lookup non-existent key.")
        if found.value_dtype != value_dtype:
            raise errors.InternalError(
                None,
                None,
                f"Output 0 of type {found.value_dtype.name} does not match declared "
                f"output type {value_dtype.name}",
            )
        is_object = value_dtype in OBJECT_TYPES
        return found.value if is_object else convert(found.value)

    return compute


@host_kernel("TensorMapLookup", large=True)
def tensor_map_lookup(c: OpKernelConstruction) -> Compute:
    """The value of a key, in host memory."""
    return make_lookup(c, to_host)


@host_kernel("TensorMapStackKeys", large=True)
def tensor_map_stack_keys(c: OpKernelConstruction) -> Compute:
    """All keys."""
    dtype = c["key_dtype"]

    def compute(handle: Any) -> Any:
        entries = list(_map(handle).entries.values())
        if not entries:
            raise invalid_argument("TensorMapStackKeys cannot be called on empty map.")
        for entry in entries:
            if entry.key_dtype != dtype:
                raise invalid_argument(
                    f"Key does not match requested dtype: {dtype.name}, it is of "
                    f"{entry.key_dtype.name}"
                )
        keys = [np.asarray(entry.key) for entry in entries]
        if len({key.shape for key in keys}) > 1:
            raise invalid_argument("Keys must all have the same shape.")
        return np.stack(keys)

    return compute
