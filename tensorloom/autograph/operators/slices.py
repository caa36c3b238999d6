"""Elements of lists and tensors, read and written."""

from __future__ import annotations

from typing import Any, NamedTuple

from tensorloom.framework.graph.tensor import is_tensor
from tensorloom.framework.types import dtypes
from tensorloom.ops.indexing.tensor_scatter import tensor_scatter_update
from tensorloom.ops.lists.list_builders import tensor_list_set_item
from tensorloom.ops.lists.list_item import tensor_list_get_item
from tensorloom.ops.lists.tensor_array import TensorArray
from tensorloom.ops.strings.transform import substr


class GetItemOpts(NamedTuple):
    """What the code says of the elements: their dtype, or None."""

    element_dtype: Any


def get_item(target: Any, i: Any, opts: GetItemOpts) -> Any:
    """`target[i]`, of TensorArrays and tensor lists too; a character of a string.

    Raises:
      ValueError: the elements of a tensor list have no dtype.
    """
    if isinstance(target, TensorArray):
        return target.read(i)
    if not is_tensor(target):
        return target[i]
    if target.dtype == dtypes.variant:
        if opts.element_dtype is None:
            raise ValueError(
                "cannot retrieve from a list without knowing its element type; "
                "use set_element_type to annotate it"
            )
        return tensor_list_get_item(target, i, element_dtype=opts.element_dtype)
    if target.dtype == dtypes.string and target.shape.ndims == 0:
        return substr(target, i, 1)
    return target[i]


def set_item(target: Any, i: Any, x: Any) -> Any:
    """`target[i] = x`; returns what `target` is then."""
    if isinstance(target, TensorArray):
        return target.write(i, x)
    if not is_tensor(target):
        target[i] = x
        return target
    if target.dtype == dtypes.variant:
        return tensor_list_set_item(target, i, x)
    return tensor_scatter_update(target, ((i,),), (x,))
