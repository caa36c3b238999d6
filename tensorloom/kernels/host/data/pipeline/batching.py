"""Batches: stacked, padded, sparse, windows and their inverse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.kernels.host.data.iterator_resource import check_shapes
from tensorloom.kernels.host.data.pipeline.dataset import (
    Dataset,
    DatasetIterator,
    Element,
    as_dataset,
    check_positive,
    dataset_kernel,
    numpy_type,
    signature,
)

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.kernels.host.data.pipeline.environment import Environment


def text_of(shape: Sequence[int]) -> str:
    """A shape as TensorFlow's messages show it."""
    return f"[{','.join(str(d) for d in shape)}]"


# --- stacking ------------------------------------------------------------------


def _mismatch(index: int, number: int, first: Any, other: Any) -> str:
    return (
        f"Cannot batch tensors with different shapes in component {index}. First "
        f"element had shape {text_of(first)} and element {number} had shape "
        f"{text_of(other)}."
    )


def stack_elements(
    elements: Sequence[Element],
    types: Sequence[DType],
    mismatch: Callable[[int, int, Any, Any], str] = _mismatch,
) -> tuple[np.ndarray[Any, Any], ...]:
    """One array for each component.

    Raises:
      errors.InvalidArgumentError: the shapes of a component differ.
    """
    return tuple(
        [
            stack_values(values, dtype, index, mismatch)
            for index, (values, dtype) in enumerate(
                zip(zip(*elements, strict=True), types, strict=True)
            )
        ]
    )


def stack_values(
    values: Sequence[Any],
    dtype: DType,
    index: int,
    mismatch: Callable[[int, int, Any, Any], str] = _mismatch,
) -> np.ndarray[Any, Any]:
    """The values of one component in an array with one more dimension."""
    if not hasattr(values[0], "shape"):  # variants: datasets, optionals, lists
        stacked = np.empty(len(values), object)
        stacked[:] = values
        return stacked
    shape = values[0].shape
    for number, value in enumerate(values):
        if value.shape != shape:
            raise invalid_argument(mismatch(index, number, shape, value.shape))
    kind = numpy_type(dtype)
    if shape:
        stacked = np.concatenate(values, dtype=kind, casting="unsafe")
        return stacked.reshape(len(values), *shape)
    if kind is object:
        return np.fromiter([value[()] for value in values], object, len(values))
    return np.array(values, kind)


def cardinality_of_batches(n: int, size: int, drop_remainder: bool) -> int:
    """How many batches `n` elements make."""
    if n < 0:
        return n
    return n // size if drop_remainder else -(-n // size)


class BatchDataset(Dataset):
    """Elements stacked along a new dimension 0."""

    def __init__(
        self, types: Any, shapes: Any, source: Dataset, size: int, drop: bool
    ) -> None:
        super().__init__(types, shapes, source)
        self._size, self._drop = size, drop

    @property
    def size(self) -> int:
        """Elements in a batch."""
        return self._size

    @property
    def batch_size(self) -> int:
        return self._size

    @property
    def drops_remainder(self) -> bool:
        """Whether a last, smaller batch is left out."""
        return self._drop

    @property
    def cardinality(self) -> int:
        n = self.inputs[0].cardinality
        return cardinality_of_batches(n, self._size, self._drop)

    def iterate(self, env: Environment) -> DatasetIterator:
        source = self.inputs[0].iterate(env)
        return _BatchIterator(source, self._size, self._drop, self.types)


class _BatchIterator(DatasetIterator):
    def __init__(
        self, source: DatasetIterator, size: int, drop: bool, types: Sequence[DType]
    ) -> None:
        self._source, self._size, self._drop = source, size, drop
        self._types = types

    def __next__(self) -> Element:
        if self._source.has_columns:
            columns = self._source.take(self._size)
            count = len(columns[0])
            if not count or (self._drop and count < self._size):
                raise StopIteration
            return tuple(columns)
        elements = list(islice(self._source, self._size))
        if not elements or (self._drop and len(elements) < self._size):
            raise StopIteration
        return stack_elements(elements, self._types)


@dataset_kernel("BatchDataset", "BatchDatasetV2", "ParallelBatchDataset")
def batch_dataset(c: OpKernelConstruction) -> Compute:
    """Batches of elements of equal shapes."""
    types, shapes = signature(c)
    drop_at = {"BatchDatasetV2": 0, "ParallelBatchDataset": 1}.get(c.op)

    def compute(source: Any, batch_size: Any, *rest: Any) -> Dataset:
        size = check_positive(batch_size, "Batch size must be greater than zero.")
        drop = bool(rest[drop_at]) if drop_at is not None else False
        return BatchDataset(types, shapes, as_dataset(source), size, drop)

    return compute


# --- padding -------------------------------------------------------------------


class PaddedBatchDataset(Dataset):
    """Elements padded to a common shape and stacked."""

    def __init__(
        self,
        types: Any,
        shapes: Any,
        source: Dataset,
        size: int,
        padded: Sequence[tuple[int, ...]],
        values: Sequence[Any],
        drop: bool,
    ) -> None:
        super().__init__(types, shapes, source)
        self._size, self._drop = size, drop
        self._padded, self._values = padded, values

    @property
    def batch_size(self) -> int:
        return self._size

    @property
    def cardinality(self) -> int:
        n = self.inputs[0].cardinality
        return cardinality_of_batches(n, self._size, self._drop)

    def iterate(self, env: Environment) -> DatasetIterator:
        return _PaddedIterator(
            self.inputs[0].iterate(env),
            self._size,
            self._drop,
            self.types,
            self._padded,
            self._values,
        )


class _PaddedIterator(DatasetIterator):
    def __init__(
        self,
        source: DatasetIterator,
        size: int,
        drop: bool,
        types: Sequence[DType],
        padded: Sequence[tuple[int, ...]],
        fills: Sequence[Any],
    ) -> None:
        self._source, self._size, self._drop = source, size, drop
        self._types, self._padded, self._fills = types, padded, fills

    def __next__(self) -> Element:
        elements = list(islice(self._source, self._size))
        if not elements or (self._drop and len(elements) < self._size):
            raise StopIteration
        return tuple(
            pad_and_stack(values, dtype, self._padded[i], self._fills[i], i)
            for i, (values, dtype) in enumerate(
                zip(zip(*elements, strict=True), self._types, strict=True)
            )
        )


def pad_and_stack(
    values: Sequence[Any],
    dtype: DType,
    padded: tuple[int, ...],
    fill: Any,
    index: int,
) -> np.ndarray[Any, Any]:
    """One array with the values, padded with `fill` to `padded` (-1: the longest).

    Raises:
      errors.InvalidArgumentError: a value has another rank.
      errors.DataLossError: a value is larger than its padded shape.
    """
    for value in values:
        if len(value.shape) != len(padded):
            raise invalid_argument(
                "All elements in a batch must have the same rank as the padded shape "
                f"for component{index}: expected rank {len(padded)} but got element "
                f"with rank {len(value.shape)}"
            )
    sizes = list(padded)
    for axis, size in enumerate(padded):
        longest = max(value.shape[axis] for value in values)
        if size == -1:
            sizes[axis] = longest
        elif longest > size:
            raise errors.DataLossError(
                None,
                None,
                "Attempted to pad to a smaller size than the input element.",
            )
    shape = (len(values), *sizes)
    if all(value.shape == tuple(sizes) for value in values):
        stacked = np.empty(shape, numpy_type(dtype))
    else:
        stacked = np.full(shape, fill, numpy_type(dtype))
    for row, value in enumerate(values):
        if value.shape:
            place: Any = (row, *map(slice, value.shape))
            stacked[place] = value
        else:
            stacked[row] = value[()]
    return stacked


@dataset_kernel("PaddedBatchDataset", "PaddedBatchDatasetV2")
def padded_batch_dataset(c: OpKernelConstruction) -> Compute:
    """Batches of padded elements."""
    types, shapes = c["Toutput_types"], c["output_shapes"]
    width = c["N"]

    def compute(source: Any, batch_size: Any, *rest: Any) -> Dataset:
        size = check_positive(batch_size, "Batch size must be greater than zero.")
        if any(vector.ndim != 1 for vector in rest[:width]):
            raise invalid_argument("All padded shapes must be vectors")
        padded = [tuple(int(d) for d in vector) for vector in rest[:width]]
        if any(value.shape for value in rest[width : 2 * width]):
            raise invalid_argument("All padding values must be scalars")
        fills = [value[()] for value in rest[width : 2 * width]]
        drop = bool(rest[2 * width]) if len(rest) > 2 * width else False
        if any(d < -1 for vector in padded for d in vector):
            raise invalid_argument("All padded shape dimensions must be at least -1")
        known = [tuple(None if d == -1 else d for d in vector) for vector in padded]
        check_shapes([TensorShape.of((None, *dims)) for dims in known], shapes)
        return PaddedBatchDataset(
            types, shapes, as_dataset(source), size, padded, fills, drop
        )

    return compute


# --- sparse --------------------------------------------------------------------


class _SparseBatchDataset(Dataset):
    """Elements of rank n side by side in a sparse tensor of rank n + 1."""

    def __init__(
        self, types: Any, shapes: Any, source: Dataset, size: int, row: tuple[int, ...]
    ) -> None:
        super().__init__(types, shapes, source)
        self._size, self._row = size, row

    @property
    def cardinality(self) -> int:
        return cardinality_of_batches(self.inputs[0].cardinality, self._size, False)

    def iterate(self, env: Environment) -> DatasetIterator:
        return _SparseBatches(
            self.inputs[0].iterate(env), self._size, self._row, self.types
        )


class _SparseBatches(DatasetIterator):
    def __init__(
        self,
        source: DatasetIterator,
        size: int,
        row: tuple[int, ...],
        types: Sequence[DType],
    ) -> None:
        self._source, self._size, self._row = source, size, row
        self._dtype = types[0]

    def __next__(self) -> Element:
        arrays = [element[0] for element in islice(self._source, self._size)]
        if not arrays:
            raise StopIteration
        sizes = list(self._row)
        for array in arrays:
            if array.ndim != len(self._row):
                raise invalid_argument(
                    "Input element had shape "
                    f"({text_of(array.shape)}) that is incompatible with the row shape "
                    f"({text_of(self._row)})."
                )
            for axis, limit in enumerate(self._row):
                if limit == -1:
                    sizes[axis] = max(sizes[axis], array.shape[axis])
                elif array.shape[axis] > limit:
                    raise errors.DataLossError(
                        None,
                        None,
                        f"Input element had shape ({text_of(array.shape)}) that is "
                        f"larger than the row shape ({text_of(self._row)}).",
                    )
        return self._sparse(arrays, sizes)

    def _sparse(self, arrays: Sequence[Any], sizes: Sequence[int]) -> Element:
        places = [
            np.concatenate(
                [
                    np.full((array.size, 1), number, np.int64),
                    np.indices(array.shape, np.int64).reshape(array.ndim, -1).T,
                ],
                axis=1,
            )
            for number, array in enumerate(arrays)
        ]
        indices = np.concatenate(places)
        values = np.concatenate([array.reshape(-1) for array in arrays])
        shape = np.array([len(arrays), *(max(s, 0) for s in sizes)], np.int64)
        return indices, values, shape


@dataset_kernel("DenseToSparseBatchDataset", "ExperimentalDenseToSparseBatchDataset")
def dense_to_sparse_batch_dataset(c: OpKernelConstruction) -> Compute:
    """Batches of dense elements as sparse tensors."""
    types, shapes = signature(c)

    def compute(source: Any, batch_size: Any, row_shape: Any) -> Dataset:
        size = check_positive(batch_size, "Batch size must be greater than zero.")
        row = tuple(int(d) for d in row_shape)
        return SparseTriples(
            _SparseBatchDataset(types, shapes, as_dataset(source), size, row)
        )

    return compute


class SparseTriples(Dataset):
    """Elements of three parts as one variant [3], where the node says one component."""

    def __init__(self, source: Dataset) -> None:
        super().__init__(source.types, source.shapes, source)

    @property
    def cardinality(self) -> int:
        return self.inputs[0].cardinality

    def iterate(self, env: Environment) -> DatasetIterator:
        return _Triples(self.inputs[0].iterate(env))


class _Triples(DatasetIterator):
    def __init__(self, source: DatasetIterator) -> None:
        self._source = source

    def __next__(self) -> Element:
        parts = np.empty(3, object)
        parts[:] = next(self._source)
        return (parts,)
