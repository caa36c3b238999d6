"""OptimizeDataset: the rewrites of TensorFlow that change what elements come out.

    repeat(shuffle(x)) -> shuffle_and_repeat(x)     another random order
    batch(map(x)) -> map_and_batch(x)               an error takes its batch along

The others (fusions of maps and filters, no-op elimination) change nothing that one can
see, and a chain of Python iterators gains nothing by them.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.kernels.host.data.pipeline.batching import BatchDataset
from tensorloom.kernels.host.data.pipeline.dataset import (
    Dataset,
    as_dataset,
    dataset_kernel,
)
from tensorloom.kernels.host.data.pipeline.dataset_graph import named
from tensorloom.kernels.host.data.pipeline.mapping import MapAndBatchDataset, MapDataset
from tensorloom.kernels.host.data.pipeline.selection import RepeatDataset
from tensorloom.kernels.host.data.pipeline.shuffle import ShuffleDataset
from tensorloom.kernels.host.data.pipeline.statistics import with_latencies

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction

_LATENCIES = b"latency_all_edges"
_FUSIONS = frozenset([b"shuffle_and_repeat_fusion", b"map_and_batch_fusion"])


@dataset_kernel("OptimizeDataset")
def optimize_dataset(c: OpKernelConstruction) -> Compute:
    """The same elements, by the rewrites that are asked for."""

    def compute(source: Any, optimizations: Any) -> Dataset:
        if np.ndim(optimizations) != 1:
            raise invalid_argument("`optimizations` must be a vector.")
        asked = optimizations.reshape(-1).tolist()
        dataset = named(as_dataset(source))
        wanted = _FUSIONS.intersection(asked)
        if wanted:
            dataset = rewrite(dataset, wanted)
        return with_latencies(dataset) if _LATENCIES in asked else dataset

    return compute


def rewrite(dataset: Dataset, wanted: frozenset[bytes]) -> Dataset:
    """The dataset with the fusions applied to it and to its inputs."""
    inputs = tuple(rewrite(source, wanted) for source in dataset.inputs)
    if any(new is not old for new, old in zip(inputs, dataset.inputs, strict=True)):
        dataset = copy.copy(dataset)
        dataset.inputs = inputs
    if b"shuffle_and_repeat_fusion" in wanted and type(dataset) is RepeatDataset:
        source = dataset.inputs[0]
        if type(source) is ShuffleDataset:
            return source.repeated(dataset.count) or dataset
    if b"map_and_batch_fusion" in wanted and type(dataset) is BatchDataset:
        source = dataset.inputs[0]
        if type(source) is MapDataset:
            return MapAndBatchDataset.fused(source, dataset)
    return dataset
