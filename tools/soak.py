"""Trains on a local cluster for a long time, and watches what the tasks hold.

    python tools/soak.py --seconds 3600

Starts parameter servers and workers as processes. Each worker trains at its own pace
and, beside that, does what long-lived programs do: sessions that come and go, graphs
that grow, steps that fail or run out of time, large tensors, checkpoints, pauses.
Prints steps, errors, and each task's resident memory, descriptors and threads at the
start and the end; fails if something grows without end or an error was not expected.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
# A task has loaded everything and filled its pools after so much time and work.
SETTLE_S = 30.0
SETTLE_SESSIONS = 8
REPORT_S = 10.0


def free_ports(count: int) -> list[int]:
    """Ports of loopback that nobody listens at."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for listener in sockets:
            listener.bind(("127.0.0.1", 0))
        return [listener.getsockname()[1] for listener in sockets]


# --- a task ---------------------------------------------------------------------------


class Work:
    """What a worker does, round after round."""

    def __init__(self, tf: Any, target: str, cluster: Any, index: int) -> None:
        import numpy as np

        self.tf, self.np, self.target, self.index = tf, np, target, index
        self.steps = self.sessions = self.unexpected = 0
        self.expected_errors = 0
        self.random = np.random.RandomState(index)
        device = tf.train.replica_device_setter(
            cluster=cluster, worker_device=f"/job:worker/task:{index}"
        )
        self.config = tf.ConfigProto(
            device_filters=["/job:ps", f"/job:worker/task:{index}"]
        )
        self.graph = tf.Graph()
        with self.graph.as_default(), tf.device(device):
            self._build()
        self.folder = tempfile.TemporaryDirectory()

    def _build(self) -> None:
        tf = self.tf
        self.x = tf.placeholder(tf.float32, [None, 64])
        self.y = tf.placeholder(tf.int64, [None])
        self.ids = tf.placeholder(tf.int64, [None])
        table = tf.get_variable("table", [1000, 16])
        rows = tf.reduce_mean(tf.nn.embedding_lookup(table, self.ids), 0)
        w = tf.get_variable("w", [64, 128])
        hidden = tf.nn.relu(tf.matmul(self.x, w))
        logits = tf.matmul(hidden, tf.get_variable("v", [128, 10]))
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=self.y, logits=logits
        )
        self.loss = tf.reduce_mean(loss) + 0.01 * tf.reduce_sum(tf.square(rows))
        step = tf.train.get_or_create_global_step()
        optimizer = tf.train.AdagradOptimizer(0.05)
        self.train = optimizer.minimize(self.loss, global_step=step)
        self.table, self.step = table, step
        large = tf.get_variable("large", [1000, 1000], trainable=False)
        self.large = tf.reduce_sum(large)
        self.missing = tf.report_uninitialized_variables()
        self.init = tf.global_variables_initializer()
        self.failing = tf.gather(table, self.ids)
        with tf.device("/job:ps/task:0"):
            queue = tf.FIFOQueue(1, tf.float32, shared_name=f"never_{self.index}")
        self.waiting = queue.dequeue()
        self.saver = tf.train.Saver(max_to_keep=2)

    def session(self) -> Any:
        """A new session on the worker's own graph."""
        self.sessions += 1
        return self.tf.Session(self.target, graph=self.graph, config=self.config)

    def start(self) -> None:
        """The first worker initializes; the others wait for it."""
        with self.session() as sess:
            if self.index == 0:
                sess.run(self.init)
            while len(sess.run(self.missing)):
                time.sleep(0.1)

    def round(self) -> None:
        """A session with some hundred steps, and a bit of everything else."""
        tf = self.tf
        with self.session() as sess:
            for _ in range(300):
                feed = {
                    self.x: self.random.rand(32, 64),
                    self.y: self.random.randint(0, 10, 32),
                    self.ids: self.random.randint(0, 1000, 20),
                }
                sess.run([self.loss, self.train], feed)
                self.steps += 1
            sess.run([self.large, self.table])
            self._fails(sess, tf.errors.InvalidArgumentError, self.failing)
            options = tf.RunOptions(timeout_in_ms=50)
            self._fails(sess, tf.errors.DeadlineExceededError, self.waiting, options)
            if self.index == 0:
                path = os.path.join(self.folder.name, "model")
                self.saver.save(sess, path, self.step, write_meta_graph=False)
        self._small_session()

    def _fails(self, sess: Any, kind: Any, fetch: Any, options: Any = None) -> None:
        feed = {self.ids: [5000]} if options is None else None
        try:
            sess.run(fetch, feed, options)
        except kind:
            self.expected_errors += 1
        else:
            raise AssertionError(f"{kind} was expected")

    def _small_session(self) -> None:
        """A short program of its own, whose graph grows."""
        tf = self.tf
        with tf.Graph().as_default(), tf.Session(self.target) as sess:
            value = tf.constant(1.0)
            for place in ("/job:ps/task:0", f"/job:worker/task:{self.index}"):
                with tf.device(place):
                    value = value * 2.0 + 1.0
                sess.run(value)
                self.steps += 1
        self.sessions += 1

    def figures(self) -> dict[str, int]:
        """What has been done so far."""
        return {
            "steps": self.steps,
            "sessions": self.sessions,
            "expected errors": self.expected_errors,
            "errors": self.unexpected,
        }


def serve(role: str, index: int, spec: dict[str, list[str]]) -> None:
    """Runs one task until its input ends; a worker tells what it has done."""
    import tensorloom as tf

    server = tf.train.Server(spec, job_name=role, task_index=index)
    print(json.dumps({"ready": True}), flush=True)
    if role == "ps":
        server.join()
    work = Work(tf, server.target, tf.train.ClusterSpec(spec), index)
    work.start()
    said = time.monotonic()
    while True:
        try:
            work.round()
        except Exception as error:
            work.unexpected += 1
            print(f"{role} {index}: {type(error).__name__}: {error}", file=sys.stderr)
            time.sleep(0.5)
        if time.monotonic() - said > 1.0:
            said = time.monotonic()
            print(json.dumps(work.figures()), flush=True)


# --- the watcher ----------------------------------------------------------------------


class Task:
    """A process of the cluster."""

    def __init__(self, role: str, index: int, spec: dict[str, list[str]]) -> None:
        self.name, self.role = f"{role} {index}", role
        command = [sys.executable, __file__, "--role", role, "--index", str(index)]
        self.process = subprocess.Popen(
            [*command, "--cluster", json.dumps(spec)],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        )
        assert self.process.stdout is not None
        assert json.loads(self.process.stdout.readline()) == {"ready": True}
        os.set_blocking(self.process.stdout.fileno(), False)
        self.figures: dict[str, int] = {}
        self._text = b""

    def listen(self) -> None:
        """Takes what the task has said."""
        assert self.process.stdout is not None
        self._text += self.process.stdout.read() or b""
        *lines, self._text = self._text.split(b"\n")
        if lines:
            self.figures = json.loads(lines[-1])

    def held(self) -> dict[str, int]:
        """What the process holds now."""
        folder = Path(f"/proc/{self.process.pid}")
        status = dict(
            line.split(":", 1) for line in (folder / "status").read_text().splitlines()
        )
        return {
            "resident MB": int(status["VmRSS"].split()[0]) // 1024,
            "descriptors": len(list((folder / "fd").iterdir())),
            "threads": int(status["Threads"]),
        }

    def stop(self) -> None:
        """Ends the process."""
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


def settle(workers: list[Task]) -> None:
    """Waits until each worker has done everything a few times."""
    for worker in workers:
        while worker.figures.get("sessions", 0) < SETTLE_SESSIONS:
            assert worker.process.poll() is None, f"{worker.name} has ended"
            time.sleep(0.5)
            worker.listen()


def soak(seconds: float, ps: int, workers: int) -> dict[str, Any]:
    """Runs a cluster; the figures of its tasks."""
    ports = iter(free_ports(ps + workers))
    spec = {
        "ps": [f"localhost:{next(ports)}" for _ in range(ps)],
        "worker": [f"localhost:{next(ports)}" for _ in range(workers)],
    }
    with ExitStack() as stack:
        tasks = []
        for role, addresses in spec.items():
            for index in range(len(addresses)):
                tasks.append(Task(role, index, spec))
                stack.callback(tasks[-1].stop)
        started = time.monotonic()
        time.sleep(min(SETTLE_S, seconds / 4))
        settle([task for task in tasks if task.role == "worker"])
        first = {task.name: task.held() for task in tasks}
        while (passed := time.monotonic() - started) < seconds:
            time.sleep(min(REPORT_S, max(0.1, seconds - passed)))
            for task in tasks:
                task.listen()
            steps = sum(task.figures.get("steps", 0) for task in tasks)
            print(f"{passed:6.0f} s: {steps} steps", file=sys.stderr, flush=True)
        time.sleep(2.0)
        for task in tasks:
            task.listen()
        return {
            "seconds": round(time.monotonic() - started),
            "start": first,
            "end": {task.name: task.held() for task in tasks},
            "done": {task.name: task.figures for task in tasks if task.figures},
        }


def complaints(report: dict[str, Any]) -> list[str]:
    """What is wrong with a report; nothing if all is well."""
    found = []
    for name, figures in report["done"].items():
        if figures["errors"]:
            found.append(f"{name}: {figures['errors']} errors")
    if not any(figures["steps"] for figures in report["done"].values()):
        found.append("no worker has made a step")
    for name, start in report["start"].items():
        end = report["end"][name]
        # Pools of threads and connections breathe; leaks grow with the steps.
        limits = {
            "resident MB": start["resident MB"] * 1.15 + 30,
            "descriptors": start["descriptors"] + 15,
            "threads": start["threads"] + 15,
        }
        found += [
            f"{name}: {key} grew from {start[key]} to {end[key]}"
            for key, limit in limits.items()
            if end[key] > limit
        ]
    return found


def main() -> int:
    """Soaks, or runs a task for it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--ps", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--role", help=argparse.SUPPRESS)
    parser.add_argument("--index", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--cluster", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.role:
        serve(options.role, options.index, options.cluster)
        return 0
    report = soak(options.seconds, options.ps, options.workers)
    print(json.dumps(report, indent=1))
    wrong = complaints(report)
    for text in wrong:
        print(text, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
