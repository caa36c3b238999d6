"""RaggedTensor: a tensor whose rows may have different lengths."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import dtypes
from tensorloom.framework.composite_tensor import CompositeTensor
from tensorloom.framework.constant_value import constant_value
from tensorloom.framework.export import export
from tensorloom.framework.graph import Tensor, name_scope
from tensorloom.framework.tensor_conversion import (
    convert_to_tensor,
    internal_convert_to_tensor,
)
from tensorloom.framework.tensor_shape import TensorShape
from tensorloom.ops import array_ops, check_ops, check_rank_ops, math_ops
from tensorloom.ops import ragged_segment_ids as segment_ids_module
from tensorloom.ops.control_flow_ops import with_dependencies
from tensorloom.ops.ragged_segment_ids import (
    INDEX_TYPES,
    positive_axis,
    splits_to_lengths,
)
from tensorloom.ops.ragged_value import RaggedTensorValue

if TYPE_CHECKING:
    from tensorloom.framework.dtypes import DType
    from tensorloom.framework.graph import Graph, Operation

_PRIVATE = (
    "RaggedTensor constructor is private; please use one of the factory methods "
    "instead (e.g., RaggedTensor.from_row_lengths())"
)
_MISMATCH = (
    "use RaggedTensor.with_row_splits_dtype() to convert them to compatible dtypes."
)


@export("RaggedTensor")
class RaggedTensor(CompositeTensor):
    """Rows `values[row_splits[i]:row_splits[i + 1]]` of different lengths.

    `values` is a Tensor, or the RaggedTensor of the rows' own rows; `row_splits` is
    int32 or int64 [rows + 1]. Made by the `from_...` methods.
    """

    # Before NumPy's own operators: `array + ragged` is ours.
    __array_priority__ = 100

    def __init__(
        self,
        values: Any,
        row_splits: Tensor,
        cached_row_lengths: Tensor | None = None,
        cached_value_rowids: Tensor | None = None,
        cached_nrows: Tensor | None = None,
        internal: bool = False,
    ) -> None:
        if not internal:
            raise ValueError(_PRIVATE)
        if not isinstance(row_splits, Tensor):
            raise TypeError(
                f"Row-partitioning argument must be a Tensor, got {row_splits!r}"
            )
        if not isinstance(values, RaggedTensor | Tensor):
            raise TypeError(f"values must be a Tensor or RaggedTensor, got {values!r}")
        if row_splits.dtype not in INDEX_TYPES:
            raise ValueError("Row-partitioning argument must be int32 or int64")
        row_splits.shape.assert_has_rank(1)
        values.shape.with_rank_at_least(1)
        row_splits.set_shape([None])
        self._values, self._row_splits = values, row_splits
        for known in (cached_row_lengths, cached_value_rowids, cached_nrows):
            if known is None:
                continue
            if not isinstance(known, Tensor):
                raise TypeError("Cached value must be a Tensor or None.")
            if known.dtype not in INDEX_TYPES:
                raise TypeError("Cached value must be int32 or int64.")
        self._row_lengths = cached_row_lengths
        self._value_rowids = cached_value_rowids
        self._nrows = cached_nrows

    # --- factories -----------------------------------------------------------

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
        _check_validate(validate)
        with name_scope(name, "RaggedFromValueRowIds", [values, value_rowids, nrows]):
            values, value_rowids = _convert(values, value_rowids, "value_rowids")
            nrows, static_rows = _count_rows(value_rowids, nrows)
            value_rowids.shape.assert_has_rank(1)
            nrows.shape.assert_has_rank(0)
            values.shape[:1].assert_is_compatible_with(value_rowids.shape)
            if validate:
                value_rowids = _checked(
                    value_rowids,
                    values,
                    "from_value_rowids",
                    lambda what: _rowid_checks(values, value_rowids, nrows, what),
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
            return cls(values, splits, lengths, value_rowids, nrows, internal=True)

    @classmethod
    def from_row_splits(
        cls,
        values: Any,
        row_splits: Any,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Rows from where they end, after a first 0."""
        _check_validate(validate)
        if isinstance(row_splits, list | tuple) and not row_splits:
            raise ValueError("row_splits tensor may not be empty.")
        with name_scope(name, "RaggedFromRowSplits", [values, row_splits]):
            values, row_splits = _convert(values, row_splits, "row_splits")
            row_splits.shape.assert_has_rank(1)
            if validate:
                row_splits = _checked(
                    row_splits,
                    values,
                    "from_row_splits",
                    lambda what: _split_checks(values, row_splits, what),
                )
            return cls(values, row_splits, internal=True)

    @classmethod
    def from_row_lengths(
        cls,
        values: Any,
        row_lengths: Any,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Rows from their lengths."""
        _check_validate(validate)
        with name_scope(name, "RaggedFromRowLengths", [values, row_lengths]):
            values, row_lengths = _convert(values, row_lengths, "row_lengths")
            row_lengths.shape.assert_has_rank(1)
            if validate:
                row_lengths = _checked(
                    row_lengths,
                    values,
                    "from_row_lengths",
                    lambda what: _length_checks(values, row_lengths, what),
                )
            limits = math_ops.cumsum(row_lengths)
            splits = array_ops.concat([[0], limits], axis=0)
            return cls(values, splits, row_lengths, internal=True)

    @classmethod
    def from_row_starts(
        cls,
        values: Any,
        row_starts: Any,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Rows from where they start."""
        _check_validate(validate)
        with name_scope(name, "RaggedFromRowStarts", [values, row_starts]):
            values, row_starts = _convert(values, row_starts, "row_starts")
            row_starts.shape.assert_has_rank(1)
            count = _row_count(values, row_starts.dtype)
            if validate:
                row_starts = _checked(
                    row_starts,
                    values,
                    "from_row_starts",
                    lambda what: [
                        check_rank_ops.assert_rank(row_starts, 1, message=what),
                        _assert_zero(row_starts[:1], what),
                        _assert_ascending(row_starts, what),
                        check_ops.assert_less_equal(
                            row_starts[-1:], count, message=what
                        ),
                    ],
                )
            splits = array_ops.concat([row_starts, [count]], axis=0)
            return cls(values, splits, internal=True)

    @classmethod
    def from_row_limits(
        cls,
        values: Any,
        row_limits: Any,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Rows from where they end."""
        _check_validate(validate)
        with name_scope(name, "RaggedFromRowLimits", [values, row_limits]):
            values, row_limits = _convert(values, row_limits, "row_limits")
            row_limits.shape.assert_has_rank(1)
            if validate:
                row_limits = _checked(
                    row_limits,
                    values,
                    "from_row_limits",
                    lambda what: _limit_checks(values, row_limits, what),
                )
            zero = array_ops.zeros([1], row_limits.dtype)
            splits = array_ops.concat([zero, row_limits], axis=0)
            return cls(values, splits, internal=True)

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
        _check_validate(validate)
        _check_list(nested_value_rowids, "nested_value_rowids")
        if nested_nrows is None:
            nested_nrows = [None] * len(nested_value_rowids)
        else:
            _check_list(nested_nrows, "nested_nrows")
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
        _check_validate(validate)
        _check_list(nested_row_splits, "nested_row_splits")
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
        _check_validate(validate)
        _check_list(nested_row_lengths, "nested_row_lengths")
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
        from tensorloom.ops import ragged_conversion

        return ragged_conversion.from_tensor(
            tensor, lengths, padding, ragged_rank, name, row_splits_dtype
        )

    @classmethod
    def from_sparse(
        cls,
        st_input: Any,
        name: str | None = None,
        row_splits_dtype: Any = dtypes.int64,
    ) -> RaggedTensor:
        """The rows of a sparse matrix whose elements are at their left."""
        from tensorloom.ops import ragged_conversion

        return ragged_conversion.from_sparse(st_input, name, row_splits_dtype)

    # --- parts ---------------------------------------------------------------

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return self._values.dtype  # type: ignore[no-any-return]

    @property
    def shape(self) -> TensorShape:
        """The static shape, None for ragged dimensions."""
        splits = self._row_splits.shape.dims_tuple
        rows = None if not splits or splits[0] is None else splits[0] - 1
        outer = TensorShape.of((rows, None))
        return outer.concatenate(self._values.shape[1:])

    def get_shape(self) -> TensorShape:
        """The static shape."""
        return self.shape

    @property
    def ragged_rank(self) -> int:
        """The number of ragged dimensions."""
        return len(self.nested_row_splits)

    @property
    def values(self) -> Any:
        """All rows one after another."""
        return self._values

    @property
    def row_splits(self) -> Tensor:
        """Where the rows end, after a first 0."""
        return self._row_splits

    @property
    def flat_values(self) -> Tensor:
        """The innermost values, a Tensor."""
        values = self._values
        while isinstance(values, RaggedTensor):
            values = values._values
        return values  # type: ignore[no-any-return]

    @property
    def nested_row_splits(self) -> tuple[Tensor, ...]:
        """The splits of all ragged dimensions, the outermost first."""
        return tuple(level._row_splits for level in self._levels())

    def _levels(self) -> list[RaggedTensor]:
        levels = []
        level: Any = self
        while isinstance(level, RaggedTensor):
            levels.append(level)
            level = level._values
        return levels

    @property
    def op(self) -> Operation:
        """The operation that makes the innermost values."""
        return self.flat_values.op

    @property
    def graph(self) -> Graph:
        """The graph of the parts."""
        return self._row_splits.graph

    def consumers(self) -> list[Operation]:
        """The operations that read one of the parts."""
        found = {op: None for part in self.components() for op in part.consumers()}
        return list(found)

    def components(self) -> tuple[Tensor, ...]:
        """(flat_values, the outermost splits, ..., the innermost splits)."""
        return (self.flat_values, *self.nested_row_splits)

    def with_components(self, parts: Sequence[Any]) -> RaggedTensor:
        """A RaggedTensor of other parts."""
        result = parts[0]
        for splits in reversed(parts[1:]):
            result = RaggedTensor(result, splits, internal=True)
        return result  # type: ignore[no-any-return]

    @staticmethod
    def session_value(parts: Sequence[Any]) -> RaggedTensorValue:
        """What a session gives, from the values of `components`."""
        return RaggedTensorValue.of_parts(parts[0], parts[1:])

    @staticmethod
    def feed_parts(value: Any) -> list[Any]:
        """What is fed to `components` for a RaggedTensorValue."""
        return [value.flat_values, *value.nested_row_splits]

    # --- rows ----------------------------------------------------------------

    def value_rowids(self, name: str | None = None) -> Tensor:
        """The row of each value."""
        if self._value_rowids is not None:
            return self._value_rowids
        with name_scope(name, "RaggedValueRowIds", [self]):
            return segment_ids_module.row_splits_to_segment_ids(self._row_splits)

    def nested_value_rowids(self, name: str | None = None) -> tuple[Tensor, ...]:
        """The rows of the values of all ragged dimensions, the outermost first."""
        with name_scope(name, "RaggedNestedValueRowIds", [self]):
            return tuple(level.value_rowids() for level in self._levels())

    def nrows(self, out_type: Any = None, name: str | None = None) -> Tensor:
        """The number of rows."""
        kind = self._row_splits.dtype if out_type is None else dtypes.as_dtype(out_type)
        if self._nrows is not None:
            return math_ops.cast(self._nrows, kind)
        with name_scope(name, "RaggedNRows", [self]):
            return array_ops.shape(self._row_splits, out_type=kind)[0] - 1

    def row_starts(self, name: str | None = None) -> Tensor:
        """Where each row starts."""
        with name_scope(name, "RaggedRowStarts", [self]):
            return self._row_splits[:-1]

    def row_limits(self, name: str | None = None) -> Tensor:
        """Where each row ends."""
        with name_scope(name, "RaggedRowLimits", [self]):
            return self._row_splits[1:]

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Any:
        """The lengths of the slices along an axis."""
        if self._row_lengths is not None:
            return self._row_lengths
        with name_scope(name, "RaggedRowLengths", [self]):
            axis = positive_axis(axis, self.shape.rank)
            if axis == 0:
                return self.nrows()
            if axis == 1:
                return splits_to_lengths(self._row_splits)
            values, kind = self._values, self._row_splits.dtype
            if isinstance(values, RaggedTensor):
                return self.with_values(values.row_lengths(axis - 1))
            shape = array_ops.shape(values, out_type=kind)
            ones = array_ops.ones(shape[: axis - 1], kind)
            return self.with_values(ones * shape[axis - 1])

    def nested_row_lengths(self, name: str | None = None) -> tuple[Any, ...]:
        """The row lengths of all ragged dimensions, the outermost first."""
        with name_scope(name, "RaggedNestedRowLengths", [self]):
            return tuple(level.row_lengths() for level in self._levels())

    def bounding_shape(
        self, axis: Any = None, name: str | None = None, out_type: Any = None
    ) -> Tensor:
        """The shape of the smallest dense tensor that holds it, or its size on axes."""
        kind = self._row_splits.dtype if out_type is None else dtypes.as_dtype(out_type)
        with name_scope(name, "RaggedBoundingBox", [self, axis]):
            splits = self.nested_row_splits
            if axis == 0 and isinstance(axis, int):
                return array_ops.shape(splits[0], out_type=kind)[0] - 1
            if axis == 1 and isinstance(axis, int):
                return math_ops.maximum(math_ops.reduce_max(self.row_lengths()), 0)
            rows = array_ops.shape(self._row_splits, out_type=kind)
            inner = array_ops.shape(self.flat_values, out_type=kind)
            widths = [
                math_ops.maximum(math_ops.reduce_max(splits_to_lengths(s)), 0)
                for s in splits
            ]
            outer = array_ops.stack([rows[0] - 1, *widths])
            box = array_ops.concat([outer, inner[1:]], axis=0)
            return box if axis is None else array_ops.gather(box, axis)

    # --- changed copies ------------------------------------------------------

    def with_values(self, new_values: Any) -> RaggedTensor:
        """The same rows of other values.

        Raises:
          ValueError: the number of values, or the dtype of their splits, differs.
        """
        new_values.shape.with_rank_at_least(1)
        self._values.shape[:1].assert_is_compatible_with(new_values.shape[:1])
        if (
            isinstance(new_values, RaggedTensor)
            and new_values.row_splits.dtype != self._row_splits.dtype
        ):
            raise ValueError(
                f"self and new_values have mismatched row_splits dtypes; {_MISMATCH}"
            )
        return RaggedTensor(
            new_values,
            self._row_splits,
            self._row_lengths,
            self._value_rowids,
            self._nrows,
            internal=True,
        )

    def with_flat_values(self, new_values: Any) -> RaggedTensor:
        """The same rows of other innermost values."""
        if isinstance(self._values, Tensor):
            return self.with_values(new_values)
        return self.with_values(self._values.with_flat_values(new_values))

    def with_row_splits_dtype(self, dtype: Any) -> RaggedTensor:
        """The same with int32 or int64 splits.

        Raises:
          ValueError: another dtype.
        """
        dtype = dtypes.as_dtype(dtype)
        if dtype not in INDEX_TYPES:
            raise ValueError("dtype must be int32 or int64")
        if self._row_splits.dtype == dtype:
            return self
        splits = math_ops.cast(self._row_splits, dtype)
        values = self._values
        if isinstance(values, RaggedTensor):
            values = values.with_row_splits_dtype(dtype)
        known = [
            None if part is None else math_ops.cast(part, dtype)
            for part in (self._row_lengths, self._value_rowids)
        ]
        return RaggedTensor(values, splits, *known, self._nrows, internal=True)

    # --- to other kinds ------------------------------------------------------

    def to_tensor(self, default_value: Any = None, name: str | None = None) -> Tensor:
        """A dense tensor, rows padded with a default (zero) to the longest."""
        from tensorloom.ops import ragged_conversion

        return ragged_conversion.to_tensor(self, default_value, name)

    def to_sparse(self, name: str | None = None) -> Any:
        """A SparseTensor of the values."""
        from tensorloom.ops import ragged_conversion

        return ragged_conversion.to_sparse(self, name)

    @classmethod
    def _from_variant(
        cls,
        variant: Any,
        dtype: Any,
        output_ragged_rank: int,
        input_ragged_rank: int | None = None,
        name: str | None = None,
    ) -> Any:
        from tensorloom.ops import ragged_conversion

        return ragged_conversion.from_variant(
            variant, dtype, output_ragged_rank, input_ragged_rank, name
        )

    def _to_variant(self, batched_input: bool = False, name: str | None = None) -> Any:
        from tensorloom.ops import ragged_conversion

        return ragged_conversion.to_variant(self, batched_input, name)

    def to_list(self) -> list[Any]:
        """Not for graphs.

        Raises:
          ValueError: always; evaluate it first.
        """
        raise ValueError(
            "RaggedTensor.to_list() is only supported in eager mode; in graph mode, "
            "evaluate the RaggedTensor first and then use RaggedTensorValue.to_list()."
        )

    def eval(
        self, feed_dict: Mapping[Any, Any] | None = None, session: Any = None
    ) -> RaggedTensorValue:
        """Evaluates the parts in `session`, or in the default session."""
        from tensorloom.framework import default_stack

        parts = default_stack.run_in_session(
            list(self.components()),
            feed_dict,
            self.graph,
            session,
            "evaluate tensor",
            "t.eval",
        )
        return self.session_value(parts)

    def _as_graph_element(self) -> Tensor:
        return self.flat_values

    def __repr__(self) -> str:
        return (
            f"tf.RaggedTensor(values={self._values}, row_splits={self._row_splits})"
        )

    def __bool__(self) -> bool:
        raise TypeError("RaggedTensor may not be used as a boolean.")

    def __getitem__(self, key: Any) -> Any:
        from tensorloom.ops import ragged_getitem

        return ragged_getitem.getitem(self, key)


def is_ragged(value: Any) -> bool:
    """True for a RaggedTensor and a RaggedTensorValue."""
    return isinstance(value, RaggedTensor | RaggedTensorValue)


def match_row_splits_dtypes(*tensors: Any) -> tuple[Any, ...]:
    """The tensors, whose splits must be of one dtype.

    Raises:
      ValueError: they are not.
    """
    row_splits_dtype(*tensors)
    return tensors


def row_splits_dtype(*tensors: Any) -> DType:
    """The dtype of the splits of those that are ragged, int64 if none is.

    Raises:
      ValueError: they are of both.
    """
    found = {t.row_splits.dtype for t in tensors if isinstance(t, RaggedTensor)}
    if len(found) > 1:
        raise ValueError(
            f"Input RaggedTensors have mismatched row_splits dtypes; {_MISMATCH}"
        )
    return found.pop() if found else dtypes.int64


def convert_to_tensor_or_ragged_tensor(
    value: Any, dtype: Any = None, preferred_dtype: Any = None, name: str | None = None
) -> Any:
    """A RaggedTensor (also of a RaggedTensorValue), or a Tensor of anything else.

    Raises:
      ValueError: a RaggedTensor is of another dtype.
    """
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    if isinstance(value, RaggedTensor):
        if wanted is not None and not wanted.is_compatible_with(value.dtype):
            raise ValueError(
                f"Tensor conversion requested dtype {wanted.name} for RaggedTensor "
                f"with dtype {value.dtype.name}: {value!r}"
            )
        return value
    if isinstance(value, RaggedTensorValue):
        with name_scope(name, "ConvertToTensorOrRaggedTensor", []):
            flat = internal_convert_to_tensor(
                value.flat_values, wanted, "flat_values", preferred_dtype=preferred_dtype
            )
            return RaggedTensor.from_nested_row_splits(
                flat, value.nested_row_splits, validate=False
            )
    return internal_convert_to_tensor(
        value, wanted, name, preferred_dtype=preferred_dtype
    )


# --- arguments and checks of the factories ------------------------------------


def _check_validate(validate: Any) -> None:
    if not isinstance(validate, bool):
        raise TypeError("validate must have type bool")


def _check_list(value: Any, what: str) -> None:
    if isinstance(value, Tensor):
        raise TypeError(f"{what} must be a list of Tensors")


def _convert(values: Any, partition: Any, name: str) -> tuple[Any, Tensor]:
    """Tensors of the values and of what tells their rows, of fitting dtypes."""
    if isinstance(values, RaggedTensor):
        kind = values.row_splits.dtype
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


def _count_rows(value_rowids: Tensor, nrows: Any) -> tuple[Tensor, int | None]:
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
    count = int(known)
    if count < 0:
        raise ValueError(f"Expected nrows >= 0; got {count}")
    if ids is not None and ids.size and count < ids[-1] + 1:
        raise ValueError(
            f"Expected nrows >= value_rowids[-1] + 1; got nrows={count}, "
            f"value_rowids[-1]={ids[-1]}"
        )
    return nrows, count


def _checked(
    partition: Tensor, values: Any, factory: str, checks: Callable[[str], list[Any]]
) -> Tensor:
    """The partition, after checks at run time."""
    found = checks(f"Arguments to {factory} do not form a valid RaggedTensor")
    if not isinstance(values, RaggedTensor):
        found.append(check_rank_ops.assert_rank_at_least(values, 1))
    return with_dependencies(found, partition)


def _rowid_checks(values: Any, ids: Tensor, nrows: Tensor, what: str) -> list[Any]:
    values_count, ids_count = _row_count(values), _row_count(ids)
    return [
        check_rank_ops.assert_rank(ids, 1, message=what),
        check_rank_ops.assert_rank(nrows, 0, message=what),
        check_ops.assert_equal(values_count, ids_count, message=what),
        check_ops.assert_non_negative(ids[:1], message=what),
        _assert_ascending(ids, what),
        check_ops.assert_less(ids[-1:], nrows, message=what),
    ]


def _split_checks(values: Any, splits: Tensor, what: str) -> list[Any]:
    count = _row_count(values, splits.dtype)
    return [
        check_rank_ops.assert_rank(splits, 1, message=what),
        _assert_zero(splits[0], what),
        _assert_ascending(splits, what),
        check_ops.assert_equal(splits[-1], count, message=what),
    ]


def _length_checks(values: Any, lengths: Tensor, what: str) -> list[Any]:
    total = math_ops.reduce_sum(lengths)
    count = _row_count(values, lengths.dtype)
    return [
        check_rank_ops.assert_rank(lengths, 1, message=what),
        check_ops.assert_non_negative(lengths, message=what),
        check_ops.assert_equal(total, count, message=what),
    ]


def _limit_checks(values: Any, limits: Tensor, what: str) -> list[Any]:
    count = _row_count(values, limits.dtype)
    return [
        check_rank_ops.assert_rank(limits, 1, message=what),
        check_ops.assert_non_negative(limits[:1], message=what),
        _assert_ascending(limits, what),
        check_ops.assert_equal(limits[-1:], count, message=what),
    ]


def _row_count(tensor: Any, out_type: DType = dtypes.int32) -> Tensor:
    if isinstance(tensor, RaggedTensor):
        return tensor.nrows(out_type=out_type)
    return array_ops.shape(tensor, out_type=out_type)[0]


def _assert_zero(tensor: Tensor, message: str) -> Any:
    zero = array_ops.constant(0, dtype=tensor.dtype)
    return check_ops.assert_equal(tensor, zero, message=message)


def _assert_ascending(tensor: Tensor, message: str) -> Any:
    return check_ops.assert_non_negative(tensor[1:] - tensor[:-1], message=message)
