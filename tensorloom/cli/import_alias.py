"""Makes `import tensorflow` mean tensorloom, for `tensorloom run`."""

from __future__ import annotations

import difflib
import importlib
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Sequence
from types import ModuleType

ALIAS = "tensorflow"
# TensorFlow 1.15 has itself under these names too.
WHOLE = ("compat.v1", "compat")


def install() -> None:
    """From here on `tensorflow` is tensorloom in this process.

    Raises:
        ImportError: the real TensorFlow is loaded already.
    """
    present = sys.modules.get(ALIAS)
    tensorloom = importlib.import_module("tensorloom")
    if present is tensorloom:
        return
    if present is not None:
        raise ImportError(f"{ALIAS} is loaded already, from {present.__file__}")
    sys.modules[ALIAS] = tensorloom
    # First for tensorflow.*, so that an installed TensorFlow is not mixed in; last for
    # names that nobody found, to say what is missing.
    sys.meta_path.insert(0, _AliasFinder(tensorloom))
    sys.meta_path.append(_MissingFinder(tensorloom))


class _AliasFinder(importlib.abc.MetaPathFinder):
    """Finds `tensorflow.a.b` as what `tensorloom.a.b` is."""

    def __init__(self, tensorloom: ModuleType) -> None:
        self._tensorloom = tensorloom

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        """The spec of an alias. Raises ModuleNotFoundError if there is no such name."""
        root, _, name = fullname.partition(".")
        if root != ALIAS or not name:
            return None
        module = _module_named(self._tensorloom, name)
        if module is None:
            raise _missing(self._tensorloom, name)
        loader = _AliasLoader(module)
        return importlib.machinery.ModuleSpec(fullname, loader, is_package=True)


class _AliasLoader(importlib.abc.Loader):
    """Puts a module that exists under a second name."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def exec_module(self, module: ModuleType) -> None:
        """Replaces the fresh module by the real one, which the import then returns."""
        sys.modules[module.__name__] = self._module


class _MissingFinder(importlib.abc.MetaPathFinder):
    """Explains `from tensorflow import something` when there is nothing like it.

    Python asks for `tensorloom.something` then, as the alias bears that name.
    """

    def __init__(self, tensorloom: ModuleType) -> None:
        self._tensorloom = tensorloom

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> None:
        """Raises ModuleNotFoundError for a submodule that tensorloom does not have."""
        root, _, name = fullname.partition(".")
        if root == self._tensorloom.__name__ and name:
            raise _missing(self._tensorloom, name)


def _module_named(tensorloom: ModuleType, name: str) -> ModuleType | None:
    """The module that a user of the package reaches by `tensorloom.<name>`."""
    for whole in WHOLE:
        if name == whole or name.startswith(whole + "."):
            found = _attribute_path(tensorloom, name)
            rest = name[len(whole) + 1 :]
            return found or _attribute_path(tensorloom, rest)
    return _attribute_path(tensorloom, name)


def _attribute_path(module: ModuleType, name: str) -> ModuleType | None:
    value: object = module
    for part in name.split(".") if name else []:
        value = getattr(value, part, None)
    return value if isinstance(value, ModuleType) else None


def _missing(tensorloom: ModuleType, name: str) -> ModuleNotFoundError:
    """The error for a module of TensorFlow that tensorloom does not have."""
    first = name.split(".")[0]
    message = f"tensorloom has no module {name!r}, which TensorFlow has as tf.{name}"
    if first == "python":
        message += "; tensorflow.python is private: use the public tf.* names"
    near = difflib.get_close_matches(first, dir(tensorloom), n=3)
    if near and first not in near:
        message += f"; nearest names: {', '.join('tf.' + known for known in near)}"
    # The name that is not `fullname`: of a module of that name a failing
    # `from tensorflow import x` would hide this message.
    return ModuleNotFoundError(message, name=f"{ALIAS}:{name}")
