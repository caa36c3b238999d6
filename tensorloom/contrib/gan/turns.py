"""Both networks are trained in turns, or together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.client.variables.variable_scope import get_variable
from tensorloom.contrib.gan.model_tuples import (
    CycleGANModel,
    GANTrainOps,
    GANTrainSteps,
)
from tensorloom.contrib.slim.training_steps import train_step
from tensorloom.contrib.training.train_steps import create_train_op, train
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import GraphKeys, get_collection, name_scope
from tensorloom.ops.state.initializers import Zeros
from tensorloom.train import training_util
from tensorloom.train.hooks.session_run_hook import SessionRunHook
from tensorloom.train.optimizers.sync_replicas import SyncReplicasOptimizer

Hooks = Callable[[Any], list[Any]]
_ONE_EACH = GANTrainSteps(1, 1)


def updates_of(
    kwargs: dict[str, Any], scopes: list[str], check: bool
) -> list[list[Any]]:
    """The update operations of each scope; takes `update_ops` from `kwargs`."""
    everything = get_collection(GraphKeys.UPDATE_OPS)
    wanted = list(kwargs.pop("update_ops", everything))
    found = [get_collection(GraphKeys.UPDATE_OPS, scope) for scope in scopes]
    unused = [op for op in wanted if not any(op in some for some in found)]
    if check and unused:
        raise ValueError(f"There are unused update ops: {set(unused)}")
    return [[op for op in some if op in wanted] for some in found]


def _step_of_its_own(name: str, global_step: Any) -> Any:
    return get_variable(
        f"dummy_global_step_{name}",
        shape=[],
        dtype=global_step.dtype.base_dtype,
        initializer=Zeros(),
        trainable=False,
        collections=[GraphKeys.GLOBAL_VARIABLES],
    )


@export("contrib.gan.gan_train_ops")
def gan_train_ops(
    model: Any,
    loss: Any,
    generator_optimizer: Any,
    discriminator_optimizer: Any,
    check_for_unused_update_ops: bool = True,
    is_chief: bool = True,
    **kwargs: Any,
) -> GANTrainOps:
    """The operations that train a model.

    Args:
      model: a model of any kind.
      loss: its losses.
      generator_optimizer, discriminator_optimizer: the optimizers.
      check_for_unused_update_ops: whether updates outside of the scopes are an error.
      is_chief: whether this process is the chief, for hooks of synchronous optimizers.
      **kwargs: more arguments of `tf.contrib.training.create_train_op`.

    Raises:
      ValueError: there are updates outside of the scopes of the networks.
    """
    optimizers = (generator_optimizer, discriminator_optimizer)
    if isinstance(model, CycleGANModel):
        return _both_ways(
            model, loss, optimizers, check_for_unused_update_ops, is_chief, kwargs
        )
    global_step = training_util.get_or_create_global_step()
    increment = global_step.assign_add(1)
    scopes = [model.generator_scope.name, model.discriminator_scope.name]
    updates = updates_of(kwargs, scopes, check_for_unused_update_ops)
    parts = (
        ("generator", loss.generator_loss, model.generator_variables),
        ("discriminator", loss.discriminator_loss, model.discriminator_variables),
    )
    hooks, ops = [], []
    for (name, value, variables), optimizer, some in zip(
        parts, optimizers, updates, strict=True
    ):
        step = None
        if isinstance(optimizer, SyncReplicasOptimizer):
            step = _step_of_its_own(name, global_step)
            some.append(step.assign(global_step))
            hooks.append(optimizer.make_session_run_hook(is_chief))
        with name_scope(f"{name}_train"):
            ops.append(
                create_train_op(
                    total_loss=value,
                    optimizer=optimizer,
                    variables_to_train=variables,
                    global_step=step,
                    update_ops=some,
                    **kwargs,
                )
            )
    return GANTrainOps(ops[0], ops[1], increment, hooks)


def _both_ways(
    model: Any,
    loss: Any,
    optimizers: tuple[Any, Any],
    check: bool,
    is_chief: bool,
    kwargs: dict[str, Any],
) -> GANTrainOps:
    with name_scope("cyclegan_x2y_train"):
        x2y = gan_train_ops(
            model.model_x2y, loss.loss_x2y, *optimizers, check, is_chief, **kwargs
        )
    with name_scope("cyclegan_y2x_train"):
        y2x = gan_train_ops(
            model.model_y2x, loss.loss_y2x, *optimizers, check, is_chief, **kwargs
        )
    return GANTrainOps(
        (x2y.generator_train_op, y2x.generator_train_op),
        (x2y.discriminator_train_op, y2x.discriminator_train_op),
        training_util.get_or_create_global_step().assign_add(1),
    )


@export("contrib.gan.RunTrainOpsHook")
class RunTrainOpsHook(SessionRunHook):
    """Runs operations so many times before each step."""

    def __init__(self, train_ops: Any, train_steps: int) -> None:
        """Makes the hook.

        Args:
          train_ops: an operation, or a list of operations that run together.
          train_steps: how many times.
        """
        is_list = isinstance(train_ops, (list, tuple))
        self._train_ops = train_ops if is_list else [train_ops]
        self._train_steps = train_steps

    def before_run(self, run_context: Any) -> None:
        """Runs them."""
        for _ in range(self._train_steps):
            run_context.session.run(self._train_ops)


@export("contrib.gan.get_sequential_train_hooks")
def get_sequential_train_hooks(
    train_steps: GANTrainSteps = _ONE_EACH,
) -> Hooks:
    """A function from GANTrainOps to hooks that train one network after the other."""

    def hooks(train_ops: Any) -> list[Any]:
        return [
            RunTrainOpsHook(
                train_ops.generator_train_op, train_steps.generator_train_steps
            ),
            RunTrainOpsHook(
                train_ops.discriminator_train_op, train_steps.discriminator_train_steps
            ),
            *train_ops.train_hooks,
        ]

    return hooks


@export("contrib.gan.get_joint_train_hooks")
def get_joint_train_hooks(train_steps: GANTrainSteps = _ONE_EACH) -> Hooks:
    """A function from GANTrainOps to hooks that train both networks in one run.

    What one has more steps of runs alone then. Optimizers should lock.
    """
    gen_steps, dis_steps = train_steps
    both = min(gen_steps, dis_steps)

    def hooks(train_ops: Any) -> list[Any]:
        gen, dis = train_ops.generator_train_op, train_ops.discriminator_train_op
        return [
            RunTrainOpsHook([gen, dis], both),
            RunTrainOpsHook(gen, gen_steps - both),
            RunTrainOpsHook(dis, dis_steps - both),
            *train_ops.train_hooks,
        ]

    return hooks


_IN_TURNS = get_sequential_train_hooks()


@export("contrib.gan.gan_train")
def gan_train(
    train_ops: Any,
    logdir: str | None,
    get_hooks_fn: Hooks = _IN_TURNS,
    master: str = "",
    is_chief: bool = True,
    scaffold: Any = None,
    hooks: Any = None,
    chief_only_hooks: Any = None,
    save_checkpoint_secs: float | None = 600,
    save_summaries_steps: int | None = 100,
    config: Any = None,
) -> Any:
    """`tf.contrib.training.train` with the hooks that train both networks.

    Args:
      train_ops: a GANTrainOps.
      logdir: where checkpoints and summaries go.
      get_hooks_fn: a function from `train_ops` to hooks.
      hooks: more of them.
      master, is_chief, scaffold, chief_only_hooks, save_checkpoint_secs,
        save_summaries_steps, config: see `tf.contrib.training.train`.

    Returns:
      What that returns: the last step.
    """
    return train(
        train_ops.global_step_inc_op,
        logdir,
        master=master,
        is_chief=is_chief,
        scaffold=scaffold,
        hooks=[*(hooks or ()), *get_hooks_fn(train_ops)],
        chief_only_hooks=chief_only_hooks,
        save_checkpoint_secs=save_checkpoint_secs,
        save_summaries_steps=save_summaries_steps,
        config=config,
    )


@export("contrib.gan.get_sequential_train_steps")
def get_sequential_train_steps(
    train_steps: GANTrainSteps = _ONE_EACH,
) -> Callable[..., tuple[Any, bool]]:
    """A `train_step_fn` for `tf.contrib.slim.learning.train`, one network by one."""

    def steps(
        sess: Any, train_ops: Any, global_step: Any, train_step_kwargs: Any
    ) -> tuple[Any, bool]:
        kwargs = dict(train_step_kwargs)
        should_stop = kwargs.pop("should_stop", None)
        total: Any = 0
        for op, count in (
            (train_ops.generator_train_op, train_steps.generator_train_steps),
            (train_ops.discriminator_train_op, train_steps.discriminator_train_steps),
        ):
            for _ in range(count):
                loss, _ = train_step(sess, op, global_step, kwargs)
                total += loss
        sess.run(train_ops.global_step_inc_op)
        return total, False if should_stop is None else sess.run(should_stop)

    return steps
