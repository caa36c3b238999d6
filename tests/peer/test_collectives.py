"""Groups in which tasks of tensorloom and TensorFlow do collectives together."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.clusters import free_ports
from tests.peer.cluster.mixes import told
from tests.peer.cluster.processes import OURS, Processes, python_for
from tests.peer.test_clusters import is_same

REAL = "1.15"
# Of each task its system; the first one leads.
GROUPS = [
    (OURS, REAL),
    (REAL, OURS),
    (OURS, OURS),
    (OURS, REAL, REAL),
    (OURS, REAL, OURS),
    (REAL, OURS, REAL),
]


@pytest.fixture(scope="module")
def processes() -> Iterator[Processes]:
    found = Processes()
    yield found
    found.close()


def run(processes: Processes, systems: tuple[str, ...]) -> list[dict[str, Any]]:
    """By program, the outcomes of each task."""
    cluster = {"worker": [f"localhost:{port}" for port in free_ports(len(systems))]}
    with ExitStack() as stack:
        errors = stack.enter_context(tempfile.TemporaryFile())
        tasks = [
            stack.enter_context(
                processes.running(
                    errors, system, "member", system, json.dumps(cluster), str(index)
                )
            )
            for index, system in enumerate(systems)
        ]
        found = []
        for task in tasks:
            outcomes: dict[str, Any] = {}
            for line in iter(task.readline, b""):
                outcome = json.loads(line)
                outcomes[outcome.pop("name")] = outcome
                if "sent_by_another" in outcomes:
                    break
            assert outcomes, told(errors)
            found.append(outcomes)
    return found


@cache
def reference(processes: Processes, size: int) -> list[dict[str, Any]]:
    """What TensorFlow gives, alone."""
    return run(processes, (REAL,) * size)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("systems", GROUPS, ids="-".join)
def test_a_group_of_several_systems(
    processes: Processes, systems: tuple[str, ...]
) -> None:
    if not all(map(python_for, systems)):
        pytest.skip("a system of the group is not installed")
    expected = reference(processes, len(systems))
    found = run(processes, systems)
    for index, (ours, theirs) in enumerate(zip(found, expected, strict=True)):
        assert ours.keys() == theirs.keys()
        for name, outcome in ours.items():
            if name == "sent_by_another":
                continue
            assert "result" in theirs[name], (name, theirs[name])
            assert is_same(outcome, theirs[name]), (index, name, outcome, theirs[name])
    # What TensorFlow's leader does not hear it cannot tell; ours can, and does.
    sent = [outcomes["sent_by_another"] for outcomes in found]
    if systems[0] == REAL:
        assert all("error" in outcome for outcome in sent), sent
    else:
        assert all(outcome == {"result": [[2.0, 4.0]]} for outcome in sent), sent
    assert all("error" in outcomes["sent_by_another"] for outcomes in expected)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_an_estimator_trains_in_step(processes: Processes, tmp_path: Path) -> None:
    """The same losses on each worker, and the same variables in the end."""
    if not python_for(REAL):
        pytest.skip("TensorFlow 1.15 is not installed")
    found = {}
    for system in (OURS, REAL):
        cluster = {"worker": [f"localhost:{port}" for port in free_ports(2)]}
        with ExitStack() as stack:
            errors = stack.enter_context(tempfile.TemporaryFile())
            tasks = [
                stack.enter_context(
                    processes.running(
                        errors,
                        system,
                        *("in_step", system, json.dumps(cluster)),
                        *(str(index), str(tmp_path / system)),
                    )
                )
                for index in range(2)
            ]
            lines = [task.readline() for task in tasks]
            assert all(lines), told(errors)
            found[system] = [json.loads(line) for line in lines]
    for ours, theirs in zip(found[OURS], found[REAL], strict=True):
        assert len(ours["losses"]) == 12
        assert is_same(ours, theirs), (ours, theirs)
