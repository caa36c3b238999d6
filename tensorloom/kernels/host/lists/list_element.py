"""Lists of tensors by index and as a whole; what the torch kernels share.

Elements are kept as they come, NumPy or torch. A function `make_...(c, convert)` makes
the kernel whose outputs `convert` brings into the kind of memory that it gives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.object_arrays import as_object_array
from tensorloom.kernels.host.lists.tensor_array_resource import (
    OBJECT_TYPES,
    concat_values,
    stack_values,
)
from tensorloom.kernels.torch.lists.tensor_list import (
    UNSET,
    Dims,
    TensorList,
    dims_of,
    format_dims,
    is_compatible,
    merge_dims,
    only_number,
)
from tensorloom.kernels.torch.state.variable_value import shape_of, to_host

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.framework.types.dtypes import DType

Convert = Callable[[Any], Any]


def check_dtype(handle: Any, dtype: DType) -> None:
    """Checks that a value is a list of elements of a dtype."""
    if not isinstance(handle, TensorList):
        raise invalid_argument(
            "Input handle is not a list. Saw: " + repr(type(handle).__name__)
        )
    if handle.element_dtype != dtype:
        raise invalid_argument(
            f"Invalid data types; op elements {dtype.name} but list elements "
            f"{handle.element_dtype.name}"
        )


def unset_value(dtype: DType, dims: Dims, what: str) -> Any:
    """Zeros in place of an element that was never set.

    Raises:
      errors.InvalidArgumentError: its shape is not fully known.
    """
    if dims is None or None in dims:
        raise invalid_argument(
            f"{what} but element_shape is not fully defined: {format_dims(dims)}"
        )
    if dtype in OBJECT_TYPES:
        return np.full(dims, None, object) if dims else None
    if dtype == dtypes.string:
        return np.full(dims, b"", object)
    return np.zeros(dims, dtype.as_numpy_dtype)


def make_get_item(c: OpKernelConstruction, convert: Convert) -> Compute:
    """The function that gives one element."""
    dtype: DType = c["element_dtype"]
    if dtype in OBJECT_TYPES:
        convert = _as_it_is

    def compute(handle: TensorList, index: Any, element_shape: Any) -> Any:
        if handle.element_dtype is not dtype:
            check_dtype(handle, dtype)
        index = only_number(index, "index")
        if not 0 <= index < handle.length:
            raise invalid_argument(
                f"Trying to access element {index} in a list with {handle.length} "
                "elements."
            )
        element = handle.at(int(index))
        if element is UNSET:
            element = _unset_item(handle, element_shape)
        return convert(element)

    return compute


def _as_it_is(element: Any) -> Any:
    return element


def _unset_item(handle: TensorList, element_shape: Any) -> Any:
    dims = merge_dims(dims_of(element_shape), handle.element_shape)
    if dims is None or None in dims:  # any other element tells the shape
        for element in handle.elements():
            if element is not UNSET and hasattr(element, "shape"):
                dims = merge_dims(dims, shape_of(element))
                break
    what = "Trying to read an uninitialized tensor"
    return unset_value(handle.element_dtype, dims, what)


def make_pop_back(c: OpKernelConstruction, convert: Convert) -> Compute:
    """The function that gives the last element and the list without it."""
    dtype: DType = c["element_dtype"]
    if dtype in OBJECT_TYPES:
        convert = _as_it_is

    def compute(handle: TensorList, element_shape: Any) -> tuple[TensorList, Any]:
        if handle.element_dtype is not dtype:
            check_dtype(handle, dtype)
        shorter, element = handle.pop()
        if element is UNSET:
            element = _unset_item(handle, element_shape)
        return shorter, convert(element)

    return compute


def _all_set(
    items: Sequence[Any], dtype: DType, dims: Dims, verb: str
) -> tuple[list[Any], Dims]:
    """The elements with zeros for the unset ones, and what is known of their shape."""
    for element in items:
        if element is not UNSET:
            shape = shape_of(element)
            if not is_compatible(shape, dims):
                raise invalid_argument(
                    f"Tried to {verb} list elements of incompatible shapes: "
                    f"{format_dims(shape)} and {format_dims(dims)}"
                )
            dims = shape
    if any(element is UNSET for element in items):
        what = f"Tried to {verb} list which only contains uninitialized tensors"
        zeros = unset_value(dtype, dims, what)
        if zeros is None:
            zeros = as_object_array(zeros)
        items = [zeros if element is UNSET else element for element in items]
    return list(items), dims


def _no_elements(dtype: DType, dims: Dims, verb: str) -> Any:
    if dims is None or None in dims:
        raise invalid_argument(
            f"Tried to {verb} elements of an empty list with non-fully-defined "
            f"element_shape: {format_dims(dims)}"
        )
    known = [d for d in dims if d is not None]
    return np.zeros((0, *known), dtype.as_numpy_dtype)


def _stacked(
    handle: TensorList,
    items: Sequence[Any],
    element_shape: Any,
    convert: Convert,
    verb: str,
) -> Any:
    dtype = handle.element_dtype
    dims = merge_dims(dims_of(element_shape), handle.element_shape)
    if dtype in OBJECT_TYPES:
        convert = _as_it_is
        items = [
            element if element is UNSET else as_object_array(element)
            for element in items
        ]
    if not items:
        return convert(_no_elements(dtype, dims, verb))
    elements, _ = _all_set(items, dtype, dims, verb)
    return convert(stack_values(_in_one_memory(elements, convert)))


def _in_one_memory(elements: list[Any], convert: Convert) -> list[Any]:
    """Elements as one kernel may take them; zeros for unset ones are in host memory."""
    if all(isinstance(element, np.ndarray | np.generic) for element in elements):
        return elements
    return [convert(element) for element in elements]


def make_stack(c: OpKernelConstruction, convert: Convert) -> Compute:
    """The function that stacks all elements."""
    dtype, count = c["element_dtype"], c["num_elements"]

    def compute(handle: TensorList, element_shape: Any) -> Any:
        check_dtype(handle, dtype)
        if count not in (-1, handle.length):
            raise invalid_argument(
                f"Operation expected a list with {count} elements but got a list with "
                f"{handle.length} elements."
            )
        return _stacked(handle, handle.elements(), element_shape, convert, "stack")

    return compute


def make_gather(c: OpKernelConstruction, convert: Convert) -> Compute:
    """The function that stacks the elements at some indices."""
    dtype = c["element_dtype"]

    def compute(handle: TensorList, indices: Any, element_shape: Any) -> Any:
        check_dtype(handle, dtype)
        items = handle.elements()
        for index in np.ravel(indices).tolist():
            if not 0 <= index < handle.length:
                raise invalid_argument(
                    f"Index {index} out o range; list only has {handle.length} "
                    "elements."
                )
        chosen = [items[i] for i in np.ravel(indices).tolist()]
        return _stacked(handle, chosen, element_shape, convert, "gather")

    return compute


def make_concat(c: OpKernelConstruction, convert: Convert) -> Compute:
    """The function that joins all elements along their dimension 0."""
    dtype = c["element_dtype"]
    declared: Dims = (
        c["element_shape"].dims_tuple if c.op == "TensorListConcat" else None
    )

    def compute(
        handle: TensorList, element_shape: Any = None, leading_dims: Any = ()
    ) -> tuple[Any, Any]:
        check_dtype(handle, dtype)
        dims = declared if element_shape is None else dims_of(element_shape)
        dims = merge_dims(dims, handle.element_shape)
        if dims == ():
            raise invalid_argument(
                "Concat requires elements to be at least vectors, found scalars"
            )
        return _joined(handle, dims, leading_dims, convert)

    return compute


def _joined(
    handle: TensorList, dims: Dims, leading_dims: Any, convert: Convert
) -> tuple[Any, Any]:
    rest = None if dims is None else dims[1:]
    items = handle.elements()
    if not items:
        if rest is None or None in rest:
            raise invalid_argument(
                "All except the first dimension must be fully defined when "
                "concating an empty tensor list. element_shape: " + format_dims(dims)
            )
        known = [d for d in rest if d is not None]
        empty = np.zeros((0, *known), handle.element_dtype.as_numpy_dtype)
        return convert(empty), np.empty(0, np.int64)
    rest = _common_rest(items, rest)
    sizes = {shape_of(v)[0] for v in items if v is not UNSET}
    if len(sizes) == 1 and (not dims or dims[0] is None):
        # What is set tells the size of what is not.
        dims = (*sizes, *(dims or ())[1:])
    for index, element in enumerate(items):
        if element is UNSET:
            size = _leading(index, dims, leading_dims)
            what = "Trying to concat list with uninitialized elements"
            whole = None if rest is None else (size, *rest)
            items[index] = unset_value(handle.element_dtype, whole, what)
    lengths = np.array([shape_of(v)[0] for v in items], np.int64)
    return convert(concat_values(_in_one_memory(items, convert))), lengths


def _common_rest(items: Sequence[Any], rest: Dims) -> Dims:
    for element in items:
        if element is UNSET:
            continue
        shape = shape_of(element)
        if not shape:
            raise invalid_argument(
                "Concat saw a scalar shape but requires at least vectors."
            )
        if not is_compatible(shape[1:], rest):
            raise invalid_argument(
                "Tried to concat tensors with unequal shapes: "
                f"{format_dims(rest)} vs {format_dims(shape[1:])}"
            )
        rest = shape[1:]
    return rest


def _leading(index: int, dims: Dims, leading_dims: Any) -> int:
    if index < len(leading_dims):
        return int(leading_dims[index])
    if dims and dims[0] is not None:
        return dims[0]
    raise invalid_argument(
        f"List contains uninitialized element at index {index} but leading_dims has "
        f"only {len(leading_dims)} elements."
    )


@host_kernel("TensorListGetItem", aliases=True)
def get_item(c: OpKernelConstruction) -> Compute:
    """One element in host memory."""
    return make_get_item(c, to_host)


@host_kernel(
    "TensorListGetItem",
    types={"element_dtype": {dtypes.variant, dtypes.resource, dtypes.string}},
    large=True,
    aliases=True,
)
def get_item_of_host(c: OpKernelConstruction) -> Compute:
    """One element of a dtype that only host memory has."""
    return make_get_item(c, to_host)


@host_kernel("TensorListStack", aliases=True)
def stack(c: OpKernelConstruction) -> Compute:
    """All elements as one value."""
    return make_stack(c, to_host)


@host_kernel("TensorListGather", aliases=True)
def gather(c: OpKernelConstruction) -> Compute:
    """Some elements as one value."""
    return make_gather(c, to_host)


@host_kernel(["TensorListConcat", "TensorListConcatV2"], aliases=True)
def concat(c: OpKernelConstruction) -> Compute:
    """All elements joined, and their lengths."""
    return make_concat(c, to_host)
