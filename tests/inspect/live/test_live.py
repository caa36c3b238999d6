"""The live page over clusters: what it is told, and who is told."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.framework import errors
from tensorloom.inspect.live.dashboard import Dashboard, page
from tensorloom.inspect.live.watcher import Watcher, tasks_of
from tests.cluster.clusters import OTHER, PS, WORKER, cluster


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, list[Any]]]:
    with cluster(ps=1, worker=2) as running:
        yield running


def _look(servers: dict[str, list[Any]]) -> dict[str, dict[str, Any]]:
    """The state of each task, by name, at one look."""
    with ThreadPoolExecutor(4) as pool:
        watcher = _watcher(servers)
        watcher.look(pool)
        return _by_name(watcher.state_after(0, 0.0))


def _by_name(state: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {task["name"]: task for task in state["tasks"]}


def _watcher(servers: dict[str, list[Any]], period_s: float = 1.0) -> Watcher:
    addresses = {
        f"/job:{job}/replica:0/task:{i}": server.target
        for job, tasks in servers.items()
        for i, server in enumerate(tasks)
    }
    return Watcher(tasks_of(addresses), period_s)


def test_what_a_cluster_does(servers: dict[str, list[Any]]) -> None:
    with tf.Graph().as_default():
        with tf.device(PS):
            v = tf.Variable(np.zeros([300, 100], np.float32), name="weights")
        with tf.device(WORKER):
            grow = tf.assign_add(v, tf.ones([300, 100]))
            bad = tf.floordiv(1, tf.constant([0]), name="bad")
        with tf.Session(servers["worker"][0].target) as sess:
            sess.run(v.initializer)
            for _ in range(5):
                sess.run(grow.op)
            with pytest.raises(tf.errors.InvalidArgumentError):
                sess.run(bad)
            tasks = _look(servers)
    worker, ps = (
        tasks["/job:worker/replica:0/task:0"],
        tasks["/job:ps/replica:0/task:0"],
    )
    (session,) = worker["sessions"]
    assert (session["steps"], session["failed"], session["running"]) == (7, 1, [])
    assert len(session["tasks"]) == 3
    (weights,) = [x for x in ps["variables"] if x["name"] == "weights"]
    assert weights["bytes"] == 4 * 300 * 100
    assert (weights["shape"], weights["dtype"]) == ("(300, 100)", "float32")
    assert not weights["locked"]
    assert worker["errors"][0]["step"] == "bad:0"
    assert worker["errors"][0]["error"] == "InvalidArgumentError"
    assert sum(worker["sent_bytes"].values()) > 5 * weights["bytes"]
    assert worker["devices"][0]["type"] == "CPU"
    assert not _look(servers)["/job:worker/replica:0/task:0"]["sessions"]


def test_who_waits_for_whom(servers: dict[str, list[Any]]) -> None:
    with tf.Graph().as_default():
        with tf.device(OTHER):
            queue = tf.FIFOQueue(3, [tf.float32], shapes=[[]], shared_name="slow")
            value = queue.dequeue(name="value")
            put = queue.enqueue([1.0])
        with tf.device(WORKER):
            y = tf.negative(value, name="y")
        with tf.Session(servers["worker"][0].target) as sess:
            step = threading.Thread(target=lambda: results.append(sess.run(y)))
            results: list[Any] = []
            step.start()
            with ThreadPoolExecutor(4) as pool:
                watcher = _watcher(servers)
                tasks: dict[str, dict[str, Any]] = {}
                while not tasks or not (
                    tasks["/job:worker/replica:0/task:0"]["waits"]
                    and any(
                        q["waiting_to_dequeue"]
                        for q in tasks["/job:worker/replica:0/task:1"]["queues"]
                    )
                ):
                    watcher.look(pool)
                    tasks = _by_name(watcher.state_after(0, 0.0))
                watcher.look(pool)
                tasks = _by_name(watcher.state_after(0, 0.0))
            (wait,) = tasks["/job:worker/replica:0/task:0"]["waits"]
            assert "value" in wait["tensor"]
            assert wait["from"] == "/job:worker/replica:0/task:1/device:CPU:0"
            assert wait["for_s"] > 0
            (slow,) = tasks["/job:worker/replica:0/task:1"]["queues"]
            assert (slow["name"], slow["size"], slow["capacity"]) == ("slow", 0, 3)
            assert slow["for_s"] > 0
            (waits,) = slow["waiting"]
            assert waits == {"node": "value", "step": wait["step"]}
            (session,) = tasks["/job:worker/replica:0/task:0"]["sessions"]
            (running,) = session["running"]
            assert running["step"] == "y:0"
            sess.run(put)
            step.join()
            assert results == [-1.0]


def test_tasks_that_do_not_answer() -> None:
    def gone() -> dict[str, Any]:
        raise errors.UnavailableError(None, None, "nobody is there")

    watcher = Watcher({"/job:ps/task:0": gone})
    with ThreadPoolExecutor(1) as pool:
        watcher.look(pool)
    (task,) = watcher.state_after(0, 0.0)["tasks"]
    assert task["unreachable"] == "UnavailableError: nobody is there"


def test_servers_that_deny_ops_tell_nothing() -> None:
    server = tf.train.Server({"local": ["localhost:0"]}, deny_ops=["safe"])
    try:
        tasks = _by_name(_looked(tasks_of({"x": server.target})))
        assert tasks["x"]["unreachable"].startswith("PermissionDeniedError")
    finally:
        server.stop()


def _looked(tasks: dict[str, Any]) -> dict[str, Any]:
    watcher = Watcher(tasks)
    with ThreadPoolExecutor(1) as pool:
        watcher.look(pool)
    return watcher.state_after(0, 0.0)


def test_the_page_is_for_who_knows_the_token(servers: dict[str, list[Any]]) -> None:
    dashboard = Dashboard(_watcher(servers, 0.01), 0)
    dashboard.start()
    base = f"http://127.0.0.1:{dashboard.port}"
    try:
        assert "127.0.0.1" in dashboard.url
        for path in ("/", "/state", "/events", "/?token=wrong"):
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(base + path, timeout=60)
            assert refused.value.code == 403
            refused.value.close()
        with urllib.request.urlopen(dashboard.url, timeout=60) as answer:
            assert answer.read().decode() == page()
            assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        known = {"Authorization": f"Bearer {dashboard.token}"}
        request = urllib.request.Request(f"{base}/state", headers=known)
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert len(json.load(answer)["tasks"]) == 3
        request = urllib.request.Request(f"{base}/events", headers=known)
        with urllib.request.urlopen(request, timeout=60) as answer:
            lines = [
                line for line in (answer.readline() for _ in range(4)) if line.strip()
            ]
        first, second = (json.loads(line.removeprefix(b"data: ")) for line in lines)
        assert second["number"] > first["number"]
        request = urllib.request.Request(f"{base}/nowhere", headers=known)
        with pytest.raises(urllib.error.HTTPError) as missing:
            urllib.request.urlopen(request, timeout=60)
        assert missing.value.code == 404
        missing.value.close()
        request = urllib.request.Request(base, b"nothing is written", headers=known)
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=60)
        assert refused.value.code == 501
        refused.value.close()
    finally:
        dashboard.close()
