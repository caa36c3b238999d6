"""Large bodies over UCX: RDMA where the machines have it, else what UCX finds.

Both tasks ask for it, and say so when they greet each other (see `media.Meeting`); who
does not is spoken to on the socket. Each end of a connection has a UCX worker of its
own, so that the thread that waits for a body moves it as well: it sleeps until UCX or
the connection has something to say. With the connection all registered memory goes.

A body is sent in pieces with one tag, straight from the tensors' memory, and received
straight into the body's. The reference says how large they are: a u64 for each.
"""

from __future__ import annotations

import functools
import logging
import os
import secrets
import select
import struct
import threading
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework import errors
from tensorloom.transport import traffic
from tensorloom.transport.memory import left_workers, media
from tensorloom.transport.peers import liveness
from tensorloom.transport.wire.body_memory import new_body

if TYPE_CHECKING:
    import socket

    from tensorloom.transport.wire.packing import Buffer

_logger: Final = logging.getLogger("tensorloom")

#: `TENSORLOOM_TRANSPORT` has this value where UCX is asked for.
NAME: Final = "ucx"
#: Smaller bodies go through the socket: a sender waits until a body is taken.
MIN_BYTES: Final = 1 << 20
# Neighbours that are smaller go together, in a copy.
_COPIED: Final = 64 * 1024
# Larger parts go in several pieces: who waits sees that there is progress.
_PIECE: Final = 64 << 20
_MAX_BODY: Final = 2**40
_TAG: Final = struct.Struct("<Q")
# Another thread may have seen what this one sleeps for.
_LOOK_AGAIN_S: Final = 0.1
# After a hang-up that is left to arrive which is under way.
_LATE_S: Final = 0.5


@functools.cache
def _library() -> Any:
    """The binding of UCX.

    Raises:
      ImportError: it is not installed.
    """
    os.environ.setdefault("UCX_WARN_UNUSED_ENV_VARS", "n")  # set by the binding itself
    try:
        from ucxx._lib import libucxx
    except ImportError as error:
        raise ImportError(
            "UCX is not installed: pip install 'tensorloom[ucx]'"
        ) from error
    return libucxx


@functools.cache
def _array() -> Any:
    """What the binding takes memory as."""
    from ucxx._lib.arr import Array

    return Array


@functools.cache
def _context(tls: str) -> Any:
    library = _library()
    features = library.Feature.TAG, library.Feature.WAKEUP
    return library.UCXContext({"TLS": tls} if tls else {}, feature_flags=features)


class Ucx:
    """Implements `media.Meeting`: it reaches tasks of other machines."""

    def __init__(self, tls: str = "", local: bool = False) -> None:
        """Makes the medium.

        Args:
          tls: UCX's transports, as `UCX_TLS` has them; "": that variable's, or all.
          local: tasks of this machine are reached, too; else shared memory is, which
            is faster.

        Raises:
          ImportError: UCX is not installed.
        """
        _library()
        self._tls = tls
        self._local = local

    def meet(self, connection: socket.socket) -> UcxEnd | None:
        """A worker for a connection's end."""
        import socket

        if connection.family == socket.AF_UNIX and not self._local:
            return None
        try:
            return UcxEnd(_context(self._tls), connection)
        except _library().UCXError as error:
            _logger.warning("UCX has no worker for a connection: %s", error)
            return None


class UcxEnd:
    """One end of a connection: implements `media.End`."""

    way = traffic.UCX

    def __init__(self, context: Any, connection: socket.socket) -> None:
        library = _library()
        self._worker = library.UCXWorker(
            context, enable_delayed_submission=False, enable_python_future=False
        )
        self._worker.init_blocking_progress_mode()
        self._socket = connection
        self._events: int = self._worker.epoll_file_descriptor
        # Held by who calls UCX about this worker.
        self._lock = threading.RLock()
        self._tag = secrets.randbits(64)
        self._endpoint: Any = None
        self._tells_errors = False
        self._peer_tag = 0
        self._sent: list[tuple[Any, Any]] = []  # requests, and their memory
        self._received: list[tuple[Any, Any]] = []

    @property
    def address(self) -> bytes:
        """What the other end must know: the tag that it sends with, and the worker."""
        worker: bytes = self._worker.address.tobytes()
        return _TAG.pack(self._tag) + worker

    def join(self, address: bytes) -> None:
        """Takes the other end's address: bodies can be sent.

        Where UCX finds no way to it, the socket carries what this end sends.
        """
        library = _library()
        if len(address) <= _TAG.size:
            return
        (self._peer_tag,) = _TAG.unpack_from(address)
        # Without error handling there are more ways: memory of one machine.
        for tells_errors in True, False:
            try:
                self._endpoint = library.UCXEndpoint.create_from_worker_address(
                    self._worker,
                    library.UCXAddress.create_from_buffer(address[_TAG.size :]),
                    tells_errors,
                )
            except library.UCXError:
                continue
            self._tells_errors = tells_errors
            return

    # --- sending ---------------------------------------------------------------------

    def put(
        self, buffers: Sequence[Buffer], size: int
    ) -> tuple[bytes, Sequence[int]] | None:
        """Begins to send a body; see `media.Outbox.put`."""
        if size < MIN_BYTES:
            return None
        library = _library()
        pieces = list(_pieces(buffers))
        with self._lock, _Reset():
            if self._endpoint is None:
                return None
            tag = library.UCXXTag(self._peer_tag)
            for piece in pieces:
                request = self._endpoint.tag_send(_array()(piece), tag)
                self._sent.append((request, piece))
        return np.array([len(piece) for piece in pieces], "<u8").tobytes(), ()

    def until_taken(self) -> None:
        """Waits until the body is taken; see `media.Outbox`."""
        # There is no limit: the other task may turn to it late. If it is silent, or
        # gone, the connection is shut.
        self._wait(self._sent, 0.0)

    def hung_up(self) -> None:
        """Whoever waits sees that at the connection."""

    # --- receiving -------------------------------------------------------------------

    def take(self, reference: bytes, files: list[int]) -> np.ndarray[Any, Any]:
        """Receives a body; see `media.Inbox.take`.

        Raises:
          errors.InvalidArgumentError: the reference is malformed.
          errors.ResourceExhaustedError: there is no memory for the body.
          OSError: the connection broke, or nothing came for as long as a task may be
            silent.
        """
        sizes = _sizes(reference)
        try:
            body = new_body(sum(sizes))
        except MemoryError:
            raise errors.ResourceExhaustedError(
                None, None, f"There is no memory for a body of {sum(sizes)} bytes"
            ) from None
        library = _library()
        tag = library.UCXXTag(self._tag)
        position = 0
        with self._lock, _Reset():
            if self._worker is None:
                raise ConnectionResetError("the connection is closed")
            for size in sizes:
                piece = body[position : position + size]
                request = self._worker.tag_recv(
                    _array()(piece), tag, library.UCXXTagMaskFull
                )
                self._received.append((request, piece))
                position += size
        self._wait(self._received, liveness.task_timeout_s())
        return body

    # --- both ------------------------------------------------------------------------

    def _wait(self, under_way: list[tuple[Any, Any]], limit_s: float) -> None:
        """Waits for requests, one after the other, and forgets them.

        Args:
          under_way: the requests.
          limit_s: for each; 0: none.

        Raises:
          OSError: the connection broke, its timeout passed, or the limit.
        """
        timeout_s = self._socket.gettimeout()
        over = None if timeout_s is None else time.monotonic() + timeout_s
        while under_way:
            late = time.monotonic() + limit_s if limit_s > 0 else None
            self._wait_for(under_way[0][0], over, late, limit_s)
            del under_way[0]

    def _wait_for(
        self, request: Any, over: float | None, late: float | None, limit_s: float
    ) -> None:
        if self._socket.fileno() < 0:
            raise ConnectionResetError("the connection is closed")
        poll = select.poll()
        poll.register(self._events, select.POLLIN)
        poll.register(self._socket, select.POLLRDHUP)
        ended: float | None = None  # when the other end hung up
        while not self._is_done(request):
            now = time.monotonic()
            if over is not None and now > over:
                raise TimeoutError("timed out")
            if late is not None and now > late:
                raise ConnectionAbortedError(f"UCX brought nothing for {limit_s:g} s")
            if ended is not None and now > ended + _LATE_S:
                raise ConnectionResetError("the other task hung up")
            with self._lock:
                if self._worker is None or not self._worker.arm():
                    continue
            for number, _ in poll.poll(_LOOK_AGAIN_S * 1000):
                if number != self._events:
                    poll.unregister(number)
                    ended = now

    def _is_done(self, request: Any) -> bool:
        with self._lock, _Reset():
            if self._worker is None:
                raise ConnectionResetError("the connection is closed")
            while self._worker.progress():
                pass
            if not request.completed:
                return False
            request.check_error()
            return True

    def close(self) -> None:
        """Ends the worker, with all that is registered."""
        with self._lock:
            worker, self._worker = self._worker, None
            endpoint, self._endpoint = self._endpoint, None
            if worker is None:
                return
            left_workers.leave(
                worker, endpoint, self._tells_errors, self._sent, self._received
            )
            self._sent, self._received = [], []


class _Reset:
    """A block in which UCX's errors are those of a broken connection."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, _library().UCXError):
            raise ConnectionResetError(f"UCX: {error}") from error


def _pieces(buffers: Sequence[Buffer]) -> Iterator[np.ndarray[Any, Any]]:
    """A body's parts as they are sent."""
    small: list[Buffer] = []
    for buffer in buffers:
        if len(buffer) < _COPIED:
            if len(buffer):
                small.append(buffer)
            continue
        if small:
            yield np.frombuffer(b"".join(small), np.uint8)
            small = []
        whole = np.frombuffer(buffer, np.uint8)
        for start in range(0, len(whole), _PIECE):
            yield whole[start : start + _PIECE]
    if small:
        yield np.frombuffer(b"".join(small), np.uint8)


def _sizes(reference: bytes) -> list[int]:
    try:
        sizes: list[int] = np.frombuffer(reference, "<u8").tolist()
    except ValueError:
        sizes = []
    if not sizes or min(sizes) < 1 or sum(sizes) > _MAX_BODY:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Malformed reference to a body over UCX: {len(reference)} bytes",
        )
    return sizes


@functools.cache
def enable() -> None:
    """Offers UCX to all connections that this process makes from now on.

    Raises:
      ImportError: it is not installed.
    """
    media.offer(Ucx())


def enable_if_asked() -> None:
    """`enable`, where `TENSORLOOM_TRANSPORT` asks for it.

    Raises:
      ImportError: as `enable`.
    """
    if os.environ.get("TENSORLOOM_TRANSPORT", "") == NAME:
        enable()
