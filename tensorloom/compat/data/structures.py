"""Structures of specs: what their values are as tensors, and whether two fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.data import nest, specs

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.framework.types.tensor_shape import TensorShape


def are_compatible(spec1: Any, spec2: Any) -> bool:
    """Whether two structures of specs nest alike, and each spec fits the other's."""
    try:
        nest.assert_same_structure(spec1, spec2)
    except (TypeError, ValueError):
        return False
    pairs = zip(nest.flatten(spec1), nest.flatten(spec2), strict=True)
    return all(a.is_compatible_with(b) and b.is_compatible_with(a) for a, b in pairs)


def type_spec_from_value(element: Any, use_fallback: bool = True) -> Any:
    """The specs of a value's components.

    Args:
      use_fallback: whether what is no tensor yet counts as the tensor that it becomes.

    Raises:
      TypeError: a component has no spec.
    """
    if not use_fallback and not nest.is_nested(element) and not _has_spec(element):
        raise TypeError(
            f"Could not build a TypeSpec for {element!r} with type "
            f"{type(element).__name__}"
        )
    return specs.structure_of_value(element)


def _has_spec(value: Any) -> bool:
    return hasattr(value, "_type_spec") or specs.is_registered(value)


def convert_legacy_structure(
    output_types: Any, output_shapes: Any, output_classes: Any
) -> Any:
    """The specs of what `output_types` and its like say of a dataset."""
    return specs.legacy_structure(output_types, output_shapes, output_classes)


def get_flat_tensor_specs(element_spec: Any) -> list[Any]:
    """The specs of all tensors of an element."""
    flat = nest.flatten(element_spec)
    return [found for spec in flat for found in spec._flat_tensor_specs]


def get_flat_tensor_shapes(element_spec: Any) -> list[TensorShape]:
    """The shapes of all tensors of an element."""
    return specs.flat_shapes(element_spec)


def get_flat_tensor_types(element_spec: Any) -> list[DType]:
    """The dtypes of all tensors of an element."""
    return specs.flat_types(element_spec)


def to_tensor_list(element_spec: Any, element: Any) -> list[Any]:
    """All tensors of an element.

    Raises:
      ValueError or TypeError: it nests otherwise than its specs.
    """
    return _tensors(element_spec, element, "_to_tensor_list")


def to_batched_tensor_list(element_spec: Any, element: Any) -> list[Any]:
    """The tensors whose slices along dimension 0 are elements.

    Raises:
      ValueError or TypeError: it nests otherwise than its specs, or one is a scalar.
    """
    return _tensors(element_spec, element, "_to_batched_tensor_list")


def _tensors(element_spec: Any, element: Any, method: str) -> list[Any]:
    nest.assert_same_structure(element_spec, element)
    pairs = zip(nest.flatten(element_spec), nest.flatten(element), strict=True)
    return [found for spec, part in pairs for found in getattr(spec, method)(part)]


def from_tensor_list(element_spec: Any, tensor_list: Sequence[Any]) -> Any:
    """The element of its tensors, whose shapes and dtypes are checked.

    Raises:
      ValueError: there are more or fewer, or one does not fit.
    """
    return _element(element_spec, tensor_list, "_from_tensor_list")


def from_compatible_tensor_list(element_spec: Any, tensor_list: Sequence[Any]) -> Any:
    """The element of its tensors. Raises ValueError if there are more or fewer."""
    return _element(element_spec, tensor_list, "_from_compatible_tensor_list")


def _element(element_spec: Any, tensors: Sequence[Any], method: str) -> Any:
    flat = nest.flatten(element_spec)
    counts = [len(spec._flat_tensor_specs) for spec in flat]
    if sum(counts) != len(tensors):
        raise ValueError(f"Expected {sum(counts)} tensors but got {len(tensors)}.")
    parts, begin = [], 0
    for spec, count in zip(flat, counts, strict=True):
        parts.append(getattr(spec, method)(tensors[begin : begin + count]))
        begin += count
    return nest.pack_sequence_as(element_spec, parts)
