"""What operations cost: functions that tell a number of an op's node, by kind of cost.

`tf.profiler` asks for "flops". Programs may register more, or the costs of ops of their
own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final


class OpStats:
    """A number that says what an operation costs; None as long as it is not known."""

    def __init__(self, statistic_type: str, value: Any = None) -> None:
        self.statistic_type = statistic_type
        self.value = value

    @property
    def value(self) -> Any:
        """The number."""
        return self._value

    @value.setter
    def value(self, value: Any) -> None:
        self._value = value

    def __iadd__(self, other: OpStats) -> OpStats:
        if other.statistic_type != self.statistic_type:
            raise ValueError(
                f"Can't add an OpStat of type {self.statistic_type} to one of "
                f"{other.statistic_type}."
            )
        if self.value is None:
            self.value = other.value
        elif other.value is not None:
            self.value += other.value
        return self


_STATISTICS: Final[dict[tuple[str, str], Callable[[Any, Any], OpStats]]] = {}


class RegisterStatistics:
    """Decorator: the function of (graph, node) tells one kind of cost of an op."""

    def __init__(self, op_type: str, statistic_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string.")
        if "," in op_type:
            raise TypeError("op_type must not contain a comma.")
        if not isinstance(statistic_type, str):
            raise TypeError("statistic_type must be a string.")
        if "," in statistic_type:
            raise TypeError("statistic_type must not contain a comma.")
        self._key = (op_type, statistic_type)

    def __call__(self, f: Callable[[Any, Any], OpStats]) -> Callable[..., OpStats]:
        """Registers it. Raises KeyError if there is one already."""
        if self._key in _STATISTICS:
            raise KeyError(f"Statistics of {self._key} are registered already.")
        _STATISTICS[self._key] = f
        return f


def get_stats_for_node_def(graph: Any, node: Any, statistic_type: str) -> OpStats:
    """What a node costs, by the function registered for its op; unknown without one."""
    found = _STATISTICS.get((node.op, statistic_type))
    return found(graph, node) if found else OpStats(statistic_type)
