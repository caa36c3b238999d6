"""One run of a simulated cluster: its clock, its network, its processes."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import ExitStack, contextmanager
from typing import Any, Final
from unittest import mock

from tensorloom.client.session.master_factory import register_master_factory
from tensorloom.client.session.remote_master import RemoteMaster
from tensorloom.cluster import control
from tensorloom.cluster.directory import wait_limit_s
from tensorloom.coordination import coordinator, writers
from tensorloom.coordination.records import Signature
from tensorloom.framework.runtime import cancellation, concurrency, threads
from tensorloom.simulate.calls import SimChannel
from tensorloom.simulate.network import Costs, Network
from tensorloom.simulate.primitives import names_for
from tensorloom.simulate.scheduler import Process, Scheduler
from tensorloom.storage.checkpoints import write_tokens
from tensorloom.transport.grpc.channel import GrpcChannel
from tensorloom.transport.wire import request_ids

#: Of the targets of sessions: `simulated://worker0:2222`.
SCHEME: Final = "simulated"


class Simulation:
    """A cluster in this process, on a virtual clock; one seed is one run.

        simulation = Simulation(seed=7)
        simulation.run(main)      # `main` is a program: it starts processes, and waits

    Args:
      seed: of all that is drawn: delays, and who goes on first.
      costs: what messages and calls take.
      switches: how likely another strand comes first where one takes a lock.
      limit_s: of the virtual clock; a run that is not over then is stuck.
    """

    def __init__(
        self,
        seed: int = 0,
        costs: Costs | None = None,
        switches: float = 0.0,
        limit_s: float = 1e9,
    ) -> None:
        self.seed = seed
        self.scheduler = Scheduler(seed, switches, limit_s)
        self.network = Network(self.scheduler, costs or Costs())

    @property
    def now(self) -> float:
        """The virtual clock, in seconds."""
        return self.scheduler.now

    def run(self, main: Callable[[], None]) -> None:
        """Runs a program of the simulation to its end.

        Raises:
          Stuck: it does not come to its end.
        """
        with self._installed():
            self.scheduler.run(main, Process("main"))

    def start(
        self, name: str, program: Callable[[], None], process: Process | None = None
    ) -> Process:
        """Starts a process with a program; returns at once."""
        process = process or Process(name)
        self.scheduler.spawn(program, f"{name}'s program", process)
        return process

    def sleep(self, seconds: float) -> None:
        """Waits on the virtual clock."""
        self.scheduler.sleep(seconds)

    def compute(self, seconds: float) -> None:
        """Computes for so long; longer in a process that is slow."""
        self.scheduler.sleep(seconds * self.scheduler.here.process.slowness)

    # --- what the code is given ------------------------------------------------------

    @contextmanager
    def _installed(self) -> Iterator[None]:
        """Gives the code this simulation's threads, clock, and targets."""
        scheduler = self.scheduler
        names = names_for(scheduler)
        start = threads.start

        def start_strand(task: Callable[[], None]) -> None:
            if scheduler.owns_thread:
                scheduler.spawn(task, getattr(task, "__qualname__", "a task"))
            else:
                start(task)

        collects = gc.isenabled()
        gc.disable()  # or when things go depends on what was there before
        try:
            with ExitStack() as stack:
                stack.enter_context(concurrency.replaced(names))
                stack.enter_context(mock.patch.object(threads, "start", start_strand))
                for module, name in _ONE_PER_PROCESS:
                    own = _PerProcess(scheduler, f"{module.__name__}.{name}")
                    stack.enter_context(mock.patch.object(module, name, own))
                clock = _Clocks(scheduler)
                stack.enter_context(mock.patch.object(cancellation, "_clock", clock))
                signature = self._signature_for(Signature)
                stack.enter_context(
                    mock.patch.object(coordinator, "Signature", signature)
                )
                channel = self._channel_for(GrpcChannel)
                stack.enter_context(mock.patch.object(control, "GrpcChannel", channel))
                register_master_factory(SCHEME, self._make_master)
                stack.enter_context(request_ids.seeded(self.seed))
                yield
        finally:
            if collects:
                gc.enable()

    def _signature_for(self, real: type[Signature]) -> Callable[[], Signature]:
        """What makes the signatures of processes: as long on all machines."""

        def make() -> Signature:
            if self.scheduler.owns_thread:
                return real(self.scheduler.here.process.name, 1)
            return real()

        return make

    def _channel_for(self, real: Callable[[str], Any]) -> Callable[[str], Any]:
        """What makes the channels of calls that steer other tasks."""

        def make(address: str) -> Any:
            if self.scheduler.owns_thread:
                return SimChannel(self.network, address)
            return real(address)

        return make

    def _make_master(self, target: str, config: Any) -> Any:
        """The master of a target; that of the own task is called without a network."""
        address = target.removeprefix(f"{SCHEME}://")
        own = self.scheduler.here.process.state.get("task")
        if own is not None and own.address == address:
            return own.master
        channel = SimChannel(self.network, address)
        return RemoteMaster(target, channel, wait_limit_s())


class _PerProcess(MutableMapping[Any, Any]):
    """A dictionary of which each process of the simulation has one."""

    def __init__(self, scheduler: Scheduler, name: str) -> None:
        self._scheduler = scheduler
        self._name = name

    def _own(self) -> dict[Any, Any]:
        if not self._scheduler.owns_thread:
            return {}
        own: dict[Any, Any] = self._scheduler.here.process.state.setdefault(
            self._name, {}
        )
        return own

    def __getitem__(self, key: Any) -> Any:
        return self._own()[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._own()[key] = value

    def __delitem__(self, key: Any) -> None:
        del self._own()[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._own())

    def __len__(self) -> int:
        return len(self._own())


class _Clocks:
    """The clock of deadlines, of which each process has one."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._real = cancellation._clock

    def _own(self) -> Any:
        if not self._scheduler.owns_thread:
            return self._real
        state = self._scheduler.here.process.state
        if "deadlines" not in state:
            state["deadlines"] = type(self._real)()
        return state["deadlines"]

    def add(self, deadline: Any, due: float) -> None:
        """See `cancellation._Clock.add`."""
        self._own().add(deadline, due)

    def discard(self, deadline: Any) -> None:
        """See `cancellation._Clock.discard`."""
        self._own().discard(deadline)


# Tables of modules that are one for each process in reality.
_ONE_PER_PROCESS: Final = (
    (write_tokens, "_TOKENS"),
    (writers, "_claims"),
    (writers, "_coordinators"),
)
