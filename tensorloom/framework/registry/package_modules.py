"""Importing all modules of a package whose import registers what they define."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType


def import_all(package: ModuleType) -> None:
    """Imports the modules of `package` (not of its subpackages), by name."""
    for module in pkgutil.iter_modules(package.__path__):
        if not module.ispkg:
            importlib.import_module(f"{package.__name__}.{module.name}")
