"""Where steps wait at their boundary while the plan changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from tensorloom.framework import errors
from tensorloom.framework.runtime import concurrency, threads

if TYPE_CHECKING:
    from tensorloom.client.session.session import Session
    from tensorloom.elastic.plan import Plan


# So often it is looked whether a lease lasts again.
_LOOK_S: Final = 0.25


class PlacedSteps:
    """A session for one plan, and the steps that run in it."""

    def __init__(self, session: Session, plan: Plan) -> None:
        self.session = session
        self.plan = plan
        #: Whether a step has failed as if a server were lost.
        self.has_failed = False
        #: Whether its steps are given up: their errors say nothing of the program.
        self.is_given_up = False
        self.users = 0
        self.is_retired = False

    def give_up(self) -> None:
        """Cancels its steps; waits for nobody."""
        if not self.is_given_up:
            self.is_given_up = True
            threads.start(self._close)

    def _close(self) -> None:
        # Its servers may be gone; nobody waits for what they say.
        with suppress(errors.OpError):
            self.session.close()


class Gate:
    """Lets steps into the present session, or holds those that use shards while shut.

    All others go on, and nobody waits for them to end: a step that uses shards may wait
    for what another thread puts into a queue, which in its turn may wait for room. They
    stay with the session that they began in, which is closed after the last of them.

    Args:
      admits: whether this worker may begin steps as far as it knows; without its lease
        others may have changed the plan, and whoever looks after it shuts the gate.
    """

    def __init__(self, admits: Callable[[], bool]) -> None:
        self._admits = admits
        self._changed = concurrency.Condition()
        self._is_open = False
        self._is_closed = False
        self._steps: PlacedSteps | None = None
        self._counted = 0

    @contextmanager
    def step(self, counts: bool = True) -> Iterator[PlacedSteps]:
        """Waits until the gate is open; gives the session to run a step in.

        Args:
          counts: whether the step is held while the gate is shut, and waited for.

        Raises:
          RuntimeError: the gate is closed for good.
        """
        with self._changed:
            while not (self._lets_in() or (not counts and self._has_steps())):
                if self._is_closed:
                    raise RuntimeError("Attempted to use a closed Session.")
                self._changed.wait(_LOOK_S)
            steps = self._steps
            assert steps is not None
            steps.users += 1
            self._counted += counts
        try:
            yield steps
        finally:
            with self._changed:
                steps.users -= 1
                self._counted -= counts
                is_last = steps.is_retired and not steps.users
                self._changed.notify_all()
            if is_last:
                steps.give_up()

    def _lets_in(self) -> bool:
        return self._is_open and self._admits()

    def _has_steps(self) -> bool:
        return self._steps is not None and not self._steps.is_given_up

    def shut(self) -> None:
        """Holds the steps that come from now on."""
        with self._changed:
            self._is_open = False

    @property
    def is_open(self) -> bool:
        """Whether steps may begin."""
        return self._is_open

    @property
    def steps(self) -> PlacedSteps | None:
        """The present session."""
        return self._steps

    def wait_until_empty(self, timeout_s: float) -> bool:
        """Waits for the steps that run; whether all have ended."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._counted, timeout_s)

    def open(self, steps: PlacedSteps) -> None:
        """Lets steps in, into this session from now on."""
        with self._changed:
            old, self._steps = self._steps, steps
            self._is_open = True
            self._changed.notify_all()
            unused = False
            if old is not None and old is not steps:
                old.is_retired = True
                unused = not old.users
        if unused and old is not None:
            old.give_up()

    def wait_for_other(self, than: PlacedSteps, timeout_s: float) -> bool:
        """Waits until the gate is open with another session; whether it is."""
        with self._changed:
            return self._changed.wait_for(
                lambda: self._is_closed or (self._is_open and self._steps is not than),
                timeout_s,
            )

    def wait_until_open(self, timeout_s: float) -> PlacedSteps | None:
        """Waits until steps may begin; the session for them, None if they may not."""
        deadline = concurrency.monotonic() + timeout_s
        with self._changed:
            while not self._lets_in():
                if self._is_closed or concurrency.monotonic() > deadline:
                    return None
                self._changed.wait(_LOOK_S)
            return self._steps

    def close(self) -> None:
        """Ends the wait of all for good."""
        with self._changed:
            self._is_closed = True
            self._is_open = False
            self._changed.notify_all()
            steps, self._steps = self._steps, None
        if steps is not None:
            steps.session.close()
