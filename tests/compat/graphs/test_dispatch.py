"""Functions of a library that other types take over."""

from __future__ import annotations

from typing import Any

import pytest

from tensorloom.compat.graphs import dispatch


class _Scored:
    def __init__(self, value: int) -> None:
        self.value = value


@dispatch.add_dispatch_support
def _add(x: int, y: int = 1) -> Any:
    """The sum."""
    if not isinstance(x, int):
        raise TypeError("no number")
    return x + y


def test_a_type_takes_over_where_the_function_fails() -> None:
    @dispatch.dispatch_for_types(_add, _Scored)
    def _add_scored(x: int, y: int = 1) -> Any:
        scored: Any = x
        first = scored[0] if isinstance(scored, list) else scored
        return _Scored(_add(first.value, y))

    assert (_add(1), _add.__doc__) == (2, "The sum.")
    assert _add(_Scored(3), y=4).value == 7
    assert _add([_Scored(3)]).value == 4
    with pytest.raises(TypeError, match="no number"):
        _add("x")


def test_what_cannot_be_taken_over_is_refused() -> None:
    with pytest.raises(AssertionError, match="must exactly match"):
        dispatch.dispatch_for_types(_add, _Scored)(lambda a, b: None)

    def plain(x: int, y: int = 1) -> int:
        return x

    with pytest.raises(AssertionError, match="Dispatching not enabled for"):
        dispatch.dispatch_for_types(plain, _Scored)(plain)
