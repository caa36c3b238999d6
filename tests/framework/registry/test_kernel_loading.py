"""When kernels are loaded, and by how many threads at once."""

from __future__ import annotations

import importlib
import subprocess
import sys
import threading

import pytest

from tensorloom.framework.registry import late_modules, op_kernel
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is registered, and nothing is loaded."""
    # What comes with the package names its loaders now, not in the middle of a test.
    late_modules.load_kind("kernel")
    importlib.import_module("tensorloom.cluster.local")
    monkeypatch.setattr(op_kernel, "_KERNELS", {})
    monkeypatch.setattr(op_kernel, "_loaders", {})


def register(op: str) -> None:
    @host_kernel(op)
    def make(c: OpKernelConstruction) -> Compute:
        return lambda: None


@pytest.mark.usefixtures("registry")
def test_who_asks_for_the_kernels_of_an_op_has_them_loaded() -> None:
    op_kernel.set_kernel_loaders(lambda: register("Late"), lambda: None)
    assert [k.op for k in op_kernel.registered_kernels("Late")] == ["Late"]


@pytest.mark.usefixtures("registry")
def test_one_thread_loads_while_others_wait() -> None:
    loaded: list[int] = []
    begun, go = threading.Event(), threading.Event()

    def load() -> None:
        loaded.append(1)
        begun.set()
        go.wait(60)
        register("Late")

    op_kernel.set_kernel_loaders(load, lambda: None)
    found: list[int] = []

    def ask() -> None:
        found.append(len(op_kernel.registered_kernels("Late")))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    assert begun.wait(60)
    go.set()
    for thread in threads:
        thread.join(60)
    assert (loaded, found) == ([1], [1, 1, 1, 1])


FIRST_STEP = """
import tensorloom as tf
queue = tf.FIFOQueue(3, tf.float32, [()])
taken = queue.dequeue()
with tf.Session() as sess:
    step = [taken, queue.enqueue([4.0])]
    assert sess.run(step, options=tf.RunOptions(timeout_in_ms=60_000))[0] == 4.0
"""


@pytest.mark.multiprocess
@pytest.mark.slow
def test_a_dequeue_in_a_first_step_waits_beside_the_enqueue() -> None:
    done = subprocess.run([sys.executable, "-c", FIRST_STEP], timeout=100)
    assert done.returncode == 0
