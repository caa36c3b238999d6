"""Max pools of the integer types for which torch has no such function.

They are computed in float64, which is exact for integers below 2**53.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.torch.math.dtypes import TORCH_DTYPES
from tensorloom.kernels.torch.pooling import pool as nn_ops_pool
from tensorloom.kernels.torch.pooling import pool_argmax as nn_ops_pool_argmax

_SIGNED = {dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64}
_INTEGERS = _SIGNED | {dtypes.uint8, dtypes.uint16}


def _widened(
    op: str,
    factory: Callable[[OpKernelConstruction], Compute],
    types: set[dtypes.DType],
    wide: int,
) -> None:
    """Registers `factory` for `types`; its first `wide` inputs are made float64."""

    def wrapped(c: OpKernelConstruction) -> Compute:
        compute, to = factory(c), TORCH_DTYPES[c["T"]]

        def run(*inputs: torch.Tensor) -> object:
            floats = (x.to(torch.float64) for x in inputs[:wide])
            found = compute(*floats, *inputs[wide:])
            if isinstance(found, tuple):
                return (found[0].to(to), *found[1:])
            return found.to(to)

        return run

    kernel(op, types={"T": types})(wrapped)


_widened("MaxPool", nn_ops_pool.max_pool, {dtypes.uint16}, 1)
_widened("MaxPoolGrad", nn_ops_pool.max_pool_grad, _INTEGERS, 3)
_widened("MaxPoolWithArgmax", nn_ops_pool_argmax.max_pool_with_argmax, _INTEGERS, 1)
_widened(
    "MaxPoolGradWithArgmax", nn_ops_pool_argmax.max_pool_grad_with_argmax, _INTEGERS, 2
)
