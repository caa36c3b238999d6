"""Stages of a program's own: what they may do, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.extend import placed_pass, placer, remove_stage, schedule


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    yield
    remove_stage("own")


def run(fetch: Any, feeds: Any = None) -> Any:
    config = tf.ConfigProto(device_count={"CPU": 2})
    config.graph_options.rewrite_options.custom_optimizers.add(name="own")
    with tf.Session(config=config) as sess:
        return sess.explain(fetch, feeds)


def two_parts() -> tuple[Any, Any]:
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.exp(x, name="y")
    with tf.device("/cpu:1"):
        z = tf.tanh(y, name="z")
    return x, tf.add(z, y, name="out")


def test_a_placer_wishes_and_the_rest_is_placed_as_ever() -> None:
    @placer("own")
    def place(graph: Any, devices: Any) -> dict[str, str]:
        assert [d.name[-5:] for d in devices] == ["CPU:0", "CPU:1"]
        return {"y": "/cpu:1"}

    x = tf.placeholder(tf.float32, [2], name="x")
    e = run(tf.exp(x, name="y") + 1.0, {x: np.zeros(2)})
    assert e.journal.placements["y"].device.endswith("CPU:1")
    assert e.journal.placements["add"].device.endswith("CPU:0")
    assert e.diff("own").changed == ("y",)


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"nobody": "/cpu:0"}, "The placer 'own' places 'nobody', which is no node"),
        ({"y": "/gpu:7"}, "explicitly assigned to"),
    ],
)
def test_placers_that_are_wrong(wishes: dict[str, str], message: str) -> None:
    placer("own")(lambda graph, devices: wishes)
    x = tf.placeholder(tf.float32, [2], name="x")
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(tf.exp(x, name="y"), {x: np.zeros(2)})


def test_a_pass_over_a_placed_graph() -> None:
    @placed_pass("own")
    def move(graph: Any) -> Any:
        target = graph.nodes["z"].device
        assert target.endswith("CPU:1")
        return graph.with_nodes(
            n.replace(device=target) if n.name == "out" else n
            for n in graph.nodes.values()
        )

    x, out = two_parts()
    e = run(out, {x: np.zeros(2)})
    assert "out" in e.parts["/job:localhost/replica:0/task:0/device:CPU:1"].nodes
    np.testing.assert_allclose(e.results, np.tanh(1.0) + 1.0)


def reverse_independent(nodes: Any) -> list[str]:
    """Another topological order: of what is ready, the last one first."""
    done: list[str] = []
    waiting = [n for n in nodes]
    names = {n.name for n in nodes}
    while waiting:
        ready = [
            n
            for n in waiting
            if all(p in done or p not in names for p in n.producers)
            and not (n.op == "_Recv" and any(w.op == "_Send" for w in waiting))
        ]
        done.append(ready[-1].name)
        waiting.remove(ready[-1])
    return done


def test_a_schedule_orders_a_part() -> None:
    schedule("own")(reverse_independent)
    x = tf.placeholder(tf.float32, [2], name="x")
    out = tf.add(tf.exp(x, name="a"), tf.tanh(x, name="b"), name="out")
    e = run(out, {x: np.zeros(2)})
    (part,) = e.parts.values()
    order = [n for n in part.nodes if n in ("a", "b", "out")]
    assert order == ["b", "a", "out"]
    np.testing.assert_allclose(e.results, 1.0)


@pytest.mark.parametrize(
    ("order", "message"),
    [
        (lambda names: names[::-1], "before its input"),
        (lambda names: names[:-1], "lacks '"),
        (lambda names: [*names, names[0]], "or has it twice"),
        (lambda names: ["nobody", *names], "has 'nobody', which is no node"),
        (
            lambda names: sorted(names, key=lambda n: not n.startswith("z_G")),
            "could wait for ever",
        ),
    ],
)
def test_schedules_that_are_wrong(
    order: Callable[[list[str]], list[str]], message: str
) -> None:
    schedule("own")(lambda nodes: order([n.name for n in nodes]))
    x, out = two_parts()
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(out, {x: np.zeros(2)})


def test_one_name_is_one_stage() -> None:
    placer("own")(lambda graph, devices: {})
    with pytest.raises(ValueError, match="the placer 'own' is registered already"):
        schedule("own")(lambda nodes: [])
