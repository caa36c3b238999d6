"""One step of a call, timed."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tensorloom.serving.calls.limits import CallLimits
    from tensorloom.serving.manager.servable import Servable


def run_step(
    servable: Servable,
    feeds: Mapping[str, Any],
    fetches: Sequence[str],
    limits: CallLimits,
) -> list[Any]:
    """The fetched values of a servable, in a batch with others' where it has one."""
    started = time.perf_counter()
    try:
        return servable.runner(feeds, fetches, limits.step())
    finally:
        limits.step_s += time.perf_counter() - started
