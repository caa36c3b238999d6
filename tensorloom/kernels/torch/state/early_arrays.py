"""Values of small variables as arrays, until the process first needs torch.

A variable that tensors are computed from holds a tensor (`resource.holds_host_value`).
But importing torch takes a second, and a program of small steps may never need it: so
what is assigned before is kept as an array, and all such arrays become tensors once
torch is there. Which kernel computes a node does not hang on that: the results are the
same.
"""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from tensorloom.framework.runtime.resource import Variable

# Elements of the largest value that is kept so: larger ones are used with torch.
MOST_ELEMENTS: Final = 4096

_lock = threading.Lock()
_holders: weakref.WeakSet[Variable] | None = weakref.WeakSet()


def may_hold(variable: Variable, value: Any) -> bool:
    """Whether a variable on a CPU may hold an array for now; under its lock."""
    if not isinstance(value, np.ndarray | np.generic) or value.size > MOST_ELEMENTS:
        return False
    with _lock:
        if _holders is not None:
            _holders.add(variable)
        return _holders is not None


def make_tensors() -> None:
    """From now on, variables hold tensors. torch has been imported."""
    global _holders
    from tensorloom.kernels.torch.state.variable_value import is_host, owned_tensor

    with _lock:
        holders = list(_holders or ())
        _holders = None
    for variable in holders:
        with variable.lock:
            if is_host(variable.value):
                variable.value = owned_tensor(variable.value, None)


def are_held() -> bool:
    """Whether what is assigned now would be held as an array."""
    return _holders is not None
