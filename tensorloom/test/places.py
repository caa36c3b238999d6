"""Where the operations of a test are placed, and what the machine can do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tensorloom.framework.graph import graph
from tensorloom.test import environment


@contextmanager
def device(use_gpu: bool) -> Iterator[None]:
    """On the first GPU if it is wanted and there, else on the CPU."""
    gpu = use_gpu and environment.is_gpu_available()
    with graph.device("/device:GPU:0" if gpu else "/device:CPU:0"):
        yield


def use_gpu() -> Any:
    """On the first GPU if there is one."""
    return device(use_gpu=True)


def force_gpu() -> Any:
    """On the first GPU."""
    return graph.device("/device:GPU:0")


def force_cpu() -> Any:
    """On the CPU."""
    return graph.device("/device:CPU:0")


def is_xla_enabled() -> bool:
    """Whether a program is compiled by XLA: never."""
    return False


def is_mkl_enabled() -> bool:
    """Whether ops of MKL replace those of TensorFlow in graphs: never."""
    return False


def gpu_supports_half_mat_mul_and_conv() -> bool:
    """Whether half-precision products and convolutions run on the GPU."""
    return environment.is_gpu_available()


def install_stack_trace_handler() -> None:
    """Shows where a process was that ends by a signal."""
    import faulthandler

    faulthandler.enable()
