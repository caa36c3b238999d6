"""Spectral normalization: weights over their largest singular value (Miyato, 2018)."""

from __future__ import annotations

import numbers
import re
from collections.abc import Callable
from typing import Any, Final

from tensorloom.client.program import program_log
from tensorloom.client.variables.variable_scope import get_variable, variable_scope
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import control_dependencies, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.identity import stop_gradient
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn.norm import l2_normalize
from tensorloom.ops.state.initializers import RandomNormal

_DTYPES: Final = (dtypes.float16, dtypes.float32, dtypes.float64)
_VECTOR: Final = "spectral_norm_u"
_KERNELS: Final = re.compile(r"(.*\/)?(depthwise_|pointwise_)?(weights|kernel)$")


@export("contrib.gan.features.compute_spectral_norm")
def compute_spectral_norm(
    w_tensor: Any, power_iteration_rounds: int = 1, name: Any = None
) -> Any:
    """An estimate of the largest singular value of weights, better with each run.

    Args:
      w_tensor: weights; the last axis is that of outputs.
      power_iteration_rounds: how many steps of power iteration a run makes. They
        start at the variable `spectral_norm_u`, which they change.
      name: the variable scope.
    """
    with variable_scope(name, "spectral_norm"):
        w = array_ops.reshape(w_tensor, (-1, w_tensor.get_shape()[-1]))
        kept = get_variable(
            _VECTOR,
            shape=(w.shape[0], 1),
            dtype=w.dtype,
            initializer=RandomNormal(),
            trainable=False,
        )
        left: Any = kept
        right: Any = None
        for _ in range(power_iteration_rounds):
            right = l2_normalize(math_ops.matmul(array_ops.transpose(w), left))
            left = l2_normalize(math_ops.matmul(w, right))
        with control_dependencies([kept.assign(left, name="update_u")]):
            left = array_ops.identity(left)
        left, right = stop_gradient(left), stop_gradient(right)
        product = math_ops.matmul(array_ops.transpose(left), w)
        return math_ops.matmul(product, right)[0][0]


@export("contrib.gan.features.spectral_normalize")
def spectral_normalize(
    w: Any, power_iteration_rounds: int = 1, name: Any = None
) -> Any:
    """Weights over their largest singular value; see `compute_spectral_norm`."""
    with variable_scope(name, "spectral_normalize"):
        norm = compute_spectral_norm(w, power_iteration_rounds=power_iteration_rounds)
        return array_ops.reshape(w / norm, w.get_shape())


@export("contrib.gan.features.spectral_norm_regularizer")
def spectral_norm_regularizer(
    scale: Any, power_iteration_rounds: int = 1, scope: Any = None
) -> Callable[..., Any]:
    """A regularizer: `scale` times the largest singular value.

    Args:
      scale: a float or a tensor; 0.0 for no regularization.
      power_iteration_rounds: see `compute_spectral_norm`.
      scope: the name scope.

    Raises:
      ValueError: the scale is an integer or negative.
    """
    if isinstance(scale, numbers.Integral):
        raise ValueError(f"scale cannot be an integer: {scale}")
    if isinstance(scale, numbers.Real):
        if float(scale) < 0.0:
            raise ValueError(
                f"Setting a scale less than 0 on a regularizer: {float(scale):g}"
            )
        if float(scale) == 0.0:
            program_log.info("Scale of 0 disables regularizer.")
            return lambda _: None

    def regularize(weights: Any, name: Any = None) -> Any:
        with name_scope(scope, "SpectralNormRegularizer", [weights]) as name:
            factor = convert_to_tensor(
                scale, dtype=weights.dtype.base_dtype, name="scale"
            )
            norm = compute_spectral_norm(
                weights, power_iteration_rounds=power_iteration_rounds
            )
            return math_ops.multiply(factor, norm, name=name)

    return regularize


def _is_kernel(name: str) -> bool:
    """Whether layers name their weights so."""
    return _KERNELS.match(name) is not None


@export("contrib.gan.features.spectral_normalization_custom_getter")
def spectral_normalization_custom_getter(
    name_filter: Any = _is_kernel, power_iteration_rounds: int = 1
) -> Callable[..., Any]:
    """A `custom_getter` for variable scopes that normalizes the weights of layers.

    Args:
      name_filter: says of a variable's name whether it is normalized; kernels of
        `tf.layers` and `tf.contrib.layers` by default.
      power_iteration_rounds: see `compute_spectral_norm`.

    Raises:
      ValueError: the filter is no function. The getter raises it for variables of one
        axis and of dtypes that are not floating.
    """
    if not callable(name_filter):
        raise ValueError("name_filter must be callable")

    def get(getter: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        if not name_filter(name):
            return getter(name, *args, **kwargs)
        if name.endswith(_VECTOR):
            raise ValueError(
                "Cannot apply Spectral Normalization to internal variables created for "
                f"Spectral Normalization. Tried to normalized variable [{name}]"
            )
        if kwargs["dtype"] not in _DTYPES:
            raise ValueError(f"Disallowed data type {kwargs['dtype']}")
        weights = getter(name, *args, **kwargs)
        if len(weights.get_shape()) < 2:
            raise ValueError(
                "Spectral norm can only be applied to multi-dimensional tensors"
            )
        return spectral_normalize(
            weights, power_iteration_rounds, name=f"{name}/spectral_normalize"
        )

    return get
