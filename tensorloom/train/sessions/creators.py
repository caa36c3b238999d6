"""`tf.train.SessionCreator`: how a monitored session gets its session."""

from __future__ import annotations

import abc
from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import get_default_graph
from tensorloom.train.sessions.scaffold import Scaffold
from tensorloom.train.sessions.session_manager import SessionManager


@export("train.SessionCreator")
class SessionCreator(abc.ABC):
    """Makes sessions, again after each that is lost."""

    @abc.abstractmethod
    def create_session(self) -> Any:
        """A new session in which the model is ready."""
        raise NotImplementedError(f"create_session is not implemented for {self}.")


class _ScaffoldSessionCreator(SessionCreator):
    """What the creators of chiefs and workers share."""

    def __init__(self, scaffold: Scaffold | None, master: str, config: Any) -> None:
        self._scaffold = scaffold or Scaffold()
        self._session_manager: SessionManager | None = None
        self._master = master
        self._config = config

    def _get_session_manager(self) -> SessionManager:
        if self._session_manager is None:
            self._session_manager = SessionManager(
                local_init_op=self._scaffold.local_init_op,
                ready_op=self._scaffold.ready_op,
                ready_for_local_init_op=self._scaffold.ready_for_local_init_op,
                graph=get_default_graph(),
            )
        return self._session_manager


@export("train.ChiefSessionCreator")
class ChiefSessionCreator(_ScaffoldSessionCreator):
    """Sessions of the chief, which initializes or restores the model.

    Args:
      scaffold: what the model is initialized with.
      master: target of the session.
      config: a `tf.ConfigProto`.
      checkpoint_dir: its newest checkpoint is restored, if there is one.
      checkpoint_filename_with_path: the checkpoint to restore in place of that.
    """

    def __init__(
        self,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: Any = None,
        checkpoint_dir: Any = None,
        checkpoint_filename_with_path: Any = None,
    ) -> None:
        super().__init__(scaffold, master, config)
        self._checkpoint_dir = checkpoint_dir
        self._checkpoint_filename_with_path = checkpoint_filename_with_path

    def create_session(self) -> Any:
        """A session in which the model is initialized."""
        self._scaffold.finalize()
        return self._get_session_manager().prepare_session(
            self._master,
            saver=self._scaffold.saver,
            checkpoint_dir=self._checkpoint_dir,
            checkpoint_filename_with_path=self._checkpoint_filename_with_path,
            config=self._config,
            init_op=self._scaffold.init_op,
            init_feed_dict=self._scaffold.init_feed_dict,
            init_fn=self._scaffold.init_fn,
        )


@export("train.WorkerSessionCreator")
class WorkerSessionCreator(_ScaffoldSessionCreator):
    """Sessions of a worker, which waits until the chief has initialized the model.

    Args:
      scaffold: says when the model is ready.
      master: target of the session.
      config: a `tf.ConfigProto`.
      max_wait_secs: how long to wait for the chief.
    """

    def __init__(
        self,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: Any = None,
        max_wait_secs: float = 30 * 60,
    ) -> None:
        super().__init__(scaffold, master, config)
        self._max_wait_secs = max_wait_secs

    def create_session(self) -> Any:
        """A session in which the chief has initialized the model.

        Raises:
          errors.DeadlineExceededError: it has not, in `max_wait_secs`.
        """
        self._scaffold.finalize()
        return self._get_session_manager().wait_for_session(
            self._master, config=self._config, max_wait_secs=self._max_wait_secs
        )
