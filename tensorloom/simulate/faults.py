"""What fails in a run, and when: drawn from a seed, or written down."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from tensorloom.simulate.scheduler import Process
    from tensorloom.simulate.simulation import Simulation

# How likely each kind of fault is, beside the others.
_KINDS: Final = {"kill": 5, "stop": 4, "cut": 5, "slow": 1}
# Faults begin within so many seconds.
_PERIOD_S: Final = 40.0
_MOST: Final = 6
_SLOWNESS: Final = 20.0


@dataclass(frozen=True, order=True)
class Fault:
    """One fault.

    Args:
      at: when it begins, in seconds of the virtual clock.
      kind: "kill" (it is started again at the end), "stop" (as by SIGSTOP), "cut" (of
        two hosts from each other) or "slow"; where tasks come and go also "leave" (it
        is told to end, and started again so long after its end) and "join" (it is not
        there before).
      hosts: one, or two for "cut".
      lasts_s: how long.
    """

    at: float
    kind: str
    hosts: tuple[str, ...]
    lasts_s: float

    def __str__(self) -> str:
        hosts = " and ".join(self.hosts)
        return f"{self.at:8.3f} s: {self.kind} {hosts} for {self.lasts_s:.3f} s"


def draw(seed: int, hosts: Sequence[str]) -> list[Fault]:
    """The faults of a seed, in order."""
    dice = random.Random(f"faults {seed}")
    kinds = list(_KINDS)
    faults = []
    for _ in range(dice.randint(1, _MOST)):
        (kind,) = dice.choices(kinds, list(_KINDS.values()))
        targets = dice.sample(list(hosts), 2 if kind == "cut" else 1)
        # Some end before anybody notices, some long after.
        lasts_s = 10 ** dice.uniform(-1.0, 1.8)
        faults.append(
            Fault(
                round(dice.uniform(0.0, _PERIOD_S), 3),
                kind,
                tuple(sorted(targets)),
                round(lasts_s, 3),
            )
        )
    return sorted(faults)


class FaultMaker:
    """Makes the faults of a schedule in a simulation.

    Args:
      simulation: which one.
      processes: the processes that run now, by host; changed by kills.
      start: starts the process of a host again.
      leave: tells a process to end, and how long after its end to start it again.
    """

    def __init__(
        self,
        simulation: Simulation,
        processes: dict[str, Process],
        start: Callable[[str], None],
        leave: Callable[[Process, float], None] | None = None,
    ) -> None:
        self._simulation = simulation
        self._processes = processes
        self._start = start
        self._leave = leave
        self.made = 0

    def schedule(self, faults: Sequence[Fault]) -> None:
        """Has all of them happen."""
        for fault in faults:
            self._simulation.scheduler.at(fault.at, lambda f=fault: self._make(f))  # type: ignore[misc]

    def _make(self, fault: Fault) -> None:
        process = self._processes.get(fault.hosts[0])
        if fault.kind == "join":
            self.made += 1
            self._start(fault.hosts[0])
            return
        if process is None or process.is_dead:
            return  # it has ended, or an earlier fault has it
        network = self._simulation.network
        after = self._simulation.scheduler.after
        self.made += 1
        if fault.kind == "kill":
            network.kill(process)
            after(fault.lasts_s, lambda: self._start(process.name))
        elif fault.kind == "stop":
            network.stop(process)
            after(fault.lasts_s, lambda: self._go_on(process))
        elif fault.kind == "leave":
            assert self._leave is not None
            self._leave(process, fault.lasts_s)
        elif fault.kind == "slow":
            process.slowness = _SLOWNESS
            after(fault.lasts_s, lambda: setattr(process, "slowness", 1.0))
        else:
            network.cut(*fault.hosts)
            after(fault.lasts_s, lambda: network.heal(*fault.hosts))

    def _go_on(self, process: Process) -> None:
        if not process.is_dead:
            self._simulation.network.go_on(process)


def shrunk(
    faults: Sequence[Fault], fails: Callable[[Sequence[Fault]], bool]
) -> list[Fault]:
    """Fewer faults with which a run still fails: none of them can be left out.

    Args:
      faults: with which it fails.
      fails: runs it with others.
    """
    left = list(faults)
    i = 0
    while i < len(left):
        without = left[:i] + left[i + 1 :]
        if fails(without):
            left = without
        else:
            i += 1
    return left
