"""Lists that may be tensor lists or TensorArrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from tensorloom.client.control_flow.cond import cond
from tensorloom.framework.graph.tensor import Tensor, is_tensor
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import as_shape
from tensorloom.ops.array.constant import constant
from tensorloom.ops.array.shape import shape
from tensorloom.ops.lists.list_builders import tensor_list_stack
from tensorloom.ops.lists.list_ops import (
    empty_tensor_list,
    tensor_list_pop_back,
    tensor_list_push_back,
)
from tensorloom.ops.lists.list_stack import tensor_list_from_tensor
from tensorloom.ops.lists.tensor_array import TensorArray


def new_list(iterable: Iterable[Any] | None = None) -> Any:
    """A list: Python's if it has elements, else a tensor list."""
    elements = tuple(iterable or ())
    return list(elements) if elements else tf_tensor_list_new(elements)


def tf_tensor_array_new(
    elements: Iterable[Any], element_dtype: Any = None, element_shape: Any = None
) -> TensorArray:
    """A TensorArray of these elements, all of one dtype and shape.

    Raises:
      ValueError: they are not, or there are none and no dtype is given.
    """
    tensors = tuple(convert_to_tensor(element) for element in elements)
    kinds, shapes = _kinds(tensors)
    if len(kinds) > 1:
        raise ValueError(
            f"TensorArray requires all elements to have the same dtype: {tensors}"
        )
    if not kinds and element_dtype is None:
        raise ValueError("dtype is required to create an empty TensorArray")
    if len(shapes) > 1:
        raise ValueError(
            f"TensorArray requires all elements to have the same shape: {tensors}"
        )
    dtype = _agreed("dtype", element_dtype, kinds, tensors)
    own_shape = _agreed("shape", element_shape, shapes, tensors)
    array = TensorArray(
        dtype=dtype,
        size=len(tensors),
        dynamic_size=True,
        infer_shape=own_shape is None,
        element_shape=own_shape,
    )
    for index, element in enumerate(tensors):
        array = array.write(index, element)
    return array


def tf_tensor_list_new(
    elements: Any, element_dtype: Any = None, element_shape: Any = None
) -> Tensor:
    """A tensor list of these elements, or of the rows of a tensor.

    Raises:
      ValueError: they are not of the dtype and shape that are given.
    """
    if is_tensor(elements):
        if element_shape is not None:
            raise ValueError(
                "element shape may not be specified when creating list from tensor"
            )
        return tensor_list_from_tensor(elements, element_shape=shape(elements)[1:])
    tensors = tuple(convert_to_tensor(element) for element in elements)
    kinds, shapes = _kinds(tensors)
    for what, given, found in (
        ("dtype", element_dtype, kinds),
        ("shape", element_shape, shapes),
    ):
        if len(found) > 1 and given is not None:
            raise ValueError(
                f"specified {what} {given} is inconsistent with that of elements "
                f"{tensors}"
            )
    dtype = element_dtype
    if len(kinds) == 1:
        dtype = _agreed("dtype", element_dtype, kinds, tensors)
    own_shape = element_shape
    if own_shape is not None and len(shapes) == 1:
        _agreed("shape", tuple(as_shape(own_shape).as_list()), shapes, tensors)
    if own_shape is None:
        own_shape = shape(tensors[0]) if len(shapes) == 1 else constant(-1)
    made = empty_tensor_list(
        element_shape=convert_to_tensor(own_shape, dtype=dtypes.int32),
        element_dtype=dtypes.variant if dtype is None else dtype,
    )
    if dtype is None and not tensors:
        made._handle_data = None  # the first element says what the list holds
    for element in tensors:
        made = tensor_list_push_back(made, element)
    return made


def _kinds(tensors: tuple[Tensor, ...]) -> tuple[set[Any], set[Any]]:
    return {t.dtype for t in tensors}, {tuple(t.shape.as_list()) for t in tensors}


def _agreed(what: str, given: Any, found: set[Any], elements: Any) -> Any:
    if not found:
        return given
    (inferred,) = found
    if given is not None and given != inferred:
        raise ValueError(
            f"incompatible {what}; specified: {given}, inferred from {elements}: "
            f"{inferred}"
        )
    return inferred


def list_append(list_: Any, x: Any) -> Any:
    """`list_.append(x)`; returns what the list is then.

    Raises:
      ValueError: it is a tensor, but not a tensor list.
    """
    if isinstance(list_, TensorArray):
        return list_.write(list_.size(), x)
    if not is_tensor(list_):
        list_.append(x)
        return list_
    _check_is_list(list_)

    def of_elements_like_x() -> Tensor:
        element = convert_to_tensor(x)
        return empty_tensor_list(
            element_shape=shape(element), element_dtype=element.dtype
        )

    typed = cond(list_length(list_) > 0, lambda: list_, of_elements_like_x)
    # An empty list takes its dtype from the first element.
    typed._handle_data = None
    return tensor_list_push_back(typed, x)


def list_length(list_: Tensor) -> Tensor:
    """How many elements a tensor list has: an int32 scalar."""
    length: Tensor = apply_op("TensorListLength", input_handle=list_)
    return length


def _check_is_list(list_: Any) -> None:
    if list_.dtype != dtypes.variant:
        raise ValueError(
            "tensor lists are expected to be Tensors with dtype=tf.variant, instead "
            f"found {list_}"
        )


class ListPopOpts(NamedTuple):
    """What the code says of the elements: dtype and shape, or None."""

    element_dtype: Any
    element_shape: Any


def list_pop(list_: Any, i: Any, opts: ListPopOpts) -> tuple[Any, Any]:
    """`list_.pop(i)`, of the last element if `i` is None.

    Returns:
      The list without the element, and the element.

    Raises:
      ValueError: it is a TensorArray, a tensor that is no list, or a tensor list whose
        elements have no dtype or shape.
      NotImplementedError: another than the last element of a tensor list.
    """
    if isinstance(list_, TensorArray):
        raise ValueError("TensorArray does not support item removal")
    if not is_tensor(list_):
        return list_, list_.pop() if i is None else list_.pop(i)
    _check_is_list(list_)
    if i is not None:
        raise NotImplementedError("tensor lists only support removing from the end")
    for what, value in (("type", opts.element_dtype), ("shape", opts.element_shape)):
        if value is None:
            raise ValueError(
                f"cannot pop from a list without knowing its element {what}; use "
                "set_element_type to annotate it"
            )
    shorter, element = tensor_list_pop_back(list_, element_dtype=opts.element_dtype)
    element.set_shape(opts.element_shape)
    return shorter, element


class ListStackOpts(NamedTuple):
    """The elements' dtype or None, and what stacks other things than tensors."""

    element_dtype: Any
    original_call: Callable[[Any], Any]


def list_stack(list_: Any, opts: ListStackOpts) -> Any:
    """The elements as one tensor, along a new first dimension.

    Raises:
      ValueError: the elements of a tensor list have no dtype.
    """
    if isinstance(list_, TensorArray):
        return list_.stack()
    if not is_tensor(list_):
        return opts.original_call(list_)
    if list_.dtype != dtypes.variant:
        return list_
    if opts.element_dtype is None:
        raise ValueError(
            "cannot stack a list without knowing its element type; use "
            "set_element_type to annotate it"
        )
    return tensor_list_stack(list_, element_dtype=opts.element_dtype)
