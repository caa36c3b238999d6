"""An optimizer whose gradients are those of all processes together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.framework.runtime.scopes import name_scope
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.hvd.compression import Compression
from tensorloom.hvd.processes import size
from tensorloom.hvd.reductions import Average, allreduce_all, reduction
from tensorloom.train.optimizers.optimizer import Optimizer


class _DistributedOptimizer(Optimizer):
    """Takes another optimizer's gradients, reduces them, and has it apply them."""

    def __init__(
        self,
        optimizer: Optimizer,
        name: str,
        use_locking: bool,
        reduce: Callable[[list[Any]], list[Any]],
    ) -> None:
        super().__init__(name=name, use_locking=use_locking)
        self._optimizer = optimizer
        self._reduce = reduce

    def compute_gradients(self, *args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        """(gradient, variable) pairs; each gradient is of all processes."""
        pairs = self._optimizer.compute_gradients(*args, **kwargs)
        if size() == 1:
            return pairs
        there = [gradient for gradient, _ in pairs if gradient is not None]
        with name_scope(f"{self.get_name()}_Allreduce"):
            reduced = iter(self._reduce(there))
        return [
            (gradient if gradient is None else next(reduced), variable)
            for gradient, variable in pairs
        ]

    def apply_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """What the other optimizer's does."""
        return self._optimizer.apply_gradients(*args, **kwargs)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """The other optimizer's slot."""
        return self._optimizer.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        """The names of the other optimizer's slots."""
        return self._optimizer.get_slot_names(*args, **kwargs)

    def variables(self, *args: Any, **kwargs: Any) -> Any:
        """The other optimizer's variables."""
        return self._optimizer.variables(*args, **kwargs)


def DistributedOptimizer(
    optimizer: Optimizer,
    name: str | None = None,
    use_locking: bool = False,
    device_dense: str = "",
    device_sparse: str = "",
    compression: Any = Compression.none,
    sparse_as_dense: bool = False,
    backward_passes_per_step: int = 1,
    op: int = Average,
) -> Optimizer:
    """An optimizer that averages gradients over all processes before applying them.

    Args:
      optimizer: a `tf.train.Optimizer` that computes and applies them.
      name: by default "Distributed" and the optimizer's class.
      use_locking: as in other optimizers.
      device_dense, device_sparse: where gradients are reduced.
      compression: what travels: `Compression.none`, `fp16`, `bf16`, or `topk(ratio)`.
      sparse_as_dense: whether gradients that are IndexedSlices are made dense first.
      backward_passes_per_step: 1.
      op: `Average`, `Sum` or `Adasum`.

    Raises:
      ValueError: it is no such optimizer, or backward_passes_per_step is not 1.
    """
    if not isinstance(optimizer, Optimizer):
        raise ValueError(
            "Provided optimizer doesn't inherit from tf.train.Optimizer: "
            f"{type(optimizer).__name__}"
        )
    if backward_passes_per_step != 1:
        raise ValueError(
            "backward_passes_per_step must be 1: gradients are not added up over "
            f"steps, it is {backward_passes_per_step}"
        )
    reduction(op, None)

    def reduce(gradients: list[Any]) -> list[Any]:
        if sparse_as_dense:
            gradients = [
                convert_to_tensor(g) if isinstance(g, IndexedSlices) else g
                for g in gradients
            ]
        return allreduce_all(gradients, device_dense, device_sparse, compression, op)

    name = name or f"Distributed{type(optimizer).__name__}"
    return _DistributedOptimizer(optimizer, name, use_locking, reduce)
