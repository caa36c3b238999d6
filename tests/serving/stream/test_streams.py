"""Streams with real clients, brokers and models."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("confluent_kafka")

from tensorloom.protos.example_pb2 import Example
from tensorloom.serving.options import ServerOptions
from tensorloom.serving.stream.options import StreamOptions
from tensorloom.serving.stream.stream_server import StreamServer
from tests.serving import models
from tests.serving.stream.mock_cluster import MockCluster

pytestmark = pytest.mark.slow

_COUNT = 300
ANSWERS = {b'{"y": %.1f}' % (i / 2 + 2) for i in range(_COUNT)}


def _wait(condition: Callable[[], Any]) -> None:
    end = time.monotonic() + 100
    while not condition():
        assert time.monotonic() < end


@pytest.fixture
def cluster() -> Iterator[MockCluster]:
    with MockCluster() as found:
        found.create("in", 4)
        found.create("out")
        found.create("dead")
        yield found


class Running:
    """A stream in a thread."""

    def __init__(self, cluster: MockCluster, base: Path, **options: Any) -> None:
        file = base / "kafka.conf"
        file.write_text("session.timeout.ms=6000\nheartbeat.interval.ms=200\n")
        chosen = {
            "kafka_config_file": str(file),
            "bootstrap_servers": cluster.servers,
            "input_topics": "in",
            "output_topic": "out",
            "dead_letter_topic": "dead",
            **options,
        }
        server = ServerOptions(
            port=0, rest_api_port=-1, model_name="half", model_base_path=str(base)
        )
        self.stream = StreamServer(server, StreamOptions(**chosen))
        self.error: BaseException | None = None
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.stream.run()
        except BaseException as error:
            self.error = error

    def partitions(self) -> float:
        found: float = self.stream.metrics.partitions._value.get()
        return found

    def stop(self) -> None:
        self.stream.stop()
        self._thread.join(120)
        assert not self._thread.is_alive()
        assert self.error is None


@pytest.fixture
def run(cluster: MockCluster, tmp_path: Path) -> Iterator[Callable[..., Running]]:
    models.half_plus(tmp_path / "half", 1)
    started: list[Running] = []

    def start(**options: Any) -> Running:
        started.append(Running(cluster, tmp_path / "half", **options))
        return started[-1]

    yield start
    for one in started:
        one.stop()


def _put(cluster: MockCluster, *numbers: int) -> None:
    cluster.put("in", *(b"%d.0" % n for n in numbers))


@pytest.mark.parametrize("delivery", ["at-least-once", "exactly-once"])
def test_json(cluster: MockCluster, run: Callable[..., Running], delivery: str) -> None:
    running = run(delivery=delivery)
    out, dead = cluster.reader("out"), cluster.reader("dead")
    _put(cluster, *range(_COUNT))
    cluster.put("in", b"{nonsense", b'{"z": 1}')
    _wait(lambda: set(out.read()) == ANSWERS)
    _wait(lambda: len(dead.read()) == 2)
    assert len(out.messages) == _COUNT
    assert out.messages[0].key()
    (letter,) = [m for m in dead.messages if m.value() == b"{nonsense"]
    assert b"is no JSON" in dict(letter.headers())["tensorloom.error"]
    page = running.stream.server.metrics.page().decode()
    answered = 'tensorloom_stream_messages_total{result="answered",topic="in"} 300.0'
    assert answered in page
    out.close()
    dead.close()


def test_examples(cluster: MockCluster, run: Callable[..., Running]) -> None:
    run(input_format="example", output_format="raw", signature_name="regress")
    example = Example()
    example.features.feature["x"].float_list.value.append(3.0)
    out = cluster.reader("out")
    cluster.put("in", example.SerializeToString())
    _wait(out.read)
    assert out.read() == [b"\x00\x00\x60\x40"]  # 3.5
    out.close()


def test_brokers_that_fail(cluster: MockCluster, run: Callable[..., Running]) -> None:
    running = run()
    out = cluster.reader("out")
    for broker in (1, 2, 3):
        first = (broker - 1) * 100
        _put(cluster, *range(first, first + 50))
        cluster.set_down(broker)
        for _ in range(5):  # it is away for half a second
            out.read()
        cluster.set_up(broker)
        _put(cluster, *range(first + 50, first + 100))
    _wait(lambda: set(out.read()) == ANSWERS)
    assert running.error is None
    out.close()


def test_transactions_that_brokers_refuse(
    cluster: MockCluster, run: Callable[..., Running]
) -> None:
    out = cluster.reader("out")
    running = run(delivery="exactly-once")
    _put(cluster, *range(100))
    _wait(lambda: len(set(out.read())) == 100)
    # EndTxn: first what is asked again, then what ends the transaction.
    cluster.fail(26, 15, 51, 67)  # not available, concurrent, stale producer epoch
    _put(cluster, *range(100, _COUNT))
    _wait(lambda: set(out.read()) == ANSWERS)
    running.stop()
    out.close()


def test_a_consumer_that_joins(
    cluster: MockCluster, run: Callable[..., Running]
) -> None:
    first = run()
    out = cluster.reader("out")
    _put(cluster, *range(100))
    _wait(lambda: first.partitions() == 4)
    second = run()
    _wait(lambda: (first.partitions(), second.partitions()) == (2, 2))
    _put(cluster, *range(100, 200))
    _wait(lambda: len(set(out.read())) == 200)
    first.stop()
    _wait(lambda: second.partitions() == 4)
    _put(cluster, *range(200, 300))
    _wait(lambda: set(out.read()) == ANSWERS)
    out.close()


@pytest.mark.multiprocess
def test_the_command(cluster: MockCluster, tmp_path: Path) -> None:
    """It is killed, and started again; at the end it is asked to stop."""
    models.half_plus(tmp_path / "half", 1)
    command = [
        *(sys.executable, "-m", "tensorloom", "stream"),
        *(f"--model_base_path={tmp_path / 'half'}", "--model_name=half"),
        *(f"--bootstrap_servers={cluster.servers}", "--input_topics=in"),
        *("--output_topic=out", "--commit_interval_ms=50"),
        f"--kafka_config_file={tmp_path / 'kafka.conf'}",
    ]
    (tmp_path / "kafka.conf").write_text("# soon\nsession.timeout.ms=6000\n")
    out = cluster.reader("out")
    first = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    _put(cluster, *range(150))
    _wait(lambda: len(set(out.read())) > 10)
    first.kill()
    first.wait()
    second = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        _put(cluster, *range(150, _COUNT))
        _wait(lambda: set(out.read()) == ANSWERS)
        second.send_signal(signal.SIGTERM)
        _, told = second.communicate(timeout=120)
        assert second.returncode == 0, told
    finally:
        second.kill()
        second.wait()
        out.close()


def test_what_is_wrong(tmp_path: Path) -> None:
    def command(*flags: str) -> tuple[int, str]:
        from contextlib import redirect_stderr
        from io import StringIO

        from tensorloom.cli.main import main

        told = StringIO()
        with redirect_stderr(told):
            code = main(["stream", *flags])
        return code, told.getvalue()

    topics = ("--input_topics=a", "--output_topic=b", f"--model_base_path={tmp_path}")
    for flags, message in (
        ((), "Give --input_topics and --output_topic"),
        ((*topics, "--delivery=never"), "--delivery must be at-least-once or"),
        ((*topics, "--input_format=xml"), "must be one of json, example"),
        ((*topics, "--batch_size=0"), "--batch_size must be positive"),
    ):
        code, told = command(*flags)
        assert (code, message in told) == (2, True), told
    file = tmp_path / "kafka.conf"
    file.write_text("group.id=mine\n")
    code, told = command(*topics, f"--kafka_config_file={file}")
    assert "group.id is set by the stream itself" in told
    assert json.dumps(code) == "2"
