"""Datasets with a function: map, reduce, generators."""

from __future__ import annotations

import copy
import functools
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.functions.called_functions import functions_named, names_of
from tensorloom.framework.functions.py_functions import CALLING_OPS
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.kernels.host.data.pipeline import background
from tensorloom.kernels.host.data.pipeline.batching import (
    BatchDataset,
    cardinality_of_batches,
    stack_elements,
    text_of,
)
from tensorloom.kernels.host.data.pipeline.dataset import (
    Dataset,
    DatasetIterator,
    Element,
    as_dataset,
    check_positive,
    dataset_kernel,
    signature,
)
from tensorloom.kernels.host.data.pipeline.environment import (
    Cancellation,
    CapturedFunction,
    Environment,
    capture,
    capture_each,
)
from tensorloom.kernels.host.data.pipeline.statistics import (
    CountedCalls,
    CountedIterator,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tensorloom.framework.registry.op_kernel import (
        Compute,
        OpKernelConstruction,
        OpKernelContext,
    )

    _Function = Callable[[Environment, Element], Element]

# --- map -----------------------------------------------------------------------


class MapDataset(Dataset):
    """A function of each element."""

    _ended_early: ClassVar[str] = "Function invocation produced OutOfRangeError: "

    def __init__(
        self,
        types: Any,
        shapes: Any,
        source: Dataset,
        function: CapturedFunction,
        threads: int = 1,
        preserve_cardinality: bool = True,
    ) -> None:
        super().__init__(types, shapes, source)
        self._function, self._threads = function, threads
        self._preserve = preserve_cardinality
        self._is_parallelized = False

    @property
    def cardinality(self) -> int:
        return self.inputs[0].cardinality

    def iterate(self, env: Environment) -> DatasetIterator:
        source = self.inputs[0]
        function: _Function = self._function
        if self._preserve:
            function = _preserving_cardinality(function, self._ended_early)
        calls = None
        if env.statistics is not None and self._counted_as:
            calls = CountedCalls(
                env.statistics,
                f"{self._counted_as}::{self.function_name}",
                self.statistics_name,
                self._threads,
            )
            function = calls.timed(function)
        iterator: DatasetIterator
        if self._threads == 1:
            iterator = _MapIterator(source.iterate(env), function, env)
        else:
            iterator = background.ParallelMapIterator(
                source.iterate, function, env, self._threads, self._calls_python
            )
        return iterator if calls is None else CountedIterator(iterator, calls)

    @functools.cached_property
    def _calls_python(self) -> bool:
        """Whether its function calls Python functions, which may wait for others."""
        maker = self.maker
        if maker is None:
            return False
        called = functions_named(names_of(maker.node), dict(maker.functions))
        ops = {node.op for each in called.values() for node in each.nodes.values()}
        return not ops.isdisjoint(CALLING_OPS)

    def parallel(self) -> MapDataset:
        """The same dataset, whose function is called by several threads."""
        made = copy.copy(self)
        made._threads, made._is_parallelized = background.parallelism(-1), True
        return made

    @property
    def iterator_name(self) -> str:
        return "ParallelMap" if self._is_parallelized else super().iterator_name

    @property
    def _counted_as(self) -> str:
        """Under what its calls are counted; those of a plain map are not."""
        is_parallel = self.maker is not None and "Parallel" in self.maker.op
        return "ParallelMap" if is_parallel else ""

    @property
    def function_name(self) -> str:
        """Of the function in the graph."""
        return "" if self.maker is None else self.maker["f"].name


def _preserving_cardinality(function: _Function, why: str) -> _Function:
    """The function, of which no call ends the dataset; `why` begins the message."""

    def apply(env: Environment, element: Element) -> Element:
        try:
            return function(env, element)
        except errors.OutOfRangeError as error:
            raise invalid_argument(why + error.message) from error

    return apply


class _MapIterator(DatasetIterator):
    def __init__(
        self, source: DatasetIterator, function: _Function, env: Environment
    ) -> None:
        self._source, self._function, self._env = source, function, env

    def __next__(self) -> Element:
        element = next(self._source)
        try:
            return self._function(self._env, element)
        except errors.OutOfRangeError:
            raise StopIteration from None


@dataset_kernel("MapDataset", "ExperimentalMapDataset", retains=("other_arguments",))
def map_dataset(c: OpKernelConstruction) -> Compute:
    """A function of each element."""
    types, shapes = signature(c)
    bind = capture(c, "f")
    preserve = bool(c.get("preserve_cardinality", False))
    return lambda source, *captured: MapDataset(
        types, shapes, as_dataset(source), bind(captured), 1, preserve
    )


@dataset_kernel(
    "ParallelMapDataset", "ParallelMapDatasetV2", retains=("other_arguments",)
)
def parallel_map_dataset(c: OpKernelConstruction) -> Compute:
    """A function of each element, of several at a time."""
    types, shapes = signature(c)
    bind = capture(c, "f")
    preserve = bool(c.get("preserve_cardinality", False))

    def compute(source: Any, *rest: Any) -> Dataset:
        *captured, parallel = rest
        return MapDataset(
            types,
            shapes,
            as_dataset(source),
            bind(tuple(captured)),
            threads_of(parallel, "num_parallel_calls"),
            preserve,
        )

    return compute


def threads_of(value: Any, name: str) -> int:
    """A number of parallel calls, which may be -1 for AUTOTUNE."""
    number = int(value)
    if number != -1 and number <= 0:
        raise invalid_argument(f"{name} must be greater than zero.")
    return background.parallelism(number)


class MapAndBatchDataset(MapDataset):
    """Batches of a function of the elements."""

    kind = "MapAndBatchDataset"
    _ended_early = ""

    def __init__(
        self,
        types: Any,
        shapes: Any,
        source: Dataset,
        function: CapturedFunction,
        threads: int,
        preserve: bool,
        size: int,
        drop: bool,
    ) -> None:
        super().__init__(types, shapes, source, function, threads, preserve)
        self._size, self._drop = size, drop
        self._mapped: MapDataset | None = None  # before it was fused

    @property
    def _counted_as(self) -> str:
        return "MapAndBatch"

    @property
    def function_name(self) -> str:
        mapped = self._mapped
        return super().function_name if mapped is None else mapped.function_name

    @property
    def batch_size(self) -> int:
        return self._size

    @staticmethod
    def fused(mapped: MapDataset, batches: BatchDataset) -> MapAndBatchDataset:
        """One dataset for the batches of a mapped dataset."""
        dataset = MapAndBatchDataset(
            batches.types,
            batches.shapes,
            mapped.inputs[0],
            mapped._function,
            mapped._threads,
            mapped._preserve,
            batches.size,
            batches.drops_remainder,
        )
        dataset._mapped = mapped
        dataset.graph_name = MapAndBatchDataset.kind
        return dataset

    @property
    def cardinality(self) -> int:
        n = super().cardinality
        return cardinality_of_batches(n, self._size, self._drop)

    def iterate(self, env: Environment) -> DatasetIterator:
        mapped = super().iterate(env)
        return _BatchOfMapped(mapped, self._size, self._drop, self.types)


class _BatchOfMapped(DatasetIterator):
    """Batches where an element that fails takes its whole batch along."""

    def __init__(
        self, source: DatasetIterator, size: int, drop: bool, types: Any
    ) -> None:
        self._source, self._size, self._drop = source, size, drop
        self._types = types

    def __next__(self) -> Element:
        elements: list[Element] = []
        failure: Exception | None = None
        for _ in range(self._size):
            try:
                elements.append(next(self._source))
            except StopIteration:
                break
            except Exception as error:
                failure = failure or error
        if failure is not None:
            raise failure
        if not elements or (self._drop and len(elements) < self._size):
            raise StopIteration
        return stack_elements(elements, self._types, _mismatch)


def _mismatch(index: int, number: int, first: Any, other: Any) -> str:
    """What a fused map and batch says of elements of different shapes."""
    return (
        "Cannot add tensor to the batch: number of elements does not match. Shapes "
        f"are: [tensor]: {text_of(other)}, [batch]: {text_of(first)}"
    )


@dataset_kernel(
    "MapAndBatchDataset",
    "ExperimentalMapAndBatchDataset",
    retains=("other_arguments",),
)
def map_and_batch_dataset(c: OpKernelConstruction) -> Compute:
    """Map and batch in one."""
    types, shapes = signature(c)
    bind = capture(c, "f")
    preserve = bool(c.get("preserve_cardinality", False))

    def compute(source: Any, *rest: Any) -> Dataset:
        *captured, batch_size, parallel, drop = rest
        return MapAndBatchDataset(
            types,
            shapes,
            as_dataset(source),
            bind(tuple(captured)),
            threads_of(parallel, "num_parallel_calls"),
            preserve,
            check_positive(batch_size, "batch_size must be greater than zero."),
            bool(drop),
        )

    return compute


# --- generators ----------------------------------------------------------------


class _GeneratorDataset(Dataset):
    """Elements of a function, of a state that another one makes."""

    def __init__(
        self,
        types: Any,
        shapes: Any,
        functions: tuple[CapturedFunction, ...],
    ) -> None:
        super().__init__(types, shapes)
        self._functions = functions

    def iterate(self, env: Environment) -> DatasetIterator:
        return _GeneratorIterator(self._functions, env)


class _GeneratorIterator(DatasetIterator):
    def __init__(
        self,
        functions: tuple[CapturedFunction, ...],
        env: Environment,
    ) -> None:
        self._begin, self._next, self._finish = functions
        self._env = env
        self._state: Element | None = None
        self._ended = False

    def __next__(self) -> Element:
        if self._ended:
            raise StopIteration
        if self._state is None:
            self._state = self._begin(self._env, ())
        try:
            return self._next(self._env, self._state)
        except errors.OutOfRangeError:
            self._end()
            raise StopIteration from None

    def _end(self) -> None:
        self._ended = True
        if self._state is not None:
            self._finish(self._env, self._state)

    def __del__(self) -> None:
        if not self._ended and self._state is not None:
            # Nobody is left whom an error could tell anything.
            try:
                self._env.context = self._env.own_context(Cancellation())
                self._end()
            except Exception:
                self._ended = True


@dataset_kernel(
    "GeneratorDataset",
    retains=(
        "init_func_other_args",
        "next_func_other_args",
        "finalize_func_other_args",
    ),
)
def generator_dataset(c: OpKernelConstruction) -> Compute:
    """Elements that a function generates."""
    types, shapes = signature(c)
    bind = capture_each(c, ("init_func", "next_func", "finalize_func"), "args")
    return lambda *captured: _GeneratorDataset(types, shapes, bind(captured))


# --- reduce --------------------------------------------------------------------


@host_kernel("ReduceDataset", devices=("CPU",), context=True, large=True)
def reduce_dataset(c: OpKernelConstruction) -> Compute:
    """The last state of a function over all elements."""
    bind = capture(c, "f")
    width = len(c["Tstate"])
    shapes = c["output_shapes"]

    def compute(context: OpKernelContext, source: Any, *rest: Any) -> Element:
        function = bind(rest[width:])
        state = tuple(rest[:width])
        root = Cancellation()
        env = Environment(context, root)
        try:
            for element in as_dataset(source).iterate(env):
                state = function(env, state + element)
                if context.cancellation.cancelled:
                    context.cancellation.check()
        finally:
            root.cancel()
        for index, (value, shape) in enumerate(zip(state, shapes, strict=True)):
            _check_state(value, shape, index)
        return state

    return compute


def _check_state(value: Any, shape: Any, index: int) -> None:
    dims = shape.dims_tuple
    found = getattr(value, "shape", ())
    if dims is not None and (
        len(dims) != len(found)
        or any(d is not None and d != n for d, n in zip(dims, found, strict=True))
    ):
        raise invalid_argument(
            f"Incompatible shapes at component {index}: expected {text_of(dims)} but "
            f"got {text_of(found)}."
        )


@host_kernel("DatasetToSingleElement", devices=("CPU",), context=True, large=True)
def dataset_to_single_element(c: OpKernelConstruction) -> Compute:
    """The only element of a dataset."""

    def compute(context: OpKernelContext, source: Any) -> Element:
        root = Cancellation()
        try:
            found = []
            for element in as_dataset(source).iterate(Environment(context, root)):
                found.append(element)
                if len(found) > 1:
                    raise invalid_argument("Dataset had more than one element.")
        finally:
            root.cancel()
        if not found:
            raise invalid_argument("Dataset was empty.")
        return found[0]

    return compute


@host_kernel(["DatasetCardinality", "ExperimentalDatasetCardinality"], large=True)
def dataset_cardinality(c: OpKernelConstruction) -> Compute:
    """Number of elements; -1 for endless, -2 for not known."""
    return lambda source, *_: np.int64(as_dataset(source).cardinality)


@host_kernel("ComputeBatchSize", large=True)
def compute_batch_size(c: OpKernelConstruction) -> Compute:
    """The size of the batches that the elements are; -1 where they are none."""
    return lambda source, *_: np.int64(as_dataset(source).batch_size)
