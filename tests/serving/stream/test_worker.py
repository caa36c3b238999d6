"""The loop of a stream, with Kafka in memory and every fault at every place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

pytest.importorskip("confluent_kafka")

from confluent_kafka import KafkaError, KafkaException
from prometheus_client import CollectorRegistry

from tensorloom.framework import errors
from tensorloom.serving.stream import worker
from tensorloom.serving.stream.delivery import AtLeastOnce, ExactlyOnce
from tensorloom.serving.stream.options import StreamOptions
from tensorloom.serving.stream.stream_metrics import StreamMetrics
from tensorloom.serving.stream.worker import StreamError, StreamWorker
from tests.serving.stream.kafka_model import (
    Broker,
    Consumer,
    Killed,
    Producer,
    failure,
)

KINDS = [AtLeastOnce, ExactlyOnce]
INPUTS = [b"%d" % i for i in range(12)]
ANSWERS = sorted(b"<%s>" % v for v in INPUTS)


def _infer(values: Sequence[bytes]) -> list[Any]:
    """<V> for V; what begins with ! is wrong."""
    return [
        errors.InvalidArgumentError(None, None, "it is wrong")
        if value.startswith(b"!")
        else b"<%s>" % value
        for value in values
    ]


class Rig:
    """One process: clients and a worker."""

    def __init__(
        self,
        broker: Broker,
        kind: Any,
        infer: Callable[[Sequence[bytes]], list[Any]] = _infer,
        room: int = 1 << 30,
        **options: Any,
    ) -> None:
        chosen = {
            "input_topics": "in",
            "output_topic": "out",
            "dead_letter_topic": "dead",
            "batch_size": 3,
            "commit_messages": 5,
            "commit_interval_ms": 600_000,
            **options,
        }
        self.broker = broker
        self.consumer = Consumer(broker)
        self.producer = Producer(broker, "t" if kind is ExactlyOnce else "", room)
        self.metrics = StreamMetrics(CollectorRegistry())
        self.worker = StreamWorker(
            self.consumer,
            kind(self.consumer, self.producer, self.metrics.backpressure_seconds.inc),
            infer,
            StreamOptions(**chosen),
            self.metrics,
        )
        # It ends when nothing is left.
        consume = self.consumer.consume

        def consume_all(count: int, timeout_s: float) -> list[Any]:
            found = consume(count, timeout_s)
            if not found and not self.consumer.events:
                self.worker.stop()
            return found

        self.consumer.consume = consume_all  # type: ignore[method-assign]

    def value(self, name: str, *labels: str) -> float:
        metric = getattr(self.metrics, name)
        found: float = (metric.labels(*labels) if labels else metric)._value.get()
        return found


@pytest.fixture
def broker() -> Broker:
    found = Broker()
    found.put("in", *INPUTS)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_each_message_is_answered(broker: Broker, kind: Any) -> None:
    rig = Rig(broker, kind)
    rig.worker.run()
    assert sorted(broker.values("out")) == ANSWERS
    assert broker.offsets == {("in", 0): 6, ("in", 1): 6}
    assert rig.value("messages", "in", "answered") == 12
    assert rig.value("commits", "committed") == 2
    assert rig.value("lag", "in", "0") == 0
    Rig(broker, kind).worker.run()
    assert len(broker.values("out")) == 12


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("client", ["consumer", "producer"])
def test_a_process_that_is_killed_anywhere(kind: Any, client: str) -> None:
    place = 0
    while True:
        broker = Broker()
        broker.put("in", *INPUTS)
        rig = Rig(broker, kind)
        getattr(rig, client).dies_at = place
        # A process dies with all of its clients.
        others = (rig.consumer, rig.producer)
        try:
            rig.worker.run()
        except Killed:
            for other in others:
                other.is_dead = True
        else:
            break
        Rig(broker, kind).worker.run()
        found = sorted(broker.values("out"))
        if kind is ExactlyOnce:
            assert found == ANSWERS, place
        assert set(found) == set(ANSWERS), place
        assert broker.offsets == {("in", 0): 6, ("in", 1): 6}
        place += 1
    assert place > (5 if client == "consumer" else 7)


@pytest.mark.parametrize("kind", KINDS)
def test_wrong_messages_are_dead_letters(broker: Broker, kind: Any) -> None:
    broker.put("in", b"!wrong", key=b"k")
    rig = Rig(broker, kind)
    rig.worker.run()
    assert sorted(broker.values("out")) == ANSWERS
    (letter,) = broker.read("dead")
    assert (letter.value(), letter.key()) == (b"!wrong", b"k")
    assert dict(letter.headers()) == {
        "tensorloom.error": b"it is wrong",
        "tensorloom.topic": b"in",
        "tensorloom.partition": b"0",
        "tensorloom.offset": b"6",
    }
    assert rig.value("messages", "in", "dead_letter") == 1


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_place_for_dead_letters_it_ends(broker: Broker, kind: Any) -> None:
    broker.put("in", b"!wrong")
    rig = Rig(broker, kind, dead_letter_topic="")
    with pytest.raises(StreamError, match=r"in\[0\] at 6 .* no --dead_letter_topic"):
        rig.worker.run()
    assert set(broker.values("out")) <= set(ANSWERS)
    assert broker.offsets[("in", 0)] <= 6


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_that_cannot_be_sent(broker: Broker, kind: Any) -> None:
    rig = Rig(broker, kind)
    rig.producer.faults["produce"] = [failure(KafkaError.MSG_SIZE_TOO_LARGE)]
    rig.worker.run()
    assert len(broker.values("out")) == 11
    assert len(broker.values("dead")) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_that_is_away(
    broker: Broker, kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "_FIRST_PAUSE_S", 0.001)
    fails = [errors.UnavailableError(None, None, "away")] * 2

    def infer(values: Sequence[bytes]) -> list[Any]:
        if fails:
            raise fails.pop()
        return _infer(values)

    rig = Rig(broker, kind, infer)
    rig.worker.run()
    assert sorted(broker.values("out")) == ANSWERS
    assert rig.value("retries") == 2
    assert not rig.consumer.paused

    fails = [errors.UnavailableError(None, None, "away")] * 9
    broker.put("in", b"12")
    with pytest.raises(StreamError, match="The model is away: away"):
        Rig(broker, kind, infer, retry_seconds=0.0).worker.run()
    fails = [errors.FailedPreconditionError(None, None, "no signature")]  # type: ignore[list-item]
    with pytest.raises(StreamError, match="does not go with the stream: no signature"):
        Rig(broker, kind, infer).worker.run()


def test_a_broker_that_is_slow(broker: Broker) -> None:
    rig = Rig(broker, AtLeastOnce, room=1)
    rig.worker.run()
    assert sorted(broker.values("out")) == ANSWERS
    assert rig.value("backpressure_seconds") > 0


def test_answers_that_are_not_taken(broker: Broker) -> None:
    rig = Rig(broker, AtLeastOnce)
    rig.producer.faults["send"] = [failure()]
    rig.worker.run()
    # The unit was produced again: nothing is lost, and some is there twice.
    assert set(broker.values("out")) == set(ANSWERS)
    assert rig.value("commits", "failed") == 1


@pytest.mark.parametrize("call", ["send_offsets_to_transaction", "commit_transaction"])
def test_transactions_that_fail(broker: Broker, call: str) -> None:
    rig = Rig(broker, ExactlyOnce)
    rig.producer.faults[call] = [
        failure(retriable=True),
        failure(txn_requires_abort=True),
    ]
    rig.worker.run()
    assert sorted(broker.values("out")) == ANSWERS
    assert rig.value("commits", "failed") == 1


def test_offsets_that_are_not_taken(broker: Broker) -> None:
    rig = Rig(broker, AtLeastOnce)
    rig.consumer.faults["commit"] = [failure(KafkaError.REBALANCE_IN_PROGRESS)]
    rig.worker.run()
    assert sorted(broker.values("out")) == ANSWERS  # they were, and are not sent again
    assert broker.offsets == {("in", 0): 6, ("in", 1): 6}
    rig = Rig(broker, AtLeastOnce, retry_seconds=-1.0)
    broker.put("in", b"12")
    rig.consumer.faults["commit"] = [failure()] * 2
    with pytest.raises(StreamError, match="offsets were not committed"):
        rig.worker.run()


def test_a_producer_that_another_has_replaced(broker: Broker) -> None:
    rig = Rig(broker, ExactlyOnce)
    rig.consumer.events.append(lambda: Producer(broker, "t").init_transactions(1))
    with pytest.raises(KafkaException, match="as the test wants"):
        rig.worker.run()
    assert not broker.values("out")
    assert not broker.offsets


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("is_lost", [False, True])
@pytest.mark.parametrize("fails", [False, True])
def test_partitions_that_move(
    broker: Broker, kind: Any, is_lost: bool, fails: bool
) -> None:
    """Partition 1 goes to another consumer while a unit is open."""
    first, second = Rig(broker, kind), Rig(broker, kind)
    second.producer.name = second.producer.name and "t2"
    batches: list[int] = []
    consume = first.consumer.consume

    def consume_and_leave(count: int, timeout_s: float) -> list[Any]:
        batches.append(count)
        if len(batches) == 2:
            if fails:
                error = failure(txn_requires_abort=True)
                name = "commit" if kind is AtLeastOnce else "commit_transaction"
                client: Any = first.consumer if kind is AtLeastOnce else first.producer
                client.faults[name] = [error]
            first.consumer.events.append(
                lambda: first.consumer.leave([("in", 1)], is_lost)
            )
        return consume(count, timeout_s)

    first.consumer.consume = consume_and_leave  # type: ignore[method-assign]
    first.worker.run()
    second.consumer.subscribe = (  # type: ignore[method-assign]
        lambda topics, on_assign, on_revoke, on_lost: (
            setattr(second.consumer, "callbacks", (on_assign, on_revoke, on_lost)),
            second.consumer.events.append(lambda: second.consumer.gain([("in", 1)])),
        )[0]
    )
    second.worker.run()
    found = sorted(broker.values("out"))
    if kind is ExactlyOnce:
        assert found == ANSWERS
    assert set(found) == set(ANSWERS)
    assert broker.offsets == {("in", 0): 6, ("in", 1): 6}


def test_errors_of_the_client() -> None:
    class Failed:
        def __init__(self, fatal: bool) -> None:
            self._error = KafkaError(KafkaError._ALL_BROKERS_DOWN, "away", fatal=fatal)

        def error(self) -> Any:
            return self._error

    broker = Broker()
    broker.put("in", *INPUTS)
    rig = Rig(broker, AtLeastOnce)
    assert not rig.worker._is_good(Failed(False))
    with pytest.raises(KafkaException, match="away"):
        rig.worker._is_good(Failed(True))
