"""`tf.distribute.ReduceOp`: how the values of several replicas become one."""

from __future__ import annotations

import enum

from tensorloom.client.variables.variable_policy import VariableAggregation
from tensorloom.framework.export import export


@export("distribute.ReduceOp")
class ReduceOp(enum.Enum):
    """How the values of several replicas become one."""

    SUM = "SUM"
    MEAN = "MEAN"

    @staticmethod
    def from_variable_aggregation(aggregation: VariableAggregation) -> ReduceOp:
        """The reduction that a variable's aggregation stands for.

        Raises:
          ValueError: it stands for none.
        """
        if aggregation == VariableAggregation.SUM:
            return ReduceOp.SUM
        if aggregation == VariableAggregation.MEAN:
            return ReduceOp.MEAN
        raise ValueError(
            f"Could not convert from `tf.VariableAggregation` {aggregation} to"
            "`tf.distribute.ReduceOp` type"
        )


def as_reduce_op(value: ReduceOp | str) -> ReduceOp:
    """A ReduceOp, also by its name in any case."""
    return ReduceOp(value.upper()) if isinstance(value, str) else value
