"""The parts of a model, of its losses and of its training, as named tuples."""

from __future__ import annotations

from typing import Any, NamedTuple

from tensorloom.framework.export import export


@export("contrib.gan.GANModel")
class GANModel(NamedTuple):
    """A generator and a discriminator: data, outputs, variables, scopes, functions."""

    generator_inputs: Any
    generated_data: Any
    generator_variables: Any
    generator_scope: Any
    generator_fn: Any
    real_data: Any
    discriminator_real_outputs: Any
    discriminator_gen_outputs: Any
    discriminator_variables: Any
    discriminator_scope: Any
    discriminator_fn: Any


@export("contrib.gan.InfoGANModel")
class InfoGANModel(NamedTuple):
    """A GANModel whose discriminator also predicts a part of the noise."""

    generator_inputs: Any
    generated_data: Any
    generator_variables: Any
    generator_scope: Any
    generator_fn: Any
    real_data: Any
    discriminator_real_outputs: Any
    discriminator_gen_outputs: Any
    discriminator_variables: Any
    discriminator_scope: Any
    discriminator_fn: Any
    structured_generator_inputs: Any
    predicted_distributions: Any
    discriminator_and_aux_fn: Any


@export("contrib.gan.ACGANModel")
class ACGANModel(NamedTuple):
    """A GANModel whose discriminator also classifies."""

    generator_inputs: Any
    generated_data: Any
    generator_variables: Any
    generator_scope: Any
    generator_fn: Any
    real_data: Any
    discriminator_real_outputs: Any
    discriminator_gen_outputs: Any
    discriminator_variables: Any
    discriminator_scope: Any
    discriminator_fn: Any
    one_hot_labels: Any
    discriminator_real_classification_logits: Any
    discriminator_gen_classification_logits: Any


@export("contrib.gan.CycleGANModel")
class CycleGANModel(NamedTuple):
    """Two GANModels, from x to y and from y to x, and what comes back of each."""

    model_x2y: Any
    model_y2x: Any
    reconstructed_x: Any
    reconstructed_y: Any


@export("contrib.gan.StarGANModel")
class StarGANModel(NamedTuple):
    """One generator among several domains."""

    input_data: Any
    input_data_domain_label: Any
    generated_data: Any
    generated_data_domain_target: Any
    reconstructed_data: Any
    discriminator_input_data_source_predication: Any
    discriminator_generated_data_source_predication: Any
    discriminator_input_data_domain_predication: Any
    discriminator_generated_data_domain_predication: Any
    generator_variables: Any
    generator_scope: Any
    generator_fn: Any
    discriminator_variables: Any
    discriminator_scope: Any
    discriminator_fn: Any


@export("contrib.gan.GANLoss")
class GANLoss(NamedTuple):
    """The losses of a generator and of its discriminator."""

    generator_loss: Any
    discriminator_loss: Any


@export("contrib.gan.CycleGANLoss")
class CycleGANLoss(NamedTuple):
    """The GANLosses of the two parts of a CycleGANModel."""

    loss_x2y: Any
    loss_y2x: Any


@export("contrib.gan.GANTrainOps")
class GANTrainOps(NamedTuple):
    """What trains: an operation for each network, the step, hooks."""

    generator_train_op: Any
    discriminator_train_op: Any
    global_step_inc_op: Any
    train_hooks: Any = ()


@export("contrib.gan.GANTrainSteps")
class GANTrainSteps(NamedTuple):
    """How often each network is trained in a step."""

    generator_train_steps: Any
    discriminator_train_steps: Any
