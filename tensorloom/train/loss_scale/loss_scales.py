"""`tf.train.experimental.LossScale`, fixed and dynamic.

Small gradients are zero in float16. A loss that is multiplied by a large number has
larger ones, which are divided by it before they are applied.
"""

from __future__ import annotations

import abc
from collections.abc import Iterable
from typing import Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.client.distribution.reduce_op import ReduceOp
from tensorloom.client.distribution.thread_modes import get_cross_replica_context
from tensorloom.client.variables.variables import Variable
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Operation, Tensor, get_default_graph
from tensorloom.framework.types import dtypes, nest
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.trackable import Trackable, TrackableReference
from tensorloom.ops.control_flow.builders import group, no_op
from tensorloom.ops.math import math_ops
from tensorloom.ops.math.binary import maximum
from tensorloom.ops.reductions.reductions import reduce_all


@export("train.experimental.LossScale")
class LossScale(Trackable, abc.ABC):
    """Base class: a scalar to multiply the loss with, and how it changes.

    A subclass makes its variables with `_add_weight`; checkpoints have them.
    """

    def __init__(self) -> None:
        # (name, graph) -> variable.
        self._weights: dict[tuple[str, Any], Any] = {}

    @abc.abstractmethod
    def __call__(self) -> Any:
        """The scale of now, a float32 scalar tensor."""

    @abc.abstractmethod
    def update(self, grads: Any) -> tuple[Operation, Any]:
        """Changes the scale by the gradients of a step.

        Args:
          grads: structure of unscaled gradients; None for a variable without.

        Returns:
          The operation that changes it, and a bool, or bool tensor: whether the
          gradients should be applied.
        """

    def _add_weight(self, name: str, initial_value: Any, dtype: Any = None) -> Any:
        """A variable of the scale.

        Raises:
          RuntimeError: there is one of that name in the graph.
        """
        variable = Variable(
            initial_value=initial_value,
            name=name,
            dtype=dtype,
            trainable=False,
            use_resource=True,
        )
        key = (name, get_default_graph())
        if key in self._weights:
            raise RuntimeError(f"Duplicate variables detected. {key}")
        self._weights[key] = variable
        self._handle_deferred_dependencies(name, variable)
        return variable

    @property
    def _checkpoint_dependencies(self) -> list[TrackableReference]:
        graph = get_default_graph()
        own = sorted(
            (name, weight)
            for (name, where), weight in self._weights.items()
            if where is graph
        )
        return super()._checkpoint_dependencies + [
            TrackableReference(name, weight) for name, weight in own
        ]

    def _lookup_dependency(self, name: str) -> Any:
        declared = super()._lookup_dependency(name)
        if declared is not None:
            return declared
        return self._weights.get((name, get_default_graph()))

    @abc.abstractmethod
    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments, for `from_config`."""

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """A scale with the arguments that `get_config` gave."""
        return cls(**config)


@export("train.experimental.FixedLossScale")
class FixedLossScale(LossScale):
    """A scale that never changes.

    Args:
      loss_scale_value: a number, at least 1.

    Raises:
      ValueError: it is none, or smaller.
    """

    def __init__(self, loss_scale_value: float) -> None:
        super().__init__()
        if not isinstance(loss_scale_value, int | float):
            raise ValueError("loss_scale_value must be a Python int or float.")
        if loss_scale_value < 1:
            raise ValueError("loss_scale_value must be at least 1.")
        self._loss_scale_value = float(loss_scale_value)

    def __call__(self) -> Any:
        """The number as a tensor."""
        return convert_to_tensor(self._loss_scale_value)

    def update(self, grads: Any) -> tuple[Operation, Any]:
        """Nothing changes, and the gradients are applied."""
        return no_op(), True

    def __repr__(self) -> str:
        return f"FixedLossScale({self._loss_scale_value})"

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {"loss_scale_value": self._loss_scale_value}


@export("train.experimental.DynamicLossScale")
class DynamicLossScale(LossScale):
    """A scale as large as gradients allow.

    It is multiplied after so many steps with finite gradients, and divided, down to 1,
    after a step without; the gradients of such a step are not applied.

    Args:
      initial_loss_scale: at first.
      increment_period: how many steps.
      multiplier: by how much it changes.
    """

    def __init__(
        self,
        initial_loss_scale: float = 2**15,
        increment_period: int = 2000,
        multiplier: float = 2.0,
    ) -> None:
        super().__init__()
        self._initial_loss_scale = float(initial_loss_scale)
        self._increment_period = int(increment_period)
        self._multiplier = float(multiplier)
        self._current_loss_scale = self._add_weight(
            name="current_loss_scale",
            dtype=dtypes.float32,
            initial_value=self._initial_loss_scale,
        )
        # Steps with finite gradients since the scale last changed.
        self._num_good_steps = self._add_weight(
            name="good_steps", dtype=dtypes.int64, initial_value=0
        )

    @property
    def initial_loss_scale(self) -> float:
        """The scale at first."""
        return self._initial_loss_scale

    @property
    def increment_period(self) -> int:
        """After how many good steps the scale grows."""
        return self._increment_period

    @property
    def multiplier(self) -> float:
        """By how much it changes."""
        return self._multiplier

    def __call__(self) -> Any:
        """The value of the variable."""
        return convert_to_tensor(self._current_loss_scale)

    def update(self, grads: Any) -> tuple[Operation, Any]:
        """Counts the step; see the class."""
        is_finite = _is_finite_everywhere(nest.flatten(grads))

        def after_good_step() -> Any:
            return cond(
                self._num_good_steps + 1 >= self._increment_period,
                self._grow,
                lambda: self._num_good_steps.assign_add(1).op,
            )

        return cond(is_finite, after_good_step, self._shrink), is_finite

    def _grow(self) -> Operation:
        larger = self._current_loss_scale * self._multiplier
        change = cond(
            math_ops.is_finite(larger),
            lambda: self._current_loss_scale.assign(larger).op,
            no_op,
        )
        return group(change, self._num_good_steps.assign(0))

    def _shrink(self) -> Operation:
        smaller = maximum(self._current_loss_scale / self._multiplier, 1)
        return group(
            self._num_good_steps.assign(0), self._current_loss_scale.assign(smaller)
        )

    def __repr__(self) -> str:
        return (
            f"DynamicLossScale(initial_loss_scale={self.initial_loss_scale}, "
            f"increment_period={self.increment_period}, multiplier={self.multiplier})"
        )

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {
            "initial_loss_scale": self.initial_loss_scale,
            "increment_period": self.increment_period,
            "multiplier": self.multiplier,
        }


def _is_all_finite(grads: Iterable[Any]) -> Tensor:
    each = [reduce_all(math_ops.is_finite(grad)) for grad in grads if grad is not None]
    found: Tensor = reduce_all(each)
    return found


def _is_finite_everywhere(grads: list[Any]) -> Tensor:
    """Whether the gradients are finite, in all replicas of a strategy."""
    strategy = get_cross_replica_context()
    if strategy is None:
        return _is_all_finite(grads)

    def in_replica(grads: list[Any]) -> Any:
        return math_ops.cast(_is_all_finite(grads), dtypes.float32)

    each = strategy.extended.call_for_each_replica(in_replica, args=(grads,))
    count = strategy.reduce(ReduceOp.SUM, each, axis=None)
    found: Tensor = math_ops.equal(count, strategy.num_replicas_in_sync)
    return found


def get(identifier: Any) -> Any:
    """The scale that a number, "dynamic", a `LossScale` or None stands for.

    Raises:
      ValueError: it is none of them.
    """
    if isinstance(identifier, int | float):
        return FixedLossScale(identifier)
    if identifier == "dynamic":
        return DynamicLossScale()
    if identifier is None or isinstance(identifier, LossScale):
        return identifier
    raise ValueError(f"Could not interpret loss scale identifier: {identifier}")
