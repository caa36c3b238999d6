"""Static policies: each of a fixed list of workers makes its share.

What TensorFlow 2.21 gives was found out by running it, and stands here as the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tensorloom as tf
from tensorloom.data.service.places import Places
from tests.cluster.clusters import free_ports
from tests.data.service.services import Service, in_threads, reading, service, serving

D = tf.data.Dataset
Policy = service.ShardingPolicy
HINT = tf.data.experimental.SHARD_HINT


@pytest.fixture(scope="module")
def shared() -> Iterator[Service]:
    """A service with a list of two workers, which are there."""
    with serving(2, places=["localhost", "localhost:%port%"]) as found:
        yield found


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Four files of three lines each."""
    directory = tmp_path_factory.mktemp("files")
    found = []
    for number in range(4):
        path = directory / f"f{number}"
        path.write_text("".join(f"{number}-{line}\n" for line in range(3)))
        found.append(str(path))
    return found


def lines(*numbers: int) -> list[bytes]:
    return [b"%d-%d" % (number, line) for number in numbers for line in range(3)]


def reader(names: list[str]) -> Any:
    """One that is given the files itself."""
    made = tf.raw_ops.TextLineDataset(
        filenames=names, compression_type="", buffer_size=0
    )
    return tf.data.experimental.from_variant(made, tf.TensorSpec([], tf.string))


def shares_of(found: Service, make: Callable[[], Any], policy: Any) -> list[list[Any]]:
    """What each worker makes, by place; elements of one come in their order."""
    with reading(lambda: make().apply(found.distribute(policy))) as program:
        elements = program.rest()
    places = found.dispatcher._dispatcher._places
    assert sorted(places.of.values()) == list(range(len(places.addresses)))
    return elements


RANGES: dict[str, Callable[[], Any]] = {
    "range": lambda: D.range(10),
    "hint": lambda: D.range(10).shard(HINT, HINT).map(lambda x: x * 10),
    "hint below": lambda: D.range(10).map(lambda x: x * 10).shard(HINT, 0).prefetch(1),
}


@pytest.mark.parametrize(
    ("make", "policy", "expected"),
    [
        ("range", Policy.DATA, [*range(10)]),
        ("range", Policy.FILE_OR_DATA, [*range(10)]),
        ("range", Policy.HINT, [*range(10), *range(10)]),
        ("hint", Policy.HINT, [*range(0, 100, 10)]),
        ("hint below", Policy.HINT, [*range(0, 100, 10)]),
    ],
)
def test_elements(shared: Service, make: str, policy: Any, expected: list[int]) -> None:
    found = shares_of(shared, RANGES[make], policy)
    assert sorted(found) == sorted(expected)
    if policy is not Policy.HINT or make != "range":
        # Each worker has every second one, in order.
        for first in (expected[0], expected[1]):
            share = [one for one in expected if (one - first) % (2 * expected[1]) == 0]
            assert [one for one in found if one in share] == share


FILES: dict[str, Callable[[list[str]], Any]] = {
    "flat_map": lambda f: D.from_tensor_slices(f).flat_map(tf.data.TextLineDataset),
    "lines": tf.data.TextLineDataset,
    "reader": lambda f: reader(f),
    "steps": lambda f: (
        tf.data.TextLineDataset(f)
        .map(lambda x: x)
        .batch(2)
        .apply(tf.data.experimental.unbatch())
    ),
}


@pytest.mark.parametrize("make", FILES)
@pytest.mark.parametrize("policy", [Policy.FILE, Policy.FILE_OR_DATA])
def test_files(shared: Service, files: list[str], make: str, policy: Any) -> None:
    found = shares_of(shared, lambda: FILES[make](files), policy)
    assert sorted(found) == lines(0, 1, 2, 3)
    for share in (lines(0, 2), lines(1, 3)):
        assert [one for one in found if one in share] == share


def test_elements_of_files(shared: Service, files: list[str]) -> None:
    """DATA does not look at files; nor does what joins them with something else."""
    make = FILES["flat_map"]
    both = {
        Policy.DATA: lambda: make(files),
        Policy.FILE_OR_DATA: lambda: D.zip((make(files), D.range(12))).map(
            lambda line, number: line
        ),
    }
    every = lines(0, 1, 2, 3)
    for policy, dataset in both.items():
        found = shares_of(shared, dataset, policy)
        for share in (every[::2], every[1::2]):
            assert [one for one in found if one in share] == share


@pytest.mark.parametrize(
    ("make", "policy", "kind", "said"),
    [
        (lambda f: D.range(9), Policy.FILE, tf.errors.NotFoundError, "unshardable"),
        (
            lambda f: D.zip((tf.data.TextLineDataset(f), D.range(12))),
            Policy.FILE,
            tf.errors.NotFoundError,
            "unshardable",
        ),
        (
            lambda f: tf.data.TextLineDataset(f[:1]),
            Policy.FILE_OR_DATA,
            tf.errors.InvalidArgumentError,
            "# shards = 2",
        ),
        (
            lambda f: reader(f[:1]),
            Policy.FILE,
            tf.errors.InvalidArgumentError,
            "only has 1 file",
        ),
        (
            lambda f: D.range(9).shard(HINT, HINT),
            Policy.OFF,
            tf.errors.FailedPreconditionError,
            "SHARD_HINT",
        ),
    ],
)
def test_what_cannot_be_divided(
    shared: Service, files: list[str], make: Any, policy: Any, kind: Any, said: str
) -> None:
    with (
        reading(lambda: make(files).apply(shared.distribute(policy))) as program,
        pytest.raises(kind, match=said),
    ):
        program.next()


def test_a_policy_without_a_list() -> None:
    with (
        serving(1) as found,
        reading(lambda: D.range(3).apply(found.distribute(Policy.DATA))) as program,
        pytest.raises(tf.errors.NotFoundError, match="worker_addresses"),
    ):
        program.next()


def test_a_worker_that_is_not_in_the_list() -> None:
    (port,) = free_ports(1)
    with serving(0, places=[f"localhost:{port}"]) as found:
        found.add_worker(port)
        with pytest.raises(tf.errors.FailedPreconditionError, match="assign an index"):
            found.add_worker()


def test_a_worker_that_comes_late_and_one_that_dies(tmp_path: Path) -> None:
    """All shares are waited for; who is started again makes its own from the first."""
    ports = free_ports(2)
    with serving(0, places=[f"localhost:{port}" for port in ports]) as found:
        first = found.add_worker(ports[0])
        how = found.distribute(Policy.DATA, max_outstanding_requests=4)
        with reading(lambda: D.range(2000).apply(how)) as program:
            begun = [program.next() for _ in range(3)]
            assert begun == [0, 2, 4]
            first.stop()

            def start() -> None:
                for port in ports:
                    found.add_worker(port)

            rest, _ = in_threads(program.rest, start)
        assert set(begun) | set(rest) == set(range(2000))
        assert sorted(x for x in rest if x % 2) == [*range(1, 2000, 2)]


@pytest.mark.parametrize(
    ("workers", "expected"),
    [
        ([("a", "h:1"), ("b", "h:2")], {"a": 0, "b": 2}),
        # The address is another one's now.
        ([("a", "h:1"), ("b", "h:1")], {"b": 0}),
        # A host's second place is that of a worker that is gone.
        ([("a", "g:1"), ("b", "g:2")], {"b": 1}),
    ],
)
def test_places(workers: list[tuple[str, str]], expected: dict[str, int]) -> None:
    places = Places(["h:1", "g", "h:%port%"])
    for worker, address in workers:
        before = places.take(worker, address, [])
        assert before == ("a" if worker == "b" and "a" not in expected else None)
    assert places.of == expected
    with pytest.raises(tf.errors.FailedPreconditionError, match="assign an index"):
        places.take("c", "f:1", [])
    there = [*places.of]
    if "b" in expected and expected["b"] == 1:
        with pytest.raises(tf.errors.FailedPreconditionError, match="assign an index"):
            places.take("c", "g:3", there)
