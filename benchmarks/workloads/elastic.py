"""Variables that move to another parameter server; beside it shared memory alone."""

import itertools
import multiprocessing

import numpy as np

from benchmarks import clusters
from benchmarks.workloads.table import Table

table = Table()

NAME = "elastic: 1 GB of variables moves to another server"
_VARIABLES = 16
_BYTES = 1 << 26  # of each


@table.step(NAME, target=2.0)
def move(tf):
    """Copies between tasks in processes of their own, as a change of plan has it."""
    from tensorloom.elastic.copying import Copy, Place, copy_variables
    from tensorloom.elastic.shards import Stored
    from tensorloom.framework.types.tensor_shape import TensorShape

    with clusters.running(tf, {"ps": 2, "worker": 1}) as (_, cluster):
        target = "grpc://" + cluster["worker"][0]
        shape = [_BYTES // 4]
        devices = ["/job:ps/task:%d/device:CPU:0" % n for n in (0, 1)]
        source = Place(devices[0], "before")
        with tf.Session(target) as sess:
            with tf.device(source.device), tf.container(source.container):
                values = [
                    tf.get_variable(
                        "v%d" % n, initializer=tf.ones(shape), use_resource=False
                    )
                    for n in range(_VARIABLES)
                ]
            sess.run([value.initializer for value in values])
        variables = [
            Stored("v%d" % n, 0, tf.float32, TensorShape(shape), False)
            for n in range(_VARIABLES)
        ]
        numbers = itertools.count()

        def step():
            # To a server that has nothing of them yet, as a plan's next version has it.
            place = Place(devices[1], "moved%d" % next(numbers))
            copies = [Copy(one, source, place) for one in variables]
            assert copy_variables(target, None, copies) == _VARIABLES * _BYTES
            tf.Session.reset(target, [place.container])

        yield step


def _write(name, requests):
    """Another process: copies its arrays into the segment, whenever it is told to."""
    from multiprocessing import shared_memory

    segment = shared_memory.SharedMemory(name)
    shared = np.ndarray([_VARIABLES, _BYTES], np.uint8, segment.buf)
    own = np.ones([_VARIABLES, _BYTES], np.uint8)
    requests.send("ready")
    while requests.recv():
        np.copyto(shared, own)
        requests.send("written")
    del shared
    segment.close()


def plain_copies():
    """One process writes into a segment, the other reads it into memory of its own."""
    from multiprocessing import shared_memory  # not in Python 3.7

    segment = shared_memory.SharedMemory(create=True, size=_VARIABLES * _BYTES)
    here, there = multiprocessing.Pipe()
    context = multiprocessing.get_context("spawn")
    writer = context.Process(target=_write, args=(segment.name, there), daemon=True)
    writer.start()
    here.recv()
    shared = np.ndarray([_VARIABLES, _BYTES], np.uint8, segment.buf)

    def step():
        here.send(True)
        here.recv()
        np.copyto(np.empty(shared.shape, shared.dtype), shared)

    try:
        yield step
    finally:
        here.send(False)
        writer.join()
        shared = None  # it holds the memory
        segment.close()
        segment.unlink()
