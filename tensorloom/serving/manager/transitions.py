"""What to do next with a model's versions: which to load, which to unload.

Pure decisions, as TensorFlow Serving's policies take them (docs of its `aspired version
policies`): the manager carries them out.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final


class Stage(enum.Enum):
    """How far the manager is with a version."""

    NEW = "new"
    LOADING = "loading"
    READY = "ready"
    UNLOADING = "unloading"
    #: Unloaded, or failed.
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One version, as a policy sees it."""

    version: int
    stage: Stage
    #: Whether the source wants it served.
    is_aspired: bool


class Verb(enum.Enum):
    """What the manager can do with a version."""

    LOAD = "load"
    UNLOAD = "unload"


Action = tuple[Verb, int]
Policy = Callable[[Sequence[Snapshot]], Action | None]


def preserve_availability(versions: Sequence[Snapshot]) -> Action | None:
    """Loads before it unloads: some version takes requests all the time.

    For a while the old and the new one are both in memory.
    """
    aspired = [v for v in versions if v.is_aspired]
    leaving = [
        v.version for v in versions if v.stage is Stage.READY and not v.is_aspired
    ]
    is_served = any(v.stage is Stage.READY for v in aspired)
    if leaving and (not aspired or is_served or len(leaving) > 1):
        return Verb.UNLOAD, min(leaving)
    return _load_newest(aspired)


def preserve_resources(versions: Sequence[Snapshot]) -> Action | None:
    """Unloads before it loads: never more in memory than is served.

    For a while no version takes requests.
    """
    leaving = [v for v in versions if not v.is_aspired and v.stage is not Stage.DONE]
    for version in leaving:
        if version.stage is Stage.READY:
            return Verb.UNLOAD, version.version
    if leaving:
        return None
    return _load_newest([v for v in versions if v.is_aspired])


def _load_newest(aspired: Sequence[Snapshot]) -> Action | None:
    new = [v.version for v in aspired if v.stage is Stage.NEW]
    return (Verb.LOAD, max(new)) if new else None


#: The values of `--version_transition`.
POLICIES: Final[dict[str, Policy]] = {
    "availability": preserve_availability,
    "resource": preserve_resources,
}
