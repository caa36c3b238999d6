"""Loads NumPy with the fastest matrix products that it has for this processor.

NumPy multiplies matrices with OpenBLAS, which chooses its code while it is loaded, by
tables of processors that end with those known when it was released. One that came later
gets the code for AVX2: on an AMD EPYC of 2024 half the speed of the code for AVX-512
(64 x 64 matrices of float32: 5.5 us for 2.7). `OPENBLAS_CORETYPE` is OpenBLAS's setting
for that. It is taken back at once: a process that this one starts on another host,
which may have no AVX-512, would take it for granted.

A program that imports NumPy before tensorloom, and wants this, sets it itself.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Final

from tensorloom.framework import processor

_SETTING: Final = "OPENBLAS_CORETYPE"
# OpenBLAS's name of the first processor with AVX-512, and of the code for all of them.
_AVX512_CODE: Final = "SkylakeX"


def load() -> None:
    """Imports NumPy, if nobody has yet."""
    if (
        "numpy" in sys.modules
        or _SETTING in os.environ
        or not processor.is_other_avx512(processor.description())
    ):
        return
    os.environ[_SETTING] = _AVX512_CODE
    try:
        importlib.import_module("numpy")
    finally:
        del os.environ[_SETTING]


load()
