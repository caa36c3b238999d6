"""Datasets for several workers, replicas and devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.data import nest, specs
from tensorloom.data.dataset import Dataset, DatasetV1Adapter
from tensorloom.data.one_shot import dataset_ops
from tensorloom.data.transformations import make
from tensorloom.framework.graph.graph import colocate_with, device, get_default_graph
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.tensor import Tensor


def auto_shard_dataset(input_dataset: Dataset, num_workers: Any, index: Any) -> Dataset:
    """The share of one of several workers: of the files, or else of the elements.

    Raises:
      InvalidArgumentError: (when it runs) there are too few for all workers.
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
        variant = dataset._apply_options()._variant_tensor
    spec = dataset.element_spec
    return {
        name: DatasetV1Adapter(_Copy(name, variant).of(variant), spec)
        for name in devices
    }


def clone_dataset(dataset: Dataset, device_name: str) -> Dataset:
    """The dataset once more on a device, with its options; constants stay."""
    variant = dataset._variant_tensor
    copy = _Copy(device_name, variant, constants=False).of(variant)
    return DatasetV1Adapter(copy, dataset.element_spec).with_options(dataset.options())


class _Copy:
    """The nodes of a dataset once more, on a device.

    What is no dataset and no constant is not copied: it is sent to the device.
    """

    def __init__(
        self, device_name: str, variant: Tensor, constants: bool = True
    ) -> None:
        self._device = device_name
        self._datasets = dataset_ops(variant)
        self._constants = constants
        self._copies: dict[Operation, Operation] = {}

    def of(self, tensor: Tensor) -> Tensor:
        """The copy of a tensor, or the tensor itself."""
        op = tensor._op
        if op not in self._datasets and not (self._constants and op._type == "Const"):
            return tensor
        if op not in self._copies:
            self._copies[op] = self._made(op)
        return self._copies[op]._outputs[tensor._value_index]

    def _made(self, op: Operation) -> Operation:
        inputs = [self.of(each) for each in op._inputs]
        graph = get_default_graph()
        types = [each._dtype for each in op._outputs]
        # Where the first ones are, these need not be.
        attrs = {name: attr for name, attr in op._attrs.items() if name != "_class"}
        with device(None), device(self._device):
            copy = graph.add_operation(op._op_def, inputs, attrs, op._name, types)
        for mine, theirs in zip(copy._outputs, op._outputs, strict=True):
            mine._shape = theirs._shape
        return copy
