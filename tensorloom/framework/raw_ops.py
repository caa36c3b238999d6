"""`tf.raw_ops`: every registered op as a function of keyword arguments."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from tensorloom.framework import op_def_library, op_registry

# Arguments that TensorFlow's Python calls otherwise than the op's definition does.
_REDUCTIONS = ("All", "Any", "EuclideanNorm", "Max", "Mean", "Min", "Prod", "Sum")
_RENAMED = {
    **{op: {"axis": "reduction_indices"} for op in _REDUCTIONS},
    "ExpandDims": {"axis": "dim"},
    "Select": {"x": "t", "y": "e"},
    "Split": {"axis": "split_dim"},
    "SplitV": {"axis": "split_dim"},
    "Squeeze": {"axis": "squeeze_dims"},
    "Where": {"condition": "input"},
}


class RawOps(ModuleType):
    """A module whose functions are made from the op registry when asked for."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        op_def = op_registry.find(name)
        if op_def is None or name.startswith("_"):
            raise AttributeError(
                f"module 'tensorloom.raw_ops' has no attribute '{name}'"
            )

        renamed = _RENAMED.get(name, {})

        def raw_op(*, name: str | None = None, **arguments: Any) -> Any:
            arguments = {renamed.get(k, k): value for k, value in arguments.items()}
            return op_def_library.apply_op(op_def.name, name, **arguments)

        raw_op.__name__ = raw_op.__qualname__ = name
        raw_op.__doc__ = op_def.doc
        setattr(self, name, raw_op)
        return raw_op

    def __dir__(self) -> list[str]:
        return [n for n in op_registry.registered_ops() if not n.startswith("_")]
