"""What a layer adds to each training step: losses, updates and metrics."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tensorloom.framework.graph.graph import Operation, is_tensor
from tensorloom.framework.types import dtypes, nest
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.keras.engine.call_context import current_call


class LossesAndUpdates:
    """Losses, updates and metrics of a layer and of the layers inside it."""

    trainable: bool
    stateful: bool
    _updates: list[Any]
    _losses: list[Any]
    _callable_losses: list[Callable[[], Any]]
    _metrics: list[Any]

    def _nested(self, attribute: str) -> list[Any]:
        """An attribute of all layers inside, as one list."""
        raise NotImplementedError

    # --- losses ---------------------------------------------------------------------

    @property
    def losses(self) -> list[Any]:
        """Losses of this layer and of those inside; regularizers are computed anew."""
        made = [loss() for loss in self._callable_losses]
        present = [loss for loss in made if loss is not None]
        return [*self._losses, *present, *self._nested("losses")]

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Adds losses to be minimized beside the model's.

        Args:
          losses: a tensor, a function without arguments that gives one, or several.
          inputs: what the losses depend on; None for losses of the weights.
        """
        for loss in nest.flatten(losses):
            if callable(loss):
                make = functools.partial(_loss_tensor, loss, inputs is None)
                self._callable_losses.append(make)
            elif loss is not None:
                self._losses.append(_loss_tensor(loss, inputs is None))

    def get_losses_for(self, inputs: Any) -> list[Any]:
        """Losses that depend on the inputs; those of the weights, for None."""
        if inputs is None:
            return [loss for loss in self.losses if loss._unconditional_loss]
        conditional = [loss for loss in self.losses if not loss._unconditional_loss]
        return dependent_on(inputs, conditional)

    # --- updates --------------------------------------------------------------------

    @property
    def updates(self) -> list[Any]:
        """Operations that should run with each training step."""
        if not (self.trainable or self.stateful):
            return []
        return [*self._updates, *self._nested("updates")]

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Adds operations, tensors, or functions that give one, to the updates.

        Args:
          updates: what to run with each training step.
          inputs: not used: what an update depends on is seen from the graph.
        """
        del inputs
        call = current_call()
        relevant = None if call is None else call.inputs
        listed = updates if isinstance(updates, (list, tuple)) else [updates]
        for update in listed:
            operation = _update_operation(update)
            operation._update_inputs = relevant
            self._updates.append(operation)

    def get_updates_for(self, inputs: Any) -> list[Any]:
        """Updates that depend on the inputs; on no input of the layer, for None."""
        updates = self.updates
        if inputs is None:
            return [update for update in updates if _is_unconditional(update)]
        conditional = [update for update in updates if not _is_unconditional(update)]
        return dependent_on(inputs, conditional)

    # --- metrics --------------------------------------------------------------------

    @property
    def metrics(self) -> list[Any]:
        """Metrics of this layer and of those inside."""
        return [*self._metrics, *self._nested("metrics")]

    def add_metric(self, value: Any, aggregation: Any = None, name: Any = None) -> None:
        """Adds the result of a metric object to the layer's metrics.

        Args:
          value: what a `tf.keras.metrics` object gave.
          aggregation: None: the object aggregates.
          name: of the metric.

        Raises:
          ValueError: the value comes from no metric object, or an aggregation that
            is unknown.
        """
        if aggregation is not None and aggregation != "mean":
            raise ValueError(
                "We currently support only `mean` sample-wise metric aggregation. You "
                f"provided aggregation=`{aggregation}`"
            )
        metric = getattr(value, "_metric_obj", None)
        if metric is None and name is None:
            raise ValueError(
                "Please provide a name for your metric like "
                "`self.add_metric(tf.reduce_sum(inputs), name='mean_activation', "
                "aggregation='mean')`"
            )
        if metric is None:
            raise ValueError(
                f"The value of metric {name!r} does not come from a metric object. "
                "Compute it with one of `tf.keras.metrics` and pass its result, or use "
                "`tf.metrics`."
            )
        self._metrics.append(metric)


def _loss_tensor(loss: Any, unconditional: bool) -> Any:
    """The loss as a tensor that tells whether it is one of the weights alone."""
    value = loss() if callable(loss) else loss
    if value is None:
        return None
    if not is_tensor(value):
        value = convert_to_tensor(value, dtype=dtypes.float32)
    value._unconditional_loss = unconditional
    return value


def _update_operation(update: Any) -> Any:
    if callable(update) and not hasattr(update, "op"):
        return _update_operation(update())
    if isinstance(update, Operation):
        return update
    if hasattr(update, "op"):
        return update.op
    return convert_to_tensor(update).op


def _is_unconditional(update: Any) -> bool:
    """Whether the update depends on no input of the call that made it."""
    inputs = getattr(update, "_update_inputs", None)
    return inputs is None or not dependent_on(inputs, [update])


def dependent_on(inputs: Any, results: Sequence[Any]) -> list[Any]:
    """Those of the results (tensors or operations) that depend on inputs."""
    starts = {id(value) for value in nest.flatten(inputs)}
    return [result for result in results if _reaches(result, starts)]


def _reaches(result: Any, starts: set[int]) -> bool:
    """Whether a start lies on the way to the result, or is it."""
    if id(result) in starts:
        return True
    operation = getattr(result, "op", result)
    pending, seen = [operation], {id(operation)}
    while pending:
        node = pending.pop()
        for tensor in node.inputs:
            if id(tensor) in starts:
                return True
        for before in _before(node):
            if id(before) not in seen:
                seen.add(id(before))
                pending.append(before)
    return False


def _before(node: Operation) -> Iterable[Operation]:
    yield from (tensor.op for tensor in node.inputs)
    yield from node.control_inputs
