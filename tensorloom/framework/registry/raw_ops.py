"""`tf.raw_ops`: every registered op as a function of keyword arguments."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from tensorloom.framework.registry import op_registry

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


# Of each parameter: what the definition calls it, and whether it has to be given.
_Parameters = dict[str, tuple[str, bool]]


def op_parameters(op_def: op_registry.OpDef) -> _Parameters:
    """Of each parameter its name in the definition and whether it has to be given.

    These are the inputs, and the attrs that inputs do not tell."""
    told = {
        attr
        for arg in op_def.inputs
        for attr in (arg.type_attr, arg.number_attr, arg.type_list_attr)
    }
    renamed = {old: new for new, old in _RENAMED.get(op_def.name, {}).items()}
    found = {renamed.get(arg.name, arg.name): (arg.name, True) for arg in op_def.inputs}
    for attr in op_def.attrs.values():
        if attr.name not in told:
            called = renamed.get(attr.name, attr.name)
            found[called] = (attr.name, not attr.has_default)
    return found


def _check_arguments(
    op: str, parameters: _Parameters, required: list[str], given: dict[str, Any]
) -> None:
    """Raises TypeError, as a function with these parameters would.

    `apply_op` would too, but it knows the names of the definition, and it has used up
    a node name by then.
    """
    for name in given:
        if name not in parameters:
            raise TypeError(f"{op}() got an unexpected keyword argument '{name}'")
    missing = [repr(name) for name in required if name not in given]
    if missing:
        raise TypeError(
            f"{op}() is missing {len(missing)} required keyword-only argument"
            f"{'s' if len(missing) > 1 else ''}: {', '.join(missing)}"
        )


class RawOps(ModuleType):
    """A module whose functions are made from the op registry when asked for."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        op_def = op_registry.find(name)
        if op_def is None or name.startswith("_"):
            raise AttributeError(
                f"module 'tensorloom.raw_ops' has no attribute '{name}'"
            )
        # Imported here: `import tensorloom` makes this module, without the graph.
        from tensorloom.framework.registry import op_def_library

        parameters = op_parameters(op_def)
        required = [called for called, (_, needed) in parameters.items() if needed]

        def raw_op(*, name: str | None = None, **arguments: Any) -> Any:
            _check_arguments(op_def.name, parameters, required, arguments)
            arguments = {parameters[k][0]: value for k, value in arguments.items()}
            return op_def_library.apply_op(op_def.name, name, **arguments)

        raw_op.__name__ = raw_op.__qualname__ = name
        raw_op.__doc__ = op_def.doc
        setattr(self, name, raw_op)
        return raw_op

    def __dir__(self) -> list[str]:
        return [n for n in op_registry.registered_ops() if not n.startswith("_")]
