"""`grpc://` debug URLs: events to a debug server, by TensorFlow's EventListener calls.

    grpc://host:port/path

What one run publishes goes over one stream. The server answers each graph and what the
run was asked for, and a value where the step waits for the answer; it can say then
which gated watches it wants to hear of.
"""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.framework.debug import events
from tensorloom.framework.debug.publishers import (
    DebugNodeKey,
    register_publisher,
    wall_time_us,
)
from tensorloom.framework.types.tensor_proto import decode_tensor

if TYPE_CHECKING:
    from tensorloom.framework.debug.publishers import Watched

SERVICE: Final = "tensorflow.EventListener"
#: Beside a call of ours: the path of the URL, which not everybody knows.
PATH_HEADER: Final = "tensorloom-debug-path"
_MAX_CONTENT: Final = 4000 * 1024  # bytes of a tensor or graph in one message
_CONNECT_S: Final = 60.0
_WAITS: Final = "_DebugBreak"
OPTIONS: Final = [
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
]


class _Stream:
    """The events of one run to one URL. One thread at a time writes and reads."""

    def __init__(self, url: str) -> None:
        import grpc

        from tensorloom.protos.debug_service_pb2 import EventReply
        from tensorloom.protos.event_pb2 import Event

        address, _, path = url.partition("://")[2].partition("/")
        self.lock = threading.RLock()
        self._outgoing: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._channel = grpc.insecure_channel(address, options=OPTIONS)
        try:
            grpc.channel_ready_future(self._channel).result(timeout=_CONNECT_S)
        except grpc.FutureTimeoutError:
            self._channel.close()
            raise errors.FailedPreconditionError(
                None,
                None,
                f"Failed to connect to gRPC channel at {address} within a timeout of "
                f"{_CONNECT_S:g} s.",
            ) from None
        call = self._channel.stream_stream(
            f"/{SERVICE}/SendEvents",
            request_serializer=Event.SerializeToString,
            response_deserializer=EventReply.FromString,
        )
        self._url = url
        self._replies = call(self._events(), metadata=((PATH_HEADER, path),))

    def _events(self) -> Iterator[Any]:
        while (event := self._outgoing.get()) is not None:
            yield event

    def write(self, event: Any) -> None:
        """Sends an event."""
        self._outgoing.put(event)

    def read(self) -> Any:
        """Waits for a reply.

        Raises:
          errors.CancelledError: the server has ended the stream.
        """
        import grpc

        try:
            return next(self._replies)
        except (StopIteration, grpc.RpcError) as error:
            why = error.details() if isinstance(error, grpc.RpcError) else "it is over"
            raise errors.CancelledError(
                None, None, f"The debug server at {self._url} gave no answer: {why}"
            ) from None

    def close(self) -> list[Any]:
        """Ends the stream; what the server still had to say."""
        import grpc

        self._outgoing.put(None)
        left: list[Any] = []
        with suppress(grpc.RpcError):  # whoever waited for a reply was told before
            left.extend(self._replies)
        self._channel.close()
        return left


class GrpcEvents:
    """Sends events. Implements `Publisher`."""

    def __init__(self) -> None:
        self._streams: dict[str, _Stream] = {}
        # By URL the watches that the server wants, and whether it answers them.
        self._wanted: dict[str, dict[str, bool]] = {}
        self._lock = threading.Lock()

    def tensor(self, url: str, watched: Watched) -> Any:
        """Sends a value; where the step waits at it, what the server answers."""
        key = watched.key
        waits = key.debug_op == _WAITS
        waits |= self._wanted.get(url, {}).get(key.watch_key, False)
        stream = self._stream(url)
        with stream.lock:
            for event in events.tensor_events(watched, _MAX_CONTENT):
                stream.write(event)
            reply = self._noted(url, stream.read()) if waits else None
        if reply is None or not reply.HasField("tensor"):
            return None
        value = decode_tensor(reply.tensor)
        return value if value.ndim or value.dtype == object else value[()]

    def graph(self, url: str, device_name: str, graph_def: bytes) -> None:
        """Sends a device's graph, in parts if it is large."""
        now, stream = wall_time_us(), self._stream(url)
        count = max(1, -(-len(graph_def) // _MAX_CONTENT))
        head = f"{hash(graph_def) & (2**64 - 1)},{device_name},{now}"
        with stream.lock:
            for index in range(count):
                part = graph_def[index * _MAX_CONTENT : (index + 1) * _MAX_CONTENT]
                prefix = f"{head}|{index}|{count}|".encode()
                stream.write(events.graph_event(prefix + part, now))
            self._noted(url, stream.read())

    def metadata(self, url: str, message: str) -> None:
        """Sends what the step was asked for."""
        path = url.partition("://")[2].partition("/")
        facts = {**json.loads(message), "grpc_path": path[1] + path[2]}
        stream = self._stream(url)
        with stream.lock:
            stream.write(events.metadata_event(json.dumps(facts), wall_time_us()))
            self._noted(url, stream.read())

    def is_open(self, url: str, key: DebugNodeKey) -> bool:
        """Whether the server has asked for a gated watch."""
        return key.watch_key in self._wanted.get(url, {})

    def reset_usage(self) -> None:
        """There is no limit."""

    def close(self, url: str) -> None:
        """The run is over: so is its stream."""
        with self._lock:
            stream = self._streams.pop(url, None)
        if stream is not None:
            with stream.lock:
                for reply in stream.close():
                    self._noted(url, reply)

    def _stream(self, url: str) -> _Stream:
        with self._lock:
            stream = self._streams.get(url)
            if stream is None:
                stream = self._streams[url] = _Stream(url)
            return stream

    def _noted(self, url: str, reply: Any) -> Any:
        """A reply, after what it says of gated watches was noted."""
        change = reply.DebugOpStateChange
        for said in reply.debug_op_state_changes:
            key = f"{said.node_name}:{said.output_slot}:{said.debug_op}"
            wanted = self._wanted.setdefault(url, {})
            if said.state == change.DISABLED:
                wanted.pop(key, None)
            elif said.state != change.STATE_UNSPECIFIED:
                wanted[key] = said.state == change.READ_WRITE
        return reply


register_publisher("grpc", GrpcEvents())
