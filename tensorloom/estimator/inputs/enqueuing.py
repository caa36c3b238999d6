"""A queue that threads fill with arrays, a data frame or generated rows."""

from __future__ import annotations

import sys
from collections import OrderedDict
from types import FunctionType
from typing import Any

import numpy as np

from tensorloom.client.program import program_log
from tensorloom.client.queues.queues import (
    FIFOQueue,
    PaddingFIFOQueue,
    RandomShuffleQueue,
)
from tensorloom.estimator.inputs import feed_functions
from tensorloom.estimator.inputs.feeding_queue_runner import FeedingQueueRunner
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.placeholder import placeholder
from tensorloom.ops.math import cast as math_ops_cast
from tensorloom.ops.math.binary import maximum
from tensorloom.summary import summary
from tensorloom.train.inputs.queue_runner import add_queue_runner


def enqueue_data(
    data: Any,
    capacity: int,
    shuffle: bool = False,
    min_after_dequeue: float | None = None,
    num_threads: int = 1,
    seed: int | None = None,
    name: str = "enqueue_input",
    enqueue_size: int = 1,
    num_epochs: int | None = None,
    pad_value: Any = None,
) -> Any:
    """Makes a queue of rows, a queue runner that fills it, and a summary of how full.

    Args:
      data: an array, an `OrderedDict` of arrays, a pandas data frame, or a generator
        function of dicts. Each row of the first three comes after its number or index.
      capacity: of the queue, in rows.
      shuffle: rows come in random order.
      min_after_dequeue: how many rows stay to choose from; a quarter when None.
      num_threads: how many threads read the data, each all of it.
      seed: of the order.
      name: of the name scope.
      enqueue_size: how many rows a thread enqueues at a time.
      num_epochs: how often each thread reads the data; without end when None.
      pad_value: what shorter rows of a generator are filled up with.

    Returns:
      The queue.

    Raises:
      TypeError: `data` is something else.
      NotImplementedError: padding of what is not generated, or shuffled.
    """
    with name_scope(name):
        types, shapes, feed_class = _description(data)
        options = {"num_epochs": num_epochs, "random_start": shuffle}
        if pad_value is not None:
            _check_padding(feed_class, shuffle)
            options["pad_value"] = pad_value
        _warn_of_threads(shuffle, num_threads, num_epochs)
        if shuffle:
            quarter = capacity / 4 if min_after_dequeue is None else min_after_dequeue
            least = int(quarter)
            queue: Any = RandomShuffleQueue(
                capacity, least, dtypes=types, shapes=shapes, seed=seed
            )
        elif pad_value is not None:
            least = 0
            shapes = [(*shape[:-1], None) if shape else shape for shape in shapes]
            queue = PaddingFIFOQueue(capacity, dtypes=types, shapes=shapes)
        else:
            least = 0
            queue = FIFOQueue(capacity, dtypes=types, shapes=shapes)
        enqueue_ops, feeds = [], []
        for thread in range(num_threads):
            places = [placeholder(dtype) for dtype in types]
            enqueue_ops.append(queue.enqueue_many(places))
            thread_seed = None if seed is None else (thread + 1) * seed
            feeds.append(
                feed_class(places, data, enqueue_size, seed=thread_seed, **options)
            )
        add_queue_runner(FeedingQueueRunner(queue, enqueue_ops, feed_fns=feeds))
        room = capacity - least
        full = math_ops_cast.cast(maximum(0, queue.size() - least), dtypes.float32)
        summary.scalar(
            f"queue/{queue.name}fraction_over_{least}_of_{room}_full",
            full * (1.0 / room),
        )
        return queue


def _description(data: Any) -> tuple[list[Any], list[Any], Any]:
    """Dtypes and shapes of a row, and what feeds it."""
    pandas = sys.modules.get("pandas")
    if isinstance(data, np.ndarray):
        columns = [data]
        return *_numbered(columns), feed_functions.ArrayFeed
    if isinstance(data, OrderedDict):
        return *_numbered(list(data.values())), feed_functions.ArraysFeed
    if isinstance(data, FunctionType):
        first = next(data())
        values = [first[key] for key in sorted(first)]
        types = [dtypes.as_dtype(value.dtype) for value in values]
        return types, [value.shape for value in values], feed_functions.GeneratorFeed
    if pandas is not None and isinstance(data, pandas.DataFrame):
        parts = [data.index, *(data[name] for name in data.columns)]
        types = [dtypes.as_dtype(part.to_numpy().dtype) for part in parts]
        return types, [() for _ in types], feed_functions.DataFrameFeed
    raise TypeError(
        "data must be either a numpy array or pandas DataFrame if pandas is installed; "
        f"got {type(data).__name__}"
    )


def _numbered(columns: list[Any]) -> tuple[list[Any], list[Any]]:
    types = [dtypes.int64, *(dtypes.as_dtype(column.dtype) for column in columns)]
    return types, [(), *(column.shape[1:] for column in columns)]


def _check_padding(feed_class: Any, shuffle: bool) -> None:
    if feed_class is not feed_functions.GeneratorFeed:
        raise NotImplementedError("padding is only available with generator usage")
    if shuffle:
        raise NotImplementedError(
            "padding and shuffling data at the same time is not implemented"
        )


def _warn_of_threads(shuffle: bool, num_threads: int, num_epochs: int | None) -> None:
    """Says what several readers of the same data do to its order."""
    if num_threads <= 1:
        return
    if num_epochs is not None:
        program_log.warning(
            "enqueue_data was called with num_epochs and num_threads > 1. num_epochs "
            "is "
            "applied per thread, so this will produce more epochs than you probably "
            "intend. If you want to limit epochs, use one thread."
        )
        if shuffle:
            program_log.warning(
                "enqueue_data was called with shuffle=True, num_threads > 1, and "
                "num_epochs. This will create multiple threads, all reading the "
                "array/dataframe in order adding to the same shuffling queue; the "
                "results will likely not be sufficiently shuffled."
            )
    if not shuffle:
        program_log.warning(
            "enqueue_data was called with shuffle=False and num_threads > 1. This will "
            "create multiple threads, all reading the array/dataframe in order. If you "
            "want examples read in order, use one thread; if you want multiple "
            "threads, "
            "enable shuffling."
        )
