"""`elastic.MonitoredTrainingSession`: a training whose servers come and go."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from tensorloom.client.program import program_log
from tensorloom.coordination.coordinator import VARIABLE as COORDINATION_VARIABLE
from tensorloom.elastic.held_copies import HeldCopies
from tensorloom.elastic.job import Job, worker_number
from tensorloom.elastic.placed_session import task_of
from tensorloom.elastic.restoring import Model
from tensorloom.elastic.session import ElasticSession, StepLostError
from tensorloom.elastic.staleness import BoundedStalenessHook
from tensorloom.framework import errors
from tensorloom.framework.graph.graph import get_default_graph
from tensorloom.framework.runtime import concurrency
from tensorloom.train.sessions.creators import SessionCreator
from tensorloom.train.sessions.monitored_session import (
    MonitoredSession,
    _MonitoredSession,
)
from tensorloom.train.sessions.scaffold import Scaffold
from tensorloom.train.sessions.session_manager import SessionManager
from tensorloom.train.sessions.training_session import USE_DEFAULT, chief_hooks
from tensorloom.train.sessions.writing_session import WriterHook, WritingSessionCreator

if TYPE_CHECKING:
    from tensorloom.cluster.server import Server
    from tensorloom.coordination.coordinator import Coordinator
    from tensorloom.framework.graph.graph import Graph
    from tensorloom.train.hooks.session_run_hook import SessionRunHook

_FIRST_WAIT_S: Final = 0.25
_LONGEST_WAIT_S: Final = 5.0


class _Creator(SessionCreator):
    """Makes the elastic session of a worker, in which the model is ready."""

    def __init__(
        self,
        server: Server,
        is_chief: bool,
        scaffold: Scaffold,
        checkpoint_dir: Any,
        config: Any,
        job: Job,
        servers: int,
        held: HeldCopies | None,
        max_wait_s: float,
    ) -> None:
        self._server = server
        self._is_chief = is_chief
        self._scaffold = scaffold
        self._checkpoint_dir = checkpoint_dir
        self._config = config
        self._job = job
        self._servers = servers
        self._held = held
        self._max_wait_s = max_wait_s

    def create_session(self) -> ElasticSession:
        """A session in which the model is ready.

        Raises:
          ValueError: the graph has steps that wait for other workers' steps.
          errors.DeadlineExceededError: it was not in time.
        """
        scaffold = self._scaffold.finalize()
        _check(get_default_graph())
        model = Model(
            get_default_graph(),
            scaffold.saver,
            self._checkpoint_dir,
            scaffold.init_feed_dict,
        )
        session = ElasticSession(
            self._server,
            model,
            self._config,
            self._job,
            self._servers,
            self._held,
            self._max_wait_s,
        )
        try:
            self._make_ready(session, model)
        except BaseException:
            session.close()
            raise
        return session

    def _make_ready(self, session: ElasticSession, model: Model) -> None:
        """A model that is ready is that of the job, whoever has begun it."""
        scaffold = self._scaffold
        manager = SessionManager(
            local_init_op=scaffold.local_init_op,
            ready_op=scaffold.ready_op,
            ready_for_local_init_op=scaffold.ready_for_local_init_op,
            graph=model.graph,
        )
        deadline = concurrency.monotonic() + self._max_wait_s
        pause = _FIRST_WAIT_S
        while True:
            try:
                is_ready, reason = manager.make_ready(session)
                if is_ready:
                    return
                if self._is_chief:
                    self._initialize(session, model)
                    continue
            except StepLostError as error:
                program_log.info("%s", error.message)
                continue
            if concurrency.monotonic() > deadline:
                raise errors.DeadlineExceededError(
                    None,
                    None,
                    f"The model was not ready after {self._max_wait_s:g} s: {reason}",
                )
            program_log.info("Waiting for the chief: %s", reason)
            concurrency.sleep(pause)
            pause = min(2 * pause, _LONGEST_WAIT_S)

    def _initialize(self, session: ElasticSession, model: Model) -> None:
        checkpoint = model.newest_checkpoint()
        if checkpoint is not None:
            model.saver.restore(session, checkpoint)
            return
        session.run(self._scaffold.init_op, self._scaffold.init_feed_dict)
        if self._scaffold.init_fn is not None:
            self._scaffold.init_fn(session)


def _check(graph: Graph) -> None:
    """Refuses steps that wait for those of others: a worker that pauses makes none."""
    for op in graph.get_operations():
        if op.type.endswith("ConditionalAccumulator"):
            raise ValueError(
                f"{op.name!r} ({op.type}) collects gradients of several workers, as "
                "SyncReplicasOptimizer has it: a worker would pause while others wait "
                "for its gradient. In an elastic job use the optimizer alone, with "
                "max_staleness=0 for workers in lock step"
            )


class _ElasticMonitoredSession(MonitoredSession):
    """A monitored session around an elastic one, which recovers by itself."""

    def __init__(
        self,
        session_creator: SessionCreator,
        hooks: Sequence[SessionRunHook],
        stop_grace_period_secs: float,
    ) -> None:
        # Nothing around the elastic session makes new ones, nor steps again.
        _MonitoredSession.__init__(
            self,
            session_creator,
            hooks,
            should_recover=False,
            stop_grace_period_secs=stop_grace_period_secs,
        )

    def run(
        self,
        fetches: Any,
        feed_dict: Any = None,
        options: Any = None,
        run_metadata: Any = None,
    ) -> Any:
        """As `MonitoredSession.run`.

        A step that was lost with a server is followed by another one at once if it was
        fed nothing: that one takes the next batch.

        Raises:
          StepLostError: a step that was fed is lost; go on with the next batch.
        """
        while True:
            try:
                return super().run(fetches, feed_dict, options, run_metadata)
            except StepLostError:
                if feed_dict:
                    raise


def MonitoredTrainingSession(
    server: Server,
    is_chief: bool = True,
    checkpoint_dir: Any = None,
    scaffold: Scaffold | None = None,
    hooks: Sequence[SessionRunHook] | None = None,
    chief_only_hooks: Sequence[SessionRunHook] | None = None,
    save_checkpoint_secs: Any = USE_DEFAULT,
    save_summaries_steps: Any = USE_DEFAULT,
    save_summaries_secs: Any = USE_DEFAULT,
    config: Any = None,
    stop_grace_period_secs: float = 120,
    log_step_count_steps: int | None = 100,
    max_wait_secs: float = 7200,
    save_checkpoint_steps: Any = USE_DEFAULT,
    summary_dir: Any = None,
    *,
    coordinator: Coordinator | None = None,
    servers: int = 1,
    max_staleness: int | None = None,
    held_copies_secs: float | None = None,
) -> MonitoredSession:
    """A training whose parameter servers and workers come, leave and die.

    The graph is built for as many parameter servers as the program likes
    (`tf.train.replica_device_setter(ps_tasks=64)`): its shards, which are spread over
    the servers that there are (`elastic.serve`). All workers build the same variables.

    Args:
      server: the `tf.train.Server` of this worker.
      is_chief: whether this worker initializes the model, unless it is ready, and saves
        checkpoints.
      checkpoint_dir: also what shards are restored from whose server has died. Give it
        to all workers: each may have to lead.
      scaffold, hooks, chief_only_hooks, save_checkpoint_secs, save_checkpoint_steps,
      save_summaries_steps, save_summaries_secs, config, stop_grace_period_secs,
      log_step_count_steps, max_wait_secs, summary_dir: as in
        `tf.train.MonitoredTrainingSession`.
      coordinator: the lock service; that of TENSORLOOM_COORDINATION when None.
      servers: how many servers the training waits for when it begins.
      max_staleness: how many steps a worker may be ahead of the slowest one; 0: none;
        None: any.
      held_copies_secs: how often each shard is copied to a worker, which holds the copy
        in memory for when the server dies; None: never.

    Raises:
      ValueError: there is no lock service, an argument is out of range, or the graph
        has a `SyncReplicasOptimizer`: use `max_staleness=0`.
      errors.UnavailableError: the service does not answer.
      errors.DeadlineExceededError: the model was not ready in `max_wait_secs`.
    """
    scaffold = scaffold or Scaffold()
    job = Job(coordinator)
    all_hooks: list[SessionRunHook] = []
    if is_chief:
        all_hooks = chief_hooks(
            checkpoint_dir,
            scaffold,
            chief_only_hooks,
            save_checkpoint_secs,
            save_summaries_steps,
            save_summaries_secs,
            log_step_count_steps,
            save_checkpoint_steps,
            summary_dir,
        )
    if max_staleness is not None:
        index = worker_number(task_of(server))
        all_hooks.append(BoundedStalenessHook(max_staleness, index, job.worker_numbers))
    held = None
    if held_copies_secs is not None:
        held = HeldCopies(job, server, config, held_copies_secs)
    creator: SessionCreator = _Creator(
        server,
        is_chief,
        scaffold,
        checkpoint_dir,
        config,
        job,
        servers,
        held,
        max_wait_secs,
    )
    if is_chief and checkpoint_dir and os.environ.get(COORDINATION_VARIABLE):
        creator = WritingSessionCreator(creator, checkpoint_dir)
        all_hooks.append(WriterHook(creator))
    all_hooks.extend(hooks or [])
    return _ElasticMonitoredSession(creator, all_hooks, stop_grace_period_secs)
