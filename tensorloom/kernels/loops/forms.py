"""The two forms of a loop, Python and machine code, and which of them serves a call."""

from __future__ import annotations

import functools
import os
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

from tensorloom.kernels.loops import background
from tensorloom.kernels.loops.namespaces import Namespaces, TwoForms

# Elements in the arrays of a call that Python still serves: it takes a microsecond or
# so for each, numba half a second to be imported and as long again to compile.
MOST_ELEMENTS: Final = 1 << 15
#: What serves calls: "" as above; "machine" code alone; or "both", which are compared.
FORMS_VARIABLE: Final = "TENSORLOOM_LOOPS"


class Loop(TwoForms):
    """A function in two forms. Called, it is that of them which is ready."""

    def __init__(
        self, function: Callable[..., Any], *, nogil: bool, is_served: bool = True
    ) -> None:
        """`is_served`: whether Python serves until there is machine code."""
        super().__init__(function, nogil, is_served)
        self._machine: Any = None
        self._asked: set[Any] = set()

    def __call__(self, *arguments: Any) -> Any:
        machine = self._machine
        if machine is not None:
            return machine(*arguments)
        if _forms() == "both":
            return self._compared(arguments)
        plain = self.until_compiled(arguments)
        return (self.compiled() if plain is None else plain)(*arguments)

    def compiled(self) -> Any:
        """Numba's dispatcher, which serves calls from now on. Imports numba."""
        from tensorloom.kernels.loops import machine_code

        machine = machine_code.machine_form(self)
        if _forms() != "both":
            self._machine = machine
        return machine

    @functools.cached_property
    def plain(self) -> Callable[..., Any]:
        """The function as Python, which calls others as Python."""
        return _PLAIN.moved(self.function)

    def until_compiled(self, arguments: tuple[Any, ...]) -> Callable[..., Any] | None:
        """What serves a call for whose arguments there is no machine code so far.

        None: nobody but the caller is to compile it. Otherwise it is made meanwhile.
        """
        if not self.is_served or _forms() or not is_small(arguments):
            return None
        kinds = tuple(_kind(x) for x in arguments)
        if kinds not in self._asked:
            self._asked.add(kinds)
            background.ask(lambda: self._compile(arguments))
        return self._timed

    def _timed(self, *arguments: Any) -> Any:
        begin = time.perf_counter()
        try:
            # Words are multiplied without their upper halves.
            with np.errstate(all="ignore"):
                return self.plain(*arguments)
        finally:
            background.spent(time.perf_counter() - begin)

    def _compile(self, arguments: tuple[Any, ...]) -> None:
        from tensorloom.kernels.loops import machine_code

        machine = machine_code.machine_form(self)
        try:
            machine.compile(tuple(machine.typeof_pyval(x) for x in arguments))
        except Exception:
            # The caller compiles it next time, and is told what is wrong.
            self.is_served = False
        self._machine = machine

    def _compared(self, arguments: tuple[Any, ...]) -> Any:
        """The machine code's result; small calls are made in both forms.

        Raises:
          AssertionError: the forms differ.
        """
        machine = self.compiled()
        if not self.is_served or not is_small(arguments):
            return machine(*arguments)
        with _comparing:  # no other thread fills its part of the same array meanwhile
            others = _copied(arguments)
            with np.errstate(all="ignore"):
                expected = self.plain(*others)
            result = machine(*arguments)
            assert _are_same(expected, result), (
                self.function.__name__,
                expected,
                result,
            )
            for number, (one, other) in enumerate(zip(others, arguments, strict=True)):
                assert _are_same(one, other), (
                    self.function.__name__,
                    number,
                    one,
                    other,
                )
        return result


def is_small(arguments: tuple[Any, ...]) -> bool:
    """Whether Python is done with a call before numba is imported."""
    elements: int = sum(array.size for array in _arrays(arguments))
    return elements <= MOST_ELEMENTS


_comparing: Final = threading.Lock()
_PLAIN: Final = Namespaces(lambda loop: loop.plain)  # type: ignore[attr-defined]


def are_compiled_at_once() -> bool:
    """Whether callers wait for machine code in any case."""
    return bool(_forms())


def _forms() -> str:
    return os.environ.get(FORMS_VARIABLE, "")


def _arrays(value: Any) -> Iterator[Any]:
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from _arrays(part)


def _kind(value: Any) -> Any:
    """What of an argument machine code hangs on."""
    if isinstance(value, np.ndarray):
        flags = value.flags
        layout = flags.c_contiguous, flags.f_contiguous, flags.writeable, flags.aligned
        return value.dtype, value.ndim, layout
    if isinstance(value, tuple):
        return tuple(_kind(part) for part in value)
    return type(value)


def _copied(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        copy = value.copy(order="K")
        copy.flags.writeable = value.flags.writeable
        return copy
    return tuple(map(_copied, value)) if isinstance(value, tuple) else value


def _are_same(one: Any, other: Any) -> bool:
    """Whether two values are the same to the last bit, but for the kinds of NaN."""
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_are_same, one, other))
    one, other = np.asarray(one), np.asarray(other)
    if one.shape != other.shape:
        return False
    if one.dtype != other.dtype:  # a plain number beside one of NumPy's
        return bool(np.array_equal(one, other, equal_nan=one.dtype.kind in "fc"))
    if one.dtype.kind not in "fc":
        return bool(one.tobytes() == other.tobytes())
    number = ~np.isnan(one)
    if not np.array_equal(number, ~np.isnan(other)):
        return False
    return bool(one[number].tobytes() == other[number].tobytes())
