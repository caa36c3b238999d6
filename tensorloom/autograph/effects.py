"""The order of effects in converted code (`Feature.AUTO_CONTROL_DEPS`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.client.functions.effects import order_effects
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.types.composite_tensor import CompositeTensor
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array.identity import identity

if TYPE_CHECKING:
    from types import TracebackType

    from tensorloom.framework.graph.tensor import Tensor


class OrderedEffects:
    """Operations with effects that are made inside run in that order.

    What `mark_as_return` gives is computed after all of them.
    """

    def __enter__(self) -> OrderedEffects:
        self._graph = get_default_graph()
        self._before = len(self._graph.get_operations())
        self._returned: list[Tensor] = []
        self._outer = self._graph._add_control_dependencies
        self._graph._add_control_dependencies = True
        return self

    def mark_as_return(self, value: Any) -> Any:
        """A copy of a tensor that waits for all effects."""
        if isinstance(value, CompositeTensor):
            return value
        copied = identity(convert_to_tensor(value))
        self._returned.append(copied)
        return copied

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._graph._add_control_dependencies = self._outer
        if kind is not None:
            return
        made = self._graph.get_operations()[self._before :]
        last = order_effects(made)
        for tensor in self._returned:
            if last is not None and tensor.op.graph is self._graph:
                tensor.op._add_control_input(last)
