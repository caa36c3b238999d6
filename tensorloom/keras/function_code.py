"""Functions of the program in configurations of layers: their code, as text.

What is loaded runs: a configuration must come from where the program's code comes from.
"""

from __future__ import annotations

import codecs
import marshal
import sys
import types
import warnings
from typing import Any


def described_function(function: Any) -> tuple[Any, str, str]:
    """(code or name, "lambda" or "function", module) of a function.

    Raises:
      ValueError: it cannot be called.
    """
    if isinstance(function, types.FunctionType):
        return dumped(function), "lambda", function.__module__
    if callable(function):
        return function.__name__, "function", function.__module__
    raise ValueError(f"Unrecognized function type for input: {type(function)}")


def dumped(function: types.FunctionType) -> tuple[Any, ...]:
    """(code in base 64, defaults, values of the closure)."""
    text = codecs.encode(marshal.dumps(function.__code__), "base64").decode("ascii")
    closure = None
    if function.__closure__:
        closure = tuple(cell.cell_contents for cell in function.__closure__)
    return text, function.__defaults__, closure


def loaded(dump: Any, names: dict[str, Any]) -> types.FunctionType:
    """The function of a dump, which sees the names as its globals."""
    text, defaults, closure = dump
    code = marshal.loads(codecs.decode(text.encode("ascii"), "base64"))
    cells = closure and tuple(types.CellType(value) for value in closure)
    return types.FunctionType(
        code, names, code.co_name, defaults and tuple(defaults), cells
    )


def function_of(described: Any, kind: str, module: str | None, custom: Any) -> Any:
    """The reverse of `described_function`.

    Args:
      custom: names of the caller, beside those of the module.

    Raises:
      TypeError: an unknown kind.
      ValueError: a name that nobody knows.
    """
    names: dict[str, Any] = {}
    if module in sys.modules:
        names.update(vars(sys.modules[module]))
    elif module is not None:
        warnings.warn(
            f"{module} is not loaded, but a layer uses it. It may cause errors.",
            UserWarning,
            stacklevel=2,
        )
    names.update(custom or {})
    if kind == "lambda":
        return loaded(described, names)
    if kind != "function":
        raise TypeError("Unknown function type:", kind)
    if described not in names:
        raise ValueError(f"Unknown function in wrapper:{described}")
    return names[described]
