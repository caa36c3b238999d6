"""Layers in eight bits with float32 around them; `tensorloom optimize` builds them.

Weights are int8 with a scale for each output channel, w = scale * weights. Inputs
become eight bits on the way in, by a range that the step measures, or that is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry import op_registry
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.convolution import conv as convolution_ops

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_registry import ShapeFn
    from tensorloom.framework.registry.shape_inference import InferenceContext

_ = convolution_ops  # its ops are registered first


def _shape_fn_of(op: str) -> ShapeFn:
    op_def = op_registry.find(op)
    assert op_def is not None
    assert op_def.shape_fn is not None
    return op_def.shape_fn


def _mat_mul_shape(c: InferenceContext) -> TensorShape:
    a, b = c.with_rank(0, 2), c.with_rank(1, 2)
    return TensorShape([a[0], b[1]])


# An input x is (q - zero_point) * scale for q from 0 to 255.
_LAYER = (
    "input_scale: float",
    "input_zero_point: int",
    "activation: {'', 'Relu', 'Relu6'} = ''",
)
_CONVOLUTION = (
    *_LAYER,
    "strides: list(int)",
    "padding: {'SAME', 'VALID'}",
    "data_format: {'NHWC', 'NCHW'} = 'NHWC'",
    "dilations: list(int) = [1, 1, 1, 1]",
)

register_op(
    "_Int8MatMul",
    inputs=["a: float", "weights: int8", "scales: float", "bias: float"],
    outputs=["product: float"],
    attrs=[*_LAYER, "dynamic: bool = false"],
    shape_fn=_mat_mul_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="act(a @ (scales * weights) + bias) with a [m, k] in eight bits. weights is "
    "[k, n], scales and bias are [n]. dynamic: the range of a is that of the step.",
)
register_op(
    "_Int8Conv2D",
    inputs=["input: float", "weights: int8", "scales: float", "bias: float"],
    outputs=["output: float"],
    attrs=[*_CONVOLUTION],
    shape_fn=_shape_fn_of("Conv2D"),
    gradient=NOT_DIFFERENTIABLE,
    doc="act(convolution + bias) in eight bits. weights is [height, width, in, out], "
    "scales and bias are [out].",
)
register_op(
    "_Int8DepthwiseConv2d",
    inputs=["input: float", "weights: int8", "scales: float", "bias: float"],
    outputs=["output: float"],
    attrs=[*_CONVOLUTION],
    shape_fn=_shape_fn_of("DepthwiseConv2dNative"),
    gradient=NOT_DIFFERENTIABLE,
    doc="act(depthwise convolution + bias) in eight bits. weights is [height, width, "
    "channels, multiplier], scales and bias are [channels * multiplier].",
)
