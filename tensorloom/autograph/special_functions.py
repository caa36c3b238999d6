"""Functions that mean the same in Python and in converted code."""

from __future__ import annotations

from typing import Any

from tensorloom.autograph.operators.data_structures import (
    ListStackOpts,
    list_stack,
    tf_tensor_array_new,
    tf_tensor_list_new,
)
from tensorloom.framework.graph.tensor import is_tensor
from tensorloom.ops.array.constant import constant


def match_staging_level(value: Any, like_value: Any) -> Any:
    """A value as a tensor, if another is one."""
    return constant(value) if is_tensor(like_value) else value


def tensor_list(
    elements: Any,
    element_dtype: Any = None,
    element_shape: Any = None,
    use_tensor_array: bool = False,
) -> Any:
    """A tensor list, or a TensorArray, with these elements.

    Args:
      elements: a tensor (its rows), or a list or tuple of tensors.
      element_dtype, element_shape: needed where there are no elements.
      use_tensor_array: gives a TensorArray.

    Raises:
      ValueError: dtype or shape are missing, or elements of another kind are given.
    """
    if element_dtype is None or element_shape is None:
        if not is_tensor(elements) and not isinstance(elements, (list, tuple)):
            raise ValueError(
                f"unknown type for elements: {type(elements)}; only Tensor, list and "
                "tuple are allowed"
            )
        if not is_tensor(elements) and not elements:
            raise ValueError(
                "element_dtype and element_shape are required when elements are empty"
            )
    make = tf_tensor_array_new if use_tensor_array else tf_tensor_list_new
    return make(elements, element_dtype, element_shape)


def stack(list_or_tensor: Any, element_dtype: Any = None, strict: bool = True) -> Any:
    """The elements of a list as one tensor; a tensor as it is.

    Args:
      list_or_tensor: a tensor list, a TensorArray, or something else.
      element_dtype: of the elements of a tensor list.
      strict: refuses something else; otherwise that is returned.

    Raises:
      ValueError: it cannot be stacked.
    """

    def other(value: Any) -> Any:
        if strict:
            raise ValueError(f"{value} must be stackable when strict=True")
        return value

    return list_stack(list_or_tensor, ListStackOpts(element_dtype, other))
