"""`eval` and `super`, which look at the frame that calls them."""

from __future__ import annotations

import inspect
from types import FrameType
from typing import Any


def call_in_original_frame(f: Any, args: tuple[Any, ...], scope: Any) -> Any:
    """`f(*args)` as if the function of a FunctionScope called it.

    Args:
      f: `eval` or `super`.
      scope: the FunctionScope.
    """
    if f is eval:
        # Blocks are functions: the innermost one has the names of the block.
        frame = _frames_of(scope)[0]
        return eval(args[0], *(args[1:] or (frame.f_globals, frame.f_locals)))
    if args:
        return super(*args)
    frame = _frames_of(scope)[-1]
    first = frame.f_code.co_varnames[0]
    return super(frame.f_locals["__class__"], frame.f_locals[first])


def _frames_of(scope: Any) -> list[FrameType]:
    """The frames that know a scope by its name, the innermost first."""
    found = []
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_locals.get(scope.name) is scope:
            found.append(frame)
        frame = frame.f_back
    assert found, "converted code has its scope in a local variable"
    return found
