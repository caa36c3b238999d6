"""`DumpingDebugWrapperSession`: writes each run into a directory of its own."""

from __future__ import annotations

import itertools
import os
import threading
import time
from typing import Any

from tensorloom.debug.dumps import event_files
from tensorloom.debug.sessions.wrapper import NonInteractiveDebugWrapperSession
from tensorloom.protos.event_pb2 import Event
from tensorloom.storage.files import gfile
from tensorloom.storage.files.file_io import FileIO


class DumpingDebugWrapperSession(NonInteractiveDebugWrapperSession):
    """Dumps what is watched in each run to `session_root/run_<time>_<number>`."""

    def __init__(
        self,
        sess: Any,
        session_root: str,
        watch_fn: Any = None,
        thread_name_filter: str | None = None,
        pass_through_operrors: bool | None = None,
        log_usage: bool = True,
    ) -> None:
        """Wraps a session.

        Args:
          session_root: an empty directory, or one that is made.
          log_usage: no usage is logged.
          sess, watch_fn, thread_name_filter, pass_through_operrors: as for
            `NonInteractiveDebugWrapperSession`.

        Raises:
          ValueError: `session_root` is a file, or a directory with something in it.
        """
        super().__init__(sess, watch_fn, thread_name_filter, pass_through_operrors)
        root = os.path.expanduser(session_root)
        if gfile.exists(root) and not gfile.isdir(root):
            raise ValueError(f"session_root path points to a file: {root}")
        if gfile.isdir(root) and gfile.listdir(root):
            raise ValueError(
                f"session_root path points to a non-empty directory: {root}"
            )
        gfile.makedirs(root)
        self._session_root = root
        self._numbers = itertools.count()
        self._lock = threading.Lock()

    def prepare_run_debug_urls(self, fetches: Any, feed_dict: Any) -> list[str]:
        """Makes the run's directory, with files of what is fetched and fed."""
        with self._lock:
            name = f"run_{time.time_ns() // 1000}_{next(self._numbers)}"
        folder = os.path.join(self._session_root, name)
        gfile.mkdir(folder)
        feeds = feed_dict.keys() if feed_dict else feed_dict
        for tag, told in (
            (event_files.FETCHES_INFO_FILE_TAG, fetches),
            (event_files.FEED_KEYS_INFO_FILE_TAG, feeds),
        ):
            event = Event()
            event.log_message.message = repr(told)
            path = os.path.join(folder, event_files.METADATA_FILE_PREFIX + tag)
            with FileIO(path, "wb") as file:
                file.write(event.SerializeToString())
        return [f"file://{folder}"]
