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
import threading
from collections.abc import Callable
from typing import Any, Final

Product = Callable[[Any, Any], Any]

# What the functions of OpenBLAS are called, in what NumPy comes with and elsewhere.
_NAMES: Final = ("scipy_openblas_{}64_", "openblas_{}64_", "openblas_{}")


class BlasThreads:
    """How many threads a library uses; one, while anybody holds it."""

    def __init__(
        self, get_count: Callable[[], int], set_count: Callable[[int], Any]
    ) -> None:
        self._get_count = get_count
        self._set_count = set_count
        self._lock = threading.Lock()
        self._holders = 0
        self._count = 1  # when nobody holds it

    def hold(self) -> None:
        """One thread, until each holder has called `release`."""
        with self._lock:
            if not self._holders:
                self._count = self._get_count()
                self._set_count(1)
            self._holders += 1

    def release(self) -> None:
        """Ends a `hold`."""
        with self._lock:
            self._holders -= 1
            if not self._holders:
                self._set_count(self._count)


@functools.cache
def numpy_threads() -> BlasThreads | None:
    """Those of NumPy's OpenBLAS; None where NumPy's products are another library's."""
    # A name is looked up in what the module is linked with, too.
    module = importlib.import_module("numpy.linalg._umath_linalg")
    # PyDLL keeps the interpreter's lock: the calls only read and write a number.
    library = ctypes.PyDLL(module.__file__)
    for name in _NAMES:
        get_count = getattr(library, name.format("get_num_threads"), None)
        set_count = getattr(library, name.format("set_num_threads"), None)
        if get_count is not None and set_count is not None:
            return BlasThreads(get_count, set_count)
    return None


def on_one_thread(multiply: Product) -> Product:
    """The same product, which wakes no threads."""
    threads = numpy_threads()
    if threads is None:
        return multiply
    hold, release = threads.hold, threads.release

    def multiply_alone(a: Any, b: Any) -> Any:
        hold()
        try:
            return multiply(a, b)
        finally:
            release()

    return multiply_alone
