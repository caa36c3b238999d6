"""Values for names that have none yet."""

from __future__ import annotations

from typing import Any


class Undefined:
    """Stands for a name that is assigned on another way through the code.

    Attributes:
      symbol_name: the name.
    """

    def __init__(self, symbol_name: str) -> None:
        self.symbol_name = symbol_name

    def __repr__(self) -> str:
        return f"<undefined {self.symbol_name!r}>"


def is_undefined(value: Any) -> bool:
    """Whether a value stands for a name that is not assigned."""
    return isinstance(value, Undefined)


class UndefinedReturnValue:
    """Stands for what a function returns before it has come to a `return`."""


def retval(value: Any) -> Any:
    """What a function returns: None if it came to no `return`."""
    return None if isinstance(value, UndefinedReturnValue) else value


def is_undefined_return(value: Any) -> bool:
    """Whether a value stands for a missing `return`."""
    return isinstance(value, UndefinedReturnValue)
