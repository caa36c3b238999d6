"""By how much a loss is multiplied, so that gradients in float16 do not vanish."""

from __future__ import annotations

import abc
from typing import Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.client.variables.variables import Variable
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.control_flow.builders import group, no_op
from tensorloom.ops.indexing.selection import where_v2
from tensorloom.ops.math.binary import maximum
from tensorloom.ops.math.elementwise import is_finite
from tensorloom.ops.state.reference_variable import assign, assign_add


@export("contrib.mixed_precision.LossScaleManager")
class LossScaleManager(abc.ABC):
    """Base of the managers."""

    @abc.abstractmethod
    def get_loss_scale(self) -> Any:
        """The scale, a scalar float32."""

    @abc.abstractmethod
    def update_loss_scale(self, finite_grads: Any) -> Any:
        """The operation that changes the scale after a step.

        Args:
          finite_grads: a bool scalar: all gradients were finite.
        """


@export("contrib.mixed_precision.FixedLossScaleManager")
class FixedLossScaleManager(LossScaleManager):
    """One scale for ever.

    Args:
      loss_scale: a number of at least 1.

    Raises:
      ValueError: it is less.
    """

    def __init__(self, loss_scale: float) -> None:
        if loss_scale < 1:
            raise ValueError("loss scale must be at least 1.")
        self._loss_scale = convert_to_tensor(loss_scale, dtype=dtypes.float32)

    def get_loss_scale(self) -> Any:
        """The scale."""
        return self._loss_scale

    def update_loss_scale(self, finite_grads: Any) -> Any:
        """Changes nothing."""
        return no_op()


@export("contrib.mixed_precision.ExponentialUpdateLossScaleManager")
class ExponentialUpdateLossScaleManager(LossScaleManager):
    """Raises the scale after many good steps, and lowers it after some bad ones.

    Args:
      init_loss_scale: the first scale.
      incr_every_n_steps: good steps in a row after which it is raised.
      decr_every_n_nan_or_inf: bad steps after which it is lowered.
      incr_ratio, decr_ratio: what it is multiplied by.
    """

    def __init__(
        self,
        init_loss_scale: float,
        incr_every_n_steps: int,
        decr_every_n_nan_or_inf: int = 2,
        incr_ratio: float = 2,
        decr_ratio: float = 0.8,
    ) -> None:
        self._incr_every_n_steps = incr_every_n_steps
        self._decr_every_n_nan_or_inf = decr_every_n_nan_or_inf
        self._incr_ratio = incr_ratio
        self._decr_ratio = decr_ratio
        first = convert_to_tensor(init_loss_scale, dtypes.float32)
        self._loss_scale: Any = Variable(first, trainable=False, name="loss_scale")
        self._num_good_steps: Any = Variable(
            0, trainable=False, name="good_steps", dtype=dtypes.int32
        )
        self._num_bad_steps: Any = Variable(
            0, trainable=False, name="bad_steps", dtype=dtypes.int32
        )

    def get_loss_scale(self) -> Any:
        """The scale, a variable."""
        return self._loss_scale

    def update_loss_scale(self, finite_grads: Any) -> Any:
        """Counts the step, and changes the scale if it is time."""
        return cond(finite_grads, self._good_step, self._bad_step)

    def _changed(self, scale: Any) -> Any:
        return group(
            assign(self._loss_scale, scale),
            assign(self._num_good_steps, 0),
            assign(self._num_bad_steps, 0),
        )

    def _good_step(self) -> Any:
        def raised() -> Any:
            higher = self._loss_scale * self._incr_ratio
            usable = where_v2(is_finite(higher), higher, self._loss_scale)
            return self._changed(usable)

        return cond(
            self._num_good_steps + 1 >= self._incr_every_n_steps,
            raised,
            lambda: group(assign_add(self._num_good_steps, 1)),
        )

    def _bad_step(self) -> Any:
        return cond(
            self._num_bad_steps + 1 >= self._decr_every_n_nan_or_inf,
            lambda: self._changed(maximum(1.0, self._loss_scale * self._decr_ratio)),
            lambda: group(
                assign_add(self._num_bad_steps, 1),
                assign(self._num_good_steps, 0),
            ),
        )
