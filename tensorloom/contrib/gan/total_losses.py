"""The losses that a model is trained with: of both networks, with all penalties."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.gan import loss_functions, tuple_losses
from tensorloom.contrib.gan.model_tuples import (
    ACGANModel,
    CycleGANLoss,
    CycleGANModel,
    GANLoss,
    GANModel,
    InfoGANModel,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, control_dependencies, name_scope
from tensorloom.losses.collection import get_regularization_loss
from tensorloom.losses.cross_entropies import softmax_cross_entropy
from tensorloom.losses.element_losses import absolute_difference
from tensorloom.ops.array.identity import identity
from tensorloom.ops.debugging import check
from tensorloom.ops.reductions.reductions import reduce_mean, reduce_sum
from tensorloom.summary.summary import scalar

Loss = Callable[..., Any]
_STAR_GENERATOR_LOSS = tuple_losses.stargan_generator_loss_wrapper(
    loss_functions.wasserstein_generator_loss
)
_STAR_DISCRIMINATOR_LOSS = tuple_losses.stargan_discriminator_loss_wrapper(
    loss_functions.wasserstein_discriminator_loss
)


def _checked(weight: Any, name: str) -> Any:
    """A weight that is not negative, or None."""
    if isinstance(weight, Tensor):
        weight.shape.assert_is_compatible_with([])
        with control_dependencies([check.assert_greater_equal(weight, 0.0)]):
            return identity(weight)
    if weight is not None and weight < 0:
        raise ValueError(f"`{name}` must be greater than 0. Instead, was {weight}")
    return weight


def _counts(weight: Any) -> bool:
    return isinstance(weight, Tensor) or (weight is not None and weight > 0)


def _pooled(model: Any, pool: Loss) -> Any:
    """The model with older generated data for its discriminator."""
    if not isinstance(model, (GANModel, ACGANModel, InfoGANModel)):
        raise ValueError(f"Tensor pool does not support `model`: {type(model)}.")
    values: tuple[Any, ...] = (model.generator_inputs, model.generated_data)
    if isinstance(model, InfoGANModel):
        values = (*values, model.structured_generator_inputs)
    values = tuple(pool(values))
    changed = {"generator_inputs": values[0], "generated_data": values[1]}
    judge = model.discriminator_fn
    if isinstance(model, InfoGANModel):
        judge = model.discriminator_and_aux_fn
    with variable_scope(model.discriminator_scope, reuse=True):
        found = judge(values[1], values[0])
    if isinstance(model, GANModel):
        return model._replace(**changed, discriminator_gen_outputs=found)
    outputs, more = found
    changed["discriminator_gen_outputs"] = outputs
    if isinstance(model, ACGANModel):
        return model._replace(**changed, discriminator_gen_classification_logits=more)
    return model._replace(
        **changed, structured_generator_inputs=values[2], predicted_distributions=more
    )


@export("contrib.gan.gan_loss")
def gan_loss(
    model: Any,
    generator_loss_fn: Loss = tuple_losses.wasserstein_generator_loss,
    discriminator_loss_fn: Loss = tuple_losses.wasserstein_discriminator_loss,
    gradient_penalty_weight: Any = None,
    gradient_penalty_epsilon: float = 1e-10,
    gradient_penalty_target: Any = 1.0,
    gradient_penalty_one_sided: bool = False,
    mutual_information_penalty_weight: Any = None,
    aux_cond_generator_weight: Any = None,
    aux_cond_discriminator_weight: Any = None,
    tensor_pool_fn: Loss | None = None,
    add_summaries: bool = True,
) -> GANLoss:
    """The losses of generator and discriminator, with regularization.

    Args:
      model: a GANModel, InfoGANModel or ACGANModel.
      generator_loss_fn, discriminator_loss_fn: functions of the model.
      gradient_penalty_weight: of `wasserstein_gradient_penalty`, whose arguments are
        gradient_penalty_epsilon, gradient_penalty_target, gradient_penalty_one_sided.
      mutual_information_penalty_weight: of that penalty; for an InfoGANModel.
      aux_cond_generator_weight, aux_cond_discriminator_weight: of the losses of
        classes; for an ACGANModel.
      tensor_pool_fn: gives the discriminator older generated data; see
        `features.tensor_pool`.
      add_summaries: whether losses are summarized.

    Raises:
      ValueError: a weight is negative, or the model is of another kind.
    """
    gradient_weight = _checked(gradient_penalty_weight, "gradient_penalty_weight")
    info_weight = _checked(mutual_information_penalty_weight, "infogan_weight")
    gen_weight = _checked(aux_cond_generator_weight, "aux_cond_generator_weight")
    dis_weight = _checked(
        aux_cond_discriminator_weight, "aux_cond_discriminator_weight"
    )
    if _counts(info_weight) and not isinstance(model, InfoGANModel):
        raise ValueError(
            "When `mutual_information_penalty_weight` is provided, `model` must be "
            f"an `InfoGANModel`. Instead, was {type(model)}."
        )
    if (_counts(gen_weight) or _counts(dis_weight)) and not isinstance(
        model, ACGANModel
    ):
        raise ValueError(
            "When `aux_cond_generator_weight` or `aux_cond_discriminator_weight` is "
            f"provided, `model` must be an `ACGANModel`. Instead, was {type(model)}."
        )
    pooled = _pooled(model, tensor_pool_fn) if tensor_pool_fn else model
    options = {"add_summaries": add_summaries}
    gen_loss = generator_loss_fn(model, **options)
    dis_loss = discriminator_loss_fn(pooled, **options)
    if _counts(gradient_weight):
        penalty = tuple_losses.wasserstein_gradient_penalty(
            pooled,
            epsilon=gradient_penalty_epsilon,
            target=gradient_penalty_target,
            one_sided=gradient_penalty_one_sided,
            **options,
        )
        dis_loss = dis_loss + gradient_weight * penalty
    if _counts(info_weight):
        of_gen = of_dis = tuple_losses.mutual_information_penalty(model, **options)
        if tensor_pool_fn is not None:
            of_dis = tuple_losses.mutual_information_penalty(pooled, **options)
        gen_loss = gen_loss + info_weight * of_gen
        dis_loss = dis_loss + info_weight * of_dis
    if _counts(gen_weight):
        of_classes = tuple_losses.acgan_generator_loss(model, **options)
        gen_loss = gen_loss + gen_weight * of_classes
    if _counts(dis_weight):
        of_classes = tuple_losses.acgan_discriminator_loss(pooled, **options)
        dis_loss = dis_loss + dis_weight * of_classes
    return GANLoss(
        gen_loss + _regularization(model.generator_scope),
        dis_loss + _regularization(model.discriminator_scope),
    )


def _regularization(scope: Any) -> Any:
    return get_regularization_loss(scope.name) if scope else 0


@export("contrib.gan.cyclegan_loss")
def cyclegan_loss(
    model: Any,
    generator_loss_fn: Loss = tuple_losses.least_squares_generator_loss,
    discriminator_loss_fn: Loss = tuple_losses.least_squares_discriminator_loss,
    cycle_consistency_loss_fn: Loss = tuple_losses.cycle_consistency_loss,
    cycle_consistency_loss_weight: Any = 10.0,
    **kwargs: Any,
) -> CycleGANLoss:
    """The losses of both parts of a CycleGANModel.

    Args:
      model: the model.
      generator_loss_fn, discriminator_loss_fn: functions of a GANModel.
      cycle_consistency_loss_fn: a function of the model.
      cycle_consistency_loss_weight: of that loss.
      **kwargs: more arguments of `gan_loss`.

    Raises:
      ValueError: the model is of another kind, or the weight is negative.
    """
    if not isinstance(model, CycleGANModel):
        raise ValueError(
            f"`model` must be a `CycleGANModel`. Instead, was {type(model)}."
        )
    cycle = cycle_consistency_loss_fn(
        model, add_summaries=kwargs.get("add_summaries", True)
    )
    name = "cycle_consistency_loss_weight"
    cycle = _checked(cycle_consistency_loss_weight, name) * cycle

    def of(part: Any) -> Any:
        loss = gan_loss(part, generator_loss_fn, discriminator_loss_fn, **kwargs)
        return loss._replace(generator_loss=loss.generator_loss + cycle)

    with name_scope("cyclegan_loss_x2y"):
        x2y = of(model.model_x2y)
    with name_scope("cyclegan_loss_y2x"):
        y2x = of(model.model_y2x)
    return CycleGANLoss(x2y, y2x)


@export("contrib.gan.stargan_loss")
def stargan_loss(
    model: Any,
    generator_loss_fn: Loss = _STAR_GENERATOR_LOSS,
    discriminator_loss_fn: Loss = _STAR_DISCRIMINATOR_LOSS,
    gradient_penalty_weight: Any = 10.0,
    gradient_penalty_epsilon: float = 1e-10,
    gradient_penalty_target: Any = 1.0,
    gradient_penalty_one_sided: bool = False,
    reconstruction_loss_fn: Loss = absolute_difference,
    reconstruction_loss_weight: Any = 10.0,
    classification_loss_fn: Loss = softmax_cross_entropy,
    classification_loss_weight: Any = 1.0,
    classification_one_hot: bool = True,
    add_summaries: bool = True,
) -> GANLoss:
    """The losses of a StarGANModel.

    Args:
      model: the model.
      generator_loss_fn, discriminator_loss_fn: functions of the model.
      gradient_penalty_weight: of `wasserstein_gradient_penalty`, whose arguments are
        gradient_penalty_epsilon, gradient_penalty_target, gradient_penalty_one_sided.
      reconstruction_loss_fn, reconstruction_loss_weight: of what comes back.
      classification_loss_fn, classification_loss_weight: of the domains.
      classification_one_hot: false for losses [batch, domains].
      add_summaries: whether losses are summarized.

    Raises:
      ValueError: the number of domains is not known.
    """
    model.input_data_domain_label.shape.assert_has_rank(2)
    model.input_data_domain_label.shape[1:].assert_is_fully_defined()
    options = {"add_summaries": add_summaries}
    gen_loss = generator_loss_fn(model, **options)
    dis_loss = discriminator_loss_fn(model, **options)
    if _counts(gradient_penalty_weight):
        penalty = tuple_losses.stargan_gradient_penalty_wrapper(
            loss_functions.wasserstein_gradient_penalty
        )
        dis_loss = dis_loss + gradient_penalty_weight * penalty(
            model,
            epsilon=gradient_penalty_epsilon,
            target=gradient_penalty_target,
            one_sided=gradient_penalty_one_sided,
            **options,
        )
    again = reconstruction_loss_fn(model.input_data, model.reconstructed_data)
    gen_loss = gen_loss + again * reconstruction_loss_weight
    if add_summaries:
        scalar("reconstruction_loss", again)

    def of_domains(labels: Any, logits: Any, name: str) -> Any:
        with name_scope(name, values=(labels, logits)):
            loss = classification_loss_fn(onehot_labels=labels, logits=logits)
            if not classification_one_hot:
                loss = reduce_sum(loss, axis=1)
            loss = reduce_mean(loss)
            if add_summaries:
                scalar(name, loss)
            return loss * classification_loss_weight

    gen_loss = gen_loss + of_domains(
        model.generated_data_domain_target,
        model.discriminator_generated_data_domain_predication,
        "generator_classification_loss",
    )
    dis_loss = dis_loss + of_domains(
        model.input_data_domain_label,
        model.discriminator_input_data_domain_predication,
        "discriminator_classification_loss",
    )
    return GANLoss(gen_loss, dis_loss)
