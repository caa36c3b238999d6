"""Products, convolutions, pooling and normalization."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tensorloom.deploy.program import Unexportable
from tensorloom.deploy.sizes import known_ints
from tensorloom.deploy.torchscript.registry import writer

if TYPE_CHECKING:
    from tensorloom.deploy.torchscript.source import Line
from tensorloom.deploy.transposed import result_sizes, transposed_pads


@writer("MatMul", "BatchMatMul", "BatchMatMulV2")
def _product(line: Line) -> str:
    kinds = ("transpose_a", "transpose_b")
    if line.node.op != "MatMul":
        kinds = ("adj_x", "adj_y")
    parts = [
        f"{line[at]}.transpose(-1, -2)" if line.attr(attr) else line[at]
        for at, attr in enumerate(kinds)
    ]
    return f"torch.matmul({parts[0]}, {parts[1]})"


@writer("Einsum")
def _einsum(line: Line) -> str:
    equation = line.attr("equation")
    return f"torch.einsum({equation!r}, [{', '.join(line.inputs)}])"


def _is_last(line: Line) -> bool:
    return bool(line.attr("data_format") == "NHWC")


def _first(line: Line, at: int = 0) -> str:
    """An image with channels first: a view, if they are last."""
    return f"{line[at]}.permute(0, 3, 1, 2)" if _is_last(line) else line[at]


def _back(line: Line, expression: str) -> str:
    return f"{expression}.permute(0, 2, 3, 1)" if _is_last(line) else expression


def _spatial(line: Line, attr: str) -> list[int]:
    values = [int(one) for one in line.node.attrs.get(attr) or [1, 1, 1, 1]]
    middle = values[1:3] if _is_last(line) else values[2:]
    if values[0] != 1 or values[3 if _is_last(line) else 1] != 1:
        raise Unexportable("it strides over batches or channels")
    return middle


@writer("Conv2D", "DepthwiseConv2dNative")
def _convolution(line: Line) -> str:
    weights = line.constant(1, "array of weights")
    strides, spread = _spatial(line, "strides"), _spatial(line, "dilations")
    if line.node.op == "Conv2D":
        groups = 1
        channels = (
            line.shape(0).as_list()[-1 if _is_last(line) else 1]
            if (line.shape(0).ndims is not None)
            else None
        )
        if channels is not None:
            groups = channels // weights.shape[2]
        ordered = np.transpose(weights, [3, 2, 0, 1])
    else:
        groups = weights.shape[2]
        ordered = np.transpose(weights, [2, 3, 0, 1])
        ordered = ordered.reshape(-1, 1, *weights.shape[:2])
    image = _first(line)
    if line.attr("padding") == "SAME":
        kernel = list(weights.shape[:2])
        image = f"with_pads({image}, {kernel}, {strides}, {spread}, 0.0)"
    elif line.attr("padding") == "EXPLICIT":
        raise Unexportable("explicit padding")
    name = line.source.constant(np.ascontiguousarray(ordered))
    made = f"torch.conv2d({image}, {name}, None, {strides}, [0, 0], {spread}, {groups})"
    return _back(line, made)


@writer("Conv2DBackpropInput")
def _transposed_convolution(line: Line) -> str:
    weights = line.constant(1, "array of weights")
    strides, spread = _spatial(line, "strides"), _spatial(line, "dilations")
    if spread != [1, 1] or line.attr("padding") == "EXPLICIT":
        raise Unexportable("a transposed convolution with dilations or padding")
    is_last = _is_last(line)
    sizes = result_sizes(
        known_ints(line.block, line.node.inputs[0]), line.node.output_shapes, is_last
    )
    pads = transposed_pads(
        sizes,
        list(weights.shape[:2]),
        strides,
        line.shape(2),
        is_last,
        line.attr("padding") == "SAME",
    )
    name = line.source.constant(
        np.ascontiguousarray(np.transpose(weights, [3, 2, 0, 1]))
    )
    whole = (
        f"torch.conv_transpose2d({_first(line, 2)}, {name}, None, {strides}, [0, 0], "
        f"{pads.extra}, 1, [1, 1])"
    )
    for axis, (start, size) in enumerate(zip(pads.starts, sizes, strict=True)):
        whole = f"{whole}.narrow({2 + axis}, {start}, {size})"
    return _back(line, whole)


@writer("MaxPool", "AvgPool")
def _pool(line: Line) -> str:
    kernel, strides = _spatial(line, "ksize"), _spatial(line, "strides")
    image, same = _first(line), line.attr("padding") == "SAME"
    if line.node.op == "AvgPool":
        made = f"average_pooled({image}, {kernel}, {strides}, {same})"
        return _back(line, made)
    if same:
        image = f"with_pads({image}, {kernel}, {strides}, [1, 1], float('-inf'))"
    return _back(line, f"torch.max_pool2d({image}, {kernel}, {strides})")


@writer("BiasAdd")
def _bias_add(line: Line) -> str:
    rank = line.shape(0).ndims
    if line.attr("data_format") == "NCHW" and rank != 2:
        if rank is None:
            raise Unexportable("the rank of its input is not known")
        return f"{line[0]} + {line[1]}.reshape([-1] + [1] * {int(rank) - 2})"
    return f"{line[0]} + {line[1]}"


@writer("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def _normalization(line: Line) -> list[str]:
    if line.attr("is_training"):
        raise Unexportable("it normalizes by its own batch")
    scale, offset, mean, variance = line.inputs[1:5]
    made = (
        f"torch.batch_norm({_first(line)}, {scale}, {offset}, {mean}, {variance}, "
        f"False, 0.0, {line.attr('epsilon')!r}, False)"
    )
    return [_back(line, made), line[3], line[4]]


@writer("ResizeBilinear", "ResizeNearestNeighbor")
def _resize(line: Line) -> str:
    half, corners = line.attr("half_pixel_centers"), line.attr("align_corners")
    image, sizes = f"{line[0]}.permute(0, 3, 1, 2)", line.ints(1)
    if line.node.op == "ResizeBilinear" and (half or corners):
        made = (
            f"torch.nn.functional.interpolate({image}, {sizes}, mode='bilinear', "
            f"align_corners={bool(corners)})"
        )
    elif line.node.op != "ResizeBilinear" and not half and not corners:
        made = f"torch.nn.functional.interpolate({image}, {sizes}, mode='nearest')"
    else:
        raise Unexportable("torch has no resizing with such corners")
    return f"{made}.permute(0, 2, 3, 1)"
