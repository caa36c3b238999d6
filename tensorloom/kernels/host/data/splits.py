"""A pipeline of a part of its input: what a worker of the input service runs.

    batch(map(range(100)))  of [20, 40)  ->  batch(map(range(20, 40)))

What is divided is the part of the pipeline below all steps that look at elements one by
one (or at files, which are divided as such). A repetition of it counts as more
elements: `repeat(3)` of 100 elements are 300, so that batches go over its seams as they
should. The order within a split is always the same, whatever shuffles: a worker can go
on where another one stopped.
"""

from __future__ import annotations

import copy
import hashlib
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework.runtime.input_service import ENDLESS, INDIVISIBLE, Splits
from tensorloom.kernels.host.data.pipeline.dataset import (
    INFINITE,
    Dataset,
    DatasetIterator,
    Element,
    RowDataset,
    RowIterator,
    as_dataset,
    dataset_kernel,
    like,
    rows_of,
)
from tensorloom.kernels.host.data.pipeline.readers import RecordDataset
from tensorloom.kernels.host.data.pipeline.selection import (
    RepeatDataset,
    SkipDataset,
    TakeDataset,
)
from tensorloom.kernels.host.data.pipeline.shuffle import ShuffleDataset

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.kernels.host.data.pipeline.environment import Environment

_NAME: Final = re.compile(r"(?:Experimental|Legacy)?(\w+?)Dataset(?:V\d)?")
# One element of the input gives one of the output.
_ONE_TO_ONE: Final = frozenset(
    [
        *("Map", "MaxIntraOpParallelism", "Model", "Optimize", "Options"),
        *("ParallelMap", "ParseExample", "Prefetch", "PrivateThreadPool"),
    ]
)
_BATCHES: Final = frozenset(["Batch", "MapAndBatch", "PaddedBatch", "ParallelBatch"])
# An element may give none, or several.
_OTHERS: Final = frozenset(
    ["Filter", "FilterByLastComponent", "IgnoreErrors", "Unbatch"]
)
# An element gives a whole dataset: it is a file, as a rule.
_NESTING: Final = frozenset(["FlatMap", "Interleave", "ParallelInterleave"])
# Each split would have a cache of its own, which nobody reads twice.
_LEFT_OUT: Final = frozenset(["Cache"])
# As many splits, if batches allow it: they are shared out evenly, and asked for seldom.
_SPLITS: Final = 64


def splits_of(dataset: Dataset) -> Splits:
    """How the input of a pipeline is divided."""
    steps, source, repeats = _steps(dataset)
    count = _elements(source)
    if count < 0:
        return Splits(INDIVISIBLE, reason=_reason(source))
    multiple, exact = 1, True
    for step in reversed(steps):
        kind = _kind(step)
        if kind in _OTHERS or kind in _NESTING:
            exact = False
        elif kind in _BATCHES and exact:
            multiple *= max(1, step.batch_size)
    is_of_files = isinstance(source, RecordDataset)
    whole = any(_kind(step) in _NESTING for step in steps) or is_of_files
    size = 1 if whole else -(-count // _SPLITS)
    size = max(1, -(-size // multiple)) * multiple
    total = ENDLESS if repeats < 0 and count else count * repeats
    return Splits(total, size, multiple)


def split_of(dataset: Dataset, begin: int, end: int, seed: int) -> Dataset:
    """The pipeline of the elements [begin, end) of what is divided.

    Args:
      dataset: one that `splits_of` can divide.
      seed: of the shuffles that have none of their own.
    """
    steps, source, _ = _steps(dataset)
    result: Dataset
    if isinstance(source, RecordDataset):
        files = source.files
        result = source.of([files[at % len(files)] for at in range(begin, end)])
    else:
        rows = rows_of(source)
        result = _Part(source, begin, end) if rows is None else _Rows(rows, begin, end)
    for depth, step in enumerate(reversed(steps)):
        if isinstance(step, ShuffleDataset):
            result = step.of(result, _seeds(step, seed, begin, depth))
        else:
            step = copy.copy(step)
            step.inputs = (result,)
            result = step
    return result


def _steps(dataset: Dataset) -> tuple[list[Dataset], Dataset, int]:
    """The steps from the last one on, what is divided, and how often it is repeated."""
    steps: list[Dataset] = []
    repeats = 1
    while True:
        kind = _kind(dataset)
        if isinstance(dataset, ShuffleDataset):
            steps.append(dataset)
            count = dataset.count
        elif isinstance(dataset, RepeatDataset):
            count = dataset.count
        elif kind in _LEFT_OUT:
            count = 1
        elif kind in _ONE_TO_ONE | _BATCHES | _OTHERS | _NESTING:
            steps.append(dataset)
            count = 1
        else:
            return steps, dataset, repeats
        if not (repeats and count):
            repeats = 0
        elif repeats < 0 or count < 0:
            repeats = -1
        else:
            repeats *= count
        dataset = dataset.inputs[0]


def _kind(dataset: Dataset) -> str:
    found = _NAME.fullmatch(dataset.maker.op) if dataset.maker is not None else None
    # What other kernels have put in a node's place is another kind of dataset.
    return found[1] if found and len(dataset.inputs) == 1 else ""


def _elements(source: Dataset) -> int:
    if isinstance(source, RecordDataset):
        return len(source.files)
    return source.cardinality


def _reason(source: Dataset) -> str:
    name = source.kind if source.maker is None else source.maker.op
    many = "is endless" if source.cardinality == INFINITE else "is not known"
    return f"the number of elements of its {name} {many}"


def _seeds(step: ShuffleDataset, seed: int, begin: int, depth: int) -> tuple[int, int]:
    own = tuple(int(value) for value in step.given_seeds)
    text = repr((own if any(own) else seed, begin, depth)).encode()
    digest = hashlib.blake2b(text, digest_size=16).digest()
    first, second = np.frombuffer(digest, "<i8").tolist()
    return first | 1, second


class _Rows(RowDataset):
    """Rows of a dataset, which begins anew at its end."""

    def __init__(self, source: RowDataset, begin: int, end: int) -> None:
        super().__init__(*like(source))
        self._begin, self._size = begin, end - begin

    @property
    def _source(self) -> Any:
        return self.inputs[0]

    @property
    def rows(self) -> int:
        return self._size

    def iterate(self, env: Environment) -> DatasetIterator:
        end = self._begin + self._size
        if end > self._source.rows:
            return RowIterator(self)
        return RowIterator(self._source, self._begin, end)

    def row(self, index: int) -> Element:
        found: Element = self._source.row((self._begin + index) % self._source.rows)
        return found

    def gather(self, indices: Any) -> Sequence[np.ndarray[Any, Any]]:
        if isinstance(indices, slice):
            indices = np.arange(*indices.indices(self._size))
        rows = (indices + self._begin) % self._source.rows
        found: Sequence[np.ndarray[Any, Any]] = self._source.gather(rows)
        return found


class _Part(Dataset):
    """Elements of a dataset, which begins anew at its end."""

    keeps_elements = True

    def __init__(self, source: Dataset, begin: int, end: int) -> None:
        super().__init__(*like(source))
        self._begin, self._end = begin, end

    @property
    def cardinality(self) -> int:
        return self._end - self._begin

    def iterate(self, env: Environment) -> DatasetIterator:
        return _Chained(chain.from_iterable(self._rounds(env)))

    def _rounds(self, env: Environment) -> Iterator[DatasetIterator]:
        source = self.inputs[0]
        at, count = self._begin, source.cardinality
        while at < self._end:
            first = at % count
            size = min(count - first, self._end - at)
            yield TakeDataset(SkipDataset(source, first), size).iterate(env)
            at += size


class _Chained(DatasetIterator):
    def __init__(self, elements: Iterator[Element]) -> None:
        self._elements = elements

    def __next__(self) -> Element:
        return next(self._elements)


@dataset_kernel("InputSplitDataset")
def input_split_dataset(c: OpKernelConstruction) -> Compute:
    """A part of a pipeline's input, and all that the pipeline makes of it."""

    def compute(source: Any, begin: Any, end: Any, seed: Any) -> Dataset:
        dataset = as_dataset(source)
        if int(begin) == int(end) == -1:
            return dataset
        return split_of(dataset, int(begin), int(end), int(seed))

    return compute
