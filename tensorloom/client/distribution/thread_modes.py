"""Which strategy a thread builds for: the stack of modes of the default graph.

Outside of strategies the stack is empty. Optimizers, metrics and variables ask here;
what strategies do is in `tensorloom/distribute/`, which pushes the modes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tensorloom.client.distribution.reduce_op import ReduceOp
from tensorloom.framework.export import export
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.types.constant_value import constant_value


class ThreadMode(NamedTuple):
    """What is built: either for all replicas together, or for one of them."""

    strategy: Any
    # The strategy, if it is for all replicas.
    cross_replica_context: Any
    # The `tf.distribute.ReplicaContext`, if it is for one.
    replica_context: Any


def push_mode(mode: ThreadMode) -> None:
    """Opens a mode in the default graph, for this thread."""
    scopes = get_default_graph()._scopes
    scopes.strategies = (*scopes.strategies, mode)


def pop_mode() -> None:
    """Closes the mode that was opened last."""
    scopes = get_default_graph()._scopes
    scopes.strategies = scopes.strategies[:-1]


def current_mode() -> ThreadMode | None:
    """The open mode, or None outside of strategies."""
    modes = get_default_graph()._scopes.strategies
    return modes[-1] if modes else None


def current_strategy() -> Any:
    """The strategy whose scope is open, or None."""
    mode = current_mode()
    return None if mode is None else mode.strategy


@export(
    "distribute.has_strategy",
    "contrib.distribute.has_strategy",
    "contrib.distribute.has_distribution_strategy",
)
def has_strategy() -> bool:
    """Whether a strategy's scope is open."""
    mode = current_mode()
    return mode is not None and not mode.strategy.extended._is_default


@export(
    "distribute.in_cross_replica_context", "contrib.distribute.in_cross_replica_context"
)
def in_cross_replica_context() -> bool:
    """Whether what is built is for all replicas together.

    That is so inside `strategy.scope()`, but for functions that run for each replica.
    """
    mode = current_mode()
    return mode is not None and mode.cross_replica_context is not None


@export("contrib.distribute.get_cross_replica_context")
def get_cross_replica_context() -> Any:
    """The strategy if what is built is for all replicas together, else None."""
    mode = current_mode()
    return None if mode is None else mode.cross_replica_context


def merge_call(merge_fn: Callable[..., Any], *args: Any) -> Any:
    """Calls `merge_fn(strategy, *args)` once for all replicas.

    In one replica the arguments of all replicas are brought together first. Outside of
    strategies, and where all replicas are built for already, it is a call. The strategy
    is None outside.
    """
    mode = current_mode()
    if mode is None or mode.replica_context is None:
        return merge_fn(None if mode is None else mode.strategy, *args)
    return mode.replica_context.merge_call(merge_fn, args=args)


def skips_summaries() -> bool:
    """Whether this is another replica than the first, whose summaries are not kept."""
    mode = current_mode()
    if mode is None or mode.replica_context is None:
        return False
    return replica_number(mode.replica_context) > 0


def replica_number(replica_context: Any) -> int:
    """Which replica a context is of, as a number; 0 where that is not known."""
    replica = replica_context.replica_id_in_sync_group
    if not isinstance(replica, int):
        replica = constant_value(replica)
    return 0 if replica is None else int(replica)


@export("distribute.get_loss_reduction", "contrib.distribute.get_loss_reduction")
def get_loss_reduction() -> ReduceOp:
    """How the losses of replicas become one: MEAN if an Estimator's loss is a mean.

    Outside of an Estimator it is SUM: the program scales its losses itself.
    """
    strategy = current_strategy()
    if strategy is None or not strategy._scale_loss_for_estimator:
        return ReduceOp.SUM
    last = getattr(get_default_graph(), "_last_loss_reduction", None)
    return ReduceOp.SUM if last in ("weighted_sum", "sum") else ReduceOp.MEAN


def loss_scale() -> float | None:
    """What the optimizer multiplies a replica's loss with; None for nothing."""
    strategy = current_strategy()
    if strategy is None or get_loss_reduction() != ReduceOp.MEAN:
        return None
    count = strategy.num_replicas_in_sync
    return 1.0 / count if count > 1 else None
