"""Memory of received bodies is used again, once nobody holds a view of it."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import numpy as np
import pytest

from tensorloom.transport.wire import body_memory, packing
from tensorloom.transport.wire.body_memory import new_body

LARGE = 4 << 20


@pytest.fixture(autouse=True)
def nothing_spare() -> Iterator[None]:
    gc.collect()
    body_memory._spare.clear()
    yield
    body_memory._spare.clear()


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def test_memory_is_used_again() -> None:
    first = new_body(LARGE)
    where = address(first)
    del first
    assert address(new_body(LARGE - 100)) == where


def test_a_view_keeps_the_memory() -> None:
    first = new_body(LARGE)
    view = first[64:128].view(np.float32).reshape(4, 4)
    view[:] = 7.0
    del first
    second = new_body(LARGE)
    second[:] = 0
    assert (view == 7.0).all()
    assert not body_memory._spare


def test_unpacked_values_keep_the_memory() -> None:
    buffers, size = packing.pack([np.arange(LARGE // 4, dtype=np.int32)])
    body = new_body(size)
    body[:] = np.frombuffer(b"".join(buffers), np.uint8)
    (value,) = packing.unpack(body)
    del body
    new_body(size)[:] = 0
    assert (value == np.arange(LARGE // 4)).all()


@pytest.mark.parametrize("size", [LARGE // 3, 2 * LARGE])
def test_memory_of_another_size_stays_spare(size: int) -> None:
    first = new_body(LARGE)
    where = address(first)
    del first
    second = new_body(size)
    assert address(second) != where
    assert address(new_body(LARGE)) == where


def test_little_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body_memory, "_KEPT_BYTES", 2 * LARGE)
    bodies = [new_body(LARGE) for _ in range(5)]
    del bodies
    assert len(body_memory._spare) == 2
    new_body(3 * LARGE)
    assert sum(len(spare) for spare in body_memory._spare) <= 2 * LARGE
