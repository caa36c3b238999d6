"""librdkafka's mock cluster: brokers in this process, behind real sockets.

It has groups, rebalances and failing brokers. Of transactions it takes every request,
but keeps no secret: readers see aborted messages, and committed offsets are not kept.
So what transactions promise is tested with `kafka_model.py`.
"""

from __future__ import annotations

import ctypes
import uuid
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import confluent_kafka
from confluent_kafka import Consumer, Producer

_PRODUCER: Final = 0
_ERRORS: Final = 512


def _library() -> Any:
    folder = Path(confluent_kafka.__file__).parent.parent / "confluent_kafka.libs"
    (file,) = folder.glob("librdkafka-*")
    library = ctypes.CDLL(str(file))
    for name in ("rd_kafka_new", "rd_kafka_conf_new", "rd_kafka_mock_cluster_new"):
        getattr(library, name).restype = ctypes.c_void_p
    library.rd_kafka_mock_cluster_bootstraps.restype = ctypes.c_char_p
    return library


class MockCluster:
    """A cluster, which ends with its `with` block."""

    def __init__(self, brokers: int = 3) -> None:
        self._library = _library()
        error = ctypes.create_string_buffer(_ERRORS)
        config = ctypes.c_void_p(self._library.rd_kafka_conf_new())
        self._owner = ctypes.c_void_p(
            self._library.rd_kafka_new(_PRODUCER, config, error, _ERRORS)
        )
        self._cluster = ctypes.c_void_p(
            self._library.rd_kafka_mock_cluster_new(self._owner, brokers)
        )
        self._library.rd_kafka_mock_group_initial_rebalance_delay_ms(self._cluster, 50)
        found: bytes = self._library.rd_kafka_mock_cluster_bootstraps(self._cluster)
        self.servers = found.decode()
        self._producer: Any = None

    def __enter__(self) -> MockCluster:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._producer = None
        self._library.rd_kafka_mock_cluster_destroy(self._cluster)
        self._library.rd_kafka_destroy(self._owner)

    def create(self, topic: str, partitions: int = 1) -> None:
        """Makes a topic."""
        code = self._library.rd_kafka_mock_topic_create(
            self._cluster, topic.encode(), partitions, 1
        )
        assert not code

    def set_down(self, broker: int) -> None:
        """Ends a broker's connections, and refuses others."""
        self._library.rd_kafka_mock_broker_set_down(self._cluster, broker)

    def set_up(self, broker: int) -> None:
        """Lets a broker answer again."""
        self._library.rd_kafka_mock_broker_set_up(self._cluster, broker)

    def fail(self, api: int, *codes: int) -> None:
        """Answers the next requests of a kind with errors."""
        array = (ctypes.c_int * len(codes))(*codes)
        self._library.rd_kafka_mock_push_request_errors_array(
            self._cluster, ctypes.c_int16(api), ctypes.c_size_t(len(codes)), array
        )

    def put(self, topic: str, *values: bytes) -> None:
        """Produces messages; the key is the value."""
        if self._producer is None:
            self._producer = Producer({"bootstrap.servers": self.servers})
        for value in values:
            self._producer.produce(topic, value=value, key=value)
        assert not self._producer.flush(60)

    def reader(self, topic: str) -> Reader:
        """Reads a topic from its beginning."""
        return Reader(self.servers, topic)


class Reader:
    """The messages of a topic that came so far."""

    def __init__(self, servers: str, topic: str) -> None:
        self.messages: list[Any] = []
        self._consumer = Consumer(
            {
                "bootstrap.servers": servers,
                "group.id": uuid.uuid4().hex,
                "auto.offset.reset": "earliest",
            }
        )
        self._consumer.subscribe([topic])

    def read(self) -> list[bytes]:
        """Looks for further messages; the values of all."""
        for message in self._consumer.consume(1000, 0.1):
            if message.error() is None:
                self.messages.append(message)
        return [message.value() for message in self.messages]

    def close(self) -> None:
        """Ends it."""
        self._consumer.close()
