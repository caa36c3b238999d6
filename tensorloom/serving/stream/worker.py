"""`StreamWorker`: the loop of a stream. All of it runs in one thread."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.serving.manager.loader_options import names
from tensorloom.serving.stream.delivery import Answer, Place, Unit, UnitFailed
from tensorloom.serving.stream.inference import TRANSIENT
from tensorloom.serving.stream.kafka_clients import confluent_kafka

if TYPE_CHECKING:
    from tensorloom.serving.stream.delivery import Delivery
    from tensorloom.serving.stream.inference import Outcome
    from tensorloom.serving.stream.options import StreamOptions
    from tensorloom.serving.stream.stream_metrics import StreamMetrics

_logger = logging.getLogger("tensorloom.stream")

_FIRST_PAUSE_S: Final = 0.1
_LONGEST_PAUSE_S: Final = 5.0
_LAG_S: Final = 1.0
#: Headers of dead letters: why, and where the message was.
ERROR: Final = "tensorloom.error"
TOPIC: Final = "tensorloom.topic"
PARTITION: Final = "tensorloom.partition"
OFFSET: Final = "tensorloom.offset"


class StreamError(Exception):
    """The stream cannot go on; what was not committed is not lost."""


class StreamWorker:
    """Consumes, infers, produces."""

    def __init__(
        self,
        consumer: Any,
        delivery: Delivery,
        infer: Callable[[Sequence[bytes]], list[Outcome]],
        options: StreamOptions,
        metrics: StreamMetrics,
    ) -> None:
        """Makes a worker; `run` is its life.

        Args:
          consumer: that nobody else uses.
          delivery: of the answers.
          infer: as `Inference.run`.
          options: of the stream.
          metrics: are told of everything.
        """
        self._kafka = confluent_kafka()
        self._consumer, self._delivery, self._infer = consumer, delivery, infer
        self._options, self._metrics = options, metrics
        self._unit: Unit | None = None
        self._assigned: set[Place] = set()
        self._next_lag = 0.0
        self._stopped = threading.Event()

    def stop(self) -> None:
        """Ends `run` after the batch that is under way, and its commit. Any thread."""
        self._stopped.set()

    def run(self) -> None:
        """Works until it is stopped.

        Raises:
          StreamError: a message cannot be processed, and there is no dead-letter topic;
            the model was away for too long, or does not go with the stream; a unit
            could not be committed.
          KafkaException: a client is done for, such as one that another has replaced.
        """
        self._delivery.start()
        self._consumer.subscribe(
            names(self._options.input_topics),
            on_assign=self._note_assigned,
            on_revoke=self._note_revoked,
            on_lost=self._note_lost,
        )
        try:
            while not self._stopped.is_set():
                self._work()
            while not self._commit():
                self._consumer.poll(_FIRST_PAUSE_S)  # what comes is another's
        except BaseException:
            self._give_up()
            raise
        finally:
            # Leaves the group: others take the partitions over at once.
            self._consumer.close()

    def _work(self) -> None:
        timeout_s = self._options.batch_timeout_ms / 1e3
        found = self._consumer.consume(self._options.batch_size, timeout_s)
        messages = [message for message in found if self._is_good(message)]
        if messages:
            self._process(messages)
        unit = self._unit
        if unit is not None:
            age_s = time.monotonic() - unit.since
            is_due = age_s * 1e3 >= self._options.commit_interval_ms
            if is_due or unit.count >= self._options.commit_messages:
                self._commit()
        self._measure_lag()

    def _is_good(self, message: Any) -> bool:
        error = message.error()
        if error is None:
            # A partition may have been taken away while the batch was put together.
            return (message.topic(), message.partition()) in self._assigned
        if error.fatal():
            raise self._kafka.KafkaException(error)
        # The client goes on by itself: a broker is away, a topic is not there yet.
        _logger.warning("Kafka: %s", error)
        return False

    # --- a batch ---------------------------------------------------------------------

    def _process(self, messages: list[Any]) -> None:
        started = time.monotonic()
        outcomes = self._answers_to(messages)
        self._metrics.batches.observe(len(messages))
        self._metrics.infer_seconds.observe(time.monotonic() - started)
        # Waiting for the model may have brought a rebalance.
        kept = [
            (message, outcome)
            for message, outcome in zip(messages, outcomes, strict=True)
            if (message.topic(), message.partition()) in self._assigned
        ]
        if not kept:
            return
        unit = self._open_unit(started)
        for message, outcome in kept:
            answer = self._answer(message, outcome)
            try:
                self._delivery.produce(answer)
            except self._kafka.KafkaException as error:
                if error.args[0].fatal() or isinstance(outcome, errors.OpError):
                    raise
                failed = errors.InvalidArgumentError(None, None, str(error))
                answer = self._answer(message, failed)
                self._delivery.produce(answer)
            unit.answers.append(answer)
            place = (message.topic(), message.partition())
            unit.positions[place] = message.offset() + 1
            unit.count += 1

    def _open_unit(self, now: float) -> Unit:
        if self._unit is None:
            self._delivery.begin()
            self._unit = Unit(since=now)
        return self._unit

    def _answers_to(self, messages: list[Any]) -> list[Outcome]:
        """The outcomes; while the model is away they are waited for."""
        values = [message.value() or b"" for message in messages]
        end = time.monotonic() + self._options.retry_seconds
        pause_s = _FIRST_PAUSE_S
        while True:
            try:
                return self._infer(values)
            except TRANSIENT as error:
                if time.monotonic() > end or self._stopped.is_set():
                    raise StreamError(f"The model is away: {error.message}") from None
                _logger.warning("The batch is run again: %s", error.message)
                self._metrics.retries.inc()
            except errors.OpError as error:
                raise StreamError(
                    f"The model does not go with the stream: {error.message}"
                ) from None
            self._wait(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    def _wait(self, seconds: float) -> None:
        """Waits, and stays a member of the group meanwhile."""
        assigned = self._consumer.assignment()
        self._consumer.pause(assigned)
        end = time.monotonic() + seconds
        while (rest := end - time.monotonic()) > 0 and not self._stopped.is_set():
            message = self._consumer.poll(min(rest, 0.1))
            if message is not None and message.error() is None:
                raise StreamError("A message came from a partition that is paused")
        self._consumer.resume(
            [p for p in assigned if (p.topic, p.partition) in self._assigned]
        )

    def _answer(self, message: Any, outcome: Outcome) -> Answer:
        headers = list(message.headers() or ())
        topic = message.topic()
        place = (topic, message.partition())
        if not isinstance(outcome, errors.OpError):
            self._metrics.messages.labels(topic, "answered").inc()
            return Answer(
                place, self._options.output_topic, outcome, message.key(), headers
            )
        where = f"{topic}[{message.partition()}] at {message.offset()}"
        if not self._options.dead_letter_topic:
            raise StreamError(
                f"The message of {where} cannot be processed, and there is no "
                f"--dead_letter_topic: {outcome.message}"
            )
        _logger.warning(
            "The message of %s is a dead letter: %s", where, outcome.message
        )
        self._metrics.messages.labels(topic, "dead_letter").inc()
        headers += [
            (ERROR, outcome.message.encode()),
            (TOPIC, topic.encode()),
            (PARTITION, str(message.partition()).encode()),
            (OFFSET, str(message.offset()).encode()),
        ]
        topic = self._options.dead_letter_topic
        return Answer(place, topic, message.value(), message.key(), headers)

    # --- units -----------------------------------------------------------------------

    def _commit(self, leaving: Collection[Place] = ()) -> bool:
        """Commits the unit, if there is one.

        Args:
          leaving: partitions that are this consumer's no more when this returns.

        Returns:
          False if it could not be, and is kept without what is leaving: the group may
          have to be heard before.

        Raises:
          StreamError: that goes on for too long.
        """
        unit = self._unit
        if unit is None:
            return True
        started = time.monotonic()
        try:
            self._delivery.commit(unit)
        except UnitFailed as failed:
            self._metrics.commits.labels("failed").inc()
            unit.failed_since = unit.failed_since or started
            if started - unit.failed_since > self._options.retry_seconds:
                raise StreamError(f"A unit was not committed: {failed}") from None
            _logger.warning("A unit is committed again: %s", failed)
            self._unit = None
            unit.remove(leaving)
            if failed.are_answers_lost:
                self._produce_again(unit)
            elif unit.positions:
                self._unit = unit
            return False
        self._unit = None
        self._metrics.commits.labels("committed").inc()
        self._metrics.commit_seconds.observe(time.monotonic() - started)
        return True

    def _produce_again(self, unit: Unit) -> None:
        if not unit.positions:
            return
        self._delivery.begin()
        self._unit = unit
        for answer in unit.answers:
            self._delivery.produce(answer)

    def _give_up(self) -> Unit | None:
        """Takes back what is not committed, if the client still can."""
        unit, self._unit = self._unit, None
        if unit is not None:
            try:
                self._delivery.abort()
            except self._kafka.KafkaException as error:
                _logger.warning("A unit was not taken back: %s", error)
        return unit

    # --- partitions ------------------------------------------------------------------

    def _note_assigned(self, consumer: Any, partitions: list[Any]) -> None:
        self._assigned |= _places(partitions)
        self._note("assigned", partitions)

    def _note_revoked(self, consumer: Any, partitions: list[Any]) -> None:
        """Commits what is done, as long as the partitions are this consumer's."""
        places = _places(partitions)
        self._commit(places)
        self._forget(places)
        self._note("revoked", partitions)

    def _note_lost(self, consumer: Any, partitions: list[Any]) -> None:
        """Takes back what is not committed: others have the partitions already."""
        places = _places(partitions)
        unit = self._unit
        if unit is not None and not places.isdisjoint(unit.positions):
            self._give_up()
            unit.remove(places)
            self._produce_again(unit)
        self._forget(places)
        self._note("lost", partitions)

    def _forget(self, places: set[Place]) -> None:
        self._assigned -= places
        for topic, partition in places:
            self._metrics.lag.labels(topic, str(partition)).set(0)

    def _note(self, kind: str, partitions: list[Any]) -> None:
        self._metrics.rebalances.labels(kind).inc()
        self._metrics.partitions.set(len(self._assigned))
        shown = ", ".join(f"{p.topic}[{p.partition}]" for p in partitions) or "none"
        _logger.info("Partitions %s: %s", kind, shown)

    def _measure_lag(self) -> None:
        now = time.monotonic()
        if now < self._next_lag:
            return
        self._next_lag = now + _LAG_S
        partition = self._kafka.TopicPartition
        places = [partition(*place) for place in sorted(self._assigned)]
        for found in self._consumer.position(places):
            _, high = self._consumer.get_watermark_offsets(found, cached=True)
            if high >= 0 and found.offset >= 0:
                lag = max(0, high - found.offset)
                self._metrics.lag.labels(found.topic, str(found.partition)).set(lag)


def _places(partitions: list[Any]) -> set[Place]:
    return {(p.topic, p.partition) for p in partitions}
