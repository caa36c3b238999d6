"""Optimizers around another: averages of variables, clipped ones, stale gradients."""

from __future__ import annotations

import contextlib
from typing import Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.client.program.program_log import warning
from tensorloom.client.variables.partitioned_variable import PartitionedVariable
from tensorloom.client.variables.variable_lists import global_variables
from tensorloom.client.variables.variable_scope import get_variable
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    Tensor,
    colocate_with,
    control_dependencies,
    name_scope,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.ops.array.identity import identity
from tensorloom.ops.array.reshape import reshape
from tensorloom.ops.control_flow.builders import group
from tensorloom.ops.indexing.gather import gather
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.clip import clip_by_norm
from tensorloom.ops.math.comparison import less_equal
from tensorloom.ops.state.initializers import Zeros
from tensorloom.summary import summary
from tensorloom.train.checkpoints.saver import Saver
from tensorloom.train.checkpoints.saver_saveables import op_list_to_dict
from tensorloom.train.optimizers.moving_averages import ExponentialMovingAverage
from tensorloom.train.optimizers.optimizer import Optimizer
from tensorloom.train.training_util import get_global_step


class _Around(Optimizer):
    """An optimizer whose gradients and slots are another's."""

    _opt: Optimizer

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """The other optimizer's."""
        return self._opt.compute_gradients(*args, **kwargs)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """The other optimizer's."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        """The other optimizer's."""
        return self._opt.get_slot_names(*args, **kwargs)


@export("contrib.opt.MovingAverageOptimizer")
class MovingAverageOptimizer(Optimizer):
    """Keeps moving averages of the variables that another optimizer trains.

    `swapping_saver` saves the averages under the names of the variables.

    Args:
      opt: the optimizer.
      average_decay: of the averages.
      num_updates: how many updates there were: the decay is smaller at first.
      sequential_update: average after the update, and not beside it.
    """

    def __init__(
        self,
        opt: Optimizer,
        average_decay: Any = 0.9999,
        num_updates: Any = None,
        sequential_update: bool = True,
    ) -> None:
        self._optimizer = opt
        self._ema = ExponentialMovingAverage(average_decay, num_updates=num_updates)
        self._swapped: dict[str, str] | None = None
        self._sequential_update = sequential_update

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """The other optimizer's."""
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """An operation that updates the variables, and their averages."""
        pairs = list(grads_and_vars)
        train = self._optimizer.apply_gradients(
            pairs, global_step=global_step, name=name
        )
        variables = [variable for grad, variable in pairs if grad is not None]
        with (
            control_dependencies([train])
            if self._sequential_update
            else contextlib.nullcontext()
        ):
            average = self._ema.apply(variables)
        self._swapped = {}
        for variable in variables:
            name_of_average = self._ema.average(variable).op.name
            self._swapped[variable.op.name] = name_of_average
            self._swapped[name_of_average] = variable.op.name
        return group(train, average, name="train_with_avg")

    def swapping_saver(
        self, var_list: Any = None, name: str = "swapping_saver", **kwargs: Any
    ) -> Any:
        """A `Saver` that writes averages as the variables, and these as the averages.

        Args:
          var_list: a list or dict of what to save; the global variables when None.
          name: of the operations.
          **kwargs: for the `Saver`.

        Raises:
          RuntimeError: `apply_gradients` was not called yet.
          ValueError: a variable is to be saved, but not its average.
        """
        if self._swapped is None:
            raise RuntimeError(
                "Must call apply_gradients or minimize before creating the "
                "swapping_saver"
            )
        if var_list is None:
            var_list = global_variables()
        if not isinstance(var_list, dict):
            var_list = op_list_to_dict(var_list)
        by_name: dict[str, Any] = {}
        for key, value in var_list.items():
            if isinstance(value, list | PartitionedVariable):
                by_name.update((part.op.name, part) for part in value)
            else:
                by_name[key] = value
        swapped = {
            key: [self._other(by_name, part.op.name, part) for part in value]
            if isinstance(value, list | PartitionedVariable)
            else self._other(by_name, key, value)
            for key, value in var_list.items()
        }
        return Saver(swapped, name=name, **kwargs)

    def _other(self, by_name: dict[str, Any], name: str, value: Any) -> Any:
        other = (self._swapped or {}).get(name)
        if other is None:
            return value
        if other not in by_name:
            raise ValueError(
                f"Variable to swap {other} is not part of variables to save. This "
                "breaks MovingAverageOptimizer."
            )
        return by_name[other]


@export("contrib.opt.VariableClippingOptimizer")
class VariableClippingOptimizer(_Around):
    """Clips norms of variables after another optimizer's update.

    Args:
      opt: the optimizer.
      vars_to_clip_dims: for each variable the dimensions that the norm is taken over.
      max_norm: the largest norm.
      use_locking: the update that clips excludes others.
      colocate_clip_ops_with_vars: compute where the variables are.
      name: of the operations.
    """

    def __init__(
        self,
        opt: Optimizer,
        vars_to_clip_dims: Any,
        max_norm: float,
        use_locking: bool = False,
        colocate_clip_ops_with_vars: bool = False,
        name: str = "VariableClipping",
    ) -> None:
        super().__init__(use_locking, name)
        self._opt = opt
        self._dims = {var: list(dims) for var, dims in vars_to_clip_dims.items()}
        self._max_norm = max_norm
        self._colocate = colocate_clip_ops_with_vars

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """An operation that updates the variables, and clips them then."""
        pairs = list(grads_and_vars)
        with name_scope(name, self._name) as scope:
            update = self._opt.apply_gradients(pairs, global_step=global_step)
            clips = []
            with control_dependencies([update]):
                for grad, var in pairs:
                    if grad is None or var not in self._dims:
                        continue
                    with name_scope(f"clip_{var.op.name}"):
                        clips.append(self._clip(grad, var))
            return group(update, *clips, name=scope)

    def _beside(self, var: Any) -> Any:
        return colocate_with(var) if self._colocate else contextlib.nullcontext()

    def _clip(self, grad: Any, var: Any) -> Any:
        dims = self._dims[var]
        if not isinstance(grad, Tensor):
            if 0 not in dims:
                return self._clip_rows(grad, var, dims)
            warning(
                "Clipping norm across dims %s for %s is inefficient when including "
                "sparse dimension 0.",
                dims,
                var.op.name,
            )
        with self._beside(var):
            value = var.read_value()
            delta = value - clip_by_norm(value, self._max_norm, dims)
        with colocate_with(var):
            return var.assign_sub(delta, use_locking=self._use_locking)

    def _clip_rows(self, grad: Any, var: Any, dims: list[int]) -> Any:
        with colocate_with(var):
            rows = gather(var, grad.indices)
        with self._beside(var):
            clipped = clip_by_norm(rows, self._max_norm, dims)
            delta = IndexedSlices(rows - clipped, grad.indices, grad.dense_shape)
        with colocate_with(var):
            return var.scatter_sub(delta, use_locking=self._use_locking)


@export("contrib.opt.DropStaleGradientOptimizer")
class DropStaleGradientOptimizer(_Around):
    """Drops gradients that others have overtaken by too many steps.

    Args:
      opt: the optimizer.
      staleness: how many steps a gradient may be late.
      name: of the operations.
    """

    def __init__(
        self,
        opt: Optimizer,
        staleness: int,
        use_locking: bool = False,
        name: str = "DropStaleGradient",
    ) -> None:
        super().__init__(use_locking, name)
        self._opt = opt
        self._staleness = staleness

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> Any:
        """The other optimizer's, with the step at which they began."""
        with colocate_with(loss):
            self._local_step = get_global_step() + 0
        with control_dependencies([self._local_step]):
            loss = identity(loss)
            return self._opt.compute_gradients(loss, *args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """Updates the variables unless the gradients are stale.

        Returns:
          How many were dropped so far, a float32 scalar.
        """
        pairs = list(grads_and_vars)
        with colocate_with(global_step):
            dropped = get_variable(
                "stale_counter",
                [],
                initializer=Zeros(),
                trainable=False,
            )

        def accept() -> Any:
            update = self._opt.apply_gradients(
                pairs, global_step=global_step, name=name
            )
            with control_dependencies([update]):
                return identity(0.0)

        gradients = [
            grad if isinstance(grad, Tensor) else grad.op
            for grad, _ in pairs
            if grad is not None
        ]
        with control_dependencies(gradients), colocate_with(global_step):
            late = reshape(global_step - self._local_step, shape=())
        result = dropped.assign_add(
            cond(less_equal(late, self._staleness), accept, lambda: identity(1.0))
        )
        summary.scalar(
            "Gradient staleness percentage",
            dropped / cast(global_step + 1, dtypes.float32),
        )
        return result
