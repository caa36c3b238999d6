"""Functions of ops as TensorFlow's `gen_*_ops` modules have them.

`gen_nn_ops.conv2d(input, filter, strides, padding, ...)`: inputs first, then the attrs
that must be given, then those with defaults, then `name`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from tensorloom.framework.registry import (
    newer_attrs,
    op_def_library,
    op_registry,
    raw_ops,
)


def function_name(op: str) -> str:
    """The name of an op's function: `conv2d_backprop_input` of Conv2DBackpropInput."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<!^)(?=[A-Z][a-z])", "_", op).lower()


@cache
def op_function(op: str) -> Callable[..., Any] | None:
    """The function that adds an op of this type; None if there is no such op.

    It has real parameters, so that wrong calls fail as calls of any function do, and
    tools can show its signature. Attrs that TensorFlow 1.15 did not have yet come after
    `name`, by keyword only.
    """
    op_def = op_registry.find(op)
    if op_def is None:
        return None
    newer = newer_attrs.ADDED.get(op, frozenset())
    required: list[str] = []
    optional: list[str] = []
    last: list[str] = []
    defaults: dict[str, Any] = {}
    given: list[str] = []
    for called, (name, needed) in raw_ops.op_parameters(op_def).items():
        given.append(f"{name}={called}")
        if needed:
            required.append(called)
            continue
        defaults[f"_default_{called}"] = _shown(op_def.attrs[name].default)
        text = f"{called}=_default_{called}"
        (last if name in newer else optional).append(text)
    parameters = [*required, *optional, "name=None"]
    if last:
        parameters += ["*", *last]
    called = ", ".join([repr(op), "name", *given])
    source = f"def made({', '.join(parameters)}):\n    return _apply({called})\n"
    # Like namedtuple: generated source is the way to a function with real parameters.
    namespace = {"_apply": op_def_library.apply_op, **defaults}
    exec(compile(source, f"<op {op}>", "exec"), namespace)
    made: Callable[..., Any] = namespace["made"]
    made.__name__ = made.__qualname__ = function_name(op)
    made.__doc__ = op_def.doc
    made.__module__ = __name__
    return made


def _shown(default: Any) -> Any:
    """The default of an attr as a program writes it."""
    return default.decode() if isinstance(default, bytes) else default
