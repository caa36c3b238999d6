"""Importing all modules of a package whose import registers what they define."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType


def import_all(package: ModuleType) -> None:
    """Imports the modules of `package` and of the packages in it, by name."""
    for found in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{found.name}")
        if found.ispkg:
            import_all(module)
