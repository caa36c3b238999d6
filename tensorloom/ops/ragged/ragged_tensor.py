"""RaggedTensor: a tensor whose rows may have different lengths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import internal_convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.ragged import segment_ids as segment_ids_module
from tensorloom.ops.ragged.factories import RaggedFactories
from tensorloom.ops.ragged.operators import RaggedOperators
from tensorloom.ops.ragged.ragged_value import RaggedTensorValue
from tensorloom.ops.ragged.segment_ids import (
    INDEX_TYPES,
    positive_axis,
    splits_to_lengths,
)

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Graph, Operation
    from tensorloom.framework.types.dtypes import DType

_PRIVATE = (
    "RaggedTensor constructor is private; please use one of the factory methods "
    "instead (e.g., RaggedTensor.from_row_lengths())"
)
_MISMATCH = (
    "use RaggedTensor.with_row_splits_dtype() to convert them to compatible dtypes."
)


@export("RaggedTensor")
class RaggedTensor(RaggedOperators, RaggedFactories):
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

    # --- parts ---------------------------------------------------------------

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return self._values.dtype

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
        return values

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
        found = {op: None for part in self.composite_parts() for op in part.consumers()}
        return list(found)

    def composite_parts(self) -> tuple[Tensor, ...]:
        """(flat_values, the outermost splits, ..., the innermost splits)."""
        return (self.flat_values, *self.nested_row_splits)

    def with_composite_parts(self, parts: Sequence[Any]) -> RaggedTensor:
        """A RaggedTensor of other parts."""
        result = parts[0]
        for splits in reversed(parts[1:]):
            result = RaggedTensor(result, splits, internal=True)
        return result  # type: ignore[no-any-return]

    @staticmethod
    def session_value(parts: Sequence[Any]) -> RaggedTensorValue:
        """What a session gives, from the values of `composite_parts`."""
        return RaggedTensorValue.of_parts(parts[0], parts[1:])

    @staticmethod
    def feed_parts(value: Any) -> list[Any]:
        """What is fed to `composite_parts` for a RaggedTensorValue."""
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
            return math_ops.cast(self._nrows, kind)  # type: ignore[no-any-return]
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
            sizes = [rows[0] - 1] + [
                math_ops.maximum(math_ops.reduce_max(splits_to_lengths(s)), 0)
                for s in splits
            ]
            outer = array_ops.stack(sizes)
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
        lengths, rowids = (
            None if part is None else math_ops.cast(part, dtype)
            for part in (self._row_lengths, self._value_rowids)
        )
        return RaggedTensor(values, splits, lengths, rowids, self._nrows, internal=True)

    # --- to other kinds ------------------------------------------------------

    def to_tensor(self, default_value: Any = None, name: str | None = None) -> Tensor:
        """A dense tensor, rows padded with a default (zero) to the longest."""
        from tensorloom.ops.ragged import conversion as ragged_conversion

        return ragged_conversion.to_tensor(self, default_value, name)

    def to_sparse(self, name: str | None = None) -> Any:
        """A SparseTensor of the values."""
        from tensorloom.ops.ragged import conversion as ragged_conversion

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
        from tensorloom.ops.ragged import conversion as ragged_conversion

        return ragged_conversion.from_variant(
            cls, variant, dtype, output_ragged_rank, input_ragged_rank, name
        )

    def _to_variant(self, batched_input: bool = False, name: str | None = None) -> Any:
        from tensorloom.ops.ragged import conversion as ragged_conversion

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
        from tensorloom.framework.runtime import default_stack

        parts = default_stack.run_in_session(
            list(self.composite_parts()),
            feed_dict,
            self.graph,
            session,
            "evaluate tensor",
            "eval",
        )
        return self.session_value(parts)

    def _as_graph_element(self) -> Tensor:
        return self.flat_values

    def __repr__(self) -> str:
        return f"tf.RaggedTensor(values={self._values}, row_splits={self._row_splits})"

    def __bool__(self) -> bool:
        raise TypeError("RaggedTensor may not be used as a boolean.")


RaggedFactories._of = RaggedTensor


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
                value.flat_values,
                wanted,
                "flat_values",
                preferred_dtype=preferred_dtype,
            )
            return RaggedTensor.from_nested_row_splits(
                flat, value.nested_row_splits, validate=False
            )
    return internal_convert_to_tensor(
        value, wanted, name, preferred_dtype=preferred_dtype
    )
