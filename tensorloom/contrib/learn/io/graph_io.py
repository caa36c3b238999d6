"""Batches of examples from files, read by threads through queues."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from tensorloom.client.queues.queues import FIFOQueue
from tensorloom.client.queues.readers import TFRecordReader
from tensorloom.contrib.learn.io.parsed_features import queue_parsed_features
from tensorloom.contrib.learn.io.shared_file_names import seek_next
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.constant import constant
from tensorloom.ops.parsing.parsing_features import parse_example
from tensorloom.storage.files import gfile
from tensorloom.train.inputs.input_batches import batch_join, shuffle_batch_join
from tensorloom.train.inputs.input_producers import string_input_producer
from tensorloom.train.inputs.queue_runner import QueueRunner, add_queue_runner

# The key that the examples' keys have while they are batched with parsed features.
KEY_FEATURE_NAME: Final = "__key__"
ParseFn = Callable[[Any], Any]


@export("contrib.learn.read_batch_examples", "contrib.learn.io.read_batch_examples")
def read_batch_examples(
    file_pattern: Any,
    batch_size: Any,
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    num_threads: int = 1,
    read_batch_size: int = 1,
    parse_fn: ParseFn | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Any:
    """`read_keyed_batch_examples` without the keys."""
    _, examples = read_keyed_batch_examples(
        file_pattern=file_pattern,
        batch_size=batch_size,
        reader=reader,
        randomize_input=randomize_input,
        num_epochs=num_epochs,
        queue_capacity=queue_capacity,
        num_threads=num_threads,
        read_batch_size=read_batch_size,
        parse_fn=parse_fn,
        name=name,
        seed=seed,
    )
    return examples


@export(
    "contrib.learn.read_keyed_batch_examples",
    "contrib.learn.io.read_keyed_batch_examples",
)
def read_keyed_batch_examples(
    file_pattern: Any,
    batch_size: Any,
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    num_threads: int = 1,
    read_batch_size: int = 1,
    parse_fn: ParseFn | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Any:
    """Batches of the records of files, with their keys.

    Args:
      file_pattern: a file name, a pattern, or a list of them.
      batch_size: examples in a batch; may be a tensor.
      reader: makes a reader, such as the class `tf.TFRecordReader`.
      randomize_input: whether files and examples come in random order.
      num_epochs: how often each file is read; without end when None. Otherwise the
        local variables need to be initialized, and the last batch may be smaller.
      queue_capacity: examples that wait in the queue.
      num_threads: threads that read.
      read_batch_size: records that are read at a time.
      parse_fn: from records to what is batched: a tensor or a dict of tensors.
      name: of the name scope.
      seed: of the order.

    Returns:
      Keys and examples: string tensors [batch], or what `parse_fn` gives.

    Raises:
      ValueError: no file matches, or a number is impossible.
    """
    reading = _Reading(
        file_pattern,
        batch_size,
        reader,
        randomize_input,
        num_epochs,
        queue_capacity,
        num_threads,
        read_batch_size,
        parse_fn,
        seed,
    )
    return reading.batches(name, shared=False)


@export(
    "contrib.learn.read_keyed_batch_examples_shared_queue",
    "contrib.learn.io.read_keyed_batch_examples_shared_queue",
)
def read_keyed_batch_examples_shared_queue(
    file_pattern: Any,
    batch_size: Any,
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    num_threads: int = 1,
    read_batch_size: int = 1,
    parse_fn: ParseFn | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Any:
    """`read_keyed_batch_examples`, whose workers share the files among them.

    Variables on the parameter servers count the files, so each is read by one worker.
    """
    reading = _Reading(
        file_pattern,
        batch_size,
        reader,
        randomize_input,
        num_epochs,
        queue_capacity,
        num_threads,
        read_batch_size,
        parse_fn,
        seed,
    )
    return reading.batches(name, shared=True)


@dataclass
class _Reading:
    """How files are read."""

    file_pattern: Any
    batch_size: Any
    reader: Callable[[], Any]
    randomize_input: bool
    num_epochs: int | None
    queue_capacity: int
    num_threads: int
    read_batch_size: int
    parse_fn: ParseFn | None
    seed: int | None

    def batches(self, name: str | None, shared: bool) -> Any:
        """Keys and examples."""
        file_names = self._file_names()
        self._check()
        with name_scope(name, "read_batch_examples", [self.file_pattern]) as scope:
            with name_scope("file_name_queue") as queue_scope:
                if shared:
                    files = self._shared_queue(file_names)
                else:
                    files = string_input_producer(
                        constant(file_names, name="input"),
                        shuffle=self.randomize_input,
                        num_epochs=self.num_epochs,
                        name=queue_scope,
                        seed=self.seed,
                    )
            with name_scope("read"):
                examples = [self._examples(files) for _ in range(self.num_threads)]
            batch = self._join(examples, scope)
            if self.parse_fn and isinstance(batch, dict):
                return batch.pop(KEY_FEATURE_NAME), batch
            return batch

    def _file_names(self) -> list[str]:
        if isinstance(self.file_pattern, list):
            if not self.file_pattern:
                raise ValueError("No files given to dequeue_examples.")
            names = [name for one in self.file_pattern for name in gfile.glob(one)]
        else:
            names = list(gfile.glob(self.file_pattern))
        if not names:
            raise ValueError(f"No files match {self.file_pattern}.")
        return names if self.randomize_input else sorted(names)

    def _check(self) -> None:
        capacity, size = self.queue_capacity, self.batch_size
        if not capacity or capacity <= 0:
            raise ValueError(f"Invalid queue_capacity {capacity}.")
        if size is None or (not isinstance(size, Tensor) and not 0 < size < capacity):
            raise ValueError(
                f"Invalid batch_size {size}, with queue_capacity {capacity}."
            )
        if self.read_batch_size is None or self.read_batch_size <= 0:
            raise ValueError(f"Invalid read_batch_size {self.read_batch_size}.")
        if not self.num_threads or self.num_threads <= 0:
            raise ValueError(f"Invalid num_threads {self.num_threads}.")
        if self.num_epochs is not None and self.num_epochs <= 0:
            raise ValueError(f"Invalid num_epochs {self.num_epochs}.")

    def _shared_queue(self, file_names: list[str]) -> Any:
        queue = FIFOQueue(capacity=1, dtypes=[dtypes.string], shapes=[[]])
        next_name = seek_next(
            file_names,
            shuffle=self.randomize_input,
            num_epochs=self.num_epochs,
            seed=self.seed,
        )
        add_queue_runner(QueueRunner(queue, [queue.enqueue(next_name)]))
        return queue

    def _examples(self, files: Any) -> Any:
        """What one thread reads: keys and examples, or parsed features."""
        if self.read_batch_size > 1:
            keys, records = self.reader().read_up_to(files, self.read_batch_size)
        else:
            keys, records = self.reader().read(files)
        if not self.parse_fn:
            return keys, records
        parsed = self.parse_fn(records)
        if isinstance(parsed, dict):
            parsed[KEY_FEATURE_NAME] = keys
            return parsed
        return keys, parsed

    def _join(self, examples: list[Any], scope: str) -> Any:
        enqueue_many = self.read_batch_size > 1
        smaller = self.num_epochs is not None
        if not self.randomize_input:
            return batch_join(
                examples,
                self.batch_size,
                capacity=self.queue_capacity,
                enqueue_many=enqueue_many,
                name=scope,
                allow_smaller_final_batch=smaller,
            )
        if isinstance(self.batch_size, Tensor):
            stay = int(self.queue_capacity * 0.4)
        else:
            stay = max(self.queue_capacity - 3 * self.batch_size, self.batch_size)
        return shuffle_batch_join(
            examples,
            self.batch_size,
            capacity=self.queue_capacity,
            min_after_dequeue=stay,
            enqueue_many=enqueue_many,
            name=scope,
            allow_smaller_final_batch=smaller,
            seed=self.seed,
        )


@export(
    "contrib.learn.read_keyed_batch_features",
    "contrib.learn.io.read_keyed_batch_features",
)
def read_keyed_batch_features(
    file_pattern: Any,
    batch_size: Any,
    features: dict[str, Any],
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    reader_num_threads: int = 1,
    feature_queue_capacity: int = 100,
    num_enqueue_threads: int = 2,
    parse_fn: ParseFn | None = None,
    name: str | None = None,
    read_batch_size: int | None = None,
) -> tuple[Any, dict[str, Any]]:
    """Batches of the parsed features of `tf.Example` records in files, with keys.

    Args:
      file_pattern: a file name, a pattern, or a list of them.
      batch_size: examples in a batch.
      features: what each Example has, as `tf.io.parse_example` takes it.
      reader: makes a reader, such as the class `tf.TFRecordReader`.
      randomize_input: whether files and examples come in random order.
      num_epochs: how often each file is read; without end when None.
      queue_capacity: examples that wait to be parsed.
      reader_num_threads: threads that read.
      feature_queue_capacity: parsed batches that wait.
      num_enqueue_threads: threads that parse.
      parse_fn: from records to Examples.
      name: of the name scope.
      read_batch_size: records that are read at a time; as many as a batch when None.

    Returns:
      Keys, string [batch], and a dict of tensors and SparseTensors.

    Raises:
      ValueError: no file matches, or a number is impossible.
    """
    with name_scope(name, "read_batch_features", [file_pattern]) as scope:
        keys, examples = read_keyed_batch_examples(
            file_pattern,
            batch_size,
            reader,
            randomize_input=randomize_input,
            num_epochs=num_epochs,
            queue_capacity=queue_capacity,
            num_threads=reader_num_threads,
            read_batch_size=batch_size if read_batch_size is None else read_batch_size,
            parse_fn=parse_fn,
            name=scope,
        )
        return queue_parsed_features(
            parse_example(examples, features),
            keys=keys,
            feature_queue_capacity=feature_queue_capacity,
            num_enqueue_threads=num_enqueue_threads,
            name=scope,
        )


@export(
    "contrib.learn.read_keyed_batch_features_shared_queue",
    "contrib.learn.io.read_keyed_batch_features_shared_queue",
)
def read_keyed_batch_features_shared_queue(
    file_pattern: Any,
    batch_size: Any,
    features: dict[str, Any],
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    reader_num_threads: int = 1,
    feature_queue_capacity: int = 100,
    num_queue_runners: int = 2,
    parse_fn: ParseFn | None = None,
    name: str | None = None,
) -> tuple[Any, dict[str, Any]]:
    """`read_keyed_batch_features`, whose workers share the files among them."""
    with name_scope(name, "read_batch_features", [file_pattern]) as scope:
        keys, examples = read_keyed_batch_examples_shared_queue(
            file_pattern,
            batch_size,
            reader,
            randomize_input=randomize_input,
            num_epochs=num_epochs,
            queue_capacity=queue_capacity,
            num_threads=reader_num_threads,
            read_batch_size=batch_size,
            parse_fn=parse_fn,
            name=scope,
        )
        return queue_parsed_features(
            parse_example(examples, features),
            keys=keys,
            feature_queue_capacity=feature_queue_capacity,
            num_enqueue_threads=num_queue_runners,
            name=scope,
        )


@export("contrib.learn.read_batch_features", "contrib.learn.io.read_batch_features")
def read_batch_features(
    file_pattern: Any,
    batch_size: Any,
    features: dict[str, Any],
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    feature_queue_capacity: int = 100,
    reader_num_threads: int = 1,
    num_enqueue_threads: int = 2,
    parse_fn: ParseFn | None = None,
    name: str | None = None,
    read_batch_size: int | None = None,
) -> dict[str, Any]:
    """`read_keyed_batch_features` without the keys."""
    _, parsed = read_keyed_batch_features(
        file_pattern,
        batch_size,
        features,
        reader,
        randomize_input=randomize_input,
        num_epochs=num_epochs,
        queue_capacity=queue_capacity,
        reader_num_threads=reader_num_threads,
        feature_queue_capacity=feature_queue_capacity,
        num_enqueue_threads=num_enqueue_threads,
        read_batch_size=read_batch_size,
        parse_fn=parse_fn,
        name=name,
    )
    return parsed


@export(
    "contrib.learn.read_batch_record_features",
    "contrib.learn.io.read_batch_record_features",
)
def read_batch_record_features(
    file_pattern: Any,
    batch_size: Any,
    features: dict[str, Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    reader_num_threads: int = 1,
    name: str | None = "dequeue_record_examples",
) -> dict[str, Any]:
    """`read_batch_features` of TFRecord files."""
    return read_batch_features(
        file_pattern=file_pattern,
        batch_size=batch_size,
        features=features,
        reader=TFRecordReader,
        randomize_input=randomize_input,
        num_epochs=num_epochs,
        queue_capacity=queue_capacity,
        reader_num_threads=reader_num_threads,
        name=name,
    )
