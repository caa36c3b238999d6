"""Arguments of the factories of RaggedTensor: conversions and checks.

Here a value that is ragged is known as a CompositeTensor: the class itself is above.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.graph.graph import Tensor
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.composite_tensor import CompositeTensor
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.control_flow.builders import with_dependencies
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.debugging import check_rank as check_rank_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.ragged.segment_ids import INDEX_TYPES

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType


def check_validate(validate: Any) -> None:
    """Raises TypeError unless the argument is a bool."""
    if not isinstance(validate, bool):
        raise TypeError("validate must have type bool")


def check_list(value: Any, what: str) -> None:
    """Raises TypeError for a tensor where a list is meant."""
    if isinstance(value, Tensor):
        raise TypeError(f"{what} must be a list of Tensors")


def values_and_partition(values: Any, partition: Any, name: str) -> tuple[Any, Tensor]:
    """Tensors of the values and of what tells their rows, of fitting dtypes."""
    if isinstance(values, CompositeTensor):
        kind = values.row_splits.dtype  # type: ignore[attr-defined]
        if not isinstance(partition, Tensor):
            return values, convert_to_tensor(partition, kind, name=name)
        if partition.dtype not in INDEX_TYPES:
            raise ValueError(f"{name} must have dtype int32 or int64")
        if partition.dtype != kind:
            raise ValueError(
                f"dtype mismatch: {name} ({partition.dtype}) vs values.row_splits "
                f"({kind})"
            )
        return values, partition
    values = convert_to_tensor(values, name="values")
    if isinstance(partition, np.ndarray) and partition.dtype == np.int32:
        partition = convert_to_tensor(partition, name=name)
    else:
        partition = convert_to_tensor(
            partition, preferred_dtype=dtypes.int64, name=name
        )
    if partition.dtype not in INDEX_TYPES:
        raise ValueError(f"{name} must have dtype int32 or int64")
    return values, partition


def count_rows(value_rowids: Tensor, nrows: Any) -> tuple[Tensor, int | None]:
    """(the number of rows, the same if it is known)."""
    ids = constant_value(value_rowids)
    if nrows is None:
        if ids is None:
            last = array_ops.concat([value_rowids[-1:], [-1]], axis=0)[0]
            return last + 1, None
        count = int(ids[-1]) + 1 if ids.size else 0
        return convert_to_tensor(count, value_rowids.dtype, name="nrows"), count
    nrows = convert_to_tensor(nrows, value_rowids.dtype, "nrows")
    known = constant_value(nrows)
    if known is None:
        return nrows, None
    nrows.shape.assert_has_rank(0)
    count = int(known)
    if count < 0:
        raise ValueError(f"Expected nrows >= 0; got {count}")
    if ids is not None and ids.size and count < ids[-1] + 1:
        raise ValueError(
            f"Expected nrows >= value_rowids[-1] + 1; got nrows={count}, "
            f"value_rowids[-1]={ids[-1]}"
        )
    return nrows, count


def checked(
    partition: Tensor, values: Any, factory: str, checks: Callable[[str], list[Any]]
) -> Tensor:
    """The partition, after checks at run time."""
    found = checks(f"Arguments to {factory} do not form a valid RaggedTensor")
    if not isinstance(values, CompositeTensor):
        found.append(check_rank_ops.assert_rank_at_least(values, 1))
    return with_dependencies(found, partition)  # type: ignore[no-any-return]


def rowid_checks(values: Any, ids: Tensor, nrows: Tensor, what: str) -> list[Any]:
    """Checks of rows from the row of each value."""
    values_count, ids_count = row_count(values), row_count(ids)
    return [
        check_rank_ops.assert_rank(ids, 1, message=what),
        check_rank_ops.assert_rank(nrows, 0, message=what),
        check_ops.assert_equal(values_count, ids_count, message=what),
        check_ops.assert_non_negative(ids[:1], message=what),
        assert_ascending(ids, what),
        check_ops.assert_less(ids[-1:], nrows, message=what),
    ]


def split_checks(values: Any, splits: Tensor, what: str) -> list[Any]:
    """Checks of rows from splits."""
    count = row_count(values, splits.dtype)
    return [
        check_rank_ops.assert_rank(splits, 1, message=what),
        assert_zero(splits[0], what),
        assert_ascending(splits, what),
        check_ops.assert_equal(splits[-1], count, message=what),
    ]


def length_checks(values: Any, lengths: Tensor, what: str) -> list[Any]:
    """Checks of rows from lengths."""
    total = math_ops.reduce_sum(lengths)
    count = row_count(values, lengths.dtype)
    return [
        check_rank_ops.assert_rank(lengths, 1, message=what),
        check_ops.assert_non_negative(lengths, message=what),
        check_ops.assert_equal(total, count, message=what),
    ]


def limit_checks(values: Any, limits: Tensor, what: str) -> list[Any]:
    """Checks of rows from limits."""
    count = row_count(values, limits.dtype)
    return [
        check_rank_ops.assert_rank(limits, 1, message=what),
        check_ops.assert_non_negative(limits[:1], message=what),
        assert_ascending(limits, what),
        check_ops.assert_equal(limits[-1:], count, message=what),
    ]


def row_count(tensor: Any, out_type: DType = dtypes.int32) -> Tensor:
    """The number of rows."""
    if isinstance(tensor, CompositeTensor):
        return tensor.nrows(out_type=out_type)  # type: ignore[attr-defined, no-any-return]
    return array_ops.shape(tensor, out_type=out_type)[0]


def assert_zero(tensor: Tensor, message: str) -> Any:
    """Checks that a tensor is zero."""
    zero = array_ops.constant(0, dtype=tensor.dtype)
    return check_ops.assert_equal(tensor, zero, message=message)


def assert_ascending(tensor: Tensor, message: str) -> Any:
    """Checks that a vector does not fall."""
    return check_ops.assert_non_negative(tensor[1:] - tensor[:-1], message=message)
