"""Functions over the values of ragged tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import control_dependencies
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.ragged.ragged_tensor import (
    RaggedTensor,
    convert_to_tensor_or_ragged_tensor,
    is_ragged,
)

_MISMATCH = (
    "Input RaggedTensors have mismatched row_splits dtypes; use "
    "RaggedTensor.with_row_splits_dtype() to convert them to compatible dtypes."
)


@export("ragged.map_flat_values")
def map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What a function makes of the innermost values, in the same rows.

    Ragged arguments, also in lists, tuples and dicts, are replaced by their innermost
    values; all must have the same rows.

    Raises:
      ValueError: they have not.
    """
    found: list[tuple[Any, ...]] = []
    inner_args = _flat(args, found)
    inner_kwargs = _flat(kwargs, found)
    if not found:
        return op(*args, **kwargs)
    if len({splits[0].dtype for splits in found}) > 1:
        raise ValueError(_MISMATCH)
    with control_dependencies(assert_splits_match(found)):
        return RaggedTensor.from_nested_row_splits(
            op(*inner_args, **inner_kwargs), found[0], validate=False
        )


def _flat(value: Any, found: list[tuple[Any, ...]]) -> Any:
    """A structure with the innermost values of ragged tensors in their place."""
    if is_ragged(value):
        value = convert_to_tensor_or_ragged_tensor(value)
        found.append(value.nested_row_splits)
        return value.flat_values
    if isinstance(value, list):
        return [_flat(v, found) for v in value]
    if isinstance(value, tuple):
        return tuple(_flat(v, found) for v in value)
    if isinstance(value, dict):
        return {key: _flat(v, found) for key, v in value.items()}
    return value


def assert_splits_match(nested_splits: Sequence[Sequence[Any]]) -> list[Any]:
    """Checks that several ragged tensors have the same rows.

    Raises:
      ValueError: they have another number of ragged dimensions.
    """
    message = "Inputs must have identical ragged splits"
    first = nested_splits[0]
    if any(len(splits) != len(first) for splits in nested_splits):
        raise ValueError(message)
    return [
        check_ops.assert_equal(a, b, message=message)
        for splits in nested_splits[1:]
        for a, b in zip(first, splits, strict=True)
    ]
