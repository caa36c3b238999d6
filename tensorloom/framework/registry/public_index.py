"""The index: which module declares which name and registers which op and gradient.

The first import of a changed package loads all of its modules, sees what each of them
declares, and keeps that in a file; later imports read the file. The file is beside the
package, or with the user's other caches where that place cannot be written. Where
neither can be, all modules are loaded each time.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from tensorloom.framework import export
from tensorloom.framework.registry import gradient_registry, late_modules, op_registry
from tensorloom.framework.registry.package_modules import import_all


@dataclass(frozen=True)
class PublicIndex:
    """What is known of packages without loading their modules."""

    places: export.Places  # of public names
    late: dict[str, dict[str, str]]  # kind of registration -> name -> module
    files: frozenset[str]  # namespaces that are packages or modules of ours

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
    key = _state(folder, packages)
    file = f"public_names.{key}.json"
    for place in _places(folder):
        with suppress(OSError, ValueError, KeyError, TypeError):
            kept = json.loads((place / file).read_text())
            return PublicIndex(
                export.Places(**kept["places"]), kept["late"], frozenset(kept["files"])
            )
    index = _made(root, packages)
    for place in _places(folder):
        try:
            _keep(place, file, index)
            break
        except OSError:
            continue
    return index


def _made(root: ModuleType, packages: Iterable[str]) -> PublicIndex:
    for name in packages:
        import_all(importlib.import_module(f"{root.__name__}.{name}"))
    places = export.places()
    namespaces = {n for name in places.modules for n in _above(name)}
    files = {
        n for n in namespaces if getattr(_module(root, n), "__file__", None) is not None
    }
    late = {"op": op_registry.places(), "gradient": gradient_registry.places()}
    return PublicIndex(places, late, frozenset(files))


def _above(name: str) -> Iterator[str]:
    while name := name.rpartition(".")[0]:
        yield name


def _module(root: ModuleType, namespace: str) -> ModuleType | None:
    return sys.modules.get(f"{root.__name__}.{namespace}")


def _state(folder: Path, packages: Iterable[str]) -> str:
    """What tells one state of the files from another."""
    digest = hashlib.sha256()
    for package in packages:
        for path, size, time in sorted(_files(str(folder / package))):
            digest.update(f"{path} {size} {time}\n".encode())
    return digest.hexdigest()[:16]


def _files(folder: str) -> Iterator[tuple[str, int, int]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                if entry.name != "__pycache__":
                    yield from _files(entry.path)
            elif entry.name.endswith(".py"):
                status = entry.stat()
                yield entry.path, status.st_size, status.st_mtime_ns


def _places(folder: Path) -> Iterator[Path]:
    yield folder / "__pycache__"
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if os.path.isabs(home):
        yield Path(home) / "tensorloom"


def _keep(place: Path, file: str, index: PublicIndex) -> None:
    """Writes the index, whole or not at all.

    Raises:
      OSError: it cannot be written there.
    """
    place.mkdir(parents=True, exist_ok=True)
    beside = place / f"{file}.{os.getpid()}"
    try:
        beside.write_text(
            json.dumps(
                {
                    "places": dataclasses.asdict(index.places),
                    "late": index.late,
                    "files": sorted(index.files),
                }
            )
        )
        beside.replace(place / file)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    for old in place.glob("public_names.*.json"):
        if old.name != file:
            old.unlink(missing_ok=True)
