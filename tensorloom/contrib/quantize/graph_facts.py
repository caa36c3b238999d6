"""What the rewrites ask of a graph, and the edges that they move."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from tensorloom.client.variables.variable_policy import VariableAggregation
from tensorloom.client.variables.variable_scope import get_variable
from tensorloom.framework.graph.graph import (
    Graph,
    GraphKeys,
    Operation,
    Tensor,
    get_default_graph,
)
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.identity import identity
from tensorloom.ops.state.initializers import Zeros
from tensorloom.ops.state.reference_variable import assign_add

# Gradients, updates and summaries are not looked at.
SKIPPED_PREFIXES = (
    "gradients/",
    "RMSProp/",
    "Adagrad/",
    "Const_",
    "HistogramSummary",
    "ScalarSummary",
)
_ACTIVATIONS = ("Relu6", "Relu", "Identity")
_BATCH_NORM = re.compile(r"^(.*)BatchNorm/batchnorm")
_STEP = "fake_quantization_step"


class InputToOps:
    """Which operations read a tensor, as of when it was made."""

    def __init__(self, graph: Graph) -> None:
        """Reads the edges of the graph."""
        self.mapping: dict[Tensor, dict[Operation, None]] = {}
        for op in graph.get_operations():
            if not op.name.startswith(SKIPPED_PREFIXES):
                for tensor in op.inputs:
                    self.mapping.setdefault(tensor, {})[op] = None

    def ConsumerOperations(self, producer_op: Operation) -> set[Operation]:
        """The operations that read outputs of one."""
        outputs = producer_op.outputs
        return {op for tensor in outputs for op in self.mapping.get(tensor, ())}


def batch_norm_groups(graph: Graph) -> list[str]:
    """What is before `BatchNorm` in the names of batch normalizations, each once."""
    matches = (_BATCH_NORM.search(op.name) for op in graph.get_operations())
    prefixes = (match.group(1) for match in matches if match)
    return list(
        dict.fromkeys(p for p in prefixes if not p.startswith(SKIPPED_PREFIXES))
    )


def endpoint_activation_op(graph: Graph, prefix: str) -> Operation | None:
    """The activation whose name is the prefix and its type, or None."""
    for suffix in _ACTIVATIONS:
        try:
            return graph.get_operation_by_name(prefix + suffix)
        except KeyError:
            continue
    return None


def quantization_step() -> Tensor:
    """The number of steps that the rewritten graph has run; counts when it is read.

    It is made where the default graph has none.
    """
    graph = get_default_graph()
    try:
        return graph.get_tensor_by_name(f"{_STEP}/Identity:0")
    except KeyError:
        pass
    with graph.name_scope(None):
        step = get_variable(
            _STEP,
            shape=[],
            dtype=dtypes.int64,
            initializer=Zeros(),
            trainable=False,
            collections=[GraphKeys.GLOBAL_VARIABLES],
            aggregation=VariableAggregation.ONLY_FIRST_REPLICA,
        )
        with graph.name_scope(step.op.name + "/"):
            # Variables of all kinds give a tensor of the same name.
            return identity(assign_add(step, 1))


def reroute_tensor(
    t0: Tensor, t1: Tensor, can_modify: Iterable[Operation] | None = None
) -> int:
    """Makes what reads `t1` read `t0`.

    Args:
      t0: the new tensor.
      t1: the old one.
      can_modify: the operations that may be changed; all when None.

    Returns:
      How many inputs were changed.
    """
    allowed = None if can_modify is None else set(can_modify)
    edges = [
        (op, index)
        for op in dict.fromkeys(t1.consumers())
        if allowed is None or op in allowed
        for index, tensor in enumerate(op.inputs)
        if tensor is t1
    ]
    for op, index in edges:
        op._update_input(index, t0)
    return len(edges)


def scope_of(name: str) -> str:
    """The name without its last part; empty if it has one part."""
    return name.rpartition("/")[0]


def name_in(context: str, name: Any) -> str:
    """The name in a scope, or alone where there is none."""
    return f"{context}/{name}" if context else str(name)
