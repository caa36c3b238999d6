"""What fresh processes are measured by: a start, first steps, a restored model."""

from __future__ import annotations

import functools
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.processes import OURS, WorkloadError, start

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
# Example messages parsed, and a string of each hashed: the first step with such ops.
FIRST_LOOP_SCRIPT = """
import time
{load}
feature = tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"some text"]))
example = tf.train.Example(features=tf.train.Features(feature={{"text": feature}}))
messages = tf.placeholder(tf.string, [None])
found = tf.parse_example(messages, {{"text": tf.FixedLenFeature([], tf.string)}})
number = tf.strings.to_hash_bucket_fast(found["text"], 1000)
sess = tf.Session()
start = time.perf_counter()
sess.run(number, {{messages: [example.SerializeToString()] * 32}})
print(time.perf_counter() - start)
"""


# 512 MB of variables, as in workloads/checkpoints.py; saved once, restored by all.
MODEL_SCRIPT = """
import time
{load}
for index in range(16):
    tf.get_variable("v%d" % index, [8192, 1024],
                    initializer=tf.random_uniform_initializer(seed=index))
saver = tf.train.Saver()
sess = tf.Session()
"""
SAVE_SCRIPT = (
    MODEL_SCRIPT
    + """
sess.run(tf.global_variables_initializer())
print(saver.save(sess, {path!r}))
"""
)
RESTORE_SCRIPT = (
    MODEL_SCRIPT
    + """
start = time.perf_counter()
saver.restore(sess, {path!r})
print(time.perf_counter() - start)
"""
)
# A linear model of an Estimator: from its construction to the end of its first step.
ESTIMATOR_SCRIPT = """
import shutil, tempfile, time
{load}
from benchmarks.workloads import estimators
folder = tempfile.mkdtemp()
print(estimators.seconds_to_first_step(tf, folder))
shutil.rmtree(folder)
"""


def _output_of(system: str, script: str, path: str = "") -> tuple[str, float]:
    """The first line that the script prints, and the seconds from the start to it."""
    begin = time.perf_counter()
    process = start(
        system, ["-c", script.format(load=IMPORTS[system], path=path)], stderr=1
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    spent = time.perf_counter() - begin
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


def first_loop_seconds(system: str) -> float:
    """What the first step with ops that are compiled loops takes."""
    return float(_output_of(system, FIRST_LOOP_SCRIPT)[0])


@functools.cache
def _saved_model() -> tempfile.TemporaryDirectory[str]:
    """The folder of a checkpoint; it goes with this process."""
    folder = tempfile.TemporaryDirectory()
    _output_of(OURS, SAVE_SCRIPT, folder.name + "/m")
    return folder


def restore_seconds(system: str) -> float:
    """What the first `Saver.restore` of a process takes, of 512 MB."""
    path = _saved_model().name + "/m"
    return float(_output_of(system, RESTORE_SCRIPT, path)[0])


def estimator_seconds(system: str) -> float:
    """From the construction of a process's first Estimator to its first step."""
    return float(_output_of(system, ESTIMATOR_SCRIPT)[0])


def serving_figure(name: str, system: str) -> float:
    """A ratio of our own; see `serving_figures.py`."""
    process = start(system, ["-m", "benchmarks.serving_figures", name], stderr=-1)
    told, wrong = process.communicate()
    if process.returncode:
        raise WorkloadError(f"{name}: {wrong}")
    return float(told.split()[-1])


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
        ProcessWorkload(
            "first step of a compiled loop", None, first_loop_seconds, limit=0.2
        ),
        ProcessWorkload(
            "restore 512 MB of variables in a fresh process", 1.0, restore_seconds
        ),
        ProcessWorkload(
            "Estimator to its first step in a fresh process", 0.5, estimator_seconds
        ),
        *(
            ProcessWorkload(
                f"figure: {text}",
                None,
                functools.partial(serving_figure, name),
                "times",
                limit,
            )
            for name, text, limit in (
                ("reload", "p99 beside the reload of a 500 MB model / without", 1.5),
                ("memory", "memory of 200 served models / their variables", 1.3),
                ("stream", "a streamed message exactly once / at least once", 1 / 0.7),
            )
        ),
    )
}
