"""`StarGANEstimator`: an Estimator of one generator among several domains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.client.variables.framework_variables import get_trainable_variables
from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.gan import model_summaries
from tensorloom.contrib.gan.estimator_parts import (
    evaluating,
    made,
    of_mode,
    summarize,
)
from tensorloom.contrib.gan.gan_estimator import SummaryType
from tensorloom.contrib.gan.model_tuples import StarGANModel
from tensorloom.contrib.gan.models import stargan_model, tensors
from tensorloom.contrib.gan.turns import gan_train_ops, get_sequential_train_hooks
from tensorloom.estimator.estimator import Estimator
from tensorloom.estimator.mode_keys import ModeKeys
from tensorloom.estimator.spec import EstimatorSpec
from tensorloom.framework.export import export

_SUMMARIES: dict[SummaryType, Callable[[Any], None]] = {
    SummaryType.VARIABLES: model_summaries.add_gan_model_summaries,
    SummaryType.IMAGES: model_summaries.add_stargan_image_summaries,
}


@export("contrib.gan.estimator.StarGANEstimator")
class StarGANEstimator(Estimator):
    """Trains, evaluates and uses one generator among several domains.

    Features are data, labels their domains, one-hot [batch, domains]. To predict,
    features are both, and labels None: see `stargan_prediction_input_fn_wrapper`.
    """

    def __init__(
        self,
        model_dir: Any = None,
        generator_fn: Any = None,
        discriminator_fn: Any = None,
        loss_fn: Any = None,
        generator_optimizer: Any = None,
        discriminator_optimizer: Any = None,
        get_hooks_fn: Any = None,
        get_eval_metric_ops_fn: Any = None,
        add_summaries: Any = None,
        use_loss_summaries: bool | None = True,
        config: Any = None,
    ) -> None:
        """Makes an Estimator.

        Args:
          model_dir: the directory of checkpoints.
          generator_fn, discriminator_fn: as of `stargan_model`; an argument `mode` of
            theirs is given the Estimator's mode.
          loss_fn: gives a `GANLoss` of a `StarGANModel`.
          generator_optimizer, discriminator_optimizer: optimizers, or functions
            without arguments that make them.
          get_hooks_fn: gives the hooks that train; by turns when None.
          get_eval_metric_ops_fn: gives more metrics of a model, as a dict.
          add_summaries: a `SummaryType` (VARIABLES or IMAGES), several, or None.
          use_loss_summaries: checked, and for `loss_fn` to know.
          config: as of `tf.estimator.Estimator`.

        Raises:
          ValueError: the loss is no function, `use_loss_summaries` no bool.
          TypeError: `get_hooks_fn` is no function.
        """
        if not callable(loss_fn):
            raise ValueError("loss_fn must be callable.")
        if use_loss_summaries not in (True, False, None):
            raise ValueError("use_loss_summaries must be True, False or None.")
        if get_hooks_fn is not None and not callable(get_hooks_fn):
            raise TypeError("get_hooks_fn must be callable.")

        def model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
            generator = of_mode(generator_fn, mode)
            if mode == ModeKeys.PREDICT:
                model = _generator_alone(generator, *features)
                return EstimatorSpec(mode, predictions=model.generated_data)
            discriminator = of_mode(discriminator_fn, mode)
            model = stargan_model(generator, discriminator, features, labels)
            summarize(model, add_summaries, _SUMMARIES)
            loss = loss_fn(model)
            if mode == ModeKeys.EVAL:
                return evaluating(model, loss, get_eval_metric_ops_fn)
            ops = gan_train_ops(
                model, loss, made(generator_optimizer), made(discriminator_optimizer)
            )
            return EstimatorSpec(
                mode,
                loss=loss.generator_loss + loss.discriminator_loss,
                train_op=ops.global_step_inc_op,
                training_hooks=(get_hooks_fn or get_sequential_train_hooks())(ops),
            )

        super().__init__(model_fn, model_dir, config)


def _generator_alone(generator: Any, data: Any, targets: Any) -> StarGANModel:
    with variable_scope("Generator") as scope:
        data, targets = tensors(data), tensors(targets)
        generated = generator(data, targets)
    without = dict.fromkeys(StarGANModel._fields)
    known = {
        "input_data": data,
        "generated_data": generated,
        "generated_data_domain_target": targets,
        "generator_variables": get_trainable_variables(scope),
        "generator_scope": "Generator",
        "generator_fn": generator,
    }
    return StarGANModel(**{**without, **known})


def stargan_prediction_input_fn_wrapper(fn: Callable[[], Any]) -> Callable[[], Any]:
    """An input function to predict with, of one that gives data and domains."""

    def input_fn() -> Any:
        return fn(), None

    return input_fn
