"""Where exports go: a directory named after the time, in seconds since 1970."""

from __future__ import annotations

import time
from typing import Any, Final

from tensorloom.client.program import program_log
from tensorloom.storage.files import filesystem

MAX_DIRECTORY_CREATION_ATTEMPTS: Final = 10


def get_timestamped_export_dir(export_dir_base: Any) -> bytes:
    """A new directory's path in `export_dir_base`; the directory is not made yet.

    Numbers grow from export to export. Where this second's name is taken, the next
    second's is.

    Raises:
      RuntimeError: ten names were taken.
    """
    base = filesystem.path_text(export_dir_base)
    for attempt in range(1, MAX_DIRECTORY_CREATION_ATTEMPTS + 1):
        path = filesystem.join(base, str(int(time.time())))
        if not filesystem.exists(path):
            return path.encode()
        time.sleep(1)
        program_log.warning(
            "Directory %s already exists; retrying (attempt %d/%d)",
            path,
            attempt,
            MAX_DIRECTORY_CREATION_ATTEMPTS,
        )
    raise RuntimeError(
        "Failed to obtain a unique export directory name after "
        f"{MAX_DIRECTORY_CREATION_ATTEMPTS} attempts."
    )


def get_temp_export_dir(timestamped_export_dir: Any) -> bytes:
    """Beside the directory, a name that no server takes for a version of the model."""
    path = filesystem.path_text(timestamped_export_dir)
    folder, _, name = path.rpartition("/")
    return (f"{folder}/temp-{name}" if folder else f"temp-{name}").encode()
