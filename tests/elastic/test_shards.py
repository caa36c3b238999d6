"""Shards of a graph, and the graph that a plan makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import tensorloom as tf
from tensorloom.client.session.session import Session
from tensorloom.elastic import shards
from tensorloom.elastic.plan import Home
from tensorloom.framework import errors

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR

_HOMES = {0: Home(4, "a", 1), 1: Home(2, "b", 6)}


def _graph() -> GraphIR:
    sent: list[GraphIR] = []

    class Recorder(Session):
        def _placed(self, graph: GraphIR) -> GraphIR:
            sent.append(graph)
            return graph

    with tf.device(
        tf.train.replica_device_setter(ps_tasks=2, worker_device="/job:worker/task:3")
    ):
        first = tf.get_variable("first", [8, 2], tf.float64)
        second = tf.get_variable("second", [5], use_resource=True)
        queue = tf.FIFOQueue(3, [tf.float32], name="queue")
        loss = tf.reduce_sum(first) * tf.cast(tf.reduce_sum(second), tf.float64)
        tf.train.AdagradOptimizer(0.1).minimize(loss)
        queue.enqueue([1.0], name="enqueue")
    with Recorder() as session:
        session._extend_graph()
    return sent[0]


def test_what_a_graph_stores() -> None:
    """Variables and slots, with their bytes; what cannot be copied is told."""
    _graph()
    graph = tf.get_default_graph()
    names = {one.name: one for one in shards.stored_variables(graph)}
    assert {name: one.shard for name, one in names.items()} == {
        "first": 0,
        "first/Adagrad": 0,
        "second": 1,
        "second/Adagrad": 1,
    }
    assert [names[n].is_resource for n in ("first", "second/Adagrad")] == [False, True]
    sizes = shards.sizes({0, 1, 2}, shards.stored(graph))
    assert sizes == {0: 2 * 8 * 2 * 8, 1: 2 * 5 * 4, 2: 0}
    assert shards.fixed_shards(graph) == {}
    with tf.device("/job:ps/task:1"):
        tf.FIFOQueue(3, [tf.float32], name="on_a_server")
    assert shards.fixed_shards(graph) == {1: "on_a_server"}


def test_a_plan_places_a_graph() -> None:
    """Devices and containers of shards; what is a worker's own gets a name."""
    placed = shards.Placement(_HOMES, "elastic.own.me").place(_graph()).nodes
    update = placed["Adagrad/update_first/ApplyAdagrad"]
    where = {
        name: (placed[name].device, placed[name].attrs.get("container"))
        for name in ("first", "first/Adagrad", "second", "queue")
    }
    assert where == {
        "first": ("/job:ps/task:4", b"elastic.0.1"),
        "first/Adagrad": ("/job:ps/task:4", b"elastic.0.1"),
        "second": ("/job:ps/task:2", b"elastic.1.6"),
        "queue": ("/job:worker/task:3", b"elastic.own.me"),
    }
    assert placed["queue"].attrs["shared_name"] == b"queue"
    assert update.device == "/job:ps/task:4"


def test_a_shard_that_the_plan_does_not_have() -> None:
    """It is named."""
    with pytest.raises(errors.InvalidArgumentError, match="shard 1, which the worker"):
        shards.Placement({0: _HOMES[0]}, "own").place(_graph())
