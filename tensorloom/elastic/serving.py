"""Parameter servers of an elastic job: they join it, and leave it in order."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING, Any, Final

from tensorloom.client.program import program_log
from tensorloom.elastic import job as jobs
from tensorloom.elastic.plan import epoch_of
from tensorloom.framework import errors
from tensorloom.framework.runtime import concurrency

if TYPE_CHECKING:
    from tensorloom.cluster.server import Server
    from tensorloom.coordination.coordinator import Coordinator
    from tensorloom.elastic.plan import Plan

_AGAIN_S: Final = 1.0


class ElasticServer:
    """A task that holds shards.

    It refuses steps while its lease does not last: a server that was stopped, or cut
    off, and wakes up changes nothing that counts.

    Args:
      server: the task; it is started.
      coordinator: the lock service; that of TENSORLOOM_COORDINATION when None.

    Raises:
      ValueError: there is no lock service.
      errors.UnavailableError: it does not answer.
    """

    def __init__(self, server: Server, coordinator: Coordinator | None = None) -> None:
        self._server = server
        self._job = jobs.Job(coordinator)
        self._index = int(server.server_def.task_index)
        self._life = jobs.new_life()
        self._began = jobs.now()
        content = {
            "index": self._index,
            "life": self._life,
            "address": server.address,
            "began": self._began,
        }
        name = f"{self._index} {self._life}"
        self._presence = self._job.presence(jobs.SERVERS, name, content)
        self._leaving = self._job.presence(jobs.LEAVING, name, content)
        self._wants_to_leave = concurrency.Event()
        self._over = concurrency.Event()
        server.fence(self._check)
        self._thread = concurrency.Thread(
            target=self._stay, name="tensorloom-elastic-server", daemon=True
        )
        self._thread.start()

    def leave(self) -> None:
        """Asks for the shards to be moved to other servers; see `wait`."""
        self._wants_to_leave.set()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Waits until the server has left, or its task was stopped; whether it has."""
        return self._over.wait(timeout_s)

    def stop(self) -> None:
        """Leaves at once; shards that are here are lost."""
        self._over.set()
        self._thread.join()

    def _check(self) -> None:
        if not self._presence.lasts:
            raise errors.AbortedError(
                None,
                None,
                f"Parameter server {self._index} runs no step: its lease has ended, "
                "and other servers may have its shards",
            )

    def _stay(self) -> None:
        pause = 0.0
        while not self._over.wait(pause) and not self._server.is_stopped:
            pause = self._job.coordinator.poll_s()
            try:
                self._look()
            except errors.OpError as error:
                if self._job.coordinator.is_closed:
                    break
                program_log.warning("%s; asking again", error.message)
                pause = _AGAIN_S
        self._over.set()
        # In this order: who is there and does not want to leave gets shards.
        for presence in (self._presence, self._leaving):
            try:
                presence.give_back()
            except errors.UnavailableError as error:
                program_log.warning("%s; its lease will end", error.message)

    def _look(self) -> None:
        if not self._presence.lasts:
            known = self._job.servers().get(self._index)
            # An earlier life that was killed may be there until its lease ends.
            if known is not None and known.since > self._began:
                program_log.warning(
                    "Another process is parameter server %d now; this one ends.",
                    self._index,
                )
                self._over.set()
                return
            if not self._presence.take():
                return
        plan = self._job.plan()
        mine = set() if plan is None else plan.containers_of(self._index, self._life)
        if plan is not None and plan.is_ready:
            self._drop(plan, mine)
        if self._wants_to_leave.is_set():
            self._leaving.take()
            has_none = plan is not None and plan.is_ready and not mine
            # Without workers nobody moves shards, and nobody needs them.
            if has_none or not self._job.workers():
                self._over.set()

    def _drop(self, plan: Plan, mine: set[str]) -> None:
        """Drops what this plan has elsewhere. A later one's has a greater epoch."""
        old = [
            name
            for name in self._server.containers() - mine
            if (epoch := epoch_of(name)) is not None and epoch <= plan.version
        ]
        self._server.clear(old)


def serve(server: Server, coordinator: Coordinator | None = None) -> None:
    """What a parameter server of an elastic job does in place of `server.join()`.

    It joins the job; shards come to it while training goes on. With SIGTERM it leaves:
    its shards are moved to the others first; the last server stays until another comes
    or no worker is there. It returns when it has left, or when the task was stopped
    (`tf.train.stop_server`, the launcher when the chief is done).

    Args:
      server: a `tf.train.Server` of the job `ps`.
      coordinator: the lock service; that of TENSORLOOM_COORDINATION when None.

    Raises:
      ValueError: there is no lock service.
      errors.UnavailableError: it does not answer.
    """
    member = ElasticServer(server, coordinator)

    def leave(number: int, frame: Any) -> None:
        member.leave()

    is_main = threading.current_thread() is threading.main_thread()
    previous = signal.signal(signal.SIGTERM, leave) if is_main else None
    try:
        member.wait()
    finally:
        member.stop()
        if is_main:
            signal.signal(signal.SIGTERM, previous)
    server.stop()
