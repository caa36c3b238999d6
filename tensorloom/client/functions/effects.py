"""The order of effects in functions: as the program made them, and none is left out.

In a function (`_add_control_dependencies` of its graph) an assignment in a branch or in
the body of a loop runs although no result needs it, as in Python.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tensorloom.client.functions.func_graph import FuncGraph
    from tensorloom.framework.graph.operation import Operation

# Stateful, but no effect that others could see before or after.
_WITHOUT_EFFECT: Final = frozenset(["Placeholder", "VarHandleOp", "Const", "_Arg"])
# Their order counts, but nobody misses one that no result needs.
_ONLY_READ: Final = frozenset(
    [
        *("ReadVariableOp", "VarIsInitializedOp", "ResourceGather", "ResourceGatherNd"),
        *("RandomUniform", "RandomUniformInt", "RandomStandardNormal", "RandomShuffle"),
        *("ParameterizedTruncatedNormal", "TruncatedNormal", "RandomGamma"),
        *("RandomPoisson", "RandomPoissonV2", "Multinomial", "VariableV2", "Variable"),
    ]
)


def order_effects(operations: Iterable[Operation]) -> Operation | None:
    """Makes operations with effects run in this order.

    Returns:
      The last one that is to run even if no result needs it.
    """
    last: Operation | None = None
    must_run: Operation | None = None
    for op in operations:
        if not op._op_def.is_stateful or op.type in _WITHOUT_EFFECT:
            continue
        if last is not None and last not in op.control_inputs:
            op._add_control_input(last)
        last = op
        must_run = must_run if op.type in _ONLY_READ else op
    return must_run


def keep_effects(graph: FuncGraph) -> None:
    """Orders the effects of a function, or of a branch or body in one, and keeps them.

    In other graphs only what a result needs runs.
    """
    if graph._add_control_dependencies:
        last = order_effects(graph.get_operations())
        graph.control_outputs = [] if last is None else [last]
