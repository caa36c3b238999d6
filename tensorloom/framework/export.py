"""Public names: `@export("add", "math.add")` says what a user types after `tf.`.

The table is the one list of the public API. `install` turns it into real modules
(`tensorloom.math`, `tensorloom.nn`, ...), and the compatibility page is generated
from it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeVar

T = TypeVar("T")

_EXPORTS: dict[str, Any] = {}
# The module that `install` was called for; what is declared later is set there at once.
_root: ModuleType | None = None


def export(*names: str) -> Callable[[T], T]:
    """Declares the public names of a function or class, without the leading `tf.`.

    Raises:
      ValueError: a name is taken by another object.
    """

    def declare(value: T) -> T:
        export_value(value, *names)
        return value

    return declare


def export_value(value: Any, *names: str) -> None:
    """Declares the public names of any object, such as a constant.

    Raises:
      ValueError: a name is another object's already.
    """
    for name in names:
        if _EXPORTS.setdefault(name, value) is not value:
            raise ValueError(f"public name 'tf.{name}' is declared twice")
        if _root is not None:
            _place(_root, name, value)


def wrap(name: str, wrapper: Callable[[Any], Any]) -> Any:
    """Puts what a wrapper makes of an object under all of its public names.

    Raises:
      KeyError: there is no such name.
    """
    value = _EXPORTS[name]
    wrapped = wrapper(value)
    for other, known in _EXPORTS.items():
        if known is value:
            _EXPORTS[other] = wrapped
    return wrapped


def exports() -> dict[str, Any]:
    """All public names with what they stand for (a copy)."""
    return dict(_EXPORTS)


def install(root: ModuleType) -> None:
    """Sets every exported name on `root` and its submodules, making those.

    A package of ours that exists under the same name (`tensorloom.train`) is used;
    where none exists, a module is made, so that both `tf.nn.relu` and
    `from tensorloom import nn` work. Packages that load when they are used declare
    their names later; those are set then.
    """
    global _root
    for name, value in _EXPORTS.items():
        _place(root, name, value)
    _root = root


def _place(root: ModuleType, name: str, value: Any) -> None:
    *path, last = name.split(".")
    module = root
    for part in path:
        module = _submodule(module, part)
    setattr(module, last, value)


def _submodule(parent: ModuleType, name: str) -> ModuleType:
    full_name = f"{parent.__name__}.{name}"
    module = sys.modules.get(full_name)
    if module is None:
        module = ModuleType(full_name, f"Public names under `tf.{name}`.")
        module.__path__ = []  # a package, so that deeper imports resolve
        sys.modules[full_name] = module
    setattr(parent, name, module)
    return module
