"""`tf.data.experimental.service`: datasets that other tasks make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tensorloom.data import specs
from tensorloom.data.dataset import Dataset, DatasetV1Adapter
from tensorloom.data.dataset_classes import flat_structure
from tensorloom.data.service.client import ask
from tensorloom.data.service.config import (
    AT_LEAST_ONCE,
    EXACTLY_ONCE,
    check_protocol,
    mode_of,
)
from tensorloom.data.service.elements import SNAPPY
from tensorloom.framework import errors
from tensorloom.framework.export import export, export_value
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.runtime.input_service import SHARD_HINT
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape

export_value(SHARD_HINT, "data.experimental.SHARD_HINT")
_COMPRESSION: Final = ("AUTO", None, "SNAPPY")
_TARGETS: Final = ("AUTO", "ANY", "LOCAL")
_DELIVERIES: Final = (EXACTLY_ONCE, AT_LEAST_ONCE)


@export("data.experimental.service.CrossTrainerCache")
class CrossTrainerCache:
    """Lets concurrent trainers share what the workers make of an endless dataset.

    Consumers of one job with other trainer ids get the same elements, each at its own
    pace, as far as a worker still keeps them (1 GB of the newest ones). Consumers with
    one id share them out.

    Args:
      trainer_id: of the training that reads.

    Raises:
      ValueError: it is empty.
    """

    def __init__(self, trainer_id: str) -> None:
        if not trainer_id:
            raise ValueError(
                "tf.data service cross-trainer cache requires a non-empty trainer ID."
            )
        self.trainer_id = trainer_id


@export("data.experimental.service.distribute")
def distribute(
    processing_mode: Any,
    service: Any,
    job_name: str | None = None,
    consumer_index: Any = None,
    num_consumers: Any = None,
    max_outstanding_requests: int | None = None,
    data_transfer_protocol: str | None = None,
    compression: str | None = "AUTO",
    cross_trainer_cache: Any = None,
    target_workers: str = "AUTO",
    *,
    delivery: str = EXACTLY_ONCE,
    split_size: int | None = None,
) -> Callable[[Dataset], Dataset]:
    """For `Dataset.apply`: the elements are made by the workers of an input service.

    Args:
      processing_mode: "distributed_epoch" (or `ShardingPolicy.DYNAMIC`): the workers
        share the input; "parallel_epochs" (`OFF`): each makes all of the dataset; or
        one of the static policies.
      service: "grpc://host:port" of the dispatcher, or (protocol, address).
      job_name: consumers that give one name share the elements of one job; else each
        iterator is a job of its own.
      consumer_index, num_consumers: None; consumers do not read in turns.
      max_outstanding_requests: elements that are fetched ahead.
      data_transfer_protocol: "grpc" or None.
      compression: "SNAPPY": elements travel compressed. "AUTO" or None: as they are.
      cross_trainer_cache: a `CrossTrainerCache`, for endless datasets of named jobs
        whose input is not divided.
      target_workers: "AUTO" or "ANY".
      delivery: in distributed_epoch, "exactly_once", which wants a pipeline that gives
        as many elements for the same input each time, in the same order; or
        "at_least_once": what a worker or a consumer had not finished comes again.
      split_size: elements of the input (or files) that are handed out at a time.

    Raises:
      ValueError: an argument is not usable.
      errors.UnimplementedError: it asks for what is not done here.
    """
    _check(compression, consumer_index, num_consumers)

    def apply(dataset: Dataset) -> Dataset:
        return from_dataset_id(
            processing_mode,
            service,
            register_dataset(service, dataset, compression),
            dataset.element_spec,
            job_name,
            max_outstanding_requests=max_outstanding_requests,
            data_transfer_protocol=data_transfer_protocol,
            cross_trainer_cache=cross_trainer_cache,
            target_workers=target_workers,
            delivery=delivery,
            split_size=split_size,
        )

    mode_of(processing_mode)
    _check_job(job_name, delivery, split_size, target_workers, data_transfer_protocol)
    return apply


@export("data.experimental.service.register_dataset")
def register_dataset(
    service: Any,
    dataset: Dataset,
    compression: str | None = "AUTO",
    dataset_id: str | None = None,
) -> Any:
    """Makes a dataset known to a dispatcher.

    Args:
      service: as of `distribute`.
      dataset: whose functions call no Python, and use no variables and tables.
      compression: as of `distribute`.
      dataset_id: its name there; made up of its content by default.

    Returns:
      A string scalar: the id, for `from_dataset_id`. The dataset is registered when
      it is computed.
    """
    _check(compression, None, None)
    return apply_op(
        "RegisterInputDataset",
        dataset=dataset._apply_options()._variant_tensor,
        address=_address(service),
        requested_id=dataset_id or "",
        compression=SNAPPY if compression == SNAPPY else "",
    )


@export("data.experimental.service.from_dataset_id")
def from_dataset_id(
    processing_mode: Any,
    service: Any,
    dataset_id: Any,
    element_spec: Any = None,
    job_name: str | None = None,
    consumer_index: Any = None,
    num_consumers: Any = None,
    max_outstanding_requests: int | None = None,
    data_transfer_protocol: str | None = None,
    cross_trainer_cache: Any = None,
    target_workers: str = "AUTO",
    *,
    delivery: str = EXACTLY_ONCE,
    split_size: int | None = None,
) -> Dataset:
    """A dataset that was registered, made by the workers.

    Args:
      dataset_id: what `register_dataset` gave: a tensor, or bytes.
      element_spec: the specs of an element. None asks the dispatcher, and gives a
        tensor, or a tuple of tensors.
      processing_mode, service, job_name, consumer_index, num_consumers,
        max_outstanding_requests, data_transfer_protocol, cross_trainer_cache,
        target_workers, delivery, split_size: as of `distribute`.

    Raises:
      ValueError: an argument is not usable.
      errors.NotFoundError: the dispatcher is asked, and does not know the dataset.
    """
    mode = mode_of(processing_mode)
    _check("AUTO", consumer_index, num_consumers)
    _check_job(job_name, delivery, split_size, target_workers, data_transfer_protocol)
    identifier = convert_to_tensor(dataset_id, dtype=dtypes.string, name="dataset_id")
    address = _address(service)
    if element_spec is None:
        element_spec = _spec_there(address, identifier)
    most = max_outstanding_requests or 0
    variant = apply_op(
        "InputServiceDataset",
        dataset_id=identifier,
        address=address,
        job_name=job_name or "",
        max_outstanding_requests=convert_to_tensor(most, dtype=dtypes.int64),
        processing_mode=mode,
        delivery=delivery,
        split_size=split_size or 0,
        trainer_id=cross_trainer_cache.trainer_id if cross_trainer_cache else "",
        **flat_structure(element_spec),
    )
    return DatasetV1Adapter(variant, element_spec)


def _spec_there(address: str, identifier: Any) -> Any:
    known = constant_value(identifier)
    if known is None:
        raise ValueError(
            "from_dataset_id needs an element_spec where dataset_id is not known "
            "before the graph runs"
        )
    name = known.item() if hasattr(known, "item") else known
    found, _ = ask(address, "GetDataset", {"dataset": name.decode()})
    tensors = [
        specs.TensorSpec(TensorShape(sizes), dtypes.as_dtype(number))
        for number, sizes in zip(found["types"], found["shapes"], strict=True)
    ]
    return tensors[0] if len(tensors) == 1 else tuple(tensors)


def _address(service: Any) -> str:
    protocol: str | None = None
    if isinstance(service, tuple) and len(service) == 2:
        protocol, address = service
    elif isinstance(service, str):
        before, separator, address = service.rpartition("://")
        protocol = before if separator else None
    else:
        raise ValueError(
            f"`service` must be a string or a tuple with 2 elements, but is {service!r}"
        )
    if not address:
        raise ValueError("`service` must not be empty: it is the dispatcher's address")
    check_protocol(protocol)
    return str(address)


def _check(compression: Any, index: Any, consumers: Any) -> None:
    if compression not in _COMPRESSION:
        raise ValueError(
            f"Invalid `compression` argument: {compression}. Must be one of "
            f"{list(_COMPRESSION)}."
        )
    for name, value in (
        ("consumer_index and num_consumers", index if consumers is None else consumers),
    ):
        if value is not None:
            raise errors.UnimplementedError(
                None, None, f"The input service does not have {name}: leave it out"
            )


def _check_job(
    job_name: Any, delivery: str, split_size: Any, target: str, protocol: str | None
) -> None:
    if job_name is not None and not isinstance(job_name, str):
        raise ValueError(
            "`job_name` must be a string, but `job_name` was of type "
            f"{type(job_name)}. job_name={job_name}"
        )
    if job_name == "":
        raise ValueError("`job_name` must not be empty")
    if delivery not in _DELIVERIES:
        raise ValueError(
            f"`delivery` must be one of {list(_DELIVERIES)}, but is {delivery!r}"
        )
    if split_size is not None and split_size < 1:
        raise ValueError(f"`split_size` must be at least 1, but is {split_size}")
    if target not in _TARGETS:
        raise ValueError(f"`target_workers` must be one of {list(_TARGETS)}")
    if target == "LOCAL":
        raise errors.UnimplementedError(
            None,
            None,
            "The input service reads from all workers: target_workers='AUTO'",
        )
    check_protocol(protocol)
