"""The server of `grpc://` debug URLs, to be subclassed: TensorFlow's EventListener.

class Streams(EventListenerBaseStreamHandler):
    def on_value_event(self, event): ...

server = EventListenerBaseServicer(6064, Streams)
server.run_server(blocking=False)
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from concurrent import futures
from queue import Empty, SimpleQueue
from typing import Any, Final, NamedTuple

from tensorloom.debug.dumps.debug_graph import is_debug_node, parse_debug_node_name
from tensorloom.debug.remote.event_stubs import add_EventListenerServicer_to_server
from tensorloom.protos.debug_service_pb2 import EventReply
from tensorloom.protos.graph_pb2 import GraphDef
from tensorloom.transport.grpc.debug_events import OPTIONS

_THREADS: Final = 10


class DebugWatch(NamedTuple):
    """A watch of a debugged graph."""

    node_name: str
    output_slot: int
    debug_op: str


class EventListenerBaseStreamHandler:
    """What hears of one run; one is made for each stream."""

    def on_core_metadata_event(self, event: Any) -> Any:
        """Is told what the run was asked for; an `EventReply`, or None."""
        raise NotImplementedError(
            "on_core_metadata_event() is not implemented in the base servicer class"
        )

    def on_graph_def(self, graph_def: Any, device_name: Any, wall_time: int) -> Any:
        """Is told the graph of a device; an `EventReply`, or None."""
        raise NotImplementedError(
            "on_graph_def() is not implemented in the base servicer class"
        )

    def on_value_event(self, event: Any) -> Any:
        """Is told a value; an `EventReply` where the step waits for it, else None."""
        raise NotImplementedError(
            "on_value_event() is not implemented in the base servicer class"
        )


class EventListenerBaseServicer:
    """Serves the calls, and keeps which gated watches are wanted."""

    def __init__(
        self,
        server_port: int,
        stream_handler_class: Callable[[], Any],
        host: str = "[::]",
    ) -> None:
        """Makes a server; `run_server` begins to listen.

        Args:
          server_port: 0 for a free one; `port` says which after `run_server`.
          stream_handler_class: makes the handler of a stream.
          host: the address to listen at; all interfaces, as TensorFlow's.
        """
        self._host = host
        self.port = server_port
        self._stream_handler_class = stream_handler_class
        self._lock = threading.Lock()
        self._is_started = self._is_stopping = False
        self._stopped = threading.Event()
        self._changes: SimpleQueue[Any] = SimpleQueue()
        self._watches: set[DebugWatch] = set()
        self._breakpoints: set[tuple[str, int, str]] = set()
        self.server: Any = None

    # --- calls -----------------------------------------------------------------------

    def SendEvents(
        self, request_iterator: Iterator[Any], context: Any
    ) -> Iterator[Any]:
        """One run: events in, replies out.

        Raises:
          ValueError: the run says twice what it was asked for.
        """
        handler = self._stream_handler_class()
        parts: dict[Any, dict[int, bytes]] = {}
        has_metadata = False
        for event in request_iterator:
            if event.summary.value:
                whole = _whole_value(event, parts)
                reply = None if whole is None else handler.on_value_event(whole)
                if reply is not None:
                    yield self._with_changes(reply)
            elif event.graph_def:
                found = _whole_graph(event.graph_def, parts)
                if found is not None:
                    self._note_watches(found[0])
                    yield self._with_changes(handler.on_graph_def(*found))
            elif event.log_message.message:
                if has_metadata:
                    raise ValueError(
                        "Expected one core metadata event; received multiple"
                    )
                has_metadata = True
                yield self._with_changes(handler.on_core_metadata_event(event))

    def SendTracebacks(self, request: Any, context: Any) -> Any:
        """Takes a `CallTraceback`; does nothing with it."""
        return EventReply()

    def SendSourceFiles(self, request: Any, context: Any) -> Any:
        """Takes `DebuggedSourceFiles`; does nothing with them."""
        return EventReply()

    def _with_changes(self, reply: Any) -> Any:
        """A reply that also says which gated watches are wanted since the last one."""
        reply = EventReply() if reply is None else reply
        states = EventReply.DebugOpStateChange
        while True:
            try:
                change = self._changes.get_nowait()
            except Empty:
                return reply
            key = change.node_name, change.output_slot, change.debug_op
            if change.state == states.READ_WRITE:
                self._breakpoints.add(key)
            else:
                self._breakpoints.discard(key)
            reply.debug_op_state_changes.add().CopyFrom(change)

    def _note_watches(self, graph_def: Any) -> None:
        for node in graph_def.node:
            if is_debug_node(node.name) and node.attr["gated_grpc"].b:
                name, slot, _, op = parse_debug_node_name(node.name)
                self._watches.add(DebugWatch(name, slot, op))

    # --- watches ---------------------------------------------------------------------

    def request_watch(
        self, node_name: str, output_slot: int, debug_op: str, breakpoint: bool = False
    ) -> None:
        """Asks for the values of a gated watch, from the next reply on.

        Args:
          breakpoint: whether the step waits at them for what `on_value_event` gives.
        """
        states = EventReply.DebugOpStateChange
        state = states.READ_WRITE if breakpoint else states.READ_ONLY
        self._change(state, node_name, output_slot, debug_op)

    def request_unwatch(self, node_name: str, output_slot: int, debug_op: str) -> None:
        """Asks for them no more."""
        state = EventReply.DebugOpStateChange.DISABLED
        self._change(state, node_name, output_slot, debug_op)

    def _change(self, state: Any, node: str, slot: int, op: str) -> None:
        self._changes.put(
            EventReply.DebugOpStateChange(
                state=state, node_name=node, output_slot=slot, debug_op=op
            )
        )

    @property
    def breakpoints(self) -> set[tuple[str, int, str]]:
        """Where steps wait: (node, output, debug op)."""
        return self._breakpoints

    def gated_grpc_debug_watches(self) -> list[DebugWatch]:
        """The gated watches of the graphs that came."""
        return list(self._watches)

    # --- the server ------------------------------------------------------------------

    def run_server(self, blocking: bool = True) -> None:
        """Listens; with `blocking` until `stop_server` is called elsewhere.

        Raises:
          ValueError: it was started or stopped before; the port is taken.
        """
        with self._lock:
            if self._is_stopping:
                raise ValueError("Server has already stopped")
            if self._is_started:
                raise ValueError("Server has already started running")
            self._start()
            self._is_started = True
        if blocking:
            self._stopped.wait()

    def _start(self) -> None:
        import grpc

        self.server = grpc.server(futures.ThreadPoolExecutor(_THREADS), options=OPTIONS)
        add_EventListenerServicer_to_server(self, self.server)
        try:
            port = self.server.add_insecure_port(f"{self._host}:{self.port}")
        except RuntimeError:
            port = 0
        if not port:
            raise ValueError(f"{self._host}:{self.port} cannot be listened at")
        self.port = port
        self.server.start()

    def stop_server(self, grace: float = 1.0) -> threading.Event:
        """Stops; returns an event that is set once it has.

        Raises:
          ValueError: it does not run.
        """
        with self._lock:
            if not self._is_started:
                raise ValueError("Server has not started running")
            if self._is_stopping:
                raise ValueError("Server has already stopped")
            self._is_stopping = True
        self._stopped.set()
        stopped: threading.Event = self.server.stop(grace=grace)
        return stopped


def _whole_value(event: Any, parts: dict[Any, dict[int, bytes]]) -> Any:
    """The event of a value once all its parts are there; None before."""
    value = event.summary.value[0]
    facts = json.loads(value.metadata.plugin_data.content or b"{}")
    count = facts.get("numChunks", 1)
    if count <= 1:
        return event
    key = facts["device"], value.node_name, event.wall_time
    held = parts.setdefault(key, {})
    held[facts["chunkIndex"]] = value.tensor.tensor_content
    if len(held) < count:
        return None
    value.tensor.tensor_content = b"".join(held[i] for i in range(count))
    del parts[key]
    return event


def _whole_graph(
    content: bytes, parts: dict[Any, dict[int, bytes]]
) -> tuple[Any, bytes, int] | None:
    """(graph, device, time) once all its parts are there; None before."""
    head, index, count, rest = content.split(b"|", 3)
    held = parts.setdefault(head, {})
    held[int(index)] = rest
    if len(held) < int(count):
        return None
    del parts[head]
    _, device, wall_time = head.split(b",", 2)
    graph = GraphDef.FromString(b"".join(held[i] for i in range(int(count))))
    return graph, device, int(wall_time)
