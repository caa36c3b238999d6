"""One numbering of frames for all tasks of a step."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tensorloom.framework import errors
from tensorloom.framework.graph.graph_ir import GraphIR, Node
from tensorloom.framework.runtime.frame_id import child_of_number, child_of_path
from tensorloom.framework.types import dtypes
from tensorloom.master.run.frame_numbering import common_numbering

OURS = SimpleNamespace(task="/job:a", numbering=None)
OLD = SimpleNamespace(task="/job:b", numbering=child_of_path)
NEW = SimpleNamespace(task="/job:c", numbering=child_of_number)


def graph(op: str) -> GraphIR:
    attrs: dict[str, Any] = {"T": dtypes.int32, "frame_name": b"f"}
    return GraphIR({"n": Node("n", op, (), (), "", attrs, (dtypes.int32,), None)})


@pytest.mark.parametrize(
    ("op", "workers", "expected"),
    [
        ("Add", [OURS, OLD], None),
        ("Enter", [OURS], None),
        ("Enter", [OURS, OURS], child_of_path),
        ("Enter", [OURS, OLD], child_of_path),
        ("Enter", [NEW, OURS], child_of_number),
        ("Switch", [OURS, NEW, OLD], child_of_number),  # no frame, no number
    ],
)
def test_numbering(op: str, workers: list[Any], expected: Any) -> None:
    assert common_numbering(graph(op), workers) is expected


def test_a_loop_over_both_versions_of_tensorflow_is_refused() -> None:
    with pytest.raises(errors.InvalidArgumentError, match=r"/job:b \(1.15\)"):
        common_numbering(graph("Enter"), [OURS, OLD, NEW])  # type: ignore[list-item]
