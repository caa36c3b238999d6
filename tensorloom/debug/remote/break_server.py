"""Hears of the values where a stepper's workers elsewhere wait, and answers."""

from __future__ import annotations

import json
import secrets
import socket
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tensorloom.debug.dumps.debug_graph import parse_node_or_tensor_name
from tensorloom.debug.dumps.event_files import load_tensor_from_event
from tensorloom.debug.remote.event_server import (
    EventListenerBaseServicer,
    EventListenerBaseStreamHandler,
)
from tensorloom.framework.debug.publishers import DebugNodeKey, Watched
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_proto import encode_tensor
from tensorloom.protos.debug_service_pb2 import EventReply
from tensorloom.transport.grpc.debug_events import PATH_HEADER
from tensorloom.transport.peers import host_port

_ANY_PORT: Final = 9  # of a datagram that is never sent


class BreakServer(EventListenerBaseServicer):
    """A debug server whose values wait for an answer."""

    def __init__(self, on_value: Callable[[Watched], Any], target: str) -> None:
        """Listens where the tasks of a session reach it.

        Args:
          on_value: what a value is replaced by, or None.
          target: of the session, `grpc://host:port`.
        """
        host = _own_host(target)
        super().__init__(0, lambda: _Values(on_value), host_port.join(host, 0)[:-2])
        # The calls are not encrypted; who does not know the path changes nothing.
        self._path = secrets.token_urlsafe(16)
        self.run_server(blocking=False)
        self.url = f"grpc://{host_port.join(host, self.port)}/{self._path}"

    def SendEvents(self, request_iterator: Any, context: Any) -> Any:
        """As the base class, for who knows the path."""
        if dict(context.invocation_metadata()).get(PATH_HEADER) != self._path:
            import grpc

            context.abort(grpc.StatusCode.PERMISSION_DENIED, "The path is wrong")
        yield from super().SendEvents(request_iterator, context)

    def close(self) -> None:
        """Ends the server, and steps that wait for it."""
        self.stop_server(0.0).wait()


class _Values(EventListenerBaseStreamHandler):
    def __init__(self, on_value: Callable[[Watched], Any]) -> None:
        self._on_value = on_value

    def on_core_metadata_event(self, event: Any) -> None:
        """Says nothing."""

    def on_graph_def(self, graph_def: Any, device_name: Any, wall_time: int) -> None:
        """Says nothing."""

    def on_value_event(self, event: Any) -> Any:
        """What the stepper answers."""
        answer = self._on_value(_watched(event))
        reply = EventReply()
        if answer is not None:
            encode_tensor(np.asarray(answer), proto=reply.tensor)
        return reply


def _watched(event: Any) -> Watched:
    value = event.summary.value[0]
    facts = json.loads(value.metadata.plugin_data.content)
    tensor, _, op = value.node_name.rpartition(":")
    node, slot = parse_node_or_tensor_name(tensor)
    array = load_tensor_from_event(event)
    return Watched(
        DebugNodeKey(facts["device"], node, slot or 0, op),
        array if array.ndim else array[()],
        dtypes.as_dtype(value.tensor.dtype),
        int(event.wall_time),
        tuple((name, number) for name, number in facts.get("frames", ())),
    )


def _own_host(target: str) -> str:
    """The address of this machine that a master sees."""
    host, port = host_port.parse(target.partition("://")[2])
    if host_port.is_loopback(host):
        return "127.0.0.1"
    family, _, _, _, address = socket.getaddrinfo(host, port or _ANY_PORT)[0]
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect(address)
        return str(probe.getsockname()[0])
