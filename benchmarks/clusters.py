"""Clusters for workloads: a process a task, at free ports of loopback. Python 3.7."""

import contextlib
import json
import os
import socket
import subprocess
import sys

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cluster_task.py")
# "grpc" keeps tensorloom's tasks to gRPC; TensorFlow's know nothing else.
TRANSPORT_VARIABLE = "TENSORLOOM_TRANSPORT"


def free_ports(count):
    """Ports that nobody listens at."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for listener in sockets:
            listener.bind(("127.0.0.1", 0))
        return [listener.getsockname()[1] for listener in sockets]


def system_of(tf):
    """The name of a system, of its module."""
    if tf.__name__ == "tensorloom":
        return tf.__name__
    return ".".join(tf.VERSION.split(".")[:2])


class Task:
    """A task in a process of its own."""

    def __init__(self, system, cluster, job, index, training=None):
        arguments = [SCRIPT, system, json.dumps(cluster), job, str(index)]
        self._process = subprocess.Popen(
            [sys.executable] + arguments + ([training] if training else []),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            universal_newlines=True,
        )

    def wait(self, word):
        """Waits until the task says `word`."""
        while True:
            line = self._process.stdout.readline()
            if line.strip() == word:
                return
            if not line:
                raise RuntimeError("a task of the cluster has ended")

    def ask(self, what):
        """Has the task train so many steps, or "rest"."""
        self._process.stdin.write(f"{what}\n")
        self._process.stdin.flush()

    def stop(self):
        """Ends the process."""
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()


@contextlib.contextmanager
def only(transport):
    """Sets the transport of our tasks and clients; None leaves it."""
    before = os.environ.get(TRANSPORT_VARIABLE)
    if transport:
        os.environ[TRANSPORT_VARIABLE] = transport
    try:
        yield
    finally:
        os.environ.pop(TRANSPORT_VARIABLE, None)
        if before is not None:
            os.environ[TRANSPORT_VARIABLE] = before


@contextlib.contextmanager
def running(tf, jobs, training=None):
    """Tasks by job and their addresses; they end with the block."""
    ports = iter(free_ports(sum(jobs.values())))
    cluster = {
        job: [f"localhost:{next(ports)}" for _ in range(count)]
        for job, count in jobs.items()
    }
    tasks = {}
    with contextlib.ExitStack() as stack:
        for job, addresses in cluster.items():
            trained = training if job == "worker" else None
            for index in range(len(addresses)):
                task = Task(system_of(tf), cluster, job, index, trained)
                stack.callback(task.stop)
                tasks.setdefault(job, []).append(task)
        for job in tasks:
            for task in tasks[job]:
                task.wait("ready")
        yield tasks, cluster
