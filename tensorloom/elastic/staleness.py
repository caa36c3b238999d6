"""Bounded staleness: no worker runs far ahead of the slowest one."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from typing import Any, Final

import numpy as np

from tensorloom.elastic.restoring import JOB_STATE
from tensorloom.elastic.shards import JOB, shards_of
from tensorloom.framework import errors
from tensorloom.framework.graph.graph import add_to_collection, get_default_graph
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.runtime import concurrency
from tensorloom.framework.runtime.scopes import control_dependencies, device
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.constant import constant
from tensorloom.ops.array.placeholder import placeholder
from tensorloom.ops.state import resource_variable
from tensorloom.train.hooks.session_run_hook import (
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)

_LIMIT: Final = 1024
#: The clock of a worker that does not train.
_AWAY: Final = np.iinfo(np.int64).max
_FIRST_PAUSE_S: Final = 0.001
_LONGEST_PAUSE_S: Final = 0.05
# So often it is asked whether those are there that a worker waits for.
_ALIVE_S: Final = 0.25


class BoundedStalenessHook(SessionRunHook):
    """Lets a worker begin a step only while it is not too far ahead.

    Each worker has a clock on the parameter servers, the number of steps that it has
    ended. A step begins when the slowest worker that trains is at most `max_staleness`
    steps behind: 0 is lock step, without it workers are asynchronous. A worker that
    joins begins with the clock of the slowest. (Stale synchronous parallel: Ho et al.,
    NIPS 2013.) When the server of the clocks has died, the bound holds again from the
    next step of each worker on.

    Args:
      max_staleness: not negative.
      index: of this worker, less than 1024.
      alive: gives the indices of the workers that are there; asked only while this one
        waits, so that nobody waits for one that has died.

    Raises:
      ValueError: an argument is out of range.
    """

    def __init__(
        self, max_staleness: int, index: int, alive: Callable[[], Collection[int]]
    ) -> None:
        if max_staleness < 0:
            raise ValueError(f"max_staleness must not be negative: {max_staleness}")
        if not 0 <= index < _LIMIT:
            raise ValueError(f"A worker's index must be below {_LIMIT}: {index}")
        self._max_staleness = max_staleness
        self._index = index
        self._alive = alive
        self._clock = 0
        self._slowest = 0

    def begin(self) -> None:
        """Makes the clocks, on the first shard of the graph."""
        shards = shards_of(get_default_graph()) or {0}
        with device(f"/job:{JOB}/task:{min(shards)}/device:CPU:0"):
            # No checkpoint has them, and the leader initializes them, not the program.
            clocks = resource_variable.var_handle_op(
                dtypes.int64, [_LIMIT], "elastic/clocks", name="elastic/clocks"
            )
            away = constant(np.full(_LIMIT, _AWAY), name="elastic/away")
            add_to_collection(
                JOB_STATE, resource_variable.assign_variable_op(clocks, away)
            )
            self._new_clock = placeholder(dtypes.int64, [], name="elastic/clock")
            tick = apply_op(
                "ResourceScatterUpdate",
                resource=clocks,
                indices=constant(self._index),
                updates=self._new_clock,
            )
            self._read = resource_variable.read_variable_op(clocks, dtypes.int64)
            with control_dependencies([tick]):
                self._ticked = resource_variable.read_variable_op(clocks, dtypes.int64)

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Begins with the clock of the slowest worker."""
        clocks = self._run(session, self._read)
        self._clock = self._slowest_of(clocks, self._alive()) or 0
        self._tick(session)

    def before_run(self, run_context: SessionRunContext) -> None:
        """Waits for workers that are behind."""
        session = run_context.session
        pause, alive, asked_at = _FIRST_PAUSE_S, None, -math.inf
        while self._clock - self._slowest > self._max_staleness:
            if concurrency.monotonic() - asked_at > _ALIVE_S:
                alive, asked_at = self._alive(), concurrency.monotonic()
            slowest = self._slowest_of(self._run(session, self._read), alive)
            self._slowest = self._clock if slowest is None else slowest
            if self._clock - self._slowest > self._max_staleness:
                # No server tells a change: variables are all that it has.
                concurrency.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE_S)

    def after_run(
        self, run_context: SessionRunContext, run_values: SessionRunValues
    ) -> None:
        """Counts the step."""
        self._clock += 1
        self._tick(run_context.session)

    def end(self, session: Any) -> None:
        """Lets nobody wait for this worker any more."""
        self._clock = int(_AWAY)
        self._tick(session)

    def _tick(self, session: Any) -> None:
        clocks = self._run(session, self._ticked, {self._new_clock: self._clock})
        slowest = self._slowest_of(clocks)
        self._slowest = self._clock if slowest is None else min(slowest, self._clock)

    def _run(self, session: Any, fetch: Any, feed_dict: Any = None) -> Any:
        while True:
            try:
                return session.run(fetch, feed_dict)
            except (errors.FailedPreconditionError, errors.NotFoundError) as error:
                raise errors.FailedPreconditionError(
                    error.node_def,
                    error.op,
                    "There are no clocks of workers: all workers of a job have to pass "
                    f"max_staleness, or none of them. {error.message}",
                ) from error
            except errors.AbortedError:
                # A clock may be set twice, and read: the session has recovered.
                continue

    def _slowest_of(
        self, clocks: Any, alive: Collection[int] | None = None
    ) -> int | None:
        """The least clock of the others that train; None if there is none."""
        others = clocks.copy()
        others[self._index] = _AWAY
        if alive is not None:
            gone = np.ones(_LIMIT, bool)
            gone[[index for index in alive if index < _LIMIT]] = False
            others[gone] = _AWAY
        least = int(others.min())
        return None if least == _AWAY else least
