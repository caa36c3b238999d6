"""Short ways to write light graphs, and ops of the tests' own to put into them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.devices import cpu as _registers_cpu  # noqa: F401
from tensorloom.devices.device import make_devices
from tensorloom.framework import errors
from tensorloom.framework.graph.graph_ir import FunctionIR, GraphIR, Node
from tensorloom.framework.registry import op_registry
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.framework.registry.shape_inference import (
    unchanged_shape,
    unknown_shapes,
)
from tensorloom.framework.runtime.session_config import DEFAULT
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.worker.run.worker import Worker

if TYPE_CHECKING:
    import threading

    from tensorloom.framework.types.dtypes import DType
    from tensorloom.worker.run.registered_graph import RegisteredGraph


TASK = "/job:localhost/replica:0/task:0"
CPU0 = f"{TASK}/device:CPU:0"
CPU1 = f"{TASK}/device:CPU:1"


def node(
    name: str,
    op: str,
    inputs: Sequence[str] = (),
    *,
    shape: tuple[int | None, ...] | None = (),
    dtype: DType = dtypes.float32,
    device: str = CPU0,
    outputs: int = 1,
    **attrs: Any,
) -> Node:
    """A node; inputs are written "a", "a:1" or "^a"."""
    data, control = [], []
    for text in inputs:
        if text.startswith("^"):
            control.append(text[1:])
        else:
            producer, _, index = text.partition(":")
            data.append((producer, int(index or 0)))
    return Node(
        name,
        op,
        tuple(data),
        tuple(control),
        device,
        {"T": dtype, **attrs},
        (dtype,) * outputs,
        (TensorShape.of(shape),) * outputs,
    )


def const(name: str, value: Any, device: str = CPU0, control: str = "") -> Node:
    """A Const node."""
    array = np.asarray(value)
    dtype = dtypes.as_dtype(array.dtype)
    return node(
        name,
        "Const",
        [control] if control else [],
        shape=array.shape,
        dtype=dtype,
        device=device,
        value=array,
    )


def arg(name: str, index: int, shape: Any = (), dtype: DType = dtypes.float32) -> Node:
    """A feed."""
    return node(name, "_Arg", shape=shape, dtype=dtype, index=index)


def retval(of: str, index: int, dtype: DType = dtypes.float32) -> Node:
    """A fetch."""
    return node(f"fetch{index}", "_Retval", [of], dtype=dtype, outputs=0, index=index)


def graph(*nodes: Node, functions: Mapping[str, FunctionIR] | None = None) -> GraphIR:
    """A graph of nodes, given in topological order."""
    return GraphIR({n.name: n for n in nodes}, dict(functions or {}))


def function(
    name: str, args: Sequence[str], nodes: Sequence[Node], returns: Sequence[str]
) -> FunctionIR:
    """A function over float32 scalars."""
    keys = []
    for text in returns:
        producer, _, index = text.partition(":")
        keys.append((producer, int(index or 0)))
    types = {n.name: n.output_types[0] for n in nodes if n.output_types}
    return FunctionIR(
        name,
        tuple(args),
        (dtypes.float32,) * len(args),
        tuple(f"out{i}" for i in range(len(keys))),
        tuple(types.get(k[0], dtypes.float32) for k in keys),
        {n.name: n for n in nodes},
        tuple(keys),
    )


def make_worker(cpus: int = 1) -> Worker:
    """A worker with a session named "s"."""
    worker = Worker(TASK, make_devices(TASK, {"CPU": cpus, "GPU": 0}))
    worker.create_session("s", DEFAULT)
    return worker


def register(ir: GraphIR, cpus: int = 1) -> RegisteredGraph:
    """Compiles a graph on a fresh worker."""
    return make_worker(cpus).register_graph("s", ir, DEFAULT)


# --- ops of the tests ---------------------------------------------------------

GATES: dict[str, threading.Event] = {}


def _register_ops() -> None:
    if op_registry.find("TestWait") is not None:
        return
    unary = {"inputs": ["x: T"], "outputs": ["y: T"], "attrs": ["T: type"]}
    op_registry.register_op("TestFail", shape_fn=unchanged_shape, **unary)
    op_registry.register_op("TestOpen", shape_fn=unchanged_shape, **unary)
    op_registry.register_op("TestWait", shape_fn=unchanged_shape, **unary)
    op_registry.register_op("TestTwice", shape_fn=unknown_shapes, **unary)

    @host_kernel("TestFail", large=True)
    def fail(c: OpKernelConstruction) -> Compute:
        def compute(x: Any) -> Any:
            raise errors.OutOfRangeError(None, None, "the test's own failure")

        return compute

    @host_kernel("TestOpen")
    def open_gate(c: OpKernelConstruction) -> Compute:
        def compute(x: Any) -> Any:
            GATES[c["gate"]].set()
            return x

        return compute

    @host_kernel("TestWait", blocking=True, context=True)
    def wait_gate(c: OpKernelConstruction) -> Compute:
        def compute(context: Any, x: Any) -> Any:
            gate = GATES[c["gate"]]
            token = context.cancellation.register(gate.set)
            if token is None:
                context.cancellation.check()
            gate.wait(30)
            if token is not None:
                context.cancellation.deregister(token)
            context.cancellation.check()
            return x

        return compute


_register_ops()
