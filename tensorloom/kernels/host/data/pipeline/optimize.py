"""OptimizeDataset: the rewrites of TensorFlow that a pipeline here can tell.

    repeat(shuffle(x)) -> shuffle_and_repeat(x)     another random order
    batch(map(x)) -> map_and_batch(x)               an error takes its batch along
    take(-1), skip(0), repeat(1), prefetch(0)       are left out
    map(x) -> parallel_map(x)                       if its function has no state

The others (fusions of maps and filters, ...) change nothing that one can see but the
names that `assert_next` compares, and a chain of Python iterators gains nothing by
them. Unknown names are refused, as in TensorFlow.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.kernels.host.data.pipeline.batching import BatchDataset
from tensorloom.kernels.host.data.pipeline.buffering import PrefetchDataset
from tensorloom.kernels.host.data.pipeline.dataset import (
    Dataset,
    as_dataset,
    dataset_kernel,
)
from tensorloom.kernels.host.data.pipeline.dataset_graph import check_stateless, named
from tensorloom.kernels.host.data.pipeline.mapping import MapAndBatchDataset, MapDataset
from tensorloom.kernels.host.data.pipeline.selection import (
    RepeatDataset,
    SkipDataset,
    TakeDataset,
)
from tensorloom.kernels.host.data.pipeline.shuffle import ShuffleDataset
from tensorloom.kernels.host.data.pipeline.statistics import with_latencies

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction

_LATENCIES = b"latency_all_edges"
_SHUFFLES, _BATCHES = b"shuffle_and_repeat_fusion", b"map_and_batch_fusion"
_NO_OPS, _PARALLEL_MAPS = b"noop_elimination", b"map_parallelization"
_REWRITES = frozenset([_SHUFFLES, _BATCHES, _NO_OPS, _PARALLEL_MAPS])
# They change nothing that one can see but the names of iterators.
_WITHOUT_EFFECT = frozenset(
    [
        *(b"filter_fusion", b"hoist_random_uniform", b"inject_prefetch"),
        *(b"make_sloppy", b"make_stateless", b"map_and_filter_fusion", b"map_fusion"),
        *(b"map_vectorization", b"parallel_batch", b"slack"),
    ]
)
_KNOWN = _REWRITES | _WITHOUT_EFFECT | {_LATENCIES}
_MAYBE_NO_OPS = (PrefetchDataset, RepeatDataset, SkipDataset, TakeDataset)


@dataset_kernel("OptimizeDataset")
def optimize_dataset(c: OpKernelConstruction) -> Compute:
    """The same elements, by the rewrites that are asked for."""

    def compute(source: Any, optimizations: Any) -> Dataset:
        if np.ndim(optimizations) != 1:
            raise invalid_argument("`optimizations` must be a vector.")
        asked = optimizations.reshape(-1).tolist()
        for name in asked:
            if name not in _KNOWN:
                raise errors.InternalError(
                    None,
                    None,
                    "Tried to register a dataset optimizer that doesn't exist: "
                    f"{name.decode(errors='replace')}",
                )
        dataset = named(as_dataset(source))
        wanted = _REWRITES.intersection(asked)
        if wanted:
            dataset = rewrite(dataset, wanted)
        return with_latencies(dataset) if _LATENCIES in asked else dataset

    return compute


def rewrite(dataset: Dataset, wanted: frozenset[bytes]) -> Dataset:
    """The dataset with the rewrites applied to its inputs and to it."""
    inputs = tuple(rewrite(source, wanted) for source in dataset.inputs)
    if any(new is not old for new, old in zip(inputs, dataset.inputs, strict=True)):
        dataset = copy.copy(dataset)
        dataset.inputs = inputs
    rewritten: Dataset = _rewritten(dataset, wanted)
    if rewritten is not dataset and dataset.handed_on:
        rewritten = copy.copy(rewritten)
        rewritten.handed_on += dataset.handed_on
    return rewritten


def _rewritten(dataset: Any, wanted: frozenset[bytes]) -> Any:
    """What stands in for the dataset alone; the dataset if nothing does."""
    kind = type(dataset)
    if (
        _NO_OPS in wanted
        and isinstance(dataset, _MAYBE_NO_OPS)
        and dataset.has_no_effect
    ):
        return dataset.inputs[0]
    if _PARALLEL_MAPS in wanted and kind is MapDataset:
        return _parallel(dataset)
    source = dataset.inputs[0] if dataset.inputs else dataset
    if source.handed_on:
        return dataset  # a node stands between the two
    if _SHUFFLES in wanted and (kind, type(source)) == (RepeatDataset, ShuffleDataset):
        return source.repeated(dataset.count) or dataset
    if _BATCHES in wanted and (kind, type(source)) == (BatchDataset, MapDataset):
        return MapAndBatchDataset.fused(source, dataset)
    return dataset


def _parallel(dataset: MapDataset) -> MapDataset:
    """A map whose function has no state in several threads; any other as it is."""
    alone = copy.copy(dataset)
    alone.inputs = ()
    try:
        check_stateless(alone)
    except errors.OpError:
        return dataset
    return dataset.parallel()
