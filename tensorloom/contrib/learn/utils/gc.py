"""Which of the directories of exports stay: filters of paths, and how they combine."""

from __future__ import annotations

import heapq
import os
from collections import namedtuple
from collections.abc import Callable
from typing import Any, Final

from tensorloom.client.program.compat import as_str_any
from tensorloom.framework.export import export, export_value
from tensorloom.storage.files import gfile

_HERE: Final = "contrib.learn.utils.gc."
Path = namedtuple("Path", "path export_version")
Filter = Callable[[Any], Any]
export_value(Path, _HERE + "Path")


@export(_HERE + "largest_export_versions")
def largest_export_versions(n: int) -> Filter:
    """Keeps the paths of the `n` largest versions."""

    def keep(paths: Any) -> list[Any]:
        known = (
            (path.export_version, index)
            for index, path in enumerate(paths)
            if path.export_version is not None
        )
        return sorted(paths[index] for _, index in heapq.nlargest(n, known))

    return keep


@export(_HERE + "one_of_every_n_export_versions")
def one_of_every_n_export_versions(n: int) -> Filter:
    """Keeps the largest version of 1 to n, that of n+1 to 2n, and so on."""

    def keep(paths: Any) -> list[Any]:
        largest: dict[int, Any] = {}
        for path in paths:
            version = path.export_version
            if version is None:
                continue
            interval = (version - 1) // n if version else 0
            if interval not in largest or largest[interval].export_version < version:
                largest[interval] = path
        return sorted(largest.values())

    return keep


@export(_HERE + "mod_export_version")
def mod_export_version(n: int) -> Filter:
    """Keeps the versions that `n` divides."""

    def keep(paths: Any) -> list[Any]:
        return sorted(path for path in paths if path.export_version % n == 0)

    return keep


@export(_HERE + "union")
def union(lf: Filter, rf: Filter) -> Filter:
    """Keeps what one of two filters keeps."""

    def keep(paths: Any) -> list[Any]:
        return sorted(set(lf(paths)) | set(rf(paths)))

    return keep


@export(_HERE + "negation")
def negation(f: Filter) -> Filter:
    """Keeps what a filter does not keep."""

    def keep(paths: Any) -> list[Any]:
        return sorted(set(paths) - set(f(paths)))

    return keep


@export(_HERE + "get_paths")
def get_paths(base_dir: Any, parser: Callable[[Any], Any]) -> list[Any]:
    """What there is in a directory, as the parser sees it.

    Args:
      base_dir: the directory.
      parser: from a `Path` without a version to one with its version, or to None where
        the path is none of the exports.
    """
    base = as_str_any(base_dir)
    names = (as_str_any(name) for name in gfile.list_directory(base))
    found = (parser(Path(os.path.join(base, name), None)) for name in names)
    return sorted(path for path in found if path)
