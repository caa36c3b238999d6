"""Datasets that let some elements through: filter, take_while, unique; and scan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.kernels.host.data.pipeline.dataset import (
    INFINITE,
    UNKNOWN,
    Dataset,
    DatasetIterator,
    Element,
    as_dataset,
    dataset_kernel,
    like,
    signature,
)
from tensorloom.kernels.host.data.pipeline.environment import (
    CapturedFunction,
    Environment,
    capture,
)

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.kernels.host.data.pipeline.statistics import Statistics


def _truth(results: tuple[Any, ...], what: str) -> bool:
    (value,) = results
    if getattr(value, "shape", ()) != () or value.dtype != np.bool_:
        raise invalid_argument(
            f"{what} function `predicate` must return a scalar bool."
        )
    return bool(value)


class _FilterDataset(Dataset):
    """The elements for which a function is true."""

    keeps_elements = True

    def __init__(self, source: Dataset, function: CapturedFunction) -> None:
        super().__init__(source.types, source.shapes, source)
        self._function = function

    def iterate(self, env: Environment) -> DatasetIterator:
        counts = None
        if env.statistics is not None:
            counts = _Counts(env.statistics, self.statistics_name)
        return _FilterIterator(self.inputs[0].iterate(env), self._function, env, counts)


class _Counts:
    """Tells how many elements a filter let through, and how many not."""

    def __init__(self, statistics: Statistics, name: str) -> None:
        self._statistics, self._name = statistics, name
        self._counts = {"dropped_elements": 0, "filtered_elements": 0}

    def add(self, kept: bool) -> None:
        what = "filtered_elements" if kept else "dropped_elements"
        self._counts[what] += 1
        self._statistics.set_scalar(
            f"{self._name}::{what}", self._counts[what], sum(self._counts.values())
        )


class _FilterIterator(DatasetIterator):
    def __init__(
        self,
        source: DatasetIterator,
        function: CapturedFunction,
        env: Environment,
        counts: _Counts | None = None,
    ) -> None:
        self._source, self._function, self._env = source, function, env
        self._counts = counts

    def __next__(self) -> Element:
        for element in self._source:
            kept = _truth(self._function(self._env, element), "Filter")
            if self._counts is not None:
                self._counts.add(kept)
            if kept:
                return element
            if self._env.context.cancellation.cancelled:
                self._env.context.cancellation.check()
        raise StopIteration


@dataset_kernel("FilterDataset", "ParallelFilterDataset", retains=("other_arguments",))
def filter_dataset(c: OpKernelConstruction) -> Compute:
    """The elements for which a function is true."""
    bind = capture(c, "predicate")
    captures = len(c["Targuments"])
    return lambda source, *rest: _FilterDataset(
        as_dataset(source), bind(rest[:captures])
    )


class _FilterByLastDataset(Dataset):
    """The elements whose last component is true, without it."""

    def iterate(self, env: Environment) -> DatasetIterator:
        return _FilterByLastIterator(self.inputs[0].iterate(env))


class _FilterByLastIterator(DatasetIterator):
    def __init__(self, source: DatasetIterator) -> None:
        self._source = source

    def __next__(self) -> Element:
        for element in self._source:
            if bool(element[-1]):
                return element[:-1]
        raise StopIteration


@dataset_kernel("FilterByLastComponentDataset")
def filter_by_last_component_dataset(c: OpKernelConstruction) -> Compute:
    """The elements whose last component is true."""
    types, shapes = signature(c)
    return lambda source: _FilterByLastDataset(types, shapes, as_dataset(source))


class _TakeWhileDataset(Dataset):
    """The elements before a function becomes false."""

    def __init__(self, source: Dataset, function: CapturedFunction) -> None:
        super().__init__(source.types, source.shapes, source)
        self._function = function

    def iterate(self, env: Environment) -> DatasetIterator:
        return _TakeWhileIterator(self.inputs[0].iterate(env), self._function, env)


class _TakeWhileIterator(_FilterIterator):
    _ended = False

    def __next__(self) -> Element:
        if self._ended:
            raise StopIteration
        element = next(self._source)
        if _truth(self._function(self._env, element), "TakeWhile"):
            return element
        self._ended = True
        raise StopIteration


@dataset_kernel(
    "TakeWhileDataset", "ExperimentalTakeWhileDataset", retains=("other_arguments",)
)
def take_while_dataset(c: OpKernelConstruction) -> Compute:
    """The elements before a function becomes false."""
    bind = capture(c, "predicate")
    return lambda source, *captured: _TakeWhileDataset(
        as_dataset(source), bind(captured)
    )


class _ScanDataset(Dataset):
    """A function of a state and each element, which gives the next state too."""

    def __init__(
        self,
        types: Any,
        shapes: Any,
        source: Dataset,
        state: Element,
        function: CapturedFunction,
        preserve: bool,
    ) -> None:
        super().__init__(types, shapes, source)
        self._state, self._function, self._preserve = state, function, preserve

    @property
    def cardinality(self) -> int:
        return self.inputs[0].cardinality

    def iterate(self, env: Environment) -> DatasetIterator:
        source = self.inputs[0].iterate(env)
        return _ScanIterator(source, self._state, self._function, env)


class _ScanIterator(DatasetIterator):
    def __init__(
        self,
        source: DatasetIterator,
        state: Element,
        function: CapturedFunction,
        env: Environment,
    ) -> None:
        self._source, self._state = source, state
        self._function, self._env = function, env

    def __next__(self) -> Element:
        element = next(self._source)
        try:
            results = self._function(self._env, self._state + element)
        except errors.OutOfRangeError:
            raise StopIteration from None
        width = len(self._state)
        self._state = results[:width]
        return results[width:]


@dataset_kernel(
    "ScanDataset",
    "ExperimentalScanDataset",
    retains=("initial_state", "other_arguments"),
)
def scan_dataset(c: OpKernelConstruction) -> Compute:
    """A function with a state."""
    types, shapes = signature(c)
    bind = capture(c, "f")
    width = len(c["Tstate"])
    preserve = bool(c.get("preserve_cardinality", False))
    return lambda source, *rest: _ScanDataset(
        types, shapes, as_dataset(source), rest[:width], bind(rest[width:]), preserve
    )


# --- unique, and without errors ------------------------------------------------


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
        raise invalid_argument(
            "UniqueDataset only supports inputs with a single component."
        )
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
