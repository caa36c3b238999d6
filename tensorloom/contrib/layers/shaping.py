"""Layers without weights, or with biases alone: shapes, dropout, one-hot, stacks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.client.program.arg_scope import add_arg_scope
from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.framework.model_variables import (
    model_variable,
    model_variable_getter,
)
from tensorloom.contrib.layers.collections import (
    collect_named_outputs,
    get_variable_collections,
)
from tensorloom.contrib.layers.layer_ends import check_format
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import control_dependencies, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.layers.core import Dropout
from tensorloom.layers.core import flatten as flatten_images
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.constant import constant
from tensorloom.ops.array.permute import transpose
from tensorloom.ops.array.reshape import reshape
from tensorloom.ops.array.shape import shape
from tensorloom.ops.debugging.check_rank import assert_rank_at_least
from tensorloom.ops.indexing.gather import gather_nd
from tensorloom.ops.indexing.one_hot import one_hot
from tensorloom.ops.indexing.selection import where
from tensorloom.ops.indexing.slice import strided_slice
from tensorloom.ops.math.binary import minimum, multiply
from tensorloom.ops.math.cast import to_int64
from tensorloom.ops.math.comparison import not_equal
from tensorloom.ops.math.elementwise import rsqrt, square
from tensorloom.ops.nn.bias import bias_add as add_biases
from tensorloom.ops.nn.softmax import softmax as softmax_op
from tensorloom.ops.reductions.reductions import reduce_max, reduce_prod, reduce_sum
from tensorloom.ops.sparse.shape_builders import sparse_reshape
from tensorloom.ops.state.initializers import Zeros

_IMAGES = ("NCHW", "NHWC")
_getter = model_variable_getter()


@export("contrib.layers.bias_add")
@add_arg_scope
def bias_add(
    inputs: Any,
    activation_fn: Callable[[Any], Any] | None = None,
    initializer: Any = Zeros(),  # noqa: B008 - as TensorFlow's default
    regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
    scope: Any = None,
) -> Any:
    """Adds `biases`, one for each channel.

    Args:
      inputs: of rank 2 or more; of 4 for "NCHW".
      activation_fn, ...: as of `fully_connected`.

    Raises:
      ValueError: the format, the rank or the number of channels is impossible.
    """
    check_format(data_format, _IMAGES)
    with variable_scope(scope, "BiasAdd", [inputs], reuse=reuse) as sc:
        inputs = convert_to_tensor(inputs)
        sizes = inputs.get_shape()
        if sizes.ndims is None:
            raise ValueError("Dims of shape must be known but is None")
        if sizes.ndims != 4 and data_format == "NCHW":
            raise ValueError("Data format NCHW only supports 4D Tensor")
        channels = sizes.dims[1 if data_format == "NCHW" else -1].value
        if channels is None:
            raise ValueError("`C` dimension must be known but is None")
        biases = model_variable(
            "biases",
            shape=[channels],
            dtype=inputs.dtype.base_dtype,
            initializer=initializer,
            regularizer=regularizer,
            collections=get_variable_collections(variables_collections, "biases"),
            trainable=trainable,
        )
        outputs = add_biases(inputs, biases, data_format=data_format)
        if activation_fn is not None:
            outputs = activation_fn(outputs)
        return collect_named_outputs(outputs_collections, sc.name, outputs)


@export("contrib.layers.dropout")
@add_arg_scope
def dropout(
    inputs: Any,
    keep_prob: Any = 0.5,
    noise_shape: Any = None,
    is_training: Any = True,
    outputs_collections: Any = None,
    scope: Any = None,
    seed: int | None = None,
) -> Any:
    """In training keeps each value with a probability, and divides it by that.

    Args:
      inputs: a tensor.
      keep_prob: a number or a scalar tensor.
      noise_shape: of the decisions; that of the inputs when None.
      is_training: a bool or a bool tensor.
      outputs_collections: of the result.
      scope: a name or a variable scope.
      seed: of the decisions.
    """
    with variable_scope(scope, "Dropout", [inputs], custom_getter=_getter) as sc:
        layer = Dropout(
            rate=1 - keep_prob,
            noise_shape=noise_shape,
            seed=seed,
            name=sc.name,
            _scope=sc,
        )
        outputs = layer.apply(convert_to_tensor(inputs), training=is_training)
        return collect_named_outputs(outputs_collections, sc.name, outputs)


@export("contrib.layers.flatten")
@add_arg_scope
def flatten(
    inputs: Any, outputs_collections: Any = None, scope: str | None = None
) -> Any:
    """Inputs `[batch, ...]` as `[batch, all the rest]`."""
    with name_scope(scope, "Flatten", [inputs]) as sc:
        outputs = flatten_images(convert_to_tensor(inputs))
        return collect_named_outputs(outputs_collections, sc, outputs)


@export("contrib.layers.one_hot_encoding")
@add_arg_scope
def one_hot_encoding(
    labels: Any,
    num_classes: Any,
    on_value: Any = 1.0,
    off_value: Any = 0.0,
    outputs_collections: Any = None,
    scope: str | None = None,
) -> Any:
    """Each label as a row that is `on_value` at the label, else `off_value`."""
    with name_scope(scope, "OneHotEncoding", [labels, num_classes]) as sc:
        labels = convert_to_tensor(labels)
        if labels.dtype == dtypes.int32:
            labels = to_int64(labels)
        outputs = one_hot(labels, num_classes, on_value=on_value, off_value=off_value)
        return collect_named_outputs(outputs_collections, sc, outputs)


@export("contrib.layers.dense_to_sparse")
@add_arg_scope
def dense_to_sparse(
    tensor: Any,
    eos_token: Any = 0,
    outputs_collections: Any = None,
    scope: Any = None,
) -> Any:
    """A sparse tensor of all that is not `eos_token`."""
    with variable_scope(scope, "dense_to_sparse", [tensor]) as sc:
        tensor = convert_to_tensor(tensor)
        indices = where(not_equal(tensor, constant(eos_token, tensor.dtype)))
        outputs = SparseTensor(
            indices, gather_nd(tensor, indices), shape(tensor, out_type=dtypes.int64)
        )
        return collect_named_outputs(outputs_collections, sc.name, outputs)


@export("contrib.layers.softmax")
@add_arg_scope
def softmax(logits: Any, scope: Any = None) -> Any:
    """Probabilities over the last axis, whose size is known; of rank 2 or more.

    Raises:
      ValueError: the rank is below 2, or the size unknown.
    """
    with variable_scope(scope, "softmax", [logits]):
        sizes = logits.get_shape()
        if sizes.ndims is None or sizes.ndims < 2:
            raise ValueError(f"rank of shape must be at least 2 not: {sizes.ndims}")
        classes = sizes.dims[-1].value
        if classes is None:
            raise ValueError("last dimension shape must be known but is None")
        rows = softmax_op(reshape(logits, [-1, classes]))
        predictions = reshape(rows, shape(logits))
        predictions.set_shape(sizes)
        return predictions


@export("contrib.layers.maxout")
@add_arg_scope
def maxout(inputs: Any, num_units: int, axis: int = -1, scope: Any = None) -> Any:
    """Maxima of groups along an axis, `num_units` of them.

    Goodfellow et al., "Maxout networks", 2013.

    Raises:
      ValueError: the axis cannot be divided into so many groups.
    """
    with variable_scope(scope, "MaxOut", [inputs]):
        inputs = convert_to_tensor(inputs)
        sizes = inputs.get_shape().as_list()
        channels = sizes[axis]
        if channels % num_units:
            raise ValueError(
                f"number of features({channels}) is not a multiple of "
                f"num_units({num_units})"
            )
        sizes[axis] = num_units
        sizes.append(channels // num_units)
        known = [
            shape(inputs)[index] if size is None else size
            for index, size in enumerate(sizes)
        ]
        return reduce_max(reshape(inputs, known), -1, keepdims=False)


@export("contrib.layers.images_to_sequence")
@add_arg_scope
def images_to_sequence(
    inputs: Any,
    data_format: str = "NHWC",
    outputs_collections: Any = None,
    scope: str | None = None,
) -> Any:
    """Images as sequences of their columns: `[width, batch * height, depth]`.

    Raises:
      ValueError: the format is unknown.
    """
    check_format(data_format, _IMAGES)
    with name_scope(scope, "ImagesToSequence", [inputs]) as sc:
        inputs = convert_to_tensor(inputs)
        if data_format == "NCHW":
            inputs = transpose(inputs, [0, 2, 3, 1])
        _, _, width, depth = inputs.get_shape().as_list()
        sizes = shape(inputs)
        batch, height = sizes[0], sizes[1]
        columns = transpose(inputs, [2, 0, 1, 3])
        outputs = reshape(columns, [width, batch * height, depth])
        return collect_named_outputs(outputs_collections, sc, outputs)


@export("contrib.layers.sequence_to_images")
@add_arg_scope
def sequence_to_images(
    inputs: Any,
    height: int,
    output_data_format: str = "channels_last",
    outputs_collections: Any = None,
    scope: str | None = None,
) -> Any:
    """What `images_to_sequence` made of images, as images again."""
    with name_scope(scope, "SequenceToImages", [inputs]) as sc:
        inputs = convert_to_tensor(inputs)
        width, rows, depth = inputs.get_shape().as_list()
        batch = -1 if rows is None else rows // height
        columns = reshape(inputs, [width, batch, height, depth])
        is_first = output_data_format == "channels_first"
        outputs = transpose(columns, [1, 3, 2, 0] if is_first else [1, 2, 0, 3])
        return collect_named_outputs(outputs_collections, sc, outputs)


def _scope_of(layer: Any, default: str) -> str:
    """The name of a layer function; of what a `functools.partial` calls."""
    function = layer if hasattr(layer, "__name__") else getattr(layer, "func", None)
    return str(getattr(function, "__name__", default))


@export("contrib.layers.repeat")
@add_arg_scope
def repeat(
    inputs: Any, repetitions: int, layer: Callable[..., Any], *args: Any, **kwargs: Any
) -> Any:
    """A layer again and again, in scopes `name_1`, `name_2`, ...

    Args:
      inputs: of the first one.
      repetitions: how many.
      layer: a layer function.
      args, kwargs: its further arguments; `scope` names them.
    """
    scope = kwargs.pop("scope", None)
    with variable_scope(scope, "Repeat", [inputs]):
        outputs = convert_to_tensor(inputs)
        name = _scope_of(layer, "repeat") if scope is None else scope
        for number in range(1, repetitions + 1):
            outputs = layer(outputs, *args, **kwargs, scope=f"{name}_{number}")
        return outputs


@export("contrib.layers.stack")
@add_arg_scope
def stack(
    inputs: Any, layer: Callable[..., Any], stack_args: Sequence[Any], **kwargs: Any
) -> Any:
    """Layers of different arguments, in scopes `name_1`, `name_2`, ...

    Args:
      inputs: of the first one.
      layer: a layer function.
      stack_args: of each layer its arguments after the inputs: one, or a list.
      kwargs: keyword arguments of all; `scope` names them.

    Raises:
      ValueError: `stack_args` is no list.
    """
    scope = kwargs.pop("scope", None)
    if not isinstance(stack_args, list | tuple):
        raise ValueError("stack_args need to be a list or tuple")
    with variable_scope(scope, "Stack", [inputs]):
        outputs = convert_to_tensor(inputs)
        name = _scope_of(layer, "stack") if scope is None else scope
        for number, given in enumerate(stack_args, 1):
            own = given if isinstance(given, list | tuple) else [given]
            outputs = layer(outputs, *own, **kwargs, scope=f"{name}_{number}")
        return outputs


def poincare_normalize(
    x: Any, axis: Any = 1, epsilon: float = 1e-5, name: str | None = None
) -> Any:
    """Vectors scaled into the Poincare ball, where their norm is above 1 - epsilon.

    Args:
      x: of any shape.
      axis: of the vectors; an integer, or several.
      epsilon: how far from the edge of the ball they stay.
      name: of the operations.
    """
    with name_scope(name, "poincare_normalize", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        inverse = rsqrt(reduce_sum(square(x), axis, keepdims=True))
        return multiply(x, minimum((1.0 - epsilon) * inverse, 1.0), name=scope)


@add_arg_scope
def inner_flatten(
    inputs: Any,
    new_rank: int,
    output_collections: Any = None,
    scope: str | None = None,
) -> Any:
    """A tensor, sparse or dense, of a lower rank: its last axes made one.

    Raises:
      ValueError: its rank is below `new_rank` already.
    """
    with name_scope(scope, "InnerFlatten", [inputs, new_rank]) as sc:
        if isinstance(inputs, SparseTensor):
            flat = _sparse_inner_flatten(inputs, new_rank)
        else:
            flat = _dense_inner_flatten(convert_to_tensor(inputs), new_rank)
        return collect_named_outputs(output_collections, sc, flat)


def _sparse_inner_flatten(inputs: SparseTensor, new_rank: int) -> Any:
    rank = inputs.dense_shape.get_shape().as_list()[0]
    if rank is not None and rank < new_rank:
        raise ValueError(
            f"Inputs has rank less than new_rank. {inputs} must have rank at least "
            f"{new_rank}. Received rank {rank}, shape {inputs.get_shape()}"
        )
    outer, inner = (
        inputs.dense_shape[: new_rank - 1],
        inputs.dense_shape[new_rank - 1 :],
    )
    return sparse_reshape(inputs, concat((outer, [reduce_prod(inner)]), 0))


def _dense_inner_flatten(inputs: Any, new_rank: int) -> Any:
    check = assert_rank_at_least(
        inputs, new_rank, message="inputs has rank less than new_rank"
    )
    with control_dependencies([check]):
        outer = strided_slice(shape(inputs), [0], [new_rank - 1])
        flat = reshape(inputs, concat((outer, [-1]), 0))
    known = inputs.get_shape()
    if isinstance(new_rank, int) and known.ndims is not None:
        inner = known.as_list()[new_rank - 1 :]
        size = None if None in inner else math.prod(inner)
        flat.set_shape([*known.as_list()[: new_rank - 1], size])
    return flat
