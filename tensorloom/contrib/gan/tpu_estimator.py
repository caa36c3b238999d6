"""`TPUGANEstimator`, which runs without TPUs here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tensorloom.contrib.gan.estimator_parts import (
    generator_alone,
    made,
    of_mode,
    summarize,
)
from tensorloom.contrib.gan.gan_estimator import _SUMMARIES
from tensorloom.contrib.gan.model_tuples import GANLoss, GANTrainSteps
from tensorloom.contrib.gan.models import gan_model
from tensorloom.contrib.gan.turns import updates_of
from tensorloom.contrib.tpu.cross_shards import CrossShardOptimizer
from tensorloom.contrib.training.train_steps import create_train_op
from tensorloom.estimator.mode_keys import ModeKeys
from tensorloom.estimator.spec import TPUEstimatorSpec
from tensorloom.estimator.tpu.tpu_estimator import TPUEstimator
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import control_dependencies, name_scope
from tensorloom.losses.weighted import Reduction
from tensorloom.metrics.averages import mean
from tensorloom.ops.control_flow.builders import group

_ONE_EACH: Final = GANTrainSteps(1, 1)
_TENSORS: Final = (
    "generator_inputs",
    "generated_data",
    "real_data",
    "discriminator_real_outputs",
    "discriminator_gen_outputs",
)


@export("contrib.gan.estimator.TPUGANEstimator")
class TPUGANEstimator(TPUEstimator):
    """A `GANEstimator` with the interface of `TPUEstimator`.

    Predictions are `{"generated_data": ...}`.
    """

    def __init__(
        self,
        generator_fn: Any = None,
        discriminator_fn: Any = None,
        generator_loss_fn: Any = None,
        discriminator_loss_fn: Any = None,
        generator_optimizer: Any = None,
        discriminator_optimizer: Any = None,
        get_eval_metric_ops_fn: Callable[..., Any] | None = None,
        add_summaries: Any = None,
        joint_train: bool = False,
        gan_train_steps: Any = _ONE_EACH,
        model_dir: Any = None,
        config: Any = None,
        params: Any = None,
        use_tpu: bool = True,
        train_batch_size: int | None = None,
        eval_batch_size: int | None = None,
        predict_batch_size: int | None = None,
        batch_axis: Any = None,
        eval_on_tpu: bool = True,
        export_to_tpu: bool = True,
        warm_start_from: Any = None,
    ) -> None:
        """Makes an Estimator.

        Args:
          generator_fn, discriminator_fn, generator_loss_fn, discriminator_loss_fn,
            generator_optimizer, discriminator_optimizer, add_summaries: see
            `GANEstimator`. In evaluation losses get `reduction=NONE`, too.
          get_eval_metric_ops_fn: gives more metrics, as a dict, of the generator's
            inputs, the generated and the real data, and the discriminator's outputs for
            the real and for the generated data.
          joint_train: one step of both networks at once, not by turns.
          gan_train_steps: must be `GANTrainSteps(1, 1)`.
          model_dir, config, params, use_tpu, train_batch_size, eval_batch_size,
            predict_batch_size, batch_axis, eval_on_tpu, export_to_tpu,
            warm_start_from: as of `TPUEstimator`. `use_tpu` must be False.

        Raises:
          ValueError: a loss is no function, or there are other steps.
        """
        if not callable(generator_loss_fn):
            raise ValueError("generator_loss_fn must be callable.")
        if not callable(discriminator_loss_fn):
            raise ValueError("discriminator_loss_fn must be callable.")
        if not isinstance(gan_train_steps, GANTrainSteps):
            raise ValueError(
                "`gan_train_steps` must be `tfgan_tuples.GANTrainSteps`. Instead, was "
                f"type: {type(gan_train_steps)}"
            )
        if gan_train_steps != (1, 1):
            raise ValueError("Estimator currently only supports 1:1 training.")
        if use_tpu:
            generator_optimizer = _across_shards(generator_optimizer)
            discriminator_optimizer = _across_shards(discriminator_optimizer)

        def losses(model: Any, **options: Any) -> GANLoss:
            return GANLoss(
                generator_loss_fn(model, **options),
                discriminator_loss_fn(model, **options),
            )

        def model_fn(
            features: Any, labels: Any, mode: str, params: Any
        ) -> TPUEstimatorSpec:
            generator = of_mode(generator_fn, mode)
            if mode == ModeKeys.PREDICT:
                generated = generator_alone(generator, features).generated_data
                predictions = {"generated_data": generated}
                return TPUEstimatorSpec(mode, predictions=predictions)
            on_tpu = use_tpu if mode == ModeKeys.TRAIN else eval_on_tpu
            discriminator = of_mode(discriminator_fn, mode)
            model = gan_model(
                generator, discriminator, labels, features, check_shapes=False
            )
            summarize(model, None if on_tpu else add_summaries, _SUMMARIES)
            loss = losses(model, add_summaries=not on_tpu)
            if mode == ModeKeys.EVAL:
                none = Reduction.NONE
                unreduced = losses(model, add_summaries=False, reduction=none)
                return _evaluating(model, loss, unreduced, get_eval_metric_ops_fn)
            optimizers = made(generator_optimizer), made(discriminator_optimizer)
            return TPUEstimatorSpec(
                mode,
                loss=loss.generator_loss + loss.discriminator_loss,
                train_op=_train_op(model, loss, *optimizers, joint_train),
            )

        super().__init__(
            model_fn=model_fn,
            model_dir=model_dir,
            config=config,
            params=params,
            use_tpu=use_tpu,
            train_batch_size=train_batch_size,
            eval_batch_size=eval_batch_size,
            predict_batch_size=predict_batch_size,
            batch_axis=batch_axis,
            eval_on_tpu=eval_on_tpu,
            export_to_tpu=export_to_tpu,
            warm_start_from=warm_start_from,
        )


def _across_shards(optimizer: Any) -> Any:
    if callable(optimizer):
        return lambda: _across_shards(optimizer())
    is_one = isinstance(optimizer, CrossShardOptimizer)
    return optimizer if is_one else CrossShardOptimizer(optimizer)


def _evaluating(
    model: Any, loss: GANLoss, unreduced: GANLoss, more: Callable[..., Any] | None
) -> TPUEstimatorSpec:
    def metric_fn(
        generator_loss: Any, discriminator_loss: Any, **tensors: Any
    ) -> dict[str, Any]:
        metrics = {
            "generator_loss": mean(generator_loss),
            "discriminator_loss": mean(discriminator_loss),
        }
        if more is not None:
            own = more(*(tensors[name] for name in _TENSORS))
            if not isinstance(own, dict):
                raise TypeError(
                    f"`get_eval_metric_ops_fn` must return a dict, received: {own}"
                )
            metrics.update(own)
        return metrics

    tensors = dict(unreduced._asdict())
    if more is not None:
        tensors.update({name: getattr(model, name) for name in _TENSORS})
    return TPUEstimatorSpec(
        ModeKeys.EVAL,
        predictions=model.generated_data,
        loss=loss.generator_loss + loss.discriminator_loss,
        eval_metrics=(metric_fn, tensors),
    )


def _train_op(
    model: Any, loss: GANLoss, of_generator: Any, of_discriminator: Any, joint: bool
) -> Any:
    """A step of both networks: the discriminator's first, unless they are joint."""
    scopes = [model.generator_scope.name, model.discriminator_scope.name]
    generator_updates, discriminator_updates = updates_of({}, scopes, True)

    def generator() -> Any:
        with name_scope("generator_train"):
            return create_train_op(
                loss.generator_loss,
                of_generator,
                variables_to_train=model.generator_variables,
                update_ops=generator_updates,
            )

    def discriminator() -> Any:
        with name_scope("discriminator_train"):
            return create_train_op(
                loss.discriminator_loss,
                of_discriminator,
                variables_to_train=model.discriminator_variables,
                update_ops=discriminator_updates,
            )

    if joint:
        return group(generator(), discriminator(), name="joint_train")
    with control_dependencies([discriminator()]):
        return generator()
