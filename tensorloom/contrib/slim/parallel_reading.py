"""Files that several readers read into one queue, and queues that read ahead."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.client.queues.queues import (
    FIFOQueue,
    PaddingFIFOQueue,
    QueueBase,
    RandomShuffleQueue,
)
from tensorloom.client.queues.readers import ReaderBase
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes as types
from tensorloom.ops.math.cast import cast
from tensorloom.ops.reductions.aggregate import add_n
from tensorloom.storage.files import gfile
from tensorloom.summary import summary
from tensorloom.train.inputs.input_producers import string_input_producer
from tensorloom.train.inputs.queue_runner import QueueRunner, add_queue_runner


@export("contrib.slim.parallel_reader.ParallelReader")
class ParallelReader(ReaderBase):
    """Several readers that read at the same time, each a file of its own.

    Args:
      reader_class: makes a reader.
      common_queue: takes the records: a queue of keys and values.
      num_readers: how many readers.
      reader_kwargs: arguments of each.

    Raises:
      TypeError: the queue is not of two strings.
    """

    def __init__(
        self,
        reader_class: Callable[..., Any],
        common_queue: QueueBase,
        num_readers: int = 4,
        reader_kwargs: dict[str, Any] | None = None,
    ) -> None:
        kinds = common_queue.dtypes
        if len(kinds) != 2 or not all(
            kind.is_compatible_with(types.string) for kind in kinds
        ):
            raise TypeError(
                f"common_queue.dtypes must be [tf.string, tf.string], not {kinds}"
            )
        # Its readers have handles; it has none.
        arguments = reader_kwargs or {}
        self._readers = [reader_class(**arguments) for _ in range(num_readers)]
        self._common_queue = common_queue

    @property
    def num_readers(self) -> int:
        """How many readers there are."""
        return len(self._readers)

    @property
    def common_queue(self) -> QueueBase:
        """The queue of records."""
        return self._common_queue

    def read(self, queue: Any, name: str | None = None) -> Any:
        """(key, value) of the next record of any reader.

        Args:
          queue: of file names.
          name: of the operation.
        """
        self._configure_readers_by(queue)
        return self._common_queue.dequeue(name=name)

    def read_up_to(self, queue: Any, num_records: Any, name: str | None = None) -> Any:
        """(keys, values) of the next records, at most `num_records`.

        Args:
          queue: of file names.
          num_records: how many.
          name: of the operation.
        """
        self._configure_readers_by(queue)
        return self._common_queue.dequeue_up_to(num_records, name)

    def _configure_readers_by(self, queue: Any) -> None:
        enqueues = [
            self._common_queue.enqueue(reader.read(queue)) for reader in self._readers
        ]
        add_queue_runner(QueueRunner(self._common_queue, enqueues))

    def num_records_produced(self, name: str | None = None) -> Tensor:
        """How many records the readers have read."""
        produced = [reader.num_records_produced() for reader in self._readers]
        return add_n(produced, name=name)

    def num_work_units_completed(self, name: str | None = None) -> Tensor:
        """How many files they have read to the end."""
        completed = [reader.num_work_units_completed() for reader in self._readers]
        return add_n(completed, name=name)


def _summarize_fullness(queue: QueueBase, capacity: int) -> None:
    size = cast(queue.size(), types.float32)
    summary.scalar(f"fraction_of_{capacity}_full", size * (1.0 / capacity))


@export("contrib.slim.parallel_reader.parallel_read")
def parallel_read(
    data_sources: Any,
    reader_class: Callable[..., Any],
    num_epochs: int | None = None,
    num_readers: int = 4,
    reader_kwargs: dict[str, Any] | None = None,
    shuffle: bool = True,
    dtypes: Sequence[Any] | None = None,
    capacity: int = 256,
    min_after_dequeue: int = 128,
    seed: int | None = None,
    scope: str | None = None,
) -> Any:
    """(key, value) of the next record of files that several readers read.

    Args:
      data_sources: file names or patterns: one, or a list.
      reader_class: makes a reader, such as `tf.TFRecordReader`.
      num_epochs: how often each file is read; None for no end.
      num_readers: how many files are read at the same time.
      reader_kwargs: arguments of each reader.
      shuffle: whether files and records come in random order.
      dtypes: of key and value, two strings.
      capacity: how many records wait at most.
      min_after_dequeue: how many wait at least, where they are shuffled.
      seed: of the order.
      scope: of the operations.

    Raises:
      ValueError: there are no such files.
    """
    files = get_data_files(data_sources)
    with name_scope(scope, "parallel_read"):
        names = string_input_producer(
            files, num_epochs=num_epochs, shuffle=shuffle, seed=seed, name="filenames"
        )
        kinds = list(dtypes or [types.string, types.string])
        queue: QueueBase
        if shuffle:
            queue = RandomShuffleQueue(
                capacity=capacity,
                min_after_dequeue=min_after_dequeue,
                dtypes=kinds,
                seed=seed,
                name="common_queue",
            )
        else:
            queue = FIFOQueue(capacity=capacity, dtypes=kinds, name="common_queue")
        _summarize_fullness(queue, capacity)
        reader = ParallelReader(reader_class, queue, num_readers, reader_kwargs)
        return reader.read(names)


@export("contrib.slim.parallel_reader.single_pass_read")
def single_pass_read(
    data_sources: Any,
    reader_class: Callable[..., Any],
    reader_kwargs: dict[str, Any] | None = None,
    scope: str | None = None,
) -> Any:
    """(key, value) of the next record of files that one reader reads once, in order.

    Args:
      data_sources: file names or patterns: one, or a list.
      reader_class: makes a reader, such as `tf.TFRecordReader`.
      reader_kwargs: its arguments.
      scope: of the operations.

    Raises:
      ValueError: there are no such files.
    """
    files = get_data_files(data_sources)
    with name_scope(scope, "single_pass_read"):
        names = string_input_producer(
            files, num_epochs=1, shuffle=False, capacity=1, name="filenames"
        )
        return reader_class(**(reader_kwargs or {})).read(names)


@export("contrib.slim.parallel_reader.get_data_files")
def get_data_files(data_sources: Any) -> list[str]:
    """The files that names and patterns with `*`, `?` or `[` stand for.

    Args:
      data_sources: one, or a list or tuple of such.

    Raises:
      ValueError: there are none.
    """
    files: list[str] = []
    if isinstance(data_sources, (list, tuple)):
        for source in data_sources:
            files += get_data_files(source)
    elif any(sign in data_sources for sign in "*?["):
        files = gfile.glob(data_sources)
    else:
        files = [data_sources]
    if not files:
        raise ValueError(f"No data files found in {data_sources}")
    return files


@export("contrib.slim.prefetch_queue.prefetch_queue")
def prefetch_queue(
    tensors: Any,
    capacity: int = 8,
    num_threads: int = 1,
    dynamic_pad: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> QueueBase:
    """A queue that threads fill with tensors while a program computes.

    Args:
      tensors: a list or dict of them; elements of the queue are such too.
      capacity: how many elements wait at most.
      num_threads: that fill it.
      dynamic_pad: whether sizes may differ; `dequeue_many` pads.
      shared_name: under which sessions share it.
      name: of the operations.

    Returns:
      The queue.
    """
    is_dict = isinstance(tensors, dict)
    names = sorted(tensors) if is_dict else None
    parts = list(tensors) if names is None else [tensors[each] for each in names]
    with name_scope(name, "prefetch_queue", parts):
        make = PaddingFIFOQueue if dynamic_pad else FIFOQueue
        queue: QueueBase = make(
            capacity=capacity,
            dtypes=[part.dtype for part in parts],
            shapes=[part.get_shape() for part in parts],
            names=names,
            shared_name=shared_name,
        )
        enqueue = queue.enqueue(tensors)
        add_queue_runner(QueueRunner(queue, [enqueue] * num_threads))
        _summarize_fullness(queue, capacity)
        return queue
