"""Normalizations within each example: of layers, instances, groups, unit length."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tensorloom.client.program.arg_scope import add_arg_scope
from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.framework.model_variables import model_variable
from tensorloom.contrib.layers.collections import (
    collect_named_outputs,
    get_variable_collections,
)
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.fill import ones
from tensorloom.ops.array.pad import tile
from tensorloom.ops.array.reshape import reshape
from tensorloom.ops.array.shape import shape
from tensorloom.ops.math.binary import div
from tensorloom.ops.math.elementwise import rsqrt, sqrt, square
from tensorloom.ops.nn.norm import (
    batch_normalization,
    moments,
    normalize_moments,
    sufficient_statistics,
)
from tensorloom.ops.reductions.reductions import reduce_sum
from tensorloom.ops.state.initializers import Ones, Zeros


def _parameter(
    name: str,
    sizes: Any,
    dtype: Any,
    initializers: Mapping[str, Any] | None,
    variables_collections: Any,
    trainable: bool,
) -> Any:
    """`beta`, 0 at first, or `gamma`, 1."""
    start = Zeros() if name == "beta" else Ones()
    return model_variable(
        name,
        shape=sizes,
        dtype=dtype,
        initializer=(initializers or {}).get(name, start),
        collections=get_variable_collections(variables_collections, name),
        trainable=trainable,
    )


@export("contrib.layers.layer_norm")
@add_arg_scope
def layer_norm(
    inputs: Any,
    center: bool = True,
    scale: bool = True,
    activation_fn: Callable[[Any], Any] | None = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    begin_norm_axis: int = 1,
    begin_params_axis: int = -1,
    scope: Any = None,
) -> Any:
    """Each example with mean 0 and variance 1 over all axes from one on.

    Ba, Kiros, Hinton, "Layer normalization", 2016.

    Args:
      inputs: a tensor whose rank and last sizes are known.
      center, scale: whether `beta` is added, and whether `gamma` multiplies.
      begin_norm_axis: the first axis of the moments.
      begin_params_axis: the first axis of `beta` and `gamma`.
      activation_fn, ...: as of `fully_connected`.

    Raises:
      ValueError: the rank or a size is unknown, or an axis is not there.
    """
    with variable_scope(scope, "LayerNorm", [inputs], reuse=reuse) as sc:
        inputs = convert_to_tensor(inputs)
        input_shape = inputs.shape
        rank = input_shape.ndims
        if rank is None:
            raise ValueError(f"Inputs {inputs.name} has undefined rank.")
        dtype = inputs.dtype.base_dtype
        if begin_norm_axis < 0:
            begin_norm_axis += rank
        if begin_params_axis >= rank or begin_norm_axis >= rank:
            raise ValueError(
                f"begin_params_axis ({begin_params_axis}) and begin_norm_axis "
                f"({begin_norm_axis}) must be < rank(inputs) ({rank})"
            )
        sizes = input_shape[begin_params_axis:]
        if not sizes.is_fully_defined():
            raise ValueError(
                f"Inputs {inputs.name}: shape(inputs)[{begin_params_axis}:] is not "
                f"fully defined: {input_shape}"
            )
        own = (None, variables_collections, trainable)
        beta = _parameter("beta", sizes, dtype, *own) if center else None
        gamma = _parameter("gamma", sizes, dtype, *own) if scale else None
        axes = list(range(begin_norm_axis, rank))
        mean, variance = moments(inputs, axes, keep_dims=True)
        # A float16 cannot tell less from zero.
        epsilon = 1e-12 if dtype != dtypes.float16 else 1e-3
        outputs = batch_normalization(
            inputs,
            mean,
            variance,
            offset=beta,
            scale=gamma,
            variance_epsilon=epsilon,
        )
        outputs.set_shape(input_shape)
        if activation_fn is not None:
            outputs = activation_fn(outputs)
        return collect_named_outputs(outputs_collections, sc.name, outputs)


@export("contrib.layers.instance_norm")
@add_arg_scope
def instance_norm(
    inputs: Any,
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Callable[[Any], Any] | None = None,
    param_initializers: Mapping[str, Any] | None = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
    scope: Any = None,
) -> Any:
    """Each channel of each example with mean 0 and variance 1.

    Ulyanov, Vedaldi, Lempitsky, "Instance normalization", 2016.

    Args:
      inputs: `[batch, ..., channels]`, or channels second for "NCHW".
      center, scale, epsilon, ...: as of `batch_norm`.

    Raises:
      ValueError: the rank, the format or the number of channels is impossible.
    """
    inputs = convert_to_tensor(inputs)
    input_shape = inputs.shape
    rank = input_shape.ndims
    if rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError("data_format has to be either NCHW or NHWC.")
    with variable_scope(scope, "InstanceNorm", [inputs], reuse=reuse) as sc:
        axis = 1 if data_format == "NCHW" else rank - 1
        sizes = input_shape[axis : axis + 1]
        if not sizes.is_fully_defined():
            raise ValueError(
                f"Inputs {inputs.name} has undefined channels dimension {sizes}."
            )
        own = (
            inputs.dtype.base_dtype,
            param_initializers,
            variables_collections,
            trainable,
        )
        beta = _parameter("beta", sizes, *own) if center else None
        gamma = _parameter("gamma", sizes, *own) if scale else None
        if data_format == "NCHW":
            spread = [1, sizes[0].value] + [1] * (rank - 2)
            beta = beta if beta is None else reshape(beta, spread)
            gamma = gamma if gamma is None else reshape(gamma, spread)
        axes = [each for each in range(1, rank) if each != axis]
        mean, variance = moments(inputs, axes, keep_dims=True)
        outputs = batch_normalization(
            inputs, mean, variance, beta, gamma, epsilon, name="instancenorm"
        )
        if activation_fn is not None:
            outputs = activation_fn(outputs)
        return collect_named_outputs(outputs_collections, sc.name, outputs)


@export("contrib.layers.group_norm")
@add_arg_scope
def group_norm(
    inputs: Any,
    groups: int = 32,
    channels_axis: int = -1,
    reduction_axes: Sequence[int] = (-3, -2),
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Callable[[Any], Any] | None = None,
    param_initializers: Mapping[str, Any] | None = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
    mean_close_to_zero: bool = False,
) -> Any:
    """Each group of channels of each example with mean 0 and variance 1.

    Wu and He, "Group normalization", 2018.

    Args:
      inputs: a tensor whose channels and reduced axes have known sizes.
      groups: into how many parts the channels are divided.
      channels_axis: where the channels are.
      reduction_axes: the other axes of the moments.
      mean_close_to_zero: whether moments are computed in one pass, which is exact
        enough where means are small.
      center, scale, epsilon, ...: as of `batch_norm`.

    Raises:
      ValueError: sizes are unknown, axes not there, or the groups not of equal size.
    """
    inputs = convert_to_tensor(inputs)
    axis, axes = _group_axes(inputs, groups, channels_axis, reduction_axes)
    channels = inputs.shape[axis].value
    given = shape(inputs)
    sizes = [
        given[i] if size.value is None else size for i, size in enumerate(inputs.shape)
    ]
    before, after = sizes[:axis], sizes[axis + 1 :]
    parts = [groups, channels // groups]
    spread = [1] * len(before) + parts + [1] * len(after)
    inputs = reshape(inputs, before + parts + after)
    moments_axes = [axis + 1, *(a + 1 if a > axis else a for a in axes)]
    with variable_scope(scope, "GroupNorm", [inputs], reuse=reuse) as sc:
        own = (
            inputs.dtype.base_dtype,
            param_initializers,
            variables_collections,
            trainable,
        )
        beta = reshape(_parameter("beta", [channels], *own), spread) if center else None
        gamma = (
            reshape(_parameter("gamma", [channels], *own), spread) if scale else None
        )
        if mean_close_to_zero:
            counts, sums, squares, _ = sufficient_statistics(
                inputs, moments_axes, keep_dims=True
            )
            mean, variance = normalize_moments(counts, sums, squares, shift=None)
        else:
            mean, variance = moments(inputs, moments_axes, keep_dims=True)
        gain = rsqrt(variance + epsilon)
        offset = -mean * gain
        if gamma is not None:
            gain *= gamma
            offset *= gamma
        if beta is not None:
            offset += beta
        outputs = reshape(inputs * gain + offset, sizes)
        if activation_fn is not None:
            outputs = activation_fn(outputs)
        return collect_named_outputs(outputs_collections, sc.name, outputs)


def _group_axes(
    inputs: Any, groups: int, channels_axis: int, reduction_axes: Sequence[int]
) -> tuple[int, list[int]]:
    """The axes counted from the first one, checked."""
    rank = inputs.shape.ndims
    if rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    if channels_axis > rank - 1:
        raise ValueError("Axis is out of bounds.")
    axis = channels_axis % rank
    channels = inputs.shape[axis].value
    if channels is None:
        raise ValueError(
            f"Inputs {inputs.name} has undefined channel dimension: {axis}."
        )
    axes = [each + rank if each < 0 else each for each in reduction_axes]
    for each in axes:
        if each >= rank:
            raise ValueError("Axis is out of bounds.")
        if inputs.shape[each].value is None:
            raise ValueError(f"Inputs {inputs.name} has undefined dimensions {each}.")
        if each == axis:
            raise ValueError(
                "reduction_axis must be mutually exclusive with channels_axis"
            )
    if groups > channels:
        raise ValueError(f"Invalid groups {groups} for {channels} channels.")
    if channels % groups != 0:
        raise ValueError(
            f"{channels} channels is not commensurate with {groups} groups."
        )
    return axis, axes


@export("contrib.layers.unit_norm")
@add_arg_scope
def unit_norm(inputs: Any, dim: int, epsilon: float = 1e-7, scope: Any = None) -> Any:
    """Inputs over their length along an axis.

    Args:
      inputs: a tensor of known rank.
      dim: the axis.
      epsilon: is added to the squared length.
      scope: a name or a variable scope.

    Raises:
      ValueError: the axis is not there.
    """
    with variable_scope(scope, "UnitNorm", [inputs]):
        if not inputs.get_shape():
            raise ValueError("The input rank must be known.")
        rank = len(inputs.get_shape().dims)
        if dim < 0 or dim >= rank:
            raise ValueError("dim must be positive but smaller than the input rank.")
        lengths = sqrt(epsilon + reduce_sum(square(inputs), dim, keepdims=True))
        multiples = []
        if dim > 0:
            multiples.append(ones([dim], dtypes.int32))
        multiples.append(shape(inputs)[dim : dim + 1])
        if dim < rank - 1:
            multiples.append(ones([rank - 1 - dim], dtypes.int32))
        return div(inputs, tile(lengths, concat(multiples, 0)))
