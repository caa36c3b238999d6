"""The systems as processes: their Python, their workers, and what a start costs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
OURS = "tensorloom"
# Settings that make OpenBLAS, NumPy's library, run the code for another processor than
# this one. Some environments have them, so that results are the same on every machine.
_OTHER_PROCESSORS = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
# In the order of the report's columns.
SYSTEMS = (OURS, "2.21", "1.15", "torch")


def python_of(system: str) -> Path | None:
    """The Python that runs `system`; None where it is not installed."""
    if system in (OURS, "torch"):
        return Path(sys.executable)
    variable, folder = {
        "1.15": ("PEER115", ".venv-tf115"),
        "2.21": ("PEER221", ".venv-tf221"),
    }[system]
    python = REPOSITORY / os.environ.get(variable, folder) / "bin" / "python"
    return python if python.exists() else None


def _start(system: str, arguments: list[str], **pipes: int) -> subprocess.Popen[str]:
    python = python_of(system)
    assert python is not None
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    for setting in _OTHER_PROCESSORS:
        environment.pop(setting, None)
    return subprocess.Popen(
        [python, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if "stderr" in pipes else subprocess.DEVNULL,
        stdin=pipes.get("stdin"),
        text=True,
        env=environment,
    )


class WorkloadError(Exception):
    """A workload failed in one system; the text is its traceback."""


class Worker:
    """A process that measures workloads in one system (see worker.py)."""

    def __init__(self, system: str) -> None:
        self.system = system
        script = str(Path(__file__).with_name("worker.py"))
        self._process = _start(system, [script, system], stdin=subprocess.PIPE)

    def prepare(self, name: str) -> None:
        """Sets the workload up and warms it."""
        self._ask("prepare", name)

    def measure(self, name: str) -> float:
        """The seconds of one measurement."""
        return self._ask("measure", name)["seconds"]

    def finish(self, name: str) -> None:
        """Closes the workload's session."""
        self._ask("finish", name)

    def close(self) -> None:
        """Ends the process."""
        self._process.communicate(timeout=60)

    def _ask(self, action: str, name: str) -> dict[str, float]:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps({action: name}) + "\n")
        stdin.flush()
        line = stdout.readline()
        answer = json.loads(line) if line else {"error": "the process ended"}
        if "error" in answer:
            raise WorkloadError(f"{self.system}, {name}: {answer['error']}")
        return answer


IMPORTS = {
    OURS: "import tensorloom as tf",
    "2.21": "import tensorflow.compat.v1 as tf; tf.disable_v2_behavior()",
    "1.15": "import tensorflow as tf",
}
IMPORT_SCRIPT = """
import time, re
start = time.perf_counter()
{load}
spent = time.perf_counter() - start
status = open("/proc/self/status").read()
print(spent, int(re.search(r"VmRSS:\\s+(\\d+)", status).group(1)) * 1024)
"""
FIRST_RESULT_SCRIPT = """
{load}
x = tf.placeholder(tf.float32, [])
print(tf.Session().run(x * 2.0 + 1.0, {{x: 3.0}}), flush=True)
"""
# A dense layer, softmax and Adam: from the import to the first trained step.
FIRST_STEP_SCRIPT = """
{load}
import numpy as np
x = tf.placeholder(tf.float32, [None, 20])
labels = tf.placeholder(tf.int32, [None])
w = tf.get_variable("w", [20, 10])
b = tf.get_variable("b", [10], initializer=tf.zeros_initializer())
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
    labels=labels, logits=tf.matmul(x, w) + b))
train = tf.train.AdamOptimizer().minimize(loss)
sess = tf.Session()
sess.run(tf.global_variables_initializer())
feed = {{x: np.ones([8, 20], "f"), labels: np.zeros(8, "i")}}
sess.run([loss, train], feed)
status = open("/proc/self/status").read()
print(int(status.split("VmRSS:")[1].split()[0]) * 1024, flush=True)
"""
# Two ops of a queue: what the first `sess.run` of a running program takes.
FIRST_QUEUE_SCRIPT = """
import time
{load}
queue = tf.FIFOQueue(2, tf.float32, [[]])
put, get = queue.enqueue(1.0), queue.dequeue()
sess = tf.Session()
start = time.perf_counter()
sess.run(put)
sess.run(get)
print(time.perf_counter() - start)
"""


def _output_of(system: str, script: str) -> tuple[str, float]:
    """The first line that the script prints, and the seconds from the start to it."""
    start = time.perf_counter()
    process = _start(system, ["-c", script.format(load=IMPORTS[system])], stderr=1)
    assert process.stdout is not None
    line = process.stdout.readline()
    spent = time.perf_counter() - start
    _, errors = process.communicate(timeout=60)
    if not line or process.returncode:
        raise WorkloadError(f"{system}: {errors}")
    return line, spent


def import_seconds(system: str) -> float:
    """The wall time of the import statement in a fresh process."""
    return float(_output_of(system, IMPORT_SCRIPT)[0].split()[0])


def import_memory(system: str) -> float:
    """The resident bytes of a process that has only imported."""
    return float(_output_of(system, IMPORT_SCRIPT)[0].split()[1])


def first_result_seconds(system: str) -> float:
    """From the start of the process to the first result of a scalar graph."""
    return _output_of(system, FIRST_RESULT_SCRIPT)[1]


def first_step_seconds(system: str) -> float:
    """From the start of the process to the first trained step of a dense layer."""
    return _output_of(system, FIRST_STEP_SCRIPT)[1]


def first_step_memory(system: str) -> float:
    """The resident bytes of a process after that step."""
    return float(_output_of(system, FIRST_STEP_SCRIPT)[0])


def first_queue_seconds(system: str) -> float:
    """What the first steps of a program with a queue take."""
    return float(_output_of(system, FIRST_QUEUE_SCRIPT)[0])


@dataclass(frozen=True)
class ProcessWorkload:
    """One row of the report that is measured on fresh processes."""

    name: str
    target: float | None  # of the ratio
    measure: Callable[[str], float]
    unit: str = "seconds"
    limit: float | None = None  # of our seconds, where there is no target


PROCESS_WORKLOADS = {
    workload.name: workload
    for workload in (
        ProcessWorkload("import, wall time", 0.15, import_seconds),
        ProcessWorkload("import, resident memory", 0.5, import_memory, "bytes"),
        ProcessWorkload("process start to first result", 1.0, first_result_seconds),
        ProcessWorkload("process start to first trained step", 0.8, first_step_seconds),
        ProcessWorkload(
            "memory after the first trained step", 1.0, first_step_memory, "bytes"
        ),
        ProcessWorkload(
            "first steps of a queue program", None, first_queue_seconds, limit=0.1
        ),
    )
}
