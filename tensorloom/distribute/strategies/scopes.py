"""The `with` block of a strategy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.client.distribution.thread_modes import (
    ThreadMode,
    has_strategy,
    pop_mode,
    push_mode,
)
from tensorloom.distribute.strategies.mode_checks import (
    require_cross_replica_or_default,
)
from tensorloom.framework.graph.graph import device, get_default_graph

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

_NESTING = (
    "{} scope nesting error: move call to tf.distribute.set_strategy() out of `with` "
    "scope."
)


class StrategyScope:
    """Makes a strategy the current one, for all of its replicas together.

    Args:
      strategy: it.
      creator_scope: makes its variables.
      variable_scope: keeps its variables from being partitioned.
      default_device: where operations are put that say no device.
    """

    def __init__(
        self,
        strategy: Any,
        creator_scope: AbstractContextManager[Any],
        variable_scope: AbstractContextManager[Any],
        default_device: str | None,
    ) -> None:
        self._strategy = strategy
        self._scopes = [
            ("Variable", variable_scope),
            ("Variable creator", creator_scope),
        ]
        if default_device:
            self._scopes.append(("Device", device(default_device)))
        self._entered_again = 0

    def __enter__(self) -> Any:
        if has_strategy():
            require_cross_replica_or_default(self._strategy.extended)
            self._entered_again += 1
            return self._strategy
        push_mode(ThreadMode(self._strategy, self._strategy, None))
        for _, scope in self._scopes:
            scope.__enter__()
        self._devices, self._creators = _open_blocks()
        return self._strategy

    def __exit__(
        self, exception_type: Any, exception_value: Any, traceback: Any
    ) -> None:
        if self._entered_again:
            self._entered_again -= 1
            return
        devices, creators = _open_blocks()
        if devices is not self._devices and len(self._scopes) > 2:
            raise RuntimeError(_NESTING.format("Device"))
        if creators != self._creators:
            raise RuntimeError(_NESTING.format("Variable creator"))
        for kind, scope in reversed(self._scopes):
            try:
                scope.__exit__(exception_type, exception_value, traceback)
            except RuntimeError as error:
                if error is exception_value:
                    continue
                raise RuntimeError(_NESTING.format(kind)) from error
        pop_mode()


def _open_blocks() -> tuple[Any, list[Any]]:
    """The device blocks and variable creators that are open."""
    scopes = get_default_graph()._scopes
    return scopes.devices, list(scopes.variable_creators)
