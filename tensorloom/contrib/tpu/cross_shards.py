"""Sums over the replicas of a model. Without TPUs there is one replica."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.framework.export import export
from tensorloom.losses.weighted import Reduction
from tensorloom.ops.array.identity import identity
from tensorloom.train.optimizers.optimizer import Optimizer


def _check_groups(group_assignment: Any) -> None:
    """Raises ValueError if groups are not those of one replica."""
    if not group_assignment:
        return
    if not isinstance(group_assignment, list) or not all(
        isinstance(group, list) for group in group_assignment
    ):
        raise ValueError(
            f"group_assignment must be a list of list. Got {group_assignment}"
        )
    if {replica for group in group_assignment for replica in group} != {0}:
        raise ValueError(
            "group_assignment must be a permutation of range(1): there is one replica. "
            f"Got group_assignment={group_assignment}"
        )


@export("tpu.cross_replica_sum", "contrib.tpu.cross_replica_sum")
def cross_replica_sum(x: Any, group_assignment: Any = None, name: Any = None) -> Any:
    """The sum of a tensor over all replicas: without TPUs, the tensor.

    Args:
      x: the tensor.
      group_assignment: lists of the replicas of each group: `[[0]]`.
      name: of the operation.

    Raises:
      ValueError: the groups are of more than one replica.
    """
    _check_groups(group_assignment)
    return identity(x, name=name or "CrossReplicaSum")


@export("tpu.CrossShardOptimizer", "contrib.tpu.CrossShardOptimizer")
class CrossShardOptimizer(Optimizer):
    """An optimizer that applies the sum, or the mean, of all replicas' gradients.

    Without TPUs there is one replica: it does what the optimizer in it does.
    """

    def __init__(
        self,
        opt: Any,
        reduction: str = Reduction.MEAN,
        name: str = "CrossShardOptimizer",
        group_assignment: Any = None,
    ) -> None:
        """Makes the optimizer.

        Args:
          opt: an optimizer.
          reduction: `tf.losses.Reduction.MEAN` or `SUM`.
          name: of the optimizer.
          group_assignment: lists of the replicas of each group: `[[0]]`.

        Raises:
          ValueError: it is another reduction.
        """
        if reduction not in (Reduction.SUM, Reduction.MEAN):
            raise ValueError(f"Unsupported reduction: {reduction}.")
        super().__init__(False, name)
        self._opt = opt
        self._group_assignment = group_assignment

    def compute_gradients(  # type: ignore[override]
        self, loss: Any, var_list: Any = None, **kwargs: Any
    ) -> list[Any]:
        """What the optimizer's own `compute_gradients` gives.

        Raises:
          ValueError: the groups are of more than one replica.
        """
        program_log.warning(
            "CrossShardOptimizer should be used within a tpu_shard_context, but got "
            "unset number_of_shards. Assuming 1."
        )
        _check_groups(self._group_assignment)
        return self._opt.compute_gradients(loss, var_list=var_list, **kwargs)  # type: ignore[no-any-return]

    def apply_gradients(
        self, grads_and_vars: Iterable[Any], global_step: Any = None, name: Any = None
    ) -> Any:
        """What the optimizer's own `apply_gradients` gives."""
        return self._opt.apply_gradients(grads_and_vars, global_step, name)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """The optimizer's own slot."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        """The names of the optimizer's own slots."""
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self) -> Any:
        """The optimizer's own variables."""
        return self._opt.variables()
