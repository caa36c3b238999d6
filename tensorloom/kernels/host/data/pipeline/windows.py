"""Windows of elements, and the inverse of batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.framework.errors import invalid_argument
from tensorloom.kernels.host.data.pipeline.batching import stack_elements
from tensorloom.kernels.host.data.pipeline.dataset import (
    INFINITE,
    UNKNOWN,
    Dataset,
    DatasetIterator,
    Element,
    as_dataset,
    check_positive,
    dataset_kernel,
    signature,
)
from tensorloom.kernels.host.data.pipeline.sources import ElementDataset, row_of

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.kernels.host.data.pipeline.environment import Environment


class _WindowDataset(Dataset):
    """Runs of elements, each component's as a dataset of its own."""

    def __init__(
        self,
        types: Any,
        shapes: Any,
        source: Dataset,
        numbers: tuple[int, int, int],
        drop: bool,
    ) -> None:
        super().__init__(types, shapes, source)
        self._numbers, self._drop = numbers, drop

    @property
    def cardinality(self) -> int:
        n = self.inputs[0].cardinality
        if n < 0:
            return n
        size, shift, stride = self._numbers
        if self._drop:
            spare = n - (size - 1) * stride - 1
            return max(0, spare // shift + 1) if spare >= 0 else 0
        return -(-n // shift)

    def iterate(self, env: Environment) -> DatasetIterator:
        source = self.inputs[0]
        return _WindowIterator(source, source.iterate(env), *self._numbers, self._drop)


class _WindowIterator(DatasetIterator):
    def __init__(
        self,
        dataset: Dataset,
        source: DatasetIterator,
        size: int,
        shift: int,
        stride: int,
        drop: bool,
    ) -> None:
        self._dataset, self._source = dataset, source
        self._size, self._shift, self._stride, self._drop = size, shift, stride, drop
        self._reach = (size - 1) * stride + 1
        self._buffer: list[Element | Exception] = []
        self._open = True
        self._to_skip = 0

    def _fill(self) -> None:
        while self._open and (self._to_skip or len(self._buffer) < self._reach):
            try:
                element: Element | Exception = next(self._source)
            except StopIteration:
                self._open = False
                return
            except Exception as error:
                element = error
            if self._to_skip:
                self._to_skip -= 1
            else:
                self._buffer.append(element)

    def __next__(self) -> Element:
        self._fill()
        buffer = self._buffer
        if not buffer or (self._drop and len(buffer) < self._reach):
            self._buffer = []
            self._open = False
            raise StopIteration
        chosen = buffer[: self._reach : self._stride]
        self._to_skip = max(0, self._shift - len(buffer)) if self._open else 0
        self._buffer = buffer[self._shift :]
        for element in chosen:
            if isinstance(element, Exception):
                raise element
        return tuple(
            ElementDataset((dtype,), (shape,), [(e[i],) for e in chosen])  # type: ignore[index]
            for i, (dtype, shape) in enumerate(
                zip(self._dataset.types, self._dataset.shapes, strict=True)
            )
        )


@dataset_kernel("WindowDataset")
def window_dataset(c: OpKernelConstruction) -> Compute:
    """Windows of elements."""
    types, shapes = signature(c)

    def compute(
        source: Any, size: Any, shift: Any, stride: Any, drop_remainder: Any
    ) -> Dataset:
        numbers = (
            check_positive(size, "Window size must be greater than zero."),
            check_positive(shift, "Window shift must be greater than zero."),
            check_positive(stride, "Window stride must be greater than zero."),
        )
        return _WindowDataset(
            types, shapes, as_dataset(source), numbers, bool(drop_remainder)
        )

    return compute


class _UnbatchDataset(Dataset):
    """The slices of the elements along dimension 0."""

    @property
    def cardinality(self) -> int:
        n = self.inputs[0].cardinality
        if n in (0, INFINITE):
            return n
        sizes = {s.dims_tuple[0] for s in self.inputs[0].shapes if s.dims_tuple}
        known = [size for size in sizes if size is not None]
        return n * known[0] if n > 0 and known else UNKNOWN

    def iterate(self, env: Environment) -> DatasetIterator:
        return _UnbatchIterator(self.inputs[0].iterate(env))


class _UnbatchIterator(DatasetIterator):
    def __init__(self, source: DatasetIterator) -> None:
        self._source = source
        self._element: Element = ()
        self._next = self._end = 0

    def __next__(self) -> Element:
        while self._next >= self._end:
            element = next(self._source)
            sizes = [value.shape[0] if value.ndim else -1 for value in element]
            if -1 in sizes:
                raise invalid_argument(
                    "Cannot unbatch an input with scalar components."
                )
            if len(set(sizes)) > 1:
                raise invalid_argument(
                    "Input element must have the same batch size in each component. "
                    f"Component 0 had size {sizes[0]} but component "
                    f"{next(i for i, s in enumerate(sizes) if s != sizes[0])} had "
                    f"size {next(s for s in sizes if s != sizes[0])}."
                )
            self._element, self._next, self._end = element, 0, sizes[0]
        index = self._next
        self._next = index + 1
        return tuple([row_of(value, index) for value in self._element])


@dataset_kernel("UnbatchDataset", "ExperimentalUnbatchDataset")
def unbatch_dataset(c: OpKernelConstruction) -> Compute:
    """The slices of the elements."""
    types, shapes = signature(c)
    return lambda source: _UnbatchDataset(types, shapes, as_dataset(source))


class _SlidingWindowDataset(_WindowDataset):
    """Windows of full size, as batches."""

    def iterate(self, env: Environment) -> DatasetIterator:
        source = self.inputs[0]
        windows = _WindowIterator(source, source.iterate(env), *self._numbers, True)
        return _StackedWindows(windows, self.types, env)


class _StackedWindows(DatasetIterator):
    def __init__(
        self, windows: DatasetIterator, types: Sequence[DType], env: Environment
    ) -> None:
        self._windows, self._types, self._env = windows, types, env

    def __next__(self) -> Element:
        columns = [list(window.iterate(self._env)) for window in next(self._windows)]
        rows = [sum(parts, ()) for parts in zip(*columns, strict=True)]
        return stack_elements(rows, self._types)


@dataset_kernel("SlidingWindowDataset", "ExperimentalSlidingWindowDataset")
def sliding_window_dataset(c: OpKernelConstruction) -> Compute:
    """Batches of overlapping windows."""
    types, shapes = signature(c)

    def compute(
        source: Any, window_size: Any, window_shift: Any, window_stride: Any, *_: Any
    ) -> Dataset:
        numbers = (
            check_positive(window_size, "Window size must be greater than zero."),
            check_positive(window_shift, "Window shift must be greater than zero."),
            check_positive(window_stride, "window_stride must be greater than zero."),
        )
        return _SlidingWindowDataset(types, shapes, as_dataset(source), numbers, True)

    return compute


class _RebatchDataset(Dataset):
    """Batches divided evenly into `parts` smaller ones."""

    def __init__(self, types: Any, shapes: Any, source: Dataset, parts: int) -> None:
        super().__init__(types, shapes, source)
        self._parts = parts

    def iterate(self, env: Environment) -> DatasetIterator:
        return _RebatchIterator(self.inputs[0].iterate(env), self._parts)


class _RebatchIterator(DatasetIterator):
    """Each component has a size of its own; the last parts may be smaller, or empty."""

    def __init__(self, source: DatasetIterator, parts: int) -> None:
        self._source, self._parts = source, parts
        self._element: Element = ()
        self._given = parts

    def __next__(self) -> Element:
        if self._given == self._parts:
            self._element, self._given = next(self._source), 0
        number = self._given
        self._given += 1
        return tuple(_part(value, number, self._parts) for value in self._element)


def _part(value: Any, number: int, parts: int) -> Any:
    size = -(-value.shape[0] // parts)
    return value[number * size : (number + 1) * size]


@dataset_kernel("RebatchDataset", "ExperimentalRebatchDataset")
def rebatch_dataset(c: OpKernelConstruction) -> Compute:
    """Batches for the replicas of a step."""
    types, shapes = signature(c)

    def compute(source: Any, replicas: Any, *_: Any) -> Dataset:
        parts = check_positive(replicas, "num_replicas must be greater than zero.")
        return _RebatchDataset(types, shapes, as_dataset(source), parts)

    return compute
