"""Densely connected layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape, as_shape
from tensorloom.keras import activations, regularizers
from tensorloom.keras.engine.base_layer import Layer
from tensorloom.keras.engine.input_spec import InputSpec
from tensorloom.keras.layers.weight_options import (
    add_weight,
    take_weight_options,
    weight_options,
)
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn import nn_ops
from tensorloom.ops.sparse.sparse_builders import sparse_tensor_dense_matmul

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor


@export("keras.layers.Dense")
class Dense(Layer):
    """activation(inputs * kernel + bias), over the last axis of the inputs.

    Args:
      units: size of the outputs' last axis.
      activation: a function, or its name; none by default.
      use_bias: whether there is a bias.
      kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
        kernel_constraint, bias_constraint: of the variables.
      activity_regularizer: of the outputs.
    """

    def __init__(
        self,
        units: int,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        if "input_shape" not in kwargs and "input_dim" in kwargs:
            kwargs["input_shape"] = (kwargs.pop("input_dim"),)
        super().__init__(
            activity_regularizer=regularizers.get(activity_regularizer), **kwargs
        )
        self.units = int(units)
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        take_weight_options(
            self, "kernel", kernel_initializer, kernel_regularizer, kernel_constraint
        )
        take_weight_options(
            self, "bias", bias_initializer, bias_regularizer, bias_constraint
        )
        self.supports_masking = True
        self.input_spec = InputSpec(min_ndim=2)

    def build(self, input_shape: Any) -> None:
        """Makes kernel [depth, units] and bias.

        Raises:
          TypeError: the layer's dtype is not floating.
          ValueError: the inputs' last dimension is unknown.
        """
        dtype = dtypes.as_dtype(self.dtype or dtypes.float32)
        if not (dtype.is_floating or dtype.is_complex):
            raise TypeError(
                f"Unable to build `Dense` layer {self.name!r} with non-floating point "
                f"dtype {dtype!r}"
            )
        depth = as_shape(input_shape).as_list()[-1]
        if depth is None:
            raise ValueError(
                "The last dimension of the inputs to `Dense` should be defined. Found "
                f"`None` (layer {self.name!r}, inputs of shape {input_shape})."
            )
        self.input_spec = InputSpec(min_ndim=2, axes={-1: depth})
        self.kernel = add_weight(self, "kernel", [depth, self.units])
        self.bias = add_weight(self, "bias", [self.units]) if self.use_bias else None
        self.built = True

    def call(self, inputs: Any) -> Tensor:  # type: ignore[override]
        """[..., depth] -> [..., units]."""
        if isinstance(inputs, SparseTensor):
            outputs = sparse_tensor_dense_matmul(inputs, self.kernel)
        else:
            outputs = self._product(convert_to_tensor(inputs))
        if self.use_bias:
            outputs = nn_ops.bias_add(outputs, self.bias)
        return self.activation(outputs)  # type: ignore[no-any-return]

    def _product(self, inputs: Tensor) -> Tensor:
        rank = inputs.shape.rank
        if rank is not None and rank > 2:
            product = math_ops.tensordot(inputs, self.kernel, [[rank - 1], [0]])
            product.set_shape([*inputs.shape.as_list()[:-1], self.units])
            return product
        if inputs.dtype.base_dtype.name != self.dtype:
            inputs = math_ops.cast(inputs, self.dtype)
        return apply_op("MatMul", a=inputs, b=self.kernel)  # type: ignore[no-any-return]

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """[..., depth] -> [..., units].

        Raises:
          ValueError: the last dimension is unknown.
        """
        shape = as_shape(input_shape).with_rank_at_least(2)
        if shape.as_list()[-1] is None:
            raise ValueError(
                "The innermost dimension of input_shape must be defined, but saw: "
                f"{shape}"
            )
        return as_shape([*shape.as_list()[:-1], self.units])

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal layer."""
        return {
            **super().get_config(),
            "units": self.units,
            "activation": activations.serialize(self.activation),
            "use_bias": self.use_bias,
            "activity_regularizer": regularizers.serialize(self.activity_regularizer),
            **weight_options(self, "kernel", "bias"),
        }
