"""Lists of tensors: taking elements out of one as torch tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorloom.framework.op_kernel import kernel
from tensorloom.kernels.host import list_element_ops as host_ops
from tensorloom.kernels.variable_value import to_tensor

if TYPE_CHECKING:
    import torch

    from tensorloom.framework.op_kernel import Compute, OpKernelConstruction


def _converter(c: OpKernelConstruction) -> Callable[[Any], torch.Tensor]:
    device = c.torch_device if c.device_type != "CPU" else None
    return lambda value: to_tensor(value, device)


@kernel(
    "TensorListPopBack",
    host_inputs=("input_handle", "element_shape"),
    host_outputs=("output_handle",),
    aliases=True,
)
def tensor_list_pop_back(c: OpKernelConstruction) -> Compute:
    """The list without its last element, and that element."""
    return host_ops.make_pop_back(c, _converter(c))


@kernel(
    "TensorListGetItem",
    host_inputs=("input_handle", "index", "element_shape"),
    aliases=True,
)
def tensor_list_get_item(c: OpKernelConstruction) -> Compute:
    """One element."""
    return host_ops.make_get_item(c, _converter(c))


@kernel("TensorListStack", host_inputs=("input_handle", "element_shape"))
def tensor_list_stack(c: OpKernelConstruction) -> Compute:
    """All elements along a new dimension 0."""
    return host_ops.make_stack(c, _converter(c))


@kernel("TensorListGather", host_inputs=("input_handle", "indices", "element_shape"))
def tensor_list_gather(c: OpKernelConstruction) -> Compute:
    """Some elements along a new dimension 0."""
    return host_ops.make_gather(c, _converter(c))


@kernel(
    ["TensorListConcat", "TensorListConcatV2"],
    host_inputs=("input_handle", "element_shape", "leading_dims"),
    host_outputs=("lengths",),
)
def tensor_list_concat(c: OpKernelConstruction) -> Compute:
    """All elements along their dimension 0, and their lengths."""
    return host_ops.make_concat(c, _converter(c))
