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
    monkeypatch.setattr(op_kernel, "_modules", {})


def register(op: str) -> None:
    @host_kernel(op)
    def make(c: OpKernelConstruction) -> Compute:
        return lambda: None


@pytest.mark.usefixtures("registry")
def test_who_asks_for_the_kernels_of_an_op_has_them_loaded() -> None:
    op_kernel.set_kernel_loaders(lambda: register("Late") or {}, dict)
    assert [k.op for k in op_kernel.registered_kernels("Late")] == ["Late"]


@pytest.mark.usefixtures("registry")
def test_one_thread_loads_while_others_wait() -> None:
    loaded: list[int] = []
    begun, go = threading.Event(), threading.Event()

    def load() -> dict[str, str]:
        loaded.append(1)
        begun.set()
        go.wait(60)
        register("Late")
        return {}

    op_kernel.set_kernel_loaders(load, dict)
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


BY_OP = """
import sys
import tensorloom as tf
with tf.Session() as sess:
    assert sess.run(tf.constant([3.0]) * 2.0).tolist() == [6.0]
kernels = "tensorloom.kernels.host."
assert kernels + "math.binary" in sys.modules
assert kernels + "image.resize" not in sys.modules
"""
# Where modules share an op, who comes first must not decide whose kernel it is.
SAME_ORDER = """
import random
import sys
from tensorloom.framework.registry import op_kernel
op_kernel.load_host_kernels()
op_kernel.load_torch_kernels()
def order(op):
    return [(k.module, sorted(k.types)) for k in op_kernel.registered_kernels(op)]
shared = [
    op for op, found in op_kernel._KERNELS.items()
    if len({(k.module, k.host) for k in found}) > len({k.host for k in found})
]
assert "AddN" in shared and "MaxPool" in shared
print({op: order(op) for op in shared})
"""
ONE_BY_ONE = """
import ast
import sys
from tensorloom.framework.registry import op_kernel
for op, order in ast.literal_eval(sys.argv[1]).items():
    op_kernel.load_host_kernels(op)
    op_kernel.load_torch_kernels(op)
    found = [(k.module, sorted(k.types)) for k in op_kernel.registered_kernels(op)]
    assert found == order, (op, found, order)
"""


def run(program: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        timeout=100,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return done.stdout


@pytest.mark.multiprocess
def test_only_the_modules_of_the_ops_that_run_are_loaded() -> None:
    run(BY_OP)


@pytest.mark.multiprocess
@pytest.mark.slow
def test_kernels_of_an_op_have_one_order_whichever_module_comes_first() -> None:
    run(ONE_BY_ONE, run(SAME_ORDER))


@pytest.mark.usefixtures("registry")
def test_what_a_program_registers_is_preferred(monkeypatch: pytest.MonkeyPatch) -> None:
    def load() -> dict[str, str]:
        monkeypatch.setattr(op_kernel, "_BUILT_IN", __name__)
        builtin = op_kernel.KernelDef("Late", str, True, ("CPU",), module=__name__)
        op_kernel.register_kernel(builtin)
        return {}

    op_kernel.set_kernel_loaders(load, dict)
    op_kernel.register_kernel(op_kernel.KernelDef("Late", int, True, ("CPU",)))
    assert [k.factory for k in op_kernel.registered_kernels("Late")] == [int, str]


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
    run(FIRST_STEP)
