"""FakeParam as a torch tensor: what nobody reads need not be filled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from tensorloom.framework.registry.op_kernel import kernel
from tensorloom.kernels.torch.state.variable_value import to_tensor

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction


@kernel("FakeParam")
def fake_param(c: OpKernelConstruction) -> Compute:
    """Uninitialized memory of the shape, 0 for unknown dimensions."""
    import numpy as np

    dims = tuple(d or 0 for d in c["shape"].dims_tuple or ())
    dtype = to_tensor(np.zeros((), c["dtype"].as_numpy_dtype)).dtype
    device = c.torch_device
    return lambda: torch.empty(dims, dtype=dtype, device=device)
