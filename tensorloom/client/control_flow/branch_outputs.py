"""Lifts tensors out of finished branches of `tf.cond`, as further results of the `If`.

A program may use a tensor of a branch after the branch is finished, as `merge_all` does
with the summaries of all branches. TensorFlow 1.15 builds branches into the graph
around them: the tensor is dead in a step that takes the other branch, and so is
everything that depends on it. Here it becomes a further result of the `If`, followed by
a `Switch` on the predicate. A step that reads none of these does not compute it
(`master/prepare/branch_reads.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.client.functions.branch_output_makers import (
    BranchOutputMakers,
    register_branch_output_makers,
)
from tensorloom.client.gradients import body_graphs, cond_gradient, graph_mutation
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.runtime.scopes import name_scope
from tensorloom.ops.array import constant as constant_op
from tensorloom.ops.array import identity as identity_ops
from tensorloom.ops.control_flow import functional as functional_ops

if TYPE_CHECKING:
    from tensorloom.client.functions.func_graph import FuncGraph
    from tensorloom.framework.graph.graph import Graph
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.tensor import Tensor


def outside(branch: FuncGraph, tensors: Sequence[Tensor]) -> list[Tensor]:
    """Tensors of the graph around a finished branch that stand for some of its own."""
    op = branch.branching_op
    assert op is not None
    gated = op.__dict__.setdefault("_gated_exits", {})
    for tensor, result in zip(tensors, _results(branch, tensors), strict=True):
        if tensor not in gated:
            gated[tensor] = _gated(branch, result, op.graph)
    return [gated[tensor] for tensor in tensors]


def inside(branch: Any, tensor: Tensor, graph: Graph) -> Tensor:
    """A tensor of `graph`, around the branch or in what is, that stands for one of it.

    It is let through in there: else a branch that does not read it would be dead, too.
    """
    (result,) = _results(branch, [tensor])
    return _gated(branch, result, graph)


def operation_outside(branch: FuncGraph, op: Operation) -> Operation:
    """An operation around a finished branch that runs after `op`, if that does."""
    signals = branch.__dict__.setdefault("_exit_signals", {})
    if op not in signals:
        with (
            branch.as_default(),
            branch._node_count.made_as(0),
            branch.control_dependencies(None),
            branch.control_dependencies([op]),
        ):
            signals[op] = constant_op.constant(True)
    signal = outside(branch, [signals[op]])[0]
    outer = signal._op._graph
    # A Switch itself runs in any case.
    with (
        outer.as_default(),
        outer._node_count.made_as(0),
        outer.control_dependencies(None),
    ):
        return identity_ops.identity(signal)._op


def _results(branch: FuncGraph, tensors: Sequence[Tensor]) -> list[Tensor]:
    """The results of the If that have the tensors' values if the branch is taken."""
    op = branch.branching_op
    assert op is not None
    known = op.__dict__.setdefault("_branch_exits", {})
    new = [tensor for tensor in dict.fromkeys(tensors) if tensor not in known]
    if new:
        branches = body_graphs.branch_graphs(op)
        with (
            op.graph._construction.building(),
            op.graph._node_count.made_as(0),
        ):
            for tensor in new:
                for graph in branches:
                    graph.outputs.append(_value_in(graph, tensor))
                known[tensor] = graph_mutation.add_output(op, tensor)
        cond_gradient.rewrite_if_changed(op, branches)
    return [known[tensor] for tensor in tensors]


def _value_in(graph: FuncGraph, tensor: Tensor) -> Tensor:
    """What one of the branches gives for a tensor of one of them."""
    with graph.as_default(), graph.control_dependencies(None):
        if tensor._op._graph is not graph:
            return functional_ops.fake_param(tensor.dtype.base_dtype, tensor.shape)
        if tensor.dtype._is_ref_dtype:
            return identity_ops.identity(tensor)
    return tensor


def _gated(branch: FuncGraph, result: Tensor, graph: Graph) -> Tensor:
    """A result of the If, dead where the other branch is taken."""
    op = branch.branching_op
    assert op is not None
    with (
        graph.as_default(),
        graph._node_count.made_as(0),
        graph.control_dependencies(None),
        name_scope(None),
    ):
        outputs: list[Tensor] = apply_op(
            "Switch", data=result, pred=op.inputs[0], name=f"{op.name}/Switch"
        )
    return outputs[body_graphs.branch_graphs(op).index(branch) == 0]


register_branch_output_makers(BranchOutputMakers(inside, outside, operation_outside))
