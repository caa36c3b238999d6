"""`tf.train.batch` and its kin: batches from queues that threads fill.

The eight functions differ in three ways: the queue keeps the order or shuffles; the
tensors come from one place or are joined from several, one thread each; and an element
may be left out (`maybe_`). `_batches` does it all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.client.queues.queues import (
    FIFOQueue,
    PaddingFIFOQueue,
    QueueBase,
    RandomShuffleQueue,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.indexed_slices import (
    convert_n_to_tensor_or_indexed_slices,
)
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.control_flow import builders as control_flow_ops
from tensorloom.ops.indexing import partition as partition_ops
from tensorloom.ops.math import math_ops
from tensorloom.summary import summary
from tensorloom.train.inputs.input_producers import summarize_fullness
from tensorloom.train.inputs.queue_runner import QueueRunner, add_queue_runner
from tensorloom.train.inputs.sparse_elements import SparseElements

if TYPE_CHECKING:
    from tensorloom.framework.types.tensor_shape import TensorShape


@dataclass(frozen=True)
class _Options:
    """What the eight functions have in common."""

    batch_size: Any
    keep_input: Any
    capacity: int
    enqueue_many: bool
    shapes: Any
    allow_smaller_final_batch: bool
    shared_name: str | None
    name: str | None
    dynamic_pad: bool = False
    num_threads: int = 1
    # Of a queue that shuffles; None: the queue keeps the order.
    min_after_dequeue: int | None = None
    seed: int | None = None


def _batches(default_name: str, sources: Any, joined: bool, options: _Options) -> Any:
    """The dequeued batches, in the structure of the (first) source."""
    first = sources[0] if joined and sources else sources
    lists = _lists(sources) if joined else [values_of(sources)]
    values = [tensor for tensors in lists for tensor in tensors]
    with name_scope(options.name, default_name, [*values, options.keep_input]) as scope:
        _check_capacity(options)
        lists = [convert_n_to_tensor_or_indexed_slices(tensors) for tensors in lists]
        if not lists[0]:
            raise ValueError(f"Expected at least one tensor in {default_name}().")
        keep = checked_keep_input(options.keep_input, options.enqueue_many)
        sparse = SparseElements(options.enqueue_many, keep)
        lists = sparse.store_all(lists)
        queue = _make_queue(lists, options)
        add_queue_runner(QueueRunner(queue, _enqueues(queue, lists, keep, options)))
        _summarize(queue, options)
        dequeue = (
            queue.dequeue_up_to
            if options.allow_smaller_final_batch
            else queue.dequeue_many
        )
        batch = sparse.restore(dequeue(options.batch_size, name=scope))
        return like_source(first, batch)


def _check_capacity(options: _Options) -> None:
    least = options.min_after_dequeue
    if least is not None and options.capacity <= least:
        raise ValueError(
            f"capacity {options.capacity} must be bigger than min_after_dequeue "
            f"{least}."
        )


def _summarize(queue: QueueBase, options: _Options) -> None:
    least, capacity = options.min_after_dequeue, options.capacity
    if least is None:
        summarize_fullness(f"fraction_of_{capacity}_full", queue.size(), capacity)
        return
    room = capacity - least
    over = math_ops.maximum(0, queue.size() - least)
    full = math_ops.cast(over, dtypes.float32) * (1.0 / room)
    summary.scalar(f"fraction_over_{least}_of_{room}_full", full)


# --- the structure of what comes and goes ----------------------------------------


def values_of(tensors: Any) -> Any:
    """The tensors of a list as they are; those of a dict in the order of its keys."""
    if isinstance(tensors, dict):
        return [tensors[key] for key in sorted(tensors, key=str)]
    return tensors


def _lists(sources: Any) -> list[Any]:
    if not sources:
        raise ValueError("Expected at least one set of tensors")
    if isinstance(sources[0], dict):
        keys = set(sources[0])
        if any(set(source) != keys for source in sources[1:]):
            raise ValueError("All dictionaries in tensors_list must have the same keys")
        return [values_of(source) for source in sources]
    return list(sources)


def like_source(source: Any, batch: Any) -> Any:
    """The batch, in a dict if the source was one."""
    if not isinstance(source, dict):
        return batch
    values = [batch] if len(source) == 1 else batch
    return dict(zip(sorted(source, key=str), values, strict=True))


# --- filling ---------------------------------------------------------------------


def checked_keep_input(keep_input: Any, enqueue_many: bool) -> Tensor:
    """Whether an element is kept, as a tensor. Raises ValueError for a bad rank."""
    keep = convert_to_tensor(keep_input)
    rank = keep.shape.rank
    if rank is None:
        raise ValueError("`keep_input` dimensions must be known at graph construction.")
    if not enqueue_many and rank == 1:
        raise ValueError("`keep_input` cannot be a vector when `enqueue_many=False`.")
    if rank > 1:
        raise ValueError("`keep_input` must be 0 or 1 dimensions.")
    return keep


def _make_queue(lists: list[list[Tensor]], options: _Options) -> QueueBase:
    common = {
        "capacity": options.capacity,
        "dtypes": _common_types(lists),
        "shapes": _common_shapes(lists, options),
        "shared_name": options.shared_name,
    }
    if options.min_after_dequeue is not None:
        return RandomShuffleQueue(
            min_after_dequeue=options.min_after_dequeue, seed=options.seed, **common
        )
    return (PaddingFIFOQueue if options.dynamic_pad else FIFOQueue)(**common)


def _common_types(lists: list[list[Tensor]]) -> list[Any]:
    types = [tensor.dtype for tensor in lists[0]]
    for tensors in lists[1:]:
        others = [tensor.dtype for tensor in tensors]
        if others != types:
            raise TypeError(
                "Expected types to be consistent: "
                f"{', '.join(t.name for t in types)} vs. "
                f"{', '.join(t.name for t in others)}."
            )
    return types


def _common_shapes(lists: list[list[Tensor]], options: _Options) -> Any:
    if options.shapes is not None:
        return options.shapes
    shapes = []
    for i in range(len(lists[0])):
        for tensors in lists:
            if tensors[i].shape.rank is None:
                raise ValueError(f"Cannot infer Tensor's rank: {tensors[i]}")
        column = [tensors[i].shape for tensors in lists]
        if options.enqueue_many:
            column = [shape.with_rank_at_least(1)[1:] for shape in column]
        merged: TensorShape = column[0]
        # As in TensorFlow, the others must fit the first and add nothing to it.
        for shape in column[1:]:
            merged.merge_with(shape)
        shapes.append(merged.as_list())
    return shapes


def _enqueues(
    queue: QueueBase, lists: list[list[Tensor]], keep: Tensor, options: _Options
) -> list[Any]:
    put = queue.enqueue_many if options.enqueue_many else queue.enqueue
    enqueues = [_enqueue(put, tensors, keep) for tensors in lists]
    return enqueues * options.num_threads


def _enqueue(put: Callable[[Any], Any], tensors: Sequence[Tensor], keep: Tensor) -> Any:
    if keep.shape.rank == 1:
        which = math_ops.cast(keep, dtypes.int32)
        kept = [
            partition_ops.dynamic_partition(tensor, which, num_partitions=2)[1]
            for tensor in tensors
        ]
        return put(kept)
    known = constant_value(keep)
    if known is None:
        return cond(keep, lambda: put(tensors), control_flow_ops.no_op)
    return put(tensors) if known else control_flow_ops.no_op()


# --- the functions ---------------------------------------------------------------


@export("train.batch")
def batch(
    tensors: Any,
    batch_size: Any,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of tensors, gathered by threads of a queue runner.

    Args:
      tensors: a list or dict of tensors; one element, or with `enqueue_many` several
        along dimension 0.
      batch_size: an int or a scalar tensor.
      num_threads: threads that enqueue; with more than one the order is not kept.
      capacity, shared_name: of the queue.
      shapes: of the elements' tensors; inferred when None.
      dynamic_pad: let dimensions vary, and pad a batch to its largest element.
      allow_smaller_final_batch: give what is left at the end.

    Returns:
      Tensors in the structure of `tensors`, with a new dimension 0.

    Raises:
      ValueError: shapes are neither given nor known.
    """
    return maybe_batch(
        tensors,
        True,
        batch_size,
        num_threads,
        capacity,
        enqueue_many,
        shapes,
        dynamic_pad,
        allow_smaller_final_batch,
        shared_name,
        name,
    )


@export("train.maybe_batch")
def maybe_batch(
    tensors: Any,
    keep_input: Any,
    batch_size: Any,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """As `batch`, of the elements for which `keep_input` is true.

    Args:
      keep_input: a scalar bool, or with `enqueue_many` a vector.
    """
    options = _Options(
        batch_size=batch_size,
        keep_input=keep_input,
        capacity=capacity,
        enqueue_many=enqueue_many,
        shapes=shapes,
        allow_smaller_final_batch=allow_smaller_final_batch,
        shared_name=shared_name,
        name=name,
        dynamic_pad=dynamic_pad,
        num_threads=num_threads,
    )
    return _batches("batch", tensors, False, options)


@export("train.batch_join")
def batch_join(
    tensors_list: Any,
    batch_size: Any,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """As `batch`, from several lists or dicts of tensors with one thread each."""
    return maybe_batch_join(
        tensors_list,
        True,
        batch_size,
        capacity,
        enqueue_many,
        shapes,
        dynamic_pad,
        allow_smaller_final_batch,
        shared_name,
        name,
    )


@export("train.maybe_batch_join")
def maybe_batch_join(
    tensors_list: Any,
    keep_input: Any,
    batch_size: Any,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """As `batch_join`, of the elements for which `keep_input` is true."""
    options = _Options(
        batch_size=batch_size,
        keep_input=keep_input,
        capacity=capacity,
        enqueue_many=enqueue_many,
        shapes=shapes,
        allow_smaller_final_batch=allow_smaller_final_batch,
        shared_name=shared_name,
        name=name,
        dynamic_pad=dynamic_pad,
    )
    return _batches("batch_join", tensors_list, True, options)


@export("train.shuffle_batch")
def shuffle_batch(
    tensors: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """As `batch`, in random order.

    Args:
      min_after_dequeue: elements that stay in the queue, so that it is well mixed.
      seed: of the order.
    """
    return maybe_shuffle_batch(
        tensors,
        batch_size,
        capacity,
        min_after_dequeue,
        True,
        num_threads,
        seed,
        enqueue_many,
        shapes,
        allow_smaller_final_batch,
        shared_name,
        name,
    )


@export("train.maybe_shuffle_batch")
def maybe_shuffle_batch(
    tensors: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    keep_input: Any,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """As `shuffle_batch`, of the elements for which `keep_input` is true."""
    options = _Options(
        batch_size=batch_size,
        keep_input=keep_input,
        capacity=capacity,
        enqueue_many=enqueue_many,
        shapes=shapes,
        allow_smaller_final_batch=allow_smaller_final_batch,
        shared_name=shared_name,
        name=name,
        num_threads=num_threads,
        min_after_dequeue=min_after_dequeue,
        seed=seed,
    )
    return _batches("shuffle_batch", tensors, False, options)


@export("train.shuffle_batch_join")
def shuffle_batch_join(
    tensors_list: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """As `shuffle_batch`, from several lists or dicts with one thread each."""
    return maybe_shuffle_batch_join(
        tensors_list,
        batch_size,
        capacity,
        min_after_dequeue,
        True,
        seed,
        enqueue_many,
        shapes,
        allow_smaller_final_batch,
        shared_name,
        name,
    )


@export("train.maybe_shuffle_batch_join")
def maybe_shuffle_batch_join(
    tensors_list: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    keep_input: Any,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """As `shuffle_batch_join`, of the elements for which `keep_input` is true."""
    options = _Options(
        batch_size=batch_size,
        keep_input=keep_input,
        capacity=capacity,
        enqueue_many=enqueue_many,
        shapes=shapes,
        allow_smaller_final_batch=allow_smaller_final_batch,
        shared_name=shared_name,
        name=name,
        min_after_dequeue=min_after_dequeue,
        seed=seed,
    )
    return _batches("shuffle_batch_join", tensors_list, True, options)
