"""What the Estimators of networks against each other share."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from tensorloom.client.variables.framework_variables import get_trainable_variables
from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.gan.model_tuples import GANLoss, GANModel
from tensorloom.contrib.gan.models import tensors
from tensorloom.estimator.mode_keys import ModeKeys
from tensorloom.estimator.spec import EstimatorSpec
from tensorloom.framework.graph.graph import name_scope
from tensorloom.metrics.averages import mean


def of_mode(network: Any, mode: str) -> Any:
    """A network for a mode, if it wants to know it."""
    if "mode" in inspect.signature(network).parameters:
        return functools.partial(network, mode=mode)
    return network


def made(optimizer: Any) -> Any:
    """An optimizer, of itself or of a function that makes it."""
    return optimizer() if callable(optimizer) else optimizer


def summarize(
    model: Any, kinds: Any, summaries: Mapping[Any, Callable[[Any], None]]
) -> None:
    """Makes the summaries of some kinds: one, several, or None."""
    if not kinds:
        return
    kinds = kinds if isinstance(kinds, (list, tuple)) else [kinds]
    with name_scope(None):
        for kind in kinds:
            summaries[kind](model)


def generator_alone(generator: Any, inputs: Any) -> GANModel:
    """A model that has a generator and nothing else, to predict."""
    with variable_scope("Generator") as scope:
        inputs = tensors(inputs)
        generated = generator(inputs)
    variables = get_trainable_variables(scope)
    without_discriminator = [None] * 6
    return GANModel(
        inputs, generated, variables, scope, generator, *without_discriminator
    )


def evaluating(model: Any, loss: GANLoss, more: Any) -> EstimatorSpec:
    """The spec that evaluates a model; `more` gives more metrics of it, or is None."""
    with name_scope(None, "metrics", list(loss)):
        metrics = {
            "generator_loss": mean(loss.generator_loss),
            "discriminator_loss": mean(loss.discriminator_loss),
        }
        if more is not None:
            own = more(model)
            if not isinstance(own, dict):
                raise TypeError(
                    f"get_eval_metric_ops_fn must return a dict, received: {own}"
                )
            metrics.update(own)
    return EstimatorSpec(
        ModeKeys.EVAL,
        predictions=model.generated_data,
        loss=loss.generator_loss + loss.discriminator_loss,
        eval_metric_ops=metrics,
    )
