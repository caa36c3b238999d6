"""Several datasets as one: concatenate, zip, and take from one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.framework.errors import invalid_argument
from tensorloom.kernels.host.data.pipeline.dataset import (
    INFINITE,
    UNKNOWN,
    Dataset,
    DatasetIterator,
    Element,
    as_dataset,
    dataset_kernel,
    signature,
)

if TYPE_CHECKING:
    import numpy as np

    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.kernels.host.data.pipeline.environment import Environment


class ConcatenateDataset(Dataset):
    """The elements of one dataset, then those of another."""

    keeps_elements = True

    def __init__(self, types: Any, shapes: Any, *sources: Dataset) -> None:
        super().__init__(types, shapes, *sources)

    @property
    def cardinality(self) -> int:
        counts = [source.cardinality for source in self.inputs]
        if INFINITE in counts:
            return INFINITE
        return UNKNOWN if UNKNOWN in counts else sum(counts)

    def iterate(self, env: Environment) -> DatasetIterator:
        return _ConcatenateIterator(self.inputs, env)


class _ConcatenateIterator(DatasetIterator):
    def __init__(self, sources: Sequence[Dataset], env: Environment) -> None:
        self._left, self._env = list(reversed(sources)), env
        self._source: DatasetIterator | None = None

    def __next__(self) -> Element:
        while True:
            if self._source is None:
                if not self._left:
                    raise StopIteration
                self._source = self._left.pop().iterate(self._env)
            for element in self._source:
                return element
            self._source = None


@dataset_kernel("ConcatenateDataset")
def concatenate_dataset(c: OpKernelConstruction) -> Compute:
    """Two datasets one after the other."""
    types, shapes = signature(c)

    def compute(first: Any, second: Any) -> Dataset:
        a, b = as_dataset(first), as_dataset(second)
        if a.types != b.types:
            raise invalid_argument(
                "input dataset and dataset to concatenate have different output_types "
                f"{_types_text(a)} and {_types_text(b)}"
            )
        return ConcatenateDataset(types, shapes, a, b)

    return compute


def _types_text(dataset: Dataset) -> str:
    """The dtypes as TensorFlow's messages show them."""
    return ", ".join(t.name for t in dataset.types)


class ZipDataset(Dataset):
    """Tuples of the elements of several datasets, as long as all have some."""

    keeps_elements = True

    @property
    def cardinality(self) -> int:
        counts = [source.cardinality for source in self.inputs]
        if UNKNOWN in counts:
            return UNKNOWN
        finite = [n for n in counts if n != INFINITE]
        return min(finite) if finite else INFINITE

    def iterate(self, env: Environment) -> DatasetIterator:
        return _ZipIterator([source.iterate(env) for source in self.inputs])


class _ZipIterator(DatasetIterator):
    def __init__(self, sources: Sequence[DatasetIterator]) -> None:
        self._sources = sources
        self._ended = False

    @property
    def has_columns(self) -> bool:
        return all(source.has_columns for source in self._sources)

    def __next__(self) -> Element:
        if self._ended:
            raise StopIteration
        element: list[Any] = []
        try:
            for source in self._sources:
                element += next(source)
        except StopIteration:
            self._ended = True
            raise
        return tuple(element)

    def take(self, count: int) -> Sequence[np.ndarray[Any, Any]]:
        columns: list[np.ndarray[Any, Any]] = []
        for source in self._sources:
            columns += source.take(count if not self._ended else 0)
        shortest = min(len(column) for column in columns)
        if shortest < count:
            self._ended = True
        return [column[:shortest] for column in columns]


@dataset_kernel("ZipDataset")
def zip_dataset(c: OpKernelConstruction) -> Compute:
    """Several datasets side by side."""
    types, shapes = signature(c)
    return lambda *sources: ZipDataset(types, shapes, *map(as_dataset, sources))


class DirectedInterleaveDataset(Dataset):
    """Takes each element from the dataset whose number a selector gives.

    Args:
      stops: whether the first dataset that is chosen and has no more ends it; otherwise
        the selector is asked again.
    """

    def __init__(
        self,
        types: Any,
        shapes: Any,
        stops: bool,
        selector: Dataset,
        *sources: Dataset,
    ) -> None:
        super().__init__(types, shapes, selector, *sources)
        self._stops = stops

    def iterate(self, env: Environment) -> DatasetIterator:
        selector, *sources = (source.iterate(env) for source in self.inputs)
        return _DirectedIterator(selector, sources, self._stops)


class _DirectedIterator(DatasetIterator):
    def __init__(
        self,
        selector: DatasetIterator,
        sources: Sequence[DatasetIterator],
        stops: bool,
    ) -> None:
        self._selector = selector
        self._stops = stops
        self._sources: list[DatasetIterator | None] = list(sources)
        self._active = len(sources)

    def __next__(self) -> Element:
        while self._active:
            (number,) = next(self._selector)
            if not 0 <= number < len(self._sources):
                raise invalid_argument(
                    f"Selector index out of range: {number} >= {len(self._sources)}"
                )
            source = self._sources[number]
            if source is None:
                continue
            for element in source:
                return element
            self._sources[number] = None
            self._active = 0 if self._stops else self._active - 1
        raise StopIteration


@dataset_kernel("DirectedInterleaveDataset", "ExperimentalDirectedInterleaveDataset")
def directed_interleave_dataset(c: OpKernelConstruction) -> Compute:
    """A choice among datasets, element by element."""
    types, shapes = signature(c)
    stops = c["stop_on_empty_dataset"]
    return lambda selector, *sources: DirectedInterleaveDataset(
        types, shapes, stops, as_dataset(selector), *map(as_dataset, sources)
    )
