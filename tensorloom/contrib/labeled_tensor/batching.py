"""Batches of labeled tensors, through queues."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from tensorloom.contrib.labeled_tensor.axis import Axes
from tensorloom.contrib.labeled_tensor.labeled import (
    LabeledTensor,
    LabeledTensorLike,
    convert_to_labeled_tensor,
)
from tensorloom.contrib.labeled_tensor.type_checks import checked
from tensorloom.framework.export import export
from tensorloom.framework.runtime.scopes import name_scope
from tensorloom.train.inputs import input_batches


def _batched(
    scope: Any,
    labeled_tensors: Collection[LabeledTensorLike],
    make: Callable[[list[Any], str], Any],
    enqueue_many: bool,
    batch_size: int | None,
) -> list[LabeledTensor]:
    with scope as name:
        inputs = list(map(convert_to_labeled_tensor, labeled_tensors))
        batches = make([input.tensor for input in inputs], name)
        return [
            LabeledTensor(tensor, _batch_axes(input.axes, enqueue_many, batch_size))
            for tensor, input in zip(
                batches if isinstance(batches, list) else [batches], inputs, strict=True
            )
        ]


def _batch_axes(axes: Axes, enqueue_many: bool, batch_size: int | None) -> Axes:
    if enqueue_many:
        if not axes or next(iter(axes)) != "batch":
            raise ValueError(
                "When enqueue_many is True, input tensors must have an axis called "
                f'"batch" as their first dimension, but axes were {axes}'
            )
        axes = axes.remove("batch")
    return Axes([("batch", batch_size), *axes.values()])


@export("contrib.labeled_tensor.batch")
@checked
def batch(
    labeled_tensors: Collection[LabeledTensorLike],
    batch_size: int,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    allow_smaller_final_batch: bool = False,
    name: str | None = None,
) -> list[LabeledTensor]:
    """Batches of labeled tensors, with a first axis "batch"; see `tf.train.batch`.

    Args:
      labeled_tensors: an example each; with `enqueue_many` several, along a first axis
        "batch".
      batch_size: of the results.
      num_threads: how many put examples into the queue.
      capacity: of the queue.
      enqueue_many: whether the inputs are several examples.
      allow_smaller_final_batch: whether the size of batches is left open.
      name: of the operations.

    Raises:
      ValueError: `enqueue_many`, and the first axis is not "batch".
    """

    def make(tensors: list[Any], scope: str) -> Any:
        return input_batches.batch(
            tensors,
            batch_size=batch_size,
            num_threads=num_threads,
            capacity=capacity,
            enqueue_many=enqueue_many,
            allow_smaller_final_batch=allow_smaller_final_batch,
            name=scope,
        )

    scope = name_scope(name, "lt_batch", list(labeled_tensors))
    size = None if allow_smaller_final_batch else batch_size
    return _batched(scope, labeled_tensors, make, enqueue_many, size)


@export("contrib.labeled_tensor.shuffle_batch")
@checked
def shuffle_batch(
    labeled_tensors: Collection[LabeledTensorLike],
    batch_size: int,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    min_after_dequeue: int = 0,
    seed: int | None = None,
    allow_smaller_final_batch: bool = False,
    name: str | None = None,
) -> list[LabeledTensor]:
    """Batches of labeled tensors in random order; see `tf.train.shuffle_batch`.

    Args:
      min_after_dequeue: how many examples stay in the queue, to be drawn from.
      seed: of the order.
      labeled_tensors, batch_size, num_threads, capacity, enqueue_many,
        allow_smaller_final_batch, name: as of `batch`.

    Raises:
      ValueError: `enqueue_many`, and the first axis is not "batch".
    """

    def make(tensors: list[Any], scope: str) -> Any:
        return input_batches.shuffle_batch(
            tensors,
            batch_size=batch_size,
            num_threads=num_threads,
            capacity=capacity,
            enqueue_many=enqueue_many,
            min_after_dequeue=min_after_dequeue,
            seed=seed,
            allow_smaller_final_batch=allow_smaller_final_batch,
            name=scope,
        )

    scope = name_scope(name, "lt_shuffle_batch", list(labeled_tensors))
    size = None if allow_smaller_final_batch else batch_size
    return _batched(scope, labeled_tensors, make, enqueue_many, size)
