"""Lists of tensors: taking elements out of one as torch tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_kernel import kernel
from tensorloom.kernels.host.lists import list_element as host_ops
from tensorloom.kernels.torch.state.variable_value import tensors_for

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction


@kernel(
    "TensorListPopBack",
    host_inputs=("input_handle", "element_shape"),
    host_outputs=("output_handle",),
    aliases=True,
)
def tensor_list_pop_back(c: OpKernelConstruction) -> Compute:
    """The list without its last element, and that element."""
    return host_ops.make_pop_back(c, tensors_for(c))


@kernel(
    "TensorListGetItem",
    host_inputs=("input_handle", "index", "element_shape"),
    aliases=True,
)
def tensor_list_get_item(c: OpKernelConstruction) -> Compute:
    """One element."""
    return host_ops.make_get_item(c, tensors_for(c))


@kernel("TensorListStack", host_inputs=("input_handle", "element_shape"))
def tensor_list_stack(c: OpKernelConstruction) -> Compute:
    """All elements along a new dimension 0."""
    return host_ops.make_stack(c, tensors_for(c))


@kernel("TensorListGather", host_inputs=("input_handle", "indices", "element_shape"))
def tensor_list_gather(c: OpKernelConstruction) -> Compute:
    """Some elements along a new dimension 0."""
    return host_ops.make_gather(c, tensors_for(c))


@kernel(
    ["TensorListConcat", "TensorListConcatV2"],
    host_inputs=("input_handle", "element_shape", "leading_dims"),
    host_outputs=("lengths",),
)
def tensor_list_concat(c: OpKernelConstruction) -> Compute:
    """All elements along their dimension 0, and their lengths."""
    return host_ops.make_concat(c, tensors_for(c))
