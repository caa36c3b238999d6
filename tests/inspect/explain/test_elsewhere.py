"""Steps whose masters, or parts, are other processes'."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.inspect.explain import fates
from tensorloom.inspect.explain.programs import watched_runs
from tests.cluster.clusters import cluster, over_the_network

PS, WORKER = (f"/job:{job}/replica:0/task:0/device:CPU:0" for job in ("ps", "worker"))


def _program() -> tuple[Any, Any, Any]:
    """A step over two tasks, with something to fold and a loop that spans them."""
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    with tf.device("/job:ps"):
        w = tf.Variable(np.ones([4, 3], np.float32), name="w")
    with tf.device("/job:worker"):
        four = tf.multiply(tf.constant(1.5, name="one"), 3.0, name="four")
        y = tf.nn.relu(tf.matmul(x, w) + four, name="y")
    tf.exp(y, name="unasked")

    def body(i: Any, s: Any) -> Any:
        with tf.device("/job:worker"):
            return i + 1, tf.tanh(s, name="in_loop")

    looped = tf.while_loop(lambda i, s: i < 3, body, [0, tf.reduce_sum(w)])[1]
    return x, w, [tf.reduce_sum(y, name="z"), looped]


@pytest.mark.parametrize("is_classic", [False, True])
def test_a_master_elsewhere(is_classic: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if is_classic:
        tf.disable_control_flow_v2()
    over_the_network(monkeypatch)
    x, w, fetches = _program()
    feeds = {x: np.ones([2, 4], np.float32)}
    with (
        cluster(ps=1, worker=1) as servers,
        tf.Session(servers["worker"][0].target) as sess,
    ):
        sess.run(w.initializer)
        expected = sess.run(fetches, feeds)
        e = sess.explain(fetches, feeds)
        with pytest.raises(tf.errors.UnimplementedError, match="with run=True"):
            sess.explain(fetches, feeds, run=False)
        with watched_runs() as steps:
            sess.run(fetches, feeds)
        assert len(steps.steps) == 1
    assert e.results == expected
    assert [stage.name for stage in e.stages] == ["prune", "master"]
    (note,) = e.notes
    assert servers["worker"][0].target in note
    assert note in str(e)
    ops = tf.get_default_graph().get_operations()
    assert e.fates.keys() == {op.name for op in ops}
    assert set(e.counts().values()) != {0}
    ways = {name: fate.way for name, fate in e.fates.items()}
    assert (ways["x"], ways["unasked"]) == (fates.FED, fates.PRUNED)
    assert (ways["y"], ways["w"]) == (fates.KEPT, fates.KEPT)
    if not is_classic:  # classic loops over tasks are left as they are
        assert (ways["one"], ways["four"]) == (fates.TAKEN_OUT, fates.FOLDED)
    assert e.parts.keys() == {PS, WORKER}
    assert e.journal.placements["y"].device == WORKER
    assert "does not tell why" in e.journal.placements["y"].reason
    sizes = {t.tensor.split("_", 2)[-1]: (t.source, t.size) for t in e.transfers}
    assert sizes["w/read"] == (PS, 4 * 3 * 4)
    assert e.times is not None
    assert {"y", "w"} <= {node.node for node in e.times.nodes}
    life = "\n".join(event.text for event in e.node("y"))
    assert "test_elsewhere.py" in life
    assert "24 bytes in memory that is not told" in life
    assert not e.memory.devices
    assert e.as_dict()["notes"] == [note]


def test_a_part_elsewhere() -> None:
    x, w, fetches = _program()
    with (
        cluster(ps=1, worker=1) as servers,
        tf.Session(servers["worker"][0].target) as sess,
    ):
        sess.run(w.initializer)
        e = sess.explain(fetches, {x: np.ones([2, 4], np.float32)})
    assert e.notes == [
        "/job:ps/replica:0/task:0: another process, which does not tell the program "
        "of its part and the memory of its values."
    ]
    assert {m.device for m in e.memory.devices} == {WORKER}
    assert (e.fates["one"].way, e.fates["four"].way) == (fates.UNREAD, fates.FOLDED)


def test_a_session_that_renames_tasks() -> None:
    server = tf.train.Server.create_local_server()
    try:
        spec = tf.train.ClusterSpec({"own": [server.target.removeprefix("grpc://")]})
        config = tf.ConfigProto(cluster_def=spec.as_cluster_def())
        y = tf.exp(tf.ones([2]), name="y")
        with tf.Session(server.target, config=config) as sess:
            e = sess.explain(y)
        assert not e.notes
        assert e.journal.placements["y"].device.startswith("/job:own/")
    finally:
        server.stop()


def test_a_first_run_that_fails_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    over_the_network(monkeypatch)
    x = tf.placeholder(tf.float32, [2], name="x")
    with tf.device("/job:worker"):
        y = tf.check_numerics(x, "bad", name="y")
    tf.exp(y, name="unasked")
    with (
        cluster(worker=1) as servers,
        tf.Session(servers["worker"][0].target) as sess,
        watched_runs() as steps,
    ):
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError, match="bad"):
                sess.run(y, {x: [1.0, np.nan]})
        (step,) = steps.steps
        failed = step.explanation
        assert [s.name for s in failed.stages] == ["prune"]
        ways = {name: fate.way for name, fate in failed.fates.items()}
        assert ways == {"x": "fed", "y": "not known", "unasked": "pruned"}
        master, ended, first, second = failed.notes
        assert servers["worker"][0].target in master
        assert "only when it has ended well" in master
        assert "before its nodes were told, after: prune" in ended
        assert first.startswith("Run 1 of this step failed: InvalidArgumentError: ")
        assert "bad : Tensor had NaN values" in first
        assert second.startswith("Run 2 of this step failed")
        z = tf.identity(y, name="z")
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(z, {x: [1.0, np.nan]})
        sess.run(z, {x: [1.0, 2.0]})
        told = steps.steps[1].explanation
    # The run that ended well tells more, and the failed one is still noted.
    assert told.fates["y"].way == fates.KEPT
    assert told.times is not None
    assert [note[:5] for note in told.notes][-1] == "Run 1"
