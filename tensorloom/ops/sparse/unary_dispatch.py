"""Unary functions of sparse tensors: the function of their values, at their indices.

These nine have it in TensorFlow; all of them but the Bessel functions are 0 at 0. A
function is called as it is first, so that names of nodes are used up as there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from tensorloom.framework import export
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.ops.math import elementwise, math_ops

_NAMES: Final = (
    "abs",
    "negative",
    "sign",
    "square",
    "sqrt",
    "math.erf",
    "tanh",
    "math.bessel_i0e",
    "math.bessel_i1e",
)
_ = elementwise, math_ops  # importing these declares the names


def _of_values(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    x = args[0] if args else kwargs.get("x")
    if not isinstance(x, SparseTensor):
        return export.NOT_HANDLED
    if args:
        values = function(x.values, *args[1:], **kwargs)
    else:
        values = function(**{**kwargs, "x": x.values})
    return SparseTensor(x.indices, values, x.dense_shape)


for _name in _NAMES:
    export.dispatch(_name, _of_values)
