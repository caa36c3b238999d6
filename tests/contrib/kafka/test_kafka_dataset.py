"""`tf.contrib.kafka.KafkaDataset`, with librdkafka's mock brokers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("confluent_kafka")

import confluent_kafka

import tensorloom as tf
from tests.serving.stream.mock_cluster import MockCluster

COUNT = 10


@pytest.fixture(scope="module")
def cluster() -> Iterator[MockCluster]:
    """Topics `a` and `b` with ten messages each."""
    with MockCluster(1) as found:
        for topic in "ab":
            found.create(topic)
            found.put(topic, *(b"%s%d" % (topic.encode(), i) for i in range(COUNT)))
        yield found


def _all(session: Any, element: Any) -> list[bytes]:
    found = []
    while True:
        try:
            found.append(session.run(element))
        except tf.errors.OutOfRangeError:
            return found


def _messages(topic: str, first: int, end: int) -> list[bytes]:
    return [b"%s%d" % (topic.encode(), i) for i in range(first, end)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("topics", "expected"),
    [
        (["a:0:0:4"], _messages("a", 0, 5)),  # the last one is among them
        (["a:0:0:4", "b:0:5:9"], _messages("a", 0, 5) + _messages("b", 5, 10)),
        (["a:0:7", "b"], _messages("a", 7, 10) + _messages("b", 0, 10)),
        ([], []),
    ],
)
def test_parts(cluster: MockCluster, topics: list[str], expected: list[bytes]) -> None:
    dataset = tf.contrib.kafka.KafkaDataset(
        tf.constant(topics, tf.string), servers=cluster.servers, group="g", eof=True
    )
    assert dataset.output_types == tf.string
    assert dataset.output_shapes == ()
    element = tf.data.make_one_shot_iterator(dataset).get_next()
    with tf.Session() as session:
        assert _all(session, element) == expected


@pytest.mark.slow
def test_a_place_in_a_checkpoint(cluster: MockCluster, tmp_path: Path) -> None:
    dataset = tf.contrib.kafka.KafkaDataset(["a"], cluster.servers, eof=True)
    iterator = tf.data.make_initializable_iterator(dataset.batch(2))
    element = iterator.get_next()
    saver = tf.train.Saver(
        {"it": tf.data.experimental.make_saveable_from_iterator(iterator)}
    )
    with tf.Session() as session:
        session.run(iterator.initializer)
        session.run([element])
        saver.save(session, str(tmp_path / "model"))
    with tf.Session() as session:
        session.run(iterator.initializer)
        saver.restore(session, str(tmp_path / "model"))
        assert session.run(element).tolist() == [b"a2", b"a3"]


def test_waiting_for_more_ends_with_the_session(cluster: MockCluster) -> None:
    dataset = tf.contrib.kafka.KafkaDataset(["a:0:9"], cluster.servers)
    element = tf.data.make_one_shot_iterator(dataset).get_next()
    session = tf.Session()
    assert session.run(element) == b"a9"
    failed: list[BaseException] = []

    def ask() -> None:
        try:
            session.run(element)
        except (tf.errors.OpError, RuntimeError) as error:
            failed.append(error)  # the latter, if it was closed before

    caller = threading.Thread(target=ask)
    caller.start()
    session.close()
    caller.join(60)
    assert len(failed) == 1


@pytest.mark.parametrize(
    ("topics", "options", "error", "message"),
    [
        (["a:x"], {}, tf.errors.InvalidArgumentError, "Invalid parameters: a:x"),
        (["a"], {"timeout": 0}, tf.errors.InvalidArgumentError, "got 0"),
        ([["a"]], {}, tf.errors.InvalidArgumentError, "must be a scalar or a vector"),
    ],
)
def test_mistakes(
    cluster: MockCluster, topics: Any, options: Any, error: Any, message: str
) -> None:
    dataset = tf.contrib.kafka.KafkaDataset(topics, cluster.servers, **options)
    iterator = tf.data.make_initializable_iterator(dataset)
    element = iterator.get_next()

    def run() -> None:
        with tf.Session() as session:
            session.run(iterator.initializer)
            session.run(element)

    with pytest.raises(error, match=message):
        run()


def test_what_brokers_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    class Message:
        def error(self) -> Any:
            return confluent_kafka.KafkaError(29, "not allowed")

    class Consumer:
        def __init__(self, config: Any) -> None:
            assert config["bootstrap.servers"] == "localhost"

        def assign(self, places: Any) -> None: ...

        def poll(self, timeout_s: float) -> Any:
            return Message()

        def consume(self, count: int, timeout_s: float) -> list[Any]:
            return []

    monkeypatch.setattr(confluent_kafka, "Consumer", Consumer)
    dataset = tf.contrib.kafka.KafkaDataset(["a"])
    element = tf.data.make_one_shot_iterator(dataset).get_next()
    with (
        tf.Session() as session,
        pytest.raises(tf.errors.InternalError, match="Failed to consume:not allowed"),
    ):
        session.run(element)
