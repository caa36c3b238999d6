"""Specs in the input signatures of functions: of tensors, and of what consists of them.

Specs are told by what they have: the classes are those of `tf.data`, which stands on
this package.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.types import nest
from tensorloom.framework.types.composite_tensor import CompositeTensor
from tensorloom.framework.types.dtypes import DType


def is_tensor_spec(value: Any) -> bool:
    """True for a TensorSpec: what has a shape and dtype, and is no value."""
    return (
        hasattr(value, "shape")
        and isinstance(getattr(value, "dtype", None), DType)
        and not isinstance(value, Tensor | CompositeTensor)
        and not hasattr(value, "assign")
        and not is_composite_spec(value)
    )


def is_composite_spec(value: Any) -> bool:
    """True for the spec of a sparse tensor and others that consist of tensors."""
    # A TensorSpec is its own component.
    return getattr(value, "_component_specs", value) is not value


def is_spec(value: Any) -> bool:
    """True for a spec of either kind."""
    return is_composite_spec(value) or is_tensor_spec(value)


def tensor_specs(spec: Any) -> list[Any]:
    """The specs of the tensors of a value."""
    if not is_composite_spec(spec):
        return [spec]
    parts = nest.flatten(spec._component_specs)
    return [one for part in parts for one in tensor_specs(part)]


def tensors_of(spec: Any, value: Any) -> list[Any]:
    """The tensors of a value; a value that a TensorSpec stands for is one itself."""
    if not is_composite_spec(spec):
        return [value]
    components = spec._to_components(value)
    specs = nest.flatten(spec._component_specs)
    flat = nest.flatten(components)
    return [t for s, v in zip(specs, flat, strict=True) for t in tensors_of(s, v)]


def pack(signature: Any, tensors: Iterator[Any]) -> Any:
    """Values in the structure of a signature, made of their tensors."""
    return nest.map_structure(lambda spec: _value_of(spec, tensors), signature)


def _value_of(spec: Any, tensors: Iterator[Any]) -> Any:
    if not is_composite_spec(spec):
        return next(tensors)
    return spec._from_components(pack(spec._component_specs, tensors))
