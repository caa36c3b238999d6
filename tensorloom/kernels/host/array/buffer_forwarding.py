"""Buffer forwarding: kernels that can write their result into the memory of an input.

A new array costs NumPy a third of an elementwise operation on some hundred elements,
and the cache lines of the old one. So where an input ends with its reader, the emitter
of a piece (`worker/compile/emitter.py`) calls the ufunc behind the kernel with that
input as its `out`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable
from typing import Any, Final, TypeVar
from weakref import WeakSet

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])

# What kernels return for their compute function: the ufunc that does the same.
UFUNCS: Final[dict[Callable[..., Any], Callable[..., Any]]] = {
    operator.add: np.add,
    operator.sub: np.subtract,
    operator.mul: np.multiply,
    operator.truediv: np.true_divide,
    **{
        ufunc: ufunc
        for ufunc in (
            *(np.negative, np.abs, np.sqrt, np.exp, np.log, np.tanh, np.sin, np.cos),
            *(np.floor, np.ceil, np.rint, np.expm1, np.log1p),
        )
    },
}

# Compute functions, and what does the same with one more argument: None, or the array
# for the result.
TAKES_OUT: Final[dict[Callable[..., Any], Callable[..., Any]]] = {
    **UFUNCS,
    np.ndarray.dot: np.ndarray.dot,
}

# Compute functions that make a new array, of inputs that they keep no view of: NumPy's,
# and ours, of which a kernel may make one for each node.
_NUMPY_MAKERS: Final = frozenset([*UFUNCS, np.ndarray.dot])
_MAKERS: Final[WeakSet[Callable[..., Any]]] = WeakSet()


def makes_array(function: F) -> F:
    """Says of a compute function that it makes a new array and keeps no view."""
    _MAKERS.add(function)
    return function


def is_maker(function: Callable[..., Any]) -> bool:
    """Whether it makes one; kernels of other packages may be any callable."""
    return isinstance(function, Hashable) and (
        function in _NUMPY_MAKERS or function in _MAKERS
    )
