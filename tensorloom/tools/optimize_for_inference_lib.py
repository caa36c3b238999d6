"""Makes a frozen graph smaller for inference.

What feeds nothing goes, identities go, batch normalization becomes part of the
convolution before it, and resizing and padding part of the one after.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.client.importing.graph_util import remove_training_nodes
from tensorloom.client.program import program_log
from tensorloom.framework.types.tensor_proto import make_ndarray, make_tensor_proto
from tensorloom.protos.graph_pb2 import GraphDef
from tensorloom.protos.node_def_pb2 import NodeDef
from tensorloom.tools.strip_unused_lib import strip_unused

if TYPE_CHECKING:
    from tensorloom.protos.attr_value_pb2 import AttrValue

# The places of the inputs of each kind of batch normalization.
INPUT_ORDER: Final = {
    "BatchNormWithGlobalNormalization": [
        *("conv_op", "mean_op", "var_op", "beta_op", "gamma_op")
    ],
    "FusedBatchNorm": ["conv_op", "gamma_op", "beta_op", "mean_op", "var_op"],
    "FusedBatchNormV3": ["conv_op", "gamma_op", "beta_op", "mean_op", "var_op"],
}
EPSILON_ATTR: Final = {
    "BatchNormWithGlobalNormalization": "variance_epsilon",
    "FusedBatchNorm": "epsilon",
    "FusedBatchNormV3": "epsilon",
}
_CONVOLUTIONS: Final = ("Conv2D", "DepthwiseConv2dNative")


def optimize_for_inference(
    input_graph_def: GraphDef,
    input_node_names: Sequence[str],
    output_node_names: Sequence[str],
    placeholder_type_enum: Any,
    toco_compatible: bool = False,
) -> GraphDef:
    """A graph that gives the same outputs with fewer nodes.

    Args:
      input_graph_def: a frozen graph.
      input_node_names: the nodes that are fed.
      output_node_names: the nodes that are fetched.
      placeholder_type_enum: DataType of what is fed, or a list of one each.
      toco_compatible: without ops that converters of graphs do not know.

    Raises:
      ValueError: the graph has two nodes of one name, or an input that is not there.
    """
    ensure_graph_is_valid(input_graph_def)
    graph = strip_unused(
        input_graph_def, input_node_names, output_node_names, placeholder_type_enum
    )
    graph = remove_training_nodes(graph, list(output_node_names))
    graph = fold_batch_norms(graph)
    if not toco_compatible:
        graph = fuse_resize_and_conv(graph, output_node_names)
    ensure_graph_is_valid(graph)
    return graph


def ensure_graph_is_valid(graph_def: GraphDef) -> None:
    """Raises ValueError for two nodes of one name, and inputs that are not there."""
    nodes = _by_name(graph_def)
    for node in graph_def.node:
        for name in node.input:
            if node_name_from_input(name) not in nodes:
                raise ValueError(f"Input for {node.name} not found: {name}")


def _by_name(graph_def: GraphDef) -> dict[str, NodeDef]:
    nodes: dict[str, NodeDef] = {}
    for node in graph_def.node:
        if nodes.setdefault(node.name, node) is not node:
            raise ValueError(f"Duplicate node names detected for {node.name}")
    return nodes


def node_name_from_input(node_name: str) -> str:
    """The node's name of an input such as `^name` or `name:1`."""
    name, _, port = node_name.removeprefix("^").rpartition(":")
    return name if name and port.isdigit() else node_name.removeprefix("^")


def node_from_map(node_map: Mapping[str, NodeDef], name: str) -> NodeDef:
    """The node that an input comes from. Raises ValueError if it is not there."""
    node = node_map.get(node_name_from_input(name))
    if node is None:
        raise ValueError(f"No node named '{name}' found in map.")
    return node


def values_from_const(node_def: NodeDef) -> Any:
    """The array of a Const node. Raises ValueError for other nodes."""
    if node_def.op != "Const":
        raise ValueError(
            f"Node named '{node_def.name}' should be a Const op for values_from_const, "
            f"not {node_def.op}."
        )
    return make_ndarray(node_def.attr["value"].tensor)


def scale_after_normalization(node: NodeDef) -> bool:
    """Whether a batch normalization multiplies by gamma."""
    if node.op == "BatchNormWithGlobalNormalization":
        return node.attr["scale_after_normalization"].b
    return True


def fold_batch_norms(input_graph_def: GraphDef) -> GraphDef:
    """Batch normalization after a convolution, of constants, into its weights.

        BatchNorm(Conv2D(x, w), ...)  ->  BiasAdd(Conv2D(x, w * scale), offset)

    Raises:
      ValueError: two nodes have one name.
    """
    nodes = _by_name(input_graph_def)
    gone: set[str] = set()
    added: list[NodeDef] = []
    for node in input_graph_def.node:
        if node.op in INPUT_ORDER:
            parts = _batch_norm_parts(node, nodes)
            if parts is not None:
                gone |= {node.name, *(part.name for part in parts.values())}
                added += _folded(node, parts)
    result = GraphDef()
    result.node.extend(node for node in input_graph_def.node if node.name not in gone)
    result.node.extend(added)
    return result


def _batch_norm_parts(
    node: NodeDef, nodes: Mapping[str, NodeDef]
) -> dict[str, NodeDef] | None:
    """The nodes around a batch normalization that can be folded; None if it cannot."""
    named = zip(INPUT_ORDER[node.op], node.input, strict=False)
    parts = {what: node_from_map(nodes, name) for what, name in named}
    convolution = parts["conv_op"]
    if convolution.op not in _CONVOLUTIONS:
        program_log.warning(
            "Didn't find expected Conv2D or DepthwiseConv2dNative input to '%s'",
            node.name,
        )
        return None
    parts["weights"] = node_from_map(nodes, convolution.input[1])
    constants = [what for what in parts if what != "conv_op"]
    for what in constants:
        if parts[what].op != "Const":
            program_log.warning(
                "Didn't find expected %s Constant input to '%s', found %s instead. "
                "Maybe because freeze_graph wasn't run first?",
                what,
                node.name,
                parts[what].name,
            )
            return None
    channels = _channels(convolution, values_from_const(parts["weights"]).shape)
    for what in constants[:-1]:
        shape = values_from_const(parts[what]).shape
        if shape != (channels,):
            program_log.warning(
                "Incorrect shape for %s, found %s, expected %s, for node %s",
                what,
                shape,
                (channels,),
                node.name,
            )
            return None
    return parts


def _channels(convolution: NodeDef, shape: tuple[int, ...]) -> int:
    """The number of channels that a convolution with such weights makes."""
    return shape[3] if convolution.op == "Conv2D" else shape[2] * shape[3]


def _folded(node: NodeDef, parts: Mapping[str, NodeDef]) -> list[NodeDef]:
    convolution, weights_node = parts["conv_op"], parts["weights"]
    mean, variance = (values_from_const(parts[name]) for name in ("mean_op", "var_op"))
    scale = 1.0 / np.sqrt(variance + node.attr[EPSILON_ATTR[node.op]].f)
    if scale_after_normalization(node):
        scale = scale * values_from_const(parts["gamma_op"])
    offset = (-mean * scale) + values_from_const(parts["beta_op"])
    weights = values_from_const(weights_node)
    by_weight = (
        scale if convolution.op == "Conv2D" else scale.reshape(weights.shape[2:])
    )
    scaled = _constant(
        weights_node.name,
        (weights * by_weight).astype(weights.dtype),
        weights_node.attr["dtype"],
    )
    name = f"{convolution.name}_bn_offset"
    bias = _constant(name, offset.astype(mean.dtype), parts["mean_op"].attr["dtype"])
    made = NodeDef(op="BiasAdd", name=node.name, input=[convolution.name, name])
    for attr in ("T", "data_format"):
        made.attr[attr].CopyFrom(convolution.attr[attr])
    return [scaled, convolution, bias, made]


def _constant(name: str, value: Any, dtype: AttrValue) -> NodeDef:
    node = NodeDef(op="Const", name=name)
    node.attr["dtype"].CopyFrom(dtype)
    node.attr["value"].tensor.CopyFrom(make_tensor_proto(value))
    return node


def fuse_resize_and_conv(
    input_graph_def: GraphDef, output_node_names: Sequence[str]
) -> GraphDef:
    """Bilinear resizing and mirror padding before a convolution into one op with it.

        Conv2D(MirrorPad(ResizeBilinear(x, size), paddings), w)
          ->  FusedResizeAndPadConv2D(x, size, paddings, w)

    Raises:
      ValueError: two nodes have one name.
    """
    nodes = _by_name(input_graph_def)
    uses = Counter(
        node_name_from_input(name)
        for node in input_graph_def.node
        for name in node.input
    )
    uses.update(output_node_names)
    fused: dict[str, list[NodeDef]] = {}
    for node in input_graph_def.node:
        found = _resized_and_padded(node, nodes) if node.op == "Conv2D" else {}
        if found:
            fused[node.name] = _fused_convolution(node, found)
            uses.subtract(part.name for part in found.values())
    result = GraphDef()
    for node in input_graph_def.node:
        if node.name not in fused and uses[node.name] >= 1:
            result.node.add().CopyFrom(node)
    result.node.extend(made for nodes_made in fused.values() for made in nodes_made)
    return result


def _resized_and_padded(
    convolution: NodeDef, nodes: Mapping[str, NodeDef]
) -> dict[str, NodeDef]:
    """The "pad" and the "resize" before a convolution, as far as they are there."""
    found = {}
    before = node_from_map(nodes, convolution.input[0])
    if before.op == "MirrorPad":
        found["pad"] = before
        before = node_from_map(nodes, before.input[0])
    if before.op == "ResizeBilinear":
        found["resize"] = before
    return found


def _fused_convolution(
    convolution: NodeDef, found: Mapping[str, NodeDef]
) -> list[NodeDef]:
    made: list[NodeDef] = []
    fused = NodeDef(name=convolution.name)
    pad, resize = found.get("pad"), found.get("resize")
    if pad is not None:
        paddings = pad.input[1]
        fused.attr["mode"].CopyFrom(pad.attr["mode"])
    else:
        paddings = f"{convolution.name}_dummy_paddings"
        dtype = NodeDef().attr["dtype"]
        zeros = _constant(paddings, np.zeros([4, 2], np.int32), dtype)
        zeros.attr["dtype"].type = 3  # type: ignore[assignment]  # DT_INT32
        made.append(zeros)
        fused.attr["mode"].s = b"REFLECT"
    if resize is not None:
        fused.op = "FusedResizeAndPadConv2D"
        fused.input.extend([resize.input[0], resize.input[1]])
        fused.attr["resize_align_corners"].CopyFrom(resize.attr["align_corners"])
    else:
        assert pad is not None
        fused.op = "FusedPadConv2D"
        fused.input.append(pad.input[0])
    fused.input.extend([paddings, convolution.input[1]])
    for attr in ("T", "strides", "padding"):
        fused.attr[attr].CopyFrom(convolution.attr[attr])
    return [*made, fused]
