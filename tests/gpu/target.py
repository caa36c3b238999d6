"""What the check runs on: CUDA, or what is pretended to be."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

GPU = "/device:GPU:0"


@dataclass(frozen=True)
class Target:
    """A machine with GPUs, and how to ask torch about them."""

    kind: str  # torch's name, "cuda"
    count: int
    without_waiting: Callable[[], AbstractContextManager[None]]
    is_real: bool = True

    @property
    def module(self) -> Any:
        """`torch.cuda`, or what stands for it."""
        import torch

        return getattr(torch, self.kind)

    def device(self, index: int = 0) -> Any:
        """As torch calls it."""
        import torch

        return torch.device(self.kind, index)


def cuda_or_reason() -> Target | str:
    """The machine's GPUs, or one sentence on what is missing."""
    try:
        import torch
    except ImportError:
        return "The check needs PyTorch with CUDA, and there is no torch here."
    if torch.version.cuda is None:
        return (
            f"The check needs PyTorch with CUDA: torch {torch.__version__} was built "
            "for the CPU alone."
        )
    if not torch.cuda.is_available():
        return (
            f"The check needs a GPU: torch {torch.__version__} has CUDA "
            f"{torch.version.cuda}, but finds no device that it can use."
        )
    return Target("cuda", torch.cuda.device_count(), _nothing_waits)


@contextlib.contextmanager
def _nothing_waits() -> Iterator[None]:
    """A call that waits for the GPU is an error in the block."""
    import torch

    torch.cuda.set_sync_debug_mode("error")
    try:
        yield
    finally:
        torch.cuda.set_sync_debug_mode("default")


def exact_products() -> None:
    """Products and convolutions in float32 with all its digits, to be compared."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
