"""Products with what follows them, in one op; a pass of the master builds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework import op_registry
from tensorloom.framework.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.shape_inference import (
    broadcast_binary_shape,
    unchanged_shape,
)
from tensorloom.framework.tensor_shape import TensorShape
from tensorloom.ops import math_ops_matmul, nn_ops_conv

if TYPE_CHECKING:
    from tensorloom.framework.op_registry import ShapeFn
    from tensorloom.framework.shape_inference import InferenceContext

_ = math_ops_matmul, nn_ops_conv  # their ops are registered first


def _shape_fn_of(op: str) -> ShapeFn:
    """The shape function of an op of which the fused one begins with the inputs."""
    op_def = op_registry.find(op)
    assert op_def is not None
    assert op_def.shape_fn is not None
    return op_def.shape_fn


register_op(
    "_FusedMatMul",
    inputs=["a: T", "b: T", "args: num_args * T"],
    outputs=["product: T"],
    attrs=[
        "transpose_a: bool = false",
        "transpose_b: bool = false",
        "T: {bfloat16, half, float, double}",
        "num_args: int >= 0",
        "fused_ops: list(string) = []",
    ],
    shape_fn=_shape_fn_of("MatMul"),
    gradient=NOT_DIFFERENTIABLE,
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
        "fused_ops: list(string) = []",
    ],
    shape_fn=_shape_fn_of("Conv2D"),
    gradient=NOT_DIFFERENTIABLE,
    doc="A 2-D convolution, plus a bias (args[0]), through an activation.",
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
