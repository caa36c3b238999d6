"""`tf.contrib.slim`: the layers and variables of `tf.contrib`, under one name."""

from __future__ import annotations

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    """`tf.contrib.slim.utils`, a module of `tf.contrib.layers` in TensorFlow, too."""
    if name == "utils":
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
