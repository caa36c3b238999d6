"""Weight decay apart from the gradient (Loshchilov and Hutter, 2017)."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import control_dependencies
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.control_flow.builders import no_op
from tensorloom.ops.indexing.gather import gather
from tensorloom.ops.math.cast import cast
from tensorloom.ops.state.scatter import resource_scatter, scatter_add
from tensorloom.train.optimizers.adam import AdamOptimizer
from tensorloom.train.optimizers.momentum import MomentumOptimizer
from tensorloom.train.optimizers.optimizer import Optimizer


@export("contrib.opt.DecoupledWeightDecayExtension")
class DecoupledWeightDecayExtension:
    """Comes before an optimizer among the bases of a class: weights decay first.

    The decay is not multiplied by the learning rate: a schedule of the one should be
    that of the other.

    Args:
      weight_decay: which part of a weight is taken off; a number, a tensor or a
        function that gives one.
      **kwargs: for the optimizer.
    """

    def __init__(self, weight_decay: Any, **kwargs: Any) -> None:
        self._decay_var_list: Any = None
        self._weight_decay = weight_decay
        self._weight_decay_tensor: Any = None
        super().__init__(**kwargs)

    def minimize(
        self,
        loss: Any,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
        decay_var_list: Any = None,
    ) -> Any:
        """See `tf.train.Optimizer`.

        Args:
          decay_var_list: not used, as in TensorFlow 1.15: all variables decay. Give it
            to `apply_gradients`.
        """
        return super().minimize(  # type: ignore[misc]
            loss,
            global_step=global_step,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            name=name,
            grad_loss=grad_loss,
        )

    def apply_gradients(
        self,
        grads_and_vars: Any,
        global_step: Any = None,
        name: str | None = None,
        decay_var_list: Any = None,
    ) -> Any:
        """See `tf.train.Optimizer`.

        Args:
          decay_var_list: the variables that decay; all when None.
        """
        self._decay_var_list = set(decay_var_list) if decay_var_list else None
        return super().apply_gradients(  # type: ignore[misc]
            grads_and_vars, global_step=global_step, name=name
        )

    def _prepare(self) -> None:
        decay = self._weight_decay
        self._weight_decay_tensor = convert_to_tensor(
            decay() if callable(decay) else decay, name="weight_decay"
        )
        super()._prepare()  # type: ignore[misc]

    def _decays(self, var: Any) -> bool:
        return self._decay_var_list is None or var in self._decay_var_list

    def _rate(self, var: Any) -> Any:
        return cast(self._weight_decay_tensor, var.dtype.base_dtype)

    def _decayed(self, var: Any) -> Any:
        if not self._decays(var):
            return no_op()
        locking = self._use_locking  # type: ignore[attr-defined]
        return var.assign_sub(self._rate(var) * var, locking)

    def _decayed_rows(self, var: Any, indices: Any) -> Any:
        if not self._decays(var):
            return no_op()
        change = -self._rate(var) * gather(var, indices)
        if hasattr(var, "handle"):
            return resource_scatter("Add", var, indices, change)
        locking = self._use_locking  # type: ignore[attr-defined]
        return scatter_add(var, indices, change, locking)

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        with control_dependencies([self._decayed(var)]):
            return super()._apply_dense(grad, var)  # type: ignore[misc]

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        with control_dependencies([self._decayed(handle)]):
            return super()._resource_apply_dense(grad, handle)  # type: ignore[misc]

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        with control_dependencies([self._decayed_rows(var, grad.indices)]):
            return super()._apply_sparse(grad, var)  # type: ignore[misc]

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        with control_dependencies([self._decayed_rows(handle, indices)]):
            return super()._resource_apply_sparse(  # type: ignore[misc]
                grad, handle, indices
            )


@export("contrib.opt.extend_with_decoupled_weight_decay")
def extend_with_decoupled_weight_decay(base_optimizer: Any) -> Any:
    """A class like an optimizer's, whose weights decay.

    Args:
      base_optimizer: a class of optimizers.

    Returns:
      A class whose first argument is the weight decay; the others are those of
      `base_optimizer`.
    """

    class OptimizerWithDecoupledWeightDecay(
        DecoupledWeightDecayExtension,
        base_optimizer,  # type: ignore[misc]
    ):
        """An optimizer whose weights decay."""

        def __init__(self, weight_decay: Any, *args: Any, **kwargs: Any) -> None:
            super().__init__(weight_decay, *args, **kwargs)

    return OptimizerWithDecoupledWeightDecay


@export("contrib.opt.MomentumWOptimizer")
class MomentumWOptimizer(DecoupledWeightDecayExtension, MomentumOptimizer):
    """`MomentumOptimizer` whose weights decay.

    Args:
      weight_decay: which part of a weight is taken off.
      learning_rate, momentum, use_nesterov: see `tf.train.MomentumOptimizer`.
    """

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "MomentumW",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(
            weight_decay,
            learning_rate=learning_rate,
            momentum=momentum,
            use_locking=use_locking,
            name=name,
            use_nesterov=use_nesterov,
        )


@export("contrib.opt.AdamWOptimizer")
class AdamWOptimizer(DecoupledWeightDecayExtension, AdamOptimizer):
    """`AdamOptimizer` whose weights decay.

    Args:
      weight_decay: which part of a weight is taken off.
      learning_rate, beta1, beta2, epsilon: see `tf.train.AdamOptimizer`.
    """

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-08,
        use_locking: bool = False,
        name: str = "AdamW",
    ) -> None:
        super().__init__(
            weight_decay,
            learning_rate=learning_rate,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
            use_locking=use_locking,
            name=name,
        )
