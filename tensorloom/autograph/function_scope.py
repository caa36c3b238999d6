"""`FunctionScope`: what is around the body of a converted function."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorloom.autograph.effects import OrderedEffects
from tensorloom.autograph.options import ConversionOptions, Feature
from tensorloom.framework.graph.tensor import is_tensor
from tensorloom.framework.runtime.conversion_status import ControlStatusCtx, Status
from tensorloom.framework.runtime.scopes import name_scope
from tensorloom.framework.types import nest

if TYPE_CHECKING:
    from types import TracebackType


class FunctionScope:
    """A name scope, the order of effects, and the status of conversion, as asked for.

    Args:
      function_name: of the name scope.
      scope_name: the name of this object in the converted code.
      options: of the conversion.
    """

    def __init__(
        self, function_name: str, scope_name: str, options: ConversionOptions
    ) -> None:
        self.name = scope_name
        self.options = options
        self.callopts = options.call_options()
        self._function_name = function_name
        self._effects: OrderedEffects | None = None
        self._open = contextlib.ExitStack()

    def __enter__(self) -> FunctionScope:
        if self.options.user_requested:
            context = ControlStatusCtx(Status.ENABLED, self.options)
            self._open.enter_context(context)
        if self.options.uses(Feature.NAME_SCOPES):
            # A name scope does not begin with an underscore.
            scope = self._function_name
            scope = f"fn{scope}" if scope.startswith("_") else scope
            self._open.enter_context(name_scope(scope))
        if self.options.uses(Feature.AUTO_CONTROL_DEPS):
            self._effects = self._open.enter_context(OrderedEffects())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.__exit__(kind, error, trace)

    def mark_return_value(self, value: Any) -> Any:
        """What the function returns: after its effects, if they are ordered."""
        effects = self._effects
        if effects is None or value is None:
            return value
        return nest.map_structure(
            lambda leaf: effects.mark_as_return(leaf) if is_tensor(leaf) else leaf,
            value,
        )


def with_function_scope(
    thunk: Callable[[FunctionScope], Any], scope_name: str, options: ConversionOptions
) -> Any:
    """`thunk(scope)` in a scope: what is around the body of a converted lambda."""
    with FunctionScope("lambda_", scope_name, options) as scope:
        return thunk(scope)
