"""EventListener as gRPC's generator would write it: a stub, and how it is served."""

from __future__ import annotations

from typing import Any

from tensorloom.protos.debug_pb2 import DebuggedSourceFiles
from tensorloom.protos.debug_service_pb2 import CallTraceback, EventReply
from tensorloom.protos.event_pb2 import Event
from tensorloom.transport.grpc.debug_events import SERVICE


class EventListenerStub:
    """The calls to a debug server, as attributes."""

    def __init__(self, channel: Any) -> None:
        """Makes the calls over a `grpc.Channel`."""
        reply = EventReply.FromString
        self.SendEvents = channel.stream_stream(
            f"/{SERVICE}/SendEvents", Event.SerializeToString, reply
        )
        self.SendTracebacks = channel.unary_unary(
            f"/{SERVICE}/SendTracebacks", CallTraceback.SerializeToString, reply
        )
        self.SendSourceFiles = channel.unary_unary(
            f"/{SERVICE}/SendSourceFiles", DebuggedSourceFiles.SerializeToString, reply
        )


class EventListenerServicer:
    """A debug server that does nothing: a program overrides what it wants."""

    def SendEvents(self, request_iterator: Any, context: Any) -> Any:
        """Answers a stream of `Event`s by one of `EventReply`s."""
        _refuse(context)

    def SendTracebacks(self, request: Any, context: Any) -> Any:
        """Answers a `CallTraceback` by an `EventReply`."""
        _refuse(context)

    def SendSourceFiles(self, request: Any, context: Any) -> Any:
        """Answers `DebuggedSourceFiles` by an `EventReply`."""
        _refuse(context)


def _refuse(context: Any) -> None:
    import grpc

    context.abort(grpc.StatusCode.UNIMPLEMENTED, "Method not implemented!")


def add_EventListenerServicer_to_server(servicer: Any, server: Any) -> None:
    """Has a `grpc.Server` serve the calls."""
    import grpc

    def unary(function: Any, request: Any) -> Any:
        return grpc.unary_unary_rpc_method_handler(
            function, request.FromString, EventReply.SerializeToString
        )

    events = grpc.stream_stream_rpc_method_handler(
        servicer.SendEvents, Event.FromString, EventReply.SerializeToString
    )
    handlers = {
        "SendEvents": events,
        "SendTracebacks": unary(servicer.SendTracebacks, CallTraceback),
        "SendSourceFiles": unary(servicer.SendSourceFiles, DebuggedSourceFiles),
    }
    server.add_generic_rpc_handlers(
        [grpc.method_handlers_generic_handler(SERVICE, handlers)]
    )
