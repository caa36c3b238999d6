"""`ElasticSession`: a session that stays while servers come, leave and die."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Final

from tensorloom.client.program import program_log
from tensorloom.client.session.base_session import SessionInterface
from tensorloom.elastic import job as jobs
from tensorloom.elastic.gate import Gate, PlacedSteps
from tensorloom.elastic.leader import Leader
from tensorloom.elastic.placed_session import PlacedSession, task_of
from tensorloom.elastic.shard_steps import ShardSteps
from tensorloom.framework import errors
from tensorloom.framework.runtime import concurrency, default_stack
from tensorloom.train.inputs.queue_runner import RunnerThread

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from tensorloom.cluster.server import Server
    from tensorloom.elastic.held_copies import HeldCopies
    from tensorloom.elastic.job import Job, Presence
    from tensorloom.elastic.plan import Plan
    from tensorloom.elastic.restoring import Model
    from tensorloom.framework.graph.graph import Graph

#: What a step fails with whose server is gone, or has given its shards away.
_LOST: Final = (errors.UnavailableError, errors.AbortedError)
_GIVEN_UP: Final = (*_LOST, errors.CancelledError)
_STALE: Final = (errors.FailedPreconditionError, errors.NotFoundError)
_AGAIN_S: Final = 1.0


class StepLostError(errors.AbortedError):
    """A step failed as a server was lost; the session has recovered.

    What the step had to update may be updated in part: on servers that are still there.
    It is not made again by itself, for then a part would be updated twice.
    """


class ElasticSession(SessionInterface):
    """Runs the steps of one worker, each in a session that is placed by the plan.

    Args:
      server: the worker's task.
      model: what is trained; its graph is finalized.
      config: a `tf.ConfigProto`.
      job: the lock service.
      first_servers: how many servers the first plan waits for.
      held: the copies that workers hold, if they do.
      max_wait_s: how long to wait for a plan, and for servers that were lost.
    """

    #: Fetches are handed on as they are.
    takes_flat_fetches = True

    def __init__(
        self,
        server: Server,
        model: Model,
        config: Any,
        job: Job,
        first_servers: int = 1,
        held: HeldCopies | None = None,
        max_wait_s: float = 7200.0,
    ) -> None:
        self._server = server
        self._graph = model.graph
        self._config = config
        self._job = job
        self._held = held
        self._max_wait_s = max_wait_s
        self._failed_at = 0.0
        name = f"{task_of(server)} {jobs.new_life()}"
        self._name = name
        self._own = f"elastic.own.{name.rpartition(' ')[2]}"
        self._presence = job.presence(
            jobs.WORKERS, name, {"task": task_of(server), "address": server.address}
        )
        self._gate = Gate(lambda: self._presence.lasts)
        self._paused: Presence | None = None
        self._paused_for = 0
        self._over = concurrency.Event()
        self._shard_steps = ShardSteps(model.graph)
        self._leader = Leader(job, server, model, config, first_servers, held)
        self._thread = concurrency.Thread(
            target=self._watch, name="tensorloom-elastic-session", daemon=True
        )
        self._thread.start()
        self._leader.start()
        if held is not None:
            held.start(self._gate, name, model.graph)

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._graph

    @property
    def graph_def(self) -> Any:
        """The graph as the program has made it, with shards for servers."""
        return self._graph.as_graph_def()

    @property
    def sess_str(self) -> bytes:
        """The target."""
        return self._server.target.encode()

    @property
    def plan(self) -> Plan | None:
        """The plan that steps follow now."""
        steps = self._gate.steps
        return None if steps is None else steps.plan

    def as_default(self) -> AbstractContextManager[Any]:
        """Makes this the default session of the thread, in a `with` block."""
        return default_stack.session_as_default(self)

    def run(
        self,
        fetches: Any,
        feed_dict: Any = None,
        options: Any = None,
        run_metadata: Any = None,
    ) -> Any:
        """As `Session.run`; waits while shards move.

        Raises:
          StepLostError: a server was lost meanwhile; the next step finds its shards.
          errors.UnavailableError: it was, and nobody has taken its place in time.
        """
        uses_shards = self._shard_steps.use_shards(fetches, feed_dict)
        # A queue's runner may wait for room, which there is when training goes on.
        is_runner = isinstance(threading.current_thread(), RunnerThread)
        counts = uses_shards and not is_runner
        while True:
            with self._gate.step(counts) as steps:
                lease = self._presence.held
                try:
                    found = steps.session.run(fetches, feed_dict, options, run_metadata)
                    failure: errors.OpError | None = None
                except (errors.OpError, RuntimeError) as error:
                    failure = self._loss(steps, error, uses_shards)
                    if failure is None:
                        raise
            if failure is not None:
                self._recover(steps, failure)
            elif counts and not (lease is not None and lease.lasts):
                failure = self._loss_without_lease(steps)
            if failure is None:
                return found
            if counts:
                raise StepLostError(
                    failure.node_def,
                    failure.op,
                    "A step was lost with its server; the session goes on. "
                    f"{failure.message}",
                )
            # It fills a queue, or waits for what is not there yet: it is made again.

    def _loss(
        self, steps: PlacedSteps, error: Exception, uses_shards: bool
    ) -> errors.OpError | None:
        """What a step was lost by; None if it failed for another reason."""
        if steps.is_given_up and isinstance(error, (RuntimeError, *_GIVEN_UP)):
            # Cancelled, or its session was closed as it began.
            return errors.AbortedError(None, None, str(error))
        if uses_shards and isinstance(error, _LOST):
            return error
        if uses_shards and isinstance(error, _STALE):
            newest = self._job.plan()
            if newest is not None and newest.version != steps.plan.version:
                return error
        return None

    def _loss_without_lease(self, steps: PlacedSteps) -> errors.OpError | None:
        """What became of a step in which this worker was gone for a while, for others.

        They wait for no worker that is gone: shards may have moved under the step, and
        what it did at their old places counts no more.
        """
        now = self._gate.wait_until_open(self._max_wait_s)
        if now is not None and now.plan.version == steps.plan.version:
            return None
        return errors.AbortedError(
            None, None, "This worker's lease ended in the step, and shards moved"
        )

    def _recover(self, steps: PlacedSteps, failure: errors.OpError) -> None:
        """Waits until there is another session to run steps in."""
        program_log.info("Waiting for the shards of a server: %s", failure.message)
        self._failed_at = concurrency.monotonic()
        steps.has_failed = True
        if not self._gate.wait_for_other(steps, self._max_wait_s):
            raise failure

    def make_callable(
        self, fetches: Any, feed_list: Any = None, accept_options: bool = False
    ) -> Callable[..., Any]:
        """A function that runs one step.

        Args:
          fetches: as for `run`.
          feed_list: tensors; the function takes a value for each, in order.
          accept_options: whether the function takes `options` and `run_metadata`.

        Raises:
          TypeError: `feed_list` is not a list or tuple.
        """
        if not isinstance(feed_list, list | tuple | None):
            raise TypeError("`feed_list` must be a list or tuple.")
        feeds = list(feed_list or ())

        def call(*values: Any, **settings: Any) -> Any:
            if settings and not accept_options:
                raise TypeError(f"The function takes no {', '.join(settings)}")
            return self.run(
                fetches, dict(zip(feeds, values, strict=True)) or None, **settings
            )

        return call

    def partial_run_setup(self, fetches: Any, feeds: Any = None) -> str:
        """Not for sessions that change under a step.

        Raises:
          errors.UnimplementedError: always.
        """
        raise errors.UnimplementedError(
            None, None, "An elastic session makes no partial runs: shards may move"
        )

    def partial_run(self, handle: Any, fetches: Any, feed_dict: Any = None) -> Any:
        """As `run` without a handle; there are no others."""
        if handle is not None:
            self.partial_run_setup(fetches)
        return self.run(fetches, feed_dict)

    def list_devices(self) -> Any:
        """The devices of the worker and of the plan's servers."""
        with self._gate.step() as steps:
            return steps.session.list_devices()

    def close(self) -> None:
        """Leaves the job."""
        if self._over.is_set():
            return
        self._over.set()
        if self._held is not None:
            self._held.stop()
        self._leader.stop()
        self._thread.join()
        try:
            self._gate.close()
        finally:
            # Not before: as long as a step may run, others wait for this worker.
            for presence in (self._presence, self._paused):
                if presence is None:
                    continue
                try:
                    presence.give_back()
                except errors.UnavailableError as error:
                    program_log.warning("%s; its lease will end", error.message)
            if self._held is not None:
                self._held.join()
            self._server.clear([self._own])

    # --- following the plan -----------------------------------------------------------

    def _watch(self) -> None:
        pause = 0.0
        while not self._over.wait(pause):
            pause = self._job.coordinator.poll_s()
            try:
                self._look()
            except Exception as error:
                if self._job.coordinator.is_closed:
                    return
                program_log.warning("%s: %s; trying again", type(error).__name__, error)
                pause = _AGAIN_S

    def _look(self) -> None:
        if not self._presence.lasts:
            # Others may have moved shards without waiting for this worker.
            self._gate.shut()
            if not self._presence.take():
                return
        plan = self._job.plan()
        if plan is None:
            return
        if not plan.is_ready:
            self._pause(plan)
        elif self._is_to_be_placed(plan):
            self._gate.shut()
            if not self._end_steps():
                return
            session = PlacedSession(
                self._server, self._graph, self._config, plan, self._own
            )
            self._open(PlacedSteps(session, plan))
        elif not self._gate.is_open and self._gate.steps is not None:
            self._open(self._gate.steps)

    def _is_to_be_placed(self, plan: Plan) -> bool:
        steps = self._gate.steps
        if steps is None or steps.plan.version != plan.version:
            return True
        if not (steps.has_failed or steps.is_given_up):
            return False
        # No server was lost, as it seems: a connection was, and may be made again.
        has_waited = concurrency.monotonic() - self._failed_at > self._job.lease_s
        return steps.is_given_up or (has_waited and self._servers_are_there(plan))

    def _pause(self, plan: Plan) -> None:
        if self._paused_for == plan.version and self._paused is not None:
            self._paused.take()
            return
        self._gate.shut()
        if not self._end_steps():
            return
        if self._paused is not None:
            self._paused.give_back()
        name = f"{plan.version} {self._name}"
        said = {"worker": self._name, "version": plan.version}
        self._paused = self._job.presence(jobs.PAUSED, name, said)
        self._paused_for = plan.version
        self._paused.take()

    def _end_steps(self) -> bool:
        """Waits for the steps that run; gives those up that wait for a lost server.

        Returns:
          Whether none runs any more; not if the session is being closed.
        """
        while not self._gate.wait_until_empty(self._job.coordinator.poll_s()):
            steps = self._gate.steps
            if self._over.is_set():
                return False
            if steps is not None and not self._servers_are_there(steps.plan):
                steps.give_up()
        return True

    def _servers_are_there(self, plan: Plan) -> bool:
        servers = self._job.servers()
        return all(
            home.server in servers and servers[home.server].life == home.life
            for home in plan.homes.values()
        )

    def _open(self, steps: PlacedSteps) -> None:
        paused, self._paused = self._paused, None
        self._gate.open(steps)
        if paused is not None:
            paused.give_back()
