"""Which reductions of a graph travel together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import tensorloom as tf
from tensorloom.framework.runtime.session_config import (
    TOGGLE_OFF,
    TOGGLE_ON,
    OptimizerConfig,
)
from tensorloom.master.optimize import OptimizeTarget, fused_collectives
from tensorloom.master.optimize.fused_collectives import fuse_collectives
from tests.master.graph_text import check, parse

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR

_ = tf


def reduction(name: str, value: str, key: int, **attrs: object) -> str:
    """A line of a graph."""
    given = {
        **{"group_size": 2, "group_key": 1, "instance_key": key, "merge_op": b"Add"},
        **{"final_op": b"Id", "subdiv_offsets": [], **attrs},
    }
    text = "; ".join(f"{key}={value!r}" for key, value in given.items())
    return f"{name} = CollectiveReduce({value}) {{{text}}}"


def buckets(graph: GraphIR) -> list[list[int]]:
    """The keys of the reductions that travel together."""
    check(graph)
    return [
        node.attrs["instance_keys"]
        for node in graph.nodes.values()
        if node.op == "_CollectiveReduceMany"
    ]


def fused(*lines: str) -> GraphIR:
    """A graph of some arguments after the pass."""
    arguments = [
        "a = _Arg<float32[2,3]>",
        "b = _Arg<float32[4]>",
        "c = _Arg<float64[4]>",
        "d = _Arg<float32[?]>",
        "e = _Arg<float32[]>",
    ]
    return fuse_collectives(parse("\n".join([*arguments, *lines])), OptimizeTarget())


def test_names_values_and_order_stay() -> None:
    after = fused(
        reduction("x", "b", 7),
        "early = Neg(x)",
        reduction("y", "a", 3, _class=[b"loc:@a"]),
        "late = Add(e, e, ^x)",
    )
    assert buckets(after) == [[3, 7]]
    assert after.nodes["x"].op == after.nodes["y"].op == "Identity"
    assert after.nodes["x"].inputs == (("y/together", 1),)
    assert after.nodes["y"].inputs == (("y/together", 0),)
    assert after.nodes["late"].control_inputs == ("x",)
    shapes = [node.output_shapes for node in map(after.nodes.get, "xy") if node]
    assert [str(s[0]) for s in shapes if s] == ["(4,)", "(2, 3)"]


@pytest.mark.parametrize(
    "other",
    [
        reduction("y", "c", 2),  # another dtype
        reduction("y", "d", 2),  # of a size that is not known
        reduction("y", "b", 2, group_key=2),
        reduction("y", "b", 2, merge_op=b"Max"),
        reduction("y", "b", 2, final_op=b"Div"),
        "n = Neg(x)\n" + reduction("y", "n", 2),  # it needs the other
        "n = Neg(b, ^x)\n" + reduction("y", "n", 2),
    ],
)
def test_what_travels_alone(other: str) -> None:
    assert buckets(fused(reduction("x", "b", 1), other)) == []


def test_buckets_of_one_depth_do_not_wait_for_each_other() -> None:
    after = fused(
        reduction("x", "a", 1),
        reduction("y", "b", 2),
        "n = Neg(x)",
        reduction("z", "n", 3),
        reduction("w", "e", 4),
    )
    assert buckets(after) == [[1, 2, 4]]


def test_buckets_have_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fused_collectives, "BUCKET_BYTES", 20)
    lines = [reduction(f"x{key}", "e" if key % 4 else "b", key) for key in range(1, 13)]
    after = fused(*lines, reduction("large", "a", 99))
    assert buckets(after) == [[1, 2, 3], [4, 5], [6, 7], [8, 9], [10, 11]]
    assert "large" in {n.name for n in after.nodes.values() if "Reduce" in n.op}


@pytest.mark.parametrize(
    ("toggle", "runs"), [(None, False), (TOGGLE_OFF, False), (TOGGLE_ON, True)]
)
def test_a_session_asks_for_it(toggle: int | None, runs: bool) -> None:
    toggles = {} if toggle is None else {"scoped_allocator_optimization": toggle}
    target = OptimizeTarget(config=OptimizerConfig(toggles=toggles))
    assert target.allows("fuse_collectives") == runs
