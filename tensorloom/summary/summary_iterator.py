"""Reading event files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from tensorloom.framework.export import export
from tensorloom.storage.records.event_files import read_events


@export("train.summary_iterator")
def summary_iterator(path: Any) -> Iterator[Any]:
    """The `Event` messages of an event file, one after the other.

    Raises:
      NotFoundError: there is no file.
      DataLossError: a record is damaged; those before it have been given.
    """
    yield from read_events(os.fsdecode(path))
