"""Datasets for several workers, replicas and devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorloom.data import nest, specs
from tensorloom.data.dataset import Dataset
from tensorloom.data.transformations import make
from tensorloom.framework.graph.graph import colocate_with, device
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types.tensor_shape import TensorShape


def auto_shard_dataset(input_dataset: Dataset, num_workers: Any, index: Any) -> Dataset:
    """The files that one of several workers reads.

    Raises:
      NotFoundError: (when it runs) the dataset reads no files.
    """
    return input_dataset._same("AutoShardDataset", num_workers=num_workers, index=index)


def rebatch_dataset(
    input_dataset: Dataset, num_replicas: int, use_fallback: bool = True
) -> Dataset:
    """Each batch as one smaller batch for each replica.

    Raises:
      ValueError: the elements are no batches.
    """

    def divided(shape: TensorShape) -> TensorShape:
        if shape.ndims is not None and shape.ndims < 1:
            raise ValueError(
                "Input shape should have at least one dimension. "
                "Perhaps your input dataset is not batched?"
            )
        size, *rest = shape.as_list()
        if size is None or size % num_replicas:
            return TensorShape([None, *rest])
        return TensorShape([size // num_replicas, *rest])

    structure = specs.legacy_structure(
        input_dataset.output_types,
        nest.map_structure(divided, input_dataset.output_shapes),
        input_dataset.output_classes,
    )
    return make(
        "RebatchDataset",
        structure,
        [input_dataset],
        input_dataset=input_dataset._variant_tensor,
        num_replicas=num_replicas,
    )


def remote_dataset(graph_def: Any, device_name: str, element_spec: Any) -> Dataset:
    """The dataset of a serialized graph, on a device."""
    with device(device_name):
        variant = apply_op("DatasetFromGraph", graph_def=graph_def)
    return Dataset(variant, element_spec)


def replicate(dataset: Dataset, devices: Sequence[str]) -> dict[str, Dataset]:
    """The dataset for each of several devices, by the device's name.

    Raises:
      TypeError: `dataset` is none.
    """
    if not isinstance(dataset, Dataset):
        raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
    with colocate_with(dataset._variant_tensor):
        graph_def = dataset._apply_options()._as_serialized_graph()
    spec = dataset.element_spec
    return {name: remote_dataset(graph_def, name, spec) for name in devices}
