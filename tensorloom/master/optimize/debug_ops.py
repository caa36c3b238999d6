"""Takes out checks and prints, where a session asks for it (`debug_stripper`).

before: a = Assert(ok, x);  y = CheckNumerics(x, ^a);  z = Print(y, y)
after:  a = NoOp(^ok, ^x);  y = Identity(x, ^a);       z = Identity(y)

It comes before the passes: what a check does to a program is not kept.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tensorloom.framework.runtime.session_config import TOGGLE_ON
from tensorloom.master.optimize.rewriting import as_group

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tensorloom.framework.graph.graph_ir import GraphIR, Node
    from tensorloom.master.optimize.target import OptimizeTarget

_TOGGLE: Final = "debug_stripper"
# They give nothing, or what they get.
_GROUPS: Final = ("Assert", "PrintV2")
_IDENTITIES: Final = ("CheckNumerics", "DebugGradientIdentity", "Print")


def without_debug_ops(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    """The graph and its functions without them, if the session asks for that."""
    config = target.config
    asked = config.toggles.get(_TOGGLE) == TOGGLE_ON or _TOGGLE in config.only
    if not asked or not config.allows(_TOGGLE):
        return graph
    functions = {
        name: replace(function, nodes=_stripped(function.nodes))
        for name, function in graph.functions.items()
    }
    return replace(graph, nodes=_stripped(graph.nodes), functions=functions)


def _stripped(nodes: Mapping[str, Node]) -> dict[str, Node]:
    return {name: _without_check(node) for name, node in nodes.items()}


def _without_check(node: Node) -> Node:
    if node.op in _GROUPS:
        return as_group(node)
    if node.op not in _IDENTITIES:
        return node
    first, *others = node.inputs
    return node.replace(
        op="Identity",
        inputs=(first,),
        control_inputs=tuple(
            dict.fromkeys([*node.control_inputs, *(name for name, _ in others)])
        ),
        attrs={"T": node.attrs["T"]},
    )
