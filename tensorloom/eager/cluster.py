"""The cluster that a context has joined: its other tasks, and steps on them.

A context is a task of the cluster itself, with a server. An op on another task's device
is a step of one session at that server's master: what is here is fed, and results stay
where they are, in the session's store of tensors (`GetSessionHandle`), until nobody has
a handle of them.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.cluster.remote import make_remote_master
from tensorloom.cluster.server import Server
from tensorloom.devices.device import make_devices
from tensorloom.eager.remote_device import RemoteDevice
from tensorloom.framework import errors
from tensorloom.framework.graph.graph_ir import GraphIR, Node
from tensorloom.framework.interfaces import StepSignature
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.devices.device import Device
    from tensorloom.eager.remote_handle import RemoteTensor
    from tensorloom.eager.tensor_handle import TensorHandle
    from tensorloom.framework.graph.graph_ir import Edge, FunctionIR
    from tensorloom.framework.interfaces import PreparedStep
    from tensorloom.framework.runtime.session_config import SessionConfig


@dataclass
class StepNodes:
    """What a step adds to the graph of the session, and what it feeds and fetches."""

    prefix: str  # of the names of its nodes
    nodes: dict[str, Node] = field(default_factory=dict)
    feeds: list[str] = field(default_factory=list)
    fetches: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)

    def add(
        self,
        op: str,
        device: str,
        inputs: Sequence[Edge],
        attrs: dict[str, Any],
        types: Sequence[dtypes.DType],
    ) -> Edge:
        """Adds a node; its first output."""
        name = f"{self.prefix}/{len(self.nodes)}"
        node = Node(name, op, tuple(inputs), (), device, attrs, tuple(types))
        self.nodes[name] = node
        return name, 0

    def feed(self, dtype: dtypes.DType, device: str) -> Edge:
        """A value that each run gives."""
        attrs = {"dtype": dtype, "shape": TensorShape(None)}
        edge = self.add("Placeholder", device, [], attrs, [dtype])
        self.feeds.append(f"{edge[0]}:0")
        return edge

    def stored(self, dtype: dtypes.DType, device: str) -> Edge:
        """A tensor of a task's store, whose key each run gives."""
        key = self.feed(dtypes.string, device)
        return self.add("GetSessionTensor", device, [key], {"dtype": dtype}, [dtype])

    def store(self, edge: Edge, dtype: dtypes.DType, device: str) -> None:
        """Keeps a tensor on its task; fetches the key, and the sizes."""
        key = self.add(
            "GetSessionHandle", device, [edge], {"T": dtype}, [dtypes.string]
        )
        attrs = {"T": dtype, "out_type": dtypes.int64}
        sizes = self.add("Shape", device, [edge], attrs, [dtypes.int64])
        self.fetches += [f"{key[0]}:0", f"{sizes[0]}:0"]


class Cluster:
    """The session of a context at its own server. Many threads may use it."""

    def __init__(
        self,
        server_def: Any,
        config: SessionConfig,
        keep: Callable[[TensorHandle, RemoteDevice], TensorHandle],
    ) -> None:
        """Starts the context's own server, and asks the other tasks for their devices.

        Args:
          server_def: a `ServerDef`; its task is the context.
          config: of the session; it says how long tasks are waited for.
          keep: sends a value to a device of another task.

        Raises:
          errors.InvalidArgumentError: its task is not in its cluster.
          errors.UnknownError: the address cannot be listened on.
          errors.OpError: another task cannot be reached.
        """
        self._server = Server(server_def)
        own = self._server.server_def
        self.task = f"/job:{own.job_name}/replica:0/task:{own.task_index}"
        self.dead_tensors: list[tuple[bytes, Device]] = []
        self._steps: dict[Hashable, PreparedStep] = {}
        self._functions: set[str] = set()
        self._numbers = itertools.count()
        self._lock = threading.RLock()
        self._is_closed = False
        try:
            self._master = make_remote_master(self._server.target, config)
            self._session = self._master.create_session(GraphIR(), config)
            known = self._master.list_devices(self._session)
        except BaseException:
            self._server.stop()
            raise
        self.local_devices = make_devices(
            self.task, config.device_count, config.device_options()
        )
        self.cpu = self.local_devices[0]
        self.remote_devices = [
            RemoteDevice(info, keep)
            for info in known
            if not info.name.startswith(f"{self.task}/")
        ]

    def step(
        self,
        key: Hashable,
        build: Callable[[StepNodes], None],
        functions: Mapping[str, FunctionIR] | None = None,
    ) -> PreparedStep:
        """A step, prepared once for each key.

        Args:
          key: tells it from others.
          build: adds its nodes, the first time.
          functions: those that the nodes call.

        Raises:
          errors.CancelledError: the context was closed, or has joined another cluster.
          errors.OpError: the step cannot be prepared.
        """
        step = self._steps.get(key)
        if step is not None:
            return step
        with self._lock:
            if self._is_closed:
                raise errors.CancelledError(
                    None, None, "The eager context has left the cluster."
                )
            step = self._steps.get(key)
            if step is None:
                nodes = StepNodes(f"step_{next(self._numbers)}")
                build(nodes)
                added = {
                    name: function
                    for name, function in (functions or {}).items()
                    if name not in self._functions
                }
                self._master.extend_session(self._session, GraphIR(nodes.nodes, added))
                self._functions.update(added)
                signature = StepSignature(
                    tuple(nodes.feeds), tuple(nodes.fetches), tuple(nodes.targets)
                )
                step = self._master.prepare_step(self._session, signature)
                self._steps[key] = step
        return step

    def fetched(self, tensor: RemoteTensor, dtype: dtypes.DType) -> Any:
        """A tensor of another task as a value here.

        Raises:
          errors.OpError: the task cannot be reached.
        """

        def build(nodes: StepNodes) -> None:
            name, index = nodes.stored(dtype, tensor.device.name)
            nodes.fetches.append(f"{name}:{index}")

        step = self.step(("fetch", tensor.device.name, dtype), build)
        (value,) = step.run([key_value(tensor.key)])
        return value

    def drop_dead_tensors(self) -> None:
        """Has other tasks drop the tensors that nobody has a handle of any more."""

        def build(nodes: StepNodes) -> None:
            key = nodes.feed(dtypes.string, device.name)
            name, _ = nodes.add("DeleteSessionTensor", device.name, [key], {}, [])
            nodes.targets.append(name)

        while self.dead_tensors:
            try:
                key, device = self.dead_tensors.pop()
            except IndexError:  # another thread's
                return
            with suppress(errors.OpError):  # with the task its tensors are gone
                self.step(("drop", device.name), build).run([key_value(key)])

    def close(self) -> None:
        """Leaves the cluster: its tasks drop what they kept, and the server ends."""
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            self._steps.clear()
        with suppress(errors.OpError):
            self._master.close_session(self._session)
        self._server.stop()


def key_value(key: bytes) -> Any:
    """The key of a tensor as what a step is fed."""
    return np.array(key, dtype=object)
