"""The losses as functions of a model, which has their arguments by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from tensorloom.contrib.gan import loss_functions
from tensorloom.contrib.gan.model_tuples import CycleGANModel
from tensorloom.framework.export import export, export_value

Loss = Callable[..., Any]


def of_model(function: Loss) -> Loss:
    """The loss as a function of a model, and of its arguments that no model has.

    Args:
      function: a loss whose arguments are called as the fields of a model.
    """
    parameters = inspect.signature(function).parameters
    name = function.__name__

    def loss(gan_model: Any, **kwargs: Any) -> Any:
        fields = {field: getattr(gan_model, field) for field in gan_model._fields}
        for argument, parameter in parameters.items():
            needed = parameter.default is inspect.Parameter.empty
            if needed and argument not in fields and argument not in kwargs:
                raise ValueError(
                    f"`{argument}` must be supplied to {name} loss function."
                )
        both = fields.keys() & kwargs.keys()
        if both:
            raise ValueError(
                "The following args are present in both the tuple and keyword args "
                f"for {name}: {both}"
            )
        given = {k: v for k, v in kwargs.items() if v is not None}
        taken = {k: v for k, v in fields.items() if k in parameters}
        return function(**taken, **given)

    loss.__name__ = name
    loss.__doc__ = f"`wargs.{name}` of a model."
    loss.__module__ = __name__
    return loss


acgan_discriminator_loss = of_model(loss_functions.acgan_discriminator_loss)
acgan_generator_loss = of_model(loss_functions.acgan_generator_loss)
least_squares_discriminator_loss = of_model(
    loss_functions.least_squares_discriminator_loss
)
least_squares_generator_loss = of_model(loss_functions.least_squares_generator_loss)
minimax_discriminator_loss = of_model(loss_functions.minimax_discriminator_loss)
minimax_generator_loss = of_model(loss_functions.minimax_generator_loss)
modified_discriminator_loss = of_model(loss_functions.modified_discriminator_loss)
modified_generator_loss = of_model(loss_functions.modified_generator_loss)
mutual_information_penalty = of_model(loss_functions.mutual_information_penalty)
wasserstein_discriminator_loss = of_model(loss_functions.wasserstein_discriminator_loss)
wasserstein_generator_loss = of_model(loss_functions.wasserstein_generator_loss)
wasserstein_gradient_penalty = of_model(loss_functions.wasserstein_gradient_penalty)

for _loss in (
    acgan_discriminator_loss,
    acgan_generator_loss,
    least_squares_discriminator_loss,
    least_squares_generator_loss,
    minimax_discriminator_loss,
    minimax_generator_loss,
    modified_discriminator_loss,
    modified_generator_loss,
    mutual_information_penalty,
    wasserstein_discriminator_loss,
    wasserstein_generator_loss,
    wasserstein_gradient_penalty,
):
    export_value(_loss, f"contrib.gan.losses.{_loss.__name__}")


@export("contrib.gan.losses.combine_adversarial_loss")
def combine_adversarial_loss(
    gan_loss: Any,
    gan_model: Any,
    non_adversarial_loss: Any,
    weight_factor: Any = None,
    gradient_ratio: Any = None,
    gradient_ratio_epsilon: float = 1e-6,
    scalar_summaries: bool = True,
    gradient_summaries: bool = True,
) -> Any:
    """The losses with another one added to the generator's.

    Args:
      gan_loss: a GANLoss.
      gan_model: a GANModel: the gradients are of its generator's variables.
      non_adversarial_loss: what is added to.
      weight_factor, gradient_ratio, gradient_ratio_epsilon, scalar_summaries,
        gradient_summaries: see `wargs.combine_adversarial_loss`.
    """
    combined = loss_functions.combine_adversarial_loss(
        non_adversarial_loss,
        gan_loss.generator_loss,
        weight_factor,
        gradient_ratio,
        gradient_ratio_epsilon,
        gan_model.generator_variables,
        scalar_summaries,
        gradient_summaries,
    )
    return gan_loss._replace(generator_loss=combined)


@export("contrib.gan.losses.cycle_consistency_loss")
def cycle_consistency_loss(
    cyclegan_model: Any, scope: Any = None, add_summaries: bool = False
) -> Any:
    """`wargs.cycle_consistency_loss` of a CycleGANModel.

    Raises:
      ValueError: it is none.
    """
    if not isinstance(cyclegan_model, CycleGANModel):
        raise ValueError(
            "`cyclegan_model` must be a `CycleGANModel`. Instead, was "
            f"{type(cyclegan_model)}."
        )
    return loss_functions.cycle_consistency_loss(
        cyclegan_model.model_x2y.generator_inputs,
        cyclegan_model.reconstructed_x,
        cyclegan_model.model_y2x.generator_inputs,
        cyclegan_model.reconstructed_y,
        scope,
        add_summaries,
    )


@export("contrib.gan.losses.stargan_generator_loss_wrapper")
def stargan_generator_loss_wrapper(loss_fn: Loss) -> Loss:
    """A generator's loss as a function of a StarGANModel."""

    def loss(stargan_model: Any, **kwargs: Any) -> Any:
        return loss_fn(
            stargan_model.discriminator_generated_data_source_predication, **kwargs
        )

    return _named(loss, loss_fn)


@export("contrib.gan.losses.stargan_discriminator_loss_wrapper")
def stargan_discriminator_loss_wrapper(loss_fn: Loss) -> Loss:
    """A discriminator's loss as a function of a StarGANModel."""

    def loss(stargan_model: Any, **kwargs: Any) -> Any:
        return loss_fn(
            stargan_model.discriminator_input_data_source_predication,
            stargan_model.discriminator_generated_data_source_predication,
            **kwargs,
        )

    return _named(loss, loss_fn)


@export("contrib.gan.losses.stargan_gradient_penalty_wrapper")
def stargan_gradient_penalty_wrapper(loss_fn: Loss) -> Loss:
    """A penalty of gradients as a function of a StarGANModel."""

    def loss(stargan_model: Any, **kwargs: Any) -> Any:
        return loss_fn(
            real_data=stargan_model.input_data,
            generated_data=stargan_model.generated_data,
            generator_inputs=stargan_model.input_data_domain_label.shape.as_list()[-1],
            discriminator_fn=stargan_model.discriminator_fn,
            discriminator_scope=stargan_model.discriminator_scope,
            **kwargs,
        )

    return _named(loss, loss_fn)


def _named(loss: Loss, like: Loss) -> Loss:
    loss.__name__ = like.__name__
    loss.__doc__ = f"`{like.__name__}` of a StarGANModel."
    return loss
