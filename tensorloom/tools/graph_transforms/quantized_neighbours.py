"""What `quantize_nodes` does where one op in eight bits follows another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.types import dtypes
from tensorloom.tools.graph_transforms import nodes
from tensorloom.tools.graph_transforms.matching import Match, pattern, replaced

if TYPE_CHECKING:
    from tensorloom.protos.node_def_pb2 import NodeDef

_FAKE_QUANT: Final = "FakeQuantWithMinMaxVars"
# So many ops with one input may stand between a FakeQuant and what it gives its range.
_DEEPEST: Final = 3


def hoist_fake_quants(graph: Any) -> Any:
    """A FakeQuant after a few ops of one input moves before them.

    FakeQuant(MaxPool(Relu(x)))  ->  MaxPool(Relu(FakeQuant(x)))
    """
    for depth in range(_DEEPEST, 0, -1):
        chain = pattern("*")
        for _ in range(depth):
            chain = pattern("*", chain)
        graph = replaced(
            graph,
            pattern(_FAKE_QUANT, chain, "Const", "Const"),
            lambda match, read, depth=depth: _hoisted(match, depth),  # type: ignore[misc]
        )
    return graph


def _hoisted(match: Match, depth: int) -> list[NodeDef]:
    fake_quant, low, high = match.node, match.inputs[1].node, match.inputs[2].node
    chain: list[NodeDef] = []
    current = match
    for _ in range(depth + 1):
        current = current.inputs[0]
        chain.append(nodes.copy(current.node))
    moved = nodes.copy(fake_quant, name=f"{fake_quant.name}_hoisted")
    moved.input[0] = chain[-2].input[0]
    chain[-2].input[0] = moved.name
    chain[0].name = fake_quant.name
    return [moved, low, high, *chain]


def fake_quants_as_requantize(graph: Any) -> Any:
    """A FakeQuant with a constant range becomes a Requantize with this range."""
    wanted = pattern(_FAKE_QUANT, "*", "Const", "Const")
    return replaced(graph, wanted, _as_requantize)


def _as_requantize(match: Match, read: set[str]) -> list[NodeDef]:
    before, low, high = (one.node for one in match.inputs)
    prefix = f"{match.node.name}_eightbit"
    quantize = nodes.node(
        "QuantizeV2",
        f"{prefix}/quantize",
        [match.node.input[0], low.name, high.name],
        T=dtypes.qint32,
        mode=b"MIN_FIRST",
    )
    requantize = nodes.node(
        "Requantize",
        f"{prefix}/requantize",
        [*(f"{quantize.name}:{output}" for output in range(3)), low.name, high.name],
        Tinput=dtypes.qint32,
        out_type=dtypes.quint8,
    )
    dequantize = nodes.node(
        "Dequantize",
        match.node.name,
        [f"{requantize.name}:{output}" for output in range(3)],
        T=dtypes.quint8,
        mode=b"MIN_FIRST",
    )
    return [before, low, high, quantize, requantize, dequantize]


def merge_adjacent_requantizes(graph: Any) -> Any:
    """Of two Requantize in a row, the constant range of the second counts."""
    first = pattern(
        "Requantize", "*", "*", "*", "RequantizationRange", "RequantizationRange"
    )
    between = pattern("Dequantize", first, "Requantize", "Requantize")
    quantize = pattern("QuantizeV2", between, "Const", "Const")
    wanted = pattern(
        "Requantize", quantize, "QuantizeV2", "QuantizeV2", "Const", "Const"
    )
    return replaced(graph, wanted, _merged)


def _merged(match: Match, read: set[str]) -> list[NodeDef]:
    wide = match.inputs[0].inputs[0].inputs[0].inputs[0].node
    low, high = match.inputs[3].node, match.inputs[4].node
    inputs = [*(f"{wide.name}:{output}" for output in range(3)), low.name, high.name]
    return [wide, low, high, nodes.copy(match.node, input=inputs)]


def remove_redundant_quantizations(graph: Any, outputs: Sequence[str]) -> Any:
    """To eight bits right after from eight bits: neither is needed.

    QuantizeV2(Dequantize(x, min, max), Min, Max)  ->  x, min, max
    """
    renamed: dict[str, str] = {}
    ends = {nodes.node_of(name) for name in outputs}

    def remove(match: Match, read: set[str]) -> list[NodeDef]:
        dequantize = match.inputs[0].node
        for output in range(3):
            renamed[f"{match.node.name}:{output}"] = dequantize.input[output]
        # Someone else may read the floats.
        return match.nodes() if dequantize.name in read | ends else []

    wanted = pattern("QuantizeV2", "Dequantize", "Min", "Max")
    graph = replaced(graph, wanted, remove, allow_inconsistencies=True)
    return nodes.with_renamed_inputs(graph, renamed)
