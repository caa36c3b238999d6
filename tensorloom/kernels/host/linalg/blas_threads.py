"""Products of NumPy's library on the caller's thread alone.

OpenBLAS wakes its threads for larger products. They would be awake when torch's are, on
the same cores, and spin for each other where other processes want those: a product of
35 us then takes milliseconds. So while such a product is computed, OpenBLAS is told to
use one thread. Products in blocks that are too small for its threads would be another
way, but each block packs one of the matrices anew: a third of the time.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import os
import threading
from collections.abc import Callable
from typing import Any, Final

Product = Callable[[Any, Any], Any]

# What the functions of OpenBLAS are called, in what NumPy comes with and elsewhere.
_NAMES: Final = ("scipy_openblas_{}64_", "openblas_{}64_", "openblas_{}")
# What `get_parallel` says of a library with threads of its own. OpenMP would keep the
# number for each thread that sets it, and torch may read it there.
_OWN_THREADS: Final = 1


class BlasThreads:
    """How many threads a library uses; one, while anybody holds it.

    A signal may raise between any two calls: `release` is to be called even where
    `hold` has raised, and what an interrupted one leaves, the next one of that thread
    mends. So a thread holds it once.
    """

    def __init__(
        self, get_count: Callable[[], int], set_count: Callable[[int], Any]
    ) -> None:
        self._get_count = get_count
        self._set_count = set_count
        self._lock = threading.Lock()
        self._holders: set[int] = set()  # threads
        self._count = 1  # when nobody holds it

    def hold(self) -> None:
        """One thread, until each thread that holds it has called `release`."""
        with self._lock:
            if not self._holders:
                self._count = self._get_count()
                self._holders.add(threading.get_ident())
                self._set_count(1)
            else:
                self._holders.add(threading.get_ident())

    def release(self) -> None:
        """Ends the `hold` of this thread, if it has one."""
        me = threading.get_ident()
        with self._lock:
            if self._holders == {me}:
                self._set_count(self._count)
            self._holders.discard(me)

    def forget_threads(self) -> None:
        """Nobody holds it: in a forked process other threads never release it."""
        self._lock = threading.Lock()
        if self._holders:
            self._holders.clear()
            self._set_count(self._count)


@functools.cache
def numpy_threads() -> BlasThreads | None:
    """Those of NumPy's OpenBLAS; None where NumPy's products are another library's."""
    # A name is looked up in what the module is linked with, too.
    module = importlib.import_module("numpy.linalg._umath_linalg")
    # PyDLL keeps the interpreter's lock: the calls only read and write a number.
    library = ctypes.PyDLL(module.__file__)
    for name in _NAMES:
        found = [
            getattr(library, name.format(what), None)
            for what in ("get_parallel", "get_num_threads", "set_num_threads")
        ]
        get_parallel, get_count, set_count = found
        if get_parallel is None or get_count is None or set_count is None:
            continue
        if get_parallel() != _OWN_THREADS:
            return None
        threads = BlasThreads(get_count, set_count)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=threads.forget_threads)
        return threads
    return None


def on_one_thread(multiply: Product) -> Product:
    """The same product, which wakes no threads."""
    threads = numpy_threads()
    if threads is None:
        return multiply
    hold, release = threads.hold, threads.release

    def multiply_alone(a: Any, b: Any) -> Any:
        try:
            hold()
            return multiply(a, b)
        finally:
            release()

    return multiply_alone
