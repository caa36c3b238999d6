"""The calls between tensorloom's tasks that carry values as they are.

They do what methods of `methods.py` do, for steps that were prepared before: a header
of a few bytes, and packed values (`packing.py`) instead of protobuf messages.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from tensorloom.transport.interface import Call

if TYPE_CHECKING:
    from tensorloom.framework.errors import OpError
    from tensorloom.transport.sockets.call_link import CallLink

#: Header: a RunStepRequest without feeds. Reply: `STEP_NUMBER`.
PREPARE_STEP: Final = 1
#: Header: `RUN_STEP_HEADER`. Values: the feeds. Reply: the fetches.
RUN_STEP: Final = 2
#: Header: `RUN_GRAPH_HEADER`, then the ids of earlier steps that are over. Values: of
#: the `_Arg`s. Reply: of the `_Retval`s.
RUN_GRAPH: Final = 3
#: Header: `STEP_ID`, then keys, each ended by a zero byte. Replies come one by one, in
#: any order: `STEP_ID`, a byte for dead, and the key; one value.
TENSORS: Final = 4
#: Header: `STEP_ID` and `packed_keys`; their values. As an error frame: the sender's
#: part of the step has failed; header: `STEP_ID`, and the message. No reply.
PUSH: Final = 5
#: Header: a session's handle. The reply comes when the session is over; a caller that
#: hangs up before is gone, and its session is closed.
HOLD_SESSION: Final = 6
#: As `RUN_GRAPH`, by a task that itself waits for tensors of the part. Header:
#: `RUN_GRAPH_HEADER`, a byte for the length of its name, the name, then ids as there.
#: Reply: `packed_keys` of tensors for it; the `_Retval`s, then these tensors.
RUN_SOURCE: Final = 7
#: As `PUSH`, but there is an empty reply when the tensors are there.
PUSH_ACKNOWLEDGED: Final = 8
#: As `RUN_SOURCE`, for a part that reads from the call's connection (see
#: `call_link.py`): `PUSH` there carries tensors between the part and the caller's own.
RUN_LINKED: Final = 9
#: On the connection of `RUN_LINKED`: later tensors come on another one.
PUSH_ELSEWHERE: Final = 10

STEP_NUMBER: Final = struct.Struct("<Q")
RUN_STEP_HEADER: Final = struct.Struct("<Qd")  # step number, limit in s (0: none)
RUN_GRAPH_HEADER: Final = struct.Struct("<QQ")  # graph handle, step id
STEP_ID: Final = struct.Struct("<Q")

# A tensor for another task: (key, value, is_dead).
Sent = tuple[str, Any, bool]


def packed_keys(tensors: Sequence[Sent]) -> bytes:
    """For each tensor 1 if it is dead, else 0, the key, and a zero byte."""
    return b"".join([b"%d%b\0" % (dead, key.encode()) for key, _, dead in tensors])


def unpacked_keys(content: bytes) -> list[tuple[str, bool]]:
    """The keys, and whether their tensors are dead.

    Raises:
      ValueError: malformed.
    """
    *keys, rest = content.split(b"\0")
    if rest:
        raise ValueError("keys without an end")
    return [(key[1:].decode(), key[:1] == b"1") for key in keys]


def sent(keys: bytes, values: Sequence[Any]) -> list[Sent]:
    """The tensors of `packed_keys` and their values.

    Raises:
      ValueError: malformed.
    """
    return [
        (key, value, is_dead)
        for (key, is_dead), value in zip(unpacked_keys(keys), values, strict=True)
    ]


class ValueCall(Call, Protocol):
    """The server's side of a call with values that is being handled."""

    def link(self, step_id: int) -> CallLink:
        """This end of the call's connection, for tensors of a step.

        Raises:
          errors.InvalidArgumentError: the connection carries none.
        """
        ...

    def after_reply(self, callback: Callable[[], None]) -> None:
        """Calls back once the reply is sent, or could not be."""
        ...


# (header, values, call) -> (header, values)
ValueHandler = Callable[[bytes, list[Any], ValueCall], tuple[bytes, Sequence[Any]]]
ValueHandlers = Mapping[int, ValueHandler]

# Sends one tensor, or an error, to who asked: (step id, key, value, is_dead, error).
Push = Callable[[int, str, Any, bool, "Exception | None"], None]


class PushedHandler(Protocol):
    """Takes what peers push."""

    def take_pushed(self, step_id: int, tensors: Sequence[Sent]) -> None:
        """Takes tensors."""
        ...

    def take_failure(self, step_id: int, error: OpError) -> None:
        """Hears that a peer's part of a step has failed."""
        ...

    def lose_pusher(self, task: str) -> None:
        """Hears that the connection on which a task pushed has ended."""
        ...


# Answers TENSORS: (step id, keys, push).
TensorsHandler = Callable[[int, Sequence[str], Push], None]
