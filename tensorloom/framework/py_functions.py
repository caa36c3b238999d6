"""The Python functions that ops of this process call, by token."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any

_lock = threading.Lock()
_next_id = 0
# Weak: the graph whose ops call a function holds it.
_functions: weakref.WeakValueDictionary[str, Callable[..., Any]] = (
    weakref.WeakValueDictionary()
)
_kept: dict[str, Callable[..., Any]] = {}


def insert(function: Callable[..., Any]) -> str:
    """Stores a function, as long as somebody holds it, and gives its token."""
    global _next_id
    with _lock:
        token = f"pyfunc_{_next_id}"
        _next_id += 1
    try:
        _functions[token] = function
    except TypeError:  # an object that cannot be referred to weakly is kept
        _kept[token] = function
    return token


def insert_kept(function: Callable[..., Any]) -> str:
    """Stores what nobody else holds (a bound method, say) and gives its token."""
    global _next_id
    with _lock:
        token = f"pyfunc_{_next_id}"
        _next_id += 1
    _kept[token] = function
    return token


def find(token: str) -> Callable[..., Any]:
    """The function of a token.

    Raises:
      ValueError: there is none, or nobody holds it any more.
    """
    function = _functions.get(token) or _kept.get(token)
    if function is None:
        raise ValueError(f"callback {token} is not found")
    return function
