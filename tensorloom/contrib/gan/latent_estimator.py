"""An Estimator that looks for the inputs of a trained generator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tensorloom.client.gradients.gradients import gradients
from tensorloom.client.variables.variable_scope import get_variable, variable_scope
from tensorloom.contrib.gan.estimator_parts import of_mode
from tensorloom.contrib.gan.models import gan_model
from tensorloom.estimator.estimator import Estimator
from tensorloom.estimator.spec import EstimatorSpec
from tensorloom.estimator.warm_start import WarmStartSettings
from tensorloom.framework.export import export
from tensorloom.ops.math.clip import clip_by_value, global_norm
from tensorloom.ops.random.random_ops import truncated_normal
from tensorloom.summary import summary
from tensorloom.train import training_util

# What belongs to the search, and not to the trained networks.
INPUT_NAME: Final = "new_var_z_input"
OPTIMIZER_NAME: Final = "latent_gan_optimizer"


@export("contrib.gan.estimator.get_latent_gan_estimator")
def get_latent_gan_estimator(
    generator_fn: Any,
    discriminator_fn: Any,
    loss_fn: Callable[..., Any],
    optimizer: Callable[..., Any],
    params: dict[str, Any],
    config: Any,
    ckpt_dir: Any,
    warmstart_options: Any = True,
) -> Estimator:
    """An Estimator whose only trained variable is what a generator makes data of.

    Args:
      generator_fn, discriminator_fn: networks as they were trained, see `gan_model`.
      loss_fn: a function of a `GANModel`, features, labels and whether to summarize.
      optimizer: makes an optimizer of `learning_rate` and `opt_kwargs`.
      params: `batch_size`, `z_shape` (without the batch), `learning_rate`,
        `input_clip` (the largest absolute value of the inputs), `add_summaries`, and
        maybe `opt_kwargs`.
      config: a `RunConfig` with a new directory.
      ckpt_dir: where the networks' checkpoints are.
      warmstart_options: True: load all that is not of the search; `WarmStartSettings`;
        or False or None to load nothing.
    """

    def model_fn(
        features: Any, labels: Any, mode: str, params: dict[str, Any]
    ) -> EstimatorSpec:
        shape = [params["batch_size"], *params["z_shape"]]
        limit = params["input_clip"]
        z = get_variable(
            INPUT_NAME,
            initializer=truncated_normal(shape),
            constraint=lambda x: clip_by_value(x, -limit, limit),
        )
        model = gan_model(
            of_mode(generator_fn, mode),
            of_mode(discriminator_fn, mode),
            real_data=labels,
            generator_inputs=z,
            check_shapes=False,
        )
        loss = loss_fn(model, features, labels, params["add_summaries"])
        with variable_scope(OPTIMIZER_NAME):
            chosen = optimizer(
                learning_rate=params["learning_rate"], **params["opt_kwargs"]
            )
            step = training_util.get_or_create_global_step()
            train_op = chosen.minimize(loss=loss, global_step=step, var_list=[z])
        if params["add_summaries"]:
            summary.scalar("z_loss/z_grads", global_norm(gradients(loss, z)))
            summary.scalar("z_loss/loss", loss)
        return EstimatorSpec(
            mode, predictions=model.generated_data, loss=loss, train_op=train_op
        )

    settings = None
    if isinstance(warmstart_options, WarmStartSettings):
        settings = warmstart_options
    elif warmstart_options:
        settings = WarmStartSettings(
            ckpt_to_initialize_from=ckpt_dir,
            vars_to_warm_start=f"^(?!.*({INPUT_NAME}|{OPTIMIZER_NAME}).*)",
        )
    params.setdefault("opt_kwargs", {})
    return Estimator(
        model_fn=model_fn, config=config, params=params, warm_start_from=settings
    )
