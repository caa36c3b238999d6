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

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.functions.called_functions import functions_named, names_of
from tensorloom.framework.runtime.input_service import DATA, FILE, HINT
from tensorloom.kernels.host.data.pipeline.dataset import (
    Dataset,
    as_dataset,
    dataset_kernel,
)
from tensorloom.kernels.host.data.pipeline.readers import RecordDataset
from tensorloom.kernels.host.data.pipeline.selection import (
    HintedShardDataset,
    ShardDataset,
)
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
# TensorFlow 2 looks through these, too.
_ALSO_BY_2 = frozenset(["ParallelBatch", "ParseExample", "Unbatch"])
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


@dataset_kernel("InputShareDataset")
def input_share_dataset(c: OpKernelConstruction) -> Compute:
    """The share of one of an input service's workers."""

    def compute(source: Any, policy: Any, num_workers: Any, index: Any) -> Dataset:
        kind = bytes(policy[()] if hasattr(policy, "shape") else policy).decode()
        return share_of(as_dataset(source), kind, int(num_workers), int(index))

    return compute


def share_of(dataset: Dataset, policy: str, workers: int, index: int) -> Dataset:
    """A worker's share by one of the service's static policies; "" is all of it.

    Raises:
      errors.NotFoundError: FILE, and what the dataset reads are no files.
    """
    if not policy:
        return dataset
    if policy == HINT:
        return _hinted(dataset, workers, index)
    if policy != DATA:
        sharded, by_files = _by_files(dataset, workers, index, of_readers=True)
        if by_files:
            return sharded
        if policy == FILE:
            raise errors.NotFoundError(
                None,
                None,
                "Found an unshardable source dataset: ShardingPolicy.FILE wants a "
                "pipeline that reads files alone",
            )
    return _shard(dataset, workers, index)


def _hinted(dataset: Dataset, workers: int, index: int) -> Dataset:
    """The dataset with its marks replaced by shards."""
    inputs = [_hinted(source, workers, index) for source in dataset.inputs]
    if isinstance(dataset, HintedShardDataset):
        return _shard(inputs[0], workers, index)
    changed = any(a is not b for a, b in zip(inputs, dataset.inputs, strict=True))
    return _on(dataset, *inputs) if changed else dataset


def _shard(dataset: Dataset, workers: int, index: int) -> Dataset:
    return ShardDataset(dataset, workers, index, is_for_all=True)


def _by_files(
    dataset: Dataset, workers: int, index: int, of_readers: bool = False
) -> tuple[Dataset, bool]:
    """The dataset with its files sharded, and whether that was all of them.

    Args:
      dataset, workers, index: what, among how many, and whose share.
      of_readers: as TensorFlow 2 does it: the files of a reader are sharded that is
        given its files itself, too.
    """
    kind = _kind(dataset)
    if of_readers and isinstance(dataset, RecordDataset):
        return _of_some_files(dataset, workers, index), True
    if kind in _OF_FILES and _reads_files(dataset):
        files, shuffle = _without_shuffles(dataset.inputs[0])
        files = _shard(files, workers, index)
        return _on(dataset, files if shuffle is None else _on(shuffle, files)), True
    count = len(dataset.inputs) if kind in _JOINING else 1
    looked_through = _LOOKED_THROUGH | (_ALSO_BY_2 if of_readers else frozenset())
    if kind not in _JOINING and kind not in looked_through:
        return dataset, False
    inputs, by_files = list(dataset.inputs), True
    for i in range(count):
        inputs[i], by_files = _by_files(inputs[i], workers, index, of_readers)
        if not by_files:
            break
    return _on(dataset, *inputs), by_files


def _of_some_files(reader: RecordDataset, workers: int, index: int) -> Dataset:
    count = len(reader.files)
    if count < workers:
        raise invalid_argument(
            f"Could not apply FILE based sharding: the dataset only has {count} "
            f"file(s), which is not enough for the required {workers} shards/workers"
        )
    return reader.of(reader.files[index::workers])


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
