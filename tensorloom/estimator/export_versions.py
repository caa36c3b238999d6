"""Which exports of a model stay: their directories are named after the time."""

from __future__ import annotations

import re
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.framework import errors
from tensorloom.storage.files import filesystem

_VERSION = re.compile(r"[0-9]{10}")


def keep_latest(directory: Any, count: int | None) -> None:
    """Removes all but the latest exports of a directory.

    Args:
      directory: where they are.
      count: how many stay; all when None.
    """
    if count is None:
        return
    names = [name.rstrip("/") for name in filesystem.list_directory(directory)]
    versions = sorted(name for name in names if _VERSION.fullmatch(name))
    for name in versions[:-count]:
        path = filesystem.join(filesystem.path_text(directory), name)
        try:
            filesystem.remove_tree(path)
        except (errors.NotFoundError, FileNotFoundError) as error:
            # Another task may have removed it.
            program_log.warning("Can not delete %s recursively: %s", path, error)
