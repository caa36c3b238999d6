"""Iterators that give each replica an element, and datasets that make them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.compat.data.distribute import (
    auto_shard_dataset,
    clone_dataset,
    rebatch_dataset,
)
from tensorloom.compat.data.multi_device_iterator import MultiDeviceIterator
from tensorloom.data.dataset import Dataset
from tensorloom.distribute.inputs import uneven_batches
from tensorloom.distribute.values.regrouping import regroup
from tensorloom.framework.graph.graph import device
from tensorloom.ops.control_flow import builders as control_flow_ops

if TYPE_CHECKING:
    from tensorloom.distribute.inputs.input_context import InputContext
    from tensorloom.distribute.inputs.input_workers import InputWorkers


class _WorkerIterator:
    """The elements that one worker reads from a dataset, for each of its devices."""

    def __init__(self, dataset: Dataset, worker: str, devices: Sequence[str]) -> None:
        self._dataset = dataset
        self._worker = worker
        self._devices = devices
        with device(worker):
            self._iterator = MultiDeviceIterator(dataset, devices)

    def get_next(self, device_name: str) -> Any:
        """The next element of one device."""
        with device(self._worker):
            return self._iterator.get_next(device_name)

    def get_next_as_list(self) -> list[Any]:
        """The next element of each device."""
        with device(self._worker):
            elements: list[Any] = self._iterator.get_next()
            return elements

    def get_next_or_empty(self) -> tuple[Any, list[Any]]:
        """Whether there is an element, and that of each device or an empty one."""
        optionals = self._iterator.get_next_as_optional()
        found, elements = [], []
        for name, optional in zip(self._devices, optionals, strict=True):
            with device(name):
                there, element = uneven_batches.value_or_empty(optional)
            found.append(there)
            elements.append(element)
        return found[0], elements

    def initialize(self) -> list[Any]:
        """The operations that begin at the first element."""
        return [self._iterator.initializer]

    @property
    def output_classes(self) -> Any:
        """The class of each component."""
        return self._dataset.output_classes

    @property
    def output_shapes(self) -> Any:
        """The static shape of each component."""
        return self._dataset.output_shapes

    @property
    def output_types(self) -> Any:
        """The dtype of each component."""
        return self._dataset.output_types


class _CallableIterator:
    """What a function returns, called for each device."""

    def __init__(
        self, function: Callable[[], Any], worker: str, devices: Sequence[str]
    ) -> None:
        self._function = function
        self._worker = worker
        self._devices = devices

    def get_next(self, device_name: str) -> Any:
        """What the function returns."""
        with device(self._worker):
            return self._function()

    def get_next_as_list(self) -> list[Any]:
        """What the function returns for each device."""
        with device(self._worker):
            return [self._function() for _ in self._devices]

    def initialize(self) -> list[Any]:
        """Nothing."""
        return []


class DistributedIterator:
    """Gives each replica an element.

    Args:
      input_workers: who reads, and which devices are fed.
      iterators: that of each worker.
      strategy: whose replicas are fed.

    Raises:
      ValueError: there is no worker.
    """

    element_spec: Any

    def __init__(
        self, input_workers: InputWorkers, iterators: Sequence[Any], strategy: Any
    ) -> None:
        if not input_workers.worker_devices:
            raise ValueError("Should have at least one worker for input iterator.")
        self._iterators = list(iterators)
        self._input_workers = input_workers
        self._strategy = strategy
        datasets = [each for each in iterators if isinstance(each, _WorkerIterator)]
        self._gives_empty_elements = len(datasets) == len(
            self._iterators
        ) and uneven_batches.gives_empty_elements(strategy, datasets)

    def get_next(self, name: str | None = None) -> Any:
        """The next elements: in a structure whose leaves are PerReplica values.

        Raises:
          OutOfRangeError: (when it runs) a replica has no more elements.
        """
        del name
        if self._gives_empty_elements:
            elements = uneven_batches.elements_or_empty(
                self._input_workers, self._iterators
            )
            return regroup(self._input_workers.device_map, elements)
        replicas: list[Any] = []
        for worker, iterator in zip(
            self._input_workers.worker_devices, self._iterators, strict=True
        ):
            with device(worker):
                replicas.extend(iterator.get_next_as_list())
        return regroup(self._input_workers.device_map, replicas)

    def initialize(self) -> Any:
        """The operation that begins at the first element."""
        return control_flow_ops.group(
            [op for iterator in self._iterators for op in iterator.initialize()]
        )

    @property
    def initializer(self) -> Any:
        """The operation that begins at the first element."""
        return self.initialize()

    @property
    def output_classes(self) -> Any:
        """The class of each component of an element."""
        return self._iterators[0].output_classes

    @property
    def output_shapes(self) -> Any:
        """The static shape of each component of an element."""
        return self._iterators[0].output_shapes

    @property
    def output_types(self) -> Any:
        """The dtype of each component of an element."""
        return self._iterators[0].output_types

    def get_iterator(self, worker: str) -> Any:
        """The iterator of a worker, or None."""
        devices = self._input_workers.worker_devices
        return self._iterators[devices.index(worker)] if worker in devices else None


class DistributedDataset:
    """A dataset whose elements are given to replicas.

    Args:
      dataset: of batches for all replicas together.
      input_workers: who reads, and which devices are fed.
      strategy: whose replicas are fed.
      split_batch_by: into how many a batch is divided; None leaves it whole.
      input_context: which part of the files is read; all of them when None.

    Raises:
      ValueError: the elements are no batches.
    """

    def __init__(
        self,
        dataset: Dataset,
        input_workers: InputWorkers,
        strategy: Any,
        split_batch_by: int | None = None,
        input_context: InputContext | None = None,
    ) -> None:
        if split_batch_by:
            dataset = rebatch_dataset(dataset, split_batch_by).prefetch(split_batch_by)
        shards = dataset.options().experimental_distribute.auto_shard

        def sharded(one: Dataset, count: int, index: int) -> Dataset:
            return auto_shard_dataset(one, count, index) if shards else one

        self._datasets: list[Dataset] = []
        if input_context is not None:
            assert input_workers.num_workers == 1
            pipelines = input_context.num_input_pipelines
            number = input_context.input_pipeline_id
            self._datasets.append(sharded(dataset, pipelines, number))
        else:
            workers = input_workers.worker_devices
            for index, worker in enumerate(workers):
                with device(worker):
                    copy = clone_dataset(dataset, worker)
                    self._datasets.append(sharded(copy, len(workers), index))
        self._input_workers = input_workers
        self._strategy = strategy
        self.element_spec = dataset.element_spec

    def make_initializable_iterator(
        self, shared_name: str | None = None
    ) -> DistributedIterator:
        """An iterator, whose `initialize()` is to be run first."""
        return self._iterator()

    _make_initializable_iterator = make_initializable_iterator

    def make_one_shot_iterator(self) -> DistributedIterator:
        """Refused: ValueError, as it must be initialized."""
        raise ValueError(_NO_ONE_SHOT)

    _make_one_shot_iterator = make_one_shot_iterator

    def __iter__(self) -> Any:
        raise RuntimeError(_NO_ITER)

    def _iterator(self) -> DistributedIterator:
        iterator = DistributedIterator(
            self._input_workers,
            iterators_of(self._datasets, self._input_workers),
            self._strategy,
        )
        iterator.element_spec = self.element_spec
        return iterator


_NO_ONE_SHOT = (
    "Cannot create a one shot iterator. Please use `make_initializable_iterator()` "
    "instead."
)
_NO_ITER = (
    "__iter__() is only supported inside of tf.function or when eager execution is "
    "enabled. Use `make_initializable_iterator()`."
)


class DistributedDatasetsFromFunction:
    """Datasets that a function makes, whose elements are given to replicas.

    Args:
      dataset_fn: makes a dataset of replicas' batches of an InputContext.
      input_workers: who reads, and which devices are fed.
      input_contexts: that of each worker.
      strategy: whose replicas are fed.

    Raises:
      ValueError: there are not as many contexts as workers.
    """

    def __init__(
        self,
        dataset_fn: Callable[[InputContext], Dataset],
        input_workers: InputWorkers,
        input_contexts: Sequence[InputContext],
        strategy: Any,
    ) -> None:
        check_contexts(input_workers, input_contexts)
        self._dataset_fn = dataset_fn
        self._input_workers = input_workers
        self._input_contexts = input_contexts
        self._strategy = strategy

    def make_initializable_iterator(
        self, shared_name: str | None = None
    ) -> DistributedIterator:
        """An iterator, whose `initialize()` is to be run first."""
        workers = self._input_workers
        datasets = []
        for worker, context in zip(
            workers.worker_devices, self._input_contexts, strict=True
        ):
            with device(worker):
                datasets.append(self._dataset_fn(context))
        return DistributedIterator(
            workers, iterators_of(datasets, workers), self._strategy
        )

    _make_initializable_iterator = make_initializable_iterator

    def make_one_shot_iterator(self) -> DistributedIterator:
        """Refused: ValueError, as it must be initialized."""
        raise ValueError(_NO_ONE_SHOT)

    _make_one_shot_iterator = make_one_shot_iterator

    def __iter__(self) -> Any:
        raise RuntimeError(_NO_ITER)


def iterators_of(
    datasets: Sequence[Dataset], input_workers: InputWorkers
) -> list[_WorkerIterator]:
    """The iterator of each worker, over its dataset."""
    made = []
    for index, (worker, dataset) in enumerate(
        zip(input_workers.worker_devices, datasets, strict=True)
    ):
        with device(worker):
            devices = input_workers.compute_devices_for_worker(index)
            made.append(_WorkerIterator(dataset, worker, devices))
    return made


def input_function_iterator(
    input_fn: Callable[[InputContext], Any],
    input_workers: InputWorkers,
    input_contexts: Sequence[InputContext],
    strategy: Any,
) -> DistributedIterator:
    """An iterator over what an input function makes for each worker.

    Args:
      input_fn: makes of an InputContext a dataset, or a function of no arguments.

    Raises:
      ValueError: it makes something else.
    """
    check_contexts(input_workers, input_contexts)
    iterators: list[Any] = []
    for index, context in enumerate(input_contexts):
        worker = input_workers.worker_devices[index]
        with device(worker):
            result = input_fn(context)
            devices = input_workers.compute_devices_for_worker(index)
            if isinstance(result, Dataset):
                iterators.append(_WorkerIterator(result, worker, devices))
            elif callable(result):
                iterators.append(_CallableIterator(result, worker, devices))
            else:
                raise ValueError(
                    "input_fn must return a tf.data.Dataset or a callable."
                )
    return DistributedIterator(input_workers, iterators, strategy)


def dataset_iterator(
    dataset: Dataset,
    input_workers: InputWorkers,
    strategy: Any,
    split_batch_by: int | None = None,
    input_context: InputContext | None = None,
) -> DistributedIterator:
    """An iterator over a dataset's batches, divided for the replicas."""
    distributed = DistributedDataset(
        dataset, input_workers, strategy, split_batch_by, input_context
    )
    return distributed.make_initializable_iterator()


def check_contexts(
    input_workers: InputWorkers, input_contexts: Sequence[InputContext]
) -> None:
    """Raises ValueError unless there is a context for each worker."""
    if input_workers.num_workers != len(input_contexts):
        raise ValueError(
            f"Number of input workers ({input_workers.num_workers}) is not same as "
            f"number of input_contexts ({len(input_contexts)})"
        )
