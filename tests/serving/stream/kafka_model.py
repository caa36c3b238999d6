"""Kafka in memory, as far as a stream sees it: groups, transactions, their faults.

A process that is killed is a client whose calls all raise `Killed` from a chosen one
on. What the broker has by then stays, as that of real ones does.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import KafkaError, KafkaException, TopicPartition

Place = tuple[str, int]


class Killed(BaseException):
    """The process is no more."""


@dataclass
class Record:
    """One message in a partition."""

    value_: bytes | None
    key_: bytes | None
    headers_: list[tuple[str, bytes]]
    place: Place = ("", 0)
    offset_: int = 0
    #: Of the transaction: "open", "committed", "aborted"; "none" without one.
    state: str = "none"

    def value(self) -> bytes | None:
        return self.value_

    def key(self) -> bytes | None:
        return self.key_

    def headers(self) -> list[tuple[str, bytes]]:
        return self.headers_

    def topic(self) -> str:
        return self.place[0]

    def partition(self) -> int:
        return self.place[1]

    def offset(self) -> int:
        return self.offset_

    def error(self) -> None:
        return None


@dataclass
class Broker:
    """What survives its clients."""

    partitions: int = 2
    topics: dict[Place, list[Record]] = field(default_factory=dict)
    #: Of the only group.
    offsets: dict[Place, int] = field(default_factory=dict)
    epochs: dict[str, int] = field(default_factory=dict)
    open_: dict[str, tuple[list[Record], dict[Place, int]]] = field(
        default_factory=dict
    )
    owners: dict[Place, Any] = field(default_factory=dict)

    def put(self, topic: str, *values: bytes, key: bytes | None = None) -> None:
        """Appends messages, to one partition after the other."""
        for number, value in enumerate(values):
            self.append((topic, number % self.partitions), Record(value, key, []))

    def append(self, place: Place, record: Record) -> None:
        log = self.topics.setdefault(place, [])
        record.place, record.offset_ = place, len(log)
        log.append(record)

    def read(self, topic: str) -> list[Record]:
        """What a reader of committed messages sees."""
        return [
            record
            for place, log in sorted(self.topics.items())
            for record in log
            if place[0] == topic and record.state in ("none", "committed")
        ]

    def values(self, topic: str) -> list[bytes]:
        return [record.value_ or b"" for record in self.read(topic)]

    def end(self, name: str, state: str) -> None:
        """Ends the open transaction of a producer."""
        records, offsets = self.open_.pop(name, ([], {}))
        for record in records:
            record.state = state
        if state == "committed":
            self.offsets.update(offsets)


class Client:
    """A client that may die, or fail, at its n-th call."""

    def __init__(self, broker: Broker) -> None:
        self.broker = broker
        self.calls = itertools.count()
        self.dies_at: int | None = None
        self.is_dead = False
        #: Raised, once, by the next call of a name.
        self.faults: dict[str, list[BaseException]] = {}

    def enter(self, name: str) -> None:
        if self.is_dead:
            raise Killed
        if next(self.calls) == self.dies_at:
            self.is_dead = True
            raise Killed
        faults = self.faults.get(name)
        if faults:
            raise faults.pop(0)


def failure(code: int = KafkaError._TIMED_OUT, **what: bool) -> KafkaException:
    """An error: `fatal`, `retriable`, `txn_requires_abort`."""
    return KafkaException(KafkaError(code, "as the test wants", **what))


class Consumer(Client):
    """Has all partitions that the broker gives it."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        self.positions: dict[Place, int] = {}
        self.generation = 0
        self.paused: set[Place] = set()
        #: What happens in the next `consume`: rebalances.
        self.events: list[Callable[[], None]] = []

    def subscribe(
        self, topics: list[str], on_assign: Any, on_revoke: Any, on_lost: Any
    ) -> None:
        self.enter("subscribe")
        self.callbacks = on_assign, on_revoke, on_lost
        places = [p for p in sorted(self.broker.topics) if p[0] in topics]
        self.events.append(lambda: self.gain(places))

    def gain(self, places: list[Place]) -> None:
        for place in places:
            self.broker.owners[place] = self
            self.positions[place] = self.broker.offsets.get(place, 0)
        self.callbacks[0](self, [TopicPartition(*p) for p in places])

    def leave(self, places: list[Place], is_lost: bool = False) -> None:
        if is_lost:
            self.generation += 1
        self.callbacks[2 if is_lost else 1](self, [TopicPartition(*p) for p in places])
        for place in places:
            self.positions.pop(place, None)

    def consume(self, count: int, timeout_s: float) -> list[Record]:
        self.enter("consume")
        while self.events:
            self.events.pop(0)()
        found: list[Record] = []
        for place in self.positions.keys() - self.paused:
            log = self.broker.topics[place]
            part = log[
                self.positions[place] : self.positions[place] + count - len(found)
            ]
            self.positions[place] += len(part)
            found += part
        return found

    def poll(self, timeout_s: float) -> None:
        self.enter("poll")

    def assignment(self) -> list[TopicPartition]:
        return [TopicPartition(*p) for p in self.positions]

    def pause(self, places: list[TopicPartition]) -> None:
        self.paused |= {(p.topic, p.partition) for p in places}

    def resume(self, places: list[TopicPartition]) -> None:
        self.paused -= {(p.topic, p.partition) for p in places}

    def position(self, places: list[TopicPartition]) -> list[TopicPartition]:
        return [
            TopicPartition(p.topic, p.partition, self.positions[p.topic, p.partition])
            for p in places
        ]

    def get_watermark_offsets(
        self, place: TopicPartition, cached: bool
    ) -> tuple[int, int]:
        return 0, len(self.broker.topics[place.topic, place.partition])

    def consumer_group_metadata(self) -> int:
        return self.generation

    def commit(self, offsets: list[TopicPartition], asynchronous: bool) -> list[Any]:
        self.enter("commit")
        for p in offsets:
            self.broker.offsets[p.topic, p.partition] = p.offset
        return []

    def close(self) -> None:
        self.enter("close")
        self.callbacks[1](self, self.assignment())
        self.positions.clear()


class Producer(Client):
    """With a name its messages are in transactions."""

    def __init__(self, broker: Broker, name: str = "", room: int = 1 << 30) -> None:
        super().__init__(broker)
        self.name, self.room = name, room
        self.queue: list[tuple[str, Record, Any]] = []
        self.epoch = 0

    def _check(self) -> None:
        if self.broker.epochs.get(self.name) != self.epoch:
            raise failure(KafkaError._FENCED, fatal=True)

    def produce(
        self, topic: str, value: Any, key: Any, headers: Any, on_delivery: Any
    ) -> None:
        self.enter("produce")
        if len(self.queue) >= self.room:
            raise BufferError
        self.queue.append((topic, Record(value, key, list(headers)), on_delivery))

    def poll(self, timeout_s: float) -> int:
        self.enter("poll")
        self._send(1)
        return 1

    def flush(self, timeout_s: float) -> int:
        self.enter("flush")
        self._send(len(self.queue))
        return 0

    def _send(self, count: int) -> None:
        for _ in range(min(count, len(self.queue))):
            topic, record, told = self.queue.pop(0)
            faults = self.faults.get("send")
            if faults:
                told(faults.pop(0).args[0], record)
                continue
            if self.name:
                self._check()
                record.state = "open"
                self.broker.open_[self.name][0].append(record)
            self.broker.append((topic, 0), record)
            told(None, record)

    def purge(self) -> None:
        self.queue.clear()

    def init_transactions(self, timeout_s: float) -> None:
        self.enter("init_transactions")
        self.broker.end(self.name, "aborted")
        self.epoch = self.broker.epochs.get(self.name, 0) + 1
        self.broker.epochs[self.name] = self.epoch

    def begin_transaction(self) -> None:
        self.enter("begin_transaction")
        assert self.name not in self.broker.open_
        self.broker.open_[self.name] = ([], {})

    def send_offsets_to_transaction(
        self, offsets: list[TopicPartition], generation: int, timeout_s: float
    ) -> None:
        self.enter("send_offsets_to_transaction")
        self._check()
        pending = self.broker.open_[self.name][1]
        pending.update({(p.topic, p.partition): p.offset for p in offsets})

    def commit_transaction(self, timeout_s: float) -> None:
        self.enter("commit_transaction")
        self._send(len(self.queue))
        self._check()
        # It is over for the broker before the client hears of it.
        self.broker.end(self.name, "committed")
        self.enter("after_commit")

    def abort_transaction(self, timeout_s: float) -> None:
        self.enter("abort_transaction")
        self.queue.clear()
        self.broker.end(self.name, "aborted")
