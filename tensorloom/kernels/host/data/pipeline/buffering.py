"""Prefetching and caching."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.kernels.host.data.pipeline import background
from tensorloom.kernels.host.data.pipeline.dataset import (
    Dataset,
    DatasetIterator,
    Element,
    as_dataset,
    dataset_kernel,
    like,
)
from tensorloom.kernels.host.data.pipeline.sources import ElementIterator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.kernels.host.data.pipeline.environment import Environment
    from tensorloom.kernels.host.data.pipeline.statistics import Statistics

# How far ahead where TensorFlow would tune it.
_AUTOTUNED_BUFFER = 4


class PrefetchDataset(Dataset):
    """The elements, made ahead."""

    keeps_elements = True

    def __init__(self, source: Dataset, buffer_size: int) -> None:
        super().__init__(*like(source))
        self._buffer_size = buffer_size

    @property
    def has_no_effect(self) -> bool:
        """Whether it makes nothing ahead."""
        return self._buffer_size == 0

    @property
    def cardinality(self) -> int:
        return self.inputs[0].cardinality

    def iterate(self, env: Environment) -> DatasetIterator:
        source, size = self.inputs[0], self._buffer_size
        if not size:
            return source.iterate(env)
        if env.statistics is None:
            return background.PrefetchIterator(source.iterate, env, size)
        # What is counted is how full the buffer is, so it needs one.
        ahead = background.PrefetchIterator(source.iterate, env, size, eager=True)
        name = self.statistics_name
        return _CountingPrefetchIterator(ahead, env.statistics, size, name)


class _CountingPrefetchIterator(DatasetIterator):
    """Tells how full the buffer is before each element is taken."""

    def __init__(
        self,
        source: background.PrefetchIterator,
        statistics: Statistics,
        capacity: int,
        name: str,
    ) -> None:
        self._source, self._statistics = source, statistics
        self._capacity, self._name = capacity, name
        self._count = 0

    def __next__(self) -> Element:
        element = next(self._source)
        size = min(self._source.buffered + 1, self._capacity)
        tell, name, step = self._statistics, self._name, self._count
        share = size / self._capacity
        tell.add_to_histogram(f"{name}::buffer_utilization", share, step)
        tell.set_scalar(f"{name}::buffer_capacity", self._capacity, step)
        tell.set_scalar(f"{name}::buffer_size", size, step)
        self._count += 1
        return element


@dataset_kernel("PrefetchDataset")
def prefetch_dataset(c: OpKernelConstruction) -> Compute:
    """The elements, made ahead."""

    def compute(source: Any, buffer_size: Any) -> Dataset:
        size = int(buffer_size)
        if size < -1:
            raise invalid_argument(
                "buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning"
            )
        return PrefetchDataset(
            as_dataset(source), _AUTOTUNED_BUFFER if size == -1 else size
        )

    return compute


class SleepIterator(DatasetIterator):
    """Waits before each element."""

    def __init__(
        self, source: DatasetIterator, microseconds: int, env: Environment
    ) -> None:
        self._source, self._seconds, self._env = source, microseconds / 1e6, env

    def __next__(self) -> Element:
        import threading

        woken = threading.Event()
        cancellation = self._env.context.cancellation
        token = cancellation.register(woken.set)
        try:
            woken.wait(self._seconds)
        finally:
            if token is not None:
                cancellation.deregister(token)
        cancellation.check()
        return next(self._source)


class _SleepDataset(Dataset):
    def __init__(self, source: Dataset, microseconds: int) -> None:
        super().__init__(*like(source))
        self._microseconds = microseconds

    @property
    def cardinality(self) -> int:
        return self.inputs[0].cardinality

    def iterate(self, env: Environment) -> DatasetIterator:
        return SleepIterator(self.inputs[0].iterate(env), self._microseconds, env)


@dataset_kernel("SleepDataset", "ExperimentalSleepDataset")
def sleep_dataset(c: OpKernelConstruction) -> Compute:
    """The elements, slowly."""
    return lambda source, microseconds: _SleepDataset(
        as_dataset(source), int(microseconds)
    )


# --- cache in memory -----------------------------------------------------------


class MemoryCache:
    """The elements of a dataset once they have all been made."""

    def __init__(self) -> None:
        self.elements: list[Element] | None = None


class _MemoryCacheDataset(Dataset):
    keeps_elements = True

    def __init__(self, source: Dataset, cache: MemoryCache) -> None:
        super().__init__(*like(source))
        self._cache = cache

    def renewed(self, seeds: Iterator[tuple[int, int]]) -> Dataset:
        return _MemoryCacheDataset(self.inputs[0].renewed(seeds), MemoryCache())

    @property
    def iterator_name(self) -> str:
        return "MemoryCacheImpl"

    @property
    def cardinality(self) -> int:
        return self.inputs[0].cardinality

    def iterate(self, env: Environment) -> DatasetIterator:
        if self._cache.elements is not None:
            return ElementIterator(self._cache.elements)
        return _CachingIterator(self.inputs[0].iterate(env), self._cache)


class _CachingIterator(DatasetIterator):
    """Fills the cache; only a pass to the end makes it count."""

    def __init__(self, source: DatasetIterator, cache: MemoryCache) -> None:
        self._source, self._cache = source, cache
        self._elements: list[Element] = []

    def __next__(self) -> Element:
        for element in self._source:
            self._elements.append(element)
            return element
        self._cache.elements = self._elements
        raise StopIteration


# --- cache in files ------------------------------------------------------------


class _FileCacheDataset(Dataset):
    """The elements in a tensor bundle, with TensorFlow's keys."""

    keeps_elements = True

    def __init__(self, source: Dataset, name: str) -> None:
        super().__init__(*like(source))
        self._name = name

    @property
    def iterator_name(self) -> str:
        return "FileCacheImpl"

    @property
    def cardinality(self) -> int:
        return self.inputs[0].cardinality

    def iterate(self, env: Environment) -> DatasetIterator:
        if os.path.exists(self._name + ".index"):
            return _CachedFileIterator(self._name, len(self.types))
        return _FileCachingIterator(self.inputs[0].iterate(env), self._name, self.types)


def _cache_key(element: int, component: int) -> bytes:
    return f"{element:08d}_{component:08d}".encode()


class _FileCachingIterator(DatasetIterator):
    """Keeps the elements, and writes the files at the end of the pass."""

    def __init__(self, source: DatasetIterator, name: str, types: Any) -> None:
        self._source, self._name, self._types = source, name, types
        self._elements: list[Element] = []
        self._lock = ""
        self._ended = False

    def _take_lock(self) -> None:
        """Two writers of one cache would spoil each other's files.

        Raises:
          errors.AlreadyExistsError: somebody writes it, or was stopped writing it.
        """
        name = self._name + ".lockfile"
        try:
            with open(name, "x") as file:
                file.write("checkpoint lock")
        except FileExistsError:
            raise errors.AlreadyExistsError(
                None,
                None,
                "There appears to be a concurrent caching iterator running - cache "
                f"lockfile already exists ('{name}'). If you are sure no other running "
                "TF computations are using this cache prefix, delete the lockfile and "
                "re-initialize the iterator.",
            ) from None
        except OSError as error:
            from tensorloom.storage.files.file_errors import file_error

            raise file_error(name, error) from error
        self._lock = name

    def __next__(self) -> Element:
        if self._ended:
            raise StopIteration
        if not self._lock:
            self._take_lock()
        for element in self._source:
            self._elements.append(element)
            return element
        self._ended = True
        self._write()
        raise StopIteration

    def _write(self) -> None:
        from tensorloom.storage.checkpoints.bundle_writer import BundleWriter

        with BundleWriter(self._name) as writer:
            for number, element in enumerate(self._elements):
                for component, (value, dtype) in enumerate(
                    zip(element, self._types, strict=True)
                ):
                    writer.add(_cache_key(number, component), dtype, np.asarray(value))
            writer.finish()
        self._elements = []
        self._unlock()

    def _unlock(self) -> None:
        name, self._lock = self._lock, ""
        if name and os.path.exists(name):
            os.remove(name)

    def __del__(self) -> None:
        if getattr(self, "_lock", ""):
            self._unlock()


class _CachedFileIterator(DatasetIterator):
    def __init__(self, name: str, width: int) -> None:
        from tensorloom.storage.checkpoints.bundle_reader import BundleReader

        self._reader = BundleReader(name)
        keys = sum(1 for key in self._reader.keys if key)
        self._width, self._count, self._next = width, keys // width, 0

    def __next__(self) -> Element:
        number = self._next
        if number >= self._count:
            raise StopIteration
        self._next += 1
        values = [self._reader.read(_cache_key(number, i)) for i in range(self._width)]
        return tuple(
            [v[()] if not v.shape and v.dtype != object else v for v in values]
        )


@dataset_kernel("CacheDataset", "CacheDatasetV2")
def cache_dataset(c: OpKernelConstruction) -> Compute:
    """The elements, kept in memory or in files from their first pass on."""

    def compute(source: Any, filename: Any, cache: Any = None) -> Dataset:
        name = os.fsdecode(filename[()])
        if name:
            return _FileCacheDataset(as_dataset(source), name + "_0")
        held = cache if isinstance(cache, MemoryCache) else MemoryCache()
        return _MemoryCacheDataset(as_dataset(source), held)

    return compute
