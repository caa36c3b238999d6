"""Shapes of tensors of which some dimensions are ragged, as tensors.

A shape has a size for each dimension: a scalar where all slices are equally long, a
vector with the length of each slice where they are not. Those that a ragged tensor has
row splits for are its partitioned dimensions, the others its inner ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.framework.graph.graph import Tensor, control_dependencies, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.pad import tile
from tensorloom.ops.control_flow import builders as flow
from tensorloom.ops.math import math_ops
from tensorloom.ops.ragged.math import ragged_range
from tensorloom.ops.ragged.ragged_tensor import (
    convert_to_tensor_or_ragged_tensor,
    is_ragged,
)
from tensorloom.ops.ragged.segment_ids import lengths_to_splits, to_int_tensor

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType


class RaggedTensorDynamicShape:
    """The shape of a tensor that may be ragged.

    ```
    [[1, 2, 3], [4, 5, 6]]            inner 2, 3
    [[1, 2], [], [3, 4, 5]]           partitioned 3, (2, 0, 3)
    [[[1, 2], [3, 4]], [[5, 6]]]      partitioned 2, (2, 1); inner 2
    ```
    """

    def __init__(
        self,
        partitioned_dim_sizes: Sequence[Any],
        inner_dim_sizes: Any,
        dim_size_dtype: Any = None,
    ) -> None:
        """Makes a shape.

        Args:
          partitioned_dim_sizes: a list or tuple of integer scalars and vectors; the
            first is a scalar, the last a vector.
          inner_dim_sizes: an integer vector.
          dim_size_dtype: int32 or int64; None: that of the vectors, or int64.

        Raises:
          ValueError: the sizes are of wrong or unknown ranks, or the vectors of
            different dtypes.
        """
        assert isinstance(partitioned_dim_sizes, (list, tuple))
        values = [*partitioned_dim_sizes, inner_dim_sizes]
        with name_scope(None, "RaggedTensorDynamicShape", values):
            partitioned = [
                convert_to_tensor(size, name=f"partitioned_dimension_size_{i}")
                for i, size in enumerate(partitioned_dim_sizes)
            ]
            inner = convert_to_tensor(inner_dim_sizes, name="inner_dim_sizes")
            _check_ranks(partitioned)
            inner.shape.assert_has_rank(1)
            dtype = dim_size_dtype or _common_dtype(partitioned)
            self._partitioned = tuple(math_ops.cast(p, dtype) for p in partitioned)
            self._inner = math_ops.cast(inner, dtype)

    def __repr__(self) -> str:
        return (
            "RaggedTensorDynamicShape"
            f"(partitioned_dim_sizes={self._partitioned!r}, "
            f"inner_dim_sizes={self._inner!r})"
        )

    @staticmethod
    def from_dim_sizes(dim_sizes: Sequence[Any]) -> RaggedTensorDynamicShape:
        """The shape with those sizes; what comes after the last vector is inner.

        Raises:
          ValueError: a size is neither a scalar nor a vector.
        """
        scope = "RaggedTensorDynamicShapeFromDimensionSizes"
        with name_scope(None, scope, list(dim_sizes)):
            sizes = [
                convert_to_tensor(size, preferred_dtype=dtypes.int64, name="dim_sizes")
                for size in dim_sizes
            ]
            ranks = [size.shape.rank for size in sizes]
            if any(rank not in (0, 1) for rank in ranks):
                raise ValueError("Each dim_size must be a scalar or a vector")
            count = max((i + 1 for i, rank in enumerate(ranks) if rank == 1), default=0)
            return RaggedTensorDynamicShape(sizes[:count], sizes[count:])

    @classmethod
    def from_tensor(
        cls, rt_input: Any, dim_size_dtype: Any = None
    ) -> RaggedTensorDynamicShape:
        """The shape of a tensor, ragged or not."""
        with name_scope(None, "RaggedTensorDynamicShapeFromTensor", [rt_input]):
            tensor = convert_to_tensor_or_ragged_tensor(rt_input)
            if not is_ragged(tensor):
                return cls([], array_ops.shape(tensor))
            return cls(
                (tensor.nrows(), *tensor.nested_row_lengths()),
                array_ops.shape(tensor.flat_values)[1:],
                dim_size_dtype,
            )

    # --- what it is ------------------------------------------------------------------

    @property
    def rank(self) -> int | None:
        """How many dimensions there are; None if that is not known."""
        inner = self.num_inner_dimensions
        return None if inner is None else len(self._partitioned) + inner

    @property
    def partitioned_dim_sizes(self) -> tuple[Tensor, ...]:
        """Scalars and vectors."""
        return self._partitioned

    @property
    def inner_dim_sizes(self) -> Tensor:
        """A vector."""
        inner: Tensor = self._inner
        return inner

    @property
    def num_partitioned_dimensions(self) -> int:
        """How many dimensions are partitioned."""
        return len(self._partitioned)

    @property
    def num_inner_dimensions(self) -> int | None:
        """How many dimensions are not; None if that is not known."""
        count: int | None = self._inner.shape.dims_tuple[0]
        return count

    @property
    def dim_size_dtype(self) -> DType:
        """Of all sizes."""
        dtype: DType = self._inner.dtype
        return dtype

    def dimension_size(self, axis: int) -> Tensor:
        """The size of a dimension: a scalar, or a vector where it is ragged.

        Raises:
          TypeError: `axis` is no int.
        """
        if not isinstance(axis, int):
            raise TypeError("axis must be an integer")
        count = len(self._partitioned)
        size: Tensor
        size = self._partitioned[axis] if axis < count else self._inner[axis - count]
        return size

    def is_ragged(self, axis: int) -> bool:
        """Whether the slices of a dimension may have different lengths.

        Raises:
          TypeError: `axis` is no int.
          ValueError: there is no such dimension.
        """
        if not isinstance(axis, int):
            raise TypeError("axis must be an integer")
        if axis < 0:
            raise ValueError("Negative axis values are not supported")
        if self.rank is not None and axis >= self.rank:
            raise ValueError(f"Expected axis={axis} < rank={self.rank}")
        return axis < len(self._partitioned) and self._partitioned[axis].shape.rank == 1

    def num_slices_in_dimension(self, axis: int) -> Tensor:
        """How many slices there are over all of a dimension."""
        if axis < 0:
            return convert_to_tensor(1, dtype=self.dim_size_dtype)
        if self.is_ragged(axis):
            return math_ops.reduce_sum(self._partitioned[axis])
        return self.dimension_size(axis) * self.num_slices_in_dimension(axis - 1)

    # --- other shapes ----------------------------------------------------------------

    def with_dim_size_dtype(self, dtype: Any) -> RaggedTensorDynamicShape:
        """The same sizes in int32 or int64.

        Raises:
          ValueError: the dtype is another.
        """
        if dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError("dtype must be int32 or int64")
        if self.dim_size_dtype == dtype:
            return self
        return RaggedTensorDynamicShape(self._partitioned, self._inner, dtype)

    def broadcast_to_rank(self, rank: int) -> RaggedTensorDynamicShape:
        """The shape with dimensions of size 1 before the others.

        Raises:
          ValueError: its own rank is unknown, or larger.
        """
        if self.rank is None:
            raise ValueError("Unable to broadcast: self.rank is unknown")
        added = rank - self.rank
        if added < 0:
            raise ValueError(
                f"Unable to broadcast: rank={rank} must be greater than "
                f"self.rank={self.rank}."
            )
        if not added:
            return self
        if self._partitioned:
            ones = (1,) * added
            return RaggedTensorDynamicShape((*ones, *self._partitioned), self._inner)
        first = array_ops.ones([added], self.dim_size_dtype)
        return RaggedTensorDynamicShape([], array_ops.concat([first, self._inner], 0))

    def broadcast_dimension(self, axis: int, lengths: Any) -> RaggedTensorDynamicShape:
        """The shape with a dimension of size 1 made as long as another shape's.

        Args:
          axis: of the dimension.
          lengths: its size in the other shape, a scalar or a vector. Sizes that do not
            fit fail when the shape is computed.

        Raises:
          ValueError: `lengths` has another rank, or the outermost dimension would
            become ragged.
        """
        lengths = to_int_tensor(lengths, "lengths", self.dim_size_dtype)
        rank = lengths.shape.rank
        if rank is None:
            raise ValueError("lengths must have a known rank.")
        if rank > 1:
            raise ValueError("lengths must be a scalar or vector")
        size = self.dimension_size(axis)
        check = flow.Assert(
            _fits(size, lengths),
            [
                "Unable to broadcast: dimension size mismatch in dimension",
                axis,
                "lengths=",
                lengths,
                "dim_size=",
                size,
            ],
            summarize=10,
        )
        with control_dependencies([check]):
            return self._broadcast(axis, size, lengths)

    def _broadcast(
        self, axis: int, size: Tensor, lengths: Tensor
    ) -> RaggedTensorDynamicShape:
        count = len(self._partitioned)
        if self.is_ragged(axis):
            inner = array_ops.identity(self._inner)  # after the check
            return RaggedTensorDynamicShape(self._partitioned, inner)
        if axis < count:
            return self._with_repeated_slices(axis, size, lengths)
        place = axis - count
        after = self._inner[place + 1 :]
        if lengths.shape.rank == 0:
            new = array_ops.where(math_ops.equal(size, 1), lengths, size)
            inner = array_ops.concat([self._inner[:place], [new], after], 0)
            return RaggedTensorDynamicShape(self._partitioned, inner)
        if axis == 0:
            raise ValueError(
                "Unable to broadcast: outermost dimension must be uniform."
            )
        before = [self._inner[i] for i in range(place)]
        return RaggedTensorDynamicShape([*self._partitioned, *before, lengths], after)

    def _with_repeated_slices(
        self, axis: int, size: Tensor, lengths: Tensor
    ) -> RaggedTensorDynamicShape:
        """A uniform partitioned dimension, made longer with all that is inside."""
        slices = math_ops.range(self.num_slices_in_dimension(axis))
        if lengths.shape.rank == 0:
            is_repeated = math_ops.equal(size, 1)
            ones = array_ops.ones([], self.dim_size_dtype)
            repeats = array_ops.where(is_repeated, lengths, ones)
            lengths = array_ops.where(is_repeated, lengths, size)
            # As TensorFlow has it: all slices again and again, not each by itself.
            source = tile(slices, array_ops.expand_dims(repeats, 0))
        else:
            source = array_ops.repeat_with_axis(slices, lengths, axis=0)
        sizes = [*self._partitioned[:axis], lengths]
        for inside in self._partitioned[axis + 1 :]:
            if inside.shape.rank == 0:
                each = array_ops.fill(array_ops.shape(source), inside)
            else:
                each = array_ops.gather(inside, source)
            sizes.append(inside if inside.shape.rank == 0 else each)
            source = source_slices(source, inside, each)
        return RaggedTensorDynamicShape(sizes, self._inner)


def source_slices(
    rows: Tensor, sizes: Tensor, lengths: Tensor, is_repeated: Tensor | None = None
) -> Tensor:
    """Where the elements of broadcast rows come from.

    Args:
      rows: for each row of the result the row that it comes from.
      sizes: how long the rows are that they come from: a scalar, or each one's length.
      lengths: how long the rows of the result are.
      is_repeated: for each row of the result whether the only element is repeated;
        None: in none.

    Returns:
      For each element of the result's rows the element that it comes from.
    """
    if sizes.shape.rank == 0:
        starts = rows * sizes
    else:
        starts = array_ops.gather(lengths_to_splits(sizes), rows)
    places = ragged_range(lengths, row_splits_dtype=lengths.dtype).values
    if is_repeated is not None:
        flags = array_ops.repeat_with_axis(is_repeated, lengths, axis=0)
        places = array_ops.where(flags, array_ops.zeros_like(places), places)
    source: Tensor = array_ops.repeat_with_axis(starts, lengths, axis=0) + places
    return source


def _fits(size: Tensor, lengths: Tensor) -> Tensor:
    """Whether a dimension of one size can be broadcast with another's."""
    if size.shape.rank == 1 and lengths.shape.rank == 1:
        return math_ops.reduce_all(math_ops.equal(lengths, size))
    if size.shape.rank == 1:
        return math_ops.equal(lengths, 1)
    if lengths.shape.rank == 1:
        return math_ops.equal(size, 1)
    ones = math_ops.logical_or(math_ops.equal(lengths, 1), math_ops.equal(size, 1))
    return math_ops.logical_or(ones, math_ops.equal(size, lengths))


def _check_ranks(partitioned: Sequence[Tensor]) -> None:
    for axis, size in enumerate(partitioned):
        if size.shape.rank is None:
            raise ValueError(f"rank of partitioned_dim_sizes[{axis}] is unknown")
        size.shape.with_rank_at_most(1)
    if partitioned and partitioned[0].shape.rank == 1:
        raise ValueError("outermost partitioned dimension must be uniform")
    if partitioned and partitioned[-1].shape.rank == 0:
        raise ValueError("innermost partitioned dimension must be ragged")


def _common_dtype(partitioned: Sequence[Tensor]) -> DType:
    found = {size.dtype for size in partitioned if size.shape.rank == 1}
    if len(found) > 1:
        raise ValueError("partitioned_dim_sizes must have matching dtypes")
    return found.pop() if found else dtypes.int64
