"""The kernels of tensor arrays over host values, and what the torch ones share."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.framework.types.object_arrays import as_object_array
from tensorloom.kernels.host.array.buffer_forwarding import makes_array
from tensorloom.kernels.host.lists.tensor_array_resource import (
    OBJECT_TYPES,
    TensorArrayResource,
    concat_values,
    stack_values,
    unboxed,
)
from tensorloom.kernels.torch.state.variable_value import (
    format_shape,
    ready_to_slice,
    shape_of,
    to_host,
)

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.framework.types.tensor_shape import TensorShape

_next_array = itertools.count()
_FLOW = np.float32(0)
Convert = Callable[[Any], Any]


def versions(kind: str) -> list[str]:
    """The op of that kind in all versions: they differ in their handles alone."""
    return [f"TensorArray{kind}", f"TensorArray{kind}V2", f"TensorArray{kind}V3"]


@host_kernel(versions(""), large=True)
def tensor_array(c: OpKernelConstruction) -> Compute:
    """A new array in each step."""
    base = (c["tensor_array_name"] or b"").decode() or c.node_name
    gives_flow = c.op == "TensorArrayV3"
    dtype, element_shape = c["dtype"], c["element_shape"]
    dynamic_size, clear_after_read = c["dynamic_size"], c["clear_after_read"]
    identical_element_shapes = c.get("identical_element_shapes", False)

    def compute(size: Any) -> Any:
        if size < 0:
            raise errors.InvalidArgumentError(None, None, "Size should be >= 0.")
        array = TensorArrayResource(
            f"{base}_{next(_next_array)}",
            dtype,
            int(size),
            element_shape,
            dynamic_size=dynamic_size,
            clear_after_read=clear_after_read,
            identical_element_shapes=identical_element_shapes,
        )
        return (array, _FLOW) if gives_flow else array

    return compute


@host_kernel("_TensorArrayInIteration", large=True)
def tensor_array_in_iteration(c: OpKernelConstruction) -> Compute:
    """The same array, with gradients of its own."""
    return lambda handle: handle.in_iteration()


@host_kernel([*versions("Grad"), "TensorArrayGradWithShape"], large=True)
def tensor_array_grad(c: OpKernelConstruction) -> Compute:
    """The array of gradients beside an array."""
    source = c["source"].decode()
    gives_flow = len(c.output_types) == 2

    def compute(
        handle: TensorArrayResource, flow_in: Any, shape_to_prepend: Any = ()
    ) -> Any:
        prepend = tuple(int(d) for d in shape_to_prepend)
        gradient = handle.gradient(source, prepend)
        return (gradient, _FLOW) if gives_flow else gradient

    return compute


@host_kernel(versions("Write"), any_inputs=("value",), retains=("value",), large=True)
def write(c: OpKernelConstruction) -> Compute:
    """Writes one element."""
    dtype = c["T"]

    def compute(
        handle: TensorArrayResource, index: Any, value: Any, flow_in: Any
    ) -> Any:
        handle.write(int(index), value, dtype)
        return _FLOW

    if dtype in OBJECT_TYPES:
        return lambda handle, index, value, flow_in: compute(
            handle, index, as_object_array(value), flow_in
        )
    return compute


@host_kernel(versions("Scatter"), any_inputs=("value",), retains=("value",), large=True)
def scatter(c: OpKernelConstruction) -> Compute:
    """Writes slices of a tensor."""
    dtype = c["T"]

    def compute(
        handle: TensorArrayResource, indices: Any, value: Any, flow_in: Any
    ) -> Any:
        _check_vector(indices)
        count = len(indices)
        if shape_of(value)[:1] != (count,):
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Expected len(indices) == values.shape[0], but saw: {count} vs. "
                f"{shape_of(value)[0] if shape_of(value) else 'a scalar'}",
            )
        if count:
            largest = int(indices.max())
            if largest >= len(handle) and not handle.dynamic_size:
                raise errors.InvalidArgumentError(
                    None,
                    None,
                    f"Max scatter index must be < array size ({largest} vs. "
                    f"{len(handle)})",
                )
        value = ready_to_slice(value, count)
        for i, index in enumerate(indices.tolist()):
            handle.write(index, _slice(value, i), dtype)
        return _FLOW

    return compute


def _slice(value: Any, index: int) -> Any:
    """One slice; that of a string vector stays an array."""
    if (
        len(value.shape) == 1
        and isinstance(value, np.ndarray)
        and value.dtype == object
    ):
        return value[index : index + 1].reshape(())
    return value[index]


@host_kernel("TensorArrayUnpack", any_inputs=("value",), retains=("value",), large=True)
def unpack(c: OpKernelConstruction) -> Compute:
    """Writes the slices of a tensor to the indices from 0 on."""
    dtype = c["T"]

    def compute(handle: TensorArrayResource, value: Any, flow_in: Any) -> Any:
        shape = shape_of(value)
        if not shape or (shape[0] != len(handle) and not handle.dynamic_size):
            raise errors.InvalidArgumentError(
                None,
                None,
                f"The value of shape {format_shape(shape)} does not fill a TensorArray "
                f"of size {len(handle)}",
            )
        value = ready_to_slice(value, shape[0])
        for index in range(shape[0]):
            handle.write(index, _slice(value, index), dtype)
        return _FLOW

    return compute


@host_kernel(versions("Split"), any_inputs=("value",), retains=("value",), large=True)
def split(c: OpKernelConstruction) -> Compute:
    """Writes pieces of a tensor along dimension 0."""
    dtype = c["T"]

    def compute(
        handle: TensorArrayResource, value: Any, lengths: Any, flow_in: Any
    ) -> Any:
        shape = shape_of(value)
        if not shape:
            raise errors.InvalidArgumentError(
                None,
                None,
                "Expected value to be at least a vector, but received shape: []",
            )
        if int(lengths.sum()) != shape[0]:
            raise errors.InvalidArgumentError(
                None,
                None,
                "Expected sum of lengths to be equal to values.shape[0], but sum of "
                f"lengths is {int(lengths.sum())} and value's shape is: "
                f"{format_shape(shape)}",
            )
        # One that can grow does so, but none shrinks.
        if len(lengths) < len(handle) or (
            len(lengths) > len(handle) and not handle.dynamic_size
        ):
            raise errors.InvalidArgumentError(
                None,
                None,
                "TensorArray's size is not equal to the size of lengths "
                f"({len(handle)} vs. {len(lengths)}), and the TensorArray is not "
                "marked as dynamically resizeable",
            )
        value = ready_to_slice(value, len(lengths))
        start = 0
        for index, length in enumerate(lengths.tolist()):
            handle.write(index, value[start : start + length], dtype)
            start += length
        return _FLOW

    return compute


@host_kernel(versions("Size"), large=True)
def size(c: OpKernelConstruction) -> Compute:
    """The number of elements."""
    return lambda handle, flow_in: np.int32(len(handle))


@host_kernel(versions("Close"), large=True)
def close(c: OpKernelConstruction) -> Compute:
    """Ends the array."""
    return lambda handle: handle.close()


# --- reading; `convert` gives the kind of memory that the kernel's outputs have ------


def make_read(c: OpKernelConstruction, convert: Convert) -> Compute:
    """The function that reads one element."""
    dtype = c["dtype"]

    def compute(handle: TensorArrayResource, index: Any, flow_in: Any) -> Any:
        _check_dtype(handle, dtype)
        return convert(handle.read(int(index)))

    if dtype in OBJECT_TYPES:
        convert = unboxed
    return compute


def _check_vector(indices: Any) -> None:
    if indices.ndim != 1:
        raise errors.InvalidArgumentError(
            None,
            None,
            "Expected indices to be a vector, but received shape: "
            f"{format_shape(indices.shape)}",
        )


def make_gather(c: OpKernelConstruction, convert: Convert) -> Compute:
    """The function that stacks elements."""
    dtype, element_shape = c["dtype"], c["element_shape"]
    told = element_shape.dims_tuple

    @makes_array
    def compute(handle: TensorArrayResource, indices: Any, flow_in: Any) -> Any:
        _check_dtype(handle, dtype)
        if told is not None and told != handle.element_shape.dims_tuple:
            handle.declare(element_shape)
        _check_vector(indices)
        if not len(indices):
            return convert(_empty(handle, element_shape))
        values = handle.read_many(indices.tolist())
        if not handle.element_shape.is_fully_defined():
            _check_equal_shapes(values)  # otherwise writing has done so
        return convert(stack_values(values))

    if c.op == "TensorArrayPack":
        return lambda handle, flow_in: compute(handle, np.arange(len(handle)), flow_in)
    return compute


def make_concat(c: OpKernelConstruction, convert: Convert) -> Compute:
    """The function that concatenates all elements."""
    dtype, except0 = c["dtype"], c["element_shape_except0"]

    def compute(handle: TensorArrayResource, flow_in: Any) -> tuple[Any, Any]:
        _check_dtype(handle, dtype)
        if not len(handle):
            return convert(_empty(handle, except0)), np.empty(0, np.int64)
        values = handle.read_many(list(range(len(handle))))
        for index, value in enumerate(values):
            _check_concat_shape(index, shape_of(value), shape_of(values[0]))
        lengths = np.array([shape_of(v)[0] for v in values], np.int64)
        return convert(concat_values(values)), lengths

    return compute


def _check_dtype(handle: TensorArrayResource, dtype: Any) -> None:
    if handle.dtype.base_dtype != dtype.base_dtype:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"TensorArray dtype is {handle.dtype.name} but Op requested dtype "
            f"{dtype.name}.",
        )


def _empty(handle: TensorArrayResource, declared: TensorShape) -> Any:
    shape = handle.element_shape
    if shape.rank is None or not shape.is_fully_defined():
        shape = declared
    if not shape.is_fully_defined():
        text = "<unknown>" if shape.rank is None else str(shape)
        raise errors.UnimplementedError(
            None,
            None,
            f"TensorArray has size zero, but element shape {text} is not fully "
            "defined. Currently only static shapes are supported when packing "
            "zero-size TensorArrays.",
        )
    dims: Any = shape.dims_tuple
    return np.empty((0, *dims), handle.dtype.as_numpy_dtype)


def _check_equal_shapes(values: list[Any]) -> None:
    first = values[0].shape
    if len({value.shape for value in values}) == 1:
        return
    for index, value in enumerate(values):
        if value.shape != first:
            raise errors.InvalidArgumentError(
                None,
                None,
                "TensorArray has inconsistent shapes.  Index 0 has shape: "
                f"{format_shape(shape_of(values[0]))} but index {index} has shape: "
                f"{format_shape(shape_of(value))}",
            )


def _check_concat_shape(
    index: int, shape: tuple[int, ...], first: tuple[int, ...]
) -> None:
    if not shape:
        raise errors.InvalidArgumentError(
            None,
            None,
            "Concat saw a scalar shape at index "
            f"{index} but requires at least vectors.  Did you mean to call pack?",
        )
    if shape[1:] != first[1:]:
        raise errors.InvalidArgumentError(
            None,
            None,
            "TensorArray has inconsistent shapes.  Index 0 has (excepting dimension 0) "
            f"shape: {format_shape(first[1:])} but index {index} has (excepting "
            f"dimension 0) shape: {format_shape(shape[1:])}",
        )


@host_kernel(versions("Read"), aliases=True)
def read(c: OpKernelConstruction) -> Compute:
    """One element."""
    return make_read(c, to_host)


@host_kernel([*versions("Gather"), "TensorArrayPack"])
def gather(c: OpKernelConstruction) -> Compute:
    """Several elements as one tensor."""
    return make_gather(c, to_host)


@host_kernel(versions("Concat"))
def concat(c: OpKernelConstruction) -> Compute:
    """All elements along their dimension 0, and their lengths."""
    return make_concat(c, to_host)
