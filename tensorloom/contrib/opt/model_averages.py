"""`ModelAverageOptimizer`: workers' variables are averaged at times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.client.queues.accumulators import ConditionalAccumulator
from tensorloom.client.queues.queues import FIFOQueue
from tensorloom.client.variables.variable_lists import trainable_variables
from tensorloom.client.variables.variables import Variable
from tensorloom.contrib.opt.worker_variables import (
    GLOBAL_VARIABLE_NAME,
    every,
    local_step,
    on_worker,
    read_at_home,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    colocate_with,
    control_dependencies,
    name_scope,
)
from tensorloom.framework.graph.graph import device as device_op
from tensorloom.framework.graph.graph_keys import GraphKeys
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.constant import constant
from tensorloom.ops.array.fill import fill
from tensorloom.ops.control_flow.builders import group
from tensorloom.ops.state.reference_variable import assign, assign_add
from tensorloom.train.hooks.session_run_hook import SessionRunHook
from tensorloom.train.optimizers.optimizer import Optimizer


@export("contrib.opt.ModelAverageCustomGetter")
class ModelAverageCustomGetter:
    """A custom getter: to each trained variable a global one.

    Args:
      worker_device: where the variables of this worker are.
    """

    def __init__(self, worker_device: str) -> None:
        self._worker_device = worker_device
        self._local_2_global: dict[Any, Any] = {}

    def __call__(
        self,
        getter: Callable[..., Any],
        name: str,
        trainable: bool,
        collections: Any,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        """The local variable; see the `custom_getter` of `tf.get_variable`."""
        if not trainable:
            return on_worker(
                self._worker_device, getter, name, collections, *args, **kwargs
            )
        with device_op(self._worker_device):
            local = getter(
                name,
                *args,
                trainable=True,
                collections=[GraphKeys.LOCAL_VARIABLES],
                **kwargs,
            )
        self._local_2_global[local] = Variable(
            name=f"{GLOBAL_VARIABLE_NAME}/{name}",
            initial_value=local.initialized_value(),
            trainable=False,
            collections=[GraphKeys.GLOBAL_VARIABLES],
        )
        return local


@export("contrib.opt.ModelAverageOptimizer")
class ModelAverageOptimizer(Optimizer):
    """Each worker trains its own variables; at times all take their mean.

    Args:
      opt: the optimizer of the worker.
      num_worker: how many there are.
      is_chief: whether this is the one that computes the mean.
      ma_custom_getter: the getter with which the variables were made.
      interval_steps: in how many steps the mean is taken once.
      name: of the operations.
    """

    def __init__(
        self,
        opt: Optimizer,
        num_worker: int,
        is_chief: bool,
        ma_custom_getter: ModelAverageCustomGetter,
        interval_steps: int = 100,
        use_locking: bool = True,
        name: str = "ModelAverageOptimizer",
    ) -> None:
        super().__init__(use_locking, name)
        self._opt = opt
        self._num_worker = num_worker
        self._is_chief = is_chief
        self._local_2_global = ma_custom_getter._local_2_global
        self._interval_steps = interval_steps
        self._accumulators: list[tuple[Any, str]] = []
        self._chief_init_op: Any = None
        self._local_step = local_step()
        opt._prepare()

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """The other optimizer's."""
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """An operation that trains the worker's variables, and at times averages.

        Raises:
          ValueError: there are no gradients, or no global step.
        """
        pairs = list(grads_and_vars)
        if not pairs:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required")
        update = self._opt.apply_gradients(pairs)
        own = [var for grad, var in pairs if grad is not None]
        result = every(
            self._local_step,
            self._interval_steps,
            lambda: self._average(own, global_step),
            [update],
        )
        starts = []
        for accumulator, device in self._accumulators:
            with device_op(device):
                starts.append(
                    accumulator.set_global_step(global_step, name="SetGlobalStep")
                )
        self._chief_init_op = group(*starts)
        return result

    def _average(self, own: list[Any], global_step: Any) -> Any:
        with colocate_with(global_step):
            tokens = FIFOQueue(-1, [dtypes.bool], shapes=[[]], shared_name="sync_queue")
        given, means = [], []
        with name_scope(None, f"{self._name}/global"):
            for var in own:
                shared = self._local_2_global[var]
                with device_op(shared.device):
                    if hasattr(var, "handle"):
                        raise ValueError("Unknown local variable type!")
                    accumulator = ConditionalAccumulator(
                        var.dtype.base_dtype,
                        shape=var.shape,
                        shared_name=f"{shared.name}/var_accum",
                    )
                    given.append(
                        accumulator.apply_grad(var._ref(), local_step=global_step)
                    )
                    means.append(accumulator.take_grad(self._num_worker))
                    self._accumulators.append((accumulator, shared.device))
        with control_dependencies(given):
            ready = self._tell(own, means, tokens, global_step)
        with control_dependencies([ready]):
            return self._taken(own)

    def _tell(
        self, own: list[Any], means: list[Any], tokens: FIFOQueue, global_step: Any
    ) -> Any:
        """The chief sets the means and tells the others, who wait for it."""
        if not self._is_chief:
            with device_op(global_step.device):
                return tokens.dequeue()
        updates = []
        for var, mean in zip(own, means, strict=True):
            shared = self._local_2_global[var]
            with device_op(shared.device):
                updates.append(assign(shared, mean))
        with device_op(global_step.device):
            updates.append(assign_add(global_step, 1))
        with control_dependencies(updates), device_op(global_step.device):
            told = fill([self._num_worker - 1], constant(False))
            return tokens.enqueue_many(told)

    def _taken(self, own: list[Any]) -> Any:
        if not own:
            raise ValueError("The list of local_variables should not be empty")
        updates = []
        for var in own:
            with device_op(var.device):
                updates.append(assign(var, read_at_home(self._local_2_global[var])))
        return group(*updates)

    def get_init_op(self) -> Any:
        """An operation that sets the worker's variables to the global ones.

        Raises:
          ValueError: there are no variables.
        """
        return self._taken(trainable_variables())

    def make_session_run_hook(self) -> Any:
        """The hook that makes the operations of the start."""
        return _Hook(self, self._is_chief)


class _Hook(SessionRunHook):
    """Makes the operations of the start, before the graph is finished."""

    def __init__(self, optimizer: ModelAverageOptimizer, is_chief: bool) -> None:
        self._ma_optimizer = optimizer
        self._is_chief = is_chief

    def begin(self) -> None:
        """Makes them."""
        if self._is_chief:
            self._chief_init_op = self._ma_optimizer._chief_init_op
        self._variable_init_op = self._ma_optimizer.get_init_op()
