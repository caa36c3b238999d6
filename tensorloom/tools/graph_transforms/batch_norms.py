"""Transforms that make batch normalization a part of the convolution before it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.tools.graph_transforms import nodes
from tensorloom.tools.graph_transforms.matching import (
    Match,
    Replacement,
    pattern,
    replaced,
)
from tensorloom.tools.graph_transforms.request import invalid

if TYPE_CHECKING:
    from tensorloom.protos.node_def_pb2 import NodeDef
    from tensorloom.tools.graph_transforms.request import Request

_OLD: Final = "BatchNormWithGlobalNormalization"
# Newer forms are folded as well as the one that the Graph Transform Tool knows.
_FUSED: Final = ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
_CONVOLUTION: Final = pattern("Conv2D|DepthwiseConv2dNative", "*", "Const")


def fold_batch_norms(graph: Any, request: Request) -> Any:
    """A product with a constant after a convolution becomes part of its weights.

        Mul(Conv2D(x, w), scale)  ->  Conv2D(x, w * scale)

    Raises:
      InvalidArgumentError: the constant is not a vector of one factor for each column
        of the weights.
    """
    product = pattern("Conv2D|MatMul|DepthwiseConv2dNative", "*", "Const")
    return replaced(graph, pattern("Mul", product, "Const"), _scaled)


def _scaled(match: Match, read: set[str]) -> list[NodeDef] | None:
    convolution, factors_node = match.inputs
    before, weights_node = (one.node for one in convolution.inputs)
    if read & {convolution.node.name, weights_node.name, factors_node.node.name}:
        return None
    weights, factors = nodes.value_of(weights_node), nodes.value_of(factors_node.node)
    if factors.shape != (_columns(convolution.node, weights),):
        raise invalid(
            f"Mul constant input to batch norm has bad shape: {list(factors.shape)}"
        )
    made = nodes.copy(convolution.node, name=match.node.name)
    return [_times(convolution.node, weights_node, factors), before, made]


def _columns(convolution: NodeDef, weights: Any) -> int:
    """How many channels or columns come out."""
    if convolution.op == "DepthwiseConv2dNative":
        return int(weights.shape[2] * weights.shape[3])
    if convolution.op == "MatMul" and convolution.attr["transpose_b"].b:
        return int(weights.shape[0])
    return int(weights.shape[-1])


def _times(convolution: NodeDef, weights_node: NodeDef, factors: Any) -> NodeDef:
    """The weights, each column by its factor."""
    weights = nodes.value_of(weights_node)
    if convolution.op == "DepthwiseConv2dNative":
        factors = factors.reshape(weights.shape[2:])
    elif convolution.op == "MatMul" and convolution.attr["transpose_b"].b:
        factors = factors[:, np.newaxis]
    return nodes.constant(weights_node.name, (weights * factors).astype(weights.dtype))


def fold_old_batch_norms(graph: Any, request: Request) -> Any:
    """Batch normalization ops after convolutions become part of their weights.

        BatchNorm(Conv2D(x, w), ...)  ->  BiasAdd(Conv2D(x, w * scale), offset)

    The same where a BatchToSpaceND, or a ConcatV2 of two convolutions, stands between
    them. Normalization of a training graph, which measures its batch, stays.

    Raises:
      InvalidArgumentError: the constants are not vectors of one length.
    """
    concatenated = pattern("ConcatV2", _CONVOLUTION, _CONVOLUTION, "Const")
    spaced = pattern("BatchToSpaceND", _CONVOLUTION, "Const", "Const")
    for before, fold in (
        (_CONVOLUTION, _after_convolution),
        (spaced, _after_space),
        (concatenated, _after_concat),
    ):
        wanted = pattern("|".join((_OLD, *_FUSED)), before, *["Const"] * 4)
        count = -1
        # Matches that share nodes take a pass each.
        while count != (left := _norms(graph)):
            count = left
            graph = replaced(graph, wanted, _folding(graph, fold))
    return graph


def _norms(graph: Any) -> int:
    return sum(node.op in (_OLD, *_FUSED) for node in graph.node)


def _folding(graph: Any, fold: Callable[[Match], list[NodeDef]]) -> Replacement:
    """A replacement by `fold`, where a normalization is one of fixed numbers."""
    read = {nodes.canonical(name) for node in graph.node for name in node.input}

    def folded(match: Match, _: set[str]) -> list[NodeDef] | None:
        node = match.node
        if node.op != _OLD:
            measures = "is_training" not in node.attr or node.attr["is_training"].b
            # The mean and variance of the batch would be lost.
            if measures or any(f"{node.name}:{output}" in read for output in (1, 2)):
                return None
        return fold(match)

    return folded


def _scale_and_offset(match: Match) -> tuple[Any, Any]:
    node, values = match.node, [nodes.value_of(one.node) for one in match.inputs[1:]]
    if node.op == _OLD:
        mean, variance, beta, gamma = values
        epsilon = node.attr["variance_epsilon"].f
        scaled = node.attr["scale_after_normalization"].b
    else:
        gamma, beta, mean, variance = values
        epsilon = node.attr["epsilon"].f if "epsilon" in node.attr else 1e-4
        scaled = True
    for name, value in (("Variance", variance), ("Beta", beta), ("gamma", gamma)):
        if value.shape != mean.shape or value.ndim != 1:
            raise invalid(
                f"{name} input to batch norm has bad shape: {list(value.shape)}"
            )
    scale = np.float32(1.0) / np.sqrt(variance + np.float32(epsilon))
    if scaled:
        scale = scale * gamma
    return scale, -mean * scale + beta


def _into_weights(
    scale: Any, offset: Any, convolution: Match, name: str
) -> list[NodeDef]:
    """A convolution of scaled weights, and a BiasAdd called `name`."""
    before, weights = (one.node for one in convolution.inputs)
    node = convolution.node
    if scale.shape != (_columns(node, nodes.value_of(weights)),):
        raise invalid(
            f"{node.name} has other channels than its batch norm's {list(scale.shape)}"
        )
    bias = nodes.constant(f"{node.name}_bn_offset", offset.astype(np.float32))
    added = nodes.node("BiasAdd", name, [node.name, bias.name])
    nodes.copy_attrs(node, added, "data_format", "T")
    return [_times(node, weights, scale), before, node, bias, added]


def _after_convolution(match: Match) -> list[NodeDef]:
    return _into_weights(*_scale_and_offset(match), match.inputs[0], match.node.name)


def _after_space(match: Match) -> list[NodeDef]:
    space = match.inputs[0]
    convolution = space.inputs[0]
    name = f"{convolution.node.name}/biasadd"
    made = _into_weights(*_scale_and_offset(match), convolution, name)
    sizes = [one.node for one in space.inputs[1:]]
    moved = nodes.copy(
        space.node, name=match.node.name, input=[name, *space.node.input[1:]]
    )
    return [*made, *sizes, moved]


def _after_concat(match: Match) -> list[NodeDef]:
    scale, offset = _scale_and_offset(match)
    concat = match.inputs[0]
    first, second, axis = concat.inputs
    scales, offsets = [scale, scale], [offset, offset]
    if int(nodes.value_of(axis.node)) in (3, -1):
        # Each convolution has some of the channels.
        at = nodes.value_of(first.inputs[1].node).shape[3]
        scales, offsets = [scale[:at], scale[at:]], [offset[:at], offset[at:]]
    made, names = [], []
    for number, convolution in enumerate((first, second)):
        names.append(f"{concat.node.name}_bn_in{number}")
        made += _into_weights(
            scales[number], offsets[number], convolution, names[number]
        )
    moved = nodes.copy(
        concat.node, name=match.node.name, input=[*names, *concat.node.input[2:]]
    )
    return [*made, axis.node, moved]
