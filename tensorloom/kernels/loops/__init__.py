"""Loops over elements, compiled to machine code by numba.

They are for what neither NumPy nor torch does in one call: rows that repeat, one draw
that depends on the one before, a formula of many steps over a small array. What is
here is Python that a person can read; called as Python it computes the same.

Rules of the modules of this package:

- Nothing looks at the bounds of an index in the machine code: a loop checks what comes
  from outside, and its caller the shapes. `NUMBA_BOUNDSCHECK=1` (with a
  `NUMBA_CACHE_DIR` of its own) looks at each; `make test` does so.
- Arrays are made contiguous by the caller. Each combination of dtypes, layouts and
  writability is compiled by itself, in some tenths of a second, once on a machine.
- A loop calls only functions of this package: a change in any of its modules makes
  numba compile again, a change elsewhere does not.
- Arithmetic is IEEE's, in the order of the source: the same bits on every processor.

A kernel imports such a module where it is built, not at its top: with numba that takes
some tenths of a second, which a program without these operations should not pay. What
only prepares the arrays of a loop can be in this package, too.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core.caching import FunctionCache

_Function = TypeVar("_Function", bound=Callable[..., Any])


def loop(function: _Function) -> _Function:
    """The function in machine code; it runs without the interpreter's lock.

    Raises:
      numba.core.errors.TypingError: at a call, if there is no machine code for such
        arguments.
    """
    return _compiled(function, nogil=True)


def object_loop(function: _Function) -> _Function:
    """As `loop`, but it keeps the interpreter's lock: it reads or makes objects."""
    return _compiled(function, nogil=False)


def _compiled(function: _Function, *, nogil: bool) -> _Function:
    compiled: Any = numba.njit(nogil=nogil, error_model="numpy")(function)
    # A folder for it may be missing: a read-only installation of a user without a home.
    with suppress(RuntimeError):
        compiled._cache = _Kept(function)
    return cast("_Function", compiled)


@functools.cache
def _package() -> tuple[tuple[str, float, int], ...]:
    """What tells one state of the modules of this package from another."""
    modules = sorted(Path(__file__).parent.glob("*.py"))
    about = [(module.name, module.stat()) for module in modules]
    return tuple((name, found.st_mtime, found.st_size) for name, found in about)


_Cache: Any = FunctionCache  # numba has few types


class _Kept(_Cache):  # type: ignore[misc]
    """Machine code on disk, which is never worth an error: a full disk, a torn file."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        # Numba asks only for the file of the function, not for those that it calls.
        self._cache_file._source_stamp = self._cache_file._source_stamp, _package()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # whatever pickle makes of bytes that are not its own
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with suppress(OSError):
            super().save_overload(sig, data)
