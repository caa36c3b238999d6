"""How compiled code is called: torch without gradients, NumPy without warnings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def mode_of(uses_torch: bool) -> Any:
    """`torch.inference_mode`; None for code without torch, which is not imported."""
    if not uses_torch:
        return None
    import torch

    return torch.inference_mode


def called(mode: Any, call: Callable[[], None]) -> None:
    """Calls in a mode of `mode_of`, as each thread of a step must for itself."""
    with np.errstate(all="ignore"):
        if mode is None:
            call()
        else:
            with mode():
                call()
