"""A sum of 100 MB over processes; beside it torch.distributed alone."""

import contextlib
import os
import subprocess
import sys

import numpy as np

from benchmarks.workloads.table import Table

table = Table()

ELEMENTS = 25_000_000
NAMES = {n: "allreduce: 100 MB over %d processes" % n for n in (2, 4)}
_PEER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "allreduce_peer.py")


@contextlib.contextmanager
def others(processes, kind):
    """Starts the other processes; the environment of this one, as rank 0."""
    from tensorloom.transport.collectives.store import LocalStore

    store = LocalStore()
    shared = {
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


def _row(processes):
    @table.step(NAMES[processes], target=1.1)
    def allreduce(tf):
        with others(processes, "ours") as environment:
            os.environ.update(environment)
            yield from summed(tf)

    def plain():
        with others(processes, "plain") as environment:
            os.environ.update(environment)
            yield from plain_summed()

    return plain


PLAIN = {NAMES[processes]: _row(processes) for processes in NAMES}
