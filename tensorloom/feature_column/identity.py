"""Integers that are ids themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tensorloom.feature_column import checks
from tensorloom.feature_column.earlier.interfaces import _CategoricalColumn
from tensorloom.feature_column.hashed import KeyedLogic
from tensorloom.feature_column.interfaces import CategoricalColumn
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import control_dependencies
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.indexing.selection import where_v2
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.feature_column.sources import Source


class IdentityFields(NamedTuple):
    """What an identity column is told."""

    key: str
    number_buckets: int
    default_value: int | None


class IdentityLogic(KeyedLogic):
    """What an identity column does."""

    default_value: int | None
    dtype = dtypes.int64
    _select = staticmethod(where_v2)

    def _ids(self, values: SparseTensor, source: Source) -> SparseTensor:
        if not values.dtype.is_integer:
            raise ValueError(
                f"Invalid input, not integer. key: {self.key} dtype: {values.dtype}"
            )
        ids = math_ops.cast(values.values, dtypes.int64, name="values")
        count = math_ops.cast(self.num_buckets, dtypes.int64, name="num_buckets")
        zero = math_ops.cast(0, dtypes.int64, name="zero")
        if self.default_value is None:
            ids = self._checked(ids, count, zero)
        else:
            ids = self._with_default(ids, count, zero)
        return SparseTensor(values.indices, ids, values.dense_shape)

    def _checked(self, ids: Any, count: Any, zero: Any) -> Any:
        below = check_ops.assert_less(
            ids,
            count,
            data=(ids, count),
            message=f'Bucket index for categorical column "{self.name}" exceeds number '
            "of buckets",
            name="assert_less_than_num_buckets",
        )
        not_negative = check_ops.assert_greater_equal(
            ids,
            zero,
            data=(ids,),
            message=f'Negative bucket index for categorical column "{self.name}"',
            name="assert_greater_or_equal_0",
        )
        with control_dependencies([below, not_negative]):
            return array_ops.identity(ids)

    def _with_default(self, ids: Any, count: Any, zero: Any) -> Any:
        is_outside = math_ops.logical_or(ids < zero, ids >= count, name="out_of_range")
        default = array_ops.fill(
            dims=array_ops.shape(ids),
            value=math_ops.cast(self.default_value, dtypes.int64),
            name="default_values",
        )
        return self._select(is_outside, default, ids)


class IdentityCategoricalColumn(
    IdentityLogic, CategoricalColumn, _CategoricalColumn, IdentityFields
):
    """See `categorical_column_with_identity`."""

    @property
    def num_buckets(self) -> int:
        """How many different ids there are."""
        return self.number_buckets


def check_identity_arguments(key: Any, num_buckets: int, default_value: Any) -> None:
    """Raises ValueError: see `categorical_column_with_identity`."""
    if num_buckets < 1:
        raise ValueError(f"num_buckets {num_buckets} < 1, column_name {key}")
    if default_value is not None and not 0 <= default_value < num_buckets:
        raise ValueError(
            f"default_value {default_value} not in range [0, {num_buckets}), "
            f"column_name {key}"
        )
    checks.assert_key_is_string(key)


@export("feature_column.categorical_column_with_identity")
def categorical_column_with_identity(
    key: str, num_buckets: int, default_value: int | None = None
) -> IdentityCategoricalColumn:
    """Integers in [0, num_buckets) as ids. In a dense feature -1 is a missing value.

    Args:
      key: name of the feature, a tensor or SparseTensor of integers.
      num_buckets: the number of ids.
      default_value: the id of values outside; without it they are an error in the step.

    Raises:
      ValueError: no buckets, a default outside of them, or a key that is no string.
    """
    check_identity_arguments(key, num_buckets, default_value)
    return IdentityCategoricalColumn(key, num_buckets, default_value)
