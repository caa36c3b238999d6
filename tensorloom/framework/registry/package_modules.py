"""Importing all modules of a package whose import registers what they define."""

from __future__ import annotations

import importlib
import pkgutil
import sys
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

# Packages that load their modules when they are first used, by name.
_waiting: dict[str, tuple[str, ...]] = {}
_lock = threading.RLock()


def import_all(package: ModuleType) -> None:
    """Imports the modules of `package` and of the packages in it, by name.

    A package that says `LOADED_WHEN_USED = True` keeps its modules for later.
    """
    if getattr(package, "LOADED_WHEN_USED", False):
        return
    for found in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{found.name}")
        if found.ispkg:
            import_all(module)


def lazy_package(
    name: str, *further: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package that loads at the first use of a name.

    Its `__init__` says `__getattr__, __dir__ = lazy_package(__name__)`. The public
    names are those that its modules export, and `further` modules of other packages.
    """
    _waiting[name] = further

    def get(attribute: str) -> Any:
        if not attribute.startswith("__"):
            _load(name)
            found = sys.modules[name].__dict__.get(attribute, _waiting)
            if found is not _waiting:
                return found
        raise AttributeError(f"module {name!r} has no attribute {attribute!r}")

    def names() -> list[str]:
        _load(name)
        return sorted(sys.modules[name].__dict__)

    return get, names


def _load(name: str) -> None:
    with _lock:
        further = _waiting.pop(name, None)
        if further is not None:
            import_all(sys.modules[name])
            for module in further:
                importlib.import_module(module)


def load_lazy_packages() -> None:
    """Loads all packages that wait for a use, so that every public name is known."""
    while _waiting:
        _load(next(iter(_waiting)))
