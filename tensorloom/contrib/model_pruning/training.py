"""Training that updates masks with each step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.contrib.slim import training_loop
from tensorloom.contrib.slim.training_steps import train_step
from tensorloom.framework.export import export


@export("contrib.model_pruning.train")
def train(
    train_op: Any,
    logdir: str | None,
    mask_update_op: Any,
    train_step_fn: Callable[..., Any] = train_step,
    train_step_kwargs: Any = 0,
    log_every_n_steps: int = 1,
    graph: Any = None,
    master: str = "",
    is_chief: bool = True,
    global_step: Any = None,
    number_of_steps: int | None = None,
    init_op: Any = 0,
    init_feed_dict: Any = None,
    local_init_op: Any = 0,
    init_fn: Any = None,
    ready_op: Any = 0,
    summary_op: Any = 0,
    save_summaries_secs: float = 600,
    summary_writer: Any = 0,
    startup_delay_steps: int = 0,
    saver: Any = None,
    save_interval_secs: float = 600,
    sync_optimizer: Any = None,
    session_config: Any = None,
    trace_every_n_steps: int | None = None,
) -> Any:
    """`tf.contrib.slim.learning.train` with masks that are updated after each step.

    Args:
      mask_update_op: updates them; see `Pruning`.
      train_op, logdir, train_step_fn, train_step_kwargs, log_every_n_steps, graph,
        master, is_chief, global_step, number_of_steps, init_op, init_feed_dict,
        local_init_op, init_fn, ready_op, summary_op, save_summaries_secs,
        summary_writer, startup_delay_steps, saver, save_interval_secs, sync_optimizer,
        session_config, trace_every_n_steps: see there.

    Returns:
      The last loss. (TensorFlow raises a TypeError when it has trained.)

    Raises:
      ValueError: as there.
    """

    def step(sess: Any, op: Any, global_step: Any, kwargs: Any) -> Any:
        result = train_step_fn(sess, op, global_step, kwargs)
        sess.run(mask_update_op)
        return result

    return training_loop.train(
        train_op,
        logdir,
        train_step_fn=step,
        train_step_kwargs=train_step_kwargs,
        log_every_n_steps=log_every_n_steps,
        graph=graph,
        master=master,
        is_chief=is_chief,
        global_step=global_step,
        number_of_steps=number_of_steps,
        init_op=init_op,
        init_feed_dict=init_feed_dict,
        local_init_op=local_init_op,
        init_fn=init_fn,
        ready_op=ready_op,
        summary_op=summary_op,
        save_summaries_secs=save_summaries_secs,
        summary_writer=summary_writer,
        startup_delay_steps=startup_delay_steps,
        saver=saver,
        save_interval_secs=save_interval_secs,
        sync_optimizer=sync_optimizer,
        session_config=session_config,
        trace_every_n_steps=trace_every_n_steps,
    )
