"""`tensorflow.python.util.tf_should_use`: says so when a result is never used.

What a function gives back is wrapped: a class made from the result's own notices the
first use, and complains when it goes without one.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from functools import cache
from types import FrameType
from typing import Any, Final

from tensorloom.client.program import program_log as tf_logging
from tensorloom.framework.decorators import make_decorator
from tensorloom.framework.graph.default_graph import get_default_graph

_OURS: Final = ("_watch", "_true_value", "mark_used")


class _Watch:
    """Complains when it goes before it was told of a use."""

    def __init__(self, value: Any, frame: FrameType | None, is_fatal: bool) -> None:
        self._told = f"(type {type(value)}):\n{value!r}"
        self._made_at = "".join(traceback.format_stack(frame, limit=5))
        self._is_fatal = is_fatal
        # Functions run what they hold in order, used or not.
        self._is_used = bool(get_default_graph()._building_function)

    def note_use(self) -> None:
        self._is_used = True

    def __del__(self) -> None:
        if self._is_used:
            return
        complain = tf_logging.fatal if self._is_fatal else tf_logging.error
        rule = "=" * 34
        complain(
            f"{rule}\nObject was never used {self._told}\nIf you want to mark it as "
            f'used call its "mark_used()" method.\nIt was originally created here:\n'
            f"{self._made_at}\n{rule}"
        )


@cache
def _watched_class(kind: type[Any]) -> type[Any]:
    """A class like another one; all that is read of its objects counts as use."""

    def initialize(self: Any, value: Any, watch: _Watch) -> None:
        object.__setattr__(self, "_watch", watch)
        object.__setattr__(self, "_true_value", value)

    def read(self: Any, name: str) -> Any:
        object.__getattribute__(self, "_watch").note_use()
        if name in _OURS:
            return object.__getattribute__(self, name)
        return getattr(object.__getattribute__(self, "_true_value"), name)

    def write(self: Any, name: str, value: Any) -> None:
        setattr(object.__getattribute__(self, "_true_value"), name, value)

    def mark_used(self: Any) -> None:
        """Counts as use."""
        mark = getattr(object.__getattribute__(self, "_true_value"), "mark_used", None)
        if mark is not None:
            mark()

    members = {
        "__slots__": ("_true_value", "_watch"),
        "__init__": initialize,
        "__getattribute__": read,
        "__setattr__": write,
        "mark_used": mark_used,
    }
    return type(kind.__name__, (kind,), members)


def _add_should_use_warning(x: Any, fatal_error: bool = False) -> Any:
    """Something that stands for `x`, and complains when nothing of it is ever used.

    Args:
      x: anything; None and an empty list come back as they are.
      fatal_error: complain by `tf.logging.fatal`, not `error`.
    """
    if x is None or (isinstance(x, list) and not x):
        return x
    watch = _Watch(x, sys._getframe(1), fatal_error)
    kind: Any = type(x)
    return _watched_class(kind)(x, watch)


def _checked(name: str, verb: str, is_fatal: bool) -> Callable[..., Any]:
    def decorate(fn: Callable[..., Any]) -> Any:
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            return _add_should_use_warning(fn(*args, **kwargs), is_fatal)

        note = f"{fn.__doc__ or ''}\n\n  The output of this function {verb} be used."
        return make_decorator(fn, wrapped, name, note)

    return decorate


should_use_result: Final = _checked("should_use_result", "should", is_fatal=False)
must_use_result_or_fatal: Final = _checked(
    "must_use_result_or_fatal", "must", is_fatal=True
)
