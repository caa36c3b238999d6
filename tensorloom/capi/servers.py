"""Servers, and listeners of the log."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Final

from tensorloom.cluster.server import Server
from tensorloom.framework.errors import invalid_argument

_LOGGERS: Final = ("tensorflow", "tensorloom")


def parsed_server_def(serialized: bytes) -> Any:
    """The ServerDef that the bytes are.

    Raises:
      InvalidArgumentError: they are none.
    """
    from google.protobuf.message import DecodeError

    from tensorloom.protos.tensorflow_server_pb2 import ServerDef

    try:
        return ServerDef.FromString(serialized)
    except DecodeError:
        raise invalid_argument(
            "Could not parse provided bytes into a ServerDef protocol buffer"
        ) from None


def new_server(serialized: bytes) -> tuple[Server, str]:
    """A task of a serialized ServerDef, which does not answer yet, and its target.

    Raises:
      InvalidArgumentError: the bytes are no ServerDef, or it names no task of its
        cluster.
      errors.OpError: the address cannot be listened on.
    """
    server = Server(parsed_server_def(serialized), start=False)
    return server, server.target


def start(server: Server) -> None:
    """Begins to answer.

    Raises:
      errors.FailedPreconditionError: the server was stopped.
    """
    server.start()


def stop(server: Server) -> None:
    """Ends the task."""
    server.stop()


def join(server: Server) -> None:
    """Waits until the server is stopped."""
    server.join()


class _Listener(logging.Handler):
    """Hands lines of the log to a function."""

    def __init__(self, listener: Callable[[str], None]) -> None:
        super().__init__()
        self._listener = listener

    def emit(self, record: logging.LogRecord) -> None:
        """Hands one line on."""
        self._listener(self.format(record))


def listen_to_log(listener: Callable[[str], None]) -> None:
    """Calls a function with each line of the log from now on."""
    handler = _Listener(listener)
    for name in _LOGGERS:
        logging.getLogger(name).addHandler(handler)
