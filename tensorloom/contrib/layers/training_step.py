"""`optimize_loss`: a training step with clipping, noise, decay and summaries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tensorloom.client.variables.variable_lists import trainable_variables
from tensorloom.client.variables.variable_scope import get_variable, variable_scope
from tensorloom.framework.export import export, export_value
from tensorloom.framework.graph.graph import GraphKeys, Tensor, get_collection
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array.fill import ones_like
from tensorloom.ops.control_flow.builders import with_dependencies
from tensorloom.ops.debugging.check_type import assert_scalar
from tensorloom.ops.indexing.selection import where
from tensorloom.ops.math.binary import maximum, minimum
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.clip import clip_by_global_norm, global_norm
from tensorloom.ops.math.elementwise import exp, log, sqrt, square
from tensorloom.ops.random.random_ops import truncated_normal
from tensorloom.ops.state.initializers import Constant, Zeros
from tensorloom.summary import summary
from tensorloom.train import training_util
from tensorloom.train.optimizers.adagrad import AdagradOptimizer
from tensorloom.train.optimizers.adam import AdamOptimizer
from tensorloom.train.optimizers.ftrl import FtrlOptimizer
from tensorloom.train.optimizers.gradient_descent import GradientDescentOptimizer
from tensorloom.train.optimizers.momentum import MomentumOptimizer
from tensorloom.train.optimizers.moving_averages import assign_moving_average
from tensorloom.train.optimizers.optimizer import Optimizer
from tensorloom.train.optimizers.rmsprop import RMSPropOptimizer

OPTIMIZER_CLS_NAMES: Final[dict[str, Callable[..., Any]]] = {
    "Adagrad": AdagradOptimizer,
    "Adam": AdamOptimizer,
    "Ftrl": FtrlOptimizer,
    "Momentum": lambda learning_rate: MomentumOptimizer(learning_rate, momentum=0.9),
    "RMSProp": RMSPropOptimizer,
    "SGD": GradientDescentOptimizer,
}
OPTIMIZER_SUMMARIES: Final = [
    "learning_rate",
    "loss",
    "gradients",
    "gradient_norm",
    "global_gradient_norm",
]
_USUAL_SUMMARIES: Final = ("loss", "learning_rate", "global_gradient_norm")
export_value(OPTIMIZER_CLS_NAMES, "contrib.layers.OPTIMIZER_CLS_NAMES")
export_value(OPTIMIZER_SUMMARIES, "contrib.layers.OPTIMIZER_SUMMARIES")

# Pairs of a gradient and its variable.
_Pairs = list[tuple[Any, Any]]


@export("contrib.layers.optimize_loss")
def optimize_loss(
    loss: Any,
    global_step: Any,
    learning_rate: Any,
    optimizer: Any,
    gradient_noise_scale: float | None = None,
    gradient_multipliers: Mapping[Any, Any] | None = None,
    clip_gradients: Any = None,
    learning_rate_decay_fn: Callable[[Any, Any], Any] | None = None,
    update_ops: Any = None,
    variables: Any = None,
    name: str | None = None,
    summaries: Sequence[str] | None = None,
    colocate_gradients_with_ops: bool = False,
    increment_global_step: bool = True,
) -> Any:
    """A training step, as the loss that waits for it.

    Args:
      loss: a scalar.
      global_step: counts steps; that of the graph when None.
      learning_rate: a float, a scalar tensor or None.
      optimizer: its name in `OPTIMIZER_CLS_NAMES`, a class, an optimizer, or a function
        of the learning rate (of nothing, without one).
      gradient_noise_scale: of normal noise that is added to gradients.
      gradient_multipliers: by variables or their names.
      clip_gradients: the most that the global norm may be (a float), or a function of
        the pairs of gradient and variable.
      learning_rate_decay_fn: of the learning rate and the step.
      update_ops: what runs before the loss; those in UPDATE_OPS when None.
      variables: those to train; all trainable ones when None.
      name: of the scope.
      summaries: some of `OPTIMIZER_SUMMARIES`; three of them when None.
      colocate_gradients_with_ops: whether gradients are on the devices of their ops.
      increment_global_step: whether the step is counted.

    Raises:
      ValueError: an argument is of a wrong kind, or the loss no scalar.
    """
    loss = convert_to_tensor(loss)
    assert_scalar(loss)
    global_step = _checked_step(global_step)
    with variable_scope(name, "OptimizeLoss", [loss, global_step]):
        if update_ops is None:
            update_ops = set(get_collection(GraphKeys.UPDATE_OPS))
        if update_ops:
            loss = with_dependencies(list(update_ops), loss)
        rate = _learning_rate(learning_rate)
        wanted = _check_summaries(summaries)
        if learning_rate is not None and learning_rate_decay_fn is not None:
            rate = _decayed(rate, learning_rate_decay_fn, global_step)
            if "learning_rate" in wanted:
                summary.scalar("learning_rate", rate)
        trainer = _make_optimizer(optimizer, rate, learning_rate)
        pairs: _Pairs = trainer.compute_gradients(
            loss,
            trainable_variables() if variables is None else variables,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
        )
        if gradient_noise_scale is not None:
            pairs = _with_noise(pairs, gradient_noise_scale)
        if gradient_multipliers is not None:
            pairs = _multiplied(pairs, gradient_multipliers)
        norms = "global_gradient_norm" in wanted or "gradient_norm" in wanted
        if norms:
            _norm_summary("global_norm/gradient_norm", pairs)
        pairs = _clipped(pairs, clip_gradients)
        if "loss" in wanted:
            summary.scalar("loss", loss)
        _summarize(pairs, wanted)
        if clip_gradients is not None and norms:
            _norm_summary("global_norm/clipped_gradient_norm", pairs)
        step = trainer.apply_gradients(
            pairs,
            global_step=global_step if increment_global_step else None,
            name="train",
        )
        return with_dependencies([step], loss)


def _checked_step(global_step: Any) -> Any:
    """The step, checked; that of the graph when None."""
    if global_step is None:
        return training_util.get_global_step()
    training_util.assert_global_step(global_step)
    return global_step


def _decayed(rate: Any, decay: Callable[[Any, Any], Any], global_step: Any) -> Any:
    if global_step is None:
        raise ValueError("global_step is required for learning_rate_decay_fn.")
    return decay(rate, global_step)


def _learning_rate(given: Any) -> Any:
    """The rate as a tensor, or as a variable where it is a float."""
    if given is None or (isinstance(given, Tensor) and given.get_shape().ndims == 0):
        return given
    if not isinstance(given, float):
        raise ValueError(
            f"Learning rate should be 0d Tensor or float. Got {given} of type "
            f"{type(given)}"
        )
    if given < 0.0:
        raise ValueError(f"Invalid learning_rate {given}.")
    return get_variable(
        "learning_rate", [], trainable=False, initializer=Constant(given)
    )


def _check_summaries(summaries: Sequence[str] | None) -> Sequence[str]:
    for each in summaries or ():
        if each not in OPTIMIZER_SUMMARIES:
            raise ValueError(
                f"Summaries should be one of [{', '.join(OPTIMIZER_SUMMARIES)}], you "
                f"provided {each}."
            )
    return _USUAL_SUMMARIES if summaries is None else summaries


def _make_optimizer(given: Any, rate: Any, learning_rate: Any) -> Optimizer:
    is_class = isinstance(given, type) and issubclass(given, Optimizer)
    if isinstance(given, str) or is_class:
        if rate is None:
            kind = "string" if isinstance(given, str) else "class"
            raise ValueError(
                "Learning rate is None, but should be specified if optimizer is "
                f"{kind} ({given})."
            )
        if isinstance(given, str):
            if given not in OPTIMIZER_CLS_NAMES:
                raise ValueError(
                    "Optimizer name should be one of "
                    f"[{', '.join(OPTIMIZER_CLS_NAMES)}], you provided {given}."
                )
            given = OPTIMIZER_CLS_NAMES[given]
        return given(learning_rate=rate)  # type: ignore[no-any-return]
    if isinstance(given, Optimizer):
        return given
    if not callable(given):
        raise ValueError(
            "Unrecognized optimizer: should be string, subclass of Optimizer, instance "
            f"of subclass of Optimizer or function with one argument. Got {given}."
        )
    made = given(rate) if learning_rate is not None else given()
    if not isinstance(made, Optimizer):
        raise ValueError(
            "Unrecognized optimizer: function should return subclass of Optimizer. "
            f"Got {made}."
        )
    return made


def _with_noise(pairs: _Pairs, scale: float) -> _Pairs:
    noisy: _Pairs = []
    for gradient, variable in pairs:
        if gradient is not None:
            is_sparse = isinstance(gradient, IndexedSlices)
            sizes = gradient.dense_shape if is_sparse else gradient.get_shape()
            gradient = gradient + truncated_normal(sizes) * scale
        noisy.append((gradient, variable))
    return noisy


def _multiplied(pairs: _Pairs, multipliers: Mapping[Any, Any]) -> _Pairs:
    if not pairs:
        raise ValueError(
            "Empty list of (gradient, var) pairs encountered. This is most likely to "
            "be caused by an improper value of gradient_multipliers."
        )
    found: _Pairs = []
    for gradient, variable in pairs:
        key = variable if variable in multipliers else variable.name
        if gradient is not None and key in multipliers:
            gradient = _scaled(gradient, multipliers[key])
        found.append((gradient, variable))
    return found


def _scaled(gradient: Any, factor: Any) -> Any:
    if isinstance(gradient, IndexedSlices):
        values = gradient.values * factor
        return IndexedSlices(values, gradient.indices, gradient.dense_shape)
    return gradient * cast(factor, gradient.dtype)


def _clipped(pairs: _Pairs, clip: Any) -> _Pairs:
    if isinstance(clip, float):
        gradients, _ = clip_by_global_norm([gradient for gradient, _ in pairs], clip)
        variables = [variable for _, variable in pairs]
        return list(zip(gradients, variables, strict=True))
    if callable(clip):
        return list(clip(pairs))
    if clip is not None:
        raise ValueError(f"Unknown type {type(clip)} for clip_gradients")
    return pairs


def _norm_summary(tag: str, pairs: _Pairs) -> None:
    summary.scalar(tag, global_norm([gradient for gradient, _ in pairs]))


def _summarize(pairs: _Pairs, wanted: Sequence[str]) -> None:
    for gradient, variable in pairs:
        values = gradient.values if isinstance(gradient, IndexedSlices) else gradient
        if values is None:
            continue
        name = variable.name.replace(":", "_")
        if "gradients" in wanted:
            summary.histogram(f"gradients/{name}", values)
        if "gradient_norm" in wanted:
            summary.scalar(f"gradient_norm/{name}", global_norm([values]))


@export("contrib.slim.adaptive_clipping_fn")
def adaptive_clipping_fn(
    std_factor: float = 2.0,
    decay: float = 0.95,
    static_max_norm: float | None = None,
    global_step: Any = None,
    report_summary: bool = False,
    epsilon: float = 1e-8,
    name: str | None = None,
) -> Callable[[_Pairs], _Pairs]:
    """Clips gradients whose norm is far above its moving average.

    Args:
      std_factor: how many deviations above the average of the norm's logarithm.
      decay: of the averages.
      static_max_norm: the most that the norm may ever be.
      global_step: makes the first averages follow faster.
      report_summary: whether the limit is written as a summary.
      epsilon: the least variance, and what is added to norms.
      name: of the scope.

    Returns:
      A value for `clip_gradients` of `optimize_loss`.
    """

    def gradient_clipping(pairs: _Pairs) -> _Pairs:
        gradients = [gradient for gradient, _ in pairs]
        norm = global_norm(gradients)
        most, log_mean = _adaptive_limit(
            norm, std_factor, decay, global_step, epsilon, name
        )
        if report_summary:
            summary.scalar("global_norm/adaptive_max_gradient_norm", most)
        factor = where(norm < most, ones_like(norm), exp(log_mean) / norm)
        if static_max_norm is not None:
            factor = minimum(static_max_norm / norm, factor)
        return [
            (None if gradient is None else _scaled(gradient, factor), variable)
            for gradient, variable in pairs
        ]

    return gradient_clipping


def _adaptive_limit(
    norm: Any,
    std_factor: float,
    decay: Any,
    global_step: Any,
    epsilon: float,
    name: str | None,
) -> tuple[Any, Any]:
    """The most that the norm may be, and the average of its logarithm."""
    with variable_scope(name, "AdaptiveMaxNorm", [norm]):
        logarithm = log(norm + epsilon)
        if global_step is not None:
            steps = cast(global_step, dtypes.float32)
            decay = minimum(decay, steps / (steps + 1.0))

        def average(name: str, value: Any) -> Any:
            variable = get_variable(
                name,
                shape=value.get_shape(),
                dtype=value.dtype,
                initializer=Zeros(),
                trainable=False,
            )
            return assign_moving_average(variable, value, decay, zero_debias=False)

        mean = average("mean", logarithm)
        variance = average("sq_mean", square(logarithm)) - square(mean)
        deviation = sqrt(maximum(epsilon, variance))
        return exp(mean + std_factor * deviation), mean
