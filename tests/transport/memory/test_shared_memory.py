"""Segments of shared memory: used again, and emptied when they are huge."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tensorloom.transport.memory import shared_memory
from tensorloom.transport.memory.shared_memory import Inbox, Outbox

if TYPE_CHECKING:
    import numpy as np


def _send(outbox: Outbox, inbox: Inbox, body: bytes) -> np.ndarray:
    reference, files = outbox.put([body], len(body))
    return inbox.take(reference, [os.dup(file) for file in files])


def _held_bytes(outbox: Outbox) -> int:
    files = [segment.file for segment in outbox._segments.values()]
    return sum(os.fstat(file).st_blocks * 512 for file in files)


@pytest.mark.parametrize("kept", [True, False])
def test_a_huge_segment_gives_its_pages_back(monkeypatch, kept):
    if not kept:
        monkeypatch.setattr(shared_memory, "_KEPT_BYTES", 1 << 20)
    outbox, inbox = Outbox(), Inbox()
    sizes = []
    for fill in (b"a", b"b"):
        body = fill * (8 << 20)
        array = _send(outbox, inbox, body)
        assert array.tobytes() == body
        assert _held_bytes(outbox) > len(body)
        del array
        sizes.append(_held_bytes(outbox))
    assert len(outbox._segments) == 1
    assert all(size > 8 << 20 for size in sizes) if kept else max(sizes) <= 8192
    outbox.close()
