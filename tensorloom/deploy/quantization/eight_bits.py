"""Layers with weights in eight bits, and products in eight bits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.deploy import optimizing
from tensorloom.deploy.quantization import calibration
from tensorloom.deploy.quantization.layers import Layer, layers_of
from tensorloom.framework import errors
from tensorloom.framework.types import dtypes
from tensorloom.ops.quantized import int8 as _int8_ops
from tensorloom.tools.graph_transforms import nodes
from tensorloom.tools.graph_transforms.matching import without_unread

if TYPE_CHECKING:
    from tensorloom.deploy.examples import Examples
    from tensorloom.deploy.frozen_model import FrozenModel
    from tensorloom.deploy.quantization.calibration import Range
    from tensorloom.protos.node_def_pb2 import NodeDef

_ = _int8_ops  # what is made here can be imported
_OPS: Final = {
    "MatMul": "_Int8MatMul",
    "Conv2D": "_Int8Conv2D",
    "DepthwiseConv2dNative": "_Int8DepthwiseConv2d",
}
_CONVOLUTION: Final = ("strides", "padding", "data_format", "dilations")
# Layers with fewer weights gain nothing.
_FEWEST: Final = 64
# The steps on each side of zero that weights have.
_STEPS: Final = 127
_UNKNOWN: Final[Range] = (0.0, 1.0)


def dynamic_range(model: FrozenModel) -> FrozenModel:
    """A model whose layers have weights in eight bits.

    Products of matrices are computed in eight bits, by the range that their input has
    in the step; convolutions in float32.
    """
    model = optimizing.transformed(model)
    made: dict[str, list[NodeDef]] = {}
    for layer in _large(model):
        if layer.product.op == "MatMul":
            made[layer.nodes[-1].name] = _in_eight_bits(layer, _UNKNOWN, True)
        else:
            made[layer.product.name] = _with_small_weights(layer)
    return _replaced(model, made, _inner(_large(model), {"MatMul"}))


def integers(
    model: FrozenModel, given: Examples | None, method: str = "min_max"
) -> FrozenModel:
    """A model whose layers are computed in eight bits.

    Args:
      model: what is quantized. FakeQuant nodes before layers say their ranges.
      given: examples that tell the other ranges.
      method: how they do, see `calibration.measured`.

    Raises:
      errors.InvalidArgumentError: ranges are not known and there are no examples, or no
        layer has enough weights.
    """
    model = optimizing.transformed(model)
    layers = _large(model)
    if not layers:
        raise errors.InvalidArgumentError(
            None, None, "the model has no layer with constant weights to quantize"
        )
    tensors = dict.fromkeys(layer.source for layer in layers)
    ranges = calibration.trained(model, tensors)
    unknown = [name for name in tensors if name not in ranges]
    if unknown and given is None:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"the ranges of {', '.join(unknown[:5])} are not known: give examples "
            "(--calibration FILE.npz)",
        )
    if unknown and given is not None:
        ranges |= calibration.measured(model, unknown, given, method)
    made = {
        layer.nodes[-1].name: _in_eight_bits(
            replace(layer, source=calibration.before_fake_quant(model, layer.source)),
            ranges[layer.source],
            False,
        )
        for layer in layers
    }
    return _replaced(model, made, _inner(layers, set(_OPS)))


def _large(model: FrozenModel) -> list[Layer]:
    return [layer for layer in layers_of(model) if layer.weights.size >= _FEWEST]


def _inner(layers: list[Layer], ops: set[str]) -> set[str]:
    """The nodes that go with a layer's last."""
    return {
        node.name
        for layer in layers
        if layer.product.op in ops
        for node in layer.nodes[:-1]
    }


def small_weights(product: NodeDef, weights: Any) -> tuple[Any, Any]:
    """Weights as int8, and the scale of each output channel."""
    axes: Any = (0, 1) if product.op == "DepthwiseConv2dNative" else None
    if axes is None:
        axes = tuple(range(weights.ndim - 1))
    scales = np.abs(weights).max(axes, keepdims=True) / np.float32(_STEPS)
    scales = np.where(scales == 0, np.float32(1.0), scales).astype(np.float32)
    whole = np.clip(np.rint(weights / scales), -_STEPS, _STEPS).astype(np.int8)
    return whole, scales


def steps_of(ends: Range) -> tuple[float, int]:
    """The scale and zero point of a range; zero is one of its values."""
    low, high = min(ends[0], 0.0), max(ends[1], 0.0)
    scale = float(np.float32((high - low) / 255.0)) or 1.0
    return scale, int(np.clip(round(-low / scale), 0, 255))


def _in_eight_bits(layer: Layer, ends: Range, dynamic: bool) -> list[NodeDef]:
    product, name = layer.product, layer.nodes[-1].name
    whole, scales = small_weights(product, layer.weights)
    scale, zero = steps_of(ends)
    parts = [
        nodes.constant(f"{name}/int8_weights", whole, dtypes.int8),
        nodes.constant(f"{name}/int8_scales", scales.reshape(-1)),
        nodes.constant(f"{name}/int8_bias", layer.bias.astype(np.float32)),
    ]
    attrs: dict[str, Any] = {"dynamic": dynamic} if product.op == "MatMul" else {}
    made = nodes.node(
        _OPS[product.op],
        name,
        [layer.source, *(part.name for part in parts)],
        input_scale=scale,
        input_zero_point=zero,
        activation=layer.activation.encode(),
        **attrs,
    )
    made.device = product.device
    if product.op != "MatMul":
        nodes.copy_attrs(product, made, *_CONVOLUTION)
    return [*parts, made]


def _with_small_weights(layer: Layer) -> list[NodeDef]:
    """The same convolution, with weights that are multiplied out of eight bits."""
    product = layer.product
    whole, scales = small_weights(product, layer.weights)
    prefix = f"{product.name}/int8"
    parts = [
        nodes.constant(f"{prefix}_weights", whole, dtypes.int8),
        nodes.constant(f"{prefix}_scales", scales),
        nodes.node(
            "Cast",
            f"{prefix}_floats",
            [f"{prefix}_weights"],
            SrcT=dtypes.int8,
            DstT=dtypes.float32,
        ),
        nodes.node(
            "Mul",
            f"{prefix}_product",
            [f"{prefix}_floats", f"{prefix}_scales"],
            T=dtypes.float32,
        ),
    ]
    inputs = [product.input[0], f"{prefix}_product", *product.input[2:]]
    return [*parts, nodes.copy(product, input=inputs)]


def _replaced(
    model: FrozenModel, made: Mapping[str, list[NodeDef]], gone: set[str]
) -> FrozenModel:
    result: list[NodeDef] = []
    for node in model.graph_def.node:
        if node.name in made:
            result += made[node.name]
        elif node.name not in gone:
            result.append(node)
    graph = nodes.with_nodes(model.graph_def, result)
    kept = {*model.output_nodes, *model.input_nodes, *model.assets}
    return model.with_graph(without_unread(graph, kept))
