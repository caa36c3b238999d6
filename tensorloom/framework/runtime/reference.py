"""`Reference`: an object that is compared and hashed by its identity."""

from __future__ import annotations

from typing import Any


class Reference:
    """An object as a key: equal to references to the same object alone."""

    __slots__ = ("_value",)

    def __init__(self, wrapped: Any) -> None:
        self._value = wrapped

    @property
    def unwrapped(self) -> Any:
        """The object."""
        return self._value

    def deref(self) -> Any:
        """The object."""
        return self.unwrapped

    def __eq__(self, other: object) -> bool:
        if other is None:
            return False
        if not isinstance(other, Reference):
            raise TypeError("Cannot compare wrapped object with unwrapped object")
        return self.unwrapped is other.unwrapped

    def __hash__(self) -> int:
        return id(self.unwrapped)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self.unwrapped!r}>"
