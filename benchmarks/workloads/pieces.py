"""What a worker takes to run a registered piece of a graph, of tensorloom alone.

A second divided by it is how many pieces a worker runs: tens of thousands is what the
architecture of TensorFlow's masters and workers promises.
"""

from benchmarks import clusters
from benchmarks.workloads.table import Table

table = Table()

TASK = "/job:worker/replica:0/task:0"
SESSION = "benchmark"
# 20,000 pieces a second; at a socket there is another process to be woken.
LIMIT_S = 50e-6
SOCKET_LIMIT_S = 100e-6

NODE = 'node {{ name: "{0}" op: "{1}" {2} device: "%s/device:CPU:0" {3} }}' % TASK
FLOAT = 'attr { key: "T" value { type: DT_FLOAT } }'
INDEX = FLOAT + ' attr { key: "index" value { i: 0 } }'
PIECE = "\n".join(
    NODE.format(*parts)
    for parts in (
        ("x", "_Arg", "", INDEX),
        ("y", "AddV2", 'input: "x" input: "x"', FLOAT),
        ("result", "_Retval", 'input: "y"', INDEX),
    )
)


def registered(worker):
    """A worker's handle of the piece y = x + x."""
    from google.protobuf import text_format

    from tensorloom.framework.graph import graph_def
    from tensorloom.framework.runtime import session_config
    from tensorloom.protos.graph_pb2 import GraphDef

    graph = graph_def.from_proto(text_format.Parse(PIECE, GraphDef()), internal=True)
    worker.create_session(SESSION, session_config.DEFAULT)
    return worker.register_graph(SESSION, graph, session_config.DEFAULT)


def steps_of(worker):
    """A function that runs the piece as a step of its own, as a master does."""
    import numpy as np

    from tensorloom.framework.interfaces import StepContext, StepOptions
    from tensorloom.master.run.task_parallel import new_step_id

    piece = registered(worker)
    feeds = [np.float32(2.0)]
    options = StepOptions()

    def step():
        context = StepContext(options, step_id=new_step_id())
        if hasattr(piece, "begin"):
            values = piece.begin(feeds, context).take()
        else:
            values = piece.run(feeds, context)
        worker.cleanup_step(context.step_id)
        return values

    assert step() == [4.0]
    return step


@table.step("worker: a piece by handle, in process", seconds=LIMIT_S)
def in_process(tf):
    from tensorloom.devices.device import make_devices
    from tensorloom.worker.run.worker import Worker

    yield steps_of(Worker(TASK, make_devices(TASK, {}, None)))


@table.step("worker: a piece by handle, through the socket", seconds=SOCKET_LIMIT_S)
def through_socket(tf):
    from tensorloom.master.run.remote_worker import RemoteWorker
    from tensorloom.transport.negotiated import NegotiatedChannel

    with clusters.running(tf, {"worker": 1}) as (_, cluster):
        channel = NegotiatedChannel(cluster["worker"][0])
        worker = RemoteWorker(TASK, channel)
        worker.refresh(10.0)
        yield steps_of(worker)
        channel.close()
