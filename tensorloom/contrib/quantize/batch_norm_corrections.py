"""What makes up for folding the moving statistics in where the batch's are used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tensorloom.contrib.quantize.graph_facts import quantization_step, reroute_tensor
from tensorloom.framework.graph.graph import Operation, Tensor, get_default_graph
from tensorloom.keras.smart_cond import smart_cond
from tensorloom.ops.array.fill import ones, zeros
from tensorloom.ops.array.identity import identity
from tensorloom.ops.array.reshape import reshape
from tensorloom.ops.array.space import batch_to_space_nd
from tensorloom.ops.convolution.builders import conv2d, depthwise_conv2d
from tensorloom.ops.linalg.matmul import matmul
from tensorloom.ops.math.binary import divide, multiply
from tensorloom.ops.math.comparison import greater_equal
from tensorloom.ops.math.elementwise import reciprocal, rsqrt


@dataclass(frozen=True)
class BatchNorm:
    """A batch normalization: tensors, None where it has none of them."""

    epsilon: Any
    gamma: Any
    mean: Any  # of the batch in training, else the moving one
    variance: Any
    moving_mean: Any = None
    moving_variance: Any = None
    mean_decay: Any = None  # 1 - decay, by which the moving mean is updated
    variance_decay: Any = None


@dataclass(frozen=True)
class Corrections:
    """Factors and a term of a folded layer, each [channels]."""

    scale: Any  # of the weights: batch's deviation by the moving one
    recip: Any  # of the output: 1 / scale, or 1 once statistics are frozen
    offset: Any  # of the output: zero until statistics are frozen


def corrections(norm: BatchNorm, context: str, freeze_delay: int | None) -> Corrections:
    """Makes the output that of the batch's statistics, until they are frozen.

    Weights are always multiplied by what the moving statistics say, which change
    slowly, and are rounded so; then the output is corrected.

    Args:
      norm: the batch normalization.
      context: the scope of the new operations.
      freeze_delay: the steps after which the moving statistics are used and no longer
        updated; None: never.
    """
    with get_default_graph().name_scope(f"{context}batch_norm_correction"):
        moving = rsqrt(norm.moving_variance + norm.epsilon)
        batch = rsqrt(norm.variance + norm.epsilon)
        scale = divide(moving, batch, name="scale_compute")
        scale = identity(scale, name="correction_scale")
        inverse = reciprocal(scale, name="reciprocal_compute")
        shift = norm.mean * batch - norm.moving_mean * moving
        shift = multiply(norm.gamma, shift, name="offset_compute")
        frozen: Any = False
        if freeze_delay is not None:
            frozen = greater_equal(
                quantization_step(), freeze_delay, name="use_moving_average"
            )
        _freeze(frozen, norm.mean_decay, "freeze_moving_mean")
        _freeze(frozen, norm.variance_decay, "freeze_moving_var")
        recip = smart_cond(
            frozen, lambda: ones(scale.shape), lambda: inverse, name="correction_recip"
        )
        offset = smart_cond(
            frozen, lambda: shift, lambda: zeros(shift.shape), name="correction_offset"
        )
    return Corrections(scale, recip, offset)


def _freeze(frozen: Any, decay: Tensor, name: str) -> None:
    """Makes an update by zero once statistics are frozen."""
    readers = list(decay.consumers())
    used = smart_cond(frozen, lambda: 0.0, lambda: decay, name=name)
    reroute_tensor(used, decay, can_modify=readers)


def per_filter(tensor: Any, weights: Tensor, name: str) -> Tensor:
    """A tensor [channels] in the shape of the last two axes of depthwise weights."""
    shape = weights.get_shape().as_list()
    return reshape(tensor, [shape[2], shape[3]], name=name)


def clone_layer(
    layer: Operation, inputs: Any, weights: Any, name: str, batch_to_space: Any = None
) -> Tensor:
    """The layer with other inputs and weights.

    Args:
      layer: a convolution, depthwise convolution or product.
      inputs, weights: the new ones.
      name: of the new operation.
      batch_to_space: what rearranges the output of a dilated depthwise convolution.

    Raises:
      ValueError: the layer is of another type.
    """
    if layer.type == "Conv2D":
        return conv2d(
            inputs,
            weights,
            strides=layer.get_attr("strides"),
            padding=layer.get_attr("padding"),
            use_cudnn_on_gpu=layer.get_attr("use_cudnn_on_gpu"),
            data_format=layer.get_attr("data_format").decode(),
            name=name,
        )
    if layer.type == "MatMul":
        return matmul(
            inputs,
            weights,
            transpose_a=layer.get_attr("transpose_a"),
            transpose_b=layer.get_attr("transpose_b"),
            name=name,
        )
    if layer.type != "DepthwiseConv2dNative":
        raise ValueError(f"Cannot handle operation of type: {layer.type}")
    # The dilation is in how the input was rearranged, which the clone reads, too.
    output = depthwise_conv2d(
        inputs,
        weights,
        strides=layer.get_attr("strides"),
        padding=layer.get_attr("padding"),
        name=name,
    )
    if batch_to_space is None:
        return output
    after = layer.outputs[0].consumers()[0]
    new_name = after.name.rpartition("/")[2] + "_Fold"
    return batch_to_space_nd(output, after.inputs[1], after.inputs[2], name=new_name)
