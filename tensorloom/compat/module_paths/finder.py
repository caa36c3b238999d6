"""Makes `import` find TensorFlow's module paths below `tensorloom`, `tensorflow`."""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Final

from tensorloom.framework import export

if TYPE_CHECKING:
    from importlib.abc import Loader, MetaPathFinder
else:  # importing `importlib.abc` takes longer than the rest of this module
    Loader = MetaPathFinder = object

ROOT: Final = "tensorloom"
# What `tensorloom run` lets mean tensorloom; the first is what programs say.
ALIASES: Final = ("tensorflow", "tensorflow_core", "tensorflow_estimator")
_HOROVOD: Final = "horovod"
# TensorFlow 1.15 has itself under these names too.
_WHOLE: Final = ("compat.v1", "compat", "_api.v1")
# First parts of paths that are no public names. `contrib` has packages of its own.
PRIVATE: Final = ("contrib", "core", "examples", "python", "tools")
# What the table has though its first part is a public name.
_NEWER: Final = "compat.v2"


def install() -> None:
    """From here on `tensorloom.python.ops.array_ops` can be imported."""
    if not any(isinstance(finder, _PathFinder) for finder in sys.meta_path):
        sys.meta_path.append(_PathFinder())
        export.add_module_paths(_path_module)


def _path_module(path: str) -> ModuleType | None:
    """The module of a path in the table, for programs that write it out in full."""
    from tensorloom.compat.module_paths import table

    if not _in_table(path) or not table.is_path(path):
        return None
    return importlib.import_module(f"{ROOT}.{path}")


def install_alias() -> None:
    """From here on `tensorflow` is tensorloom in this process.

    Raises:
      ImportError: the real TensorFlow is loaded already.
    """
    tensorloom = importlib.import_module(ROOT)
    if sys.modules.get(ALIASES[0]) is tensorloom:
        return
    for alias in ALIASES:
        present = sys.modules.get(alias)
        if present is not None:
            raise ImportError(f"{alias} is loaded already, from {present.__file__}")
    for alias in ALIASES:
        sys.modules[alias] = tensorloom
    # First for tensorflow.*, so that an installed TensorFlow is not mixed in; last for
    # names that nobody found, to say what is missing.
    sys.meta_path.insert(0, _AliasFinder())
    sys.meta_path.append(_HorovodFinder())
    install()
    _PathFinder.explains = True


class _AliasFinder(MetaPathFinder):
    """Finds `tensorflow.a.b` as what `tensorloom.a.b` is."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        """The spec of an alias. Raises ModuleNotFoundError if there is no such name."""
        root, _, name = fullname.partition(".")
        if root not in ALIASES or not name:
            return None
        module = _module_named(name)
        if module is None:
            raise missing(name)
        loader = GivenModule(module)
        return importlib.machinery.ModuleSpec(fullname, loader, is_package=True)


class GivenModule(Loader):
    """Puts a module that exists under one more name."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        """Any fresh module will do."""

    def exec_module(self, module: ModuleType) -> None:
        """Replaces the fresh module by the real one, which the import then returns."""
        sys.modules[module.__name__] = self._module


class _HorovodFinder(MetaPathFinder):
    """Finds `horovod.tensorflow`, where Horovod is not installed."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        """The spec of `horovod`, which holds nothing else, and of its module."""
        if fullname == _HOROVOD:
            package = ModuleType(_HOROVOD)
            package.__path__ = []
            loader = GivenModule(package)
        elif fullname == f"{_HOROVOD}.tensorflow":
            loader = GivenModule(importlib.import_module(f"{ROOT}.hvd"))
        else:
            return None
        return importlib.machinery.ModuleSpec(fullname, loader, is_package=True)


class _PathLoader(Loader):
    """Makes the module of a path in the table."""

    def __init__(self, path: str) -> None:
        self._path = path

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """The module, whose names are looked up when they are asked for."""
        from tensorloom.compat.module_paths.path_module import PathModule

        return PathModule(self._path)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing runs."""


class _PathFinder(MetaPathFinder):
    """Finds `tensorloom.python.ops.array_ops` where no file is that module.

    Under `tensorloom run` it also explains `from tensorflow import something` when
    there is nothing like it: Python asks for `tensorloom.something` then, as the alias
    bears that name.
    """

    explains = False

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        """Raises ModuleNotFoundError for a path that there is not."""
        root, _, name = fullname.partition(".")
        if root != ROOT or not name:
            return None
        if _in_table(name):
            loader = _path_loader(name)
            return importlib.machinery.ModuleSpec(fullname, loader, is_package=True)
        if self.explains:
            raise missing(name)
        return None


def _in_table(name: str) -> bool:
    return name.partition(".")[0] in PRIVATE or f"{name}.".startswith(f"{_NEWER}.")


def _path_loader(path: str) -> Loader:
    """Loads a path in the table. Raises ModuleNotFoundError if it is not there."""
    from tensorloom.compat.module_paths import table

    if not table.is_path(path):
        raise missing(path)
    entry = table.entries().get(path)
    if entry is not None and entry.same_as:
        return GivenModule(importlib.import_module(entry.same_as))
    return _PathLoader(path)


def _module_named(name: str) -> ModuleType | None:
    """The module that a user of the package reaches by `tensorloom.<name>`."""
    found = _attribute_path(name)
    for whole in _WHOLE:
        if found is None and f"{name}.".startswith(f"{whole}."):
            return _module_named(name[len(whole) + 1 :])
    if found is None and _in_table(name):
        return importlib.import_module(f"{ROOT}.{name}")
    return found


def _attribute_path(name: str) -> ModuleType | None:
    value: object = sys.modules[ROOT]
    for part in name.split(".") if name else []:
        value = getattr(value, part, None)
    return value if isinstance(value, ModuleType) else None


def missing(name: str) -> ModuleNotFoundError:
    """The error for a module of TensorFlow that tensorloom does not have."""
    from tensorloom.compat.module_paths import path_module, table

    tensorloom = sys.modules[ROOT]
    parent, _, last = name.rpartition(".")
    first = name.partition(".")[0]
    if table.is_path(parent) and parent:
        message = path_module.explain(parent, last)
    else:
        message = (
            f"tensorloom has no module {name!r}, which TensorFlow has as tf.{name}"
        )
        import difflib

        near = difflib.get_close_matches(first, dir(tensorloom), n=3)
        if near and first not in near:
            message += f"; nearest names: {', '.join('tf.' + known for known in near)}"
    # The name that is not `fullname`: of a module of that name a failing
    # `from tensorflow import x` would hide this message.
    return ModuleNotFoundError(message, name=f"{ALIASES[0]}:{name}")
