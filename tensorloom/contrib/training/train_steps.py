"""`create_train_op` and `train`: a step whose value is the loss, and its loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tensorloom.client.program import program_log
from tensorloom.client.variables.variable_lists import trainable_variables
from tensorloom.contrib.training.gradient_pairs import Pairs, add_gradients_summaries
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    GraphKeys,
    Tensor,
    control_dependencies,
    get_collection,
    get_collection_ref,
    name_scope,
)
from tensorloom.ops.array.identity import check_numerics as checked_numerics
from tensorloom.ops.control_flow.builders import no_op, with_dependencies
from tensorloom.train import training_util
from tensorloom.train.optimizers.optimizer import Optimizer
from tensorloom.train.sessions.training_session import MonitoredTrainingSession

# A default that is not None, which says that steps are not counted.
STEP_OF_GRAPH: Final = 0


@export("contrib.training.create_train_op")
def create_train_op(
    total_loss: Any,
    optimizer: Optimizer,
    global_step: Any = STEP_OF_GRAPH,
    update_ops: Any = None,
    variables_to_train: Any = None,
    transform_grads_fn: Callable[[Pairs], Pairs] | None = None,
    summarize_gradients: bool = False,
    gate_gradients: int = Optimizer.GATE_OP,
    aggregation_method: Any = None,
    colocate_gradients_with_ops: bool = False,
    check_numerics: bool = True,
) -> Tensor:
    """A training step, as the loss that waits for it.

    Args:
      total_loss: a scalar.
      optimizer: applies the gradients.
      global_step: counts steps: the graph's unless given, nothing when None.
      update_ops: run before the loss; those of UPDATE_OPS when None.
      variables_to_train: all trainable ones when None.
      transform_grads_fn: of pairs of gradient and variable.
      summarize_gradients: whether every gradient gets summaries.
      gate_gradients, aggregation_method, colocate_gradients_with_ops: as in
        `Optimizer.compute_gradients`.
      check_numerics: whether a loss that is no finite number ends the step with
        InvalidArgumentError.

    Raises:
      AssertionError: there is nothing to train, or a variable is not trainable.
    """
    if isinstance(global_step, int) and global_step == STEP_OF_GRAPH:
        global_step = training_util.get_or_create_global_step()
    total_loss = _after(_updates(update_ops), total_loss)
    pairs: Pairs = optimizer.compute_gradients(
        total_loss,
        _trained(variables_to_train),
        gate_gradients=gate_gradients,
        aggregation_method=aggregation_method,
        colocate_gradients_with_ops=colocate_gradients_with_ops,
    )
    if transform_grads_fn:
        pairs = transform_grads_fn(pairs)
    if summarize_gradients:
        with name_scope("summarize_grads"):
            add_gradients_summaries(pairs)
    applied = optimizer.apply_gradients(pairs, global_step=global_step)
    with name_scope("train_op"):
        if check_numerics:
            total_loss = checked_numerics(total_loss, "LossTensor is inf or nan")
        step: Tensor = with_dependencies([applied], total_loss)
    known = get_collection_ref(GraphKeys.TRAIN_OP)
    if not any(step is other for other in known):
        known.append(step)
    return step


def _updates(given: Any) -> set[Any]:
    """The updates to run, with a warning where some of the graph's are left out."""
    of_graph = set(get_collection(GraphKeys.UPDATE_OPS))
    if given is None:
        return of_graph
    updates = set(given)
    if not of_graph <= updates:
        program_log.warning(
            "update_ops in create_train_op does not contain all the update_ops in "
            "GraphKeys.UPDATE_OPS"
        )
    return updates


def _after(updates: set[Any], loss: Any) -> Any:
    if not updates:
        return loss
    with control_dependencies(list(updates)):
        barrier = no_op(name="update_barrier")
    return with_dependencies([barrier], loss)


def _trained(variables: Any) -> Any:
    trainable = trainable_variables()
    if variables is None:
        variables = trainable
    for variable in variables:
        if not variable.trainable and variable not in trainable:
            raise AssertionError(f"Variable {variable.op.name} is not trainable.")
    if not variables:
        raise AssertionError("There are no variables to train.")
    return variables


@export("contrib.training.train")
def train(
    train_op: Any,
    logdir: Any,
    master: str = "",
    is_chief: bool = True,
    scaffold: Any = None,
    hooks: Any = None,
    chief_only_hooks: Any = None,
    save_checkpoint_secs: float | None = 600,
    save_summaries_steps: int | None = 100,
    config: Any = None,
    max_wait_secs: float = 7200,
    run_metadata: Any = None,
) -> Any:
    """Runs a training step until a hook asks to stop or the data ends.

    Args:
      train_op: from `create_train_op`.
      logdir: for checkpoints and summaries.
      master: target of the session.
      is_chief: whether this task initializes and writes.
      scaffold: what the session is made ready with.
      hooks, chief_only_hooks: called around each step.
      save_checkpoint_secs: between two checkpoints; None or 0 for none.
      save_summaries_steps: between two summaries; None or 0 for none.
      config: a `tf.ConfigProto`.
      max_wait_secs: how long others wait for the chief.
      run_metadata: a `tf.RunMetadata` that each step fills.

    Returns:
      The value of `train_op` in the last step; None without one.

    Raises:
      ValueError: there is no directory for what should be written.
    """
    if logdir is None and is_chief:
        if save_summaries_steps:
            raise ValueError(
                "logdir cannot be None when save_summaries_steps is not None"
            )
        if save_checkpoint_secs:
            raise ValueError(
                "logdir cannot be None when save_checkpoint_secs is not None"
            )
    loss = None
    with MonitoredTrainingSession(
        master=master,
        is_chief=is_chief,
        checkpoint_dir=logdir,
        scaffold=scaffold,
        hooks=hooks,
        chief_only_hooks=chief_only_hooks,
        save_checkpoint_secs=save_checkpoint_secs,
        save_summaries_steps=save_summaries_steps,
        config=config,
        max_wait_secs=max_wait_secs,
    ) as session:
        while not session.should_stop():
            loss = session.run(train_op, run_metadata=run_metadata)
    return loss
