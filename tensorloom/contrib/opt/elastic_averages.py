"""`ElasticAverageOptimizer`: workers held near a common center (Zhang et al., 2015)."""

from __future__ import annotations

from typing import Any

from tensorloom.client.queues.queues import FIFOQueue
from tensorloom.client.variables.variable_lists import (
    global_variables,
    trainable_variables,
)
from tensorloom.contrib.opt.worker_variables import (
    LOCAL_VARIABLE_NAME,
    PairedVariables,
    StartHook,
    every,
    local_step,
    moved_to_local,
    on_worker,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import colocate_with, control_dependencies, device
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.constant import constant
from tensorloom.ops.control_flow.builders import group, no_op
from tensorloom.ops.math.binary import multiply, subtract
from tensorloom.ops.nn.loss import l2_loss
from tensorloom.ops.reductions.aggregate import add_n
from tensorloom.ops.state.reference_variable import assign, assign_add, assign_sub
from tensorloom.train.checkpoints.saver import Saver
from tensorloom.train.checkpoints.saver_saveables import op_list_to_dict
from tensorloom.train.optimizers.optimizer import Optimizer


@export("contrib.opt.ElasticAverageCustomGetter")
class ElasticAverageCustomGetter(PairedVariables):
    """A custom getter: to each trained variable a center, and a local copy of that.

    Args:
      worker_device: where the variables of this worker are.
    """

    _second_name = LOCAL_VARIABLE_NAME

    @property
    def _local_map(self) -> dict[Any, Any]:
        return self._second_map

    def _untrained(
        self, getter: Any, name: str, collections: Any, *args: Any, **kwargs: Any
    ) -> Any:
        return on_worker(
            self._worker_device, getter, name, collections, *args, **kwargs
        )


@export("contrib.opt.ElasticAverageOptimizer")
class ElasticAverageOptimizer(Optimizer):
    """Each worker trains its own variables, and pulls at a center now and then.

    Args:
      opt: the optimizer of the worker.
      num_worker: how many there are.
      ea_custom_getter: the getter with which the variables were made.
      communication_period: in how many steps the center is moved once.
      moving_rate: how far; BETA / period / workers when None.
      rho: how much the distance to the center adds to the loss.
      synchronous: workers begin together.
      name: of the operations.
    """

    BETA = 0.9

    def __init__(
        self,
        opt: Any,
        num_worker: int,
        ea_custom_getter: ElasticAverageCustomGetter,
        communication_period: int = 10,
        moving_rate: float | None = None,
        rho: float | None = None,
        use_locking: bool = True,
        synchronous: bool = False,
        name: str = "ElasticAverageOptimizer",
    ) -> None:
        super().__init__(use_locking, name)
        self._opt = opt
        self._num_worker = num_worker
        self._period = communication_period
        self._local_map = ea_custom_getter._local_map
        self._global_map = ea_custom_getter._global_map
        self._synchronous = synchronous
        if moving_rate is None:
            moving_rate = self.BETA / communication_period / num_worker
        self._moving_rate = moving_rate
        self._rho = moving_rate / opt._learning_rate if rho is None else rho
        self._local_step = local_step()
        opt._prepare()

    def compute_gradients(
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> Any:
        """Those of the loss with the distance to the center; see `Optimizer`."""
        var_list = var_list or trainable_variables()
        differences = [
            subtract(var, self._local_map[own])
            for var, own in zip(trainable_variables(), var_list, strict=False)
        ]
        distance = self._rho * add_n([l2_loss(one) for one in differences])
        return self._opt.compute_gradients(
            loss + distance,
            var_list,
            gate_gradients,
            aggregation_method,
            colocate_gradients_with_ops,
            grad_loss,
        )

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """An operation that trains the worker's variables, and at times the center."""
        pairs = list(grads_and_vars)
        before = {var.op.name for var in global_variables()}
        update = self._opt.apply_gradients(pairs)
        new = {var.op.name for var in global_variables()} - before
        moved_to_local(sorted(new))
        own = [var for grad, var in pairs if grad is not None]
        return every(
            self._local_step,
            self._period,
            lambda: self._move_center(own, global_step),
            [update],
        )

    def _move_center(self, own: list[Any], global_step: Any) -> Any:
        centers = [self._global_map[var] for var in own]
        copies = [self._local_map[var] for var in own]
        copied = [
            copy.assign(center) for copy, center in zip(copies, centers, strict=True)
        ]
        with control_dependencies(copied):
            differences = []
            for var, copy in zip(own, copied, strict=True):
                with device(var.device):
                    differences.append(subtract(var, copy))
            updates = []
            for change, variables in ((assign_sub, own), (assign_add, centers)):
                for var, difference in zip(variables, differences, strict=True):
                    with device(var.device):
                        updates.append(
                            change(var, multiply(self._moving_rate, difference))
                        )
            if global_step is not None:
                with colocate_with(global_step):
                    updates.append(assign_add(global_step, 1))
        return group(*updates)

    def get_init_op(self, task_index: int) -> Any:
        """An operation that sets the worker's variables to the center.

        Args:
          task_index: which worker this is.

        Raises:
          ValueError: there are no variables.
        """
        own = trainable_variables()
        if not own:
            raise ValueError(
                "The lists of local_variables, global_center_variables, "
                "local_center_variables should not be empty  "
            )
        sets = []
        for var in own:
            sets.append(assign(var, self._global_map[var]))
            sets.append(assign(self._local_map[var], self._global_map[var]))
        init = group(*sets)
        return self._all_ready(init, task_index) if self._synchronous else init

    def _all_ready(self, init: Any, task_index: int) -> Any:
        """Waits until each worker has told each other one that it is ready."""
        queues = [
            FIFOQueue(
                self._num_worker,
                [dtypes.bool],
                shapes=[[]],
                shared_name=f"variable_init_sync_queue{i}",
            )
            for i in range(self._num_worker)
        ]
        with control_dependencies([init]):
            told = [
                no_op() if i == task_index else queue.enqueue(constant(False))
                for i, queue in enumerate(queues)
            ]
        waited = queues[task_index].dequeue_many(len(queues) - 1)
        return group(*told, waited)

    def make_session_run_hook(self, is_chief: bool, task_index: int) -> Any:
        """The hook that sets the worker's variables at first."""
        return StartHook(lambda: self.get_init_op(task_index))

    def swapping_saver(
        self, var_list: Any = None, name: str = "swapping_saver", **kwargs: Any
    ) -> Any:
        """A `Saver` that writes the centers under the names of the variables.

        Args:
          var_list: a list or dict; the trainable variables when None.
          name: of the operations.
          **kwargs: for the `Saver`.

        Raises:
          RuntimeError: no variables were made with the getter.
        """
        if not self._global_map:
            raise RuntimeError(
                "global_center_variable is empty, please make sure this is called "
                "after model created and ElasticAverageCustomGetter is used when "
                "declaring you model"
            )
        if var_list is None:
            var_list = trainable_variables()
        if not isinstance(var_list, dict):
            var_list = op_list_to_dict(var_list)
        by_name = {var.op.name: var for var in trainable_variables()}

        def center(var: Any) -> Any:
            return self._global_map.get(by_name.get(var.op.name), var)

        swapped = {
            key: [center(part) for part in value]
            if isinstance(value, list)
            else center(value)
            for key, value in var_list.items()
        }
        return Saver(swapped, name=name, **kwargs)
