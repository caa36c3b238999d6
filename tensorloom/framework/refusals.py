"""Names of TensorFlow that are there to say what is not here, and what to use instead.

Programs can import them. Calling one raises a RuntimeError that names it.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from tensorloom.framework.export import export_value


def refuse(name: str, remedy: str) -> NoReturn:
    """Raises RuntimeError: a public name (without `tf.`) is not to be had here."""
    raise RuntimeError(f"tf.{name}: {remedy}")


def signature(parameters: str) -> inspect.Signature:
    """The signature that `"x, y=None, *args"` tells of."""
    if not parameters:
        return inspect.Signature()
    return inspect.Signature([_parameter(one) for one in parameters.split(", ")])


def _parameter(text: str) -> inspect.Parameter:
    if text.startswith("**"):
        return inspect.Parameter(text[2:], inspect.Parameter.VAR_KEYWORD)
    if text.startswith("*"):
        return inspect.Parameter(text[1:], inspect.Parameter.VAR_POSITIONAL)
    name, _, default = text.partition("=")
    value = ast.literal_eval(default) if default else inspect.Parameter.empty
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Parameter(name, kind, default=value)


def refused(name: str, parameters: str, remedy: str) -> Callable[..., Any]:
    """A function that refuses every call whose arguments fit.

    Args:
      name: the public name, without `tf.`.
      parameters: as in a definition: `"x, y=None"`.
      remedy: why it refuses, and what to use instead.
    """
    its_signature = signature(parameters)

    def function(*args: Any, **kwargs: Any) -> NoReturn:
        its_signature.bind(*args, **kwargs)
        refuse(name, remedy)

    function.__name__ = function.__qualname__ = name.rpartition(".")[2]
    function.__doc__ = f"Refused: {remedy}\n\nRaises:\n  RuntimeError: always."
    function.__signature__ = its_signature  # type: ignore[attr-defined]
    return function


def export_refused(namespace: str, functions: Mapping[str, str], remedy: str) -> None:
    """Declares functions that refuse, by their names and parameters."""
    for name, parameters in functions.items():
        full_name = f"{namespace}.{name}"
        export_value(refused(full_name, parameters, remedy), full_name)
