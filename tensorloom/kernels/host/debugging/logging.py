"""Printing and the clock, in host memory."""

from __future__ import annotations

import sys
import threading
import time
from typing import Any

import numpy as np

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.control_flow.control_flow import summarize


@host_kernel("Print", large=True, aliases=True)
def print_v1(c: OpKernelConstruction) -> Compute:
    """The first input; writes the others to the standard error stream."""
    write = printer(c)

    def compute(value: Any, *data: Any) -> Any:
        write(data)
        return value

    return compute


def printer(c: OpKernelConstruction) -> Compute:
    """What writes the data of a Print node: at most `first_n` times."""
    message = c["message"].decode(errors="replace")
    first_n, limit = c["first_n"], c["summarize"]
    lock = threading.Lock()
    count = 0

    def write(data: tuple[Any, ...]) -> None:
        nonlocal count
        with lock:
            if 0 <= first_n <= count:
                return
            count += 1
        shown = "".join(f"[{summarize(value, limit)}]" for value in data)
        # Looked up now: a program may have redirected the stream.
        sys.stderr.write(f"{message}{shown}\n")
        sys.stderr.flush()

    return write


@host_kernel("Timestamp", large=True)
def timestamp(c: OpKernelConstruction) -> Compute:
    """Seconds since 1970."""

    def compute() -> Any:
        return np.float64(time.time())

    return compute
