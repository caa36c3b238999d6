"""The layers of a graph that have a form in eight bits.

A layer is a product or convolution with constant weights, the constant that is added to
it, and the activation behind it, as far as nobody else reads what is between them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.tools.graph_transforms import nodes

if TYPE_CHECKING:
    from tensorloom.deploy.frozen_model import FrozenModel
    from tensorloom.protos.node_def_pb2 import NodeDef

_PRODUCTS: Final = ("MatMul", "Conv2D", "DepthwiseConv2dNative")
_ACTIVATIONS: Final = ("Relu", "Relu6")


@dataclass(frozen=True)
class Layer:
    """A layer; its last node's name is that of what takes its place."""

    product: NodeDef
    #: The tensor that it reads.
    source: str
    weights: Any
    bias: Any
    activation: str
    #: From the product to the last.
    nodes: tuple[NodeDef, ...]


def layers_of(model: FrozenModel) -> list[Layer]:
    """The layers of a graph whose constants are folded, in its order."""
    found = nodes.by_name(model.graph_def)
    readers: dict[str, list[NodeDef]] = {}
    counts: Counter[str] = Counter()
    for node in model.graph_def.node:
        for name in node.input:
            readers.setdefault(nodes.node_of(name), []).append(node)
            counts[nodes.node_of(name)] += 1
    ends = set(model.output_nodes)

    def only_reader(node: NodeDef) -> NodeDef | None:
        if node.name in ends or counts[node.name] != 1:
            return None
        return readers[node.name][0]

    made = []
    for node in model.graph_def.node:
        if node.op not in _PRODUCTS or not _is_plain(node):
            continue
        weights = found.get(nodes.node_of(node.input[1]))
        if weights is None or weights.op != "Const" or not nodes.is_float(weights):
            continue
        values = nodes.value_of(weights)
        if node.op == "MatMul" and node.attr["transpose_b"].b:
            values = values.T
        count = _channels(node, values)
        chain, bias = [node], np.zeros(count, np.float32)
        after = only_reader(node)
        if after is not None:
            added = _added(node, after, found, count)
            if added is not None:
                bias = added
                chain.append(after)
        activation = only_reader(chain[-1])
        if activation is not None and activation.op in _ACTIVATIONS:
            chain.append(activation)
        else:
            activation = None
        made.append(
            Layer(
                node,
                node.input[0],
                values,
                bias,
                "" if activation is None else activation.op,
                tuple(chain),
            )
        )
    return made


def _is_plain(node: NodeDef) -> bool:
    """Whether a product is one of those that the integer kernels know."""
    if node.op == "MatMul":
        return not node.attr["transpose_a"].b
    dilations = list(node.attr["dilations"].list.i)
    return node.attr["padding"].s in (b"SAME", b"VALID") and (
        node.op == "Conv2D" or all(one == 1 for one in dilations)
    )


def _channels(product: NodeDef, weights: Any) -> int:
    if product.op == "DepthwiseConv2dNative":
        return int(weights.shape[2] * weights.shape[3])
    return int(weights.shape[-1])


def _added(
    product: NodeDef, after: NodeDef, found: dict[str, NodeDef], count: int
) -> Any:
    """The vector that a node adds to a product; None if it does something else."""
    if after.op not in ("BiasAdd", "Add", "AddV2") or len(after.input) != 2:
        return None
    others = [n for n in after.input if nodes.node_of(n) != product.name]
    if len(others) != 1 or found[nodes.node_of(others[0])].op != "Const":
        return None
    value = nodes.value_of(found[nodes.node_of(others[0])])
    # To ask a message for an attr adds it.
    layout = product.attr["data_format"].s if "data_format" in product.attr else b""
    is_first = layout == b"NCHW"
    if value.shape != (count,) or (is_first and after.op != "BiasAdd"):
        return None
    return value
