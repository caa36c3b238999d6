"""`TowerOptimizer`: gathers the gradients of all towers, and applies them once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.compat.internals.deprecation import deprecated
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    control_dependencies,
    get_default_graph,
    name_scope,
)
from tensorloom.framework.graph.graph import device as device_scope
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.losses.weighted import Reduction
from tensorloom.ops.array.concat import concat
from tensorloom.ops.control_flow.builders import no_op
from tensorloom.ops.math.binary import div
from tensorloom.ops.reductions.aggregate import add_n
from tensorloom.train.optimizers.optimizer import Optimizer

OLD: Final = (
    "2018-05-31",
    "Please use `tf.contrib.distribute.MirroredStrategy` instead.",
)


class TowersState:
    """What the optimizers of a graph know of its towers."""

    def __init__(self) -> None:
        # By tower: the gradients and variables of each call of an optimizer.
        self._collected: dict[int, list[Any]] = defaultdict(list)
        self._current = 0
        self.number_of_towers = 1
        self.loss_reduction: str | None = None
        # The scopes of the first tower, whose names have no prefix.
        self.first_scopes: tuple[Any, Any] = (None, None)
        self.has_tower_optimizer_been_used = False

    @contextmanager
    def tower(self, tower_id: int, var_scope: Any, name_scope: Any) -> Iterator[None]:
        """The tower that is built within."""
        if tower_id == 0:
            self.first_scopes = (var_scope, name_scope)
        self._current = tower_id
        yield

    @property
    def is_the_last_tower(self) -> bool:
        """Whether all others are built."""
        return self._current == self.number_of_towers - 1

    def collect(self, grads_and_vars: Any) -> None:
        """Keeps the gradients of one call of an optimizer in the current tower."""
        self._collected[self._current].append(grads_and_vars)

    def latest_of_all_towers(self) -> list[Any]:
        """The gradients of the same call in all towers."""
        call = len(self._collected[self._current]) - 1
        return [
            pair
            for tower in range(self._current + 1)
            for pair in self._collected[tower][call]
        ]

    def has_equal_calls(self) -> bool:
        """Whether the calls of optimizers fit the number of towers."""
        calls = sum(len(found) for found in self._collected.values())
        return calls % self.number_of_towers == 0


@export("contrib.estimator.TowerOptimizer")
class TowerOptimizer(Optimizer):
    """An optimizer that applies the sum of all towers' gradients in the last tower.

    Without `replicate_model_fn`, or with one tower, it is the wrapped optimizer. Each
    tower must use the same optimizers in the same order.
    """

    COLLECTION_FOR_GRAPH_STATES = "replicate_model_fn_graph_states"

    @deprecated(*OLD)
    def __init__(self, optimizer_or_optimizer_fn: Any) -> None:
        """Wraps an optimizer.

        Args:
          optimizer_or_optimizer_fn: the optimizer, or a function without arguments
            that makes it when it is first needed.
        """
        self._optimizer_or_optimizer_fn = optimizer_or_optimizer_fn

    @staticmethod
    def has_been_used() -> bool:
        """Whether an optimizer of this kind was used in the graph."""
        state: TowersState = TowerOptimizer._graph_state()
        return state.has_tower_optimizer_been_used

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """The wrapped optimizer's."""
        return self._get_optimizer().get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        """The wrapped optimizer's."""
        return self._get_optimizer().get_slot_names(*args, **kwargs)

    def get_name(self, *args: Any, **kwargs: Any) -> Any:
        """The wrapped optimizer's."""
        return self._get_optimizer().get_name(*args, **kwargs)

    def variables(self, *args: Any, **kwargs: Any) -> Any:
        """The wrapped optimizer's."""
        return self._get_optimizer().variables(*args, **kwargs)

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> Any:
        """The wrapped optimizer's, of the loss's share of the tower."""
        state = self._graph_state()
        loss = scale_loss(loss, state.loss_reduction, state.number_of_towers)
        return self._get_optimizer().compute_gradients(loss, *args, **kwargs)

    def apply_gradients(  # type: ignore[override]
        self, grads_and_vars: Any, global_step: Any = None, **kwargs: Any
    ) -> Any:
        """Keeps the gradients; in the last tower applies those of all."""
        state = self._graph_state()
        if state.number_of_towers == 1:
            return self._get_optimizer().apply_gradients(
                grads_and_vars, global_step, **kwargs
            )
        grads_and_vars = list(grads_and_vars)
        state.collect(grads_and_vars)
        if not state.is_the_last_tower:
            with control_dependencies(_tensors(grads_and_vars)):
                return no_op(name="train_op_placeholder")
        # In the scopes of the first tower, so that names have no prefix.
        var_scope, scope = state.first_scopes
        with variable_scope(var_scope), name_scope(scope):
            return self._apply_gathered(global_step, **kwargs)

    def _apply_gathered(self, global_step: Any, **kwargs: Any) -> Any:
        by_variable: dict[Any, list[Any]] = {}
        for gradient, variable in self._graph_state().latest_of_all_towers():
            if gradient is not None:
                by_variable.setdefault(variable, []).append(gradient)
        optimizer = self._get_optimizer()
        with name_scope("gradient_aggregating"):
            summed = [
                (sum_on_device(gradients, variable.device), variable)
                for variable, gradients in by_variable.items()
            ]
        return optimizer.apply_gradients(summed, global_step=global_step, **kwargs)

    def _get_optimizer(self) -> Any:
        if callable(self._optimizer_or_optimizer_fn):
            # Only now: it belongs to the graph and the scopes of this call.
            self._optimizer_or_optimizer_fn = self._optimizer_or_optimizer_fn()
        self._graph_state().has_tower_optimizer_been_used = True
        return self._optimizer_or_optimizer_fn

    @staticmethod
    def _graph_state() -> TowersState:
        states = get_default_graph().get_collection_ref(
            TowerOptimizer.COLLECTION_FOR_GRAPH_STATES
        )
        if not states:
            states.append(TowersState())
        state: TowersState = states[-1]
        return state

    @staticmethod
    def _clear_graph_state() -> None:
        """Forgets the towers: their state is no part of a MetaGraphDef."""
        get_default_graph().clear_collection(TowerOptimizer.COLLECTION_FOR_GRAPH_STATES)


def scale_loss(loss: Any, loss_reduction: str | None, number_of_towers: int) -> Any:
    """The share of a tower's loss: all of it if losses are summed."""
    if loss is None or number_of_towers == 1 or loss_reduction == Reduction.SUM:
        return loss
    return div(loss, 1.0 * number_of_towers, name="averaged_loss")


def sum_on_device(values: Sequence[Any], device: Any, name: str | None = None) -> Any:
    """The sum of tensors, or of `IndexedSlices`, on a device.

    Raises:
      ValueError: `name` is given for `IndexedSlices`.
    """
    with device_scope(device):
        if not isinstance(values[0], IndexedSlices):
            return add_n(list(values), name=name)
        if name:
            raise ValueError(
                f"The name {name} is not expected to be given to IndexedSlices {values}"
            )
        return IndexedSlices(
            concat([value.values for value in values], axis=0),
            concat([value.indices for value in values], axis=0),
            values[0].dense_shape,
        )


def _tensors(grads_and_vars: Any) -> list[Any]:
    tensors = []
    for gradient, _ in grads_and_vars:
        if isinstance(gradient, IndexedSlices):
            tensors.append(gradient.values)
        elif gradient is not None:
            tensors.append(gradient)
    return tensors
