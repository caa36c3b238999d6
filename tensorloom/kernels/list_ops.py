"""Lists of tensors: taking an element out of one as a torch tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.op_kernel import kernel
from tensorloom.kernels.variable_value import is_host, to_tensor

if TYPE_CHECKING:
    from tensorloom.framework.op_kernel import Compute, OpKernelConstruction
    from tensorloom.kernels.tensor_list import TensorList


@kernel(
    "TensorListPopBack",
    host_inputs=("input_handle", "element_shape"),
    host_outputs=("output_handle",),
    aliases=True,
)
def tensor_list_pop_back(c: OpKernelConstruction) -> Compute:
    """The list without its last element, and that element."""
    device = c.torch_device

    def compute(handle: TensorList, element_shape: Any) -> tuple[TensorList, Any]:
        shorter, element = handle.pop()
        return shorter, to_tensor(element, device) if is_host(element) else element

    return compute
