"""How answers are produced, and the offsets of their messages committed.

A unit is what is committed together: the answers to some batches, and the offsets
behind their messages. It keeps them, so that one that failed is produced again without
a step, and without asking the broker for the messages again.

    at least once   answers are acknowledged, then offsets are committed: who is killed
                    between both answers some messages twice
    exactly once    both are one transaction: readers of committed messages see all of a
                    unit, or nothing
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from tensorloom.serving.stream.kafka_clients import confluent_kafka

_TIMEOUT_S: Final = 30.0
_WAIT_S: Final = 0.05

#: (topic, partition)
Place = tuple[str, int]


@dataclass(slots=True)
class Answer:
    """A message that is to be produced."""

    #: Of the message that it answers.
    place: Place
    topic: str
    value: bytes | None
    key: bytes | None
    headers: list[tuple[str, bytes]]


@dataclass(slots=True)
class Unit:
    """What is committed together."""

    answers: list[Answer] = field(default_factory=list)
    #: The offset behind the last message of each partition.
    positions: dict[Place, int] = field(default_factory=dict)
    #: Messages in it.
    count: int = 0
    #: `time.monotonic()` when the first came.
    since: float = 0.0
    #: When it first could not be committed.
    failed_since: float | None = None

    def remove(self, places: Collection[Place]) -> None:
        """Takes out the messages of partitions."""
        self.answers = [a for a in self.answers if a.place not in places]
        self.positions = {k: v for k, v in self.positions.items() if k not in places}
        self.count = len(self.answers)


class UnitFailed(Exception):
    """The unit was not committed; that may be tried again."""

    def __init__(self, reason: str, are_answers_lost: bool = True) -> None:
        """`are_answers_lost`: whether they must be produced again before."""
        super().__init__(reason)
        self.are_answers_lost = are_answers_lost


class Delivery(Protocol):
    """One of the two ways."""

    def start(self) -> None:
        """Makes ready; ends what an earlier process of the same name has left."""
        ...

    def begin(self) -> None:
        """A unit begins."""
        ...

    def produce(self, answer: Answer) -> None:
        """Sends an answer of the unit; waits while too many are under way.

        Raises:
          KafkaException: it cannot be sent at all.
        """
        ...

    def commit(self, unit: Unit) -> None:
        """Ends a unit.

        Raises:
          UnitFailed: it was not, and may be tried again.
          KafkaException: nothing can be done.
        """
        ...

    def abort(self) -> None:
        """Takes a unit back."""
        ...


class _Producing:
    """What both ways have in common."""

    def __init__(
        self, consumer: Any, producer: Any, waited: Callable[[float], None]
    ) -> None:
        """Uses two clients; `waited` is told of seconds that the producer was full."""
        self._kafka = confluent_kafka()
        self._consumer, self._producer = consumer, producer
        self._waited = waited
        self._failure: Any = None

    def _delivered(self, error: Any, message: Any) -> None:
        if error is not None and self._failure is None:
            self._failure = error

    def produce(self, answer: Answer) -> None:
        """As `Delivery.produce`."""
        while True:
            try:
                self._producer.produce(
                    answer.topic,
                    value=answer.value,
                    key=answer.key,
                    headers=answer.headers,
                    on_delivery=self._delivered,
                )
                return
            except BufferError:
                # The broker is slower than the model: nothing is consumed meanwhile.
                started = time.monotonic()
                self._producer.poll(_WAIT_S)
                self._waited(time.monotonic() - started)

    def _offsets(self, unit: Unit) -> list[Any]:
        partition = self._kafka.TopicPartition
        return [partition(t, p, offset) for (t, p), offset in unit.positions.items()]

    def _check_delivered(self) -> None:
        failure, self._failure = self._failure, None
        if failure is not None:
            if failure.fatal():
                raise self._kafka.KafkaException(failure)
            raise UnitFailed(f"an answer was not taken: {failure}")


class AtLeastOnce(_Producing):
    """Answers first, offsets then."""

    def start(self) -> None:
        """As `Delivery.start`."""

    def begin(self) -> None:
        """As `Delivery.begin`."""
        self._failure = None

    def commit(self, unit: Unit) -> None:
        """As `Delivery.commit`."""
        left = self._producer.flush(_TIMEOUT_S)
        self._check_delivered()
        if left:
            raise UnitFailed(f"{left} answers were not taken within {_TIMEOUT_S:g} s")
        try:
            committed = self._consumer.commit(
                offsets=self._offsets(unit), asynchronous=False
            )
        except self._kafka.KafkaException as error:
            raise _uncommitted(error) from None
        for partition in committed or ():
            if partition.error is not None:
                raise _uncommitted(partition.error)

    def abort(self) -> None:
        """As `Delivery.abort`."""
        self._producer.purge()
        self._producer.flush(_TIMEOUT_S)
        self._failure = None


def _uncommitted(error: Any) -> UnitFailed:
    return UnitFailed(f"offsets were not committed: {error}", are_answers_lost=False)


class ExactlyOnce(_Producing):
    """Answers and offsets in one transaction."""

    def start(self) -> None:
        """As `Delivery.start`."""
        self._patiently(self._producer.init_transactions)

    def begin(self) -> None:
        """As `Delivery.begin`."""
        self._failure = None
        self._producer.begin_transaction()

    def commit(self, unit: Unit) -> None:
        """As `Delivery.commit`."""
        try:
            self._patiently(
                lambda timeout_s: self._producer.send_offsets_to_transaction(
                    self._offsets(unit),
                    self._consumer.consumer_group_metadata(),
                    timeout_s,
                )
            )
            self._patiently(self._producer.commit_transaction)
        except self._kafka.KafkaException as error:
            cause = error.args[0]
            if cause.fatal() or not cause.txn_requires_abort():
                raise
            self.abort()
            raise UnitFailed(f"the transaction was aborted: {cause}") from None
        self._failure = None

    def abort(self) -> None:
        """As `Delivery.abort`."""
        self._patiently(self._producer.abort_transaction)
        self._failure = None

    def _patiently(self, call: Callable[[float], Any]) -> None:
        """Calls again what says that it may be called again."""
        end = time.monotonic() + 4 * _TIMEOUT_S
        while True:
            try:
                call(_TIMEOUT_S)
                return
            except self._kafka.KafkaException as error:
                if not error.args[0].retriable() or time.monotonic() > end:
                    raise
                self._producer.poll(_WAIT_S)
