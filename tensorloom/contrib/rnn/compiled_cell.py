"""A cell whose operations ask for compilation."""

from __future__ import annotations

from typing import Any

from tensorloom.client.compilation.jit_scope import jit_scope
from tensorloom.contrib.rnn.around_cells import AroundCell
from tensorloom.framework.export import export
from tensorloom.framework.registry.op_registry import find


def _has_no_state(node_def: Any) -> bool:
    op_def = find(node_def.op)
    return op_def is not None and not op_def.is_stateful


@export("contrib.rnn.CompiledWrapper")
class CompiledWrapper(AroundCell):
    """A cell whose operations carry the attrs that ask for compilation.

    Args:
      cell: an RNNCell.
      compile_stateful: whether operations with state are marked too.
    """

    def __init__(self, cell: Any, compile_stateful: bool = False) -> None:
        super().__init__(cell)
        self._compile_stateful = compile_stateful

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """One step: what the wrapped cell gives."""
        with jit_scope(True if self._compile_stateful else _has_no_state):
            return self._cell(inputs, state, scope=scope)
