"""Datasets of tensors, slices, ranges and random numbers."""

from __future__ import annotations

import copy
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.runtime import concurrency
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.kernels.host.data.iterator_resource import check_shapes
from tensorloom.kernels.host.data.pipeline.dataset import (
    INFINITE,
    Dataset,
    DatasetIterator,
    Element,
    RowDataset,
    as_dataset,
    dataset_kernel,
    signature,
)
from tensorloom.kernels.host.random.philox import Generator

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.kernels.host.data.pipeline.environment import Environment


class TensorDataset(Dataset):
    """One element."""

    def __init__(self, types: Any, shapes: Any, element: Element) -> None:
        super().__init__(types, shapes)
        self._element = element

    @property
    def cardinality(self) -> int:
        return 1

    def iterate(self, env: Environment) -> DatasetIterator:
        return _Once(self._element)


class _Once(DatasetIterator):
    def __init__(self, element: Element) -> None:
        self._element: Element | None = element

    def __next__(self) -> Element:
        element = self._element
        if element is None:
            raise StopIteration
        self._element = None
        return element


@dataset_kernel("TensorDataset", retains=("components",))
def tensor_dataset(c: OpKernelConstruction) -> Compute:
    """A dataset of one element."""
    types, shapes = c["Toutput_types"], c["output_shapes"]

    def compute(*components: Any) -> TensorDataset:
        # A variant has no shape, and is a scalar.
        found = [tuple(getattr(x, "shape", ())) for x in components]
        check_shapes([TensorShape.of(dims) for dims in found], shapes)
        return TensorDataset(types, shapes, components)

    return compute


def row_of(array: Any, index: int) -> Any:
    """One slice; a string (or variant) scalar stays an array of rank 0."""
    if array.dtype == object and array.ndim == 1:
        return array[index : index + 1].reshape(())
    return array[index]


class TensorSliceDataset(RowDataset):
    """The slices along dimension 0."""

    def __init__(self, types: Any, shapes: Any, components: Element) -> None:
        super().__init__(types, shapes)
        self._components = components
        self._rows = int(components[0].shape[0])
        # Slices of numbers need no look at the dtype in each step.
        self._plain = all(a.dtype != object or a.ndim > 1 for a in components)

    @property
    def rows(self) -> int:
        return self._rows

    def row(self, index: int) -> Element:
        if self._plain:
            return tuple([array[index] for array in self._components])
        return tuple([row_of(array, index) for array in self._components])

    def gather(self, indices: Any) -> Sequence[np.ndarray[Any, Any]]:
        return [array[indices] for array in self._components]


@dataset_kernel("TensorSliceDataset", retains=("components",))
def tensor_slice_dataset(c: OpKernelConstruction) -> Compute:
    """A dataset of the slices of tensors."""
    types, shapes = c["Toutput_types"], c["output_shapes"]

    def compute(*components: Any) -> TensorSliceDataset:
        if any(not x.shape for x in components):
            raise invalid_argument("All components must be at least 1-dimensional")
        sizes = {x.shape[0] for x in components}
        if len(sizes) > 1:
            raise invalid_argument(
                "All components must have the same size in the 0th dimension"
            )
        check_shapes([TensorShape.of(tuple(x.shape[1:])) for x in components], shapes)
        return TensorSliceDataset(types, shapes, components)

    return compute


class RangeDataset(RowDataset):
    """int64 numbers from start to before stop."""

    def __init__(self, types: Any, shapes: Any, numbers: range) -> None:
        super().__init__(types, shapes)
        self._numbers = numbers
        # `len` refuses what is longer, and nobody comes to its end.
        count = -((numbers.start - numbers.stop) // numbers.step)
        self._rows = max(0, min(count, sys.maxsize))
        self._make = types[0].as_numpy_dtype

    @property
    def rows(self) -> int:
        return self._rows

    def row(self, index: int) -> Element:
        return (self._make(self._numbers[index]),)

    def gather(self, indices: Any) -> Sequence[np.ndarray[Any, Any]]:
        numbers = self._numbers
        if isinstance(indices, slice):
            part = numbers[indices]
            return [np.arange(part.start, part.stop, part.step).astype(self._make)]
        return [(numbers.start + indices * numbers.step).astype(self._make)]


@dataset_kernel("RangeDataset")
def range_dataset(c: OpKernelConstruction) -> Compute:
    """A dataset of the numbers of a range."""
    types, shapes = signature(c)

    def compute(start: Any, stop: Any, step: Any) -> RangeDataset:
        if int(step) == 0:
            raise invalid_argument("step must be a non-zero integer.")
        return RangeDataset(types, shapes, range(int(start), int(stop), int(step)))

    return compute


class RandomDataset(Dataset):
    """Endless random int64 numbers below 2^32."""

    seeds: tuple[int, int]

    def __init__(self, types: Any, shapes: Any, seed: int, seed2: int) -> None:
        super().__init__(types, shapes)
        self.seeds = drawn_seeds(seed, seed2)

    @property
    def cardinality(self) -> int:
        return INFINITE

    def iterate(self, env: Environment) -> DatasetIterator:
        return _RandomIterator(RandomWords(*self.seeds))


def drawn_seeds(seed: int, seed2: int) -> tuple[int, int]:
    """The seeds, or random ones in place of (0, 0).

    A dataset draws them once: each of its iterators begins with the same.
    """
    if seed or seed2:
        return seed, seed2
    return concurrency.randbits(63) + 1, concurrency.randbits(63)


class RandomWords:
    """TensorFlow's single samples: the 32-bit words of a Philox stream in order."""

    BLOCK = 1024

    def __init__(self, seed: int, seed2: int) -> None:
        self._generator = Generator(seed, seed2)
        self._words: list[int] = []

    def next(self) -> int:
        """The next word."""
        if not self._words:
            self._draw()
        return self._words.pop()

    def take(self, count: int) -> list[int]:
        """The next `count` words."""
        taken: list[int] = []
        while len(taken) < count:
            if not self._words:
                self._draw()
            some = min(count - len(taken), len(self._words))
            taken += self._words[: -some - 1 : -1]
            del self._words[-some:]
        return taken

    def _draw(self) -> None:
        """Draws a block, kept from its end to its start."""
        block = self._generator.reserve(self.BLOCK // 4).words(self.BLOCK)
        self._words = block[::-1].tolist()


class _RandomIterator(DatasetIterator):
    def __init__(self, words: RandomWords) -> None:
        self._words = words

    def __next__(self) -> Element:
        return (np.int64(self._words.next()),)


@dataset_kernel("RandomDataset", "ExperimentalRandomDataset", "RandomDatasetV2")
def random_dataset(c: OpKernelConstruction) -> Compute:
    """A dataset of random numbers."""
    types, shapes = signature(c)
    return lambda seed, seed2, *_: RandomDataset(types, shapes, int(seed), int(seed2))


class _SliceOfSparse(RowDataset):
    """The rows of a sparse tensor, each as (indices, values, dense_shape)."""

    is_plain = False

    def __init__(self, parts: Element, dtype: Any) -> None:
        shapes = [TensorShape.of((None, None)), TensorShape.of((None,))]
        super().__init__(
            [dtypes.int64, dtype, dtypes.int64], [*shapes, TensorShape.of((None,))]
        )
        self._indices, self._values, self._shape = parts
        self._starts = np.searchsorted(
            self._indices[:, 0], np.arange(int(self._shape[0]) + 1)
        )

    @property
    def rows(self) -> int:
        return int(self._shape[0])

    def row(self, index: int) -> Element:
        begin, end = self._starts[index], self._starts[index + 1]
        return (
            self._indices[begin:end, 1:],
            self._values[begin:end],
            self._shape[1:],
        )

    def iterate(self, env: Environment) -> DatasetIterator:
        return _SparseRows(self)


class _SparseRows(DatasetIterator):
    def __init__(self, dataset: _SliceOfSparse) -> None:
        self._dataset, self._next = dataset, 0

    def __next__(self) -> Element:
        if self._next >= self._dataset.rows:
            raise StopIteration
        self._next += 1
        return self._dataset.row(self._next - 1)


@dataset_kernel(
    "SparseTensorSliceDataset", retains=("indices", "values", "dense_shape")
)
def sparse_tensor_slice_dataset(c: OpKernelConstruction) -> Compute:
    """A dataset of the rows of a sparse tensor."""
    dtype = c["Tvalues"]

    def compute(indices: Any, values: Any, shape: Any) -> Dataset:
        if indices.ndim != 2:
            raise invalid_argument(
                f"Input indices should be a matrix but received shape "
                f"[{','.join(map(str, indices.shape))}]"
            )
        if len(indices) > 1 and (np.diff(indices[:, 0]) < 0).any():
            raise errors.UnimplementedError(
                None,
                None,
                "The SparseTensor must be ordered in the batch dimension; handling "
                "arbitrarily ordered input is not currently supported.",
            )
        return _SliceOfSparse((indices, values, shape), dtype)

    return compute


@dataset_kernel("ListDataset", retains=("tensors",))
def list_dataset(c: OpKernelConstruction) -> Compute:
    """A dataset of elements that are given one after the other."""
    types, shapes = signature(c)
    width = len(types)
    return lambda *values: _ListDataset(
        types,
        shapes,
        # Values that are too few for one more element are left out.
        [values[i : i + width] for i in range(0, len(values) - width + 1, width)],
    )


class _ListDataset(RowDataset):
    is_plain = False

    def __init__(self, types: Any, shapes: Any, elements: list[Element]) -> None:
        super().__init__(types, shapes)
        self._elements = elements

    @property
    def rows(self) -> int:
        return len(self._elements)

    def row(self, index: int) -> Element:
        return self._elements[index]

    def iterate(self, env: Environment) -> DatasetIterator:
        return ElementIterator(self._elements)


class ElementIterator(DatasetIterator):
    """Elements that are at hand."""

    def __init__(self, elements: Sequence[Element]) -> None:
        self._elements, self._next = elements, 0

    def __next__(self) -> Element:
        if self._next >= len(self._elements):
            raise StopIteration
        self._next += 1
        return self._elements[self._next - 1]


class ElementDataset(Dataset):
    """Elements that are at hand: the windows of WindowDataset."""

    def __init__(self, types: Any, shapes: Any, elements: Sequence[Element]) -> None:
        super().__init__(types, shapes)
        self._elements = elements

    @property
    def cardinality(self) -> int:
        return len(self._elements)

    def iterate(self, env: Environment) -> DatasetIterator:
        return ElementIterator(self._elements)


@dataset_kernel(
    "OptimizeDatasetV2",
    "FinalizeDataset",
    "AssertPrevDataset",
    "RewriteDataset",
    "WrapDatasetVariant",
    "UnwrapDatasetVariant",
)
def pass_through(c: OpKernelConstruction) -> Compute:
    """The same dataset: what tunes it alone."""
    return lambda source, *_: as_dataset(source)


@dataset_kernel("OptionsDataset")
def options_dataset(c: OpKernelConstruction) -> Compute:
    """The same dataset; its options are hints, kept for GetOptions alone."""
    options = c["serialized_options"]

    def compute(source: Any) -> Dataset:
        dataset = copy.copy(as_dataset(source))
        dataset.own_options += options
        return dataset

    return compute
