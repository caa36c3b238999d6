"""Abort; the other primitives are the worker's own (`worker/run/dataflow.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework import errors
from tensorloom.framework.registry.op_kernel import host_kernel

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction


@host_kernel("Abort")
def abort(c: OpKernelConstruction) -> Compute:
    """Fails the step. TensorFlow ends the process, which may serve others too."""
    message = c["error_msg"].decode(errors="replace") or "Abort was run"

    def compute() -> None:
        raise errors.AbortedError(None, None, message)

    return compute
