"""Datasets whose elements the workers of an input service make."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.framework.functions.called_functions import functions_named, names_of
from tensorloom.framework.functions.py_functions import CALLING_OPS
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.framework.runtime import input_service
from tensorloom.framework.runtime.input_service import Reading, Registration
from tensorloom.framework.runtime.resource import Resource
from tensorloom.framework.types.object_arrays import object_scalar
from tensorloom.kernels.host.data.pipeline.dataset import (
    Dataset,
    DatasetIterator,
    Element,
    as_dataset,
    dataset_kernel,
    signature,
)
from tensorloom.kernels.host.data.pipeline.dataset_graph import fingerprint, to_graph
from tensorloom.kernels.host.data.splits import splits_of

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.framework.runtime.input_service import Reader
    from tensorloom.kernels.host.data.pipeline.environment import Environment


@host_kernel("RegisterInputDataset", devices=("CPU",), blocking=True, large=True)
def register_input_dataset(c: OpKernelConstruction) -> Compute:
    """The id of a dataset that the dispatcher knows from now on."""
    requested, compression = c["requested_id"].decode(), c["compression"].decode()

    def compute(value: Any, address: Any) -> Any:
        dataset = as_dataset(value)
        _check_travels(dataset)
        registration = Registration(
            to_graph(dataset, allowed=None),
            tuple(dtype.as_datatype_enum for dtype in dataset.types),
            tuple(shape.dims_tuple for shape in dataset.shapes),
            splits_of(dataset),
            dataset.cardinality,
            compression,
        )
        service = input_service.client()
        # Programs that make the same pipeline share its jobs.
        name = requested or f"{fingerprint(dataset)}{compression}"
        found = service.register(_text(address), name, registration)
        return object_scalar(found.encode())

    return compute


def _check_travels(dataset: Dataset) -> None:
    """Looks for what only this process has.

    Raises:
      errors.FailedPreconditionError: a function calls Python, or uses a variable or a
        table of the session.
    """
    for source in dataset.inputs:
        _check_travels(source)
    maker = dataset.maker
    if maker is None:
        return
    functions = functions_named(names_of(maker.node), dict(maker.functions))
    ops = {
        node.op for function in functions.values() for node in function.nodes.values()
    }
    called = sorted(ops & CALLING_OPS)
    if called:
        raise errors.FailedPreconditionError(
            None,
            None,
            f"{maker.op} '{maker.node_name}' calls a Python function ({called[0]}), "
            "which the workers of an input service do not have. Make such elements "
            "after `distribute`, or by operations of the graph.",
        )
    held = [value for value in dataset.arguments if isinstance(value, Resource)]
    if held:
        raise errors.FailedPreconditionError(
            None,
            None,
            f"{maker.op} '{maker.node_name}' uses the {type(held[0]).__name__} "
            f"'{held[0].name}', which is a part of this session: the workers of an "
            "input service do not have it. Use it after `distribute`.",
        )


class InputServiceDataset(Dataset):
    """What a job of the service gives to this consumer."""

    kind = "InputService"

    def __init__(
        self, types: Any, shapes: Any, reading: Reading, iterations: Iterator[int]
    ) -> None:
        super().__init__(types, shapes)
        self._reading, self._iterations = reading, iterations

    def iterate(self, env: Environment) -> DatasetIterator:
        reading = replace(self._reading, iteration=next(self._iterations))
        return _ServiceIterator(input_service.client().open(reading), env)


class _ServiceIterator(DatasetIterator):
    def __init__(self, reader: Reader, env: Environment) -> None:
        self._reader, self._env = reader, env
        # Leaves the job when the iterator is dropped, or the pipeline closed.
        close = reader.close
        token = env.root.register(close)

        def dropped() -> None:
            if token is not None:
                env.root.deregister(token)
            close()

        weakref.finalize(self, dropped)
        if token is None:
            close()

    def __next__(self) -> Element:
        element = self._reader.next(self._env.context.cancellation)
        if element is None:
            raise StopIteration
        return element


@dataset_kernel("InputServiceDataset")
def input_service_dataset(c: OpKernelConstruction) -> Compute:
    """Each iterator is another iteration of the job."""
    types, shapes = signature(c)
    mode, delivery = c["processing_mode"].decode(), c["delivery"].decode()
    split_size, trainer = c["split_size"], c["trainer_id"].decode()
    iterations = itertools.count()

    def compute(dataset_id: Any, address: Any, job_name: Any, most: Any) -> Dataset:
        reading = Reading(
            _text(address),
            _text(dataset_id),
            mode,
            delivery,
            split_size,
            _text(job_name),
            0,
            max(0, int(most)),
            trainer,
        )
        return InputServiceDataset(types, shapes, reading, iterations)

    return compute


def _text(value: Any) -> str:
    content: bytes = value[()] if hasattr(value, "shape") else value
    return content.decode()
