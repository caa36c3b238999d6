"""`tf.add_check_numerics_ops`: every floating-point tensor of a graph checked."""

from __future__ import annotations

from typing import Any, Final

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    Operation,
    control_dependencies,
    get_default_graph,
)
from tensorloom.framework.types import dtypes
from tensorloom.ops.array import identity as identity_ops
from tensorloom.ops.control_flow import builders as control_flow_ops

_CHECKED = (dtypes.float16, dtypes.float32, dtypes.float64)


# What a conditional or a loop is in the graph, where it is no classic one.
_CONTROL_FLOW: Final = frozenset(
    ["Case", "If", "StatelessCase", "StatelessIf", "StatelessWhile", "While"]
)


@export("add_check_numerics_ops")
def add_check_numerics_ops() -> Operation:
    """Adds a CheckNumerics for each half, float and double tensor of the default graph.

    The checks run in the order in which the tensors were made, so that the first
    operation with a NaN or an infinity is named.

    Returns:
      An operation that runs them all.

    Raises:
      ValueError: a tensor is inside a control flow construct, or made by one.
    """
    checks: list[Any] = []
    for op in get_default_graph().get_operations():
        for output in op.outputs:
            if output.dtype not in _CHECKED:
                continue
            if op._get_control_flow_context() is not None or op.type in _CONTROL_FLOW:
                raise ValueError(
                    "`tf.add_check_numerics_ops() is not compatible with TensorFlow "
                    "control flow operations such as `tf.cond()` or `tf.while_loop()`."
                )
            message = f"{op.name}:{output.value_index}"
            with control_dependencies(checks):
                checks = [identity_ops.check_numerics(output, message=message)]
    return control_flow_ops.group(*checks)
