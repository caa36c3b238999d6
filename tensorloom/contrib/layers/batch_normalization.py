"""Batch normalization, with its choice of layers and of places for updates.

Ioffe and Szegedy, "Batch normalization: accelerating deep network training by reducing
internal covariate shift", 2015.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tensorloom.client.program.arg_scope import add_arg_scope
from tensorloom.client.variables.variable_scope import (
    get_variable_scope,
    variable_scope,
)
from tensorloom.contrib.framework.model_variables import (
    model_variable,
    model_variable_getter,
)
from tensorloom.contrib.layers.collections import (
    add_variable_to_collections,
    collect_named_outputs,
    get_variable_collections,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    GraphKeys,
    add_to_collections,
    control_dependencies,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.keras.smart_cond import known_value, smart_cond
from tensorloom.layers.normalization import BatchNormalization
from tensorloom.ops.array.constant import constant
from tensorloom.ops.array.identity import identity
from tensorloom.ops.array.reshape import reshape
from tensorloom.ops.array.shape import shape
from tensorloom.ops.nn.batch_norm import fused_batch_norm
from tensorloom.ops.nn.norm import batch_normalization, moments, weighted_moments
from tensorloom.ops.state.initializers import Ones, Zeros
from tensorloom.train.optimizers.moving_averages import assign_moving_average

_FORMATS: Final = ("NCHW", "NHWC")
_getter: Final = model_variable_getter()


@export("contrib.layers.batch_norm")
@add_arg_scope
def batch_norm(
    inputs: Any,
    decay: float = 0.999,
    center: bool = True,
    scale: bool = False,
    epsilon: float = 0.001,
    activation_fn: Callable[[Any], Any] | None = None,
    param_initializers: Mapping[str, Any] | None = None,
    param_regularizers: Mapping[str, Any] | None = None,
    updates_collections: Any = GraphKeys.UPDATE_OPS,
    is_training: Any = True,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    batch_weights: Any = None,
    fused: bool | None = None,
    data_format: str = "NHWC",
    zero_debias_moving_mean: bool = False,
    scope: Any = None,
    renorm: bool = False,
    renorm_clipping: dict[str, Any] | None = None,
    renorm_decay: float = 0.99,
    adjustment: Callable[[Any], Any] | None = None,
) -> Any:
    """Each channel with the mean 0 and the variance 1 of its batch, or of training.

    Args:
      inputs: of rank 2 or more, with a known number of channels.
      decay: of the moving averages.
      center: whether `beta` is added.
      scale: whether the result is multiplied by `gamma`.
      epsilon: is added to the variance.
      activation_fn: a function of the result.
      param_initializers: of "beta", "gamma", "moving_mean", "moving_variance".
      param_regularizers: of "beta" and "gamma".
      updates_collections: where the updates of the averages go; None makes the result
        wait for them.
      is_training: whether moments are those of the batch: a bool or a bool tensor.
      reuse, variables_collections, outputs_collections, trainable, scope: as of
        `fully_connected`.
      batch_weights: weighs the examples in the moments.
      fused: whether one operation may do it all; if it can, when None.
      data_format: "NHWC" or "NCHW".
      zero_debias_moving_mean: whether the mean's first averages are corrected.
      renorm, renorm_clipping, renorm_decay, adjustment: as of
        `tf.layers.batch_normalization`.

    Raises:
      ValueError: the format, the rank or the number of channels is impossible, or
        options exclude each other.
    """
    inputs = convert_to_tensor(inputs)
    options = _Options(
        decay,
        center,
        scale,
        epsilon,
        dict(param_initializers or {}),
        dict(param_regularizers or {}),
        updates_collections,
        is_training,
        variables_collections,
        trainable,
        data_format,
        zero_debias_moving_mean,
    )
    goes_to_update_ops = updates_collections is GraphKeys.UPDATE_OPS
    rank = inputs.get_shape().ndims
    can_fuse = (
        batch_weights is None
        and not renorm
        and rank in (2, 4)
        and adjustment is None
        and fused is not False
    )
    if can_fuse and (zero_debias_moving_mean or rank == 2 or not goes_to_update_ops):
        with variable_scope(scope, "BatchNorm", [inputs], reuse=reuse) as sc:
            outputs = _fused(inputs, options)
            return _finish(outputs, activation_fn, outputs_collections, sc)
    _check_format(data_format)
    with variable_scope(
        scope, "BatchNorm", [inputs], reuse=reuse, custom_getter=_getter
    ) as sc:
        if batch_weights is None and goes_to_update_ops and not zero_debias_moving_mean:
            layer = BatchNormalization(
                axis=1 if data_format == "NCHW" else -1,
                momentum=decay,
                epsilon=epsilon,
                center=center,
                scale=scale,
                beta_initializer=options.initializer("beta"),
                gamma_initializer=options.initializer("gamma"),
                moving_mean_initializer=options.initializer("moving_mean"),
                moving_variance_initializer=options.initializer("moving_variance"),
                beta_regularizer=options.regularizers.get("beta"),
                gamma_regularizer=options.regularizers.get("gamma"),
                trainable=trainable,
                renorm=renorm,
                renorm_clipping=renorm_clipping,
                renorm_momentum=renorm_decay,
                adjustment=adjustment,
                name=sc.name,
                _scope=sc,
                _reuse=reuse,
                fused=True if fused is None else fused,
            )
            outputs = layer.apply(inputs, training=is_training)
            for name in ("moving_mean", "moving_variance", "beta", "gamma"):
                if getattr(layer, name) is not None:
                    add_variable_to_collections(
                        getattr(layer, name), variables_collections, name
                    )
        elif renorm:
            raise ValueError(
                "renorm is not supported with batch_weights, updates_collections or "
                "zero_debias_moving_mean"
            )
        else:
            outputs = _by_moments(inputs, batch_weights, options)
        return _finish(outputs, activation_fn, outputs_collections, sc)


def _finish(
    outputs: Any,
    activation_fn: Callable[[Any], Any] | None,
    outputs_collections: Any,
    scope: Any,
) -> Any:
    if activation_fn is not None:
        outputs = activation_fn(outputs)
    return collect_named_outputs(outputs_collections, scope.name, outputs)


def _check_format(data_format: str) -> None:
    if data_format not in _FORMATS:
        raise ValueError("data_format has to be either NCHW or NHWC.")


@dataclass
class _Options:
    decay: float
    center: bool
    scale: bool
    epsilon: float
    initializers: dict[str, Any]
    regularizers: dict[str, Any]
    updates_collections: Any
    is_training: Any
    variables_collections: Any
    trainable: bool
    data_format: str
    zero_debias: bool
    _starts: dict[str, Any] = field(
        default_factory=lambda: {
            "beta": Zeros(),
            "gamma": Ones(),
            "moving_mean": Zeros(),
            "moving_variance": Ones(),
        }
    )

    def initializer(self, name: str) -> Any:
        """The initializer of one of the four variables."""
        return self.initializers.get(name, self._starts[name])

    def variable(
        self, name: str, sizes: Any, dtype: Any, regularized: bool = True
    ) -> Any:
        """One of the four variables; averages are not trained, nor cut into parts."""
        is_average = name.startswith("moving")
        return model_variable(
            name,
            shape=sizes,
            dtype=dtype,
            initializer=self.initializer(name),
            regularizer=self.regularizers.get(name) if regularized else None,
            collections=get_variable_collections(self.variables_collections, name),
            trainable=self.trainable and not is_average,
        )

    def averages(self, sizes: Any, dtype: Any) -> tuple[Any, Any]:
        """The moving mean and variance."""
        with variable_scope(get_variable_scope()) as scope:
            scope.set_partitioner(None)
            mean = self.variable("moving_mean", sizes, dtype)
            return mean, self.variable("moving_variance", sizes, dtype)

    def updates(self, averages: tuple[Any, Any], found: tuple[Any, Any]) -> Any:
        """The operations that move the averages towards what was found."""
        mean, variance = averages
        return (
            assign_moving_average(
                mean, found[0], self.decay, zero_debias=self.zero_debias
            ),
            assign_moving_average(variance, found[1], self.decay, zero_debias=False),
        )

    def collect_updates(
        self, averages: tuple[Any, Any], found: tuple[Any, Any]
    ) -> None:
        """Puts the updates, which training alone makes, into their collections."""
        updates = smart_cond(
            self.is_training, lambda: self.updates(averages, found), lambda: averages
        )
        for update in updates:
            add_to_collections(self.updates_collections, update)

    @property
    def may_train(self) -> bool:
        """Whether the graph may be one of training."""
        known = known_value(self.is_training)
        return known is None or bool(known)


def _fused(inputs: Any, options: _Options) -> Any:
    """One operation for all; also for vectors, as images of one pixel."""
    _check_format(options.data_format)
    is_first = options.data_format == "NCHW"
    given, given_shape = inputs, inputs.get_shape()
    if given_shape.ndims == 2:
        channels = given_shape.dims[-1].value
        if channels is None:
            raise ValueError("`C` dimension must be known but is None")
        image = [-1, channels, 1, 1] if is_first else [-1, 1, 1, channels]
        inputs = reshape(inputs, image)
    input_shape = inputs.get_shape()
    sizes = input_shape[1:2] if is_first else input_shape[-1:]
    if not sizes.is_fully_defined():
        raise ValueError(f"Inputs {inputs.name} has undefined `C` dimension {sizes}.")
    dtype = dtypes.float32  # of the statistics, whatever the inputs are
    beta = gamma = None
    if options.center:
        beta = options.variable("beta", sizes, dtype)
    else:
        beta = constant(0.0, dtype=dtype, shape=sizes)
    if options.scale:
        gamma = options.variable("gamma", sizes, dtype)
    else:
        gamma = constant(1.0, dtype=dtype, shape=sizes)
    averages = options.averages(sizes, dtype)
    how: dict[str, Any] = {
        "epsilon": options.epsilon,
        "data_format": options.data_format,
    }

    def training() -> Any:
        return fused_batch_norm(inputs, gamma, beta, **how)

    def inference() -> Any:
        mean, variance = averages
        return fused_batch_norm(
            inputs,
            gamma,
            beta,
            mean=mean,
            variance=variance,
            is_training=False,
            **how,
        )

    outputs, *found = smart_cond(options.is_training, training, inference)
    if options.may_train:
        if options.updates_collections is None:

            def updated() -> Any:
                with control_dependencies(options.updates(averages, tuple(found))):
                    return identity(outputs)

            normalized = outputs
            outputs = smart_cond(options.is_training, updated, lambda: normalized)
        else:
            options.collect_updates(averages, tuple(found))
    outputs.set_shape(input_shape)
    return reshape(outputs, shape(given)) if given_shape.ndims == 2 else outputs


def _by_moments(inputs: Any, batch_weights: Any, options: _Options) -> Any:
    """Moments first, then the normalization: for any rank, and weighted examples."""
    input_shape = inputs.get_shape()
    rank = input_shape.ndims
    if rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    is_first = options.data_format == "NCHW"
    if batch_weights is not None:
        batch_weights = convert_to_tensor(batch_weights)
        input_shape[0:1].assert_is_compatible_with(batch_weights.get_shape())
        batch_weights = reshape(batch_weights, [-1] + [1] * (rank - 1))
    sizes = input_shape[1:2] if is_first else input_shape[-1:]
    if not sizes.is_fully_defined():
        raise ValueError(
            f"Inputs {inputs.name} has undefined channels dimension {sizes}."
        )
    dtype = inputs.dtype.base_dtype
    beta = gamma = None
    if options.center:
        beta = options.variable("beta", sizes, dtype, regularized=False)
    if options.scale:
        gamma = options.variable("gamma", sizes, dtype, regularized=False)
    averages = options.averages(sizes, dtype)
    mean, variance = averages
    if options.may_train:
        mean, variance = _training_moments(
            _moments(inputs, batch_weights, is_first), averages, options
        )
    if is_first:
        spread = [1, sizes[0].value] + [1] * (rank - 2)
        mean, variance = reshape(mean, spread), reshape(variance, spread)
        beta = beta if beta is None else reshape(beta, spread)
        gamma = gamma if gamma is None else reshape(gamma, spread)
    outputs = batch_normalization(inputs, mean, variance, beta, gamma, options.epsilon)
    outputs.set_shape(input_shape)
    return outputs


def _moments(inputs: Any, batch_weights: Any, is_first: bool) -> tuple[Any, Any]:
    rank = inputs.get_shape().ndims
    axes = [0, *range(2, rank)] if is_first else list(range(rank - 1))
    if batch_weights is None:
        mean, variance = moments(inputs, axes, keep_dims=is_first)
    else:
        mean, variance = weighted_moments(
            inputs, axes, batch_weights, keepdims=is_first
        )
    if is_first:
        return reshape(mean, [-1]), reshape(variance, [-1])
    return mean, variance


def _training_moments(
    found: tuple[Any, Any], averages: tuple[Any, Any], options: _Options
) -> Any:
    """The moments of the batch if `is_training`, else the averages."""
    if options.updates_collections is None:

        def updated() -> Any:
            with control_dependencies(options.updates(averages, found)):
                return identity(found[0]), identity(found[1])

        return smart_cond(options.is_training, updated, lambda: averages)
    options.collect_updates(averages, found)
    return smart_cond(options.is_training, lambda: found, lambda: averages)
