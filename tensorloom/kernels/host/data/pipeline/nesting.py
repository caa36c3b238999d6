"""Datasets of datasets: flat_map, interleave, groups."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.kernels.host.data.pipeline import background
from tensorloom.kernels.host.data.pipeline.batching import stack_elements
from tensorloom.kernels.host.data.pipeline.dataset import (
    Dataset,
    DatasetIterator,
    Element,
    as_dataset,
    check_positive,
    dataset_kernel,
    join_columns,
    numpy_type,
    signature,
)
from tensorloom.kernels.host.data.pipeline.environment import (
    CapturedFunction,
    Environment,
    capture,
    capture_each,
)
from tensorloom.kernels.host.data.pipeline.mapping import threads_of
from tensorloom.kernels.host.data.pipeline.sources import (
    ElementDataset,
    ElementIterator,
)
from tensorloom.kernels.host.data.pipeline.stored import Elements

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.framework.types.dtypes import DType


def _inner(results: tuple[Any, ...]) -> Dataset:
    if len(results) != 1:
        raise invalid_argument("Function must return a single dataset variant tensor.")
    return as_dataset(results[0])


class _FlatMapDataset(Dataset):
    """The elements of the datasets that a function gives."""

    def __init__(
        self, types: Any, shapes: Any, source: Dataset, function: CapturedFunction
    ) -> None:
        super().__init__(types, shapes, source)
        self._function = function

    def iterate(self, env: Environment) -> DatasetIterator:
        source = self.inputs[0].iterate(env)
        return _FlatMapIterator(source, self._function, env, self.types)


class _FlatMapIterator(DatasetIterator):
    def __init__(
        self,
        source: DatasetIterator,
        function: CapturedFunction,
        env: Environment,
        types: Sequence[DType],
    ) -> None:
        self._source, self._function, self._env = source, function, env
        self._types = types
        self._current: DatasetIterator | None = None

    def _open(self) -> DatasetIterator:
        """The dataset that is read now, or the next one."""
        if self._current is None:
            element = next(self._source)
            made = _inner(self._function(self._env, element))
            self._current = made.iterate(self._env)
        return self._current

    def __next__(self) -> Element:
        while True:
            for element in self._open():
                return element
            self._current = None

    @property
    def has_columns(self) -> bool:
        try:
            return self._open().has_columns
        except StopIteration:
            return False

    def take(self, count: int) -> Sequence[np.ndarray[Any, Any]]:
        parts: list[Sequence[np.ndarray[Any, Any]]] = []
        missing = count
        while missing:
            try:
                current = self._open()
            except StopIteration:
                break
            if current.has_columns:
                part = current.take(missing)
            elif elements := list(islice(current, missing)):
                part = stack_elements(elements, self._types)
            else:
                self._current = None
                continue
            parts.append(part)
            if len(part[0]) < missing:
                self._current = None
            missing -= len(part[0])
        if not parts:
            return [np.empty((0,), numpy_type(t)) for t in self._types]
        if len(parts) == 1:
            return parts[0]
        return [join_columns(column) for column in zip(*parts, strict=True)]


@dataset_kernel("FlatMapDataset", retains=("other_arguments",))
def flat_map_dataset(c: OpKernelConstruction) -> Compute:
    """The elements of the datasets that a function gives."""
    types, shapes = signature(c)
    bind = capture(c, "f")
    return lambda source, *captured: _FlatMapDataset(
        types, shapes, as_dataset(source), bind(captured)
    )


# --- interleave ----------------------------------------------------------------


class _InterleaveDataset(_FlatMapDataset):
    """Blocks of elements from each of several datasets in turn."""

    def __init__(
        self,
        types: Any,
        shapes: Any,
        source: Dataset,
        function: CapturedFunction,
        cycle: int,
        block: int,
        ahead: int = 0,
        failures_take_turns: bool = False,
    ) -> None:
        super().__init__(types, shapes, source, function)
        self._cycle, self._block, self._ahead = cycle, block, ahead
        self._failures_take_turns = failures_take_turns

    def iterate(self, env: Environment) -> DatasetIterator:
        return _InterleaveIterator(
            self.inputs[0].iterate(env),
            self._function,
            env,
            self._cycle,
            self._block,
            self._ahead,
            self._failures_take_turns,
        )


class _InterleaveIterator(DatasetIterator):
    """`ahead` elements of each dataset in the cycle are made in threads, if slow.

    An element of which no dataset can be made is skipped, or takes the turn of its
    dataset.
    """

    def __init__(
        self,
        source: DatasetIterator,
        function: CapturedFunction,
        env: Environment,
        cycle: int,
        block: int,
        ahead: int,
        failures_take_turns: bool,
    ) -> None:
        self._source: DatasetIterator | None = source
        self._failures_take_turns = failures_take_turns
        self._function, self._env = function, env
        self._block, self._ahead = block, ahead
        self._slots: list[DatasetIterator | None] = [None] * cycle
        self._slot = self._given = 0  # where in the cycle, and in its block
        self._open = 0

    def __next__(self) -> Element:
        while self._open or self._source is not None:
            current = self._slots[self._slot]
            if current is not None:
                for element in current:
                    self._given += 1
                    if self._given == self._block:
                        self._next_slot()
                    return element
                self._slots[self._slot] = None
                self._open -= 1
                self._next_slot()
            elif self._source is not None:
                try:
                    self._fill_slot(self._source)
                except errors.OpError:
                    if self._failures_take_turns:  # as a dataset of one element
                        self._slots[self._slot] = Elements(iter(()))
                        self._open += 1
                        self._next_slot()
                    raise
            else:
                self._next_slot()
        raise StopIteration

    def _next_slot(self) -> None:
        self._given = 0
        self._slot = (self._slot + 1) % len(self._slots)

    def _fill_slot(self, source: DatasetIterator) -> None:
        for element in source:
            made = _inner(self._function(self._env, element))
            self._slots[self._slot] = self._iterate(made)
            self._open += 1
            return
        self._source = None

    def _iterate(self, dataset: Dataset) -> DatasetIterator:
        if self._ahead:
            return background.PrefetchIterator(dataset.iterate, self._env, self._ahead)
        return dataset.iterate(self._env)


def _cycle_length(value: Any) -> int:
    number = int(value)
    if number == -1:
        return background.parallelism(-1)
    return check_positive(number, "cycle_length must be greater than zero.")


@dataset_kernel("InterleaveDataset", retains=("other_arguments",))
def interleave_dataset(c: OpKernelConstruction) -> Compute:
    """Elements of several datasets in turn."""
    types, shapes = signature(c)
    bind = capture(c, "f")

    def compute(source: Any, *rest: Any) -> Dataset:
        *captured, cycle, block = rest
        return _InterleaveDataset(
            types,
            shapes,
            as_dataset(source),
            bind(tuple(captured)),
            _cycle_length(cycle),
            check_positive(block, "block_length must be greater than zero."),
        )

    return compute


@dataset_kernel(
    "ParallelInterleaveDatasetV2",
    "ParallelInterleaveDatasetV3",
    "ParallelInterleaveDatasetV4",
    retains=("other_arguments",),
)
def parallel_interleave_dataset(c: OpKernelConstruction) -> Compute:
    """Elements of several datasets in turn, made ahead in threads."""
    types, shapes = signature(c)
    bind = capture(c, "f")
    captures = len(c["Targuments"])

    def compute(source: Any, *rest: Any) -> Dataset:
        cycle, block = rest[captures : captures + 2]
        # V4 has two sizes of buffers between block length and parallel calls.
        threads_of(rest[-1], "num_parallel_calls")
        size = check_positive(block, "block_length must be greater than zero.")
        return _InterleaveDataset(
            types,
            shapes,
            as_dataset(source),
            bind(tuple(rest[:captures])),
            _cycle_length(cycle),
            size,
            ahead=max(2, size),
        )

    return compute


@dataset_kernel(
    "ParallelInterleaveDataset",
    "ExperimentalParallelInterleaveDataset",
    "LegacyParallelInterleaveDatasetV2",
    retains=("other_arguments",),
)
def legacy_parallel_interleave_dataset(c: OpKernelConstruction) -> Compute:
    """The older form of parallel interleave, in the deterministic order."""
    types, shapes = signature(c)
    bind = capture(c, "f")
    captures = len(c["Targuments"])

    def compute(source: Any, *rest: Any) -> Dataset:
        cycle, block = rest[captures : captures + 2]
        # What follows: sloppy (but for V2), and the sizes of the buffers.
        buffers = rest[-2]
        if buffers == 0 or buffers < -1:
            raise invalid_argument("`buffer_output_elements` must be > 0")
        return _InterleaveDataset(
            types,
            shapes,
            as_dataset(source),
            bind(tuple(rest[:captures])),
            check_positive(cycle, "`cycle_length` must be > 0"),
            check_positive(block, "`block_length` must be > 0"),
            ahead=max(2, int(buffers)),
            failures_take_turns=True,
        )

    return compute


# --- groups --------------------------------------------------------------------


def _key(results: tuple[Any, ...]) -> int:
    (value,) = results
    if getattr(value, "shape", ()) != () or value.dtype != np.int64:
        raise invalid_argument("`key_func` must return a scalar int64.")
    return int(value)


class _GroupByWindowDataset(Dataset):
    """Windows of elements with one key, each reduced to a dataset."""

    def __init__(
        self,
        types: Any,
        shapes: Any,
        source: Dataset,
        functions: tuple[CapturedFunction, ...],
    ) -> None:
        super().__init__(types, shapes, source)
        self._functions = functions

    def iterate(self, env: Environment) -> DatasetIterator:
        return _GroupByWindowIterator(self.inputs[0], self._functions, env)


class _GroupByWindowIterator(DatasetIterator):
    def __init__(
        self,
        dataset: Dataset,
        functions: tuple[CapturedFunction, ...],
        env: Environment,
    ) -> None:
        self._dataset, self._env = dataset, env
        self._source: DatasetIterator | None = dataset.iterate(env)
        self._key_of, self._reduce, self._size_of = functions
        self._groups: dict[int, list[Element]] = {}
        self._sizes: dict[int, int] = {}
        self._current: DatasetIterator | None = None

    def __next__(self) -> Element:
        while True:
            if self._current is not None:
                for element in self._current:
                    return element
                self._current = None
            if not self._collect():
                raise StopIteration

    def _collect(self) -> bool:
        """Reads on until a window is full, or takes one that will not be."""
        if self._source is not None:
            for element in self._source:
                key = _key(self._key_of(self._env, element))
                group = self._groups.setdefault(key, [])
                group.append(element)
                if len(group) == self._window_size(key):
                    self._flush(key)
                    return True
            self._source = None
        if not self._groups:
            return False
        self._flush(min(self._groups))
        return True

    def _window_size(self, key: int) -> int:
        size = self._sizes.get(key)
        if size is None:
            (value,) = self._size_of(self._env, (np.int64(key),))
            if getattr(value, "shape", ()) != () or value.dtype != np.int64:
                raise invalid_argument("`window_size_func` must return a scalar int64.")
            size = self._sizes[key] = int(value)
        if size <= 0:
            raise invalid_argument(
                f"Window size must be greater than zero, but got {size}."
            )
        return size

    def _flush(self, key: int) -> None:
        group = self._groups.pop(key)
        window = ElementDataset(self._dataset.types, self._dataset.shapes, group)
        made = _inner(self._reduce(self._env, (np.int64(key), window)))
        self._current = made.iterate(self._env)


@dataset_kernel(
    "GroupByWindowDataset",
    "ExperimentalGroupByWindowDataset",
    retains=(
        "key_func_other_arguments",
        "reduce_func_other_arguments",
        "window_size_func_other_arguments",
    ),
)
def group_by_window_dataset(c: OpKernelConstruction) -> Compute:
    """Windows of elements by key."""
    types, shapes = signature(c)
    names = "key_func", "reduce_func", "window_size_func"
    bind = capture_each(c, names, "other_arguments")
    return lambda source, *captured: _GroupByWindowDataset(
        types, shapes, as_dataset(source), bind(captured)
    )


class _GroupByReducerDataset(Dataset):
    """A reduction of the elements of each key."""

    def __init__(
        self,
        types: Any,
        shapes: Any,
        source: Dataset,
        functions: tuple[CapturedFunction, ...],
    ) -> None:
        super().__init__(types, shapes, source)
        self._functions = functions

    def iterate(self, env: Environment) -> DatasetIterator:
        return _Deferred(lambda: self._reduced(env))

    def _reduced(self, env: Environment) -> list[Element]:
        key_of, begin, reduce, finish = self._functions
        states: dict[int, Element] = {}
        for element in self.inputs[0].iterate(env):
            key = _key(key_of(env, element))
            state = states.get(key)
            if state is None:
                state = begin(env, (np.int64(key),))
            states[key] = reduce(env, state + element)
        return [finish(env, states[key]) for key in sorted(states)]


class _Deferred(DatasetIterator):
    """Elements that are made all together when the first one is asked for."""

    def __init__(self, make: Any) -> None:
        self._make = make
        self._elements: ElementIterator | None = None

    def __next__(self) -> Element:
        if self._elements is None:
            self._elements = ElementIterator(self._make())
        return next(self._elements)


@dataset_kernel(
    "GroupByReducerDataset",
    "ExperimentalGroupByReducerDataset",
    retains=(
        "key_func_other_arguments",
        "init_func_other_arguments",
        "reduce_func_other_arguments",
        "finalize_func_other_arguments",
    ),
)
def group_by_reducer_dataset(c: OpKernelConstruction) -> Compute:
    """Reductions by key."""
    types, shapes = signature(c)
    names = "key_func", "init_func", "reduce_func", "finalize_func"
    bind = capture_each(c, names, "other_arguments")
    return lambda source, *captured: _GroupByReducerDataset(
        types, shapes, as_dataset(source), bind(captured)
    )
