"""`tf.contrib`: one package for each of TensorFlow 1.15's, loaded when it is used."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any


def __getattr__(name: str) -> Any:
    """The package of that name. Raises AttributeError where there is none."""
    if name.startswith("_") or name not in __dir__():
        raise AttributeError(
            f"module 'tensorloom.contrib' has no attribute {name!r}; "
            f"it has {', '.join(__dir__()) or 'nothing yet'}"
        )
    return importlib.import_module(f"{__name__}.{name}")


def __dir__() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(__path__))
