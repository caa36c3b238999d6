"""ObtainNext in host memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.kernels.torch.state.variable_value import to_host, uninitialized

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.framework.runtime.resource import Variable


@host_kernel("ObtainNext", large=True)
def obtain_next(c: OpKernelConstruction) -> Compute:
    """The element after the one that the counter tells; the counter goes on to it."""

    def compute(elements: Any, counter: Variable) -> Any:
        flat = np.reshape(elements, -1)
        if not flat.size:
            raise invalid_argument("list must have at least one element, got none")
        with counter.lock:
            if counter.value is None:
                raise uninitialized(counter, False)
            place = (np.int64(to_host(counter.value)) + 1) % flat.size
            counter.value = place
        return np.array(flat[int(place)], object)

    return compute
