"""Functions with their module's names, in which loops stand for one of their forms."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any


class TwoForms:
    """A function that is there as Python and in machine code."""

    def __init__(
        self, function: Callable[..., Any], nogil: bool, is_served: bool
    ) -> None:
        """`is_served`: whether Python serves until there is machine code."""
        self.__doc__ = function.__doc__
        self.__module__ = function.__module__
        self.function: Any = function
        self.nogil = nogil
        self.is_served = is_served

    def until_compiled(self, arguments: tuple[Any, ...]) -> Callable[..., Any] | None:
        """What serves a call for whose arguments there is no machine code so far."""
        raise NotImplementedError


class Namespaces:
    """Modules' names, once more: each loop stands for one of its forms.

    So that functions see others in their own form.
    """

    def __init__(self, form: Callable[[TwoForms], Any]) -> None:
        self._form = form
        # With the original, whose identity stays its own so.
        self._made: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}

    def moved(self, function: Any) -> FunctionType:
        """A function with the names of its module in this form."""
        names = function.__globals__
        known = self._made.get(id(names))
        if known is None:
            # Known before it is whole: the loops of a module name each other.
            known = self._made[id(names)] = names, dict(names)
            try:
                for name, value in names.items():
                    if isinstance(value, TwoForms):
                        known[1][name] = self._form(value)
            except BaseException:
                del self._made[id(names)]
                raise
        made = FunctionType(
            function.__code__,
            known[1],
            function.__name__,
            function.__defaults__,
            function.__closure__,
        )
        made.__qualname__ = function.__qualname__
        return made
