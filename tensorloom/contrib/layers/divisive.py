"""Generalized divisive normalization (https://arxiv.org/abs/1511.06281)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import get_default_graph, name_scope
from tensorloom.framework.registry.gradient_registry import RegisterGradient
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.keras.engine.input_spec import InputSpec
from tensorloom.layers.base import Layer
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.constant import constant
from tensorloom.ops.array.fill import ones
from tensorloom.ops.array.reshape import expand_dims, reshape, squeeze
from tensorloom.ops.array.shape import shape as shape_of
from tensorloom.ops.convolution.atrous import convolution
from tensorloom.ops.linalg.builders import eye
from tensorloom.ops.math.binary import maximum
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.comparison import greater_equal, less, logical_or
from tensorloom.ops.math.elementwise import sqrt, square
from tensorloom.ops.nn.bias import bias_add

if TYPE_CHECKING:
    from tensorloom.framework.graph.operation import Operation

_AXES: Final = {"channels_first": 1, "channels_last": -1}


@RegisterGradient("GDNLowerBound")
def _lower_bound_gradient(op: Operation, grad: Any) -> list[Any]:
    """Passes where the input is above the bound, or where it would be raised."""
    values, bound = op.inputs
    passes = logical_or(greater_equal(values, bound), less(grad, 0))
    return [cast(passes, grad.dtype) * grad, None]


def _at_least(values: Any, bound: Any) -> Any:
    """The maximum of both, whose gradient lets values come back over the bound."""
    with name_scope(None, "GDNLowerBound", [values, bound]) as scope:
        values = convert_to_tensor(values, name="inputs")
        bound = convert_to_tensor(bound, name="bound")
        with get_default_graph().gradient_override_map({"Maximum": "GDNLowerBound"}):
            return maximum(values, bound, name=scope)


@export("contrib.layers.GDN")
class GDN(Layer):
    """x[i] / sqrt(beta[i] + sum over j of gamma[j, i] * x[j] ** 2), over channels.

    Args:
      inverse: whether to multiply by the root instead.
      beta_min: the least that beta can be.
      gamma_init: gamma begins as this number times the identity.
      reparam_offset: beta and gamma are squares of variables; this is added to both, so
        that zeros have gradients.
      data_format: "channels_last" or "channels_first".
      activity_regularizer: of the result.
      trainable: whether the variables are.
      name: of the variable scope.

    Raises:
      ValueError: another format.
    """

    def __init__(
        self,
        inverse: bool = False,
        beta_min: float = 1e-6,
        gamma_init: float = 0.1,
        reparam_offset: float = 2**-18,
        data_format: str = "channels_last",
        activity_regularizer: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            trainable=trainable,
            name=name,
            activity_regularizer=activity_regularizer,
            **kwargs,
        )
        self.inverse = inverse
        self._beta_min = beta_min
        self._gamma_init = gamma_init
        self._reparam_offset = reparam_offset
        self.data_format = data_format
        if data_format not in _AXES:
            raise ValueError(f"Unsupported `data_format` for GDN layer: {data_format}.")
        self.input_spec = InputSpec(min_ndim=3, max_ndim=5)

    def build(self, input_shape: Any) -> None:
        """Makes the variables. Raises ValueError if the channels are unknown."""
        axis = _AXES[self.data_format]
        input_shape = TensorShape(input_shape)
        channels = input_shape.as_list()[axis]
        if channels is None:
            raise ValueError(
                "The channel dimension of the inputs to `GDN` must be defined."
            )
        rank = input_shape.ndims
        self._input_rank = rank
        self.input_spec = InputSpec(ndim=rank, axes={axis: channels})
        offset = self._reparam_offset**2
        pedestal = constant(offset, dtype=self.dtype)
        beta_bound = constant((self._beta_min + offset) ** 0.5, dtype=self.dtype)
        gamma_bound = constant(self._reparam_offset, dtype=self.dtype)

        def ones_and_offset(
            shape: Any, dtype: Any = None, partition_info: Any = None
        ) -> Any:
            added = constant(offset, dtype=self.dtype)
            return sqrt(ones(shape, dtype=dtype) + added)

        def identity_and_offset(
            shape: Any, dtype: Any = None, partition_info: Any = None
        ) -> Any:
            identity = eye(shape[0], dtype=dtype)
            added = constant(offset, dtype=self.dtype)
            return sqrt(self._gamma_init * identity + added)

        beta = self.add_variable(
            "reparam_beta",
            shape=[channels],
            initializer=ones_and_offset,
            dtype=self.dtype,
            trainable=True,
        )
        self.beta = square(_at_least(beta, beta_bound)) - pedestal
        gamma = self.add_variable(
            "reparam_gamma",
            shape=[channels, channels],
            initializer=identity_and_offset,
            dtype=self.dtype,
            trainable=True,
        )
        self.gamma = square(_at_least(gamma, gamma_bound)) - pedestal
        self.built = True

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The normalized inputs, of the same shape."""
        inputs = convert_to_tensor(inputs, dtype=self.dtype)
        spatial = self._input_rank - 2
        gamma = reshape(self.gamma, spatial * [1] + self.gamma.get_shape().as_list())
        if self.data_format == "channels_last":
            pool = convolution(square(inputs), gamma, "VALID")
            pool = bias_add(pool, self.beta, data_format="NHWC")
        else:
            data_format = "NC" + "DHW"[-spatial:]
            pool = convolution(square(inputs), gamma, "VALID", data_format=data_format)
            pool = self._add_beta(pool)
        root = sqrt(pool)
        outputs = inputs * root if self.inverse else inputs / root
        outputs.set_shape(inputs.get_shape())
        return outputs

    def _add_beta(self, pool: Any) -> Any:
        """Adds beta to channels that come first, as images do."""
        if self._input_rank == 3:
            pool = bias_add(expand_dims(pool, 2), self.beta, data_format="NCHW")
            return squeeze(pool, [2])
        if self._input_rank == 4:
            return bias_add(pool, self.beta, data_format="NCHW")
        sizes = shape_of(pool)
        pool = reshape(pool, concat([sizes[:3], [-1]], 0))
        return reshape(bias_add(pool, self.beta, data_format="NCHW"), sizes)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The input's own. Raises ValueError if the channels are unknown."""
        shape = TensorShape(input_shape)
        if shape.ndims is None or not 3 <= shape.ndims <= 5:
            raise ValueError("`input_shape` must be of rank 3 to 5, inclusive.")
        if shape.as_list()[_AXES[self.data_format]] is None:
            raise ValueError("The channel dimension of `input_shape` must be defined.")
        return shape


@export("contrib.layers.gdn")
def gdn(
    inputs: Any,
    inverse: bool = False,
    beta_min: float = 1e-6,
    gamma_init: float = 0.1,
    reparam_offset: float = 2**-18,
    data_format: str = "channels_last",
    activity_regularizer: Any = None,
    trainable: bool = True,
    name: str | None = None,
    reuse: bool | None = None,
) -> Any:
    """`GDN` of inputs of rank 3 to 5.

    Args:
      inputs: a tensor, `[batch, ..., channels]` or as `data_format` says.
      reuse: whether the variables of another layer of that name are used.
      inverse, ...: as of `GDN`.
    """
    layer = GDN(
        inverse=inverse,
        beta_min=beta_min,
        gamma_init=gamma_init,
        reparam_offset=reparam_offset,
        data_format=data_format,
        activity_regularizer=activity_regularizer,
        trainable=trainable,
        name=name,
        dtype=inputs.dtype.base_dtype,
        _scope=name,
        _reuse=reuse,
    )
    return layer.apply(inputs)
