"""The window, stride and padding of a node, read from its NodeDef and its constants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tensorloom.client.program import program_log
from tensorloom.framework.types.tensor_proto import make_ndarray

# What looks at one place for each of its own.
_POINTWISE: Final = {
    *("Add", "AddV2", "BiasAdd", "Cast", "Ceil", "ConcatV2", "Const", "Floor"),
    *("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3", "GreaterEqual"),
    *("Identity", "Log", "LRN", "Mul", "Pow", "RealDiv", "Relu", "Relu6", "Round"),
    *("Rsqrt", "Softplus", "Sub", "VariableV2"),
}
_CONVOLUTIONS: Final = ("Conv2D", "DepthwiseConv2dNative")
_POOLS: Final = ("MaxPool", "MaxPoolV2", "AvgPool")
Nodes = Mapping[str, Any]


def _constant(node: Any, place: int, ending: str, nodes: Nodes) -> Any:
    """The constant that is an input of a node, whose name ends so."""
    name = node.input[place]
    if not name.endswith(ending):
        raise ValueError(f"The name of input {name} does not end with '{ending}'")
    if nodes[name].op != "Const":
        raise ValueError(f"{name} is a {nodes[name].op}, expected Const")
    return make_ndarray(nodes[name].attr["value"].tensor)


def _strides(node: Any, nodes: Nodes) -> tuple[int, int]:
    """Vertical and horizontal."""
    if node.op == "MaxPoolV2":
        values = _constant(node, 2, "/strides", nodes)
    else:
        values = node.attr["strides"].list.i
    return int(values[1]), int(values[2])


def _window(node: Any, nodes: Nodes) -> tuple[int, int]:
    if node.op in _CONVOLUTIONS:
        return _filter_size(node, nodes)
    if node.op == "MaxPoolV2":
        values = _constant(node, 1, "/ksize", nodes)
    else:
        values = node.attr["ksize"].list.i
    for place, axis in ((0, "first"), (3, "last")):
        if values[place] != 1:
            raise ValueError(f"pool ksize for {axis} dim is not 1")
    return int(values[1]), int(values[2])


def _filter_size(node: Any, nodes: Nodes) -> tuple[int, int]:
    name = node.input[1]
    if not name.endswith("/read"):
        raise ValueError(
            "Weight layer's name input to conv layer does not end with '/read'"
        )
    weights = nodes[name.removesuffix("/read")]
    if weights.op == "VariableV2":
        dims = weights.attr["shape"].shape.dim
    elif weights.op == "Const":
        dims = weights.attr["value"].tensor.tensor_shape.dim
    else:
        raise ValueError(
            f"Weight layer {weights.name} is not of type VariableV2 or Const: "
            f"{weights.op}"
        )
    if len(dims) != 4:
        raise ValueError(
            f"Weight layer {weights.name} does not have rank 4. Instead, it has: "
            f"{len(dims)}"
        )
    return int(dims[0].size), int(dims[1].size)


def _padding(
    node: Any, window: int, stride: int, size: int | None
) -> tuple[int | None, int | None]:
    """All padding of an axis, and the part before; None where it depends on sizes."""
    kind = node.attr["padding"].s
    if kind == b"VALID":
        return 0, 0
    if kind != b"SAME":
        raise ValueError(f"Invalid padding operation {kind}")
    if size is not None:
        total = max(window - (size % stride or stride), 0)
        return total, total // 2
    if window == 1:
        return 0, 0
    if stride == 1:
        return window - 1, (window - 1) // 2
    if stride == 2 and window % 2 == 0:
        return None, (window - 1) // 2
    program_log.warning(
        "Padding of %s depends on the size of its input. The check of alignment is "
        "left out; give input_resolution for it.",
        node.name,
    )
    return None, None


def _explicit_padding(node: Any, nodes: Nodes) -> list[tuple[int, int]]:
    """For height and width: all padding, and the part before."""
    values = _constant(node, 1, "/paddings", nodes)
    for place, axis in ((0, "first"), (3, "last")):
        if values[place].any():
            raise ValueError(f"padding is not zero for {axis} tensor dim")
    return [(int(values[k].sum()), int(values[k][0])) for k in (1, 2)]


def get_layer_params(
    node: Any,
    name_to_node: Nodes,
    input_resolution: Sequence[int | None] | None = None,
    force: bool = False,
) -> tuple[Any, ...]:
    """What a node does to receptive fields.

    Args:
      node: its NodeDef.
      name_to_node: all NodeDefs by name.
      input_resolution: height and width of what comes in, if they are known.
      force: whether nothing is known of an unknown op, rather than that it is refused.

    Returns:
      Eight integers, or Nones where they are not known: window, stride and padding
      before, each horizontal and vertical, and the whole padding.

    Raises:
      ValueError: the op is unknown, or the node is not as layers of slim make it.
    """
    height, width = input_resolution or (None, None)
    if node.op in _CONVOLUTIONS or node.op in _POOLS:
        (stride_y, stride_x), (size_y, size_x) = (
            _strides(node, name_to_node),
            _window(node, name_to_node),
        )
        total_x, pad_x = _padding(node, size_x, stride_x, width)
        total_y, pad_y = _padding(node, size_y, stride_y, height)
        return size_x, size_y, stride_x, stride_y, pad_x, pad_y, total_x, total_y
    if node.op == "Pad":
        (total_y, pad_y), (total_x, pad_x) = _explicit_padding(node, name_to_node)
        return 1, 1, 1, 1, pad_x, pad_y, total_x, total_y
    if node.op in _POINTWISE:
        return 1, 1, 1, 1, 0, 0, 0, 0
    if force:
        return (None,) * 8
    raise ValueError(f"Unknown layer for operation '{node.name}': {node.op}")
