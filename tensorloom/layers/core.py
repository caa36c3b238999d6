"""`tf.layers`: densely connected layers, dropout, flattening."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.layers import lookup
from tensorloom.layers.base import Layer
from tensorloom.layers.input_spec import InputSpec
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn import nn_ops
from tensorloom.ops.nn.dropout import dropout as nn_dropout
from tensorloom.ops.state import initializers as init_ops

if TYPE_CHECKING:
    from tensorloom.framework.types.tensor_shape import TensorShape


@export("layers.Dense")
class Dense(Layer):
    """activation(inputs * kernel + bias), over the last axis of the inputs.

    Args:
      units: size of the outputs' last axis.
      activation: a function, or its name; none by default.
      use_bias: whether there is a bias.
      kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
        kernel_constraint, bias_constraint: of the variables.
      activity_regularizer: of the outputs.
      trainable, name: see `Layer`.
    """

    def __init__(
        self,
        units: int,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = None,
        bias_initializer: Any = init_ops.Zeros(),  # noqa: B008  (TensorFlow's default)
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            trainable=trainable,
            name=name,
            activity_regularizer=activity_regularizer,
            **kwargs,
        )
        self.units = int(units)
        self.activation = None if activation is None else lookup.activation(activation)
        self.use_bias = use_bias
        self.kernel_initializer = lookup.initializer(kernel_initializer)
        self.bias_initializer = lookup.initializer(bias_initializer)
        self.kernel_regularizer, self.bias_regularizer = (
            kernel_regularizer,
            bias_regularizer,
        )
        self.kernel_constraint, self.bias_constraint = (
            kernel_constraint,
            bias_constraint,
        )
        self.kernel: Any = None
        self.bias: Any = None
        self.input_spec = InputSpec(min_ndim=2)

    def build(self, input_shape: TensorShape) -> None:
        """Makes kernel [depth, units] and bias. Raises ValueError: unknown depth."""
        depth = input_shape.as_list()[-1]
        if depth is None:
            raise ValueError(
                "The last dimension of the inputs to `Dense` should be defined. Found "
                "`None`."
            )
        self.input_spec = InputSpec(min_ndim=2, axes={-1: depth})
        self.kernel = self.add_weight(
            "kernel",
            shape=[depth, self.units],
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
            trainable=True,
        )
        if self.use_bias:
            self.bias = self.add_weight(
                "bias",
                shape=[self.units],
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
                trainable=True,
            )
        self.built = True

    def call(self, inputs: Any) -> Tensor:  # type: ignore[override]
        """[..., depth] -> [..., units]."""
        inputs = convert_to_tensor(inputs)
        rank = inputs.shape.rank
        if rank is not None and rank > 2:
            outputs = math_ops.tensordot(inputs, self.kernel, [[rank - 1], [0]])
            outputs.set_shape([*inputs.shape.as_list()[:-1], self.units])
        else:
            outputs = math_ops.matmul(inputs, self.kernel)
        if self.use_bias:
            outputs = nn_ops.bias_add(outputs, self.bias)
        if self.activation is None:
            return outputs
        return self.activation(outputs)  # type: ignore[no-any-return]


@export("layers.dense")
def dense(
    inputs: Any,
    units: int,
    activation: Any = None,
    use_bias: bool = True,
    kernel_initializer: Any = None,
    bias_initializer: Any = init_ops.Zeros(),  # noqa: B008  (TensorFlow's default)
    kernel_regularizer: Any = None,
    bias_regularizer: Any = None,
    activity_regularizer: Any = None,
    kernel_constraint: Any = None,
    bias_constraint: Any = None,
    trainable: bool = True,
    name: str | None = None,
    reuse: Any = None,
) -> Tensor:
    """A `Dense` layer, called on inputs [..., depth]."""
    layer = Dense(
        units,
        activation,
        use_bias,
        kernel_initializer,
        bias_initializer,
        kernel_regularizer,
        bias_regularizer,
        activity_regularizer,
        kernel_constraint,
        bias_constraint,
        trainable,
        name,
        _scope=name,
        _reuse=reuse,
    )
    return layer.apply(inputs)  # type: ignore[no-any-return]


@export("layers.Dropout")
class Dropout(Layer):
    """Sets inputs to zero at random, in training alone.

    Args:
      rate: probability of a zero.
      noise_shape: broadcasts against the inputs; elements that share noise fall
        together.
      seed: of the noise.
      name: see `Layer`.
    """

    def __init__(
        self,
        rate: Any = 0.5,
        noise_shape: Any = None,
        seed: int | None = None,
        name: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, **kwargs)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed

    def call(self, inputs: Any, training: Any = False) -> Tensor:  # type: ignore[override]
        """The inputs, dropped where `training` (a bool or a bool tensor) is true."""

        def dropped() -> Tensor:
            return nn_dropout(
                inputs, noise_shape=self.noise_shape, seed=self.seed, rate=self.rate
            )

        def kept() -> Tensor:
            return array_ops.identity(inputs)

        known = training
        if isinstance(training, Tensor):
            known = constant_value(training)
        if known is None:
            return cond(training, dropped, kept)  # type: ignore[no-any-return]
        return dropped() if known else kept()


@export("layers.dropout")
def dropout(
    inputs: Any,
    rate: Any = 0.5,
    noise_shape: Any = None,
    seed: int | None = None,
    training: Any = False,
    name: str | None = None,
) -> Tensor:
    """A `Dropout` layer, called on inputs."""
    layer = Dropout(rate, noise_shape=noise_shape, seed=seed, name=name)
    return layer.apply(inputs, training=training)  # type: ignore[no-any-return]


@export("layers.Flatten")
class Flatten(Layer):
    """[batch, ...] -> [batch, product of the others].

    Args:
      data_format: "channels_last", or "channels_first" to put channels last first.
    """

    def __init__(self, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = (data_format or "channels_last").lower()
        if self.data_format not in ("channels_first", "channels_last"):
            raise ValueError(
                'The `data_format` argument must be one of "channels_first", '
                f'"channels_last". Received: {data_format}'
            )
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs: Any) -> Tensor:  # type: ignore[override]
        """Each element of the batch as one vector."""
        rank = inputs.shape.rank
        if self.data_format == "channels_first" and rank is not None and rank > 1:
            order = [0, *range(2, rank), 1]
            inputs = array_ops.transpose(inputs, perm=order)
        sizes = inputs.shape.as_list() if rank is not None else [None]
        rest = None if None in sizes[1:] or rank is None else math.prod(sizes[1:])
        if sizes[0] is not None and rest is not None:
            return array_ops.reshape(inputs, [sizes[0], rest])
        batch = math_ops.cast(array_ops.shape(inputs)[0], dtypes.int32)
        outputs = array_ops.reshape(inputs, (batch, -1))
        outputs.set_shape([sizes[0], rest])
        return outputs


@export("layers.flatten")
def flatten(
    inputs: Any, name: str | None = None, data_format: str = "channels_last"
) -> Tensor:
    """A `Flatten` layer, called on inputs."""
    return Flatten(name=name, data_format=data_format).apply(inputs)  # type: ignore[no-any-return]
