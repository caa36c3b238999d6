"""Which exports of a model stay, as filters of paths with versions.

What `tensorflow_estimator.python.estimator.gc` has: a filter takes paths and gives
those that are kept, sorted.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from tensorloom.storage.files import gfile


class Path(NamedTuple):
    """A directory, and the version that its name says."""

    path: Any
    export_version: Any


Filter = Callable[[Iterable[Path]], list[Path]]


def largest_export_versions(count: int) -> Filter:
    """Keeps the paths of the `count` largest versions."""

    def keep(paths: Iterable[Path]) -> list[Path]:
        versioned = [path for path in paths if path.export_version is not None]
        versioned.sort(key=lambda path: path.export_version)
        return sorted(versioned[-count:]) if count else []

    return keep


def one_of_every_n_export_versions(size: int) -> Filter:
    """Keeps the largest version of each interval [0, n], (n, 2n], (2n, 3n], ..."""

    def keep(paths: Iterable[Path]) -> list[Path]:
        largest: dict[int, Path] = {}
        for path in paths:
            version = path.export_version
            if version is not None:
                interval = max(version - 1, 0) // size
                known = largest.get(interval)
                if known is None or known.export_version < version:
                    largest[interval] = path
        return sorted(largest.values())

    return keep


def mod_export_version(step: int) -> Filter:
    """Keeps the versions that are multiples of `step`."""
    return lambda paths: sorted(p for p in paths if p.export_version % step == 0)


def union(first: Filter, second: Filter) -> Filter:
    """Keeps what one of two filters keeps."""
    return lambda paths: sorted({*first(paths), *second(paths)})


def negation(of: Filter) -> Filter:
    """Keeps what a filter does not keep."""

    def keep(paths: Iterable[Path]) -> list[Path]:
        kept = set(of(paths))
        return sorted(path for path in paths if path not in kept)

    return keep


def get_paths(base_dir: Any, parser: Callable[[Path], Path | None]) -> list[Path]:
    """The directories below one for which `parser` gives a path with a version."""
    base = os.fsdecode(base_dir)
    names = [os.fsdecode(name).rstrip("/") for name in gfile.list_directory(base)]
    found = [parser(Path(os.path.join(base, name), None)) for name in names]
    return sorted(path for path in found if path)
