"""Gives the program's modules their view of the libraries when they are imported."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any, Final

from tensorloom.compat.legacy import detours, python2, views
from tensorloom.compat.module_paths.finder import ALIASES, GivenModule

# Packages that are written for the libraries of today, whatever program imports them.
_OF_TODAY: Final = frozenset(
    [
        *(
            "tensorloom",
            *ALIASES,  # tensorloom under TensorFlow's names: its own finder has these
            "numpy",
            "scipy",
            "torch",
            "numba",
            "llvmlite",
            "google",
            "grpc",
        ),
        *("pandas", "matplotlib", "PIL", "sklearn", "h5py", "skimage", "cv2", "pytest"),
        *("fsspec", "pip", "setuptools", "pkg_resources", "wrapt", "absl", "joblib"),
        *("IPython", "ipykernel", "dateutil", "pytz", "requests", "urllib3", "certifi"),
        *("jax", "networkx", "sympy", "psutil", "yaml", "tqdm", "mpl_toolkits"),
    ]
)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the program's modules and libraries, and gives them their builtins."""

    def __init__(self, builtins: dict[str, Any]) -> None:
        self._builtins = builtins

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        """The spec of a module of the program, with its loader wrapped."""
        top = fullname.partition(".")[0]
        if top in _OF_TODAY or top in sys.stdlib_module_names:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(
            spec.loader, importlib.machinery.SourceFileLoader
        ):
            spec.loader = _Loader(spec.loader, self._builtins)
        return spec


class _Loader(importlib.abc.Loader):
    """Loads a source file with builtins of its own."""

    def __init__(
        self, loader: importlib.machinery.SourceFileLoader, builtins: dict[str, Any]
    ) -> None:
        self._loader = loader
        self._builtins = builtins

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        """The usual module."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Runs the file. What is wrong with a source of Python 2 is said."""
        module.__dict__["__builtins__"] = self._builtins
        path = self._loader.path
        try:
            source = self._loader.get_data(path)
            if detours.needs_detours(source):
                exec(detours.compiled(source, path), module.__dict__)
            else:
                self._loader.exec_module(module)
        except SyntaxError as error:
            python2.explain(error)
            raise


class _GoneFinder(importlib.abc.MetaPathFinder):
    """Finds modules that are gone, after everything else has failed to."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        """The spec of our module in place of one that is gone."""
        if fullname.startswith("six.moves."):
            from tensorloom.compat.legacy import six_moves

            known = six_moves.SUBMODULES.get(fullname[len("six.moves.") :])
            module: ModuleType | None = known
        elif fullname == "scipy" and not _is_installed("scipy"):
            module = ModuleType("scipy")
        else:
            module = views.missing_module(fullname)
        if module is None:
            return None
        if not hasattr(module, "__path__"):
            module.__path__ = []  # so that modules below it are asked for
        loader = GivenModule(module)
        return importlib.machinery.ModuleSpec(fullname, loader, is_package=True)


def _is_installed(name: str) -> bool:
    return importlib.machinery.PathFinder.find_spec(name) is not None


def install(main_module: ModuleType) -> None:
    """Gives the program, and what it imports from here on, their views.

    Args:
      main_module: the program's `__main__`, before it runs.
    """
    builtins = views.program_builtins()
    main_module.__dict__["__builtins__"] = builtins
    sys.meta_path.insert(0, _Finder(builtins))
    sys.meta_path.append(_GoneFinder())
    _keep_old_names()


def _keep_old_names() -> None:
    """Methods that classes of Python's library lost; to have them harms nobody."""
    import threading
    import unittest

    for owner, old, new in (
        (threading.Thread, "isAlive", "is_alive"),
        (unittest.TestCase, "assertEquals", "assertEqual"),
        (unittest.TestCase, "assertNotEquals", "assertNotEqual"),
        (unittest.TestCase, "assertAlmostEquals", "assertAlmostEqual"),
        (unittest.TestCase, "assertNotAlmostEquals", "assertNotAlmostEqual"),
        (unittest.TestCase, "assertRegexpMatches", "assertRegex"),
        (unittest.TestCase, "assertNotRegexpMatches", "assertNotRegex"),
        (unittest.TestCase, "assertRaisesRegexp", "assertRaisesRegex"),
        (unittest.TestCase, "assertItemsEqual", "assertCountEqual"),
        (unittest.TestCase, "assert_", "assertTrue"),
    ):
        if old not in vars(owner):
            setattr(owner, old, getattr(owner, new))
