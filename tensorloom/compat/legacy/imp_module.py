"""Python's module `imp`, gone since 3.12, over `importlib`."""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import os
import sys
import tokenize
from types import ModuleType
from typing import Any

PY_SOURCE, PY_COMPILED, C_EXTENSION, PKG_DIRECTORY = 1, 2, 3, 5
C_BUILTIN, PY_FROZEN = 6, 7

reload = importlib.reload
cache_from_source = importlib.util.cache_from_source
source_from_cache = importlib.util.source_from_cache


def new_module(name: str) -> ModuleType:
    """An empty module."""
    return ModuleType(name)


def get_tag() -> str | None:
    """What marks this Python's files of compiled modules."""
    return sys.implementation.cache_tag


def get_magic() -> bytes:
    """How a compiled module begins."""
    return importlib.util.MAGIC_NUMBER


def get_suffixes() -> list[tuple[str, str, int]]:
    """`(ending, mode, kind)` of files that are modules."""
    machinery = importlib.machinery
    return [
        *((ending, "rb", C_EXTENSION) for ending in machinery.EXTENSION_SUFFIXES),
        *((ending, "r", PY_SOURCE) for ending in machinery.SOURCE_SUFFIXES),
        *((ending, "rb", PY_COMPILED) for ending in machinery.BYTECODE_SUFFIXES),
    ]


def acquire_lock() -> None:
    """Nothing: each module has a lock of its own."""


release_lock = acquire_lock


def lock_held() -> bool:
    """False: each module has a lock of its own."""
    return False


def _load(name: str, path: str, package: bool = False) -> ModuleType:
    folder = [os.path.dirname(path)] if package else None
    spec = importlib.util.spec_from_file_location(
        name, path, submodule_search_locations=folder
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load {name!r} from {path!r}", name=name, path=path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return sys.modules[name]


def load_source(name: str, pathname: str, file: Any = None) -> ModuleType:
    """Imports a file under a name."""
    return _load(name, pathname)


load_compiled = load_dynamic = load_source


def load_package(name: str, path: str) -> ModuleType:
    """Imports a folder under a name."""
    return _load(name, os.path.join(path, "__init__.py"), package=True)


def find_module(name: str, path: Any = None) -> tuple[Any, str | None, Any]:
    """`(file, path, (ending, mode, kind))` of a module.

    Raises:
      ImportError: there is none of that name.
    """
    if path is None and name in sys.builtin_module_names:
        return None, None, ("", "", C_BUILTIN)
    spec = importlib.machinery.PathFinder.find_spec(name, path)
    if spec is None or spec.origin is None:
        raise ImportError(f"No module named {name!r}", name=name)
    if spec.submodule_search_locations:
        return None, spec.submodule_search_locations[0], ("", "", PKG_DIRECTORY)
    for ending, mode, kind in get_suffixes():
        if spec.origin.endswith(ending):
            if kind == PY_SOURCE:
                return tokenize.open(spec.origin), spec.origin, (ending, mode, kind)
            return open(spec.origin, "rb"), spec.origin, (ending, mode, kind)
    raise ImportError(f"No module named {name!r}", name=name)


def load_module(name: str, file: Any, filename: str, details: Any) -> ModuleType:
    """Imports what `find_module` found.

    Raises:
      ImportError: it is of no known kind.
    """
    kind = details[2]
    if kind == PKG_DIRECTORY:
        return load_package(name, filename)
    if kind == C_BUILTIN:
        return importlib.import_module(name)
    if kind in (PY_SOURCE, PY_COMPILED, C_EXTENSION):
        return _load(name, filename)
    raise ImportError(f"Don't know how to import {name} (type code {kind})", name=name)
