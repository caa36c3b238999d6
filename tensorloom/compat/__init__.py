"""`tf.compat`, and what programs of TensorFlow 1's years find missing today."""

from __future__ import annotations

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    """`tf.compat.v2`, loaded when it is first used."""
    if name == "v2":
        return importlib.import_module(f"{__name__}.v2")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
