"""Batches of elements that are alike: each bucket is a queue of its own."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorloom.client.control_flow.cond import cond
from tensorloom.client.queues.queues import FIFOQueue, PaddingFIFOQueue
from tensorloom.framework import errors
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.indexed_slices import (
    convert_n_to_tensor_or_indexed_slices,
)
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.keras.smart_cond import smart_cond
from tensorloom.ops.array.constant import constant
from tensorloom.ops.control_flow.builders import group, no_op
from tensorloom.ops.indexing.selection import where_v2
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.comparison import equal, less, less_equal, logical_and
from tensorloom.ops.reductions.reductions import reduce_min
from tensorloom.summary import summary
from tensorloom.train.inputs.input_batches import (
    checked_keep_input,
    like_source,
    values_of,
)
from tensorloom.train.inputs.queue_runner import QueueRunner, add_queue_runner
from tensorloom.train.inputs.sparse_elements import SparseElements


@export("contrib.training.bucket")
def bucket(
    tensors: Any,
    which_bucket: Any,
    batch_size: Any,
    num_buckets: int,
    num_threads: int = 1,
    capacity: int = 32,
    bucket_capacities: Sequence[int] | None = None,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    keep_input: Any = True,
    shared_name: str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Batches of elements of one bucket each, gathered by threads of queue runners.

    Args:
      tensors: a list or dict of tensors: one element.
      which_bucket: its bucket, a scalar int32.
      batch_size: an int or a scalar tensor; or a list with one for each bucket.
      num_buckets: how many there are.
      num_threads: threads that enqueue.
      capacity: batches that wait, and elements of a bucket.
      bucket_capacities: elements of each bucket, if they differ.
      shapes: of the element's tensors; inferred when None.
      dynamic_pad: let dimensions vary, and pad a batch to its largest element.
      allow_smaller_final_batch: give what is left at the end.
      keep_input: whether this element is kept, a scalar bool.
      shared_name: of the queues.
      name: of the operations.

    Returns:
      The bucket of the batch, and the batch in the structure of `tensors`.

    Raises:
      ValueError: shapes are neither given nor known, or a list is of another length
        than `num_buckets`.
    """
    each = isinstance(batch_size, list | tuple)
    if each and len(batch_size) != num_buckets:
        raise ValueError("If batch_size is a list it must have num_buckets elements")
    sizes = list(batch_size) if each else [batch_size] * num_buckets
    capacities = (
        [capacity] * num_buckets if bucket_capacities is None else bucket_capacities
    )
    if len(capacities) != num_buckets:
        raise ValueError(
            f"The list bucket_capacities ({capacities}) must have exactly num_buckets "
            f"({num_buckets}) elements."
        )
    values = values_of(tensors)
    with name_scope(name, "bucket", values):
        values = convert_n_to_tensor_or_indexed_slices(values)
        if not values:
            raise ValueError("Expected at least one tensor in bucket().")
        keep = checked_keep_input(keep_input, False)
        sparse = SparseElements(False, keep)
        values = sparse.store_all([values])[0]
        sizes = [_static(size) for size in sizes]
        which = convert_to_tensor(which_bucket, dtypes.int32, name="which_bucket")
        make = PaddingFIFOQueue if dynamic_pad else FIFOQueue
        types = [value.dtype for value in values]
        queues = [
            make(
                capacity=capacities[i],
                dtypes=types,
                shapes=shapes or _shapes(values),
                shared_name=shared_name and f"{shared_name}_{i}",
                name=f"bucket_queue_{i}",
            )
            for i in range(num_buckets)
        ]
        fixed = not each and not allow_smaller_final_batch
        first = sizes[0] if fixed and isinstance(sizes[0], int) else None
        # A batch may be smaller: a FIFOQueue would refuse its shapes.
        top = PaddingFIFOQueue(
            capacity=capacity,
            dtypes=[dtypes.int32, *types],
            shapes=[
                TensorShape([]),
                *(TensorShape([first]).concatenate(s) for s in queues[0].shapes),
            ],
            shared_name=shared_name,
            name="top_queue",
        )
        enqueue = smart_cond(
            keep, functools.partial(_enqueue, queues, which, values), no_op
        )
        moves = _moves(queues, top, sizes, allow_smaller_final_batch)
        _add_runners(queues, top, [enqueue] * num_threads, moves)
        _summarize(queues, top, capacity)
        bucket_of_batch, *batch = top.dequeue(name="dequeue_top")
        restored = sparse.restore(batch if len(batch) > 1 else batch[0])
        return bucket_of_batch, like_source(tensors, restored)


def _static(size: Any) -> Any:
    """A batch size as an int where it is known."""
    tensor = convert_to_tensor(size, dtypes.int32, name="batch_size")
    known = constant_value(tensor)
    return tensor if known is None else int(known)


def _shapes(values: Sequence[Any]) -> list[Any]:
    for value in values:
        if value.shape.rank is None:
            raise ValueError(f"Cannot infer Tensor's rank: {value}")
    return [value.shape.as_list() for value in values]


def _enqueue(queues: Sequence[Any], which: Any, values: Sequence[Any]) -> Any:
    """Puts the element into its bucket."""
    puts = [
        cond(equal(which, i), functools.partial(queue.enqueue, values), no_op)
        for i, queue in enumerate(queues)
    ]
    return group(*puts, name="group_enqueues")


def _moves(queues: Sequence[Any], top: Any, sizes: Sequence[Any], up_to: bool) -> Any:
    """For each bucket an operation that moves a batch on to the queue of batches."""
    moves = []
    for i, (queue, size) in enumerate(zip(queues, sizes, strict=True)):
        dequeue = queue.dequeue_up_to if up_to else queue.dequeue_many
        batch = dequeue(size, name=f"read_bucket_{i}")
        batch = list(batch) if isinstance(batch, list | tuple) else [batch]
        element = [constant(i), *batch]
        moves.append(top.enqueue(element, name=f"enqueue_from_bucket_{i}"))
    return moves


def _add_runners(
    queues: Sequence[Any], top: Any, enqueues: list[Any], moves: list[Any]
) -> None:
    """The runners: one fills the batches until the buckets close, one the buckets."""
    ends = (errors.OutOfRangeError, errors.CancelledError)
    add_queue_runner(
        QueueRunner(
            queues[0],
            moves,
            close_op=top.close(),
            cancel_op=top.close(cancel_pending_enqueues=True),
            queue_closed_exception_types=ends,
        )
    )
    add_queue_runner(
        QueueRunner(
            top,
            enqueues,
            close_op=group(*[queue.close() for queue in queues]),
            cancel_op=group(
                *[queue.close(cancel_pending_enqueues=True) for queue in queues]
            ),
            queue_closed_exception_types=ends,
        )
    )


def _summarize(queues: Sequence[Any], top: Any, capacity: int) -> None:
    for queue in queues:
        size = cast(top.size(), dtypes.float32)
        summary.scalar(f"bucket/{queue.name}/size", size)
    summary.scalar(
        f"bucket/{top.name}/fraction_of_{capacity}_full",
        cast(top.size(), dtypes.float32) * (1.0 / capacity),
    )


@export("contrib.training.bucket_by_sequence_length")
def bucket_by_sequence_length(
    input_length: Any,
    tensors: Any,
    batch_size: Any,
    bucket_boundaries: Sequence[int],
    num_threads: int = 1,
    capacity: int = 32,
    bucket_capacities: Sequence[int] | None = None,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    keep_input: Any = True,
    shared_name: str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Batches of sequences of about one length.

    Args:
      input_length: the length of the element, a scalar int32.
      bucket_boundaries: increasing lengths at which a next bucket begins.
      The others are those of `bucket`.

    Returns:
      The lengths, int32 of shape [batch], and the batch in the structure of `tensors`.

    Raises:
      TypeError: `bucket_boundaries` is no list or tuple of ints.
      ValueError: it is empty, or does not increase.
    """
    values = values_of(tensors)
    _check_boundaries(bucket_boundaries)
    with name_scope(name, "bucket_by_sequence_length", [input_length, *values]):
        length = convert_to_tensor(input_length, dtypes.int32, name="input_length")
        limits = np.iinfo(np.int32)
        fits = logical_and(
            less_equal([limits.min, *bucket_boundaries], length),
            less(length, [*bucket_boundaries, limits.max]),
        )
        which = cast(reduce_min(where_v2(fits)), dtypes.int32)
        _, batch = bucket(
            tensors=[length, *values],
            which_bucket=which,
            batch_size=batch_size,
            num_buckets=len(bucket_boundaries) + 1,
            num_threads=num_threads,
            capacity=capacity,
            bucket_capacities=bucket_capacities,
            shapes=None if shapes is None else [TensorShape([]), *shapes],
            dynamic_pad=dynamic_pad,
            allow_smaller_final_batch=allow_smaller_final_batch,
            keep_input=keep_input,
            shared_name=shared_name,
        )
        rest = batch[1:]
        if isinstance(tensors, dict) and len(tensors) == 1:
            rest = rest[0]
        return batch[0], like_source(tensors, rest)


def _check_boundaries(boundaries: Any) -> None:
    if not isinstance(boundaries, list | tuple):
        raise TypeError(
            f"bucket_boundaries must be a list or tuple, but received: {boundaries}"
        )
    if not boundaries:
        raise ValueError("bucket_boundaries must not be empty")
    for low, high in itertools.pairwise(boundaries):
        if not isinstance(low, int) or not isinstance(high, int):
            raise TypeError(
                f"bucket boundaries must be integers, but saw: {low} and {high}"
            )
        if low >= high:
            raise ValueError(
                "Buckets must contain sequential increasing lengths, but saw: "
                f"{low} before {high}"
            )
