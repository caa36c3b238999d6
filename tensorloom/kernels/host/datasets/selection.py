"""Which elements, and how often: take, skip, repeat, shard, concatenate, zip."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.kernels.host.datasets.dataset import (
    INFINITE,
    UNKNOWN,
    Dataset,
    DatasetIterator,
    Element,
    RowDataset,
    RowIterator,
    as_dataset,
    dataset_kernel,
    invalid,
    join_columns,
    numpy_type,
    signature,
)

if TYPE_CHECKING:
    from tensorloom.framework.op_kernel import Compute, OpKernelConstruction
    from tensorloom.kernels.host.datasets.environment import Environment


def like(source: Dataset) -> tuple[Any, Any, Dataset]:
    """The first arguments of a dataset with the elements of another."""
    return source.types, source.shapes, source


# --- take and skip -------------------------------------------------------------


class TakeDataset(Dataset):
    """The first `count` elements; all for a negative count."""

    def __init__(self, source: Dataset, count: int) -> None:
        super().__init__(*like(source))
        self._count = count

    @property
    def cardinality(self) -> int:
        n = self.inputs[0].cardinality
        if self._count < 0:
            return INFINITE  # as TensorFlow 1.15 says
        if n == UNKNOWN:
            return UNKNOWN
        return self._count if n == INFINITE else min(n, self._count)

    def iterate(self, env: Environment) -> DatasetIterator:
        source = self.inputs[0].iterate(env)
        return source if self._count < 0 else _TakeIterator(source, self._count)


class _TakeIterator(DatasetIterator):
    def __init__(self, source: DatasetIterator, count: int) -> None:
        self._source, self._left = source, count

    @property
    def has_columns(self) -> bool:
        return self._source.has_columns

    def __next__(self) -> Element:
        if self._left <= 0:
            raise StopIteration
        # An element that fails is not counted, as in TensorFlow.
        element = next(self._source)
        self._left -= 1
        return element

    def take(self, count: int) -> Sequence[np.ndarray[Any, Any]]:
        columns = self._source.take(min(count, self._left))
        self._left -= len(columns[0])
        return columns


@dataset_kernel("TakeDataset")
def take_dataset(c: OpKernelConstruction) -> Compute:
    """The first elements."""
    return lambda source, count: TakeDataset(as_dataset(source), int(count))


class SkipDataset(Dataset):
    """What comes after `count` elements; nothing for a negative count."""

    def __init__(self, source: Dataset, count: int) -> None:
        super().__init__(*like(source))
        self._count = count

    @property
    def cardinality(self) -> int:
        n = self.inputs[0].cardinality
        if self._count < 0:
            return 0
        return n if n < 0 else max(0, n - self._count)

    def iterate(self, env: Environment) -> DatasetIterator:
        if self._count < 0:
            return DatasetIterator()
        source = self.inputs[0].iterate(env)
        if isinstance(source, RowIterator):
            source.skip(self._count)
            return source
        return _SkipIterator(source, self._count)


class _SkipIterator(DatasetIterator):
    def __init__(self, source: DatasetIterator, count: int) -> None:
        self._source, self._left = source, count

    @property
    def has_columns(self) -> bool:
        if self._left:
            self._skip()
        return self._source.has_columns

    def _skip(self) -> None:
        while self._left:
            self._left -= 1
            for _ in islice(self._source, 1):
                break
            else:
                self._left = 0

    def __next__(self) -> Element:
        if self._left:
            self._skip()
        return next(self._source)

    def take(self, count: int) -> Sequence[np.ndarray[Any, Any]]:
        if self._left:
            self._skip()
        return self._source.take(count)


@dataset_kernel("SkipDataset")
def skip_dataset(c: OpKernelConstruction) -> Compute:
    """All but the first elements."""
    return lambda source, count: SkipDataset(as_dataset(source), int(count))


# --- repeat --------------------------------------------------------------------


class RepeatDataset(Dataset):
    """The elements `count` times; forever for a negative count."""

    def __init__(self, source: Dataset, count: int) -> None:
        super().__init__(*like(source))
        self._count = count

    @property
    def count(self) -> int:
        """How often; negative for ever."""
        return self._count

    @property
    def cardinality(self) -> int:
        n = self.inputs[0].cardinality
        if self._count < 0:
            return 0 if n == 0 else INFINITE
        if self._count == 0:
            return 0
        return n if n < 0 else n * self._count

    def iterate(self, env: Environment) -> DatasetIterator:
        if self._count == 0:
            return DatasetIterator()
        if self._count == 1:
            return self.inputs[0].iterate(env)
        return _RepeatIterator(self.inputs[0], self._count, env)


class _RepeatIterator(DatasetIterator):
    def __init__(self, dataset: Dataset, count: int, env: Environment) -> None:
        self._dataset, self._left, self._env = dataset, count, env
        self._source: DatasetIterator | None = dataset.iterate(env)
        self._gave = False  # something in this round

    @property
    def has_columns(self) -> bool:
        return self._source is not None and self._source.has_columns

    def __next__(self) -> Element:
        while self._source is not None:
            for element in self._source:
                self._gave = True
                return element
            self._next_round()
        raise StopIteration

    def _next_round(self) -> None:
        """Begins again, unless that was the last round or an empty one."""
        self._left -= 1
        if self._left == 0 or (self._left < 0 and not self._gave):
            self._source = None
        else:
            self._gave = False
            self._source = self._dataset.iterate(self._env)

    def take(self, count: int) -> Sequence[np.ndarray[Any, Any]]:
        parts: list[Sequence[np.ndarray[Any, Any]]] = []
        missing = count
        while self._source is not None and missing:
            part = self._source.take(missing)
            got = len(part[0])
            if got or not parts:
                parts.append(part)
            self._gave = self._gave or got > 0
            missing -= got
            if missing:
                self._next_round()
        if not parts:
            return [np.empty((0,), numpy_type(t)) for t in self._dataset.types]
        if len(parts) == 1:
            return parts[0]
        return [join_columns(column) for column in zip(*parts, strict=True)]


@dataset_kernel("RepeatDataset")
def repeat_dataset(c: OpKernelConstruction) -> Compute:
    """The elements several times."""
    return lambda source, count: RepeatDataset(as_dataset(source), int(count))


# --- shard ---------------------------------------------------------------------


class ShardDataset(Dataset):
    """Every `shards`-th element, from number `index` on."""

    def __init__(self, source: Dataset, shards: int, index: int) -> None:
        super().__init__(*like(source))
        self._shards, self._index = shards, index

    @property
    def cardinality(self) -> int:
        n = self.inputs[0].cardinality
        if n < 0:
            return n
        return n // self._shards + (1 if self._index < n % self._shards else 0)

    def iterate(self, env: Environment) -> DatasetIterator:
        return _ShardIterator(self.inputs[0].iterate(env), self._shards, self._index)


class _ShardIterator(DatasetIterator):
    def __init__(self, source: DatasetIterator, shards: int, index: int) -> None:
        self._source, self._shards, self._index = source, shards, index
        self._number = 0

    def __next__(self) -> Element:
        for element in self._source:
            number = self._number
            self._number = number + 1
            if number % self._shards == self._index:
                return element
        raise StopIteration


@dataset_kernel("ShardDataset")
def shard_dataset(c: OpKernelConstruction) -> Compute:
    """One shard of the elements."""

    def compute(source: Any, shards: Any, index: Any) -> Dataset:
        if shards <= 0:
            raise invalid(
                "Number of shards must be greater than zero (currently "
                f"num_shards = {shards})."
            )
        if index < 0 or index >= shards:
            raise invalid(
                f"Index must be between 0 and {shards - 1} (currently index = {index})."
            )
        return ShardDataset(as_dataset(source), int(shards), int(index))

    return compute


# --- several datasets ----------------------------------------------------------


class ConcatenateDataset(Dataset):
    """The elements of one dataset, then those of another."""

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
            raise invalid(
                "input dataset and dataset to concatenate have different output_types "
                f"{types_text(a)} and {types_text(b)}"
            )
        return ConcatenateDataset(types, shapes, a, b)

    return compute


def types_text(dataset: Dataset) -> str:
    """The dtypes as TensorFlow's messages show them."""
    return ", ".join(t.name for t in dataset.types)


class ZipDataset(Dataset):
    """Tuples of the elements of several datasets, as long as all have some."""

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
    """Takes each element from the dataset whose number a selector gives."""

    def __init__(
        self, types: Any, shapes: Any, selector: Dataset, *sources: Dataset
    ) -> None:
        super().__init__(types, shapes, selector, *sources)

    def iterate(self, env: Environment) -> DatasetIterator:
        selector, *sources = (source.iterate(env) for source in self.inputs)
        return _DirectedIterator(selector, sources)


class _DirectedIterator(DatasetIterator):
    def __init__(
        self, selector: DatasetIterator, sources: Sequence[DatasetIterator]
    ) -> None:
        self._selector = selector
        self._sources: list[DatasetIterator | None] = list(sources)
        self._active = len(sources)

    def __next__(self) -> Element:
        while self._active:
            (number,) = next(self._selector)
            if not 0 <= number < len(self._sources):
                raise invalid(
                    f"Selector index out of range: {number} >= {len(self._sources)}"
                )
            source = self._sources[number]
            if source is None:
                continue
            for element in source:
                return element
            self._sources[number] = None
            self._active -= 1
        raise StopIteration


@dataset_kernel("DirectedInterleaveDataset", "ExperimentalDirectedInterleaveDataset")
def directed_interleave_dataset(c: OpKernelConstruction) -> Compute:
    """A choice among datasets, element by element."""
    types, shapes = signature(c)
    return lambda selector, *sources: DirectedInterleaveDataset(
        types, shapes, as_dataset(selector), *map(as_dataset, sources)
    )


# --- elements that are left out ------------------------------------------------


class _UniqueDataset(Dataset):
    """Each element once."""

    def iterate(self, env: Environment) -> DatasetIterator:
        return _UniqueIterator(self.inputs[0].iterate(env))


class _UniqueIterator(DatasetIterator):
    def __init__(self, source: DatasetIterator) -> None:
        self._source = source
        self._seen: set[Any] = set()

    def __next__(self) -> Element:
        for element in self._source:
            value = np.asarray(element[0])
            key = (
                tuple(value.reshape(-1).tolist())
                if value.dtype == object
                else value.tobytes()
            )
            if (value.shape, key) not in self._seen:
                self._seen.add((value.shape, key))
                return element
        raise StopIteration


@dataset_kernel("UniqueDataset", "ExperimentalUniqueDataset")
def unique_dataset(c: OpKernelConstruction) -> Compute:
    """Each element once."""
    if len(c["output_types"]) != 1:
        raise invalid("UniqueDataset only supports inputs with a single component.")
    return lambda source: _UniqueDataset(*like(as_dataset(source)))


class _IgnoreErrorsDataset(Dataset):
    """The elements that do not fail."""

    @property
    def cardinality(self) -> int:
        return UNKNOWN if self.inputs[0].cardinality != INFINITE else INFINITE

    def iterate(self, env: Environment) -> DatasetIterator:
        return _IgnoreErrorsIterator(self.inputs[0].iterate(env), env)


class _IgnoreErrorsIterator(DatasetIterator):
    def __init__(self, source: DatasetIterator, env: Environment) -> None:
        self._source, self._env = source, env

    def __next__(self) -> Element:
        while True:
            try:
                return next(self._source)
            except StopIteration:
                raise
            except Exception:
                # A cancelled step is no bad element: it must end here.
                if self._env.context.cancellation.cancelled:
                    raise


@dataset_kernel("IgnoreErrorsDataset", "ExperimentalIgnoreErrorsDataset")
def ignore_errors_dataset(c: OpKernelConstruction) -> Compute:
    """The elements that do not fail."""
    return lambda source: _IgnoreErrorsDataset(*like(as_dataset(source)))


def rows_of(dataset: Dataset) -> RowDataset | None:
    """The dataset, if its elements can be had in any order."""
    return dataset if isinstance(dataset, RowDataset) and dataset.is_plain else None


class _CountedDataset(Dataset):
    """The elements, whose number must be as promised."""

    def __init__(self, source: Dataset, count: int) -> None:
        super().__init__(*like(source))
        self._count = count

    @property
    def cardinality(self) -> int:
        return self._count

    def iterate(self, env: Environment) -> DatasetIterator:
        return _CountedIterator(self.inputs[0].iterate(env), self._count)


class _CountedIterator(DatasetIterator):
    def __init__(self, source: DatasetIterator, count: int) -> None:
        self._source, self._count = source, count
        self._seen = 0

    def __next__(self) -> Element:
        for element in self._source:
            self._seen += 1
            if 0 <= self._count < self._seen:
                raise self._wrong(f"at least {self._seen}")
            return element
        if self._count == INFINITE or 0 <= self._seen < self._count:
            raise self._wrong(f"only {self._seen}")
        raise StopIteration

    def _wrong(self, found: str) -> errors.FailedPreconditionError:
        wanted = "an infinite number of" if self._count < 0 else str(self._count)
        return errors.FailedPreconditionError(
            None,
            None,
            f"Input dataset was expected to contain {wanted} elements but contained "
            f"{found} elements.",
        )


@dataset_kernel("AssertCardinalityDataset")
def assert_cardinality_dataset(c: OpKernelConstruction) -> Compute:
    """The elements, counted."""
    return lambda source, count: _CountedDataset(as_dataset(source), int(count))
