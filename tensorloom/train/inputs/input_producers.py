"""Queues that give the elements of tensors again and again: where pipelines begin."""

from __future__ import annotations

from typing import Any

from tensorloom.client.queues.queues import FIFOQueue
from tensorloom.client.variables.variables import Variable
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    GraphKeys,
    Tensor,
    control_dependencies,
    name_scope,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.indexed_slices import (
    convert_n_to_tensor_or_indexed_slices,
)
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.array import constant as constant_op
from tensorloom.ops.control_flow.builders import Assert
from tensorloom.ops.io import file as file_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.random import random_ops
from tensorloom.summary import summary
from tensorloom.train.inputs.queue_runner import QueueRunner, add_queue_runner


@export("train.match_filenames_once", "io.match_filenames_once")
def match_filenames_once(pattern: Any, name: str | None = None) -> Any:
    """A local variable with the names of the files that match, found when initialized.

    Args:
      pattern: a glob pattern, or a vector of them.
    """
    with name_scope(name, "matching_filenames", [pattern]) as scope:
        return Variable(
            name=scope,
            initial_value=file_ops.matching_files(pattern),
            trainable=False,
            validate_shape=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )


@export("train.limit_epochs")
def limit_epochs(
    tensor: Any, num_epochs: int | None = None, name: str | None = None
) -> Any:
    """The tensor, which can be evaluated `num_epochs` times.

    After that, running it raises OutOfRangeError. Counts in a local variable.

    Raises:
      ValueError: `num_epochs` is not positive.
    """
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")
    with name_scope(name, "limit_epochs", [tensor]) as scope:
        zero = constant_op.constant(0, dtype=dtypes.int64)
        epochs = Variable(
            zero,
            name="epochs",
            trainable=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )
        with control_dependencies([epochs.count_up_to(num_epochs)]):
            return array_ops.identity(tensor, name=scope)


@export("train.input_producer")
def input_producer(
    input_tensor: Any,
    element_shape: Any = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    summary_name: str | None = None,
    name: str | None = None,
    cancel_op: Any = None,
) -> FIFOQueue:
    """A queue with the rows of a tensor, filled by a queue runner.

    Args:
      input_tensor: its rows are the elements.
      element_shape: of a row, where the tensor's is not fully known.
      num_epochs: how often each row comes before OutOfRangeError; None: for ever.
      shuffle: in another order in each epoch.
      seed: of the order.
      capacity, shared_name, name: of the queue.
      summary_name: of a summary of how full the queue is.
      cancel_op: see `QueueRunner`.

    Raises:
      ValueError: the shape of an element is not known.
    """
    with name_scope(name, "input_producer", [input_tensor]):
        rows = convert_to_tensor(input_tensor, name="input_tensor")
        shape = rows.shape[1:].merge_with(element_shape)
        if not shape.is_fully_defined():
            raise ValueError(
                "Either `input_tensor` must have a fully defined shape or "
                "`element_shape` must be specified"
            )
        if shuffle:
            rows = random_ops.random_shuffle(rows, seed=seed)
        rows = limit_epochs(rows, num_epochs)
        queue = FIFOQueue(
            capacity=capacity,
            dtypes=[rows.dtype.base_dtype],
            shapes=[shape],
            shared_name=shared_name,
            name=name,
        )
        enqueue = queue.enqueue_many([rows])
        add_queue_runner(QueueRunner(queue, [enqueue], cancel_op=cancel_op))
        if summary_name is not None:
            summarize_fullness(summary_name, queue.size(), capacity)
        return queue


def summarize_fullness(name: str, size: Tensor, capacity: int) -> None:
    """A summary of which part of its capacity a queue has filled."""
    summary.scalar(name, math_ops.cast(size, dtypes.float32) * (1.0 / capacity))


@export("train.string_input_producer")
def string_input_producer(
    string_tensor: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
    cancel_op: Any = None,
) -> FIFOQueue:
    """A queue of strings, such as file names; arguments as in `input_producer`.

    Raises:
      ValueError: there are no strings. If that is seen only when it runs, running
        raises InvalidArgumentError.
    """
    complaint = "string_input_producer requires a non-null input tensor"
    if not isinstance(string_tensor, Tensor) and not string_tensor:
        raise ValueError(complaint)
    with name_scope(name, "input_producer", [string_tensor]) as scope:
        strings = convert_to_tensor(string_tensor, dtype=dtypes.string)
        is_filled = math_ops.greater(array_ops.size(strings), 0)
        with control_dependencies([Assert(is_filled, [complaint])]):
            strings = array_ops.identity(strings)
        return input_producer(
            input_tensor=strings,
            element_shape=[],
            num_epochs=num_epochs,
            shuffle=shuffle,
            seed=seed,
            capacity=capacity,
            shared_name=shared_name,
            name=scope,
            summary_name=f"fraction_of_{capacity}_full",
            cancel_op=cancel_op,
        )


@export("train.range_input_producer")
def range_input_producer(
    limit: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> FIFOQueue:
    """A queue of the integers below `limit`; arguments as in `input_producer`."""
    with name_scope(name, "input_producer", [limit]) as scope:
        return input_producer(
            math_ops.range(limit),
            [],
            num_epochs,
            shuffle,
            seed,
            capacity,
            shared_name,
            f"fraction_of_{capacity}_full",
            scope,
        )


@export("train.slice_input_producer")
def slice_input_producer(
    tensor_list: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> list[Tensor]:
    """One row of each tensor, the same row of all; arguments as in `input_producer`.

    Raises:
      ValueError: there are no tensors.
    """
    with name_scope(name, "input_producer", tensor_list):
        tensors = convert_n_to_tensor_or_indexed_slices(tensor_list)
        if not tensors:
            raise ValueError("Expected at least one tensor in slice_input_producer().")
        queue = range_input_producer(
            array_ops.shape(tensors[0])[0],
            num_epochs=num_epochs,
            shuffle=shuffle,
            seed=seed,
            capacity=capacity,
            shared_name=shared_name,
        )
        index = queue.dequeue()
        return [array_ops.gather(tensor, index) for tensor in tensors]
