"""What a training promises whatever fails, checked while it runs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.storage.checkpoints import write_tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tensorloom.coordination.writers import WriterClaim
    from tensorloom.simulate.scheduler import Process
    from tensorloom.simulate.simulation import Simulation

_TOKENS: Final = f"{write_tokens.__name__}._TOKENS"


class Promises:
    """Notes what the programs see, and what of it must not be.

    Args:
      simulation: of the training.
      directory: of its checkpoints.
    """

    def __init__(self, simulation: Simulation, directory: str) -> None:
        self._simulation = simulation
        self._directory = os.path.realpath(directory)
        #: What was broken.
        self.broken: list[str] = []
        #: The greatest global step of which `save` has returned.
        self.committed = -1
        self.saves = self.steps = self.restores = self.chiefs = 0
        # Grows whenever variables get other values than by updates.
        self._epoch = 0
        self._restoring: set[Process] = set()
        self._restorer = 0  # the greatest token of a chief that restored
        #: Restores that a chief began before the next one did, and that were refused.
        self.refused_restores = 0
        # By worker: the epoch, the counters that it saw last, and how many steps have
        # begun since.
        self._seen: dict[int, tuple[int, Sequence[float], int]] = {}
        self._began: dict[int, int] = {}  # by worker: the epoch of its last step
        self._claims: dict[Process, WriterClaim] = {}

    def _break(self, text: str) -> None:
        self.broken.append(f"{self._simulation.now:.3f} s: {text}")

    # --- updates ---------------------------------------------------------------------

    def variables_change(self) -> None:
        """A parameter server has lost its values."""
        self._epoch += 1

    @contextmanager
    def variables_changing(self, token: int) -> Iterator[None]:
        """Around a restore: what is seen meanwhile says nothing.

        The session of a chief is there by then, so that a restore of a chief with a
        smaller token changes nothing any more.
        """
        process = self._simulation.scheduler.here.process
        if token >= self._restorer:
            self._restorer = token
            self._restoring = {process}
            self._epoch += 1
        try:
            yield
        except errors.OpError:
            self.refused_restores += token < self._restorer
            raise
        finally:
            if token == self._restorer:
                self._restoring = set()
                self._epoch += 1

    def _now(self) -> int:
        """The epoch; one of its own while somebody restores, or died of it."""
        if self._restoring:
            self._epoch += 1
            self._restoring = {p for p in self._restoring if not p.is_dead}
        return self._epoch

    def step_begins(self, worker: int) -> None:
        """A step is to add 1 to each counter of its worker, if it comes so far."""
        epoch, before, begun = self._seen.get(worker, (-1, (), 0))
        self._seen[worker] = epoch, before, begun + 1
        self._began[worker] = self._now()

    def step_ended(self, worker: int, counters: Sequence[float]) -> None:
        """It has, and has fetched them."""
        self.steps += 1
        epoch, before, begun = self._seen[worker]
        now = self._now()
        if epoch == now:
            for number, (old, new) in enumerate(zip(before, counters, strict=True)):
                if not old + 1 <= new <= old + begun:
                    self._break(
                        f"worker{worker} found {new:g} in its counter at ps{number} "
                        f"after {old:g} and {begun} updates, the last of which ended"
                    )
        # What was counted before a restore, and is heard of after it, says nothing.
        known = now if self._began[worker] == now else -1
        self._seen[worker] = known, list(counters), 0

    # --- checkpoints -----------------------------------------------------------------

    def saved(self, step: int) -> None:
        """`save` has returned; the global step was at least that when it was called."""
        self.saves += 1
        self.committed = max(self.committed, step)

    def restored(self, step: int, committed: int) -> None:
        """A restore has given a global step; so much was committed as it began."""
        self.restores += 1
        if step < committed:
            self._break(
                f"the checkpoint of step {committed} was lost: {step} was restored"
            )

    def published(self, path: str) -> None:
        """A file gets its name now: only the newest writer's may."""
        name = os.path.basename(path)
        place = os.path.realpath(os.path.dirname(path))
        if place != self._directory or name != "checkpoint":
            return
        process = self._simulation.scheduler.here.process
        own = process.state.get(_TOKENS, {}).get(self._directory)
        there = self._newest_token()
        if own is None:
            self._break(f"{process.name} names a checkpoint without a token")
        elif own.token < there:
            self._break(
                f"{process.name} names a checkpoint with token {own.token}, "
                f"after one with {there}"
            )

    def _newest_token(self) -> int:
        try:
            with open(os.path.join(self._directory, write_tokens.FILE)) as file:
                token: int = json.load(file)["token"]
                return token
        except FileNotFoundError:
            return 0

    # --- chiefs ----------------------------------------------------------------------

    def is_chief(self, claim: WriterClaim) -> None:
        """A process has become the writer."""
        self.chiefs += 1
        process = self._simulation.scheduler.here.process
        self._claims[process] = claim
        self.look_for_chiefs()

    def look_for_chiefs(self) -> None:
        """Looks whether two processes take themselves for the writer."""
        chiefs = [
            process.name
            for process, claim in self._claims.items()
            if not process.is_dead and claim.is_held
        ]
        if len(chiefs) > 1:
            self._break(f"{' and '.join(chiefs)} are chiefs at one time")

    def facts(self) -> dict[str, Any]:
        """What there was to look at."""
        return {
            "steps": self.steps,
            "saves": self.saves,
            "restores": self.restores,
            "chiefs": self.chiefs,
            "refused_restores": self.refused_restores,
        }
