"""The calls between tensorloom's tasks that carry values as they are.

They do what methods of `methods.py` do, for steps that were prepared before: a header
of a few bytes, and packed values (`packing.py`) instead of protobuf messages.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from tensorloom.framework.errors import OpError
    from tensorloom.transport.interface import Call

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
#: Header: `STEP_ID`, a byte for dead, and the key; one value. As an error frame: the
#: sender's part of the step has failed; header: `STEP_ID`, and the message. No reply.
PUSH: Final = 5
#: Header: a session's handle. The reply comes when the session is over; a caller that
#: hangs up before is gone, and its session is closed.
HOLD_SESSION: Final = 6

STEP_NUMBER: Final = struct.Struct("<Q")
RUN_STEP_HEADER: Final = struct.Struct("<Qd")  # step number, limit in s (0: none)
RUN_GRAPH_HEADER: Final = struct.Struct("<QQ")  # graph handle, step id
STEP_ID: Final = struct.Struct("<Q")

# (header, values, call) -> (header, values)
ValueHandler = Callable[[bytes, list[Any], "Call"], tuple[bytes, Sequence[Any]]]
ValueHandlers = Mapping[int, ValueHandler]

# Sends one tensor, or an error, to who asked: (step id, key, value, is_dead, error).
Push = Callable[[int, str, Any, bool, "Exception | None"], None]


class PushedHandler(Protocol):
    """Takes what peers push."""

    def take_pushed(self, step_id: int, key: str, value: Any, is_dead: bool) -> None:
        """Takes a tensor."""
        ...

    def take_failure(self, step_id: int, error: OpError) -> None:
        """Hears that a peer's part of a step has failed."""
        ...


# Answers TENSORS: (step id, keys, push).
TensorsHandler = Callable[[int, Sequence[str], Push], None]
