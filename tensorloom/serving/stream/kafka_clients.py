"""confluent-kafka's clients, as a stream configures them."""

from __future__ import annotations

import logging
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tensorloom.serving.stream.options import EXACTLY_ONCE

if TYPE_CHECKING:
    from types import ModuleType

    from tensorloom.serving.stream.options import StreamOptions

_logger = logging.getLogger("tensorloom.stream")

# What the guarantees rest on: no file changes it.
_OURS: Final = (
    "enable.auto.commit",
    "enable.auto.offset.store",
    "enable.idempotence",
    "transactional.id",
    "group.id",
    "bootstrap.servers",
)
_CONSUMER: Final[dict[str, Any]] = {
    "auto.offset.reset": "earliest",
    "isolation.level": "read_committed",
    "partition.assignment.strategy": "cooperative-sticky",
    # How much waits here while a stream is busy.
    "queued.max.messages.kbytes": 16384,
}
_PRODUCER: Final[dict[str, Any]] = {"linger.ms": 5}
# Names in a file that only one of the clients has.
_CONSUMER_ALONE: Final = (
    "auto.offset.reset",
    "fetch.",
    "isolation.level",
    "max.poll.interval.ms",
    "partition.assignment.strategy",
    "queued.",
    "session.timeout.ms",
    "heartbeat.interval.ms",
    "group.",
    "check.crcs",
)
_PRODUCER_ALONE: Final = (
    "acks",
    "batch.",
    "compression.",
    "delivery.timeout.ms",
    "linger.ms",
    "message.send.max.retries",
    "message.timeout.ms",
    "partitioner",
    "queue.buffering.",
    "request.required.acks",
    "retries",
    "sticky.partitioning.linger.ms",
    "transaction.timeout.ms",
)


def confluent_kafka() -> ModuleType:
    """The library.

    Raises:
      ImportError: it is not installed.
    """
    try:
        import confluent_kafka as library
    except ImportError:
        raise ImportError(
            "Kafka needs confluent-kafka: install 'tensorloom[kafka]'"
        ) from None
    return library


def read_config(path: str) -> dict[str, str]:
    """librdkafka's settings of a file: `name=value` in each line, `#` for comments.

    Raises:
      ValueError: a line is none, or sets what the guarantees rest on.
      OSError: it cannot be read.
    """
    found = {}
    for number, line in enumerate(Path(path).read_text().splitlines(), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        name, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"{path}, line {number}: {text!r} is no name=value")
        if name.strip() in _OURS:
            raise ValueError(
                f"{path}, line {number}: {name.strip()} is set by the stream itself"
            )
        found[name.strip()] = value.strip()
    return found


def make_consumer(options: StreamOptions) -> Any:
    """The consumer of a stream.

    Raises:
      ImportError, ValueError, OSError, KafkaException: it cannot be made.
    """
    config = {**_base(options, _PRODUCER_ALONE, _CONSUMER)}
    config["group.id"] = options.group_id
    config["enable.auto.commit"] = False
    config["enable.auto.offset.store"] = False
    return confluent_kafka().Consumer(config)


def make_producer(options: StreamOptions) -> Any:
    """The producer of a stream; raises as `make_consumer`."""
    config = _base(options, _CONSUMER_ALONE, _PRODUCER)
    config["enable.idempotence"] = True
    if options.delivery == EXACTLY_ONCE:
        name = options.transactional_id or f"{options.group_id}-{socket.gethostname()}"
        config["transactional.id"] = name
    return confluent_kafka().Producer(config)


def _base(
    options: StreamOptions, others: tuple[str, ...], defaults: dict[str, Any]
) -> dict[str, Any]:
    path = options.kafka_config_file
    given = read_config(path) if path else {}
    fitting = {k: v for k, v in given.items() if not k.startswith(others)}
    return {
        **defaults,
        **fitting,
        "bootstrap.servers": options.bootstrap_servers,
        "logger": _logger,
    }
