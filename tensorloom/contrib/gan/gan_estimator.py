"""An Estimator of two networks."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any

from tensorloom.contrib.gan import model_summaries
from tensorloom.contrib.gan.estimator_parts import (
    evaluating,
    generator_alone,
    made,
    of_mode,
    summarize,
)
from tensorloom.contrib.gan.model_tuples import GANLoss
from tensorloom.contrib.gan.models import gan_model
from tensorloom.contrib.gan.turns import gan_train_ops, get_sequential_train_hooks
from tensorloom.estimator.estimator import Estimator
from tensorloom.estimator.mode_keys import ModeKeys
from tensorloom.estimator.spec import EstimatorSpec
from tensorloom.framework.export import export


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
            generator = of_mode(generator_fn, mode)
            if mode == ModeKeys.PREDICT:
                if labels is not None:
                    raise ValueError(
                        "`labels` must be `None` when mode is `predict`. Instead, "
                        f"found {labels}"
                    )
                return EstimatorSpec(
                    mode,
                    predictions=generator_alone(generator, features).generated_data,
                )
            discriminator = of_mode(discriminator_fn, mode)
            model = gan_model(
                generator, discriminator, labels, features, check_shapes=False
            )
            summarize(model, add_summaries, _SUMMARIES)
            loss = GANLoss(
                generator_loss_fn(model, add_summaries=use_loss_summaries),
                discriminator_loss_fn(model, add_summaries=use_loss_summaries),
            )
            if mode == ModeKeys.EVAL:
                return evaluating(model, loss, get_eval_metric_ops_fn)
            ops = gan_train_ops(
                model,
                loss,
                made(generator_optimizer),
                made(discriminator_optimizer),
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
