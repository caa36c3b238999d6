"""GPUs that are not there: the code of ours runs as on CUDA, torch's as on the CPU."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tensorloom.devices import cuda, device
from tensorloom.kernels.torch.random import random_ops
from tests.gpu import pretended_torch
from tests.gpu.target import Target

if TYPE_CHECKING:
    import torch


class PretendedGpu(cuda.CudaDevice):
    """A CUDA device but for what torch calls it."""

    torch_type = pretended_torch.NAME

    def _page_locked(self, like: torch.Tensor) -> torch.Tensor:
        return pretended_torch.pinned_like(like)


def make_gpus(task: str, count: int | None, options: Mapping[str, Any]) -> list[Any]:
    """Two of them, at most `count`."""
    share = options.get("memory_fraction") or 0.0
    return [PretendedGpu(task, i, i, 1 << 30, share) for i in range(2)][:count]


@contextlib.contextmanager
def _nothing_waits() -> Iterator[None]:
    """A call that waits for a device is an error in the block."""
    pretended_torch.forbid_waits(True)
    try:
        yield
    finally:
        pretended_torch.forbid_waits(False)


TARGET = Target(pretended_torch.NAME, 2, _nothing_waits, is_real=False)


@contextlib.contextmanager
def pretended_gpus() -> Iterator[None]:
    """Sessions made in the block have GPUs."""
    pretended_torch.register()
    before, generators = device._KINDS["GPU"], random_ops._new_generator
    device.register_device_kind("GPU", make_gpus)
    # torch has no way to give a device of Python's a generator.
    random_ops._new_generator = lambda device: generators(None)
    try:
        yield
    finally:
        device.register_device_kind("GPU", before)
        random_ops._new_generator = generators
