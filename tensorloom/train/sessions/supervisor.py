"""`tf.train.Supervisor`: a session beside threads that save and report."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.client.program import program_log
from tensorloom.client.variables.variable_lists import (
    global_variables_initializer,
)
from tensorloom.coordination import writers
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    GraphKeys,
    get_default_graph,
)
from tensorloom.storage.files import filesystem
from tensorloom.summary.summary import merge_all
from tensorloom.summary.writer import FileWriter
from tensorloom.train import training_util
from tensorloom.train.inputs.coordinator import Coordinator, LooperThread
from tensorloom.train.meta_graph import graph_io, meta_graph
from tensorloom.train.sessions import supervisor_defaults as defaults
from tensorloom.train.sessions.session_manager import SessionManager
from tensorloom.train.sessions.supervisor_defaults import given_or
from tensorloom.train.sessions.supervisor_services import (
    SVStepCounterThread,
    SVSummaryThread,
    SVTimerCheckpointThread,
)

if TYPE_CHECKING:
    import threading


@export("train.Supervisor")
class Supervisor:
    """Initializes or restores a model, and saves it while a program trains it.

    `MonitoredTrainingSession` is what new programs use. The graph is finalized.

    Args:
      graph: the default graph when None.
      ready_op: string vector, empty when the model is ready.
      ready_for_local_init_op: the same for `local_init_op`.
      is_chief: the chief initializes, saves and writes; the others wait for it.
      init_op, init_feed_dict, init_fn: initialize the model without a checkpoint;
        `init_fn` gets the session.
      local_init_op: run in each new session.
      logdir: for checkpoints and events, of the chief; None: nowhere.
      summary_op: all summaries of the graph by default.
      saver: of all variables by default.
      global_step: names checkpoints and summaries.
      save_summaries_secs: seconds between summaries; 0: none.
      save_model_secs: seconds between checkpoints; 0: none.
      recovery_wait_secs: the longest time between two looks whether a model is ready.
      stop_grace_secs: how long `stop` waits for threads.
      checkpoint_basename: the beginning of the checkpoints' names.
      session_manager: makes the sessions.
      summary_writer: a `tf.summary.FileWriter` of `logdir` by default; None: no events.
      local_init_run_options: a `tf.RunOptions` for `local_init_op`.

    Raises:
      ValueError: a variable of a worker has no device.
    """

    USE_DEFAULT: Any = defaults.USE_DEFAULT

    def __init__(
        self,
        graph: Any = None,
        ready_op: Any = USE_DEFAULT,
        ready_for_local_init_op: Any = USE_DEFAULT,
        is_chief: bool = True,
        init_op: Any = USE_DEFAULT,
        init_feed_dict: Any = None,
        local_init_op: Any = USE_DEFAULT,
        logdir: Any = None,
        summary_op: Any = USE_DEFAULT,
        saver: Any = USE_DEFAULT,
        global_step: Any = USE_DEFAULT,
        save_summaries_secs: float | None = 120,
        save_model_secs: float | None = 600,
        recovery_wait_secs: float = 30,
        stop_grace_secs: float = 120,
        checkpoint_basename: str = "model.ckpt",
        session_manager: SessionManager | None = None,
        summary_writer: Any = USE_DEFAULT,
        init_fn: Callable[[Any], Any] | None = None,
        local_init_run_options: Any = None,
    ) -> None:
        self._graph = graph = get_default_graph() if graph is None else graph
        with graph.as_default():
            self._ready_op = given_or(ready_op, GraphKeys.READY_OP, defaults.ready_op)
            self._ready_for_local_init_op = given_or(
                ready_for_local_init_op,
                GraphKeys.READY_FOR_LOCAL_INIT_OP,
                defaults.nothing,
            )
            self._init_op = given_or(
                init_op, GraphKeys.INIT_OP, global_variables_initializer
            )
            self._local_init_op = given_or(
                local_init_op, GraphKeys.LOCAL_INIT_OP, defaults.local_init_op
            )
            self._saver = given_or(saver, GraphKeys.SAVERS, defaults.saver)
            self._summary_op = given_or(summary_op, GraphKeys.SUMMARY_OP, merge_all)
            self._global_step = given_or(
                global_step, GraphKeys.GLOBAL_STEP, defaults.global_step
            )
        self._init_feed_dict = init_feed_dict
        self._init_fn = init_fn
        self._meta_graph_def = meta_graph.create_meta_graph_def(
            graph_def=graph.as_graph_def(add_shapes=True),
            saver_def=self._saver.saver_def if self._saver else None,
        )
        self._is_chief = is_chief
        self._coord = Coordinator()
        self._stop_grace_secs = stop_grace_secs
        # Only the chief has these: it alone writes files.
        self._logdir = filesystem.path_text(logdir) if is_chief and logdir else None
        self._save_summaries_secs = save_summaries_secs if is_chief else None
        self._save_model_secs = save_model_secs if is_chief else None
        self._save_path: str | None = None
        self._summary_writer: Any = None
        self._graph_added_to_summary = False
        if self._logdir:
            self._save_path = filesystem.join(self._logdir, checkpoint_basename)
        if is_chief and summary_writer is not Supervisor.USE_DEFAULT:
            self._summary_writer = summary_writer
        elif self._logdir:
            self._summary_writer = FileWriter(self._logdir)
        self._session_manager = session_manager or SessionManager(
            local_init_op=self._local_init_op,
            ready_op=self._ready_op,
            ready_for_local_init_op=self._ready_for_local_init_op,
            graph=graph,
            recovery_wait_secs=recovery_wait_secs,
            local_init_run_options=local_init_run_options,
        )
        self._verify_setup()
        graph.finalize()

    def _verify_setup(self) -> None:
        """Variables of a worker live on a parameter server, not in the worker."""
        if self._is_chief:
            return
        for op in self._graph.get_operations():
            if op.type in ("Variable", "VariableV2") and not op.device:
                raise ValueError(
                    f"When using replicas, all Variables must have their device set: "
                    f"{op}"
                )

    # --- what it works with -----------------------------------------------------------

    @property
    def is_chief(self) -> bool:
        """Whether this is the chief."""
        return self._is_chief

    @property
    def session_manager(self) -> SessionManager:
        """Makes the sessions."""
        return self._session_manager

    @property
    def coord(self) -> Coordinator:
        """Of all threads."""
        return self._coord

    @property
    def init_op(self) -> Any:
        """Initializes the model."""
        return self._init_op

    @property
    def init_feed_dict(self) -> Any:
        """Feeds for `init_op`."""
        return self._init_feed_dict

    @property
    def ready_op(self) -> Any:
        """Says what is not initialized."""
        return self._ready_op

    @property
    def ready_for_local_init_op(self) -> Any:
        """Says what has to be initialized before `local_init_op`."""
        return self._ready_for_local_init_op

    @property
    def summary_writer(self) -> Any:
        """Of the chief; None otherwise."""
        return self._summary_writer

    @property
    def summary_op(self) -> Any:
        """All summaries."""
        return self._summary_op

    @property
    def save_summaries_secs(self) -> float | None:
        """Seconds between summaries; None in a worker."""
        return self._save_summaries_secs

    @property
    def global_step(self) -> Any:
        """The global step, or None."""
        return self._global_step

    @property
    def saver(self) -> Any:
        """Saves and restores the model."""
        return self._saver

    @property
    def save_model_secs(self) -> float | None:
        """Seconds between checkpoints; None in a worker."""
        return self._save_model_secs

    @property
    def save_path(self) -> str | None:
        """The beginning of the checkpoints' paths; None without a directory."""
        return self._save_path

    # --- sessions ---------------------------------------------------------------------

    def prepare_or_wait_for_session(
        self,
        master: str = "",
        config: Any = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        start_standard_services: bool = True,
    ) -> Any:
        """A session in which the model is ready; its threads run.

        Args:
          master: target of the session.
          config: a `tf.ConfigProto`.
          wait_for_checkpoint: whether the chief waits for one.
          max_wait_secs: how long to wait, for that or for the chief.
          start_standard_services: start the threads.

        Raises:
          As `SessionManager.prepare_session` and `wait_for_session`.
        """
        self._coord.clear_stop()
        if self._summary_writer:
            self._summary_writer.reopen()
        if self._is_chief:
            if self._logdir:
                writers.claim(self._logdir, wait=True)
            sess = self._session_manager.prepare_session(
                master,
                init_op=self.init_op,
                saver=self.saver,
                checkpoint_dir=self._logdir,
                wait_for_checkpoint=wait_for_checkpoint,
                max_wait_secs=max_wait_secs,
                config=config,
                init_feed_dict=self._init_feed_dict,
                init_fn=self._init_fn,
            )
            self._write_graph()
            if start_standard_services:
                program_log.info("Starting standard services.")
                self.start_standard_services(sess)
        else:
            sess = self._session_manager.wait_for_session(
                master, config=config, max_wait_secs=max_wait_secs
            )
        if start_standard_services:
            program_log.info("Starting queue runners.")
            self.start_queue_runners(sess)
        return sess

    @contextlib.contextmanager
    def managed_session(
        self,
        master: str = "",
        config: Any = None,
        start_standard_services: bool = True,
        close_summary_writer: bool = True,
    ) -> Iterator[Any]:
        """A session in a `with` block, at whose end threads and session are ended.

        OutOfRangeError leaves the block quietly; so does any error of the program once
        a stop was requested.

        Args:
          master, config, start_standard_services: as `prepare_or_wait_for_session`.
          close_summary_writer: whether `stop` closes it.

        Raises:
          Exception: of the block or of a thread, the first one.
        """
        sess: Any = None
        try:
            sess = self.prepare_or_wait_for_session(
                master=master,
                config=config,
                start_standard_services=start_standard_services,
            )
            yield sess
        except Exception as error:
            self.request_stop(error)
        finally:
            try:
                # Raises what was reported.
                self.stop(close_summary_writer=close_summary_writer)
            finally:
                if sess is not None:
                    # Steps of other threads may be cancelled by it.
                    with contextlib.suppress(Exception):
                        sess.close()

    def _write_graph(self) -> None:
        if self._logdir:
            graph_def = self._graph.as_graph_def(add_shapes=True)
            graph_io.write_graph(graph_def, self._logdir, "graph.pbtxt")
        if self._summary_writer and not self._graph_added_to_summary:
            self._summary_writer.add_graph(self._graph)
            self._summary_writer.add_meta_graph(self._meta_graph_def)
            self._graph_added_to_summary = True

    # --- threads ----------------------------------------------------------------------

    def start_standard_services(self, sess: Any) -> list[LooperThread] | None:
        """Starts the threads for summaries, step counts and checkpoints.

        Returns:
          The threads; None without a directory.

        Raises:
          RuntimeError: this is not the chief.
        """
        if not self._is_chief:
            raise RuntimeError(
                "Only chief supervisor can start standard services. Because only chief "
                "supervisors can write events."
            )
        if not self._logdir:
            program_log.warning(
                "Standard services need a 'logdir' passed to the SessionManager"
            )
            return None
        if self._global_step is not None and self._summary_writer:
            from tensorloom.protos.event_pb2 import SessionLog

            self._summary_writer.add_session_log(
                SessionLog(status=SessionLog.START),
                training_util.global_step(sess, self._global_step),
            )
        threads: list[LooperThread] = []
        if self._save_summaries_secs and self._summary_writer:
            if self._summary_op is not None:
                threads.append(SVSummaryThread(self, sess))
            if self._global_step is not None:
                threads.append(SVStepCounterThread(self, sess))
        if self.saver and self._save_model_secs:
            threads.append(SVTimerCheckpointThread(self, sess))
        for thread in threads:
            thread.start()
        return threads

    def start_queue_runners(
        self, sess: Any, queue_runners: Sequence[Any] | None = None
    ) -> list[threading.Thread]:
        """Starts the threads of queue runners, those of the graph by default."""
        if queue_runners is None:
            queue_runners = self._graph.get_collection(GraphKeys.QUEUE_RUNNERS)
        threads: list[threading.Thread] = []
        for runner in queue_runners:
            threads.extend(
                runner.create_threads(sess, coord=self._coord, daemon=True, start=True)
            )
        return threads

    def loop(
        self,
        timer_interval_secs: float | None,
        target: Callable[..., Any],
        args: Any = None,
        kwargs: Any = None,
    ) -> LooperThread:
        """Starts a thread that calls a function every so many seconds.

        None calls it again at once. The thread ends when a stop is requested.
        """
        return LooperThread.loop(
            self._coord, timer_interval_secs, target=target, args=args, kwargs=kwargs
        )

    def stop(
        self,
        threads: Sequence[threading.Thread] | None = None,
        close_summary_writer: bool = True,
        ignore_live_threads: bool = False,
    ) -> None:
        """Stops the threads, and waits for them.

        Args:
          threads: beside those of the coordinator.
          close_summary_writer: whether to close it.
          ignore_live_threads: do not fail when some do not end.

        Raises:
          RuntimeError: threads are still running after the grace period.
          Exception: of a thread.
        """
        self._coord.request_stop()
        try:
            self._coord.join(
                threads,
                stop_grace_period_secs=self._stop_grace_secs,
                ignore_live_threads=ignore_live_threads,
            )
        finally:
            if close_summary_writer and self._summary_writer:
                from tensorloom.protos.event_pb2 import SessionLog

                self._summary_writer.add_session_log(SessionLog(status=SessionLog.STOP))
                self._summary_writer.close()
                # A new event file gets the graph again.
                self._graph_added_to_summary = False

    def request_stop(self, ex: Any = None) -> None:
        """Asks the threads to stop; `ex` is raised again by `stop`."""
        self._coord.request_stop(ex=ex)

    def should_stop(self) -> bool:
        """Whether a stop was requested."""
        return self._coord.should_stop()

    def stop_on_exception(self) -> Any:
        """A context: an exception inside requests a stop and goes no further."""
        return self._coord.stop_on_exception()

    def wait_for_stop(self) -> None:
        """Waits until a stop is requested."""
        self._coord.wait_for_stop()

    def summary_computed(
        self, sess: Any, summary: Any, global_step: Any = None
    ) -> None:
        """Writes a summary.

        Args:
          sess: to read the global step in.
          summary: a `Summary`, or one that is serialized.
          global_step: its step; the global step when None.

        Raises:
          RuntimeError: there is no summary writer.
        """
        if not self._summary_writer:
            raise RuntimeError("Writing a summary requires a summary writer.")
        if global_step is None and self.global_step is not None:
            global_step = training_util.global_step(sess, self.global_step)
        self._summary_writer.add_summary(summary, global_step)

    # The names of its first years.
    PrepareSession = prepare_or_wait_for_session
    StartQueueRunners = start_queue_runners
    StartStandardServices = start_standard_services
    Stop = stop
    RequestStop = request_stop
    Loop = loop
    ShouldStop = should_stop
    StopOnException = stop_on_exception
    WaitForStop = wait_for_stop
    SummaryComputed = summary_computed
