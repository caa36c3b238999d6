"""Loops over elements, compiled to machine code by numba.

They are for what neither NumPy nor torch does in one call: rows that repeat, one draw
that depends on the one before, a formula of many steps over a small array. What is
here is Python that a person can read; called as Python it computes the same, to the
last bit. So nobody waits for numba over a small input: the Python serves until the
machine code is ready (`forms.py`), which a thread sees to once it is worth it
(`background.py`); over a large one the caller waits (`machine_code.py`).

Rules of the modules of this package:

- Nothing looks at the bounds of an index in the machine code: a loop checks what comes
  from outside, and its caller the shapes. `NUMBA_BOUNDSCHECK=1` looks at each; `make
  test` does so.
- Arrays are made contiguous by the caller. Each combination of dtypes, layouts and
  writability is compiled by itself, in some tenths of a second, once on a machine.
- A loop takes functions and constants only from this package and from
  `machine_code._TABLES`: a change in any of these files makes numba compile again, a
  change elsewhere does not.
- Arithmetic is IEEE's, in the order of the source: the same bits on every processor.
  Python and machine code must agree: a number of NumPy's stays of its width in Python,
  where numba widens it with a plain number. So widths are written out. All tests run
  each small call in both forms, and compare.

A kernel imports such a module where it is built, not at its top. What only prepares the
arrays of a loop can be in this package, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from tensorloom.kernels.loops.forms import Loop

_Function = TypeVar("_Function", bound=Callable[..., Any])


def loop(function: _Function) -> _Function:
    """The function in both forms; in machine code it runs without the lock of Python.

    Raises:
      numba.core.errors.TypingError: at a call, if there is no machine code for such
        arguments.
    """
    return cast("_Function", Loop(function, nogil=True))


def machine_loop(function: _Function) -> _Function:
    """As `loop`, but its Python differs or takes long: callers wait for the code."""
    return cast("_Function", Loop(function, nogil=True, is_served=False))


def object_loop(function: _Function) -> _Function:
    """A loop in machine code alone, which reads or makes objects: it keeps the lock."""
    return cast("_Function", Loop(function, nogil=False, is_served=False))
