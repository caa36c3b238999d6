"""A sum of 100 MB over processes; beside it torch.distributed alone."""

import contextlib
import json
import os
import random
import socket
import subprocess
import sys

import numpy as np

from benchmarks.workloads.table import Table, seconds_of

table = Table()

ELEMENTS = 25_000_000
NAMES = {n: "allreduce: 100 MB over %d processes" % n for n in (2, 4)}
TASKS = {n: "allreduce: 100 MB by CollectiveReduce of %d tasks" % n for n in (2, 4)}
_PEER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "allreduce_peer.py")


# Below those that a system gives to who asks for any port: nobody else's connection has
# the port before the task listens. Who cannot listen would be waited for forever.
_PORTS = range(16_384, 32_768)


def addresses(count):
    """Where tasks may listen."""
    found = []
    for port in random.sample(_PORTS, len(_PORTS)):
        with socket.socket() as free, contextlib.suppress(OSError):
            free.bind(("127.0.0.1", port))
            found.append("localhost:%d" % port)
        if len(found) == count:
            break
    return found


@contextlib.contextmanager
def others(processes, kind):
    """Starts the other processes; the environment of this one, as rank 0."""
    from tensorloom.transport.collectives.store import LocalStore

    store = LocalStore()
    shared = {
        "BENCHMARK_TASKS": ",".join(addresses(processes)),
        "TENSORLOOM_GROUP_STORE": store.address,
        "HOROVOD_SIZE": str(processes),
        "HOROVOD_LOCAL_SIZE": str(processes),
        "PYTHONPATH": os.path.dirname(os.path.dirname(_PEER)),
    }

    def place(rank):
        return {**shared, "HOROVOD_RANK": str(rank), "HOROVOD_LOCAL_RANK": str(rank)}

    started = [
        subprocess.Popen(
            [sys.executable, _PEER, kind],
            env={**os.environ, **place(rank)},
            stderr=subprocess.DEVNULL,
        )
        for rank in range(1, processes)
    ]
    try:
        yield place(0)
    finally:
        for process in started:
            process.kill()
            process.wait()


def summed(tf):
    """A step that sums a variable of this process with those of the others."""
    from tensorloom import hvd

    hvd.init()
    value = tf.get_variable("value", initializer=np.ones([ELEMENTS], np.float32))
    total = tf.group(hvd.allreduce(value, op=hvd.Sum))
    try:
        with tf.Session() as sess:
            sess.run(value.initializer)
            yield lambda: sess.run(total)
    finally:
        hvd.shutdown()


def summed_by_tasks(tf):
    """The same by a collective of tasks, each with a server and a session."""
    tasks = os.environ["BENCHMARK_TASKS"].split(",")
    rank = int(os.environ["HOROVOD_RANK"])
    device = "/job:worker/task:%d" % rank
    config = tf.ConfigProto(device_filters=[device])
    config.experimental.collective_group_leader = "/job:worker/replica:0/task:0"
    server = tf.train.Server({"worker": tasks}, "worker", rank, config=config)
    with tf.device(device):
        value = tf.get_variable("value", initializer=tf.ones([ELEMENTS]))
        total = tf.raw_ops.CollectiveReduce(
            input=value,
            group_size=len(tasks),
            group_key=1,
            instance_key=1,
            merge_op="Add",
            final_op="Id",
            subdiv_offsets=[],
        )
    try:
        with tf.Session(server.target, config=config) as sess:
            sess.run(value.initializer)
            yield lambda: sess.run(total.op)
    finally:
        server.stop()


LAYERS, UNITS, BATCH = 8, 512, 256


def trained(tf):
    """A step of a model with eighteen variables, on a batch of this process's own."""
    tasks = os.environ["BENCHMARK_TASKS"].split(",")
    rank = int(os.environ["HOROVOD_RANK"])
    cluster = {"worker": tasks}
    os.environ["TF_CONFIG"] = json.dumps(
        {"cluster": cluster, "task": {"type": "worker", "index": rank}}
    )
    strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
    config = strategy.update_config_proto(
        tf.ConfigProto(intra_op_parallelism_threads=1)
    )
    server = tf.train.Server(cluster, "worker", rank, config=config)
    with strategy.scope():
        step = strategy.experimental_run_v2(lambda: training_op(tf))
        step = tf.group(strategy.unwrap(step))
    try:
        with tf.Session(server.target, config=config) as sess:
            sess.run(tf.global_variables_initializer())
            yield lambda: sess.run(step)
    finally:
        server.stop()


def training_op(tf):
    """Trains a network on numbers."""
    numbers = np.random.RandomState(0)
    value = tf.constant(numbers.rand(BATCH, UNITS).astype(np.float32))
    for layer in range(LAYERS):
        value = tf.layers.dense(value, UNITS, tf.nn.relu, name="layer_%d" % layer)
    loss = tf.reduce_mean(tf.square(tf.layers.dense(value, 1, name="last")))
    step = tf.train.get_or_create_global_step()
    return tf.train.GradientDescentOptimizer(0.01).minimize(loss, step)


@table.once(
    "figure: data-parallel training step of 2 processes / of one",
    seconds=2.0,
    unit="times",
)
def trained_in_parallel(tf):
    """The least time of a step of each; the inverse is the efficiency."""
    config = tf.ConfigProto(intra_op_parallelism_threads=1)
    with tf.Graph().as_default():
        step = training_op(tf)
        with tf.Session(config=config) as sess:
            sess.run(tf.global_variables_initializer())
            alone = min(seconds_of(lambda: sess.run(step)) for _ in range(40))
    with tf.Graph().as_default(), others(2, "trained") as environment:
        os.environ.update(environment)
        steps = trained(tf)
        step = next(steps)
        together = min(seconds_of(step) for _ in range(40))
        steps.close()
    return together / alone


def plain_summed():
    """The same with torch.distributed's Gloo: no graph, no negotiation."""
    import torch
    from torch import distributed

    from tensorloom.transport.collectives.place import place_of

    place = place_of(os.environ)
    store = distributed.TCPStore(place.host, place.port, place.size, False)
    distributed.init_process_group(
        "gloo", store=store, rank=place.rank, world_size=place.size
    )
    value = torch.ones(ELEMENTS)
    try:
        # The value stays what it was, as a variable does: its copy is summed.
        yield lambda: distributed.all_reduce(value.clone())
    finally:
        distributed.destroy_process_group()


def _row(name, processes, kind):
    @table.step(name, target=1.1)
    def allreduce(tf):
        with others(processes, kind) as environment:
            os.environ.update(environment)
            yield from KINDS[kind](tf)

    def plain():
        with others(processes, "plain") as environment:
            os.environ.update(environment)
            yield from plain_summed()

    return plain


KINDS = {"ours": summed, "tasks": summed_by_tasks, "trained": trained}
PLAIN = {
    names[processes]: _row(names[processes], processes, kind)
    for kind, names in (("ours", NAMES), ("tasks", TASKS))
    for processes in names
}
