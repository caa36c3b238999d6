"""`tf.train.basic_train_loop`: a step function called until its supervisor stops."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.framework.export import export

if TYPE_CHECKING:
    from tensorloom.train.sessions.supervisor import Supervisor


@export("train.basic_train_loop")
def basic_train_loop(
    supervisor: Supervisor,
    train_step_fn: Callable[..., Any],
    args: Sequence[Any] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    master: str = "",
) -> None:
    """Calls `train_step_fn(session, *args, **kwargs)` again and again.

    An AbortedError begins a new session, which restores the last checkpoint.

    Args:
      supervisor: makes the sessions, and says when to stop.
      train_step_fn: makes a step.
      args, kwargs: further arguments of it.
      master: target of the sessions.

    Raises:
      Exception: of the function, other than AbortedError.
    """
    while True:
        try:
            with supervisor.managed_session(master) as session:
                while not supervisor.should_stop():
                    train_step_fn(session, *(args or ()), **(kwargs or {}))
            return
        except errors.AbortedError:
            continue
