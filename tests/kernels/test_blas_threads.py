"""Products in host memory leave the threads of NumPy's library asleep."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorloom.kernels.host import blas_threads
from tensorloom.kernels.host.blas_threads import BlasThreads, numpy_threads


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
        ("hold", [1]),
        ("hold release", [1, 4]),
        ("hold hold release", [1]),
        ("hold hold release release", [1, 4]),
        ("hold release hold release", [1, 4, 1, 4]),
    ],
)
def test_one_thread_while_anybody_holds_it(calls: str, told: list[int]) -> None:
    library = _Library(4)
    threads = library.threads()
    for call in calls.split():
        getattr(threads, call)()
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
