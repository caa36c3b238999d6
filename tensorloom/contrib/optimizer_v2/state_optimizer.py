"""`OptimizerV2`: an optimizer whose slots and hyperparameters a state hands out."""

from __future__ import annotations

from typing import Any

from tensorloom.client.gradients.gradients import gradients
from tensorloom.client.variables.variable_lists import trainable_variables
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    Tensor,
    control_dependencies,
    get_default_graph,
    init_scope,
    name_scope,
)
from tensorloom.framework.graph.graph import colocate_with as colocate_with_op
from tensorloom.framework.graph.graph_keys import GraphKeys
from tensorloom.framework.runtime.scopes import graph_from_inputs
from tensorloom.framework.types import nest
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.control_flow.builders import group
from tensorloom.ops.math.cast import cast
from tensorloom.train.optimizers import slot_creator
from tensorloom.train.optimizers.distributed_updates import as_gradient
from tensorloom.train.optimizers.optimizer import (
    Optimizer,
    deduplicated,
    gradient_target,
    increment,
)


class OptimizerV2State:
    """What an optimizer has in one graph: slots, further variables, hyperparameters.

    Args:
      optimizer: whose state it is; it keeps the variables.
      graph: of the variables.
    """

    def __init__(self, optimizer: OptimizerV2, graph: Any) -> None:
        self._optimizer = optimizer
        self._graph = graph
        # By name and dtype (None: as it was given) the tensors.
        self._hyper: dict[str, dict[Any, Any]] = {}
        self._beside: Any = None

    def resolve(self, hyper: dict[str, Any], var_list: list[Any]) -> None:
        """Makes tensors of what was given; of functions in each step that is built."""
        for name, value in sorted(hyper.items()):
            if callable(value):
                self._hyper[name] = {None: convert_to_tensor(value(), name=name)}
            elif name not in self._hyper:
                with init_scope():
                    self._hyper[name] = {None: convert_to_tensor(value, name=name)}
        self._beside = min(var_list, key=lambda var: var.name)

    def get_hyper(self, name: str, dtype: Any = None) -> Any:
        """A hyperparameter as a tensor, of a dtype if one is given."""
        known = self._hyper[name]
        if dtype not in known:
            known[dtype] = cast(known[None], dtype)
        return known[dtype]

    def create_slot(
        self, var: Any, val: Any, slot_name: str, optional_op_name: str | None = None
    ) -> Any:
        """The slot of a variable, made with the initial value `val`."""
        name = optional_op_name or self._optimizer.get_name()
        return self._optimizer._slot(
            var, slot_name, lambda: slot_creator.create_slot(var, val, name)
        )

    def create_slot_with_initializer(
        self,
        var: Any,
        initializer: Any,
        shape: Any,
        dtype: Any,
        slot_name: str,
        optional_op_name: str | None = None,
    ) -> Any:
        """The slot of a variable, made by an initializer."""
        name = optional_op_name or self._optimizer.get_name()
        return self._optimizer._slot(
            var,
            slot_name,
            lambda: slot_creator.create_slot_with_initializer(
                var, initializer, shape, dtype, name
            ),
        )

    def zeros_slot(
        self, var: Any, slot_name: str, optional_op_name: str | None = None
    ) -> Any:
        """The slot of a variable, made of zeros."""
        name = optional_op_name or self._optimizer.get_name()
        return self._optimizer._slot(
            var, slot_name, lambda: slot_creator.create_zeros_slot(var, name)
        )

    def get_slot(self, var: Any, name: str) -> Any:
        """The slot of a variable, or None."""
        return self._optimizer.get_slot(var, name)

    def get_slot_names(self) -> list[str]:
        """The names of the slots that were made."""
        return self._optimizer.get_slot_names()

    def create_non_slot(
        self, initial_value: Any, name: str, colocate_with: Any = None
    ) -> Any:
        """A variable that belongs to no single one.

        Args:
          initial_value: a value, or a function that gives it.
          name: of the variable.
          colocate_with: the variable beside it; the first by name when None.
        """
        beside = self._beside if colocate_with is None else colocate_with
        known = self.get_non_slot(name)
        if known is not None:
            return known
        return self._optimizer._create_non_slot_variable(initial_value, name, beside)

    def get_non_slot(self, name: str) -> Any:
        """That variable, or None."""
        return self._optimizer._get_non_slot_variable(name, graph=self._graph)


@export("contrib.optimizer_v2.OptimizerV2")
class OptimizerV2(Optimizer):
    """Base of these optimizers. A subclass says what one update is.

    It overrides `_create_vars(var_list, state)` and, with a further argument `state`,
    `_apply_dense`, `_resource_apply_dense`, `_apply_sparse`, `_resource_apply_sparse`;
    where it needs to, `_prepare(state)` and `_finish(state)`.

    Args:
      use_locking: updates of one variable exclude each other.
      name: of the operations and slots.

    Raises:
      ValueError: there is no name.
      RuntimeError: the class overrides `_create_slots`, as older ones do.
    """

    def __init__(self, use_locking: bool, name: str) -> None:
        if type(self)._create_slots is not Optimizer._create_slots:
            raise RuntimeError(
                "Override _create_vars instead of _create_slots when descending from "
                f"OptimizerV2 (class {type(self).__name__})"
            )
        super().__init__(use_locking, name)
        self._states: dict[Any, OptimizerV2State] = {}
        self._hyper: dict[str, Any] = {}

    def _set_hyper(self, name: str, value: Any) -> None:
        self._hyper[name] = value

    def minimize(  # type: ignore[override]
        self,
        loss: Any,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        name: str | None = None,
        grad_loss: Any = None,
        stop_gradients: Any = None,
        scale_loss_by_num_replicas: bool = False,
    ) -> Any:
        """An operation that lowers the loss; arguments as in `compute_gradients`.

        Raises:
          ValueError: no variable has a gradient.
        """
        pairs = self.compute_gradients(
            loss,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            grad_loss=grad_loss,
            stop_gradients=stop_gradients,
            scale_loss_by_num_replicas=scale_loss_by_num_replicas,
        )
        if all(grad is None for grad, _ in pairs):
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that "
                "do not support gradients, between variables "
                f"{[str(var) for _, var in pairs]} and loss {loss}."
            )
        return self.apply_gradients(pairs, global_step=global_step, name=name)

    def compute_gradients(  # type: ignore[override]
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        grad_loss: Any = None,
        stop_gradients: Any = None,
        scale_loss_by_num_replicas: bool = False,
    ) -> Any:
        """Pairs (gradient or None, variable); see `tf.train.Optimizer`.

        Args:
          stop_gradients: tensors that count as constants.
          scale_loss_by_num_replicas: divide the loss by the number of replicas. There
            is one outside of distribution strategies.
        """
        if callable(loss) or stop_gradients is None:
            return super().compute_gradients(
                loss,
                var_list=var_list,
                gate_gradients=gate_gradients,
                aggregation_method=aggregation_method,
                grad_loss=grad_loss,
            )
        variables = trainable_variables() if var_list is None else var_list
        variables = nest.flatten(variables)
        grads = gradients(
            loss,
            [gradient_target(var) for var in variables],
            grad_ys=grad_loss,
            gate_gradients=gate_gradients == self.GATE_OP,
            aggregation_method=aggregation_method,
            stop_gradients=stop_gradients,
        )
        return list(zip(grads, variables, strict=True))

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """An operation that updates the variables; see `tf.train.Optimizer`.

        Raises:
          ValueError: there is no gradient.
        """
        pairs = list(grads_and_vars)
        if not pairs:
            raise ValueError("No variables provided.")
        found = [(as_gradient(grad), var) for grad, var in pairs if grad is not None]
        if not found:
            raise ValueError(
                f"No gradients provided for any variable: {[str(v) for _, v in pairs]}."
            )
        variables = [var for _, var in found]
        with name_scope(name, self._name) as scope:
            state = self._state_of(variables)
            state.resolve(self._hyper, variables)
        with init_scope():
            self._create_vars(variables, state)
        with name_scope(scope):
            self._prepare(state)
            updates = []
            for grad, var in found:
                with name_scope(f"update_{var.op.name}"), colocate_with_op(var):
                    updates.append(self._updated(grad, var, state))
            done = group(updates)
            with control_dependencies([done]):
                finished = self._finish(state)
            last = done if finished is None else finished
            if global_step is None:
                result = group(last, name=scope)
            else:
                with control_dependencies([last]), colocate_with_op(global_step):
                    result = increment(global_step, scope)
        result = result.op if isinstance(result, Tensor) else result
        train_ops = get_default_graph().get_collection_ref(GraphKeys.TRAIN_OP)
        if result not in train_ops:
            train_ops.append(result)
        return result

    def _state_of(self, variables: list[Any]) -> OptimizerV2State:
        graph = graph_from_inputs(variables)
        if graph not in self._states:
            self._states[graph] = OptimizerV2State(self, graph)
        return self._states[graph]

    def _get_per_graph_state(self) -> OptimizerV2State | None:
        return self._states.get(get_default_graph())

    def _updated(self, grad: Any, var: Any, state: OptimizerV2State) -> Any:
        """The update of one variable, with its constraint."""
        if isinstance(var, Tensor):
            raise NotImplementedError("Trying to update a Tensor ", var)
        is_resource = hasattr(var, "handle")
        if isinstance(grad, IndexedSlices):
            if var.constraint is not None:
                raise RuntimeError(
                    "Cannot use a constraint function on a sparse variable."
                )
            if is_resource:
                return self._resource_apply_sparse_duplicate_indices(
                    grad.values, var, grad.indices, state
                )
            return self._apply_sparse_duplicate_indices(grad, var, state)
        apply = self._resource_apply_dense if is_resource else self._apply_dense
        update = apply(grad, var, state)
        if var.constraint is None:
            return update
        with control_dependencies([update]):
            return var.assign(var.constraint(var))

    # --- for subclasses --------------------------------------------------------------

    def _create_vars(self, var_list: list[Any], state: OptimizerV2State) -> None:
        """Makes the slots of the variables, and further ones."""

    def _prepare(self, state: OptimizerV2State) -> None:  # type: ignore[override]
        """Makes what all updates share."""

    def _apply_dense(  # type: ignore[override]
        self, grad: Any, var: Any, state: OptimizerV2State
    ) -> Any:
        raise NotImplementedError

    def _resource_apply_dense(  # type: ignore[override]
        self, grad: Any, handle: Any, state: OptimizerV2State
    ) -> Any:
        raise NotImplementedError

    def _apply_sparse(  # type: ignore[override]
        self, grad: Any, var: Any, state: OptimizerV2State
    ) -> Any:
        raise NotImplementedError

    def _resource_apply_sparse(  # type: ignore[override]
        self, grad: Any, handle: Any, indices: Any, state: OptimizerV2State
    ) -> Any:
        raise NotImplementedError

    def _apply_sparse_duplicate_indices(  # type: ignore[override]
        self, grad: Any, var: Any, state: OptimizerV2State
    ) -> Any:
        values, indices = deduplicated(grad.values, grad.indices)
        rows = IndexedSlices(values, indices, grad.dense_shape)
        return self._apply_sparse(rows, var, state)

    def _resource_apply_sparse_duplicate_indices(  # type: ignore[override]
        self, grad: Any, handle: Any, indices: Any, state: OptimizerV2State
    ) -> Any:
        values, unique = deduplicated(grad, indices)
        return self._resource_apply_sparse(values, handle, unique, state)

    def _finish(self, state: OptimizerV2State) -> Any:  # type: ignore[override]
        """What is done after all updates; None for nothing."""
        return None
