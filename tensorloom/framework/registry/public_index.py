"""The index: which module declares which name and registers which op and gradient.

The first import of a changed package loads all of its modules, sees what each of them
declares, and keeps that in a file (`kept_index.py`); later imports read the file.
"""

from __future__ import annotations

import dataclasses
import importlib
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from tensorloom.framework import export
from tensorloom.framework.registry import (
    gradient_registry,
    kept_index,
    late_modules,
    op_registry,
)
from tensorloom.framework.registry.package_modules import import_all


@dataclass(frozen=True)
class PublicIndex:
    """What is known of packages without loading their modules."""

    places: export.Places  # of public names
    late: dict[str, dict[str, str]]  # kind of registration -> name -> module
    files: list[str]  # namespaces that are packages or modules of ours

    def use(self) -> None:
        """Makes look-ups load what the index knows."""
        export.add_places(self.places)
        late_modules.add(self.late)


def of_packages(root: ModuleType, but: frozenset[str]) -> PublicIndex:
    """The index of the packages of `root`, read from its file or made anew.

    Args:
      but: names of packages, without that of `root`, which are left out.
    """
    folder = Path(root.__path__[0])
    packages = sorted(
        entry.name
        for entry in os.scandir(folder)
        if entry.is_dir()
        and entry.name.isidentifier()
        and entry.name not in {*but, "__pycache__"}
    )
    return kept_index.read_or_make(
        folder,
        "public_names",
        packages,
        lambda: dataclasses.asdict(_made(root, packages)),
        _read,
    )


def _read(kept: dict[str, Any]) -> PublicIndex:
    places = export.Places(**kept["places"])
    return PublicIndex(places, kept["late"], list(kept["files"]))


def _made(root: ModuleType, packages: Iterable[str]) -> PublicIndex:
    for name in packages:
        import_all(importlib.import_module(f"{root.__name__}.{name}"))
    places = export.places()
    namespaces = {n for name in places.modules for n in _above(name)}
    files = sorted(
        n for n in namespaces if getattr(_module(root, n), "__file__", None) is not None
    )
    late = {"op": op_registry.places(), "gradient": gradient_registry.places()}
    return PublicIndex(places, late, files)


def _above(name: str) -> Iterator[str]:
    while name := name.rpartition(".")[0]:
        yield name


def _module(root: ModuleType, namespace: str) -> ModuleType | None:
    return sys.modules.get(f"{root.__name__}.{namespace}")
