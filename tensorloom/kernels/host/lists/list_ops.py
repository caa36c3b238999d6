"""Lists of tensors: making, growing and shrinking them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.framework.runtime.resource import Resource
from tensorloom.framework.types import dtypes

# Kernels that are registered before those for lists, which are preferred then.
from tensorloom.kernels.host.array import fill  # noqa: F401
from tensorloom.kernels.host.data.optional import Optional
from tensorloom.kernels.host.lists.list_element import make_pop_back
from tensorloom.kernels.host.reductions import aggregate  # noqa: F401
from tensorloom.kernels.torch.lists import tensor_list_codec  # noqa: F401  (lists cross tasks)
from tensorloom.kernels.torch.lists.tensor_list import (
    UNSET,
    TensorList,
    dims_of,
    only_number,
)
from tensorloom.kernels.torch.lists.tensor_map import TensorMap
from tensorloom.kernels.torch.state.variable_value import is_host, to_host

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction

_VARIANT = {dtypes.variant}


@host_kernel("EmptyTensorList", large=True)
def empty_tensor_list(c: OpKernelConstruction) -> Compute:
    """A new list without elements."""
    dtype = c["element_dtype"]

    def compute(element_shape: Any, max_num_elements: Any) -> TensorList:
        most = int(only_number(max_num_elements, "max_num_elements"))
        return TensorList(dtype, dims_of(element_shape), [], 0, most)

    return compute


@host_kernel(
    "TensorListPushBack", any_inputs=("tensor",), retains=("tensor",), large=True
)
def tensor_list_push_back(c: OpKernelConstruction) -> Compute:
    """The list with one element more."""
    return TensorList.push


@host_kernel("TensorListPopBack", large=True)
def tensor_list_pop_back(c: OpKernelConstruction) -> Compute:
    """The list without its last element, and that element in host memory."""
    return make_pop_back(c, to_host)


@host_kernel("TensorListLength", large=True)
def tensor_list_length(c: OpKernelConstruction) -> Compute:
    """The number of elements."""
    return lambda handle: np.int32(handle.length)


@host_kernel("TensorListElementShape", large=True)
def tensor_list_element_shape(c: OpKernelConstruction) -> Compute:
    """The shape of the elements, -1 for what is not known."""
    dtype = c["shape_type"].as_numpy_dtype

    def compute(handle: TensorList) -> Any:
        dims = handle.element_shape
        if dims is None:
            return dtype(-1)
        return np.array([-1 if d is None else d for d in dims], dtype)

    return compute


@host_kernel("ZerosLike", types={"T": _VARIANT}, large=True)
def zeros_like_list(c: OpKernelConstruction) -> Compute:
    """A list of zeros in place of the elements."""
    return _zeros_like


@host_kernel("AddN", types={"T": _VARIANT}, large=True)
def add_lists(c: OpKernelConstruction) -> Compute:
    """A list of the sums of the lists' elements."""
    return _sum


def _zeros_like(element: Any) -> Any:
    if isinstance(element, TensorList):
        return element.map(_zeros_like)
    if isinstance(element, TensorMap):  # without the keys, as in TensorFlow
        return TensorMap()
    if element is None or element is UNSET:
        return element
    if isinstance(element, Resource):  # what has no gradient
        return UNSET
    if isinstance(element, Optional):
        if element.values is None:
            return element
        return Optional(tuple(map(_zeros_like, element.values)), element.dtypes)
    if isinstance(element, np.ndarray) and element.dtype == object:
        return _each(_zeros_like, element)  # of lists, or of strings
    if isinstance(element, bytes):
        # TensorFlow has no such zeros, but never comes to ask for them in the gradient
        # of a loop that collects strings: it drops what no other variable reads.
        return b""
    if is_host(element):
        return np.zeros_like(element)[()]
    return element.new_zeros(element.shape)


def _sum_optionals(optionals: Sequence[Optional]) -> Optional:
    held = [optional.values for optional in optionals if optional.values is not None]
    if not held:
        return Optional(None)
    if len(held) != len(optionals):
        raise invalid_argument(
            "Cannot add optionals because one has a value and the other doesn't."
        )
    sums = tuple(_sum(*parts) for parts in zip(*held, strict=True))
    return Optional(sums, optionals[0].dtypes)


def _sum_maps(maps: Sequence[TensorMap]) -> TensorMap:
    """A map with all keys; a value that several have is the sum of theirs."""
    entries = dict(maps[0].entries)
    for other in maps[1:]:
        for key, entry in other.entries.items():
            mine = entries.get(key)
            if mine is not None:
                entry = replace(entry, value=_sum(mine.value, entry.value))
            entries[key] = entry
    return TensorMap(entries)


def _sum(*elements: Any) -> Any:
    if elements[0] is None:  # of a branch that was not taken
        return None
    if any(e is UNSET for e in elements):
        present = [e for e in elements if e is not UNSET]
        return _sum(*present) if present else UNSET
    if isinstance(elements[0], Optional):
        return _sum_optionals(elements)
    if isinstance(elements[0], TensorList):
        return elements[0].map(_sum, *elements[1:])
    if isinstance(elements[0], TensorMap):
        return _sum_maps(elements)
    if isinstance(elements[0], np.ndarray) and elements[0].dtype == object:
        return _each(_sum, *elements)
    if not all(is_host(e) for e in elements):
        from tensorloom.kernels.torch.state.variable_value import to_tensor

        elements = tuple(to_tensor(e) for e in elements)
    total = elements[0]
    for element in elements[1:]:
        total = total + element
    return total


def _each(function: Any, *arrays: Any) -> Any:
    """An array of the results of a function over the elements of equal positions."""
    made = np.empty(arrays[0].shape, object)
    for index in np.ndindex(made.shape):
        made[index] = function(*(a[index] for a in arrays))
    return made
