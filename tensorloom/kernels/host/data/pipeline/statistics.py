"""Statistics of pipelines: what datasets count, and the aggregator that sums it up."""

from __future__ import annotations

import copy
import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.runtime.resource import Resource
from tensorloom.kernels.host.data.pipeline.dataset import (
    BranchIterator,
    Dataset,
    DatasetIterator,
    Element,
    as_dataset,
    dataset_kernel,
)
from tensorloom.kernels.host.summary.summary_ops import Histogram

if TYPE_CHECKING:
    from collections.abc import Callable

    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.kernels.host.data.pipeline.environment import Environment

    _Function = Callable[[Environment, Element], Element]

# What TensorFlow counts for a string beside its characters.
_STRING_BYTES = 8


class StatsAggregator(Resource):
    """Histograms and last values by name. With a writer, changes are also events."""

    def __init__(self, container: str, name: str) -> None:
        super().__init__(container, name)
        self._lock = threading.Lock()
        self._histograms: dict[str, Histogram] = {}
        self._scalars: dict[str, float] = {}
        self._writer: Any = None

    def set_writer(self, writer: Any) -> None:
        """From now on, changes are written as events."""
        with self._lock:
            self._writer = writer

    def add_to_histogram(self, name: str, value: float, step: int) -> None:
        """One more value."""
        with self._lock:
            histogram = self._histograms.setdefault(name, Histogram())
            histogram.add(np.array([value]))
            self._write([name], [], step)

    def set_scalar(self, name: str, value: float, step: int) -> None:
        """The value of now."""
        with self._lock:
            self._scalars[name] = value
            self._write([], [name], step)

    def summary(self) -> bytes:
        """All of it as a serialized `Summary`."""
        with self._lock:
            made = self._summary(list(self._histograms), list(self._scalars))
            return bytes(made.SerializeToString())

    def _summary(self, histograms: list[str], scalars: list[str]) -> Any:
        from tensorloom.protos.summary_pb2 import Summary

        made = Summary()
        for name in histograms:
            self._histograms[name].fill(made.value.add(tag=name).histo)
        for name in scalars:
            made.value.add(tag=name, simple_value=self._scalars[name])
        return made

    def _write(self, histograms: list[str], scalars: list[str], step: int) -> None:
        if self._writer is None:
            return
        from tensorloom.protos.event_pb2 import Event

        summary = self._summary(histograms, scalars)
        self._writer.write(Event(wall_time=time.time(), step=step, summary=summary))


class Statistics:
    """Where the datasets of a pipeline count, under a tag of their own."""

    def __init__(self, aggregator: StatsAggregator, tag: str) -> None:
        self._aggregator = aggregator
        self._prefix = f"{tag}::" if tag else ""

    def add_to_histogram(self, name: str, value: float, step: int) -> None:
        """One more value."""
        self._aggregator.add_to_histogram(self._prefix + name, value, step)

    def set_scalar(self, name: str, value: float, step: int) -> None:
        """The value of now."""
        self._aggregator.set_scalar(self._prefix + name, value, step)


class _CountedDataset(Dataset):
    """A dataset whose iterators count, under a tag."""

    def __init__(self, source: Dataset, aggregator: StatsAggregator, tag: str) -> None:
        super().__init__(source.types, source.shapes, source)
        self._statistics = Statistics(aggregator, tag)

    @property
    def cardinality(self) -> int:
        return self.inputs[0].cardinality

    def iterate(self, env: Environment) -> DatasetIterator:
        counting = env.branch()
        counting.statistics = self._statistics
        return BranchIterator(self.inputs[0].iterate(counting), env, counting)


@dataset_kernel("SetStatsAggregatorDataset", "ExperimentalSetStatsAggregatorDataset")
def set_stats_aggregator_dataset(c: OpKernelConstruction) -> Compute:
    """The same elements; the datasets before it count into an aggregator."""

    def compute(source: Any, aggregator: Any, tag: Any, *_: Any) -> Dataset:
        if not isinstance(aggregator, StatsAggregator):
            raise invalid_argument(
                "Trying to access a handle that is no StatsAggregator."
            )
        return _CountedDataset(as_dataset(source), aggregator, tag[()].decode())

    return compute


# --- what is counted for each element -----------------------------------------------


class _MeasuredDataset(Dataset):
    """A dataset that adds a number for each element to a histogram."""

    kind = "LatencyStatsDataset"

    def __init__(
        self, source: Dataset, tag: str, measure: Callable[[int, Element], float]
    ) -> None:
        super().__init__(source.types, source.shapes, source)
        self._tag, self._measure = tag, measure

    @property
    def cardinality(self) -> int:
        return self.inputs[0].cardinality

    def iterate(self, env: Environment) -> DatasetIterator:
        source = self.inputs[0].iterate(env)
        if env.statistics is None:
            return source
        return _MeasuringIterator(source, env.statistics, self._tag, self._measure)


class _MeasuringIterator(DatasetIterator):
    def __init__(
        self,
        source: DatasetIterator,
        statistics: Statistics,
        tag: str,
        measure: Callable[[int, Element], float],
    ) -> None:
        self._source, self._statistics = source, statistics
        self._tag, self._measure = tag, measure
        self._count = 0

    def __next__(self) -> Element:
        begin = time.perf_counter_ns()
        element = next(self._source)
        value = self._measure(time.perf_counter_ns() - begin, element)
        self._statistics.add_to_histogram(self._tag, value, self._count)
        self._count += 1
        return element


def with_latencies(dataset: Dataset) -> Dataset:
    """The pipeline with the latencies of each of its datasets counted."""
    result = copy.copy(dataset)
    result.inputs = tuple(with_latencies(each) for each in dataset.inputs)
    tag = f"record_latency::{dataset.statistics_name}"
    return _MeasuredDataset(result, tag, _microseconds)


def _microseconds(nanoseconds: int, element: Element) -> float:
    return float(nanoseconds // 1000)


def _bytes(nanoseconds: int, element: Element) -> float:
    return float(sum(_size(component) for component in element))


def _size(component: Any) -> int:
    if isinstance(component, bytes):
        return _STRING_BYTES + len(component)
    size = getattr(component, "nbytes", 0)
    if getattr(component, "dtype", None) != np.dtype(object):
        return int(size)
    return sum(_STRING_BYTES + len(text) for text in component.ravel().tolist())


@dataset_kernel("LatencyStatsDataset", "ExperimentalLatencyStatsDataset")
def latency_stats_dataset(c: OpKernelConstruction) -> Compute:
    """The same elements; how long each took, in microseconds, is counted."""
    return lambda source, tag: _MeasuredDataset(
        as_dataset(source), tag[()].decode(), _microseconds
    )


@dataset_kernel("BytesProducedStatsDataset", "ExperimentalBytesProducedStatsDataset")
def bytes_produced_stats_dataset(c: OpKernelConstruction) -> Compute:
    """The same elements; their sizes are counted."""
    return lambda source, tag: _MeasuredDataset(
        as_dataset(source), tag[()].decode(), _bytes
    )


# --- what is counted for each call ---------------------------------------------------


class CountedCalls:
    """How long each call takes, and how many of the threads are busy."""

    def __init__(
        self, statistics: Statistics, calls: str, name: str, threads: int
    ) -> None:
        self._statistics, self._calls, self._name = statistics, calls, name
        self._threads = threads
        self._lock = threading.Lock()
        self._active = self._count = 0

    def timed(self, function: _Function) -> _Function:
        """The function; its calls are counted."""

        def apply(env: Environment, element: Element) -> Element:
            with self._lock:
                self._active += 1
            begin = time.perf_counter_ns()
            try:
                return function(env, element)
            finally:
                duration = (time.perf_counter_ns() - begin) // 1000
                with self._lock:
                    self._active -= 1
                    self._count += 1
                self._statistics.add_to_histogram(
                    f"{self._calls}::execution_time", duration, self._count
                )

        return apply

    def tell(self) -> None:
        """Tells what part of the threads is busy."""
        self._statistics.set_scalar(
            f"{self._name}::thread_utilization",
            self._active / self._threads,
            self._count,
        )


class CountedIterator(DatasetIterator):
    """Tells how busy the threads are whenever an element is taken."""

    def __init__(self, source: DatasetIterator, calls: CountedCalls) -> None:
        self._source, self._calls = source, calls

    def __next__(self) -> Element:
        element = next(self._source)
        self._calls.tell()
        return element
