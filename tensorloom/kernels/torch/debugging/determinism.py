"""Determinism of torch's kernels, by the switch in `runtime/determinism.py`."""

from __future__ import annotations

import torch

from tensorloom.framework.runtime.determinism import when_enabled


def _use_deterministic_algorithms() -> None:
    torch.use_deterministic_algorithms(True)
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
    # Kernels write all that they allocate: filling it first would only cost time.
    torch._C._set_deterministic_fill_uninitialized_memory(False)


when_enabled(_use_deterministic_algorithms)
