"""A cell whose operations ask for compilation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tensorloom.contrib.rnn.around_cells import AroundCell
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    add_to_collection,
    get_collection,
    get_default_graph,
)
from tensorloom.framework.registry.op_registry import find

_SCOPES = ("__xla_scope",)


@dataclass
class _Scopes:
    """How many scopes of compilation a graph has had, and how many are open."""

    count: int = 0
    depth: int = 0


@contextmanager
def _compiled(compile_stateful: bool) -> Iterator[None]:
    """Marks operations made inside for compilation, all or those without state."""

    def is_compiled(node_def: Any) -> bool:
        op_def = find(node_def.op)
        return op_def is not None and not op_def.is_stateful

    attrs: dict[str, Any] = {
        "_XlaCompile": True if compile_stateful else is_compiled,
        "_XlaSeparateCompiledGradients": False,
    }
    found: Any = get_collection(_SCOPES)
    if found:
        scopes = found[0]
    else:
        scopes = _Scopes()
        add_to_collection(_SCOPES, scopes)
    if scopes.depth == 0:
        attrs["_XlaScope"] = f"jit_scope_{scopes.count}".encode()
        scopes.count += 1
    scopes.depth += 1
    try:
        with get_default_graph()._attr_scope(attrs):
            yield
    finally:
        scopes.depth -= 1


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
        with _compiled(self._compile_stateful):
            return self._cell(inputs, state, scope=scope)
