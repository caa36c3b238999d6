"""How compiled code is called: torch without gradients, NumPy without warnings."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    Mode = Callable[[], AbstractContextManager[Any]]


def mode_of(uses_torch: bool) -> Mode | None:
    """`torch.inference_mode`; None for code without torch, which is not imported."""
    if not uses_torch:
        return None
    import torch

    # What it holds, as long as there is that: its own three methods would take as long
    # again, in every step.
    return partial(getattr(torch._C, "_InferenceMode", torch.inference_mode), True)


def called(mode: Mode | None, call: Callable[[], None]) -> None:
    """Calls in a mode of `mode_of`, as each thread of a step must for itself."""
    with np.errstate(all="ignore"):
        if mode is None:
            call()
        else:
            with mode():
                call()
