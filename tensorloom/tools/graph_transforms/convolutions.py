"""Transforms that put what stands before convolutions into them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.tools.graph_transforms import nodes
from tensorloom.tools.graph_transforms.matching import Match, pattern, replaced

if TYPE_CHECKING:
    from tensorloom.protos.node_def_pb2 import NodeDef
    from tensorloom.tools.graph_transforms.request import Request

_TAKEN: Final = ("T", "padding", "strides")


def fuse_resize_pad_and_conv(graph: Any, request: Request) -> Any:
    """Resizing and padding before a convolution become one op with it.

    Conv2D(MirrorPad(ResizeBilinear(x, size), paddings), w)
      ->  FusedResizeAndPadConv2D(x, size, paddings, w)
    """
    wanted = pattern("Conv2D", pattern("MirrorPad", "ResizeBilinear", "*"), "*")
    return replaced(graph, wanted, _resized_and_padded)


def _resized_and_padded(match: Match, read: set[str]) -> list[NodeDef]:
    pad, weights = match.inputs
    resize, paddings = (one.node for one in pad.inputs)
    fused = nodes.node(
        "FusedResizeAndPadConv2D",
        match.node.name,
        [*resize.input[:2], pad.node.input[1], match.node.input[1]],
    )
    nodes.copy_attrs(resize, fused, resize_align_corners="align_corners")
    nodes.copy_attrs(pad.node, fused, "mode")
    return [weights.node, paddings, nodes.copy_attrs(match.node, fused, *_TAKEN)]


def fuse_resize_and_conv(graph: Any, request: Request) -> Any:
    """Resizing before a convolution becomes one op with it.

    Conv2D(ResizeBilinear(x, size), w)
      ->  FusedResizeAndPadConv2D(x, size, no paddings, w)
    """
    return replaced(graph, pattern("Conv2D", "ResizeBilinear", "*"), _resized)


def _resized(match: Match, read: set[str]) -> list[NodeDef]:
    resize, weights = (one.node for one in match.inputs)
    name = match.node.name
    paddings = nodes.constant(f"{name}_dummy_paddings", np.zeros((4, 2), np.int32))
    fused = nodes.node(
        "FusedResizeAndPadConv2D",
        name,
        [*resize.input[:2], paddings.name, match.node.input[1]],
        mode=b"REFLECT",
    )
    nodes.copy_attrs(resize, fused, resize_align_corners="align_corners")
    return [weights, paddings, nodes.copy_attrs(match.node, fused, *_TAKEN)]


def fuse_pad_and_conv(graph: Any, request: Request) -> Any:
    """Padding before a convolution becomes one op with it.

    Conv2D(MirrorPad(x, paddings), w)  ->  FusedPadConv2D(x, paddings, w)
    """
    wanted = pattern("Conv2D", pattern("MirrorPad", "*", "*"), "*")
    return replaced(graph, wanted, _padded)


def _padded(match: Match, read: set[str]) -> list[NodeDef]:
    pad, weights = match.inputs
    before, paddings = (one.node for one in pad.inputs)
    fused = nodes.node(
        "FusedPadConv2D", match.node.name, [*pad.node.input[:2], match.node.input[1]]
    )
    nodes.copy_attrs(pad.node, fused, "mode")
    nodes.copy_attrs(match.node, fused, *_TAKEN)
    return [weights.node, before, paddings, fused]


def flatten_atrous_conv(graph: Any, request: Request) -> Any:
    """A dilated convolution made with spaces in batches becomes a plain one.

    BatchToSpaceND(Conv2D(SpaceToBatchND(x, block, paddings), w), block, crops)
      ->  Conv2D(x, w with zeros between its values), padded as SAME
    """
    space = pattern("SpaceToBatchND", "*", "*", "*")
    convolution = pattern("Conv2D|DepthwiseConv2dNative", space, "*")
    return replaced(graph, pattern("BatchToSpaceND", convolution, "*", "*"), _flattened)


def _flattened(match: Match, read: set[str]) -> list[NodeDef] | None:
    convolution = match.inputs[0]
    space, weights_node = convolution.inputs
    before, block_node = space.inputs[0].node, space.inputs[1].node
    if (weights_node.node.op, block_node.op) != ("Const", "Const"):
        return None
    weights = nodes.value_of(weights_node.node)
    rates = nodes.value_of(block_node)
    height, width = ((np.array(weights.shape[:2]) - 1) * rates + 1).tolist()
    spread = np.zeros((height, width, *weights.shape[2:]), weights.dtype)
    spread[:: rates[0], :: rates[1]] = weights
    made = nodes.node(
        convolution.node.op,
        match.node.name,
        [before.name, weights_node.node.name],
        padding=b"SAME",
    )
    made.device = convolution.node.device
    nodes.copy_attrs(convolution.node, made, "T", "strides", "data_format")
    if convolution.node.op == "Conv2D":
        nodes.copy_attrs(convolution.node, made, "use_cudnn_on_gpu")
    return [before, nodes.constant(weights_node.node.name, spread), made]
