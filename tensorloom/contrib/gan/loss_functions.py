"""Losses of generators and discriminators, from their outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.client.gradients.gradients import gradients
from tensorloom.client.variables.framework_variables import get_trainable_variables
from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.client.variables.variable_store import AUTO_REUSE
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import GraphKeys, Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.losses.collection import add_loss
from tensorloom.losses.cross_entropies import (
    sigmoid_cross_entropy,
    softmax_cross_entropy,
)
from tensorloom.losses.element_losses import absolute_difference
from tensorloom.losses.weighted import Reduction, compute_weighted_loss
from tensorloom.ops.array.fill import ones_like, zeros_like
from tensorloom.ops.array.identity import stop_gradient
from tensorloom.ops.array.shape import shape as shape_of
from tensorloom.ops.math.binary import maximum, squared_difference
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.clip import global_norm
from tensorloom.ops.math.elementwise import abs as absolute
from tensorloom.ops.math.elementwise import sqrt, square
from tensorloom.ops.random.random_ops import random_uniform
from tensorloom.ops.reductions.reductions import reduce_max, reduce_mean, reduce_sum
from tensorloom.summary.summary import scalar

_LOSSES = GraphKeys.LOSSES
_MEAN = Reduction.SUM_BY_NONZERO_WEIGHTS


def _summarize(add_summaries: bool, **losses: Any) -> None:
    if add_summaries:
        for name, loss in losses.items():
            scalar(name, loss)


def _floats(tensor: Any) -> Any:
    return cast(tensor, dtypes.float32)


@export("contrib.gan.losses.wargs.wasserstein_generator_loss")
def wasserstein_generator_loss(
    discriminator_gen_outputs: Any,
    weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = _LOSSES,
    reduction: Any = _MEAN,
    add_summaries: bool = False,
) -> Any:
    """-D(G(z)) (Arjovsky et al., "Wasserstein GAN", 2017).

    Args:
      discriminator_gen_outputs: the discriminator's outputs for generated data.
      weights: of the examples, of a shape that broadcasts.
      scope: name of the scope.
      loss_collection: the collection that the loss joins.
      reduction: how losses of examples become one.
      add_summaries: whether the loss is summarized.
    """
    with name_scope(
        scope, "generator_wasserstein_loss", (discriminator_gen_outputs, weights)
    ) as scope:
        loss = -_floats(discriminator_gen_outputs)
        loss = compute_weighted_loss(loss, weights, scope, loss_collection, reduction)
        _summarize(add_summaries, generator_wass_loss=loss)
    return loss


@export("contrib.gan.losses.wargs.wasserstein_discriminator_loss")
def wasserstein_discriminator_loss(
    discriminator_real_outputs: Any,
    discriminator_gen_outputs: Any,
    real_weights: Any = 1.0,
    generated_weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = _LOSSES,
    reduction: Any = _MEAN,
    add_summaries: bool = False,
) -> Any:
    """D(G(z)) - D(x) (Arjovsky et al., "Wasserstein GAN", 2017).

    Args:
      discriminator_real_outputs, discriminator_gen_outputs: the discriminator's outputs
        for real and for generated data.
      real_weights, generated_weights: of the examples.
      scope, loss_collection, reduction, add_summaries: see
        `wasserstein_generator_loss`.

    Raises:
      ValueError: the shapes of the outputs do not fit.
    """
    values = (discriminator_real_outputs, discriminator_gen_outputs)
    with name_scope(
        scope,
        "discriminator_wasserstein_loss",
        (*values, real_weights, generated_weights),
    ) as scope:
        real, generated = (_floats(value) for value in values)
        real.shape.assert_is_compatible_with(generated.shape)
        of_generated = compute_weighted_loss(
            generated, generated_weights, scope, None, reduction
        )
        of_real = compute_weighted_loss(real, real_weights, scope, None, reduction)
        loss = of_generated - of_real
        add_loss(loss, loss_collection)
        _summarize(
            add_summaries,
            discriminator_gen_wass_loss=of_generated,
            discriminator_real_wass_loss=of_real,
            discriminator_wass_loss=loss,
        )
    return loss


@export("contrib.gan.losses.wargs.wasserstein_gradient_penalty")
def wasserstein_gradient_penalty(
    real_data: Any,
    generated_data: Any,
    generator_inputs: Any,
    discriminator_fn: Callable[..., Any],
    discriminator_scope: Any,
    epsilon: float = 1e-10,
    target: Any = 1.0,
    one_sided: bool = False,
    weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = _LOSSES,
    reduction: Any = _MEAN,
    add_summaries: bool = False,
) -> Any:
    """How far norms of the discriminator's gradients are from `target`.

    They are taken between real and generated data (Gulrajani et al., "Improved Training
    of Wasserstein GANs", 2017).

    Args:
      real_data, generated_data: tensors of equal shapes.
      generator_inputs: second argument of the discriminator.
      discriminator_fn, discriminator_scope: the discriminator.
      epsilon: added to squares of norms.
      target: the norm that costs nothing.
      one_sided: whether smaller norms cost nothing.
      weights, scope, loss_collection, reduction, add_summaries: see
        `wasserstein_generator_loss`.

    Raises:
      ValueError: the rank of the data is not known.
    """
    values = (real_data, generated_data)
    with name_scope(scope, "wasserstein_gradient_penalty", values) as scope:
        real, generated = (convert_to_tensor(value) for value in values)
        for name, data in (("real_data", real), ("generated_data", generated)):
            if data.shape.ndims is None:
                raise ValueError(f"`{name}` can't have unknown rank.")
        differences: Any = generated - real
        batch = differences.shape[0].value or shape_of(differences)[0]
        rank = differences.shape.ndims
        alpha = random_uniform(shape=[batch] + [1] * (rank - 1))
        between = real + alpha * differences
        # Outside of the scope, so that updates are the discriminator's.
        with (
            name_scope(None),
            variable_scope(discriminator_scope, "gpenalty_dscope", reuse=AUTO_REUSE),
        ):
            outputs = discriminator_fn(between, generator_inputs)
        if isinstance(outputs, tuple):  # an ACGAN's
            outputs = outputs[0]
        slope = gradients(outputs, between)[0]
        squares = reduce_sum(square(slope), axis=list(range(1, slope.shape.ndims)))
        if isinstance(batch, int):
            squares.set_shape([batch, *squares.shape.as_list()[1:]])
        penalties = sqrt(squares + epsilon) / target - 1.0
        if one_sided:
            penalties = maximum(0.0, penalties)
        penalty = compute_weighted_loss(
            square(penalties), weights, scope, loss_collection, reduction
        )
        _summarize(add_summaries, gradient_penalty_loss=penalty)
        return penalty


@export("contrib.gan.losses.wargs.acgan_discriminator_loss")
def acgan_discriminator_loss(
    discriminator_real_classification_logits: Any,
    discriminator_gen_classification_logits: Any,
    one_hot_labels: Any,
    label_smoothing: float = 0.0,
    real_weights: Any = 1.0,
    generated_weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = _LOSSES,
    reduction: Any = _MEAN,
    add_summaries: bool = False,
) -> Any:
    """Cross entropy of the classes of real and generated data (Odena et al., 2016).

    Args:
      discriminator_real_classification_logits,
        discriminator_gen_classification_logits: [batch, classes].
      one_hot_labels: [batch, classes].
      label_smoothing: of the labels of real data.
      real_weights, generated_weights: of the examples.
      scope, loss_collection, reduction, add_summaries: see
        `wasserstein_generator_loss`.
    """
    real_logits = discriminator_real_classification_logits
    gen_logits = discriminator_gen_classification_logits
    values = (real_logits, gen_logits, one_hot_labels)
    with name_scope(scope, "acgan_discriminator_loss", values) as scope:
        of_generated = softmax_cross_entropy(
            one_hot_labels,
            gen_logits,
            weights=generated_weights,
            scope=scope,
            loss_collection=None,
            reduction=reduction,
        )
        of_real = softmax_cross_entropy(
            one_hot_labels,
            real_logits,
            weights=real_weights,
            label_smoothing=label_smoothing,
            scope=scope,
            loss_collection=None,
            reduction=reduction,
        )
        loss = of_generated + of_real
        add_loss(loss, loss_collection)
        _summarize(
            add_summaries,
            discriminator_gen_ac_loss=of_generated,
            discriminator_real_ac_loss=of_real,
            discriminator_ac_loss=loss,
        )
    return loss


@export("contrib.gan.losses.wargs.acgan_generator_loss")
def acgan_generator_loss(
    discriminator_gen_classification_logits: Any,
    one_hot_labels: Any,
    weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = _LOSSES,
    reduction: Any = _MEAN,
    add_summaries: bool = False,
) -> Any:
    """Cross entropy of the classes of generated data (Odena et al., 2016).

    Args:
      discriminator_gen_classification_logits: [batch, classes].
      one_hot_labels: [batch, classes].
      weights, scope, loss_collection, reduction, add_summaries: see
        `wasserstein_generator_loss`.
    """
    logits = discriminator_gen_classification_logits
    with name_scope(scope, "acgan_generator_loss", (logits, one_hot_labels)) as scope:
        loss = softmax_cross_entropy(
            one_hot_labels,
            logits,
            weights=weights,
            scope=scope,
            loss_collection=loss_collection,
            reduction=reduction,
        )
        _summarize(add_summaries, generator_ac_loss=loss)
    return loss


@export("contrib.gan.losses.wargs.minimax_discriminator_loss")
def minimax_discriminator_loss(
    discriminator_real_outputs: Any,
    discriminator_gen_outputs: Any,
    label_smoothing: float = 0.25,
    real_weights: Any = 1.0,
    generated_weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = _LOSSES,
    reduction: Any = _MEAN,
    add_summaries: bool = False,
) -> Any:
    """-log sigmoid(D(x)) - log(1 - sigmoid(D(G(z)))) (Goodfellow et al., 2014).

    Args:
      discriminator_real_outputs, discriminator_gen_outputs: logits.
      label_smoothing: of the labels of real data.
      real_weights, generated_weights: of the examples.
      scope, loss_collection, reduction, add_summaries: see
        `wasserstein_generator_loss`.
    """
    real, generated = discriminator_real_outputs, discriminator_gen_outputs
    values = (real, generated, real_weights, generated_weights, label_smoothing)
    with name_scope(scope, "discriminator_minimax_loss", values) as scope:
        of_real = sigmoid_cross_entropy(
            ones_like(real),
            real,
            real_weights,
            label_smoothing,
            scope,
            loss_collection=None,
            reduction=reduction,
        )
        of_generated = sigmoid_cross_entropy(
            zeros_like(generated),
            generated,
            generated_weights,
            scope=scope,
            loss_collection=None,
            reduction=reduction,
        )
        loss = of_real + of_generated
        add_loss(loss, loss_collection)
        _summarize(
            add_summaries,
            discriminator_gen_minimax_loss=of_generated,
            discriminator_real_minimax_loss=of_real,
            discriminator_minimax_loss=loss,
        )
    return loss


@export("contrib.gan.losses.wargs.minimax_generator_loss")
def minimax_generator_loss(
    discriminator_gen_outputs: Any,
    label_smoothing: float = 0.0,
    weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = _LOSSES,
    reduction: Any = _MEAN,
    add_summaries: bool = False,
) -> Any:
    """The discriminator's loss with another sign; see `minimax_discriminator_loss`."""
    outputs = discriminator_gen_outputs
    with name_scope(scope, "generator_minimax_loss") as scope:
        loss = -minimax_discriminator_loss(
            ones_like(outputs),
            outputs,
            label_smoothing,
            weights,
            weights,
            scope,
            loss_collection,
            reduction,
            add_summaries=False,
        )
    _summarize(add_summaries, generator_minimax_loss=loss)
    return loss


@export("contrib.gan.losses.wargs.modified_discriminator_loss")
def modified_discriminator_loss(
    discriminator_real_outputs: Any,
    discriminator_gen_outputs: Any,
    label_smoothing: float = 0.25,
    real_weights: Any = 1.0,
    generated_weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = _LOSSES,
    reduction: Any = _MEAN,
    add_summaries: bool = False,
) -> Any:
    """`minimax_discriminator_loss` under the name that goes with the generator's."""
    return minimax_discriminator_loss(
        discriminator_real_outputs,
        discriminator_gen_outputs,
        label_smoothing,
        real_weights,
        generated_weights,
        scope or "discriminator_modified_loss",
        loss_collection,
        reduction,
        add_summaries,
    )


@export("contrib.gan.losses.wargs.modified_generator_loss")
def modified_generator_loss(
    discriminator_gen_outputs: Any,
    label_smoothing: float = 0.0,
    weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = _LOSSES,
    reduction: Any = _MEAN,
    add_summaries: bool = False,
) -> Any:
    """-log sigmoid(D(G(z))), whose gradient does not vanish (Goodfellow et al., 2014).

    Args:
      discriminator_gen_outputs: logits.
      label_smoothing: of the labels.
      weights, scope, loss_collection, reduction, add_summaries: see
        `wasserstein_generator_loss`.
    """
    outputs = discriminator_gen_outputs
    with name_scope(scope, "generator_modified_loss", [outputs]) as scope:
        loss = sigmoid_cross_entropy(
            ones_like(outputs),
            outputs,
            weights,
            label_smoothing,
            scope,
            loss_collection,
            reduction,
        )
        _summarize(add_summaries, generator_modified_loss=loss)
    return loss


@export("contrib.gan.losses.wargs.least_squares_generator_loss")
def least_squares_generator_loss(
    discriminator_gen_outputs: Any,
    real_label: float = 1,
    weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = _LOSSES,
    reduction: Any = _MEAN,
    add_summaries: bool = False,
) -> Any:
    """(D(G(z)) - real_label)^2 / 2 (Mao et al., 2016).

    Args:
      discriminator_gen_outputs: the discriminator's outputs for generated data.
      real_label: what the discriminator says of real data.
      weights, scope, loss_collection, reduction, add_summaries: see
        `wasserstein_generator_loss`.
    """
    outputs = discriminator_gen_outputs
    with name_scope(scope, "lsq_generator_loss", (outputs, real_label)) as scope:
        loss = squared_difference(_floats(outputs), real_label) / 2.0
        loss = compute_weighted_loss(loss, weights, scope, loss_collection, reduction)
    _summarize(add_summaries, generator_lsq_loss=loss)
    return loss


@export("contrib.gan.losses.wargs.least_squares_discriminator_loss")
def least_squares_discriminator_loss(
    discriminator_real_outputs: Any,
    discriminator_gen_outputs: Any,
    real_label: float = 1,
    fake_label: float = 0,
    real_weights: Any = 1.0,
    generated_weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = _LOSSES,
    reduction: Any = _MEAN,
    add_summaries: bool = False,
) -> Any:
    """((D(x) - real_label)^2 + (D(G(z)) - fake_label)^2) / 2 (Mao et al., 2016).

    Args:
      discriminator_real_outputs, discriminator_gen_outputs: what it says of data.
      real_label, fake_label: what it is to say of real and of generated data.
      real_weights, generated_weights: of the examples.
      scope, loss_collection, reduction, add_summaries: see
        `wasserstein_generator_loss`.

    Raises:
      ValueError: the shapes of the outputs do not fit.
    """
    values = (discriminator_gen_outputs, real_label)
    with name_scope(scope, "lsq_discriminator_loss", values) as scope:
        real = _floats(discriminator_real_outputs)
        generated = _floats(discriminator_gen_outputs)
        real.shape.assert_is_compatible_with(generated.shape)
        of_real = squared_difference(real, real_label) / 2.0
        of_generated = squared_difference(generated, fake_label) / 2.0
        of_real = compute_weighted_loss(of_real, real_weights, scope, None, reduction)
        of_generated = compute_weighted_loss(
            of_generated, generated_weights, scope, None, reduction
        )
        loss = of_real + of_generated
        add_loss(loss, loss_collection)
    _summarize(
        add_summaries,
        discriminator_gen_lsq_loss=of_generated,
        discriminator_real_lsq_loss=of_real,
        discriminator_lsq_loss=loss,
    )
    return loss


@export("contrib.gan.losses.wargs.mutual_information_penalty")
def mutual_information_penalty(
    structured_generator_inputs: Sequence[Any],
    predicted_distributions: Sequence[Any],
    weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = _LOSSES,
    reduction: Any = _MEAN,
    add_summaries: bool = False,
) -> Any:
    """Less information between noise and what is predicted of it (Chen et al., 2016).

    Args:
      structured_generator_inputs: the parts of the noise that are predicted.
      predicted_distributions: a distribution for each.
      weights, scope, loss_collection, reduction, add_summaries: see
        `wasserstein_generator_loss`.

    Raises:
      ValueError: there are not as many distributions, or they are none.
    """
    found = predicted_distributions
    if not isinstance(found, (list, tuple)):
        raise ValueError(
            f"`distributions` must be a list or tuple. Instead, found {type(found)}."
        )
    for one in found:
        if not callable(getattr(one, "log_prob", None)):
            raise ValueError(
                "`distributions` must be a list of `Distributions`. Instead, found "
                f"{type(one)}."
            )
    if len(structured_generator_inputs) != len(found):
        raise ValueError(
            f"`structured_generator_inputs` length {len(structured_generator_inputs)} "
            f"must be the same as `predicted_distributions` length {len(found)}."
        )
    pairs = zip(found, structured_generator_inputs, strict=True)
    with name_scope(scope, "mutual_information_loss") as scope:
        logs = [reduce_mean(one.log_prob(noise)) for one, noise in pairs]
        loss = -1 * compute_weighted_loss(
            logs, weights, scope, loss_collection, reduction
        )
        _summarize(add_summaries, mutual_information_penalty=loss)
    return loss


@export("contrib.gan.losses.wargs.cycle_consistency_loss")
def cycle_consistency_loss(
    data_x: Any,
    reconstructed_data_x: Any,
    data_y: Any,
    reconstructed_data_y: Any,
    scope: Any = None,
    add_summaries: bool = False,
) -> Any:
    """How far data are from what comes back of them (Zhu et al., 2017).

    Args:
      data_x, reconstructed_data_x: tensors of equal shapes.
      data_y, reconstructed_data_y: tensors of equal shapes.
      scope: name of the scope.
      add_summaries: whether the loss is summarized.
    """
    values = [data_x, reconstructed_data_x, data_y, reconstructed_data_y]
    with name_scope(scope, "cycle_consistency_loss", values=values):
        of_x = absolute_difference(data_x, reconstructed_data_x)
        of_y = absolute_difference(data_y, reconstructed_data_y)
        loss = (of_x + of_y) / 2.0
        _summarize(
            add_summaries,
            cycle_consistency_loss_x2x=of_x,
            cycle_consistency_loss_y2y=of_y,
            cycle_consistency_loss=loss,
        )
    return loss


def _stable_norm(tensors: Sequence[Any]) -> Any:
    """The norm of all tensors; their squares do not overflow."""
    there = [tensor for tensor in tensors if tensor is not None]
    if not there:
        return 0.0
    most = reduce_max([reduce_max(absolute(tensor)) for tensor in there])
    return most * global_norm([tensor / most for tensor in there])


@export("contrib.gan.losses.wargs.combine_adversarial_loss")
def combine_adversarial_loss(
    main_loss: Tensor,
    adversarial_loss: Tensor,
    weight_factor: Any = None,
    gradient_ratio: Any = None,
    gradient_ratio_epsilon: float = 1e-6,
    variables: Sequence[Any] | None = None,
    scalar_summaries: bool = True,
    gradient_summaries: bool = True,
    scope: Any = None,
) -> Any:
    """A loss of two: by a factor, or so that their gradients have a ratio.

    Args:
      main_loss, adversarial_loss: scalars.
      weight_factor: what the second is multiplied by; or
      gradient_ratio: the norm of the gradients of the first by those of the second.
      gradient_ratio_epsilon: added to a divisor.
      variables: of the gradients; all trainable ones when None.
      scalar_summaries, gradient_summaries: what is summarized.
      scope: name of the scope.

    Raises:
      ValueError: a loss is no scalar, or not one of factor and ratio is given.
    """
    for loss in (main_loss, adversarial_loss):
        loss.shape.assert_is_compatible_with([])
    if weight_factor is None and gradient_ratio is None:
        raise ValueError("`weight_factor` and `gradient_ratio` cannot both be `None.`")
    if weight_factor is not None and gradient_ratio is not None:
        raise ValueError(
            "`weight_factor` and `gradient_ratio` cannot both be specified."
        )
    chosen = get_trainable_variables() if variables is None else variables
    values = [main_loss, adversarial_loss]
    with name_scope(scope, "adversarial_loss", values=values):
        main_norm = adversarial_norm = None
        if gradient_summaries or gradient_ratio is not None:
            main_norm = _stable_norm(gradients(main_loss, chosen))
            adversarial_norm = _stable_norm(gradients(adversarial_loss, chosen))
        _summarize(
            scalar_summaries, main_loss=main_loss, adversarial_loss=adversarial_loss
        )
        _summarize(
            gradient_summaries,
            main_loss_gradients=main_norm,
            adversarial_loss_gradients=adversarial_norm,
        )
        factor = gradient_ratio if weight_factor is None else weight_factor
        if constant_value(convert_to_tensor(factor)) == 0:
            return main_loss
        if weight_factor is None:
            assert main_norm is not None
            assert adversarial_norm is not None
            ratio = main_norm / (adversarial_norm + gradient_ratio_epsilon)
            factor = ratio / gradient_ratio
            scalar("adversarial_coefficient", factor)
        return main_loss + stop_gradient(factor) * adversarial_loss
