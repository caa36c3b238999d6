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


def _quiet() -> tuple[Callable[[], Any], Callable[[Any], object]]:
    """(enter, leave) of `np.errstate(all="ignore")`; leave takes what enter gave.

    NumPy's own object takes longer to make, enter and leave than an operation on
    scalars takes.
    """
    umath = getattr(getattr(np, "_core", None), "umath", None)
    try:
        variable = umath._extobj_contextvar  # type: ignore[union-attr]
        state = umath._make_extobj(all="ignore")  # type: ignore[union-attr]
    except AttributeError:  # another version of NumPy
        return _enter, _leave
    return partial(variable.set, state), variable.reset


def _enter() -> Any:
    state = np.errstate(all="ignore")
    state.__enter__()
    return state


def _leave(state: Any) -> None:
    state.__exit__(None, None, None)


#: Called before and after what may overflow, without NumPy's warnings in between.
enter_quiet, leave_quiet = _quiet()


def called(mode: Mode | None, call: Callable[[], None]) -> None:
    """Calls in a mode of `mode_of`, as each thread of a step must for itself."""
    with np.errstate(all="ignore"):
        if mode is None:
            call()
        else:
            with mode():
                call()
