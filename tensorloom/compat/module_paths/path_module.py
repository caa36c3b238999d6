"""The module that `import tensorflow.python.ops.array_ops` returns."""

from __future__ import annotations

import difflib
import importlib
import sys
from collections.abc import Iterator
from contextlib import suppress
from types import ModuleType
from typing import Any, Final

from tensorloom.compat.module_paths import op_functions, table
from tensorloom.framework import export

ROOT: Final = "tensorloom"
_MISSING: Final = object()


class PathModule(ModuleType):
    """A module whose names are found by the table when they are asked for."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{ROOT}.{path}", f"What TensorFlow has as tensorflow.{path}.")
        # A package, so that `from it import what_is_not_there` is explained.
        self.__path__: list[str] = []
        export.loaded_names(self)["_tl_path"] = path

    def __getattr__(self, name: str) -> Any:
        path = export.loaded_names(self)["_tl_path"]
        if name == "__all__":
            return [found for found in self.__dir__() if not found.startswith("_")]
        value = look_up(path, name)
        if value is _MISSING and name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        if value is _MISSING:
            value = _module_path(path, name)
        if value is _MISSING:
            raise AttributeError(explain(path, name))
        setattr(self, name, value)
        return value

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        """All names with what they stand for, loaded."""
        for name in dir(self):
            with suppress(AttributeError, ModuleNotFoundError):
                getattr(self, name)
        return export.loaded_names(self)

    def __dir__(self) -> list[str]:
        path = export.loaded_names(self)["_tl_path"]
        names = set(given_names(path)) | set(export.loaded_names(self))
        there = {name for name in names if not name.startswith("__")}
        there = {name for name in there if hasattr(self, name)}
        return sorted(there - {"_tl_path"} | set(table.children().get(path, ())))


def _module_path(path: str, name: str) -> Any:
    """The module of that name below a path, or one that TensorFlow's module imports.

    `nn_ops.gen_nn_ops` and `math_ops.ops` work in TensorFlow, as a module has the
    modules that it imports. Programs use that.
    """
    near = (f"python.{where}.{name}" for where in ("framework", "ops", "eager"))
    inner = near if path.startswith("python.") else ()
    for module in (f"{path}.{name}", *inner):
        if table.is_path(module):
            return importlib.import_module(f"{ROOT}.{module}")
    return _MISSING


def look_up(path: str, name: str) -> Any:
    """What a path gives under a name; `is_missing` says whether it does."""
    for entry in _with_includes(path):
        if entry.same_as:
            value = getattr(_module(entry.same_as), name, _MISSING)
            if value is not _MISSING:
                return value
        for where, names in entry.sources:
            value = _from_source(where, names, name)
            if value is not _MISSING:
                return value
    return _MISSING


def is_missing(value: Any) -> bool:
    """Whether `look_up` found nothing."""
    return value is _MISSING


def _with_includes(path: str) -> Iterator[table.PathEntry]:
    """The entry of a path, then those that it takes in, each once."""
    seen: set[str] = set()
    waiting = [path]
    while waiting:
        path = waiting.pop(0)
        entry = table.entries().get(path)
        if path in seen or entry is None:
            continue
        seen.add(path)
        yield entry
        waiting += entry.includes


def _from_source(where: str, names: dict[str, str], name: str) -> Any:
    if where == table.OPS:
        return _op_function(names, name)
    if name in names:
        return _attribute(_module(where), names[name])
    if table.ALL in names and not name.startswith("_"):
        value = _attribute(_module(where), name)
        return _MISSING if isinstance(value, ModuleType) else value
    return _MISSING


def _op_function(names: dict[str, str], name: str) -> Any:
    """The function of an op, or, under the op's own name, that of `tf.raw_ops`."""
    if name in names and names[name] != name:
        return op_functions.op_function(names[name]) or _MISSING
    if name in names:
        return getattr(_module("tf.raw_ops"), name, _MISSING)
    for op, other in names.items():
        if op == other and op_functions.function_name(op) == name:
            return op_functions.op_function(op) or _MISSING
    return _MISSING


def _module(where: str) -> Any:
    """The module or class of that name; `tf` is the package itself."""
    if where == "tf" or where.startswith("tf."):
        value: Any = sys.modules[ROOT]
        for part in where.split(".")[1:]:
            value = _attribute(value, part)
        return value
    return importlib.import_module(where)


def _attribute(value: Any, name: str) -> Any:
    for part in name.split("."):
        value = getattr(value, part, _MISSING)
    return value


def given_names(path: str) -> Iterator[str]:
    """The names that the table has for a path, whether they are there or not."""
    for entry in _with_includes(path):
        if entry.same_as:
            yield from dir(_module(entry.same_as))
        for where, names in entry.sources:
            if where == table.OPS:
                yield from names
                yield from map(op_functions.function_name, _unnamed(names))
            elif table.ALL in names:
                yield from dir(_module(where))
            yield from (name for name in names if name != table.ALL)


def _unnamed(names: dict[str, str]) -> Iterator[str]:
    return (op for op, other in names.items() if op == other)


def explain(path: str, name: str) -> str:
    """Why a path does not give a name, with the nearest names that exist."""
    message = f"tensorloom has no {name!r} in tensorflow.{path}"
    meant = _public_name(path, name)
    if meant and meant != f"tf.{name}":
        message += f", which is {meant}"
    near = nearest(path, name)
    return f"{message}; nearest: {', '.join(near)}" if near else message


def _public_name(path: str, name: str) -> str:
    for entry in _with_includes(path):
        for where, names in entry.sources:
            if name in names and (where == "tf" or where.startswith("tf.")):
                return f"{where}.{names[name]}"
    return ""


def nearest(path: str, name: str) -> list[str]:
    """Public names that end alike, or else names of the module that look alike."""
    public = export.names()
    same = [one for one in public if one.rpartition(".")[2] == name]
    if same:
        return [
            f"tf.{one}" for one in sorted(same, key=lambda one: (len(one), one))[:3]
        ]
    known = {one for one in given_names(path) if not is_missing(look_up(path, one))}
    known |= set(table.children().get(path, ()))
    return difflib.get_close_matches(name, known, n=3)
