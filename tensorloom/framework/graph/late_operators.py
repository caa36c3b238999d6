"""Python's operators on tensors before the ops behind them are loaded.

The modules that give `x + y` its meaning import a third of all ops. Until somebody
writes it, each operator is a function that loads them and calls what they installed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tensorloom.framework.registry import late_modules


def install(kind: type, operators: Iterable[str]) -> None:
    """Sets operators such as `__add__` that load their meaning when first used."""
    for operator in operators:
        setattr(kind, operator, _late(kind, operator))


def _late(kind: type, operator: str) -> Callable[..., Any]:
    def load_and_call(self: Any, *args: Any) -> Any:
        late_modules.load_kind("operator")
        return getattr(kind, operator)(self, *args)

    load_and_call._is_late = True  # type: ignore[attr-defined]
    return load_and_call


def is_late(function: Any) -> bool:
    """Whether an operator has no meaning of its own yet."""
    return getattr(function, "_is_late", False)
