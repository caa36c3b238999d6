"""What a task answers to the frames of a connection, whatever carries them."""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.framework.runtime.rendezvous_key import source_task
from tensorloom.transport.sockets.call_link import CallLink
from tensorloom.transport.wire import frames, packing, status, value_methods

if TYPE_CHECKING:
    from tensorloom.transport.interface import Handlers
    from tensorloom.transport.sockets.call_link import ConnectionEnd
    from tensorloom.transport.wire.value_methods import (
        Push,
        PushedHandler,
        TensorsHandler,
        ValueHandlers,
    )

#: Sends a frame; as `frames.FrameWriter.write`.
Write = Callable[..., None]


class FrameCall:
    """Implements `interface.Call` for the call that a connection carries."""

    def __init__(self, ends: Callable[[], ConnectionEnd] | None = None) -> None:
        self._ends = ends
        self._callbacks: list[Callable[[], None]] = []
        self._is_cancelled = False
        self._lock = threading.Lock()
        #: What is done once the caller has the reply.
        self.later: Callable[[], None] | None = None

    def on_cancel(self, callback: Callable[[], None]) -> None:
        """Calls back when the caller has hung up."""
        with self._lock:
            if not self._is_cancelled:
                self._callbacks.append(callback)
                return
        callback()

    def cancel(self) -> None:
        """The caller has hung up."""
        with self._lock:
            self._is_cancelled = True
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def link(self, step_id: int) -> CallLink:
        """This end of the call's connection; see `ValueCall.link`."""
        if self._ends is None:
            raise errors.InvalidArgumentError(
                None, None, "The connection carries no tensors beside a call"
            )
        return CallLink(self._ends(), step_id, self.cancel)

    def after_reply(self, callback: Callable[[], None]) -> None:
        """Has something done that the caller need not wait for; it must not raise."""
        self.later = callback

    def end(self) -> None:
        """The call has ended: nobody is to be called any more."""
        with self._lock:
            self._callbacks = []


class Caller:
    """Who is at the other end of a connection, as far as it has shown.

    Its call is cancelled when it hangs up; it may do so before its last call is read:
    then that is cancelled too.

    Args:
      ends: gives what links need, where the connection can have them.
    """

    def __init__(self, ends: Callable[[], ConnectionEnd] | None = None) -> None:
        #: The task whose tensors come on the connection, once some came.
        self.pusher = ""
        #: Whether tensors may come on it within calls: they are lost with the call.
        self.is_linked = False
        self._ends = ends
        self._call: FrameCall | None = None
        self._is_over = False

    @property
    def is_calling(self) -> bool:
        """Whether a call is under way."""
        return self._call is not None

    def begin(self) -> FrameCall:
        """A call begins."""
        # Whichever comes first, here and in `cancel`: one of both sees the other.
        call = self._call = FrameCall(self._ends)
        if self._is_over:
            call.cancel()
        return call

    def end(self) -> None:
        """It has ended."""
        call, self._call = self._call, None
        if call is not None:
            call.end()

    def cancel(self) -> None:
        """The caller has hung up."""
        self._is_over = True
        call = self._call
        if call is not None:
            call.cancel()


class FrameAnswers:
    """The handlers of a task. Thread-safe."""

    def __init__(
        self,
        handlers: Handlers,
        value_handlers: ValueHandlers,
        send_tensors: TensorsHandler,
        pushed: PushedHandler,
    ) -> None:
        """Takes the handlers.

        Args:
          handlers: of the methods with messages.
          value_handlers: of the methods with values.
          send_tensors: answers requests for tensors.
          pushed: gets what peers push.
        """
        self._handlers = {m.path.encode(): (m, h) for m, h in handlers.items()}
        self._value_handlers = value_handlers
        self._send_tensors = send_tensors
        self._pushed = pushed

    def answer(
        self, frame: frames.Frame, caller: Caller, write: Write, push: Push
    ) -> None:
        """Does what a frame asks for.

        Args:
          frame: from the caller.
          caller: of the connection.
          write: sends the reply.
          push: sends tensors that the frame asks for, as they come to be.

        Raises:
          errors.InvalidArgumentError: the caller is no peer of ours.
          OSError: as `write`.
        """
        if frame.method == value_methods.PUSH:
            self._take_pushed(frame, caller)
            return
        if frame.method == value_methods.PUSH_ACKNOWLEDGED:
            self._take_pushed(frame, caller)
            write(frames.REPLY)
            return
        if frame.method == value_methods.PUSH_ELSEWHERE:
            return  # the call has ended meanwhile
        if frame.kind == frames.HELLO:  # is anybody there?
            write(frames.HELLO)
            return
        if frame.kind == frames.VALUES and frame.method == value_methods.TENSORS:
            self._start_tensors(frame, push)
            return
        call = caller.begin()
        if frame.method == value_methods.RUN_LINKED:
            caller.is_linked = True
        try:
            header, body, size = self._answer(frame, call)
        except Exception as error:
            code, message = status.to_wire(error)
            write(frames.ERROR, header=message.encode(), code=code)
        else:
            write(frames.REPLY, header=header, body=body, body_size=size)
        finally:
            caller.end()
            if call.later is not None:
                call.later()

    def end(self, caller: Caller) -> None:
        """The connection has ended: what was pushed last may not have come."""
        if caller.pusher:
            self._pushed.lose_pusher(caller.pusher)

    def _answer(
        self, frame: frames.Frame, call: FrameCall
    ) -> tuple[bytes, list[packing.Buffer], int]:
        if frame.kind == frames.CALL:
            return self._answer_message(frame.header, call), [], 0
        handler = self._value_handlers.get(frame.method)
        if frame.kind != frames.VALUES or handler is None:
            raise errors.UnimplementedError(
                None, None, f"Unknown call {frame.kind}, {frame.method}"
            )
        values = packing.unpack(frame.body) if len(frame.body) else []
        header, results = handler(frame.header, values, call)
        if not results:
            return header, [], 0
        body, size = packing.pack(results)
        return header, body, size

    def _answer_message(self, header: bytes, call: FrameCall) -> bytes:
        from google.protobuf.message import DecodeError

        path, _, content = header.partition(b"\0")
        found = self._handlers.get(path)
        if found is None:
            raise errors.UnimplementedError(None, None, f"Unknown method {path!r}")
        method, handler = found
        try:
            request = method.request.FromString(content)
        except DecodeError:
            raise errors.InvalidArgumentError(
                None, None, "The request is not a message of this method"
            ) from None
        response: bytes = handler(request, call).SerializeToString()
        return response

    def _take_pushed(self, frame: frames.Frame, caller: Caller) -> None:
        size = value_methods.STEP_ID.size
        try:
            (step_id,) = value_methods.STEP_ID.unpack_from(frame.header)
            if frame.kind == frames.ERROR:
                message = frame.header[size:].decode(errors="replace")
                failure = status.from_wire(frame.code, message)
                self._pushed.take_failure(step_id, failure)
                return
            values = packing.unpack(frame.body)
            tensors = value_methods.sent(frame.header[size:], values)
            if tensors and not caller.pusher and not caller.is_linked:
                caller.pusher = source_task(tensors[0][0])
        except (struct.error, LookupError, ValueError) as error:
            raise errors.InvalidArgumentError(None, None, str(error)) from None
        self._pushed.take_pushed(step_id, tensors)

    def _start_tensors(self, frame: frames.Frame, push: Push) -> None:
        try:
            (step_id,) = value_methods.STEP_ID.unpack_from(frame.header)
            names = frame.header[value_methods.STEP_ID.size :].decode()
        except (struct.error, UnicodeDecodeError) as error:
            raise errors.InvalidArgumentError(None, None, str(error)) from None
        self._send_tensors(step_id, names.split("\0")[:-1], push)


class TensorStream:
    """Sends tensors as they come to be, in the threads that made them."""

    def __init__(self, write: Write) -> None:
        self._write = write
        self._lock = threading.Lock()

    def push(
        self, step_id: int, key: str, value: Any, is_dead: bool, error: Exception | None
    ) -> None:
        """Sends one tensor, or why there is none."""
        header = value_methods.STEP_ID.pack(step_id) + bytes([is_dead]) + key.encode()
        kind, code, size = frames.REPLY, 0, 0
        body: list[packing.Buffer] = []
        if error is None:
            try:
                body, size = packing.pack([value])
            except errors.OpError as unsendable:
                error = unsendable
        if error is not None:
            code, message = status.to_wire(error)
            kind = frames.ERROR
            header += b"\0" + message.encode()
        try:
            with self._lock:
                self._write(kind, value_methods.TENSORS, header, body, size, code)
        except OSError:
            return  # who asked is gone; its master will say so
