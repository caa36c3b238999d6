"""`tf.distribute.ReplicaContext`: what a function knows that is built for a replica."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tensorloom.client.distribution.reduce_op import ReduceOp, as_reduce_op
from tensorloom.client.distribution.thread_modes import ThreadMode, pop_mode, push_mode
from tensorloom.client.gradients.custom_gradient import custom_gradient
from tensorloom.distribute.strategies.mode_checks import require_replica_context
from tensorloom.distribute.values import device_names
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor
from tensorloom.framework.types import nest


@export("distribute.ReplicaContext", "contrib.distribute.ReplicaContext")
class ReplicaContext:
    """A replica that is built for, while it is entered.

    Args:
      strategy: whose replica it is.
      replica_id_in_sync_group: which one: a number, or a scalar tensor.
    """

    def __init__(self, strategy: Any, replica_id_in_sync_group: Any) -> None:
        self._strategy = strategy
        self._replica_id_in_sync_group = replica_id_in_sync_group

    def __enter__(self) -> None:
        push_mode(ThreadMode(self._strategy, None, self))

    def __exit__(
        self, exception_type: Any, exception_value: Any, traceback: Any
    ) -> None:
        pop_mode()

    def merge_call(
        self,
        merge_fn: Callable[..., Any],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Calls `merge_fn(strategy, *args, **kwargs)` once for all replicas.

        All replicas must make the call. Their arguments are brought together in values
        with a part for each replica; of the result, each replica gets its part.

        Raises:
          RuntimeError: this replica is not built for at present.
        """
        require_replica_context(self)
        return self._merge_call(merge_fn, args, dict(kwargs or {}))

    def _merge_call(
        self,
        merge_fn: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        push_mode(ThreadMode(self._strategy, self._strategy, None))
        try:
            return merge_fn(self._strategy, *args, **kwargs)
        finally:
            pop_mode()

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas there are."""
        count: int = self._strategy.num_replicas_in_sync
        return count

    @property
    def replica_id_in_sync_group(self) -> Any:
        """Which of the replicas this one is."""
        require_replica_context(self)
        return self._replica_id_in_sync_group

    @property
    def strategy(self) -> Any:
        """The strategy whose replica it is."""
        return self._strategy

    @property
    def devices(self) -> Any:
        """The devices of the replica."""
        require_replica_context(self)
        return (device_names.current(),)

    def all_reduce(self, reduce_op: ReduceOp | str, value: Any) -> Any:
        """The sum or mean of the values of all replicas, in each replica.

        Args:
          reduce_op: SUM or MEAN.
          value: a structure of tensors.

        Raises:
          ValueError: another reduction.
        """
        reduce_op = as_reduce_op(reduce_op)

        def reduce(strategy: Any, *values: Any) -> Any:
            return strategy.extended.batch_reduce_to(
                reduce_op, [(v, _destination(v)) for v in values]
            )

        @custom_gradient
        def reduced(*xs: Any) -> Any:
            ys = self.merge_call(reduce, args=xs)
            return ys, lambda *grads: self.all_reduce(reduce_op, grads)

        flat = nest.flatten(value)
        results = reduced(*flat)
        return nest.pack_sequence_as(
            value, results if isinstance(results, list | tuple) else [results]
        )


def _destination(value: Any) -> Any:
    return value.device if isinstance(value, Tensor) else value
