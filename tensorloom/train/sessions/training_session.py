"""`tf.train.MonitoredTrainingSession`: a session that trains, in one call."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.coordination.coordinator import VARIABLE as COORDINATION_VARIABLE
from tensorloom.framework.export import export
from tensorloom.train.hooks.checkpoint_saver import CheckpointSaverHook
from tensorloom.train.hooks.step_counter import StepCounterHook
from tensorloom.train.hooks.summary_saver import SummarySaverHook
from tensorloom.train.sessions.creators import (
    ChiefSessionCreator,
    SessionCreator,
    WorkerSessionCreator,
)
from tensorloom.train.sessions.monitored_session import MonitoredSession
from tensorloom.train.sessions.scaffold import Scaffold
from tensorloom.train.sessions.writing_session import WriterHook, WritingSessionCreator

if TYPE_CHECKING:
    from tensorloom.train.hooks.session_run_hook import SessionRunHook


class _Default:
    """Stands for an argument that was not given."""

    def __repr__(self) -> str:
        return "<object object>"


USE_DEFAULT: Any = _Default()


@export("train.MonitoredTrainingSession")
def MonitoredTrainingSession(
    master: str = "",
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
) -> MonitoredSession:
    """A `MonitoredSession` with the hooks of a training.

    The chief restores the newest checkpoint or initializes the model, saves checkpoints
    and summaries, and counts steps. Workers wait for it. Where TENSORLOOM_COORDINATION
    names a lock service, a second chief of the directory waits until the first is gone.

    Args:
      master: target of the session.
      is_chief: whether this task is the chief.
      checkpoint_dir: where checkpoints are restored from and saved; None: nowhere.
      scaffold: what the model is initialized with.
      hooks: called around each step.
      chief_only_hooks: the same, in the chief alone; they come first.
      save_checkpoint_secs, save_checkpoint_steps: seconds or steps between checkpoints;
        600 s when neither is given, no checkpoints when None or not positive.
      save_summaries_steps, save_summaries_secs: the same for summaries; 100 steps.
      config: a `tf.ConfigProto`.
      stop_grace_period_secs: how long `close` waits for threads.
      log_step_count_steps: steps between two counts of steps per second; None or 0:
        none.
      max_wait_secs: how long a worker waits for the chief.
      summary_dir: where events go; `checkpoint_dir` when None.

    Raises:
      ValueError: both seconds and steps are given.
    """
    scaffold = scaffold or Scaffold()
    creator: SessionCreator
    if not is_chief:
        creator = WorkerSessionCreator(
            scaffold=scaffold, master=master, config=config, max_wait_secs=max_wait_secs
        )
        return MonitoredSession(
            session_creator=creator,
            hooks=hooks or [],
            stop_grace_period_secs=stop_grace_period_secs,
        )
    creator = ChiefSessionCreator(
        scaffold=scaffold, checkpoint_dir=checkpoint_dir, master=master, config=config
    )
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
    all_hooks.extend(hooks or [])
    if checkpoint_dir and os.environ.get(COORDINATION_VARIABLE):
        creator = WritingSessionCreator(creator, checkpoint_dir)
        all_hooks.append(WriterHook(creator))
    return MonitoredSession(
        session_creator=creator,
        hooks=all_hooks,
        stop_grace_period_secs=stop_grace_period_secs,
    )


def chief_hooks(
    checkpoint_dir: Any,
    scaffold: Scaffold,
    chief_only_hooks: Sequence[SessionRunHook] | None,
    save_checkpoint_secs: Any,
    save_summaries_steps: Any,
    save_summaries_secs: Any,
    log_step_count_steps: int | None,
    save_checkpoint_steps: Any,
    summary_dir: Any,
) -> list[SessionRunHook]:
    """The hooks of a chief; arguments are those of `MonitoredTrainingSession`.

    Raises:
      ValueError: both seconds and steps are given.
    """
    summary_steps, summary_secs = _interval(
        save_summaries_steps, save_summaries_secs, default_steps=100
    )
    checkpoint_steps, checkpoint_secs = _interval(
        save_checkpoint_steps, save_checkpoint_secs, default_secs=600
    )
    all_hooks = list(chief_only_hooks or [])
    summary_dir = summary_dir or checkpoint_dir
    if summary_dir:
        if log_step_count_steps and log_step_count_steps > 0:
            all_hooks.append(
                StepCounterHook(
                    output_dir=summary_dir, every_n_steps=log_step_count_steps
                )
            )
        if _is_positive(summary_steps) or _is_positive(summary_secs):
            all_hooks.append(
                SummarySaverHook(
                    scaffold=scaffold,
                    save_steps=summary_steps,
                    save_secs=summary_secs,
                    output_dir=summary_dir,
                )
            )
    if checkpoint_dir and (
        _is_positive(checkpoint_secs) or _is_positive(checkpoint_steps)
    ):
        all_hooks.append(
            CheckpointSaverHook(
                checkpoint_dir,
                save_steps=checkpoint_steps,
                save_secs=checkpoint_secs,
                scaffold=scaffold,
            )
        )
    return all_hooks


def _interval(
    steps: Any,
    secs: Any,
    default_steps: int | None = None,
    default_secs: float | None = None,
) -> tuple[int | None, float | None]:
    """Steps and seconds; the defaults only if neither was given."""
    if steps is USE_DEFAULT and secs is USE_DEFAULT:
        return default_steps, default_secs
    return (
        None if steps is USE_DEFAULT else steps,
        None if secs is USE_DEFAULT else secs,
    )


def _is_positive(value: float | None) -> bool:
    return value is not None and value > 0
