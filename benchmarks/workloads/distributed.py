"""Steps through servers, and training with parameter servers.

Each workload runs twice: as our tasks speak among themselves, and with gRPC only.
"""

import contextlib
import functools
import threading

from benchmarks import clusters
from benchmarks.workloads.table import Table

table = Table()

GRPC_TARGET = 1.2


def rows(name, target, calls=1):
    """Registers a workload for both transports of ours."""

    def register(prepare):
        for transport, limit in ((None, target), ("grpc", GRPC_TARGET)):
            suffix = ", gRPC only" if transport else ""
            step = functools.partial(_with_transport, prepare, transport)
            table.step(name + suffix, limit, calls=calls)(step)
        return prepare

    return register


def _with_transport(prepare, transport, tf):
    with clusters.only(transport):
        for step in prepare(tf):
            yield step


def target_of(addresses):
    return "grpc://" + addresses[0]


@contextlib.contextmanager
def session(tf, jobs):
    """A session at the first worker of a new cluster."""
    with contextlib.ExitStack() as stack:
        _, cluster = stack.enter_context(clusters.running(tf, jobs))
        yield stack.enter_context(tf.Session(target_of(cluster["worker"])))


@rows("cluster: null step through a server, one task", 0.35)
def null_step(tf):
    op = tf.no_op()
    with session(tf, {"worker": 1}) as sess:
        yield lambda: sess.run(op)


@rows("cluster: null step on two workers", 0.3)
def null_step_on_two(tf):
    ops = []
    for index in range(2):
        with tf.device(f"/job:worker/task:{index}"):
            ops.append(tf.no_op())
    with session(tf, {"worker": 2}) as sess:
        yield lambda: sess.run(ops)


@rows("cluster: worker reads a ps variable, adds", 0.35)
def read_and_add(tf):
    with tf.device("/job:ps/task:0"):
        variable = tf.Variable(1.0)
    with tf.device("/job:worker/task:0"):
        total = variable + 1.0
    with session(tf, {"ps": 1, "worker": 1}) as sess:
        sess.run(tf.global_variables_initializer())
        yield lambda: sess.run(total)


@rows("cluster: assign_add on a ps from the client", 0.35)
def assign_add(tf):
    with tf.device("/job:ps/task:0"):
        variable = tf.Variable(0.0)
        update = tf.assign_add(variable, 1.0)
    with session(tf, {"ps": 1, "worker": 1}) as sess:
        sess.run(tf.global_variables_initializer())
        yield lambda: sess.run(update.op)


@rows("cluster: 100 MB ps to worker, summed there", 0.2)
def large_tensor(tf):
    with tf.device("/job:ps/task:0"):
        variable = tf.Variable(tf.ones([25 * 1000 * 1000]))
    with tf.device("/job:worker/task:0"):
        total = tf.reduce_sum(variable)
    with session(tf, {"ps": 1, "worker": 1}) as sess:
        sess.run(tf.global_variables_initializer())
        yield lambda: sess.run(total)


STEPS_AT_ONCE = 50


def training(tf, kind):
    jobs = {"ps": 1, "worker": 2}
    with clusters.running(tf, jobs, kind) as (tasks, _):

        def steps():
            for worker in tasks["worker"]:
                worker.ask(STEPS_AT_ONCE)
            for worker in tasks["worker"]:
                worker.wait("done")
            for worker in tasks["worker"]:
                worker.ask("rest")

        yield steps


@rows("cluster: async training, 1 ps, 2 workers", 0.6, 2 * STEPS_AT_ONCE)
def async_training(tf):
    return training(tf, "asynchronous")


@rows("cluster: sync training, 1 ps, 2 workers", 0.6, 2 * STEPS_AT_ONCE)
def sync_training(tf):
    return training(tf, "synchronous")


CLIENTS = 16


@rows("cluster: null step, 16 clients at once", 0.6, 20 * CLIENTS)
def many_clients(tf):
    op = tf.no_op()
    with contextlib.ExitStack() as stack:
        _, cluster = stack.enter_context(clusters.running(tf, {"worker": 1}))
        target = target_of(cluster["worker"])
        # Closed before their server ends: TensorFlow 2.21 waits for it without end.
        sessions = [
            stack.enter_context(contextlib.closing(tf.Session(target)))
            for _ in range(CLIENTS)
        ]

        def run(sess):
            for _ in range(20):
                sess.run(op)

        def steps():
            threads = [threading.Thread(target=run, args=(s,)) for s in sessions]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        yield steps
