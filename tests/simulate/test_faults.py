"""Schedules of faults."""

from __future__ import annotations

from collections.abc import Sequence

from tensorloom.simulate.faults import Fault, draw, shrunk
from tensorloom.simulate.training import HOSTS


def test_seeds_give_schedules() -> None:
    assert draw(7, HOSTS) == draw(7, HOSTS)
    drawn = [fault for seed in range(100) for fault in draw(seed, HOSTS)]
    assert {fault.kind for fault in drawn} == {"kill", "stop", "cut", "slow"}
    assert {host for fault in drawn for host in fault.hosts} == set(HOSTS)
    assert all((len(fault.hosts) == 2) == (fault.kind == "cut") for fault in drawn)


def test_what_is_not_needed_is_left_out() -> None:
    faults = [Fault(float(i), "kill", (f"ps{i}",), 1.0) for i in range(6)]
    needed = {faults[1], faults[4]}

    def fails(some: Sequence[Fault]) -> bool:
        return needed <= set(some)

    assert shrunk(faults, fails) == [faults[1], faults[4]]
