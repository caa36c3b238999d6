"""An Estimator of two networks."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from enum import IntEnum
from typing import Any

from tensorloom.client.variables.framework_variables import get_trainable_variables
from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.gan import model_summaries
from tensorloom.contrib.gan.model_tuples import GANLoss, GANModel
from tensorloom.contrib.gan.models import gan_model, tensors
from tensorloom.contrib.gan.turns import gan_train_ops, get_sequential_train_hooks
from tensorloom.estimator.estimator import Estimator
from tensorloom.estimator.mode_keys import ModeKeys
from tensorloom.estimator.spec import EstimatorSpec
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.metrics.averages import mean


@export("contrib.gan.estimator.SummaryType")
class SummaryType(IntEnum):
    """What a `GANEstimator` summarizes."""

    NONE = 0
    VARIABLES = 1
    IMAGES = 2
    IMAGE_COMPARISON = 3


_SUMMARIES: dict[SummaryType, Callable[[Any], None]] = {
    SummaryType.VARIABLES: model_summaries.add_gan_model_summaries,
    SummaryType.IMAGES: model_summaries.add_gan_model_image_summaries,
    SummaryType.IMAGE_COMPARISON: model_summaries.add_image_comparison_summaries,
}


@export("contrib.gan.estimator.GANEstimator")
class GANEstimator(Estimator):
    """Trains a generator and a discriminator, evaluates both, and predicts new data.

    Features are the generator's inputs, labels are real data (None to predict).
    """

    def __init__(
        self,
        model_dir: Any = None,
        generator_fn: Any = None,
        discriminator_fn: Any = None,
        generator_loss_fn: Any = None,
        discriminator_loss_fn: Any = None,
        generator_optimizer: Any = None,
        discriminator_optimizer: Any = None,
        get_hooks_fn: Any = None,
        get_eval_metric_ops_fn: Any = None,
        add_summaries: Any = None,
        use_loss_summaries: bool | None = True,
        config: Any = None,
        warm_start_from: Any = None,
        is_chief: bool = True,
    ) -> None:
        """Makes an Estimator.

        Args:
          model_dir: the directory of checkpoints.
          generator_fn, discriminator_fn: as of `gan_model`; an argument `mode` of
            theirs is given the Estimator's mode.
          generator_loss_fn, discriminator_loss_fn: functions of a model and
            `add_summaries`, such as those of `tf.contrib.gan.losses`.
          generator_optimizer, discriminator_optimizer: optimizers, or functions
            without arguments that make them.
          get_hooks_fn: gives the hooks that train; by turns when None.
          get_eval_metric_ops_fn: gives more metrics of a model, as a dict.
          add_summaries: a `SummaryType`, several, or None.
          use_loss_summaries: whether losses are summarized.
          config, warm_start_from: as of `tf.estimator.Estimator`.
          is_chief: for synchronous optimizers.

        Raises:
          ValueError: a loss is no function, `use_loss_summaries` no bool.
          TypeError: `get_hooks_fn` is no function.
        """
        if not callable(generator_loss_fn):
            raise ValueError("generator_loss_fn must be callable.")
        if not callable(discriminator_loss_fn):
            raise ValueError("discriminator_loss_fn must be callable.")
        if use_loss_summaries not in (True, False, None):
            raise ValueError("use_loss_summaries must be True, False or None.")
        if get_hooks_fn is not None and not callable(get_hooks_fn):
            raise TypeError("get_hooks_fn must be callable.")

        def model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
            generator = _of_mode(generator_fn, mode)
            if mode == ModeKeys.PREDICT:
                if labels is not None:
                    raise ValueError(
                        "`labels` must be `None` when mode is `predict`. Instead, "
                        f"found {labels}"
                    )
                return EstimatorSpec(
                    mode,
                    predictions=_generator_alone(generator, features).generated_data,
                )
            discriminator = _of_mode(discriminator_fn, mode)
            model = gan_model(
                generator, discriminator, labels, features, check_shapes=False
            )
            _summarize(model, add_summaries)
            loss = GANLoss(
                generator_loss_fn(model, add_summaries=use_loss_summaries),
                discriminator_loss_fn(model, add_summaries=use_loss_summaries),
            )
            if mode == ModeKeys.EVAL:
                return _evaluating(model, loss, get_eval_metric_ops_fn)
            ops = gan_train_ops(
                model,
                loss,
                _made(generator_optimizer),
                _made(discriminator_optimizer),
                is_chief=is_chief,
            )
            hooks = (get_hooks_fn or get_sequential_train_hooks())(ops)
            return EstimatorSpec(
                mode,
                loss=loss.generator_loss + loss.discriminator_loss,
                train_op=ops.global_step_inc_op,
                training_hooks=hooks,
            )

        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


def _of_mode(network: Any, mode: str) -> Any:
    if "mode" in inspect.signature(network).parameters:
        return functools.partial(network, mode=mode)
    return network


def _made(optimizer: Any) -> Any:
    return optimizer() if callable(optimizer) else optimizer


def _generator_alone(generator: Any, inputs: Any) -> GANModel:
    with variable_scope("Generator") as scope:
        inputs = tensors(inputs)
        generated = generator(inputs)
    variables = get_trainable_variables(scope)
    without_discriminator = [None] * 6
    return GANModel(
        inputs, generated, variables, scope, generator, *without_discriminator
    )


def _summarize(model: GANModel, kinds: Any) -> None:
    if not kinds:
        return
    kinds = kinds if isinstance(kinds, (list, tuple)) else [kinds]
    with name_scope(None):
        for kind in kinds:
            _SUMMARIES[kind](model)


def _evaluating(model: GANModel, loss: GANLoss, more: Any) -> EstimatorSpec:
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
