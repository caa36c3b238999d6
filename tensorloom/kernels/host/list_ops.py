"""Lists of tensors: making, growing and shrinking them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import dtypes
from tensorloom.framework.op_kernel import host_kernel

# Registered before those for lists, which are preferred then.
from tensorloom.kernels.host import array_ops_fill, math_ops_sequence  # noqa: F401
from tensorloom.kernels.tensor_list import TensorList, dims_of
from tensorloom.kernels.variable_value import is_host, to_host

if TYPE_CHECKING:
    from tensorloom.framework.op_kernel import Compute, OpKernelConstruction

_VARIANT = {dtypes.variant}


@host_kernel("EmptyTensorList", large=True)
def empty_tensor_list(c: OpKernelConstruction) -> Compute:
    """A new list without elements."""
    dtype = c["element_dtype"]

    def compute(element_shape: Any, max_num_elements: Any) -> TensorList:
        return TensorList(dtype, dims_of(element_shape), [], 0, int(max_num_elements))

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

    if c["element_dtype"] in (dtypes.variant, dtypes.resource):
        return lambda handle, element_shape: handle.pop()

    def compute(handle: TensorList, element_shape: Any) -> tuple[TensorList, Any]:
        shorter, element = handle.pop()
        return shorter, element if is_host(element) else to_host(element)

    return compute


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
    if element is None or isinstance(element, TensorList):
        return element and element.map(_zeros_like)
    if is_host(element):
        return np.zeros_like(element)[()]
    return element.new_zeros(element.shape)


def _sum(*elements: Any) -> Any:
    if elements[0] is None:  # of a branch that was not taken
        return None
    if isinstance(elements[0], TensorList):
        return elements[0].map(_sum, *elements[1:])
    if not all(is_host(e) for e in elements):
        from tensorloom.kernels.variable_value import to_tensor

        elements = tuple(to_tensor(e) for e in elements)
    total = elements[0]
    for element in elements[1:]:
        total = total + element
    return total
