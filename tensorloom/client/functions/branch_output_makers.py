"""The registry of the functions that lift tensors out of finished branches.

Lifting adds results to an `If`, which needs function bodies and gradients. These import
`FuncGraph`, so `control_flow/branch_outputs.py` registers its functions here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tensorloom.framework.registry import late_modules


class BranchOutputMakers(NamedTuple):
    """The functions of `control_flow/branch_outputs.py`."""

    inside: Callable[..., Any]
    outside: Callable[..., Any]
    operation_outside: Callable[..., Any]


_REGISTERED: list[BranchOutputMakers] = []


def register_branch_output_makers(makers: BranchOutputMakers) -> None:
    """Sets the functions."""
    _REGISTERED[:] = [makers]


def branch_output_makers() -> BranchOutputMakers:
    """The registered functions; their module is loaded at the first use."""
    late_modules.load_kind("branch output")
    return _REGISTERED[0]
