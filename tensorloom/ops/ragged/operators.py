"""Python's operators on ragged tensors: each calls the public function of its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.framework import export
from tensorloom.framework.registry import late_modules


def _binary(function: str) -> Callable[..., Any]:
    return lambda x, y, name=None: export.find(function)(x, y, name=name)


def _reversed(function: str) -> Callable[..., Any]:
    return lambda y, x, name=None: export.find(function)(x, y, name=name)


def _unary(function: str) -> Callable[..., Any]:
    return lambda x, name=None: export.find(function)(x, name=name)


class RaggedOperators:
    """What `RaggedTensor` inherits its operators from."""

    def __getitem__(self, key: Any) -> Any:
        # Loads `getitem.py`, which puts its own function here.
        late_modules.load_kind("ragged operator")
        return self[key]


for _operator, _function in {
    "add": "add",
    "and": "logical_and",
    "div": "div",
    "floordiv": "floordiv",
    "mod": "floormod",
    "mul": "multiply",
    "or": "logical_or",
    "pow": "pow",
    "sub": "subtract",
    "truediv": "truediv",
    "xor": "math.logical_xor",
}.items():
    setattr(RaggedOperators, f"__{_operator}__", _binary(_function))
    setattr(RaggedOperators, f"__r{_operator}__", _reversed(_function))
for _operator, _function in {
    "ge": "greater_equal",
    "gt": "greater",
    "le": "less_equal",
    "lt": "less",
}.items():
    setattr(RaggedOperators, f"__{_operator}__", _binary(_function))
for _operator, _function in {
    "abs": "abs",
    "invert": "logical_not",
    "neg": "negative",
}.items():
    setattr(RaggedOperators, f"__{_operator}__", _unary(_function))
