"""The live page on locks: who holds them, and who waits for them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom import extend
from tensorloom.coordination.coordinator import open_coordinator
from tensorloom.framework.registry import op_kernel, op_registry
from tensorloom.inspect.live.watcher import Watcher, tasks_of
from tests.cluster.clusters import PS, WORKER, cluster


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, list[Any]]]:
    with cluster(ps=1, worker=1) as running:
        yield running


@pytest.fixture
def look(servers: dict[str, list[Any]]) -> Iterator[Callable[..., dict[str, Any]]]:
    """Looks at a task until there is a lock that fulfils a condition."""
    watcher = Watcher(tasks_of({job: t[0].target for job, t in servers.items()}))
    with ThreadPoolExecutor(2) as pool:

        def until(job: str, kind: str, ready: Callable[[Any], bool]) -> dict[str, Any]:
            while True:
                watcher.look(pool)
                for task in watcher.state_after(0, 0.0)["tasks"]:
                    for lock in task["locks"] if task["name"] == job else ():
                        if lock["kind"] == kind and ready(lock):
                            return lock

        yield until


@contextmanager
def _running(*steps: Callable[[], Any]) -> Iterator[None]:
    """Runs them in threads, which have ended after the block, without an error."""
    with ThreadPoolExecutor(len(steps)) as pool:
        runs = [pool.submit(step) for step in steps]
        yield
        for run in runs:
            run.result()


def test_a_critical_section(
    servers: dict[str, list[Any]], look: Callable[..., dict[str, Any]]
) -> None:
    inside, leave = threading.Event(), threading.Event()

    def slow() -> np.float32:
        inside.set()
        assert leave.wait(600)
        return np.float32(1)

    with tf.Graph().as_default(), tf.device(WORKER):
        section = tf.CriticalSection(shared_name="careful")
        first = section.execute(
            lambda: tf.py_func(slow, [], tf.float32, name="slow"), name="first"
        )
        second = section.execute(lambda: tf.constant(2.0), name="second")
        with tf.Session(servers["worker"][0].target) as sess:
            try:
                with _running(lambda: sess.run(first)):
                    assert inside.wait(600)
                    with _running(lambda: sess.run(second)):
                        lock = look("worker", "mutex", lambda found: found["waiting"])
                        again = look("worker", "mutex", lambda found: True)
                        leave.set()
            finally:
                leave.set()
    assert lock["name"] == "careful"
    (waits,) = lock["waiting"]
    assert lock["holder"]["node"] == "first/MutexLock"
    assert waits["node"] == "second/MutexLock"
    assert lock["holder"]["step"] != waits["step"]
    assert lock["holder"]["session"] == waits["session"] != ""
    assert again["holder"]["for_s"] > lock["holder"]["for_s"] >= waits["for_s"] >= 0
    assert again["waiting"][0]["for_s"] > waits["for_s"]


@pytest.fixture
def hold_op() -> Iterator[tuple[threading.Event, threading.Event]]:
    """An op `HoldLock` that stays under a variable's lock: (it is there, it may go)."""
    op_registry.registered_ops()
    op_kernel.load_host_kernels()
    op_kernel.load_torch_kernels()
    inside, leave = threading.Event(), threading.Event()
    extend.register_op("HoldLock", inputs=["variable: resource"], stateful=True)

    def hold(variable: Any) -> None:
        with variable.lock:
            inside.set()
            assert leave.wait(600)

    op_kernel.host_kernel("HoldLock")(lambda node: hold)
    yield inside, leave
    leave.set()
    del op_registry._REGISTRY["HoldLock"], op_kernel._KERNELS["HoldLock"]


@pytest.mark.parametrize("devices", [(PS, WORKER), (WORKER, WORKER)])
def test_the_lock_of_a_variable(
    servers: dict[str, list[Any]],
    look: Callable[..., dict[str, Any]],
    hold_op: tuple[threading.Event, threading.Event],
    devices: tuple[str, str],
) -> None:
    inside, leave = hold_op
    job = "ps" if devices[0] == PS else "worker"
    with tf.Graph().as_default():
        with tf.device(devices[0]):
            v = tf.get_variable(f"held_{job}", [4], use_resource=True)
            hold = tf.raw_ops.HoldLock(variable=v.handle, name="hold")
        with tf.device(devices[1]):
            ones = tf.ones([4])
        grow = v.assign_add(ones, name="grow").op
        with tf.Session(servers["worker"][0].target) as sess:
            sess.run(v.initializer)
            try:
                with _running(lambda: sess.run(hold)):
                    assert inside.wait(600)
                    with _running(lambda: sess.run(grow)):
                        lock = look(job, "variable", lambda found: found["waiting"])
                        again = look(job, "variable", lambda found: True)
                        leave.set()
            finally:
                leave.set()
    assert lock["name"] == f"held_{job}"
    (waits,) = lock["waiting"]
    assert lock["holder"]["node"] == "hold"
    assert waits["node"] == grow.name
    # A step of one task that never waits for anything else has no number.
    assert [bool(user["step"]) for user in (lock["holder"], waits)] == [job == "ps"] * 2
    assert lock["holder"]["session"] == waits["session"] != ""
    assert again["holder"]["for_s"] > 0
    assert again["waiting"][0]["for_s"] > waits["for_s"]


def test_a_lock_of_the_lock_service(
    look: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    url = f"file://{tmp_path}"
    with open_coordinator(url, 600.0) as one, open_coordinator(url, 600.0) as other:
        first, second = one.lock("writer"), other.lock("writer")
        first.acquire(note="the chief")
        with _running(second.acquire):
            held = look("worker", "lock service", lambda lock: not lock["waiting"])
            waits = look(
                "worker",
                "lock service",
                lambda lock: lock["waiting"] and lock["holder"],
            )
            first.release()
        second.release()
        assert first.facts() is second.facts() is None
    for lock in (held, waits):
        assert lock["name"] == "writer"
        assert "(the chief)" in lock["holder"]["process"]
        assert lock["holder"]["for_s"] >= 0
    assert waits["waiting"][0]["process"].startswith("process ")
    assert waits["waiting"][0]["for_s"] >= 0
