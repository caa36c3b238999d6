"""Trainers that share what workers make."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

import tensorloom as tf
from tensorloom.data.service.runs import Section
from tensorloom.data.service.shared_cache import SharedCache
from tests.data.service.services import (
    Program,
    Service,
    in_threads,
    reading,
    service,
    serving,
)

D = tf.data.Dataset
Cache = service.CrossTrainerCache


class Counting:
    """A run that makes 0, 1, 2, ..., of eight bytes each and what they cost."""

    def __init__(self) -> None:
        self.made = 0
        self.calls = 0
        self.may_go_on = threading.Event()
        self.may_go_on.set()

    def take(self, number: int, first: int, most: int) -> list[Section]:
        """The next numbers, at most four."""
        self.may_go_on.wait()
        self.calls += 1
        items: list[Any] = [(n,) for n in range(self.made, self.made + min(most, 4))]
        self.made += len(items)
        return [Section(-1, 0, items)]


def taken(cache: SharedCache, trainer: str, most: int = 4) -> list[int]:
    (section,) = cache.take(trainer, most)
    return [item[0] for item in section.items]


def test_each_trainer_reads_all_at_its_own_pace() -> None:
    run = Counting()
    cache = SharedCache(run)  # type: ignore[arg-type]
    assert taken(cache, "a") == [0, 1, 2, 3]
    assert taken(cache, "a", 2) == [4, 5]
    assert taken(cache, "b", 100) == [0, 1, 2, 3, 4, 5]
    assert run.made == 6
    assert taken(cache, "b", 1) == [6]
    assert taken(cache, "a", 1) == [6]


def test_who_is_behind_misses_what_is_too_old() -> None:
    cache = SharedCache(Counting(), most_bytes=5 * 128)  # type: ignore[arg-type]
    assert taken(cache, "slow", 1) == [0]
    assert [taken(cache, "fast")[-1] for _ in range(4)] == [0, 4, 8, 12]
    assert taken(cache, "slow", 1) == [8]
    assert taken(cache, "new", 1) == [8]


def test_one_has_more_made_for_all_who_wait() -> None:
    run = Counting()
    cache = SharedCache(run)  # type: ignore[arg-type]
    run.may_go_on.clear()
    timer = threading.Timer(0.05, run.may_go_on.set)
    timer.start()
    found = in_threads(*[lambda t=t: taken(cache, t) for t in "abcd"])  # type: ignore[misc]
    timer.join()
    assert found == [[0, 1, 2, 3]] * 4
    assert run.calls == 1


@pytest.fixture(scope="module")
def shared() -> Iterator[Service]:
    """A service with one worker: its elements are in order."""
    with serving(1) as found:
        yield found


def endless() -> Any:
    return D.range(1000).repeat()


def program(found: Service, job: str, trainer: str, **how: Any) -> Any:
    mode = how.pop("mode", "parallel_epochs")
    make = how.pop("make", endless)
    cache = Cache(trainer)
    distribute = found.distribute(
        mode, job_name=job, cross_trainer_cache=cache, max_outstanding_requests=4, **how
    )
    return reading(lambda: make().apply(distribute))


def test_trainers_get_the_same_elements(shared: Service) -> None:
    with ExitStack() as stack:
        programs: list[Program] = [
            stack.enter_context(program(shared, "same", trainer)) for trainer in "ab"
        ]
        first, second = ([one.next() for _ in range(50)] for one in programs)
    assert first == second == [*range(50)]


def test_consumers_of_one_trainer_share_the_elements(shared: Service) -> None:
    with ExitStack() as stack:
        programs = [stack.enter_context(program(shared, "one", "a")) for _ in range(2)]
        found = [one.next() for _ in range(20) for one in programs]
    assert len(set(found)) == 40


@pytest.mark.parametrize(
    ("how", "kind", "said"),
    [
        ({"make": lambda: D.range(10)}, tf.errors.InvalidArgumentError, "to be inf"),
        ({"job": None}, tf.errors.InvalidArgumentError, "requires named jobs"),
        (
            {"mode": "distributed_epoch"},
            tf.errors.UnimplementedError,
            "what each worker makes",
        ),
    ],
)
def test_what_cannot_be_shared(
    shared: Service, how: Any, kind: type[Exception], said: str
) -> None:
    job = how.pop("job", f"job of {said}")
    with (
        pytest.raises(kind, match=said),
        program(shared, job, "a", **how) as one,
    ):
        one.next()


def test_all_consumers_of_a_job_have_a_cache_or_none(shared: Service) -> None:
    plain = shared.distribute("parallel_epochs", job_name="mixed")
    with (
        program(shared, "mixed", "a") as one,
        reading(lambda: endless().apply(plain)) as other,
    ):
        assert one.next() == 0
        with pytest.raises(tf.errors.InvalidArgumentError, match="cross_trainer_cache"):
            other.next()


def test_a_trainer_has_a_name() -> None:
    with pytest.raises(ValueError, match="non-empty trainer ID"):
        Cache("")
