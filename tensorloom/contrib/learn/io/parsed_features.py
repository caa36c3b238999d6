"""A queue of features that were parsed already."""

from __future__ import annotations

from typing import Any

from tensorloom.client.queues.queues import FIFOQueue
from tensorloom.framework import errors
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.ops.math.cast import cast
from tensorloom.summary import summary
from tensorloom.train.inputs.queue_runner import QueueRunner, add_queue_runner


@export("contrib.learn.io.queue_parsed_features")
def queue_parsed_features(
    parsed_features: dict[str, Any],
    keys: Any = None,
    feature_queue_capacity: int = 100,
    num_enqueue_threads: int = 2,
    name: str | None = None,
) -> tuple[Any, dict[str, Any]]:
    """Puts batches of features through a queue, which threads fill.

    Args:
      parsed_features: tensors or SparseTensors by their keys: one batch.
      keys: of the examples, string [batch]; or None.
      feature_queue_capacity: batches that wait in the queue.
      num_enqueue_threads: threads that fill it.
      name: of the name scope.

    Returns:
      The keys, or None, and the features, as they come out of the queue.
    """
    inputs = list(parsed_features.values()) + ([] if keys is None else [keys])
    with name_scope(name, "queue_parsed_features", inputs):
        parts: list[Any] = []
        for key in sorted(parsed_features):
            value = parsed_features[key]
            if isinstance(value, SparseTensor):
                parts += [value.indices, value.values, value.dense_shape]
            else:
                parts.append(value)
        if keys is not None:
            parts.append(keys)
        taken = iter(_through_queue(parts, feature_queue_capacity, num_enqueue_threads))
        features = {
            key: SparseTensor(next(taken), next(taken), next(taken))
            if isinstance(parsed_features[key], SparseTensor)
            else next(taken)
            for key in sorted(parsed_features)
        }
        return (None if keys is None else next(taken)), features


def _through_queue(parts: list[Any], capacity: int, threads: int) -> list[Any]:
    """The tensors, dequeued from a queue that threads fill with them."""
    queue = FIFOQueue(capacity, [part.dtype for part in parts])
    summary.scalar(
        f"queue/parsed_features/{queue.name}/fraction_of_{capacity}_full",
        cast(queue.size(), dtypes.float32) * (1.0 / capacity),
    )
    enqueues = [queue.enqueue(parts) for _ in range(threads)]
    ends = (errors.OutOfRangeError, errors.CancelledError)
    add_queue_runner(QueueRunner(queue, enqueues, queue_closed_exception_types=ends))
    taken = queue.dequeue()
    tensors = taken if isinstance(taken, list) else [taken]
    for tensor, part in zip(tensors, parts, strict=True):
        tensor.set_shape(part.get_shape())
    return tensors
