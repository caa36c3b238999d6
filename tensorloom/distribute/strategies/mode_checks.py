"""Checks that methods of strategies are called in the right mode."""

from __future__ import annotations

from typing import Any, NoReturn

from tensorloom.client.distribution.thread_modes import (
    ThreadMode,
    current_mode,
    has_strategy,
)
from tensorloom.framework.export import export


def require_cross_replica_or_default(extended: Any) -> None:
    """Raises RuntimeError unless all replicas of the strategy are built for.

    Outside of all strategies is right, too.
    """
    mode = current_mode()
    if mode is None or _is_default(mode):
        return
    cross = mode.cross_replica_context
    if cross is not None and cross.extended is extended:
        return
    strategy = extended._container_strategy()
    if mode.strategy is not strategy:
        _wrong_scope(strategy, mode)
    raise RuntimeError(
        "Method requires being in cross-replica context, use "
        "get_replica_context().merge_call()"
    )


def _is_default(mode: ThreadMode) -> bool:
    return bool(mode.strategy.extended._is_default)


def _wrong_scope(strategy: Any, mode: ThreadMode | None) -> NoReturn:
    if mode is None or not has_strategy():
        raise RuntimeError(f'Need to be inside "with strategy.scope()" for {strategy}')
    raise RuntimeError(
        "Mixing different tf.distribute.Strategy objects: "
        f"{mode.strategy} is not {strategy}"
    )


def require_strategy_scope(extended: Any) -> None:
    """Raises RuntimeError unless the strategy's scope is open."""
    mode = current_mode()
    if mode is None:
        if extended._is_default:
            return
    elif mode.strategy.extended is extended:
        return
    _wrong_scope(extended._container_strategy(), mode)


@export("contrib.distribute.require_replica_context")
def require_replica_context(replica_ctx: Any) -> None:
    """Raises RuntimeError unless what is built is for that replica."""
    mode = current_mode()
    context = None if mode is None else mode.replica_context
    if mode is None and replica_ctx.strategy.extended._is_default:
        return
    if context is replica_ctx:
        return
    if mode is None or context is None:
        raise RuntimeError("Need to be inside `call_for_each_replica()`")
    if mode.strategy is replica_ctx.strategy:
        raise RuntimeError("Mismatching ReplicaContext.")
    raise RuntimeError(
        "Mismatching tf.distribute.Strategy objects: "
        f"{mode.strategy} is not {replica_ctx.strategy}."
    )
