"""A fact about factorials."""

from __future__ import annotations

import numpy as np

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)


@host_kernel("Fact")
def fact(node: OpKernelConstruction) -> Compute:
    """The fact that TensorFlow's kernel tells."""
    return lambda: np.array(b"0! == 1", dtype=object)
