"""Products in host memory leave the threads of NumPy's library asleep."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from tensorloom.kernels.host.linalg import blas_threads
from tensorloom.kernels.host.linalg.blas_threads import BlasThreads, numpy_threads


class _Library:
    """A library with a number of threads, and the numbers that it was told."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.told: list[int] = []

    def get_count(self) -> int:
        return self.count

    def set_count(self, count: int) -> None:
        self.count = count
        self.told.append(count)

    def threads(self) -> BlasThreads:
        return BlasThreads(self.get_count, self.set_count)


@pytest.mark.parametrize(
    ("calls", "told"),
    [
        ("hold-a", [1]),
        ("hold-a release-a", [1, 4]),
        ("hold-a hold-b release-a", [1]),
        ("hold-a hold-b release-a release-b", [1, 4]),
        ("hold-a release-a hold-b release-b", [1, 4, 1, 4]),
        # Of a thread that was interrupted before it held it.
        ("release-a hold-a release-b", [1]),
    ],
)
def test_one_thread_while_any_thread_holds_it(
    calls: str, told: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    library = _Library(4)
    threads = library.threads()
    for call in calls.split():
        name, thread = call.split("-")
        monkeypatch.setattr(threading, "get_ident", partial(ord, thread))
        getattr(threads, name)()
    assert library.told == told


def test_a_number_that_the_program_sets_stays() -> None:
    library = _Library(4)
    threads = library.threads()
    for count in (4, 3):
        library.count = count
        threads.hold()
        threads.release()
        assert library.count == count


def test_a_product_that_fails_gives_the_threads_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    library = _Library(4)
    monkeypatch.setattr(blas_threads, "numpy_threads", library.threads)
    multiply = blas_threads.on_one_thread(np.matmul)
    with pytest.raises(ValueError, match="matmul"):
        multiply(np.ones((2, 3)), np.ones((2, 3)))
    assert library.told == [1, 4]


@pytest.mark.parametrize("is_done", [True, False])
@pytest.mark.parametrize("place", range(4))
def test_an_interrupt_anywhere_costs_no_threads_for_good(
    place: int, is_done: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At each of the four calls, the product among them, before or after it."""
    library = _Library(4)
    calls = 0

    def interrupted(call: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls != place + 1:
                return call(*args)
            if is_done:
                call(*args)
            raise KeyboardInterrupt

        return called

    threads = BlasThreads(
        interrupted(library.get_count), interrupted(library.set_count)
    )
    monkeypatch.setattr(blas_threads, "numpy_threads", lambda: threads)
    multiply = blas_threads.on_one_thread(interrupted(np.matmul))
    a = np.eye(2)
    with pytest.raises(KeyboardInterrupt):
        multiply(a, a)
    multiply(a, a)
    assert library.count == 4


def test_a_forked_process_has_no_holders() -> None:
    library = _Library(4)
    threads = library.threads()
    threads.hold()
    threads._lock.acquire()  # by a thread that is not in the new process
    threads.forget_threads()
    assert library.told == [1, 4]
    threads.hold()
    threads.release()
    assert library.told == [1, 4, 1, 4]


def test_a_library_that_takes_no_number_is_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(blas_threads, "numpy_threads", lambda: None)
    assert blas_threads.on_one_thread(np.matmul) is np.matmul


def test_numpys_own_library_is_told() -> None:
    threads = numpy_threads()
    if threads is None:
        pytest.skip("NumPy's products are not OpenBLAS's here")
    before = threads._get_count()
    seen = []

    def multiply(a: Any, b: Any) -> Any:
        seen.append(threads._get_count())
        return a @ b

    a = np.ones((2, 2))
    np.testing.assert_array_equal(blas_threads.on_one_thread(multiply)(a, a), a + a)
    assert seen == [1]
    assert threads._get_count() == before
