"""Datasets that sample, divide batches anew, or choose among equal ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.kernels.host.data.pipeline.dataset import (
    Dataset,
    DatasetIterator,
    Element,
    as_dataset,
    dataset_kernel,
    like,
    signature,
)
from tensorloom.kernels.host.data.pipeline.environment import (
    Cancellation,
    CapturedFunction,
    Environment,
)
from tensorloom.kernels.host.data.pipeline.sources import RandomWords, drawn_seeds
from tensorloom.kernels.host.data.pipeline.stored import Elements
from tensorloom.kernels.host.random.philox import uint32_to_float

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import (
        Compute,
        OpKernelConstruction,
        OpKernelContext,
    )


# --- sampling ----------------------------------------------------------------


class _SamplingDataset(Dataset):
    seeds: tuple[int, int]

    def __init__(self, source: Dataset, rate: Any, seeds: tuple[int, int]) -> None:
        super().__init__(*like(source))
        self._rate, self.seeds = rate, drawn_seeds(*seeds)

    def iterate(self, env: Environment) -> DatasetIterator:
        words = RandomWords(*self.seeds)

        def elements() -> Iterator[Element]:
            for element in self.inputs[0].iterate(env):
                drawn = uint32_to_float(np.array([words.next()], np.uint32))[0]
                if drawn < self._rate:
                    yield element

        return Elements(elements())


@dataset_kernel("SamplingDataset")
def sampling_dataset(c: OpKernelConstruction) -> Compute:
    """Each element with the chance `rate`."""

    def compute(source: Any, rate: Any, seed: Any, seed2: Any) -> Dataset:
        return _SamplingDataset(
            as_dataset(source), np.float32(rate), (int(seed), int(seed2))
        )

    return compute


# --- batches of other sizes --------------------------------------------------


class _RebatchDataset(Dataset):
    """Batches whose sizes repeat in a cycle."""

    def __init__(
        self, types: Any, shapes: Any, source: Dataset, sizes: list[int], drop: bool
    ) -> None:
        super().__init__(types, shapes, source)
        self._sizes, self._drop = sizes, drop

    def iterate(self, env: Environment) -> DatasetIterator:
        return Elements(self._batches(self.inputs[0].iterate(env)))

    def _batches(self, source: DatasetIterator) -> Iterator[Element]:
        rest: list[Any] = []
        number, ended = 0, False
        while True:
            size = self._sizes[number % len(self._sizes)]
            while not ended and (not rest or len(rest[0]) < size):
                more = next(source, None)
                if more is None:
                    ended = True
                else:
                    rest = (
                        [np.concatenate(p) for p in zip(rest, more, strict=True)]
                        if rest
                        else [np.asarray(part) for part in more]
                    )
            held = len(rest[0]) if rest else 0
            if ended and (not held or (self._drop and held < size)):
                return
            yield tuple(part[:size] for part in rest)
            rest = [part[size:] for part in rest]
            number += 1


@dataset_kernel("RebatchDatasetV2")
def rebatch_dataset_v2(c: OpKernelConstruction) -> Compute:
    """Batches of other sizes."""
    types, shapes = signature(c)

    def compute(source: Any, sizes: Any, drop: Any) -> Dataset:
        numbers = [int(size) for size in np.reshape(sizes, -1)]
        if not numbers or any(size < 1 for size in numbers):
            raise invalid_argument(
                "batch_sizes must be positive numbers, at least one of them"
            )
        return _RebatchDataset(types, shapes, as_dataset(source), numbers, bool(drop))

    return compute


# --- choices -----------------------------------------------------------------


@dataset_kernel("ChooseFastestDataset", "ExperimentalChooseFastestDataset")
def choose_fastest_dataset(c: OpKernelConstruction) -> Compute:
    """The first of several datasets whose elements are equal: any choice is right."""

    def compute(*sources: Any) -> Dataset:
        datasets = [as_dataset(source) for source in sources]
        for index, dataset in enumerate(datasets[1:], 1):
            _check_alike(datasets[0], dataset, index)
        return datasets[0]

    return compute


def _check_alike(first: Dataset, other: Dataset, index: int) -> None:
    """Raises InvalidArgumentError unless two inputs may have equal elements."""
    must = "All inputs to ChooseFastestDataset must have"
    if first.types != other.types:
        found, wanted = (
            ", ".join(dtype.name for dtype in one.types) for one in (other, first)
        )
        raise invalid_argument(
            f"{must} the same output types. Input {index} has output types: {found}. "
            f"Expected: {wanted}."
        )
    for part, (mine, theirs) in enumerate(zip(first.shapes, other.shapes, strict=True)):
        if not mine.is_compatible_with(theirs):
            raise invalid_argument(
                f"{must} compatible output shapes. Component {part} of input {index} "
                f"has shape: {theirs}. Expected to be compatible with shape: {mine}."
            )
    if first.cardinality != other.cardinality:
        raise invalid_argument(
            f"{must} compatible cardinalities. Input {index} has cardinality: "
            f"{other.cardinality}, while all prior inputs have cardinality: "
            f"{first.cardinality}."
        )


class _BranchDataset(Dataset):
    """What the first branch makes of the source."""

    def __init__(
        self, types: Any, shapes: Any, source: Dataset, branch: CapturedFunction
    ) -> None:
        super().__init__(types, shapes, source)
        self._branch = branch

    def iterate(self, env: Environment) -> DatasetIterator:
        (made,) = self._branch(env, (self.inputs[0],))
        return as_dataset(made).iterate(env)


@dataset_kernel("ChooseFastestBranchDataset", retains=("other_arguments",))
def choose_fastest_branch_dataset(c: OpKernelConstruction) -> Compute:
    """The elements by the first of several ways."""
    types, shapes = signature(c)
    call = c.function(c["branches"][0], host_results=True)
    count = c["other_arguments_lengths"][0]

    def compute(source: Any, numerator: Any, denominator: Any, *args: Any) -> Dataset:
        if int(numerator) < 1 or int(denominator) < 1:
            raise invalid_argument(
                "`ratio_numerator` and `ratio_denominator` must be positive"
            )
        branch = CapturedFunction(call, args[:count])
        return _BranchDataset(types, shapes, as_dataset(source), branch)

    return compute


# --- into a table, and options -----------------------------------------------


@host_kernel("InitializeTableFromDataset", devices=("CPU",), context=True, large=True)
def initialize_table_from_dataset(c: OpKernelConstruction) -> Compute:
    """Fills a table with elements (key, value)."""

    def compute(context: OpKernelContext, table: Any, source: Any) -> None:
        dataset, root = as_dataset(source), Cancellation()
        if len(dataset.types) != 2:
            raise invalid_argument("Dataset should have two output types only")
        table.check_types(*dataset.types)
        pairs: list[Element] = []
        try:
            for element in dataset.iterate(Environment(context, root)):
                pairs.append(element)
                context.cancellation.check()
        finally:
            root.cancel()
        columns = zip(*pairs, strict=True) if pairs else ((), ())
        arrays = (
            np.array([np.asarray(v)[()] for v in column], dtype.np_dtype)
            for column, dtype in zip(columns, dataset.types, strict=True)
        )
        table.initialize(*arrays)

    return compute


@host_kernel("GetOptions", devices=("CPU",), large=True)
def get_options(c: OpKernelConstruction) -> Compute:
    """The serialized options of a pipeline."""
    return lambda source: np.array(as_dataset(source).options, object)
