"""Whether AutoGraph converts the code that is running: `control_status_ctx`."""

from __future__ import annotations

import enum
import threading
from typing import Any


class Status(enum.Enum):
    """What the user said of conversion."""

    UNSPECIFIED = 0
    ENABLED = 1
    DISABLED = 2


class ControlStatusCtx:
    """A context in which a status holds.

    Args:
      status: of code inside.
      options: of its conversion, if any.
    """

    def __init__(self, status: Status, options: Any = None) -> None:
        self.status = status
        self.options = options

    def __enter__(self) -> ControlStatusCtx:
        _stack().append(self)
        return self

    def __exit__(self, *exception: object) -> None:
        _stack().pop()

    def __repr__(self) -> str:
        return f"ControlStatusCtx[status={self.status}, options={self.options}]"


_stacks = threading.local()


def _stack() -> list[ControlStatusCtx]:
    stack: list[ControlStatusCtx] | None = getattr(_stacks, "contexts", None)
    if stack is None:
        stack = _stacks.contexts = [ControlStatusCtx(Status.UNSPECIFIED)]
    return stack


def control_status_ctx() -> ControlStatusCtx:
    """The innermost context of this thread."""
    return _stack()[-1]
