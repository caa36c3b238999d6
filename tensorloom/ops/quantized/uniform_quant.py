"""Uniformly quantized tensors of TensorFlow 2.x: one scale and zero point, or many.

A real number is (integer - zero point) * scale. Scales and zero points are scalars, or
vectors along the dimension `..._quantization_axis`, which is -1 for scalars.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import (
    broadcast_binary_shape,
    unchanged_shape,
)
from tensorloom.framework.types.convolution_dimensions import ConvolutionDimensions
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _quantization(prefix: str = "") -> list[str]:
    """The attrs of a quantized tensor."""
    return [
        f"{prefix}quantization_axis: int = -1",
        f"{prefix}quantization_min_val: int",
        f"{prefix}quantization_max_val: int",
    ]


def _parameters(prefix: str = "") -> list[str]:
    """The inputs of a quantized tensor."""
    return [f"{prefix}scales: float", f"{prefix}zero_points: int32"]


def _product_shape(c: InferenceContext) -> TensorShape:
    a, b = c.with_rank(0, 2).dims_tuple, c.with_rank(1, 2).dims_tuple
    assert a is not None
    assert b is not None
    c.merge_dim(a[1], b[0])
    return TensorShape.of((a[0], b[1]))


def _convolution_shape(c: InferenceContext) -> TensorShape:
    shapes = given, weights = c.input_shape(0), c.input_shape(1)
    if given.rank is None or weights.rank is None:
        return UNKNOWN
    images, filters = ([n for n in x.as_list() if n is not None] for x in shapes)
    if len(images) != given.rank or len(filters) != weights.rank:  # not all are known
        return TensorShape.of((None,) * given.rank)
    try:
        dimensions = ConvolutionDimensions.of(c.attrs, len(images))
        dimensions.check(images, filters)
    except ValueError as error:
        c.fail(str(error))
    return TensorShape.of(dimensions.result_shape(images, filters))


register_op(
    "UniformQuantize",
    inputs=["input: Tin", *_parameters()],
    outputs=["output: Tout"],
    attrs=["Tin: {float}", "Tout: {qint8, quint8, qint32}", *_quantization()],
    shape_fn=unchanged_shape,
    doc="Floats as integers.",
)

register_op(
    "UniformDequantize",
    inputs=["input: Tin", *_parameters()],
    outputs=["output: Tout"],
    attrs=["Tin: {qint8, quint8, qint32}", "Tout: {float}", *_quantization()],
    shape_fn=unchanged_shape,
    doc="The floats that integers stand for.",
)

register_op(
    "UniformRequantize",
    inputs=["input: Tin", *_parameters("input_"), *_parameters("output_")],
    outputs=["output: Tout"],
    attrs=[
        "Tin: {qint8, qint32}",
        "Tout: {qint8, qint32}",
        *_quantization("input_"),
        *_quantization("output_"),
    ],
    shape_fn=unchanged_shape,
    doc="Integers over another scale and zero point.",
)

_OPERANDS = [*_parameters("lhs_"), *_parameters("rhs_"), *_parameters("output_")]
_ALL_QUANTIZATIONS = [
    *_quantization("lhs_"),
    *_quantization("rhs_"),
    *_quantization("output_"),
]

register_op(
    "UniformQuantizedAdd",
    inputs=["lhs: T", "rhs: T", *_OPERANDS],
    outputs=["output: T"],
    attrs=[*_ALL_QUANTIZATIONS, "T: {qint32}"],
    shape_fn=broadcast_binary_shape,
    doc="lhs + rhs, quantized.",
)

register_op(
    "UniformQuantizedClipByValue",
    inputs=["operand: T", "min: T", "max: T", *_parameters()],
    outputs=["output: T"],
    attrs=["T: {qint32}", *_quantization()],
    shape_fn=unchanged_shape,
    doc="Integers kept between min and max, which are quantized as they are.",
)

register_op(
    "UniformQuantizedDot",
    inputs=["lhs: Tin", "rhs: Tin", *_OPERANDS],
    outputs=["output: Tout"],
    attrs=["Tin: {qint8}", "Tout: {qint32}", *_ALL_QUANTIZATIONS],
    shape_fn=_product_shape,
    doc="The product of two matrices, quantized.",
)

register_op(
    "UniformQuantizedDotHybrid",
    inputs=["lhs: Tlhs", "rhs: Trhs", *_parameters("rhs_")],
    outputs=["output: Tout"],
    attrs=["Tlhs: {float}", "Trhs: {qint8}", "Tout: {float}", *_quantization("rhs_")],
    shape_fn=_product_shape,
    doc="The product of a matrix, whose rows are quantized first, and a quantized one.",
)

_CONVOLUTION = [
    "window_strides: list(int) = []",
    "padding: string",
    "explicit_padding: list(int) = []",
    "lhs_dilation: list(int) = []",
    "rhs_dilation: list(int) = []",
    "batch_group_count: int = 1",
    "feature_group_count: int = 1",
    "dimension_numbers: string = ''",
]

register_op(
    "UniformQuantizedConvolution",
    inputs=["lhs: Tin", "rhs: Tin", *_OPERANDS],
    outputs=["output: Tout"],
    attrs=["Tin: {qint8}", "Tout: {qint32}", *_CONVOLUTION, *_ALL_QUANTIZATIONS],
    shape_fn=_convolution_shape,
    doc="A convolution of any rank, quantized.",
)

register_op(
    "UniformQuantizedConvolutionHybrid",
    inputs=["lhs: Tlhs", "rhs: Trhs", *_parameters("rhs_")],
    outputs=["output: Tout"],
    attrs=[
        "Tlhs: {float}",
        "Trhs: {qint8}",
        "Tout: {float}",
        *_CONVOLUTION,
        *_quantization("rhs_"),
    ],
    shape_fn=_convolution_shape,
    doc="A convolution of floats, quantized first, with quantized filters.",
)
