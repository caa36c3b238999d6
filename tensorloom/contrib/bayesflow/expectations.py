"""`tf.contrib.bayesflow.monte_carlo`: expectations as means over draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array.identity import stop_gradient
from tensorloom.ops.math.elementwise import exp, log
from tensorloom.ops.nn.activation import relu
from tensorloom.ops.reductions.reductions import reduce_max, reduce_mean


def get_samples(dist: Any, z: Any, n: Any, seed: Any) -> Any:
    """The draws that are given, or so many new ones."""
    with name_scope("get_samples", values=[z, n]):
        if (n is None) == (z is None):
            raise ValueError(
                'Must specify exactly one of arguments "n" and "z".  Found: '
                f"n = {n}, z = {z}"
            )
        if n is not None:
            return dist.sample(n, seed=seed)
        return convert_to_tensor(z, name="z")


def logspace_mean(log_values: Any) -> Any:
    """The logarithm of the mean along axis 0, of logarithms."""
    center = stop_gradient(reduce_max(log_values, axis=[0]))
    return log(reduce_mean(exp(log_values - center), axis=[0])) + center


@export("contrib.bayesflow.monte_carlo.expectation_importance_sampler")
def expectation_importance_sampler(
    f: Callable[[Any], Any],
    log_p: Callable[[Any], Any],
    sampling_dist_q: Any,
    z: Any = None,
    n: Any = None,
    seed: int | None = None,
    name: str = "expectation_importance_sampler",
) -> Any:
    """The mean of f under p, by draws from q.

    Args:
      f: from draws to values.
      log_p: from draws to the logarithms of their probability under p.
      sampling_dist_q: a distribution.
      z: draws from it, [draws, ...];
      n: or how many to draw.
      seed: of the draws.
      name: of the operations.

    Raises:
      ValueError: both or none of `z` and `n` are given.
    """
    with name_scope(name, values=[z, n]):
        z = get_samples(sampling_dist_q, z, n, seed)
        weight = log_p(z) - sampling_dist_q.log_prob(z)
        values = f(z)
        # f is the difference of two functions that are positive, whose logarithms are.
        plus = logspace_mean(log(relu(values) + 1.0) + weight)
        minus = logspace_mean(log(relu(-1.0 * values) + 1.0) + weight)
    return exp(plus) - exp(minus)


@export("contrib.bayesflow.monte_carlo.expectation_importance_sampler_logspace")
def expectation_importance_sampler_logspace(
    log_f: Callable[[Any], Any],
    log_p: Callable[[Any], Any],
    sampling_dist_q: Any,
    z: Any = None,
    n: Any = None,
    seed: int | None = None,
    name: str = "expectation_importance_sampler_logspace",
) -> Any:
    """The logarithm of the mean of a positive f under p, by draws from q.

    Args:
      log_f: from draws to the logarithms of values.
      log_p, sampling_dist_q, z, n, seed, name: see `expectation_importance_sampler`.

    Raises:
      ValueError: both or none of `z` and `n` are given.
    """
    with name_scope(name, values=[z, n]):
        z = get_samples(sampling_dist_q, z, n, seed)
        return logspace_mean(log_f(z) + log_p(z) - sampling_dist_q.log_prob(z))


@export("contrib.bayesflow.monte_carlo.expectation")
def expectation(
    f: Callable[[Any], Any],
    samples: Any,
    log_prob: Callable[[Any], Any] | None = None,
    use_reparametrization: bool = True,
    axis: Any = 0,
    keep_dims: bool = False,
    name: str | None = None,
) -> Any:
    """The mean of f over draws, with gradients by parameters of their distribution.

    Args:
      f: from draws to values.
      samples: the draws.
      log_prob: from draws to the logarithms of their probability.
      use_reparametrization: gradients go through the draws; else the score function's.
      axis: over which the mean is taken.
      keep_dims: keep these axes with size 1.
      name: of the operations.

    Raises:
      ValueError: `f`, or a `log_prob` that is needed, cannot be called.
    """
    with name_scope(name, "expectation", [samples]):
        if not callable(f):
            raise ValueError("`f` must be a callable function.")
        if use_reparametrization:
            return reduce_mean(f(samples), axis=axis, keepdims=keep_dims)
        if not callable(log_prob):
            raise ValueError("`log_prob` must be a callable function.")
        x = stop_gradient(samples)
        score = log_prob(x)
        values = f(x)
        # It adds zero, and its gradient is the score function's.
        values += stop_gradient(values) * (score - stop_gradient(score))
        return reduce_mean(values, axis=axis, keepdims=keep_dims)
