"""What the policies do next, table by table."""

from __future__ import annotations

import pytest

from tensorloom.serving.manager.transitions import (
    Action,
    Policy,
    Snapshot,
    Stage,
    Verb,
    preserve_availability,
    preserve_resources,
)

NEW, LOADING, READY = Stage.NEW, Stage.LOADING, Stage.READY
UNLOADING, DONE = Stage.UNLOADING, Stage.DONE


@pytest.mark.parametrize(
    ("policy", "versions", "action"),
    [
        (preserve_availability, [], None),
        (preserve_availability, [(1, NEW, True)], (Verb.LOAD, 1)),
        (preserve_availability, [(1, NEW, True), (2, NEW, True)], (Verb.LOAD, 2)),
        # The old one stays until the new one is there.
        (preserve_availability, [(1, READY, False), (2, NEW, True)], (Verb.LOAD, 2)),
        (preserve_availability, [(1, READY, False), (2, LOADING, True)], None),
        (
            preserve_availability,
            [(1, READY, False), (2, READY, True)],
            (Verb.UNLOAD, 1),
        ),
        # A broken version never takes a working one's place.
        (preserve_availability, [(1, READY, False), (2, DONE, True)], None),
        (preserve_availability, [(1, READY, False)], (Verb.UNLOAD, 1)),
        (
            preserve_availability,
            [(1, READY, False), (2, READY, False), (3, NEW, True)],
            (Verb.UNLOAD, 1),
        ),
        (preserve_resources, [(1, READY, False), (2, NEW, True)], (Verb.UNLOAD, 1)),
        (preserve_resources, [(1, UNLOADING, False), (2, NEW, True)], None),
        (preserve_resources, [(1, DONE, False), (2, NEW, True)], (Verb.LOAD, 2)),
        (preserve_resources, [(1, READY, True), (2, NEW, True)], (Verb.LOAD, 2)),
    ],
)
def test_next_action(
    policy: Policy, versions: list[tuple[int, Stage, bool]], action: Action | None
) -> None:
    assert policy([Snapshot(*version) for version in versions]) == action
