"""`LARSOptimizer`, with a learning rate for each variable; `RegAdagradOptimizer`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.indexing.selection import where_v2
from tensorloom.ops.linalg.norm import norm
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.comparison import greater
from tensorloom.ops.training.training_ops import apply_update
from tensorloom.train.optimizers.adagrad import AdagradOptimizer
from tensorloom.train.optimizers.optimizer import Optimizer


@export("contrib.opt.LARSOptimizer")
class LARSOptimizer(Optimizer):
    """Momentum whose rate is scaled by norms of variable and gradient (You, 2017).

    Args:
      learning_rate: a number, a tensor, or a function that gives one.
      momentum: a number that is not negative.
      weight_decay: a number that is not negative.
      eeta: how far a rate is trusted.
      epsilon: added to the norm that is divided by.
      skip_list: parts of names of variables that have the plain rate and no decay.
      use_nesterov: Nesterov's variant.

    Raises:
      ValueError: `momentum` or `weight_decay` is negative.
    """

    def __init__(
        self,
        learning_rate: Any,
        momentum: float = 0.9,
        weight_decay: float = 0.0001,
        eeta: float = 0.001,
        epsilon: float = 0.0,
        name: str = "LARSOptimizer",
        skip_list: Sequence[str] | None = None,
        use_nesterov: bool = False,
    ) -> None:
        if momentum < 0.0:
            raise ValueError(f"momentum should be positive: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"weight_decay should be positive: {weight_decay}")
        super().__init__(use_locking=False, name=name)
        self._learning_rate = learning_rate
        self._momentum = momentum
        self._weight_decay = weight_decay
        self._eeta = eeta
        self._epsilon = epsilon
        self._skip_list = skip_list
        self._use_nesterov = use_nesterov

    def _create_slots(self, var_list: list[Any]) -> None:
        for variable in var_list:
            self._zeros_slot(variable, "momentum", self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor = convert_to_tensor(
            self._call_if_callable(self._learning_rate), name="learning_rate"
        )
        self._momentum_tensor = convert_to_tensor(
            self._call_if_callable(self._momentum), name="momentum"
        )

    def compute_lr(self, grad: Any, var: Any) -> tuple[Any, Any]:
        """The rate of a variable, and its gradient with the weight decay in it."""
        if any(part in var.name for part in self._skip_list or ()):
            return self._learning_rate, grad
        weight = norm(var, ord=2)
        slope = norm(grad, ord=2)
        trust = (
            self._eeta * weight / (slope + self._weight_decay * weight + self._epsilon)
        )
        ratio = where_v2(
            greater(weight, 0), where_v2(greater(slope, 0), trust, 1.0), 1.0
        )
        return self._learning_rate * ratio, grad + self._weight_decay * var

    def _dense(self, grad: Any, var: Any) -> Any:
        rate, grad = self.compute_lr(grad, var)
        return apply_update(
            "Momentum",
            (var, self.get_slot(var, "momentum")),
            lr=cast(1.0, var.dtype.base_dtype),
            grad=grad * rate,
            momentum=self._momentum,
            use_locking=False,
            use_nesterov=self._use_nesterov,
        )

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._dense(grad, var)

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return self._dense(grad, handle)

    def _rows(self, grad: Any, var: Any, indices: Any) -> Any:
        dtype = var.dtype.base_dtype
        return apply_update(
            "Momentum",
            (var, self.get_slot(var, "momentum")),
            lr=cast(self._learning_rate_tensor, dtype),
            grad=grad,
            indices=indices,
            momentum=cast(self._momentum_tensor, dtype),
            use_locking=self._use_locking,
            use_nesterov=self._use_nesterov,
        )

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._rows(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        return self._rows(grad, handle, indices)


@export("contrib.opt.RegAdagradOptimizer")
class RegAdagradOptimizer(AdagradOptimizer):
    """`AdagradOptimizer` that can leave its sums as they are.

    Args:
      learning_rate, initial_accumulator_value: see `tf.train.AdagradOptimizer`.
    """

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "RegAdagrad",
    ) -> None:
        super().__init__(learning_rate, initial_accumulator_value, use_locking, name)
        self._should_update_slots = True

    @contextlib.contextmanager
    def avoid_updating_slots(self) -> Iterator[None]:
        """Updates that are built within leave the sums of squares as they are."""
        before, self._should_update_slots = self._should_update_slots, False
        try:
            yield
        finally:
            self._should_update_slots = before

    def _build(self, var: Any, grad: Any, dtype: Any, **indices: Any) -> Any:
        return apply_update(
            "Adagrad",
            (var, self.get_slot(var, "accumulator")),
            lr=cast(self._learning_rate_tensor, dtype),
            grad=grad,
            **indices,
            use_locking=self._use_locking,
            update_slots=self._should_update_slots,
        )
