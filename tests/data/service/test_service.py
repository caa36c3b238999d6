"""An input service in one process: what a program reads, whatever comes and goes."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.cli.main import main
from tensorloom.coordination import writers
from tensorloom.coordination.coordinator import LEASE_VARIABLE, VARIABLE
from tensorloom.data.service import calls, dispatcher, elements
from tensorloom.transport.grpc.channel import GrpcChannel
from tests.data.service.services import (
    LONG_S,
    Service,
    in_threads,
    reading,
    service,
    serving,
)

D = tf.data.Dataset
COUNT = 200


@pytest.fixture(scope="module")
def shared() -> Iterator[Service]:
    """A service with two workers, for tests that stop none of them."""
    with serving(2) as found:
        yield found


def numbers(count: int = COUNT) -> Any:
    """What the workers are to make."""
    return D.range(count).map(lambda x: x * 2)


def doubled(count: int = COUNT) -> list[int]:
    """Its elements."""
    return [2 * number for number in range(count)]


def job(found: Service, **how: Any) -> Callable[[], Any]:
    """Makes the dataset of the numbers."""
    return lambda: numbers().apply(found.distribute(**how))


@pytest.mark.parametrize("delivery", ["exactly_once", "at_least_once"])
@pytest.mark.parametrize("split_size", [None, 7])
def test_each_element_comes_once(
    shared: Service, delivery: str, split_size: int | None
) -> None:
    make = job(shared, delivery=delivery, split_size=split_size)
    with reading(make) as program:
        for _ in range(2):
            assert sorted(program.rest()) == doubled()
            program.again()


def test_each_worker_makes_all_in_parallel_epochs(shared: Service) -> None:
    with reading(job(shared, mode="parallel_epochs")) as program:
        assert sorted(program.rest()) == sorted(doubled() * 2)


def test_consumers_share_a_job(shared: Service) -> None:
    make = job(shared, job_name="shared", split_size=5, max_outstanding_requests=10)
    with reading(make) as one, reading(make) as another:
        first, second = in_threads(one.rest, another.rest)
    assert sorted(first + second) == doubled()


@pytest.mark.slow
@pytest.mark.parametrize("compression", [None, "SNAPPY"])
def test_elements_of_all_kinds(shared: Service, compression: str | None) -> None:
    def make() -> Any:
        table = {
            "words": np.array([["a", ""], ["b", "c"], ["d", "e"]], object),
            "half": np.array([0.5, 1.5, -2.5], np.float16),
            "empty": np.zeros([3, 0], np.complex64),
        }
        made = D.from_tensor_slices(table)
        made = D.zip((made, D.range(3).map(_sparse)))
        return made.apply(shared.distribute(split_size=1, compression=compression))

    with reading(make) as program:
        rows = {int(row[1].dense_shape[0]): row for row in program.rest()}
    assert sorted(rows) == [4, 5, 6]
    first, sparse = rows[5]
    assert first["words"].tolist() == [b"b", b"c"]
    assert (first["half"].dtype, first["half"]) == (np.float16, 1.5)
    assert (first["empty"].dtype, first["empty"].shape) == (np.complex64, (0,))
    assert sparse.values.tolist() == [1]


def _sparse(number: Any) -> Any:
    return tf.SparseTensor([[number]], [number], [number + 4])


def test_files(shared: Service, tmp_path: Path) -> None:
    paths = [str(tmp_path / f"{number}") for number in range(5)]
    for number, path in enumerate(paths):
        with tf.python_io.TFRecordWriter(path) as writer:
            for at in range(number):
                writer.write(b"%d %d" % (number, at))

    def make() -> Any:
        return tf.data.TFRecordDataset(paths).apply(shared.distribute())

    expected = sorted(b"%d %d" % (n, at) for n in range(5) for at in range(n))
    with reading(make) as program:
        assert sorted(program.rest()) == expected


@pytest.mark.slow
def test_an_element_that_fails_fails_once(shared: Service) -> None:
    def make() -> Any:
        halves = D.range(40).map(lambda x: tf.check_numerics(1 / (x - 20), "a pole"))
        return halves.apply(shared.distribute())

    found, failed = [], []
    with reading(make) as program:
        while True:
            try:
                found.append(program.next())
            except tf.errors.InvalidArgumentError as error:
                failed.append(error.message)
            except tf.errors.OutOfRangeError:
                break
    assert sorted(found) == sorted(1 / (x - 20) for x in range(40) if x != 20)
    assert len(failed) == 1
    assert "a pole" in failed[0]


@pytest.mark.slow
def test_what_cannot_be_read_is_told(shared: Service) -> None:
    def scan() -> Any:
        kept = numbers().filter(lambda x: x > 4).take(3)
        return kept.apply(shared.distribute())

    def unknown() -> Any:
        spec = tf.TensorSpec([], tf.int64)
        from_id = tf.data.experimental.service.from_dataset_id
        return from_id("distributed_epoch", shared.target, b"nobody's", spec)

    def missing() -> Any:
        return tf.data.TFRecordDataset(["/no/such"]).apply(shared.distribute())

    for make, kind, said in (
        (scan, tf.errors.UnimplementedError, "Use parallel_epochs"),
        (unknown, tf.errors.NotFoundError, 'knows no dataset "nobody\'s"'),
        (missing, tf.errors.NotFoundError, "/no/such"),
    ):
        with reading(make) as program, pytest.raises(kind, match=said):
            program.next()


def test_a_registered_dataset_is_read_by_its_id(shared: Service) -> None:
    with tf.Session() as session:
        named = service.register_dataset(shared.target, numbers(), dataset_id="mine")
        assert session.run(named) == b"mine"

    def make() -> Any:
        return service.from_dataset_id("distributed_epoch", shared.target, b"mine")

    with reading(make) as program:
        assert sorted(program.rest()) == doubled()


@pytest.mark.slow
def test_what_a_closed_session_had_fetched_is_others(shared: Service) -> None:
    how = {"job_name": "closed early", "split_size": 20}
    make = job(shared, max_outstanding_requests=50, **how)
    with reading(make) as first:
        had = [first.next() for _ in range(5)]
        with reading(make) as second:
            others = [second.next()]
            first.close()
            others += second.rest()
    assert sorted(had + others) == doubled()


@pytest.mark.slow
def test_a_stalled_consumer_is_overtaken(
    shared: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatcher, "_STALLED_S", 0.5)
    make = job(shared, job_name="stalled", split_size=50, max_outstanding_requests=8)
    with reading(make) as stalled, reading(make) as other:
        had = [stalled.next()]
        others = other.rest()
        had += stalled.rest()
    assert len(others) > COUNT / 2
    assert sorted(had + others) == doubled()


@pytest.mark.slow
def test_workers_join_and_leave() -> None:
    with serving(0) as found:
        make = job(found, split_size=5, max_outstanding_requests=10)
        with reading(make) as program:
            first = found.add_worker()  # was waited for
            had = [program.next() for _ in range(20)]
            found.add_worker()
            had += [program.next() for _ in range(20)]
            first.stop()
            assert sorted(had + program.rest()) == doubled()


@pytest.mark.slow
def test_all_workers_are_gone_for_a_while() -> None:
    with serving(1) as found:
        make = job(found, max_outstanding_requests=4)
        with reading(make) as program:
            had = [program.next()]
            found.workers[0].stop()
            found.add_worker()
            assert sorted(had + program.rest()) == doubled()


@pytest.mark.slow
@pytest.mark.parametrize("delivery", ["exactly_once", "at_least_once"])
def test_a_dispatcher_that_starts_again(tmp_path: Path, delivery: str) -> None:
    with serving(1, tmp_path) as found:
        make = job(found, split_size=5, max_outstanding_requests=7, delivery=delivery)
        with reading(make) as program:
            had = [program.next()]
            for _ in range(2):
                found.dispatcher.stop()
                found.start_dispatcher()
                had += [program.next() for _ in range(10)]
            had += program.rest()
        assert sorted(set(had)) == doubled()
        if delivery == "exactly_once":
            assert len(had) == COUNT


@pytest.fixture
def lock_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One of this process's job."""
    monkeypatch.setenv(VARIABLE, f"file://{tmp_path}/locks")
    monkeypatch.setenv(LEASE_VARIABLE, "300")
    yield
    writers._close_all()


@pytest.mark.slow
@pytest.mark.usefixtures("lock_service")
def test_dispatchers_are_elected(tmp_path: Path) -> None:
    with serving(1, tmp_path / "work") as found:
        first = found.dispatcher
        make = job(found, split_size=5, max_outstanding_requests=7)
        with reading(make) as program, ThreadPoolExecutor(1) as pool:
            had = [program.next()]
            second = pool.submit(service.DispatchServer, found.config)
            had += [program.next() for _ in range(10)]
            assert not second.done()
            first.stop()
            found.dispatcher = second.result()
            had += program.rest()
    assert sorted(had) == doubled()


@pytest.mark.slow
@pytest.mark.usefixtures("lock_service")
def test_a_dispatcher_that_lost_its_lease_ends(tmp_path: Path) -> None:
    with serving(0, tmp_path / "work") as found:
        lock = found.dispatcher._lock
        journal = tmp_path / "work" / "journal"
        before = journal.read_bytes()
        lock._held.is_lost = True
        with suppress(tf.errors.UnavailableError):  # it may be gone already
            with closing(GrpcChannel(found.target.removeprefix("grpc://"))) as channel:
                calls.call(channel, "Describe", {}, timeout_s=LONG_S)
            pytest.fail("it answered")
        found.dispatcher.join()
        assert "was lost" in found.dispatcher.has_lost
        assert journal.read_bytes() == before


@pytest.mark.slow
def test_a_dispatcher_that_forgets_is_told_of() -> None:
    with serving(1) as found:
        make = job(found, split_size=5, max_outstanding_requests=5)
        with reading(make) as program:
            program.next()
            found.dispatcher.stop()
            found.start_dispatcher()
            with pytest.raises(tf.errors.NotFoundError, match="fault_tolerant_mode"):
                program.rest()


@pytest.mark.slow
def test_a_step_that_waits_is_cancelled() -> None:
    with serving(0) as found, reading(job(found)) as program:
        with pytest.raises(tf.errors.DeadlineExceededError):
            program._session.run(program._next, options=tf.RunOptions(timeout_in_ms=50))
        found.add_worker()
        assert sorted(program.rest()) == doubled()


def test_an_operation_that_the_dispatcher_refuses() -> None:
    server = service.DispatchServer(deny_ops=["RangeDataset"])
    try:
        with tf.Session() as session:
            named = service.register_dataset(server.target, numbers())
            with pytest.raises(tf.errors.PermissionDeniedError, match="RangeDataset"):
                session.run(named)
    finally:
        server.stop()


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"abc",
        struct.pack("<I", 1 << 31) + b"{}",
        struct.pack("<I", 2) + b"[]",
        struct.pack("<I", 2) + b"{{",
        struct.pack("<I", 9000) + b"[" * 9000,
        calls.pack({"job": "1", "consumer": "a", "request": "b"}),
        calls.pack({"job": True, "consumer": "a", "request": "b"}),
        calls.pack({"job": 1}),
    ],
    ids=[
        *("nothing", "letters", "a long length", "a list", "no JSON", "depth"),
        *("a string", "a boolean", "a field is missing"),
    ],
)
def test_malformed_messages(shared: Service, message: bytes) -> None:
    channel = GrpcChannel(shared.target.removeprefix("grpc://"))
    method = calls.methods()["NextPiece"]
    try:
        with pytest.raises(tf.errors.InvalidArgumentError):
            channel.call(method, method.request(value=message), 300.0)
    finally:
        channel.close()


def test_the_command_shows_a_service(
    shared: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    with reading(job(shared, job_name="shown")) as program:
        program.rest()
        assert main(["data", "status", shared.target]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert len(shown["workers"]) == len(shown["made"]) == 2
    (found,) = [each for each in shown["jobs"] if each["name"] == "shown"]
    assert found["is_over"]
    assert found["mode"] == "distributed_epoch"


def test_a_dataset_that_is_no_graph(shared: Service) -> None:
    channel = GrpcChannel(shared.target.removeprefix("grpc://"))
    fields = {"dataset": "", "types": [9], "shapes": [[]], "reason": ""}
    sizes = {
        "elements": 3,
        "size": 1,
        "multiple": 1,
        "cardinality": 3,
        "compression": "",
    }
    try:
        with pytest.raises(tf.errors.InvalidArgumentError):
            calls.call(channel, "Register", {**fields, **sizes}, b"\xff\xff")
    finally:
        channel.close()


def test_elements_are_compressed_where_that_is_asked_for() -> None:
    """And what a worker says of them that is none is told."""
    items: list[elements.Item] = [(np.zeros(10_000), b"text")]
    fields, content = elements.pack(items, "SNAPPY")
    assert len(content) < 5_000
    ((zeros, text),) = elements.unpack(fields, content)
    assert (zeros.shape, zeros.any(), text) == ((10_000,), False, b"text")
    with pytest.raises(tf.errors.InvalidArgumentError, match="snappy"):
        elements.unpack(fields, content[:-3])


@pytest.mark.parametrize("at", range(0, 40, 3))
def test_malformed_elements(at: int) -> None:
    fields, content = elements.pack([(np.arange(3), b"text"), (np.float32(1.0),)])
    assert len(elements.unpack(fields, content)) == 2
    with pytest.raises(tf.errors.OpError):
        elements.unpack(fields, content[:at])
    for wrong in ({}, {"elements": 3}, {"elements": [[1]]}, {"elements": [["a", {}]]}):
        with pytest.raises(tf.errors.InvalidArgumentError):
            elements.unpack(wrong, content)


@pytest.mark.parametrize(
    ("arguments", "kind", "said"),
    [
        ({"mode": "nonsense"}, ValueError, "processing mode should be"),
        ({"compression": "ZIP"}, ValueError, "Invalid `compression`"),
        ({"job_name": 3}, ValueError, "`job_name` must be a string"),
        ({"job_name": ""}, ValueError, "must not be empty"),
        ({"consumer_index": 0}, tf.errors.UnimplementedError, "consumer_index"),
        ({"target_workers": "LOCAL"}, tf.errors.UnimplementedError, "all workers"),
        ({"target_workers": "SOME"}, ValueError, "target_workers"),
        ({"delivery": "twice"}, ValueError, "`delivery` must be one of"),
        ({"split_size": 0}, ValueError, "at least 1"),
        ({"data_transfer_protocol": "rdma"}, tf.errors.NotFoundError, "'rdma'"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_refused_arguments(arguments: Any, kind: type[Exception], said: str) -> None:
    mode = {"processing_mode": arguments.pop("mode", "parallel_epochs"), **arguments}
    with pytest.raises(kind, match=said):
        tf.data.experimental.service.distribute(service="grpc://a:1", **mode)


@pytest.mark.parametrize("service", ["", ("grpc",), 3, "tcp://a:1", "grpc://"])
def test_refused_addresses(service: Any) -> None:
    with pytest.raises((ValueError, tf.errors.NotFoundError)):
        numbers().apply(
            tf.data.experimental.service.distribute("parallel_epochs", service)
        )


def test_a_journal_needs_a_directory() -> None:
    with pytest.raises(ValueError, match="work dir"):
        service.DispatchServer(service.DispatcherConfig(fault_tolerant_mode=True))
