"""Lists of tensors made from tensors or other lists, which keep either kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.kernels.host.lists.list_element import check_dtype
from tensorloom.kernels.torch.lists.tensor_list import (
    UNSET,
    Dims,
    TensorList,
    check_room,
    dims_of,
    format_dims,
    is_compatible,
    only_number,
)
from tensorloom.kernels.torch.state.variable_value import (
    format_shape,
    ready_to_slice,
    shape_of,
)

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction


def _slices(tensor: Any) -> list[Any]:
    """The slices along dimension 0; those of a string vector stay arrays."""
    if isinstance(tensor, np.ndarray) and tensor.dtype == object and tensor.ndim == 1:
        return [tensor[i : i + 1].reshape(()) for i in range(len(tensor))]
    count = tensor.shape[0]
    tensor = ready_to_slice(tensor, count)
    return [tensor[i] for i in range(count)]


def _check_slices(tensor: Any, dims: Dims) -> None:
    shape = shape_of(tensor)
    if not shape:
        raise invalid_argument("Tensor must be at least a vector, but saw shape: []")
    if not is_compatible(shape[1:], dims):
        raise invalid_argument(
            "Specified a list with shape "
            f"{format_dims(dims)} from a tensor with shape {format_shape(shape[1:])}"
        )


@host_kernel("TensorListReserve", large=True)
def reserve(c: OpKernelConstruction) -> Compute:
    """A list of elements that are not set."""
    dtype = c["element_dtype"]

    def compute(element_shape: Any, num_elements: Any) -> TensorList:
        count = int(only_number(num_elements, "num_elements"))
        if count < 0:
            raise invalid_argument(
                f"The num_elements to reserve must be a non negative number, but got "
                f"{count}"
            )
        check_room(count)
        return TensorList(dtype, dims_of(element_shape), [UNSET] * count, count)

    return compute


@host_kernel(
    "TensorListFromTensor", any_inputs=("tensor",), retains=("tensor",), large=True
)
def from_tensor(c: OpKernelConstruction) -> Compute:
    """The slices of a tensor."""
    dtype = c["element_dtype"]

    def compute(tensor: Any, element_shape: Any) -> TensorList:
        dims = dims_of(element_shape)
        _check_slices(tensor, dims)
        slices = _slices(tensor)
        return TensorList(dtype, dims, slices, len(slices))

    return compute


@host_kernel("TensorListSetItem", any_inputs=("item",), retains=("item",), large=True)
def set_item(c: OpKernelConstruction) -> Compute:
    """The list with one element replaced."""
    dtype = c["element_dtype"]
    may_grow = bool(c.get("_resize_if_index_out_of_bounds", False))

    def compute(handle: TensorList, index: Any, item: Any) -> TensorList:
        if handle.element_dtype is not dtype:
            check_dtype(handle, dtype)
        length = handle.length
        index = only_number(index, "index")
        if not 0 <= index < length:
            if not may_grow or index < 0:
                raise invalid_argument(
                    f"Trying to modify element {index} in a list with {length} "
                    "elements."
                )
            if index == length:
                return handle.push(item)
            handle = handle.resize(int(index) + 1)
        return handle.set(int(index), item)

    return compute


@host_kernel("TensorListResize", large=True)
def resize(c: OpKernelConstruction) -> Compute:
    """The list with another number of elements."""

    def compute(handle: TensorList, size: Any) -> TensorList:
        size = only_number(size, "size")
        if size < 0:
            raise invalid_argument(
                f"TensorListSlice expects size to be non-negative. Got: {size}"
            )
        return handle.resize(int(size))

    return compute


@host_kernel(
    ["TensorListScatter", "TensorListScatterV2"],
    any_inputs=("tensor",),
    retains=("tensor",),
    large=True,
)
def scatter(c: OpKernelConstruction) -> Compute:
    """A new list with slices of a tensor."""
    dtype = c["element_dtype"]

    def compute(
        tensor: Any, indices: Any, element_shape: Any, num_elements: Any = -1
    ) -> TensorList:
        dims = dims_of(element_shape)
        num_elements = only_number(np.asarray(num_elements), "num_elements")
        if num_elements < -1:
            raise invalid_argument(
                f"TensorListScatter expects num_elements >= -1, found: {num_elements}"
            )
        _check_slices(tensor, dims)
        positions = _checked_indices(indices, tensor)
        count = max([int(num_elements), *(i + 1 for i in positions)])
        if num_elements >= 0 and count > num_elements:
            raise invalid_argument(
                "TensorListScatter: Trying to scatter at index "
                f"{max(positions)} in list with size {num_elements}"
            )
        check_room(count)
        items = [UNSET] * max(count, 0)
        for position, value in zip(positions, _slices(tensor), strict=True):
            items[position] = value
        return TensorList(dtype, dims, items, len(items))

    return compute


def _checked_indices(indices: Any, tensor: Any) -> list[int]:
    positions: list[int] = indices.tolist()
    if len(positions) != shape_of(tensor)[0]:
        raise invalid_argument(
            "Invalid number of rows in input tensor. Expected: "
            f"{len(positions)} Actual: {shape_of(tensor)[0]}"
        )
    if any(i < 0 for i in positions):
        raise invalid_argument("Indices in TensorListScatter must all be non-negative.")
    return positions


@host_kernel(
    "TensorListScatterIntoExistingList",
    any_inputs=("tensor",),
    retains=("tensor",),
    large=True,
)
def scatter_into(c: OpKernelConstruction) -> Compute:
    """The list with slices of a tensor put into it."""
    dtype = c["element_dtype"]

    def compute(handle: TensorList, tensor: Any, indices: Any) -> TensorList:
        check_dtype(handle, dtype)
        _check_slices(tensor, handle.element_shape)
        positions = _checked_indices(indices, tensor)
        items = handle.elements()
        room = max([len(items), *(i + 1 for i in positions)])
        check_room(room)
        items += [UNSET] * (room - len(items))
        for position, value in zip(positions, _slices(tensor), strict=True):
            items[position] = value
        return handle.with_elements(items)

    return compute


@host_kernel("TensorListSplit", any_inputs=("tensor",), retains=("tensor",), large=True)
def split(c: OpKernelConstruction) -> Compute:
    """Pieces of a tensor along dimension 0."""
    dtype = c["element_dtype"]

    def compute(tensor: Any, element_shape: Any, lengths: Any) -> TensorList:
        dims, shape = dims_of(element_shape), shape_of(tensor)
        if not shape:
            raise invalid_argument(
                "Tensor must be at least a vector, but saw shape: []"
            )
        rest = None if dims is None else dims[1:]
        if not is_compatible(shape[1:], rest):
            raise invalid_argument(
                f"tensor shape {format_shape(shape)} is not compatible with "
                f"element_shape {format_dims(dims)}"
            )
        pieces = _pieces(tensor, lengths.tolist())
        return TensorList(dtype, dims, pieces, len(pieces))

    return compute


def _pieces(tensor: Any, lengths: list[int]) -> list[Any]:
    total = shape_of(tensor)[0]
    pieces, start = [], 0
    for length in lengths:
        if length < 0:
            raise invalid_argument(f"Invalid value in lengths: {length}")
        if start + length > total:
            raise invalid_argument(
                f"Attempting to slice [{start}, {start + length}] from tensor with "
                f"length {total}"
            )
        pieces.append(tensor[start : start + length])
        start += length
    if start != total:
        raise invalid_argument(
            f"Unused values in tensor. Length of tensor: {total} Values used: {start}"
        )
    return pieces


def _lists_of(handles: Any) -> tuple[list[Any], tuple[int, ...] | None]:
    """The lists of a scalar or of an array of variants, and the array's shape."""
    if isinstance(handles, np.ndarray):
        return list(handles.ravel()), handles.shape
    return [handles], None


def _pack_lists(lists: list[Any], shape: tuple[int, ...] | None) -> Any:
    if shape is None:
        return lists[0]
    packed = np.empty(len(lists), object)
    packed[:] = lists
    return packed.reshape(shape)


@host_kernel("TensorListConcatLists", large=True)
def concat_lists(c: OpKernelConstruction) -> Compute:
    """The elements of both lists."""
    dtype = c["element_dtype"]

    def compute(input_a: Any, input_b: Any) -> Any:
        lists_a, shape = _lists_of(input_a)
        lists_b, shape_b = _lists_of(input_b)
        if shape != shape_b:
            raise invalid_argument(
                f"input_a and input_b must have the same shape: {shape} vs. {shape_b}"
            )
        joined = []
        for a, b in zip(lists_a, lists_b, strict=True):
            check_dtype(a, dtype)
            check_dtype(b, dtype)
            if a.element_shape != b.element_shape:
                raise invalid_argument(
                    "input_a and input_b TensorList element shapes are not identical: "
                    f"{format_dims(a.element_shape)} vs. {format_dims(b.element_shape)}"
                )
            joined.append(a.with_elements([*a.elements(), *b.elements()]))
        return _pack_lists(joined, shape)

    return compute


@host_kernel(
    "TensorListPushBackBatch",
    any_inputs=("tensor",),
    retains=("tensor",),
    large=True,
)
def push_back_batch(c: OpKernelConstruction) -> Compute:
    """One slice for each list."""
    dtype = c["element_dtype"]

    def compute(input_handles: Any, tensor: Any) -> Any:
        lists, shape = _lists_of(input_handles)
        if shape is None or len(shape) != 1:
            raise invalid_argument("Expected input_handles to be a vector")
        if not shape_of(tensor) or shape_of(tensor)[0] != len(lists):
            raise invalid_argument(
                "Expected tensor.shape[0] == input_handles.size, but saw "
                f"{format_shape(shape_of(tensor))} vs. {len(lists)}"
            )
        pushed = []
        for handle, value in zip(lists, _slices(tensor), strict=True):
            check_dtype(handle, dtype)
            pushed.append(handle.push(value))
        return _pack_lists(pushed, shape)

    return compute
