"""`tf.train.Optimizer`: from a loss to an operation that updates the variables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from tensorloom.client.distribution import thread_modes
from tensorloom.client.gradients import gradients as gradients_lib
from tensorloom.client.gradients.gradient_tape import GradientTape
from tensorloom.client.variables.base_resource_variable import (
    BaseResourceVariable,
    is_resource_variable,
)
from tensorloom.client.variables.keyed_variable import KeyedVariable
from tensorloom.client.variables.variable_lists import trainable_variables
from tensorloom.client.variables.variables import Variable
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    GraphKeys,
    Operation,
    Tensor,
    colocate_with,
    control_dependencies,
    get_collection,
    get_default_graph,
    init_scope,
    name_scope,
)
from tensorloom.framework.types import dtypes, nest
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.trackable import Trackable, TrackableReference
from tensorloom.ops.array import array_ops
from tensorloom.ops.control_flow import builders as control_flow_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.state import reference_variable as state_ops
from tensorloom.ops.state import resource_variable as resource_variable_ops
from tensorloom.train.optimizers import slot_creator
from tensorloom.train.optimizers.distributed_updates import (
    add_train_op,
    as_gradient,
    distributed_apply,
)

GradAndVar = tuple[Any, Any]


@export("train.Optimizer")
class Optimizer(Trackable):
    """Base of the optimizers: computes gradients and applies them.

    A subclass says how one variable is updated (`_apply_dense`, `_apply_sparse` and
    their resource forms) and which slots it needs (`_create_slots`).

    Args:
      use_locking: updates of one variable exclude each other.
      name: of the operations and slots.

    Raises:
      ValueError: there is no name.
    """

    # How far the gradients wait for each other.
    GATE_NONE: ClassVar[int] = 0
    GATE_OP: ClassVar[int] = 1
    GATE_GRAPH: ClassVar[int] = 2

    def __init__(self, use_locking: bool, name: str) -> None:
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._use_locking = use_locking
        self._name = name
        # Slot name -> variable's key -> slot variable.
        self._slots: dict[str, dict[Any, Any]] = {}
        # (name, graph) -> variable that belongs to no single variable.
        self._non_slot_dict: dict[tuple[str, Any], Any] = {}
        # (slot name, variable's key) -> positions in checkpoints of a slot to come.
        self._awaited_slots: dict[tuple[str, Any], list[Any]] = {}

    def get_name(self) -> str:
        """The optimizer's name."""
        return self._name

    def minimize(
        self,
        loss: Any,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Operation:
        """An operation that lowers the loss: `compute_gradients`, `apply_gradients`.

        Args:
          loss: the tensor to minimize.
          global_step: a variable that is incremented after the updates.
          var_list: what to change; the trainable variables when None.
          gate_gradients, aggregation_method, colocate_gradients_with_ops, grad_loss:
            see `compute_gradients`.
          name: of the operation; the optimizer's when None.

        Raises:
          ValueError: no variable has a gradient.
        """
        grads_and_vars = self.compute_gradients(
            loss,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        if not any(grad is not None for grad, _ in grads_and_vars):
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that "
                "do not support gradients, between variables "
                f"{[str(v) for _, v in grads_and_vars]} and loss {loss}."
            )
        return self.apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def compute_gradients(
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> list[GradAndVar]:
        """Pairs (gradient or None, variable).

        Args:
          loss: a tensor of floating point, or a function that builds one. Of a
            function only what it builds is differentiated, by the trainable variables
            that it reads if `var_list` is None.
          var_list: variables; the trainable ones when None.
          gate_gradients: GATE_NONE, GATE_OP or GATE_GRAPH.
          aggregation_method: how gradients of several uses are added.
          colocate_gradients_with_ops: put gradients where their ops are.
          grad_loss: the gradient of the loss, ones when None.

        Raises:
          ValueError: a bad argument, or there are no variables.
        """
        if callable(loss):
            return _gradients_of_function(loss, var_list, grad_loss)
        loss = _scaled_for_replicas(loss)
        if gate_gradients not in (self.GATE_NONE, self.GATE_OP, self.GATE_GRAPH):
            raise ValueError(
                "gate_gradients must be one of: Optimizer.GATE_NONE, "
                f"Optimizer.GATE_OP, Optimizer.GATE_GRAPH.  Not {gate_gradients}"
            )
        self._assert_valid_dtypes([loss])
        if grad_loss is not None:
            self._assert_valid_dtypes([grad_loss])
        if var_list is None:
            variables = trainable_variables() + get_collection(
                GraphKeys.TRAINABLE_RESOURCE_VARIABLES
            )
        else:
            variables = nest.flatten(var_list)
        variables = variables + get_collection(GraphKeys._STREAMING_MODEL_PORTS)
        targets = [gradient_target(v) for v in variables]
        if not variables:
            raise ValueError("No variables to optimize.")
        grads = gradients_lib.gradients(
            loss,
            targets,
            grad_ys=grad_loss,
            gate_gradients=gate_gradients == self.GATE_OP,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
        )
        if gate_gradients == self.GATE_GRAPH:
            grads = control_flow_ops.tuple(grads)
        pairs = list(zip(grads, variables, strict=True))
        self._assert_valid_dtypes(
            [v for g, v in pairs if g is not None and v.dtype != dtypes.resource]
        )
        return pairs

    def apply_gradients(
        self,
        grads_and_vars: Iterable[GradAndVar],
        global_step: Any = None,
        name: str | None = None,
    ) -> Operation:
        """An operation that updates the variables by their gradients.

        Args:
          grads_and_vars: what `compute_gradients` gives.
          global_step: a variable that is incremented after the updates.
          name: of the operation; the optimizer's when None.

        Raises:
          TypeError: a gradient is neither a tensor nor IndexedSlices.
          ValueError: there is no gradient.
          RuntimeError: called for all replicas of a strategy together, not in each.
        """
        if thread_modes.has_strategy():
            merged: Operation = _applied_by_replica(
                self, grads_and_vars, global_step, name
            )
            return merged
        pairs = [(as_gradient(g), v) for g, v in grads_and_vars]
        if not pairs:
            raise ValueError("No variables provided.")
        for _, variable in pairs:
            _check_supported(variable)
        with_gradient = [(g, v) for g, v in pairs if g is not None]
        if not with_gradient:
            raise ValueError(
                f"No gradients provided for any variable: {[str(v) for _, v in pairs]}."
            )
        with init_scope():
            self._create_slots([v for _, v in with_gradient])
        with name_scope(name, self._name) as scope:
            self._prepare()
            updates = []
            for gradient, variable in with_gradient:
                with (
                    name_scope(f"update_{variable.op.name}"),
                    colocate_with(variable),
                ):
                    updates.append(self._update(gradient, variable))
            apply_updates = self._finish_step(updates, global_step, scope)
        add_train_op(apply_updates)
        return apply_updates

    def _distributed_apply(
        self,
        distribution: Any,
        grads_and_vars: Iterable[GradAndVar],
        global_step: Any = None,
        name: str | None = None,
    ) -> Any:
        """`apply_gradients` for all replicas of a strategy together."""
        return distributed_apply(
            self, distribution, list(grads_and_vars), global_step, name
        )

    def _finish_step(
        self, updates: list[Any], global_step: Any, scope: str
    ) -> Operation:
        if global_step is None:
            result = self._finish(updates, scope)
        else:
            finished = self._finish(updates, "update")
            with control_dependencies([finished]), colocate_with(global_step):
                result = increment(global_step, scope)
        return result.op if isinstance(result, Tensor) else result

    # --- slots -----------------------------------------------------------------------

    def get_slot(self, var: Any, name: str) -> Any:
        """The slot variable `name` of `var`, or None."""
        slots = self._slots.get(name, {})
        container = getattr(var, "_distributed_container", None)
        if container is None:
            return slots.get(_variable_key(var))
        whole = container()
        slot = slots.get((whole.graph, whole._shared_name))
        return None if slot is None else slot.get(device=var.device)

    def get_slot_names(self) -> list[str]:
        """The names of the slots that were made."""
        return sorted(self._slots)

    def variables(self) -> list[Any]:
        """The optimizer's own variables in the default graph, by name."""
        graph = get_default_graph()
        found = [v for v in self._non_slot_variables() if v.graph is graph]
        for slots in self._slots.values():
            found.extend(v for v in slots.values() if v.graph is graph)
        return sorted(found, key=lambda v: v.name)

    def _create_non_slot_variable(
        self, initial_value: Any, name: str, colocate_with: Any
    ) -> Any:
        """A variable of the optimizer, beside the variable `colocate_with`."""
        key = (name, colocate_with.graph)
        variable = self._non_slot_dict.get(key)
        if variable is None:
            with slot_creator.colocated(colocate_with):
                variable = Variable(
                    initial_value,
                    name=name,
                    trainable=False,
                    use_resource=is_resource_variable(colocate_with),
                )
            self._handle_deferred_dependencies(name, variable)
            self._non_slot_dict[key] = variable
        return variable

    def _get_non_slot_variable(self, name: str, graph: Any = None) -> Any:
        variable = self._non_slot_dict.get((name, graph))
        if variable is not None and hasattr(variable, "_distributed_container"):
            return variable.get()  # the part of the device that is updated
        return variable

    def _non_slot_variables(self) -> Iterable[Any]:
        return self._non_slot_dict.values()

    def _slot_dict(self, slot_name: str) -> dict[Any, Any]:
        return self._slots.setdefault(slot_name, {})

    def _slot(self, var: Any, slot_name: str, make: Callable[[], Any]) -> Any:
        slots = self._slot_dict(slot_name)
        key = _variable_key(var)
        if key not in slots:
            slots[key] = made = make()
            waiting = self._awaited_slots.pop((slot_name, key), [])
            for position in sorted(waiting, key=lambda p: p.restore_uid, reverse=True):
                position.restore(made)
        return slots[key]

    def _get_or_make_slot(
        self, var: Any, val: Any, slot_name: str, op_name: str
    ) -> Any:
        """The slot, made with the initial value `val`."""
        return self._slot(
            var, slot_name, lambda: slot_creator.create_slot(var, val, op_name)
        )

    def _get_or_make_slot_with_initializer(
        self,
        var: Any,
        initializer: Any,
        shape: Any,
        dtype: Any,
        slot_name: str,
        op_name: str,
    ) -> Any:
        """The slot, made by an initializer."""
        return self._slot(
            var,
            slot_name,
            lambda: slot_creator.create_slot_with_initializer(
                var, initializer, shape, dtype, op_name
            ),
        )

    def _zeros_slot(self, var: Any, slot_name: str, op_name: str) -> Any:
        """The slot, made of zeros."""
        return self._slot(
            var, slot_name, lambda: slot_creator.create_zeros_slot(var, op_name)
        )

    # --- checkpoints of objects ------------------------------------------------------

    @property
    def _checkpoint_dependencies(self) -> list[TrackableReference]:
        """Those declared, and the non-slot variables of the default graph."""
        graph = get_default_graph()
        own = sorted(self._non_slot_dict.items(), key=lambda item: item[0][0])
        return super()._checkpoint_dependencies + [
            TrackableReference(name, variable)
            for (name, _), variable in own
            if variable.graph is graph
        ]

    def _lookup_dependency(self, name: str) -> Any:
        declared = super()._lookup_dependency(name)
        if declared is not None:
            return declared
        return self._get_non_slot_variable(name, graph=get_default_graph())

    def _create_or_restore_slot_variable(
        self, slot_variable_position: Any, slot_name: str, variable: Any
    ) -> None:
        """Restores a slot from a position in a checkpoint, now or when it is made."""
        key = _variable_key(variable)
        slot = self._slot_dict(slot_name).get(key)
        if slot is not None:
            slot_variable_position.restore(slot)
            return
        waiting = self._awaited_slots.setdefault((slot_name, key), [])
        waiting.append(slot_variable_position)

    # --- for subclasses --------------------------------------------------------------

    def _assert_valid_dtypes(self, tensors: Iterable[Any]) -> None:
        valid = self._valid_dtypes()
        for tensor in tensors:
            dtype = tensor.dtype.base_dtype
            if dtype not in valid:
                raise ValueError(
                    f"Invalid type {dtype!r} for {tensor.name}, expected: "
                    f"{list(valid)}."
                )

    def _valid_dtypes(self) -> set[dtypes.DType]:
        return {dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64}

    def _create_slots(self, var_list: list[Any]) -> None:
        """Makes the slots of the variables."""

    def _prepare(self) -> None:
        """Makes the tensors that all updates share."""

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        """Updates a reference variable by a tensor."""
        raise NotImplementedError

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        """Updates a resource variable by a tensor."""
        raise NotImplementedError

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        """Updates a reference variable by IndexedSlices without repeated indices."""
        raise NotImplementedError

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        """Updates rows of a resource variable; no index is repeated."""
        raise NotImplementedError

    def _apply_sparse_duplicate_indices(self, grad: Any, var: Any) -> Any:
        """Updates a reference variable by IndexedSlices; sums repeated indices."""
        values, indices = deduplicated(grad.values, grad.indices)
        return self._apply_sparse(
            IndexedSlices(indices=indices, values=values, dense_shape=grad.dense_shape),
            var,
        )

    def _resource_apply_sparse_duplicate_indices(
        self, grad: Any, handle: Any, indices: Any
    ) -> Any:
        """Updates rows of a resource variable; sums repeated indices."""
        values, unique = deduplicated(grad, indices)
        return self._resource_apply_sparse(values, handle, unique)

    def _apply_keyed(self, grad: IndexedSlices, var: Any) -> Any:
        """Updates the rows of keys; the update itself sums repeated ones."""
        return self._resource_apply_sparse(grad.values, var, grad.indices)

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        """The operation that has run all updates."""
        return control_flow_ops.group(*update_ops, name=name_scope)

    def _call_if_callable(self, param: Any) -> Any:
        return param() if callable(param) else param

    def _update(self, gradient: Any, variable: Any) -> Any:
        """The update of one variable, with its constraint."""
        if isinstance(variable, Tensor):
            raise NotImplementedError("Trying to update a Tensor ", variable)
        sparse = isinstance(gradient, IndexedSlices)
        if sparse and variable.constraint is not None:
            raise RuntimeError("Cannot use a constraint function on a sparse variable.")
        if isinstance(variable, KeyedVariable):
            if not sparse:
                raise ValueError(
                    f"The gradient of {variable.name}, whose rows have keys, has to be "
                    f"IndexedSlices over keys, got {gradient}"
                )
            return self._apply_keyed(gradient, variable)
        if isinstance(variable, BaseResourceVariable):
            if sparse:
                return self._resource_apply_sparse_duplicate_indices(
                    gradient.values, variable, gradient.indices
                )
            update = self._resource_apply_dense(gradient, variable)
        elif sparse:
            return self._apply_sparse_duplicate_indices(gradient, variable)
        else:
            update = self._apply_dense(gradient, variable)
        if variable.constraint is None:
            return update
        with control_dependencies([update]):
            return variable.assign(variable.constraint(variable))


def _check_supported(variable: Any) -> None:
    if not isinstance(variable, Tensor | Variable):
        # What has no operation is no part of a graph at all: an AttributeError.
        _ = variable.op
        raise NotImplementedError("Trying to optimize unsupported type ", variable)


def _gradients_of_function(
    loss: Callable[[], Any], var_list: Any, grad_loss: Any
) -> list[GradAndVar]:
    """Pairs (gradient or None, variable) of the loss that a function builds."""
    with GradientTape() as tape:
        if var_list is not None:
            tape.watch(var_list)
        value = _scaled_for_replicas(loss())
    variables = tape.watched_variables() if var_list is None else nest.flatten(var_list)
    # Updates read what the loss was computed from.
    with control_dependencies([value]):
        grads = tape.gradient(value, list(variables), grad_loss)
    return list(zip(grads, variables, strict=True))


def gradient_target(variable: Any) -> Any:
    """What gradients are taken of: a reference, a handle's variable, or a tensor."""
    if isinstance(variable, Tensor) or is_resource_variable(variable):
        return variable
    if isinstance(variable, Variable):
        return variable._ref()  # type: ignore[attr-defined]
    raise NotImplementedError("Trying to optimize unsupported type ", variable)


def _scaled_for_replicas(loss: Any) -> Any:
    """The loss of one of several replicas, whose mean is to be lowered."""
    if thread_modes.current_mode() is None:
        return loss
    scale = thread_modes.loss_scale()
    get_default_graph()._is_loss_scaled_by_optimizer = scale is not None
    return loss if scale is None else loss * scale


def _applied_by_replica(
    optimizer: Optimizer, grads_and_vars: Any, global_step: Any, name: str | None
) -> Any:
    if thread_modes.in_cross_replica_context():
        raise RuntimeError(
            "Use `_distributed_apply()` instead of `apply_gradients()` in a "
            "cross-replica context."
        )
    with_gradient = [(g, v) for g, v in grads_and_vars if g is not None]
    mode = thread_modes.current_mode()
    assert mode is not None
    return mode.replica_context.merge_call(
        optimizer._distributed_apply, args=(with_gradient, global_step, name)
    )


def increment(global_step: Any, scope: str) -> Any:
    if isinstance(global_step, BaseResourceVariable):
        one = convert_to_tensor(1, dtype=global_step.dtype)
        return resource_variable_ops.assign_add_variable_op(
            global_step.handle, one, name=scope
        )
    return state_ops.assign_add(global_step, 1, name=scope)


def deduplicated(values: Any, indices: Any) -> tuple[Tensor, Tensor]:
    """Sums the slices of equal indices: (values, unique indices)."""
    unique, positions = array_ops.unique(indices)
    summed = math_ops.unsorted_segment_sum(
        values, positions, array_ops.shape(unique)[0]
    )
    return summed, unique


def _variable_key(var: Any) -> tuple[Any, str]:
    return var.op.graph, var.op.name
