"""Cuts variables into partitions, and tells initializers which one they fill."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tensorloom.client.variables.partitioned_variable import PartitionedVariable
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.framework.types.tensor_shape import TensorShape


class PartitionInfo:
    """The place of a slice in the whole variable, for its initializer."""

    def __init__(self, full_shape: Any, var_offset: Any) -> None:
        for what, value in (("full_shape", full_shape), ("var_offset", var_offset)):
            if isinstance(value, str) or not isinstance(value, Sequence):
                raise TypeError(
                    f"`{what}` must be a sequence (like tuple or list) instead of "
                    f"{type(value).__name__}"
                )
        if len(var_offset) != len(full_shape):
            raise ValueError(
                f"Expected equal length, but `var_offset` is of length "
                f"{len(var_offset)} while full_shape is of length {len(full_shape)}."
            )
        for offset, size in zip(var_offset, full_shape, strict=True):
            if offset < 0 or offset >= size:
                raise ValueError(
                    f"Expected 0 <= offset < shape but found offset={offset}, "
                    f"shape={size} for var_offset={var_offset}, full_shape={full_shape}"
                )
        self._full_shape = full_shape
        self._var_offset = var_offset

    @property
    def full_shape(self) -> Any:
        """Shape of the whole variable, a sequence."""
        return self._full_shape

    @property
    def var_offset(self) -> Any:
        """Where the slice begins along each axis."""
        return self._var_offset

    def single_offset(self, shape: Any) -> int:
        """Where the slice begins along the one sliced axis; 0 when none is."""
        axis = self.single_slice_dim(shape)
        return 0 if axis is None else int(self._var_offset[axis])

    def single_slice_dim(self, shape: Any) -> int | None:
        """The one axis along which a slice of this shape is not the whole.

        Raises:
          TypeError: `shape` is not a sequence.
          ValueError: the slice does not fit, or is sliced along several axes.
        """
        if isinstance(shape, str) or not isinstance(shape, Sequence):
            raise TypeError(
                "`shape` must be a sequence (like tuple or list) instead of "
                f"{type(shape).__name__}"
            )
        if len(shape) != len(self._full_shape):
            raise ValueError(
                f"Expected equal length, but received shape={shape} of length "
                f"{len(shape)} while self.full_shape={self._full_shape} is of length "
                f"{len(self._full_shape)}."
            )
        found = None
        for i, (size, full) in enumerate(zip(shape, self._full_shape, strict=True)):
            if self._var_offset[i] + size > full:
                raise ValueError(
                    f"With self.var_offset={self._var_offset}, a partition of "
                    f"shape={shape} would exceed self.full_shape={self._full_shape} in "
                    f"dimension {i}."
                )
            if size == full:
                continue
            if found is not None:
                raise ValueError(
                    f"Cannot use single_slice_dim() with shape={shape} and "
                    f"self.full_shape={self._full_shape} since slice dim could be "
                    f"either dimension {found} or {i}."
                )
            found = i
        return found


def call_partitioner(partitioner: Any, shape: TensorShape, dtype: DType) -> Any:
    """The number of partitions along each axis, as a partitioner says.

    Raises:
      ValueError: the shape is not known or a scalar's, or the partitioner's answer is
        not one positive number for each axis with at most one above 1.
    """
    if not shape.is_fully_defined():
        raise ValueError(
            "Shape of a new partitioned variable must be fully defined, but instead "
            f"was {shape}."
        )
    rank = len(shape)
    if rank < 1:
        raise ValueError(
            f"A partitioned Variable must have rank at least 1, shape: {shape}"
        )
    slicing = partitioner(shape=shape, dtype=dtype)
    if not isinstance(slicing, Sequence):
        raise ValueError(f"Partitioner must return a sequence, but saw: {slicing}")
    if len(slicing) != rank:
        raise ValueError(
            "Partitioner returned a partition list that does not match the Variable's "
            f"rank: {slicing} vs. {shape}"
        )
    if any(p < 1 for p in slicing):
        raise ValueError(
            f"Partitioner returned zero partitions for some axes: {slicing}"
        )
    if sum(p > 1 for p in slicing) > 1:
        raise ValueError(
            f"Can only slice a variable along one dimension: shape: {shape}, "
            f"partitioning: {slicing}"
        )
    return slicing


def check_existing_partitions(
    name: str,
    found: PartitionedVariable,
    shape: TensorShape,
    dtype: DType,
    partitions: Any,
    reuse: Any,
) -> None:
    """Checks that a partitioned variable may be used again as it is asked for.

    Raises:
      ValueError: it may not, or its shape, dtype or partitions are others.
    """
    if reuse is False:
        raise ValueError(
            f"Partitioned variable with name {name} already exists. Did you mean to "
            "set reuse=True or reuse=tf.AUTO_REUSE in VarScope?"
        )
    for what, specified, existing, fits in (
        (
            "shape",
            shape,
            found.get_shape(),
            shape.is_compatible_with(found.get_shape()),
        ),
        ("dtype", dtype.name, found.dtype.name, dtype.is_compatible_with(found.dtype)),
        (
            "partitions",
            partitions,
            found._get_partitions(),
            partitions is None or found._get_partitions() == partitions,
        ),
    ):
        if not fits:
            raise ValueError(
                f"Trying to reuse partitioned variable {name}, but specified {what} "
                f"{specified} and found {what} {existing}."
            )


def partition_slices(
    full_shape: Any, count: int, axis: int
) -> Iterator[tuple[list[int], list[int]]]:
    """(offset, shape) of each slice; the first ones take the excess."""
    least, excess = divmod(full_shape[axis], count)
    offset = [0] * len(full_shape)
    for i in range(count):
        shape = list(full_shape)
        shape[axis] = least + (i < excess)
        yield list(offset), shape
        offset[axis] += shape[axis]
