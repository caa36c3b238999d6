"""Stochastic dual coordinate ascent in host memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.strings.fingerprint128 import fingerprint128
from tensorloom.kernels.torch.state.variable_value import (
    is_host,
    to_host,
    to_tensor,
    uninitialized_reference,
)

if TYPE_CHECKING:
    from tensorloom.framework.runtime.resource import Variable


@host_kernel("SdcaFprint", large=True)
def sdca_fprint(c: OpKernelConstruction) -> Compute:
    """The two words of each string's fingerprint, [n, 2]."""

    def compute(texts: Any) -> Any:
        if texts.ndim != 1:
            message = f"Input must be a vector, got shape {list(texts.shape)}"
            raise errors.InvalidArgumentError(None, None, message)
        words = [fingerprint128(text) for text in texts.tolist()]
        return np.array(words, np.uint64).reshape(-1, 2).view(np.int64)

    return compute


@host_kernel("SdcaShrinkL1", large=True)
def sdca_shrink_l1(c: OpKernelConstruction) -> Compute:
    """Weights move toward zero by l1 / l2, and stop there."""
    shrinkage = np.float32(c["l1"] / c["l2"]) if c["l2"] else np.float32(np.inf)

    def compute(*weights: Variable) -> None:
        for variable in weights:
            with variable.lock:
                held = variable.value
                if held is None:
                    raise uninitialized_reference(variable)
                value: Any = to_host(held)
                shrunk = np.maximum(np.abs(value) - shrinkage, 0)
                result = (np.sign(value) * shrunk).astype(value.dtype)
                variable.value = (
                    result
                    if is_host(held)
                    else to_tensor(result, held.device, copy=True)
                )

    return compute
