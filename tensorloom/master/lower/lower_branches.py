"""An If or a Case that spans tasks as Switches and Merges.

before: y = If(p, x, then_branch=..., else_branch=...)
after:  y/switch(x, p) -> (branches) -> y/merge
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tensorloom.framework.functions.functional_op_types import CASES
from tensorloom.framework.graph.graph_ir import Node
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import SCALAR, UNKNOWN
from tensorloom.master.lower.task_spans import skipped_inputs

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Edge, FunctionIR
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.master.lower.lower_functional import Inlined, Lowering


def lower_branches(
    lowering: Lowering, node: Node, branches: Sequence[FunctionIR]
) -> None:
    """Adds the primitives of an If or a Case and the nodes of its branches."""
    name, count = node.name, len(branches)
    chooser = _chooser(lowering, node)
    skipped = skipped_inputs(node)

    def switch(text: str, edge: Edge, argument: DType) -> str:
        is_case = node.op in CASES
        op = "_SwitchN" if is_case else "Switch"
        if op == "Switch" and lowering.brings_variable(edge, argument):
            # It stays with the variable: branches read it where it is, if at all.
            op = "RefSwitch"
        shape = (lowering.nodes[edge[0]].output_shapes or {edge[1]: UNKNOWN})[edge[1]]
        made, _ = lowering.emit(
            node,
            op,
            f"{name}/{text}",
            [edge, chooser],
            {"num_outs": count} if is_case else {},
            control=lowering.waits_of_argument(node, edge),
            shapes=[shape] * count,
            count=count,
        )
        return made

    switches = [
        switch(f"switch_{i}", edge, argument)
        for i, (edge, argument) in enumerate(
            zip(node.inputs[skipped:], branches[0].arg_types, strict=True)
        )
    ]
    chosen = switch("switch_pred", chooser, lowering.type_of(chooser).base_dtype)
    results: list[list[Edge]] = []
    ends: list[Edge] = []
    for index, branch in enumerate(branches):
        pivot, _ = lowering.emit(
            node, "Identity", f"{name}/pivot_{index}", [(chosen, index)], {}
        )
        inlined = lowering.inline(
            node,
            branch,
            [(made, index) for made in switches],
            f"{name}/branch_{index}/",
            pivot,
        )
        end = lowering.emit(
            node,
            "Identity",
            f"{name}/done_{index}",
            [(pivot, 0)],
            {},
            control=inlined.effects,
        )
        ends.append(end)
        results.append(_after(lowering, node, inlined, f"{name}/result_{index}", end))
    _merge_branches(lowering, node, results, ends)


def _chooser(lowering: Lowering, node: Node) -> Edge:
    """The predicate as a bool, or the index of a Case."""
    edge = node.inputs[0]
    if node.op in CASES or node.attrs["Tcond"] is dtypes.bool:
        return edge
    dtype = node.attrs["Tcond"]
    attrs = {"SrcT": dtype, "DstT": dtypes.bool, "Truncate": False}
    name = f"{node.name}/pred"
    lowering.add(
        Node(name, "Cast", (edge,), (), node.device, attrs, (dtypes.bool,), (SCALAR,))
    )
    return name, 0


def _after(
    lowering: Lowering, node: Node, inlined: Inlined, prefix: str, end: Edge
) -> list[Edge]:
    """The results of a branch once its effects are over."""
    if not inlined.effects:
        return inlined.results
    return [
        lowering.emit(node, "Identity", f"{prefix}_{i}", [edge], {}, control=[end[0]])
        for i, edge in enumerate(inlined.results)
    ]


def _merge_branches(
    lowering: Lowering,
    node: Node,
    results: Sequence[Sequence[Edge]],
    ends: Sequence[Edge],
) -> None:
    name, count = node.name, len(results)
    shapes = node.output_shapes
    merged = []
    for i in range(len(node.output_types)):
        edge = lowering.emit(
            node,
            "Merge",
            f"{name}/merge_{i}",
            [branch[i] for branch in results],
            {"N": count},
            shapes=None if shapes is None else [shapes[i], SCALAR],
        )
        lowering.moved[name, i] = edge
        merged.append(edge[0])
    over, _ = lowering.emit(
        node, "Merge", f"{name}/branch_executed", ends, {"N": count}
    )
    lowering.finish(node, [*merged, over])
