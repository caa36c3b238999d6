"""An iterator whose elements go to several devices in turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.data import specs
from tensorloom.data.dataset_functions import make_initializable_iterator
from tensorloom.data.optional import get_next_as_optional
from tensorloom.data.options import Options
from tensorloom.data.structured_function import StructuredFunction
from tensorloom.data.transformations import make
from tensorloom.framework.graph.graph import Operation, device, get_default_graph
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.constant import constant
from tensorloom.ops.control_flow.builders import group

if TYPE_CHECKING:
    from tensorloom.data.dataset import Dataset
    from tensorloom.data.iterators import Iterator
    from tensorloom.framework.graph.tensor import Tensor

_NAME = "MultiDeviceIterator()"


class MultiDeviceIterator:
    """Gives the elements of a dataset to devices, one after the other.

    Args:
      dataset: the elements.
      devices: names of devices.
      max_buffer_size: how many elements wait for each device.
      prefetch_buffer_size: how many each device makes ahead.
      source_device: where the dataset runs.
    """

    def __init__(
        self,
        dataset: Dataset,
        devices: Sequence[str],
        max_buffer_size: int = 1,
        prefetch_buffer_size: int = 1,
        source_device: str = "/cpu:0",
    ) -> None:
        options = Options()
        options.experimental_distribute.num_devices = len(devices)
        applied = dataset.with_options(options)._apply_options()
        self._dataset = applied
        self._devices = list(devices)
        # TensorFlow makes a handle of the resource and the shard's dataset twice.
        get_default_graph()._node_count.value += 2 * len(self._devices)
        with device(source_device):
            self._zero = constant(0, dtype=dtypes.int64)
            self._resource: Tensor = apply_op(
                "MultiDeviceIterator",
                devices=self._devices,
                shared_name="",
                container="",
                **applied._flat_structure,
            )
            # Changes with each initialization, so that no device mixes two passes.
            incarnation: Tensor = apply_op(
                "MultiDeviceIteratorInit",
                dataset=applied._variant_tensor,
                multi_device_iterator=self._resource,
                max_buffer_size=max(max_buffer_size, prefetch_buffer_size),
            )
        self._device_iterators: list[Iterator] = []
        for number, name in enumerate(self._devices):
            with device(name):
                shard = self._shard(number, incarnation)
                if prefetch_buffer_size > 0:
                    shard = shard.prefetch(prefetch_buffer_size)
                plain = Options()
                plain.experimental_optimization.apply_default_optimizations = False
                plain.experimental_optimization.autotune = False
                iterator = make_initializable_iterator(shard.with_options(plain))
                self._device_iterators.append(iterator)
        self._initializer: Operation = group(
            *(iterator.initializer for iterator in self._device_iterators)
        )

    def _shard(self, number: int, incarnation: Tensor) -> Dataset:
        """The elements of one device."""
        spec = self._dataset.element_spec
        zero = specs.TensorSpec([], dtypes.int64)

        def following(_: Tensor) -> Any:
            tensors = apply_op(
                "MultiDeviceIteratorGetNextFromShard",
                multi_device_iterator=self._resource,
                shard_num=number,
                incarnation_id=incarnation,
                **self._dataset._flat_structure,
            )
            return specs.from_tensors(spec, tensors)

        nothing = StructuredFunction(lambda state: state, _NAME, zero)
        step = StructuredFunction(following, _NAME, zero)
        return make(
            "GeneratorDataset",
            step.output_structure,
            [],
            init_func_other_args=[self._zero],
            next_func_other_args=step.captured,
            finalize_func_other_args=[],
            init_func=nothing.attr,
            next_func=step.attr,
            finalize_func=nothing.attr,
        )

    @property
    def initializer(self) -> Operation:
        """The operation that begins at the first element."""
        return self._initializer

    @property
    def element_spec(self) -> Any:
        """The specs of an element's components."""
        return self._dataset.element_spec

    def get_next(self, device: str | None = None) -> Any:
        """The next element of a device; a list of all devices' if it is None."""
        if device is not None:
            return self._device_iterators[self._devices.index(device)].get_next()
        return self._of_each(lambda iterator: iterator.get_next())

    def get_next_as_optional(self) -> list[Any]:
        """The next element of each device as an optional, empty at the end."""
        return self._of_each(get_next_as_optional)

    def _of_each(self, following: Any) -> list[Any]:
        found = []
        for name, iterator in zip(self._devices, self._device_iterators, strict=True):
            with device(name):
                found.append(following(iterator))
        return found
