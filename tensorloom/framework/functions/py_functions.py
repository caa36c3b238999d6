"""The Python functions that ops of this process call, by token."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from typing import Any, Final

# The ops that call Python functions, which are of the process that made them.
CALLING_OPS: Final = frozenset(
    ["EagerPyFunc", "NumpyFunc", "PyFunc", "PyFuncStateless"]
)

_ids = itertools.count()
# Weak: the graph whose ops call a function holds it.
_functions: weakref.WeakValueDictionary[str, Callable[..., Any]] = (
    weakref.WeakValueDictionary()
)
_kept: dict[str, Callable[..., Any]] = {}


def insert(function: Callable[..., Any]) -> str:
    """Stores a weak reference to a function and returns its token."""
    token = _new_token()
    try:
        _functions[token] = function
    except TypeError:  # an object that cannot be referred to weakly is kept
        _kept[token] = function
    return token


def insert_kept(function: Callable[..., Any]) -> str:
    """Stores what nobody else holds (a bound method, say) and gives its token."""
    token = _new_token()
    _kept[token] = function
    return token


def _new_token() -> str:
    return f"pyfunc_{next(_ids)}"


def find(token: str) -> Callable[..., Any]:
    """The function of a token.

    Raises:
      ValueError: there is none, or nobody holds it any more.
    """
    function = _functions.get(token) or _kept.get(token)
    if function is None:
        raise ValueError(f"callback {token} is not found")
    return function
