"""Numbers of frames: those seen on the wire between TensorFlow's tasks."""

from __future__ import annotations

from tensorloom.framework.runtime import frame_id

NAME = b"while/while_context"


def test_numbers_of_1_15() -> None:
    frame = frame_id.child_of_path(frame_id.ROOT, 0, NAME)
    assert frame.number == 1496156560211570566
    inner = frame_id.child_of_path(frame, 3, b"inner")
    assert inner.path == b";0;while/while_context;3;inner"
    assert inner.number == frame_id.murmur_hash(inner.path)


def test_numbers_of_2() -> None:
    frame = frame_id.child_of_number(frame_id.ROOT, 0, NAME)
    assert frame.number == 18186195969791715286
    assert frame_id.child_of_number(frame, 1, NAME) != frame
