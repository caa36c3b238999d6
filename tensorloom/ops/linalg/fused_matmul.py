"""Products with what follows them, in one op; a pass of the master builds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry import op_registry
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.registry.shape_inference import (
    broadcast_binary_shape,
    unchanged_shape,
)
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.convolution import conv as nn_ops_conv
from tensorloom.ops.convolution import conv3d as nn_ops_conv3d
from tensorloom.ops.linalg import matmul as math_ops_matmul
from tensorloom.ops.nn import batch_norm as nn_ops_batch_norm

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_registry import ShapeFn
    from tensorloom.framework.registry.shape_inference import InferenceContext

_ = (
    math_ops_matmul,
    nn_ops_batch_norm,
    nn_ops_conv,
    nn_ops_conv3d,
)  # their ops are registered first


def _shape_fn_of(op: str) -> ShapeFn:
    """The shape function of an op whose inputs are the first ones of the fused op."""
    op_def = op_registry.find(op)
    assert op_def is not None
    assert op_def.shape_fn is not None
    return op_def.shape_fn


# The two numbers are of TensorFlow 2.x; graphs of our own passes have neither.
_FUSED_ATTRS = (
    "fused_ops: list(string) = []",
    "epsilon: float = 0.0001",
    "leakyrelu_alpha: float = 0.2",
)

register_op(
    "_FusedMatMul",
    inputs=["a: T", "b: T", "args: num_args * T"],
    outputs=["product: T"],
    attrs=[
        "transpose_a: bool = false",
        "transpose_b: bool = false",
        "T: {bfloat16, half, float, double}",
        "num_args: int >= 0",
        *_FUSED_ATTRS,
    ],
    shape_fn=_shape_fn_of("MatMul"),
    doc="A matrix product, plus a bias (args[0]), through an activation.",
)

register_op(
    "_FusedConv2D",
    inputs=["input: T", "filter: T", "args: num_args * T"],
    outputs=["output: T"],
    attrs=[
        "T: {bfloat16, half, float, double}",
        "num_args: int >= 0",
        "strides: list(int)",
        "padding: {'SAME', 'VALID', 'EXPLICIT'}",
        "explicit_paddings: list(int) = []",
        "data_format: {'NHWC', 'NCHW'} = 'NHWC'",
        "dilations: list(int) = [1, 1, 1, 1]",
        "use_cudnn_on_gpu: bool = true",
        *_FUSED_ATTRS,
    ],
    shape_fn=_shape_fn_of("Conv2D"),
    doc="A 2-D convolution, plus a bias (args[0]), through an activation.",
)
register_op(
    "_FusedConv3D",
    inputs=["input: T", "filter: T", "args: num_args * T"],
    outputs=["output: T"],
    attrs=[
        "T: {bfloat16, half, float, double}",
        "num_args: int >= 0",
        "strides: list(int) >= 5",
        "padding: {'SAME', 'VALID'}",
        "data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'",
        "dilations: list(int) = [1, 1, 1, 1, 1]",
        *_FUSED_ATTRS,
    ],
    shape_fn=_shape_fn_of("Conv3D"),
    doc="A 3-D convolution with what fused_ops names, of graphs from Grappler.",
)
register_op(
    "_FusedDepthwiseConv2dNative",
    inputs=["input: T", "filter: T", "args: num_args * T"],
    outputs=["output: T"],
    attrs=[
        "T: {bfloat16, half, float, double}",
        "num_args: int >= 0",
        "strides: list(int)",
        "padding: {'SAME', 'VALID'}",
        "data_format: {'NHWC', 'NCHW'} = 'NHWC'",
        "dilations: list(int) = [1, 1, 1, 1]",
        *_FUSED_ATTRS,
    ],
    shape_fn=_shape_fn_of("DepthwiseConv2dNative"),
    doc="A depthwise convolution with what fused_ops names, of graphs from Grappler.",
)
register_op(
    "_FusedBatchNormEx",
    inputs=[
        "x: T",
        *(f"{name}: U" for name in ("scale", "offset", "mean", "variance")),
        "side_input: num_side_inputs * T",
    ],
    outputs=[
        "y: T",
        "batch_mean: U",
        "batch_variance: U",
        *(f"reserve_space_{i}: U" for i in (1, 2, 3)),
    ],
    attrs=[
        "T: {half, float, bfloat16}",
        "U: {float}",
        "epsilon: float = 0.0001",
        "exponential_avg_factor: float = 1.0",
        "num_side_inputs: int >= 0 = 0",
        "activation_mode: string = 'Identity'",
        "data_format: {'NHWC', 'NCHW'} = 'NHWC'",
        "is_training: bool = true",
    ],
    shape_fn=_shape_fn_of("FusedBatchNormV3"),
    doc="FusedBatchNormV3, plus side_input, through an activation.",
)
register_op(
    "_UnaryOpsComposition",
    inputs=["x: T"],
    outputs=["y: T"],
    attrs=["T: {float, half, double}", "op_names: list(string)"],
    shape_fn=unchanged_shape,
    doc="Functions of single elements one after the other, the first op_name first.",
)
register_op(
    "_MklSwish",
    inputs=["features: T"],
    outputs=["activations: T"],
    attrs=["T: {float, bfloat16, half} = DT_FLOAT"],
    shape_fn=unchanged_shape,
    doc="features * sigmoid(features)",
)


def _sum_of_mat_muls_shape(c: InferenceContext) -> TensorShape:
    first, second = c.input_shape(0), c.input_shape(c.attrs["N"])
    a, b = c.with_rank(first, 2), c.with_rank(second, 2)
    return TensorShape([a[1], b[1]])


register_op(
    "_SumOfMatMuls",
    inputs=["a: N * T", "b: N * T"],
    outputs=["sum: T"],
    attrs=["N: int >= 1", "T: {float, double}"],
    shape_fn=_sum_of_mat_muls_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="The sum of the products of each a, transposed, with its b. "
    "a[i] is [k_i, m], b[i] is [k_i, n], the sum is [m, n].",
)


register_op(
    "_SigmoidCrossEntropy",
    inputs=["logits: T", "labels: T"],
    outputs=["loss: T"],
    attrs=["T: {float, double}"],
    shape_fn=broadcast_binary_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="max(x, 0) - x * z + log(1 + exp(-abs(x))) for logits x and labels z.",
)

register_op(
    "_SigmoidCrossEntropyGrad",
    inputs=["backprops: T", "logits: T", "rest: T"],
    outputs=["gradient: T"],
    attrs=["T: {float, double}"],
    shape_fn=unchanged_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="g * sigmoid(x) + rest: the gradient of _SigmoidCrossEntropy for the logits x; "
    "rest is -g * z for labels z.",
)


def _shape_of_second(c: InferenceContext) -> TensorShape:
    return c.input_shape(1)


register_op(
    "_MeanGrad",
    inputs=["grad: T", "x: Tx"],
    outputs=["gradient: T"],
    attrs=["T: {float, double}", "Tx: type", "outputs: int >= 1"],
    shape_fn=_shape_of_second,
    gradient=NOT_DIFFERENTIABLE,
    doc="grad / (number of elements of x // outputs), in the shape of x; grad has one "
    "element.",
)
