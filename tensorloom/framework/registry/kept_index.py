"""Indexes of a package on disk: made once for each state of its files, then read.

An index is beside the package, or with the user's other caches where that place cannot
be written. Where neither can be, it is made in each process.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


def read_or_make(
    folder: Path,
    name: str,
    packages: Iterable[str],
    make: Callable[[], Any],
    read: Callable[[Any], T],
) -> T:
    """The index of packages in a folder.

    Args:
      folder: of the package that the others are in.
      name: of the index, part of the name of its file.
      packages: paths in `folder`; a change of a file in them makes a new index.
      make: the index as what JSON holds.
      read: of what `make` gave; raises ValueError, KeyError or TypeError for a file
        that says something else.
    """
    packages = list(packages)
    file = f"{name}.{state_of(folder, packages)}.json"
    for place in _places(folder):
        with suppress(OSError, ValueError, KeyError, TypeError):
            return read(json.loads((place / file).read_text()))
    made = make()
    for place in _places(folder):
        try:
            _keep(place, name, file, json.dumps(made))
            break
        except OSError:
            continue
    return read(made)


def state_of(folder: Path, packages: Iterable[str]) -> str:
    """What tells one state of the files from another."""
    lines: list[str] = []
    folders = [str(folder / package) for package in packages]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                name = entry.name
                if name.endswith(".py"):
                    status = entry.stat()
                    lines.append(f"{entry.path} {status.st_size} {status.st_mtime_ns}")
                elif name != "__pycache__" and entry.is_dir():
                    folders.append(entry.path)
    lines.sort()
    text = "\n".join(lines).encode()
    return f"{zlib.crc32(text):08x}{zlib.adler32(text):08x}"


def _places(folder: Path) -> Iterator[Path]:
    yield folder / "__pycache__"
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if os.path.isabs(home):
        yield Path(home) / "tensorloom"


def _keep(place: Path, name: str, file: str, text: str) -> None:
    """Writes the index, whole or not at all.

    Raises:
      OSError: it cannot be written there.
    """
    place.mkdir(parents=True, exist_ok=True)
    beside = place / f"{file}.{os.getpid()}"
    try:
        beside.write_text(text)
        beside.replace(place / file)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    for old in place.glob(f"{name}.*.json"):
        if old.name != file:
            old.unlink(missing_ok=True)
