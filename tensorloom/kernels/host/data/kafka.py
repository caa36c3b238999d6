"""The dataset of Kafka's messages, read with confluent-kafka."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.object_arrays import object_scalar
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.kernels.host.data.pipeline.dataset import (
    Dataset,
    DatasetIterator,
    Element,
    dataset_kernel,
)

if TYPE_CHECKING:
    from types import ModuleType

    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.kernels.host.data.pipeline.environment import Environment

# Messages that are taken from the client at a time.
_MOST: Final = 500
# A step that is cancelled waits no longer than that.
_LONGEST_WAIT_S: Final = 0.2


@dataclass(frozen=True, slots=True)
class _Part:
    """What is read of one partition."""

    topic: str
    partition: int = 0
    offset: int = 0
    #: The last offset that is read; -1: there is none.
    last: int = -1

    @staticmethod
    def of(entry: bytes) -> _Part:
        """The part that `topic[:partition[:offset[:last]]]` means.

        Raises:
          errors.InvalidArgumentError: it means none.
        """
        topic, *numbers = entry.decode(errors="replace").split(":")
        try:
            return _Part(topic, *map(int, numbers[:3]))
        except ValueError:
            shown = entry.decode(errors="replace")
            raise invalid_argument(f"Invalid parameters: {shown}") from None


class _KafkaDataset(Dataset):
    kind = "Kafka"

    def __init__(
        self, topics: list[bytes], servers: str, group: str, eof: bool, timeout_ms: int
    ) -> None:
        super().__init__([dtypes.string], [TensorShape([])])
        self.topics, self.eof, self.timeout_s = topics, eof, timeout_ms / 1e3
        self.config: dict[str, Any] = {
            "bootstrap.servers": servers,
            # The client asks for a name, though nothing is committed.
            "group.id": group or "tensorloom",
            "enable.auto.commit": False,
            "enable.partition.eof": eof,
        }

    def iterate(self, env: Environment) -> DatasetIterator:
        return _KafkaIterator(self, env)


class _KafkaIterator(DatasetIterator):
    """Reads one part after the other."""

    def __init__(self, dataset: _KafkaDataset, env: Environment) -> None:
        self._dataset, self._env = dataset, env
        self._left = deque(dataset.topics)
        self._consumer: Any = None
        self._part = _Part("")
        self._is_over = False
        # Taken from the client, and not yet given.
        self._messages: deque[Any] = deque()
        self._kafka = _confluent_kafka()

    def __next__(self) -> Element:
        while True:
            if self._consumer is None:
                if not self._left:
                    raise StopIteration
                self._open(_Part.of(self._left.popleft()))
            value = self._value()
            if value is not None:
                return (object_scalar(value),)
            self._close()

    def _open(self, part: _Part) -> None:
        try:
            self._consumer = self._kafka.Consumer(self._dataset.config)
            place = self._kafka.TopicPartition(part.topic, part.partition, part.offset)
            self._consumer.assign([place])
        except self._kafka.KafkaException as error:
            message = f"Failed to create consumer:{error.args[0]}"
            raise errors.InternalError(None, None, message) from None
        self._part, self._is_over = part, False

    def _value(self) -> bytes | None:
        """The next message of the part; None at its end."""
        cancellation = self._env.context.cancellation
        while not self._is_over:
            if self._messages:
                value = self._take(self._messages.popleft())
                if value is not None:
                    return value
                continue
            if cancellation.cancelled:
                cancellation.check()
            wait_s = min(self._dataset.timeout_s, _LONGEST_WAIT_S)
            first = self._consumer.poll(wait_s)
            if first is not None:
                self._messages.append(first)
                # What is there already comes with it.
                self._messages += self._consumer.consume(_MOST, 0)
        return None

    def _take(self, message: Any) -> bytes | None:
        """The value of a message; None if it is none, or behind the end."""
        error = message.error()
        if error is None:
            last = self._part.last
            if 0 <= last <= message.offset():
                self._is_over = True
                if message.offset() > last:
                    return None
            return message.value() or b""
        if error.code() == self._kafka.KafkaError._PARTITION_EOF:
            self._is_over = True
            return None
        raise errors.InternalError(None, None, f"Failed to consume:{error.str()}")

    def _close(self) -> None:
        self._messages.clear()
        self._consumer.close()
        self._consumer = None


def _confluent_kafka() -> ModuleType:
    try:
        import confluent_kafka as library
    except ImportError:
        message = "Kafka needs confluent-kafka: install 'tensorloom[kafka]'"
        raise errors.UnimplementedError(None, None, message) from None
    return library


@dataset_kernel("KafkaDataset")
def kafka_dataset(c: OpKernelConstruction) -> Compute:
    """The messages of topics."""

    def compute(topics: Any, servers: Any, group: Any, eof: Any, timeout: Any) -> Any:
        if topics.ndim > 1:
            raise invalid_argument("`topics` must be a scalar or a vector.")
        if timeout <= 0:
            raise invalid_argument(
                f"Timeout value should be large than 0, got {int(timeout)}"
            )
        return _KafkaDataset(
            topics.reshape(-1).tolist(),
            servers[()].decode(),
            group[()].decode(),
            bool(eof),
            int(timeout),
        )

    return compute
