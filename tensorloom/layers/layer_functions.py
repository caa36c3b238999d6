"""Layers as functions: `tf.layers.dense(inputs, ...)` is `Dense(...)(inputs)`.

A function has the arguments of its layer, with the inputs before them. The layer's
constructor is the one place where they, and their defaults, are listed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from tensorloom.framework.export import export

_INPUTS = inspect.Parameter("inputs", inspect.Parameter.POSITIONAL_OR_KEYWORD)
_REUSE = inspect.Parameter(
    "reuse", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None
)


def layer_function(
    layer: type[Any], name: str, has_variables: bool = True
) -> Callable[..., Any]:
    """The public function that makes a layer and calls it on inputs.

    Args:
      layer: the class.
      name: of the function, below `tf.layers`.
      has_variables: whether there is something to reuse: then the function has the
        argument `reuse`, and the layer's name is a scope of variables.
    """
    parameters = [
        parameter
        for parameter in inspect.signature(layer).parameters.values()
        if parameter.kind is not parameter.VAR_KEYWORD
    ]
    last = [_REUSE] if has_variables else []
    signature = inspect.Signature([_INPUTS, *parameters, *last])

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            arguments = signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"{name}() {error}") from None
        inputs = arguments.pop("inputs")
        if has_variables:
            arguments["_reuse"] = arguments.pop("reuse", None)
            arguments["_scope"] = arguments.get("name")
        return layer(**arguments)(inputs)

    call.__name__ = call.__qualname__ = name
    call.__module__ = layer.__module__
    call.__doc__ = f"A `{layer.__name__}` layer, called on inputs."
    call.__signature__ = signature  # type: ignore[attr-defined]
    export(f"layers.{name}")(call)
    return call
