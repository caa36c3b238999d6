"""Which elements, by their numbers, and how often: take, skip, repeat, shard."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.runtime.input_service import SHARD_HINT
from tensorloom.kernels.host.data.pipeline.dataset import (
    INFINITE,
    UNKNOWN,
    Dataset,
    DatasetIterator,
    Element,
    RowIterator,
    as_dataset,
    dataset_kernel,
    join_columns,
    like,
    numpy_type,
)

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.kernels.host.data.pipeline.environment import Environment


# --- take and skip -------------------------------------------------------------


class TakeDataset(Dataset):
    """The first `count` elements; all for a negative count."""

    keeps_elements = True

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

    @property
    def has_no_effect(self) -> bool:
        """Whether it gives all elements."""
        return self._count < 0

    @property
    def iterator_name(self) -> str:
        return "FiniteTake" if self._count else ""

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

    keeps_elements = True

    def __init__(self, source: Dataset, count: int) -> None:
        super().__init__(*like(source))
        self._count = count

    @property
    def cardinality(self) -> int:
        n = self.inputs[0].cardinality
        if self._count < 0:
            return 0
        return n if n < 0 else max(0, n - self._count)

    @property
    def has_no_effect(self) -> bool:
        """Whether it gives all elements."""
        return self._count == 0

    @property
    def iterator_name(self) -> str:
        return "FiniteSkip" if self._count >= 0 else ""

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

    keeps_elements = True

    def __init__(self, source: Dataset, count: int) -> None:
        super().__init__(*like(source))
        self._count = count

    @property
    def count(self) -> int:
        """How often; negative for ever."""
        return self._count

    @property
    def has_no_effect(self) -> bool:
        """Whether it gives all elements once."""
        return self._count == 1

    @property
    def iterator_name(self) -> str:
        if not self._count:
            return ""
        return "ForeverRepeat" if self._count < 0 else "FiniteRepeat"

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
            self._env.context.cancellation.check()
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
    """Every `shards`-th element, from number `index` on.

    It fails where it `is_for_all` shards and one of them has no element.
    """

    keeps_elements = True

    def __init__(
        self, source: Dataset, shards: int, index: int, is_for_all: bool = False
    ) -> None:
        super().__init__(*like(source))
        self._shards, self._index = shards, index
        self._is_for_all = is_for_all

    @property
    def cardinality(self) -> int:
        n = self.inputs[0].cardinality
        if n < 0:
            return n
        return n // self._shards + (1 if self._index < n % self._shards else 0)

    def iterate(self, env: Environment) -> DatasetIterator:
        source = self.inputs[0].iterate(env)
        return _ShardIterator(source, self._shards, self._index, self._is_for_all)


class HintedShardDataset(Dataset):
    """A mark where a pipeline is to be sharded, for what knows how many shards."""

    keeps_elements = True

    def __init__(self, source: Dataset) -> None:
        super().__init__(*like(source))

    def iterate(self, env: Environment) -> DatasetIterator:
        raise errors.FailedPreconditionError(
            None,
            None,
            "`tf.data.Dataset.shard(SHARD_HINT, ...)` can only be used in datasets of "
            "`tf.data.experimental.service` with ShardingPolicy.HINT",
        )


class _ShardIterator(DatasetIterator):
    def __init__(
        self, source: DatasetIterator, shards: int, index: int, is_for_all: bool
    ) -> None:
        self._source, self._shards, self._index = source, shards, index
        self._is_for_all = is_for_all
        self._number = 0

    def __next__(self) -> Element:
        for element in self._source:
            number = self._number
            self._number = number + 1
            if number % self._shards == self._index:
                if self._is_for_all and self._number < self._shards:
                    self._look_for_all()
                return element
        raise StopIteration

    def _look_for_all(self) -> None:
        """Passes over the first elements of the shards behind this one."""
        while self._number < self._shards:
            if next(self._source, None) is None:
                raise invalid_argument(
                    "There aren't enough elements in this dataset for each shard to "
                    f"have at least one element (# elems = {self._number}, # shards = "
                    f"{self._shards}). If you are using datasets with distribution "
                    "strategy, consider turning dataset autosharding off with "
                    "`tf.data.Options`."
                )
            self._number += 1


@dataset_kernel("ShardDataset")
def shard_dataset(c: OpKernelConstruction) -> Compute:
    """One shard of the elements."""
    is_for_all = bool(c.get("require_non_empty", False))

    def compute(source: Any, shards: Any, index: Any) -> Dataset:
        if shards == SHARD_HINT:
            return HintedShardDataset(as_dataset(source))
        if shards <= 0:
            raise invalid_argument(
                "Number of shards must be greater than zero (currently "
                f"num_shards = {shards})."
            )
        if index < 0 or index >= shards:
            raise invalid_argument(
                f"Index must be between 0 and {shards - 1} (currently index = {index})."
            )
        return ShardDataset(as_dataset(source), int(shards), int(index), is_for_all)

    return compute


# --- as many as there should be ------------------------------------------------


class _CountedDataset(Dataset):
    """The elements, whose number must be as promised."""

    keeps_elements = True

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
