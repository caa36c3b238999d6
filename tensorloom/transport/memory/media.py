"""The media by which large bodies go from task to task, beside their frames.

A frame with the `SHARED` flag carries a reference in place of its body; the body itself
goes through a medium. Shared memory is one, between tasks of one machine. RDMA is
another: its `Outbox.put` registers the buffers with the network card and puts their
addresses and keys into the reference, and its `Inbox.take` reads them from there.

A medium is asked once for each connection. Both ends must answer alike, from what they
both know of it: its kind, and its addresses. One whose ends must know more of each
other is a `Meeting`: they tell each other their addresses when they say hello, if both
tasks have been offered it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from tensorloom.transport.memory.shared_memory import MAX_FILES, SharedMemory

if TYPE_CHECKING:
    import socket

    import numpy as np

    from tensorloom.transport.memory.lent_memory import LentBody
    from tensorloom.transport.wire.packing import Buffer

__all__ = [
    "MAX_ADDRESS",
    "MAX_FILES",
    "End",
    "Inbox",
    "Medium",
    "Meeting",
    "Outbox",
    "inbox_of",
    "meet",
    "offer",
    "outbox_of",
    "use",
]


class Outbox(Protocol):
    """One end of a connection, as it sends. One thread at a time.

    It may have two things more: `way`, what `traffic` calls it, and `until_taken()`,
    which is called when the frame with the reference was sent, and waits until the body
    may change. It raises OSError if the connection is broken, or its timeout passed.
    """

    def put(
        self, buffers: Sequence[Buffer], size: int
    ) -> tuple[bytes, Sequence[int]] | None:
        """Makes a body ready to be taken.

        Args:
          buffers: the parts of the body: the memory of the tensors themselves, which
            nobody changes. Who registers memory does so here, and keeps what it
            registered: a variable is sent from the same memory step after step. A
            buffer stays alive as long as the medium refers to it.
          size: their bytes.

        Returns:
          What the other end's `Inbox.take` needs, and files to send along, `MAX_FILES`
          at most; None when the connection itself is to carry the body.
        """
        ...

    def hung_up(self) -> None:
        """The other end is gone: it reads nothing more. Any thread, at any time."""
        ...

    def close(self) -> None:
        """Lets go of all memory, registered or its own: the connection ends."""
        ...


class Inbox(Protocol):
    """One end of a connection, as it receives. One thread at a time."""

    def take(
        self, reference: bytes, files: list[int]
    ) -> np.ndarray[Any, Any] | LentBody:
        """The body that a reference stands for.

        The sender's memory is free again once the arrays are gone.

        Args:
          reference: what `Outbox.put` gave, from the other end.
          files: received files in their order; the reference's own are taken out.

        Raises:
          errors.InvalidArgumentError: the reference is malformed.
          OSError: the connection is broken, or its timeout passed.
        """
        ...


class End(Outbox, Inbox, Protocol):
    """One end of a connection whose ends tell each other their addresses."""

    @property
    def address(self) -> bytes:
        """What the other end has to know: at most `MAX_ADDRESS` bytes."""
        ...

    def join(self, address: bytes) -> None:
        """Takes the other end's; from now on bodies may come, and can be put."""
        ...


class Meeting(Protocol):
    """A way for large bodies whose ends have to know each other."""

    def meet(self, connection: socket.socket) -> End | None:
        """A connection's end; None where it does not reach."""
        ...


class Medium(Protocol):
    """A way for large bodies."""

    def outbox(self, connection: socket.socket) -> Outbox | None:
        """A connection's sending end; None where the medium does not reach."""
        ...

    def inbox(self, connection: socket.socket) -> Inbox | None:
        """Its receiving end; None where the medium does not reach."""
        ...


#: Longer addresses do not fit into a hello.
MAX_ADDRESS: Final = 3072
_media: list[Medium] = [SharedMemory()]
_meetings: list[Meeting] = []


def use(medium: Medium) -> Callable[[], None]:
    """Offers a medium to connections made later, before those that are there.

    Returns:
      A function that takes it out again.
    """
    _media.insert(0, medium)
    return lambda: _media.remove(medium)


def offer(meeting: Meeting) -> Callable[[], None]:
    """Offers to meet to the other ends of connections made later.

    Returns:
      A function that takes it out again.
    """
    _meetings.insert(0, meeting)
    return lambda: _meetings.remove(meeting)


def meet(connection: socket.socket) -> End | None:
    """An end of the first meeting that reaches; None: there is none."""
    for meeting in _meetings:
        end = meeting.meet(connection)
        if end is not None:
            return end
    return None


def outbox_of(connection: socket.socket) -> Outbox | None:
    """The sending end of the first medium that reaches; None: there is none."""
    for medium in _media:
        outbox = medium.outbox(connection)
        if outbox is not None:
            return outbox
    return None


def inbox_of(connection: socket.socket) -> Inbox | None:
    """The receiving end of the first medium that reaches; None: there is none."""
    for medium in _media:
        inbox = medium.inbox(connection)
        if inbox is not None:
            return inbox
    return None
