"""Functions on lists of tensors as `tensorflow.python.ops.list_ops` has them.

Element shapes may be None, a TensorShape, a tensor, or a list with Nones in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.lists.list_ops import element_shape_argument

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor


def tensor_list_gather(
    input_handle: Tensor,
    indices: Any,
    element_dtype: Any,
    element_shape: Any = None,
    name: str | None = None,
) -> Tensor:
    """The elements at some indices, stacked along a new dimension 0."""
    values: Tensor = apply_op(
        "TensorListGather",
        input_handle=input_handle,
        indices=indices,
        element_shape=element_shape_argument(element_shape),
        element_dtype=element_dtype,
        name=name,
    )
    return values


def tensor_list_scatter(
    tensor: Any,
    indices: Any,
    element_shape: Any = None,
    input_handle: Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """A list with the slices of a tensor along dimension 0 at some indices.

    Args:
      input_handle: the list to put them into; None makes a new one.
    """
    handle: Tensor
    if input_handle is not None:
        handle = apply_op(
            "TensorListScatterIntoExistingList",
            input_handle=input_handle,
            tensor=tensor,
            indices=indices,
            name=name,
        )
    else:
        handle = apply_op(
            "TensorListScatterV2",
            tensor=tensor,
            indices=indices,
            element_shape=element_shape_argument(element_shape),
            num_elements=-1,
            name=name,
        )
    return handle


def tensor_list_stack(
    input_handle: Tensor,
    element_dtype: Any,
    num_elements: int = -1,
    element_shape: Any = None,
    name: str | None = None,
) -> Tensor:
    """All elements, stacked along a new dimension 0."""
    tensor: Tensor = apply_op(
        "TensorListStack",
        input_handle=input_handle,
        element_shape=element_shape_argument(element_shape),
        element_dtype=element_dtype,
        num_elements=num_elements,
        name=name,
    )
    return tensor


def tensor_list_concat(
    input_handle: Tensor,
    element_dtype: Any,
    element_shape: Any = None,
    name: str | None = None,
) -> Tensor:
    """All elements, joined along their dimension 0."""
    tensor: Tensor = apply_op(
        "TensorListConcatV2",
        input_handle=input_handle,
        element_dtype=element_dtype,
        element_shape=element_shape_argument(element_shape),
        leading_dims=convert_to_tensor([], dtypes.int64),
        name=name,
    )[0]
    return tensor


def tensor_list_split(
    tensor: Any, element_shape: Any, lengths: Any, name: str | None = None
) -> Tensor:
    """The list of parts of a tensor along dimension 0, of given lengths."""
    handle: Tensor = apply_op(
        "TensorListSplit",
        tensor=tensor,
        element_shape=element_shape_argument(element_shape),
        lengths=lengths,
        name=name,
    )
    return handle


def tensor_list_set_item(
    input_handle: Tensor,
    index: Any,
    item: Any,
    resize_if_index_out_of_bounds: bool = False,
    name: str | None = None,
) -> Tensor:
    """The list with another element at an index.

    Args:
      resize_if_index_out_of_bounds: a list that is too short grows.
    """
    if resize_if_index_out_of_bounds:
        length = apply_op("TensorListLength", input_handle=input_handle)
        needed = apply_op("AddV2", x=convert_to_tensor(index, dtypes.int32), y=1)
        input_handle = apply_op(
            "TensorListResize",
            input_handle=input_handle,
            size=apply_op("Maximum", x=length, y=needed),
        )
    handle: Tensor = apply_op(
        "TensorListSetItem",
        input_handle=input_handle,
        index=index,
        item=item,
        name=name,
    )
    return handle
