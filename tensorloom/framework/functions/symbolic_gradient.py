"""Makes the gradient functions that `SymbolicGradient` nodes call.

Gradients are made by the client's reverse walk. The client registers its function here,
so that the worker does not import the client.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tensorloom.framework import errors
from tensorloom.framework.registry import late_modules

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import FunctionIR


@dataclass(frozen=True, slots=True)
class MadeGradient:
    """A gradient function in a library."""

    name: str  # of the gradient function
    functions: Mapping[str, FunctionIR]  # the library, with what the gradient calls


Maker = Callable[[str, Mapping[str, "FunctionIR"]], MadeGradient]
_maker: Maker | None = None


def set_maker(maker: Maker) -> None:
    """Says how gradient functions are made."""
    global _maker
    _maker = maker


def make(name: str, functions: Mapping[str, FunctionIR]) -> MadeGradient:
    """The gradient of the function `name`: (arguments, result gradients) to gradients.

    Raises:
      errors.UnimplementedError: this process has no client to make it.
      errors.NotFoundError: the library has no such function.
      errors.InvalidArgumentError, errors.NotFoundError: the function, or one that it
        calls, cannot be called.
    """
    late_modules.load_kind("symbolic gradient")
    if _maker is None:
        raise errors.UnimplementedError(
            None, None, "SymbolicGradient needs a process that can build graphs"
        )
    if name not in functions:
        raise errors.NotFoundError(
            None, None, f"Function {name} is not defined in the graph's library."
        )
    functions[name].check()
    return _maker(name, functions)
