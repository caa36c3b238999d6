"""The virtual network: messages that take their time, and links that fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tensorloom.simulate.calls import Listener, SimCall
    from tensorloom.simulate.scheduler import Process, Scheduler

# What a lost packet costs at first; then twice as much, and so on, as with TCP.
_RETRANSMISSION_S: Final = 0.2
_RETRANSMISSIONS: Final = 8


@dataclass(frozen=True)
class Costs:
    """What things take. All are parameters; `docs/simulation.md` says where from.

    Args:
      latency_s: of a message from one host to another.
      jitter_s: what is added to it at most.
      bandwidth: bytes a second of each host, in each direction.
      loss: how likely a message is lost, and sent again.
      call_s: computing of the called task for each call.
      message_s: computing of the caller for each call.
      byte_s: computing for each byte of a tensor that is sent or received.
      value_scale: each byte of a tensor stands for so many.
      task_timeout_s: how long a task may be silent.
    """

    latency_s: float = 100e-6
    jitter_s: float = 20e-6
    bandwidth: float = 1.25e9
    loss: float = 0.0
    call_s: float = 100e-6
    message_s: float = 50e-6
    byte_s: float = 0.0
    value_scale: float = 1.0
    task_timeout_s: float = 60.0


@dataclass
class _Host:
    """When the two directions of a host's link are free again."""

    out_free: float = 0.0
    in_free: float = 0.0
    sent: float = 0.0  # bytes


@dataclass
class _Cut:
    """A cut between two hosts, and the messages that wait for its end."""

    since: float
    held: list[tuple[str, str, float, Callable[[], None]]] = field(default_factory=list)


class Network:
    """Hosts, and the way between them.

    A process is at the host of its name; a host has one task at a time.
    """

    def __init__(self, scheduler: Scheduler, costs: Costs) -> None:
        self.scheduler = scheduler
        self.costs = costs
        self.messages = 0
        self.listeners: dict[str, Listener] = {}
        #: The calls under way, in the order in which they began.
        self.calls: dict[SimCall, None] = {}
        self._hosts: dict[str, _Host] = {}
        self._cuts: dict[tuple[str, str], _Cut] = {}
        self._stopped: dict[str, float] = {}

    # --- messages --------------------------------------------------------------------

    def send(
        self, source: str, target: str, size: float, deliver: Callable[[], None]
    ) -> None:
        """Sends a message; `deliver`, which must not wait, is called when it is there.

        Messages of one host take turns at its link. What a cut holds up comes when it
        has ended.
        """
        self.messages += 1
        scheduler = self.scheduler
        cut = self._cuts.get(_pair(source, target))
        if cut is not None:
            cut.held.append((source, target, size, deliver))
            return
        if source == target:
            scheduler.after(0.0, deliver)
            return
        costs = self.costs
        out = self._hosts.setdefault(source, _Host())
        into = self._hosts.setdefault(target, _Host())
        takes = size / costs.bandwidth
        begins = max(scheduler.now, out.out_free)
        out.out_free = begins + takes
        out.sent += size
        arrives = begins + costs.latency_s + costs.jitter_s * scheduler.random.random()
        into.in_free = max(arrives, into.in_free) + takes
        when = into.in_free + self._lost_s()
        scheduler.at(when, lambda: self._arrive(source, target, size, deliver))

    def _lost_s(self) -> float:
        """How much later a message comes that is lost some times."""
        late = 0.0
        if self.costs.loss:
            for i in range(_RETRANSMISSIONS):
                if self.scheduler.random.random() >= self.costs.loss:
                    break
                late += _RETRANSMISSION_S * 2**i
        return late

    def _arrive(
        self, source: str, target: str, size: float, deliver: Callable[[], None]
    ) -> None:
        cut = self._cuts.get(_pair(source, target))
        if cut is None:
            deliver()
        else:
            cut.held.append((source, target, size, deliver))

    def bytes_sent(self) -> float:
        """By all hosts."""
        return sum(host.sent for host in self._hosts.values())

    # --- what fails ------------------------------------------------------------------

    def cut(self, one: str, other: str) -> None:
        """Cuts two hosts off from each other; nobody is told."""
        pair = _pair(one, other)
        if pair not in self._cuts:
            self._cuts[pair] = _Cut(self.scheduler.now)
            self._look_later(lambda: pair in self._cuts, self._lose_cut_off, *pair)

    def heal(self, one: str, other: str) -> None:
        """Ends a cut: what was held up is sent again."""
        cut = self._cuts.pop(_pair(one, other), None)
        if cut is not None:
            late = _RETRANSMISSION_S * self.scheduler.random.random()
            for message in cut.held:
                self.scheduler.after(late, lambda m=message: self.send(*m))  # type: ignore[misc]

    def stop(self, process: Process) -> None:
        """Stops a process: it says nothing, but its host keeps its connections."""
        self.scheduler.stop(process)
        self._stopped[process.name] = self.scheduler.now
        self._look_later(
            lambda: process.is_stopped, self._lose_stopped, process.name, ""
        )

    def go_on(self, process: Process) -> None:
        """Lets a stopped process go on."""
        self._stopped.pop(process.name, None)
        self.scheduler.go_on(process)

    def kill(self, process: Process) -> None:
        """Kills a process; its host tells the others that the connections are gone."""
        self._stopped.pop(process.name, None)
        self.scheduler.kill(process)
        for address, listener in list(self.listeners.items()):
            if listener.process is process:
                del self.listeners[address]
        for call in list(self.calls):
            if call.server_process is process:
                call.reset()
            elif call.client is process:
                call.abandon()

    def _look_later(
        self,
        lasts: Callable[[], bool],
        lose: Callable[[str, str], None],
        one: str,
        other: str,
    ) -> None:
        """Asks for signs of life, as long as none can come."""

        def look() -> None:
            if lasts():
                lose(one, other)
                self.scheduler.after(period_s, look)

        period_s = self.costs.task_timeout_s / 4
        self.scheduler.after(period_s, look)

    def _lose_cut_off(self, one: str, other: str) -> None:
        since = self._cuts[one, other].since
        for call in list(self.calls):
            if _pair(call.client.name, call.host) == (one, other):
                self._lose(call, since)

    def _lose_stopped(self, host: str, _: str) -> None:
        since = self._stopped.get(host)
        for call in list(self.calls):
            if since is not None and call.host == host:
                self._lose(call, since)

    def _lose(self, call: SimCall, since: float) -> None:
        limit_s = self.costs.task_timeout_s
        if self.scheduler.now - max(since, call.began) >= 0.75 * limit_s:
            call.lose(f"it has not answered for {limit_s:g} s")


def _pair(one: str, other: str) -> tuple[str, str]:
    return (one, other) if one < other else (other, one)
