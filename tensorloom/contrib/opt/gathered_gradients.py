"""`AGNOptimizer`: workers add up gradients, which at times train global variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.client.variables.variable_lists import trainable_variables
from tensorloom.client.variables.variable_scope import variable_creator_scope
from tensorloom.contrib.opt.worker_variables import (
    GRAD_VARIABLE_NAME,
    PairedVariables,
    StartHook,
    local_step,
    read_at_home,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import colocate_with, control_dependencies
from tensorloom.framework.graph.graph_keys import GraphKeys
from tensorloom.ops.array.fill import zeros_like
from tensorloom.ops.control_flow.builders import group, no_op
from tensorloom.ops.math.binary import floormod
from tensorloom.ops.math.comparison import equal
from tensorloom.ops.state.reference_variable import assign, assign_add
from tensorloom.train.optimizers.optimizer import Optimizer


@export("contrib.opt.AGNCustomGetter")
class AGNCustomGetter(PairedVariables):
    """A custom getter: to each trained variable a global one, and a sum of gradients.

    Args:
      worker_device: where the variables of this worker are.
    """

    _second_name = GRAD_VARIABLE_NAME

    @property
    def _grad_map(self) -> dict[Any, Any]:
        return self._second_map


def _made_local(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
    """A variable of the optimizer, which belongs to this worker."""
    given = kwargs.pop("collections", None) or [GraphKeys.LOCAL_VARIABLES]
    if GraphKeys.GLOBAL_VARIABLES in given:
        given = [*given, GraphKeys.LOCAL_VARIABLES]
        given.remove(GraphKeys.GLOBAL_VARIABLES)
    return next_creator(collections=given, **kwargs)


@export("contrib.opt.AGNOptimizer")
class AGNOptimizer(Optimizer):
    """Trains local variables, and with the mean gradient of a period global ones.

    Args:
      optimizer: that of both.
      num_worker: how many workers there are.
      custom_getter: the getter with which the variables were made.
      communication_period: in how many steps the global variables are trained once.
      name: of the operations.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        num_worker: int,
        custom_getter: AGNCustomGetter,
        communication_period: int = 10,
        use_locking: bool = True,
        name: str = "AGNOptimizer",
    ) -> None:
        super().__init__(use_locking, name)
        self._opt = optimizer
        self._num_worker = num_worker
        self._period = communication_period
        self._global_map = custom_getter._global_map
        self._grad_map = custom_getter._grad_map
        self._local_step = local_step()
        optimizer._prepare()

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """An operation that trains the worker's variables, and at times the others."""
        pairs = [(grad, var) for grad, var in grads_and_vars if grad is not None]
        own = [var for _, var in pairs]
        with variable_creator_scope(_made_local):
            updates = [self._opt.apply_gradients(pairs)]
        for grad, var in pairs:
            updates.append(assign_add(self._grad_map[var], grad))
        counted = assign_add(self._local_step, 1, name="local_step_update").op
        with control_dependencies([counted]):
            is_time = equal(floormod(self._local_step, self._period), 0)
        with control_dependencies(updates):
            return cond(is_time, lambda: self._train(own, global_step), no_op)

    def _train(self, own: list[Any], global_step: Any) -> Any:
        sums = [self._grad_map[var] for var in own]
        means = [assign(one, one / self._period) for one in sums]
        with control_dependencies(means):
            centers = [self._global_map[var] for var in own]
            trained = self._opt.apply_gradients(zip(means, centers, strict=True))
        with control_dependencies([trained]):
            updates = []
            if global_step is not None:
                with colocate_with(global_step):
                    updates.append(assign_add(global_step, 1))
            updates.extend(
                assign(var, read_at_home(self._global_map[var])) for var in own
            )
            updates.extend(assign(one, zeros_like(one)) for one in sums)
            return group(*updates)

    def get_init_op(self, task_index: int) -> Any:
        """An operation that sets the worker's variables to the global ones.

        Raises:
          ValueError: there are no variables.
        """
        own = trainable_variables()
        if not own:
            raise ValueError(
                "The lists of local_variables, global_center_variables,"
                "grad_center_variables should not be empty"
            )
        sets = [assign(var, self._global_map[var]) for var in own]
        for var in own:
            total = self._grad_map[var]
            sets.append(assign(total, zeros_like(total)))
        return group(*sets)

    def make_session_run_hook(self, is_chief: bool, task_index: int) -> Any:
        """The hook that sets the worker's variables at first."""
        return StartHook(lambda: self.get_init_op(task_index))
