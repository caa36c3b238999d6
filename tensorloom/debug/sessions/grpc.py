"""Sessions that send their runs to debug servers, such as TensorBoard's debugger."""

from __future__ import annotations

import os
import socket
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from tensorloom.debug.run_keys import GRPC_URL_PREFIX, get_run_key
from tensorloom.debug.sessions.requests import WatchOptions
from tensorloom.debug.sessions.wrapper import NonInteractiveDebugWrapperSession

_PACKAGE: Final = str(Path(__file__).resolve().parents[2])


def grpc_urls(addresses: Any) -> list[str]:
    """Addresses as URLs: `host:port`, with `grpc://` before it or not, one or several.

    Raises:
      TypeError: it is neither a text nor a list of texts.
    """
    listed = [addresses] if isinstance(addresses, str) else addresses
    if not isinstance(listed, list):
        raise TypeError(
            "Expected type str or list in grpc_debug_server_addresses, received type "
            f"{type(addresses)}"
        )
    for address in listed:
        if not isinstance(address, str):
            raise TypeError(
                "Expected type str in list grpc_debug_server_addresses, received type "
                f"{type(address)}"
            )
    return [a if a.startswith(GRPC_URL_PREFIX) else GRPC_URL_PREFIX + a for a in listed]


class GrpcDebugWrapperSession(NonInteractiveDebugWrapperSession):
    """Sends what is watched in each run to debug servers."""

    def __init__(
        self,
        sess: Any,
        grpc_debug_server_addresses: Any,
        watch_fn: Any = None,
        thread_name_filter: str | None = None,
        log_usage: bool = True,
    ) -> None:
        """Wraps a session.

        Args:
          grpc_debug_server_addresses: see `grpc_urls`.
          log_usage: no usage is logged.
          sess, watch_fn, thread_name_filter: as for
            `NonInteractiveDebugWrapperSession`.

        Raises:
          TypeError: as `grpc_urls`.
        """
        super().__init__(sess, watch_fn, thread_name_filter)
        self._urls = grpc_urls(grpc_debug_server_addresses)

    def prepare_run_debug_urls(self, fetches: Any, feed_dict: Any) -> list[str]:
        """The servers."""
        return self._urls


def gated_watches(fetches: Any, feeds: Any) -> WatchOptions:
    """All tensors, where the server asks for them."""
    return WatchOptions(debug_ops=["DebugIdentity(gated_grpc=true)"])


class TensorBoardDebugWrapperSession(GrpcDebugWrapperSession):
    """Sends what TensorBoard's debugger asks for, and the program's source."""

    def __init__(
        self,
        sess: Any,
        grpc_debug_server_addresses: Any,
        thread_name_filter: str | None = None,
        send_traceback_and_source_code: bool = True,
        log_usage: bool = True,
    ) -> None:
        """Wraps a session.

        Args:
          send_traceback_and_source_code: whether the servers get the program's source,
            and the lines that made each node. The rest as for
            `GrpcDebugWrapperSession`.
        """
        super().__init__(
            sess,
            grpc_debug_server_addresses,
            gated_watches,
            thread_name_filter,
            log_usage,
        )
        self._sender = (
            TracebackSender(grpc_debug_server_addresses)
            if send_traceback_and_source_code
            else None
        )

    def run(self, fetches: Any, feed_dict: Any = None, *rest: Any, **named: Any) -> Any:
        """As `BaseDebugWrapperSession.run`, after the program's source."""
        if self._sender is not None:
            self._sender.send(self.graph, feed_dict, fetches)
        return super().run(fetches, feed_dict, *rest, **named)


class TracebackSender:
    """Sends debug servers the source of a program whenever its graph has grown."""

    def __init__(self, addresses: Any) -> None:
        self._urls = grpc_urls(addresses)
        self._version = -1

    def send(self, graph: Any, feed_dict: Any, fetches: Any) -> None:
        """Sends where the nodes of a graph were made, and those files.

        Raises:
          errors.FailedPreconditionError: a server cannot be reached.
        """
        if graph.version <= self._version:
            return
        self._version = graph.version
        stack = traceback.extract_stack()[:-1]
        _send_calls(self._urls, get_run_key(feed_dict, fetches), stack, graph, True)


def send_graph_tracebacks(
    destinations: Any,
    run_key: str,
    origin_stack: Iterable[Any],
    graph: Any,
    send_source: bool = True,
) -> None:
    """Sends debug servers where a step was run and its nodes were made.

    Args:
      destinations: `host:port`, or several; `grpc://` may be before each.
      run_key: names feeds and fetches, see `get_run_key`.
      origin_stack: of the call of `Session.run`, as `traceback.extract_stack` gives it.
      graph: its nodes.
      send_source: whether the program's files are sent, too.

    Raises:
      errors.FailedPreconditionError: a server cannot be reached.
    """
    _send_calls(grpc_urls(destinations), run_key, origin_stack, graph, send_source)


def send_eager_tracebacks(
    destinations: Any, origin_stack: Iterable[Any], send_source: bool = True
) -> None:
    """Sends debug servers where an operation was run eagerly.

    Args:
      destinations, origin_stack, send_source: see `send_graph_tracebacks`.

    Raises:
      errors.FailedPreconditionError: a server cannot be reached.
    """
    _send_calls(grpc_urls(destinations), None, origin_stack, None, send_source)


def _send_calls(
    urls: Iterable[str],
    run_key: str | None,
    stack: Iterable[Any],
    graph: Any,
    with_source: bool,
) -> None:
    """Sends a step's stack and graph; those of an eager operation if both are None."""
    told = _traceback(graph, run_key, stack)
    files: list[tuple[str, str]] = []
    if with_source:
        files += _files(told.origin_id_to_string.values())
        files += _files(told.graph_traceback.id_to_string.values())
    for url in urls:
        _send(url, told, dict(files))


def _traceback(graph: Any, run_key: str | None, stack: Iterable[Any]) -> Any:
    from tensorloom.profiler.op_log import complete_op_log
    from tensorloom.protos.config_pb2 import RunMetadata
    from tensorloom.protos.debug_service_pb2 import CallTraceback

    told = CallTraceback(call_type=CallTraceback.EAGER_EXECUTION)
    if graph is not None:
        told = CallTraceback(
            call_type=CallTraceback.GRAPH_EXECUTION,
            call_key=run_key or "",
            graph_traceback=complete_op_log(graph, run_meta=RunMetadata()),
            graph_version=graph.version,
        )
    numbers: dict[str, int] = {"": 0}
    for path, number, name, text in (tuple(frame)[:4] for frame in stack):
        texts = path, name, text or ""
        file, function, line = (numbers.setdefault(t, len(numbers)) for t in texts)
        told.origin_stack.traces.add(
            file_id=file, lineno=number or 0, function_id=function, line_id=line
        )
    for text, number in numbers.items():
        told.origin_id_to_string[number] = text
    return told


def _files(texts: Iterable[str]) -> Iterable[tuple[str, str]]:
    """The program's own files among texts, with what is in them."""
    for text in texts:
        if not text.startswith(_PACKAGE) and os.path.isfile(text):
            yield text, Path(text).read_text(encoding="utf-8", errors="replace")


def _send(url: str, told: Any, files: dict[str, str]) -> None:
    from tensorloom.debug.remote.event_calls import EventCalls
    from tensorloom.protos.debug_pb2 import DebuggedSourceFiles

    with EventCalls(url) as calls:
        calls.send_tracebacks(told)
        for path, text in files.items():
            stat = os.stat(path)
            message = DebuggedSourceFiles()
            message.source_files.add(
                host=socket.gethostname(),
                file_path=path,
                last_modified=stat.st_mtime_ns,
                bytes=stat.st_size,
                lines=text.splitlines(),
            )
            calls.send_source_files(message)
