"""What a layer adds to each training step: losses and updates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.framework.graph.graph import (
    GraphKeys,
    Tensor,
    add_to_collection,
    get_collection_ref,
)
from tensorloom.framework.types import nest


class LossesAndUpdates:
    """Losses and updates of a layer; the losses are the graph's as well."""

    trainable: bool
    stateful: bool

    def __init__(self) -> None:
        self._updates: list[Any] = []
        self._losses: list[Any] = []

    @property
    def losses(self) -> list[Any]:
        """Losses added by this layer."""
        return list(self._losses)

    @property
    def updates(self) -> list[Any]:
        """Update operations added by this layer."""
        return list(self._updates) if self.trainable or self.stateful else []

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Adds losses (tensors, or functions that give one) of this layer."""
        del inputs
        added = []
        for loss in nest.flatten(losses):
            tensor = loss() if callable(loss) else loss
            if tensor is not None:
                added.append(tensor)
        self._losses += added
        add_new(added, GraphKeys.REGULARIZATION_LOSSES)

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Adds operations that should run with each training step."""
        del inputs
        self._updates += [u for u in nest.flatten(updates) if u is not None]

    def add_metric(self, value: Any, aggregation: Any = None, name: Any = None) -> None:
        """Metrics belong to models of another library.

        Raises:
          ValueError: always.
        """
        raise ValueError("tf.layers layers have no metrics; use tf.metrics.")

    def get_losses_for(self, inputs: Any) -> list[Any]:
        """Losses that depend on the inputs; on no input, for None."""
        return _dependent(self.losses, inputs)

    def get_updates_for(self, inputs: Any) -> list[Any]:
        """Updates that depend on the inputs; on no input, for None."""
        return _dependent(self.updates, inputs)


def add_new(elements: Sequence[Any], key: str) -> None:
    """Adds to a collection of the graph those that are not in it yet."""
    present = {id(e) for e in get_collection_ref(key)}
    for element in elements:
        if id(element) not in present:
            add_to_collection(key, element)


def _dependent(results: Sequence[Any], inputs: Any) -> list[Any]:
    """Those of the results that depend on inputs (on no placeholder, for None)."""
    if inputs is None:
        return [r for r in results if not _reaches(r, lambda t: _is_fed(t))]
    wanted = {id(t) for t in nest.flatten(inputs)}
    return [r for r in results if _reaches(r, lambda t: id(t) in wanted)]


def _is_fed(tensor: Tensor) -> bool:
    return tensor.op.type in ("Placeholder", "PlaceholderWithDefault")


def _reaches(result: Any, is_start: Callable[[Tensor], bool]) -> bool:
    """Whether a tensor of that kind lies on the way to the result."""
    operation = getattr(result, "op", result)
    pending, seen = [operation], {id(operation)}
    while pending:
        for tensor in pending.pop().inputs:
            if is_start(tensor):
                return True
            if id(tensor.op) not in seen:
                seen.add(id(tensor.op))
                pending.append(tensor.op)
    return False
