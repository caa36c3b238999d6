"""Flows: bijectors whose shifts and scales are functions of some of the numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tensorloom.client.control_flow.while_loop import while_loop
from tensorloom.client.variables import variable_scope
from tensorloom.client.variables.template import make_template
from tensorloom.distributions.bijector import Bijector
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.layers.core import Dense, dense
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.math.clip import clip_by_value
from tensorloom.ops.nn import nn_ops
from tensorloom.ops.state.initializers import glorot_normal_initializer


def _depth(x: Tensor) -> int:
    """The last size. Raises NotImplementedError where it is not known."""
    size = x.shape.with_rank_at_least(1).as_list()[-1]
    if size is None:
        raise NotImplementedError(
            "Rightmost dimension must be known prior to graph execution."
        )
    return size


def _scaled(x: Tensor, shift: Any, log_scale: Any) -> Tensor:
    if log_scale is not None:
        x *= math_ops.exp(log_scale)
    return x if shift is None else x + shift


def _unscaled(y: Tensor, shift: Any, log_scale: Any) -> Tensor:
    if shift is not None:
        y -= shift
    return y if log_scale is None else y * math_ops.exp(-log_scale)


@export("contrib.distributions.bijectors.RealNVP")
class RealNVP(Bijector):
    """Shifts and scales some numbers by functions of the others (Dinh et al., 2016).

    Args:
      num_masked: how many of the first numbers stay as they are.
      shift_and_log_scale_fn: a function of those and of the count of the others; it
        gives a shift and the logarithm of a scale, or None for one.
      is_constant_jacobian: whether there is no scale.
      validate_args: whether steps check arguments.
      name: of its operations.

    Raises:
      ValueError: no number would stay, or all.
    """

    def __init__(
        self,
        num_masked: int,
        shift_and_log_scale_fn: Callable[..., Any],
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        if num_masked <= 0:
            raise ValueError("num_masked must be a positive integer.")
        self._num_masked = num_masked
        self._shift_and_log_scale_fn = shift_and_log_scale_fn
        super().__init__(
            forward_min_event_ndims=1,
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            name=name or "real_nvp",
        )

    def _parts(self, x: Tensor) -> tuple[Tensor, Tensor, Any, Any]:
        """What stays, what changes, and the shift and log scale of that."""
        others = _depth(x) - self._num_masked
        if others <= 0:
            raise ValueError(
                "Number of masked units must be smaller than the event size."
            )
        kept, changed = x[:, : self._num_masked], x[:, self._num_masked :]
        shift, log_scale = self._shift_and_log_scale_fn(kept, others)
        return kept, changed, shift, log_scale

    def _forward(self, x: Tensor) -> Any:
        kept, changed, shift, log_scale = self._parts(x)
        return array_ops.concat([kept, _scaled(changed, shift, log_scale)], axis=-1)

    def _inverse(self, y: Tensor) -> Any:
        kept, changed, shift, log_scale = self._parts(y)
        return array_ops.concat([kept, _unscaled(changed, shift, log_scale)], axis=-1)

    def _inverse_log_det_jacobian(self, y: Tensor) -> Any:
        return -self._log_det(y)

    def _forward_log_det_jacobian(self, x: Tensor) -> Any:
        return self._log_det(x)

    def _log_det(self, at: Tensor) -> Any:
        log_scale = self._parts(at)[-1]
        if log_scale is None:
            return convert_to_tensor(0.0, dtype=at.dtype)
        return math_ops.reduce_sum(log_scale, axis=-1)


@export("contrib.distributions.bijectors.real_nvp_default_template")
def real_nvp_default_template(
    hidden_layers: Sequence[int],
    shift_only: bool = False,
    activation: Any = nn_ops.relu,
    name: str | None = None,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """A function for `RealNVP`: dense layers, whose variables its calls share.

    Args:
      hidden_layers: the sizes of the hidden layers.
      shift_only: whether there is no scale.
      activation: of the hidden layers.
      name: of the scope.
      *args, **kwargs: of `tf.layers.dense`.
    """
    with name_scope(name, "real_nvp_default_template"):
        layer: Any = dense

        def function(x: Tensor, output_units: int) -> Any:
            for units in hidden_layers:
                x = layer(*args, inputs=x, units=units, activation=activation, **kwargs)
            units = (1 if shift_only else 2) * output_units
            x = layer(*args, inputs=x, units=units, activation=None, **kwargs)
            if shift_only:
                return x, None
            shift, log_scale = array_ops.split(x, 2, axis=-1)
            return shift, log_scale

        return make_template("real_nvp_default_template", function)


@export("contrib.distributions.bijectors.MaskedAutoregressiveFlow")
class MaskedAutoregressiveFlow(Bijector):
    """Shifts and scales each number by functions of those before it.

    `inverse` needs one call of the function, `forward` as many as there are numbers
    (Papamakarios et al., 2017).

    Args:
      shift_and_log_scale_fn: a function of vectors whose results depend, for each
        number, on those before it; it gives a shift and the logarithm of a scale, or
        None for one.
      is_constant_jacobian: whether there is no scale.
      validate_args: whether steps check arguments.
      unroll_loop: whether `forward` is built without a loop.
      name: of its operations.
    """

    def __init__(
        self,
        shift_and_log_scale_fn: Callable[..., Any],
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        unroll_loop: bool = False,
        name: str | None = None,
    ) -> None:
        self._shift_and_log_scale_fn = shift_and_log_scale_fn
        self._unroll_loop = unroll_loop
        super().__init__(
            forward_min_event_ndims=1,
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            name=name or "masked_autoregressive_flow",
        )

    def _forward(self, x: Tensor) -> Any:
        size = x.shape.with_rank_at_least(1).as_list()[-1]
        y = array_ops.zeros_like(x, name="y0")
        if self._unroll_loop:
            if size is None:
                raise ValueError(
                    "The final dimension of `x` must be known at graph construction "
                    f"time if `unroll_loop=True`. `x.shape: {x.shape!r}`"
                )
            for _ in range(size):
                y = _scaled(x, *self._shift_and_log_scale_fn(y))
            return y
        # The function's variables are to be made outside of the loop.
        self._shift_and_log_scale_fn(y)
        count = array_ops.shape(x)[-1]

        def body(index: Any, y: Tensor) -> Any:
            with variable_scope.variable_scope(variable_scope.get_variable_scope()):
                shift, log_scale = self._shift_and_log_scale_fn(y)
            return index + 1, _scaled(x, shift, log_scale)

        return while_loop(
            lambda index, _: index < count, body, (0, y), maximum_iterations=size
        )[1]

    def _inverse(self, y: Tensor) -> Any:
        return _unscaled(y, *self._shift_and_log_scale_fn(y))

    def _inverse_log_det_jacobian(self, y: Tensor) -> Any:
        _, log_scale = self._shift_and_log_scale_fn(y)
        if log_scale is None:
            return convert_to_tensor(0.0, dtype=y.dtype)
        return -math_ops.reduce_sum(log_scale, axis=-1)


def gen_mask(
    num_blocks: int,
    n_in: int,
    n_out: int,
    mask_type: str = "exclusive",
    dtype: Any = dtypes.float32,
) -> np.ndarray:
    """Which inputs each output may see: a matrix [outputs, inputs] of ones and zeros.

    Both are in as many blocks; an output sees the blocks before its own, and its own
    unless that is excluded.
    """
    of_input = np.minimum(np.arange(n_in) // (n_in // num_blocks), num_blocks)
    of_output = np.minimum(np.arange(n_out) // (n_out // num_blocks), num_blocks)
    first = of_input + (1 if mask_type == "exclusive" else 0)
    seen = of_output[:, None] >= first
    return seen.astype(dtype.as_numpy_dtype)


@export("contrib.distributions.bijectors.masked_dense")
def masked_dense(
    inputs: Any,
    units: int,
    num_blocks: int | None = None,
    exclusive: bool = False,
    kernel_initializer: Any = None,
    reuse: bool | None = None,
    name: str | None = None,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """A dense layer in which outputs depend on the inputs before them alone.

    Args:
      inputs: [batch, depth].
      units: the count of outputs.
      num_blocks: into how many blocks inputs and outputs are cut.
      exclusive: whether an output sees none of its own block.
      kernel_initializer: before masking; Glorot's normal one if None.
      reuse: whether to use variables that there are.
      name: of the layer.
      *args, **kwargs: of `tf.layers.Dense`.

    Raises:
      NotImplementedError: the depth is not known.
    """
    mask_type = "exclusive" if exclusive else "inclusive"
    mask = gen_mask(num_blocks or 1, _depth(inputs), units, mask_type).T
    initializer = kernel_initializer or glorot_normal_initializer()

    def masked_initializer(
        shape: Any, dtype: Any = None, partition_info: Any = None
    ) -> Any:
        return mask * initializer(shape, dtype, partition_info)

    make: Any = Dense
    with name_scope(name, "masked_dense", [inputs, units, num_blocks]):
        layer = make(
            units,
            *args,
            kernel_initializer=masked_initializer,
            kernel_constraint=lambda kernel: mask * kernel,
            name=name,
            dtype=inputs.dtype.base_dtype,
            _scope=name,
            _reuse=reuse,
            **kwargs,
        )
        return layer.apply(inputs)


@export("contrib.distributions.bijectors.masked_autoregressive_default_template")
def masked_autoregressive_default_template(
    hidden_layers: Sequence[int],
    shift_only: bool = False,
    activation: Any = nn_ops.relu,
    log_scale_min_clip: Any = -5.0,
    log_scale_max_clip: Any = 3.0,
    log_scale_clip_gradient: bool = False,
    name: str | None = None,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """A function for `MaskedAutoregressiveFlow`: masked dense layers.

    Args:
      hidden_layers: the sizes of the hidden layers.
      shift_only: whether there is no scale.
      activation: of the hidden layers.
      log_scale_min_clip, log_scale_max_clip: bounds of the logarithm of the scale.
      log_scale_clip_gradient: whether there is no gradient beyond them.
      name: of the scope.
      *args, **kwargs: of `masked_dense`.
    """
    name = name or "masked_autoregressive_default_template"
    with name_scope(name, values=[log_scale_min_clip, log_scale_max_clip]):
        layer: Any = masked_dense

        def function(x: Tensor) -> Any:
            depth = _depth(x)
            shape: Any = (
                x.shape.as_list() if x.shape.is_fully_defined() else array_ops.shape(x)
            )
            for number, units in enumerate(hidden_layers):
                x = layer(
                    *args,
                    inputs=x,
                    units=units,
                    num_blocks=depth,
                    exclusive=number == 0,
                    activation=activation,
                    **kwargs,
                )
            x = layer(
                *args,
                inputs=x,
                units=(1 if shift_only else 2) * depth,
                num_blocks=depth,
                activation=None,
                **kwargs,
            )
            if shift_only:
                return array_ops.reshape(x, shape), None
            pairs = array_ops.concat(
                [convert_to_tensor(shape, dtypes.int32), [2]], axis=0
            )
            x = array_ops.reshape(x, pairs)
            shift, log_scale = array_ops.unstack(x, num=2, axis=-1)
            clipped = clip_by_value(log_scale, log_scale_min_clip, log_scale_max_clip)
            if not log_scale_clip_gradient:
                clipped = log_scale + array_ops.stop_gradient(clipped - log_scale)
            return shift, clipped

        return make_template(name, function)
