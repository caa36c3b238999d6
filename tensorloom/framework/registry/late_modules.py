"""Modules that are imported when what they register is first looked up.

`add` gets the index (`public_index.py`): of each op, gradient and so on the module that
registers it. A look-up that finds nothing asks `load`.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Mapping, Sequence

# One thread loads at a time: modules that import each other, begun by two threads from
# both ends, would be seen half.
_loading = threading.RLock()
# Kind of registration ("op", "gradient") -> name -> module.
_MODULES: dict[str, dict[str, str]] = {}
# Modules that register for all names of a kind: conversions, operators.
_WHOLE_KINDS: dict[str, list[str]] = {}


def add(modules: Mapping[str, Mapping[str, str]]) -> None:
    """Says which module registers what, by kind and name."""
    for kind, by_name in modules.items():
        _MODULES.setdefault(kind, {}).update(by_name)


def add_kind(kind: str, modules: Sequence[str]) -> None:
    """Says which modules all look-ups of a kind need."""
    _WHOLE_KINDS.setdefault(kind, []).extend(modules)


def module_of(kind: str, name: str) -> str | None:
    """The module that registers a name, or None if no index knows it."""
    return _MODULES.get(kind, {}).get(name)


def load(kind: str, name: str) -> None:
    """Imports the module that registers a name, if there is one."""
    module = _MODULES.get(kind, {}).get(name)
    if module is not None:
        import_module(module)


def load_all(kind: str) -> None:
    """Imports all modules that register names of a kind."""
    for module in dict.fromkeys(_MODULES.get(kind, {}).values()):
        import_module(module)


def load_kind(kind: str) -> None:
    """Imports, once, the modules that all look-ups of a kind need."""
    if kind in _WHOLE_KINDS:
        with _loading:
            for module in _WHOLE_KINDS.get(kind, ()):
                importlib.import_module(module)
            _WHOLE_KINDS.pop(kind, None)


def import_module(module: str) -> None:
    """Imports a module; only one thread does so at a time."""
    with _loading:
        importlib.import_module(module)
