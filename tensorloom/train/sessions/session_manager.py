"""`tf.train.SessionManager`: sessions of models that are initialized or restored."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from tensorloom.client.program import program_log
from tensorloom.client.session.session import Session
from tensorloom.coordination import writers
from tensorloom.framework import errors
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import get_default_graph
from tensorloom.train.checkpoints import checkpoint_management

# A worker that waits for its chief asks again after that time, then after twice as
# long, and so on.
_FIRST_WAIT_SECS = 0.5


@export("train.SessionManager")
class SessionManager:
    """Makes sessions in which a model is ready.

    Args:
      local_init_op: run in each session when the rest is initialized.
      ready_op: string vector of what is not initialized; None: all is.
      ready_for_local_init_op: the same for what `local_init_op` needs.
      graph: the default graph when None.
      recovery_wait_secs: the longest time between two looks whether a model is ready.
      local_init_run_options: a `tf.RunOptions` for `local_init_op`.

    Raises:
      ValueError: `ready_for_local_init_op` without `local_init_op`.
    """

    def __init__(
        self,
        local_init_op: Any = None,
        ready_op: Any = None,
        ready_for_local_init_op: Any = None,
        graph: Any = None,
        recovery_wait_secs: float = 30,
        local_init_run_options: Any = None,
    ) -> None:
        if ready_for_local_init_op is not None and local_init_op is None:
            raise ValueError(
                "If you pass a ready_for_local_init_op you must also pass a "
                f"local_init_op , ready_for_local_init_op [{ready_for_local_init_op}]"
            )
        self._local_init_op = local_init_op
        self._ready_op = ready_op
        self._ready_for_local_init_op = ready_for_local_init_op
        self._graph = get_default_graph() if graph is None else graph
        self._recovery_wait_secs = recovery_wait_secs
        self._local_init_run_options = local_init_run_options
        self._target: str | None = None

    # --- the chief --------------------------------------------------------------------

    def prepare_session(
        self,
        master: str,
        init_op: Any = None,
        saver: Any = None,
        checkpoint_dir: Any = None,
        checkpoint_filename_with_path: Any = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: Any = None,
        init_feed_dict: Any = None,
        init_fn: Callable[[Any], Any] | None = None,
    ) -> Any:
        """A session in which the model is restored, or initialized if that cannot be.

        Args:
          master: target of the session.
          init_op, init_feed_dict, init_fn: initialize the model without a checkpoint.
          saver: restores it.
          checkpoint_dir: its newest checkpoint is restored.
          checkpoint_filename_with_path: the checkpoint, in place of the newest one.
          wait_for_checkpoint: wait for one to appear, at most `max_wait_secs`.
          max_wait_secs: see there.
          config: a `tf.ConfigProto`.

        Raises:
          RuntimeError: nothing can initialize the model, or it is not ready after it.
          ValueError: both a directory and a checkpoint, or there is no such checkpoint.
        """
        sess, is_restored = self._restore_checkpoint(
            master,
            saver,
            checkpoint_dir=checkpoint_dir,
            checkpoint_filename_with_path=checkpoint_filename_with_path,
            wait_for_checkpoint=wait_for_checkpoint,
            max_wait_secs=max_wait_secs,
            config=config,
        )
        with _closed_on_error(sess):
            if not is_restored:
                writers.check(checkpoint_dir)
                self._initialize(sess, init_op, init_feed_dict, init_fn)
            what = f"Init op: {_maybe_name(init_op)}, init fn: {init_fn}"
            is_done, reason = self._try_run_local_init_op(sess)
            if not is_done:
                raise RuntimeError(
                    "Init operations did not make model ready for local_init.  "
                    f"{what}, error: {reason}"
                )
            is_ready, reason = self._model_ready(sess)
            if not is_ready:
                raise RuntimeError(
                    f"Init operations did not make model ready.  {what}, "
                    f"local_init_op: {self._local_init_op}, error: {reason}"
                )
        return sess

    def _initialize(
        self, sess: Any, init_op: Any, feed_dict: Any, init_fn: Any
    ) -> None:
        if init_op is None and not init_fn and self._local_init_op is None:
            raise RuntimeError(
                "Model is not initialized and no init_op or init_fn or local_init_op "
                "was given"
            )
        if init_op is not None:
            sess.run(init_op, feed_dict=feed_dict)
        if init_fn:
            init_fn(sess)

    def recover_session(
        self,
        master: str,
        saver: Any = None,
        checkpoint_dir: Any = None,
        checkpoint_filename_with_path: Any = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: Any = None,
    ) -> tuple[Any, bool]:
        """A session, and whether the model was restored in it and is ready.

        Arguments are those of `prepare_session`.

        Raises:
          ValueError: both a directory and a checkpoint, or there is no such checkpoint.
        """
        sess, is_restored = self._restore_checkpoint(
            master,
            saver,
            checkpoint_dir=checkpoint_dir,
            checkpoint_filename_with_path=checkpoint_filename_with_path,
            wait_for_checkpoint=wait_for_checkpoint,
            max_wait_secs=max_wait_secs,
            config=config,
        )
        with _closed_on_error(sess):
            local_done, local_reason = self._try_run_local_init_op(sess)
            if not is_restored:
                return sess, False
            source = checkpoint_dir or checkpoint_filename_with_path
            if not local_done:
                program_log.info(
                    "Restoring model from %s did not make model ready for local init: "
                    "%s",
                    source,
                    local_reason,
                )
                return sess, False
            is_ready, reason = self._model_ready(sess)
            if not is_ready:
                program_log.info(
                    "Restoring model from %s did not make model ready: %s",
                    source,
                    reason,
                )
                return sess, False
            program_log.info("Restored model from %s", source)
            return sess, True

    def _restore_checkpoint(
        self,
        master: str,
        saver: Any = None,
        checkpoint_dir: Any = None,
        checkpoint_filename_with_path: Any = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: Any = None,
    ) -> tuple[Any, bool]:
        """A session, and whether the model was restored in it."""
        if checkpoint_dir and checkpoint_filename_with_path:
            raise ValueError(
                "Can not provide both checkpoint_dir and checkpoint_filename_with_path."
            )
        self._target = master
        config = writers.fenced(checkpoint_dir, config)
        sess = Session(self._target, graph=self._graph, config=config)
        if not saver or not (checkpoint_dir or checkpoint_filename_with_path):
            return sess, False
        with _closed_on_error(sess):
            if checkpoint_filename_with_path:
                saver.restore(sess, checkpoint_filename_with_path)
                return sess, True
            state = self._wait_for_state(
                checkpoint_dir, max_wait_secs if wait_for_checkpoint else 0
            )
            if state is None:
                return sess, False
            writers.check(checkpoint_dir)
            saver.restore(sess, state.model_checkpoint_path)
            saver.recover_last_checkpoints(state.all_model_checkpoint_paths)
        return sess, True

    def _wait_for_state(self, checkpoint_dir: Any, max_wait_secs: float) -> Any:
        """The state of a directory with a checkpoint; None if there is none in time."""
        waited: float = 0
        while True:
            state = checkpoint_management.get_checkpoint_state(checkpoint_dir)
            if state and state.model_checkpoint_path:
                return state
            if waited >= max_wait_secs:
                return None
            program_log.info("Waiting for checkpoint to be available.")
            time.sleep(self._recovery_wait_secs)
            waited += self._recovery_wait_secs

    # --- workers ----------------------------------------------------------------------

    def wait_for_session(
        self,
        master: str,
        config: Any = None,
        max_wait_secs: float | None = float("inf"),
    ) -> Any:
        """A session in which somebody else has initialized the model.

        Args:
          master: target of the session.
          config: a `tf.ConfigProto`.
          max_wait_secs: how long to wait; None: for ever.

        Raises:
          errors.DeadlineExceededError: the model was not ready in that time.
        """
        self._target = master
        limit = float("inf") if max_wait_secs is None else max_wait_secs
        timer = _CountDownTimer(limit)
        pause = min(_FIRST_WAIT_SECS, self._recovery_wait_secs)
        while True:
            sess = Session(self._target, graph=self._graph, config=config)
            with _closed_on_error(sess):
                is_ready, reason = self.make_ready(sess)
                if is_ready:
                    return sess
            _close_quietly(sess)
            if timer.secs_remaining() < pause:
                raise errors.DeadlineExceededError(
                    None, None, f"Session was not ready after waiting {limit} secs."
                )
            program_log.info("Waiting for model to be ready.  %s", reason)
            time.sleep(pause)
            pause = min(2 * pause, self._recovery_wait_secs)

    def make_ready(self, sess: Any) -> tuple[bool, str]:
        """Runs the local init op if it can be; whether the model is ready, and how far.

        Args:
          sess: a session of the graph.
        """
        reason = None
        is_done, local_reason = self._try_run_local_init_op(sess)
        is_ready = False
        if is_done:
            is_ready, reason = self._model_ready(sess)
        how_far = f"Ready_for_local_init_op:  {local_reason}, ready: {reason}"
        return is_ready, how_far

    # --- is it ready? -----------------------------------------------------------------

    def _model_ready(self, sess: Any) -> tuple[bool, str | None]:
        return _ready(self._ready_op, sess, "Model not ready")

    def _model_ready_for_local_init(self, sess: Any) -> tuple[bool, str | None]:
        return _ready(
            self._ready_for_local_init_op, sess, "Model not ready for local init"
        )

    def _try_run_local_init_op(self, sess: Any) -> tuple[bool, str | None]:
        """Runs it when what it needs is there; whether, and else why not."""
        if self._local_init_op is None:
            return True, None
        is_ready, reason = self._model_ready_for_local_init(sess)
        if not is_ready:
            return False, reason
        program_log.info("Running local_init_op.")
        sess.run(self._local_init_op, options=self._local_init_run_options)
        program_log.info("Done running local_init_op.")
        return True, None


def _ready(op: Any, sess: Any, problem: str) -> tuple[bool, str | None]:
    """Whether a ready op reports nothing, and else what it reports."""
    if op is None:
        return True, None
    try:
        value = sess.run(op)
    except errors.FailedPreconditionError as error:
        if "uninitialized" not in str(error):
            program_log.warning("%s : error [%s]", problem, str(error))
            raise
        return False, str(error)
    # Older ready ops count what is initialized, and raise when something is not.
    if value is None or value.dtype == np.int32 or value.size == 0:
        return True, None
    names = ", ".join(name.decode() for name in value)
    return False, f"Variables not initialized: {names}"


@contextlib.contextmanager
def _closed_on_error(sess: Any) -> Any:
    """Does not leave a session open that nobody will get."""
    try:
        yield
    except BaseException:
        _close_quietly(sess)
        raise


def _close_quietly(sess: Any) -> None:
    # There is an error to be told already, or a next try: this one adds nothing.
    with contextlib.suppress(Exception):
        sess.close()


def _maybe_name(obj: Any) -> str:
    if obj is None:
        return "None"
    return str(getattr(obj, "name", f"<no name for {type(obj)}>"))


class _CountDownTimer:
    """How much of a time is left."""

    def __init__(self, duration_secs: float) -> None:
        self._start = time.monotonic()
        self._duration_secs = duration_secs

    def secs_remaining(self) -> float:
        """Seconds, never negative."""
        return max(0.0, self._duration_secs - (time.monotonic() - self._start))
