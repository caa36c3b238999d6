"""The factories of RaggedTensor: rows from splits, lengths, starts, limits or ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.composite_tensor import CompositeTensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.debugging import check_rank as check_rank_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.ragged import partitions

if TYPE_CHECKING:
    from tensorloom.ops.ragged.ragged_tensor import RaggedTensor


class RaggedFactories(CompositeTensor):
    """What makes a RaggedTensor of values and of what tells their rows.

    With `validate` (the default) that is checked when a step runs.
    """

    # The constructor of RaggedTensor.
    _of: ClassVar[type[RaggedTensor]]

    @classmethod
    def from_value_rowids(
        cls,
        values: Any,
        value_rowids: Any,
        nrows: Any = None,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Rows from the row of each value, ids in ascending order.

        Args:
          nrows: the number of rows; one more than the last id by default.

        Raises:
          ValueError: the arguments are known not to fit.
        """
        partitions.check_validate(validate)
        with name_scope(name, "RaggedFromValueRowIds", [values, value_rowids, nrows]):
            values, value_rowids = partitions.values_and_partition(
                values, value_rowids, "value_rowids"
            )
            nrows, static_rows = partitions.count_rows(value_rowids, nrows)
            value_rowids.shape.assert_has_rank(1)
            nrows.shape.assert_has_rank(0)
            values.shape[:1].assert_is_compatible_with(value_rowids.shape)
            if validate:
                value_rowids = partitions.checked(
                    value_rowids,
                    values,
                    "from_value_rowids",
                    lambda what: partitions.rowid_checks(
                        values, value_rowids, nrows, what
                    ),
                )
            ids = math_ops.cast(value_rowids, dtypes.int32)
            count = math_ops.cast(nrows, dtypes.int32)
            lengths = math_ops.bincount(
                ids, minlength=count, maxlength=count, dtype=value_rowids.dtype
            )
            splits = array_ops.concat([[0], math_ops.cumsum(lengths)], axis=0)
            if static_rows is not None:
                lengths.set_shape([static_rows])
                splits.set_shape([static_rows + 1])
            return cls._of(values, splits, lengths, value_rowids, nrows, internal=True)

    @classmethod
    def from_row_splits(
        cls,
        values: Any,
        row_splits: Any,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Rows from where they end, after a first 0."""
        partitions.check_validate(validate)
        if isinstance(row_splits, list | tuple) and not row_splits:
            raise ValueError("row_splits tensor may not be empty.")
        with name_scope(name, "RaggedFromRowSplits", [values, row_splits]):
            values, row_splits = partitions.values_and_partition(
                values, row_splits, "row_splits"
            )
            row_splits.shape.assert_has_rank(1)
            if validate:
                row_splits = partitions.checked(
                    row_splits,
                    values,
                    "from_row_splits",
                    lambda what: partitions.split_checks(values, row_splits, what),
                )
            return cls._of(values, row_splits, internal=True)

    @classmethod
    def from_row_lengths(
        cls,
        values: Any,
        row_lengths: Any,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Rows from their lengths."""
        partitions.check_validate(validate)
        with name_scope(name, "RaggedFromRowLengths", [values, row_lengths]):
            values, row_lengths = partitions.values_and_partition(
                values, row_lengths, "row_lengths"
            )
            row_lengths.shape.assert_has_rank(1)
            if validate:
                row_lengths = partitions.checked(
                    row_lengths,
                    values,
                    "from_row_lengths",
                    lambda what: partitions.length_checks(values, row_lengths, what),
                )
            limits = math_ops.cumsum(row_lengths)
            splits = array_ops.concat([[0], limits], axis=0)
            return cls._of(values, splits, row_lengths, internal=True)

    @classmethod
    def from_row_starts(
        cls,
        values: Any,
        row_starts: Any,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Rows from where they start."""
        partitions.check_validate(validate)
        with name_scope(name, "RaggedFromRowStarts", [values, row_starts]):
            values, row_starts = partitions.values_and_partition(
                values, row_starts, "row_starts"
            )
            row_starts.shape.assert_has_rank(1)
            count = partitions.row_count(values, row_starts.dtype)
            if validate:
                row_starts = partitions.checked(
                    row_starts,
                    values,
                    "from_row_starts",
                    lambda what: [
                        check_rank_ops.assert_rank(row_starts, 1, message=what),
                        partitions.assert_zero(row_starts[:1], what),
                        partitions.assert_ascending(row_starts, what),
                        check_ops.assert_less_equal(
                            row_starts[-1:], count, message=what
                        ),
                    ],
                )
            splits = array_ops.concat([row_starts, [count]], axis=0)
            return cls._of(values, splits, internal=True)

    @classmethod
    def from_row_limits(
        cls,
        values: Any,
        row_limits: Any,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Rows from where they end."""
        partitions.check_validate(validate)
        with name_scope(name, "RaggedFromRowLimits", [values, row_limits]):
            values, row_limits = partitions.values_and_partition(
                values, row_limits, "row_limits"
            )
            row_limits.shape.assert_has_rank(1)
            if validate:
                row_limits = partitions.checked(
                    row_limits,
                    values,
                    "from_row_limits",
                    lambda what: partitions.limit_checks(values, row_limits, what),
                )
            zero = array_ops.zeros([1], row_limits.dtype)
            splits = array_ops.concat([zero, row_limits], axis=0)
            return cls._of(values, splits, internal=True)

    @classmethod
    def from_nested_value_rowids(
        cls,
        flat_values: Any,
        nested_value_rowids: Sequence[Any],
        nested_nrows: Sequence[Any] | None = None,
        name: str | None = None,
        validate: bool = True,
    ) -> Any:
        """Rows of rows, from the row of each value; the outermost ids first."""
        partitions.check_validate(validate)
        partitions.check_list(nested_value_rowids, "nested_value_rowids")
        if nested_nrows is None:
            nested_nrows = [None] * len(nested_value_rowids)
        else:
            partitions.check_list(nested_nrows, "nested_nrows")
            if len(nested_nrows) != len(nested_value_rowids):
                raise ValueError(
                    "nested_nrows must have the same length as nested_value_rowids"
                )
        scope = [flat_values, *nested_value_rowids, *nested_nrows]
        with name_scope(name, "RaggedFromNestedValueRowIds", scope):
            result = flat_values
            pairs = zip(nested_value_rowids, nested_nrows, strict=True)
            for ids, rows in reversed(list(pairs)):
                result = cls.from_value_rowids(result, ids, rows, validate=validate)
            return result

    @classmethod
    def from_nested_row_splits(
        cls,
        flat_values: Any,
        nested_row_splits: Sequence[Any],
        name: str | None = None,
        validate: bool = True,
    ) -> Any:
        """Rows of rows, from all their splits, the outermost first."""
        partitions.check_validate(validate)
        partitions.check_list(nested_row_splits, "nested_row_splits")
        scope = [flat_values, *nested_row_splits]
        with name_scope(name, "RaggedFromNestedRowSplits", scope):
            result = flat_values
            for splits in reversed(nested_row_splits):
                result = cls.from_row_splits(result, splits, validate=validate)
            return result

    @classmethod
    def from_nested_row_lengths(
        cls,
        flat_values: Any,
        nested_row_lengths: Sequence[Any],
        name: str | None = None,
        validate: bool = True,
    ) -> Any:
        """Rows of rows, from all their lengths, the outermost first."""
        partitions.check_validate(validate)
        partitions.check_list(nested_row_lengths, "nested_row_lengths")
        scope = [flat_values, *nested_row_lengths]
        with name_scope(name, "RaggedFromNestedRowlengths", scope):
            result = flat_values
            for lengths in reversed(nested_row_lengths):
                result = cls.from_row_lengths(result, lengths, validate=validate)
            return result

    @classmethod
    def from_tensor(
        cls,
        tensor: Any,
        lengths: Any = None,
        padding: Any = None,
        ragged_rank: int = 1,
        name: str | None = None,
        row_splits_dtype: Any = dtypes.int64,
    ) -> RaggedTensor:
        """The rows of a dense tensor, cut to lengths or where padding starts.

        Raises:
          ValueError: both lengths and padding, or a ragged rank that is not positive.
        """
        from tensorloom.ops.ragged import conversion as ragged_conversion

        return ragged_conversion.from_tensor(
            cls._of, tensor, lengths, padding, ragged_rank, name, row_splits_dtype
        )

    @classmethod
    def from_sparse(
        cls,
        st_input: Any,
        name: str | None = None,
        row_splits_dtype: Any = dtypes.int64,
    ) -> RaggedTensor:
        """The rows of a sparse matrix whose elements are at their left."""
        from tensorloom.ops.ragged import conversion as ragged_conversion

        return ragged_conversion.from_sparse(cls._of, st_input, name, row_splits_dtype)
