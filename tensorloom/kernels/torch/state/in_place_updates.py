"""Updates of variables that hold torch tensors, in place where nobody else looks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from tensorloom.kernels.torch.state.variable_value import exclusive, to_host, to_tensor

if TYPE_CHECKING:
    from tensorloom.framework.runtime.resource import Variable

# Unsigned types that torch stores but does not compute with.
_NO_TORCH_ARITHMETIC = frozenset([torch.uint16, torch.uint32, torch.uint64])


def add_in_place(variable: Variable, value: Any, sign: int, device: Any) -> None:
    """Adds `sign * value` to a variable that holds a tensor; call under its lock."""
    update = to_tensor(value, device)
    held = exclusive(variable)
    try:
        if held.dtype in _NO_TORCH_ARITHMETIC:
            array = to_host(held)
            other = to_host(update)
            held = to_tensor(array + other if sign > 0 else array - other)
        elif sign > 0:
            held.add_(update)
        else:
            held.sub_(update)
    finally:
        variable.value = held
