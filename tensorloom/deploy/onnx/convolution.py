"""Convolutions, pooling and normalization: ONNX has the channels in front."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.deploy.onnx.registry import builder
from tensorloom.deploy.program import Unexportable
from tensorloom.deploy.sizes import known_ints
from tensorloom.deploy.transposed import result_sizes, transposed_pads

if TYPE_CHECKING:
    from tensorloom.deploy.onnx.scope import Site


class _Layout:
    """Where an op has its channels, and its attrs without them."""

    def __init__(self, site: Site, rank: int) -> None:
        self.site = site
        self.rank = rank
        self.is_last = site.attr("data_format") in ("NHWC", "NDHWC", "")

    def spatial(self, values: Sequence[int]) -> list[int]:
        """An attr's numbers of the spatial axes."""
        middle = values[1:-1] if self.is_last else values[2:]
        others = [values[0], values[-1] if self.is_last else values[1]]
        if any(value != 1 for value in others):
            raise Unexportable("it strides over batches or channels")
        return [int(value) for value in middle]

    def first(self, name: str) -> str:
        """A value with channels first."""
        return self.site.to_channels_first(name, self.rank) if self.is_last else name

    def back(self, name: str) -> str:
        """A result with channels first, as the op has it."""
        return self.site.to_channels_last(name, self.rank) if self.is_last else name

    def padding(self) -> dict[str, Any]:
        """ONNX's attrs for the padding."""
        kind = self.site.attr("padding")
        if kind == "EXPLICIT":
            pads = np.reshape(self.site.attr("explicit_paddings"), [-1, 2])
            middle = pads[1:-1] if self.is_last else pads[2:]
            return {"pads": [*middle[:, 0].tolist(), *middle[:, 1].tolist()]}
        return {"auto_pad": "VALID" if kind == "VALID" else "SAME_UPPER"}

    def strides(self) -> dict[str, Any]:
        """ONNX's attrs for strides and dilations."""
        attrs = {"strides": self.spatial(self.site.attr("strides"))}
        dilations = self.site.node.attrs.get("dilations")
        if dilations:
            spread = self.spatial(dilations)
            if any(value != 1 for value in spread):
                attrs["dilations"] = spread
        return attrs


def _weights(site: Site, at: int, order: Sequence[int]) -> str:
    value = site.static(at)
    if value is not None:
        return site.value(np.transpose(value, order))
    return site.transposed(site[at], order)


def _with_same_padding(attrs: dict[str, Any], kernel: Sequence[int]) -> dict[str, Any]:
    """ONNX Runtime has no SAME with dilations: the pads, where the strides are 1."""
    if "dilations" not in attrs or attrs.get("auto_pad") != "SAME_UPPER":
        return attrs
    if any(stride != 1 for stride in attrs["strides"]):
        raise Unexportable("SAME padding with dilations and strides")
    whole = [(k - 1) * d for k, d in zip(kernel, attrs["dilations"], strict=True)]
    pads = [*(w // 2 for w in whole), *(w - w // 2 for w in whole)]
    return {**{k: v for k, v in attrs.items() if k != "auto_pad"}, "pads": pads}


@builder("Conv2D", "Conv3D")
def _convolution(site: Site) -> str:
    rank = 4 if site.node.op == "Conv2D" else 5
    layout = _Layout(site, rank)
    weights = _weights(site, 1, [rank - 1, rank - 2, *range(rank - 2)])
    attrs = {**layout.strides(), **layout.padding()}
    sizes = site.sizes(1)
    inside = site.shape(0)
    groups = 1
    if inside.ndims is not None:
        channels = inside.as_list()[-1 if layout.is_last else 1]
        if channels is not None:
            groups = channels // sizes[rank - 2]
    attrs = _with_same_padding(attrs, sizes[: rank - 2])
    return layout.back(
        site.op("Conv", layout.first(site[0]), weights, group=groups, **attrs)
    )


@builder("DepthwiseConv2dNative")
def _depthwise(site: Site) -> str:
    layout = _Layout(site, 4)
    height, width, channels, multiplier = site.sizes(1)
    order = _weights(site, 1, [2, 3, 0, 1])
    weights = site.op(
        "Reshape", order, site.ints(channels * multiplier, 1, height, width)
    )
    attrs = {**layout.strides(), **layout.padding()}
    attrs = _with_same_padding(attrs, [height, width])
    return layout.back(
        site.op("Conv", layout.first(site[0]), weights, group=channels, **attrs)
    )


@builder("Conv2DBackpropInput")
def _transposed_convolution(site: Site) -> str:
    layout = _Layout(site, 4)
    attrs = layout.strides()
    if "dilations" in attrs:
        raise Unexportable("a transposed convolution with dilations")
    middle = result_sizes(
        known_ints(site.scope, site.node.inputs[0]),
        site.node.output_shapes,
        layout.is_last,
    )
    if site.attr("padding") == "EXPLICIT":
        raise Unexportable("a transposed convolution with explicit padding")
    pads = transposed_pads(
        middle,
        site.sizes(1)[:2],
        attrs["strides"],
        site.shape(2),
        layout.is_last,
        site.attr("padding") == "SAME",
    )
    made = site.op(
        "ConvTranspose",
        layout.first(site[2]),
        _weights(site, 1, [3, 2, 0, 1]),
        strides=attrs["strides"],
        pads=[*pads.starts, *pads.ends],
        output_padding=pads.extra,
    )
    return layout.back(made)


@builder("MaxPool", "AvgPool", "MaxPool3D", "AvgPool3D")
def _pool(site: Site) -> str:
    layout = _Layout(site, 5 if site.node.op.endswith("3D") else 4)
    op = "MaxPool" if site.node.op.startswith("Max") else "AveragePool"
    made = site.op(
        op,
        layout.first(site[0]),
        kernel_shape=layout.spatial(site.attr("ksize")),
        **layout.strides(),
        **layout.padding(),
    )
    return layout.back(made)


@builder("BiasAdd")
def _bias_add(site: Site) -> str:
    rank = site.shape(0).ndims
    first = site.scope.channels_first.get(site[0])
    if site.attr("data_format") == "NCHW" and rank is not None and rank > 2:
        bias = site.op("Reshape", site[1], site.ints(-1, *[1] * (rank - 2)))
        return site.op("Add", site[0], bias)
    if first is not None and rank is not None:
        bias = site.op("Reshape", site[1], site.ints(-1, *[1] * (rank - 2)))
        return site.to_channels_last(site.op("Add", first, bias), rank)
    return site.op("Add", site[0], site[1])


@builder("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def _normalization(site: Site) -> list[str]:
    if site.attr("is_training"):
        raise Unexportable(
            "it normalizes by its own batch: export the model for inference"
        )
    layout = _Layout(site, 4)
    made = site.op(
        "BatchNormalization",
        layout.first(site[0]),
        *site.inputs[1:5],
        epsilon=site.attr("epsilon"),
    )
    return [layout.back(made), site[3], site[4]]


@builder("LRN")
def _local_response(site: Site) -> str:
    radius = site.attr("depth_radius")
    size = 2 * radius + 1
    made = site.op(
        "LRN",
        site.to_channels_first(site[0], 4),
        size=size,
        bias=site.attr("bias"),
        # ONNX divides by the size.
        alpha=site.attr("alpha") * size,
        beta=site.attr("beta"),
    )
    return site.to_channels_last(made, 4)


@builder("ResizeBilinear", "ResizeNearestNeighbor")
def _resize(site: Site) -> str:
    is_bilinear = site.node.op == "ResizeBilinear"
    if site.attr("align_corners"):
        mode = "align_corners"
    elif site.attr("half_pixel_centers"):
        mode = "half_pixel"
    else:
        mode = "asymmetric"
    first = site.to_channels_first(site[0], 4)
    shape = site.op("Shape", first, start=0, end=2)
    sizes = site.op("Concat", shape, site.int64(1), axis=0)
    nearest = "round_prefer_ceil" if mode == "align_corners" else "floor"
    made = site.op(
        "Resize",
        first,
        "",
        "",
        sizes,
        mode="linear" if is_bilinear else "nearest",
        coordinate_transformation_mode=mode,
        nearest_mode=nearest,
    )
    return site.to_channels_last(made, 4)


@builder("DepthToSpace", "SpaceToDepth")
def _depth(site: Site) -> str:
    layout = _Layout(site, 4)
    block = site.attr("block_size")
    if site.node.op == "DepthToSpace":
        made = site.op(
            "DepthToSpace", layout.first(site[0]), blocksize=block, mode="DCR"
        )
        return layout.back(made)
    made = site.op("SpaceToDepth", layout.first(site[0]), blocksize=block)
    return layout.back(made)
