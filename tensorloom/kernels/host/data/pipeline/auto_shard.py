"""AutoShardDataset: a worker's share of a pipeline, by files where it reads some.

    batch(flat_map(shuffle(files), TFRecordDataset))
 -> batch(flat_map(shuffle(shard(files)), TFRecordDataset))

Where a part of the pipeline is none that TensorFlow looks through, every `workers`-th
element of the whole is taken; inputs that were sharded by then stay so, as there.
"""

from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING, Any

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.functions.called_functions import functions_named, names_of
from tensorloom.kernels.host.data.pipeline.dataset import (
    Dataset,
    as_dataset,
    dataset_kernel,
)
from tensorloom.kernels.host.data.pipeline.selection import ShardDataset
from tensorloom.kernels.host.data.pipeline.shuffle import ShuffleDataset

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction

# Ops without what tells one version of them from another.
_READERS = frozenset(["FixedLengthRecord", "TextLine", "TFRecord"])
_OF_FILES = frozenset(["FlatMap", "Interleave", "ParallelInterleave"])
_JOINING = frozenset(["Concatenate", "Zip"])
_LOOKED_THROUGH = frozenset(
    [
        *("Batch", "Cache", "Filter", "FilterByLastComponent", "Map", "MapAndBatch"),
        *("Model", "Optimize", "Options", "PaddedBatch", "ParallelMap", "Prefetch"),
        *("Repeat", "Shard", "Shuffle", "ShuffleAndRepeat", "Skip", "Take", "Window"),
    ]
)
_NAME = re.compile(r"(?:Experimental|Legacy)?(\w+?)Dataset(?:V\d)?")


@dataset_kernel("AutoShardDataset", "ExperimentalAutoShardDataset")
def auto_shard_dataset(c: OpKernelConstruction) -> Compute:
    """The share of one of several workers."""

    def compute(source: Any, num_workers: Any, index: Any) -> Dataset:
        workers, own, dataset = int(num_workers), int(index), as_dataset(source)
        if workers < 1:
            raise invalid_argument(f"num_workers must be >= 1, currently {workers}")
        if not 0 <= own < workers:
            raise invalid_argument(
                f"index must be between 0 and {workers - 1}, currently {own}"
            )
        if workers == 1:
            return dataset
        sharded, by_files = _by_files(dataset, workers, own)
        return sharded if by_files else _shard(sharded, workers, own)

    return compute


def _shard(dataset: Dataset, workers: int, index: int) -> Dataset:
    return ShardDataset(dataset, workers, index, is_for_all=True)


def _by_files(dataset: Dataset, workers: int, index: int) -> tuple[Dataset, bool]:
    """The dataset with its files sharded, and whether that was all of them."""
    kind = _kind(dataset)
    if kind in _OF_FILES and _reads_files(dataset):
        files, shuffle = _without_shuffles(dataset.inputs[0])
        files = _shard(files, workers, index)
        return _on(dataset, files if shuffle is None else _on(shuffle, files)), True
    count = len(dataset.inputs) if kind in _JOINING else 1
    if kind not in _JOINING and kind not in _LOOKED_THROUGH:
        return dataset, False
    inputs, by_files = list(dataset.inputs), True
    for i in range(count):
        inputs[i], by_files = _by_files(inputs[i], workers, index)
        if not by_files:
            break
    return _on(dataset, *inputs), by_files


def _without_shuffles(dataset: Dataset) -> tuple[Dataset, Dataset | None]:
    """The dataset in the order of its sources, and the first shuffle in it, if any."""
    first = None
    inputs = []
    for source in dataset.inputs:
        source, shuffle = _without_shuffles(source)
        inputs.append(source)
        first = shuffle or first
    if isinstance(dataset, ShuffleDataset):
        return inputs[0], first or dataset
    return (_on(dataset, *inputs) if first is not None else dataset), first


def _on(dataset: Dataset, *inputs: Dataset) -> Dataset:
    """The same kind of dataset, of other inputs."""
    dataset = copy.copy(dataset)
    dataset.inputs = inputs
    return dataset


def _kind(dataset: Dataset) -> str:
    if dataset.maker is None:
        return ""
    found = _NAME.fullmatch(dataset.maker.op)
    return found[1] if found else ""


def _reads_files(dataset: Dataset) -> bool:
    """Whether a function of the dataset makes one that reads files."""
    assert dataset.maker is not None
    library = dict(dataset.maker.functions)
    functions = functions_named(names_of(dataset.maker.node), library)
    return any(
        (found := _NAME.fullmatch(node.op)) and found[1] in _READERS
        for function in functions.values()
        for node in function.nodes.values()
    )
