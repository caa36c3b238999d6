"""The classes of TensorFlow's datasets: bases for one's own, and each kind by name.

A kind is called as its class is in TensorFlow, and gives what the method of
`tf.data.Dataset` gives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorloom.data import optimization, transformations
from tensorloom.data.dataset import Dataset, DatasetV1Adapter

if TYPE_CHECKING:
    from tensorloom.framework.graph.tensor import Tensor


class _SpecOfItsOwn(DatasetV1Adapter):
    """A dataset whose class says the specs of its elements as a property."""

    def __init__(self, variant_tensor: Tensor, inputs: list[Dataset]) -> None:
        super().__init__(variant_tensor, None, inputs)


class DatasetSource(_SpecOfItsOwn):
    """The base of a dataset that has no other as its input; define `element_spec`."""

    def __init__(self, variant_tensor: Tensor) -> None:
        super().__init__(variant_tensor, [])


class UnaryDataset(_SpecOfItsOwn):
    """The base of a dataset with one input; define `element_spec`."""

    _input_dataset: Dataset

    def __init__(self, input_dataset: Dataset, variant_tensor: Tensor) -> None:
        self._input_dataset = input_dataset
        super().__init__(variant_tensor, [input_dataset])


class UnaryUnchangedStructureDataset(UnaryDataset):
    """The base of a dataset with one input, whose elements have the same specs."""

    @property
    def element_spec(self) -> Any:
        """The specs of an element's components."""
        return self._input_dataset.element_spec


def _method(name: str) -> Callable[..., Dataset]:
    """A method of datasets as a function of its first input."""

    def made(input_dataset: Dataset, *args: Any, **kwargs: Any) -> Dataset:
        result: Dataset = getattr(input_dataset, name)(*args, **kwargs)
        return result

    made.__name__ = name
    made.__doc__ = f"`tf.data.Dataset.{name}`."
    return made


BatchDataset = _method("batch")
CacheDataset = _method("cache")
ConcatenateDataset = _method("concatenate")
FilterDataset = _method("filter")
FlatMapDataset = _method("flat_map")
PaddedBatchDataset = _method("padded_batch")
RepeatDataset = _method("repeat")
ShuffleDataset = _method("shuffle")
SkipDataset = _method("skip")
TakeDataset = _method("take")
WindowDataset = _method("window")
_UnbatchDataset = _method("unbatch")

RangeDataset = transformations.range_dataset
SparseTensorSliceDataset = transformations.from_sparse_tensor_slices
TensorDataset = transformations.from_tensors
TensorSliceDataset = transformations.from_tensor_slices
ZipDataset = transformations.zip_datasets


def PrefetchDataset(
    input_dataset: Dataset, buffer_size: Any, slack_period: int | None = None
) -> Dataset:
    """Makes elements ahead; only every `slack_period`-th wait is shortened."""
    size = -1 if buffer_size is None else buffer_size
    return input_dataset._same(
        "PrefetchDataset",
        buffer_size=transformations.int64(size, "buffer_size"),
        slack_period=slack_period or 0,
    )


def MapDataset(
    input_dataset: Dataset,
    map_func: Callable[..., Any],
    use_inter_op_parallelism: bool = True,
    preserve_cardinality: bool = False,
    use_legacy_function: bool = False,
) -> Dataset:
    """A function of each element."""
    return input_dataset.map(map_func)


def ParallelMapDataset(
    input_dataset: Dataset,
    map_func: Callable[..., Any],
    num_parallel_calls: Any,
    use_inter_op_parallelism: bool = True,
    preserve_cardinality: bool = False,
    use_legacy_function: bool = False,
) -> Dataset:
    """A function of each element, of several at a time."""
    return input_dataset.map(map_func, num_parallel_calls)


def InterleaveDataset(
    input_dataset: Dataset,
    map_func: Callable[..., Any],
    cycle_length: Any,
    block_length: Any,
) -> Dataset:
    """Blocks of elements of the datasets that a function gives, in turn."""
    return input_dataset.interleave(map_func, cycle_length, block_length)


def ParallelInterleaveDataset(
    input_dataset: Dataset,
    map_func: Callable[..., Any],
    cycle_length: Any,
    block_length: Any,
    num_parallel_calls: Any,
) -> Dataset:
    """Blocks of elements of the datasets that a function gives, several at a time."""
    return input_dataset.interleave(
        map_func, cycle_length, block_length, num_parallel_calls
    )


def _ModelDataset(
    input_dataset: Dataset, algorithm: Any = 0, cpu_budget: int = 0
) -> Dataset:
    """The same elements; how many run at a time may be tuned."""
    return input_dataset._same(
        "ModelDataset", algorithm=int(algorithm), cpu_budget=cpu_budget
    )


def _OptimizeDataset(
    input_dataset: Dataset, optimizations: Any, optimization_configs: Any = None
) -> Dataset:
    """The same elements of a rewritten dataset."""
    optimized: Dataset = optimization.optimize(optimizations)(input_dataset)
    return optimized


def _MaxIntraOpParallelismDataset(
    input_dataset: Dataset, max_intra_op_parallelism: Any
) -> Dataset:
    """The same elements; no op takes more threads."""
    return input_dataset._same(
        "MaxIntraOpParallelismDataset",
        max_intra_op_parallelism=transformations.int64(
            max_intra_op_parallelism, "max_intra_op_parallelism"
        ),
    )


def _PrivateThreadPoolDataset(input_dataset: Dataset, num_threads: Any) -> Dataset:
    """The same elements, made by threads of their own."""
    return input_dataset._same(
        "PrivateThreadPoolDataset",
        num_threads=transformations.int64(num_threads, "num_threads"),
    )
