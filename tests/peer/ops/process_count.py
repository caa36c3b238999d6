"""Numbers for the names of what programs share."""

from __future__ import annotations

import itertools
import os
from typing import Final

_EACH: Final = 1_000_000


def process_count(start: int = 0) -> itertools.count[int]:
    """Counts from `start`, but in each process of a test run somewhere else.

    What several processes record, a later one runs in one session.
    """
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
    return itertools.count(start + int(worker) * _EACH)
